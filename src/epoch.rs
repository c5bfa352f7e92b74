//! Times as the server counts them, from 2000-01-01 UTC, and as the ID types do, from 1970-01-01 UTC: in microseconds.

use core::ffi::CStr;

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::{self, Datum};
use scru_ids::SortableId;

// The server's functions as they are: what they may raise is a longjmp over frames of ours that have nothing to drop.
unsafe extern "C-unwind" {
    fn timestamptz_out(call: pg_sys::FunctionCallInfo) -> Datum;
    fn DirectFunctionCall1Coll(function: pg_sys::PGFunction, collation: pg_sys::Oid, argument: Datum) -> Datum;
}

/// Microseconds from 1970-01-01, where our times begin, to 2000-01-01, where the server's do.
pub const EPOCH_2000: i64 = 946_684_800_000_000;

/// The timestamptz before all others.
pub const MINUS_INFINITY: i64 = i64::MIN;
/// The timestamptz after all others.
pub const INFINITY: i64 = i64::MAX;

const _: () = assert!(
    pg_sys::POSTGRES_EPOCH_JDATE - pg_sys::UNIX_EPOCH_JDATE == (EPOCH_2000 / 1_000_000 / 86_400) as u32,
    "both epochs are the server's"
);

/// The time of an ID as a timestamptz.
#[inline]
pub fn of<T: SortableId>(id: T) -> i64 {
    id.timestamp_micros() - EPOCH_2000
}

/// The time of an ID as the server writes it in this session.
pub fn timestamptz_text<T: SortableId>(id: T) -> String {
    let time = Datum::from(of(id));
    // SAFETY: a timestamptz is what the server's function takes, and a C string what it returns.
    unsafe {
        let text = DirectFunctionCall1Coll(Some(timestamptz_out), pg_sys::Oid::INVALID, time);
        CStr::from_ptr(text.cast_mut_ptr()).to_string_lossy().into_owned()
    }
}

/// The time of an ID as pgrx's type.
pub fn timestamptz<T: SortableId>(id: T) -> Option<TimestampWithTimeZone> {
    of_unix_micros(id.timestamp_micros())
}

/// Microseconds since 1970 as pgrx's type; `None` if the server has no such time.
pub fn of_unix_micros(micros: i64) -> Option<TimestampWithTimeZone> {
    TimestampWithTimeZone::try_from(micros - EPOCH_2000).ok()
}

/// A timestamptz as microseconds since 1970, the infinite ones and those beyond as the last ones there are.
pub fn saturated_unix_micros(timestamptz: i64) -> i64 {
    unix_micros(timestamptz).unwrap_or(timestamptz)
}

/// A timestamptz as microseconds since 1970, or nothing if it is infinite.
pub fn unix_micros(timestamptz: i64) -> Option<i64> {
    (timestamptz != MINUS_INFINITY && timestamptz != INFINITY).then(|| since_1970(timestamptz))
}

/// A finite timestamptz as microseconds since 1970. No ID type reaches the years in which this sum would overflow.
const fn since_1970(timestamptz: i64) -> i64 {
    timestamptz.saturating_add(EPOCH_2000)
}
