use super::*;
use crate::generator::script::{self, Draw::Bits32};
use crate::{NoId, OnClockRollback};

/// Returns the state of a generator whose last ID had these fields, and renewed `counter_hi`.
fn used(timestamp: u64, counter_hi: u32, counter_lo: u32) -> u128 {
    Scru128::from_fields(timestamp, counter_hi, counter_lo, 0).to_u128()
}

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Scru128::from_fields(u64::MAX, u32::MAX, u32::MAX, u32::MAX), Scru128::MAX);
    let id = Scru128::from_fields(1 << 48 | 1, 1 << 24 | 2, 1 << 24 | 3, 4);
    assert_eq!(id.to_u128(), 1 << 80 | 2 << 56 | 3 << 32 | 4);
}

#[test]
fn overflow_into_the_reserved_timestamp_is_refused() {
    let last = Scru128::TICKS.max - 1;
    let context = Context { now: last as i64 * 1_000, on_clock_rollback: OnClockRollback::Reset, settings: () };
    let step =
        |counter_lo, draw| script::step::<Scru128>(used(last, MAX_COUNTER, counter_lo), &context, &[Bits32(draw)]);
    assert_eq!(step(MAX_COUNTER, 1), Err(NoId::Refused(Refusal::ClockOutOfRange)));
    let id = Scru128::from_fields(last, MAX_COUNTER, MAX_COUNTER, 4);
    assert_eq!(step(MAX_COUNTER - 1, 4), Ok((used(last, MAX_COUNTER, MAX_COUNTER), id)));
}

#[test]
fn a_state_has_the_age_of_counter_hi() {
    let last = 1_793_534_400_000;
    let step = |state, millis: i64, draws: &[_]| {
        let context = Context { now: millis * 1_000, on_clock_rollback: OnClockRollback::Reset, settings: () };
        let Ok((next, id)) = script::step::<Scru128>(state, &context, draws) else { panic!("no ID") };
        (next, id.to_u128())
    };
    let (state, id) = step(used(last, 7, 8), last as i64 + 999, &[Bits32(9), Bits32(5)]);
    assert_eq!((state, id), (used(last + 999, 7, 9) + 999, used(last + 999, 7, 9) + 5));
    assert_eq!(step(state, last as i64, &[Bits32(5)]), (used(last + 999, 7, 10) + 999, used(last + 999, 7, 10) + 5));
    let (state, _) = step(state, last as i64 + 1_000, &[Bits32(1), Bits32(2), Bits32(3)]);
    assert_eq!(state, used(last + 1_000, 2, 1));
}

#[test]
fn text_is_padded_as_asked_for() {
    let id: Scru128 = "0372ijojuxuhjsfkeryi2mrtm".parse().unwrap();
    assert_eq!(format!("{id:>28}|{id:-<27}"), "   0372ijojuxuhjsfkeryi2mrtm|0372ijojuxuhjsfkeryi2mrtm--");
}
