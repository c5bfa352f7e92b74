//! Fuzz targets: the text input and the binary input of every type of the registry, the decryption of every ID that can be
//! encrypted, nodes, and texts with a prefix. All accept data from any client.
//!
//! The environment variable `FUZZ_TARGET` selects a target. libFuzzer calls the target with mutations of the inputs that have
//! reached new code. `tools/fuzz.sh` builds and runs the program.
#![no_main]

use std::env;
use std::process;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use scru_ids::encryption::{Encryptable, IdCipher};
use scru_ids::prefixed::{is_prefix, join, split};
use scru_ids::{ParseError, ParseErrorKind, Scru64Node, SqlId, Stored, encrypted_registry, registry};
use scru_server::SortKeys;

/// A property that holds for every input. Panics if an input violates it.
type Property = fn(&[u8]);

static CHOSEN: OnceLock<Property> = OnceLock::new();

fuzz_target!(init: choose(), |input: &[u8]| {
    if let Some(property) = CHOSEN.get() {
        property(input);
    }
});

/// Returns every target with its name.
fn targets() -> Vec<(&'static str, Property)> {
    let mut targets: Vec<(_, Property)> = vec![("node", node), ("prefix", prefix)];
    macro_rules! target {
        ($name:ident, $id:ident) => {
            targets.push((concat!(stringify!($name), "_text"), text::<scru_ids::$id>));
            targets.push((concat!(stringify!($name), "_binary"), binary::<scru_ids::$id>));
        };
    }
    registry!(target);
    macro_rules! decryption {
        ($name:ident, $id:ident) => {
            targets.push((concat!(stringify!($name), "_decryption"), decryption::<scru_ids::$id>));
        };
    }
    encrypted_registry!(decryption);
    targets
}

/// Selects the target that `FUZZ_TARGET` names. If there is no such target, prints the names of all targets and exits.
fn choose() {
    let asked = env::var("FUZZ_TARGET").unwrap_or_default();
    match targets().into_iter().find(|(name, _)| *name == asked) {
        Some((_, property)) => _ = CHOSEN.set(property),
        None => {
            targets().iter().for_each(|(name, _)| println!("{name}"));
            process::exit(0);
        }
    }
}

// --------------------------------------------------------------------------------------------------------------- text

/// Parses any bytes as text. The result is an ID, whose canonical text differs from an input of the same length only in case, or
/// an error with the position and the reason.
fn text<T: SqlId>(input: &[u8]) {
    match T::parse(input) {
        Ok(id) => {
            assert_sound(id);
            if input.len() == T::TEXT_LEN {
                assert!(id.to_string().as_bytes().eq_ignore_ascii_case(input), "the text differs from the input");
            }
            for changed in [input.to_ascii_lowercase(), input.to_ascii_uppercase()] {
                assert_eq!(T::parse(&changed), Ok(id), "the case matters");
            }
            assert!(T::parse(&[input, b"0"].concat()) != Ok(id), "an extra digit is ignored");
        }
        Err(error) => assert_error_is_exact::<T>(input, error),
    }
}

/// Checks the position and the kind of an error. All characters before the position are digits.
fn assert_error_is_exact<T: SqlId>(input: &[u8], error: ParseError) {
    let ParseError { kind, position } = error;
    assert!(input[..position].is_ascii(), "the position does not count characters");
    assert!(error.to_string().is_ascii(), "the message quotes the input");
    match kind {
        ParseErrorKind::InvalidDigit => {
            assert!(position < input.len());
            let mut changed = input.to_vec();
            changed[position + 1..].fill(b'0');
            assert_eq!(T::parse(&changed), Err(error), "the error depends on what follows its position");
        }
        ParseErrorKind::WrongLength { expected, received } => {
            assert!(position == expected.min(received) && received == input.len() && received != expected);
        }
        ParseErrorKind::OutOfRange => {
            assert_eq!((position, input.len()), (0, T::TEXT_LEN));
            assert!(input.to_ascii_uppercase() > T::MAX.to_string().to_ascii_uppercase().into_bytes());
        }
    }
    if kind != ParseErrorKind::OutOfRange {
        let digits = &input[..position];
        assert!(digits.iter().all(u8::is_ascii_alphanumeric), "not all digits before the position");
    }
}

// ------------------------------------------------------------------------------------------------------------- binary

/// Reads any bytes as a binary message. The result is an ID with these bytes, or `None`. Then reads the bytes as several IDs,
/// which sort like their bytes.
fn binary<T: SqlId>(input: &[u8]) {
    match from_bytes::<T>(input) {
        Some(id) => {
            assert_eq!(bytes(id), input, "the bytes differ from the input");
            assert_sound(id);
        }
        None => assert!(input.len() != T::Stored::LEN || input > &bytes(T::MAX)[..], "rejected a valid ID"),
    }
    let ids: Vec<T> = input.chunks_exact(T::Stored::LEN).filter_map(from_bytes).collect();
    for pair in ids.windows(2) {
        assert_orders_are_equal(pair[0], pair[1]);
    }
    // Types passed by reference are sorted by abbreviated keys.
    if T::Stored::LEN >= 16 {
        assert_keys_are_in_order(ids);
    }
}

/// Checks that values, bytes, stored forms and texts have the same order.
fn assert_orders_are_equal<T: SqlId>(a: T, b: T) {
    let order = a.cmp(&b);
    assert_eq!(bytes(a).cmp(&bytes(b)), order, "bytes");
    assert_eq!(a.to_stored().cmp(&b.to_stored()), order, "stored");
    assert_eq!(a.to_string().cmp(&b.to_string()), order, "text");
    assert_eq!((a.tick(), a).cmp(&(b.tick(), b)), order, "ticks");
}

/// Checks that different sort keys have the order of their IDs. The keys are computed in the order of the input.
fn assert_keys_are_in_order<T: SqlId>(ids: Vec<T>) {
    let mut keys = SortKeys::default();
    let mut keyed: Vec<_> = ids.into_iter().map(|id| (id, keys.key::<T>(id.to_stored()))).collect();
    keyed.sort_unstable();
    assert!(keyed.is_sorted_by_key(|(_, key)| *key), "the keys contradict the order of the IDs");
}

// ------------------------------------------------------------------------------------------------ what is not an ID

/// Decrypts any bytes. The ID, if there is one, is encrypted to these bytes.
fn decryption<T: Encryptable>(input: &[u8]) {
    let cipher = IdCipher::<T>::new(&[7; 16]).expect("a key of 16 bytes");
    if let Ok(uuid) = input.try_into()
        && let Some(id) = cipher.decrypt(uuid)
    {
        assert_eq!(cipher.encrypt(id), Some(uuid), "another UUID has the same ID");
    }
}

/// Parses any text as a node. A node has as many bits as it says, and collides with itself.
fn node(input: &[u8]) {
    match String::from_utf8_lossy(input).parse::<Scru64Node>() {
        Ok(node) => assert!((1..=23).contains(&node.size()) && node.id() >> node.size() == 0 && node.collides(node)),
        Err(error) => assert!(error.to_string().ends_with('.'), "{error} is no sentence"),
    }
}

/// Splits any text into a prefix and the text of an ID. They join to the same text.
fn prefix(input: &[u8]) {
    let (prefix, id) = split(input);
    assert_eq!(join(prefix, id), input);
    assert!(!id.iter().skip(1).any(|byte| *byte == b'_'), "the separator is not the last one");
    assert!(!is_prefix(prefix) || prefix.len() <= 63 && prefix.is_ascii());
}

// --------------------------------------------------------------------------------------------------------------- both

/// Checks an ID: its canonical text and its stored form are read as the same ID, and its time is that of its tick.
fn assert_sound<T: SqlId>(id: T) {
    let text = id.to_string();
    assert_eq!(text.len(), T::TEXT_LEN);
    assert_eq!(T::parse(text.as_bytes()), Ok(id), "its text");
    assert_eq!(T::from_stored(id.to_stored()), Some(id), "its stored form");
    assert_eq!(from_bytes(&bytes(id)), Some(id), "its bytes");
    assert!((T::MIN..=T::MAX).contains(&id));
    assert!(id.tick() <= T::TICKS.max);
    assert!((T::first_of(id.tick())..=T::last_of(id.tick())).contains(&id), "outside its tick");
    assert_eq!(T::lower(id.timestamp_micros()), T::first_of(id.tick()), "its time");
    assert_eq!(T::upper(id.timestamp_micros()), T::last_of(id.tick()), "its time");
    T::FIELDS.iter().for_each(|field| _ = field.getter.value(id));
}

fn bytes<T: SqlId>(id: T) -> Vec<u8> {
    id.to_stored().to_bytes().as_ref().to_vec()
}

fn from_bytes<T: SqlId>(bytes: &[u8]) -> Option<T> {
    T::Stored::from_bytes(bytes).and_then(T::from_stored)
}
