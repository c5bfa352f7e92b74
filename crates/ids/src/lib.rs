#![doc = include_str!("../README.md")]
//!
//! # What the extension uses
//!
//! Items that are hidden in the documentation are the extension's. They can change in each version.
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
#[doc(hidden)]
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
pub use generator::{OnClockRollback, Refusal};
pub use id::SortableId;
pub use scru64::{NodeError, Scru64, Scru64Node, Scru64Settings};
pub use scru128::Scru128;
pub use scru160::{Scru160, Scru160Counter, Scru160Settings};
pub use standalone::{Clock, Generator, SystemClock};
pub use ulid::Ulid;
pub use ulidflake::{Ulidflake, UlidflakeOverflow, UlidflakeSettings};
pub use uuidv7::Uuidv7;

#[doc(hidden)]
pub use {
    generator::{Context, GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, MAX_ROLLBACK_MICROS, NoId, Step},
    id::{MAX_TEXT_LEN, Stored},
    snowflake::Snowflake,
    sql::{Field, FieldValue, Getter, SqlId},
    time::Ticks,
};

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
#[doc(hidden)]
#[macro_export]
macro_rules! registry {
    ($($each:tt)*) => {
        $crate::registered!(($($each)*), scru128, Scru128, "../sql/install/scru128.sql");
        $crate::registered!(($($each)*), scru160, Scru160, "../sql/install/scru160.sql");
        $crate::registered!(($($each)*), scru64, Scru64, "../sql/install/scru64.sql");
        $crate::registered!(($($each)*), ulid, Ulid, "../sql/install/ulid.sql");
        $crate::registered!(($($each)*), ulidflake, Ulidflake, "../sql/install/ulidflake.sql");
    };
}

/// The only list of the ID systems whose IDs are values of a type of the server, [`CORE_TYPE`](SqlId::CORE_TYPE).
/// `core_registry!(each)` invokes `each!(sql_name, RustName)` for every one of them, and `core_registry!(|Id| expression)` evaluates
/// the expression, as [`registry!`] does.
#[doc(hidden)]
#[macro_export]
macro_rules! core_registry {
    ($($each:tt)*) => {
        $crate::registered!(($($each)*), uuidv7, Uuidv7);
    };
}

/// The types of 8 and 16 bytes, whose IDs can be encrypted to a UUID. `encrypted_registry!(each)` invokes
/// `each!(sql_name, RustName)` for every one of them.
#[doc(hidden)]
#[macro_export]
macro_rules! encrypted_registry {
    ($each:ident) => {
        $each!(scru128, Scru128);
        $each!(scru64, Scru64);
        $each!(ulid, Ulid);
        $each!(ulidflake, Ulidflake);
    };
}

/// Invokes `each!(sql_name, RustName)` or evaluates `|Id| expression` for all ID systems: those of [`registry!`] and of
/// [`core_registry!`].
#[doc(hidden)]
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
