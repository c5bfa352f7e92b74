//! A type of 12 bytes, with which tools/lib/next-version.sh tests that a type is defined by one file. An ID consists of 48 bits of
//! milliseconds since 1970 and 48 random bits, which count up within a millisecond. Its text has 24 hexadecimal digits.

use rand::Rng;

use crate::digits::BASE16;
use crate::generator::{Context, Moment, NoId, Refusal, Step, place_in_time};
use crate::{Field, GeneratedId, Getter, MAX_TEXT_LEN, ParseError, SortableId, SqlId, Ticks};

const MAX_RANDOMNESS: u64 = (1 << 48) - 1;

/// An ID, as the integer of its big-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HexId(u128);

impl HexId {
    const fn from_fields(timestamp: u64, randomness: u64) -> Self {
        Self((timestamp as u128) << 48 | randomness as u128)
    }

    const fn timestamp(self) -> u64 {
        (self.0 >> 48) as u64
    }

    const fn randomness(self) -> u64 {
        self.0 as u64 & MAX_RANDOMNESS
    }

    const fn randomness_high(self) -> u32 {
        (self.randomness() >> 32) as u32
    }

    const fn randomness_low(self) -> u32 {
        self.randomness() as u32
    }
}

crate::standalone::new!(HexId);

impl SortableId for HexId {
    const NAME: &'static str = "hexid";
    const TEXT_LEN: usize = 24;
    const MIN: Self = Self(0);
    const MAX: Self = Self((1 << 96) - 1);
    const TICKS: Ticks = Ticks::UNIX_MILLIS_48;
    const SEQUENCE_BITS: u32 = 48;

    type Stored = [u8; 12];

    fn to_stored(self) -> [u8; 12] {
        let [_, _, _, _, bytes @ ..] = self.0.to_be_bytes();
        bytes
    }

    fn from_stored(stored: [u8; 12]) -> Option<Self> {
        Some(Self(stored.iter().fold(0, |value, byte| value << 8 | u128::from(*byte))))
    }

    fn parse(text: &[u8]) -> Result<Self, ParseError> {
        let groups = BASE16.groups_of_four::<24, 6>(text)?;
        Ok(Self(groups.iter().fold(0, |value, group| value << 16 | *group as u128)))
    }

    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        let digits = &mut buffer[..Self::TEXT_LEN];
        for (place, digit) in digits.iter_mut().rev().enumerate() {
            *digit = b"0123456789abcdef"[(self.0 >> (4 * place)) as usize & 0xf];
        }
        digits
    }

    fn tick(self) -> u64 {
        self.timestamp()
    }

    fn ends_of(tick: u64) -> [Self; 2] {
        [Self::from_fields(tick, 0), Self::from_fields(tick, MAX_RANDOMNESS)]
    }
}

impl GeneratedId for HexId {
    /// The ID that the next one follows; 0 if there is none.
    type State = u128;
    type Settings = ();

    fn random_of(tick: u64, rng: &mut impl Rng) -> Self {
        Self::from_fields(tick, rng.next_u64() & MAX_RANDOMNESS)
    }

    fn state_tick(state: u128) -> u64 {
        Self(state).timestamp()
    }

    fn state_after(tick: u64, rng: &mut impl Rng) -> u128 {
        Self::random_of((tick + 1).min(Self::TICKS.max), rng).0
    }

    fn last_id(state: u128) -> Option<Self> {
        (state != 0).then_some(Self(state))
    }

    fn step(state: u128, context: &Context<()>, rng: &mut impl Rng) -> Step<Self> {
        let last = Self(state);
        let next = match place_in_time::<Self>(last.timestamp(), context)? {
            Moment::Fresh(timestamp) | Moment::Later(timestamp) => Self::random_of(timestamp, rng),
            Moment::Same if last.randomness() < MAX_RANDOMNESS => Self(last.0 + 1),
            Moment::Same => return Err(NoId::Refused(Refusal::Exhausted)),
        };
        Ok((next.0, next))
    }
}

impl SqlId for HexId {
    const SUMMARY: &'static str = "hexid: 96-bit ID in order of creation (24 hexadecimal digits)";
    const FIELDS: &'static [Field<Self>] = &[
        Field { name: "randomness_high", summary: "the first 16 bits", getter: Getter::Bits24(Self::randomness_high) },
        Field { name: "randomness_low", summary: "the last 32 bits", getter: Getter::Bits32(Self::randomness_low) },
    ];
}
