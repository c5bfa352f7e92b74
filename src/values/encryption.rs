//! Encryption of IDs to values of the type `uuid`, which hide their time: see [`scru_ids::encryption`].

use std::fmt::Display;

use pgrx::pg_sys::Datum;
use scru_ids::encryption::{Encryptable, IdCipher, KeyLengthError};

use crate::call::Call;
use crate::call::error::{Error, sql_error};
use crate::call::stored::StoredDatum;

/// `T_encrypt(T, bytea) → uuid`, `scru_bigint_encrypt(bigint, bytea) → uuid`
///
/// Raises 22023 for a key whose length is neither 16 nor 32 bytes, and for a uuid that is not of version 7.
pub fn encrypt<T: Encryptable + Display + 'static>(call: Call, id: T) -> Result<Datum, Error> {
    let uuid = cipher::<T>(call)?.encrypt(id);
    uuid.map(StoredDatum::into_datum).ok_or_else(|| not_of_version_7(&id))
}

/// `T_decrypt(uuid, bytea) → T`, `scru_bigint_decrypt(uuid, bytea) → bigint`: NULL if no ID is encrypted to the uuid
///
/// Raises 22023 as [`encrypt`] for the key.
pub fn decrypt<T: Encryptable + 'static>(call: Call, to_datum: fn(T) -> Datum) -> Result<Datum, Error> {
    // SAFETY: the SQL declares the argument as uuid.
    let uuid = unsafe { <[u8; 16]>::from_datum(call.datum(0)) };
    Ok(cipher(call)?.decrypt(uuid).map_or_else(|| call.null(), to_datum))
}

/// The cipher of the key that is the second argument. It is kept for the following rows of the statement.
fn cipher<T: Encryptable + 'static>(call: Call<'_>) -> Result<&IdCipher<T>, Error> {
    let key = call.varlena(1);
    // The length of the key is checked before it is copied: memory of Rust must not grow with an argument.
    let make = || IdCipher::new(key).map(|cipher| (key.to_vec(), cipher)).map_err(wrong_length);
    let (_, cipher) = call.kept(|(of, _): &(Vec<u8>, IdCipher<T>)| of == key, make)?;
    Ok(cipher)
}

/// The error for a key of another length (22023). It does not show the key.
#[cold]
fn wrong_length(KeyLengthError { received }: KeyLengthError) -> Error {
    sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "invalid key length")
        .detail(format!("A key has 16 or 32 bytes, but this one has {received}."))
        .hint("A key consists of random bytes, not of the characters of a password.")
}

/// The error for a uuid that is not of version 7 (22023). It does not show the uuid, which a view hides from its users.
#[cold]
fn not_of_version_7(uuid: &dyn Display) -> Error {
    let version = uuid.to_string().chars().nth(14).and_then(|digit| digit.to_digit(16));
    let detail = match version {
        Some(7) | None => "Its variant is not that of RFC 9562.".to_owned(),
        Some(version) => format!("Its version is {version}."),
    };
    sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "uuid is not of version 7")
        .detail(detail)
        .hint("UUIDs of version 4 have no time, and need no encryption.")
}
