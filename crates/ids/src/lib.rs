#![doc = include_str!("../README.md")]
//!
//! # Generate an ID with another clock or random source
//!
//! [`Generator::with`] takes a clock and a random source. [`SortableId::step`] is the underlying function, which also takes the
//! state of the generator as an argument.
//!
//! # All types
//!
//! [`registry!`] invokes a macro for every type, and [`id_systems!`] also for the ID systems whose IDs are values of a type of the
//! server.
#![forbid(unsafe_code)]

pub mod base16;
pub mod base32;
pub mod base36;
mod bytes;
mod digits;
mod error;
mod field;
mod generator;
pub mod horizon;
pub mod mark;
#[cfg(feature = "postgres-types")]
mod postgres;
pub mod prefixed;
pub mod protocol;
#[cfg(test)]
mod script;
mod scru128;
mod scru160;
mod scru64;
pub mod selectivity;
mod serialize;
mod setting;
pub mod setting_state;
mod sort_key;
#[cfg(feature = "sqlx")]
mod sqlx_postgres;
mod standalone;
mod stored;
mod time;
mod ulid;
mod ulidflake;
mod uuidv7;

pub use bytes::BytesError;
pub use error::{ParseError, ParseErrorKind};
pub use field::{Field, FieldValue, Getter};
pub use generator::{
    Context, FastPath, FastRange, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, MAX_ROLLBACK_MICROS, Moment, OnClockRollback,
    Refusal, State, Step, Word, place_in_time, place_strictly,
};
pub use scru64::{Scru64, Scru64Node, Scru64Settings};
pub use scru128::Scru128;
pub use scru160::{Scru160, Scru160Counter, Scru160Output, Scru160Settings};
pub use setting::{Kind, Setting, SettingContext};
pub use sort_key::SortKeys;
pub use standalone::{Clock, Generator, SystemClock};
pub use stored::Stored;
pub use time::{Ticks, TimeError};
pub use ulid::Ulid;
pub use ulidflake::{UlidFlake, UlidFlakeOverflow, UlidFlakeSettings};
pub use uuidv7::Uuidv7;

use std::{fmt, hash::Hash, str::FromStr};

use rand::Rng;

use mark::NodeCode;

/// The only list of the ID systems with an SQL type of their own. `registry!(each)` invokes `each!(sql_name, RustName)` for every
/// type.
///
/// `registry!(each, sql)` invokes `each!(sql_name, RustName, "path")`, with the path of the type's SQL script relative to the
/// directory `src` of the extension.
#[macro_export]
macro_rules! registry {
    ($each:ident $(, $sql:ident)?) => {
        $crate::registered!($each $($sql)?, scru128, Scru128, "../sql/install/scru128.sql");
        $crate::registered!($each $($sql)?, scru160, Scru160, "../sql/install/scru160.sql");
        $crate::registered!($each $($sql)?, scru64, Scru64, "../sql/install/scru64.sql");
        $crate::registered!($each $($sql)?, ulid, Ulid, "../sql/install/ulid.sql");
        $crate::registered!($each $($sql)?, ulidflake, UlidFlake, "../sql/install/ulidflake.sql");
    };
}

/// The only list of the ID systems whose IDs are values of a type of the server, [`CORE_TYPE`](SortableId::CORE_TYPE).
/// `core_registry!(each)` invokes `each!(sql_name, RustName)` for every one of them.
#[macro_export]
macro_rules! core_registry {
    ($each:ident) => {
        $each!(uuidv7, Uuidv7);
    };
}

/// Invokes `each!(sql_name, RustName)` for all ID systems: those of [`registry!`] and of [`core_registry!`].
#[macro_export]
macro_rules! id_systems {
    ($each:ident) => {
        $crate::registry!($each);
        $crate::core_registry!($each);
    };
}

/// An entry of [`registry!`].
#[doc(hidden)]
#[macro_export]
macro_rules! registered {
    ($each:ident, $name:ident, $id:ident, $path:literal) => {
        $each!($name, $id);
    };
    ($each:ident sql, $name:ident, $id:ident, $path:literal) => {
        $each!($name, $id, $path);
    };
}

/// Implements `Display` and `Into<String>`, which return the canonical text, and `FromStr`, which parses any accepted text.
macro_rules! text_traits {
    ($id:ty) => {
        impl std::fmt::Display for $id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut buffer = [0; crate::MAX_TEXT_LEN];
                f.pad(crate::SortableId::encode(*self, &Default::default(), &mut buffer))
            }
        }

        /// Returns the canonical text, like `to_string()`, but without the overhead of a formatter.
        impl From<$id> for String {
            fn from(id: $id) -> Self {
                let mut buffer = [0; crate::MAX_TEXT_LEN];
                crate::SortableId::encode(id, &Default::default(), &mut buffer).to_owned()
            }
        }

        impl std::str::FromStr for $id {
            type Err = crate::ParseError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                crate::SortableId::parse(text.as_bytes())
            }
        }
    };
}
use text_traits;

/// The length of the longest text of any type, in bytes.
pub const MAX_TEXT_LEN: usize = 40;

/// An ID system: the properties of its IDs, their conversions, and their generator.
///
/// The order of the values (`Ord`) is the order of their big-endian bytes and of their canonical texts in ASCII.
pub trait SortableId:
    Copy + Ord + Hash + fmt::Debug + fmt::Display + FromStr<Err = ParseError> + Send + Sync + 'static
{
    /// The name in SQL, in lower case: that of the type, unless there is a [`CORE_TYPE`](Self::CORE_TYPE), and the prefix of the
    /// functions' names.
    const NAME: &'static str;
    /// The type of the server whose values include the IDs; `None` if the extension has a type [`NAME`](Self::NAME), all of whose
    /// values are IDs.
    const CORE_TYPE: Option<&'static str> = None;
    /// The name of the SQL type of the IDs.
    const SQL_TYPE: &'static str = match Self::CORE_TYPE {
        Some(name) => name,
        None => Self::NAME,
    };
    /// A one-line description of the type. It is also the COMMENT on the SQL type.
    const SUMMARY: &'static str;
    /// The length of the canonical text, in ASCII digits.
    const TEXT_LEN: usize;
    /// The smallest value.
    const MIN: Self;
    /// The largest value.
    const MAX: Self;
    /// The epoch, the unit and the range of the timestamp.
    const TICKS: Ticks;
    /// The number of bits directly below the timestamp that a generator increments. The bits below these are random in every ID.
    const SEQUENCE_BITS: u32;
    /// The fields except the timestamp, most significant first. Released SQL scripts refer to a field by its index: append new
    /// fields, never reorder them.
    const FIELDS: &'static [Field<Self>];
    /// Whether the specification defines the ID as an integer wider than 64 bits. In SQL, such a type has casts to and from
    /// `numeric`.
    const WIDE_INTEGER: bool = false;
    /// Whether an ID has enough random bits to be unique without a generator state. In SQL, such a type has `gen_T(timestamptz)`.
    const BACKFILL: bool = false;
    /// Whether IDs are unique only if all sessions of a server share one generator state.
    const SERVER_WIDE: bool = false;
    /// The width of the largest [`NodeCode`] that [`node`](Self::node) returns, in bits.
    const NODE_BITS: u32 = 1;
    /// Whether a setting selects the form of the text. In SQL, the output function of such a type is STABLE, not IMMUTABLE.
    const TEXT_VARIES: bool = false;
    /// The settings that are specific to this type.
    const SETTINGS: &'static [Setting<Self::Settings>] = &[];
    /// The fast path, which generates the same IDs as [`step`](Self::step). `None` unless most IDs of the type are the previous
    /// ID + 1.
    const FAST_PATH: Option<FastPath<Self>> = None;

    /// The stored form: an array of bytes if PostgreSQL passes the type by reference, an `i64` if it passes the type by value.
    type Stored: Stored;
    /// The parsed values of [`SETTINGS`](Self::SETTINGS).
    type Settings: Copy + Default + Send + Sync;
    /// The state of a generator between two IDs.
    type State: State;

    /// Returns whether the value is an ID of this system. Only a [`CORE_TYPE`](Self::CORE_TYPE) has other values. They sort by their
    /// bytes: between two ticks, or within a tick.
    fn is_id(self) -> bool {
        true
    }

    /// Returns the stored form of the ID.
    fn to_stored(self) -> Self::Stored;

    /// Returns the ID with this stored form, or `None` if the value is outside the type's range.
    fn from_stored(stored: Self::Stored) -> Option<Self>;

    /// Returns the big-endian bytes of the ID.
    fn to_be_bytes(self) -> <Self::Stored as Stored>::Bytes {
        self.to_stored().to_bytes()
    }

    /// Returns the ID with these big-endian bytes.
    ///
    /// # Errors
    /// Returns [`BytesError::WrongLength`] if `bytes` does not have the length of the type, and [`BytesError::OutOfRange`] if
    /// the bytes denote a number above [`MAX`](Self::MAX).
    fn from_be_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let expected = Self::Stored::LEN;
        let stored = Self::Stored::from_bytes(bytes);
        let stored = stored.ok_or(BytesError::WrongLength { expected, received: bytes.len() })?;
        Self::from_stored(stored).ok_or(BytesError::OutOfRange)
    }

    /// Parses an ID in any text form that the type accepts.
    ///
    /// # Errors
    /// Returns [`ParseError`], with the position of the error, if `text` is not a valid ID.
    fn parse(text: &[u8]) -> Result<Self, ParseError>;

    /// Writes the text of the ID to the beginning of `buffer`, and returns the part that was written, which is ASCII. `settings`
    /// select the form of the text. The rest of `buffer` is unchanged.
    fn digits<'a>(self, settings: &Self::Settings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a [u8];

    /// Writes the text after a [prefix](prefixed) to the beginning of `buffer`, and returns it. It is the canonical text. For a UUID, it
    /// is the suffix of a TypeID.
    fn suffix(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        self.digits(&Self::Settings::default(), buffer)
    }

    /// Parses the text after a prefix, in any text form of the ID. For a UUID, parses the suffix of a TypeID.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    fn parse_suffix(text: &[u8]) -> Result<Self, ParseError> {
        Self::parse(text)
    }

    /// Like [`digits`](Self::digits), but returns a `str`, which takes a UTF-8 check.
    fn encode<'a>(self, settings: &Self::Settings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a str {
        str::from_utf8(self.digits(settings, buffer)).unwrap_or_default()
    }

    /// Returns the timestamp, in ticks since the type's epoch.
    fn tick(self) -> u64;

    /// Returns the smallest ID of `tick`. `tick` must be at most [`TICKS.max`](Ticks::max).
    fn first_of(tick: u64) -> Self;

    /// Returns the largest ID of `tick`. `tick` must be at most [`TICKS.max`](Ticks::max).
    fn last_of(tick: u64) -> Self;

    /// Returns a random ID of `tick`. Only a type with [`BACKFILL`](Self::BACKFILL) has enough random bits for this ID to be
    /// unique.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self;

    /// Returns whether the ID has the node in `settings`; `false` for a type without nodes.
    fn is_local(self, settings: &Self::Settings) -> bool {
        let _ = settings;
        false
    }

    /// Returns the initial state of a generator whose predecessor's state is lost. For a [`SERVER_WIDE`](Self::SERVER_WIDE)
    /// type, no step from this state generates an ID that the predecessor may have generated until `now`, in microseconds since
    /// 1970-01-01 UTC. Other types start with the default state, because their random bits make IDs unique.
    fn successor_state(now: i64) -> Self::State {
        let _ = now;
        Self::State::default()
    }

    /// Returns the node of a generator with these settings; [`NodeCode::ALL`] for a type without nodes.
    fn node(settings: &Self::Settings) -> NodeCode {
        let _ = settings;
        NodeCode::ALL
    }

    /// Returns the node of these settings as text, such as `42/8`; `None` for a type without nodes.
    fn node_text(settings: &Self::Settings) -> Option<String> {
        let _ = settings;
        None
    }

    /// Returns the tick of the last ID, or 0 if no ID has been generated.
    fn state_tick(state: Self::State) -> u64;

    /// Returns a state from which every generated ID is greater than all IDs of `tick`.
    fn state_after(tick: u64, rng: &mut impl Rng) -> Self::State;

    /// Returns the last ID; `None` if no ID has been generated, or if the state does not contain all fields of the ID.
    fn last_id(state: Self::State) -> Option<Self> {
        let _ = state;
        None
    }

    /// Runs one step of the type's generator. Returns the next state and an ID, the time to wait for, or a refusal.
    fn step(state: Self::State, context: &Context<Self::Settings>, rng: &mut impl Rng) -> Step<Self>;

    /// Returns the time of the ID, in microseconds since 1970-01-01 UTC: the start of its tick.
    fn timestamp_micros(self) -> i64 {
        Self::TICKS.start(self.tick())
    }

    /// Returns the smallest ID whose time is at or after `micros`, in microseconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// Returns [`TimeError`] if `micros` is after the time of the largest ID.
    fn lower(micros: i64) -> Result<Self, TimeError> {
        Self::TICKS.at_or_after(micros).map(Self::first_of)
    }

    /// Returns the smallest ID of the tick that contains the time `micros`, in microseconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// Returns [`TimeError`] if `micros` is after the last tick.
    fn floor(micros: i64) -> Result<Self, TimeError> {
        Self::lower(Self::TICKS.floor(micros))
    }

    /// Returns the largest ID whose time is at or before `micros`, in microseconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// Returns [`TimeError`] if `micros` is before the time of the smallest ID.
    fn upper(micros: i64) -> Result<Self, TimeError> {
        Self::TICKS.at_or_before(micros).map(Self::last_of)
    }
}
