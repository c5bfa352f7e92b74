//! What the generators of all types share: state, context, and what a step may come to.

use core::fmt::{self, Debug};
use core::ops::Range;

use crate::{SortableId, TimeError};

/// How far the clock may fall behind the last ID before it counts as moved back: 10 s. Up to here a generator goes on with
/// the last timestamp.
pub const MAX_ROLLBACK_MICROS: u64 = 10_000_000;

/// How far the tick of an ID may start after the clock, for the types whose IDs are unique by one state for the whole
/// server: 1 s. Such a generator runs ahead of its clock no further than this. A state that was forgotten is outlived by waiting
/// so long.
///
/// A clock that is further behind is waited for up to [`MAX_BEHIND_MICROS`].
///
/// The clock must be read after the state: else, where another process has gone on with the state in between, it may seem
/// to have moved back.
pub const MAX_AHEAD_MICROS: i64 = 1_000_000;

/// How far the clock may be behind the tick of the last ID of such a type before it counts as moved back: 2 s. Beyond
/// [`MAX_AHEAD_MICROS`] the generator waits for it.
pub const MAX_BEHIND_MICROS: i64 = 2 * MAX_AHEAD_MICROS;

/// What a generator remembers. It packs into one word, and the word 0 is [`Default`]: no ID made yet.
pub trait State: Copy + Default {
    /// `u64` or `u128`.
    type Word: Copy + Default + Ord + Debug;

    /// The state as a word.
    fn pack(self) -> Self::Word;

    /// The state that was packed so.
    fn unpack(word: Self::Word) -> Self;
}

/// What a step depends on besides the state and the random source.
#[derive(Clone, Copy, Debug)]
pub struct Context<S> {
    /// The clock, in microseconds since 1970-01-01 UTC.
    pub now: i64,
    /// What to do when the clock has moved back.
    pub on_clock_rollback: OnClockRollback,
    /// The type's own settings.
    pub settings: S,
}

/// What to do when the clock has moved back by more than [`MAX_ROLLBACK_MICROS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnClockRollback {
    /// Start afresh, as another generator would.
    #[default]
    Reset,
    /// Refuse.
    Error,
}

/// What a step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<T: SortableId> {
    /// An ID, greater than the one before, and the state to go on from.
    Made(T::State, T),
    /// None before the clock reads this, in microseconds since 1970-01-01 UTC. The state stays.
    Wait(i64),
    /// None. The state stays.
    Refused(Refusal),
}

/// The word of a type's state.
pub type Word<T> = <<T as SortableId>::State as State>::Word;

/// How a type counts of which most IDs are the one before + 1.
#[derive(Clone, Copy)]
pub struct FastPath<T: SortableId> {
    /// The range that an ID begins which was made with these settings.
    pub range: fn(T, &T::Settings) -> FastRange<T>,
    /// The ID whose maker left this word.
    pub id: fn(Word<T>) -> T,
}

/// Where a generator needs no whole step: with the same settings, each of these words is followed by the word + 1 while the
/// clock reads one of these times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FastRange<T: SortableId> {
    /// The words that have a next one.
    pub words: Range<Word<T>>,
    /// In microseconds since 1970-01-01 UTC.
    pub times: Range<i64>,
}

/// Why a generator refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The clock is this many microseconds behind the last ID.
    ClockMovedBack(u64),
    /// The clock is this many microseconds behind the durable high-water mark.
    BehindMark(u64),
    /// The clock reads a time for which the type has no ID that may be minted.
    ClockOutOfRange,
    /// The random part has no room for a further ID within this tick.
    Exhausted,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |micros: u64| micros as f64 / 1e6;
        match *self {
            Self::ClockMovedBack(behind) => {
                write!(f, "the clock is {} s behind the last ID that was generated", seconds(behind))
            }
            Self::BehindMark(behind) => write!(f, "the clock is {} s behind the high-water mark", seconds(behind)),
            Self::ClockOutOfRange => f.write_str("the clock reads a time for which there are no IDs"),
            Self::Exhausted => f.write_str("the random part has no room for a further ID within this tick"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Where the clock stands to the last ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This tick is the first, or the clock has moved back so far that the generator starts afresh.
    Fresh(u64),
    /// This later tick has begun.
    Later(u64),
    /// The tick of the last ID goes on.
    Same,
}

/// Where the clock stands to the tick of the last ID (0: none), for the types whose IDs are unique by their random bits.
///
/// # Errors
/// [`Refusal::ClockMovedBack`] if that is to be refused, and [`Refusal::ClockOutOfRange`] if the clock's tick is one of
/// the two reserved ones, the first and the last, or beyond them.
pub fn place_in_time<T: SortableId>(last: u64, context: &Context<T::Settings>) -> Result<Moment, Refusal> {
    // Most IDs, without the division that tells the clock's tick.
    if last != 0 && last < T::TICKS.max && T::TICKS.contains(last, context.now) {
        return Ok(Moment::Same);
    }
    let tick = clock_tick::<T>(context.now)?;
    if last == 0 {
        return Ok(Moment::Fresh(tick));
    }
    if tick > last {
        return Ok(Moment::Later(tick));
    }
    let behind = (last - tick) * T::TICKS.micros as u64;
    match context.on_clock_rollback {
        _ if behind <= MAX_ROLLBACK_MICROS => Ok(Moment::Same),
        OnClockRollback::Reset => Ok(Moment::Fresh(tick)),
        OnClockRollback::Error => Err(Refusal::ClockMovedBack(behind)),
    }
}

/// Where the clock stands to the tick of the last ID (0: none), for the types whose IDs are unique by one state for the
/// whole server, so that it never starts afresh.
///
/// # Errors
/// [`Step::Wait`] if the tick of the last ID starts more than [`MAX_AHEAD_MICROS`] after the clock, and more than
/// [`MAX_BEHIND_MICROS`] [`Refusal::ClockMovedBack`]; [`Refusal::ClockOutOfRange`] if the clock's tick, or the one to go on
/// with, is a reserved one or beyond them.
pub fn place_strictly<T: SortableId>(last: u64, now: i64) -> Result<Moment, Step<T>> {
    // The clock is compared with times, for to tell its tick takes a division.
    if last == 0 {
        return clock_tick::<T>(now).map(Moment::Fresh).map_err(Step::Refused);
    }
    if now >= T::TICKS.start(last + 1) {
        return clock_tick::<T>(now).map(Moment::Later).map_err(Step::Refused);
    }
    if now < T::TICKS.start(1) {
        return Err(Step::Refused(Refusal::ClockOutOfRange));
    }
    match T::TICKS.start(last) - now {
        behind if behind > MAX_BEHIND_MICROS => Err(Step::Refused(Refusal::ClockMovedBack(behind as u64))),
        _ if last >= T::TICKS.max => Err(Step::Refused(Refusal::ClockOutOfRange)),
        behind if behind > MAX_AHEAD_MICROS => Err(Step::Wait(T::TICKS.start(last) - MAX_AHEAD_MICROS)),
        _ => Ok(Moment::Same),
    }
}

/// The times at which [`place_strictly`] says [`Moment::Same`] of the tick of an ID that was made. Told once for a tick, they
/// spare its further IDs the arithmetic.
pub fn same_tick<T: SortableId>(last: u64) -> Range<i64> {
    let earliest = T::TICKS.start(last) - MAX_AHEAD_MICROS;
    earliest.max(T::TICKS.start(1))..T::TICKS.start(last + 1)
}

/// The tick that the clock reads, if IDs of it may be minted.
fn clock_tick<T: SortableId>(now: i64) -> Result<u64, Refusal> {
    T::TICKS.minted_at(now).map_err(|TimeError| Refusal::ClockOutOfRange)
}
