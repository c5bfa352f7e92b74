//! Snowflake IDs: the time of 64-bit IDs that other systems generate.

/// The layout of the Snowflake IDs of a system: milliseconds since an epoch, and below them bits that are not a time.
///
/// An ID is a non-negative `i64`. Times are in milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snowflake {
    epoch_ms: i64,
    shift: u32,
}

impl Snowflake {
    /// The largest number of bits below the timestamp.
    pub const MAX_SHIFT: u32 = 62;

    /// Returns the layout with an epoch and a number of bits below the timestamp, or `None` if that number is more than
    /// [`MAX_SHIFT`](Self::MAX_SHIFT).
    pub const fn new(epoch_ms: i64, shift: u32) -> Option<Self> {
        if shift <= Self::MAX_SHIFT { Some(Self { epoch_ms, shift }) } else { None }
    }

    /// Returns the time of an ID, or `None` if it exceeds an `i64`. A negative number has a time before the epoch.
    pub const fn timestamp_ms(self, id: i64) -> Option<i64> {
        self.epoch_ms.checked_add(id >> self.shift)
    }

    /// Returns the first ID of a millisecond, or of the nearest one that has IDs.
    pub fn lower(self, ms: i64) -> i64 {
        ms.saturating_sub(self.epoch_ms).clamp(0, i64::MAX >> self.shift) << self.shift
    }
}

#[cfg(test)]
#[path = "../tests/unit/snowflake.rs"]
mod tests;
