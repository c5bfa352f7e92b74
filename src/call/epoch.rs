//! Conversion between times of the server (microseconds since 2000-01-01 UTC) and of the ID types (since 1970-01-01 UTC), and the
//! bounds of a `tstzrange`.

use core::ffi::CStr;
use core::ops::Bound;

use pgrx::FromDatum;
use pgrx::datum::{Range, RangeBound, TimestampWithTimeZone};
use pgrx::pg_sys::{self, Datum};
use scru_ids::SortableId;

/// Microseconds from 1970-01-01, the epoch of the ID types, to 2000-01-01, the epoch of the server.
pub const EPOCH_2000: i64 = (pg_sys::POSTGRES_EPOCH_JDATE - pg_sys::UNIX_EPOCH_JDATE) as i64 * 86_400_000_000;

/// The length of a day of an interval.
pub const MICROS_PER_DAY: i128 = 86_400_000_000;

/// The timestamptz `-infinity`.
const MINUS_INFINITY: i64 = i64::MIN;
/// The timestamptz `infinity`.
pub const INFINITY: i64 = i64::MAX;

/// The earliest finite timestamptz: the first microsecond of 4714-11-24 BC, UTC.
const EARLIEST: i64 = -211_813_488_000_000_000;

/// The timestamptz one microsecond earlier. Infinite times remain.
pub fn before(timestamptz: i64) -> i64 {
    match timestamptz {
        MINUS_INFINITY | INFINITY => timestamptz,
        EARLIEST => MINUS_INFINITY,
        _ => timestamptz - 1,
    }
}

/// The time of an ID as a timestamptz: microseconds since 2000-01-01 UTC.
#[inline]
pub fn of<T: SortableId>(id: T) -> i64 {
    id.timestamp_micros() - EPOCH_2000
}

/// A timestamptz as text, with the session's DateStyle and TimeZone.
pub fn text(timestamptz: i64) -> String {
    // SAFETY: the function takes a timestamptz and returns a C string.
    let text: Option<&CStr> =
        unsafe { pgrx::direct_function_call(pg_sys::timestamptz_out, &[Some(Datum::from(timestamptz))]) };
    text.unwrap_or_default().to_string_lossy().into_owned()
}

/// Converts microseconds since 1970-01-01 UTC to pgrx's type; `None` if the server has no such time.
pub fn of_unix_micros(micros: i64) -> Option<TimestampWithTimeZone> {
    TimestampWithTimeZone::try_from(micros - EPOCH_2000).ok()
}

/// Converts milliseconds since 1970-01-01 UTC to a timestamptz; `None` if the server has no such time.
pub fn of_unix_millis(millis: i64) -> Option<i64> {
    let timestamptz = millis.checked_sub(EPOCH_2000 / 1_000)?.checked_mul(1_000)?;
    TimestampWithTimeZone::try_from(timestamptz).is_ok().then_some(timestamptz)
}

/// The millisecond since 1970-01-01 UTC that contains a timestamptz. Infinite times are beyond all others.
pub fn unix_millis(timestamptz: i64) -> i64 {
    timestamptz.div_euclid(1_000) + EPOCH_2000 / 1_000
}

/// Converts a timestamptz to microseconds since 1970-01-01 UTC. Infinite times, and times that would overflow, saturate.
pub fn saturated_unix_micros(timestamptz: i64) -> i64 {
    unix_micros(timestamptz).unwrap_or(timestamptz)
}

/// Converts a timestamptz to microseconds since 1970-01-01 UTC; `None` if it is infinite.
pub fn unix_micros(timestamptz: i64) -> Option<i64> {
    // The sum saturates only in years that no ID type reaches.
    (timestamptz != MINUS_INFINITY && timestamptz != INFINITY).then(|| timestamptz.saturating_add(EPOCH_2000))
}

/// The length, in microseconds, by which the server compares intervals. A month has 30 days.
pub fn compared_length(interval: &pg_sys::Interval) -> i128 {
    i128::from(interval.time) + (i128::from(interval.day) + i128::from(interval.month) * 30) * MICROS_PER_DAY
}

/// The bounds of a range, in microseconds since 1970-01-01 UTC; `None` if it is empty.
///
/// # Safety
/// `range` is a range of timestamptz.
pub unsafe fn range_bounds(range: Datum) -> Option<(Bound<i64>, Bound<i64>)> {
    // SAFETY: guaranteed by the caller. A timestamptz is passed by value, as a bigint is.
    let (from, to) = unsafe { Range::<i64>::from_datum(range, false) }?.into_inner()?;
    let bound = |bound| match bound {
        RangeBound::Infinite => Bound::Unbounded,
        RangeBound::Inclusive(time) => Bound::Included(saturated_unix_micros(time)),
        RangeBound::Exclusive(time) => Bound::Excluded(saturated_unix_micros(time)),
    };
    Some((bound(from), bound(to)))
}
