//! The traits [`SortableId`], what an ID is, and [`Stored`], the form in which the server stores it.

use std::{fmt, hash::Hash, str::FromStr};

use crate::{BytesError, ParseError, Ticks};

/// The length of the longest text of any type, in bytes.
pub const MAX_TEXT_LEN: usize = 36;

/// An ID: its bytes, its texts and its time.
///
/// The order of the values (`Ord`) is the order of their big-endian bytes and of their canonical texts in ASCII.
pub trait SortableId:
    Copy + Ord + Hash + fmt::Debug + fmt::Display + FromStr<Err = ParseError> + Send + Sync + 'static
{
    /// The name of the ID system, in lower case.
    const NAME: &'static str;
    /// The length of the canonical text, in ASCII digits.
    const TEXT_LEN: usize;
    /// The smallest value.
    const MIN: Self;
    /// The largest value.
    const MAX: Self;
    /// The epoch, the unit, the range and the place of the timestamp.
    #[doc(hidden)]
    const TICKS: Ticks;
    /// The number of bits directly below the timestamp with the counter, and the node if any. Those below are random in every ID.
    #[doc(hidden)]
    const SEQUENCE_BITS: u32;

    /// The stored form: an array of bytes if PostgreSQL passes the type by reference, an `i64` if it passes the type by value.
    #[doc(hidden)]
    type Stored: Stored;

    /// Returns whether the value is an ID of this system. Only [`Uuidv7`](crate::Uuidv7) has other values: UUIDs of other versions.
    /// They sort by their bytes: between two ticks, or within a tick.
    #[doc(hidden)]
    fn is_id(self) -> bool {
        true
    }

    /// Returns the stored form of the ID.
    #[doc(hidden)]
    fn to_stored(self) -> Self::Stored;

    /// Returns the ID with this stored form, or `None` if the value is outside the type's range.
    #[doc(hidden)]
    fn from_stored(stored: Self::Stored) -> Option<Self>;

    /// Returns the big-endian bytes of the ID.
    fn to_be_bytes(self) -> <Self::Stored as Stored>::Bytes {
        self.to_stored().to_bytes()
    }

    /// Returns the ID with these big-endian bytes.
    ///
    /// # Errors
    /// Returns [`BytesError::WrongLength`] if `bytes` does not have the length of the type, and [`BytesError::OutOfRange`] if
    /// the bytes denote a number above [`MAX`](Self::MAX).
    fn from_be_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let expected = Self::Stored::LEN;
        let stored = Self::Stored::from_bytes(bytes);
        let stored = stored.ok_or(BytesError::WrongLength { expected, received: bytes.len() })?;
        Self::from_stored(stored).ok_or(BytesError::OutOfRange)
    }

    /// Parses an ID in any text form that the type accepts.
    ///
    /// # Errors
    /// Returns [`ParseError`], with the position of the error, if `text` is not a valid ID.
    fn parse(text: &[u8]) -> Result<Self, ParseError>;

    /// Writes the canonical text of the ID to the beginning of `buffer`, and returns the part that was written, which is ASCII. The
    /// rest of `buffer` is unchanged.
    #[doc(hidden)]
    fn digits(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8];

    /// Writes the text after a [prefix](crate::prefixed) to the beginning of `buffer`, and returns it. It is the canonical text. For a
    /// UUID, it is the suffix of a TypeID.
    #[doc(hidden)]
    fn suffix(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &[u8] {
        self.digits(buffer)
    }

    /// Parses the text after a prefix, in any text form of the ID. For a UUID, parses the suffix of a TypeID.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    #[doc(hidden)]
    fn parse_suffix(text: &[u8]) -> Result<Self, ParseError> {
        Self::parse(text)
    }

    /// Like [`digits`](Self::digits), but returns a `str`, which takes a UTF-8 check.
    #[doc(hidden)]
    fn encode(self, buffer: &mut [u8; MAX_TEXT_LEN]) -> &str {
        str::from_utf8(self.digits(buffer)).unwrap_or_default()
    }

    /// Returns the timestamp, in ticks since the type's epoch.
    #[doc(hidden)]
    fn tick(self) -> u64 {
        (self.to_stored().head() >> Self::TICKS.shift) as u64
    }

    /// Returns the smallest and the largest ID of `tick`, which must be at most [`TICKS.max`](Ticks::max).
    #[doc(hidden)]
    fn ends_of(tick: u64) -> [Self; 2];

    /// Returns the smallest ID of `tick`, likewise.
    #[doc(hidden)]
    fn first_of(tick: u64) -> Self {
        Self::ends_of(tick)[0]
    }

    /// Returns the largest ID of `tick`, likewise.
    #[doc(hidden)]
    fn last_of(tick: u64) -> Self {
        Self::ends_of(tick)[1]
    }

    /// Returns the time of the ID, in microseconds since 1970-01-01 UTC: the start of its tick.
    fn timestamp_micros(self) -> i64 {
        Self::TICKS.start(self.tick())
    }

    /// Returns the smallest ID of the tick that contains the time `micros`, in microseconds since 1970-01-01 UTC. A time out of range
    /// counts as within the nearest tick.
    fn lower(micros: i64) -> Self {
        Self::first_of(Self::TICKS.nearest(micros))
    }

    /// Returns the largest ID of the tick that contains the time `micros`, likewise.
    fn upper(micros: i64) -> Self {
        Self::last_of(Self::TICKS.nearest(micros))
    }
}

/// The stored form of an ID: an array of its big-endian bytes, or an `i64` in native byte order.
pub trait Stored: Copy + Ord + fmt::Debug + Send + Sync + 'static {
    /// The type of the big-endian bytes.
    type Bytes: AsRef<[u8]>;
    /// The number of bytes.
    const LEN: usize = size_of::<Self>();
    /// Whether PostgreSQL passes the value itself, in a machine word, and not a reference to its bytes.
    const BY_VALUE: bool;

    /// Returns the big-endian bytes, which are also the binary format of PostgreSQL's protocol.
    fn to_bytes(self) -> Self::Bytes;

    /// Returns the value with these big-endian bytes, or `None` if their number is not [`LEN`](Self::LEN).
    fn from_bytes(bytes: &[u8]) -> Option<Self>;

    /// Returns the first 16 big-endian bytes as a number, which is that of the whole value if it has no more bytes.
    fn head(self) -> u128;
}

impl<const N: usize> Stored for [u8; N] {
    type Bytes = Self;
    const BY_VALUE: bool = false;

    fn to_bytes(self) -> Self {
        self
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }

    #[inline]
    fn head(self) -> u128 {
        let fold = || self.iter().fold(0, |number, &byte| number << 8 | u128::from(byte));
        self.first_chunk().map_or_else(fold, |head| u128::from_be_bytes(*head))
    }
}

impl Stored for i64 {
    type Bytes = [u8; 8];
    const BY_VALUE: bool = true;

    fn to_bytes(self) -> [u8; 8] {
        self.to_be_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_be_bytes)
    }

    #[inline]
    fn head(self) -> u128 {
        self.cast_unsigned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_big_endian_on_the_wire() {
        assert_eq!(0x0102_0304_0506_0708_i64.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(i64::from_bytes(&[1, 2, 3, 4, 5, 6, 7, 8]), Some(0x0102_0304_0506_0708));
        assert_eq!(i64::from_bytes(&[0xff; 8]), Some(-1));
    }

    #[test]
    fn from_bytes_returns_none_for_a_wrong_length() {
        for length in [0, 7, 9, 15, 17] {
            assert_eq!(i64::from_bytes(&vec![0; length]), None);
            assert_eq!(<[u8; 16]>::from_bytes(&vec![0; length]), None);
        }
        assert_eq!(<[u8; 16]>::from_bytes(&[3; 16]), Some([3; 16]));
    }
}
