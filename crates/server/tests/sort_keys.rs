//! Sort keys never contradict the order of the IDs, regardless of the sequence in which they are computed.

#[path = "../../ids/tests/common/mod.rs"]
mod common;

use std::collections::HashSet;

use common::{Simulation, SplitMix, bytes, check, from_bytes};
use proptest::prelude::*;
use scru_ids::{GeneratedId, Stored};
use scru_server::SortKeys;

/// More milliseconds than [`SortKeys`] has slots for origins, the first IDs seen of each millisecond.
const MANY_MILLIS: u64 = 100_000;
/// The distance from the origin up to which keys are exact.
const EXACT: i64 = 1 << 18;
/// The first millisecond with far keys, in the year 2248.
const FIRST_FAR: u64 = 1 << 43;

/// Returns the keys of these IDs, computed in this order.
fn keys<T: GeneratedId>(ids: &[T]) -> Vec<u64> {
    let mut keys = SortKeys::default();
    ids.iter().map(|id| keys.key::<T>(id.to_stored())).collect()
}

/// Asserts that `key(a) < key(b)` implies `a < b` for all pairs of these IDs, if keys are computed in this order. Returns the
/// number of distinct keys.
fn assert_in_order<T: GeneratedId>(ids: &[T]) -> usize {
    let mut pairs: Vec<_> = ids.iter().copied().zip(keys(ids)).collect();
    pairs.sort();
    for pair in pairs.windows(2) {
        let [(a, key_a), (b, key_b)] = pair else { unreachable!() };
        assert!(key_a <= key_b, "{a} has key {key_a:x}, {b} has {key_b:x}");
        assert!(a != b || key_a == key_b, "{a} has two keys");
    }
    pairs.iter().map(|(_, key)| key).collect::<HashSet<_>>().len()
}

/// Calls [`assert_in_order`] with the IDs as given, reversed and shuffled. The origins of the milliseconds differ each time.
fn assert_in_order_however_they_come<T: GeneratedId>(mut ids: Vec<T>) {
    assert_in_order(&ids);
    ids.reverse();
    assert_in_order(&ids);
    SplitMix(1).shuffle(&mut ids);
    assert_in_order(&ids);
}

/// Returns the ID with this millisecond, this sequence number, and the low bits of `rest`.
fn with_sequence<T: GeneratedId>(millis: u64, sequence: u128, rest: u128) -> T {
    let low_bits = 80 - T::SEQUENCE_BITS;
    let head = u128::from(millis) << 80 | sequence << low_bits | rest & ((1 << low_bits) - 1);
    let mut bytes = [0; 20];
    bytes[..16].copy_from_slice(&head.to_be_bytes());
    from_bytes(&bytes[..T::Stored::LEN]).expect("any bytes are an ID")
}

/// Returns the timestamp and the sequence number of an ID, without the entropy below.
fn without_entropy<T: GeneratedId>(id: T) -> u128 {
    let head = bytes(id).first_chunk().map(|head| u128::from_be_bytes(*head));
    head.expect("at least 16 bytes") >> (80 - T::SEQUENCE_BITS)
}

/// Of many milliseconds, and of one.
fn bulk_ids_have_distinct_keys<T: GeneratedId>() {
    for (count, per_milli) in [(1_000_000, 1_000), (200_000, 200_000)] {
        let mut ids = Simulation::<T>::new(1).bulk(count, per_milli);
        let different = ids.iter().map(|&id| without_entropy(id)).collect::<HashSet<_>>().len();
        assert_eq!(assert_in_order(&ids), different);
        SplitMix(2).shuffle(&mut ids);
        assert_eq!(assert_in_order(&ids), different, "shuffled");
    }
}

fn a_millisecond_with_more_ids_than_exact_places_is_in_order<T: GeneratedId>() {
    assert_in_order_however_they_come(Simulation::<T>::new(5).bulk(700_000, 700_000));
}

fn duplicates_share_their_key<T: GeneratedId>() {
    let ids = Simulation::<T>::new(6).bulk(50_000, 100);
    assert_in_order_however_they_come([&ids[..], &ids, &ids].concat());
}

/// Of a few milliseconds, of all times, and of a far future.
fn random_ids_are_in_order<T: GeneratedId>() {
    let assert_order = |count, tick: &dyn Fn(&mut SplitMix) -> u64| {
        let mut rng = SplitMix(7);
        let ids = (0..count).map(|_| T::random_of(tick(&mut rng), &mut rng));
        assert_in_order_however_they_come(ids.chain([T::MIN, T::MAX]).collect());
    };
    let far = [FIRST_FAR, 2 * FIRST_FAR, 4 * FIRST_FAR, T::TICKS.max - 3];
    assert_order(200_000, &|rng| 1_793_534_400_000 + rng.below(3));
    assert_order(200_000, &|rng| rng.below(T::TICKS.max));
    assert_order(50_000, &|rng| rng.pick(&far) - 3 + rng.below(7));
}

/// The first milliseconds have an origin, later ones have none. Both recur several times.
fn ids_of_more_milliseconds_than_slots_are_in_order<T: GeneratedId>() {
    let mut rng = SplitMix(10);
    let mut ids = Vec::new();
    for _ in 0..4 {
        let near = |millis| with_sequence::<T>(millis, 1_000 + u128::from(millis % 50), 0);
        ids.extend((1..=MANY_MILLIS).map(near));
        ids.extend((1..=MANY_MILLIS).map(|millis| T::random_of(millis, &mut rng)));
    }
    assert_in_order(&ids);
    assert_in_order_however_they_come(ids);
}

fn origins_are_kept_up_to_a_limit<T: GeneratedId>() {
    // A short sequence number is its own place.
    if T::SEQUENCE_BITS > 20 {
        let two = |millis: u64| [with_sequence::<T>(millis, 5, 0), with_sequence::<T>(millis, 6, 0)];
        let keys = keys(&(1..=MANY_MILLIS).flat_map(two).collect::<Vec<_>>());
        let exact: Vec<_> = keys.chunks(2).map(|pair| pair[0] < pair[1]).collect();
        let limit = exact.iter().position(|&exact| !exact).expect("a limit");
        assert!(limit >= 10_000, "only {limit}");
        assert!(exact[limit..].iter().all(|&exact| !exact), "some beyond the limit");
    }
}

/// Sequence numbers around the bounds of the exact places, in a few milliseconds.
fn ids_around_the_bounds_of_the_exact_places_are_in_order<T: GeneratedId>() {
    let max = (1_u128 << T::SEQUENCE_BITS) - 1;
    let centers = prop::sample::select(vec![0, EXACT as u128, max / 2, max.saturating_sub(EXACT as u128), max]);
    let offsets =
        prop_oneof![Just(0_i64), -3..=3_i64, EXACT - 2..=EXACT + 2, -EXACT - 2..=-EXACT + 2, -4 * EXACT..=4 * EXACT];
    let millis = prop::sample::select(vec![0, 1, 2, FIRST_FAR - 1, FIRST_FAR, FIRST_FAR + 1, T::TICKS.max]);
    let ids = (millis, centers, offsets, any::<u128>()).prop_map(move |(millis, center, offset, rest)| {
        with_sequence::<T>(millis, center.saturating_add_signed(offset.into()).min(max), rest)
    });
    check(prop::collection::vec(ids, 1..40), |ids| {
        assert_in_order(&ids);
        Ok(())
    });
}

/// Returns the number of distinct keys of a millisecond's IDs at these distances from its origin.
fn keys_around_the_first<T: GeneratedId>(distances: &[i64]) -> usize {
    let at = |distance| with_sequence::<T>(7, ((1 << 40) + distance) as u128, 0);
    assert_in_order(&[0].iter().chain(distances).copied().map(at).collect::<Vec<_>>()) - 1
}

fn places_are_exact_on_both_sides_of_the_first_id<T: GeneratedId>() {
    // A short sequence number is its own place.
    if T::SEQUENCE_BITS > 20 {
        assert_eq!(keys_around_the_first::<T>(&[-EXACT, 1 - EXACT, -1, 1, EXACT - 2, EXACT - 1]), 6);
        assert_eq!(keys_around_the_first::<T>(&[-EXACT - 1, -EXACT]), 2);
        assert_eq!(keys_around_the_first::<T>(&[-EXACT - 2, -EXACT - 1]), 1, "before, places are coarse");
        assert_eq!(keys_around_the_first::<T>(&[EXACT - 1, EXACT]), 2);
        assert_eq!(keys_around_the_first::<T>(&[EXACT, EXACT + 1]), 1, "after, places are coarse");
    }
}

/// The leading bits distinguish IDs that are far from the origin, or whose millisecond has none.
fn coarse_places_are_18_bits<T: GeneratedId>() {
    if T::SEQUENCE_BITS > 20 {
        let place = |millis, place: u128| with_sequence::<T>(millis, place << (T::SEQUENCE_BITS - 18), 0);
        let forgotten = MANY_MILLIS + 1;
        let ids: Vec<_> = (0..1 << 18).map(|n| place(forgotten, n)).collect();
        assert_eq!(assert_in_order(&ids), 1 << 18);
        let first: Vec<_> = (1..=MANY_MILLIS).map(|millis| place(millis, 0)).collect();
        assert_eq!(assert_in_order(&[first, ids].concat()), MANY_MILLIS as usize + (1 << 18), "without an origin");
    }
}

fn keys_with_few_distinct_values_are_useless<T: GeneratedId>() {
    let mut keys = SortKeys::default();
    for millis in 1..=4 {
        keys.key::<T>(T::first_of(millis).to_stored());
    }
    assert!(!keys.are_useless_for(9_999), "too few IDs to decide");
    assert!(keys.are_useless_for(10_000));
    keys.key::<T>(T::first_of(5).to_stored());
    assert!(!keys.are_useless_for(10_000));
    assert!(keys.are_useless_for(12_000));
}

fn keys_of_bulk_ids_are_worth_their_cost<T: GeneratedId>() {
    let mut keys = SortKeys::default();
    for id in Simulation::<T>::new(11).bulk(100_000, 10_000) {
        keys.key::<T>(id.to_stored());
    }
    assert!(!keys.are_useless_for(100_000));
    assert!(!keys.are_useless_for(usize::MAX));
}

/// Tests the types that are passed by reference. The other types are sorted by value.
macro_rules! test_type {
    ($name:ident, $Id:ident) => {
        test_type! { $name, $Id:
            bulk_ids_have_distinct_keys
            a_millisecond_with_more_ids_than_exact_places_is_in_order
            duplicates_share_their_key
            random_ids_are_in_order
            ids_of_more_milliseconds_than_slots_are_in_order
            origins_are_kept_up_to_a_limit
            ids_around_the_bounds_of_the_exact_places_are_in_order
            places_are_exact_on_both_sides_of_the_first_id
            coarse_places_are_18_bits
            keys_with_few_distinct_values_are_useless
            keys_of_bulk_ids_are_worth_their_cost
        }
    };
    ($name:ident, $Id:ident: $($test:ident)*) => {
        mod $name {
            use scru_ids::{$Id, SortableId, Stored};

            $(#[test]
            fn $test() {
                if <$Id as SortableId>::Stored::LEN >= 16 {
                    super::$test::<$Id>();
                }
            })*
        }
    };
}
scru_ids::registry!(test_type);
