use super::*;
use crate::generator::script::{self, Draw::Bits32};
use crate::{OnClockRollback, State};

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
fn overflow_into_the_reserved_timestamp_is_refused() {
    let last = Scru128::TICKS.max - 1;
    let context = Context { now: last as i64 * 1_000, on_clock_rollback: OnClockRollback::Reset, settings: () };
    let step = |counter_lo, draw| script::step(used(last, MAX_COUNTER, counter_lo), &context, &[Bits32(draw)]);
    assert_eq!(step(MAX_COUNTER, 1), Step::Refused(Refusal::ClockOutOfRange));
    let id = Scru128::from_fields(last, MAX_COUNTER, MAX_COUNTER, 4);
    assert_eq!(step(MAX_COUNTER - 1, 4), Step::Made(used(last, MAX_COUNTER, MAX_COUNTER), id));
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
fn text_is_padded_as_asked_for() {
    let id: Scru128 = "0372ijojuxuhjsfkeryi2mrtm".parse().unwrap();
    assert_eq!(format!("{id:>28}|{id:-<27}"), "   0372ijojuxuhjsfkeryi2mrtm|0372ijojuxuhjsfkeryi2mrtm--");
}
