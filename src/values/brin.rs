//! Distance function of the BRIN minmax-multi operator class. BRIN uses it to find the closest intervals, and merges these.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::call::stored::StoredId;

/// `T_distance(T, T) → double precision`: the second ID minus the first, as numbers; 0 if the second is lower
pub fn distance<T: StoredId>(call: Call) -> Datum {
    let [low, high] = [0, 1].map(|index| as_number(call.stored::<T>(index).to_bytes().as_ref()));
    Datum::from((high - low).max(0.0).to_bits())
}

/// The number that big-endian bytes denote, rounded to an `f64`.
fn as_number(bytes: &[u8]) -> f64 {
    bytes.iter().fold(0.0, |number, &byte| number * 256.0 + f64::from(byte))
}
