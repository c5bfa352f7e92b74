//! Properties that hold for every ID of every type.

mod common;

use std::collections::BTreeSet;

use common::{SplitMix, bytes, check, from_bytes, tests};
use proptest::prelude::*;
use scru_ids::{FieldValue, Getter, MAX_TEXT_LEN, ParseError, ParseErrorKind, SqlId, Stored};

/// Characters that are not digits in any type's alphabet: the neighbors of the digits in ASCII, control characters, spaces,
/// signs, characters of two, three and four bytes, and some that Unicode case conversion turns into ASCII letters.
const NO_DIGITS: &str = "/:@[`{\u{1}\u{7f} \t\n+-_\u{80}\u{e9}\u{131}\u{17f}\u{7ff}\u{800}\u{212a}\u{feff}\u{ff10}\u{ffff}\u{10000}\u{10ffff}";

fn ticks<T: SqlId>() -> impl Strategy<Value = u64> {
    let max = T::TICKS.max;
    prop_oneof![0..=max, 0..=3_u64, max - 3..=max]
}

fn ids<T: SqlId>() -> impl Strategy<Value = T> {
    let patterns = prop::collection::vec(any::<u8>(), T::Stored::LEN);
    prop_oneof![
        4 => patterns.prop_filter_map("valid bytes", |pattern| from_bytes(&pattern)),
        4 => (ticks::<T>(), any::<u64>()).prop_map(|(tick, seed)| T::random_of(tick, &mut SplitMix(seed))),
        1 => ticks::<T>().prop_map(T::first_of),
        1 => ticks::<T>().prop_map(T::last_of),
        1 => prop_oneof![Just(T::MIN), Just(T::MAX)],
    ]
}

/// Pairs of IDs, many of which differ in one bit or are neighbors.
fn pairs<T: SqlId>() -> impl Strategy<Value = (T, T)> {
    let bits = 0..8 * T::Stored::LEN;
    prop_oneof![
        (ids::<T>(), ids::<T>()),
        (ids::<T>(), bits).prop_filter_map("valid bytes", |(id, bit)| Some((id, with_bit_flipped(id, bit)?))),
        ids::<T>().prop_filter_map("a successor", |id| Some((id, successor(id)?))),
        ids::<T>().prop_map(|id| (id, id)),
    ]
}

/// Times around the bounds of ticks, and arbitrary times.
fn moments<T: SqlId>() -> impl Strategy<Value = i64> {
    let (first, end, tick) = (T::MIN.timestamp_micros(), end_of_time::<T>(), T::TICKS.micros);
    let around = (ticks::<T>(), prop::sample::select(vec![-1, 0, 1, tick / 2, tick - 1]));
    prop_oneof![
        4 => around.prop_map(|(tick, offset)| T::TICKS.start(tick) + offset),
        4 => first..=end,
        1 => any::<i64>(),
        1 => prop_oneof![Just(i64::MIN), Just(first - 1), Just(end), Just(end + 1), Just(i64::MAX)],
    ]
}

/// Returns the last microsecond of the last tick.
fn end_of_time<T: SqlId>() -> i64 {
    T::TICKS.start(T::TICKS.max) + T::TICKS.micros - 1
}

fn with_bit_flipped<T: SqlId>(id: T, bit: usize) -> Option<T> {
    let mut bytes = bytes(id);
    bytes[bit / 8] ^= 0x80 >> (bit % 8);
    from_bytes(&bytes)
}

/// Returns the next larger ID, computed from the bytes.
fn successor<T: SqlId>(id: T) -> Option<T> {
    let mut bytes = bytes(id);
    let last = bytes.iter().rposition(|&byte| byte < u8::MAX)?;
    bytes[last] += 1;
    bytes[last + 1..].fill(0);
    from_bytes(&bytes)
}

/// Returns the digits that occur in the canonical texts of 1,000 random IDs, in ascending order.
fn digits<T: SqlId>() -> Vec<char> {
    let mut rng = SplitMix(36);
    let texts = (0..1_000).map(|_| T::random_of(rng.below(T::TICKS.max), &mut rng).to_string());
    texts.flat_map(|text| text.chars().collect::<Vec<_>>()).collect::<BTreeSet<_>>().into_iter().collect()
}

fn fields<T: SqlId>(id: T) -> Vec<FieldValue> {
    T::FIELDS.iter().filter_map(|field| field.getter.value(id)).collect()
}

fn with_case(mask: u64, text: &str) -> String {
    let upper = |position: usize| mask >> (position % 64) & 1 == 1;
    text.chars()
        .enumerate()
        .map(|(p, c)| if upper(p) { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect()
}

fn all_orders_are_equal<T: SqlId>() {
    check(pairs::<T>(), |(a, b)| {
        let order = a.cmp(&b);
        prop_assert_eq!(bytes(a).cmp(&bytes(b)), order, "bytes");
        prop_assert_eq!(a.to_stored().cmp(&b.to_stored()), order, "stored");
        prop_assert_eq!(a.to_string().cmp(&b.to_string()), order, "text");
        let folded = |id: T| id.to_string().to_ascii_lowercase();
        prop_assert_eq!(folded(a).cmp(&folded(b)), order, "text, case folded");
        prop_assert_eq!((a.tick(), a).cmp(&(b.tick(), b)), order, "ticks");
        Ok(())
    });
}

fn text_round_trips_in_any_case<T: SqlId>() {
    check((ids::<T>(), any::<u64>()), |(id, mask)| {
        let text = id.to_string();
        prop_assert_eq!(text.len(), T::TEXT_LEN);
        prop_assert!(text.is_ascii());
        prop_assert_eq!(T::parse(text.as_bytes()), Ok(id));
        prop_assert_eq!(T::parse(with_case(mask, &text).as_bytes()), Ok(id));
        Ok(())
    });
}

/// The extension relies on this property: it returns the buffer itself.
fn digits_are_the_beginning_of_the_buffer<T: SqlId>() {
    const UNTOUCHED: u8 = b'#';
    check(ids::<T>(), |id| {
        let mut buffer = [UNTOUCHED; MAX_TEXT_LEN];
        let text = id.digits(&mut buffer).to_owned();
        let (beginning, rest) = buffer.split_at(text.len());
        prop_assert_eq!(beginning, text);
        prop_assert!(rest.iter().all(|&byte| byte == UNTOUCHED));
        Ok(())
    });
}

fn stored_bytes_round_trip<T: SqlId>() {
    check(ids::<T>(), |id| {
        let bytes = bytes(id);
        prop_assert_eq!(bytes.len(), T::Stored::LEN);
        prop_assert_eq!(T::from_stored(id.to_stored()), Some(id));
        prop_assert_eq!(from_bytes(&bytes), Some(id));
        prop_assert_eq!(T::Stored::from_bytes(&bytes[1..]), None, "a byte less");
        prop_assert_eq!(T::Stored::from_bytes(&[&bytes[..], &[0]].concat()), None, "a byte more");
        Ok(())
    });
}

fn every_bit_belongs_to_the_timestamp_or_a_field<T: SqlId>() {
    check(pairs::<T>(), |(a, b)| {
        prop_assert_eq!((a.tick(), fields(a)) == (b.tick(), fields(b)), a == b);
        Ok(())
    });
}

fn fields_are_no_wider_than_declared<T: SqlId>() {
    check(ids::<T>(), |id| {
        for field in T::FIELDS {
            prop_assert!(!matches!(field.getter, Getter::Bits24(get) if get(id) >= 1 << 24), "{}", field.name);
        }
        Ok(())
    });
}

fn a_wrong_digit_is_named_by_its_position<T: SqlId>() {
    let wrong = prop::sample::select(NO_DIGITS.chars().map(String::from).collect::<Vec<_>>());
    check((ids::<T>(), 0..T::TEXT_LEN, wrong), |(id, position, wrong)| {
        let text = id.to_string();
        let error = ParseError { kind: ParseErrorKind::InvalidDigit, position };
        let replaced = [&text[..position], &wrong, &text[position + 1..]].concat();
        prop_assert_eq!(replaced.parse::<T>(), Err(error), "replaced");
        let inserted = [&text[..position], &wrong, &text[position..]].concat();
        prop_assert_eq!(inserted.parse::<T>(), Err(error), "inserted");
        let cut_off = [&text[..position], &wrong].concat();
        prop_assert_eq!(cut_off.parse::<T>(), Err(error), "at the end");
        Ok(())
    });
}

fn a_wrong_number_of_digits_is_reported_with_its_position<T: SqlId>() {
    check((ids::<T>(), 0..T::TEXT_LEN), |(id, position)| {
        let error = |received, position| {
            let kind = ParseErrorKind::WrongLength { expected: T::TEXT_LEN, received };
            Err(ParseError { kind, position })
        };
        prop_assert_eq!(id.to_string()[..position].parse::<T>(), error(position, position));
        prop_assert_eq!(format!("{id}0").parse::<T>(), error(T::TEXT_LEN + 1, T::TEXT_LEN));
        Ok(())
    });
}

/// Every text of digits up to the text of the largest ID is valid. A greater text of the same length is out of range.
fn digits_above_the_largest_are_out_of_range<T: SqlId>() {
    let (max, digits) = (T::MAX.to_string(), digits::<T>());
    let tail = prop::collection::vec(prop::sample::select(digits), T::TEXT_LEN);
    check((0..=T::TEXT_LEN, tail), |(kept, tail)| {
        let text: String = max.chars().take(kept).chain(tail.into_iter().skip(kept)).collect();
        let parsed = text.parse::<T>();
        if text <= max {
            prop_assert_eq!(parsed.map(|id| id.to_string()), Ok(text));
        } else {
            prop_assert_eq!(parsed, Err(ParseError { kind: ParseErrorKind::OutOfRange, position: 0 }));
        }
        Ok(())
    });
}

fn arbitrary_bytes_are_refused_where_they_stop_being_digits<T: SqlId>() {
    let is_digit = |digits: &[char], byte: u8| {
        digits.contains(&byte.to_ascii_lowercase().into()) || digits.contains(&byte.to_ascii_uppercase().into())
    };
    let digits = digits::<T>();
    check(prop::collection::vec(any::<u8>(), 0..T::TEXT_LEN + 8), |text| {
        if let Some(position) = text.iter().position(|&byte| !is_digit(&digits, byte)) {
            prop_assert_eq!(T::parse(&text), Err(ParseError { kind: ParseErrorKind::InvalidDigit, position }));
        }
        Ok(())
    });
}

fn an_id_lies_within_its_tick<T: SqlId>() {
    check(ids::<T>(), |id| {
        prop_assert!((T::first_of(id.tick())..=T::last_of(id.tick())).contains(&id));
        prop_assert_eq!(id.timestamp_micros(), T::TICKS.start(id.tick()));
        prop_assert!((T::MIN..=T::MAX).contains(&id));
        Ok(())
    });
}

fn nothing_lies_between_two_ticks<T: SqlId>() {
    check(ticks::<T>(), |tick| {
        prop_assert_eq!((T::first_of(tick).tick(), T::last_of(tick).tick()), (tick, tick));
        let next = (tick < T::TICKS.max).then(|| T::first_of(tick + 1));
        prop_assert_eq!(successor(T::last_of(tick)), next);
        Ok(())
    });
    assert_eq!((T::first_of(0), T::last_of(T::TICKS.max)), (T::MIN, T::MAX));
}

fn a_random_id_lies_within_the_tick_asked_for<T: SqlId>() {
    check((ticks::<T>(), any::<u64>()), |(tick, seed)| {
        let mut rng = SplitMix(seed);
        prop_assert_eq!(T::random_of(tick, &mut rng).tick(), tick);
        if !T::SERVER_WIDE {
            prop_assert_ne!(T::random_of(tick, &mut rng), T::random_of(tick, &mut rng));
        }
        Ok(())
    });
}

/// Compares `lower` and `upper` with their definition: the smallest and the largest ID of the tick that contains `moment`.
fn bounds_are_exact<T: SqlId>() {
    check(moments::<T>(), |moment| {
        let (lower, upper) = (T::lower(moment), T::upper(moment));
        let tick = match moment {
            before if before < T::MIN.timestamp_micros() => 0,
            after if after >= T::TICKS.start(T::TICKS.max) => T::TICKS.max,
            _ => lower.tick(),
        };
        prop_assert_eq!((lower, upper), (T::first_of(tick), T::last_of(tick)));
        let is_within = (T::TICKS.start(tick)..T::TICKS.start(tick + 1)).contains(&moment);
        prop_assert!(is_within || [0, T::TICKS.max].contains(&tick));
        Ok(())
    });
}

macro_rules! test_type {
    ($name:ident, $Id:ident) => {
        tests! { $name, $Id:
            all_orders_are_equal
            text_round_trips_in_any_case
            digits_are_the_beginning_of_the_buffer
            stored_bytes_round_trip
            every_bit_belongs_to_the_timestamp_or_a_field
            fields_are_no_wider_than_declared
            a_wrong_digit_is_named_by_its_position
            a_wrong_number_of_digits_is_reported_with_its_position
            digits_above_the_largest_are_out_of_range
            arbitrary_bytes_are_refused_where_they_stop_being_digits
            an_id_lies_within_its_tick
            nothing_lies_between_two_ticks
            a_random_id_lies_within_the_tick_asked_for
            bounds_are_exact
        }
    };
}
scru_ids::registry!(test_type);
