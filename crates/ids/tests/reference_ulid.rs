//! Compares ULID with its reference crate: a million random values, and generators with the same clock and random numbers.

mod common;

use std::time::{Duration, SystemTime};

use common::{CHARACTERS, HighNumbers, NOON, SplitMix, mutated, values};
use scru_ids::{Context, GeneratedId, NoId, OnClockRollback, Refusal, SortableId, Ulid};
use ulid::Generator;

const VALUES: usize = 1_000_000;
const STEPS: usize = 1_500_000;

/// The maximum of the randomness.
const MAX_RANDOMNESS: u128 = (1 << 80) - 1;

fn reference(value: u128) -> ulid::Ulid {
    ulid::Ulid::from_bytes(value.to_be_bytes())
}

#[test]
fn values_are_alike() {
    let mut before = (Ulid::MIN, reference(0));
    for (number, value) in values(VALUES).enumerate() {
        let (ours, theirs) = (Ulid::from_u128(value), reference(value));
        let mut text = theirs.to_string();
        assert_eq!(ours.encode(&mut [0; scru_ids::MAX_TEXT_LEN]), text);
        if number % 2 == 1 {
            text.make_ascii_lowercase();
        }
        assert_eq!(Ulid::parse(text.as_bytes()), Ok(ours), "{text}");
        assert_eq!(ours.to_stored(), theirs.to_bytes());
        assert_eq!((ours.timestamp(), ours.randomness()), (theirs.timestamp_ms(), theirs.random()));
        assert_eq!(Ulid::from_fields(theirs.timestamp_ms(), theirs.random()), ours);
        assert_eq!(before.0.cmp(&ours), before.1.cmp(&theirs));
        before = (ours, theirs);
    }
}

/// The reference crate differs in one case: it truncates a first digit above 7, which the specification rejects.
#[test]
fn mutated_texts_are_accepted_or_refused_alike() {
    let mut rng = SplitMix(26);
    let (mut accepted, mut refused, mut too_large) = (0, 0, 0);
    for value in values(VALUES) {
        let text = mutated(&reference(value).to_string(), CHARACTERS, &mut rng);
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
            (Ok((state, id)), Ok(theirs)) => {
                assert_eq!(id.to_stored(), theirs.to_bytes(), "{id}: the reference crate generates {theirs}");
                assert!(id > self.last);
                self.leads += usize::from(id.timestamp_micros() > now);
                (self.ours, self.last) = (state, id);
            }
            (Err(NoId::Refused(Refusal::Exhausted)), Err(_)) => {
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
