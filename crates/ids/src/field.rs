//! Descriptions of the fields of an ID. The SQL field functions and the JSON keys are derived from them.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

/// A field of an ID.
#[derive(Debug)]
pub struct Field<T: 'static> {
    /// The name in the specification.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// The width of the field, and the function that reads it.
    pub getter: Getter<T>,
}

/// The width of a field, and the function that reads it.
#[derive(Debug)]
pub enum Getter<T: 'static> {
    /// Up to 24 bits.
    Bits24(fn(T) -> u32),
    /// 32 bits.
    Bits32(fn(T) -> u32),
    /// 80 bits, big-endian.
    Bits80(fn(T) -> [u8; 10]),
    /// Up to 24 bits. A parameter determines which bits they are.
    Bits24By {
        /// The name of the parameter.
        parameter: &'static str,
        /// The valid values of the parameter.
        range: RangeInclusive<i32>,
        /// The function that reads the field, given the ID and the value of the parameter.
        get: fn(T, i32) -> u32,
    },
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// Up to 24 bits.
    Bits24(u32),
    /// 32 bits.
    Bits32(u32),
    /// 80 bits, big-endian.
    Bits80([u8; 10]),
}

impl<T: Copy> Getter<T> {
    /// Returns the value of the field, or `None` if the field has a parameter.
    pub fn value(&self, id: T) -> Option<FieldValue> {
        match self {
            Self::Bits24(get) => Some(FieldValue::Bits24(get(id))),
            Self::Bits32(get) => Some(FieldValue::Bits32(get(id))),
            Self::Bits80(get) => Some(FieldValue::Bits80(get(id))),
            Self::Bits24By { .. } => None,
        }
    }
}

/// Serializes up to 32 bits as a number, and 80 bits as a string of 20 lower-case hexadecimal digits.
impl Serialize for FieldValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bits24(value) | Self::Bits32(value) => serializer.serialize_u32(*value),
            Self::Bits80(bytes) => serializer
                .collect_str(&format_args!("{:020x}", bytes.iter().fold(0_u128, |n, b| n << 8 | u128::from(*b)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_hexadecimal_digits() {
        let json = |value: FieldValue| serde_json::to_string(&value).unwrap();
        assert_eq!(json(FieldValue::Bits24(0xff_ffff)), "16777215");
        assert_eq!(json(FieldValue::Bits32(u32::MAX)), "4294967295");
        assert_eq!(json(FieldValue::Bits80([0, 1, 2, 3, 4, 5, 6, 7, 8, 0xff])), r#""000102030405060708ff""#);
    }
}
