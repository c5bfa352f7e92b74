//! The decisions about the durable marks. They access neither shared memory nor the log.
//!
//! A mark is a time, in microseconds since 1970-01-01 UTC, that bounds both sides. What was drawn before a start of the server is of
//! ticks that end at or before the mark. What is drawn afterwards is of the tick that contains it, or of a later one. So no tick has
//! IDs from before and after a start, whatever its length is.

use rand::Rng;

use scru_ids::{
    Context, GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, MAX_ROLLBACK_MICROS, NoId, OnClockRollback, Refusal,
    Step,
};

/// A durable time of a server, by what it is the time of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// IDs that are drawn from shared state.
    Draws,
    /// Horizons that are returned to readers, and so of the IDs that private generators draw.
    Horizons,
}

impl Mark {
    /// Both marks.
    pub const ALL: [Self; 2] = [Self::Draws, Self::Horizons];
}

/// The maximum lead of a mark over the clock for which a draw waits, in microseconds: 10 s. With a greater lead, generation is
/// refused. docs/design.md says for each constant here what half as much and twice as much would do.
pub const MAX_PATIENCE_MICROS: i64 = 10_000_000;

/// The length of a reservation after the tick that requires it, if flushes take no time, in microseconds: 0.7 s. With its last tick
/// of at most 256 ms, it is within [`MAX_AHEAD_MICROS`], so that generation continues at once after a start.
const LEAD_MICROS: i64 = 700_000;

/// The maximum length of a reservation, in microseconds: 8.7 s. With a tick that is 1 s ahead of the clock, it is within
/// [`MAX_PATIENCE_MICROS`].
const MAX_LEAD_MICROS: i64 = 8_700_000;

/// The length of the last part of a reservation, in which the next one is made ahead, if flushes take no time, in microseconds:
/// 0.35 s. The WAL writer flushes every 200 ms.
const LOW_MICROS: i64 = 350_000;

/// The longest tick of a type, in microseconds. Each of its multiples starts a tick of every type.
pub const LONGEST_TICK_MICROS: i64 = 256_000;

/// The length of a reservation after the time that it must include. `flush` is the time that a flush takes, in microseconds. The
/// reservation of draws must outlast the flush of its own record and that of the next one. A reader waits for each flush.
pub fn lead(of: Mark, flush: i64) -> i64 {
    match of {
        Mark::Draws => LEAD_MICROS.saturating_add(flush.saturating_mul(2)).min(MAX_LEAD_MICROS),
        Mark::Horizons => LEAD_MICROS,
    }
}

/// The length of the last part of a reservation. `flush` is as in [`lead`].
pub fn last_part(flush: i64) -> i64 {
    LOW_MICROS.saturating_add(flush)
}

/// The end of a tick.
pub fn end<T: GeneratedId>(tick: u64) -> i64 {
    T::TICKS.start(tick.saturating_add(1))
}

/// The state whose next ID is of the tick that contains a time, or of a later one.
pub fn before<T: GeneratedId>(time: i64, rng: &mut impl Rng) -> T::State {
    T::state_after(T::TICKS.nearest(time).saturating_sub(1), rng)
}

/// Whether a type begins on a server without a mark, from its word and the start. Rows can arrive without the page, as from the
/// publisher of a logical subscriber, or lose it. So its word becomes [`successor_state`](GeneratedId::successor_state), above all IDs
/// that were drawn with a right clock. Types with more random bits have none to avoid.
pub fn begins_without_mark<T: GeneratedId>(word: T::State, start: i64) -> bool {
    T::SERVER_WIDE && word == T::State::default() && start == 0
}

/// One step from shared state, of a type that refuses when its clock moves back. `start` is the time at or above which all IDs are.
/// `arrived` is the time that has arrived with the database: nothing shared may be ahead of the clock because of that, so the step
/// waits for it.
#[inline(always)]
pub fn step<T: GeneratedId>(
    state: T::State,
    start: i64,
    arrived: i64,
    context: &Context<T::Settings>,
    rng: &mut impl Rng,
) -> Step<T> {
    let now = context.now;
    delay(arrived, now, 0)?;
    let tick = T::state_tick(state);
    if now >= start || end::<T>(tick) > start {
        return match T::step(state, context, rng) {
            // The tick before the first of a server without a mark has no room, but no ID either.
            Err(NoId::Refused(Refusal::Exhausted)) if start == 0 && T::last_id(state) == Some(T::last_of(tick)) => {
                Err(NoId::Wait(end::<T>(tick)))
            }
            step => step,
        };
    }
    // The state moves, and not the clock: the step adds its own lead to the clock.
    let patience = if T::SERVER_WIDE { MAX_AHEAD_MICROS } else { MAX_PATIENCE_MICROS };
    let first = T::TICKS.start(T::TICKS.nearest(start));
    delay(first, now, patience)?;
    match T::step(before::<T>(start, rng), context, rng) {
        // The tick before the first has no room, but no ID either.
        Err(NoId::Refused(Refusal::Exhausted)) => Err(NoId::Wait(first)),
        step => step,
    }
}

/// The error is the wait until a time is no more than `patience` ahead of the clock, or the refusal to wait.
pub fn delay(time: i64, now: i64, patience: i64) -> Result<(), NoId> {
    match time.saturating_sub(now) {
        ahead if ahead > MAX_PATIENCE_MICROS => Err(NoId::Refused(Refusal::BehindMark(ahead as u64))),
        ahead if ahead > patience => Err(NoId::Wait(time - patience)),
        _ => Ok(()),
    }
}

/// One step of a private generator, whose clock counts as reading at least `start`. A raised state would not last: a clock that has moved
/// back resets it.
#[inline(always)]
pub fn private_step<T: GeneratedId>(
    state: T::State,
    start: i64,
    context: &Context<T::Settings>,
    rng: &mut impl Rng,
) -> Step<T> {
    let mut context = *context;
    if start > context.now {
        let behind = start.abs_diff(context.now);
        if context.on_clock_rollback == OnClockRollback::Error && behind > MAX_ROLLBACK_MICROS {
            return Err(NoId::Refused(Refusal::ClockMovedBack(behind)));
        }
        context.now = start;
    }
    T::step(state, &context, rng)
}

/// What the next draw will do if nothing else changes: the time that it waits for the clock, in microseconds, and the reason why it is
/// refused after that. `step` is the step at a reading of the clock.
pub fn forecast<T: GeneratedId>(now: i64, mut step: impl FnMut(i64) -> Step<T>) -> (i64, Option<Refusal>) {
    let mut later = now;
    loop {
        match step(later) {
            // A wait of no time would be repeated for ever.
            Err(NoId::Wait(until)) if until > later => later = until,
            Err(NoId::Refused(refusal)) => return (later - now, Some(refusal)),
            Err(NoId::Wait(_)) | Ok(_) => return (later - now, None),
        }
    }
}

/// The end of the longest tick that contains a time, which is above the IDs of this time of all types.
pub const fn after(time: i64) -> i64 {
    time.div_euclid(LONGEST_TICK_MICROS).saturating_add(1).saturating_mul(LONGEST_TICK_MICROS)
}

/// The time to which marks are set back: `time`, or the last for which a session would wait, if that is later. IDs up to it may have
/// been generated with a right clock.
pub const fn lowest(time: i64, now: i64) -> i64 {
    let near = now.saturating_add(MAX_BEHIND_MICROS - LONGEST_TICK_MICROS);
    after(if time > near { time } else { near })
}

#[cfg(test)]
#[path = "../tests/unit/mark.rs"]
mod tests;
