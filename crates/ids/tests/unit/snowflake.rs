use proptest::prelude::*;

use super::*;

/// The epoch of Discord's IDs.
const EPOCH_MS: i64 = 1_420_070_400_000;
const DISCORD: Snowflake = Snowflake { epoch_ms: EPOCH_MS, shift: 22 };
/// The last millisecond of an ID with 22 bits below the timestamp.
const LAST: i64 = i64::MAX >> 22;

#[test]
fn the_example_of_discord_has_its_published_time() {
    let id = 175_928_847_299_117_063;
    assert_eq!(DISCORD.timestamp_ms(id), Some(1_462_015_105_796));
    assert_eq!(DISCORD.lower(1_462_015_105_796), id >> 22 << 22);
}

#[test]
fn times_beyond_the_first_and_the_last_millisecond_count_as_in_these() {
    let last = EPOCH_MS + LAST;
    assert_eq!([last - 1, last, last + 1, i64::MAX].map(|ms| DISCORD.lower(ms) >> 22), [LAST - 1, LAST, LAST, LAST]);
    assert_eq!(DISCORD.timestamp_ms(i64::MAX), Some(last));
    assert_eq!([i64::MIN, EPOCH_MS - 1, EPOCH_MS, EPOCH_MS + 1].map(|ms| DISCORD.lower(ms) >> 22), [0, 0, 0, 1]);
}

#[test]
fn the_shift_leaves_a_bit_for_the_time() {
    assert_eq!([62, 63, u32::MAX].map(|shift| Snowflake::new(0, shift).is_some()), [true, false, false]);
    let widest = Snowflake { epoch_ms: 0, shift: 62 };
    assert_eq!([0, 1, 2].map(|ms| widest.lower(ms)), [0, 1 << 62, 1 << 62]);
    assert_eq!([1 << 62, i64::MAX].map(|id| widest.timestamp_ms(id)), [Some(1); 2]);
}

#[test]
fn times_may_exceed_64_bits() {
    let [first, last] = [i64::MIN, i64::MAX].map(|epoch_ms| Snowflake { epoch_ms, shift: 0 });
    assert_eq!([0, 1].map(|id| last.timestamp_ms(id)), [Some(i64::MAX), None]);
    assert_eq!([first, last].map(|layout| layout.lower(0)), [i64::MAX, 0]);
}

fn layouts() -> impl Strategy<Value = Snowflake> {
    let epochs = prop_oneof![Just(0), Just(EPOCH_MS), any::<i64>()];
    (epochs, 0..=Snowflake::MAX_SHIFT).prop_map(|(epoch_ms, shift)| Snowflake { epoch_ms, shift })
}

/// IDs, and numbers with few bits.
fn ids() -> impl Strategy<Value = i64> {
    (0..=i64::MAX, 0..63).prop_map(|(id, bits)| id >> bits)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_lower_bound_of_the_time_of_an_id_is_its_first_id(layout in layouts(), id in ids()) {
        if let Some(ms) = layout.timestamp_ms(id) {
            prop_assert_eq!(layout.lower(ms), id >> layout.shift << layout.shift);
        }
    }

    #[test]
    fn an_id_is_at_or_above_a_lower_bound_if_its_millisecond_is(layout in layouts(), id in ids(), ms: i64) {
        let last = i64::MAX >> layout.shift;
        if let Some(time) = layout.timestamp_ms(id)
            && (1..last).contains(&(id >> layout.shift))
        {
            prop_assert_eq!(id >= layout.lower(ms), time >= ms);
        }
    }
}
