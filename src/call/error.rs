//! Errors with an SQLSTATE, a message, DETAIL and HINT, as the server's own types raise them.

use core::ffi::{CStr, c_char, c_int};
use core::ops::RangeInclusive;
use core::ptr;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;

use pgrx::pg_sys::panic::CaughtError;
use pgrx::pg_sys::{self, Datum, Node};
use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder};
use scru_ids::{BytesError, ParseError, ParseErrorKind, SqlId};

use crate::call::{epoch, hints};
use crate::pg::server;
use crate::pg::unguarded::{err_generic_string, errcode, errdetail_internal, errhint, errmsg_internal};

/// The error with an SQLSTATE and a message: a format string and its values, or a text by [`quoting`]. docs/errors.md lists these.
macro_rules! sql_error {
    ($sqlstate:ident, $message:literal $($values:tt)*) => {
        $crate::call::error::Error::new(pgrx::PgSqlErrorCode::$sqlstate, format!($message $($values)*))
    };
    ($sqlstate:ident, $message:expr) => {
        $crate::call::error::Error::new(pgrx::PgSqlErrorCode::$sqlstate, $message)
    };
}

pub(crate) use sql_error;

/// An error for the user. It is one pointer wide, so that a `Result` is cheap to return.
///
/// It is allocated in the current memory context, because the server can raise another error while it copies the texts of this one.
/// The longjmp would leak memory of Rust. Memory contexts are released in any case.
#[derive(Clone, Copy, Debug)]
pub struct Error(*mut Fields);

/// The texts are C strings in the database encoding. DETAIL, HINT and the names of objects are null if there are none.
#[derive(Debug)]
struct Fields {
    sqlstate: SqlState,
    message: *const c_char,
    detail: *const c_char,
    hint: *const c_char,
    objects: [*const c_char; OBJECTS.len()],
}

/// The fields of an error that name objects, for programs. A message that names an object has its field.
const OBJECTS: [u8; 5] = [
    pg_sys::PG_DIAG_SCHEMA_NAME,
    pg_sys::PG_DIAG_TABLE_NAME,
    pg_sys::PG_DIAG_COLUMN_NAME,
    pg_sys::PG_DIAG_CONSTRAINT_NAME,
    pg_sys::PG_DIAG_DATATYPE_NAME,
];

impl Error {
    pub fn new(sqlstate: SqlState, message: impl AsRef<[u8]>) -> Self {
        let (message, none) = (copied(message.as_ref()), ptr::null());
        // SAFETY: palloc returns that many bytes, aligned to 8, or raises an error.
        unsafe {
            let error = pg_sys::palloc(size_of::<Fields>()).cast::<Fields>();
            error.write(Fields { sqlstate, message, detail: none, hint: none, objects: [none; _] });
            Self(error)
        }
    }

    pub fn message(self) -> String {
        // SAFETY: the memory context outlives the function that fails. The message is a C string.
        unsafe { CStr::from_ptr((*self.0).message) }.to_string_lossy().into_owned()
    }

    pub fn detail(self, detail: impl AsRef<[u8]>) -> Self {
        // SAFETY: the memory context outlives the function that fails.
        unsafe { (*self.0).detail = copied(detail.as_ref()) };
        self
    }

    pub fn hint(self, hint: impl AsRef<[u8]>) -> Self {
        // SAFETY: as in `detail`.
        unsafe { (*self.0).hint = copied(hint.as_ref()) };
        self
    }

    /// Names the schema, the table, the column and the constraint or trigger.
    pub fn of(self, names: [Option<&CStr>; 4]) -> Self {
        let [schema, table, column, constraint] =
            names.map(|name| name.map_or(ptr::null(), |name| copied(name.to_bytes())));
        // SAFETY: as in `detail`.
        unsafe { (*self.0).objects = [schema, table, column, constraint, ptr::null()] };
        self
    }

    pub fn of_type<T: SqlId>(self) -> Self {
        // SAFETY: as in `detail`.
        unsafe { (*self.0).objects[4] = copied(T::SQL_TYPE.as_bytes()) };
        self
    }

    /// The error for a text that is not an ID: 22P02, or 22003 if its value is out of range.
    #[cold]
    pub fn bad_text<T: SqlId>(text: &[u8], error: ParseError) -> Self {
        let (detail, hint) = match error.kind {
            ParseErrorKind::OutOfRange => return Self::out_of_range::<T>(text),
            ParseErrorKind::InvalidDigit => {
                let character = character_at(text, error.position);
                let position = (error.position + 1).to_string();
                let values = [&*excerpt(character), position.as_bytes()];
                let detail = quoting("Invalid digit \"{}\" at position {}.", &values);
                // The hexadecimal form of a scru160 has other digits than its canonical text.
                let is_lookalike = matches!(character, [b'I' | b'i' | b'L' | b'l' | b'O' | b'o' | b'U' | b'u'])
                    && T::parse(&character.repeat(T::TEXT_LEN)).is_err();
                (detail, is_lookalike.then(|| format!("A {} has no digits I, L, O and U.", T::NAME)))
            }
            ParseErrorKind::WrongLength { .. } => (sentence(&error).into(), None),
        };
        let error = Self::malformed::<T>(text).detail(detail);
        // The other HINTs are casts to the extension's type.
        let of_type = if T::CORE_TYPE.is_none() { hints::hint::<T>(text) } else { None };
        of_type.or(hint).map_or(error, |hint| error.hint(hint))
    }

    /// The error for a text that is malformed (22P02), without a DETAIL.
    pub fn malformed<T: SqlId>(text: &[u8]) -> Self {
        let values = [T::SQL_TYPE.as_bytes(), &excerpt(text)];
        sql_error!(ERRCODE_INVALID_TEXT_REPRESENTATION, quoting("invalid input syntax for type {}: \"{}\"", &values))
            .of_type::<T>()
    }

    /// The error for a well-formed value that is out of range (22003). `value` is the input of the user.
    #[cold]
    pub fn out_of_range<T: SqlId>(value: &[u8]) -> Self {
        let error = Self::beyond::<T>(value);
        // The values of the server's type exceed the largest ID.
        if T::CORE_TYPE.is_some() { error } else { error.detail(format!("The largest {} is \"{}\".", T::NAME, T::MAX)) }
    }

    /// The error for a value that is out of range (22003), without a DETAIL.
    pub fn beyond<T: SqlId>(value: &[u8]) -> Self {
        let values = [&*excerpt(value), T::SQL_TYPE.as_bytes()];
        sql_error!(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, quoting("value \"{}\" is out of range for type {}", &values))
            .of_type::<T>()
    }

    /// The error for an integer argument that is out of range (22023).
    #[cold]
    pub fn argument_out_of_range(name: &str, argument: i32, range: &RangeInclusive<i32>) -> Self {
        let (first, last) = (range.start(), range.end());
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "{name} {argument} is out of range")
            .detail(format!("The valid range is from {first} to {last}."))
    }

    /// The error for bytes that are not an ID: 22P03, or 22003 if their value is out of range.
    #[cold]
    pub fn bad_bytes<T: SqlId>(bytes: &[u8], error: BytesError) -> Self {
        if error == BytesError::OutOfRange {
            let hex = bytes.iter().fold(String::from("\\x"), |hex, byte| format!("{hex}{byte:02x}"));
            return Self::out_of_range::<T>(hex.as_bytes());
        }
        sql_error!(ERRCODE_INVALID_BINARY_REPRESENTATION, "incorrect binary data format for type {}", T::NAME)
            .detail(sentence(&error))
            .of_type::<T>()
    }

    /// The error for a time that has no ID of the type (22008).
    #[cold]
    pub fn time_out_of_range<T: SqlId>() -> Self {
        let [first, last] = [T::MIN, T::MAX].map(|id| epoch::text(epoch::of(id)));
        sql_error!(ERRCODE_DATETIME_FIELD_OVERFLOW, "timestamp out of range for type {}", T::SQL_TYPE)
            .detail(format!("The time of a {} is between {first} and {last}.", T::NAME))
            .of_type::<T>()
    }

    /// The error for a failure of the operating system's random source (58000).
    #[cold]
    pub fn no_randomness(error: &dyn Display) -> Self {
        sql_error!(ERRCODE_SYSTEM_ERROR, "could not read random numbers from the operating system")
            .detail(format!("{error}."))
    }
}

/// Runs `work` in a subtransaction. If the server raises an error, rolls the subtransaction back, which also releases resources such
/// as pinned buffers, and returns an error with the message and XX000. The cancellation of a query is raised again.
///
/// Must not be called in parallel mode, and `work` must not process interrupts outside of the server's functions.
pub fn attempt<R>(work: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    // SAFETY: the calls are those of PL/pgSQL for a block with an exception handler.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        let return_to_caller = || {
            pg_sys::CurrentMemoryContext = context;
            pg_sys::CurrentResourceOwner = owner;
        };
        pg_sys::BeginInternalSubTransaction(ptr::null());
        pg_sys::CurrentMemoryContext = context;
        PgTryBuilder::new(AssertUnwindSafe(|| {
            let result = work();
            pg_sys::ReleaseCurrentSubTransaction();
            return_to_caller();
            result
        }))
        .catch_others(|cause| {
            pg_sys::CurrentMemoryContext = context;
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
            return_to_caller();
            match cause {
                CaughtError::PostgresError(report) if report.sql_error_code() != SqlState::ERRCODE_QUERY_CANCELED => {
                    Err(Error::new(SqlState::ERRCODE_INTERNAL_ERROR, report.message()))
                }
                cause => cause.rethrow(),
            }
        })
        .execute()
    }
}

fn copied(text: &[u8]) -> *const c_char {
    // SAFETY: copies that many bytes, and appends a NUL. pgrx's guard makes a panic of a server error, so that the caller's texts
    // are dropped.
    unsafe { pg_sys::pnstrdup(text.as_ptr().cast(), text.len()) }
}

/// The length of the longest input that a message quotes completely, in bytes.
const MAX_QUOTED: usize = 64;

/// A text with a value in place of each `{}`. The values are in the encoding of the database, which need not be UTF-8.
pub fn quoting(text: &str, values: &[&[u8]]) -> Vec<u8> {
    let values = values.iter().copied().chain([b"".as_slice()]);
    text.split("{}").map(str::as_bytes).zip(values).flat_map(|(text, value)| [text, value]).flatten().copied().collect()
}

/// Input for a message: the whole if it is short, otherwise its first characters and an ellipsis.
pub fn excerpt(input: &[u8]) -> Vec<u8> {
    if input.len() <= MAX_QUOTED {
        return input.to_vec();
    }
    // SAFETY: the server's function reads at most the given number of bytes.
    let length = unsafe {
        match pg_sys::GetDatabaseEncoding() as u32 {
            // As in `character_at`, a run of non-ASCII bytes is not divided.
            pg_sys::pg_enc::PG_SQL_ASCII => {
                let ascii = input[..=MAX_QUOTED].iter().rposition(u8::is_ascii);
                ascii.map_or(0, |last| (last + 1).min(MAX_QUOTED))
            }
            _ => pg_sys::pg_mbcliplen(input.as_ptr().cast(), input.len() as c_int, MAX_QUOTED as c_int) as usize,
        }
    };
    [&input[..length], b"..."].concat()
}

/// The message of an error of the pure crate, which begins with an ASCII letter, as a full sentence.
fn sentence(error: &dyn Display) -> String {
    let mut sentence = format!("{error}.");
    sentence[..1].make_ascii_uppercase();
    sentence
}

/// The character of the database encoding that begins at a byte. In a database without an encoding (SQL_ASCII), a run of
/// non-ASCII bytes counts as one character, because a client with an encoding could not receive part of a character.
fn character_at(text: &[u8], position: usize) -> &[u8] {
    let rest = text.get(position..).unwrap_or_default();
    // A C string with as many bytes as a character can have.
    let mut first = [0; pg_sys::MAX_MULTIBYTE_CHAR_LEN as usize + 1];
    rest.iter().zip(&mut first).take(pg_sys::MAX_MULTIBYTE_CHAR_LEN as usize).for_each(|(&byte, copy)| *copy = byte);
    // SAFETY: the server's function reads no byte after the NUL.
    let length = unsafe {
        match pg_sys::GetDatabaseEncoding() as u32 {
            pg_sys::pg_enc::PG_SQL_ASCII => rest.iter().take_while(|byte| !byte.is_ascii()).count().max(1),
            _ => pg_sys::pg_mblen(first.as_ptr().cast()) as usize,
        }
    };
    // A character may be incomplete.
    &rest[..length.min(rest.len())]
}

/// Reports an error. From PostgreSQL 16 on, the error is soft if `context` asks for that: it is saved in `context`, and the
/// function returns. Otherwise the function does not return.
///
/// # Safety
/// `context` is that of the function's call. The frames that a longjmp would skip have nothing to drop.
#[cold]
pub unsafe fn report(Error(error): Error, context: *mut Node) -> Datum {
    // SAFETY: the calls follow the server's macros. The error is in a memory context, so that nothing is to drop if a call does not
    // return.
    unsafe {
        server::report_error(context, line!(), || {
            let Fields { sqlstate, message, detail, hint, objects } = *error;
            errcode(sqlstate as c_int);
            errmsg_internal(c"%s".as_ptr(), message);
            if !detail.is_null() {
                errdetail_internal(c"%s".as_ptr(), detail);
            }
            if !hint.is_null() {
                errhint(c"%s".as_ptr(), hint);
            }
            for (field, name) in OBJECTS.into_iter().zip(objects).filter(|(_, name)| !name.is_null()) {
                err_generic_string(field.into(), name);
            }
        });
    }
    Datum::null()
}
