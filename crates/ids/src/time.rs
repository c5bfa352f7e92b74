//! Timestamps: conversions between times and the ticks of a type.

use std::ops::Bound;

/// The epoch, the unit, the range and the place of a type's timestamp, which counts ticks.
///
/// All times are in microseconds since 1970-01-01 UTC, without leap seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// The start of tick 0, in microseconds since 1970-01-01 UTC.
    pub epoch: i64,
    /// The length of a tick, in microseconds.
    pub micros: i64,
    /// The last tick.
    pub max: u64,
    /// The number of bits below the timestamp, among the first 128 bits of an ID.
    pub shift: u32,
}

impl Ticks {
    /// Milliseconds since 1970-01-01 UTC in the first 48 bits of at least 128, up to the year 10889.
    pub const UNIX_MILLIS_48: Self = Self { epoch: 0, micros: 1_000, max: (1 << 48) - 1, shift: 80 };

    /// Returns the start of `tick`. Saturates.
    pub const fn start(self, tick: u64) -> i64 {
        let tick = if tick > i64::MAX as u64 { i64::MAX } else { tick as i64 };
        tick.saturating_mul(self.micros).saturating_add(self.epoch)
    }

    /// Returns the start of the tick that contains the time `micros`, as if the range had no ends. Saturates.
    pub const fn floor(self, micros: i64) -> i64 {
        micros.saturating_sub(self.epoch).div_euclid(self.micros).saturating_mul(self.micros).saturating_add(self.epoch)
    }

    /// Returns the tick that contains the time `micros`, or `None` if no ID of this tick may be generated: tick 0 and the last tick
    /// are reserved.
    pub fn generated_at(self, micros: i64) -> Option<u64> {
        // Both bounds are constants for a type, so the compiler merges the two comparisons into one.
        let is_generated = self.start(1) <= micros && micros < self.start(self.max);
        is_generated.then(|| (micros - self.epoch) as u64 / self.micros as u64)
    }

    /// Returns the tick that contains the time `micros`, or the nearest tick if `micros` is outside the range.
    pub fn nearest(self, micros: i64) -> u64 {
        let since = micros.saturating_sub(self.epoch).max(0);
        (since as u64 / self.micros as u64).min(self.max)
    }

    /// Returns the number of ticks that start before the time `micros`, from 0 to `max + 1`: up to `max`, it is also the first tick
    /// that starts at or after the time.
    pub fn starting_before(self, micros: i64) -> u64 {
        // This signed tick may be below 0 or above the last tick. A value that saturates is out of range in any case.
        let next = micros.saturating_sub(self.epoch).saturating_add(self.micros - 1).div_euclid(self.micros);
        next.clamp(0, self.max as i64 + 1) as u64
    }

    /// Returns the number of ticks that start at or before the time `micros`, from 0 to `max + 1`.
    pub fn starting_until(self, micros: i64) -> u64 {
        self.starting_before(micros.saturating_add(1))
    }

    /// Returns the first and the last tick that start within a span of time, or `None` if no tick does. A lower bound before
    /// the range and an upper bound after it have no effect.
    pub fn within(self, from: Bound<i64>, to: Bound<i64>) -> Option<(u64, u64)> {
        let first = match from {
            Bound::Included(from) => self.starting_before(from),
            Bound::Excluded(from) => self.starting_until(from),
            Bound::Unbounded => 0,
        };
        let end = match to {
            Bound::Included(to) => self.starting_until(to),
            Bound::Excluded(to) => self.starting_before(to),
            Bound::Unbounded => self.max + 1,
        };
        (first < end).then(|| (first, end - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKS: Ticks = Ticks { epoch: 1_000_000, micros: 1_000, max: 9, shift: 80 };

    #[test]
    fn moments_between_two_ticks_round_the_right_way() {
        assert_eq!(TICKS.starting_before(1_003_000), 3);
        assert_eq!(TICKS.nearest(1_003_000), 3);
        assert_eq!(TICKS.starting_before(1_003_001), 4);
        assert_eq!(TICKS.nearest(1_003_999), 3);
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
    fn moments_outside_of_the_range_have_a_nearest_tick() {
        for before in [i64::MIN, 0, 999_999] {
            assert_eq!((TICKS.starting_before(before), TICKS.nearest(before)), (0, 0), "{before}");
        }
        assert_eq!((TICKS.starting_before(1_000_000), TICKS.nearest(1_000_000)), (0, 0));
        assert_eq!((TICKS.starting_before(1_009_000), TICKS.nearest(1_009_000)), (9, 9));
        for after in [1_009_001, 1_009_999, 1_010_000, i64::MAX] {
            assert_eq!((TICKS.starting_before(after), TICKS.nearest(after)), (10, 9), "{after}");
        }
        const BEFORE_1970: Ticks = Ticks { epoch: -1_000_000, ..TICKS };
        assert_eq!(BEFORE_1970.starting_before(i64::MAX), 10, "too far from the epoch for 64 bits");
        assert_eq!(BEFORE_1970.nearest(i64::MAX), 9);
    }

    #[test]
    fn a_moment_is_truncated_to_its_tick() {
        assert_eq!(
            [1_002_999, 1_003_000, 1_003_999].map(|moment| TICKS.floor(moment)),
            [1_002_000, 1_003_000, 1_003_000]
        );
        assert_eq!(
            [999_999, -1, 1_010_001].map(|moment| TICKS.floor(moment)),
            [999_000, -1_000, 1_010_000],
            "out of range"
        );
        for moment in [i64::MIN, i64::MIN + 999, i64::MAX] {
            let floor = TICKS.floor(moment);
            assert_eq!(TICKS.starting_before(floor), TICKS.starting_before(moment), "{moment}");
        }
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
    fn ids_are_generated_between_the_first_tick_and_the_last() {
        assert_eq!(
            [1_001_000, 1_001_999, 1_008_999].map(|moment| TICKS.generated_at(moment)),
            [Some(1), Some(1), Some(8)]
        );
        for moment in [i64::MIN, 999_999, 1_000_999, 1_009_000, 1_010_000, i64::MAX] {
            assert_eq!(TICKS.generated_at(moment), None, "{moment}");
        }
    }
}
