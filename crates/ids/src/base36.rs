//! Base36: numbers with the digits `0-9a-z`. Output is in lower case; input is case-insensitive.

use crate::digits::{Alphabet, OUT_OF_RANGE};
use crate::error::ParseError;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
static ALPHABET: Alphabet = Alphabet::any_case(DIGITS);

/// 36^12: the number of SCRU64 IDs, and one more than the largest.
pub const POW_12: u64 = 36_u64.pow(12);
const POW_8: u64 = 36_u64.pow(8);
const POW_4: u64 = 36_u64.pow(4);

/// The text of every two-digit number, so that one table look-up writes two digits.
static PAIRS: [[u8; 2]; 36 * 36] = {
    let mut pairs = [[0; 2]; 36 * 36];
    let mut n = 0;
    while n < pairs.len() {
        pairs[n] = [DIGITS[n / 36], DIGITS[n % 36]];
        n += 1;
    }
    pairs
};

/// Writes a number below 36^12 as twelve digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than twelve bytes.
pub fn encode_12(number: u64, buffer: &mut [u8]) -> &[u8] {
    debug_assert!(number < POW_12);
    let digits = &mut buffer[..12];
    write_12(number, digits);
    digits
}

/// Writes a number as 25 digits to the beginning of `buffer`, and returns the digits.
///
/// # Panics
/// Panics if `buffer` is shorter than 25 bytes.
pub fn encode_25(number: u128, buffer: &mut [u8]) -> &[u8] {
    let (high, low) = divide_by_pow_13(number);
    let (middle, low) = divide_by_pow_12(low);
    let digits = &mut buffer[..25];
    write_12(high, &mut digits[..12]);
    digits[12] = DIGITS[middle as usize];
    write_12(low, &mut digits[13..]);
    digits
}

/// Returns the quotient and the remainder of a division by 36^13.
///
/// The compiler turns a 64-bit division by a constant into a multiplication, but a 128-bit division into a call. This function
/// therefore estimates the quotient from the upper 64 bits, and corrects the estimate. 36^13 is 2^26 × 3^26, so the lowest 26
/// bits of the number do not affect the quotient.
#[inline(always)]
fn divide_by_pow_13(number: u128) -> (u64, u128) {
    const DIVISOR: u64 = 3_u64.pow(26);
    const RECIPROCAL: u64 = ((1 << 105) / DIVISOR as u128) as u64;
    let dividend = number >> 26;
    // The bits cut off from the dividend reduce the estimate by less than 2^38 / 3^26 = 0.11, and those cut off from
    // the reciprocal by less than 0.13. Rounded down, the estimate is at most one too small.
    let estimate = ((u128::from((dividend >> 38) as u64) * u128::from(RECIPROCAL)) >> 67) as u64;
    let rest = (dividend as u64).wrapping_sub(estimate.wrapping_mul(DIVISOR));
    let one_more = rest >= DIVISOR;
    let (quotient, rest) = if one_more { (estimate + 1, rest - DIVISOR) } else { (estimate, rest) };
    (quotient, u128::from(rest) << 26 | number & 0x3ff_ffff)
}

/// Returns the quotient and the remainder of a number below 36^13 divided by 36^12, which is 2^24 × 3^24.
#[inline(always)]
fn divide_by_pow_12(number: u128) -> (u64, u64) {
    const DIVISOR: u64 = 3_u64.pow(24);
    let dividend = (number >> 24) as u64;
    (dividend / DIVISOR, (dividend % DIVISOR) << 24 | number as u64 & 0xff_ffff)
}

/// Fills `digits` with twelve digits. No quotient depends on another, so the processor computes them in parallel.
#[inline(always)]
fn write_12(number: u64, digits: &mut [u8]) {
    const PAIR: u64 = 36 * 36;
    let quotients =
        [number, number / PAIR, number / POW_4, number / (PAIR * POW_4), number / POW_8, number / (PAIR * POW_8), 0];
    for (place, pair) in digits.as_chunks_mut().0.iter_mut().rev().enumerate() {
        *pair = PAIRS[(quotients[place] - quotients[place + 1] * PAIR) as usize];
    }
}

/// Parses twelve digits.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not twelve digits. Any twelve digits are in range.
#[inline]
pub fn decode_12(text: &[u8]) -> Result<u64, ParseError> {
    let [high, middle, low] = ALPHABET.groups_of_four::<36, 12, 3>(text)?;
    Ok((high * POW_4 + middle) * POW_4 + low)
}

/// Parses 25 digits.
///
/// # Errors
/// Returns [`ParseError`] if `text` is not 25 digits, or if they denote 2^128 or more.
#[inline]
pub fn decode_25(text: &[u8]) -> Result<u128, ParseError> {
    let [top, groups_of_four @ ..] = ALPHABET.groups_of_four::<36, 25, 7>(text)?;
    let [high, middle, low] = [0, 2, 4].map(|first| groups_of_four[first] * POW_4 + groups_of_four[first + 1]);
    let upper = u128::from(top * POW_8 + high) * u128::from(POW_8) + u128::from(middle);
    upper.checked_mul(u128::from(POW_8)).and_then(|upper| upper.checked_add(u128::from(low))).ok_or(OUT_OF_RANGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ParseErrorKind;

    #[test]
    fn twelve_digits_are_written_with_leading_zeros() {
        assert_eq!(encode_12(0, &mut [0; 12]), b"000000000000");
        assert_eq!(encode_12(35, &mut [0; 12]), b"00000000000z");
        assert_eq!(encode_12(36, &mut [0; 12]), b"000000000010");
        assert_eq!(encode_12(POW_12 - 1, &mut [0; 12]), b"zzzzzzzzzzzz");
    }

    #[test]
    fn any_twelve_digits_are_a_number() {
        assert_eq!(decode_12(b"000000000000"), Ok(0));
        assert_eq!(decode_12(b"zZzzzzzzzZzz"), Ok(POW_12 - 1));
        assert_eq!(decode_12(b"0u375nxqh5cq"), u64::from_str_radix("0u375nxqh5cq", 36).map_err(|_| OUT_OF_RANGE));
    }

    #[test]
    fn texts_of_another_length_are_refused() {
        let refused = |text: &[u8]| decode_12(text).map_err(|error| (error.kind, error.position));
        assert_eq!(refused(b""), Err((ParseErrorKind::TooShort { expected: 12, received: 0 }, 0)));
        assert_eq!(refused(b"00000000000"), Err((ParseErrorKind::TooShort { expected: 12, received: 11 }, 11)));
        assert_eq!(refused(b"0000000000000"), Err((ParseErrorKind::TooLong { expected: 12, received: 13 }, 12)));
        assert_eq!(refused(b"00000000000-0"), Err((ParseErrorKind::InvalidDigit, 11)));
    }

    #[test]
    fn every_power_of_36_is_a_one_and_zeros() {
        for power in 0..25 {
            let text = format!("{:0>width$}1{:0>power$}", "", "", width = 24 - power);
            assert_eq!(decode_25(text.as_bytes()), Ok(36_u128.pow(power as u32)), "{text}");
            assert_eq!(encode_25(36_u128.pow(power as u32), &mut [0; 25]), text.as_bytes());
        }
    }
}
