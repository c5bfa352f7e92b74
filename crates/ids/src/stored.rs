//! The stored forms of IDs.

use std::fmt;

/// The stored form of an ID: an array of its big-endian bytes, or an `i64` in native byte order.
pub trait Stored: Copy + Ord + fmt::Debug + Send + Sync + 'static {
    /// The type of the big-endian bytes.
    type Bytes: AsRef<[u8]>;
    /// The number of bytes.
    const LEN: usize;
    /// Whether PostgreSQL passes the value itself, in a machine word, and not a reference to its bytes.
    const BY_VALUE: bool;

    /// Returns the big-endian bytes, which are also the binary format of PostgreSQL's protocol.
    fn to_bytes(self) -> Self::Bytes;

    /// Returns the value with these big-endian bytes, or `None` if their number is not [`LEN`](Self::LEN).
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl<const N: usize> Stored for [u8; N] {
    type Bytes = Self;
    const LEN: usize = N;
    const BY_VALUE: bool = false;

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
    const BY_VALUE: bool = true;

    fn to_bytes(self) -> [u8; 8] {
        self.to_be_bytes()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_be_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_big_endian_on_the_wire() {
        assert_eq!(0x0102_0304_0506_0708_i64.to_bytes(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(i64::from_bytes(&[1, 2, 3, 4, 5, 6, 7, 8]), Some(0x0102_0304_0506_0708));
        assert_eq!(i64::from_bytes(&[0xff; 8]), Some(-1));
    }

    #[test]
    fn from_bytes_returns_none_for_a_wrong_length() {
        for length in [0, 7, 9, 15, 17] {
            assert_eq!(i64::from_bytes(&vec![0; length]), None);
            assert_eq!(<[u8; 16]>::from_bytes(&vec![0; length]), None);
        }
        assert_eq!(<[u8; 16]>::from_bytes(&[3; 16]), Some([3; 16]));
    }
}
