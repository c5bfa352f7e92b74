//! What the bytes of an ID are held in.

use std::fmt;

/// The stored form of an ID: big-endian bytes, or an `i64` that is big-endian on the wire.
pub trait Stored: Copy + Ord + fmt::Debug + Send + Sync + 'static {
    /// The big-endian bytes.
    type Bytes: AsRef<[u8]>;
    /// The number of bytes.
    const LEN: usize;

    /// The big-endian bytes, as they go over the wire.
    fn to_bytes(self) -> Self::Bytes;

    /// The value of exactly [`LEN`](Self::LEN) big-endian bytes, or nothing if there are more or fewer.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl<const N: usize> Stored for [u8; N] {
    type Bytes = Self;
    const LEN: usize = N;

    fn to_bytes(self) -> Self {
        self
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl Stored for i64 {
    type Bytes = [u8; 8];
    const LEN: usize = 8;

    fn to_bytes(self) -> [u8; 8] {
        self.to_be_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_be_bytes)
    }
}
