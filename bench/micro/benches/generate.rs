//! The step of a generator: a hundred IDs a millisecond, by a clock that is handed in, from one cryptographic random source.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::{Duration, UNIX_EPOCH};

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::StdRng;
use rand::{Rng, RngExt};
use scru_ids::{Context, OnClockRollback, Scru64, Scru128, SortableId, Step, Ulid};
use scru_micro::{compare, rng};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;

/// A clock that goes on by a millisecond with every hundredth reading.
fn clock() -> impl FnMut() -> u64 {
    let mut readings = 0;
    move || {
        readings += 1;
        black_box(NOON + readings / 100)
    }
}

fn ours<T: SortableId>() -> impl FnMut() -> Option<T> {
    let (mut state, mut clock, mut rng) = (T::State::default(), clock(), rng());
    move || {
        let now = clock() as i64 * 1_000;
        let context = Context { now, on_clock_rollback: OnClockRollback::Reset, settings: T::Settings::default() };
        let Step::Made(next, id) = T::step(state, &context, &mut rng) else { return None };
        state = next;
        Some(id)
    }
}

struct Random(StdRng);

impl scru128::generator::RandSource for Random {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }
}

impl scru64::generator::counter_mode::CounterMode for Random {
    fn renew(&mut self, counter_size: u8, _: &scru64::generator::counter_mode::RenewContext) -> u32 {
        self.0.random_range(0..1 << counter_size)
    }
}

fn all(criterion: &mut Criterion) {
    let mut theirs = scru128::Generator::with_rand_and_time_sources(Random(rng()), scru128::generator::StdSystemTime);
    let mut now = clock();
    let mut ours_128 = ours::<Scru128>();
    let mut group = compare(criterion, "step", "scru128");
    group.bench_function("ours", |bencher| bencher.iter(&mut ours_128));
    group.bench_function("theirs", |bencher| bencher.iter(|| theirs.generate_or_reset_with_ts(now())));
    group.finish();

    let (mut theirs, mut random, mut now) = (ulid::Generator::new(), rng(), clock());
    let mut ours_ulid = ours::<Ulid>();
    let mut group = compare(criterion, "step", "ulid");
    group.bench_function("ours", |bencher| bencher.iter(&mut ours_ulid));
    group.bench_function("theirs", |bencher| {
        bencher.iter(|| {
            let now = UNIX_EPOCH + Duration::from_millis(now());
            theirs.generate_from_datetime_with_source(now, &mut random).ok()
        });
    });
    group.finish();

    // Node 0 of 16, which is our default.
    let Ok(node) = scru64::generator::NodeSpec::with_node_id(0, 4) else { return };
    let mut theirs = scru64::Scru64Generator::with_counter_mode(node, Random(rng()));
    let mut now = clock();
    let mut ours_64 = ours::<Scru64>();
    let mut group = compare(criterion, "step", "scru64");
    group.bench_function("ours", |bencher| bencher.iter(&mut ours_64));
    group.bench_function("theirs", |bencher| bencher.iter(|| theirs.generate_or_reset_core(now(), 1_000)));
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
