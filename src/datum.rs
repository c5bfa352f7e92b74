//! Conversion of IDs to and from Datums: 16 or 20 bytes by reference, or 8 bytes by value.

use core::cmp::Ordering;
use core::ffi::{c_int, c_void};
use core::ptr;
use std::ffi::CString;

use pgrx::pg_sys::{self, Datum};
use scru_ids::{MAX_TEXT_LEN, SortableId, Stored};

const _: () = assert!(
    size_of::<Datum>() == 8,
    "scru needs a platform whose Datum is 8 bytes: its 64-bit types are passed by value there, as bigint is"
);

/// An ID type whose stored form is a Datum.
pub trait StoredId: SortableId<Stored: StoredDatum> {
    /// Returns the ID as a Datum, in the current memory context.
    #[inline]
    fn to_datum(self) -> Datum {
        self.to_stored().into_datum()
    }
}

impl<T: SortableId<Stored: StoredDatum>> StoredId for T {}

/// The conversion of a stored form to and from a Datum, and the order and the hash of its bytes.
pub trait StoredDatum: Stored {
    /// A built-in type that the server's selectivity estimation converts to a number, in the order of these bytes. For 8 bytes
    /// this is bigint. For more it is macaddr, whose 6 bytes are most significant first: in an ID they are the timestamp.
    const SCALAR: pg_sys::Oid;

    /// Returns the value of a Datum.
    ///
    /// # Safety
    /// The Datum is of a type with this stored form.
    unsafe fn from_datum(datum: Datum) -> Self;

    /// Returns the value as a Datum, in the current memory context.
    fn into_datum(self) -> Datum;

    /// Compares two values.
    fn order(self, other: Self) -> Ordering;

    /// Returns the server's hash of these bytes.
    fn hash(self) -> u32;

    /// Returns the server's hash of these bytes with a seed.
    fn hash_extended(self, seed: u64) -> u64;
}

// Declared here to avoid pgrx's guards: each calls sigsetjmp, which costs more than these functions. A server error (out of
// memory) is a longjmp over Rust frames that have nothing to drop.
unsafe extern "C-unwind" {
    fn palloc(size: usize) -> *mut c_void;
    fn hash_bytes(bytes: *const u8, length: c_int) -> u32;
    fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;
    fn hash_bytes_uint32(value: u32) -> u32;
    fn hash_bytes_uint32_extended(value: u32, seed: u64) -> u64;
}

impl<const N: usize> StoredDatum for [u8; N] {
    const SCALAR: pg_sys::Oid = pg_sys::MACADDROID;

    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: the Datum points to N bytes. They need no alignment.
        unsafe { *datum.cast_mut_ptr::<Self>() }
    }

    fn into_datum(self) -> Datum {
        // SAFETY: palloc returns N bytes, or raises an error.
        unsafe {
            let copy = palloc(N).cast::<Self>();
            copy.write(self);
            Datum::from(copy)
        }
    }

    #[inline]
    fn order(self, other: Self) -> Ordering {
        if N < 16 {
            return self.cmp(&other);
        }
        // Compares the first 16 bytes as a number: two instructions instead of a call of memcmp.
        let head = |bytes: Self| bytes.first_chunk().map(|head| u128::from_be_bytes(*head));
        head(self).cmp(&head(other)).then_with(|| self[N.min(16)..].cmp(&other[N.min(16)..]))
    }

    fn hash(self) -> u32 {
        // SAFETY: reads N bytes.
        unsafe { hash_bytes(self.as_ptr(), N as c_int) }
    }

    fn hash_extended(self, seed: u64) -> u64 {
        // SAFETY: reads N bytes.
        unsafe { hash_bytes_extended(self.as_ptr(), N as c_int, seed) }
    }
}

impl StoredDatum for i64 {
    const SCALAR: pg_sys::Oid = pg_sys::INT8OID;

    unsafe fn from_datum(datum: Datum) -> Self {
        datum.value() as Self
    }

    fn into_datum(self) -> Datum {
        Datum::from(self)
    }

    #[inline]
    fn order(self, other: Self) -> Ordering {
        self.cmp(&other)
    }

    fn hash(self) -> u32 {
        // SAFETY: depends on its argument only.
        unsafe { hash_bytes_uint32(folded(self)) }
    }

    fn hash_extended(self, seed: u64) -> u64 {
        // SAFETY: depends on its arguments only.
        unsafe { hash_bytes_uint32_extended(folded(self), seed) }
    }
}

/// Returns the 32 bits that bigint's hash function hashes, for a value that is not negative.
fn folded(value: i64) -> u32 {
    (value >> 32) as u32 ^ value as u32
}

/// Allocates a slice in the current memory context. Each element is computed from its index.
pub fn slice<'a, V: Copy>(length: usize, value: impl Fn(usize) -> V) -> &'a mut [V] {
    // SAFETY: palloc returns that many bytes, aligned for any type, or raises an error. All are written before they are read.
    unsafe {
        let values = palloc(length * size_of::<V>()).cast::<V>();
        (0..length).for_each(|index| values.add(index).write(value(index)));
        core::slice::from_raw_parts_mut(values, length)
    }
}

/// Compares two Datums of a stored form.
///
/// # Safety
/// Both Datums are of a type with this stored form.
#[inline]
pub unsafe fn order<S: StoredDatum>(left: Datum, right: Datum) -> Ordering {
    // SAFETY: guaranteed by the caller.
    unsafe { S::from_datum(left).order(S::from_datum(right)) }
}

/// Returns the text of an ID as a Datum of type `cstring`, in the current memory context.
pub fn cstring<T: SortableId>(id: T, settings: &T::Settings) -> Datum {
    // Writes the digits in place: copying bytes that were just written would stall on store forwarding.
    // SAFETY: palloc returns that many bytes, or raises an error. All are zeroed, and then digits are written to the first
    // MAX_TEXT_LEN of them at most. The last byte stays 0, which terminates the text.
    unsafe {
        let text = palloc(MAX_TEXT_LEN + 1).cast::<[u8; MAX_TEXT_LEN + 1]>();
        text.write([0; MAX_TEXT_LEN + 1]);
        id.digits(settings, &mut *text.cast());
        Datum::from(text)
    }
}

/// Returns bytes as a Datum of type `bytea`, or ASCII bytes as one of type `text`, in the current memory context.
pub fn varlena(bytes: &[u8]) -> Datum {
    let length = pg_sys::VARHDRSZ + bytes.len();
    // SAFETY: palloc returns that many bytes, or raises an error. The header comes first.
    unsafe {
        let varlena = palloc(length).cast::<pg_sys::varlena>();
        pgrx::varlena::set_varsize_4b(varlena, length as i32);
        ptr::copy_nonoverlapping(bytes.as_ptr(), varlena.cast::<u8>().add(pg_sys::VARHDRSZ), bytes.len());
        Datum::from(varlena)
    }
}

/// Converts a text of the extension, or part of another C string, to a C string. Neither contains a NUL.
pub fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_default()
}
