#![doc = include_str!("../README.md")]
//!
//! # Without a clock
//!
//! The types themselves have no clock, no random source and no state: [`SortableId::step`] takes them as arguments.
//! Each type has one file, and [`registry!`] is the one list of the types.
#![forbid(unsafe_code)]

pub mod base16;
pub mod base32;
pub mod base36;
mod bytes;
mod digits;
mod error;
mod field;
mod generator;
pub mod mark;
#[cfg(feature = "postgres-types")]
mod postgres;
#[cfg(test)]
mod script;
mod scru128;
mod scru160;
mod scru64;
mod serialize;
mod setting;
mod sort_key;
#[cfg(feature = "sqlx")]
mod sqlx_postgres;
mod standalone;
mod stored;
mod time;
mod ulid;
mod ulidflake;

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

use std::{fmt, hash::Hash, str::FromStr};

use rand::Rng;

use mark::NodeCode;

/// THE registry: the one list of the types. Calls `$each!(sql_name, RustName, "path of its SQL, seen from src/lib.rs")`
/// for every type.
#[macro_export]
macro_rules! registry {
    ($each:ident) => {
        $each!(scru128, Scru128, "../sql/install/scru128.sql");
        $each!(scru160, Scru160, "../sql/install/scru160.sql");
        $each!(scru64, Scru64, "../sql/install/scru64.sql");
        $each!(ulid, Ulid, "../sql/install/ulid.sql");
        $each!(ulidflake, UlidFlake, "../sql/install/ulidflake.sql");
    };
}

/// `Display`, `FromStr` and `Into<String>` as the canonical text, alike for every type.
macro_rules! text_traits {
    ($id:ty) => {
        impl std::fmt::Display for $id {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut buffer = [0; crate::MAX_TEXT_LEN];
                f.pad(crate::SortableId::encode(*self, &Default::default(), &mut buffer))
            }
        }

        /// As `to_string()`, without the formatter.
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

/// The longest text that any type writes, in bytes.
pub const MAX_TEXT_LEN: usize = 40;

/// A time-sortable ID: everything that a database has to know of its type.
///
/// Three orders are one: of values (`Ord`), of the big-endian bytes, and of the canonical text as ASCII.
pub trait SortableId:
    Copy + Ord + Hash + fmt::Debug + fmt::Display + FromStr<Err = ParseError> + Send + Sync + 'static
{
    /// The type's name in SQL, in lower case.
    const NAME: &'static str;
    /// One line that tells a reader of a catalog what the type is.
    const SUMMARY: &'static str;
    /// The number of digits of the canonical text.
    const TEXT_LEN: usize;
    /// The smallest value.
    const MIN: Self;
    /// The largest value.
    const MAX: Self;
    /// How the timestamp counts.
    const TICKS: Ticks;
    /// The number of bits below the timestamp in which the IDs of one generator count up. Lower bits are mere entropy.
    const SEQUENCE_BITS: u32;
    /// The fields, from the most to the least significant, without the timestamp. Their order is part of the SQL that a
    /// release installs: append, never reorder.
    const FIELDS: &'static [Field<Self>];
    /// Whether the specification defines the ID as an integer wider than 64 bits (SQL: casts to and from numeric).
    const WIDE_INTEGER: bool = false;
    /// Whether an ID has enough random bits to be made for a past time (SQL: `gen_T(timestamptz)`).
    const BACKFILL: bool = false;
    /// Whether IDs are unique only if every connection of a server draws from one state.
    const SERVER_WIDE: bool = false;
    /// The bits of the largest code that [`node`](Self::node) returns.
    const NODE_BITS: u32 = 1;
    /// Whether a setting chooses the form of the text (SQL: output is STABLE, not IMMUTABLE).
    const TEXT_VARIES: bool = false;
    /// The settings of this type alone, and how to keep them.
    const SETTINGS: &'static [Setting<Self::Settings>] = &[];
    /// How the type counts, if it does: what [`step`](Self::step) makes, too, but in a shorter way.
    const FAST_PATH: Option<FastPath<Self>> = None;

    /// What the bytes are held in: an array for types passed by reference, an `i64` for those passed by value.
    type Stored: Stored;
    /// The parsed values of [`SETTINGS`](Self::SETTINGS).
    type Settings: Copy + Default + Send + Sync;
    /// What a generator has to remember from one ID to the next.
    type State: State;

    /// The ID as it is stored.
    fn to_stored(self) -> Self::Stored;

    /// The ID that is stored so, or nothing if no ID is.
    fn from_stored(stored: Self::Stored) -> Option<Self>;

    /// The big-endian bytes of the ID.
    fn to_be_bytes(self) -> <Self::Stored as Stored>::Bytes {
        self.to_stored().to_bytes()
    }

    /// The ID of these big-endian bytes.
    ///
    /// # Errors
    /// [`BytesError`] if there are more or fewer than an ID has, or they make a number above the type's largest.
    fn from_be_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let expected = Self::Stored::LEN;
        let stored = Self::Stored::from_bytes(bytes);
        let stored = stored.ok_or(BytesError::WrongLength { expected, received: bytes.len() })?;
        Self::from_stored(stored).ok_or(BytesError::OutOfRange)
    }

    /// The ID that `text` denotes, in any of the forms that the type reads.
    ///
    /// # Errors
    /// [`ParseError`], with the position, if the text denotes none.
    fn parse(text: &[u8]) -> Result<Self, ParseError>;

    /// The text of the ID in the form that `settings` ask for, as ASCII: the beginning of `buffer`, the rest of which is left as
    /// it is.
    fn digits<'a>(self, settings: &Self::Settings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a [u8];

    /// The text of the ID in the form that `settings` ask for. [`digits`](Self::digits) spares the check that makes it a `str`.
    fn encode<'a>(self, settings: &Self::Settings, buffer: &'a mut [u8; MAX_TEXT_LEN]) -> &'a str {
        str::from_utf8(self.digits(settings, buffer)).unwrap_or_default()
    }

    /// The timestamp, in ticks since the type's epoch.
    fn tick(self) -> u64;

    /// The smallest ID of a tick (at most [`TICKS.max`](Ticks::max)).
    fn first_of(tick: u64) -> Self;

    /// The largest ID of a tick (at most [`TICKS.max`](Ticks::max)).
    fn last_of(tick: u64) -> Self;

    /// A random ID of that tick: for a type with [`BACKFILL`](Self::BACKFILL), one that may be minted.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self;

    /// Whether the ID bears the number that `settings` give to this server. Only for types with
    /// [`SERVER_WIDE`](Self::SERVER_WIDE).
    fn is_local(self, settings: &Self::Settings) -> bool {
        let _ = settings;
        false
    }

    /// The state to begin with where a forgotten predecessor may have made IDs until just before `now` (microseconds since
    /// 1970-01-01 UTC): no step from it makes one of those again.
    fn successor_state(now: i64) -> Self::State {
        let _ = now;
        Self::State::default()
    }

    /// The node that these settings make of a generator.
    fn node(settings: &Self::Settings) -> NodeCode {
        let _ = settings;
        NodeCode::ALL
    }

    /// The setting that says so, as text; `None` for a type without nodes.
    fn node_text(settings: &Self::Settings) -> Option<String> {
        let _ = settings;
        None
    }

    /// The tick of the last ID; 0 if there is none.
    fn state_tick(state: Self::State) -> u64;

    /// A state from which every ID is greater than all of a tick.
    fn state_after(tick: u64, rng: &mut impl Rng) -> Self::State;

    /// The ID that left this state behind, if the state has all of it.
    fn last_id(state: Self::State) -> Option<Self> {
        let _ = state;
        None
    }

    /// One step of the type's generator: the next state and the ID, or why there is none (yet).
    fn step(state: Self::State, context: &Context<Self::Settings>, rng: &mut impl Rng) -> Step<Self>;

    /// The ID's time: the start of its tick, in microseconds since 1970-01-01 UTC.
    fn timestamp_micros(self) -> i64 {
        Self::TICKS.start(self.tick())
    }

    /// The smallest ID whose time is at or after `micros` (since 1970-01-01 UTC).
    ///
    /// # Errors
    /// [`TimeError`] if there is none: the time is after that of the largest ID.
    fn lower(micros: i64) -> Result<Self, TimeError> {
        Self::TICKS.at_or_after(micros).map(Self::first_of)
    }

    /// The largest ID whose time is at or before `micros` (since 1970-01-01 UTC).
    ///
    /// # Errors
    /// [`TimeError`] if there is none: the time is before that of the smallest ID.
    fn upper(micros: i64) -> Result<Self, TimeError> {
        Self::TICKS.at_or_before(micros).map(Self::last_of)
    }
}
