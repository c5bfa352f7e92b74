//! Distances, by which BRIN minmax-multi decides which intervals to merge.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::StoredId;

/// `T_distance(T, T) → double precision`: how much the second is above the first
pub fn distance<T: StoredId>(call: Call) -> Datum {
    let [low, high] = [0, 1].map(|index| as_number(call.stored::<T>(index).to_bytes().as_ref()));
    Datum::from((high - low).max(0.0).to_bits())
}

/// Big-endian bytes as a number, with the precision that a double has.
fn as_number(bytes: &[u8]) -> f64 {
    bytes.iter().fold(0.0, |number, &byte| number * 256.0 + f64::from(byte))
}
