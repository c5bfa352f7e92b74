//! Hash functions for hash joins, hash aggregates, hash indexes and hash partitions: those of the server.

use core::ffi::c_int;

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::call::stored::StoredId;
use crate::pg::unguarded::{hash_bytes_extended, hash_bytes_uint32_extended};

/// `T_hash(T) → integer`: with the seed 0, the lower half of an extended hash value is the standard one
#[inline]
pub fn hash<T: StoredId>(call: Call) -> Datum {
    Datum::from(seeded::<T>(call, 0) as u32)
}

/// `T_hash_extended(T, bigint) → bigint`
#[inline]
pub fn hash_extended<T: StoredId>(call: Call) -> Datum {
    Datum::from(seeded::<T>(call, call.int8(1) as u64))
}

#[inline]
fn seeded<T: StoredId>(call: Call, seed: u64) -> u64 {
    if T::Stored::BY_VALUE {
        let value = call.int8(0);
        // The 32 bits that hashint8() hashes. The value is not negative.
        return hash_bytes_uint32_extended((value >> 32) as u32 ^ value as u32, seed);
    }
    // SAFETY: the argument points to the bytes of an ID.
    unsafe { hash_bytes_extended(call.datum(0).cast_mut_ptr(), T::Stored::LEN as c_int, seed) }
}
