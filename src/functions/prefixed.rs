//! Texts of IDs with a prefix: see [`scru_ids::prefixed`].

use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, prefixed};

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::{self, StoredId};

/// `T_prefixed(text, T) → text`: a prefix and the [suffix](scru_ids::SortableId::suffix) of an ID. Raises 22023 for an invalid prefix.
///
/// The function is IMMUTABLE: no setting changes the suffix.
pub fn prefixed<T: StoredId>(call: Call) -> Result<Datum, Error> {
    with_prefix(call, call.id::<T>(1).suffix(&mut [0; MAX_TEXT_LEN]))
}

/// `T_unprefixed(text, text) → T`: the ID of a text with a prefix
///
/// Raises 22023 for an invalid prefix, 22P02 for another prefix, and 22P02 or 22003 like `T_in` for the rest of the text.
pub fn unprefixed<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let text = datum::c_string(without_prefix(call, T::SQL_TYPE)?);
    let id = T::parse_suffix(text.to_bytes()).map_err(|error| Error::bad_text::<T>(&text, error))?;
    Ok(id.to_datum())
}

/// Returns the prefix in the first argument, followed by the text of an ID.
fn with_prefix(call: Call, id: &[u8]) -> Result<Datum, Error> {
    Ok(datum::varlena(&prefixed::join(prefix(call)?, id)))
}

/// Returns the second argument without the prefix in the first argument.
fn without_prefix<'call>(call: Call<'call>, type_name: &str) -> Result<&'call [u8], Error> {
    let (expected, text) = (prefix(call)?, call.varlena(1));
    let (received, id) = prefixed::split(text);
    if received != expected {
        return Err(Error::wrong_prefix(type_name, text, expected, received));
    }
    Ok(id)
}

/// Returns the first argument if it is a valid prefix.
fn prefix<'call>(call: Call<'call>) -> Result<&'call [u8], Error> {
    let prefix = call.varlena(0);
    if prefixed::is_prefix(prefix) { Ok(prefix) } else { Err(Error::invalid_prefix(prefix)) }
}
