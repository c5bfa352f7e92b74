use super::*;
use crate::generator::script::Draw::{self, Bits32, Bits64};
use crate::generator::script::step;
use crate::{OnClockRollback, State};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;
/// The last timestamp that is not reserved.
const LAST: u64 = (1 << 48) - 2;

fn at(millis: u64) -> Context<()> {
    Context { now: millis as i64 * 1_000, on_clock_rollback: OnClockRollback::Error, settings: () }
}

/// Returns the next state and the fields of the ID that a step generates at the time `millis`.
fn made(state: u128, millis: u64, draws: &[Draw]) -> (u128, (u64, u128)) {
    match step::<Ulid>(state, &at(millis), draws) {
        Step::Made(state, id) => (state, (id.timestamp(), id.randomness())),
        other => panic!("{other:?}"),
    }
}

fn used(timestamp: u64, randomness: u128) -> u128 {
    Ulid::from_fields(timestamp, randomness).0
}

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Ulid::from_fields(u64::MAX, u128::MAX), Ulid::MAX);
    assert_eq!(Ulid::from_fields(1 << 48 | 1, 1 << 80 | 2).to_u128(), 1 << 80 | 2);
}

#[test]
fn a_fresh_generator_draws_80_bits() {
    let draws = [Bits32(0xabcd_1234), Bits64(0x5678_9abc_def0_1234)];
    let (state, id) = made(0, NOON, &draws);
    assert_eq!(id, (NOON, 0x1234_5678_9abc_def0_1234));
    assert_eq!(state, used(NOON, 0x1234_5678_9abc_def0_1234));
}

#[test]
fn within_a_millisecond_randomness_counts_up_and_nothing_is_drawn() {
    let (state, id) = made(used(NOON, 7), NOON, &[]);
    assert_eq!(id, (NOON, 8));
    assert_eq!(made(state, NOON, &[]).1, (NOON, 9));
}

#[test]
fn in_a_later_millisecond_randomness_is_drawn_anew() {
    assert_eq!(made(used(NOON, 7), NOON + 1, &[Bits32(0), Bits64(5)]).1, (NOON + 1, 5));
    assert_eq!(made(used(NOON, MAX_RANDOMNESS), NOON + 1, &[Bits32(1), Bits64(0)]).1, (NOON + 1, 1 << 64));
}

#[test]
fn counting_carries_through_all_80_bits() {
    assert_eq!(made(used(NOON, u128::from(u64::MAX)), NOON, &[]).1, (NOON, 1 << 64));
    assert_eq!(made(used(NOON, (1 << 79) - 1), NOON, &[]).1, (NOON, 1 << 79));
    assert_eq!(made(used(NOON, MAX_RANDOMNESS - 1), NOON, &[]).1, (NOON, MAX_RANDOMNESS));
}

/// The example in the section Monotonicity of the specification.
#[test]
fn the_example_of_the_specification_ends_at_the_last_id_of_its_millisecond() {
    let last: Ulid = "01BX5ZZKBKZZZZZZZZZZZZZZZX".parse().unwrap();
    let (mut state, millis) = (last.to_u128(), last.timestamp());
    for expected in ["01BX5ZZKBKZZZZZZZZZZZZZZZY", "01BX5ZZKBKZZZZZZZZZZZZZZZZ"] {
        let Step::Made(next, id) = step::<Ulid>(state, &at(millis), &[]) else { panic!("no ID") };
        assert_eq!(id.to_string(), expected);
        state = next;
    }
    assert_eq!(step::<Ulid>(state, &at(millis), &[]), Step::Refused(Refusal::Exhausted));
}

#[test]
fn overflow_is_refused_until_the_next_millisecond() {
    let full = used(NOON, MAX_RANDOMNESS);
    assert_eq!(step::<Ulid>(full, &at(NOON), &[]), Step::Refused(Refusal::Exhausted));
    assert_eq!(step::<Ulid>(full, &at(NOON - 10_000), &[]), Step::Refused(Refusal::Exhausted));
    assert_eq!(made(full, NOON + 1, &[Bits32(0), Bits64(5)]).1, (NOON + 1, 5));
}

#[test]
fn ids_continue_with_the_last_timestamp_after_a_rollback_of_10_seconds() {
    assert_eq!(made(used(NOON, 7), NOON - 1, &[]).1, (NOON, 8));
    assert_eq!(made(used(NOON, 7), NOON - 10_000, &[]).1, (NOON, 8));
}

#[test]
fn after_a_larger_rollback_a_step_is_refused_with_the_distance_or_restarts_at_the_clock() {
    let refused = step::<Ulid>(used(NOON, 7), &at(NOON - 10_001), &[]);
    assert_eq!(refused, Step::Refused(Refusal::ClockMovedBack(10_001_000)));
    let context = Context { on_clock_rollback: OnClockRollback::Reset, ..at(NOON - 10_001) };
    let made = step::<Ulid>(used(NOON, 7), &context, &[Bits32(0), Bits64(5)]);
    assert_eq!(made, Step::Made(used(NOON - 10_001, 5), Ulid::from_fields(NOON - 10_001, 5)));
}

#[test]
fn clocks_at_reserved_timestamps_and_beyond_are_refused() {
    let end = (LAST as i64 + 1) * 1_000;
    for state in [0, used(1, 2), used(LAST, 2), used(LAST + 1, 2)] {
        for now in [i64::MIN, -1, 0, 999, end, end + 999, end + 1_000, i64::MAX] {
            let context = Context { now, ..at(0) };
            assert_eq!(step::<Ulid>(state, &context, &[]), Step::Refused(Refusal::ClockOutOfRange), "at {now}");
        }
    }
}

#[test]
fn the_first_and_the_last_timestamp_are_generated() {
    assert_eq!(made(0, 1, &[Bits32(0), Bits64(5)]).1, (1, 5));
    assert_eq!(made(0, LAST, &[Bits32(0), Bits64(5)]).1, (LAST, 5));
}

#[test]
fn a_state_packs_into_the_last_id() {
    let state = used(0x1234_5678_9abc, 0xdef0_1234_5678_9abc_def0);
    assert_eq!(state.pack(), 0x1234_5678_9abc_def0_1234_5678_9abc_def0);
    assert_eq!(u128::unpack(state.pack()), state);
}

#[test]
fn randomness_is_a_field_of_ten_bytes() {
    let id = Ulid::from_fields(u64::MAX, 0x0102_0304_0506_0708_090a);
    assert_eq!(id.randomness_bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn random_ids_draw_80_bits() {
    let id = Ulid::random_of(NOON, &mut crate::generator::script::Script(&[Bits32(0xffff_0001), Bits64(2)]));
    assert_eq!(id, Ulid::from_fields(NOON, 1 << 64 | 2));
}
