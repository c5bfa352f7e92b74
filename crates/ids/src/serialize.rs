//! Serialization with serde: the canonical text in human-readable formats (JSON, TOML …), the big-endian bytes in others.

use std::{fmt, marker::PhantomData};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{MAX_TEXT_LEN, SortableId};

fn serialize<T: SortableId, S: Serializer>(id: T, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_str(id.encode(&T::Settings::default(), &mut [0; MAX_TEXT_LEN]))
    } else {
        serializer.serialize_bytes(id.to_be_bytes().as_ref())
    }
}

fn deserialize<'de, T: SortableId, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(TextOrBytes(PhantomData))
    } else {
        deserializer.deserialize_bytes(TextOrBytes(PhantomData))
    }
}

/// Accepts text and bytes in every format. Within an untagged enum, serde buffers the input in a deserializer that always
/// claims to be human-readable.
struct TextOrBytes<T>(PhantomData<T>);

impl<T: SortableId> de::Visitor<'_> for TextOrBytes<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the text or the bytes of one {}", T::NAME)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        T::from_be_bytes(bytes).map_err(E::custom)
    }
}

macro_rules! serde_traits {
    ($name:ident, $Id:ident) => {
        impl Serialize for crate::$Id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize(*self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for crate::$Id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize(deserializer)
            }
        }
    };
}
crate::id_systems!(serde_traits);
