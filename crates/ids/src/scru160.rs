//! SCRU160: the ID, its settings, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::{BASE16, BASE32HEX};
use crate::generator::{Context, Moment, State, Step, packed, place_in_time};
use crate::sql::fields;
use crate::{Field, GeneratedId, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

/// The length of the hexadecimal text, in digits.
const HEX_LEN: usize = 40;

/// The largest initial value of a counter, which leaves half of the values for counting up.
const MAX_START: u16 = (1 << 15) - 1;

/// The number of counter bits below the microsecond, in the alternative usage.
const LOW_BITS: u32 = 6;
const MAX_LOW: u16 = (1 << LOW_BITS) - 1;
const MAX_LOW_START: u16 = MAX_LOW >> 1;

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

/// The state of a SCRU160 generator: the last ID without its random fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scru160State {
    timestamp: u64,
    counter: u16,
}

packed!(Scru160State in u64: timestamp 16 48, counter 0 16);

/// The next state, or the time to wait for, in microseconds since 1970-01-01 UTC.
type Next = Result<Scru160State, i64>;

impl Scru160State {
    fn fresh(timestamp: u64, rng: &mut impl Rng) -> Self {
        Self { timestamp, counter: rng.next_u32() as u16 & MAX_START }
    }

    fn next_random(self, moment: Moment, rng: &mut impl Rng) -> Next {
        match moment {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => Ok(Self::fresh(timestamp, rng)),
            Moment::Same => match self.counter.checked_add(1) {
                Some(counter) => Ok(Self { counter, ..self }),
                None => Err(Scru160::TICKS.start(self.timestamp + 1)),
            },
        }
    }

    fn next_microsecond(self, moment: Moment, now: i64, rng: &mut impl Rng) -> Next {
        let micros = now.rem_euclid(Scru160::TICKS.micros) as u16;
        let mut start = |timestamp| {
            let low = rng.next_u32() as u16 & MAX_LOW_START;
            Ok(Self { timestamp, counter: micros << LOW_BITS | low })
        };
        match moment {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => start(timestamp),
            Moment::Same if now >= self.end_of_microsecond() => start(self.timestamp),
            Moment::Same => self.count_within_microsecond(),
        }
    }

    fn count_within_microsecond(self) -> Next {
        // The other usage may have left a counter whose upper bits exceed 999.
        if self.counter & MAX_LOW == MAX_LOW || self.micros() >= Scru160::TICKS.micros {
            return Err(self.end_of_microsecond());
        }
        Ok(Self { counter: self.counter + 1, ..self })
    }

    /// Returns the counter's microsecond within the millisecond, in the alternative usage. It can exceed 999 after the default
    /// usage.
    fn micros(self) -> i64 {
        i64::from(self.counter >> LOW_BITS)
    }

    /// Returns the end of this microsecond, but no later than the end of its millisecond, in microseconds since 1970-01-01 UTC.
    fn end_of_microsecond(self) -> i64 {
        Scru160::TICKS.start(self.timestamp) + (self.micros() + 1).min(Scru160::TICKS.micros)
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

    fn tick(self) -> u64 {
        self.timestamp()
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0, 0, [0; 10]), Self::from_fields(tick, u16::MAX, u16::MAX, [u8::MAX; 10])]
    }
}

impl GeneratedId for Scru160 {
    type State = Scru160State;
    type Settings = Scru160Settings;

    /// Returns a random ID of `tick`, with the default usage of the counter.
    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::with_head(Scru160State::fresh(tick, rng).pack(), rng)
    }

    fn state_tick(state: Scru160State) -> u64 {
        state.timestamp
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> Scru160State {
        Scru160State::fresh(tick.saturating_add(1).min(Self::TICKS.max), rng)
    }

    #[inline(always)]
    fn step(state: Scru160State, context: &Context<Scru160Settings>, rng: &mut impl Rng) -> Step<Self> {
        let moment = match place_in_time::<Self>(state.timestamp, context) {
            Ok(moment) => moment,
            Err(refusal) => return Step::Refused(refusal),
        };
        let next = match context.settings.counter {
            Scru160Counter::Random => state.next_random(moment, rng),
            Scru160Counter::Microsecond => state.next_microsecond(moment, context.now, rng),
        };
        match next {
            Ok(next) => Step::Made(next, Self::with_head(next.pack(), rng)),
            Err(until) => Step::Wait(until),
        }
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
