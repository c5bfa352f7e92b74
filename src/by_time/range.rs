//! `id <@ tstzrange`: whether an ID is within the ticks of a range, and the first and the last ID in it.

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};

/// `T_range_lower(tstzrange) → T`, `T_range_upper(tstzrange) → T`: the first and the last ID in the range. If there is none, the largest
/// and the smallest of all.
pub fn bound<T: StoredId>(call: Call, of: fn(T::Stored, T::Stored) -> T::Stored) -> Result<Datum, Error> {
    let &(first, last) = call.ids_in_range::<T>(0)?;
    Ok(of(first, last).into_datum())
}

/// `T_contained_by_range(T, tstzrange) → boolean`, `T_range_contains(tstzrange, T) → boolean`: whether the argument with the number
/// `id` is within the one with the number `range`
pub fn is_within<T: StoredId>(call: Call, id: usize, range: usize) -> Result<Datum, Error> {
    let (&(first, last), id) = (call.ids_in_range::<T>(range)?, call.stored::<T>(id));
    Ok(Datum::from(first.order(id).is_le() && id.order(last).is_le()))
}
