//! Snowflake IDs: the time of 64-bit IDs that other systems generate.

use crate::TimeError;

/// The layout of the Snowflake IDs of a system: milliseconds since an epoch, and below them bits that are not a time.
///
/// An ID is a non-negative `i64`. All times and the epoch are in microseconds since one moment, such as 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snowflake {
    epoch: i64,
    shift: u32,
}

impl Snowflake {
    /// The length of a tick, in microseconds.
    const TICK: i128 = 1_000;
    /// The largest number of bits below the timestamp.
    pub const MAX_SHIFT: u32 = 62;

    /// Returns the layout with an epoch and a number of bits below the timestamp, or `None` if that number is more than
    /// [`MAX_SHIFT`](Self::MAX_SHIFT).
    pub const fn new(epoch: i64, shift: u32) -> Option<Self> {
        if shift <= Self::MAX_SHIFT { Some(Self { epoch, shift }) } else { None }
    }

    /// Returns the time of an ID: the start of its millisecond. A negative number has a time before the epoch.
    ///
    /// # Errors
    /// Returns [`TimeError`] if the time exceeds an `i64`.
    pub fn timestamp(self, id: i64) -> Result<i64, TimeError> {
        let micros = i128::from(self.epoch) + i128::from(id >> self.shift) * Self::TICK;
        i64::try_from(micros).map_err(|_| TimeError)
    }

    /// Returns the smallest ID of the millisecond that contains a time, which is 0 for a time before the epoch.
    ///
    /// # Errors
    /// Returns [`TimeError`] if the time is after the last millisecond.
    pub fn floor(self, micros: i64) -> Result<i64, TimeError> {
        let tick = (i128::from(micros) - i128::from(self.epoch)).div_euclid(Self::TICK);
        let last = i64::MAX >> self.shift;
        match i64::try_from(tick) {
            Ok(tick) if tick <= last => Ok(tick.max(0) << self.shift),
            _ => Err(TimeError),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/snowflake.rs"]
mod tests;
