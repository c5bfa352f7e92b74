//! Base32: five bits per digit. Output is in upper case, and input is case-insensitive; the functions for TypeIDs, with `lower` in
//! their names, write and accept only lower case.
//!
//! Crockford's alphabet omits I, L, O and U. They are invalid digits: I and L do not stand for 1, and O does not stand for
//! 0. The alphabet base32hex of RFC 4648 has the letters from A to V.

use crate::digits::{Alphabet, OUT_OF_RANGE};
use crate::error::ParseError;

const CROCKFORD_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static CROCKFORD: Pairs = pairs(CROCKFORD_DIGITS);
static CROCKFORD_ALPHABET: Alphabet = Alphabet::any_case(CROCKFORD_DIGITS);

const CROCKFORD_LOWER_DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
static CROCKFORD_LOWER: Pairs = pairs(CROCKFORD_LOWER_DIGITS);
static CROCKFORD_LOWER_ALPHABET: Alphabet = Alphabet::exact(CROCKFORD_LOWER_DIGITS);

const BASE32HEX_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
static BASE32HEX: Pairs = pairs(BASE32HEX_DIGITS);
static BASE32HEX_ALPHABET: Alphabet = Alphabet::any_case(BASE32HEX_DIGITS);

/// The largest leading digit of a number in range. 13 digits hold 65 bits, of which numbers have 63; 26 digits hold 130 bits,
/// of which numbers have 128.
const MAX_LEADING: u64 = 7;

/// The text of every two-digit number, so that one table look-up writes two digits.
type Pairs = [[u8; 2]; 1024];

const fn pairs(digits: &[u8; 32]) -> Pairs {
    let mut pairs = [[0; 2]; 1024];
    let mut n = 0;
    while n < pairs.len() {
        pairs[n] = [digits[n / 32], digits[n % 32]];
        n += 1;
    }
    pairs
}

/// Fills `digits` with the low bits of `number`. The number of digits must be even, and at most twelve.
#[inline(always)]
fn write(pairs: &Pairs, number: u64, digits: &mut [u8]) {
    for (place, pair) in digits.as_chunks_mut().0.iter_mut().rev().enumerate() {
        *pair = pairs[(number >> (10 * place)) as usize % 1024];
    }
}

/// Writes a number below 2^63 as 13 Crockford digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 13 bytes.
pub fn encode_crockford_13(number: u64, buffer: &mut [u8]) -> &[u8] {
    debug_assert!(number < 1 << 63);
    let digits = &mut buffer[..13];
    digits[0] = CROCKFORD[(number >> 60) as usize][1];
    write(&CROCKFORD, number, &mut digits[1..]);
    digits
}

/// Parses 13 Crockford digits.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not 13 digits, or if they denote 2^63 or more.
#[inline]
pub fn decode_crockford_13(text: &[u8]) -> Result<u64, ParseError> {
    let [top, high, middle, low] = CROCKFORD_ALPHABET.groups_of_four::<32, 13, 4>(text)?;
    if top > MAX_LEADING {
        return Err(OUT_OF_RANGE);
    }
    Ok(top << 60 | high << 40 | middle << 20 | low)
}

/// Writes a number as 26 Crockford digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 26 bytes.
pub fn encode_crockford_26(number: u128, buffer: &mut [u8]) -> &[u8] {
    write_26(&CROCKFORD, number, buffer)
}

/// Writes a number as 26 lower-case Crockford digits, the suffix of a TypeID, to the beginning of `buffer`, and returns the
/// digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 26 bytes.
pub fn encode_crockford_lower_26(number: u128, buffer: &mut [u8]) -> &[u8] {
    write_26(&CROCKFORD_LOWER, number, buffer)
}

#[inline(always)]
fn write_26<'a>(pairs: &Pairs, number: u128, buffer: &'a mut [u8]) -> &'a [u8] {
    let digits = &mut buffer[..26];
    write(pairs, (number >> 120) as u64, &mut digits[..2]);
    write(pairs, (number >> 60) as u64, &mut digits[2..14]);
    write(pairs, number as u64, &mut digits[14..]);
    digits
}

/// Parses 26 Crockford digits.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not 26 digits, or if they denote 2^128 or more.
#[inline]
pub fn decode_crockford_26(text: &[u8]) -> Result<u128, ParseError> {
    read_26(&CROCKFORD_ALPHABET, text)
}

/// Parses 26 lower-case Crockford digits, the suffix of a TypeID.
///
/// # Errors
/// As [`decode_crockford_26`]. A letter in upper case is an invalid digit.
#[inline]
pub fn decode_crockford_lower_26(text: &[u8]) -> Result<u128, ParseError> {
    read_26(&CROCKFORD_LOWER_ALPHABET, text)
}

#[inline(always)]
fn read_26(alphabet: &Alphabet, text: &[u8]) -> Result<u128, ParseError> {
    let [top, a, b, c, d, e, f] = alphabet.groups_of_four::<32, 26, 7>(text)?;
    if top >> 5 > MAX_LEADING {
        return Err(OUT_OF_RANGE);
    }
    let [high, low] = [[a, b, c], [d, e, f]].map(|[a, b, c]| u128::from(a << 40 | b << 20 | c));
    Ok(u128::from(top) << 120 | high << 60 | low)
}

/// Writes 20 bytes as 32 base32hex digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 32 bytes.
pub fn encode_hex_32<'a>(bytes: &[u8; 20], buffer: &'a mut [u8]) -> &'a [u8] {
    let digits = &mut buffer[..32];
    // The first 60 bits, the next 60, and the last 40.
    write(&BASE32HEX, eight_bytes(bytes, 0) >> 4, &mut digits[..12]);
    write(&BASE32HEX, eight_bytes(bytes, 7), &mut digits[12..24]);
    write(&BASE32HEX, eight_bytes(bytes, 12), &mut digits[24..]);
    digits
}

#[inline(always)]
fn eight_bytes(bytes: &[u8; 20], first: usize) -> u64 {
    bytes[first..].first_chunk().map_or(0, |eight| u64::from_be_bytes(*eight))
}

/// Parses 32 base32hex digits as 20 bytes.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not 32 digits. Any 32 digits are in range.
#[inline]
pub fn decode_hex_32(text: &[u8]) -> Result<[u8; 20], ParseError> {
    let groups_of_four = BASE32HEX_ALPHABET.groups_of_four::<32, 32, 8>(text)?;
    let mut bytes = [0; 20];
    for ([high, low], bytes) in groups_of_four.as_chunks().0.iter().zip(bytes.as_chunks_mut::<5>().0) {
        bytes.copy_from_slice(&(high << 20 | low).to_be_bytes()[3..]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    #[test]
    fn crockford_digits_are_written_with_leading_zeros() {
        assert_eq!(encode_crockford_13(0, &mut [0; 13]), b"0000000000000");
        assert_eq!(encode_crockford_13(31, &mut [0; 13]), b"000000000000Z");
        assert_eq!(encode_crockford_13(32, &mut [0; 13]), b"0000000000010");
        assert_eq!(encode_crockford_13((1 << 63) - 1, &mut [0; 13]), b"7ZZZZZZZZZZZZ");
        assert_eq!(encode_crockford_26(0, &mut [0; 26]), b"00000000000000000000000000");
        assert_eq!(encode_crockford_26(u128::MAX, &mut [0; 26]), b"7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }

    #[test]
    fn every_power_of_32_is_a_one_and_zeros() {
        let text = |digits: usize, power: usize| format!("{:0>width$}1{:0>power$}", "", "", width = digits - 1 - power);
        for power in 0..13 {
            assert_eq!(decode_crockford_13(text(13, power).as_bytes()), Ok(1 << (5 * power)));
            assert_eq!(encode_crockford_13(1 << (5 * power), &mut [0; 13]), text(13, power).as_bytes());
        }
        for power in 0..26 {
            assert_eq!(decode_crockford_26(text(26, power).as_bytes()), Ok(1 << (5 * power)));
            assert_eq!(encode_crockford_26(1 << (5 * power), &mut [0; 26]), text(26, power).as_bytes());
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

    /// The test vector "fooba" of RFC 4648, section 10, four times.
    #[test]
    fn base32hex_is_that_of_rfc_4648() {
        let bytes = b"foobafoobafoobafooba";
        assert_eq!(encode_hex_32(bytes, &mut [0; 40]), b"CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1");
        assert_eq!(decode_hex_32(b"CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1"), Ok(*bytes));
    }

    #[test]
    fn every_bit_of_twenty_bytes_has_its_place() {
        for bit in 0..160 {
            let mut bytes = [0; 20];
            bytes[bit / 8] = 0x80 >> (bit % 8);
            let mut text = [b'0'; 32];
            text[bit / 5] = b"G8421"[bit % 5];
            assert_eq!(encode_hex_32(&bytes, &mut [0; 32]), text);
            assert_eq!(decode_hex_32(&text), Ok(bytes));
        }
    }
}
