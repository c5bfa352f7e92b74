//! Texts as digit values: what all alphabets here have in common.

use crate::error::{ParseError, ParseErrorKind};

/// Larger than any four digits.
const NO_DIGIT: u32 = 1 << 21;

/// The digit value of every byte, or [`NO_DIGIT`].
pub struct Alphabet([u32; 256]);

impl Alphabet {
    /// An alphabet that is read in either case. The position of a digit in `digits` is its value.
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

    /// The numbers that exactly `N` digits denote in groups of four; where `N` is no multiple of four, the first group has
    /// fewer.
    ///
    /// # Errors
    /// The first character that is no digit; else, where the number of digits is another.
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
        // One test for four digits: NO_DIGIT makes the number larger than all that are.
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

/// What a well-formed text above the largest ID is.
pub const OUT_OF_RANGE: ParseError = ParseError { kind: ParseErrorKind::OutOfRange, position: 0 };
