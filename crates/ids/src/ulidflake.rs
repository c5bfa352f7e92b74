//! Ulid-Flake: the ID, its settings, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::CROCKFORD;
use crate::generator::{Context, Moment, NoId, Refusal, Step, place_strictly};
use crate::sql::fields;
use crate::{Field, GeneratedId, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

const RANDOMNESS_BITS: u32 = 20;
const MAX_RANDOMNESS: u32 = (1 << RANDOMNESS_BITS) - 1;

/// The number of bits of the randomness that the scalable form uses for the number of the server.
const SCALABILITY_BITS: u32 = 5;
const MAX_SCALABILITY: u32 = (1 << SCALABILITY_BITS) - 1;

/// 2024-01-01 00:00 UTC.
const EPOCH: i64 = 1_704_067_200_000_000;

/// A Ulid-Flake: a 64-bit ID, in order of creation, unique within its server.
///
/// Its [specification](https://github.com/ulid-flake/spec) defines these fields for the stand-alone form:
///
/// | bits | field |
/// |---|---|
/// | 1 | the sign, 0 |
/// | 43 | `timestamp`: milliseconds since 2024-01-01 UTC |
/// | 20 | `randomness`: random, renewed every millisecond; + n for every further ID |
///
/// In the scalable form, the last 20 bits are two fields:
///
/// | bits | field |
/// |---|---|
/// | 15 | `randomness`: random, renewed every millisecond; + n for every further ID |
/// | 5 | `scalability`: the number of the server |
///
/// n is a random number other than 0, of [`entropy_bits`](UlidflakeSettings::entropy_bits) bits. When the randomness overflows,
/// the generator waits for the next millisecond, or refuses ([`UlidflakeOverflow`]).
///
/// Every integer below 2^63 is an ID. The text has 13 Crockford Base32 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulidflake(u64);

impl Ulidflake {
    /// Returns the ID with this integer value, or `None` if the value is 2^63 or more.
    pub const fn from_u64(value: u64) -> Option<Self> {
        if value <= Self::MAX.0 { Some(Self(value)) } else { None }
    }

    /// Returns the integer value.
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the ID with these fields in the stand-alone form. Bits beyond the width of a field are discarded.
    pub const fn from_fields(timestamp: u64, randomness: u32) -> Self {
        Self((timestamp & Self::TICKS.max) << RANDOMNESS_BITS | (randomness & MAX_RANDOMNESS) as u64)
    }

    /// Returns the ID with these fields in the scalable form. Bits beyond the width of a field are discarded.
    pub const fn from_scalable_fields(timestamp: u64, randomness: u32, scalability: u32) -> Self {
        Self::from_fields(timestamp, randomness << SCALABILITY_BITS | scalability & MAX_SCALABILITY)
    }

    /// Returns the 43-bit timestamp, in milliseconds since 2024-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        self.0 >> RANDOMNESS_BITS
    }

    /// Returns the 20-bit randomness of the stand-alone form.
    pub const fn randomness(self) -> u32 {
        self.0 as u32 & MAX_RANDOMNESS
    }

    /// Returns the 15-bit randomness of the scalable form.
    pub const fn scalable_randomness(self) -> u32 {
        self.randomness() >> SCALABILITY_BITS
    }

    /// Returns the 5-bit scalability of the scalable form.
    pub const fn scalability(self) -> u32 {
        self.randomness() & MAX_SCALABILITY
    }
}

/// The settings of Ulid-Flake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UlidflakeSettings {
    /// The number of the server in the scalable form, 0 to 31, or `None` for the stand-alone form.
    pub scalability: Option<u32>,
    /// The number of bits of the random increment of the randomness, 1 to 16. Others count as the nearest of these.
    pub entropy_bits: u32,
    /// The reaction to an overflow of the randomness.
    pub on_overflow: UlidflakeOverflow,
}

/// The reaction to an overflow of the randomness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UlidflakeOverflow {
    /// Wait for the next millisecond.
    #[default]
    Wait,
    /// Refuse with [`Refusal::Exhausted`].
    Error,
}

impl Default for UlidflakeSettings {
    fn default() -> Self {
        Self { scalability: None, entropy_bits: 8, on_overflow: UlidflakeOverflow::Wait }
    }
}

impl UlidflakeSettings {
    /// Returns an ID of `tick` with new randomness.
    fn start(&self, tick: u64, rng: &mut impl Rng) -> Ulidflake {
        match self.scalability {
            None => Ulidflake::from_fields(tick, rng.next_u32()),
            Some(number) => Ulidflake::from_scalable_fields(tick, rng.next_u32(), number),
        }
    }

    /// Returns an ID after `last` in the same tick, or `None` if the randomness overflows.
    fn count(&self, last: Ulidflake, rng: &mut impl Rng) -> Option<Ulidflake> {
        // In the scalable form, the upper bits increase, so the ID is greater than `last`, regardless of the lower bits.
        let bits = self.scalability.map_or(0, |_| SCALABILITY_BITS);
        let randomness = (last.randomness() >> bits) + self.increment(rng);
        let number = self.scalability.unwrap_or(0) & MAX_SCALABILITY;
        let id = || Ulidflake::from_fields(last.timestamp(), randomness << bits | number);
        (randomness <= MAX_RANDOMNESS >> bits).then(id)
    }

    /// Returns a random number of 1 to 16 `entropy_bits`, uniformly distributed over all values except 0.
    fn increment(&self, rng: &mut impl Rng) -> u32 {
        loop {
            let n = rng.next_u32() & ((1 << self.entropy_bits.clamp(1, 16)) - 1);
            if n != 0 {
                return n;
            }
        }
    }

    /// Returns the reason of a step whose randomness overflows. With either setting, the generator waits for a clock that is
    /// behind the tick of `last`, as after a restart.
    fn overflow(&self, last: Ulidflake, now: i64) -> NoId {
        let ticks = Ulidflake::TICKS;
        match self.on_overflow {
            UlidflakeOverflow::Error if ticks.start(last.timestamp()) <= now => NoId::Refused(Refusal::Exhausted),
            _ => NoId::Wait(ticks.start(last.timestamp() + 1)),
        }
    }
}

impl SortableId for Ulidflake {
    const NAME: &'static str = "ulidflake";
    const TEXT_LEN: usize = 13;
    const MIN: Self = Self(0);
    const MAX: Self = Self(i64::MAX as u64);
    const TICKS: Ticks = Ticks { epoch: EPOCH, micros: 1_000, max: (1 << 43) - 1, shift: RANDOMNESS_BITS };
    const SEQUENCE_BITS: u32 = RANDOMNESS_BITS;

    type Stored = i64;

    fn to_stored(self) -> i64 {
        self.0 as i64
    }

    fn from_stored(stored: i64) -> Option<Self> {
        u64::try_from(stored).ok().map(Self)
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        CROCKFORD.decode_13(text).map(Self)
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        CROCKFORD.encode::<13>(self.0.into(), buffer)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0), Self::from_fields(tick, MAX_RANDOMNESS)]
    }
}

impl GeneratedId for Ulidflake {
    const SERVER_WIDE: bool = true;
    /// The ID that the next one follows; 0 if there is none.
    type State = u64;
    type Settings = UlidflakeSettings;

    /// Returns a random ID of `tick`, without a guarantee of uniqueness.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::from_fields(tick, rng.next_u32())
    }

    /// Returns whether the ID has the number of the server. Always `false` in the stand-alone form, whose IDs have no number.
    fn is_local(self, settings: &UlidflakeSettings) -> bool {
        settings.scalability == Some(self.scalability())
    }

    fn node_text(settings: &UlidflakeSettings) -> Option<String> {
        Some(settings.scalability.map_or_else(|| "-1".to_owned(), |number| number.to_string()))
    }

    fn state_after(tick: u64, _: &mut impl Rng) -> u64 {
        Self::last_of(tick.min(Self::TICKS.max)).0
    }

    fn last_id(state: u64) -> Option<Self> {
        (state != 0).then_some(Self(state))
    }

    #[inline(always)]
    fn step(state: u64, context: &Context<UlidflakeSettings>, rng: &mut impl Rng) -> Step<Self> {
        let (last, settings) = (Self(state), &context.settings);
        let next = match place_strictly::<Self>(last.timestamp(), context.now)? {
            Moment::Fresh(tick) | Moment::Later(tick) => settings.start(tick, rng),
            Moment::Same => settings.count(last, rng).ok_or_else(|| settings.overflow(last, context.now))?,
        };
        Ok((next.0, next))
    }
}

impl SqlId for Ulidflake {
    const SUMMARY: &'static str =
        "Ulid-Flake: 64-bit ID in order of creation, unique within its server (13 Crockford Base32 digits)";
    const NODE_SETTING: Option<&'static str> = Some("ulidflake_scalability");
    const FIELDS: &'static [Field<Self>] = fields! {
        Bits24 randomness "20 bits of the stand-alone form, random at the start of every millisecond, then counted up",
        Bits24 scalable_randomness "15 bits of the scalable form, random at the start of every millisecond, then counted up",
        Bits24 scalability "5 bits of the scalable form: the number of the server",
    };
}

#[cfg(test)]
#[path = "../tests/unit/ulidflake.rs"]
mod tests;
