//! SCRU128: the ID, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::BASE36;
use crate::generator::{Context, Moment, NoId, Refusal, Step, place_in_time};
use crate::sql::fields;
use crate::{Field, GeneratedId, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

const MAX_COUNTER: u32 = (1 << 24) - 1;

/// The lifetime of a `counter_hi`, in milliseconds.
const COUNTER_HI_LIFE: u64 = 1_000;

/// A SCRU128: a 128-bit ID, in order of creation, unique without coordination.
///
/// Its [specification](https://github.com/scru128/spec), version 2.1.1, defines these fields:
///
/// | bits | field |
/// |---|---|
/// | 48 | `timestamp`: milliseconds since 1970-01-01 UTC |
/// | 24 | `counter_hi`: random, renewed once a second; + 1 when `counter_lo` overflows |
/// | 24 | `counter_lo`: random, renewed every millisecond; + 1 for every further ID |
/// | 32 | `entropy`: random, renewed for every ID |
///
/// Every 128-bit integer is an ID. The text has 25 Base36 digits. When both counters overflow, the timestamp runs ahead of the
/// clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scru128(u128);

impl Scru128 {
    /// Returns the ID with this integer value.
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// Returns the integer value.
    pub const fn to_u128(self) -> u128 {
        self.0
    }

    /// Returns the ID with these fields. Bits beyond the width of a field are discarded.
    pub const fn from_fields(timestamp: u64, counter_hi: u32, counter_lo: u32, entropy: u32) -> Self {
        let (high, low) = ((counter_hi & MAX_COUNTER) as u128, (counter_lo & MAX_COUNTER) as u128);
        Self((timestamp as u128) << 80 | high << 56 | low << 32 | entropy as u128)
    }

    /// Returns the 48-bit timestamp, in milliseconds since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        (self.0 >> 80) as u64
    }

    /// Returns the 24-bit `counter_hi`.
    pub const fn counter_hi(self) -> u32 {
        (self.0 >> 56) as u32 & MAX_COUNTER
    }

    /// Returns the 24-bit `counter_lo`.
    pub const fn counter_lo(self) -> u32 {
        (self.0 >> 32) as u32 & MAX_COUNTER
    }

    /// Returns the 32-bit `entropy`.
    pub const fn entropy(self) -> u32 {
        self.0 as u32
    }
}

crate::standalone::new!(Scru128);

/// The steps of a generator. Its state is the last ID, with the age of its `counter_hi` in place of the entropy: the time from the
/// renewal of `counter_hi` to the timestamp, in milliseconds, less than [`COUNTER_HI_LIFE`].
impl Scru128 {
    fn fresh(timestamp: u64, rng: &mut impl Rng) -> Self {
        let counter_lo = rng.next_u32();
        let counter_hi = rng.next_u32();
        Self::from_fields(timestamp, counter_hi, counter_lo, 0)
    }

    fn later(self, timestamp: u64, rng: &mut impl Rng) -> Self {
        let counter_hi_age = u64::from(self.entropy()) + (timestamp - self.timestamp());
        if counter_hi_age >= COUNTER_HI_LIFE {
            return Self::fresh(timestamp, rng);
        }
        Self::from_fields(timestamp, self.counter_hi(), rng.next_u32(), counter_hi_age as u32)
    }

    /// Increments `counter_lo`, which carries into `counter_hi` and the timestamp, as the specification recommends.
    fn count(self, rng: &mut impl Rng) -> Self {
        if self.counter_lo() < MAX_COUNTER || self.counter_hi() < MAX_COUNTER {
            return Self(self.0 + (1 << 32));
        }
        Self::from_fields(self.timestamp(), 0, 0, self.entropy()).later(self.timestamp() + 1, rng)
    }
}

impl SortableId for Scru128 {
    const NAME: &'static str = "scru128";
    const TEXT_LEN: usize = 25;
    const MIN: Self = Self(0);
    const MAX: Self = Self(u128::MAX);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 48;

    type Stored = [u8; 16];

    fn to_stored(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    fn from_stored(stored: [u8; 16]) -> Option<Self> {
        Some(Self(u128::from_be_bytes(stored)))
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        BASE36.decode_25(text).map(Self)
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        BASE36.encode_25(self.0, buffer)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0, 0, 0), Self::from_fields(tick, u32::MAX, u32::MAX, u32::MAX)]
    }
}

impl GeneratedId for Scru128 {
    type State = u128;
    type Settings = ();
    const STATE_LAYOUT: &'static str = "id with the age of counter_hi as entropy";

    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::from_fields(tick, rng.next_u32(), rng.next_u32(), rng.next_u32())
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> u128 {
        Self::fresh(tick.saturating_add(1).min(Self::TICKS.max), rng).0
    }

    #[inline(always)]
    fn step(state: u128, context: &Context<()>, rng: &mut impl Rng) -> Step<Self> {
        let last = Self(state);
        let next = match place_in_time::<Self>(last.timestamp(), context)? {
            Moment::Fresh(timestamp) => Self::fresh(timestamp, rng),
            Moment::Later(timestamp) => last.later(timestamp, rng),
            Moment::Same => last.count(rng),
        };
        if next.timestamp() == Self::TICKS.max {
            // Both counters overflowed in the last millisecond before the reserved one.
            return Err(NoId::Refused(Refusal::ClockOutOfRange));
        }
        Ok((next.0, Self(next.0 >> 32 << 32 | u128::from(rng.next_u32()))))
    }
}

impl SqlId for Scru128 {
    const SUMMARY: &'static str =
        "SCRU128: 128-bit ID in order of creation, unique without coordination (25 Base36 digits)";
    const WIDE_INTEGER: bool = true;
    const FIELDS: &'static [Field<Self>] = fields! {
        Bits24 counter_hi "24 random bits, renewed once a second, counted up when counter_lo overflows",
        Bits24 counter_lo "24 bits, random at the start of every millisecond, then counted up",
        Bits32 entropy "32 random bits, renewed for every ID",
    };
}

#[cfg(test)]
#[path = "../tests/unit/scru128.rs"]
mod tests;
