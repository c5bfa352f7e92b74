//! Support functions of the btree operator class: comparators that the server's sorts call directly, abbreviated keys, and skip
//! support.
//!
//! The server uses its specialized sorts, as for `uuid` and `bigint`, if the comparator is one of its own `ssup_datum_…_cmp`. IDs
//! passed by value need no abbreviated keys; IDs passed by reference have those of [`SortKeys`], whose file states what they gain.

use core::ffi::c_int;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, Relation, SortSupport};
use scru_ids::Stored;
use scru_server::SortKeys;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::pg::unguarded::{ssup_datum_signed_cmp, ssup_datum_unsigned_cmp};

/// `T_sortsupport(internal) → void`: fills in the `SortSupport`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a SortSupport to fill in.
    let support = unsafe { &mut *call.datum(0).cast_mut_ptr::<pg_sys::SortSupportData>() };
    if T::Stored::BY_VALUE {
        support.comparator = Some(ssup_datum_signed_cmp);
    } else if support.abbreviate {
        let keys = PgMemoryContexts::For(support.ssup_cxt).leak_and_drop_on_delete(SortKeys::default());
        support.ssup_extra = keys.cast();
        support.comparator = Some(ssup_datum_unsigned_cmp);
        support.abbrev_converter = Some(abbreviate::<T>);
        support.abbrev_abort = Some(give_up);
        support.abbrev_full_comparator = Some(compare::<T>);
    } else {
        support.comparator = Some(compare::<T>);
    }
    Ok(Datum::null())
}

unsafe extern "C-unwind" fn compare<T: StoredId>(left: Datum, right: Datum, _support: SortSupport) -> c_int {
    // SAFETY: the server sorts Datums of this type.
    unsafe { T::Stored::from_datum(left).order(T::Stored::from_datum(right)) as c_int }
}

unsafe extern "C-unwind" fn abbreviate<T: StoredId>(original: Datum, support: SortSupport) -> Datum {
    // SAFETY: the server sorts Datums of this type; the function `support` has stored the keys in `ssup_extra`.
    unsafe {
        let keys = &mut *(*support).ssup_extra.cast::<SortKeys>();
        let stored = <T::Stored as StoredDatum>::from_datum(original);
        Datum::from(keys.key::<T>(stored))
    }
}

unsafe extern "C-unwind" fn give_up(rows: c_int, support: SortSupport) -> bool {
    // SAFETY: the function `support` has stored the keys in `ssup_extra`.
    unsafe { (*(*support).ssup_extra.cast::<SortKeys>()).are_useless_for(rows as usize) }
}

/// The server's `SkipSupportData`, which pgrx binds only for PostgreSQL 18 and later.
#[repr(C)]
struct SkipSupport {
    smallest: Datum,
    largest: Datum,
    decrement: Step,
    increment: Step,
}

type Step = unsafe extern "C-unwind" fn(index: Relation, value: Datum, is_at_end: *mut bool) -> Datum;

/// `T_skipsupport(internal) → void`: fills in the `SkipSupportData`, for the types passed by value
///
/// Installed on PostgreSQL 18 and later. It gives a btree skip scan the next and the previous value of a leading column.
pub fn skip_support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let support = SkipSupport {
        smallest: T::MIN.to_datum(),
        largest: T::MAX.to_datum(),
        decrement: step::<T, -1>,
        increment: step::<T, 1>,
    };
    // SAFETY: the server passes such a struct to fill in.
    unsafe { call.datum(0).cast_mut_ptr::<SkipSupport>().write(support) };
    Ok(Datum::null())
}

/// Returns `value + BY` and sets `is_at_end` to false. If no ID has that value, returns `value` and sets `is_at_end` to true.
unsafe extern "C-unwind" fn step<T: StoredId, const BY: i64>(_: Relation, value: Datum, is_at_end: *mut bool) -> Datum {
    // Types passed by value are stored as an `i64`.
    let next = T::Stored::from_bytes(&((value.value() as i64).wrapping_add(BY)).to_be_bytes()).and_then(T::from_stored);
    // SAFETY: the server passes a pointer that is valid for writes.
    unsafe { *is_at_end = next.is_none() };
    next.map_or(value, |next| next.to_datum())
}
