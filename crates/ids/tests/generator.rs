//! Properties of the generators of all types, and of threads that share the state of a generator as one atomic word, as
//! backends do in shared memory. Threads also test the atomic operations on 128 bits of the architecture.

mod common;

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::thread;

use common::{NOON, Simulation, SplitMix, tests};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use rand::SeedableRng;
use rand::rngs::StdRng;
use scru_ids::{
    Context, GeneratedId, MAX_ROLLBACK_MICROS, NoId, OnClockRollback, Refusal, Scru64, Scru64Settings, Scru128,
    Scru160, Scru160Counter, Scru160Settings, SortableId, Step, Ulid, Ulidflake, UlidflakeOverflow, UlidflakeSettings,
};

/// The maximum time by which a generator may run ahead of its clock.
const MAX_LEAD_MICROS: i64 = 1_000_000;

/// Leaves the clock unchanged, advances it in small or large steps, or moves it back within the tolerance of generators.
fn move_clock<T: GeneratedId>(simulation: &mut Simulation<T>) {
    let moves = [0, 0, 0, 0, 1, 300, 1_000, 1_700, 40_000, 1_000_000, -1, -1_000, -30_000];
    simulation.clock += simulation.rng.pick(&moves);
}

fn ids_increase_strictly<T: GeneratedId>() {
    let mut simulation = Simulation::<T>::new(1);
    let mut last = simulation.next_id();
    for _ in 0..1_000_000 {
        move_clock(&mut simulation);
        let id = simulation.next_id();
        assert!(id > last, "{id} after {last}");
        last = id;
    }
}

fn ids_keep_to_the_clock<T: GeneratedId>() {
    let mut simulation = Simulation::<T>::new(2);
    for _ in 0..200_000 {
        simulation.clock += simulation.rng.pick(&[0, 0, 0, 1, 300, 1_700, 1_000_000]);
        let lead = simulation.next_id().timestamp_micros() - simulation.clock;
        assert!((-T::TICKS.micros + 1..=MAX_LEAD_MICROS).contains(&lead), "{lead} microseconds ahead");
    }
}

/// The state 0 is that before the first ID, and no other.
fn no_state_after_an_id_is_the_default<T: GeneratedId>() {
    let mut simulation = Simulation::<T>::new(5);
    for _ in 0..100_000 {
        move_clock(&mut simulation);
        simulation.next_id();
        assert!(simulation.state != T::State::default());
    }
}

fn different_seeds_share_no_id<T: GeneratedId>() {
    // The 64-bit types are unique by their node and their shared state, not by their random bits.
    if !T::SERVER_WIDE {
        let [a, b] = [6, 7].map(|seed| Simulation::<T>::new(seed).bulk(100_000, 100));
        let a: HashSet<_> = a.into_iter().collect();
        assert!(b.iter().all(|id| !a.contains(id)));
    }
}

fn a_successor_repeats_no_id_of_a_forgotten_predecessor<T: GeneratedId>() {
    let mut predecessor = Simulation::<T>::new(8);
    let made: HashSet<_> = predecessor.bulk(300_000, 150_000).into_iter().collect();
    assert_eq!(made.len(), 300_000);
    let state = T::successor_state(predecessor.clock, &mut SplitMix(9));
    let mut successor = Simulation { clock: predecessor.clock, state, ..Simulation::new(9) };
    for id in successor.bulk(300_000, 50_000) {
        assert!(!made.contains(&id), "repeats {id}");
    }
}

/// The first and the last tick are reserved.
fn a_clock_outside_of_the_range_is_refused<T: GeneratedId>() {
    let (ticks, rng) = (T::TICKS, &mut SplitMix(10));
    let (first, last) = (ticks.start(1), ticks.start(ticks.max) - 1);
    for state in [T::State::default(), T::state_after(1, rng), T::state_after(ticks.max - 1, rng)] {
        for clock in [i64::MIN, -1, ticks.epoch - 1, ticks.epoch, first - 1, last + 1, last + ticks.micros, i64::MAX] {
            let refused = refusal(Simulation::<T> { clock, state, rng: rng.clone() }.step(OnClockRollback::Reset));
            assert_eq!(refused, Some(Refusal::ClockOutOfRange), "at {clock}");
        }
    }
    for (clock, tick) in [(first, 1), (last, ticks.max - 1)] {
        let id = Simulation::<T> { clock, ..Simulation::new(10) }.next_id();
        assert_eq!(id.tick(), tick);
    }
}

fn refusal<T: GeneratedId>(step: Step<T>) -> Option<Refusal> {
    match step {
        Err(NoId::Refused(refusal)) => Some(refusal),
        _ => None,
    }
}

fn a_large_rollback_is_refused_with_its_distance_if_on_clock_rollback_is_error<T: GeneratedId>() {
    // The 64-bit types tolerate less, and refuse a larger rollback with either setting.
    if !T::SERVER_WIDE {
        let mut simulation = Simulation::<T>::new(11);
        let id = simulation.next_id();
        simulation.clock = id.timestamp_micros() - MAX_ROLLBACK_MICROS as i64 - T::TICKS.micros;
        let distance = MAX_ROLLBACK_MICROS + T::TICKS.micros as u64;
        let refused = refusal(simulation.step(OnClockRollback::Error));
        assert_eq!(refused, Some(Refusal::ClockMovedBack(distance)));
        assert_eq!(simulation.next_id().timestamp_micros(), simulation.clock, "starts again");
    }
}

fn ids_continue_after_a_rollback_of_exactly_ten_seconds<T: GeneratedId>() {
    if !T::SERVER_WIDE {
        let mut simulation = Simulation::<T>::new(12);
        let id = simulation.next_id();
        simulation.clock = id.timestamp_micros() - MAX_ROLLBACK_MICROS as i64;
        for policy in [OnClockRollback::Error, OnClockRollback::Reset] {
            let Ok((_, next)) = simulation.step(policy) else { panic!("no ID") };
            assert!(next > id && next.tick() == id.tick());
        }
    }
}

#[test]
fn simulated_clocks_begin_on_the_first_of_november_2026() {
    assert_eq!(NOON, ((20_758 * 24) + 12) * 3_600 * 1_000_000);
}

macro_rules! test_type {
    ($name:ident, $Id:ident) => {
        tests! { $name, $Id:
            ids_increase_strictly
            ids_keep_to_the_clock
            no_state_after_an_id_is_the_default
            different_seeds_share_no_id
            a_successor_repeats_no_id_of_a_forgotten_predecessor
            a_clock_outside_of_the_range_is_refused
            a_large_rollback_is_refused_with_its_distance_if_on_clock_rollback_is_error
            ids_continue_after_a_rollback_of_exactly_ten_seconds
        }
    };
}
scru_ids::id_systems!(test_type);

/// IDs from one state increase, with a clock that jitters by some of these steps, and settings that change. The run reaches all
/// limits.
fn ids_increase_while_settings_change<T: GeneratedId>(
    settings: &[T::Settings],
    jitter: &[i64],
    is_of: impl Fn(T, &T::Settings) -> bool,
) {
    let (mut rng, mut simulation) = (SplitMix(64), Simulation::<T>::new(64));
    let (mut settings_now, mut last) = (settings[0], T::MIN);
    let (mut made, mut waits, mut refusals) = (0, 0, 0);
    for _ in 0..1_000_000 {
        simulation.clock += rng.pick(jitter);
        if rng.below(500) == 0 {
            settings_now = rng.pick(settings);
        }
        let now = simulation.clock;
        let context = Context { now, on_clock_rollback: OnClockRollback::Error, settings: settings_now };
        match T::step(simulation.state, &context, &mut simulation.rng) {
            Ok((state, id)) => {
                assert!(id > last && id.timestamp_micros() <= now + MAX_LEAD_MICROS);
                assert!(is_of(id, &settings_now));
                (simulation.state, last, made) = (state, id, made + 1);
            }
            Err(NoId::Wait(until)) => {
                assert!(now < until && until <= last.timestamp_micros() + T::TICKS.micros);
                (simulation.clock, waits) = (until, waits + 1);
            }
            Err(NoId::Refused(refusal)) => {
                if let Refusal::ClockMovedBack(behind) = refusal {
                    assert_eq!(behind as i64, last.timestamp_micros() - now);
                }
                assert_ne!(refusal, Refusal::ClockOutOfRange);
                (simulation.clock, refusals) = (now + 500, refusals + 1);
            }
        }
    }
    assert!(made > 500_000 && waits > 100 && (refusals > 100) == T::SERVER_WIDE, "{made}, {waits}, {refusals}");
}

#[test]
fn ids_of_scru64_increase_while_the_node_changes() {
    let nodes = ["5/20", "5/20", "5/20", "5/23", "6/20", "1/18", "0/4"];
    let settings = nodes.map(|node| Scru64Settings { node: node.parse().unwrap() });
    let jitter = [&[0, 0, 0, 0, 100, 5_000, 30_000, -20, -10_000].repeat(1_000)[..], &[-3_000_000]].concat();
    ids_increase_while_settings_change(&settings, &jitter, Scru64::is_local);
}

#[test]
fn ids_of_ulidflake_increase_while_the_settings_change() {
    let mut settings = vec![];
    for scalability in [None, Some(0), Some(21), Some(31)] {
        for entropy_bits in 1..=16 {
            for on_overflow in [UlidflakeOverflow::Wait, UlidflakeOverflow::Error] {
                settings.push(UlidflakeSettings { scalability, entropy_bits, on_overflow });
            }
        }
    }
    let jitter = [0, 0, 0, 0, 0, 0, 0, 1, 100, 700, -100, -300];
    ids_increase_while_settings_change(&settings, &jitter, |id: Ulidflake, settings| {
        settings.scalability.is_none() || id.is_local(settings)
    });
}

#[test]
fn ids_of_scru160_increase_while_the_usage_of_the_counter_changes() {
    let settings = [Scru160Counter::Random, Scru160Counter::Microsecond].map(|counter| Scru160Settings { counter });
    let jitter = [0, 0, 0, 0, 0, 1, 1, 2, 300, -1, -2, -300];
    ids_increase_while_settings_change(&settings, &jitter, |id: Scru160, settings| {
        settings.counter == Scru160Counter::Random || id.counter() >> 6 < 1_000
    });
}

const THREADS: u64 = 4;
const DRAWS: usize = 2_000;

/// Generates IDs in each thread by compare-and-swap. Returns the IDs of each thread, in the order of their generation.
fn generate<T, W>(
    settings: T::Settings,
    load: impl Fn() -> W + Sync,
    replace: impl Fn(W, W) -> bool + Sync,
) -> Vec<Vec<T>>
where
    T: GeneratedId<State = W> + Send,
    T::Settings: Copy + Sync,
    W: Copy,
{
    let draw = |seed: u64| {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut made, mut clock) = (Vec::new(), NOON);
        while made.len() < DRAWS {
            let old = load();
            let context = Context { now: clock, on_clock_rollback: OnClockRollback::Error, settings };
            match T::step(old, &context, &mut rng) {
                Ok((new, id)) if replace(old, new) => made.push(id),
                Ok(_) => {}
                Err(NoId::Wait(until)) => clock = until,
                Err(NoId::Refused(refusal)) => panic!("{refusal:?}"),
            }
        }
        made
    };
    let draw = &draw;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|seed| scope.spawn(move || draw(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Asserts that the IDs of each thread increase, and that all IDs are unique.
fn check<T: SortableId + Copy + Ord + Hash + Debug>(made: &[Vec<T>]) {
    for ids in made {
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
    let all: HashSet<T> = made.iter().flatten().copied().collect();
    assert_eq!(all.len(), THREADS as usize * DRAWS);
}

#[test]
fn threads_share_a_word_of_64_bits() {
    assert!(AtomicU64::is_lock_free());
    let word = AtomicU64::new(0);
    let replace = |old, new| word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    check(&generate::<Scru64, u64>(Scru64Settings::default(), || word.load(Ordering::Acquire), replace));
}

#[test]
fn threads_share_a_word_of_128_bits() {
    fn share<T>()
    where
        T: GeneratedId<State = u128, Settings = ()> + Copy + Ord + Hash + Debug + Send,
    {
        let word = AtomicU128::new(0);
        let replace = |old, new| word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        check(&generate::<T, u128>((), || word.load(Ordering::Acquire), replace));
    }
    share::<Scru128>();
    share::<Ulid>();
}

/// The extension supports server-wide generators of scru128 and ulid only if atomic operations on 128 bits are lock-free.
#[test]
#[cfg(target_arch = "aarch64")]
fn words_of_128_bits_are_lock_free() {
    assert!(AtomicU128::is_lock_free());
}
