//! The error of parsing a text as an ID.

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
    /// The text has fewer digits than an ID. The position is the end of the text.
    TooShort {
        /// The number of digits of an ID.
        expected: usize,
        /// The number of bytes of the text, all of which are digits.
        received: usize,
    },
    /// The text has more digits than an ID. The position is that of the first surplus digit.
    TooLong {
        /// The number of digits of an ID.
        expected: usize,
        /// The number of bytes of the text, all of which are digits.
        received: usize,
    },
    /// The text is well formed, but denotes a number above the type's largest. The position is 0.
    OutOfRange,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position + 1;
        match self.kind {
            ParseErrorKind::InvalidDigit => write!(f, "invalid digit at position {position}"),
            ParseErrorKind::TooShort { expected, received } | ParseErrorKind::TooLong { expected, received } => {
                write!(f, "expected {expected} digits, but received {received}")
            }
            ParseErrorKind::OutOfRange => f.write_str("the number is above the type's largest"),
        }
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_count_positions_from_one() {
        let message = |kind, position| ParseError { kind, position }.to_string();
        assert_eq!(message(ParseErrorKind::InvalidDigit, 25), "invalid digit at position 26");
        let (too_short, too_long) = (
            ParseErrorKind::TooShort { expected: 25, received: 0 },
            ParseErrorKind::TooLong { expected: 25, received: 27 },
        );
        assert_eq!(message(too_short, 0), "expected 25 digits, but received 0");
        assert_eq!(message(too_long, 25), "expected 25 digits, but received 27");
        assert_eq!(message(ParseErrorKind::OutOfRange, 0), "the number is above the type's largest");
    }
}
