//! The IDs of the examples: fixed times and pseudorandom numbers, the same in each run.

use std::convert::Infallible;

use rand::TryRng;
use scru_ids::GeneratedId;

/// 2025-01-01 12:00:00 UTC, in microseconds since the Unix epoch.
const NOON: i64 = 1_735_732_800_000_000;
const SECOND: i64 = 1_000_000;

/// Returns the text of two IDs, with times of one and two seconds after noon.
pub fn ids<T: GeneratedId>() -> [String; 2] {
    let mut numbers = Numbers(0);
    [NOON + SECOND, NOON + 2 * SECOND].map(|micros| {
        let tick = (micros - T::TICKS.epoch) / T::TICKS.micros;
        T::random_of(tick.unsigned_abs(), &mut numbers).to_string()
    })
}

/// The pseudorandom generator `SplitMix64`, with the same sequence in each run and on each platform.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

impl TryRng for Numbers {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}
