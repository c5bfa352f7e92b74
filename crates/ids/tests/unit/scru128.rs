use std::collections::HashSet;

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::generator::script::{self, Draw};
use crate::{OnClockRollback, State};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;
/// The last timestamp that is not reserved.
const LAST: u64 = (1 << 48) - 2;

/// Runs a step, and asserts that it draws exactly these random numbers.
fn step(state: Scru128State, now: i64, on_clock_rollback: OnClockRollback, numbers: &[u32]) -> Step<Scru128> {
    let draws: Vec<_> = numbers.iter().copied().map(Draw::Bits32).collect();
    script::step(state, &Context { now, on_clock_rollback, settings: () }, &draws)
}

/// Returns the next state and the fields of the ID of a step at the clock reading `millis`, in milliseconds.
fn made(state: Scru128State, millis: u64, numbers: &[u32]) -> (Scru128State, (u64, u32, u32, u32)) {
    match step(state, millis as i64 * 1_000, OnClockRollback::Error, numbers) {
        Step::Made(state, id) => (state, (id.timestamp(), id.counter_hi(), id.counter_lo(), id.entropy())),
        other => panic!("{other:?}"),
    }
}

fn refused(state: Scru128State, now: i64) -> Step<Scru128> {
    step(state, now, OnClockRollback::Error, &[])
}

/// Returns the state of a generator whose last ID had these fields, and renewed `counter_hi`.
fn used(timestamp: u64, counter_hi: u32, counter_lo: u32) -> Scru128State {
    Scru128State { timestamp, counter_hi, counter_lo, counter_hi_age: 0 }
}

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Scru128::from_fields(u64::MAX, u32::MAX, u32::MAX, u32::MAX), Scru128::MAX);
    let id = Scru128::from_fields(1 << 48 | 1, 1 << 24 | 2, 1 << 24 | 3, 4);
    assert_eq!(id.to_u128(), 1 << 80 | 2 << 56 | 3 << 32 | 4);
}

#[test]
fn a_fresh_generator_draws_both_counters_and_the_entropy() {
    let (state, id) = made(Scru128State::default(), NOON, &[0x11, 0x22, 0x33]);
    assert_eq!(id, (NOON, 0x22, 0x11, 0x33));
    assert_eq!(state, used(NOON, 0x22, 0x11));
}

#[test]
fn counters_are_24_bits_of_the_random_numbers() {
    let (_, id) = made(Scru128State::default(), NOON, &[0xab12_3456, 0xcd65_4321, 0xffff_ffff]);
    assert_eq!(id, (NOON, 0x65_4321, 0x12_3456, 0xffff_ffff));
}

#[test]
fn within_a_millisecond_counter_lo_counts_up_and_only_entropy_is_drawn() {
    let (state, id) = made(used(NOON, 7, 8), NOON, &[0x44]);
    assert_eq!(id, (NOON, 7, 9, 0x44));
    assert_eq!(made(state, NOON, &[0x55]).1, (NOON, 7, 10, 0x55));
}

#[test]
fn in_a_later_millisecond_counter_lo_is_drawn_and_counter_hi_stays() {
    let (_, id) = made(used(NOON, 7, 8), NOON + 1, &[0x11, 0x44]);
    assert_eq!(id, (NOON + 1, 7, 0x11, 0x44));
}

#[test]
fn counter_hi_is_renewed_after_1000_milliseconds_and_not_after_999() {
    assert_eq!(made(used(NOON, 7, 8), NOON + 999, &[1, 2]).1, (NOON + 999, 7, 1, 2));
    assert_eq!(made(used(NOON, 7, 8), NOON + 1_000, &[1, 2, 3]).1, (NOON + 1_000, 2, 1, 3));
}

#[test]
fn the_age_of_counter_hi_counts_from_its_renewal_not_from_the_last_id() {
    let (state, _) = made(used(NOON, 7, 8), NOON + 600, &[1, 2]);
    let (state, _) = made(state, NOON + 600, &[2]);
    let (state, id) = made(state, NOON + 999, &[1, 2]);
    assert_eq!(id.1, 7);
    let (state, id) = made(state, NOON + 1_300, &[1, 9, 3]);
    assert_eq!(id, (NOON + 1_300, 9, 1, 3), "1.3 s after its renewal");
    let (state, id) = made(state, NOON + 2_299, &[1, 2]);
    assert_eq!(id.1, 9, "999 ms after its second renewal");
    assert_eq!(made(state, NOON + 2_300, &[1, 10, 3]).1.1, 10);
}

#[test]
fn counter_lo_carries_into_counter_hi() {
    let (state, id) = made(used(NOON, 7, MAX_COUNTER - 1), NOON, &[0x44]);
    assert_eq!(id, (NOON, 7, MAX_COUNTER, 0x44));
    let (_, id) = made(state, NOON, &[0x55]);
    assert_eq!(id, (NOON, 8, 0, 0x55));
}

#[test]
fn overflow_of_both_counters_moves_the_timestamp_by_one() {
    let (state, id) = made(used(NOON, MAX_COUNTER, MAX_COUNTER), NOON, &[0x1234_5678, 0x44]);
    assert_eq!(id, (NOON + 1, 0, 0x34_5678, 0x44));
    let (state, id) = made(state, NOON, &[0x55]);
    assert_eq!(id, (NOON + 1, 0, 0x34_5679, 0x55), "ahead of the clock");
    let (state, id) = made(state, NOON + 1, &[0x66]);
    assert_eq!(id, (NOON + 1, 0, 0x34_567a, 0x66), "when the clock has caught up");
    assert_eq!(made(state, NOON + 2, &[1, 2]).1, (NOON + 2, 0, 1, 2));
}

#[test]
fn overflow_that_completes_a_second_renews_counter_hi() {
    let state = |age| Scru128State { counter_hi_age: age, ..used(NOON, MAX_COUNTER, MAX_COUNTER) };
    assert_eq!(made(state(998), NOON, &[1, 2]).1, (NOON + 1, 0, 1, 2));
    assert_eq!(made(state(999), NOON, &[1, 2, 3]).1, (NOON + 1, 2, 1, 3));
}

#[test]
fn ids_continue_with_the_last_timestamp_after_a_rollback_of_10_seconds() {
    assert_eq!(made(used(NOON, 7, 8), NOON - 1, &[0x44]).1, (NOON, 7, 9, 0x44));
    assert_eq!(made(used(NOON, 7, 8), NOON - 10_000, &[0x44]).1, (NOON, 7, 9, 0x44));
}

#[test]
fn a_larger_rollback_is_refused_with_its_distance() {
    let (state, noon) = (used(NOON, 7, 8), NOON as i64 * 1_000);
    let moved_back = |micros| Step::Refused(Refusal::ClockMovedBack(micros));
    assert_eq!(refused(state, noon - 10_001_000), moved_back(10_001_000));
    assert_eq!(refused(state, noon - 10_000_001), moved_back(10_001_000), "by whole milliseconds");
    assert_eq!(refused(state, noon - 3_600_000_000), moved_back(3_600_000_000));
}

#[test]
fn ids_restart_at_the_clock_after_a_larger_rollback_with_reset() {
    let state = Scru128State { counter_hi_age: 500, ..used(NOON, 7, 8) };
    let now = (NOON - 10_001) as i64 * 1_000;
    let expected = Scru128::from_fields(NOON - 10_001, 2, 1, 3);
    let made = step(state, now, OnClockRollback::Reset, &[1, 2, 3]);
    assert_eq!(made, Step::Made(used(NOON - 10_001, 2, 1), expected));
    let expected = Scru128State { counter_lo: 9, ..state };
    let made = step(state, now + 1_000, OnClockRollback::Reset, &[3]);
    assert_eq!(made, Step::Made(expected, Scru128::from_fields(NOON, 7, 9, 3)));
}

#[test]
fn clocks_at_reserved_timestamps_and_beyond_are_refused() {
    let end = (LAST as i64 + 1) * 1_000;
    for state in [Scru128State::default(), used(1, 2, 3), used(LAST, 2, 3)] {
        for now in [i64::MIN, -1_000, -1, 0, 999, end, end + 999, end + 1_000, i64::MAX] {
            assert_eq!(refused(state, now), Step::Refused(Refusal::ClockOutOfRange), "at {now}");
        }
    }
}

#[test]
fn the_first_and_the_last_timestamp_are_generated() {
    assert_eq!(made(Scru128State::default(), 1, &[1, 2, 3]).1, (1, 2, 1, 3));
    assert_eq!(made(Scru128State::default(), LAST, &[1, 2, 3]).1, (LAST, 2, 1, 3));
}

#[test]
fn overflow_into_the_reserved_timestamp_is_refused() {
    let full = used(LAST, MAX_COUNTER, MAX_COUNTER);
    let overflow = step(full, LAST as i64 * 1_000, OnClockRollback::Reset, &[1]);
    assert_eq!(overflow, Step::Refused(Refusal::ClockOutOfRange));
    let almost = used(LAST, MAX_COUNTER, MAX_COUNTER - 1);
    assert_eq!(made(almost, LAST, &[4]).1, (LAST, MAX_COUNTER, MAX_COUNTER, 4));
}

#[test]
fn a_state_packs_into_a_word() {
    let state =
        Scru128State { timestamp: 0x1234_5678_9abc, counter_hi: 0xde_f012, counter_lo: 0x34_5678, counter_hi_age: 999 };
    assert_eq!(state.pack(), 0x3e7_1234_5678_9abc_def0_1234_5678);
    assert_eq!(Scru128State::unpack(state.pack()), state);
    let full = Scru128State { counter_hi_age: 999, ..used((1 << 48) - 1, MAX_COUNTER, MAX_COUNTER) };
    assert_eq!(Scru128State::unpack(full.pack()), full);
}

#[test]
fn the_word_zero_is_a_fresh_state() {
    assert_eq!(Scru128State::default().pack(), 0);
    assert_eq!(Scru128State::unpack(0), Scru128State::default());
}

/// Returns the timestamps and counters of IDs, a hundred per millisecond.
fn places(seed: u64, ids: u64) -> HashSet<u128> {
    let (mut rng, mut state, mut made) = (StdRng::seed_from_u64(seed), Scru128State::default(), HashSet::new());
    for number in 0..ids {
        let now = (NOON + number / 100) as i64 * 1_000;
        let context = Context { now, on_clock_rollback: OnClockRollback::Error, settings: () };
        let Step::Made(next, id) = Scru128::step(state, &context, &mut rng) else { panic!("no ID") };
        made.insert(id.to_u128() >> 32);
        state = next;
    }
    made
}

#[test]
fn generators_of_different_seeds_share_no_counters() {
    let (a, b) = (places(1, 200_000), places(2, 200_000));
    assert_eq!((a.len(), b.len()), (200_000, 200_000), "each generator repeats none of its own");
    assert!(a.is_disjoint(&b));
}

#[test]
fn text_is_padded_as_asked_for() {
    let id: Scru128 = "0372ijojuxuhjsfkeryi2mrtm".parse().unwrap();
    assert_eq!(format!("{id:>28}|{id:-<27}"), "   0372ijojuxuhjsfkeryi2mrtm|0372ijojuxuhjsfkeryi2mrtm--");
}
