//! The sort support of the btree operator class: comparators that the server's sorts call directly, and abbreviated keys.
//!
//! The server uses its specialized sorts, as for `uuid` and `bigint`, if the comparator is one of its own `ssup_datum_…_cmp`. IDs
//! passed by value need no abbreviated keys; IDs passed by reference have those of [`SortKeys`], whose file states what they gain.

use core::ffi::c_int;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, SortSupport};
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
