//! The durable high-water mark: which IDs a server may hand out, decided apart from files and shared memory.
//!
//! A server reserves the IDs of a node durably, by the tick up to which they may be handed out, before it hands out the
//! first. A state that begins anew goes on above all reservations of its predecessors.

use rand::Rng;

use crate::SortableId;
use crate::generator::{MAX_AHEAD_MICROS, Refusal, State, Word};

/// How far a state that begins anew may be ahead of the clock and is still waited for: 10 s.
pub const MAX_PATIENCE_MICROS: i64 = 10_000_000;

/// How far beyond an ID's tick the IDs are reserved: 1.5 s.
const RESERVED_MICROS: i64 = 1_500_000;

/// The last part of a reservation, within which the next one is made ahead: 0.5 s.
const LOW_MICROS: i64 = 500_000;

/// After this time another backend takes over the writing of a reservation: 200 ms.
pub const CLAIM_MICROS: u64 = 200_000;

/// How far the times of transactions may differ from their order in the WAL: 1 s. A transaction takes its time before it
/// writes its record, and others write theirs in between.
pub const WAL_DISORDER_MICROS: i64 = 1_000_000;

/// The node that a generator is, as a prefix code: a 1 and then the bits that all IDs of the node share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeCode(u32);

impl NodeCode {
    /// All IDs of a type.
    pub const ALL: Self = Self(1);

    /// The node with this ID of so many bits, at most 23.
    pub const fn new(id: u32, size: u32) -> Self {
        Self(1 << size | id)
    }

    /// The code as a number, not 0.
    pub const fn to_u32(self) -> u32 {
        self.0
    }

    /// The node with this code; `None` for 0.
    pub const fn from_u32(code: u32) -> Option<Self> {
        if code == 0 { None } else { Some(Self(code)) }
    }

    /// Whether two nodes have IDs in common: one code is a prefix of the other.
    pub const fn overlaps(self, other: Self) -> bool {
        let (short, long) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        long >> (short.leading_zeros() - long.leading_zeros()) == short
    }
}

/// A durable record: the IDs of a node up to a tick may have been handed out by a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The node.
    pub node: NodeCode,
    /// The last tick.
    pub tick: u64,
    /// The random number of the state that reserved them, below [`Self::PROMOTION`]; 0 for an administrator's mark; for that of
    /// a promotion [`Self::PROMOTION`] + the timeline that began with it.
    pub state: u64,
}

impl Mark {
    /// The numbers from here on are those of promotions.
    pub const PROMOTION: u64 = 1 << 63;

    /// The mark of the promotion that began a timeline: no ID is above it that the primary handed out in a transaction which was
    /// replayed. The argument is the last time in the WAL that was replayed; `None` if there is none.
    pub fn of_promotion<T: SortableId>(timeline: u32, last_micros: Option<i64>) -> Self {
        let floor = last_micros.map(|last| last.saturating_add(MAX_AHEAD_MICROS + WAL_DISORDER_MICROS));
        let tick = floor.map_or(0, |floor| T::TICKS.nearest(floor));
        Self { node: NodeCode::ALL, tick, state: Self::PROMOTION + timeline as u64 }
    }

    /// Whether this is the mark of the promotion that began a timeline.
    pub const fn is_of_promotion(self, timeline: u32) -> bool {
        self.state == Self::PROMOTION + timeline as u64
    }

    /// Whether this mark makes another one needless: a lower reservation of the same node. The marks of promotions and of
    /// administrators stay.
    pub const fn replaces(self, other: Self) -> bool {
        let is_reservation = other.state != 0 && other.state < Self::PROMOTION;
        self.node.0 == other.node.0 && other.tick < self.tick && is_reservation
    }

    /// Whether an administrator who sets this mark removes another one: that of an overlapping node which is not lower. One of
    /// the first tick is in nobody's way.
    pub fn removes(self, other: Self) -> bool {
        self != other && self.node.overlaps(other.node) && other.tick >= self.tick.max(1)
    }

    /// The mark that takes the place of all those that this one removes. Its node is the broadest of theirs, because they covered
    /// its lower ticks.
    pub fn in_place_of(self, removed: impl IntoIterator<Item = Self>) -> Self {
        // Nodes that overlap one node are prefixes of each other, or parts of that node: the broadest has the smallest code.
        let node = removed.into_iter().map(|mark| mark.node).min().map_or(self.node, |node| node.min(self.node));
        Self { node, ..self }
    }
}

/// The last tick of which a node's IDs may have been handed out by a state other than the `own` ones; `None` if there is no
/// such mark.
pub fn floor(marks: impl IntoIterator<Item = Mark>, node: NodeCode, own: [u64; 2]) -> Option<u64> {
    let is_foreign = |mark: &Mark| mark.state == 0 || !own.contains(&mark.state);
    marks.into_iter().filter(|mark| mark.node.overlaps(node) && is_foreign(mark)).map(|mark| mark.tick).max()
}

/// What has to become of a type's word before a node draws its first ID from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<W> {
    /// The word is good as it is.
    Ready,
    /// Replace the word by this one, if it is still the same.
    Raise(W),
    /// The clock has to reach this time first, in microseconds since 1970-01-01 UTC.
    Wait(i64),
    /// The clock is too far behind.
    Refused(Refusal),
}

/// Where a word begins that nobody has drawn from, to be kept at the first attempt: where its predecessor ended, if that is
/// known, or after all that a predecessor may have handed out until now.
pub fn start<T: SortableId>(start: Word<T>, now: i64) -> Word<T> {
    if start == Word::<T>::default() { T::successor_state(now).pack() } else { start }
}

/// How a node begins to draw: from `word`, or from its [`start`] where nobody has drawn from it, and above the tick `floor`.
pub fn enter<T: SortableId>(
    word: Word<T>,
    start: Word<T>,
    floor: Option<u64>,
    now: i64,
    rng: &mut impl Rng,
) -> Entry<Word<T>> {
    let first = T::State::unpack(if word == Word::<T>::default() { start } else { word });
    let state = match floor {
        Some(floor) if T::state_tick(first) <= floor => T::state_after(floor, rng),
        _ => first,
    };
    if state.pack() == word {
        return Entry::Ready;
    }
    let begin = T::TICKS.start(T::state_tick(state));
    let patience = if T::SERVER_WIDE { MAX_AHEAD_MICROS } else { MAX_PATIENCE_MICROS };
    match begin.saturating_sub(now) {
        ahead if ahead > MAX_PATIENCE_MICROS => Entry::Refused(Refusal::BehindMark(ahead as u64)),
        ahead if ahead > patience => Entry::Wait(begin - patience),
        _ => Entry::Raise(state.pack()),
    }
}

/// The tick up to which a node has to reserve at least, before its first draw from a word.
pub fn first_tick<T: SortableId>(word: Word<T>, now: i64) -> u64 {
    T::state_tick(T::State::unpack(word)).max(T::TICKS.minted_at(now).unwrap_or_default())
}

/// Whether the word was set back after it had been `before`.
pub fn is_set_back<T: SortableId>(word: Word<T>, before: Word<T>) -> bool {
    T::state_tick(T::State::unpack(word)) < T::state_tick(T::State::unpack(before))
}

/// What a state leaves to its successor when it ends in good order: the number of the state that made the last ID, and its word.
/// That is the `predecessor`, which ended with `start`, if nobody has drawn from `word`. `None` if no state is known.
pub fn last(state: u64, word: u64, predecessor: u64, start: u64) -> Option<(u64, u64)> {
    let last = if word == 0 { (predecessor, start) } else { (state, word) };
    (last.0 != 0).then_some(last)
}

/// A reservation: the node's IDs up to a tick may be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The node.
    pub node: NodeCode,
    /// The last tick.
    pub until: u64,
}

/// How an ID relates to the reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// It lies well within.
    Within,
    /// It lies within the last part: the next reservation is due.
    Last,
    /// It may not be handed out.
    Outside,
}

impl Reservation {
    /// The reservation to make for IDs from a tick on.
    pub fn from<T: SortableId>(node: NodeCode, tick: u64) -> Self {
        let until = T::TICKS.nearest(T::TICKS.start(tick).saturating_add(RESERVED_MICROS));
        Self { node, until }
    }

    /// The reservation as one word.
    pub const fn pack<T: SortableId>(self) -> u64 {
        self.until << T::NODE_BITS | self.node.0 as u64
    }

    /// The reservation that was packed so; `None` if there is none.
    pub const fn unpack<T: SortableId>(word: u64) -> Option<Self> {
        match NodeCode::from_u32(word as u32 & ((1 << T::NODE_BITS) - 1)) {
            Some(node) => Some(Self { node, until: word >> T::NODE_BITS }),
            None => None,
        }
    }

    /// The word of no reservation. Each generation has another, so that a late compare-and-swap of an earlier one fails.
    pub const fn none<T: SortableId>(generation: u64) -> u64 {
        generation << T::NODE_BITS
    }
}

/// How a node's ID of a tick relates to a reservation as one word.
#[inline(always)]
pub fn cover<T: SortableId>(reserved: u64, node: NodeCode, tick: u64) -> Cover {
    let until = reserved >> T::NODE_BITS;
    let is_own = reserved as u32 & ((1 << T::NODE_BITS) - 1) == node.0;
    if !is_own || tick > until {
        Cover::Outside
    } else if (until - tick) * (T::TICKS.micros as u64) < LOW_MICROS as u64 {
        Cover::Last
    } else {
        Cover::Within
    }
}

/// The claim of a backend that sets the mark for an administrator. It does not expire.
pub const SETS_MARK: u64 = u64::MAX;

/// Whether a backend may claim to write the mark: no backend has claimed it, or that claim has expired. A claim is the time at which
/// it was made, in microseconds of a monotonic clock, like `now`; 0 is none.
pub const fn is_free(claim: u64, now: u64) -> bool {
    claim != SETS_MARK && (claim == 0 || claim > now || now - claim > CLAIM_MICROS)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::generator::{Context, Step};
    use crate::{OnClockRollback, Scru64, Scru128, Ticks, UlidFlake};

    /// 2026-11-01 12:00 UTC, the start of a tick of each type.
    const NOON: i64 = 1_793_534_400_000_000;
    const SECOND: i64 = 1_000_000;
    const TICKS: Ticks = Scru64::TICKS;
    const NODE: NodeCode = NodeCode::new(5, 20);

    fn tick(micros: i64) -> u64 {
        TICKS.at_or_before(micros).unwrap()
    }

    fn entered(word: u64, start: u64, floor: Option<u64>) -> Entry<u64> {
        enter::<Scru64>(word, start, floor, NOON, &mut StdRng::seed_from_u64(1))
    }

    fn last_of(tick: u64) -> u64 {
        Scru64::last_of(tick).to_u64()
    }

    #[test]
    fn nodes_overlap_where_one_is_a_part_of_the_other() {
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
    fn the_floor_is_the_highest_mark_of_an_overlapping_node_and_another_state() {
        let mark = |id, size, tick, state| Mark { node: NodeCode::new(id, size), tick, state };
        let marks = [mark(5, 20, 7, 1), mark(5, 20, 9, 2), mark(6, 20, 99, 1), mark(0, 1, 8, 3), mark(5, 20, 6, 0)];
        assert_eq!(floor(marks, NODE, [0, 0]), Some(9));
        assert_eq!(floor(marks, NODE, [2, 0]), Some(8));
        assert_eq!(floor(marks, NODE, [2, 3]), Some(7));
        assert_eq!(floor([marks[4]], NODE, [0, 0]), Some(6), "nobody's is respected by all");
        assert_eq!(floor([marks[2]], NODE, [0, 0]), None);
        assert_eq!(floor([Mark { node: NodeCode::ALL, tick: 5, state: 0 }], NODE, [1, 2]), Some(5));
    }

    #[test]
    fn a_promoted_server_begins_two_seconds_above_the_last_time_in_the_wal() {
        let mark = Mark::of_promotion::<Scru64>(3, Some(NOON));
        assert_eq!((mark.tick, mark.node), (tick(NOON + 2 * SECOND), NodeCode::ALL));
        assert_eq!(Mark::of_promotion::<Scru128>(3, Some(NOON)).tick, (NOON + 2 * SECOND) as u64 / 1_000);
        assert_eq!(Mark::of_promotion::<Scru64>(3, None).tick, 0);
        assert!(mark.is_of_promotion(3) && !mark.is_of_promotion(2));
    }

    #[test]
    fn a_mark_replaces_lower_reservations_of_its_node_alone() {
        let mark = |id, tick, state| Mark { node: NodeCode::new(id, 20), tick, state };
        assert!(mark(5, 7, 1).replaces(mark(5, 6, 2)) && mark(5, 7, 1).replaces(mark(5, 6, 1)));
        assert!(!mark(5, 7, 1).replaces(mark(5, 7, 2)) && !mark(5, 7, 1).replaces(mark(6, 6, 2)));
        assert!(!mark(5, 7, 1).replaces(mark(5, 6, 0)), "an administrator's");
        let own = Mark { node: NodeCode::ALL, tick: Mark::of_promotion::<UlidFlake>(2, Some(NOON)).tick + 1, state: 1 };
        assert!(!own.replaces(Mark::of_promotion::<UlidFlake>(2, Some(NOON))));
    }

    #[test]
    fn a_mark_that_is_set_removes_what_is_not_lower() {
        let new = Mark { node: NODE, tick: 7, state: 0 };
        for other in
            [Mark { state: 1, ..new }, Mark { tick: 8, ..new }, Mark { node: NodeCode::ALL, tick: 8, state: 0 }]
        {
            assert!(new.removes(other), "{other:?}");
        }
        for other in [new, Mark { tick: 6, state: 1, ..new }, Mark { node: NodeCode::new(6, 20), tick: 9, state: 2 }] {
            assert!(!new.removes(other), "{other:?}");
        }
        let first = Mark { tick: 0, ..new };
        assert!(!first.removes(Mark { state: 1, ..first }) && first.removes(Mark { tick: 1, ..first }));
    }

    #[test]
    fn a_mark_that_is_set_covers_the_broadest_node_whose_mark_it_removes() {
        let mark = |id, size| Mark { node: NodeCode::new(id, size), tick: 7, state: 1 };
        let asked = Mark { state: 0, ..mark(5, 20) };
        assert_eq!(asked.in_place_of([]), asked);
        assert_eq!(asked.in_place_of([mark(11, 21), mark(5, 20)]), asked, "a part of it");
        assert_eq!(asked.in_place_of([mark(5, 20), mark(1, 18), mark(2, 19)]), Mark { state: 0, ..mark(1, 18) });
    }

    #[test]
    fn a_word_is_set_back_by_a_tick_at_least() {
        assert!(is_set_back::<Scru64>(last_of(6), last_of(7)));
        assert!(!is_set_back::<Scru64>(last_of(7), last_of(7)) && !is_set_back::<Scru64>(last_of(8), last_of(7)));
        assert!(!is_set_back::<Scru64>(last_of(7) - 1, last_of(7)), "within a tick");
    }

    #[test]
    fn a_state_that_ends_leaves_its_last_word_or_that_of_its_predecessor() {
        assert_eq!(last(1, 99, 2, 88), Some((1, 99)));
        assert_eq!(last(1, 0, 2, 88), Some((2, 88)), "unused");
        assert_eq!((last(0, 99, 2, 88), last(1, 0, 0, 88)), (None, None), "of no known state");
    }

    #[test]
    fn a_node_s_first_reservation_is_that_of_the_word_or_of_the_clock() {
        assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) - 2), NOON), tick(NOON));
        assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) + 2), NOON), tick(NOON) + 2);
        assert_eq!(first_tick::<Scru64>(last_of(7), i64::MIN), 7);
    }

    #[test]
    fn an_unused_word_begins_at_its_start_or_after_a_possible_predecessor() {
        assert_eq!(start::<Scru64>(0, NOON), Scru64::successor_state(NOON).pack());
        assert_eq!(start::<Scru64>(7, NOON), 7);
        assert_eq!(entered(0, last_of(tick(NOON)) - 7, None), Entry::Raise(last_of(tick(NOON)) - 7));
        assert_eq!(entered(last_of(tick(NOON)) - 7, last_of(tick(NOON)), None), Entry::Ready, "it is used");
    }

    #[test]
    fn a_word_is_raised_above_the_floor() {
        let floor = tick(NOON) + 2;
        assert_eq!(entered(last_of(tick(NOON)), 0, Some(floor)), Entry::Raise(last_of(floor)));
        assert_eq!(entered(last_of(floor) - 7, 0, Some(floor)), Entry::Raise(last_of(floor)), "of the same tick");
        assert_eq!(entered(last_of(floor), 0, Some(floor)), Entry::Ready);
        assert_eq!(entered(last_of(floor) + 1, 0, Some(floor)), Entry::Ready);
        assert_eq!(entered(0, last_of(floor) - 7, Some(floor)), Entry::Raise(last_of(floor)));
    }

    #[test]
    fn a_mark_ahead_is_waited_for_up_to_ten_seconds() {
        let at = |micros| {
            (TICKS.at_or_after(NOON + micros).unwrap(), TICKS.start(TICKS.at_or_after(NOON + micros).unwrap()) - NOON)
        };
        let (near, ahead) = at(SECOND + 1);
        assert_eq!(entered(0, 0, Some(near)), Entry::Wait(NOON + ahead - SECOND));
        let (far, ahead) = at(10 * SECOND);
        assert_eq!(entered(0, 0, Some(far)), Entry::Refused(Refusal::BehindMark(ahead as u64)));
        assert_eq!(entered(0, 0, Some(far - 1)), Entry::Wait(NOON + ahead - 256_000 - SECOND));
        assert_eq!(entered(0, last_of(far), None), Entry::Refused(Refusal::BehindMark(ahead as u64)));
    }

    #[test]
    fn ids_within_the_reservation_are_covered() {
        let reserved = Reservation::from::<Scru64>(NODE, tick(NOON));
        assert_eq!(reserved.until, tick(NOON + 1_500_000));
        let word = reserved.pack::<Scru64>();
        assert_eq!(Reservation::unpack::<Scru64>(word), Some(reserved));
        let cover = |tick| cover::<Scru64>(word, NODE, tick);
        assert_eq!([reserved.until - 2, reserved.until - 1].map(cover), [Cover::Within, Cover::Last]);
        assert_eq!([reserved.until, reserved.until + 1].map(cover), [Cover::Last, Cover::Outside]);
        assert_eq!(super::cover::<Scru64>(word, NodeCode::new(6, 20), tick(NOON)), Cover::Outside);
        for generation in 0..3 {
            let none = Reservation::none::<Scru64>(generation);
            assert_eq!(Reservation::unpack::<Scru64>(none), None);
            assert_eq!(super::cover::<Scru64>(none, NODE, 0), Cover::Outside);
        }
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
    fn a_wide_type_goes_on_above_the_floor() {
        let millis = NOON as u64 / 1_000;
        let mut rng = StdRng::seed_from_u64(1);
        let mut enter = |word, floor| enter::<Scru128>(word, 0, floor, NOON, &mut rng);
        assert_eq!(enter(0, None), Entry::Ready);
        let Entry::Raise(word) = enter(0, Some(millis + 9_998)) else { panic!("within patience") };
        assert_eq!(enter(word, Some(millis + 9_998)), Entry::Ready);
        assert_eq!(enter(0, Some(millis + 10_000)), Entry::Refused(Refusal::BehindMark(10_001_000)));
        let on_clock_rollback = OnClockRollback::Error;
        let context = Context { now: NOON, on_clock_rollback, settings: () };
        let state = <Scru128 as SortableId>::State::unpack(word);
        let Step::Made(_, id) = Scru128::step(state, &context, &mut rng) else { panic!("ridden out") };
        assert!(id > Scru128::last_of(millis + 9_998));
    }

    #[test]
    fn a_claim_expires() {
        assert!(is_free(0, 5) && is_free(7, 5), "nobody's, or of another boot");
        assert!(!is_free(5, 5) && !is_free(5, 5 + CLAIM_MICROS) && is_free(5, 6 + CLAIM_MICROS));
        assert!(!is_free(SETS_MARK, 5), "an administrator's does not");
    }
}
