//! Texts of IDs with a prefix: see [`scru_ids::prefixed`].

use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, prefixed};

use crate::call::Call;
use crate::call::error::{Error, excerpt, quoting, sql_error};
use crate::call::stored::StoredId;
use crate::pg::datum;

/// `T_prefixed(text, T) → text`: a prefix and the [suffix](scru_ids::SortableId::suffix) of an ID. Raises 22023 for an invalid prefix.
///
/// The function is IMMUTABLE: no setting changes the suffix.
pub fn prefixed<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let (prefix, id) = (prefix(call)?, call.id::<T>(1));
    Ok(datum::varlena(&prefixed::join(prefix, id.suffix(&mut [0; MAX_TEXT_LEN]))))
}

/// `T_unprefixed(text, text) → T`: the ID of a text with a prefix
///
/// Raises 22023 for an invalid prefix, 22P02 for another prefix, and 22P02 or 22003 like `T_in` for the rest of the text.
pub fn unprefixed<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let (expected, text) = (prefix(call)?, call.varlena(1));
    let (received, id) = prefixed::split(text);
    if received != expected {
        let prefixes = [expected, &excerpt(received)];
        let detail = quoting("Expected the prefix \"{}\", but received \"{}\".", &prefixes);
        return Err(Error::malformed::<T>(text).detail(detail));
    }
    T::parse_suffix(id).map(T::to_datum).map_err(|error| Error::bad_text::<T>(id, error))
}

/// The first argument if it is a valid prefix.
fn prefix<'call>(call: Call<'call>) -> Result<&'call [u8], Error> {
    let prefix = call.varlena(0);
    if prefixed::is_prefix(prefix) {
        return Ok(prefix);
    }
    Err(sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, quoting("invalid prefix \"{}\"", &[&excerpt(prefix)]))
        .detail("A prefix has at most 63 lower-case ASCII letters and underscores, and no underscore at its ends."))
}
