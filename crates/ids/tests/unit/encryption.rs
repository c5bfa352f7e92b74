use super::*;

fn bytes<const N: usize>(hexadecimal: &str) -> [u8; N] {
    let bytes =
        hexadecimal.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap());
    bytes.collect::<Vec<_>>().try_into().unwrap()
}

/// The first vectors of NIST's `KDFCTR_gen.rsp` for CMAC with these key lengths, with a counter of 32 bits before the fixed input.
#[test]
fn vectors_of_sp_800_108() {
    let function = Cmac::<Aes128>::new(&bytes("c10b152e8c97b77e18704e0f0bd38305").into());
    let fixed_input = bytes::<60>(
        "98cd4cbbbebe15d17dc86e6dbad800a2dcbd64f7c7ad0e78e9cf94ffdba89d03\
         e97eadf6c4f7b806caf52aa38f09d0eb71d71f497bcc6906b48d36c4",
    );
    assert_eq!(counter_mode(&function, &fixed_input), Some(bytes::<16>("26faf61908ad9ee881b8305c221db53f")));

    let key = bytes("d54b6fd94f7cf98fd955517f937e9927f9536caebe148fba1818c1ba46bba3a4");
    let function = Cmac::<Aes256>::new(&Into::into(key));
    let fixed_input = bytes::<60>(
        "94c4a0c69526196c1377cebf0a2ae0fb4b57797c61bea8eeb0518ca08652d14a\
         5e1bd1b116b1794ac8a476acbdbbcd4f6142d7b8515bad09ec72f7af",
    );
    let derived = bytes::<32>("2e1efed4aef3fdd324e098c0a07c0d97f8fd2c748a996ce29861ca042474daea");
    assert_eq!(counter_mode(&function, &fixed_input), Some(derived));
}

#[test]
fn the_free_bits_are_taken_in_order() {
    let uuid = |bits| format!("{:032x}", version_4(bits));
    assert_eq!(uuid(0), "00000000000040008000000000000000");
    assert_eq!(uuid((1 << 122) - 1), "ffffffffffff4fffbfffffffffffffff");
    assert_eq!(uuid(0x0123_4567_89ab_cdef << ZEROS), "0123456789ab4cdebc00000000000000");
    for place in 0..122 {
        let bits = 1 << place;
        assert_eq!(version_4(bits).count_ones(), 3);
        assert_eq!(free_bits(version_4(bits)), bits);
        assert!(is_version_4(version_4(bits)));
    }
}

/// Version and variant are six bits, all of which are compared.
#[test]
fn a_uuid_of_another_version_or_variant_is_not_decrypted() {
    let cipher = IdCipher::<Uuidv7>::new(&[7; 16]).unwrap();
    let uuid = cipher.encrypt(Uuidv7::MAX).unwrap();
    assert_eq!(cipher.decrypt(uuid), Some(Uuidv7::MAX));
    for bit in [62, 63, 76, 77, 78, 79] {
        let other = (u128::from_be_bytes(uuid) ^ 1 << bit).to_be_bytes();
        assert_eq!(cipher.decrypt(other), None, "bit {bit}");
        assert_eq!(IdCipher::<i64>::new(&[7; 16]).unwrap().decrypt(other), None, "bit {bit}");
    }
}

#[test]
fn only_keys_of_16_and_32_bytes_are_accepted() {
    for length in 0..100 {
        let error = IdCipher::<i64>::new(&vec![7; length]).err();
        let expected = (![16, 32].contains(&length)).then_some(KeyLengthError { received: length });
        assert_eq!(error, expected, "{length}");
    }
    assert_eq!(KeyLengthError { received: 24 }.to_string(), "expected a key of 16 or 32 bytes, but received 24");
}

#[test]
fn debug_output_has_no_key() {
    let cipher = IdCipher::<i64>::new(&[7; 16]).unwrap();
    assert_eq!(format!("{cipher:?}"), "IdCipher { cipher: Aes128(Aes128 { .. }), kind: PhantomData<fn(i64) -> i64> }");
}

/// Returns the ID of kind `B` that is encrypted to a UUID, as somebody computes it who can decrypt IDs of kind `A` only.
fn attack<A: Encryptable, B: Encryptable>(decrypt: &IdCipher<A>, uuid: [u8; 16]) -> Option<B> {
    let mut block = decrypt.decrypt(uuid)?.to_block()?;
    for _ in 0..10_000 {
        if !B::IS_VERSION_4 || is_version_4(block) {
            break;
        }
        block = decrypt.decrypt(block.to_be_bytes())?.to_block()?;
    }
    B::from_block(block)
}

/// Attacks kind `B` with kind `A`. The attack always succeeds if both kinds use the key itself, unless `A` decrypts too few UUIDs. It
/// never succeeds with subkeys.
fn attack_across<A: Encryptable, B: Encryptable>(ids: impl Fn(u64) -> B) {
    let key = [7; 16];
    let raw = || Cipher::Aes128(Aes128::new(&key.into()));
    let raw = (IdCipher::<A> { cipher: raw(), kind: PhantomData }, IdCipher::<B> { cipher: raw(), kind: PhantomData });
    let ciphers = (IdCipher::<A>::new(&key).unwrap(), IdCipher::<B>::new(&key).unwrap());
    let decrypts_all = |kind| matches!(kind, "scru128" | "ulid");
    let is_open = decrypts_all(A::KIND) || B::IS_VERSION_4 && (A::KIND == "uuidv7" || B::KIND != "uuidv7");
    for number in 0..200 {
        let id = ids(number);
        let is_same = |found: Option<B>| found.is_some_and(|found| found.to_block() == id.to_block());
        assert_eq!(
            is_same(attack(&raw.0, raw.1.encrypt(id).unwrap())),
            is_open,
            "{} by {}, without subkeys",
            B::KIND,
            A::KIND
        );
        let uuid = ciphers.1.encrypt(id).unwrap();
        assert!(!is_same(attack(&ciphers.0, uuid)), "{} by {}", B::KIND, A::KIND);
        if let Some(same_bytes) = id.to_block().and_then(A::from_block) {
            assert_ne!(ciphers.0.encrypt(same_bytes), Some(uuid), "{} and {} of the same bytes", A::KIND, B::KIND);
        }
    }
}

#[test]
fn no_kind_decrypts_another() {
    use crate::{Scru64, Scru128, Ulid, Ulidflake};

    trait Sample: Encryptable {
        fn sample(number: u64) -> Self;
    }
    macro_rules! sample {
        ($($T:ident $number:ident $id:expr;)*) => {
            $(impl Sample for $T { fn sample($number: u64) -> Self { $id } })*
        };
    }
    sample! {
        Uuidv7 number Uuidv7::from_fields(1_793_534_400_000 + number, (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), number as u32 + 1);
        Scru64 number Scru64::from_stored(0x1_a000_0000_0000 + number as i64).unwrap();
        Ulidflake number Ulidflake::from_stored(0x1_a000_0000_0000 + number as i64).unwrap();
        i64 number 0x1_a000_0000_0000 + number as i64;
        Scru128 number Scru128::from_stored((0x01a0_u128 << 112 | u128::from(number)).to_be_bytes()).unwrap();
        Ulid number Ulid::from_stored((0x01a0_u128 << 112 | u128::from(number)).to_be_bytes()).unwrap();
    }
    macro_rules! attack {
        ($($A:ident by $($B:ident)*;)*) => { $($(attack_across::<$B, $A>($A::sample);)*)* };
    }
    attack! {
        Uuidv7 by Scru64 Ulidflake i64 Scru128 Ulid;
        Scru64 by Uuidv7 Ulidflake i64 Scru128 Ulid;
        Ulidflake by Uuidv7 Scru64 i64 Scru128 Ulid;
        i64 by Uuidv7 Scru64 Ulidflake Scru128 Ulid;
        Scru128 by Uuidv7 Scru64 Ulidflake i64 Ulid;
        Ulid by Uuidv7 Scru64 Ulidflake i64 Scru128;
    }
}
