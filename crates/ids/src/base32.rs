//! Base32: five bits a digit, written in upper case, read in any. Crockford's alphabet here has no I, L, O and U at all:
//! they are not read as 1 or 0. The alphabet base32hex has the letters from A to V.

use crate::digits::{Alphabet, OUT_OF_RANGE, ascii};
use crate::error::ParseError;

static CROCKFORD: Base32 = Base32::of(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ");
static BASE32HEX: Base32 = Base32::of(b"0123456789ABCDEFGHIJKLMNOPQRSTUV");

/// The largest leading digit of a number that fits into its bytes: 13 digits hold two bits more than the 63 that they
/// denote here, and 26 digits two more than 128.
const MAX_LEADING: u8 = 7;

struct Base32 {
    alphabet: Alphabet,
    /// Every two-digit number as text: two digits are written with one look-up.
    pairs: [[u8; 2]; 1024],
}

impl Base32 {
    const fn of(digits: &[u8; 32]) -> Self {
        let mut pairs = [[0; 2]; 1024];
        let mut n = 0;
        while n < pairs.len() {
            pairs[n] = [digits[n / 32], digits[n % 32]];
            n += 1;
        }
        Self { alphabet: Alphabet::any_case(digits), pairs }
    }

    /// Writes the low bits of a number as an even count of digits, twelve at the most.
    fn write(&self, mut number: u64, digits: &mut [u8]) {
        for pair in digits.as_chunks_mut().0.iter_mut().rev() {
            *pair = self.pairs[(number % 1024) as usize];
            number /= 1024;
        }
    }
}

/// Writes a number below 2^63 as 13 Crockford digits.
pub fn encode_crockford_13(number: u64, buffer: &mut [u8]) -> &str {
    debug_assert!(number < 1 << 63);
    buffer[0] = CROCKFORD.pairs[(number >> 60) as usize][1];
    CROCKFORD.write(number, &mut buffer[1..13]);
    ascii(&buffer[..13])
}

/// Reads 13 Crockford digits.
///
/// # Errors
/// [`ParseError`] if the text is not 13 digits, or if they denote 2^63 or more.
pub fn decode_crockford_13(text: &[u8]) -> Result<u64, ParseError> {
    let digits = CROCKFORD.alphabet.values::<13>(text)?;
    if digits[0] > MAX_LEADING {
        return Err(OUT_OF_RANGE);
    }
    Ok(number(&digits))
}

/// Writes a number as 26 Crockford digits.
pub fn encode_crockford_26(number: u128, buffer: &mut [u8]) -> &str {
    CROCKFORD.write((number >> 120) as u64, &mut buffer[..2]);
    CROCKFORD.write((number >> 60) as u64, &mut buffer[2..14]);
    CROCKFORD.write(number as u64, &mut buffer[14..26]);
    ascii(&buffer[..26])
}

/// Reads 26 Crockford digits.
///
/// # Errors
/// [`ParseError`] if the text is not 26 digits, or if they denote 2^128 or more.
pub fn decode_crockford_26(text: &[u8]) -> Result<u128, ParseError> {
    let digits = CROCKFORD.alphabet.values::<26>(text)?;
    if digits[0] > MAX_LEADING {
        return Err(OUT_OF_RANGE);
    }
    let [top, middle, low] = [&digits[..2], &digits[2..14], &digits[14..]].map(|digits| u128::from(number(digits)));
    Ok(top << 120 | middle << 60 | low)
}

/// Writes twenty bytes as 32 base32hex digits.
pub fn encode_hex_32<'a>(bytes: &[u8; 20], buffer: &'a mut [u8]) -> &'a str {
    for (group, digits) in bytes.as_chunks::<5>().0.iter().zip(buffer.as_chunks_mut::<8>().0) {
        let number = group.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        BASE32HEX.write(number, digits);
    }
    ascii(&buffer[..32])
}

/// Reads 32 base32hex digits as twenty bytes.
///
/// # Errors
/// [`ParseError`] if the text is not 32 digits. All of them are in range.
pub fn decode_hex_32(text: &[u8]) -> Result<[u8; 20], ParseError> {
    let digits = BASE32HEX.alphabet.values::<32>(text)?;
    let mut bytes = [0; 20];
    for (digits, group) in digits.as_chunks::<8>().0.iter().zip(bytes.as_chunks_mut::<5>().0) {
        group.copy_from_slice(&number(digits).to_be_bytes()[3..]);
    }
    Ok(bytes)
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, &digit| number << 5 | u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    #[test]
    fn crockford_digits_are_written_with_leading_zeros() {
        assert_eq!(encode_crockford_13(0, &mut [0; 13]), "0000000000000");
        assert_eq!(encode_crockford_13(31, &mut [0; 13]), "000000000000Z");
        assert_eq!(encode_crockford_13(32, &mut [0; 13]), "0000000000010");
        assert_eq!(encode_crockford_13((1 << 63) - 1, &mut [0; 13]), "7ZZZZZZZZZZZZ");
        assert_eq!(encode_crockford_26(0, &mut [0; 26]), "00000000000000000000000000");
        assert_eq!(encode_crockford_26(u128::MAX, &mut [0; 26]), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }

    #[test]
    fn every_power_of_32_is_a_one_and_zeros() {
        let text = |digits: usize, power: usize| format!("{:0>width$}1{:0>power$}", "", "", width = digits - 1 - power);
        for power in 0..13 {
            assert_eq!(decode_crockford_13(text(13, power).as_bytes()), Ok(1 << (5 * power)));
            assert_eq!(encode_crockford_13(1 << (5 * power), &mut [0; 13]), text(13, power));
        }
        for power in 0..26 {
            assert_eq!(decode_crockford_26(text(26, power).as_bytes()), Ok(1 << (5 * power)));
            assert_eq!(encode_crockford_26(1 << (5 * power), &mut [0; 26]), text(26, power));
        }
    }

    #[test]
    fn every_digit_has_its_value_in_either_case() {
        for (value, digit) in b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".iter().enumerate() {
            let mut text = *b"0000000000000";
            text[12] = *digit;
            assert_eq!(decode_crockford_13(&text), Ok(value as u64));
            assert_eq!(decode_crockford_13(&text.to_ascii_lowercase()), Ok(value as u64));
        }
        for (value, digit) in b"0123456789ABCDEFGHIJKLMNOPQRSTUV".iter().enumerate() {
            let mut text = [b'0'; 32];
            text[31] = *digit;
            let mut bytes = [0; 20];
            bytes[19] = value as u8;
            assert_eq!(decode_hex_32(&text), Ok(bytes));
            assert_eq!(decode_hex_32(&text.to_ascii_lowercase()), Ok(bytes));
        }
    }

    #[test]
    fn crockford_has_no_i_l_o_and_u_and_base32hex_ends_at_v() {
        for letter in *b"ILOUilou" {
            let mut text = *b"0000000000000";
            text[5] = letter;
            let error = ParseError { kind: ParseErrorKind::InvalidDigit, position: 5 };
            assert_eq!(decode_crockford_13(&text), Err(error));
        }
        for letter in *b"WXYZwxyz" {
            let mut text = [b'0'; 32];
            text[7] = letter;
            assert_eq!(decode_hex_32(&text), Err(ParseError { kind: ParseErrorKind::InvalidDigit, position: 7 }));
        }
    }

    #[test]
    fn leading_digits_above_7_are_out_of_range() {
        assert_eq!(decode_crockford_13(b"8000000000000"), Err(OUT_OF_RANGE));
        assert_eq!(decode_crockford_13(b"zzzzzzzzzzzzz"), Err(OUT_OF_RANGE));
        assert_eq!(decode_crockford_26(b"80000000000000000000000000"), Err(OUT_OF_RANGE));
        assert_eq!(decode_crockford_26(b"7zzzzzzzzzzzzzzzzzzzzzzzzz"), Ok(u128::MAX));
    }

    /// The test vectors of RFC 4648, section 10, at a length of five bytes: "fooba".
    #[test]
    fn base32hex_is_that_of_rfc_4648() {
        let bytes = b"foobafoobafoobafooba";
        assert_eq!(encode_hex_32(bytes, &mut [0; 40]), "CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1");
        assert_eq!(decode_hex_32(b"CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1"), Ok(*bytes));
    }

    #[test]
    fn every_bit_of_twenty_bytes_has_its_place() {
        for bit in 0..160 {
            let mut bytes = [0; 20];
            bytes[bit / 8] = 0x80 >> (bit % 8);
            let mut text = [b'0'; 32];
            text[bit / 5] = b"G8421"[bit % 5];
            assert_eq!(encode_hex_32(&bytes, &mut [0; 32]).as_bytes(), text);
            assert_eq!(decode_hex_32(&text), Ok(bytes));
        }
    }
}
