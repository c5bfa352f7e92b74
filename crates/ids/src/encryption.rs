//! Encryption of IDs to values of the type `uuid`, which hide the time of the ID, and back.
//!
//! | kind | construction | result |
//! |---|---|---|
//! | `uuidv7` | the 122 bits around version and variant, walked | a UUID of version 4 |
//! | `scru64`, `ulidflake`, `bigint` | the 8 bytes and 58 zero bits, walked | a UUID of version 4 |
//! | `scru128`, `ulid` | the 16 bytes, one block of AES | 128 bits without a version |
//!
//! A walked construction sets version 4 and variant 10 around its 122 bits, and applies AES until the block has this version and
//! variant again: [cycle walking](https://doi.org/10.1007/3-540-45760-7_9) (Black and Rogaway, 2002), a permutation of the UUIDs of
//! version 4. It takes 64 blocks on average.
//!
//! Each kind has its own subkey, so that the results of one kind say nothing about those of another. The subkey has the length of the
//! key. It is derived by [SP 800-108](https://doi.org/10.6028/NIST.SP.800-108r1-upd1) in counter mode with AES-CMAC. The label is the
//! kind's name, and the context is empty.

use std::fmt;
use std::marker::PhantomData;

use aes::cipher::consts::U16;
use aes::cipher::{
    BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend, BlockCipherEncClosure,
    BlockCipherEncrypt, BlockSizeUser, KeyInit,
};
use aes::{Aes128, Aes256, Block};
use cmac::{Cmac, Mac};

use crate::uuidv7::VERSION_AND_VARIANT_MASK;
use crate::{SortableId, Stored, Uuidv7, encrypted_registry};

const VERSION_AND_VARIANT: u128 = 4 << 76 | 0b10 << 62;

/// The number of bits of a UUID below the version, and below the variant.
const BELOW_VERSION: u32 = 76;
const BELOW_VARIANT: u32 = 62;

/// The number of zero bits after the 8 bytes of an ID.
const ZEROS: u32 = 58;

/// A kind of values that can be encrypted to a UUID: the IDs of 8 and 16 bytes, and numbers of 64 bits.
pub trait Encryptable: Copy {
    /// The name of the kind, which is the label of its subkey.
    const KIND: &'static str;
    /// Whether the result is a UUID of version 4.
    const IS_VERSION_4: bool = true;

    /// Returns the block to encrypt; `None` for a UUID that is not of version 7.
    fn to_block(self) -> Option<u128>;

    /// Returns the value with this block; `None` if no value has it.
    fn from_block(block: u128) -> Option<Self>;
}

macro_rules! encryptable {
    ($name:ident, $Id:ident) => {
        impl Encryptable for crate::$Id {
            const KIND: &'static str = Self::NAME;
            const IS_VERSION_4: bool = <Self as SortableId>::Stored::LEN == 8;

            fn to_block(self) -> Option<u128> {
                let number = self.to_stored().head();
                Some(if Self::IS_VERSION_4 { version_4(number << ZEROS) } else { number })
            }

            fn from_block(block: u128) -> Option<Self> {
                let number = if Self::IS_VERSION_4 { eight_bytes(block)?.into() } else { block };
                Self::from_be_bytes(&number.to_be_bytes()[16 - <Self as SortableId>::Stored::LEN..]).ok()
            }
        }
    };
}
encrypted_registry!(encryptable);

impl Encryptable for i64 {
    const KIND: &'static str = "bigint";

    fn to_block(self) -> Option<u128> {
        Some(version_4(u128::from(self.cast_unsigned()) << ZEROS))
    }

    fn from_block(block: u128) -> Option<Self> {
        eight_bytes(block).map(u64::cast_signed)
    }
}

impl Encryptable for Uuidv7 {
    const KIND: &'static str = Self::NAME;

    fn to_block(self) -> Option<u128> {
        self.is_id().then(|| version_4(free_bits(self.to_u128())))
    }

    fn from_block(block: u128) -> Option<Self> {
        Some(Self::from_u128(block & !VERSION_AND_VARIANT_MASK | Self::MIN.to_u128()))
    }
}

/// Returns whether a UUID is of version 4.
fn is_version_4(uuid: u128) -> bool {
    uuid & VERSION_AND_VARIANT_MASK == VERSION_AND_VARIANT
}

/// Returns the UUID of version 4 with these 122 bits, in order from the first.
fn version_4(bits: u128) -> u128 {
    let first = bits >> (BELOW_VERSION - 2);
    let middle = bits >> BELOW_VARIANT & 0xfff;
    let last = bits & ((1 << BELOW_VARIANT) - 1);
    first << (BELOW_VERSION + 4) | middle << (BELOW_VARIANT + 2) | last | VERSION_AND_VARIANT
}

/// Returns the 122 bits of a UUID around its version and variant.
fn free_bits(uuid: u128) -> u128 {
    let first = uuid >> (BELOW_VERSION + 4);
    let middle = uuid >> (BELOW_VARIANT + 2) & 0xfff;
    let last = uuid & ((1 << BELOW_VARIANT) - 1);
    first << (BELOW_VERSION - 2) | middle << BELOW_VARIANT | last
}

/// Returns the 8 bytes of a block, as a number; `None` if other bits than zeros follow.
fn eight_bytes(block: u128) -> Option<u64> {
    let bits = free_bits(block);
    (bits.trailing_zeros() >= ZEROS).then_some((bits >> ZEROS) as u64)
}

/// Encrypts the IDs of a kind to UUIDs, and decrypts them.
///
/// The same key encrypts the same ID to the same UUID. Creation derives the subkey, so keep the cipher for further IDs. Timing may
/// depend on the IDs.
///
/// ```
/// use scru_ids::Scru64;
/// use scru_ids::encryption::IdCipher;
///
/// let key = [7; 32]; // in practice, random bytes
/// let cipher = IdCipher::<Scru64>::new(&key)?;
/// let id = "0w6izc4wrd54".parse()?;
/// let uuid = cipher.encrypt(id).unwrap();
/// assert_eq!(uuid[6] >> 4, 4);
/// assert_eq!(cipher.decrypt(uuid), Some(id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct IdCipher<T> {
    cipher: Cipher,
    kind: PhantomData<fn(T) -> T>,
}

impl<T: Encryptable> IdCipher<T> {
    /// Returns the cipher of this kind with a key of 16 or 32 random bytes. Derive no key from a passphrase.
    ///
    /// # Errors
    /// Returns [`KeyLengthError`] if the key has another length.
    pub fn new(key: &[u8]) -> Result<Self, KeyLengthError> {
        let cipher = match key.len() {
            16 => subkey::<Cmac<Aes128>, 16>(key, T::KIND).map(|key| Cipher::Aes128(Aes128::new(&key.into()))),
            32 => subkey::<Cmac<Aes256>, 32>(key, T::KIND).map(|key| Cipher::Aes256(Aes256::new(&key.into()))),
            _ => None,
        };
        let cipher = cipher.ok_or(KeyLengthError { received: key.len() })?;
        Ok(Self { cipher, kind: PhantomData })
    }

    /// Returns the bytes of the UUID to which an ID is encrypted; `None` if the ID is a UUID that is not of version 7.
    pub fn encrypt(&self, id: T) -> Option<[u8; 16]> {
        let mut block = id.to_block()?.to_be_bytes().into();
        let walk = Walk::<T>(&mut block, PhantomData);
        match &self.cipher {
            Cipher::Aes128(aes) => aes.encrypt_with_backend(walk),
            Cipher::Aes256(aes) => aes.encrypt_with_backend(walk),
        }
        Some(block.into())
    }

    /// Returns the ID that is encrypted to a UUID; `None` if no ID of this kind is.
    pub fn decrypt(&self, uuid: [u8; 16]) -> Option<T> {
        if T::IS_VERSION_4 && !is_version_4(u128::from_be_bytes(uuid)) {
            return None;
        }
        let mut block = uuid.into();
        let walk = Walk::<T>(&mut block, PhantomData);
        match &self.cipher {
            Cipher::Aes128(aes) => aes.decrypt_with_backend(walk),
            Cipher::Aes256(aes) => aes.decrypt_with_backend(walk),
        }
        T::from_block(u128::from_be_bytes(block.into()))
    }
}

/// The error of a key whose length is neither 16 nor 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLengthError {
    /// The number of bytes received.
    pub received: usize,
}

impl fmt::Display for KeyLengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a key of 16 or 32 bytes, but received {}", self.received)
    }
}

impl std::error::Error for KeyLengthError {}

/// AES with a subkey. Its `Debug` shows no key.
#[derive(Clone, Debug)]
enum Cipher {
    Aes128(Aes128),
    Aes256(Aes256),
}

/// Returns the subkey of a label, by SP 800-108 in counter mode: the fixed input is the label, a zero byte, an empty context, and the
/// length of the subkey in bits.
fn subkey<M: Mac + KeyInit + Clone, const LEN: usize>(key: &[u8], label: &str) -> Option<[u8; LEN]> {
    let bits = 8 * LEN as u32;
    let fixed_input = [label.as_bytes(), &[0], &bits.to_be_bytes()].concat();
    counter_mode(&M::new_from_slice(key).ok()?, &fixed_input)
}

/// Returns the key that SP 800-108 in counter mode derives with a fixed input. The counter has 32 bits, begins with 1, and precedes the
/// fixed input. `LEN` must be a multiple of the output length of the pseudorandom function.
fn counter_mode<M: Mac + Clone, const LEN: usize>(function: &M, fixed_input: &[u8]) -> Option<[u8; LEN]> {
    let output = (1_u32..).take(LEN / M::output_size()).flat_map(|counter| {
        let function = function.clone().chain_update(counter.to_be_bytes()).chain_update(fixed_input);
        function.finalize().into_bytes()
    });
    output.collect::<Vec<_>>().try_into().ok()
}

/// Applies a direction of AES to a block: once, or until the block is a UUID of version 4.
///
/// It is a closure of the backend because a call of `encrypt_block` selects the backend anew, which costs more than the block.
struct Walk<'block, T>(&'block mut Block, PhantomData<T>);

impl<T: Encryptable> Walk<'_, T> {
    #[inline(always)]
    fn run(self, step: impl Fn(&mut Block)) {
        let mut block = *self.0;
        step(&mut block);
        while T::IS_VERSION_4 && !is_version_4(u128::from_be_bytes(block.into())) {
            step(&mut block);
        }
        *self.0 = block;
    }
}

impl<T> BlockSizeUser for Walk<'_, T> {
    type BlockSize = U16;
}

impl<T: Encryptable> BlockCipherEncClosure for Walk<'_, T> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        self.run(|block| backend.encrypt_block_inplace(block));
    }
}

impl<T: Encryptable> BlockCipherDecClosure for Walk<'_, T> {
    #[inline(always)]
    fn call<B: BlockCipherDecBackend<BlockSize = U16>>(self, backend: &B) {
        self.run(|block| backend.decrypt_block_inplace(block));
    }
}

#[cfg(test)]
#[path = "../tests/unit/encryption.rs"]
mod tests;
