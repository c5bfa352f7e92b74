//! Reads values of type `tstzrange`.

use core::ops::Bound;

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::epoch;

// Declared here to avoid pgrx's guards: a filter by time calls these functions for every row, and the guards would cost more
// than the functions. A server error is a longjmp over Rust frames that have nothing to drop.
unsafe extern "C-unwind" {
    fn pg_detoast_datum(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
    fn range_deserialize(
        typcache: *mut pg_sys::TypeCacheEntry,
        range: *const pg_sys::RangeType,
        lower: *mut pg_sys::RangeBound,
        upper: *mut pg_sys::RangeBound,
        is_empty: *mut bool,
    );
}

/// Returns the bounds of a range, in microseconds since 1970-01-01 UTC; `None` if it is empty.
///
/// # Safety
/// `range` is a range of timestamptz. `type_cache_entry` returns the type cache entry of the range type with an OID.
pub unsafe fn bounds(
    range: Datum,
    type_cache_entry: impl FnOnce(Oid) -> *mut pg_sys::TypeCacheEntry,
) -> Option<(Bound<i64>, Bound<i64>)> {
    let (mut from, mut to, mut is_empty) = (pg_sys::RangeBound::default(), pg_sys::RangeBound::default(), false);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let range = pg_detoast_datum(range.cast_mut_ptr()).cast::<pg_sys::RangeType>();
        range_deserialize(type_cache_entry((*range).rangetypid), range, &mut from, &mut to, &mut is_empty);
    }
    (!is_empty).then(|| (bound(from), bound(to)))
}

fn bound(bound: pg_sys::RangeBound) -> Bound<i64> {
    let micros = epoch::saturated_unix_micros(bound.val.value() as i64);
    match bound {
        pg_sys::RangeBound { infinite: true, .. } => Bound::Unbounded,
        pg_sys::RangeBound { inclusive: true, .. } => Bound::Included(micros),
        _ => Bound::Excluded(micros),
    }
}
