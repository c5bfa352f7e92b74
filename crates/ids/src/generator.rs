//! The trait [`GeneratedId`]: how an ID is generated, from the state, the context and random numbers.

use core::fmt::{self, Debug};

use rand::Rng;

use crate::SortableId;

/// An ID with the generator of its ID system.
pub trait GeneratedId: SortableId {
    /// Whether IDs are unique only if all sessions of a server share one generator state. Other IDs have enough random bits to be
    /// unique without.
    const SERVER_WIDE: bool = false;
    /// The state of a generator between two IDs, `u64` or `u128`. The default, 0, is that before the first ID.
    type State: Copy + Default + Eq + Debug + Into<u128>;
    /// What the state holds. The servers of several versions share the states.
    const STATE_LAYOUT: &'static str = "id";
    /// The settings of the generator.
    type Settings: Copy + Default + Send + Sync;

    /// Runs one step of the type's generator.
    fn step(state: Self::State, context: &Context<Self::Settings>, rng: &mut impl Rng) -> Step<Self>;

    /// Returns a random ID of `tick`. It is not unique for a [`SERVER_WIDE`](Self::SERVER_WIDE) type.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self;

    /// Returns whether the ID has the node of these settings; `false` for a type without nodes.
    fn is_local(self, _settings: &Self::Settings) -> bool {
        false
    }

    /// Returns the node of these settings as text, such as `42/8`; `None` for a type without nodes.
    fn node_text(_settings: &Self::Settings) -> Option<String> {
        None
    }

    /// Returns the initial state of a generator whose predecessor's state is lost. For a [`SERVER_WIDE`](Self::SERVER_WIDE)
    /// type, no step from this state generates an ID that the predecessor may have generated until `now`, in microseconds since
    /// 1970-01-01 UTC. Other types start with the default state, because their random bits make IDs unique.
    fn successor_state(now: i64, rng: &mut impl Rng) -> Self::State {
        // The last tick that the predecessor may have used.
        let tick = Self::TICKS.nearest(now.saturating_add(MAX_AHEAD_MICROS));
        if Self::SERVER_WIDE { Self::state_after(tick, rng) } else { Self::State::default() }
    }

    /// Returns the tick of the last ID, or the one that [`state_after`](Self::state_after) has set; 0 in the default state. The state
    /// has it in the same place as the ID.
    fn state_tick(state: Self::State) -> u64 {
        (state.into() >> Self::TICKS.shift) as u64
    }

    /// Returns a state from which every generated ID is greater than all IDs of `tick`.
    fn state_after(tick: u64, rng: &mut impl Rng) -> Self::State;

    /// Returns the last ID, which was not generated if the state is one of [`state_after`](Self::state_after). `None` in the default
    /// state, or if the state does not contain all fields of the ID.
    fn last_id(_state: Self::State) -> Option<Self> {
        None
    }
}

/// The maximum distance of the clock behind the last ID at which a generator continues with the last timestamp: 10 s. At a
/// larger distance, the clock counts as moved back, and [`OnClockRollback`] applies.
///
/// Applies to types without [`SERVER_WIDE`](GeneratedId::SERVER_WIDE).
pub const MAX_ROLLBACK_MICROS: u64 = 10_000_000;

/// The maximum distance by which the tick of a new ID may start ahead of the clock: 1 s. If the clock is further behind, the
/// generator waits for it, up to [`MAX_BEHIND_MICROS`]. A generator whose predecessor's state is lost starts this far ahead of
/// the clock.
///
/// Applies to generators of types with [`SERVER_WIDE`](GeneratedId::SERVER_WIDE). Read the clock after the state. Otherwise, if
/// another process advances the state in between, the clock seems to have moved back.
pub const MAX_AHEAD_MICROS: i64 = 1_000_000;

/// The maximum distance of the clock behind the tick of the last ID at which a generator waits for the clock: 2 s. At a larger
/// distance, the clock counts as moved back, and the generator returns [`Refusal::ClockMovedBack`].
///
/// Applies to generators of types with [`SERVER_WIDE`](GeneratedId::SERVER_WIDE).
pub const MAX_BEHIND_MICROS: i64 = 2 * MAX_AHEAD_MICROS;

/// The input of a step, besides the state and the random source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<S> {
    /// The clock reading, in microseconds since 1970-01-01 UTC.
    pub now: i64,
    /// The reaction to a clock that has moved back.
    pub on_clock_rollback: OnClockRollback,
    /// The settings of the type.
    pub settings: S,
}

/// The reaction to a clock that has moved back by more than [`MAX_ROLLBACK_MICROS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnClockRollback {
    /// Start again at the time of the clock, like a new generator. The next ID is smaller than the last one.
    #[default]
    Reset,
    /// Refuse with [`Refusal::ClockMovedBack`].
    Error,
}

/// The result of a step: the next state and an ID, or the reason why there is none, with which the state is unchanged. The ID is
/// greater than the last one, unless the generator has started again ([`OnClockRollback::Reset`]).
pub type Step<T> = Result<(<T as GeneratedId>::State, T), NoId>;

/// The reason why a step makes no ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoId {
    /// The generator must wait until the clock reads this time, in microseconds since 1970-01-01 UTC.
    Wait(i64),
    /// The generator refuses, with this reason.
    Refused(Refusal),
}

/// The reason why a generator refuses to generate an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The clock is this many microseconds behind the last ID.
    ClockMovedBack(u64),
    /// The clock is this many microseconds behind the durable high-water mark.
    BehindMark(u64),
    /// The clock reads a time outside the range for which the type generates IDs.
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

/// The position of the clock relative to the tick of the last ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The generator starts in this tick, or starts again because the clock has moved back.
    Fresh(u64),
    /// The generator continues in this later tick.
    Later(u64),
    /// The generator continues in the tick of the last ID.
    Same,
}

/// Returns the position of the clock relative to `last`, the tick of the last ID or 0 if there is none, for types without
/// [`SERVER_WIDE`](GeneratedId::SERVER_WIDE).
///
/// # Errors
/// Returns [`Refusal::ClockOutOfRange`] if the clock is within a reserved tick, the first or the last, or out of range.
/// Returns [`Refusal::ClockMovedBack`] if the clock has moved back and the context has [`OnClockRollback::Error`].
pub fn place_in_time<T: GeneratedId>(last: u64, context: &Context<T::Settings>) -> Result<Moment, NoId> {
    // The common case, without the division that computes the clock's tick.
    if last != 0 && last < T::TICKS.max && (T::TICKS.start(last)..T::TICKS.start(last + 1)).contains(&context.now) {
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
        OnClockRollback::Error => Err(NoId::Refused(Refusal::ClockMovedBack(behind))),
    }
}

/// Returns the position of the clock relative to `last`, the tick of the last ID or 0 if there is none, for types with
/// [`SERVER_WIDE`](GeneratedId::SERVER_WIDE). Their generators ignore [`OnClockRollback`].
///
/// # Errors
/// Returns [`NoId::Wait`] if the tick `last` starts more than [`MAX_AHEAD_MICROS`] after the clock, and
/// [`Refusal::ClockMovedBack`] if it starts more than [`MAX_BEHIND_MICROS`] after the clock. Returns
/// [`Refusal::ClockOutOfRange`] if the tick of the clock, or the tick to continue in, is reserved or out of range.
pub fn place_strictly<T: GeneratedId>(last: u64, now: i64) -> Result<Moment, NoId> {
    // Compares times, not ticks: computing the clock's tick takes a division.
    if last == 0 {
        return Ok(Moment::Fresh(clock_tick::<T>(now)?));
    }
    if now >= T::TICKS.start(last + 1) {
        return Ok(Moment::Later(clock_tick::<T>(now)?));
    }
    if now < T::TICKS.start(1) {
        return Err(NoId::Refused(Refusal::ClockOutOfRange));
    }
    match T::TICKS.start(last) - now {
        behind if behind > MAX_BEHIND_MICROS => Err(NoId::Refused(Refusal::ClockMovedBack(behind as u64))),
        _ if last >= T::TICKS.max => Err(NoId::Refused(Refusal::ClockOutOfRange)),
        behind if behind > MAX_AHEAD_MICROS => Err(NoId::Wait(T::TICKS.start(last) - MAX_AHEAD_MICROS)),
        _ => Ok(Moment::Same),
    }
}

/// Returns the tick of the clock; [`Refusal::ClockOutOfRange`] if no ID of this tick may be generated.
fn clock_tick<T: GeneratedId>(now: i64) -> Result<u64, NoId> {
    T::TICKS.generated_at(now).ok_or(NoId::Refused(Refusal::ClockOutOfRange))
}

#[cfg(test)]
#[path = "../tests/unit/script.rs"]
pub mod script;
