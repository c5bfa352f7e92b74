//! How a type's timestamp counts, and which ticks a moment or a span of time belongs to.

use std::ops::Bound;

/// A time lies outside of the range of a type's timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeError;

/// The ticks of a type's clock. All times are microseconds since 1970-01-01 UTC, leap seconds not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// The start of tick 0.
    pub epoch: i64,
    /// The length of a tick.
    pub micros: i64,
    /// The last tick.
    pub max: u64,
}

impl Ticks {
    /// Milliseconds since 1970 in 48 bits, until the year 10889.
    pub const UNIX_MILLIS_48: Self = Self { epoch: 0, micros: 1_000, max: (1 << 48) - 1 };

    /// The start of a tick.
    pub const fn start(self, tick: u64) -> i64 {
        self.epoch + tick as i64 * self.micros
    }

    /// Whether a moment falls into a tick.
    pub const fn contains(self, tick: u64, micros: i64) -> bool {
        self.start(tick) <= micros && micros < self.start(tick + 1)
    }

    /// The first tick that starts at or after a moment: the very first for a moment before it.
    ///
    /// # Errors
    /// [`TimeError`] if the moment is after the start of the last tick.
    pub const fn at_or_after(self, micros: i64) -> Result<u64, TimeError> {
        match micros.checked_sub(self.epoch) {
            Some(since) if since > 0 => self.check((since as u64).div_ceil(self.micros as u64)),
            _ if micros <= self.epoch => Ok(0),
            _ => Err(TimeError),
        }
    }

    /// The last tick that starts at or before a moment: the very last for a moment after it.
    ///
    /// # Errors
    /// [`TimeError`] if the moment is before the start of tick 0.
    pub const fn at_or_before(self, micros: i64) -> Result<u64, TimeError> {
        if micros < self.epoch {
            return Err(TimeError);
        }
        let tick = micros.saturating_sub(self.epoch) as u64 / self.micros as u64;
        Ok(if tick < self.max { tick } else { self.max })
    }

    /// The tick that a moment falls into, if IDs of it may be minted: the first tick and the last are reserved.
    ///
    /// # Errors
    /// [`TimeError`] if the moment is within a reserved tick, or out of range.
    pub const fn minted_at(self, micros: i64) -> Result<u64, TimeError> {
        // Both bounds are constants: one comparison, which every ID takes.
        if self.start(1) <= micros && micros < self.start(self.max) {
            Ok((micros - self.epoch) as u64 / self.micros as u64)
        } else {
            Err(TimeError)
        }
    }

    /// The tick that a moment falls into, or the nearest to it: the first, if the moment is before that, or the last.
    pub const fn nearest(self, micros: i64) -> u64 {
        match self.at_or_before(micros) {
            Ok(tick) => tick,
            Err(TimeError) => 0,
        }
    }

    /// The first and the last tick that start within a span of time, or nothing if none does. Bounds beyond the type's range
    /// are as good as none.
    pub fn within(self, from: Bound<i64>, to: Bound<i64>) -> Option<(u64, u64)> {
        // Ticks as whole numbers that may lie below 0 and above the last; what saturates lies there anyway.
        let since = |moment: i64| moment.saturating_sub(self.epoch);
        let first = match from {
            Bound::Included(from) => since(from).saturating_add(self.micros - 1).div_euclid(self.micros),
            Bound::Excluded(from) => since(from).div_euclid(self.micros) + 1,
            Bound::Unbounded => 0,
        };
        let last = match to {
            Bound::Included(to) => since(to).div_euclid(self.micros),
            Bound::Excluded(to) => since(to).saturating_sub(1).div_euclid(self.micros),
            Bound::Unbounded => self.max as i64,
        };
        let (first, last) = (first.max(0), last.min(self.max as i64));
        (first <= last).then_some((first as u64, last as u64))
    }

    /// The number of ticks that start before a moment: from 0 to `max + 1`.
    pub fn starting_before(self, micros: i64) -> u64 {
        self.within(Bound::Unbounded, Bound::Excluded(micros)).map_or(0, |(_, last)| last + 1)
    }

    /// The number of ticks that start at or before a moment: from 0 to `max + 1`.
    pub fn starting_until(self, micros: i64) -> u64 {
        self.within(Bound::Unbounded, Bound::Included(micros)).map_or(0, |(_, last)| last + 1)
    }

    const fn check(self, tick: u64) -> Result<u64, TimeError> {
        if tick <= self.max { Ok(tick) } else { Err(TimeError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKS: Ticks = Ticks { epoch: 1_000_000, micros: 1_000, max: 9 };

    #[test]
    fn moments_between_two_ticks_round_the_right_way() {
        assert_eq!(TICKS.at_or_after(1_003_000), Ok(3));
        assert_eq!(TICKS.at_or_before(1_003_000), Ok(3));
        assert_eq!(TICKS.at_or_after(1_003_001), Ok(4));
        assert_eq!(TICKS.at_or_before(1_003_999), Ok(3));
        assert_eq!(TICKS.start(3), 1_003_000);
    }

    #[test]
    fn a_span_has_the_ticks_that_start_in_it() {
        use Bound::{Excluded, Included, Unbounded};
        assert_eq!(TICKS.within(Unbounded, Unbounded), Some((0, 9)));
        assert_eq!(TICKS.within(Included(1_003_000), Included(1_004_000)), Some((3, 4)));
        assert_eq!(TICKS.within(Excluded(1_003_000), Excluded(1_004_000)), None);
        assert_eq!(TICKS.within(Included(1_003_000), Excluded(1_004_000)), Some((3, 3)));
        assert_eq!(TICKS.within(Excluded(1_003_000), Included(1_004_000)), Some((4, 4)));
        assert_eq!(TICKS.within(Excluded(1_002_999), Excluded(1_003_001)), Some((3, 3)));
        assert_eq!(TICKS.within(Included(1_003_001), Included(1_003_999)), None, "between two starts");
    }

    #[test]
    fn a_span_may_reach_beyond_the_range() {
        use Bound::{Excluded, Included};
        assert_eq!(TICKS.within(Included(i64::MIN), Included(i64::MAX)), Some((0, 9)));
        assert_eq!(TICKS.within(Excluded(i64::MIN), Excluded(i64::MAX)), Some((0, 9)));
        assert_eq!(TICKS.within(Included(i64::MIN), Excluded(1_000_000)), None, "ends before the epoch");
        assert_eq!(TICKS.within(Included(1_009_001), Included(i64::MAX)), None, "begins after the last tick");
    }

    #[test]
    fn moments_outside_of_the_range_have_a_tick_on_one_side() {
        for before in [i64::MIN, 0, 999_999] {
            assert_eq!((TICKS.at_or_after(before), TICKS.at_or_before(before)), (Ok(0), Err(TimeError)), "{before}");
        }
        assert_eq!((TICKS.at_or_after(1_000_000), TICKS.at_or_before(1_000_000)), (Ok(0), Ok(0)));
        assert_eq!((TICKS.at_or_after(1_009_000), TICKS.at_or_before(1_009_000)), (Ok(9), Ok(9)));
        for after in [1_009_001, 1_009_999, 1_010_000, i64::MAX] {
            assert_eq!((TICKS.at_or_after(after), TICKS.at_or_before(after)), (Err(TimeError), Ok(9)), "{after}");
        }
        const BEFORE_1970: Ticks = Ticks { epoch: -1_000_000, ..TICKS };
        assert_eq!(BEFORE_1970.at_or_after(i64::MAX), Err(TimeError), "too far from the epoch for 64 bits");
        assert_eq!(BEFORE_1970.at_or_before(i64::MAX), Ok(9));
    }

    #[test]
    fn ticks_before_a_moment_are_counted() {
        let counts = |moment| (TICKS.starting_before(moment), TICKS.starting_until(moment));
        assert_eq!([i64::MIN, 999_999].map(counts), [(0, 0); 2]);
        assert_eq!(counts(1_000_000), (0, 1));
        assert_eq!([1_002_999, 1_003_000, 1_003_001].map(counts), [(3, 3), (3, 4), (4, 4)]);
        assert_eq!([1_009_000, 1_009_001, i64::MAX].map(counts), [(9, 10), (10, 10), (10, 10)]);
    }

    #[test]
    fn ids_are_minted_between_the_first_tick_and_the_last() {
        assert_eq!([1_001_000, 1_001_999, 1_008_999].map(|moment| TICKS.minted_at(moment)), [Ok(1), Ok(1), Ok(8)]);
        for moment in [i64::MIN, 999_999, 1_000_999, 1_009_000, 1_010_000, i64::MAX] {
            assert_eq!(TICKS.minted_at(moment), Err(TimeError), "{moment}");
        }
    }

    #[test]
    fn moments_outside_of_the_range_have_a_nearest_tick() {
        assert_eq!([i64::MIN, 999_999, 1_000_000].map(|moment| TICKS.nearest(moment)), [0, 0, 0]);
        assert_eq!([1_003_999, 1_009_999].map(|moment| TICKS.nearest(moment)), [3, 9]);
        assert_eq!([1_010_000, i64::MAX].map(|moment| TICKS.nearest(moment)), [9, 9]);
    }
}
