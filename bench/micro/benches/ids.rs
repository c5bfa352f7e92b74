//! Ours beside the reference crates: IDs to text and back, and the step of a generator.
//!
//! Each result is left as `target/criterion/<what>_<type>/<whose>/new/estimates.json`, in nanoseconds for one ID.
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::{Duration, UNIX_EPOCH};

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use scru_ids::{Context, MAX_TEXT_LEN, OnClockRollback, Scru64, Scru128, SortableId, Step, Ulid, base36};

/// How many IDs a benchmark goes round in: enough that no branch predictor knows them, few enough for the cache.
const VALUES: usize = 1 << 10;
/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;

/// Times one thing, ours and theirs.
fn pair<A, B>(criterion: &mut Criterion, what: &str, id: &str, ours: impl FnMut() -> A, theirs: impl FnMut() -> B) {
    let (mut ours, mut theirs) = (ours, theirs);
    let mut group = criterion.benchmark_group(format!("{what}_{id}"));
    group.bench_function("ours", |bencher| bencher.iter(&mut ours));
    group.bench_function("theirs", |bencher| bencher.iter(&mut theirs));
    group.finish();
}

/// A function of each of the values in turn, and again from the first.
fn each<'a, T: Copy + 'a, R>(values: &'a [T], function: impl Fn(T) -> R + 'a) -> impl FnMut() -> R + 'a {
    let mut values = values.iter().copied().cycle();
    move || function(black_box(values.next().unwrap_or_else(|| unreachable!("there are values"))))
}

/// The same random source for all.
fn rng() -> StdRng {
    StdRng::seed_from_u64(128)
}

/// A clock that goes on by a millisecond with every hundredth reading.
fn clock() -> impl FnMut() -> u64 {
    let mut readings = 0;
    move || {
        readings += 1;
        black_box(NOON + readings / 100)
    }
}

fn step<T: SortableId>() -> impl FnMut() -> Option<T> {
    let (mut state, mut clock, mut rng) = (T::State::default(), clock(), rng());
    move || {
        let now = clock() as i64 * 1_000;
        let context = Context { now, on_clock_rollback: OnClockRollback::Reset, settings: T::Settings::default() };
        let Step::Made(next, id) = T::step(state, &context, &mut rng) else { return None };
        state = next;
        Some(id)
    }
}

fn encode<T: SortableId>(id: T) -> [u8; MAX_TEXT_LEN] {
    let mut buffer = [0; MAX_TEXT_LEN];
    black_box(id.digits(&T::Settings::default(), &mut buffer));
    buffer
}

/// To text and back: into a buffer on the stack, and from text.
fn text<T: SortableId + ToString, U: Copy, E, P>(
    criterion: &mut Criterion,
    id: &str,
    ours: &[T],
    theirs: &[U],
    their_encode: fn(U) -> E,
    their_parse: fn(&str) -> P,
) {
    let texts: Vec<String> = ours.iter().map(T::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    pair(criterion, "encode", id, each(ours, encode), each(theirs, their_encode));
    pair(criterion, "decode", id, each(&texts, |text| T::parse(text.as_bytes()).ok()), each(&texts, their_parse));
}

fn texts(criterion: &mut Criterion) {
    let mut rng = rng();
    let numbers: Vec<u128> = (0..VALUES).map(|_| rng.random()).collect();
    let (ours, theirs): (Vec<_>, Vec<_>) =
        numbers.iter().map(|&number| (Scru128::from_u128(number), scru128::Id::from_u128(number))).unzip();
    text(criterion, "scru128", &ours, &theirs, |id| id.encode(), |text| scru128::Id::try_from_str(text).ok());

    let (ours, theirs): (Vec<_>, Vec<_>) =
        numbers.iter().map(|&number| (Ulid::from_u128(number), ulid::Ulid(number))).unzip();
    let their_encode = |id: ulid::Ulid| {
        let mut buffer = [0; ulid::ULID_LEN];
        black_box(id.array_to_str(&mut buffer));
        buffer
    };
    text(criterion, "ulid", &ours, &theirs, their_encode, |text| ulid::Ulid::from_string(text).ok());

    let ours: Vec<_> = (0..VALUES).filter_map(|_| Scru64::from_u64(rng.random_range(0..base36::POW_12))).collect();
    let theirs: Vec<_> = ours.iter().map(|id| scru64::Scru64Id::const_from_u64(id.to_u64())).collect();
    text(criterion, "scru64", &ours, &theirs, |id| id.encode(), |text| text.parse::<scru64::Scru64Id>().ok());
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

fn steps(criterion: &mut Criterion) {
    let mut theirs = scru128::Generator::with_rand_and_time_sources(Random(rng()), scru128::generator::StdSystemTime);
    let mut now = clock();
    pair(criterion, "step", "scru128", step::<Scru128>(), || theirs.generate_or_reset_with_ts(now()));

    let (mut theirs, mut random, mut now) = (ulid::Generator::new(), rng(), clock());
    let mut their_step = || {
        let now = UNIX_EPOCH + Duration::from_millis(now());
        theirs.generate_from_datetime_with_source(now, &mut random).ok()
    };
    pair(criterion, "step", "ulid", step::<Ulid>(), &mut their_step);

    // Node 0 of 16, which is our default.
    let Ok(node) = scru64::generator::NodeSpec::with_node_id(0, 4) else { return };
    let (mut theirs, mut now) = (scru64::Scru64Generator::with_counter_mode(node, Random(rng())), clock());
    pair(criterion, "step", "scru64", step::<Scru64>(), || theirs.generate_or_reset_core(now(), 1_000));
}

criterion_group!(benches, texts, steps);
criterion_main!(benches);
