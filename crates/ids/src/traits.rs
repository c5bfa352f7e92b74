//! Traits of std and of serde, which all IDs implement. Serialization is the canonical text in human-readable formats (JSON,
//! TOML …), and the big-endian bytes in others.

use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{MAX_TEXT_LEN, ParseError, SortableId};

macro_rules! traits {
    ($name:ident, $Id:ident) => {
        /// Writes the canonical text.
        impl Display for crate::$Id {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.pad(self.encode(&mut [0; MAX_TEXT_LEN]))
            }
        }

        /// Parses any text that the type accepts.
        impl FromStr for crate::$Id {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::parse(text.as_bytes())
            }
        }

        impl Serialize for crate::$Id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.encode(&mut [0; MAX_TEXT_LEN]))
                } else {
                    serializer.serialize_bytes(&self.to_be_bytes())
                }
            }
        }

        impl<'de> Deserialize<'de> for crate::$Id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(TextOrBytes(PhantomData))
                } else {
                    deserializer.deserialize_bytes(TextOrBytes(PhantomData))
                }
            }
        }
    };
}
crate::id_systems!(traits);

/// Accepts text and bytes in every format. Within an untagged enum, serde buffers the input in a deserializer that always
/// claims to be human-readable.
struct TextOrBytes<T>(PhantomData<T>);

impl<T: SortableId> de::Visitor<'_> for TextOrBytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "the text or the bytes of one {}", T::NAME)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        T::from_be_bytes(bytes).map_err(E::custom)
    }
}
