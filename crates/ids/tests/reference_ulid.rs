//! Compares ULID with its reference crate: a million random values, and generators with the same clock and random numbers.

mod common;

use std::time::{Duration, SystemTime};

use common::{NOON, SplitMix};
use rand::Rng;
use scru_ids::{Context, GeneratedId, OnClockRollback, Refusal, SortableId, Step, Ulid};
use ulid::Generator;

const VALUES: usize = 1_000_000;
const STEPS: usize = 1_500_000;

/// The maximum of the randomness.
const MAX_RANDOMNESS: u128 = (1 << 80) - 1;

/// Values of all magnitudes, many of them with runs of zeros or ones.
fn values() -> impl Iterator<Item = u128> {
    let mut rng = SplitMix(128);
    let mut word = move || u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
    (0..VALUES).map(move |number| match number % 4 {
        0 => word() >> (word() % 128),
        1 => word() | u128::MAX << (word() % 128),
        _ => word(),
    })
}

fn reference(value: u128) -> ulid::Ulid {
    ulid::Ulid::from_bytes(value.to_be_bytes())
}

#[test]
fn values_are_written_alike() {
    for value in values() {
        let (mut ours, mut theirs) = ([0; scru_ids::MAX_TEXT_LEN], [0; ulid::ULID_LEN]);
        let text = Ulid::from_u128(value).encode(&mut ours);
        assert_eq!(text, &*reference(value).array_to_str(&mut theirs));
    }
}

#[test]
fn values_are_read_alike() {
    for (number, value) in values().enumerate() {
        let mut text = reference(value).to_string();
        if number % 2 == 1 {
            text.make_ascii_lowercase();
        }
        assert_eq!(Ulid::parse(text.as_bytes()), Ok(Ulid::from_u128(value)), "{text}");
        assert_eq!(ulid::Ulid::from_string(&text).unwrap(), reference(value), "{text}");
    }
}

#[test]
fn values_have_the_same_bytes_and_fields() {
    for value in values() {
        let (ours, theirs) = (Ulid::from_u128(value), reference(value));
        assert_eq!(ours.to_stored(), theirs.to_bytes());
        assert_eq!(ours.timestamp(), theirs.timestamp_ms());
        assert_eq!(ours.randomness(), theirs.random());
        assert_eq!(ulid::Ulid::from_parts(ours.timestamp(), ours.randomness()), theirs);
        assert_eq!(Ulid::from_fields(theirs.timestamp_ms(), theirs.random()), ours);
    }
}

#[test]
fn values_have_the_same_order() {
    for (a, b) in values().zip(values().skip(1)) {
        assert_eq!(Ulid::from_u128(a).cmp(&Ulid::from_u128(b)), reference(a).cmp(&reference(b)));
    }
}

/// Returns the text with one to three characters replaced, inserted or removed.
fn mutated(text: &str, rng: &mut SplitMix) -> String {
    let others =
        ['0', '7', '8', 'F', 'f', 'Z', 'z', 'I', 'l', 'O', 'u', '/', ':', '@', '[', '`', '{', ' ', '-', 'é', '漢'];
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..=rng.below(3) {
        let position = rng.below(text.len() as u64) as usize;
        match rng.below(8) {
            0 => drop(text.remove(position)),
            1 => text.insert(position, rng.pick(&others)),
            2 => text[0] = rng.pick(&others),
            _ => text[position] = rng.pick(&others),
        }
    }
    text.into_iter().collect()
}

/// The reference crate differs in one case: it truncates a first digit above 7, which the specification rejects.
#[test]
fn mutated_texts_are_accepted_or_refused_alike() {
    let mut rng = SplitMix(26);
    let (mut accepted, mut refused, mut too_large) = (0, 0, 0);
    for value in values() {
        let text = mutated(&reference(value).to_string(), &mut rng);
        match (Ulid::parse(text.as_bytes()), ulid::Ulid::from_string(&text)) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours.to_stored(), theirs.to_bytes(), "{text}");
                accepted += 1;
            }
            (Err(_), Err(_)) => refused += 1,
            (Err(error), Ok(_)) if error.kind == scru_ids::ParseErrorKind::OutOfRange => {
                assert!(text.as_bytes()[0] > b'7', "{text}");
                too_large += 1;
            }
            (ours, theirs) => panic!("{text}: {ours:?}, reference: {theirs:?}"),
        }
    }
    assert!(accepted > VALUES / 20 && refused > VALUES / 4 && too_large > VALUES / 100);
}

/// Random numbers, many of which are the maximum or close to it, so that the randomness overflows.
#[derive(Clone)]
struct HighNumbers {
    rng: SplitMix,
    /// The share of high numbers, in eighths.
    share: u64,
}

impl rand::TryRng for HighNumbers {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(if self.rng.below(8) < self.share { u32::MAX } else { self.rng.next_u32() })
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let number = self.rng.next_u64();
        Ok(if self.rng.below(8) < self.share { u64::MAX - number % 50 } else { number })
    }

    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
        panic!("the reference crate draws numbers")
    }
}

/// Runs both generators in parallel, with the same clock and random numbers.
struct Trace {
    ours: <Ulid as GeneratedId>::State,
    our_numbers: HighNumbers,
    theirs: Generator,
    their_numbers: HighNumbers,
    last: Ulid,
    overflows: usize,
    /// IDs ahead of the clock.
    leads: usize,
}

impl Trace {
    fn new(share: u64) -> Self {
        let numbers = HighNumbers { rng: SplitMix(80), share };
        Self {
            ours: Default::default(),
            our_numbers: numbers.clone(),
            theirs: Generator::new(),
            their_numbers: numbers,
            last: Ulid::MIN,
            overflows: 0,
            leads: 0,
        }
    }

    /// Runs a step of both generators. `now` is at most 10 s behind the last ID: at a larger distance, only the reference crate
    /// continues with the last timestamp.
    fn step(&mut self, now: i64) {
        let context = Context { now, on_clock_rollback: OnClockRollback::Error, settings: () };
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(now as u64);
        let theirs = self.theirs.generate_from_datetime_with_source(time, &mut self.their_numbers);
        match (Ulid::step(self.ours, &context, &mut self.our_numbers), theirs) {
            (Step::Made(state, id), Ok(theirs)) => {
                assert_eq!(id.to_stored(), theirs.to_bytes(), "{id}: the reference crate generates {theirs}");
                assert!(id > self.last);
                self.leads += usize::from(id.timestamp_micros() > now);
                (self.ours, self.last) = (state, id);
            }
            (Step::Refused(Refusal::Exhausted), Err(_)) => {
                assert_eq!(self.last.randomness(), MAX_RANDOMNESS);
                self.overflows += 1;
            }
            (ours, theirs) => panic!("{ours:?}, reference: {theirs:?}"),
        }
    }
}

/// Runs a trace with a clock that stands still, advances in small and large steps, and is up to 10 s behind for some periods.
fn generators_agree(share: u64) -> Trace {
    let (mut trace, mut rng) = (Trace::new(share), SplitMix(13));
    let (mut time, mut back) = (NOON, 0);
    for _ in 0..STEPS {
        time += match rng.below(400) {
            0 => rng.pick(&[999_000, 1_000_000, 60_000_000]),
            1..60 => 1 + rng.below(3_000) as i64,
            _ => 0,
        };
        if rng.below(100) == 0 {
            back = rng.pick(&[0, 0, 0, 1, 1_000, 500_000, 9_000_000]);
        }
        // At most as far back as the generator tolerates.
        let now = (time - back).max(trace.last.timestamp_micros() - 10_000_000);
        trace.step(now);
    }
    trace
}

#[test]
fn generators_agree_on_random_numbers() {
    let trace = generators_agree(0);
    assert!(trace.leads > 1_000, "{}", trace.leads);
}

#[test]
fn generators_agree_on_the_highest_random_numbers() {
    let trace = generators_agree(7);
    assert!(trace.leads > 1_000 && trace.overflows > 1_000, "{}, {}", trace.leads, trace.overflows);
}

#[test]
fn generators_agree_at_the_first_and_the_last_timestamps() {
    let mut trace = Trace::new(0);
    for millis in [1, 1, 2, 999, 1_000, (1 << 48) - 3, (1 << 48) - 2, (1 << 48) - 2] {
        trace.step(millis * 1_000);
    }
}
