use std::collections::HashSet;

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::ParseErrorKind::WrongLength;
use crate::generator::script::{self, Draw};
use crate::{NoId, OnClockRollback};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;

/// Returns the next state and the fields of the ID of a step at the clock reading `millis`, in milliseconds.
fn made(state: u128, millis: u64, draws: &[Draw]) -> (u128, (u64, u64, u32)) {
    let context = Context { now: millis as i64 * 1_000, on_clock_rollback: OnClockRollback::Error, settings: () };
    match script::step::<Uuidv7>(state, &context, draws) {
        Ok((state, id)) => {
            assert!(id.is_id(), "{id}");
            (state, (id.timestamp(), id.counter(), id.entropy()))
        }
        other => panic!("{other:?}"),
    }
}

fn used(timestamp: u64, counter: u64) -> u128 {
    Uuidv7::from_fields(timestamp, counter, 0).to_u128()
}

#[test]
fn the_example_of_the_rfc_has_its_fields() {
    // RFC 9562, appendix A.6: 2022-02-22 14:22:22 in UTC-5.
    let id: Uuidv7 = "017F22E2-79B0-7CC3-98C4-DC0C0C07398F".parse().unwrap();
    assert_eq!(id.to_string(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    assert!(id.is_id());
    assert_eq!(id.timestamp_micros(), 1_645_557_742_000_000);
    assert_eq!((id.counter(), id.entropy()), (0xcc3 << 30 | 0x18c4_dc0c, 0x0c07_398f));
    assert_eq!((id.counter_hi(), id.counter_lo()), (0xcc3, 0x18c4_dc0c));
    assert_eq!(Uuidv7::from_fields(id.timestamp(), id.counter(), id.entropy()), id);
}

#[test]
fn only_version_7_of_the_rfc_variant_is_an_id() {
    let is_id = |text: &str| text.parse::<Uuidv7>().unwrap().is_id();
    // The examples of versions 1, 4, 6 and 8 in appendices A and B, Nil and Max, and another variant.
    for text in [
        "c232ab00-9414-11ec-b3c8-9f6bdeced846",
        "919108f7-52d1-4320-9bac-f847db4148a8",
        "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
        "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "017f22e2-79b0-7cc3-d8c4-dc0c0c07398f",
        "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
    ] {
        assert!(!is_id(text), "{text}");
    }
}

#[test]
fn the_ends_of_a_tick_are_ids() {
    for tick in [0, NOON, Uuidv7::TICKS.max] {
        assert!(Uuidv7::first_of(tick).is_id() && Uuidv7::last_of(tick).is_id());
    }
    assert_eq!(Uuidv7::first_of(NOON).to_string(), "01a196fb-1600-7000-8000-000000000000");
    assert_eq!(Uuidv7::last_of(NOON).to_string(), "01a196fb-1600-7fff-bfff-ffffffffffff");
    assert_eq!((Uuidv7::MIN, Uuidv7::MAX), (Uuidv7::first_of(0), Uuidv7::last_of(Uuidv7::TICKS.max)));
}

#[test]
fn malformed_text_is_refused_with_the_position() {
    let error = |text: &str| text.parse::<Uuidv7>().unwrap_err();
    assert_eq!(error("017f22e2x79b0"), ParseError { kind: InvalidDigit, position: 8 });
    assert_eq!(error("017f22g2"), ParseError { kind: InvalidDigit, position: 6 });
    assert_eq!(error("017f22e2-"), ParseError { kind: WrongLength { expected: 36, received: 9 }, position: 9 });
    let surplus = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0";
    assert_eq!(error(surplus), ParseError { kind: WrongLength { expected: 36, received: 37 }, position: 36 });
}

#[test]
fn fields_are_cut_to_their_width() {
    let id = Uuidv7::from_fields(1 << 48 | 1, 1 << 42 | 2, 3);
    assert_eq!((id.timestamp(), id.counter(), id.entropy()), (1, 2, 3));
    assert!(id.is_id());
}

#[test]
fn every_millisecond_begins_with_a_new_counter() {
    let (state, id) = made(0, NOON, &[Draw::Bits64(u64::MAX), Draw::Bits32(1)]);
    assert_eq!(id, (NOON, MAX_COUNTER, 1));
    let (_, id) = made(state, NOON + 1, &[Draw::Bits64(5), Draw::Bits32(2)]);
    assert_eq!(id, (NOON + 1, 5, 2));
}

#[test]
fn within_a_millisecond_the_counter_counts_up_and_only_entropy_is_drawn() {
    let (state, id) = made(used(NOON, (1 << 30) - 1), NOON, &[Draw::Bits32(9)]);
    assert_eq!(id, (NOON, 1 << 30, 9), "carries from the 30 low bits to the 12 high bits");
    assert_eq!(made(state, NOON, &[Draw::Bits32(8)]).1, (NOON, (1 << 30) + 1, 8));
}

#[test]
fn on_overflow_the_generator_continues_in_the_next_millisecond() {
    let (state, id) = made(used(NOON, MAX_COUNTER), NOON, &[Draw::Bits64(7), Draw::Bits32(1)]);
    assert_eq!(id, (NOON + 1, 7, 1));
    assert_eq!(made(state, NOON, &[Draw::Bits32(2)]).1, (NOON + 1, 8, 2), "ahead of the clock");
}

#[test]
fn overflow_into_the_last_millisecond_is_refused() {
    let last = Uuidv7::TICKS.max - 1;
    let now = last as i64 * 1_000;
    let context = Context { now, on_clock_rollback: OnClockRollback::Error, settings: () };
    let step = script::step::<Uuidv7>(used(last, MAX_COUNTER), &context, &[Draw::Bits64(7)]);
    assert_eq!(step, Err(NoId::Refused(Refusal::ClockOutOfRange)));
}

#[test]
fn random_ids_of_a_tick_differ() {
    let mut rng = StdRng::seed_from_u64(1);
    let ids: HashSet<_> = (0..1_000).map(|_| Uuidv7::random_of(NOON, &mut rng)).collect();
    assert_eq!(ids.len(), 1_000);
    assert!(ids.iter().all(|id| id.is_id() && id.timestamp() == NOON));
}
