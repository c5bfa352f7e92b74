//! SCRU160: the ID, its settings, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::{BASE16, BASE32HEX};
use crate::generator::{Context, Moment, State, Step, place_in_time};
use crate::{
    Field, GeneratedId, Getter, Kind, MAX_TEXT_LEN, ParseError, Setting, SettingContext, SortableId, SqlId, Ticks,
};

/// The length of the hexadecimal text, in digits.
const HEX_LEN: usize = 40;

/// The largest initial value of a counter, which leaves half of the values for counting up.
const MAX_START: u16 = (1 << 15) - 1;

/// The number of counter bits below the microsecond, in the alternative usage.
const LOW_BITS: u32 = 6;
const MAX_LOW: u16 = (1 << LOW_BITS) - 1;
const MAX_LOW_START: u16 = MAX_LOW >> 1;

/// A SCRU160: a 160-bit ID, in order of creation, unique without coordination.
///
/// Its [specification](https://github.com/scru160/spec), version 0.1.0, defines these fields:
///
/// | bits | field |
/// |---|---|
/// | 48 | `timestamp`: milliseconds since 1970-01-01 UTC |
/// | 16 | `counter`: 15 random bits, renewed every millisecond; + 1 for every further ID |
/// | 16 | `random16`: random, renewed for every ID |
/// | 80 | `random80`: random, renewed for every ID |
///
/// In the alternative usage of the counter, its upper 10 bits hold the microsecond within the millisecond. Its lower 6 bits
/// are a counter of their own: 5 random bits, renewed every microsecond; + 1 for every further ID. When a counter overflows,
/// the generator waits for the next millisecond or microsecond.
///
/// Any 20 bytes are an ID. The text has 32 base32hex digits, or 40 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
// Aligned, so that it is copied word by word. A load that spans several stores would defeat store forwarding and stall.
#[repr(align(4))]
pub struct Scru160([u8; 20]);

impl Scru160 {
    /// Returns the ID with these big-endian bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Returns the big-endian bytes.
    pub const fn to_bytes(self) -> [u8; 20] {
        self.0
    }

    /// Returns the ID with these fields. Bits of `timestamp` beyond its 48 bits are discarded.
    pub fn from_fields(timestamp: u64, counter: u16, random16: u16, random80: [u8; 10]) -> Self {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&(timestamp << 16 | u64::from(counter)).to_be_bytes());
        bytes[8..10].copy_from_slice(&random16.to_be_bytes());
        bytes[10..].copy_from_slice(&random80);
        Self(bytes)
    }

    /// Returns the 48-bit timestamp, in milliseconds since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        self.head() >> 16
    }

    /// Returns the 16-bit counter.
    pub const fn counter(self) -> u16 {
        self.head() as u16
    }

    /// Returns the 16-bit `random16`.
    pub const fn random16(self) -> u16 {
        u16::from_be_bytes([self.0[8], self.0[9]])
    }

    /// Returns the 80-bit `random80`, as big-endian bytes.
    pub const fn random80(self) -> [u8; 10] {
        let [_, _, _, _, _, _, _, _, _, _, random80 @ ..] = self.0;
        random80
    }

    /// Returns the timestamp and the counter, which are the leading 64 bits.
    const fn head(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// Returns an ID with these leading 64 bits, followed by 96 random bits.
    fn with_head(head: u64, rng: &mut impl Rng) -> Self {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&head.to_be_bytes());
        bytes[8..12].copy_from_slice(&rng.next_u32().to_be_bytes());
        bytes[12..].copy_from_slice(&rng.next_u64().to_be_bytes());
        Self(bytes)
    }
}

/// The settings of SCRU160.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scru160Settings {
    /// The form of the text.
    pub output: Scru160Output,
    /// The usage of the counter.
    pub counter: Scru160Counter,
}

/// The form of the text in output. Input accepts both forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scru160Output {
    /// 32 base32hex digits in upper case.
    #[default]
    Base32Hex,
    /// 40 hexadecimal digits in lower case.
    Hex,
}

/// The usage of the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scru160Counter {
    /// The default of the specification: random at the start of every millisecond, then counted up.
    #[default]
    Random,
    /// The alternative of the specification: the microsecond, followed by 6 bits that are random at the start of every
    /// microsecond, then counted up.
    Microsecond,
}

/// The state of a SCRU160 generator: the last ID without its random fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scru160State {
    timestamp: u64,
    counter: u16,
}

impl State for Scru160State {
    type Word = u64;

    fn pack(self) -> u64 {
        self.timestamp << 16 | u64::from(self.counter)
    }

    fn unpack(word: u64) -> Self {
        Self { timestamp: word >> 16, counter: word as u16 }
    }
}

/// The next state, or the time to wait for, in microseconds since 1970-01-01 UTC.
type Next = Result<Scru160State, i64>;

impl Scru160State {
    fn next_random(self, moment: Moment, rng: &mut impl Rng) -> Next {
        match moment {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => {
                Ok(Self { timestamp, counter: rng.next_u32() as u16 & MAX_START })
            }
            Moment::Same => match self.counter.checked_add(1) {
                Some(counter) => Ok(Self { counter, ..self }),
                None => Err(Scru160::TICKS.start(self.timestamp + 1)),
            },
        }
    }

    fn next_microsecond(self, moment: Moment, now: i64, rng: &mut impl Rng) -> Next {
        let micros = now.rem_euclid(Scru160::TICKS.micros) as u16;
        let mut start = |timestamp| {
            let low = rng.next_u32() as u16 & MAX_LOW_START;
            Ok(Self { timestamp, counter: micros << LOW_BITS | low })
        };
        match moment {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => start(timestamp),
            Moment::Same if now >= self.end_of_microsecond() => start(self.timestamp),
            Moment::Same => self.count_within_microsecond(),
        }
    }

    fn count_within_microsecond(self) -> Next {
        // The other usage may have left a counter whose upper bits exceed 999.
        if self.counter & MAX_LOW == MAX_LOW || self.micros() >= Scru160::TICKS.micros {
            return Err(self.end_of_microsecond());
        }
        Ok(Self { counter: self.counter + 1, ..self })
    }

    /// Returns the counter's microsecond within the millisecond, in the alternative usage. It can exceed 999 after the default
    /// usage.
    fn micros(self) -> i64 {
        i64::from(self.counter >> LOW_BITS)
    }

    /// Returns the end of this microsecond, but no later than the end of its millisecond, in microseconds since 1970-01-01 UTC.
    fn end_of_microsecond(self) -> i64 {
        Scru160::TICKS.start(self.timestamp) + (self.micros() + 1).min(Scru160::TICKS.micros)
    }
}

impl SortableId for Scru160 {
    const NAME: &'static str = "scru160";
    const TEXT_LEN: usize = 32;
    const MIN: Self = Self([0; 20]);
    const MAX: Self = Self([u8::MAX; 20]);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 16;

    type Stored = [u8; 20];
    type Settings = Scru160Settings;

    fn to_stored(self) -> [u8; 20] {
        self.0
    }

    fn from_stored(stored: [u8; 20]) -> Option<Self> {
        Some(Self(stored))
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        if text.len() == HEX_LEN { BASE16.decode_40(text) } else { BASE32HEX.decode_32(text) }.map(Self)
    }

    fn digits<'a>(self, settings: &Scru160Settings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a [u8] {
        match settings.output {
            Scru160Output::Base32Hex => BASE32HEX.encode_32(&self.0, buffer),
            Scru160Output::Hex => BASE16.encode_40(&self.0, buffer),
        }
    }

    fn tick(self) -> u64 {
        self.timestamp()
    }

    fn first_of(tick: u64) -> Self {
        Self::from_fields(tick, 0, 0, [0; 10])
    }

    fn last_of(tick: u64) -> Self {
        Self::from_fields(tick, u16::MAX, u16::MAX, [u8::MAX; 10])
    }
}

impl GeneratedId for Scru160 {
    type State = Scru160State;

    /// Returns a random ID of `tick`, with the default usage of the counter.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::with_head(tick << 16 | u64::from(rng.next_u32() as u16 & MAX_START), rng)
    }

    fn state_tick(state: Scru160State) -> u64 {
        state.timestamp
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> Scru160State {
        Scru160State { timestamp: (tick + 1).min(Self::TICKS.max), counter: rng.next_u32() as u16 & MAX_START }
    }

    #[inline(always)]
    fn step(state: Scru160State, context: &Context<Scru160Settings>, rng: &mut impl Rng) -> Step<Self> {
        let moment = match place_in_time::<Self>(state.timestamp, context) {
            Ok(moment) => moment,
            Err(refusal) => return Step::Refused(refusal),
        };
        let next = match context.settings.counter {
            Scru160Counter::Random => state.next_random(moment, rng),
            Scru160Counter::Microsecond => state.next_microsecond(moment, context.now, rng),
        };
        match next {
            Ok(next) => Step::Made(next, Self::with_head(next.pack(), rng)),
            Err(until) => Step::Wait(until),
        }
    }
}

impl SqlId for Scru160 {
    const SUMMARY: &'static str =
        "SCRU160: 160-bit ID in order of creation, unique without coordination (32 base32hex or 40 hexadecimal digits)";
    const TEXT_VARIES: bool = true;
    const FIELDS: &'static [Field<Self>] = &[
        Field {
            name: "counter",
            summary: "16 bits, random at the start of every millisecond, then counted up",
            getter: Getter::Bits24(|id| u32::from(id.counter())),
        },
        Field {
            name: "random16",
            summary: "16 random bits, renewed for every ID",
            getter: Getter::Bits24(|id| u32::from(id.random16())),
        },
        Field {
            name: "random80",
            summary: "80 random bits, renewed for every ID",
            getter: Getter::Bits80(Self::random80),
        },
    ];
    const SETTINGS: &'static [Setting<Scru160Settings>] = &[
        Setting {
            name: "scru160_output",
            summary: "Text form of scru160 in output; input accepts both forms.",
            context: SettingContext::User,
            kind: Kind::Choice {
                words: &["base32hex", "hex"],
                apply: |settings, word| {
                    settings.output = [Scru160Output::Base32Hex, Scru160Output::Hex][word];
                },
            },
        },
        Setting {
            name: "scru160_counter",
            summary: "Initial value of the counter of a scru160: random bits, or the microsecond.",
            context: SettingContext::Reload,
            kind: Kind::Choice {
                words: &["random", "microsecond"],
                apply: |settings, word| {
                    settings.counter = [Scru160Counter::Random, Scru160Counter::Microsecond][word];
                },
            },
        },
    ];
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::generator::script::Draw::{self, Bits32, Bits64};
    use crate::generator::script::{Script, step};
    use crate::{OnClockRollback, ParseErrorKind, Refusal};

    /// 2026-11-01 12:00 UTC, in milliseconds.
    const NOON: u64 = 1_793_534_400_000;
    /// The last timestamp that is not reserved.
    const LAST: u64 = (1 << 48) - 2;

    /// The last random numbers that every ID draws, and the two fields that result from them.
    const TAIL: [Draw; 2] = [Bits32(0x0102_0304), Bits64(0x0506_0708_090a_0b0c)];
    const RANDOM_16: u16 = 0x0102;
    const RANDOM_80: [u8; 10] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

    fn at(now: i64, counter: Scru160Counter) -> Context<Scru160Settings> {
        let settings = Scru160Settings { counter, ..Default::default() };
        Context { now, on_clock_rollback: OnClockRollback::Error, settings }
    }

    fn micros(millis: u64, micros: i64) -> i64 {
        millis as i64 * 1_000 + micros
    }

    fn used(timestamp: u64, counter: u16) -> Scru160State {
        Scru160State { timestamp, counter }
    }

    fn id(timestamp: u64, counter: u16) -> Scru160 {
        Scru160::from_fields(timestamp, counter, RANDOM_16, RANDOM_80)
    }

    /// Returns the timestamp and the counter of the ID that a step generates. `draws` are the random numbers of the counter.
    fn made(state: Scru160State, now: i64, usage: Scru160Counter, draws: &[Draw]) -> (u64, u16) {
        let step = step::<Scru160>(state, &at(now, usage), &[draws, &TAIL].concat());
        let Step::Made(next, made) = step else { panic!("{step:?}") };
        assert_eq!(made, id(next.timestamp, next.counter));
        (made.timestamp(), made.counter())
    }

    /// Runs a step that generates no ID and draws no random numbers.
    fn refusal_or_wait(state: Scru160State, now: i64, usage: Scru160Counter) -> Step<Scru160> {
        step::<Scru160>(state, &at(now, usage), &[])
    }

    use Scru160Counter::{Microsecond, Random};

    #[test]
    fn fields_are_cut_to_their_width() {
        assert_eq!(Scru160::from_fields(u64::MAX, u16::MAX, u16::MAX, [u8::MAX; 10]), Scru160::MAX);
        assert_eq!(Scru160::from_fields(1 << 48 | 1, 2, 3, [0; 10]), Scru160::from_fields(1, 2, 3, [0; 10]));
    }

    #[test]
    fn a_fresh_generator_draws_15_bits_for_the_counter() {
        assert_eq!(made(Scru160State::default(), micros(NOON, 0), Random, &[Bits32(0x1234_ffff)]), (NOON, 0x7fff));
        assert_eq!(made(Scru160State::default(), micros(NOON, 0), Random, &[Bits32(0xffff_8000)]), (NOON, 0));
    }

    #[test]
    fn within_a_millisecond_the_counter_counts_up() {
        assert_eq!(made(used(NOON, 7), micros(NOON, 999), Random, &[]), (NOON, 8));
        assert_eq!(made(used(NOON, 0x7fff), micros(NOON, 0), Random, &[]), (NOON, 0x8000));
        assert_eq!(made(used(NOON, u16::MAX - 1), micros(NOON, 0), Random, &[]), (NOON, u16::MAX));
    }

    #[test]
    fn in_a_later_millisecond_the_counter_is_drawn_anew() {
        assert_eq!(made(used(NOON, 7), micros(NOON + 1, 0), Random, &[Bits32(3)]), (NOON + 1, 3));
        assert_eq!(made(used(NOON, u16::MAX), micros(NOON + 1, 0), Random, &[Bits32(3)]), (NOON + 1, 3));
    }

    #[test]
    fn a_full_counter_waits_for_the_next_millisecond() {
        let wait = Step::Wait(micros(NOON + 1, 0));
        assert_eq!(refusal_or_wait(used(NOON, u16::MAX), micros(NOON, 0), Random), wait);
        assert_eq!(refusal_or_wait(used(NOON, u16::MAX), micros(NOON, 999), Random), wait);
        assert_eq!(
            refusal_or_wait(used(NOON, u16::MAX), micros(NOON - 10_000, 0), Random),
            wait,
            "of the state, not of the clock"
        );
    }

    #[test]
    fn ids_continue_with_the_last_timestamp_after_a_rollback_of_10_seconds() {
        for usage in [Random, Microsecond] {
            assert_eq!(made(used(NOON, 7), micros(NOON - 1, 999), usage, &[]), (NOON, 8));
            assert_eq!(made(used(NOON, 7), micros(NOON - 10_000, 0), usage, &[]), (NOON, 8));
        }
    }

    #[test]
    fn after_a_larger_rollback_a_step_is_refused_with_the_distance_or_restarts_at_the_clock() {
        let now = micros(NOON - 10_001, 0);
        for usage in [Random, Microsecond] {
            assert_eq!(refusal_or_wait(used(NOON, 7), now, usage), Step::Refused(Refusal::ClockMovedBack(10_001_000)));
            let context = Context { on_clock_rollback: OnClockRollback::Reset, ..at(now, usage) };
            let made = step::<Scru160>(used(NOON, 7), &context, &[Bits32(3), TAIL[0], TAIL[1]]);
            assert_eq!(made, Step::Made(used(NOON - 10_001, 3), id(NOON - 10_001, 3)));
        }
    }

    #[test]
    fn clocks_at_reserved_timestamps_and_beyond_are_refused() {
        let end = micros(LAST + 1, 0);
        for usage in [Random, Microsecond] {
            for state in [Scru160State::default(), used(1, 2), used(LAST, 2), used(LAST, u16::MAX), used(LAST + 1, 2)] {
                for now in [i64::MIN, -1, 0, 999, end, end + 999, end + 1_000, i64::MAX] {
                    assert_eq!(refusal_or_wait(state, now, usage), Step::Refused(Refusal::ClockOutOfRange), "at {now}");
                }
            }
            assert_eq!(made(Scru160State::default(), 1_000, usage, &[Bits32(3)]), (1, 3));
            assert_eq!(made(Scru160State::default(), micros(LAST, 0), usage, &[Bits32(3)]), (LAST, 3));
        }
    }

    #[test]
    fn the_microsecond_fills_the_upper_ten_bits() {
        let first = |micro, draw| made(Scru160State::default(), micros(NOON, micro), Microsecond, &[Bits32(draw)]);
        assert_eq!(first(0, 0), (NOON, 0));
        assert_eq!(first(1, 0), (NOON, 1 << 6));
        assert_eq!(first(999, 0xffff_ffff), (NOON, 999 << 6 | 0x1f), "with 5 random bits, of 6");
        assert_eq!(made(used(NOON, u16::MAX), micros(NOON + 1, 5), Microsecond, &[Bits32(3)]), (NOON + 1, 5 << 6 | 3));
    }

    #[test]
    fn within_a_microsecond_the_lower_six_bits_count_up() {
        assert_eq!(made(used(NOON, 5 << 6 | 31), micros(NOON, 5), Microsecond, &[]), (NOON, 5 << 6 | 32));
        assert_eq!(made(used(NOON, 5 << 6 | 62), micros(NOON, 5), Microsecond, &[]), (NOON, 5 << 6 | 63));
        assert_eq!(made(used(NOON, 5 << 6 | 7), micros(NOON, 4), Microsecond, &[]), (NOON, 5 << 6 | 8), "clock behind");
    }

    #[test]
    fn in_a_later_microsecond_the_lower_bits_are_drawn_anew() {
        assert_eq!(made(used(NOON, 5 << 6 | 63), micros(NOON, 6), Microsecond, &[Bits32(3)]), (NOON, 6 << 6 | 3));
    }

    #[test]
    fn full_lower_bits_wait_for_the_next_microsecond() {
        let full = |micro: u16| used(NOON, micro << 6 | 63);
        assert_eq!(refusal_or_wait(full(5), micros(NOON, 5), Microsecond), Step::Wait(micros(NOON, 6)));
        assert_eq!(refusal_or_wait(full(5), micros(NOON, 0), Microsecond), Step::Wait(micros(NOON, 6)));
        assert_eq!(refusal_or_wait(full(5), micros(NOON - 10_000, 0), Microsecond), Step::Wait(micros(NOON, 6)));
        assert_eq!(refusal_or_wait(full(999), micros(NOON, 999), Microsecond), Step::Wait(micros(NOON + 1, 0)));
    }

    #[test]
    fn counters_beyond_microsecond_999_wait_for_the_next_millisecond() {
        for counter in [1_000 << 6, 1_000 << 6 | 5, 1_023 << 6, u16::MAX] {
            for micro in [0, 5, 999] {
                let step = refusal_or_wait(used(NOON, counter), micros(NOON, micro), Microsecond);
                assert_eq!(step, Step::Wait(micros(NOON + 1, 0)), "{counter} at {micro}");
            }
        }
    }

    #[test]
    fn the_usage_of_the_counter_can_change() {
        assert_eq!(made(used(NOON, 400 << 6 | 9), micros(NOON, 100), Microsecond, &[]), (NOON, 400 << 6 | 10));
        assert_eq!(made(used(NOON, 400 << 6 | 9), micros(NOON, 401), Microsecond, &[Bits32(0)]), (NOON, 401 << 6));
        assert_eq!(made(used(NOON, 999 << 6 | 63), micros(NOON, 999), Random, &[]), (NOON, 1_000 << 6));
    }

    #[test]
    fn ids_increase_whatever_the_clock_and_the_usages_do() {
        let (mut rng, mut clock) = (StdRng::seed_from_u64(160), micros(NOON, 0));
        let (mut state, mut last, mut waits) = (Scru160State::default(), Scru160::MIN, 0);
        for _ in 0..1_000_000 {
            clock += [0, 0, 0, 0, 0, 1, 1, 2, 300, -1, -2, -300][rng.random_range(0..12)];
            let usage = if clock / 7_000 % 2 == 0 { Random } else { Microsecond };
            match Scru160::step(state, &at(clock, usage), &mut rng) {
                Step::Made(next, id) => {
                    assert!(id > last && id.timestamp() == next.timestamp && id.counter() == next.counter);
                    assert!(usage == Random || id.counter() >> 6 < 1_000);
                    (state, last) = (next, id);
                }
                Step::Wait(until) => {
                    assert!(clock < until && until <= micros(state.timestamp + 1, 0));
                    (clock, waits) = (until, waits + 1);
                }
                Step::Refused(refusal) => panic!("{refusal:?}"),
            }
        }
        assert!(waits > 100, "only {waits}");
    }

    #[test]
    fn a_state_packs_into_the_leading_bits_of_the_last_id() {
        let state = used(0x1234_5678_9abc, 0xdef0);
        assert_eq!(state.pack(), 0x1234_5678_9abc_def0);
        assert_eq!(Scru160State::unpack(state.pack()), state);
        assert_eq!((Scru160State::default().pack(), Scru160State::unpack(0)), (0, Scru160State::default()));
    }

    #[test]
    fn random_ids_draw_15_bits_for_the_counter() {
        let mut script = Script(&[Bits32(0xffff_ffff), TAIL[0], TAIL[1]]);
        assert_eq!(Scru160::random_of(NOON, &mut script), id(NOON, 0x7fff));
    }

    #[test]
    fn the_output_is_as_set() {
        let id: Scru160 = "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6".parse().unwrap();
        let text = |output| {
            let settings = Scru160Settings { output, ..Default::default() };
            id.encode(&settings, &mut [0; MAX_TEXT_LEN]).to_owned()
        };
        assert_eq!(text(Scru160Output::Base32Hex), "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6");
        assert_eq!(text(Scru160Output::Hex), "017bdf6431bb33750751eb63beb3c3f8c5969d86");
        assert_eq!(id.to_string(), "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6");
    }

    #[test]
    fn only_forty_bytes_are_read_as_hexadecimal() {
        let error = |text: &str| text.parse::<Scru160>().map_err(|error| (error.kind, error.position)).unwrap_err();
        let too_long = |received| ParseErrorKind::TooLong { expected: 32, received };
        assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d8"), (too_long(39), 32));
        assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d860"), (too_long(41), 32));
        assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d8g"), (ParseErrorKind::InvalidDigit, 39));
        assert_eq!(error("05TTUP1HNCPNH30VEK64KDQT9BSNU4C400000000"), (ParseErrorKind::InvalidDigit, 2));
    }

    #[test]
    fn words_select_the_values_of_settings() {
        let applied = |setting: usize, word: usize| {
            let mut settings = Scru160Settings::default();
            let Kind::Choice { apply, .. } = Scru160::SETTINGS[setting].kind else { panic!("a choice") };
            apply(&mut settings, word);
            settings
        };
        assert_eq!([applied(0, 0), applied(1, 0)], [Scru160Settings::default(); 2]);
        assert_eq!(applied(0, 1), Scru160Settings { output: Scru160Output::Hex, counter: Random });
        assert_eq!(applied(1, 1), Scru160Settings { output: Scru160Output::Base32Hex, counter: Microsecond });
    }
}
