use super::*;
use crate::generator::script::Draw::{self, Bits32, Bits64};
use crate::generator::script::{Script, step};
use crate::{OnClockRollback, ParseErrorKind, Refusal};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;

/// The last random numbers that every ID draws, and the two fields that result from them.
const TAIL: [Draw; 2] = [Bits32(0x0102_0304), Bits64(0x0506_0708_090a_0b0c)];
const RANDOM_16: u16 = 0x0102;
const RANDOM_80: [u8; 10] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

fn at(now: i64, counter: Scru160Counter) -> Context<Scru160Settings> {
    let settings = Scru160Settings { counter };
    Context { now, on_clock_rollback: OnClockRollback::Error, settings }
}

fn micros(millis: u64, micros: i64) -> i64 {
    millis as i64 * 1_000 + micros
}

fn used(timestamp: u64, counter: u16) -> u64 {
    timestamp << 16 | u64::from(counter)
}

fn id(timestamp: u64, counter: u16) -> Scru160 {
    Scru160::from_fields(timestamp, counter, RANDOM_16, RANDOM_80)
}

/// Returns the timestamp and the counter of the ID that a step generates. `draws` are the random numbers of the counter.
fn made(state: u64, now: i64, usage: Scru160Counter, draws: &[Draw]) -> (u64, u16) {
    let step = step::<Scru160>(state, &at(now, usage), &[draws, &TAIL].concat());
    let Ok((next, made)) = step else { panic!("{step:?}") };
    assert_eq!(next, used(made.timestamp(), made.counter()));
    assert_eq!(made, id(made.timestamp(), made.counter()));
    (made.timestamp(), made.counter())
}

/// Runs a step that generates no ID and draws no random numbers.
fn refusal_or_wait(state: u64, now: i64, usage: Scru160Counter) -> Step<Scru160> {
    step::<Scru160>(state, &at(now, usage), &[])
}

use Scru160Counter::{Microsecond, Random};

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Scru160::from_fields(u64::MAX, u16::MAX, u16::MAX, [u8::MAX; 10]), Scru160::MAX);
    assert_eq!(Scru160::from_fields(1 << 48 | 1, 2, 3, [0; 10]), Scru160::from_fields(1, 2, 3, [0; 10]));
}

#[test]
fn a_fresh_generator_draws_15_bits_for_the_counter() {
    assert_eq!(made(0, micros(NOON, 0), Random, &[Bits32(0x1234_ffff)]), (NOON, 0x7fff));
    assert_eq!(made(0, micros(NOON, 0), Random, &[Bits32(0xffff_8000)]), (NOON, 0));
}

#[test]
fn within_a_millisecond_the_counter_counts_up() {
    assert_eq!(made(used(NOON, 7), micros(NOON, 999), Random, &[]), (NOON, 8));
    assert_eq!(made(used(NOON, 0x7fff), micros(NOON, 0), Random, &[]), (NOON, 0x8000));
    assert_eq!(made(used(NOON, u16::MAX - 1), micros(NOON, 0), Random, &[]), (NOON, u16::MAX));
}

#[test]
fn in_a_later_millisecond_the_counter_is_drawn_anew() {
    assert_eq!(made(used(NOON, 7), micros(NOON + 1, 0), Random, &[Bits32(3)]), (NOON + 1, 3));
    assert_eq!(made(used(NOON, u16::MAX), micros(NOON + 1, 0), Random, &[Bits32(3)]), (NOON + 1, 3));
}

#[test]
fn a_full_counter_waits_for_the_next_millisecond() {
    let wait = Err(NoId::Wait(micros(NOON + 1, 0)));
    assert_eq!(refusal_or_wait(used(NOON, u16::MAX), micros(NOON, 0), Random), wait);
    assert_eq!(refusal_or_wait(used(NOON, u16::MAX), micros(NOON, 999), Random), wait);
    assert_eq!(
        refusal_or_wait(used(NOON, u16::MAX), micros(NOON - 10_000, 0), Random),
        wait,
        "of the state, not of the clock"
    );
}

#[test]
fn ids_continue_with_the_last_timestamp_after_a_rollback_of_10_seconds() {
    for usage in [Random, Microsecond] {
        assert_eq!(made(used(NOON, 7), micros(NOON - 1, 999), usage, &[]), (NOON, 8));
        assert_eq!(made(used(NOON, 7), micros(NOON - 10_000, 0), usage, &[]), (NOON, 8));
    }
}

#[test]
fn after_a_larger_rollback_a_step_is_refused_with_the_distance_or_restarts_at_the_clock() {
    let now = micros(NOON - 10_001, 0);
    for usage in [Random, Microsecond] {
        assert_eq!(refusal_or_wait(used(NOON, 7), now, usage), Err(NoId::Refused(Refusal::ClockMovedBack(10_001_000))));
        let context = Context { on_clock_rollback: OnClockRollback::Reset, ..at(now, usage) };
        let made = step::<Scru160>(used(NOON, 7), &context, &[Bits32(3), TAIL[0], TAIL[1]]);
        assert_eq!(made, Ok((used(NOON - 10_001, 3), id(NOON - 10_001, 3))));
    }
}

#[test]
fn the_microsecond_fills_the_upper_ten_bits() {
    let first = |micro, draw| made(0, micros(NOON, micro), Microsecond, &[Bits32(draw)]);
    assert_eq!(first(0, 0), (NOON, 0));
    assert_eq!(first(1, 0), (NOON, 1 << 6));
    assert_eq!(first(999, 0xffff_ffff), (NOON, 999 << 6 | 0x1f), "with 5 random bits, of 6");
    assert_eq!(made(used(NOON, u16::MAX), micros(NOON + 1, 5), Microsecond, &[Bits32(3)]), (NOON + 1, 5 << 6 | 3));
}

#[test]
fn within_a_microsecond_the_lower_six_bits_count_up() {
    assert_eq!(made(used(NOON, 5 << 6 | 31), micros(NOON, 5), Microsecond, &[]), (NOON, 5 << 6 | 32));
    assert_eq!(made(used(NOON, 5 << 6 | 62), micros(NOON, 5), Microsecond, &[]), (NOON, 5 << 6 | 63));
    assert_eq!(made(used(NOON, 5 << 6 | 7), micros(NOON, 4), Microsecond, &[]), (NOON, 5 << 6 | 8), "clock behind");
}

#[test]
fn in_a_later_microsecond_the_lower_bits_are_drawn_anew() {
    assert_eq!(made(used(NOON, 5 << 6 | 63), micros(NOON, 6), Microsecond, &[Bits32(3)]), (NOON, 6 << 6 | 3));
}

#[test]
fn full_lower_bits_wait_for_the_next_microsecond() {
    let full = |micro: u16| used(NOON, micro << 6 | 63);
    assert_eq!(refusal_or_wait(full(5), micros(NOON, 5), Microsecond), Err(NoId::Wait(micros(NOON, 6))));
    assert_eq!(refusal_or_wait(full(5), micros(NOON, 0), Microsecond), Err(NoId::Wait(micros(NOON, 6))));
    assert_eq!(refusal_or_wait(full(5), micros(NOON - 10_000, 0), Microsecond), Err(NoId::Wait(micros(NOON, 6))));
    assert_eq!(refusal_or_wait(full(999), micros(NOON, 999), Microsecond), Err(NoId::Wait(micros(NOON + 1, 0))));
}

#[test]
fn counters_beyond_microsecond_999_wait_for_the_next_millisecond() {
    for counter in [1_000 << 6, 1_000 << 6 | 5, 1_023 << 6, u16::MAX] {
        for micro in [0, 5, 999] {
            let step = refusal_or_wait(used(NOON, counter), micros(NOON, micro), Microsecond);
            assert_eq!(step, Err(NoId::Wait(micros(NOON + 1, 0))), "{counter} at {micro}");
        }
    }
}

#[test]
fn the_usage_of_the_counter_can_change() {
    assert_eq!(made(used(NOON, 400 << 6 | 9), micros(NOON, 100), Microsecond, &[]), (NOON, 400 << 6 | 10));
    assert_eq!(made(used(NOON, 400 << 6 | 9), micros(NOON, 401), Microsecond, &[Bits32(0)]), (NOON, 401 << 6));
    assert_eq!(made(used(NOON, 999 << 6 | 63), micros(NOON, 999), Random, &[]), (NOON, 1_000 << 6));
}

#[test]
fn random_ids_draw_15_bits_for_the_counter() {
    let mut script = Script(&[Bits32(0xffff_ffff), TAIL[0], TAIL[1]]);
    assert_eq!(Scru160::random_of(NOON, &mut script), id(NOON, 0x7fff));
}

#[test]
fn only_forty_bytes_are_read_as_hexadecimal() {
    let error = |text: &str| text.parse::<Scru160>().map_err(|error| (error.kind, error.position)).unwrap_err();
    let too_long = |received| ParseErrorKind::WrongLength { expected: 32, received };
    assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d8"), (too_long(39), 32));
    assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d860"), (too_long(41), 32));
    assert_eq!(error("017bdf6431bb33750751eb63beb3c3f8c5969d8g"), (ParseErrorKind::InvalidDigit, 39));
    assert_eq!(error("05TTUP1HNCPNH30VEK64KDQT9BSNU4C400000000"), (ParseErrorKind::InvalidDigit, 2));
}
