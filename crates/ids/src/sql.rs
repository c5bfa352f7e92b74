//! The trait [`SqlId`]: how SQL describes an ID system. The templates of the SQL, the field functions and the JSON keys are derived from
//! it.

use std::ops::RangeInclusive;

use serde::Serialize;

use crate::GeneratedId;

/// An ID system in SQL.
pub trait SqlId: GeneratedId {
    /// The type of the server whose values include the IDs; `None` if the extension has a type, all of whose values are IDs. Its
    /// name is [`NAME`](crate::SortableId::NAME), which is also the prefix of the functions' names in both cases.
    const CORE_TYPE: Option<&'static str> = None;
    /// The name of the SQL type of the IDs.
    const SQL_TYPE: &'static str = match Self::CORE_TYPE {
        Some(name) => name,
        None => Self::NAME,
    };
    /// A one-line description of the type. It is also the COMMENT on a type of the extension.
    const SUMMARY: &'static str;
    /// The fields except the timestamp, most significant first. Released SQL scripts refer to a field by its index: append new
    /// fields, never reorder them.
    const FIELDS: &'static [Field<Self>];
    /// The setting with the number of the server in IDs, without the prefix `scru.`; `None` if IDs have no such number.
    const NODE_SETTING: Option<&'static str> = None;
    /// Whether the specification defines the ID as an integer wider than 64 bits. In SQL, such a type has casts to and from
    /// `numeric`.
    const WIDE_INTEGER: bool = false;
}

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

/// The fields of a type, one a line: the width, the name, which is that of the method that reads it, and the description.
macro_rules! fields {
    ($($width:ident $name:ident $summary:literal,)*) => {
        &[$($crate::Field {
            name: stringify!($name),
            summary: $summary,
            getter: $crate::Getter::$width(|id| id.$name().into()),
        }),*]
    };
}
pub(crate) use fields;

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
        get: fn(T, u32) -> u32,
    },
}

/// The value of a field, as in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// Up to 32 bits.
    Number(u32),
    /// 80 bits: 20 lower-case hexadecimal digits.
    Digits(String),
}

impl<T: Copy> Getter<T> {
    /// Returns the value of the field, or `None` if the field has a parameter.
    pub fn value(&self, id: T) -> Option<FieldValue> {
        match self {
            Self::Bits24(get) | Self::Bits32(get) => Some(FieldValue::Number(get(id))),
            Self::Bits80(get) => Some(FieldValue::Digits(get(id).map(|byte| format!("{byte:02x}")).concat())),
            Self::Bits24By { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_hexadecimal_digits() {
        let json = |getter: Getter<()>| serde_json::to_string(&getter.value(()).unwrap()).unwrap();
        assert_eq!(json(Getter::Bits32(|()| u32::MAX)), "4294967295");
        assert_eq!(json(Getter::Bits80(|()| [0, 1, 2, 3, 4, 5, 6, 7, 8, 0xff])), r#""000102030405060708ff""#);
    }
}
