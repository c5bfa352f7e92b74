//! Text and binary input and output.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{self, StoredId};
use crate::pg::datum;
use crate::shared::id_type::Type;

/// `T_in(cstring) → T`, and `T_from_text(text) → T` of the extension `scru_text`. Raises 22P02 for malformed text, 22003 for a value
/// out of range.
pub fn parse<T: StoredId>(text: &[u8]) -> Result<Datum, Error> {
    T::parse(text).map(T::to_datum).map_err(|error| Error::bad_text::<T>(text, error))
}

/// `T_out(T) → cstring`
pub fn output<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(stored::cstring(call.id::<T>(0)))
}

/// `T_send(T) → bytea`, also the cast to bytea
pub fn send<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(datum::varlena(call.stored::<T>(0).to_bytes().as_ref()))
}

/// `T_recv(internal) → T` and the cast `T_from_bytea(bytea) → T`: the ID with these big-endian bytes. Raises 22P03 for a wrong
/// length, 22003 for a value out of range.
pub fn from_bytes<T: StoredId>(bytes: &[u8]) -> Result<Datum, Error> {
    T::from_be_bytes(bytes).map(T::to_datum).map_err(|error| Error::bad_bytes::<T>(bytes, error))
}
