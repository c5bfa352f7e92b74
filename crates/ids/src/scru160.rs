//! SCRU160: the ID, its settings, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::{BASE16, BASE32HEX};
use crate::generator::{Context, Moment, NoId, Step, place_in_time};
use crate::sql::fields;
use crate::{Field, GeneratedId, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

/// The length of the hexadecimal text, in digits.
const HEX_LEN: usize = 40;

/// The largest initial value of a counter, which leaves half of the values for counting up.
const MAX_START: u64 = (1 << 15) - 1;

/// The number of counter bits below the microsecond, in the alternative usage.
const LOW_BITS: u32 = 6;
const MAX_LOW: u64 = (1 << LOW_BITS) - 1;
const MAX_LOW_START: u64 = MAX_LOW >> 1;

/// A SCRU160: a 160-bit ID, in order of creation, unique without coordination.
///
/// Its [specification](https://github.com/scru160/spec), version 0.1.0, defines these fields:
///
/// | bits | field |
/// |---|---|
/// | 48 | `timestamp`: milliseconds since 1970-01-01 UTC |
/// | 16 | `counter`: 15 random bits, renewed every millisecond; + 1 for every further ID |
/// | 16 | `random16`: random, renewed for every ID |
/// | 80 | `random80`: random, renewed for every ID |
///
/// In the alternative usage of the counter, its upper 10 bits hold the microsecond within the millisecond. Its lower 6 bits
/// are a counter of their own: 5 random bits, renewed every microsecond; + 1 for every further ID. When a counter overflows,
/// the generator waits for the next millisecond or microsecond.
///
/// Any 20 bytes are an ID. The text has 32 base32hex digits. 40 hexadecimal digits are read as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
// Aligned, so that it is copied word by word. A load that spans several stores would defeat store forwarding and stall.
#[repr(align(4))]
pub struct Scru160([u8; 20]);

impl Scru160 {
    /// Returns the ID with these big-endian bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Returns the big-endian bytes.
    pub const fn to_bytes(self) -> [u8; 20] {
        self.0
    }

    /// Returns the ID with these fields. Bits of `timestamp` beyond its 48 bits are discarded.
    pub fn from_fields(timestamp: u64, counter: u16, random16: u16, random80: [u8; 10]) -> Self {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&(timestamp << 16 | u64::from(counter)).to_be_bytes());
        bytes[8..10].copy_from_slice(&random16.to_be_bytes());
        bytes[10..].copy_from_slice(&random80);
        Self(bytes)
    }

    /// Returns the 48-bit timestamp, in milliseconds since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        self.head() >> 16
    }

    /// Returns the 16-bit counter.
    pub const fn counter(self) -> u16 {
        self.head() as u16
    }

    /// Returns the 16-bit `random16`.
    pub const fn random16(self) -> u16 {
        u16::from_be_bytes([self.0[8], self.0[9]])
    }

    /// Returns the 80-bit `random80`, as big-endian bytes.
    pub const fn random80(self) -> [u8; 10] {
        let [_, _, _, _, _, _, _, _, _, _, random80 @ ..] = self.0;
        random80
    }

    /// Returns the timestamp and the counter, which are the leading 64 bits.
    const fn head(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// Returns an ID with these leading 64 bits, followed by 96 random bits.
    fn with_head(head: u64, rng: &mut impl Rng) -> Self {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&head.to_be_bytes());
        bytes[8..12].copy_from_slice(&rng.next_u32().to_be_bytes());
        bytes[12..].copy_from_slice(&rng.next_u64().to_be_bytes());
        Self(bytes)
    }
}

crate::standalone::new!(Scru160);

/// The settings of SCRU160.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scru160Settings {
    /// The usage of the counter.
    pub counter: Scru160Counter,
}

/// The usage of the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scru160Counter {
    /// The default of the specification: random at the start of every millisecond, then counted up.
    #[default]
    Random,
    /// The alternative of the specification: the microsecond, followed by 6 bits that are random at the start of every
    /// microsecond, then counted up.
    Microsecond,
}

/// Returns the leading bits of the first ID of a millisecond, in the default usage.
fn first(timestamp: u64, rng: &mut impl Rng) -> u64 {
    timestamp << 16 | u64::from(rng.next_u32()) & MAX_START
}

/// Returns the leading bits after `last`, in the default usage.
fn next_random(last: u64, moment: Moment, rng: &mut impl Rng) -> Result<u64, NoId> {
    match moment {
        Moment::Fresh(timestamp) | Moment::Later(timestamp) => Ok(first(timestamp, rng)),
        Moment::Same if last as u16 == u16::MAX => Err(NoId::Wait(Scru160::TICKS.start((last >> 16) + 1))),
        Moment::Same => Ok(last + 1),
    }
}

/// Returns the leading bits after `last`, in the alternative usage.
fn next_microsecond(last: u64, moment: Moment, now: i64, rng: &mut impl Rng) -> Result<u64, NoId> {
    let mut start = |timestamp: u64| {
        let micros = now.rem_euclid(Scru160::TICKS.micros) as u64;
        Ok(timestamp << 16 | micros << LOW_BITS | u64::from(rng.next_u32()) & MAX_LOW_START)
    };
    // The other usage may have left a counter whose upper bits exceed 999.
    let micros = i64::from(last as u16 >> LOW_BITS);
    let end = Scru160::TICKS.start(last >> 16) + (micros + 1).min(Scru160::TICKS.micros);
    match moment {
        Moment::Fresh(timestamp) | Moment::Later(timestamp) => start(timestamp),
        Moment::Same if now >= end => start(last >> 16),
        Moment::Same if last & MAX_LOW == MAX_LOW || micros >= Scru160::TICKS.micros => Err(NoId::Wait(end)),
        Moment::Same => Ok(last + 1),
    }
}

impl SortableId for Scru160 {
    const NAME: &'static str = "scru160";
    const TEXT_LEN: usize = 32;
    const MIN: Self = Self([0; 20]);
    const MAX: Self = Self([u8::MAX; 20]);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 16;

    type Stored = [u8; 20];

    fn to_stored(self) -> [u8; 20] {
        self.0
    }

    fn from_stored(stored: [u8; 20]) -> Option<Self> {
        Some(Self(stored))
    }

    #[inline]
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        if text.len() == HEX_LEN { BASE16.decode_40(text) } else { BASE32HEX.decode_32(text) }.map(Self)
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        BASE32HEX.encode_32(&self.0, buffer)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0, 0, [0; 10]), Self::from_fields(tick, u16::MAX, u16::MAX, [u8::MAX; 10])]
    }
}

impl GeneratedId for Scru160 {
    /// The leading 64 bits of the last ID.
    type State = u64;
    type Settings = Scru160Settings;
    const STATE_LAYOUT: &'static str = "leading 64 bits of the id";

    /// Returns a random ID of `tick`, with the default usage of the counter.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::with_head(first(tick, rng), rng)
    }

    fn state_tick(state: u64) -> u64 {
        state >> 16
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> u64 {
        first(tick.saturating_add(1).min(Self::TICKS.max), rng)
    }

    #[inline(always)]
    fn step(state: u64, context: &Context<Scru160Settings>, rng: &mut impl Rng) -> Step<Self> {
        let moment = place_in_time::<Self>(state >> 16, context)?;
        let next = match context.settings.counter {
            Scru160Counter::Random => next_random(state, moment, rng)?,
            Scru160Counter::Microsecond => next_microsecond(state, moment, context.now, rng)?,
        };
        Ok((next, Self::with_head(next, rng)))
    }
}

impl SqlId for Scru160 {
    const SUMMARY: &'static str =
        "SCRU160: 160-bit ID in order of creation, unique without coordination (32 base32hex digits)";
    const FIELDS: &'static [Field<Self>] = fields! {
        Bits24 counter "16 bits, random at the start of every millisecond, then counted up",
        Bits24 random16 "16 random bits, renewed for every ID",
        Bits80 random80 "80 random bits, renewed for every ID",
    };
}

#[cfg(test)]
#[path = "../tests/unit/scru160.rs"]
mod tests;
