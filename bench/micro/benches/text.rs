//! IDs to text and back: into a buffer on the stack, into a new `String`, and from text.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use scru_ids::{MAX_TEXT_LEN, Scru64, Scru128, SortableId, Ulid, base36};
use scru_micro::{compare, cycle, random_u64s_below, random_u128s};

/// Ours, as the extension calls it, and theirs, for one type: `$ours` and `$theirs` make an ID of a number.
macro_rules! text {
    ($criterion:ident, $name:literal, $numbers:expr, $ours:expr, $theirs:expr, $encode:expr, $string:expr, $parse:expr) => {
        let ours: Vec<_> = $numbers.iter().map(|&number| $ours(number)).collect();
        let theirs: Vec<_> = $numbers.iter().map(|&number| $theirs(number)).collect();
        let texts: Vec<String> = ours.iter().map(|id| id.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();

        let (mut our, mut their) = (cycle(&ours), cycle(&theirs));
        let mut group = compare($criterion, "encode", $name);
        group.bench_function("ours", |bencher| bencher.iter(|| encode(black_box(our()))));
        group.bench_function("theirs", |bencher| bencher.iter(|| $encode(black_box(their()))));
        group.finish();

        let mut group = compare($criterion, "string", $name);
        group.bench_function("ours", |bencher| bencher.iter(|| String::from(black_box(our()))));
        group.bench_function("theirs", |bencher| bencher.iter(|| $string(black_box(their()))));
        group.finish();

        let (mut our_text, mut their_text) = (cycle(&texts), cycle(&texts));
        let mut group = compare($criterion, "decode", $name);
        group.bench_function("ours", |bencher| bencher.iter(|| parse(&ours[0], black_box(our_text()))));
        group.bench_function("theirs", |bencher| bencher.iter(|| $parse(black_box(their_text()))));
        group.finish();
    };
}

fn encode<T: SortableId>(id: T) -> [u8; MAX_TEXT_LEN] {
    let mut buffer = [0; MAX_TEXT_LEN];
    black_box(id.digits(&T::Settings::default(), &mut buffer));
    buffer
}

fn parse<T: SortableId>(_: &T, text: &str) -> Option<T> {
    T::parse(text.as_bytes()).ok()
}

fn all(criterion: &mut Criterion) {
    text!(
        criterion,
        "scru128",
        random_u128s(),
        Scru128::from_u128,
        scru128::Id::from_u128,
        |id: scru128::Id| id.encode(),
        String::from,
        |text| scru128::Id::try_from_str(text).ok()
    );
    text!(
        criterion,
        "ulid",
        random_u128s(),
        Ulid::from_u128,
        ulid::Ulid,
        |id: ulid::Ulid| {
            let mut buffer = [0; ulid::ULID_LEN];
            black_box(id.array_to_str(&mut buffer));
            buffer
        },
        |id: ulid::Ulid| id.to_string(),
        |text| ulid::Ulid::from_string(text).ok()
    );
    text!(
        criterion,
        "scru64",
        random_u64s_below(base36::POW_12),
        |number| Scru64::from_u64(number).unwrap_or(Scru64::MAX),
        scru64::Scru64Id::const_from_u64,
        |id: scru64::Scru64Id| id.encode(),
        |id: scru64::Scru64Id| String::from(id.encode()),
        |text: &str| text.parse::<scru64::Scru64Id>().ok()
    );
}

criterion_group!(benches, all);
criterion_main!(benches);
