//! The decisions about the durable high-water mark. They access neither files nor shared memory.
//!
//! Before a server generates the first ID of a node, it durably reserves the node's IDs up to a tick. A state is a generator in
//! shared memory, until the server restarts or an administrator sets a mark. After a clean shutdown, a new state continues from
//! the last word of its predecessor. Otherwise, it starts above the reservations of all earlier states for overlapping nodes.

use rand::Rng;

use crate::SortableId;
use crate::generator::{MAX_AHEAD_MICROS, Refusal, State, Word};

/// The maximum lead of a new state over the clock, in microseconds: 10 s. With a greater lead, generation is refused.
pub const MAX_PATIENCE_MICROS: i64 = 10_000_000;

/// The length of a reservation after the tick that requires it, in microseconds: 1.5 s.
const RESERVED_MICROS: i64 = 1_500_000;

/// The length of the last part of a reservation, in which the next one is made in advance, in microseconds: 0.5 s.
const LOW_MICROS: i64 = 500_000;

/// The time after which a claim to write a reservation expires, in microseconds: 200 ms.
pub const CLAIM_MICROS: u64 = 200_000;

/// The tolerance for times in the WAL that are earlier than the time of a preceding record, in microseconds: 1 s. A transaction
/// reads the clock before it writes its record, and other transactions write theirs in between.
pub const WAL_DISORDER_MICROS: i64 = 1_000_000;

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
        let (short, long) = if self.0 < other.0 { (self.0, other.0) } else { (other.0, self.0) };
        long >> (short.leading_zeros() - long.leading_zeros()) == short
    }
}

/// A durable record: a state may have generated IDs of a node up to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The node.
    pub node: NodeCode,
    /// The last tick.
    pub tick: u64,
    /// The number of the state that made the reservation: a random number below [`Self::PROMOTION`]. 0 for a mark that an
    /// administrator has set; [`Self::PROMOTION`] + the timeline for the mark of a promotion.
    pub state: u64,
}

impl Mark {
    /// The smallest number that stands for a promotion.
    pub const PROMOTION: u64 = 1 << 63;

    /// Returns the mark of the promotion that began a timeline. All IDs that the primary generated in replayed transactions are
    /// at or below it. `last_micros` is the last time in the replayed WAL, in microseconds since 1970-01-01 UTC; without it, the
    /// mark is that of tick 0.
    pub fn of_promotion<T: SortableId>(timeline: u32, last_micros: Option<i64>) -> Self {
        let floor = last_micros.map(|last| last.saturating_add(MAX_AHEAD_MICROS + WAL_DISORDER_MICROS));
        let tick = floor.map_or(0, |floor| T::TICKS.nearest(floor));
        Self { node: NodeCode::ALL, tick, state: Self::PROMOTION + timeline as u64 }
    }

    /// Returns whether this is the mark of the promotion that began a timeline.
    pub const fn is_of_promotion(self, timeline: u32) -> bool {
        self.state == Self::PROMOTION + timeline as u64
    }

    /// Returns whether this mark makes another one redundant: a lower reservation of the same node. The marks of promotions and
    /// of administrators are never redundant.
    pub const fn replaces(self, other: Self) -> bool {
        let is_reservation = other.state != 0 && other.state < Self::PROMOTION;
        self.node.0 == other.node.0 && other.tick < self.tick && is_reservation
    }

    /// Returns whether setting this mark removes another one: a mark that is not lower and whose node overlaps. A mark of tick 0
    /// is kept, because it does not delay any node.
    pub fn removes(self, other: Self) -> bool {
        self != other && self.node.overlaps(other.node) && other.tick >= self.tick.max(1)
    }

    /// Returns the mark to write instead of this one and all marks that it removes. Its node is the broadest among them, because
    /// the removed marks also covered the lower ticks of their nodes.
    pub fn in_place_of(self, removed: impl IntoIterator<Item = Self>) -> Self {
        // The nodes that overlap a node are its parts, or its prefixes. The broadest of them has the smallest code.
        let node = removed.into_iter().map(|mark| mark.node).min().map_or(self.node, |node| node.min(self.node));
        Self { node, ..self }
    }
}

/// Returns the last tick of which a state other than the `own` ones may have generated IDs of a node; `None` if there is no mark
/// of such a state.
pub fn floor(marks: impl IntoIterator<Item = Mark>, node: NodeCode, own: [u64; 2]) -> Option<u64> {
    let is_foreign = |mark: &Mark| mark.state == 0 || !own.contains(&mark.state);
    marks.into_iter().filter(|mark| mark.node.overlaps(node) && is_foreign(mark)).map(|mark| mark.tick).max()
}

/// The change of a type's word that a node requires before its first ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<W> {
    /// No change is required.
    Ready,
    /// The word must be replaced by this one with a compare-and-swap.
    Raise(W),
    /// The clock must first reach this time, in microseconds since 1970-01-01 UTC.
    Wait(i64),
    /// The clock is too far behind.
    Refused(Refusal),
}

/// Returns the word with which an unused state starts. This is `start`, the last word of its predecessor. If `start` is 0
/// (unknown), it is the word of [`SortableId::successor_state`] at `now`. The caller stores the result of its first call.
pub fn start<T: SortableId>(start: Word<T>, now: i64) -> Word<T> {
    if start == Word::<T>::default() { T::successor_state(now).pack() } else { start }
}

/// Returns the change that a node requires before its first ID. Its IDs continue from `word`, or from the state's [`start()`] if
/// `word` is unused, and above the tick `floor`. `now` is in microseconds since 1970-01-01 UTC.
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

/// Returns the tick that the reservation of a node must include before the node's first ID: that of the word or of the clock,
/// whichever is later.
pub fn first_tick<T: SortableId>(word: Word<T>, now: i64) -> u64 {
    T::state_tick(T::State::unpack(word)).max(T::TICKS.generated_at(now).unwrap_or_default())
}

/// Returns whether the word has been set back since it was `before`: its tick is earlier.
pub fn is_set_back<T: SortableId>(word: Word<T>, before: Word<T>) -> bool {
    T::state_tick(T::State::unpack(word)) < T::state_tick(T::State::unpack(before))
}

/// Returns the record of a clean shutdown: the number of the state that generated the last ID, and the last word of that state.
/// If `word` is unused, that state is the `predecessor`, whose last word is `start`. `None` if the state has no number.
pub fn last(state: u64, word: u64, predecessor: u64, start: u64) -> Option<(u64, u64)> {
    let last = if word == 0 { (predecessor, start) } else { (state, word) };
    (last.0 != 0).then_some(last)
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
    /// Returns the reservation to make when the node's IDs have reached a tick.
    pub fn from<T: SortableId>(node: NodeCode, tick: u64) -> Self {
        let until = T::TICKS.nearest(T::TICKS.start(tick).saturating_add(RESERVED_MICROS));
        Self { node, until }
    }

    /// Returns the reservation packed into one word.
    pub const fn pack<T: SortableId>(self) -> u64 {
        self.until << T::NODE_BITS | self.node.0 as u64
    }

    /// Returns the reservation that is packed into a word; `None` if there is none.
    pub const fn unpack<T: SortableId>(word: u64) -> Option<Self> {
        match NodeCode::from_u32(word as u32 & ((1 << T::NODE_BITS) - 1)) {
            Some(node) => Some(Self { node, until: word >> T::NODE_BITS }),
            None => None,
        }
    }

    /// Returns the word for no reservation. It differs for each generation, so that a late compare-and-swap of an earlier
    /// generation fails.
    pub const fn none<T: SortableId>(generation: u64) -> u64 {
        generation << T::NODE_BITS
    }
}

/// Returns the position of a node's IDs of a tick relative to a packed reservation.
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

/// The claim of a backend that sets the mark for an administrator. This claim does not expire.
pub const SETS_MARK: u64 = u64::MAX;

/// Returns whether a backend may claim the right to write the mark: there is no claim, or it has expired. `claim` is the time of
/// the claim, or 0 if there is none, in microseconds of a monotonic clock like `now`. A time later than `now` counts as expired.
/// The claim [`SETS_MARK`] never expires.
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
    fn the_floor_is_the_highest_mark_of_an_overlapping_node_and_another_state() {
        let mark = |id, size, tick, state| Mark { node: NodeCode::new(id, size), tick, state };
        let marks = [mark(5, 20, 7, 1), mark(5, 20, 9, 2), mark(6, 20, 99, 1), mark(0, 1, 8, 3), mark(5, 20, 6, 0)];
        assert_eq!(floor(marks, NODE, [0, 0]), Some(9));
        assert_eq!(floor(marks, NODE, [2, 0]), Some(8));
        assert_eq!(floor(marks, NODE, [2, 3]), Some(7));
        assert_eq!(floor([marks[4]], NODE, [0, 0]), Some(6), "every state respects the mark of an administrator");
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
    fn a_mark_replaces_only_lower_reservations_of_its_node() {
        let mark = |id, tick, state| Mark { node: NodeCode::new(id, 20), tick, state };
        assert!(mark(5, 7, 1).replaces(mark(5, 6, 2)) && mark(5, 7, 1).replaces(mark(5, 6, 1)));
        assert!(!mark(5, 7, 1).replaces(mark(5, 7, 2)) && !mark(5, 7, 1).replaces(mark(6, 6, 2)));
        assert!(!mark(5, 7, 1).replaces(mark(5, 6, 0)), "the mark of an administrator");
        let own = Mark { node: NodeCode::ALL, tick: Mark::of_promotion::<UlidFlake>(2, Some(NOON)).tick + 1, state: 1 };
        assert!(!own.replaces(Mark::of_promotion::<UlidFlake>(2, Some(NOON))));
    }

    #[test]
    fn setting_a_mark_removes_marks_that_are_not_lower() {
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
    fn a_set_mark_covers_the_broadest_node_of_the_marks_it_removes() {
        let mark = |id, size| Mark { node: NodeCode::new(id, size), tick: 7, state: 1 };
        let asked = Mark { state: 0, ..mark(5, 20) };
        assert_eq!(asked.in_place_of([]), asked);
        assert_eq!(asked.in_place_of([mark(11, 21), mark(5, 20)]), asked, "a removed mark of a part of the node");
        assert_eq!(asked.in_place_of([mark(5, 20), mark(1, 18), mark(2, 19)]), Mark { state: 0, ..mark(1, 18) });
    }

    #[test]
    fn a_word_is_set_back_if_its_tick_is_earlier() {
        assert!(is_set_back::<Scru64>(last_of(6), last_of(7)));
        assert!(!is_set_back::<Scru64>(last_of(7), last_of(7)) && !is_set_back::<Scru64>(last_of(8), last_of(7)));
        assert!(!is_set_back::<Scru64>(last_of(7) - 1, last_of(7)), "within the same tick");
    }

    #[test]
    fn a_clean_shutdown_records_the_last_word_or_that_of_the_predecessor() {
        assert_eq!(last(1, 99, 2, 88), Some((1, 99)));
        assert_eq!(last(1, 0, 2, 88), Some((2, 88)), "the word is unused");
        assert_eq!((last(0, 99, 2, 88), last(1, 0, 0, 88)), (None, None), "the state has no number");
    }

    #[test]
    fn the_first_reservation_covers_the_word_and_the_clock() {
        assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) - 2), NOON), tick(NOON));
        assert_eq!(first_tick::<Scru64>(last_of(tick(NOON) + 2), NOON), tick(NOON) + 2);
        assert_eq!(first_tick::<Scru64>(last_of(7), i64::MIN), 7);
    }

    #[test]
    fn an_unused_word_begins_at_its_start_or_after_a_possible_predecessor() {
        assert_eq!(start::<Scru64>(0, NOON), Scru64::successor_state(NOON).pack());
        assert_eq!(start::<Scru64>(7, NOON), 7);
        assert_eq!(entered(0, last_of(tick(NOON)) - 7, None), Entry::Raise(last_of(tick(NOON)) - 7));
        assert_eq!(entered(last_of(tick(NOON)) - 7, last_of(tick(NOON)), None), Entry::Ready, "the word is in use");
    }

    #[test]
    fn a_word_is_raised_above_the_floor() {
        let floor = tick(NOON) + 2;
        assert_eq!(entered(last_of(tick(NOON)), 0, Some(floor)), Entry::Raise(last_of(floor)));
        assert_eq!(entered(last_of(floor) - 7, 0, Some(floor)), Entry::Raise(last_of(floor)), "in the same tick");
        assert_eq!(entered(last_of(floor), 0, Some(floor)), Entry::Ready);
        assert_eq!(entered(last_of(floor) + 1, 0, Some(floor)), Entry::Ready);
        assert_eq!(entered(0, last_of(floor) - 7, Some(floor)), Entry::Raise(last_of(floor)));
    }

    #[test]
    fn generation_waits_for_a_mark_up_to_ten_seconds_ahead() {
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
    fn a_128_bit_type_continues_above_the_floor() {
        let millis = NOON as u64 / 1_000;
        let mut rng = StdRng::seed_from_u64(1);
        let mut enter = |word, floor| enter::<Scru128>(word, 0, floor, NOON, &mut rng);
        assert_eq!(enter(0, None), Entry::Ready);
        let Entry::Raise(word) = enter(0, Some(millis + 9_998)) else { panic!("less than 10 s ahead") };
        assert_eq!(enter(word, Some(millis + 9_998)), Entry::Ready);
        assert_eq!(enter(0, Some(millis + 10_000)), Entry::Refused(Refusal::BehindMark(10_001_000)));
        let on_clock_rollback = OnClockRollback::Error;
        let context = Context { now: NOON, on_clock_rollback, settings: () };
        let state = <Scru128 as SortableId>::State::unpack(word);
        let Step::Made(_, id) = Scru128::step(state, &context, &mut rng) else { panic!("less than 10 s behind") };
        assert!(id > Scru128::last_of(millis + 9_998));
    }

    #[test]
    fn a_claim_expires() {
        assert!(is_free(0, 5) && is_free(7, 5), "no claim, or a later one");
        assert!(!is_free(5, 5) && !is_free(5, 5 + CLAIM_MICROS) && is_free(5, 6 + CLAIM_MICROS));
        assert!(!is_free(SETS_MARK, 5), "a claim that sets the mark does not expire");
    }
}
