//! Comparison operators between an ID and a `timestamptz`. They compare the tick of the ID with the tick that contains the time, and
//! never fail.
//!
//! A [`CORE_TYPE`](scru_ids::SqlId::CORE_TYPE) also has values that are no IDs. There, an operator compares the bytes with the
//! first ID of the tick (`<` and `>=`) or the last one (`<=` and `>`). A time out of range counts as within the nearest tick, so
//! that each bound is an ID.

use core::cmp::Ordering;

use pgrx::pg_sys::{self, Datum};

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::{StoredDatum, StoredId};
use crate::pg::epoch;

/// A comparison operator with an ID on the left and a time on the right. The number is its btree strategy between two IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Operator {
    Less = pg_sys::BTLessStrategyNumber,
    LessOrEqual = pg_sys::BTLessEqualStrategyNumber,
    GreaterOrEqual = pg_sys::BTGreaterEqualStrategyNumber,
    Greater = pg_sys::BTGreaterStrategyNumber,
}

impl Operator {
    const ALL: [Self; 4] = [Self::Less, Self::LessOrEqual, Self::GreaterOrEqual, Self::Greater];

    /// Returns the abbreviation of the operator in function names, and its symbol.
    const fn name_and_symbol(self) -> (&'static str, &'static str) {
        match self {
            Self::Less => ("lt", "<"),
            Self::LessOrEqual => ("le", "<="),
            Self::GreaterOrEqual => ("ge", ">="),
            Self::Greater => ("gt", ">"),
        }
    }

    /// Returns the operator with an abbreviation in function names.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.name_and_symbol().0.as_bytes() == name)
    }

    /// Returns the operator with a symbol.
    fn from_symbol(symbol: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.symbol().as_bytes() == symbol)
    }

    /// Returns the symbol of the operator.
    pub const fn symbol(self) -> &'static str {
        self.name_and_symbol().1
    }

    /// Returns the btree strategy of the operator between two IDs.
    pub const fn strategy(self) -> u32 {
        self as u32
    }

    /// Returns the commutator: the operator with swapped arguments.
    pub const fn commuted(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Greater => Self::Less,
        }
    }

    /// Returns whether the operator sets a lower bound on the ID: `>=` or `>`.
    pub const fn is_from_below(self) -> bool {
        matches!(self, Self::GreaterOrEqual | Self::Greater)
    }

    /// Returns whether the operator holds for its own bound: `<=` or `>=`.
    pub const fn includes_bound(self) -> bool {
        matches!(self, Self::LessOrEqual | Self::GreaterOrEqual)
    }

    /// Returns whether the operator divides the IDs at the start of the tick that contains the time, and not at its end: `<` or `>=`.
    pub const fn is_at_start_of_tick(self) -> bool {
        matches!(self, Self::Less | Self::GreaterOrEqual)
    }

    /// Returns the comparison with an ID that is equivalent to the comparison with a time: `id >= bound` or `id < bound` with the
    /// first ID of a tick as the bound. If that tick would be after the last one, returns `id > largest`, which is always false, or
    /// `id <= largest`, which is always true. For a core type, returns the same operator with the first or the last ID of the tick.
    pub fn with_id<T: StoredId>(self, timestamptz: i64) -> (Self, T) {
        if T::CORE_TYPE.is_some() {
            let (first, last) = nearest::<T>(timestamptz);
            return (self, if self.is_at_start_of_tick() { first } else { last });
        }
        let below = self.ticks_below::<T>(timestamptz);
        match (self.is_from_below(), below <= T::TICKS.max) {
            (true, true) => (Self::GreaterOrEqual, T::first_of(below)),
            (true, false) => (Self::Greater, T::MAX),
            (false, true) => (Self::Less, T::first_of(below)),
            (false, false) => (Self::LessOrEqual, T::MAX),
        }
    }

    /// Returns an equivalent comparison with the first ID of a tick if the bound is the last ID of the previous tick, and the same
    /// comparison otherwise. The two are not equivalent for a core type, which has values between two ticks.
    pub fn at_tick<T: StoredId>(self, id: T) -> (Self, T) {
        let tick = id.tick();
        match self {
            _ if T::CORE_TYPE.is_some() || tick == T::TICKS.max || id != T::last_of(tick) => (self, id),
            Self::LessOrEqual => (Self::Less, T::first_of(tick + 1)),
            Self::Greater => (Self::GreaterOrEqual, T::first_of(tick + 1)),
            Self::Less | Self::GreaterOrEqual => (self, id),
        }
    }

    /// Returns the number of ticks below the bound that a time sets, from 0 to `TICKS.max + 1`. `<` and `<=` hold for the IDs of
    /// exactly these ticks, `>=` and `>` for the IDs of all others.
    fn ticks_below<T: StoredId>(self, timestamptz: i64) -> u64 {
        let micros = epoch::saturated_unix_micros(timestamptz);
        if self.is_at_start_of_tick() {
            T::TICKS.starting_before(T::TICKS.floor(micros))
        } else {
            T::TICKS.starting_until(micros)
        }
    }

    /// Returns the smallest and the largest ID that satisfy the operator; `None` if no ID does.
    fn ids<T: StoredId>(self, timestamptz: i64) -> Option<(T, T)> {
        let below = self.ticks_below::<T>(timestamptz);
        if self.is_from_below() {
            (below <= T::TICKS.max).then(|| (T::first_of(below), T::MAX))
        } else {
            below.checked_sub(1).map(|last| (T::MIN, T::last_of(last)))
        }
    }
}

/// `T_lt_timestamptz(T, timestamptz) → boolean` and the functions of the other operators: whether the order of the two
/// satisfies `holds`
#[inline]
pub fn id_with_time<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    Datum::from(holds(order::<T>(call, 0, 1)))
}

/// `timestamptz_lt_T(timestamptz, T) → boolean` and the functions of the other operators: likewise
#[inline]
pub fn time_with_id<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    Datum::from(holds(order::<T>(call, 1, 0).reverse()))
}

/// Compares the time of the argument `id` with the argument `time`; a value of a core type, with the IDs of the tick.
#[inline]
fn order<T: StoredId>(call: Call, id: usize, time: usize) -> Ordering {
    let timestamptz = call.int8(time);
    if T::CORE_TYPE.is_some() {
        let bounds = || {
            let (first, last) = nearest::<T>(timestamptz);
            (first.to_stored(), last.to_stored())
        };
        let (first, last) = call.remembered(timestamptz, || Ok(bounds())).map_or_else(|_| bounds(), |bounds| *bounds);
        let id = call.stored::<T>(id);
        return if id.order(first).is_lt() { Ordering::Less } else { id.order(last).max(Ordering::Equal) };
    }
    let (start, time) = (call.id::<T>(id).timestamp_micros(), epoch::saturated_unix_micros(timestamptz));
    // Avoids the division that truncates the time to a tick.
    if time < start {
        Ordering::Greater
    } else if time.saturating_sub(start) < T::TICKS.micros {
        Ordering::Equal
    } else {
        Ordering::Less
    }
}

/// Returns the first and the last ID of the tick that contains a time, or of the nearest tick.
#[inline]
fn nearest<T: StoredId>(timestamptz: i64) -> (T, T) {
    let tick = T::TICKS.nearest(epoch::saturated_unix_micros(timestamptz));
    (T::first_of(tick), T::last_of(tick))
}

/// `T_time_bound(timestamptz, text) → T`: of the IDs that satisfy the operator with this symbol, the nearest to the time; NULL if
/// no ID does. For a core type, the ID with which the operator compares.
pub fn bound<T: StoredId>(call: Call) -> Result<Datum, Error> {
    remembered::<T>(call, |operator, time| {
        if T::CORE_TYPE.is_some() {
            return Some(operator.with_id::<T>(time).1);
        }
        let (smallest, largest) = operator.ids::<T>(time)?;
        Some(if operator.is_from_below() { smallest } else { largest })
    })
}

/// `T_time_lower(timestamptz, text) → T`: the smallest ID that satisfies the operator with this symbol; the largest of all if no
/// ID does
pub fn lower<T: StoredId>(call: Call) -> Result<Datum, Error> {
    remembered::<T>(call, |operator, time| Some(operator.ids(time).map_or(T::MAX, |(smallest, _)| smallest)))
}

/// `T_time_upper(timestamptz, text) → T`: the largest ID that satisfies the operator with this symbol; the smallest of all if no
/// ID does
pub fn upper<T: StoredId>(call: Call) -> Result<Datum, Error> {
    remembered::<T>(call, |operator, time| Some(operator.ids(time).map_or(T::MIN, |(_, largest)| largest)))
}

/// `T_time_possible(T, timestamptz, text) → boolean`: for the smallest and the largest ID, whether any ID satisfies the operator;
/// true for the others, which `T_time_lower` and `T_time_upper` exclude if no ID does
pub fn possible<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let id = call.id::<T>(0);
    if id != T::MIN && id != T::MAX {
        return Ok(Datum::from(true));
    }
    let Some(operator) = Operator::from_symbol(call.varlena(2)) else { return Ok(call.null()) };
    Ok(Datum::from(operator.ids::<T>(call.int8(1)).is_some()))
}

/// Returns the ID that `find` returns for the time and the operator that are the arguments of the call; NULL if there is none.
fn remembered<T: StoredId>(call: Call, find: fn(Operator, i64) -> Option<T>) -> Result<Datum, Error> {
    let (time, symbol) = (call.int8(0), call.varlena(1));
    // No symbol of an operator is longer than two bytes.
    let argument = (time, symbol.len(), symbol.first().copied(), symbol.get(1).copied());
    let id = call.remembered(argument, || {
        let found = Operator::from_symbol(symbol).and_then(|operator| find(operator, time));
        Ok(found.map(T::to_stored))
    })?;
    Ok(id.map_or_else(|| call.null(), StoredDatum::into_datum))
}
