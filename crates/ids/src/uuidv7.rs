//! UUID version 7: the ID, and the state and the steps of its generator.

use rand::Rng;

use crate::digits::CROCKFORD_LOWER;
use crate::error::ParseErrorKind::InvalidDigit;
use crate::generator::{Context, Moment, NoId, Refusal, Step, place_in_time};
use crate::sql::fields;
use crate::{Field, GeneratedId, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

const MAX_COUNTER: u64 = (1 << 42) - 1;

/// The bits of `counter` that stand above the variant.
const COUNTER_LOW_BITS: u32 = 30;
const MAX_COUNTER_LOW: u64 = (1 << COUNTER_LOW_BITS) - 1;

const VERSION_AND_VARIANT: u128 = 7 << 76 | 0b10 << 62;
pub(crate) const VERSION_AND_VARIANT_MASK: u128 = 0xf << 76 | 0b11 << 62;

/// The positions of the hyphens in the text.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// A UUID, read as one of version 7: a 128-bit ID, in order of creation, unique without coordination.
///
/// [RFC 9562](https://www.rfc-editor.org/rfc/rfc9562) defines the timestamp, the version and the variant, and leaves the other bits
/// to the implementation:
///
/// | bits | field |
/// |---|---|
/// | 48 | `timestamp`: milliseconds since 1970-01-01 UTC |
/// | 4 | version: 7 |
/// | 12 | `counter`, high bits: random, renewed every millisecond; + 1 for every further ID |
/// | 2 | variant: binary 10 |
/// | 30 | `counter`, low bits |
/// | 32 | `entropy`: random, renewed for every ID |
///
/// Any UUID is a value of this type, because a column of type `uuid` can have UUIDs of all versions. They sort by their bytes.
/// [`is_id`](crate::SortableId::is_id) tells those of version 7. When the counter overflows, the timestamp runs ahead of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuidv7(u128);

impl Uuidv7 {
    /// Returns the UUID with this integer value.
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// Returns the integer value.
    pub const fn to_u128(self) -> u128 {
        self.0
    }

    /// Returns the UUID of version 7 with these fields. Bits beyond the width of a field are discarded.
    pub const fn from_fields(timestamp: u64, counter: u64, entropy: u32) -> Self {
        let counter = counter & MAX_COUNTER;
        let (high, low) = ((counter >> COUNTER_LOW_BITS) as u128, (counter & MAX_COUNTER_LOW) as u128);
        Self((timestamp as u128) << 80 | VERSION_AND_VARIANT | high << 64 | low << 32 | entropy as u128)
    }

    /// Returns the 48-bit timestamp, in milliseconds since 1970-01-01 UTC.
    pub const fn timestamp(self) -> u64 {
        (self.0 >> 80) as u64
    }

    /// Returns the 42-bit `counter`.
    pub const fn counter(self) -> u64 {
        (self.counter_hi() as u64) << COUNTER_LOW_BITS | self.counter_lo() as u64
    }

    /// Returns the 32-bit `entropy`.
    pub const fn entropy(self) -> u32 {
        self.0 as u32
    }

    /// Returns the high 12 bits of `counter`.
    const fn counter_hi(self) -> u32 {
        (self.0 >> 64) as u32 & 0xfff
    }

    /// Returns the low 30 bits of `counter`.
    const fn counter_lo(self) -> u32 {
        (self.0 >> 32) as u32 & MAX_COUNTER_LOW as u32
    }
}

crate::standalone::new!(Uuidv7);

/// The steps of a generator. Its state is the last ID, with 0 in place of the entropy.
impl Uuidv7 {
    fn fresh(timestamp: u64, rng: &mut impl Rng) -> Self {
        Self::from_fields(timestamp, rng.next_u64(), 0)
    }

    /// Increments the counter. If it overflows, continues with a new counter in the next millisecond.
    fn count(self, rng: &mut impl Rng) -> Self {
        match self.counter() {
            // The variant stands above the low bits.
            counter if counter & MAX_COUNTER_LOW < MAX_COUNTER_LOW => Self(self.0 + (1 << 32)),
            counter if counter < MAX_COUNTER => Self::from_fields(self.timestamp(), counter + 1, 0),
            _ => Self::fresh(self.timestamp() + 1, rng),
        }
    }

    fn with_entropy(self, rng: &mut impl Rng) -> Self {
        Self(self.0 | u128::from(rng.next_u32()))
    }
}

impl SortableId for Uuidv7 {
    const NAME: &'static str = "uuidv7";
    const TEXT_LEN: usize = 36;
    const MIN: Self = Self::from_fields(0, 0, 0);
    const MAX: Self = Self::from_fields(u64::MAX, u64::MAX, u32::MAX);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 48;

    type Stored = [u8; 16];

    fn is_id(self) -> bool {
        self.0 & VERSION_AND_VARIANT_MASK == VERSION_AND_VARIANT
    }

    fn to_stored(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    fn from_stored(stored: [u8; 16]) -> Option<Self> {
        Some(Self(u128::from_be_bytes(stored)))
    }

    /// Parses the standard form: digits in any case, in groups of 8, 4, 4, 4 and 12 that are separated by hyphens.
    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let mut value = 0;
        for (position, &character) in text.iter().take(Self::TEXT_LEN).enumerate() {
            let digit = match HYPHENS.contains(&position) {
                true if character == b'-' => continue,
                true => None,
                false => char::from(character).to_digit(16),
            };
            value = value << 4 | u128::from(digit.ok_or(ParseError { kind: InvalidDigit, position })?);
        }
        match text.len() {
            Self::TEXT_LEN => Ok(Self(value)),
            received => Err(ParseError::wrong_length(Self::TEXT_LEN, received)),
        }
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        let text = &mut buffer[..Self::TEXT_LEN];
        let mut rest = self.0;
        for (position, character) in text.iter_mut().enumerate().rev() {
            if HYPHENS.contains(&position) {
                *character = b'-';
                continue;
            }
            *character = b"0123456789abcdef"[(rest & 0xf) as usize];
            rest >>= 4;
        }
        text
    }

    fn suffix(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        CROCKFORD_LOWER.encode::<26>(self.0, buffer)
    }

    fn parse_suffix(text: &[u8]) -> Result<Self, ParseError> {
        CROCKFORD_LOWER.decode_26(text).map(Self)
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0, 0), Self::from_fields(tick, u64::MAX, u32::MAX)]
    }
}

impl GeneratedId for Uuidv7 {
    type State = u128;
    type Settings = ();
    const STATE_LAYOUT: &'static str = "id with 0 as entropy";

    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::fresh(tick, rng).with_entropy(rng)
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> u128 {
        Self::fresh(tick.saturating_add(1).min(Self::TICKS.max), rng).0
    }

    #[inline(always)]
    fn step(state: u128, context: &Context<()>, rng: &mut impl Rng) -> Step<Self> {
        let last = Self(state);
        let next = match place_in_time::<Self>(last.timestamp(), context)? {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => Self::fresh(timestamp, rng),
            Moment::Same => last.count(rng),
        };
        if next.timestamp() == Self::TICKS.max {
            // The counter overflowed in the last millisecond before the reserved one.
            return Err(NoId::Refused(Refusal::ClockOutOfRange));
        }
        Ok((next.0, next.with_entropy(rng)))
    }
}

impl SqlId for Uuidv7 {
    const CORE_TYPE: Option<&'static str> = Some("uuid");
    const SUMMARY: &'static str =
        "UUID version 7: 128-bit ID in order of creation, unique without coordination (32 hexadecimal digits)";
    const FIELDS: &'static [Field<Self>] = fields! {
        Bits24 counter_hi "12 bits, the high part of the counter, random at the start of every millisecond",
        Bits32 counter_lo "30 bits, the low part of the counter, which is counted up",
        Bits32 entropy "32 random bits, renewed for every ID",
    };
}

#[cfg(test)]
#[path = "../tests/unit/uuidv7.rs"]
mod tests;
