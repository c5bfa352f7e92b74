//! The fields of an ID, as data: functions in SQL, keys in JSON.

use std::ops::RangeInclusive;

use serde::{Serialize, Serializer};

/// A field of an ID.
#[derive(Debug)]
pub struct Field<T: 'static> {
    /// Its name in the specification.
    pub name: &'static str,
    /// One line that tells what it holds.
    pub summary: &'static str,
    /// How to read it.
    pub getter: Getter<T>,
}

/// How a field is read, and how wide it is.
#[derive(Debug)]
pub enum Getter<T: 'static> {
    /// Up to 24 bits.
    Bits24(fn(T) -> u32),
    /// 32 bits.
    Bits32(fn(T) -> u32),
    /// 80 bits, big-endian.
    Bits80(fn(T) -> [u8; 10]),
    /// Up to 24 bits, at a place that depends on a parameter.
    Bits24By {
        /// The parameter's name.
        parameter: &'static str,
        /// The values that the parameter may have.
        range: RangeInclusive<i32>,
        /// Reads the field.
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
    /// The field's value, if it depends on nothing but the ID.
    pub fn value(&self, id: T) -> Option<FieldValue> {
        match self {
            Self::Bits24(get) => Some(FieldValue::Bits24(get(id))),
            Self::Bits32(get) => Some(FieldValue::Bits32(get(id))),
            Self::Bits80(get) => Some(FieldValue::Bits80(get(id))),
            Self::Bits24By { .. } => None,
        }
    }
}

/// A number, or the hexadecimal digits of bytes.
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
