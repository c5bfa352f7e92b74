//! Comparison functions of the operators, the aggregates and the btree operator class. All use the same order.

use core::cmp::Ordering;

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::call::stored::{StoredDatum, StoredId};

/// `T_eq`, `T_ne`, `T_lt`, `T_le`, `T_gt`, `T_ge`: whether the order of the two IDs satisfies `holds`
#[inline]
pub fn test<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    Datum::from(holds(order::<T>(call)))
}

/// `T_cmp(T, T) → integer`
#[inline]
pub fn cmp<T: StoredId>(call: Call) -> Datum {
    Datum::from(order::<T>(call) as i32)
}

/// `T_smaller(T, T) → T`, `T_larger(T, T) → T`: the second ID if the order of the two satisfies `holds`, otherwise the first
#[inline]
pub fn second_if<T: StoredId>(call: Call, holds: fn(Ordering) -> bool) -> Datum {
    call.datum(usize::from(holds(order::<T>(call))))
}

#[inline]
fn order<T: StoredId>(call: Call) -> Ordering {
    // SAFETY: both arguments are of this type.
    unsafe { T::Stored::from_datum(call.datum(0)).order(T::Stored::from_datum(call.datum(1))) }
}
