use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::OnClockRollback;
use crate::generator::script::Draw::{self, Bits32};
use crate::generator::script::{Script, step};

/// 2026-11-01 12:00 UTC, in milliseconds since 2024, and in microseconds since 1970.
const TICK: u64 = 89_467_200_000;
const NOON: i64 = 1_793_534_400_000_000;
const SECOND: i64 = 1_000_000;
/// The last timestamp that is not reserved.
const LAST: u64 = Ulidflake::TICKS.max - 1;

const STAND_ALONE: UlidflakeSettings =
    UlidflakeSettings { scalability: None, entropy_bits: 8, on_overflow: UlidflakeOverflow::Wait };
const SCALABLE: UlidflakeSettings = UlidflakeSettings { scalability: Some(21), ..STAND_ALONE };

fn refusing(settings: UlidflakeSettings) -> UlidflakeSettings {
    UlidflakeSettings { on_overflow: UlidflakeOverflow::Error, ..settings }
}

fn at(now: i64, settings: UlidflakeSettings) -> Context<UlidflakeSettings> {
    Context { now, on_clock_rollback: OnClockRollback::Reset, settings }
}

fn id(tick: u64, randomness: u32) -> Ulidflake {
    Ulidflake::from_fields(tick, randomness)
}

fn scalable(tick: u64, randomness: u32) -> Ulidflake {
    Ulidflake::from_scalable_fields(tick, randomness, 21)
}

fn used(last: Ulidflake) -> u64 {
    last.0
}

fn successor(now: i64) -> u64 {
    Ulidflake::successor_state(now, &mut Script(&[]))
}

fn made(state: u64, now: i64, settings: UlidflakeSettings, draws: &[Draw]) -> Ulidflake {
    match step::<Ulidflake>(state, &at(now, settings), draws) {
        Ok((next, id)) => {
            assert_eq!(next, used(id));
            id
        }
        other => panic!("{other:?}"),
    }
}

/// Runs a step that generates no ID.
fn refusal_or_wait(last: Ulidflake, now: i64, settings: UlidflakeSettings, draws: &[Draw]) -> Step<Ulidflake> {
    step::<Ulidflake>(used(last), &at(now, settings), draws)
}

#[test]
fn an_id_is_local_to_its_number() {
    let other = UlidflakeSettings { scalability: Some(20), ..STAND_ALONE };
    let is_local = |settings| scalable(TICK, 9).is_local(&settings);
    assert_eq!([SCALABLE, other, STAND_ALONE].map(is_local), [true, false, false]);
}

#[test]
fn ids_are_not_negative() {
    assert_eq!(Ulidflake::from_u64((1 << 63) - 1), Some(Ulidflake::MAX));
    assert_eq!(Ulidflake::from_u64(1 << 63), None);
    assert_eq!(Ulidflake::from_stored(i64::MAX), Some(Ulidflake::MAX));
    assert_eq!([-1, i64::MIN].map(Ulidflake::from_stored), [None; 2]);
}

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Ulidflake::from_fields(u64::MAX, u32::MAX), Ulidflake::MAX);
    assert_eq!(Ulidflake::from_fields(1 << 43 | 1, 1 << 20 | 2), Ulidflake(1 << 20 | 2));
    assert_eq!(Ulidflake::from_scalable_fields(1, 1 << 15 | 2, 1 << 5 | 3), Ulidflake(1 << 20 | 2 << 5 | 3));
}

/// The example of the specification: `New().Int()` and `New()`.
#[test]
fn the_specification_s_example_has_both_forms() {
    let id: Ulidflake = "00CMXB6TAK4SA".parse().unwrap();
    assert_eq!(id.to_u64(), 14_246_757_444_195_114);
    assert_eq!(id.randomness(), 627_498);
    assert_eq!((id.scalable_randomness(), id.scalability()), (19_609, 10), "the last digit, A");
}

#[test]
fn a_fresh_generator_draws_20_bits_or_15() {
    assert_eq!(Ulidflake::TICKS.start(TICK), NOON);
    let fresh = 0;
    assert_eq!(made(fresh, NOON, STAND_ALONE, &[Bits32(0xabc1_2345)]), id(TICK, 0x1_2345));
    assert_eq!(made(fresh, NOON + 999, STAND_ALONE, &[Bits32(u32::MAX)]), id(TICK, 0xf_ffff));
    assert_eq!(made(fresh, NOON, SCALABLE, &[Bits32(0xabc1_2345)]), id(TICK, 0x2345 << 5 | 21));
    assert_eq!(made(fresh, NOON, SCALABLE, &[Bits32(u32::MAX)]), id(TICK, 0x7fff << 5 | 21));
}

#[test]
fn within_a_millisecond_randomness_is_counted_up_by_n() {
    assert_eq!(made(used(id(TICK, 7)), NOON, STAND_ALONE, &[Bits32(0xffff_ff01)]), id(TICK, 8));
    assert_eq!(made(used(id(TICK, 7)), NOON + 999, STAND_ALONE, &[Bits32(u32::MAX)]), id(TICK, 7 + 255));
    assert_eq!(made(used(scalable(TICK, 7)), NOON, SCALABLE, &[Bits32(3)]), scalable(TICK, 10));
    assert_eq!(made(used(id(TICK, 0xf_ff00)), NOON, STAND_ALONE, &[Bits32(255)]), id(TICK, 0xf_ffff), "the last value");
    assert_eq!(made(used(scalable(TICK, 0x7f00)), NOON, SCALABLE, &[Bits32(255)]), scalable(TICK, 0x7fff));
}

#[test]
fn n_has_as_many_bits_as_set_and_is_never_0() {
    for entropy_bits in 0..=32 {
        let settings = UlidflakeSettings { entropy_bits, ..STAND_ALONE };
        let largest = (1 << entropy_bits.clamp(1, 16)) - 1;
        assert_eq!(made(used(id(TICK, 0)), NOON, settings, &[Bits32(u32::MAX)]), id(TICK, largest));
        let draws = [Bits32(0), Bits32(!largest), Bits32(1)];
        assert_eq!(made(used(id(TICK, 0)), NOON, settings, &draws), id(TICK, 1), "0 is discarded");
    }
}

#[test]
fn n_is_uniform() {
    let (mut rng, mut counts) = (StdRng::seed_from_u64(8), [0_u32; 8]);
    let settings = UlidflakeSettings { entropy_bits: 3, ..STAND_ALONE };
    for _ in 0..70_000 {
        counts[settings.increment(&mut rng) as usize] += 1;
    }
    assert_eq!(counts[0], 0);
    assert!(counts[1..].iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
}

#[test]
fn in_a_later_millisecond_randomness_is_drawn_anew() {
    assert_eq!(made(used(id(TICK, 0xf_ffff)), NOON + 1_000, STAND_ALONE, &[Bits32(3)]), id(TICK + 1, 3));
    assert_eq!(made(used(id(TICK, 0xf_ffff)), NOON + 1_000, SCALABLE, &[Bits32(3)]), scalable(TICK + 1, 3));
}

#[test]
fn overflow_waits_for_the_millisecond_after_the_last_id() {
    let wait = Err(NoId::Wait(NOON + 1_000));
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON, STAND_ALONE, &[Bits32(1)]), wait);
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ff01), NOON + 999, STAND_ALONE, &[Bits32(255)]), wait);
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - SECOND, STAND_ALONE, &[Bits32(1)]), wait);
    assert_eq!(refusal_or_wait(scalable(TICK, 0x7fff), NOON, SCALABLE, &[Bits32(1)]), wait);
    assert_eq!(refusal_or_wait(scalable(TICK, 0x7f01), NOON, SCALABLE, &[Bits32(255)]), wait);
}

/// On average, the randomness starts at half of its range and increases by 128.
#[test]
fn a_millisecond_has_room_for_4096_ids_or_128_on_average() {
    let mut rng = StdRng::seed_from_u64(20);
    for (settings, room) in [(STAND_ALONE, 4_096), (SCALABLE, 128)] {
        let mut ids = 0;
        for _ in 0..400 {
            let mut state = 0;
            while let Ok((next, _)) = Ulidflake::step(state, &at(NOON, settings), &mut rng) {
                (state, ids) = (next, ids + 1);
                assert!(ids < 1 << 24, "the millisecond does not end");
            }
        }
        assert!((room * 9 / 10..room * 11 / 10).contains(&(ids / 400)), "{ids}");
    }
}

#[test]
fn overflow_is_refused_if_on_overflow_is_error_and_the_clock_is_not_behind() {
    let (refused, wait) = (Err(NoId::Refused(Refusal::Exhausted)), Err(NoId::Wait(NOON + 1_000)));
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON, refusing(STAND_ALONE), &[Bits32(1)]), refused);
    assert_eq!(refusal_or_wait(scalable(TICK, 0x7fff), NOON, refusing(SCALABLE), &[Bits32(1)]), refused);
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - 1, refusing(STAND_ALONE), &[Bits32(1)]), wait);
    assert_eq!(refusal_or_wait(id(TICK, 0xf_ffff), NOON - SECOND, refusing(STAND_ALONE), &[Bits32(1)]), wait);
}

#[test]
fn ids_continue_with_the_last_millisecond_after_a_rollback_of_a_second() {
    assert_eq!(made(used(id(TICK, 7)), NOON - 1, STAND_ALONE, &[Bits32(1)]), id(TICK, 8));
    assert_eq!(made(used(id(TICK, 7)), NOON - SECOND, STAND_ALONE, &[Bits32(1)]), id(TICK, 8));
    assert_eq!(made(used(scalable(TICK, 7)), NOON - SECOND, SCALABLE, &[Bits32(1)]), scalable(TICK, 8));
}

#[test]
fn generation_waits_after_a_rollback_of_up_to_two_seconds() {
    for behind in [SECOND + 1, 2 * SECOND] {
        assert_eq!(refusal_or_wait(id(TICK, 7), NOON - behind, STAND_ALONE, &[]), Err(NoId::Wait(NOON - SECOND)));
    }
}

#[test]
fn a_larger_rollback_is_refused_with_its_distance_for_any_setting() {
    for settings in [STAND_ALONE, SCALABLE, refusing(STAND_ALONE)] {
        for on_clock_rollback in [OnClockRollback::Reset, OnClockRollback::Error] {
            for behind in [2 * SECOND + 1, 5 * SECOND, 3_600 * SECOND] {
                let context = Context { on_clock_rollback, ..at(NOON - behind, settings) };
                let refused = step::<Ulidflake>(used(id(TICK, 7)), &context, &[]);
                assert_eq!(refused, Err(NoId::Refused(Refusal::ClockMovedBack(behind as u64))));
            }
        }
    }
}

#[test]
fn ids_increase_when_the_form_changes_within_a_millisecond() {
    let n = &[Bits32(1)];
    for low in [0, 20, 21, 22, 31] {
        let next = made(used(id(TICK, 7 << 5 | low)), NOON, SCALABLE, n);
        assert_eq!(next, scalable(TICK, 8), "after {low}");
    }
    assert_eq!(made(used(scalable(TICK, 7)), NOON, STAND_ALONE, n), id(TICK, (7 << 5 | 21) + 1), "and back");
    let other = UlidflakeSettings { scalability: Some(0), ..STAND_ALONE };
    assert_eq!(made(used(scalable(TICK, 7)), NOON, other, n), Ulidflake::from_scalable_fields(TICK, 8, 0));
    assert_eq!(
        refusal_or_wait(id(TICK, 0x7fff << 5), NOON, SCALABLE, n),
        Err(NoId::Wait(NOON + 1_000)),
        "0x7fff is not reused"
    );
}

#[test]
fn a_state_at_the_reserved_timestamp_is_refused() {
    let now = Ulidflake::TICKS.start(LAST);
    let refused = Err(NoId::Refused(Refusal::ClockOutOfRange));
    assert_eq!(refusal_or_wait(id(LAST + 1, 7), now, STAND_ALONE, &[]), refused);
    assert_eq!(refusal_or_wait(Ulidflake::MAX, now, STAND_ALONE, &[]), refused);
}

#[test]
fn a_successor_begins_after_the_millisecond_a_second_ahead() {
    assert_eq!(successor(NOON), used(Ulidflake::last_of(TICK + 1_000)));
    assert_eq!(successor(NOON + 999), used(Ulidflake::last_of(TICK + 1_000)));
    for settings in [STAND_ALONE, SCALABLE] {
        let last = Ulidflake::last_of(TICK + 1_000);
        let until = NOON + 1_001_000;
        assert_eq!(refusal_or_wait(last, NOON, settings, &[Bits32(1)]), Err(NoId::Wait(until)));
        assert_eq!(refusal_or_wait(last, until - 1, settings, &[Bits32(1)]), Err(NoId::Wait(until)));
        assert_eq!(made(used(last), until, settings, &[Bits32(0)]).timestamp(), TICK + 1_001);
    }
}

#[test]
fn a_successor_begins_at_an_end_of_the_range_if_the_clock_is_outside() {
    assert_eq!(successor(i64::MIN), used(Ulidflake::last_of(0)));
    assert_eq!(successor(i64::MAX), used(Ulidflake::MAX));
    assert_eq!(made(successor(0), NOON, STAND_ALONE, &[Bits32(3)]), id(TICK, 3));
}

#[test]
fn random_ids_draw_20_bits() {
    assert_eq!(Ulidflake::random_of(TICK, &mut Script(&[Bits32(0xabc1_2345)])), id(TICK, 0x1_2345));
}
