//! What the benchmarks share: the values that they go through, and how they are laid out in a report.
//!
//! `cargo bench -p scru-micro` runs them all; with `-- --warm-up-time 0.2 --measurement-time 0.5` they are quicker. Each result is left as
//! `target/criterion/<what>_<type>/<whose>/new/estimates.json`, in nanoseconds for one ID.

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// How many IDs a benchmark goes round in: enough that no branch predictor knows them, few enough for the cache.
const VALUES: usize = 1 << 10;

/// A function that hands out values one by one, and again from the first.
pub fn cycle<T: Copy>(values: &[T]) -> impl FnMut() -> T {
    let mut values = values.iter().copied().cycle();
    move || values.next().unwrap_or_else(|| unreachable!("there are values"))
}

/// Random numbers, the same in every run.
pub fn random_u128s() -> Vec<u128> {
    let mut rng = rng();
    (0..VALUES).map(|_| rng.random()).collect()
}

/// Random numbers below a bound, the same in every run.
pub fn random_u64s_below(bound: u64) -> Vec<u64> {
    let mut rng = rng();
    (0..VALUES).map(|_| rng.random_range(0..bound)).collect()
}

/// The random source that all benchmarks begin with.
pub fn rng() -> StdRng {
    StdRng::seed_from_u64(128)
}

/// A group of benchmarks of one thing, ours and theirs, named `<what>_<type>`.
pub fn compare<'a>(criterion: &'a mut Criterion, what: &str, id: &str) -> BenchmarkGroup<'a, WallTime> {
    criterion.benchmark_group(format!("{what}_{id}"))
}
