//! The comparison operators between an ID and a `timestamptz`, and the functions of their bounds: see [`scru_server::time_compare`].

use core::cmp::Ordering;

use pgrx::pg_sys::Datum;
use scru_server::time_compare::{self, Operator};

use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{Call, epoch};

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
    if T::CORE_TYPE.is_none() {
        return time_compare::order(call.id::<T>(id), epoch::saturated_unix_micros(timestamptz));
    }
    let bounds = || {
        let (first, last) = time_compare::nearest::<T>(epoch::saturated_unix_micros(timestamptz));
        (first.to_stored(), last.to_stored())
    };
    let (first, last) = call.remembered(timestamptz, || Ok(bounds())).map_or_else(|_| bounds(), |bounds| *bounds);
    let id = call.stored::<T>(id);
    if id.order(first).is_lt() { Ordering::Less } else { id.order(last).max(Ordering::Equal) }
}

/// `T_time_bound(timestamptz, text) → T`: of the IDs that satisfy the operator with this symbol, the nearest to the time; NULL if
/// no ID does. For a core type, the ID with which the operator compares.
pub fn bound<T: StoredId>(call: Call) -> Result<Datum, Error> {
    remembered::<T>(call, |operator, time| {
        if T::CORE_TYPE.is_some() {
            return Some(operator.at_time::<T>(time).1);
        }
        let (smallest, largest) = operator.ids::<T>(time)?;
        Some(if operator.is_lower_bound() { smallest } else { largest })
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
    Ok(Datum::from(operator.ids::<T>(epoch::saturated_unix_micros(call.int8(1))).is_some()))
}

/// The ID that `find` returns for the operator and the time, in microseconds since 1970-01-01 UTC, of a call; NULL if there is none.
fn remembered<T: StoredId>(call: Call, find: fn(Operator, i64) -> Option<T>) -> Result<Datum, Error> {
    let (time, symbol) = (call.int8(0), call.varlena(1));
    // No symbol of an operator is longer than two bytes.
    let argument = (time, symbol.len(), symbol.first().copied(), symbol.get(1).copied());
    let id = call.remembered(argument, || {
        let found =
            Operator::from_symbol(symbol).and_then(|operator| find(operator, epoch::saturated_unix_micros(time)));
        Ok(found.map(T::to_stored))
    })?;
    Ok(id.map_or_else(|| call.null(), StoredDatum::into_datum))
}
