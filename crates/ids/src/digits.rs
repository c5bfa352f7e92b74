//! The digits of the texts: base 16, base 32 and base 36. Output is in the case of the alphabet. Input is case-insensitive, except
//! the suffix of a TypeID.

use crate::error::{ParseError, ParseErrorKind};

/// Hexadecimal digits.
pub static BASE16: Alphabet<16, 256> = Alphabet::any_case(b"0123456789abcdef");

/// Crockford's alphabet, which omits I, L, O and U. They are invalid digits: I and L do not stand for 1, and O does not stand for
/// 0.
pub static CROCKFORD: Alphabet<32, 1024> = Alphabet::any_case(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ");

/// Crockford's alphabet in lower case only: the digits of a TypeID's suffix.
pub static CROCKFORD_LOWER: Alphabet<32, 1024> = Alphabet::exact(b"0123456789abcdefghjkmnpqrstvwxyz");

/// The alphabet base32hex of RFC 4648, which has the letters from A to V.
pub static BASE32HEX: Alphabet<32, 1024> = Alphabet::any_case(b"0123456789ABCDEFGHIJKLMNOPQRSTUV");

/// All digits and letters.
pub static BASE36: Alphabet<36, 1296> = Alphabet::any_case(b"0123456789abcdefghijklmnopqrstuvwxyz");

/// 36^12: the number of SCRU64 IDs, and one more than the largest.
pub const POW_12: u64 = 36_u64.pow(12);
const POW_10: u64 = 36_u64.pow(10);
const POW_8: u64 = 36_u64.pow(8);
const POW_6: u64 = 36_u64.pow(6);
const POW_4: u64 = 36_u64.pow(4);
const POW_2: u64 = 36_u64.pow(2);

/// The largest leading digit of a number in range. 13 digits of base 32 hold 65 bits, of which numbers have 63; 26 digits hold
/// 130 bits, of which numbers have 128.
const MAX_LEADING: u64 = 7;

/// The value of a byte that is not a digit. Larger than any number of four digits.
const NO_DIGIT: u32 = 1 << 21;

/// The error of a well-formed text that denotes a number above the largest ID.
const OUT_OF_RANGE: ParseError = ParseError { kind: ParseErrorKind::OutOfRange, position: 0 };

/// The digits of a base, of which there are `PAIRS` pairs.
pub struct Alphabet<const RADIX: usize, const PAIRS: usize> {
    /// The value of every byte as a digit, or [`NO_DIGIT`].
    values: [u32; 256],
    /// The text of every two-digit number, so that one table look-up writes two digits.
    pairs: [[u8; 2]; PAIRS],
}

impl<const RADIX: usize, const PAIRS: usize> Alphabet<RADIX, PAIRS> {
    /// Returns an alphabet of exactly these digits. The value of a digit is its position.
    pub const fn exact(digits: &[u8; RADIX]) -> Self {
        const { assert!(PAIRS == RADIX * RADIX) };
        let mut alphabet = Self { values: [NO_DIGIT; 256], pairs: [[0; 2]; PAIRS] };
        let mut number = 0;
        while number < PAIRS {
            let [high, low] = [number / RADIX, number % RADIX];
            alphabet.pairs[number] = [digits[high], digits[low]];
            alphabet.values[digits[low] as usize] = low as u32;
            number += 1;
        }
        alphabet
    }

    /// Returns an alphabet that writes these digits, and reads letters in any case.
    pub const fn any_case(digits: &[u8; RADIX]) -> Self {
        let mut alphabet = Self::exact(digits);
        let mut value = 0;
        while value < RADIX {
            alphabet.values[digits[value].to_ascii_lowercase() as usize] = value as u32;
            alphabet.values[digits[value].to_ascii_uppercase() as usize] = value as u32;
            value += 1;
        }
        alphabet
    }

    /// Returns the numbers that the `N` digits of `text` denote in groups of four, from the most significant group. The first
    /// group is shorter if `N` is not a multiple of four.
    ///
    /// # Errors
    /// Returns [`ParseErrorKind::InvalidDigit`] for the first byte that is not a digit. If all bytes are digits but their number
    /// is not `N`, returns [`ParseErrorKind::WrongLength`].
    #[inline(always)]
    pub fn groups_of_four<const N: usize, const COUNT: usize>(&self, text: &[u8]) -> Result<[u64; COUNT], ParseError> {
        let radix = RADIX as u64;
        const { assert!(N.div_ceil(4) == COUNT && RADIX.pow(4) < NO_DIGIT as usize) };
        let Ok(text) = <&[u8; N]>::try_from(text) else {
            return Err(self.parse_error(text, N));
        };
        let mut groups = [0; COUNT];
        for (group, digits) in groups.iter_mut().rev().zip(text.rchunks(4)) {
            *group = digits.iter().fold(0, |high, &digit| high * radix + u64::from(self.values[usize::from(digit)]));
        }
        // One comparison checks four digits: a NO_DIGIT among them makes the number too large.
        if groups.iter().any(|&number| number >= radix.pow(4)) {
            return Err(self.parse_error(text, N));
        }
        Ok(groups)
    }

    #[cold]
    #[inline(never)]
    fn parse_error(&self, text: &[u8], expected: usize) -> ParseError {
        match text.iter().position(|&byte| self.values[usize::from(byte)] == NO_DIGIT) {
            Some(position) => ParseError { kind: ParseErrorKind::InvalidDigit, position },
            None => ParseError::wrong_length(expected, text.len()),
        }
    }
}

impl Alphabet<16, 256> {
    /// Parses 40 digits as 20 bytes.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four).
    #[inline(always)]
    pub fn decode_40(&self, text: &[u8]) -> Result<[u8; 20], ParseError> {
        let groups_of_four = self.groups_of_four::<40, 10>(text)?;
        let mut bytes = [0; 20];
        for (number, bytes) in groups_of_four.iter().zip(bytes.as_chunks_mut::<2>().0) {
            *bytes = (*number as u16).to_be_bytes();
        }
        Ok(bytes)
    }
}

impl Alphabet<32, 1024> {
    /// Fills `digits` with the low bits of `number`. There must be at most twelve digits.
    #[inline(always)]
    fn write(&self, number: u64, digits: &mut [u8]) {
        let (first, pairs) = digits.as_rchunks_mut();
        if let [first] = first {
            *first = self.pairs[(number >> (10 * pairs.len())) as usize % 1024][1];
        }
        for (place, pair) in pairs.iter_mut().rev().enumerate() {
            *pair = self.pairs[(number >> (10 * place)) as usize % 1024];
        }
    }

    /// Writes a number as `N` digits to the beginning of `buffer`, and returns the digits.
    ///
    /// # Panics
    /// Panics if `buffer` is shorter than `N` bytes.
    #[inline(always)]
    pub fn encode<'a, const N: usize>(&self, number: u128, buffer: &'a mut [u8]) -> &'a [u8] {
        let digits = &mut buffer[..N];
        for (place, twelve) in digits.rchunks_mut(12).enumerate() {
            self.write((number >> (60 * place)) as u64, twelve);
        }
        digits
    }

    /// Parses 13 digits.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four), and [`ParseErrorKind::OutOfRange`] for 2^63 or more.
    #[inline(always)]
    pub fn decode_13(&self, text: &[u8]) -> Result<u64, ParseError> {
        let [top, high, middle, low] = self.groups_of_four::<13, 4>(text)?;
        if top > MAX_LEADING {
            return Err(OUT_OF_RANGE);
        }
        Ok(top << 60 | high << 40 | middle << 20 | low)
    }

    /// Parses 26 digits.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four), and [`ParseErrorKind::OutOfRange`] for 2^128 or more.
    #[inline(always)]
    pub fn decode_26(&self, text: &[u8]) -> Result<u128, ParseError> {
        let [top, a, b, c, d, e, f] = self.groups_of_four::<26, 7>(text)?;
        if top >> 5 > MAX_LEADING {
            return Err(OUT_OF_RANGE);
        }
        let [high, low] = [[a, b, c], [d, e, f]].map(|[a, b, c]| u128::from(a << 40 | b << 20 | c));
        Ok(u128::from(top) << 120 | high << 60 | low)
    }

    /// Writes 20 bytes as 32 digits to the beginning of `buffer`, and returns the digits.
    ///
    /// # Panics
    /// Panics if `buffer` is shorter than 32 bytes.
    #[inline(always)]
    pub fn encode_32<'a>(&self, bytes: &[u8; 20], buffer: &'a mut [u8]) -> &'a [u8] {
        let eight_bytes = |first: usize| bytes[first..].first_chunk().map_or(0, |eight| u64::from_be_bytes(*eight));
        let digits = &mut buffer[..32];
        // The first 60 bits, the next 60, and the last 40.
        self.write(eight_bytes(0) >> 4, &mut digits[..12]);
        self.write(eight_bytes(7), &mut digits[12..24]);
        self.write(eight_bytes(12), &mut digits[24..]);
        digits
    }

    /// Parses 32 digits as 20 bytes.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four).
    #[inline(always)]
    pub fn decode_32(&self, text: &[u8]) -> Result<[u8; 20], ParseError> {
        let groups_of_four = self.groups_of_four::<32, 8>(text)?;
        let mut bytes = [0; 20];
        for ([high, low], bytes) in groups_of_four.as_chunks().0.iter().zip(bytes.as_chunks_mut::<5>().0) {
            bytes.copy_from_slice(&(high << 20 | low).to_be_bytes()[3..]);
        }
        Ok(bytes)
    }
}

impl Alphabet<36, 1296> {
    /// Writes a number below 36^12 as twelve digits to the beginning of `buffer`, and returns the digits.
    ///
    /// # Panics
    /// Panics if `buffer` is shorter than twelve bytes.
    #[inline(always)]
    pub fn encode_12<'a>(&self, number: u64, buffer: &'a mut [u8]) -> &'a [u8] {
        debug_assert!(number < POW_12);
        let digits = &mut buffer[..12];
        // No quotient depends on another, so the processor computes them in parallel.
        let quotients = [number, number / POW_2, number / POW_4, number / POW_6, number / POW_8, number / POW_10, 0];
        for (place, pair) in digits.as_chunks_mut().0.iter_mut().rev().enumerate() {
            *pair = self.pairs[(quotients[place] - quotients[place + 1] * POW_2) as usize];
        }
        digits
    }

    /// Writes a number as 25 digits to the beginning of `buffer`, and returns the digits.
    ///
    /// # Panics
    /// Panics if `buffer` is shorter than 25 bytes.
    #[inline(always)]
    pub fn encode_25<'a>(&self, number: u128, buffer: &'a mut [u8]) -> &'a [u8] {
        let (high, low) = divide_by_pow_13(number);
        let (middle, low) = divide_by_pow_12(low);
        let digits = &mut buffer[..25];
        self.encode_12(high, &mut digits[..12]);
        digits[12] = self.pairs[middle as usize][1];
        self.encode_12(low, &mut digits[13..]);
        digits
    }

    /// Parses twelve digits.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four).
    #[inline(always)]
    pub fn decode_12(&self, text: &[u8]) -> Result<u64, ParseError> {
        let [high, middle, low] = self.groups_of_four::<12, 3>(text)?;
        Ok((high * POW_4 + middle) * POW_4 + low)
    }

    /// Parses 25 digits.
    ///
    /// # Errors
    /// As [`groups_of_four`](Self::groups_of_four), and [`ParseErrorKind::OutOfRange`] for 2^128 or more.
    #[inline(always)]
    pub fn decode_25(&self, text: &[u8]) -> Result<u128, ParseError> {
        let [top, groups_of_four @ ..] = self.groups_of_four::<25, 7>(text)?;
        let [high, middle, low] = [0, 2, 4].map(|first| groups_of_four[first] * POW_4 + groups_of_four[first + 1]);
        let upper = u128::from(top * POW_8 + high) * u128::from(POW_8) + u128::from(middle);
        upper.checked_mul(u128::from(POW_8)).and_then(|upper| upper.checked_add(u128::from(low))).ok_or(OUT_OF_RANGE)
    }
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
    let (quotient, rest) = if rest >= DIVISOR { (estimate + 1, rest - DIVISOR) } else { (estimate, rest) };
    (quotient, u128::from(rest) << 26 | number & 0x3ff_ffff)
}

/// Returns the quotient and the remainder of a number below 36^13 divided by 36^12, which is 2^24 × 3^24.
#[inline(always)]
fn divide_by_pow_12(number: u128) -> (u64, u64) {
    const DIVISOR: u64 = 3_u64.pow(24);
    let dividend = (number >> 24) as u64;
    (dividend / DIVISOR, (dividend % DIVISOR) << 24 | number as u64 & 0xff_ffff)
}

#[cfg(test)]
#[path = "../tests/unit/digits.rs"]
mod tests;
