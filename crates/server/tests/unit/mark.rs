use rand::SeedableRng;
use rand::rngs::StdRng;

use scru_ids::{OnClockRollback, Scru64, Scru128, SortableId, Ticks, UlidFlake};

use super::*;

/// 2026-11-01 12:00 UTC, the start of a tick of each type.
const NOON: i64 = 1_793_534_400_000_000;
const SECOND: i64 = 1_000_000;
const TICKS: Ticks = Scru64::TICKS;
const NODE: NodeCode = NodeCode::new(5, 20);

fn tick(micros: i64) -> u64 {
    TICKS.at_or_before(micros).unwrap()
}

fn entered(word: u64, high_water: Option<u64>) -> Result<u64, Step<Scru64>> {
    enter::<Scru64>(word, high_water, NOON, &mut StdRng::seed_from_u64(1))
}

fn last_of(tick: u64) -> u64 {
    Scru64::last_of(tick).to_u64()
}

fn mark(id: u32, size: u32, tick: u64, run: u64) -> Mark {
    Mark { node: NodeCode::new(id, size), tick, run }
}

#[test]
fn the_high_water_is_the_highest_mark_of_an_overlapping_node_and_another_run() {
    let marks = [mark(5, 20, 7, 1), mark(5, 20, 9, 2), mark(6, 20, 99, 1), mark(0, 1, 8, 3), mark(5, 20, 6, 0)];
    assert_eq!(high_water(&marks, NODE, 4), Some(9));
    assert_eq!(high_water(&marks, NODE, 2), Some(8));
    assert_eq!(high_water(&marks[4..], NODE, 0), Some(6), "every run respects a mark without a run");
    assert_eq!(high_water(&marks[2..3], NODE, 0), None);
    assert_eq!(high_water(&[Mark { node: NodeCode::ALL, tick: 5, run: 0 }], NODE, 1), Some(5));
}

#[test]
fn a_node_has_one_mark_with_its_latest_tick() {
    let mut marks = vec![mark(5, 20, 7, 1), mark(6, 20, 8, 1)];
    add(&mut marks, mark(5, 20, 9, 2));
    assert_eq!(marks, [mark(5, 20, 9, 2), mark(6, 20, 8, 1)]);
    add(&mut marks, mark(6, 20, 3, 3));
    assert_eq!(marks, [mark(5, 20, 9, 2), mark(6, 20, 8, 3)]);
    add(&mut marks, mark(5, 20, 4, 0));
    assert_eq!(marks, [mark(5, 20, 9, 2), mark(6, 20, 8, 3), mark(5, 20, 4, 0)], "a mark without a run");
}

#[test]
fn a_mark_covers_lower_ticks_of_its_node() {
    let joined = mark(0, 19, 101, 0);
    assert!(joined.covers(mark(1, 20, 101, 5)) && joined.covers(joined));
    assert!(
        !joined.covers(mark(1, 20, 102, 0)) && !joined.covers(mark(2, 20, 7, 0)) && !joined.covers(mark(0, 18, 7, 0))
    );
}

#[test]
fn the_lowest_of_too_many_marks_are_joined() {
    let mut marks = Vec::new();
    for id in 0..MAX_MARKS as u32 {
        add(&mut marks, mark(id, 20, 100 + u64::from(id), 1));
    }
    assert_eq!(marks.len(), MAX_MARKS);
    add(&mut marks, mark(0xfffff, 20, 500, 1));
    assert_eq!(marks.len(), MAX_MARKS);
    assert!(marks.contains(&mark(0, 19, 101, 0)), "the nodes 0/20 and 1/20");
    for id in 0..MAX_MARKS as u32 {
        assert!(high_water(&marks, NodeCode::new(id, 20), 9) >= Some(100 + u64::from(id)));
    }
}

#[test]
fn setting_a_mark_back_replaces_overlapping_marks_that_are_not_lower() {
    let set = |mut marks: Vec<Mark>| {
        set_back(&mut marks, NODE, 7);
        marks
    };
    assert_eq!(set(vec![mark(5, 20, 9, 1)]), [mark(5, 20, 7, 0)]);
    let all = Mark { node: NodeCode::ALL, tick: 8, run: 0 };
    assert_eq!(set(vec![all]), [Mark { tick: 7, ..all }], "the broadest node");
    assert_eq!(set(vec![mark(11, 21, 9, 1), mark(1, 18, 7, 2)]), [mark(1, 18, 7, 0)]);
    let others = [mark(6, 20, 9, 1), mark(1, 18, 6, 1)];
    assert_eq!(set(others.to_vec()), [others[0], others[1], mark(5, 20, 7, 0)], "another node, and a lower tick");
}

#[test]
fn a_mark_is_set_back_to_the_last_tick_that_sessions_wait_for_or_a_later_one() {
    let (now, waiting) = (tick(NOON), tick(NOON + 2 * SECOND));
    assert_eq!(lowest::<Scru64>(now - 9, NOON), waiting);
    assert_eq!(lowest::<Scru64>(waiting, NOON), waiting);
    assert_eq!(lowest::<Scru64>(waiting + 1, NOON), waiting + 1);
    assert_eq!(lowest::<Scru64>(7, i64::MIN), 7);
    assert_eq!(lowest::<Scru64>(7, i64::MAX), Scru64::MAX.tick());
}

#[test]
fn the_first_reservation_covers_the_word_and_the_clock() {
    assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) - 2), NOON), tick(NOON));
    assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) + 2), NOON), tick(NOON) + 2);
    assert_eq!(first_tick::<Scru64>(last_of(7), i64::MIN), 7);
}

#[test]
fn a_word_is_raised_above_the_high_water() {
    let high_water = tick(NOON) + 2;
    assert_eq!(entered(last_of(tick(NOON)), Some(high_water)), Ok(last_of(high_water)));
    assert_eq!(entered(last_of(high_water) - 7, Some(high_water)), Ok(last_of(high_water)), "in the same tick");
    assert_eq!(entered(last_of(high_water) + 1, Some(high_water)), Ok(last_of(high_water) + 1));
    assert_eq!(entered(0, Some(high_water)), Ok(last_of(high_water)));
    assert_eq!(entered(0, None), Ok(0), "a new run starts at the clock");
    assert_eq!(entered(last_of(high_water), None), Ok(last_of(high_water)));
}

#[test]
fn generation_waits_for_a_mark_up_to_ten_seconds_ahead() {
    let at = |micros| {
        let tick = TICKS.at_or_after(NOON + micros).unwrap();
        (tick, TICKS.start(tick) - NOON)
    };
    let (near, ahead) = at(SECOND + 1);
    assert_eq!(entered(0, Some(near)), Err(Step::Wait(NOON + ahead - SECOND)));
    let (far, ahead) = at(10 * SECOND);
    assert_eq!(entered(0, Some(far)), Err(Step::Refused(Refusal::BehindMark(ahead as u64))));
    assert_eq!(entered(0, Some(far - 1)), Err(Step::Wait(NOON + ahead - 256_000 - SECOND)));
}

#[test]
fn a_mark_that_arrived_delays_its_database_only() {
    let delay = |tick| delay_of_arrival::<Scru64>(Mark { node: NODE, tick, run: 0 }, NOON);
    let passed = tick(NOON) - 1;
    assert_eq!(delay(passed), None, "its end is now");
    assert_eq!(delay(passed + 1), Some(Step::Wait(NOON + 256_000)));
    let far = TICKS.at_or_after(NOON + 10 * SECOND + 1).unwrap();
    let ahead = (TICKS.start(far) - NOON) as u64;
    assert_eq!(delay(far - 1), Some(Step::Refused(Refusal::BehindMark(ahead))));
    let delay = |ahead| super::delay::<Scru128>(NOON + ahead, NOON, 0);
    assert_eq!([delay(0), delay(1)], [None, Some(Step::Wait(NOON + 1))]);
    assert_eq!(delay(10 * SECOND + 1), Some(Step::Refused(Refusal::BehindMark(10_000_001))));
}

#[test]
fn a_forecast_adds_all_waits_of_a_draw() {
    fn context<T: GeneratedId>() -> Context<T::Settings> {
        Context { now: NOON, on_clock_rollback: OnClockRollback::default(), settings: T::Settings::default() }
    }
    let mut rng = StdRng::seed_from_u64(1);
    let mut flake = |high_water, arrived: Option<Mark>| {
        let delay = |now| arrived.and_then(|arrived| delay_of_arrival(arrived, now)).map_or(Ok(now), Err);
        forecast::<UlidFlake>(0, high_water, delay, &context::<UlidFlake>(), &mut rng)
    };
    let millis = |seconds| UlidFlake::TICKS.at_or_before(NOON + seconds * SECOND).unwrap();
    let arrived = |seconds| Some(Mark { node: NodeCode::ALL, tick: millis(seconds), run: 0 });
    let waits = |wait| Forecast { wait, refusal: None };
    assert_eq!(flake(None, None), waits(0));
    assert_eq!(flake(Some(millis(-1)), arrived(-1)), waits(0));
    assert_eq!(flake(Some(millis(5)), None), waits(5_001_000), "to enter, and for the tick after the mark");
    assert_eq!(flake(None, arrived(5)), waits(5_001_000));
    let refusal = |micros| Some(Refusal::BehindMark(micros));
    assert_eq!(flake(Some(millis(60)), None), Forecast { wait: 0, refusal: refusal(60_000_000) });
    assert_eq!(flake(None, arrived(60)), Forecast { wait: 0, refusal: refusal(60_001_000) });
    let word = last_of(tick(NOON + 3 * SECOND));
    let running = forecast::<Scru64>(word, None, Ok, &context::<Scru64>(), &mut rng);
    let behind = TICKS.start(tick(NOON + 3 * SECOND)) - NOON;
    assert_eq!(running.refusal, Some(Refusal::ClockMovedBack(behind as u64)));
}

#[test]
fn ids_within_the_reservation_are_covered() {
    let reserved = Reservation::from::<Scru64>(NODE, tick(NOON), 0);
    assert_eq!(reserved.until, tick(NOON + 700_000));
    let word = reserved.pack::<Scru64>();
    assert_eq!(word.unpack::<Scru64>(), Some(reserved));
    let cover = |tick| word.cover::<Scru64>(NODE, tick, 0);
    assert_eq!([reserved.until - 2, reserved.until - 1].map(cover), [Cover::Within, Cover::Last]);
    assert_eq!([reserved.until, reserved.until + 1].map(cover), [Cover::Last, Cover::Outside]);
    assert_eq!(word.cover::<Scru64>(NodeCode::new(6, 20), tick(NOON), 0), Cover::Outside);
    assert_eq!(Reserved::NONE.unpack::<Scru64>(), None);
    assert_eq!(Reserved::NONE.cover::<Scru64>(NODE, 0, 0), Cover::Outside);
}

#[test]
fn a_reservation_outlasts_slow_flushes() {
    let until = |flush| Reservation::from::<UlidFlake>(NodeCode::ALL, 0, flush).until;
    assert_eq!([0, 800_000, 1_600_000].map(until), [700, 2_300, 3_900]);
    assert_eq!([5_000_000, i64::MAX].map(until), [9_000, 9_000]);
    let cover = |tick| {
        let word = Reservation { node: NodeCode::ALL, until: 3_900 }.pack::<UlidFlake>();
        word.cover::<UlidFlake>(NodeCode::ALL, tick, 1_600_000)
    };
    assert_eq!([1_950, 1_951, 3_901].map(cover), [Cover::Within, Cover::Last, Cover::Outside]);
}

#[test]
fn every_node_and_tick_fits_into_a_reservation() {
    let nodes = [NodeCode::new(0, 1), NodeCode::new(8_388_607, 23)];
    for reserved in nodes.map(|node| Reservation { node, until: Scru64::TICKS.max }) {
        assert_eq!(reserved.pack::<Scru64>().unpack::<Scru64>(), Some(reserved));
    }
    for reserved in [NodeCode::ALL, NodeCode::new(31, 5)].map(|node| Reservation { node, until: UlidFlake::TICKS.max })
    {
        assert_eq!(reserved.pack::<UlidFlake>().unpack::<UlidFlake>(), Some(reserved));
    }
}

#[test]
fn a_128_bit_type_continues_above_the_high_water() {
    let millis = NOON as u64 / 1_000;
    let mut rng = StdRng::seed_from_u64(1);
    let mut enter = |word, high_water| enter::<Scru128>(word, high_water, NOON, &mut rng);
    assert_eq!(enter(0, None), Ok(0));
    let Ok(word) = enter(0, Some(millis + 9_998)) else { panic!("less than 10 s ahead") };
    assert_eq!(enter(word, Some(millis + 9_998)), Ok(word));
    assert_eq!(enter(0, Some(millis + 10_000)), Err(Step::Refused(Refusal::BehindMark(10_001_000))));
    let on_clock_rollback = OnClockRollback::Error;
    let context = Context { now: NOON, on_clock_rollback, settings: () };
    let state = <Scru128 as GeneratedId>::State::unpack(word);
    let Step::Made(_, id) = Scru128::step(state, &context, &mut rng) else { panic!("less than 10 s behind") };
    assert!(id > Scru128::last_of(millis + 9_998));
}

/// Whatever a sequence or the page has, the tick of the mark is one of the type, its time does not wrap, and every state above it is
/// of that tick or of the next one.
fn check_value<T: GeneratedId>(value: u64, now: i64) {
    let mut rng = StdRng::seed_from_u64(1);
    let Some(Reservation { node, until }) = Reserved(value).unpack::<T>() else { return };
    assert!(until <= T::TICKS.max && node.to_u32() < 1 << T::NODE_BITS, "{value}");
    let arrived = Mark { node, tick: until, run: 0 };
    let (start, after) = (T::TICKS.start(until), T::state_tick(T::state_after(until, &mut rng)));
    assert!(start >= T::TICKS.epoch && after >= until && after <= T::TICKS.max, "{value}");
    let has_passed = delay_of_arrival::<T>(arrived, now).is_none();
    assert_eq!(has_passed, T::TICKS.start(until).saturating_add(T::TICKS.micros) <= now, "{value}");
}

/// As [`check_value`], for a tick of any size.
fn check_tick<T: GeneratedId>(tick: u64) {
    let state = T::state_after(tick, &mut StdRng::seed_from_u64(1));
    assert!(T::state_tick(state) >= tick.min(T::TICKS.max) && T::state_tick(state) <= T::TICKS.max, "{tick}");
    assert!(T::TICKS.start(tick) <= T::TICKS.start(tick.saturating_add(1)), "{tick}");
}

#[test]
fn every_64_bit_value_counts_as_a_time_of_its_type() {
    // The start of this tick, in microseconds, would wrap to one in the past.
    let wraps = (((u64::MAX / 2 / 1_000) >> 43) + 1) << 43;
    let mut values = vec![0, 1, u64::MAX, u64::MAX / 2, u64::MAX / 2 + 1, wraps << 6 | 1];
    values.extend((0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, !(1 << bit), wraps << (bit % 8) | 1 << bit]));
    let mut rng = StdRng::seed_from_u64(2);
    values.extend((0..200_000).map(|_| rng.next_u64() >> (rng.next_u32() % 64)));
    for value in values {
        check_value::<Scru64>(value, NOON);
        check_value::<UlidFlake>(value, NOON);
        check_tick::<Scru64>(value);
        check_tick::<UlidFlake>(value);
        check_tick::<Scru128>(value);
    }
}
