//! Threads that share the state of a generator as one atomic word, as backends do in shared memory. The tests also cover the
//! atomic operations on 128 bits of the architecture on which they run.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::thread;

use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use rand::SeedableRng;
use rand::rngs::StdRng;
use scru_ids::{Context, GeneratedId, OnClockRollback, Scru64, Scru64Settings, Scru128, SortableId, State, Step, Ulid};

const THREADS: u64 = 4;
const DRAWS: usize = 2_000;

/// 2026-11-01 12:00 UTC.
const NOON: i64 = 1_793_534_400_000_000;

/// Generates IDs in each thread by compare-and-swap. Returns the IDs of each thread, in the order of their generation.
fn generate<T, W>(
    settings: T::Settings,
    load: impl Fn() -> W + Sync,
    replace: impl Fn(W, W) -> bool + Sync,
) -> Vec<Vec<T>>
where
    T: GeneratedId<State: State<Word = W>> + Send,
    T::Settings: Copy + Sync,
    W: Copy,
{
    let draw = |seed: u64| {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut made, mut clock) = (Vec::new(), NOON);
        while made.len() < DRAWS {
            let old = load();
            let context = Context { now: clock, on_clock_rollback: OnClockRollback::Error, settings };
            match T::step(T::State::unpack(old), &context, &mut rng) {
                Step::Made(new, id) if replace(old, new.pack()) => made.push(id),
                Step::Made(..) => {}
                Step::Wait(until) => clock = until,
                Step::Refused(refusal) => panic!("{refusal:?}"),
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

fn threads_share_a_word_of_128_bits<T>()
where
    T: GeneratedId<State: State<Word = u128>, Settings = ()> + Copy + Ord + Hash + Debug + Send,
{
    let word = AtomicU128::new(0);
    let replace = |old, new| word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    check(&generate::<T, u128>((), || word.load(Ordering::Acquire), replace));
}

#[test]
fn threads_share_a_word_of_a_scru128() {
    threads_share_a_word_of_128_bits::<Scru128>();
}

#[test]
fn threads_share_a_word_of_a_ulid() {
    threads_share_a_word_of_128_bits::<Ulid>();
}

/// The extension supports server-wide generators of scru128 and ulid only if atomic operations on 128 bits are lock-free.
#[test]
#[cfg(target_arch = "aarch64")]
fn words_of_128_bits_are_lock_free() {
    assert!(AtomicU128::is_lock_free());
}
