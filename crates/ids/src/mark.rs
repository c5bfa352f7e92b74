//! The decisions about the durable high-water mark. They access neither shared memory nor the log.
//!
//! Before a server generates the first ID of a node, it durably reserves the node's IDs up to a tick: it logs a mark. A *run* is
//! a generator state in shared memory, until the server restarts or an administrator sets the mark back. A new run starts above
//! the marks of all earlier runs for overlapping nodes.

use rand::Rng;

use crate::GeneratedId;
use crate::generator::{Context, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, Refusal, State, Step, Word};

/// The maximum lead of a new run over the clock, in microseconds: 10 s. With a greater lead, generation is refused.
///
/// Half as much would refuse after a crash on a disk whose flushes take 5 s, because [`MAX_LEAD_MICROS`] follows from it. Twice
/// as much would hold the locks of a waiting transaction for 20 s.
pub const MAX_PATIENCE_MICROS: i64 = 10_000_000;

/// The length of a reservation after the tick that requires it, if flushes take no time, in microseconds: 0.7 s.
///
/// A new run may start up to 1 s ahead of the clock without waiting ([`MAX_AHEAD_MICROS`]). After a reservation of 0.7 s, which
/// ends with its tick of at most 256 ms, it therefore starts at once. Twice as much would make the first ID after a crash wait.
/// Half as much would end before the WAL writer, which flushes every 200 ms, has flushed the next reservation.
const LEAD_MICROS: i64 = 700_000;

/// The maximum length of a reservation, in microseconds: 9 s. A longer one would exceed [`MAX_PATIENCE_MICROS`] after a crash, and
/// generation would be refused until the clock has caught up.
const MAX_LEAD_MICROS: i64 = 9_000_000;

/// The length of the last part of a reservation, in which the next one is made ahead, if flushes take no time, in microseconds:
/// 0.35 s. The WAL writer flushes every 200 ms. Half as much would let generation wait for a flush in each reservation. Twice as
/// much would make a reservation for each tick.
const LOW_MICROS: i64 = 350_000;

/// The code of a node: a 1, followed by the bits that all IDs of the node share. Two nodes overlap if the code of one is a prefix
/// of the other's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeCode(u32);

impl NodeCode {
    /// The code of the node that includes all IDs of a type.
    pub const ALL: Self = Self(1);

    /// Returns the code of the node with the node ID `id` of `size` bits, at most 23.
    pub const fn new(id: u32, size: u32) -> Self {
        Self(1 << size | id)
    }

    /// Returns the code as a number, which is never 0.
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// Returns the node with this code; `None` for 0.
    pub const fn from_u32(code: u32) -> Option<Self> {
        if code == 0 { None } else { Some(Self(code)) }
    }

    /// Returns whether two nodes have IDs in common: one code is a prefix of the other.
    pub const fn overlaps(self, other: Self) -> bool {
        self.join(other).0 == if self.0 < other.0 { self.0 } else { other.0 }
    }

    /// Returns the smallest node that includes both nodes: their longest common prefix.
    pub const fn join(self, other: Self) -> Self {
        let (mut short, long) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        let long = long >> (short.leading_zeros() - long.leading_zeros());
        short >>= u32::BITS - (short ^ long).leading_zeros();
        Self(short)
    }
}

/// A durable record: a run may have generated IDs of a node up to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The node.
    pub node: NodeCode,
    /// The last tick.
    pub tick: u64,
    /// The random number of the run that made the reservation, or 0: every run starts above a mark without a run.
    pub run: u64,
}

impl Mark {
    /// Returns the smallest mark that includes both marks.
    pub fn join(self, other: Self) -> Self {
        Self { node: self.node.join(other.node), tick: self.tick.max(other.tick), run: 0 }
    }
}

/// The maximum number of marks of a type. Each node that the server has had takes one or two.
pub const MAX_MARKS: usize = 32;

/// Adds a mark in place of the mark of the same node, whose tick it keeps if that is later. A mark without a run replaces only
/// its like: it must not make the reservation of the present run that of another run, above which every session would wait. If
/// there are too many marks, joins the lowest two: their nodes have not been used for the longest time.
pub fn add(marks: &mut Vec<Mark>, new: Mark) {
    match marks.iter_mut().find(|mark| mark.node == new.node && (mark.run == 0) == (new.run == 0)) {
        Some(old) => *old = Mark { tick: old.tick.max(new.tick), ..new },
        None => marks.push(new),
    }
    if marks.len() > MAX_MARKS {
        marks.sort_unstable_by_key(|mark| mark.tick);
        let joined = marks.remove(0).join(marks.remove(0));
        add(marks, joined);
    }
}

/// Sets the mark of a node back. Removes the marks of overlapping nodes that are not lower. The new mark is that of the broadest
/// node among them, because the removed marks also covered the lower ticks of their nodes.
pub fn set_back(marks: &mut Vec<Mark>, node: NodeCode, tick: u64) {
    let removed = marks.extract_if(.., |old| old.node.overlaps(node) && old.tick >= tick);
    let broadest = removed.fold(node, |broadest, old| broadest.min(old.node));
    add(marks, Mark { node: broadest, tick, run: 0 });
}

/// Returns the last tick of which a run other than `own` may have generated IDs of a node; `None` if there is no such mark.
pub fn floor(marks: &[Mark], node: NodeCode, own: u64) -> Option<u64> {
    let is_foreign = |mark: &&Mark| mark.run == 0 || mark.run != own;
    marks.iter().filter(|mark| mark.node.overlaps(node)).filter(is_foreign).map(|mark| mark.tick).max()
}

/// Returns the word from which a node's first ID continues: `word`, or one above the tick `floor`, which must replace it. `now` is
/// in microseconds since 1970-01-01 UTC.
///
/// # Errors
/// Returns a wait or a refusal if the clock is too far behind.
pub fn enter<T: GeneratedId>(
    word: Word<T>,
    floor: Option<u64>,
    now: i64,
    rng: &mut impl Rng,
) -> Result<Word<T>, Step<T>> {
    let state = match floor {
        Some(floor) if T::state_tick(T::State::unpack(word)) <= floor => T::state_after(floor, rng),
        _ => return Ok(word),
    };
    let patience = if T::SERVER_WIDE { MAX_AHEAD_MICROS } else { MAX_PATIENCE_MICROS };
    match delay(T::state_tick(state), now, patience) {
        Some(delay) => Err(delay),
        None => Ok(state.pack()),
    }
}

/// Returns the wait until a tick starts no more than `patience` ahead of the clock, in microseconds, or the refusal to wait; `None`
/// if there is no need.
fn delay<T: GeneratedId>(tick: u64, now: i64, patience: i64) -> Option<Step<T>> {
    match T::TICKS.start(tick).saturating_sub(now) {
        ahead if ahead > MAX_PATIENCE_MICROS => Some(Step::Refused(Refusal::BehindMark(ahead as u64))),
        ahead if ahead > patience => Some(Step::Wait(now + ahead - patience)),
        _ => None,
    }
}

/// Returns the wait or the refusal before a mark that arrived with the data of another server; `None` if the mark can be moved
/// into the page. Does not depend on nodes: whoever restores a database can choose its mark, and must not delay other databases.
pub fn delay_of_arrival<T: GeneratedId>(arrived: Mark, now: i64) -> Option<Step<T>> {
    delay(arrived.tick, now, MAX_AHEAD_MICROS)
}

/// What the next draw will do if nothing else changes, and flushes take no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The time that the draw waits for the clock, in microseconds.
    pub wait: i64,
    /// The reason why it is refused after that; `None` if it returns an ID.
    pub refusal: Option<Refusal>,
}

/// Returns what the next draw of a node will do. `floor` is that of [`floor`] if the node has no reservation, otherwise `None`.
/// `arrived` is a mark that arrived with the data of another server and is not yet in the page.
pub fn forecast<T: GeneratedId>(
    word: Word<T>,
    floor: Option<u64>,
    arrived: Option<Mark>,
    context: &Context<T::Settings>,
    rng: &mut impl Rng,
) -> Forecast {
    let mut context = *context;
    let start = context.now;
    loop {
        let step = match arrived.and_then(|arrived| delay_of_arrival(arrived, context.now)) {
            Some(delay) => delay,
            None => match enter::<T>(word, floor, context.now, rng) {
                Ok(word) => T::step(T::State::unpack(word), &context, rng),
                Err(delay) => delay,
            },
        };
        let refusal = match step {
            // A wait of no time would be repeated for ever.
            Step::Wait(until) if until > context.now => {
                context.now = until;
                continue;
            }
            Step::Refused(refusal) => Some(refusal),
            Step::Wait(_) | Step::Made(..) => None,
        };
        return Forecast { wait: context.now - start, refusal };
    }
}

/// Returns the tick to which an administrator sets a mark back that is above it: `tick`, or the last one that a session would wait
/// for, if that is later. IDs up to it may have been generated with a right clock.
pub fn lowest<T: GeneratedId>(tick: u64, now: i64) -> u64 {
    tick.max(T::TICKS.nearest(now.saturating_add(MAX_BEHIND_MICROS)))
}

/// Returns the tick that a reservation must include: that of the word or of the clock, whichever is later.
pub fn first_tick<T: GeneratedId>(word: Word<T>, now: i64) -> u64 {
    T::state_tick(T::State::unpack(word)).max(T::TICKS.generated_at(now).unwrap_or_default())
}

/// A reservation: the node's IDs up to a tick may be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The node.
    pub node: NodeCode,
    /// The last tick.
    pub until: u64,
}

/// The position of an ID relative to a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// The ID is reserved.
    Within,
    /// The ID is in the last part of the reservation: the next reservation is due.
    Last,
    /// The ID is not reserved, and must not be generated.
    Outside,
}

impl Reservation {
    /// The word for no reservation.
    pub const NONE: u64 = 0;

    /// Returns the reservation to make when the node's IDs have reached a tick. `flush` is the time that a flush takes, in
    /// microseconds: the reservation must outlast the flush of its own mark and that of the next one.
    pub fn from<T: GeneratedId>(node: NodeCode, tick: u64, flush: i64) -> Self {
        let lead = LEAD_MICROS.saturating_add(flush.saturating_mul(2)).min(MAX_LEAD_MICROS);
        Self { node, until: T::TICKS.nearest(T::TICKS.start(tick).saturating_add(lead)) }
    }

    /// Returns the reservation packed into one word.
    pub const fn pack<T: GeneratedId>(self) -> u64 {
        self.until << T::NODE_BITS | self.node.0 as u64
    }

    /// Returns the reservation that is packed into a word; `None` if there is none.
    pub fn unpack<T: GeneratedId>(word: u64) -> Option<Self> {
        let node = NodeCode::from_u32(word as u32 & ((1 << T::NODE_BITS) - 1))?;
        Some(Self { node, until: word >> T::NODE_BITS })
    }
}

/// Returns whether a packed reservation is that of a node.
#[inline(always)]
pub fn is_of<T: GeneratedId>(reserved: u64, node: NodeCode) -> bool {
    reserved as u32 & ((1 << T::NODE_BITS) - 1) == node.0
}

/// Returns the position of a node's IDs of a tick relative to a packed reservation. `flush` is the time that a flush takes, in
/// microseconds.
#[inline(always)]
pub fn cover<T: GeneratedId>(reserved: u64, node: NodeCode, tick: u64, flush: i64) -> Cover {
    let until = reserved >> T::NODE_BITS;
    if !is_of::<T>(reserved, node) || tick > until {
        Cover::Outside
    } else if (until - tick) as i64 * T::TICKS.micros < LOW_MICROS + flush {
        Cover::Last
    } else {
        Cover::Within
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::{OnClockRollback, Scru64, Scru128, SortableId, Ticks, UlidFlake};

    /// 2026-11-01 12:00 UTC, the start of a tick of each type.
    const NOON: i64 = 1_793_534_400_000_000;
    const SECOND: i64 = 1_000_000;
    const TICKS: Ticks = Scru64::TICKS;
    const NODE: NodeCode = NodeCode::new(5, 20);

    fn tick(micros: i64) -> u64 {
        TICKS.at_or_before(micros).unwrap()
    }

    fn entered(word: u64, floor: Option<u64>) -> Result<u64, Step<Scru64>> {
        enter::<Scru64>(word, floor, NOON, &mut StdRng::seed_from_u64(1))
    }

    fn last_of(tick: u64) -> u64 {
        Scru64::last_of(tick).to_u64()
    }

    fn mark(id: u32, size: u32, tick: u64, run: u64) -> Mark {
        Mark { node: NodeCode::new(id, size), tick, run }
    }

    #[test]
    fn nodes_overlap_if_one_contains_the_other() {
        let overlap = |a: (u32, u32), b: (u32, u32)| {
            let (a, b) = (NodeCode::new(a.0, a.1), NodeCode::new(b.0, b.1));
            assert_eq!(a.overlaps(b), b.overlaps(a));
            a.overlaps(b)
        };
        assert!(overlap((5, 8), (5, 8)));
        assert!(overlap((0, 4), (0, 8)));
        assert!(overlap((5, 4), (0x5f, 8)));
        assert!(!overlap((5, 4), (0x6f, 8)));
        assert!(!overlap((0, 4), (0x10, 8)));
        assert!(!overlap((1, 8), (2, 8)));
        assert!(overlap((8_388_607, 23), (1, 1)) && !overlap((8_388_607, 23), (0, 1)));
        for node in [NodeCode::new(0, 1), NodeCode::new(8_388_607, 23), NodeCode::ALL] {
            assert!(node.overlaps(NodeCode::ALL));
        }
        assert_eq!((NodeCode::new(8_388_607, 23).to_u32(), NodeCode::new(0, 1).to_u32()), ((1 << 24) - 1, 2));
    }

    #[test]
    fn nodes_join_to_their_longest_common_prefix() {
        let join = |a: (u32, u32), b: (u32, u32)| {
            let (a, b) = (NodeCode::new(a.0, a.1), NodeCode::new(b.0, b.1));
            assert_eq!(a.join(b), b.join(a));
            a.join(b)
        };
        assert_eq!(join((5, 8), (5, 8)), NodeCode::new(5, 8));
        assert_eq!(join((0, 4), (0, 8)), NodeCode::new(0, 4));
        assert_eq!(join((4, 8), (5, 8)), NodeCode::new(2, 7));
        assert_eq!(join((0, 8), (128, 8)), NodeCode::ALL);
        assert_eq!(join((8_388_607, 23), (0, 1)), NodeCode::ALL);
        assert_eq!(NodeCode::ALL.join(NODE), NodeCode::ALL);
    }

    #[test]
    fn the_floor_is_the_highest_mark_of_an_overlapping_node_and_another_run() {
        let marks = [mark(5, 20, 7, 1), mark(5, 20, 9, 2), mark(6, 20, 99, 1), mark(0, 1, 8, 3), mark(5, 20, 6, 0)];
        assert_eq!(floor(&marks, NODE, 4), Some(9));
        assert_eq!(floor(&marks, NODE, 2), Some(8));
        assert_eq!(floor(&marks[4..], NODE, 0), Some(6), "every run respects a mark without a run");
        assert_eq!(floor(&marks[2..3], NODE, 0), None);
        assert_eq!(floor(&[Mark { node: NodeCode::ALL, tick: 5, run: 0 }], NODE, 1), Some(5));
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
            assert!(floor(&marks, NodeCode::new(id, 20), 9) >= Some(100 + u64::from(id)));
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
    fn a_word_is_raised_above_the_floor() {
        let floor = tick(NOON) + 2;
        assert_eq!(entered(last_of(tick(NOON)), Some(floor)), Ok(last_of(floor)));
        assert_eq!(entered(last_of(floor) - 7, Some(floor)), Ok(last_of(floor)), "in the same tick");
        assert_eq!(entered(last_of(floor) + 1, Some(floor)), Ok(last_of(floor) + 1));
        assert_eq!(entered(0, Some(floor)), Ok(last_of(floor)));
        assert_eq!(entered(0, None), Ok(0), "a new run starts at the clock");
        assert_eq!(entered(last_of(floor), None), Ok(last_of(floor)));
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
        assert_eq!(delay(tick(NOON + SECOND)), None);
        let near = tick(NOON + SECOND) + 1;
        assert_eq!(delay(near), Some(Step::Wait(TICKS.start(near) - SECOND)));
        let far = TICKS.at_or_after(NOON + 10 * SECOND + 1).unwrap();
        let ahead = (TICKS.start(far) - NOON) as u64;
        assert_eq!(delay(far), Some(Step::Refused(Refusal::BehindMark(ahead))));
    }

    #[test]
    fn a_forecast_adds_all_waits_of_a_draw() {
        fn context<T: GeneratedId>() -> Context<T::Settings> {
            Context { now: NOON, on_clock_rollback: OnClockRollback::default(), settings: T::Settings::default() }
        }
        let mut rng = StdRng::seed_from_u64(1);
        let mut flake = |floor, arrived| forecast::<UlidFlake>(0, floor, arrived, &context::<UlidFlake>(), &mut rng);
        let millis = |seconds| UlidFlake::TICKS.at_or_before(NOON + seconds * SECOND).unwrap();
        let arrived = |seconds| Some(Mark { node: NodeCode::ALL, tick: millis(seconds), run: 0 });
        let waits = |wait| Forecast { wait, refusal: None };
        assert_eq!(flake(None, None), waits(0));
        assert_eq!(flake(Some(millis(-1)), arrived(-1)), waits(0));
        assert_eq!(flake(Some(millis(5)), None), waits(5_001_000), "to enter, and for the tick after the mark");
        assert_eq!(flake(None, arrived(5)), waits(4_000_000));
        let refusal = Some(Refusal::BehindMark(60_000_000));
        assert_eq!(flake(Some(millis(60)), None), Forecast { wait: 0, refusal });
        assert_eq!(flake(None, arrived(60)), Forecast { wait: 0, refusal });
        let word = last_of(tick(NOON + 3 * SECOND));
        let running = forecast::<Scru64>(word, None, None, &context::<Scru64>(), &mut rng);
        let behind = TICKS.start(tick(NOON + 3 * SECOND)) - NOON;
        assert_eq!(running.refusal, Some(Refusal::ClockMovedBack(behind as u64)));
    }

    #[test]
    fn ids_within_the_reservation_are_covered() {
        let reserved = Reservation::from::<Scru64>(NODE, tick(NOON), 0);
        assert_eq!(reserved.until, tick(NOON + 700_000));
        let word = reserved.pack::<Scru64>();
        assert_eq!(Reservation::unpack::<Scru64>(word), Some(reserved));
        let cover = |tick| cover::<Scru64>(word, NODE, tick, 0);
        assert_eq!([reserved.until - 2, reserved.until - 1].map(cover), [Cover::Within, Cover::Last]);
        assert_eq!([reserved.until, reserved.until + 1].map(cover), [Cover::Last, Cover::Outside]);
        assert_eq!(super::cover::<Scru64>(word, NodeCode::new(6, 20), tick(NOON), 0), Cover::Outside);
        assert_eq!(Reservation::unpack::<Scru64>(Reservation::NONE), None);
        assert_eq!(super::cover::<Scru64>(Reservation::NONE, NODE, 0, 0), Cover::Outside);
    }

    #[test]
    fn a_reservation_outlasts_slow_flushes() {
        let until = |flush| Reservation::from::<UlidFlake>(NodeCode::ALL, 0, flush).until;
        assert_eq!([0, 800_000, 1_600_000].map(until), [700, 2_300, 3_900]);
        assert_eq!([5_000_000, i64::MAX].map(until), [9_000, 9_000]);
        let cover = |tick| {
            let word = Reservation { node: NodeCode::ALL, until: 3_900 }.pack::<UlidFlake>();
            cover::<UlidFlake>(word, NodeCode::ALL, tick, 1_600_000)
        };
        assert_eq!([1_950, 1_951, 3_901].map(cover), [Cover::Within, Cover::Last, Cover::Outside]);
    }

    #[test]
    fn every_node_and_tick_fits_into_a_reservation() {
        let nodes = [NodeCode::new(0, 1), NodeCode::new(8_388_607, 23)];
        for reserved in nodes.map(|node| Reservation { node, until: Scru64::TICKS.max }) {
            assert_eq!(Reservation::unpack::<Scru64>(reserved.pack::<Scru64>()), Some(reserved));
        }
        for reserved in
            [NodeCode::ALL, NodeCode::new(31, 5)].map(|node| Reservation { node, until: UlidFlake::TICKS.max })
        {
            assert_eq!(Reservation::unpack::<UlidFlake>(reserved.pack::<UlidFlake>()), Some(reserved));
        }
    }

    #[test]
    fn a_128_bit_type_continues_above_the_floor() {
        let millis = NOON as u64 / 1_000;
        let mut rng = StdRng::seed_from_u64(1);
        let mut enter = |word, floor| enter::<Scru128>(word, floor, NOON, &mut rng);
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
}
