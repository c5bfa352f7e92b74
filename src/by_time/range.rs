//! `id <@ tstzrange`: whether an ID is within the ticks of a range, and the first and the last ID in it: see
//! [`scru_server::time_compare`].

use pgrx::pg_sys::Datum;
use scru_server::time_compare::first_and_last;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};

/// The bytes of a `tstzrange`, which are the OID of its type, up to two bounds and flags, and then zeros; and their number. Without
/// the number, the flags of a range could be the first byte of another's bound.
type Bytes = ([u8; 24], usize);

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
    let mut bytes = Bytes::default();
    bytes.0[..range.len()].copy_from_slice(range);
    bytes.1 = range.len();
    call.remembered(bytes, || Ok(part(first_and_last(call.tstzrange(index)))))
}
