//! Functions of the casts that are not binary-coercible.

use core::ffi::CStr;

use pgrx::AnyNumeric;
use pgrx::datum::IntoDatum;
use pgrx::pg_sys::{Datum, Oid};
use scru_ids::Stored;

use crate::call::Call;
use crate::call::error::{Error, excerpt, quoting, sql_error};
use crate::call::stored::StoredId;
use crate::pg::unguarded::{DirectFunctionCall1Coll, numeric_out};

/// `T_from_bigint(bigint) → T`, for 8-byte types. Raises 22003 for a value out of range.
pub fn from_bigint<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let value = call.int8(0);
    let id = T::from_be_bytes(&value.to_be_bytes());
    id.map(T::to_datum).map_err(|_| out_of_range::<T>(&value.to_string()))
}

/// `T_to_numeric(T) → numeric`, for types with [`WIDE_INTEGER`](scru_ids::SqlId::WIDE_INTEGER)
pub fn to_numeric<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(AnyNumeric::from(call.stored::<T>(0).head()).into_datum().unwrap_or(Datum::null()))
}

/// `T_from_numeric(numeric) → T`, for types with [`WIDE_INTEGER`](scru_ids::SqlId::WIDE_INTEGER)
///
/// Raises 22023 for a value with a fractional part, 22003 for a value out of range.
pub fn from_numeric<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the function takes a numeric, as the SQL declares the argument, and returns a C string in ASCII.
    let text = unsafe {
        let text = DirectFunctionCall1Coll(Some(numeric_out), Oid::INVALID, call.datum(0));
        CStr::from_ptr(text.cast_mut_ptr()).to_str().unwrap_or_default()
    };
    let (integer, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.contains(|digit| digit != '0') {
        let value = excerpt(text.as_bytes());
        return Err(sql_error!(
            ERRCODE_INVALID_PARAMETER_VALUE,
            quoting("numeric value {} is not an integer", &[&value])
        )
        .detail(format!("Only integers can be cast from numeric to {}.", T::NAME)));
    }
    // Parsing fails if the value is negative, too large, infinite or NaN. All of these are out of range.
    let id = integer.parse::<u128>().ok().and_then(|value| T::from_be_bytes(&value.to_be_bytes()).ok());
    id.map(T::to_datum).ok_or_else(|| out_of_range::<T>(text))
}

/// The error for a number that is out of range (22003).
#[cold]
fn out_of_range<T: StoredId>(value: &str) -> Error {
    let [smallest, largest] = [T::MIN, T::MAX].map(|id| id.to_stored().head());
    Error::beyond::<T>(value.as_bytes()).detail(format!("The valid range is from {smallest} to {largest}."))
}
