//! `id <@ tstzrange`: whether an ID is within the ticks of a range, and the first and the last ID in it. The bounds of the range are
//! truncated to ticks.

use core::ops::Bound;

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::StoredId;

/// The bounds of a range, in microseconds since 1970-01-01 UTC.
type Range = (Bound<i64>, Bound<i64>);

/// `T_range_lower(tstzrange) → T`: the first ID in the range; the largest of all if there is none
pub fn lower<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(first_and_last::<T>(call.tstzrange(0)).0.to_datum())
}

/// `T_range_upper(tstzrange) → T`: the last ID in the range; the smallest of all if there is none
pub fn upper<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(first_and_last::<T>(call.tstzrange(0)).1.to_datum())
}

/// `T_contained_by_range(T, tstzrange) → boolean`
pub fn contained_by<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(0), call.tstzrange(1))))
}

/// `T_range_contains(tstzrange, T) → boolean`
pub fn contains<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(1), call.tstzrange(0))))
}

fn is_within<T: StoredId>(id: T, range: Option<Range>) -> bool {
    let (first, last) = first_and_last(range);
    (first..=last).contains(&id)
}

/// Returns the first and the last ID in a range; the largest and the smallest of all if there is none.
pub fn first_and_last<T: StoredId>(range: Option<Range>) -> (T, T) {
    let truncate = |micros| T::TICKS.floor(micros);
    let ticks = range.and_then(|(from, to)| T::TICKS.within(from.map(truncate), to.map(truncate)));
    ticks.map_or((T::MAX, T::MIN), |(first, last)| (T::first_of(first), T::last_of(last)))
}
