//! Skip support for the types passed by value: the next and the previous value of a leading column, for btree skip scans.
//! Installed on PostgreSQL 18 and later.

use pgrx::pg_sys::{Datum, Relation};
use scru_ids::Stored;

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::StoredId;

/// The server's `SkipSupportData`. pgrx binds it only for PostgreSQL 18 and later; this file is compiled for all versions.
#[repr(C)]
struct SkipSupport {
    smallest: Datum,
    largest: Datum,
    decrement: Step,
    increment: Step,
}

type Step = unsafe extern "C-unwind" fn(index: Relation, value: Datum, is_at_end: *mut bool) -> Datum;

/// `T_skipsupport(internal) → void`: fills in the `SkipSupportData`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let support = SkipSupport {
        smallest: T::MIN.to_datum(),
        largest: T::MAX.to_datum(),
        decrement: decrement::<T>,
        increment: increment::<T>,
    };
    // SAFETY: the server passes such a struct to fill in.
    unsafe { call.datum(0).cast_mut_ptr::<SkipSupport>().write(support) };
    Ok(Datum::null())
}

unsafe extern "C-unwind" fn decrement<T: StoredId>(_index: Relation, value: Datum, underflows: *mut bool) -> Datum {
    // SAFETY: the server passes what `step` requires.
    unsafe { step::<T>(value, -1, underflows) }
}

unsafe extern "C-unwind" fn increment<T: StoredId>(_index: Relation, value: Datum, overflows: *mut bool) -> Datum {
    // SAFETY: the server passes what `step` requires.
    unsafe { step::<T>(value, 1, overflows) }
}

/// Returns `value + by` and sets `is_at_end` to false. If no ID has that value, returns `value` and sets `is_at_end` to true.
///
/// # Safety
/// `value` is a Datum of this type, and `is_at_end` is valid for writes.
unsafe fn step<T: StoredId>(value: Datum, by: i64, is_at_end: *mut bool) -> Datum {
    // Types passed by value are stored as an `i64`.
    let next = T::Stored::from_bytes(&((value.value() as i64).wrapping_add(by)).to_be_bytes()).and_then(T::from_stored);
    // SAFETY: guaranteed by the caller.
    unsafe { *is_at_end = next.is_none() };
    next.map_or(value, |next| next.to_datum())
}
