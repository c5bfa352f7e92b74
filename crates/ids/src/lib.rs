#![doc = include_str!("../README.md")]
//!
//! # Generate an ID with another clock or random source
//!
//! [`Generator::with`] takes a clock and a random source. [`GeneratedId::step`] is the underlying function, which also takes the
//! state of the generator as an argument.
//!
//! # All types
//!
//! [`registry!`] invokes a macro or evaluates an expression for every type, and [`id_systems!`] also for the ID systems whose IDs
//! are values of a type of the server.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod digits;
#[cfg(feature = "encryption")]
pub mod encryption;
mod error;
mod generator;
mod id;
#[cfg(feature = "postgres-types")]
mod postgres;
pub mod prefixed;
mod scru128;
mod scru160;
mod scru64;
mod snowflake;
mod sql;
#[cfg(feature = "sqlx")]
mod sqlx_postgres;
mod standalone;
mod time;
mod traits;
mod ulid;
mod ulidflake;
mod uuidv7;

pub use error::{BytesError, ParseError, ParseErrorKind};
pub use generator::{
    Context, GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, MAX_ROLLBACK_MICROS, Moment, OnClockRollback, Refusal,
    State, Step, Word, place_in_time, place_strictly,
};
pub use id::{MAX_TEXT_LEN, SortableId, Stored};
pub use scru64::{Scru64, Scru64Node, Scru64Settings};
pub use scru128::Scru128;
pub use scru160::{Scru160, Scru160Counter, Scru160Settings};
pub use snowflake::Snowflake;
pub use sql::{Field, FieldValue, Getter, SqlId};
pub use standalone::{Clock, Generator, SystemClock};
pub use time::{Ticks, TimeError};
pub use ulid::Ulid;
pub use ulidflake::{UlidFlake, UlidFlakeOverflow, UlidFlakeSettings};
pub use uuidv7::Uuidv7;

/// The only list of the ID systems with an SQL type of their own. `registry!(each)` invokes `each!(sql_name, RustName)` for every
/// type.
///
/// `registry!(each, sql)` invokes `each!(sql_name, RustName, "path")`, with the path of the type's SQL script relative to the
/// directory `src` of the extension.
///
/// `registry!(|Id| expression)` evaluates the expression for every type, which it can name `Id`. It is no closure: `return` and `?`
/// leave the function around it.
///
/// ```
/// use scru_ids::SortableId;
///
/// let mut lengths = Vec::new();
/// scru_ids::registry!(|Id| lengths.push((Id::NAME, Id::TEXT_LEN)));
/// assert!(lengths.contains(&("scru64", 12)));
/// ```
#[macro_export]
macro_rules! registry {
    ($($each:tt)*) => {
        $crate::registered!(($($each)*), scru128, Scru128, "../sql/install/scru128.sql");
        $crate::registered!(($($each)*), scru160, Scru160, "../sql/install/scru160.sql");
        $crate::registered!(($($each)*), scru64, Scru64, "../sql/install/scru64.sql");
        $crate::registered!(($($each)*), ulid, Ulid, "../sql/install/ulid.sql");
        $crate::registered!(($($each)*), ulidflake, UlidFlake, "../sql/install/ulidflake.sql");
    };
}

/// The only list of the ID systems whose IDs are values of a type of the server, [`CORE_TYPE`](SqlId::CORE_TYPE).
/// `core_registry!(each)` invokes `each!(sql_name, RustName)` for every one of them, and `core_registry!(|Id| expression)` evaluates
/// the expression, as [`registry!`] does.
#[macro_export]
macro_rules! core_registry {
    ($($each:tt)*) => {
        $crate::registered!(($($each)*), uuidv7, Uuidv7);
    };
}

/// The only list of the types whose IDs can be encrypted to a UUID: those of 8 and 16 bytes. `encrypted_registry!(each)` invokes
/// `each!(sql_name, RustName, bytes)` for every one of them.
#[macro_export]
macro_rules! encrypted_registry {
    ($each:ident) => {
        $each!(scru128, Scru128, 16);
        $each!(scru64, Scru64, 8);
        $each!(ulid, Ulid, 16);
        $each!(ulidflake, UlidFlake, 8);
    };
}

/// Invokes `each!(sql_name, RustName)` or evaluates `|Id| expression` for all ID systems: those of [`registry!`] and of
/// [`core_registry!`].
#[macro_export]
macro_rules! id_systems {
    ($($each:tt)*) => {
        $crate::registry!($($each)*);
        $crate::core_registry!($($each)*);
    };
}

/// An entry of [`registry!`] or [`core_registry!`].
#[doc(hidden)]
#[macro_export]
macro_rules! registered {
    (($each:ident), $name:ident, $id:ident $(, $path:literal)?) => {
        $each!($name, $id);
    };
    (($each:ident, sql), $name:ident, $id:ident, $path:literal) => {
        $each!($name, $id, $path);
    };
    ((|$Id:ident| $body:expr), $name:ident, $id:ident $(, $path:literal)?) => {{
        type $Id = $crate::$id;
        $body;
    }};
}
