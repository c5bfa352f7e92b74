//! Checks every type against its test vectors.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::tests;
use scru_ids::{FieldValue, GeneratedId, Getter, ParseError, ParseErrorKind, SortableId, SqlId, Stored};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{self, BytesDeserializer};
use serde_json::{Value, json};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    r#type: String,
    facts: Facts,
    valid: Vec<Valid>,
    malformed: Vec<Malformed>,
}

/// Facts of the type's specification, which the end-to-end tests also use.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    bytes: usize,
    /// The digits of the canonical text, in ascending order.
    digits: String,
    text_length: usize,
    /// The bytes of the largest ID, in hexadecimal digits.
    largest: String,
    bits_below_the_timestamp: u32,
    tick_ms: i64,
    /// The start of the first tick, in milliseconds since 1970.
    epoch_ms: i64,
    /// The number of low bits that are random in the first ID of a session; 0 if all sessions share one state.
    random_bits: u32,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Valid {
    source: String,
    text: String,
    bytes: String,
    #[serde(rename = "timestamp")]
    _timestamp: String,
    timestamp_micros: i64,
    /// Each value is a number, a string of hexadecimal digits, or an object with a number for each value of the parameter.
    fields: BTreeMap<String, Value>,
    also_read: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Malformed {
    source: String,
    text: String,
    kind: String,
    /// The position in characters, from 1; `None` if the number is out of range.
    position: Option<usize>,
}

impl Vectors {
    fn read<T: SortableId>() -> Self {
        let path = format!("{DIRECTORY}/{}.json", T::NAME);
        let vectors: Self = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).expect("test vectors");
        assert_eq!(vectors.r#type, T::NAME);
        assert!(!vectors.valid.is_empty() && !vectors.malformed.is_empty());
        vectors
    }

    fn ids<T: SortableId>() -> impl Iterator<Item = (Valid, T)> {
        Self::read::<T>().valid.into_iter().map(|valid| {
            let id = valid.text.parse().unwrap_or_else(|error| panic!("{}: {error}", valid.text));
            (valid, id)
        })
    }
}

fn facts_are_those_of_the_type<T: GeneratedId>() {
    let facts = Vectors::read::<T>().facts;
    assert_eq!([T::Stored::LEN, T::TEXT_LEN], [facts.bytes, facts.text_length]);
    assert_eq!(hex(T::MAX.to_be_bytes().as_ref()), facts.largest);
    assert_eq!([T::TICKS.micros, T::TICKS.epoch], [facts.tick_ms * 1_000, facts.epoch_ms * 1_000]);
    assert_eq!(facts.random_bits == 0, T::SERVER_WIDE);
    assert!(facts.random_bits <= facts.bits_below_the_timestamp);
    let last = T::last_of(0).to_be_bytes();
    let body = last.as_ref().iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
    assert_eq!(body, (1 << facts.bits_below_the_timestamp) - 1);
    for (valid, _) in Vectors::ids::<T>() {
        assert!(valid.text.chars().all(|digit| facts.digits.contains(digit)), "{}", valid.text);
    }
}

fn texts_bytes_and_times_are_exact<T: SortableId>() {
    for (valid, id) in Vectors::ids::<T>() {
        let Valid { source, text, .. } = &valid;
        assert_eq!(id.to_string(), *text, "{source}");
        for other in &valid.also_read {
            assert_eq!(other.parse(), Ok(id), "{other}: {source}");
        }
        assert_eq!(hex(id.to_stored().to_bytes().as_ref()), valid.bytes, "{text}");
        let stored = T::Stored::from_bytes(&unhex(&valid.bytes)).expect("as many bytes as the type has");
        assert_eq!(T::from_stored(stored), Some(id), "{text}");
        assert_eq!(id.timestamp_micros(), valid.timestamp_micros, "{text}");
        scru_ids::registry!(|Id| assert!(Id::NAME == T::NAME || Id::parse(text.as_bytes()).is_err(), "{text}"));
    }
}

fn human_readable_formats_hold_the_text<T: SortableId + Serialize + DeserializeOwned>() {
    for (valid, id) in Vectors::ids::<T>() {
        assert_eq!(serde_json::to_value(id).unwrap(), json!(valid.text), "{}", valid.source);
        for text in [&valid.text].into_iter().chain(&valid.also_read) {
            assert_eq!(serde_json::from_value::<T>(json!(text)).unwrap(), id, "{text}: {}", valid.source);
        }
    }
    for Malformed { text, source, .. } in Vectors::read::<T>().malformed {
        let error = serde_json::from_value::<T>(json!(text)).expect_err(&source);
        assert_eq!(error.to_string(), T::parse(text.as_bytes()).unwrap_err().to_string(), "{text:?}: {source}");
    }
    let error = serde_json::from_str::<T>("[1]").expect_err("a list");
    let expected = format!("expected the text or the bytes of one {}", T::NAME);
    assert_eq!(error.to_string(), format!("invalid type: sequence, {expected} at line 1 column 0"));
}

fn other_formats_hold_the_bytes<T: SortableId + Serialize + DeserializeOwned>() {
    for (valid, id) in Vectors::ids::<T>() {
        let bytes = unhex(&valid.bytes);
        let postcard = [&[bytes.len() as u8], &bytes[..]].concat();
        assert_eq!(postcard::to_allocvec(&id).unwrap(), postcard, "{}", valid.text);
        assert_eq!(postcard::from_bytes::<T>(&postcard).unwrap(), id, "{}", valid.text);
        assert_eq!(T::deserialize(BytesDeserializer::<value::Error>::new(&bytes)), Ok(id), "human-readable");
    }
    for length in [0, T::Stored::LEN - 1, T::Stored::LEN + 1] {
        let bytes = vec![0; length];
        let error = T::deserialize(BytesDeserializer::<value::Error>::new(&bytes)).expect_err("another length");
        assert_eq!(error.to_string(), format!("expected {} bytes, but received {length}", T::Stored::LEN));
        let postcard = postcard::to_allocvec(&bytes).unwrap();
        assert_eq!(postcard::from_bytes::<T>(&postcard), Err(postcard::Error::SerdeDeCustom));
    }
}

fn fields_are_exact_and_complete<T: SqlId>() {
    let names: BTreeSet<_> = T::FIELDS.iter().map(|field| field.name).collect();
    for (valid, id) in Vectors::ids::<T>() {
        assert_eq!(valid.fields.keys().map(String::as_str).collect::<BTreeSet<_>>(), names, "{}", valid.text);
        for field in T::FIELDS {
            check_field(&field.getter, id, &valid.fields[field.name], field.name);
        }
    }
}

fn check_field<T: SortableId>(getter: &Getter<T>, id: T, expected: &Value, name: &str) {
    if let Getter::Bits24By { get, .. } = getter {
        for (parameter, expected) in expected.as_object().expect("values by parameter") {
            let value = FieldValue::Number(get(id, parameter.parse().expect("a number")));
            assert_eq!(&serde_json::to_value(value).unwrap(), expected, "{name} of {id} for {parameter}");
        }
        return;
    }
    let value = getter.value(id).expect("a field that depends on nothing but the ID");
    assert_eq!(&serde_json::to_value(value).unwrap(), expected, "{name} of {id}");
}

fn malformed_texts_are_refused_with_their_position<T: SortableId>() {
    for malformed in Vectors::read::<T>().malformed {
        let (text, source) = (&malformed.text, &malformed.source);
        let error = T::parse(text.as_bytes()).expect_err(source);
        assert_eq!(kind(error.kind), malformed.kind, "{text:?}: {source}");
        assert_eq!(position(error), malformed.position, "{text:?}: {source}");
    }
}

/// Sort keys and estimates rely on this property.
fn wide_ids_begin_with_the_timestamp<T: SortableId>() {
    if T::Stored::BY_VALUE {
        return;
    }
    for (valid, id) in Vectors::ids::<T>() {
        assert_eq!(valid.bytes[..12], format!("{:012x}", id.tick()), "{}", valid.source);
    }
}

fn vectors_include_the_smallest_and_the_largest_id<T: SortableId>() {
    let texts: Vec<_> = Vectors::ids::<T>().map(|(valid, _)| valid.text).collect();
    assert!(texts.contains(&T::MIN.to_string()) && texts.contains(&T::MAX.to_string()));
}

fn kind(kind: ParseErrorKind) -> &'static str {
    match kind {
        ParseErrorKind::InvalidDigit => "invalid_digit",
        ParseErrorKind::WrongLength { expected, received } if received < expected => "too_short",
        ParseErrorKind::WrongLength { .. } => "too_long",
        ParseErrorKind::OutOfRange => "out_of_range",
    }
}

fn position(error: ParseError) -> Option<usize> {
    (error.kind != ParseErrorKind::OutOfRange).then_some(error.position + 1)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}

macro_rules! test_type {
    ($name:ident, $Id:ident) => {
        tests! { $name, $Id:
            facts_are_those_of_the_type
            texts_bytes_and_times_are_exact
            human_readable_formats_hold_the_text
            other_formats_hold_the_bytes
            fields_are_exact_and_complete
            malformed_texts_are_refused_with_their_position
            wide_ids_begin_with_the_timestamp
            vectors_include_the_smallest_and_the_largest_id
        }
    };
}
scru_ids::registry!(test_type);

/// Vectors of a type that is not in the registry would not be tested.
#[test]
fn every_vectors_file_belongs_to_a_registered_type() {
    let mut registered = BTreeSet::new();
    scru_ids::registry!(|Id| registered.insert(format!("{}.json", Id::NAME)));
    let files = std::fs::read_dir(DIRECTORY).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> = files.filter(|name| name.ends_with(".json")).collect();
    assert_eq!(files, registered);
}
