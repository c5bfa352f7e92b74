//! `id <@ tstzrange`: whether an ID is within the ticks of a range, and the first and the last ID in it: see
//! [`scru_server::time_compare`].

use pgrx::pg_sys::Datum;
use scru_server::time_compare::first_and_last;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};

/// What the bytes of a `tstzrange` contain after the OID of its type: up to two bounds, and flags. They are compared as numbers, since a
/// copy of the bytes, which are 5, 13 or 21, would cost more than the comparison of the ID.
type Bounds = (Option<u64>, Option<u64>, Option<u8>);

/// `T_range_lower(tstzrange) → T`: the first ID in the range; the largest of all if there is none
pub fn lower<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(remembered(call, 0, |(first, _): (T, T)| first.to_stored())?.into_datum())
}

/// `T_range_upper(tstzrange) → T`: the last ID in the range; the smallest of all if there is none
pub fn upper<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(remembered(call, 0, |(_, last): (T, T)| last.to_stored())?.into_datum())
}

/// `T_contained_by_range(T, tstzrange) → boolean`, `T_range_contains(tstzrange, T) → boolean`: whether the argument with the number
/// `id` is within the one with the number `range`
pub fn is_within<T: StoredId>(call: Call, id: usize, range: usize) -> Result<Datum, Error> {
    let (&(first, last), id) = (remembered(call, range, stored::<T>)?, call.stored::<T>(id));
    Ok(Datum::from(first.order(id).is_le() && id.order(last).is_le()))
}

fn stored<T: StoredId>((first, last): (T, T)) -> (T::Stored, T::Stored) {
    (first.to_stored(), last.to_stored())
}

/// What `part` makes of the first and the last ID in the range that is an argument of the call.
fn remembered<T: StoredId, V: Copy>(call: Call<'_>, index: usize, part: fn((T, T)) -> V) -> Result<&V, Error> {
    let range = call.varlena(index);
    let bound = |start| Some(u64::from_ne_bytes(*range.get(start..)?.first_chunk()?));
    let bounds: Bounds = (bound(4), bound(12), range.last().copied());
    call.remembered(bounds, || Ok(part(first_and_last(call.tstzrange(index)))))
}
