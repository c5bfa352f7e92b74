//! Text and binary input and output.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::{self, StoredDatum, Type};
use crate::error::Error;
use crate::settings;

/// `T_in(cstring) → T`
pub fn input<T: Type>(call: Call) -> Result<Datum, Error> {
    let text = call.cstring(0);
    match T::parse(text.to_bytes()) {
        Ok(id) => Ok(id.to_stored().into_datum()),
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
pub fn from_bytes<T: Type>(bytes: &[u8]) -> Result<Datum, Error> {
    let expected = <T::Stored as Stored>::LEN;
    let stored = T::Stored::from_bytes(bytes).ok_or_else(|| Error::bad_length::<T>(expected, bytes.len()))?;
    match T::from_stored(stored) {
        Some(id) => Ok(id.to_stored().into_datum()),
        None => Err(Error::out_of_range::<T>(hexadecimal(bytes).as_bytes())),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("\\x"), |hex, byte| format!("{hex}{byte:02x}"))
}
