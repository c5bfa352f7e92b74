//! The decisions about the durable high-water mark. They access neither shared memory nor the log.
//!
//! Before a server generates the first ID of a node, it durably reserves the node's IDs up to a tick: it logs a mark. A *run* is
//! a generator state in shared memory, until the server restarts or an administrator sets the mark back. A new run starts above
//! the marks of all earlier runs for overlapping nodes.

use rand::Rng;

use scru_ids::{Context, GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, NodeCode, Refusal, State, Step, Word};

/// The maximum lead of a new run over the clock, in microseconds: 10 s. With a greater lead, generation is refused. docs/design.md
/// says for each constant here what half as much and twice as much would do.
pub const MAX_PATIENCE_MICROS: i64 = 10_000_000;

/// The length of a reservation after the tick that requires it, if flushes take no time, in microseconds: 0.7 s. With its last tick
/// of at most 256 ms, it is within [`MAX_AHEAD_MICROS`], so that a new run starts at once.
const LEAD_MICROS: i64 = 700_000;

/// The maximum length of a reservation, in microseconds: 9 s, within [`MAX_PATIENCE_MICROS`].
const MAX_LEAD_MICROS: i64 = 9_000_000;

/// The length of the last part of a reservation, in which the next one is made ahead, if flushes take no time, in microseconds:
/// 0.35 s. The WAL writer flushes every 200 ms.
const LOW_MICROS: i64 = 350_000;

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
    /// The smallest mark that includes both marks.
    pub fn join(self, other: Self) -> Self {
        Self { node: self.node.join(other.node), tick: self.tick.max(other.tick), run: 0 }
    }

    /// Whether every ID that the other mark covers is one that this mark covers.
    pub fn covers(self, other: Self) -> bool {
        self.tick >= other.tick && self.node.join(other.node) == self.node
    }
}

/// The maximum number of marks of a type, of which the page has room for two types with so many. Each node that the server has had
/// takes one or two.
pub const MAX_MARKS: usize = 120;

/// Adds a mark in place of the mark of the same node, whose tick it keeps if that is later. A mark without a run replaces only
/// its like, or every session would wait for the reservation of the present run. If there are too many marks, joins the lowest two.
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

/// The last tick of which a run other than `own` may have generated IDs of a node; `None` if there is no such mark.
pub fn high_water(marks: &[Mark], node: NodeCode, own: u64) -> Option<u64> {
    let is_foreign = |mark: &&Mark| mark.run == 0 || mark.run != own;
    marks.iter().filter(|mark| mark.node.overlaps(node)).filter(is_foreign).map(|mark| mark.tick).max()
}

/// The word from which a node's first ID continues: `word`, or one above the tick of [`high_water`], which must replace it. `now`
/// is in microseconds since 1970-01-01 UTC. An error is a wait or a refusal, because the clock is too far behind.
pub fn enter<T: GeneratedId>(
    word: Word<T>,
    high_water: Option<u64>,
    now: i64,
    rng: &mut impl Rng,
) -> Result<Word<T>, Step<T>> {
    let state = match high_water {
        Some(tick) if T::state_tick(T::State::unpack(word)) <= tick => T::state_after(tick, rng),
        _ => return Ok(word),
    };
    let patience = if T::SERVER_WIDE { MAX_AHEAD_MICROS } else { MAX_PATIENCE_MICROS };
    match delay(T::TICKS.start(T::state_tick(state)), now, patience) {
        Some(delay) => Err(delay),
        None => Ok(state.pack()),
    }
}

/// The wait until a time is no more than `patience` ahead of the clock, in microseconds, or the refusal to wait; `None` if
/// there is no need. What a database carries delays its draws without patience: shared state must not be ahead of the clock because of it.
pub fn delay<T: GeneratedId>(time: i64, now: i64, patience: i64) -> Option<Step<T>> {
    match time.saturating_sub(now) {
        ahead if ahead > MAX_PATIENCE_MICROS => Some(Step::Refused(Refusal::BehindMark(ahead as u64))),
        ahead if ahead > patience => Some(Step::Wait(time - patience)),
        _ => None,
    }
}

/// The delay by a mark that arrived with the data of another server: until its last tick has passed.
pub fn delay_of_arrival<T: GeneratedId>(arrived: Mark, now: i64) -> Option<Step<T>> {
    delay(T::TICKS.start(arrived.tick.saturating_add(1)), now, 0)
}

/// What the next draw will do if nothing else changes, and flushes take no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The time that the draw waits for the clock, in microseconds.
    pub wait: i64,
    /// The reason why it is refused after that; `None` if it returns an ID.
    pub refusal: Option<Refusal>,
}

/// What the next draw of a node will do. `high_water` is that of [`high_water`] if the node has no reservation, otherwise `None`.
/// `delay` returns the other waits and refusals at a reading of the clock, or the time with which the draw then continues.
pub fn forecast<T: GeneratedId>(
    word: Word<T>,
    high_water: Option<u64>,
    delay: impl Fn(i64) -> Result<i64, Step<T>>,
    context: &Context<T::Settings>,
    rng: &mut impl Rng,
) -> Forecast {
    let mut context = *context;
    let start = context.now;
    loop {
        let mut step = |now| match enter::<T>(word, high_water, now, rng) {
            Ok(word) => T::step(T::State::unpack(word), &Context { now, ..context }, rng),
            Err(delay) => delay,
        };
        let step = delay(context.now).map_or_else(|delay| delay, &mut step);
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

/// The tick to which an administrator sets a mark back that is above it: `tick`, or the last one that a session would wait
/// for, if that is later. IDs up to it may have been generated with a right clock.
pub fn lowest<T: GeneratedId>(tick: u64, now: i64) -> u64 {
    tick.max(T::TICKS.nearest(now.saturating_add(MAX_BEHIND_MICROS)))
}

/// The tick that a reservation must include: that of the word or of the clock, whichever is later.
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

/// A [`Reservation`] packed into one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reserved(pub u64);

impl Reservation {
    /// The reservation to make when the node's IDs have reached a tick. `flush` is the time that a flush takes, in
    /// microseconds: the reservation must outlast the flush of its own mark and that of the next one.
    pub fn from<T: GeneratedId>(node: NodeCode, tick: u64, flush: i64) -> Self {
        let lead = LEAD_MICROS.saturating_add(flush.saturating_mul(2)).min(MAX_LEAD_MICROS);
        Self { node, until: T::TICKS.nearest(T::TICKS.start(tick).saturating_add(lead)) }
    }

    /// The reservation packed into one word.
    pub const fn pack<T: GeneratedId>(self) -> Reserved {
        Reserved(self.until << T::NODE_BITS | self.node.to_u32() as u64)
    }
}

impl Reserved {
    /// No reservation.
    pub const NONE: Self = Self(0);

    /// The reservation, until the last tick of the type at most; `None` if there is none.
    pub fn unpack<T: GeneratedId>(self) -> Option<Reservation> {
        let node = NodeCode::from_u32(self.0 as u32 & ((1 << T::NODE_BITS) - 1))?;
        Some(Reservation { node, until: (self.0 >> T::NODE_BITS).min(T::TICKS.max) })
    }

    /// Whether the reservation is that of a node.
    #[inline(always)]
    pub fn is_of<T: GeneratedId>(self, node: NodeCode) -> bool {
        self.0 as u32 & ((1 << T::NODE_BITS) - 1) == node.to_u32()
    }

    /// The position of a node's IDs of a tick relative to the reservation. `flush` is as in [`Reservation::from`].
    #[inline(always)]
    pub fn cover<T: GeneratedId>(self, node: NodeCode, tick: u64, flush: i64) -> Cover {
        let until = self.0 >> T::NODE_BITS;
        if !self.is_of::<T>(node) || tick > until {
            Cover::Outside
        } else if (until - tick) as i64 * T::TICKS.micros < LOW_MICROS + flush {
            Cover::Last
        } else {
            Cover::Within
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/mark.rs"]
mod tests;
