//! The errors of converting a text or bytes to an ID.

use std::fmt;

/// An error returned when parsing an ID fails. Its message counts positions from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The kind of the error.
    pub kind: ParseErrorKind,
    /// The position of the error, in bytes from 0. All bytes before it are ASCII digits, so it is also a position in
    /// characters.
    pub position: usize,
}

/// The kinds of [`ParseError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The character at the position is not a digit of the type's alphabet.
    InvalidDigit,
    /// The text has fewer or more digits than an ID. The position is the end of the text, or that of the first surplus digit.
    WrongLength {
        /// The number of digits of an ID.
        expected: usize,
        /// The number of bytes of the text, all of which are digits.
        received: usize,
    },
    /// The text is well formed, but denotes a number above the type's largest. The position is 0.
    OutOfRange,
}

impl ParseError {
    /// Returns the error of a text with another number of digits.
    pub(crate) fn wrong_length(expected: usize, received: usize) -> Self {
        Self { kind: ParseErrorKind::WrongLength { expected, received }, position: expected.min(received) }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position + 1;
        match self.kind {
            ParseErrorKind::InvalidDigit => write!(f, "invalid digit at position {position}"),
            ParseErrorKind::WrongLength { expected, received } => {
                write!(f, "expected {expected} digits, but received {received}")
            }
            ParseErrorKind::OutOfRange => f.write_str("the number is above the type's largest"),
        }
    }
}

impl std::error::Error for ParseError {}

/// An error returned when converting bytes to an ID fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesError {
    /// The number of bytes is not that of the type.
    WrongLength {
        /// The number of bytes of an ID.
        expected: usize,
        /// The number of bytes received.
        received: usize,
    },
    /// The number of bytes is right, but they denote a number above the type's largest.
    OutOfRange,
}

impl fmt::Display for BytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { expected, received } => write!(f, "expected {expected} bytes, but received {received}"),
            Self::OutOfRange => f.write_str("the number is above the type's largest"),
        }
    }
}

impl std::error::Error for BytesError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scru64, Scru128, Scru160, SortableId, Ulidflake};

    #[test]
    fn messages_count_positions_from_one() {
        let message = |kind, position| ParseError { kind, position }.to_string();
        assert_eq!(message(ParseErrorKind::InvalidDigit, 25), "invalid digit at position 26");
        let too_long = ParseErrorKind::WrongLength { expected: 25, received: 27 };
        assert_eq!(message(too_long, 25), "expected 25 digits, but received 27");
        assert_eq!(message(ParseErrorKind::OutOfRange, 0), "the number is above the type's largest");
    }

    #[test]
    fn another_number_of_bytes_is_refused() {
        let error = Scru128::from_be_bytes(&[0; 15]).unwrap_err();
        assert_eq!(error, BytesError::WrongLength { expected: 16, received: 15 });
        assert_eq!(error.to_string(), "expected 16 bytes, but received 15");
        assert_eq!(Scru160::from_be_bytes(&[]), Err(BytesError::WrongLength { expected: 20, received: 0 }));
        assert_eq!(Scru64::from_be_bytes(&[0; 9]), Err(BytesError::WrongLength { expected: 8, received: 9 }));
    }

    #[test]
    fn bytes_above_the_largest_are_refused() {
        let above_the_largest = (36_i64.pow(11) * 36).to_be_bytes();
        assert_eq!(Scru64::from_be_bytes(&above_the_largest), Err(BytesError::OutOfRange));
        assert_eq!(Ulidflake::from_be_bytes(&[0x80, 0, 0, 0, 0, 0, 0, 0]), Err(BytesError::OutOfRange));
        assert_eq!(BytesError::OutOfRange.to_string(), "the number is above the type's largest");
    }

    #[test]
    fn bytes_round_trip() {
        let bytes = [0x01, 0x7f, 0xee, 0x9f, 0xfb, 0xc4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
        assert_eq!(Scru128::from_be_bytes(&bytes).map(Scru128::to_be_bytes), Ok(bytes));
    }
}
