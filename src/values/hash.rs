//! Hash functions for hash joins, hash aggregates, hash indexes and hash partitions.

use pgrx::pg_sys::Datum;

use crate::call::Call;
use crate::call::stored::{StoredDatum, StoredId};

/// `T_hash(T) → integer`
#[inline]
pub fn hash<T: StoredId>(call: Call) -> Datum {
    Datum::from(call.stored::<T>(0).hash())
}

/// `T_hash_extended(T, bigint) → bigint`
#[inline]
pub fn hash_extended<T: StoredId>(call: Call) -> Datum {
    Datum::from(call.stored::<T>(0).hash_extended(call.int8(1) as u64))
}
