//! Encryption of IDs: the vectors of the second implementation, and round trips.
#![cfg(feature = "encryption")]

mod common;

use std::collections::BTreeMap;

use common::SplitMix;
use rand::Rng;
use scru_ids::encryption::{Encryptable, IdCipher};
use scru_ids::{Scru64, Scru128, SortableId, Ulid, Ulidflake, Uuidv7};

/// tests/vectors/encryption/vectors.py has made the vectors.
const JSON: &str = include_str!("../../../tests/vectors/encryption/vectors.json");

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    encrypted: Vec<Encrypted>,
    foreign: Vec<Foreign>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Encrypted {
    kind: String,
    key: String,
    id: String,
    uuid: String,
}

/// A UUID of version 4 that is not an encrypted ID of the kind.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Foreign {
    kind: String,
    key: String,
    uuid: String,
    reason: String,
}

/// A kind as the tests see it.
trait Kind: Encryptable + PartialEq + std::fmt::Debug {
    /// The values whose neighbors are special.
    const EDGES: [Self; 2];

    fn from_bytes(bytes: &[u8]) -> Self;
    fn random(rng: &mut SplitMix) -> Self;
}

macro_rules! kind {
    ($($Id:ident)*) => {
        $(impl Kind for $Id {
            const EDGES: [Self; 2] = [Self::MIN, Self::MAX];

            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_be_bytes(bytes).unwrap()
            }

            fn random(rng: &mut SplitMix) -> Self {
                let tick = rng.below(Self::TICKS.max + 1);
                scru_ids::GeneratedId::random_of(tick, rng)
            }
        })*
    };
}
kind!(Uuidv7 Scru64 Ulidflake Scru128 Ulid);

impl Kind for i64 {
    const EDGES: [Self; 2] = [Self::MIN, Self::MAX];

    fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_be_bytes(bytes.try_into().unwrap())
    }

    fn random(rng: &mut SplitMix) -> Self {
        rng.next_u64() as Self
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<_> = hexadecimal.bytes().filter(|digit| *digit != b'-').collect();
    digits.chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn uuid(text: &str) -> [u8; 16] {
    bytes(text).try_into().unwrap()
}

fn is_version_4(uuid: [u8; 16]) -> bool {
    uuid[6] >> 4 == 4 && uuid[8] >> 6 == 0b10
}

fn vectors_hold<K: Kind>(vectors: &Vectors) -> usize {
    let encrypted = vectors.encrypted.iter().filter(|vector| vector.kind == K::KIND);
    for Encrypted { key, id, uuid: text, .. } in encrypted.clone() {
        let (cipher, id, uuid) = (IdCipher::<K>::new(&bytes(key)).unwrap(), K::from_bytes(&bytes(id)), uuid(text));
        assert_eq!(cipher.encrypt(id), Some(uuid), "{text}");
        assert_eq!(cipher.decrypt(uuid), Some(id), "{text}");
        assert!(is_version_4(uuid) || !K::IS_VERSION_4);
    }
    let foreign = vectors.foreign.iter().filter(|vector| vector.kind == K::KIND);
    for Foreign { key, uuid: text, reason, .. } in foreign.clone() {
        let cipher = IdCipher::<K>::new(&bytes(key)).unwrap();
        assert!(is_version_4(uuid(text)));
        assert_eq!(cipher.decrypt(uuid(text)), None, "{}: {reason}", K::KIND);
    }
    encrypted.count() + foreign.count()
}

#[test]
fn vectors_of_the_second_implementation() {
    let vectors: Vectors = serde_json::from_str(JSON).unwrap();
    let counts = [
        vectors_hold::<Uuidv7>(&vectors),
        vectors_hold::<Scru64>(&vectors),
        vectors_hold::<Ulidflake>(&vectors),
        vectors_hold::<i64>(&vectors),
        vectors_hold::<Scru128>(&vectors),
        vectors_hold::<Ulid>(&vectors),
    ];
    assert!(counts.iter().all(|count| *count > 50));
    assert_eq!(counts.iter().sum::<usize>(), vectors.encrypted.len() + vectors.foreign.len());
}

/// The number of round trips of each kind. `make test-long` sets the variable.
fn round_trips() -> usize {
    std::env::var("TEST_LONG").map_or(5_000, |_| 1_700_000)
}

fn round_trip<K: Kind>() {
    let mut rng = SplitMix(7);
    let [mut key_16, mut key_32] = [vec![0; 16], vec![0; 32]];
    let mut seen = BTreeMap::new();
    let mut ciphers = vec![];
    for n in 0..round_trips() {
        if n % 1_000 == 0 {
            rng.fill_bytes(&mut key_16);
            rng.fill_bytes(&mut key_32);
            ciphers = vec![IdCipher::<K>::new(&key_16).unwrap(), IdCipher::<K>::new(&key_32).unwrap()];
            seen.clear();
        }
        let (cipher, id) = (&ciphers[n % 2], if n % 1_000 < 4 { K::EDGES[n / 2 % 2] } else { K::random(&mut rng) });
        let uuid = cipher.encrypt(id).unwrap();
        assert_eq!(cipher.decrypt(uuid), Some(id));
        assert!(is_version_4(uuid) || !K::IS_VERSION_4, "{uuid:02x?}");
        assert_eq!(*seen.entry(uuid).or_insert(id), id, "two IDs have one UUID");
    }
}

#[test]
fn round_trips_of_each_kind() {
    round_trip::<Uuidv7>();
    round_trip::<Scru64>();
    round_trip::<Ulidflake>();
    round_trip::<i64>();
    round_trip::<Scru128>();
    round_trip::<Ulid>();
}

#[test]
fn a_uuid_that_is_not_of_version_7_is_not_encrypted() {
    let cipher = IdCipher::<Uuidv7>::new(&[7; 32]).unwrap();
    for text in [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "919108f7-52d1-4320-9bac-f847db4148a8",
        "017f22e2-79b0-7cc3-d8c4-dc0c0c07398f",
    ] {
        assert_eq!(cipher.encrypt(text.parse().unwrap()), None, "{text}");
    }
}

/// Every UUID of version 4 is the encrypted form of a UUID of version 7, and every 16 bytes are that of a scru128 and a ulid.
#[test]
fn each_uuid_is_decrypted_if_its_kind_has_as_many_ids() {
    fn all<K: Kind>(rng: &mut SplitMix) {
        let cipher = IdCipher::<K>::new(&[7; 16]).unwrap();
        for _ in 0..1_000 {
            let mut uuid = [0; 16];
            rng.fill_bytes(&mut uuid);
            if K::IS_VERSION_4 {
                uuid[6] = uuid[6] & 0xf | 0x40;
                uuid[8] = uuid[8] & 0x3f | 0x80;
            }
            assert_eq!(cipher.encrypt(cipher.decrypt(uuid).unwrap()), Some(uuid));
        }
    }
    let mut rng = SplitMix(7);
    all::<Uuidv7>(&mut rng);
    all::<Scru128>(&mut rng);
    all::<Ulid>(&mut rng);
}

/// No random UUID is an ID of 8 bytes: the probability is 2⁻⁵⁸.
#[test]
fn a_guessed_uuid_is_not_an_id_of_8_bytes() {
    let mut rng = SplitMix(7);
    let (scru64, ulidflake, bigint) = (
        IdCipher::<Scru64>::new(&[7; 16]).unwrap(),
        IdCipher::<Ulidflake>::new(&[7; 16]).unwrap(),
        IdCipher::<i64>::new(&[7; 16]).unwrap(),
    );
    for _ in 0..1_000 {
        let mut uuid = [0; 16];
        rng.fill_bytes(&mut uuid);
        uuid[6] = uuid[6] & 0xf | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        assert_eq!((scru64.decrypt(uuid), ulidflake.decrypt(uuid), bigint.decrypt(uuid)), (None, None, None));
    }
}
