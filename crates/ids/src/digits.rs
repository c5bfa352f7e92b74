//! The decoding of digits, common to all alphabets.

use crate::error::{ParseError, ParseErrorKind};

/// The value of a byte that is not a digit. Larger than any number of four digits.
const NO_DIGIT: u32 = 1 << 21;

/// The value of every byte as a digit, or [`NO_DIGIT`].
pub struct Alphabet([u32; 256]);

impl Alphabet {
    /// Returns a case-insensitive alphabet. The value of a digit is its position in `digits`.
    pub const fn any_case(digits: &[u8]) -> Self {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < digits.len() {
            values[digits[value].to_ascii_lowercase() as usize] = value as u32;
            values[digits[value].to_ascii_uppercase() as usize] = value as u32;
            value += 1;
        }
        Self(values)
    }

    /// Returns an alphabet of exactly these digits. The value of a digit is its position in `digits`.
    pub const fn exact(digits: &[u8]) -> Self {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < digits.len() {
            values[digits[value] as usize] = value as u32;
            value += 1;
        }
        Self(values)
    }

    /// Returns the numbers that the `N` digits of `text` denote in groups of four, from the most significant group. The first
    /// group is shorter if `N` is not a multiple of four.
    ///
    /// # Errors
    /// Returns [`ParseErrorKind::InvalidDigit`] for the first byte that is not a digit. If all bytes are digits but their number
    /// is not `N`, returns [`ParseErrorKind::TooShort`] or [`ParseErrorKind::TooLong`].
    #[inline(always)]
    pub fn groups_of_four<const RADIX: u64, const N: usize, const GROUPS: usize>(
        &self,
        text: &[u8],
    ) -> Result<[u64; GROUPS], ParseError> {
        const { assert!(N.div_ceil(4) == GROUPS && RADIX.pow(4) < NO_DIGIT as u64) };
        let Ok(text) = <&[u8; N]>::try_from(text) else {
            return Err(self.parse_error(text, N));
        };
        let mut groups = [0; GROUPS];
        for (group, digits) in groups.iter_mut().rev().zip(text.rchunks(4)) {
            *group = digits.iter().fold(0, |number, &digit| number * RADIX + u64::from(self.0[usize::from(digit)]));
        }
        // One comparison checks four digits: a NO_DIGIT among them makes the number too large.
        if groups.iter().any(|&number| number >= RADIX.pow(4)) {
            return Err(self.parse_error(text, N));
        }
        Ok(groups)
    }

    #[cold]
    #[inline(never)]
    fn parse_error(&self, text: &[u8], expected: usize) -> ParseError {
        let invalid = text.iter().position(|&byte| self.0[usize::from(byte)] == NO_DIGIT);
        let received = text.len();
        match invalid {
            Some(position) => ParseError { kind: ParseErrorKind::InvalidDigit, position },
            None if received < expected => {
                ParseError { kind: ParseErrorKind::TooShort { expected, received }, position: received }
            }
            None => ParseError { kind: ParseErrorKind::TooLong { expected, received }, position: expected },
        }
    }
}

/// The error of a well-formed text that denotes a number above the largest ID.
pub const OUT_OF_RANGE: ParseError = ParseError { kind: ParseErrorKind::OutOfRange, position: 0 };
