use std::any::Any;
use std::cell::Cell;
use std::collections::HashSet;

use rand::SeedableRng;

use super::*;
use crate::{Scru64, Scru64Settings, Scru128, Scru160, SortableId, Ulid, Ulidflake};

/// 2026-11-01 12:00 UTC.
const NOON: i64 = 1_793_534_400_000_000;
const SECOND: i64 = 1_000_000;

/// A clock that stands still until a generator waits for it.
struct Hand<'a>(&'a Cell<i64>);

impl Clock for Hand<'_> {
    fn unix_micros(&mut self) -> i64 {
        self.0.get()
    }

    fn wait_until(&mut self, unix_micros: i64) {
        assert!(unix_micros > self.0.get());
        self.0.set(unix_micros);
    }
}

fn at<T: GeneratedId>(settings: T::Settings, clock: &Cell<i64>) -> Generator<T, Hand<'_>, StdRng> {
    Generator::with(settings, Hand(clock), StdRng::seed_from_u64(1))
}

fn check_order<T: GeneratedId>() {
    let mut generator = Generator::<T>::new();
    let ids: Vec<T> = (0..1_000).map(|_| generator.generate().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b));
    let ahead = ids[999].timestamp_micros() - SystemClock.unix_micros();
    assert!((-SECOND..=SECOND + T::TICKS.micros).contains(&ahead), "{ahead}");
}

#[test]
fn every_type_has_a_generator() {
    crate::registry!(|Id| check_order::<Id>());
}

/// A type's own `new()` takes precedence over that of a trait.
trait WithoutNew: Sized {
    fn new() -> Option<Self> {
        None
    }
}
impl<T: GeneratedId> WithoutNew for T {}

#[test]
fn types_without_a_node_have_new() {
    crate::id_systems!(|Id| {
        let new: &dyn Any = &Id::new();
        assert_eq!(new.is::<Id>(), !Id::SERVER_WIDE, "{}", Id::NAME);
    });
}

#[test]
fn an_id_has_the_time_of_the_given_clock() {
    let clock = Cell::new(NOON);
    assert_eq!(at::<Scru128>((), &clock).generate().unwrap().timestamp_micros(), NOON);
    assert_eq!(at::<Ulid>((), &clock).generate().unwrap().timestamp_micros(), NOON);
}

#[test]
fn a_generator_continues_above_earlier_ones() {
    let clock = Cell::new(NOON);
    let settings = Scru64Settings { node: "5/20".parse().unwrap() };
    let before: HashSet<_> = {
        let mut generator = at::<Scru64>(settings, &clock);
        (0..20).map(|_| generator.generate().unwrap()).collect()
    };
    let mut successor = at::<Scru64>(settings, &clock);
    let after: Vec<_> = (0..20).map(|_| successor.generate().unwrap()).collect();
    assert!(after.iter().all(|id| !before.contains(id) && id.node_id(20) == 5));
    assert!(after[19].timestamp_micros() <= clock.get() + SECOND);
}

#[test]
fn a_rollback_restarts_at_the_clock_or_is_an_error() {
    let clock = Cell::new(NOON);
    let mut reset = at::<Scru128>((), &clock);
    let mut strict = at::<Scru128>((), &clock).on_clock_rollback(OnClockRollback::Error);
    let mut flake = at::<Ulidflake>(Default::default(), &clock);
    flake.generate().unwrap();
    clock.set(NOON);
    let (before, _) = (reset.generate().unwrap(), strict.generate().unwrap());
    clock.set(NOON - 11 * SECOND);
    assert!(reset.generate().unwrap() < before);
    assert_eq!(strict.generate(), Err(Refusal::ClockMovedBack(11_000_000)));
    assert_eq!(flake.generate(), Err(Refusal::ClockMovedBack(12_001_000)));
    clock.set(NOON);
    strict.generate().unwrap();
    assert_eq!(
        Refusal::ClockMovedBack(11_000_000).to_string(),
        "the clock is 11 s behind the last ID that was generated"
    );
}

#[test]
fn a_clock_out_of_range_is_an_error() {
    let clock = Cell::new(-SECOND);
    assert_eq!(at::<Scru160>(Default::default(), &clock).generate(), Err(Refusal::ClockOutOfRange));
    assert_eq!(Refusal::ClockOutOfRange.to_string(), "the clock reads a time for which there are no IDs");
}

#[test]
fn threads_share_the_generator_of_the_process() {
    let draw = || (0..2_000).map(|_| Scru160::new()).collect::<Vec<_>>();
    let drawn: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for ids in &drawn {
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
    assert_eq!(drawn.iter().flatten().collect::<HashSet<_>>().len(), 8_000);
}

#[test]
fn a_process_that_was_forked_has_a_generator_of_its_own() {
    let of_process = OfProcess::<Ulid>::new(None);
    let inherited = generate(&of_process);
    // The state after a fork: the generator and the process ID of the parent.
    of_process.lock().unwrap().as_mut().unwrap().0 = 0;
    let own = generate(&of_process);
    assert_eq!(of_process.lock().unwrap().as_ref().unwrap().0, process::id());
    assert_ne!(own.to_u128(), inherited.to_u128() + 1);
}
