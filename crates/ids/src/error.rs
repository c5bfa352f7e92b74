//! Why a text denotes no ID, and where.

use std::fmt;

/// Why a text denotes no ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Where, in bytes from 0. All bytes before it are ASCII digits, so that it also counts characters.
    pub position: usize,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The byte at the position is, or begins, a character that is no digit here.
    InvalidDigit,
    /// The text has fewer digits than an ID: the position is its end.
    TooShort {
        /// How many digits an ID has.
        expected: usize,
        /// How many these are.
        received: usize,
    },
    /// The text has more digits than an ID: the position is that of the first one too many.
    TooLong {
        /// How many digits an ID has.
        expected: usize,
        /// How many these are.
        received: usize,
    },
    /// The text is well formed, but denotes a number above the type's largest.
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
