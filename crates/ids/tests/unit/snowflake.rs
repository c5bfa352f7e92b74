use proptest::prelude::*;

use super::*;

/// The epoch of Discord's IDs.
const EPOCH: i64 = 1_420_070_400_000_000;
const DISCORD: Snowflake = Snowflake { epoch: EPOCH, shift: 22 };
/// The last millisecond of an ID with 22 bits below the timestamp.
const LAST: i64 = i64::MAX >> 22;

#[test]
fn the_example_of_discord_has_its_published_time() {
    let id = 175_928_847_299_117_063;
    assert_eq!(DISCORD.timestamp(id), Ok(1_462_015_105_796_000));
    assert_eq!(DISCORD.floor(1_462_015_105_796_999), Ok(id >> 22 << 22));
}

#[test]
fn a_time_is_truncated_to_its_millisecond() {
    let ids = [-1, 0, 999, 1_000, 1_999, 2_000].map(|micros| DISCORD.floor(EPOCH + micros));
    assert_eq!(ids, [0, 0, 0, 1 << 22, 1 << 22, 2 << 22].map(Ok));
}

#[test]
fn times_after_the_last_millisecond_have_no_id() {
    let last = EPOCH + LAST * 1_000;
    assert_eq!([last, last + 999].map(|micros| DISCORD.floor(micros)), [Ok(LAST << 22); 2]);
    assert_eq!([last + 1_000, i64::MAX].map(|micros| DISCORD.floor(micros)), [Err(TimeError); 2]);
    assert_eq!(DISCORD.timestamp(i64::MAX), Ok(last));
}

#[test]
fn the_shift_leaves_a_bit_for_the_time() {
    assert_eq!([62, 63, u32::MAX].map(|shift| Snowflake::new(0, shift).is_some()), [true, false, false]);
    let widest = Snowflake { epoch: 0, shift: 62 };
    assert_eq!([0, 999, 1_000, 1_999].map(|micros| widest.floor(micros)), [0, 0, 1 << 62, 1 << 62].map(Ok));
    assert_eq!(widest.floor(2_000), Err(TimeError));
    assert_eq!([1 << 62, i64::MAX].map(|id| widest.timestamp(id)), [Ok(1_000); 2]);
}

#[test]
fn times_may_exceed_64_bits() {
    let narrowest = Snowflake { epoch: i64::MAX, shift: 0 };
    assert_eq!([0, 1].map(|id| narrowest.timestamp(id)), [Ok(i64::MAX), Err(TimeError)]);
    assert_eq!(Snowflake { epoch: i64::MIN, shift: 0 }.floor(i64::MAX), Ok(i64::MAX / 500));
}

fn layouts() -> impl Strategy<Value = Snowflake> {
    let epochs = prop_oneof![Just(0), Just(EPOCH), any::<i64>()];
    (epochs, 0..=Snowflake::MAX_SHIFT).prop_map(|(epoch, shift)| Snowflake { epoch, shift })
}

/// IDs, and numbers with few bits.
fn ids() -> impl Strategy<Value = i64> {
    (0..=i64::MAX, 0..63).prop_map(|(id, bits)| id >> bits)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_floor_of_the_time_of_an_id_is_its_first_id(layout in layouts(), id in ids(), within in 0..1_000_i64) {
        if let Ok(micros) = layout.timestamp(id)
            && let Some(later) = micros.checked_add(within)
        {
            prop_assert_eq!(layout.floor(later), Ok(id >> layout.shift << layout.shift));
        }
    }

    #[test]
    fn the_time_of_a_floor_is_the_start_of_its_millisecond(layout in layouts(), micros: i64) {
        if let Ok(id) = layout.floor(micros) {
            let start = layout.timestamp(id);
            if micros < layout.epoch {
                prop_assert_eq!((id, start), (0, Ok(layout.epoch)));
            } else {
                prop_assert!(start.is_ok_and(|start| start <= micros && micros - start < 1_000));
            }
        }
    }

    #[test]
    fn an_id_is_at_or_above_a_floor_if_its_time_is(layout in layouts(), id in ids(), micros: i64) {
        if let (Ok(time), Ok(floor)) = (layout.timestamp(id), layout.floor(micros)) {
            let is_after_the_start = i128::from(time) > i128::from(micros) - 1_000;
            prop_assert_eq!(id >= floor, is_after_the_start);
        }
    }
}
