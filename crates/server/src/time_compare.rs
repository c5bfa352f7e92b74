//! Comparisons of an ID with a time, as those of the tick of the ID with the tick that contains the time, and ranges of times as ranges
//! of IDs. They never fail. Times are in microseconds since 1970-01-01 UTC.
//!
//! A [`CORE_TYPE`](SqlId::CORE_TYPE) also has values that are no IDs. There, an operator compares the bytes with the first ID of the
//! tick (`<` and `>=`) or the last one (`<=` and `>`). A time out of range counts as within the nearest tick, so that each bound is
//! an ID.

use core::cmp::Ordering;
use core::ops::Bound;

use scru_ids::SqlId;

/// A comparison operator of an ID with a time on its right, or of two IDs. The number is its btree strategy between two IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i16)]
pub enum Operator {
    /// `<`
    Less = 1,
    /// `<=`
    LessOrEqual = 2,
    /// `>=`
    GreaterOrEqual = 4,
    /// `>`
    Greater = 5,
}

impl Operator {
    /// The operator with a symbol.
    pub fn from_symbol(symbol: &[u8]) -> Option<Self> {
        let all = [Self::Less, Self::LessOrEqual, Self::GreaterOrEqual, Self::Greater];
        all.into_iter().find(|operator| operator.symbol().as_bytes() == symbol)
    }

    /// Its symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::GreaterOrEqual => ">=",
            Self::Greater => ">",
        }
    }

    /// The operator with swapped arguments.
    pub const fn commuted(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Greater => Self::Less,
        }
    }

    /// Whether it sets a lower bound on the ID: `>=` or `>`.
    pub const fn is_lower_bound(self) -> bool {
        matches!(self, Self::GreaterOrEqual | Self::Greater)
    }

    /// Whether it holds for its own bound: `<=` or `>=`.
    pub const fn includes_bound(self) -> bool {
        matches!(self, Self::LessOrEqual | Self::GreaterOrEqual)
    }

    /// Whether it divides the IDs at the start of the tick that contains the time, and not at its end: `<` or `>=`.
    pub const fn is_at_start_of_tick(self) -> bool {
        matches!(self, Self::Less | Self::GreaterOrEqual)
    }

    /// The comparison with an ID that is equivalent to the comparison with a time: `id >= bound` or `id < bound` with the first ID of
    /// a tick as the bound. If that tick would be after the last one, `id > largest`, which is always false, or `id <= largest`, which
    /// is always true. For a core type, the same operator with the first or the last ID of the tick.
    pub fn at_time<T: SqlId>(self, micros: i64) -> (Self, T) {
        if T::CORE_TYPE.is_some() {
            return (self, if self.is_at_start_of_tick() { T::lower(micros) } else { T::upper(micros) });
        }
        // `<` and `<=` hold for the IDs of exactly the ticks below the bound, `>=` and `>` for the IDs of all others.
        let below = match self.is_at_start_of_tick() {
            true => T::TICKS.starting_before(T::TICKS.floor(micros)),
            false => T::TICKS.starting_until(micros),
        };
        match (self.is_lower_bound(), below <= T::TICKS.max) {
            (true, true) => (Self::GreaterOrEqual, T::first_of(below)),
            (true, false) => (Self::Greater, T::MAX),
            (false, true) => (Self::Less, T::first_of(below)),
            (false, false) => (Self::LessOrEqual, T::MAX),
        }
    }

    /// An equivalent comparison with the first ID of a tick if the bound is the last ID of the previous tick, and the same comparison
    /// otherwise. For a core type, equivalent for the IDs among its values, and wrong only for values between the last ID of a tick and
    /// the first one of the next.
    pub fn among_ids<T: SqlId>(self, id: T) -> (Self, T) {
        let tick = id.tick();
        match self {
            _ if tick == T::TICKS.max || id != T::last_of(tick) => (self, id),
            Self::LessOrEqual => (Self::Less, T::first_of(tick + 1)),
            Self::Greater => (Self::GreaterOrEqual, T::first_of(tick + 1)),
            Self::Less | Self::GreaterOrEqual => (self, id),
        }
    }

    /// Of the IDs that satisfy the operator, the nearest to the time; `None` if no ID does. For a core type, the ID with which the
    /// operator compares.
    pub fn nearest<T: SqlId>(self, micros: i64) -> Option<T> {
        match self.at_time::<T>(micros) {
            (_, id) if T::CORE_TYPE.is_some() => Some(id),
            (Self::Greater, _) => None,
            (Self::Less, id) => id.tick().checked_sub(1).map(T::last_of),
            (Self::GreaterOrEqual | Self::LessOrEqual, id) => Some(id),
        }
    }
}

/// The first and the last ID in a range, whose bounds are truncated to ticks; the largest and the smallest of all if there is none.
pub fn first_and_last<T: SqlId>(range: Option<(Bound<i64>, Bound<i64>)>) -> (T, T) {
    let truncate = |micros| T::TICKS.floor(micros);
    let ticks = range.and_then(|(from, to)| T::TICKS.within(from.map(truncate), to.map(truncate)));
    ticks.map_or((T::MAX, T::MIN), |(first, last)| (T::first_of(first), T::last_of(last)))
}

/// Compares the tick of an ID with the tick that contains a time.
#[inline]
pub fn order<T: SqlId>(id: T, micros: i64) -> Ordering {
    // Avoids the division that truncates the time to a tick.
    let start = id.timestamp_micros();
    if micros < start {
        Ordering::Greater
    } else if micros.saturating_sub(start) < T::TICKS.micros {
        Ordering::Equal
    } else {
        Ordering::Less
    }
}
