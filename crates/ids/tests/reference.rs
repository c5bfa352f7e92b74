//! Compares SCRU128 with its reference crate: a million random values, and generators with the same clock and random
//! numbers.

mod common;

use common::{HighNumbers, NOON, SplitMix, compare_mutated, values};
use rand::Rng;
use scru_ids::{GeneratedId, NoId, OnClockRollback, Refusal, Scru128, SortableId};
use scru128::{Generator, Id, generator::RandSource};

const VALUES: usize = 1_000_000;
const STEPS: usize = 1_500_000;

#[test]
fn values_are_alike() {
    let mut before = (Scru128::MIN, Id::from_u128(0));
    for (number, value) in values(VALUES).enumerate() {
        let (ours, theirs) = (Scru128::from_u128(value), Id::from_u128(value));
        let mut text = theirs.encode().as_str().to_owned();
        assert_eq!(ours.encode(&mut [0; scru_ids::MAX_TEXT_LEN]), text);
        if number % 2 == 1 {
            text.make_ascii_uppercase();
        }
        assert_eq!(Scru128::parse(text.as_bytes()), Ok(ours), "{text}");
        assert_eq!(ours.to_stored(), theirs.to_bytes());
        assert_eq!(ours.timestamp(), theirs.timestamp());
        assert_eq!(ours.counter_hi(), theirs.counter_hi());
        assert_eq!(ours.counter_lo(), theirs.counter_lo());
        assert_eq!(ours.entropy(), theirs.entropy());
        let [timestamp, hi, lo, entropy] = [80, 56, 32, 0].map(|shift| value >> shift);
        assert_eq!(Scru128::from_fields(timestamp as u64, hi as u32, lo as u32, entropy as u32), ours);
        assert_eq!(before.0.cmp(&ours), before.1.cmp(&theirs));
        before = (ours, theirs);
    }
}

#[test]
fn mutated_texts_are_accepted_or_refused_alike() {
    let texts = values(VALUES).map(|value| Id::from_u128(value).encode().as_str().to_owned());
    let theirs = |text: &str| Id::try_from_str(text).map(|id| id.to_u128());
    compare_mutated(texts, |text| Scru128::parse(text).map(Scru128::to_u128), theirs);
}

impl RandSource for HighNumbers {
    fn next_u32(&mut self) -> u32 {
        Rng::next_u32(self)
    }
}

/// A clock that stands still, advances in small and large steps, and is behind for some periods.
struct Clock {
    rng: SplitMix,
    time: u64,
    back: u64,
}

impl Clock {
    fn new(seed: u64) -> Self {
        Self { rng: SplitMix(seed), time: NOON as u64 / 1_000, back: 0 }
    }

    fn read_millis(&mut self) -> u64 {
        self.time += match self.rng.below(400) {
            0 => self.rng.pick(&[900, 998, 999, 1_000, 1_001, 60_000]),
            1..30 => 1 + self.rng.below(20),
            _ => 0,
        };
        if self.rng.below(100) == 0 {
            self.back = self.rng.pick(&[0, 0, 1, 500, 9_999, 10_000, 10_001, 10_002, 3_600_000]);
        }
        self.time - self.back
    }
}

/// The number of occurrences of each event that a trace must cover.
#[derive(Debug, Default)]
struct Seen {
    carries: usize,
    overflows: usize,
    /// IDs whose predecessor was ahead of the clock.
    leads: usize,
    resets: usize,
    refusals: usize,
    renewals: usize,
}

impl Seen {
    fn note(&mut self, last: Scru128, id: Scru128, clock: u64) {
        let (hi, next_hi) = (last.counter_hi(), id.counter_hi());
        self.resets += usize::from(id < last);
        self.leads += usize::from(id > last && clock < last.timestamp());
        self.overflows += usize::from(id > last && clock < id.timestamp() && id.timestamp() > last.timestamp());
        self.carries += usize::from(id.timestamp() == last.timestamp() && next_hi == hi + 1 && id.counter_lo() == 0);
        self.renewals += usize::from(id.timestamp() > last.timestamp() && next_hi != hi && next_hi != 0);
    }

    fn assert_all(&self, on_clock_rollback: OnClockRollback) {
        let Self { carries, overflows, leads, resets, refusals, renewals } = *self;
        assert!(carries > 1_000 && overflows > 1_000 && leads > 1_000 && renewals > 1_000, "{self:?}");
        match on_clock_rollback {
            OnClockRollback::Reset => assert!(resets > 1_000 && refusals == 0, "{self:?}"),
            OnClockRollback::Error => assert!(resets == 0 && refusals > 1_000, "{self:?}"),
        }
    }
}

/// Runs both generators in parallel, with the same clock and random numbers.
struct Trace {
    on_clock_rollback: OnClockRollback,
    ours: <Scru128 as GeneratedId>::State,
    our_numbers: HighNumbers,
    theirs: Generator<HighNumbers, ()>,
    last: Scru128,
    seen: Seen,
}

impl Trace {
    fn new(on_clock_rollback: OnClockRollback, share: u64) -> Self {
        let numbers = HighNumbers { rng: SplitMix(24), share };
        Self {
            on_clock_rollback,
            ours: Default::default(),
            our_numbers: numbers.clone(),
            theirs: Generator::with_rand_and_time_sources(numbers, ()),
            last: Scru128::MIN,
            seen: Seen::default(),
        }
    }

    fn step(&mut self, millis: u64, micros: u64) {
        let theirs = match self.on_clock_rollback {
            OnClockRollback::Reset => Some(self.theirs.generate_or_reset_with_ts(millis)),
            OnClockRollback::Error => self.theirs.generate_or_abort_with_ts(millis),
        };
        let now = (millis * 1_000 + micros) as i64;
        let context = scru_ids::Context { now, on_clock_rollback: self.on_clock_rollback, settings: () };
        match (Scru128::step(self.ours, &context, &mut self.our_numbers), theirs) {
            (Ok((state, id)), Some(theirs)) => {
                assert_eq!(id.to_u128(), theirs.to_u128(), "{id}: the reference crate generates {theirs}");
                self.seen.note(self.last, id, millis);
                (self.ours, self.last) = (state, id);
            }
            (Err(NoId::Refused(Refusal::ClockMovedBack(distance))), None) => {
                assert_eq!(distance, (self.last.timestamp() - millis) * 1_000);
                self.seen.refusals += 1;
            }
            (ours, theirs) => panic!("{ours:?}, reference: {theirs:?}"),
        }
    }
}

fn generators_agree(on_clock_rollback: OnClockRollback) {
    let mut trace = Trace::new(on_clock_rollback, 5);
    let mut clock = Clock::new(13);
    for _ in 0..STEPS {
        let (millis, micros) = (clock.read_millis(), clock.rng.below(1_000));
        trace.step(millis, micros);
    }
    trace.seen.assert_all(on_clock_rollback);
}

#[test]
fn generators_agree_after_a_rollback_that_restarts_at_the_clock() {
    generators_agree(OnClockRollback::Reset);
}

#[test]
fn generators_agree_where_a_rollback_is_refused() {
    generators_agree(OnClockRollback::Error);
}

/// All random numbers are the maximum or close to it, so that both counters overflow soon and IDs run ahead of the clock.
#[test]
fn generators_agree_on_the_highest_random_numbers() {
    let mut trace = Trace::new(OnClockRollback::Error, 8);
    let mut clock = Clock::new(14);
    for _ in 0..STEPS {
        let millis = clock.read_millis().max(trace.last.timestamp().saturating_sub(10_000));
        trace.step(millis, 999);
    }
    assert!(trace.seen.overflows > 1_000, "{:?}", trace.seen);
}

/// Generates every ID from one carry of `counter_lo` to the next.
#[test]
fn generators_agree_over_a_whole_cycle_of_counter_lo() {
    let mut trace = Trace::new(OnClockRollback::Reset, 0);
    for _ in 0..(1 << 24) + 10 {
        trace.step(NOON as u64 / 1_000, 0);
    }
    assert_eq!(trace.seen.carries, 1);
}

#[test]
fn generators_agree_at_the_first_and_the_last_timestamps() {
    let mut trace = Trace::new(OnClockRollback::Reset, 0);
    for millis in [1, 1, 2, 999, 1_000, 1_001, 1_002, 2_000, (1 << 48) - 3, (1 << 48) - 2, (1 << 48) - 2] {
        trace.step(millis, 0);
    }
}
