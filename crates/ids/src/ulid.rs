//! ULID: the ID, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::CROCKFORD;
use crate::generator::{Context, Moment, NoId, Refusal, Step, place_in_time};
use crate::{Field, GeneratedId, Getter, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

const MAX_RANDOMNESS: u128 = (1 << 80) - 1;

/// A ULID: a 128-bit ID, in order of creation, unique without coordination.
///
/// Its [specification](https://github.com/ulid/spec) defines these fields:
///
/// | bits | field |
/// |---|---|
/// | 48 | `timestamp`: milliseconds since 1970-01-01 UTC |
/// | 80 | `randomness`: random, renewed every millisecond; + 1 for every further ID |
///
/// Every 128-bit integer is an ID. The text has 26 Crockford Base32 digits. When the randomness overflows, the generator
/// refuses further IDs until the next millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulid(u128);

impl Ulid {
    /// Returns the ID with this integer value.
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// Returns the integer value.
    pub const fn to_u128(self) -> u128 {
        self.0
    }

    /// Returns the ID with these fields. Bits beyond the width of a field are discarded.
    pub const fn from_fields(timestamp: u64, randomness: u128) -> Self {
        Self((timestamp as u128) << 80 | randomness & MAX_RANDOMNESS)
    }

    /// Returns the 48-bit timestamp, in milliseconds since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        (self.0 >> 80) as u64
    }

    /// Returns the 80-bit randomness, as an integer.
    pub const fn randomness(self) -> u128 {
        self.0 & MAX_RANDOMNESS
    }

    fn randomness_bytes(self) -> [u8; 10] {
        let [_, _, _, _, _, _, randomness @ ..] = self.0.to_be_bytes();
        randomness
    }
}

crate::standalone::new!(Ulid);

impl SortableId for Ulid {
    const NAME: &'static str = "ulid";
    const TEXT_LEN: usize = 26;
    const MIN: Self = Self(0);
    const MAX: Self = Self(u128::MAX);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 80;

    type Stored = [u8; 16];

    fn to_stored(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    fn from_stored(stored: [u8; 16]) -> Option<Self> {
        Some(Self(u128::from_be_bytes(stored)))
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        CROCKFORD.decode_26(text).map(Self)
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        CROCKFORD.encode::<26>(self.0, buffer)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0), Self::from_fields(tick, MAX_RANDOMNESS)]
    }
}

impl GeneratedId for Ulid {
    /// The ID that the next one follows; 0 if there is none.
    type State = u128;
    type Settings = ();

    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        let high = rng.next_u32() as u16;
        Self::from_fields(tick, u128::from(high) << 64 | u128::from(rng.next_u64()))
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> u128 {
        Self::random_of(tick.saturating_add(1).min(Self::TICKS.max), rng).0
    }

    fn last_id(state: u128) -> Option<Self> {
        (state != 0).then_some(Self(state))
    }

    #[inline(always)]
    fn step(state: u128, context: &Context<()>, rng: &mut impl Rng) -> Step<Self> {
        let last = Self(state);
        let next = match place_in_time::<Self>(last.timestamp(), context)? {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => Self::random_of(timestamp, rng),
            Moment::Same if last.randomness() < MAX_RANDOMNESS => Self(last.0 + 1),
            // In the specification, the randomness does not carry into the timestamp.
            Moment::Same => return Err(NoId::Refused(Refusal::Exhausted)),
        };
        Ok((next.0, next))
    }
}

impl SqlId for Ulid {
    const SUMMARY: &'static str =
        "ULID: 128-bit ID in order of creation, unique without coordination (26 Crockford Base32 digits)";
    const FIELDS: &'static [Field<Self>] = &[Field {
        name: "randomness",
        summary: "80 bits, random at the start of every millisecond, then counted up",
        getter: Getter::Bits80(Self::randomness_bytes),
    }];
}

#[cfg(test)]
#[path = "../tests/unit/ulid.rs"]
mod tests;
