//! `id <@ tstzrange`: whether the time of an ID is in a range, and the first and the last ID whose time is in it.

use core::ops::Bound;

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::datum::StoredId;
use crate::error::Error;

/// `T_range_lower(tstzrange) → T`: the first ID whose time is in the range; the largest of all if there is none
pub fn lower<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(first_and_last::<T>(call.tstzrange(0)).0.to_datum())
}

/// `T_range_upper(tstzrange) → T`: the last ID whose time is in the range; the smallest of all if there is none
pub fn upper<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(first_and_last::<T>(call.tstzrange(0)).1.to_datum())
}

/// Returns the first and the last ID whose time is in a range; the largest and the smallest of all if there is none.
pub fn first_and_last<T: StoredId>(range: Option<(Bound<i64>, Bound<i64>)>) -> (T, T) {
    let ticks = range.and_then(|(from, to)| T::TICKS.within(from, to));
    ticks.map_or((T::MAX, T::MIN), |(first, last)| (T::first_of(first), T::last_of(last)))
}

/// `T_contained_by_range(T, tstzrange) → boolean`
pub fn contained_by<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(0), ticks::<T>(call, 1))))
}

/// `T_range_contains(tstzrange, T) → boolean`
pub fn contains<T: StoredId>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(1), ticks::<T>(call, 0))))
}

fn is_within<T: StoredId>(id: T, ticks: Option<(u64, u64)>) -> bool {
    ticks.is_some_and(|(first, last)| (first..=last).contains(&id.tick()))
}

/// Returns the first and the last tick that start in a range; `None` if there is none.
fn ticks<T: StoredId>(call: Call, index: usize) -> Option<(u64, u64)> {
    call.tstzrange(index).and_then(|(from, to)| T::TICKS.within(from, to))
}
