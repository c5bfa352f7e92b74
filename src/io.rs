//! Text and binary input and output.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::{self, StoredId};
use crate::error::Error;
use crate::id_type::Type;
use crate::settings;

/// `T_in(cstring) → T`
pub fn input<T: Type>(call: Call) -> Result<Datum, Error> {
    let text = call.cstring(0);
    match T::parse(text.to_bytes()) {
        Ok(id) => Ok(id.to_datum()),
        Err(error) => Err(Error::bad_text::<T>(text, error)),
    }
}

/// `T_out(T) → cstring`
pub fn output<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(datum::cstring(call.id::<T>(0), &settings::of::<T>()))
}

/// `T_recv(internal) → T`
pub fn receive<T: Type>(call: Call) -> Result<Datum, Error> {
    from_bytes::<T>(call.message())
}

/// `T_send(T) → bytea`, also the cast
pub fn send<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(datum::varlena(call.stored::<T>(0).to_bytes().as_ref()))
}

/// The ID of big-endian bytes.
pub fn from_bytes<T: StoredId>(bytes: &[u8]) -> Result<Datum, Error> {
    match T::from_be_bytes(bytes) {
        Ok(id) => Ok(id.to_datum()),
        Err(error) => Err(Error::bad_bytes::<T>(bytes, error)),
    }
}
