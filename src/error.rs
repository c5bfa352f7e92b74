//! Errors as the server's own types word them: a message, the reason as DETAIL, the way out as HINT, and an SQLSTATE that
//! programs can branch on.

use core::ffi::{CStr, c_char, c_int};
use std::fmt::Display;
use std::io;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Datum, Node};
use scru_ids::{BytesError, MAX_TEXT_LEN, ParseError, ParseErrorKind, SortableId};

use crate::{datum, epoch, server, shape};

/// An error on its way to the user: one word, so that a result that could have been one costs nothing to hand on.
#[derive(Debug)]
pub struct Error(Box<Fields>);

/// Texts are bytes, for what they quote is in the database's encoding, whichever it is.
#[derive(Debug)]
struct Fields {
    sqlstate: SqlState,
    message: Vec<u8>,
    detail: Option<Vec<u8>>,
    hint: Option<Vec<u8>>,
}

impl Error {
    /// An error with a message.
    pub fn new(sqlstate: SqlState, message: impl Into<Vec<u8>>) -> Self {
        Self(Box::new(Fields { sqlstate, message: message.into(), detail: None, hint: None }))
    }

    /// With the reason.
    pub fn detail(mut self, detail: impl Into<Vec<u8>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// With the way out.
    pub fn hint(mut self, hint: impl Into<Vec<u8>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// A text that denotes no ID.
    #[cold]
    pub fn bad_text<T: SortableId>(text: &CStr, error: ParseError) -> Self {
        let bytes = text.to_bytes();
        let (detail, hint) = match error.kind {
            ParseErrorKind::OutOfRange => return Self::out_of_range::<T>(bytes),
            ParseErrorKind::InvalidDigit => {
                let character = character_at(text, error.position);
                let position = error.position + 1;
                let detail =
                    [b"Invalid digit \"", character, format!("\" at position {position}.").as_bytes()].concat();
                let is_lookalike = matches!(character, [b'I' | b'i' | b'L' | b'l' | b'O' | b'o' | b'U' | b'u']);
                (detail, is_lookalike.then(|| format!("A {} has no digits I, L, O and U.", T::NAME)))
            }
            ParseErrorKind::TooShort { .. } | ParseErrorKind::TooLong { .. } => (sentence(&error).into(), None),
        };
        let intro = format!("invalid input syntax for type {}: \"", T::NAME);
        let message = [intro.as_bytes(), bytes, b"\""].concat();
        let error = Self::new(SqlState::ERRCODE_INVALID_TEXT_REPRESENTATION, message).detail(detail);
        match shape::hint::<T>(bytes).or(hint) {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// A value, as the user wrote it, that is well formed but no ID.
    #[cold]
    pub fn out_of_range<T: SortableId>(value: &[u8]) -> Self {
        let mut buffer = [0; MAX_TEXT_LEN];
        let largest = T::MAX.encode(&T::Settings::default(), &mut buffer);
        Self::beyond::<T>(value).detail(format!("The largest {} is \"{largest}\".", T::NAME))
    }

    /// A number outside the range of the type.
    #[cold]
    pub fn number_out_of_range<T: SortableId>(number: &str) -> Self {
        let number_of =
            |id: T| id.to_be_bytes().as_ref().iter().fold(0, |number, &byte| number << 8 | u128::from(byte));
        Self::beyond::<T>(number.as_bytes()).detail(format!(
            "The valid range is from {} to {}.",
            number_of(T::MIN),
            number_of(T::MAX)
        ))
    }

    fn beyond<T: SortableId>(value: &[u8]) -> Self {
        let message = [b"value \"", value, format!("\" is out of range for type {}", T::NAME).as_bytes()].concat();
        Self::new(SqlState::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, message)
    }

    /// Bytes that are no ID.
    #[cold]
    pub fn bad_bytes<T: SortableId>(bytes: &[u8], error: BytesError) -> Self {
        if error == BytesError::OutOfRange {
            let hex = bytes.iter().fold(String::from("\\x"), |hex, byte| format!("{hex}{byte:02x}"));
            return Self::out_of_range::<T>(hex.as_bytes());
        }
        let message = format!("incorrect binary data format for type {}", T::NAME);
        Self::new(SqlState::ERRCODE_INVALID_BINARY_REPRESENTATION, message).detail(sentence(&error))
    }

    /// A time for which the type has no ID.
    #[cold]
    pub fn time_out_of_range<T: SortableId>() -> Self {
        let [first, last] = [T::MIN, T::MAX].map(epoch::timestamptz_text);
        let message = format!("timestamp out of range for type {}", T::NAME);
        Self::new(SqlState::ERRCODE_DATETIME_FIELD_OVERFLOW, message)
            .detail(format!("The time of a {} is between {first} and {last}.", T::NAME))
    }

    /// The operating system has no random numbers.
    #[cold]
    pub fn no_randomness(error: &dyn Display) -> Self {
        Self::new(SqlState::ERRCODE_SYSTEM_ERROR, "could not read random numbers from the operating system")
            .detail(format!("{error}."))
    }
}

/// The reason of the operating system, as the server's own messages have it.
pub fn os_reason(failure: &io::Error) -> String {
    let reason = failure.to_string();
    reason.split(" (os error").next().unwrap_or_default().to_owned()
}

/// What the pure crate says of an error, as a full sentence.
fn sentence(error: &dyn Display) -> String {
    let mut sentence = format!("{error}.");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

/// The character of the database's encoding that begins at a byte. A database without an encoding doesn't know: there it is
/// all bytes that are not ASCII, for a client that has an encoding could not be sent a part of a character.
fn character_at(text: &CStr, position: usize) -> &[u8] {
    let rest = text.to_bytes_with_nul().get(position..).unwrap_or_default();
    let not_ascii = rest.iter().take_while(|byte| !byte.is_ascii()).count();
    // SAFETY: `rest` is a part of a C string, which the server's function reads up to its end at the most.
    let length = unsafe {
        match pg_sys::GetDatabaseEncoding() as u32 {
            pg_sys::pg_enc::PG_SQL_ASCII => not_ascii.max(1),
            _ => pg_sys::pg_mblen(rest.as_ptr().cast()) as usize,
        }
    };
    // What was cut off within a character ends before the NUL.
    &rest[..length.min(rest.len().saturating_sub(1))]
}

// As the server's ereport and ereturn macros call them; pgrx keeps its own declarations to itself.
unsafe extern "C-unwind" {
    fn errcode(sqlstate: c_int) -> c_int;
    fn errmsg_internal(format: *const c_char, ...) -> c_int;
    fn errdetail_internal(format: *const c_char, ...) -> c_int;
    fn errhint(format: *const c_char, ...) -> c_int;
}

/// Reports an error: where `context` asks for soft errors (from 16 on) by taking note of it there, and else by leaving the
/// function for good.
///
/// # Safety
/// To be called where a longjmp passes no frame with something to drop, with the context of the function's call.
#[cold]
pub unsafe fn report(Error(error): Error, context: *mut Node) -> Datum {
    // SAFETY: called as the server's macros do. Nothing is left to drop when the last call leaves.
    unsafe {
        if server::start_error(context) {
            errcode(error.sqlstate as c_int);
            errmsg_internal(c"%s".as_ptr(), datum::c_string(error.message.as_slice()).as_ptr());
            if let Some(detail) = &error.detail {
                errdetail_internal(c"%s".as_ptr(), datum::c_string(detail.as_slice()).as_ptr());
            }
            if let Some(hint) = &error.hint {
                errhint(c"%s".as_ptr(), datum::c_string(hint.as_slice()).as_ptr());
            }
            drop(error);
            server::finish_error(context, line!());
        }
    }
    Datum::null()
}
