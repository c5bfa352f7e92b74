use rand::SeedableRng;
use rand::rngs::StdRng;

use scru_ids::{OnClockRollback, Scru64, Scru128, SortableId, Ulidflake};

use super::*;

/// 2026-11-01 12:00 UTC, the start of a tick of each type.
const NOON: i64 = 1_793_534_400_000_000;
const SECOND: i64 = 1_000_000;
/// The tick of scru64.
const TICK: i64 = 256_000;

fn context<T: GeneratedId>(now: i64, on_clock_rollback: OnClockRollback) -> Context<T::Settings> {
    Context { now, on_clock_rollback, settings: T::Settings::default() }
}

/// The start of the tick of the ID that a step makes at noon, as the time after noon, or what the step does instead.
fn stepped<T: GeneratedId>(word: T::State, start: i64, arrived: i64) -> Result<i64, NoId> {
    let (context, mut rng) = (context::<T>(NOON, OnClockRollback::Reset), StdRng::seed_from_u64(1));
    let step = step::<T>(word, NOON + start, NOON + arrived, &context, &mut rng);
    step.map(|(_, id)| T::TICKS.start(id.tick()) - NOON)
}

/// The last state of the tick that starts at a time after noon.
fn last<T: GeneratedId>(start: i64) -> T::State {
    T::state_after(T::TICKS.nearest(NOON + start), &mut StdRng::seed_from_u64(1))
}

#[test]
fn a_mark_bounds_both_sides_of_every_tick() {
    let mut rng = StdRng::seed_from_u64(1);
    assert_eq!(end::<Scru64>(Scru64::TICKS.nearest(NOON)), NOON + TICK);
    assert_eq!(end::<Ulidflake>(Ulidflake::TICKS.nearest(NOON)), NOON + 1_000);
    let before = |time| Scru64::TICKS.nearest(NOON) - Scru64::state_tick(before::<Scru64>(time, &mut rng));
    assert_eq!([NOON - 1, NOON, NOON + TICK - 1].map(before), [2, 1, 1]);
}

#[test]
fn a_step_continues_in_the_tick_of_the_start_or_a_later_one() {
    assert_eq!(stepped::<Scru64>(0, 0, 0), Ok(0));
    assert_eq!(stepped::<Scru64>(0, 1, 0), Ok(0), "no ID was drawn in this tick: it ends later");
    assert_eq!(stepped::<Scru64>(0, TICK, 0), Ok(TICK));
    assert_eq!(stepped::<Scru64>(last::<Scru64>(-TICK), TICK, 0), Ok(TICK), "a word below the start");
    assert_eq!(stepped::<Scru64>(last::<Scru64>(TICK), TICK, 0), Ok(2 * TICK), "a word above the start");
    assert_eq!(stepped::<Ulidflake>(0, 5_000, 0), Err(NoId::Wait(NOON + 5_000)));
    assert_eq!(stepped::<Scru128>(0, 9 * SECOND, 0), Ok(9 * SECOND));
}

#[test]
fn a_step_waits_for_a_start_up_to_ten_seconds_ahead() {
    // The last tick that starts at most a second ahead, and the next one.
    let (near, far) = (3 * TICK, 4 * TICK);
    assert_eq!(stepped::<Scru64>(0, far - 1, 0), Ok(near), "not 1 s ahead of the start");
    assert_eq!(stepped::<Scru64>(0, far, 0), Err(NoId::Wait(NOON + far - SECOND)));
    assert_eq!(stepped::<Scru64>(0, 40 * TICK - 1, 0), Err(NoId::Wait(NOON + 39 * TICK - SECOND)));
    assert_eq!(stepped::<Scru64>(0, 40 * TICK, 0), Err(NoId::Refused(Refusal::BehindMark(10_240_000))));
    assert_eq!(stepped::<Scru128>(0, 10 * SECOND, 0), Ok(10 * SECOND));
    assert_eq!(stepped::<Scru128>(0, 10 * SECOND + 1_000, 0), Err(NoId::Refused(Refusal::BehindMark(10_001_000))));
}

#[test]
fn a_step_waits_until_the_clock_reaches_what_has_arrived() {
    assert_eq!(stepped::<Scru128>(0, 0, 0), Ok(0));
    assert_eq!(stepped::<Scru128>(0, 0, 1), Err(NoId::Wait(NOON + 1)));
    assert_eq!(stepped::<Scru128>(0, 0, 10 * SECOND), Err(NoId::Wait(NOON + 10 * SECOND)));
    assert_eq!(stepped::<Scru128>(0, 0, 10 * SECOND + 1), Err(NoId::Refused(Refusal::BehindMark(10_000_001))));
}

#[test]
fn the_clock_of_a_private_generator_reads_at_least_the_start() {
    let step = |ahead, on_clock_rollback| {
        let (context, mut rng) = (context::<Scru128>(NOON, on_clock_rollback), StdRng::seed_from_u64(1));
        let step = private_step::<Scru128>(0, NOON + ahead, &context, &mut rng);
        step.map(|(_, id)| Scru128::TICKS.start(id.tick()) - NOON)
    };
    assert_eq!(step(-SECOND, OnClockRollback::Error), Ok(0));
    assert_eq!(step(10 * SECOND, OnClockRollback::Error), Ok(10 * SECOND));
    let refused = Refusal::ClockMovedBack(10_000_001);
    assert_eq!(step(10 * SECOND + 1, OnClockRollback::Error), Err(NoId::Refused(refused)));
    assert_eq!(step(3_600 * SECOND, OnClockRollback::Reset), Ok(3_600 * SECOND));
}

#[test]
fn a_forecast_adds_all_waits_of_a_draw() {
    let mut rng = StdRng::seed_from_u64(1);
    let mut forecast_of = |word: u64, start: i64, arrived: i64| {
        forecast::<Ulidflake>(NOON, |now| {
            step::<Ulidflake>(
                word,
                NOON + start,
                NOON + arrived,
                &context::<Ulidflake>(now, OnClockRollback::Error),
                &mut rng,
            )
        })
    };
    assert_eq!(forecast_of(0, 0, 0), (0, None));
    assert_eq!(forecast_of(0, 5 * SECOND, 0), (5 * SECOND, None), "to within a second, and to the tick");
    assert_eq!(forecast_of(0, 5 * SECOND, 2 * SECOND), (5 * SECOND, None));
    assert_eq!(forecast_of(0, 0, 5 * SECOND), (5 * SECOND, None));
    assert_eq!(forecast_of(0, 60 * SECOND, 5 * SECOND), (5 * SECOND, Some(Refusal::BehindMark(55_000_000))));
    let word = last::<Ulidflake>(3 * SECOND);
    assert_eq!(forecast_of(word, 0, 0), (0, Some(Refusal::ClockMovedBack(3_000_000))));
    assert_eq!(forecast::<Ulidflake>(NOON, |_| Err(NoId::Wait(NOON))), (0, None), "a wait of no time");
}

#[test]
fn a_reservation_outlasts_slow_flushes() {
    assert_eq!(
        [0, 800_000, 4_000_000, 4_000_001, i64::MAX].map(|flush| lead(Mark::Draws, flush)),
        [700_000, 2_300_000, 8_700_000, 8_700_000, 8_700_000]
    );
    assert_eq!([0, 800_000, i64::MAX].map(last_part), [350_000, 1_150_000, i64::MAX]);
}

#[test]
fn marks_are_set_back_to_the_end_of_the_last_tick_that_sessions_wait_for_or_a_later_one() {
    let near = NOON + 7 * TICK;
    assert_eq!(lowest(NOON - SECOND, NOON), near);
    assert_eq!([near - 1, near].map(|time| lowest(time, NOON)), [near, near + TICK]);
    assert_eq!([lowest(i64::MAX, NOON), lowest(NOON, i64::MAX)], [i64::MAX; 2]);
    assert_eq!(lowest(NOON, i64::MIN), NOON + TICK);
}

/// Whatever a sequence or the page has: no time wraps, and an ID is of a tick that ends after the start.
fn check<T: GeneratedId>(time: i64, now: i64) {
    let mut rng = StdRng::seed_from_u64(1);
    let state = before::<T>(time, &mut rng);
    assert!(T::state_tick(state) <= T::TICKS.max && end::<T>(T::TICKS.nearest(time)) >= T::TICKS.epoch, "{time}");
    let strict = context::<T>(now, OnClockRollback::Error);
    for word in [T::State::default(), state] {
        for (start, arrived) in [(time, 0), (0, time), (time, time)] {
            if let Ok((_, id)) = step::<T>(word, start, arrived, &strict, &mut rng) {
                assert!(end::<T>(id.tick()) > start && arrived <= now, "{time}");
            }
        }
    }
    if let Ok((_, id)) = private_step::<T>(state, time, &context::<T>(now, OnClockRollback::Reset), &mut rng) {
        assert!(end::<T>(id.tick()) > time, "{time}");
    }
}

#[test]
fn every_64_bit_value_counts_as_a_time_of_each_type() {
    let bits = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, !(1 << bit)]);
    let ends = [Scru64::TICKS, Ulidflake::TICKS, Scru128::TICKS].map(|ticks| ticks.start(ticks.max));
    let mut values: Vec<i64> = bits.map(u64::cast_signed).chain([NOON, i64::MIN, i64::MAX]).chain(ends).collect();
    values.extend(ends.iter().flat_map(|end| [end - 1, end + 1, end - 10 * SECOND, end - SECOND]));
    let mut rng = StdRng::seed_from_u64(2);
    values.extend((0..50_000).map(|_| rng.next_u64().cast_signed() >> (rng.next_u32() % 64)));
    for value in values {
        for now in [NOON, value, value.saturating_sub(SECOND / 2), i64::MIN, i64::MAX] {
            check::<Scru64>(value, now);
            check::<Ulidflake>(value, now);
            check::<Scru128>(value, now);
        }
    }
}
