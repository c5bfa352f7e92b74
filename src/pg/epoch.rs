//! Conversion between times of the server (microseconds since 2000-01-01 UTC) and of the ID types (since 1970-01-01 UTC).

use core::ffi::CStr;

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::{self, Datum};
use scru_ids::SortableId;

// Declared here to avoid pgrx's guards. A server error is a longjmp over Rust frames that have nothing to drop.
unsafe extern "C-unwind" {
    fn timestamptz_out(call: pg_sys::FunctionCallInfo) -> Datum;
    fn DirectFunctionCall1Coll(function: pg_sys::PGFunction, collation: pg_sys::Oid, argument: Datum) -> Datum;
}

/// Microseconds from 1970-01-01, the epoch of the ID types, to 2000-01-01, the epoch of the server.
pub const EPOCH_2000: i64 = 946_684_800_000_000;

/// The timestamptz `-infinity`.
pub const MINUS_INFINITY: i64 = i64::MIN;
/// The timestamptz `infinity`.
pub const INFINITY: i64 = i64::MAX;

const _: () = assert!(
    pg_sys::POSTGRES_EPOCH_JDATE - pg_sys::UNIX_EPOCH_JDATE == (EPOCH_2000 / 1_000_000 / 86_400) as u32,
    "EPOCH_2000 must be the time between the two epochs"
);

/// Returns the time of an ID as a timestamptz: microseconds since 2000-01-01 UTC.
#[inline]
pub fn of<T: SortableId>(id: T) -> i64 {
    id.timestamp_micros() - EPOCH_2000
}

/// Returns the time of an ID as text, with the session's DateStyle and TimeZone.
pub fn timestamptz_text<T: SortableId>(id: T) -> String {
    let time = Datum::from(of(id));
    // SAFETY: the function takes a timestamptz and returns a C string.
    unsafe {
        let text = DirectFunctionCall1Coll(Some(timestamptz_out), pg_sys::Oid::INVALID, time);
        CStr::from_ptr(text.cast_mut_ptr()).to_string_lossy().into_owned()
    }
}

/// Returns the time of an ID as pgrx's type; `None` if the server has no such time.
pub fn timestamptz<T: SortableId>(id: T) -> Option<TimestampWithTimeZone> {
    of_unix_micros(id.timestamp_micros())
}

/// Converts microseconds since 1970-01-01 UTC to pgrx's type; `None` if the server has no such time.
pub fn of_unix_micros(micros: i64) -> Option<TimestampWithTimeZone> {
    TimestampWithTimeZone::try_from(micros - EPOCH_2000).ok()
}

/// Converts a timestamptz to microseconds since 1970-01-01 UTC. Infinite times, and times that would overflow, saturate.
pub fn saturated_unix_micros(timestamptz: i64) -> i64 {
    unix_micros(timestamptz).unwrap_or(timestamptz)
}

/// Converts a timestamptz to microseconds since 1970-01-01 UTC; `None` if it is infinite.
pub fn unix_micros(timestamptz: i64) -> Option<i64> {
    (timestamptz != MINUS_INFINITY && timestamptz != INFINITY).then(|| since_1970(timestamptz))
}

/// Converts a finite timestamptz to microseconds since 1970-01-01 UTC. The sum saturates only in years that no ID type reaches.
const fn since_1970(timestamptz: i64) -> i64 {
    timestamptz.saturating_add(EPOCH_2000)
}
