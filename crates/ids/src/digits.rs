//! Texts as digit values: what the Base36 and Base32 alphabets have in common.

use crate::error::{ParseError, ParseErrorKind};

const NO_DIGIT: u8 = u8::MAX;

/// The digit value of every byte, or [`NO_DIGIT`].
pub struct Alphabet([u8; 256]);

impl Alphabet {
    /// An alphabet that is read in either case. The position of a digit in `digits` is its value.
    pub const fn any_case(digits: &[u8]) -> Self {
        let mut values = [NO_DIGIT; 256];
        let mut value = 0;
        while value < digits.len() {
            values[digits[value].to_ascii_lowercase() as usize] = value as u8;
            values[digits[value].to_ascii_uppercase() as usize] = value as u8;
            value += 1;
        }
        Self(values)
    }

    /// The values of exactly `N` digits.
    ///
    /// # Errors
    /// The first character that is no digit; else, where the number of digits is another.
    pub fn values<const N: usize>(&self, text: &[u8]) -> Result<[u8; N], ParseError> {
        let Ok(text) = <&[u8; N]>::try_from(text) else {
            return Err(self.blame(text, N));
        };
        let values = text.map(|byte| self.0[byte as usize]);
        // One test for all digits: NO_DIGIT is the only value with the top bit set.
        if values.iter().fold(0, |all, value| all | value) & 0x80 != 0 {
            return Err(self.blame(text, N));
        }
        Ok(values)
    }

    #[cold]
    fn blame(&self, text: &[u8], expected: usize) -> ParseError {
        let invalid = text.iter().position(|&byte| self.0[byte as usize] == NO_DIGIT);
        match invalid {
            Some(position) => ParseError { kind: ParseErrorKind::InvalidDigit, position },
            None if text.len() < expected => {
                ParseError { kind: ParseErrorKind::TooShort(expected), position: text.len() }
            }
            None => ParseError { kind: ParseErrorKind::TooLong(expected), position: expected },
        }
    }
}

/// What a well-formed text above the largest ID is.
pub const OUT_OF_RANGE: ParseError = ParseError { kind: ParseErrorKind::OutOfRange, position: 0 };

/// Digits as the text that they are.
pub fn ascii(digits: &[u8]) -> &str {
    str::from_utf8(digits).expect("digits are ASCII")
}
