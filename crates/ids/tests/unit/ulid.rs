use super::*;
use crate::generator::script::Draw::{Bits32, Bits64};
use crate::generator::script::step;
use crate::{NoId, OnClockRollback};

/// 2026-11-01 12:00 UTC, in milliseconds.
const NOON: u64 = 1_793_534_400_000;

fn at(millis: u64) -> Context<()> {
    Context { now: millis as i64 * 1_000, on_clock_rollback: OnClockRollback::Error, settings: () }
}

#[test]
fn fields_are_cut_to_their_width() {
    assert_eq!(Ulid::from_fields(u64::MAX, u128::MAX), Ulid::MAX);
    assert_eq!(Ulid::from_fields(1 << 48 | 1, 1 << 80 | 2).to_u128(), 1 << 80 | 2);
}

/// The example in the section Monotonicity of the specification.
#[test]
fn the_example_of_the_specification_ends_at_the_last_id_of_its_millisecond() {
    let last: Ulid = "01BX5ZZKBKZZZZZZZZZZZZZZZX".parse().unwrap();
    let (mut state, millis) = (last.to_u128(), last.timestamp());
    for expected in ["01BX5ZZKBKZZZZZZZZZZZZZZZY", "01BX5ZZKBKZZZZZZZZZZZZZZZZ"] {
        let Ok((next, id)) = step::<Ulid>(state, &at(millis), &[]) else { panic!("no ID") };
        assert_eq!(id.to_string(), expected);
        state = next;
    }
    assert_eq!(step::<Ulid>(state, &at(millis), &[]), Err(NoId::Refused(Refusal::Exhausted)));
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
