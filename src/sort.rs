//! Sort support: comparators that the server's sorts call without a detour, and abbreviated keys.
//!
//! With the server's own `ssup_datum_…_cmp` as comparator the server picks its specialised sorts, as for `uuid` and
//! `bigint`. IDs passed by value are their own keys; those passed by reference get the keys of [`SortKeys`].

use core::ffi::c_int;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, SortSupport};
use scru_ids::{SortKeys, Stored};

use crate::call::Call;
use crate::datum::{self, StoredDatum, StoredId};
use crate::error::Error;

// Declared here because the server recognises these two by their addresses, which pgrx's wrappers don't have.
unsafe extern "C-unwind" {
    pub fn ssup_datum_unsigned_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
    fn ssup_datum_signed_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
}

/// `T_sortsupport(internal)`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: sort support functions get a SortSupport to fill in.
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
    unsafe { datum::order::<T::Stored>(left, right) as c_int }
}

unsafe extern "C-unwind" fn abbreviate<T: StoredId>(original: Datum, support: SortSupport) -> Datum {
    // SAFETY: the server sorts Datums of this type; the keys are those that `support` left there.
    unsafe {
        let keys = &mut *(*support).ssup_extra.cast::<SortKeys>();
        let stored = <T::Stored as StoredDatum>::from_datum(original);
        Datum::from(keys.key::<T>(&stored.to_bytes()))
    }
}

unsafe extern "C-unwind" fn give_up(rows: c_int, support: SortSupport) -> bool {
    // SAFETY: the keys are those that `support` left there.
    unsafe { (*(*support).ssup_extra.cast::<SortKeys>()).are_useless_for(rows as usize) }
}
