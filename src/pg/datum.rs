//! Conversion of IDs to and from Datums: 16 or 20 bytes by reference, or 8 bytes by value.

use core::cmp::Ordering;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use pgrx::pg_sys::{self, Datum};
use scru_ids::{MAX_TEXT_LEN, SortableId, SqlId, Stored};

const _: () =
    assert!(size_of::<Datum>() == 8, "scru requires an 8-byte Datum, because its 64-bit types are passed by value");

/// An ID type whose stored form can be converted to and from a Datum.
pub trait StoredId: SqlId<Stored: StoredDatum> {
    /// In the current memory context.
    #[inline]
    fn to_datum(self) -> Datum {
        self.to_stored().into_datum()
    }
}

impl<T: SqlId<Stored: StoredDatum>> StoredId for T {}

/// A stored form that can be converted to and from a Datum, compared and hashed.
pub trait StoredDatum: Stored {
    /// The built-in type that selectivity estimation passes to the server's `convert_to_scalar()`, which supports only built-in
    /// types: bigint for 8 bytes, macaddr for more. A macaddr has 6 bytes, the length of the timestamp of such an ID.
    const SCALAR: pg_sys::Oid;

    /// # Safety
    /// The Datum must be of a type with this stored form.
    unsafe fn from_datum(datum: Datum) -> Self;

    /// In the current memory context.
    fn into_datum(self) -> Datum;

    fn order(self, other: Self) -> Ordering;

    /// The server's hash functions.
    fn hash(self) -> u32;
    fn hash_extended(self, seed: u64) -> u64;
}

// Declared here to avoid pgrx's guards: a guard calls sigsetjmp, which costs more than the guarded function. A server error (out
// of memory) is a longjmp over Rust frames that have nothing to drop.
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
        // SAFETY: the Datum points to N bytes. A byte array needs no alignment.
        unsafe { *datum.cast_mut_ptr::<Self>() }
    }

    #[inline]
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
        // Compares the first 16 bytes as a `u128`, which avoids a call of memcmp.
        let head = |bytes: Self| bytes.first_chunk().map(|head| u128::from_be_bytes(*head));
        head(self).cmp(&head(other)).then_with(|| self[N.min(16)..].cmp(&other[N.min(16)..]))
    }

    fn hash(self) -> u32 {
        // SAFETY: the pointer is valid for N bytes.
        unsafe { hash_bytes(self.as_ptr(), N as c_int) }
    }

    fn hash_extended(self, seed: u64) -> u64 {
        // SAFETY: the pointer is valid for N bytes.
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
        // SAFETY: a pure function, without pointers.
        unsafe { hash_bytes_uint32(folded(self)) }
    }

    fn hash_extended(self, seed: u64) -> u64 {
        // SAFETY: a pure function, without pointers.
        unsafe { hash_bytes_uint32_extended(folded(self), seed) }
    }
}

/// Returns the 32 bits that hashint8() hashes. The value must not be negative.
fn folded(value: i64) -> u32 {
    (value >> 32) as u32 ^ value as u32
}

/// Allocates an array in the current memory context. Each element is computed from its index.
pub fn array<V: Copy>(length: usize, value: impl Fn(usize) -> V) -> *mut V {
    const { assert!(align_of::<V>() <= 8, "palloc aligns to 8 bytes") };
    // SAFETY: palloc returns that many bytes, or raises an error. It rejects the size to which an overflow saturates.
    unsafe {
        let values = palloc(length.saturating_mul(size_of::<V>())).cast::<V>();
        (0..length).for_each(|index| values.add(index).write(value(index)));
        values
    }
}

/// Like [`array()`], as a slice.
///
/// # Safety
/// The current memory context outlives the slice.
pub unsafe fn slice<'a, V: Copy>(length: usize, value: impl Fn(usize) -> V) -> &'a mut [V] {
    // SAFETY: all elements are initialized. The rest is guaranteed by the caller.
    unsafe { core::slice::from_raw_parts_mut(array(length, value), length) }
}

/// Returns the text of an ID as a Datum of type `cstring`, in the current memory context.
pub fn cstring<T: SortableId>(id: T, settings: &T::Settings) -> Datum {
    // Writes the digits in place: a copy from a buffer would stall on store forwarding.
    // SAFETY: palloc returns that many bytes, or raises an error. All bytes are set to 0, then `digits` writes at most the first
    // MAX_TEXT_LEN bytes. The last byte stays 0 and terminates the text.
    unsafe {
        let text = palloc(MAX_TEXT_LEN + 1).cast::<[u8; MAX_TEXT_LEN + 1]>();
        text.write([0; MAX_TEXT_LEN + 1]);
        id.digits(settings, &mut *text.cast());
        Datum::from(text)
    }
}

/// A Datum of type `bytea`, in the current memory context. ASCII bytes are also a valid Datum of type `text`.
pub fn varlena(bytes: &[u8]) -> Datum {
    let length = pg_sys::VARHDRSZ + bytes.len();
    // SAFETY: palloc returns `length` bytes, or raises an error. The header takes the first VARHDRSZ bytes.
    unsafe {
        let varlena = palloc(length).cast::<pg_sys::varlena>();
        pgrx::varlena::set_varsize_4b(varlena, length as i32);
        ptr::copy_nonoverlapping(bytes.as_ptr(), varlena.cast::<u8>().add(pg_sys::VARHDRSZ), bytes.len());
        Datum::from(varlena)
    }
}

/// Converts a text to a C string. The text must not contain a NUL: otherwise, the result is empty.
pub fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_default()
}

/// # Safety
/// The pointer is null or a C string.
pub unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}
