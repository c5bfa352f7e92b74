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
        let micros = epoch::saturated_unix_micros(timestamptz);
        (T::lower(micros).to_stored(), T::upper(micros).to_stored())
    };
    let (first, last) = call.remembered(timestamptz, || Ok(bounds())).map_or_else(|_| bounds(), |bounds| *bounds);
    let id = call.stored::<T>(id);
    if id.order(first).is_lt() { Ordering::Less } else { id.order(last).max(Ordering::Equal) }
}

/// `T_time_bound(timestamptz, text) → T`: of the IDs that satisfy the operator with this symbol, the nearest to the time; NULL if
/// no ID does. For a core type, the ID with which the operator compares.
pub fn bound<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // The planner's calls have a constant symbol.
    call.id_of_time::<T>(|| call.has_stable(1), |micros| Operator::from_symbol(call.varlena(1))?.nearest(micros))
}
