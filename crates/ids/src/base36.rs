//! Base36: numbers in the digits `0-9a-z`, written in lower case, read in any.

use crate::digits::{Alphabet, OUT_OF_RANGE, ascii};
use crate::error::ParseError;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
static ALPHABET: Alphabet = Alphabet::any_case(DIGITS);

/// 36^12, the largest power of 36 that fits into 64 bits: numbers are cut into groups of twelve digits.
pub const POW_12: u64 = 36_u64.pow(12);

/// Every two-digit number as text: two digits are written with one look-up.
static PAIRS: [[u8; 2]; 36 * 36] = {
    let mut pairs = [[0; 2]; 36 * 36];
    let mut n = 0;
    while n < pairs.len() {
        pairs[n] = [DIGITS[n / 36], DIGITS[n % 36]];
        n += 1;
    }
    pairs
};

/// Writes a number below 36^12 as twelve digits.
pub fn encode_12(number: u64, buffer: &mut [u8]) -> &str {
    write_12(number, &mut buffer[..12]);
    ascii(&buffer[..12])
}

/// Writes a number as 25 digits.
pub fn encode_25(number: u128, buffer: &mut [u8]) -> &str {
    let pow_12 = u128::from(POW_12);
    let (high, low) = (number / pow_12, (number % pow_12) as u64);
    let (top, middle) = (high / pow_12, (high % pow_12) as u64);
    buffer[0] = DIGITS[top as usize];
    write_12(middle, &mut buffer[1..13]);
    write_12(low, &mut buffer[13..25]);
    ascii(&buffer[..25])
}

fn write_12(mut number: u64, digits: &mut [u8]) {
    debug_assert!(number < POW_12);
    for pair in digits.as_chunks_mut().0.iter_mut().rev() {
        *pair = PAIRS[(number % 1296) as usize];
        number /= 1296;
    }
}

/// Reads twelve digits.
///
/// # Errors
/// [`ParseError`] if the text is not twelve digits. All twelve-digit numbers are in range.
pub fn decode_12(text: &[u8]) -> Result<u64, ParseError> {
    ALPHABET.values::<12>(text).map(|digits| number(&digits))
}

/// Reads 25 digits.
///
/// # Errors
/// [`ParseError`] if the text is not 25 digits, or if they denote 2^128 or more.
pub fn decode_25(text: &[u8]) -> Result<u128, ParseError> {
    let digits = ALPHABET.values::<25>(text)?;
    let pow_12 = u128::from(POW_12);
    let high = u128::from(digits[0]) * pow_12 + u128::from(number(&digits[1..13]));
    let low = u128::from(number(&digits[13..]));
    high.checked_mul(pow_12).and_then(|high| high.checked_add(low)).ok_or(OUT_OF_RANGE)
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, &digit| number * 36 + u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    #[test]
    fn twelve_digits_are_written_with_leading_zeros() {
        assert_eq!(encode_12(0, &mut [0; 12]), "000000000000");
        assert_eq!(encode_12(35, &mut [0; 12]), "00000000000z");
        assert_eq!(encode_12(36, &mut [0; 12]), "000000000010");
        assert_eq!(encode_12(POW_12 - 1, &mut [0; 12]), "zzzzzzzzzzzz");
    }

    #[test]
    fn every_twelve_digits_are_a_number() {
        assert_eq!(decode_12(b"000000000000"), Ok(0));
        assert_eq!(decode_12(b"zZzzzzzzzZzz"), Ok(POW_12 - 1));
        assert_eq!(decode_12(b"0u375nxqh5cq"), u64::from_str_radix("0u375nxqh5cq", 36).map_err(|_| OUT_OF_RANGE));
    }

    #[test]
    fn numbers_of_another_length_are_refused_at_their_end() {
        let refused = |text: &[u8]| decode_12(text).map_err(|error| (error.kind, error.position));
        assert_eq!(refused(b""), Err((ParseErrorKind::TooShort(12), 0)));
        assert_eq!(refused(b"00000000000"), Err((ParseErrorKind::TooShort(12), 11)));
        assert_eq!(refused(b"0000000000000"), Err((ParseErrorKind::TooLong(12), 12)));
        assert_eq!(refused(b"00000000000-0"), Err((ParseErrorKind::InvalidDigit, 11)));
    }

    #[test]
    fn every_power_of_36_is_a_one_and_zeros() {
        for power in 0..25 {
            let text = format!("{:0>width$}1{:0>power$}", "", "", width = 24 - power);
            assert_eq!(decode_25(text.as_bytes()), Ok(36_u128.pow(power as u32)), "{text}");
            assert_eq!(encode_25(36_u128.pow(power as u32), &mut [0; 25]), text);
        }
    }
}
