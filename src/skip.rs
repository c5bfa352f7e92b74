//! Skip support, which the SQL installs from 18 on: how a btree scan steps over the values of a leading column, for the types passed by value.

use pgrx::pg_sys::{Datum, Relation};
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::StoredId;
use crate::error::Error;

/// The server's `SkipSupportData`, which pgrx does not bind.
#[repr(C)]
struct SkipSupport {
    smallest: Datum,
    largest: Datum,
    decrement: Step,
    increment: Step,
}

type Step = unsafe extern "C-unwind" fn(index: Relation, value: Datum, is_at_end: *mut bool) -> Datum;

/// `T_skipsupport(internal)`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let support = SkipSupport {
        smallest: T::MIN.to_datum(),
        largest: T::MAX.to_datum(),
        decrement: decrement::<T>,
        increment: increment::<T>,
    };
    // SAFETY: skip support functions get such a structure to fill in.
    unsafe { call.datum(0).cast_mut_ptr::<SkipSupport>().write(support) };
    Ok(Datum::null())
}

unsafe extern "C-unwind" fn decrement<T: StoredId>(_index: Relation, value: Datum, underflows: *mut bool) -> Datum {
    // SAFETY: as `step`.
    unsafe { step::<T>(value, -1, underflows) }
}

unsafe extern "C-unwind" fn increment<T: StoredId>(_index: Relation, value: Datum, overflows: *mut bool) -> Datum {
    // SAFETY: as `step`.
    unsafe { step::<T>(value, 1, overflows) }
}

/// The value next to another, or a note that there is none.
///
/// # Safety
/// For the server to call, with a Datum of this type and a place for the note.
unsafe fn step<T: StoredId>(value: Datum, by: i64, is_at_end: *mut bool) -> Datum {
    // Types passed by value are numbers.
    let next = T::Stored::from_bytes(&((value.value() as i64).wrapping_add(by)).to_be_bytes()).and_then(T::from_stored);
    // SAFETY: as the caller's.
    unsafe { *is_at_end = next.is_none() };
    next.map_or(value, |next| next.to_datum())
}
