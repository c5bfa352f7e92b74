//! Errors with an SQLSTATE, a message, DETAIL and HINT, as the server's own types raise them.

use core::ffi::{CStr, c_char, c_int};
use std::fmt::Display;
use std::io;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Datum, Node};
use scru_ids::{BytesError, MAX_TEXT_LEN, ParseError, ParseErrorKind, SortableId};

use crate::{datum, epoch, server, shape};

/// An error for the user. It is one pointer wide, so that a `Result` is cheap to return.
#[derive(Debug)]
pub struct Error(Box<Fields>);

/// The texts are bytes, because they quote input in the database encoding.
#[derive(Debug)]
struct Fields {
    sqlstate: SqlState,
    message: Vec<u8>,
    detail: Option<Vec<u8>>,
    hint: Option<Vec<u8>>,
}

impl Error {
    /// Creates an error with a primary message.
    pub fn new(sqlstate: SqlState, message: impl Into<Vec<u8>>) -> Self {
        Self(Box::new(Fields { sqlstate, message: message.into(), detail: None, hint: None }))
    }

    /// Adds the DETAIL.
    pub fn detail(mut self, detail: impl Into<Vec<u8>>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds the HINT.
    pub fn hint(mut self, hint: impl Into<Vec<u8>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the error for a text that is not an ID: 22P02, or 22003 if its value is out of range.
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

    /// Returns the error for a well-formed value that is out of range (22003). `value` is the input of the user.
    #[cold]
    pub fn out_of_range<T: SortableId>(value: &[u8]) -> Self {
        let mut buffer = [0; MAX_TEXT_LEN];
        let largest = T::MAX.encode(&T::Settings::default(), &mut buffer);
        Self::beyond::<T>(value).detail(format!("The largest {} is \"{largest}\".", T::NAME))
    }

    /// Returns the error for a number that is out of range (22003).
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

    /// Returns the error for bytes that are not an ID: 22P03, or 22003 if their value is out of range.
    #[cold]
    pub fn bad_bytes<T: SortableId>(bytes: &[u8], error: BytesError) -> Self {
        if error == BytesError::OutOfRange {
            let hex = bytes.iter().fold(String::from("\\x"), |hex, byte| format!("{hex}{byte:02x}"));
            return Self::out_of_range::<T>(hex.as_bytes());
        }
        let message = format!("incorrect binary data format for type {}", T::NAME);
        Self::new(SqlState::ERRCODE_INVALID_BINARY_REPRESENTATION, message).detail(sentence(&error))
    }

    /// Returns the error for a time that has no ID of the type (22008).
    #[cold]
    pub fn time_out_of_range<T: SortableId>() -> Self {
        let [first, last] = [T::MIN, T::MAX].map(epoch::timestamptz_text);
        let message = format!("timestamp out of range for type {}", T::NAME);
        Self::new(SqlState::ERRCODE_DATETIME_FIELD_OVERFLOW, message)
            .detail(format!("The time of a {} is between {first} and {last}.", T::NAME))
    }

    /// Returns the error for a failure of the operating system's random source (58000).
    #[cold]
    pub fn no_randomness(error: &dyn Display) -> Self {
        Self::new(SqlState::ERRCODE_SYSTEM_ERROR, "could not read random numbers from the operating system")
            .detail(format!("{error}."))
    }
}

/// Returns the operating system's reason for a failure, without the error number, as in the server's own messages.
pub fn os_reason(failure: &io::Error) -> String {
    let reason = failure.to_string();
    reason.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Returns the message of an error of the pure crate as a full sentence.
fn sentence(error: &dyn Display) -> String {
    let mut sentence = format!("{error}.");
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

/// Returns the character of the database encoding that begins at a byte. In a database without an encoding (SQL_ASCII), a run of
/// non-ASCII bytes counts as one character, because a client with an encoding could not receive part of a character.
fn character_at(text: &CStr, position: usize) -> &[u8] {
    let rest = text.to_bytes_with_nul().get(position..).unwrap_or_default();
    let not_ascii = rest.iter().take_while(|byte| !byte.is_ascii()).count();
    // SAFETY: `rest` is the end of a C string, of which the server's function reads no byte after the NUL.
    let length = unsafe {
        match pg_sys::GetDatabaseEncoding() as u32 {
            pg_sys::pg_enc::PG_SQL_ASCII => not_ascii.max(1),
            _ => pg_sys::pg_mblen(rest.as_ptr().cast()) as usize,
        }
    };
    // An incomplete character ends before the NUL.
    &rest[..length.min(rest.len().saturating_sub(1))]
}

// The functions behind the server's ereport and ereturn macros, which pgrx declares privately.
unsafe extern "C-unwind" {
    fn errcode(sqlstate: c_int) -> c_int;
    fn errmsg_internal(format: *const c_char, ...) -> c_int;
    fn errdetail_internal(format: *const c_char, ...) -> c_int;
    fn errhint(format: *const c_char, ...) -> c_int;
}

/// Reports an error. From PostgreSQL 16 on, the error is soft if `context` asks for that: it is saved in `context`, and the
/// function returns. Otherwise the function does not return.
///
/// # Safety
/// `context` is that of the function's call. The frames that a longjmp would skip have nothing to drop.
#[cold]
pub unsafe fn report(Error(error): Error, context: *mut Node) -> Datum {
    // SAFETY: the calls follow the server's macros. Nothing is left to drop when the last one does not return.
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
