//! Ranges of times as ranges of IDs. The bounds of a range are truncated to ticks.

use core::ops::Bound;

use scru_ids::SortableId;

/// The bounds of a range, in microseconds since 1970-01-01 UTC.
pub type Range = (Bound<i64>, Bound<i64>);

/// The first and the last ID in a range; the largest and the smallest of all if there is none.
pub fn first_and_last<T: SortableId>(range: Option<Range>) -> (T, T) {
    let truncate = |micros| T::TICKS.floor(micros);
    let ticks = range.and_then(|(from, to)| T::TICKS.within(from.map(truncate), to.map(truncate)));
    ticks.map_or((T::MAX, T::MIN), |(first, last)| (T::first_of(first), T::last_of(last)))
}
