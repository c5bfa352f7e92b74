use super::*;

const BYTES: [u8; 20] = [
    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x00, 0xff, 0x0f,
    0xf0,
];

#[test]
fn bytes_are_written_in_lower_case_and_read_in_any() {
    assert_eq!(BASE16.decode_40(b"0123456789abcdeffedcba987654321000ff0ff0"), Ok(BYTES));
    assert_eq!(BASE16.decode_40(b"0123456789ABCDEFfedcba987654321000FF0fF0"), Ok(BYTES));
}

#[test]
fn every_power_of_32_is_a_one_and_zeros() {
    let text = |digits: usize, power: usize| format!("{:0>width$}1{:0>power$}", "", "", width = digits - 1 - power);
    for power in 0..13 {
        assert_eq!(CROCKFORD.decode_13(text(13, power).as_bytes()), Ok(1 << (5 * power)));
        assert_eq!(CROCKFORD.encode::<13>(1 << (5 * power), &mut [0; 13]), text(13, power).as_bytes());
    }
    for power in 0..26 {
        assert_eq!(CROCKFORD.decode_26(text(26, power).as_bytes()), Ok(1 << (5 * power)));
        assert_eq!(CROCKFORD.encode::<26>(1 << (5 * power), &mut [0; 26]), text(26, power).as_bytes());
    }
}

#[test]
fn every_digit_has_its_value_in_either_case() {
    for (value, digit) in b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".iter().enumerate() {
        let mut text = *b"0000000000000";
        text[12] = *digit;
        assert_eq!(CROCKFORD.decode_13(&text), Ok(value as u64));
        assert_eq!(CROCKFORD.decode_13(&text.to_ascii_lowercase()), Ok(value as u64));
    }
    for (value, digit) in b"0123456789ABCDEFGHIJKLMNOPQRSTUV".iter().enumerate() {
        let mut text = [b'0'; 32];
        text[31] = *digit;
        let mut bytes = [0; 20];
        bytes[19] = value as u8;
        assert_eq!(BASE32HEX.decode_32(&text), Ok(bytes));
        assert_eq!(BASE32HEX.decode_32(&text.to_ascii_lowercase()), Ok(bytes));
    }
}

#[test]
fn crockford_has_no_i_l_o_and_u_and_base32hex_ends_at_v() {
    for letter in *b"ILOUilou" {
        let mut text = *b"0000000000000";
        text[5] = letter;
        let error = ParseError { kind: ParseErrorKind::InvalidDigit, position: 5 };
        assert_eq!(CROCKFORD.decode_13(&text), Err(error));
    }
    for letter in *b"WXYZwxyz" {
        let mut text = [b'0'; 32];
        text[7] = letter;
        assert_eq!(BASE32HEX.decode_32(&text), Err(ParseError { kind: ParseErrorKind::InvalidDigit, position: 7 }));
    }
}

/// The test vector "fooba" of RFC 4648, section 10, four times.
#[test]
fn base32hex_is_that_of_rfc_4648() {
    let bytes = b"foobafoobafoobafooba";
    assert_eq!(BASE32HEX.encode_32(bytes, &mut [0; 40]), b"CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1");
    assert_eq!(BASE32HEX.decode_32(b"CPNMUOJ1CPNMUOJ1CPNMUOJ1CPNMUOJ1"), Ok(*bytes));
}

#[test]
fn every_bit_of_twenty_bytes_has_its_place() {
    for bit in 0..160 {
        let mut bytes = [0; 20];
        bytes[bit / 8] = 0x80 >> (bit % 8);
        let mut text = [b'0'; 32];
        text[bit / 5] = b"G8421"[bit % 5];
        assert_eq!(BASE32HEX.encode_32(&bytes, &mut [0; 32]), text);
        assert_eq!(BASE32HEX.decode_32(&text), Ok(bytes));
    }
}
