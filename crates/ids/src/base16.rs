//! Base16: bytes as hexadecimal digits. Output is in lower case; input is case-insensitive.

use crate::digits::Alphabet;
use crate::error::ParseError;

const DIGITS: &[u8; 16] = b"0123456789abcdef";
static ALPHABET: Alphabet = Alphabet::any_case(DIGITS);

/// Writes 20 bytes as 40 digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 40 bytes.
pub fn encode_40<'a>(bytes: &[u8; 20], buffer: &'a mut [u8]) -> &'a [u8] {
    let digits = &mut buffer[..40];
    for (byte, pair) in bytes.iter().zip(digits.as_chunks_mut().0) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 0xf)]];
    }
    digits
}

/// Parses 40 digits as 20 bytes.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not 40 digits. Any 40 digits are in range.
#[inline]
pub fn decode_40(text: &[u8]) -> Result<[u8; 20], ParseError> {
    let groups_of_four = ALPHABET.groups_of_four::<16, 40, 10>(text)?;
    let mut bytes = [0; 20];
    for (number, bytes) in groups_of_four.iter().zip(bytes.as_chunks_mut::<2>().0) {
        *bytes = (*number as u16).to_be_bytes();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    const BYTES: [u8; 20] = [
        0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x00, 0xff,
        0x0f, 0xf0,
    ];

    #[test]
    fn bytes_are_written_in_lower_case_and_read_in_any() {
        assert_eq!(encode_40(&BYTES, &mut [0; 40]), b"0123456789abcdeffedcba987654321000ff0ff0");
        assert_eq!(decode_40(b"0123456789abcdeffedcba987654321000ff0ff0"), Ok(BYTES));
        assert_eq!(decode_40(b"0123456789ABCDEFfedcba987654321000FF0fF0"), Ok(BYTES));
    }

    #[test]
    fn letters_after_f_are_not_digits() {
        let error = ParseError { kind: ParseErrorKind::InvalidDigit, position: 39 };
        assert_eq!(decode_40(b"0123456789abcdeffedcba987654321000ff0ffg"), Err(error));
    }
}
