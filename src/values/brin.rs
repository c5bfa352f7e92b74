//! Distance function of the BRIN minmax-multi operator class. BRIN uses it to find the closest intervals, and merges these.

use pgrx::pg_sys::Datum;
use scru_ids::Stored;

use crate::call::Call;
use crate::call::stored::{self, StoredId};

/// `T_distance(T, T) → double precision`: the second ID minus the first, as numbers; 0 if the second is lower
pub fn distance<T: StoredId>(call: Call) -> Datum {
    let [low, high] = [0, 1].map(|index| call.stored::<T>(index));
    let bits_below = 8 * T::Stored::LEN.saturating_sub(16) as i32;
    Datum::from((stored::distance(low, high) * 2_f64.powi(bits_below)).to_bits())
}
