//! Hash functions for hash joins, hash aggregates, hash indexes and hash partitions: those of the server.

use core::ffi::c_int;

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::call::stored::StoredId;
use crate::pg::unguarded::{hash_bytes, hash_bytes_extended, hash_bytes_uint32, hash_bytes_uint32_extended};

/// `T_hash(T) → integer`
#[inline]
pub fn hash<T: StoredId>(call: Call) -> Datum {
    if T::Stored::BY_VALUE {
        return Datum::from(hash_bytes_uint32(folded(call)));
    }
    // SAFETY: the argument points to the bytes of an ID.
    Datum::from(unsafe { hash_bytes(call.datum(0).cast_mut_ptr(), T::Stored::LEN as c_int) })
}

/// `T_hash_extended(T, bigint) → bigint`
#[inline]
pub fn hash_extended<T: StoredId>(call: Call) -> Datum {
    let seed = call.int8(1) as u64;
    if T::Stored::BY_VALUE {
        return Datum::from(hash_bytes_uint32_extended(folded(call), seed));
    }
    // SAFETY: as in `hash`.
    Datum::from(unsafe { hash_bytes_extended(call.datum(0).cast_mut_ptr(), T::Stored::LEN as c_int, seed) })
}

/// The 32 bits of an argument that hashint8() hashes. The value is not negative.
fn folded(call: Call) -> u32 {
    let value = call.int8(0);
    (value >> 32) as u32 ^ value as u32
}
