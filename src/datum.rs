//! IDs as Datums: 16 or 20 bytes by reference, or 8 bytes by value.

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
    /// The ID as a Datum, in the current memory context.
    #[inline]
    fn to_datum(self) -> Datum {
        self.to_stored().into_datum()
    }
}

impl<T: SortableId<Stored: StoredDatum>> StoredId for T {}

/// How a stored form becomes a Datum, and what its bytes are to the server.
pub trait StoredDatum: Stored {
    /// A type of the server's that it can turn into a number, in the order of these bytes read as that type: bigint is the
    /// same, and a macaddr is six bytes, the first of which counts the most. In an ID they are the timestamp.
    const SCALAR: pg_sys::Oid;

    /// The value of a Datum.
    ///
    /// # Safety
    /// The Datum is one of a type that is stored so.
    unsafe fn from_datum(datum: Datum) -> Self;

    /// The value as a Datum, in the current memory context.
    fn into_datum(self) -> Datum;

    /// The order of two values.
    fn order(self, other: Self) -> Ordering;

    /// The server's own hash of these bytes.
    fn hash(self) -> u32;

    /// The server's own hash of these bytes with a seed.
    fn hash_extended(self, seed: u64) -> u64;
}

// The server's functions as they are. pgrx wraps each call into a sigsetjmp, which costs more than these calls do. What they
// may raise (out of memory) is a longjmp over frames of ours that have nothing to drop.
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
        // SAFETY: such a Datum points to N bytes, at any alignment.
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
        // The first 16 bytes as a number: two instructions, where comparing bytes is a call.
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
        // SAFETY: a function of its argument.
        unsafe { hash_bytes_uint32(folded(self)) }
    }

    fn hash_extended(self, seed: u64) -> u64 {
        // SAFETY: a function of its arguments.
        unsafe { hash_bytes_uint32_extended(folded(self), seed) }
    }
}

/// The 32 bits of which bigint's hash is made, for values that are not negative.
fn folded(value: i64) -> u32 {
    (value >> 32) as u32 ^ value as u32
}

/// Values in the current memory context, each made of its index.
pub fn slice<'a, V: Copy>(length: usize, value: impl Fn(usize) -> V) -> &'a mut [V] {
    // SAFETY: palloc returns that many bytes, aligned for any type, or raises an error. All are written before they are read.
    unsafe {
        let values = palloc(length * size_of::<V>()).cast::<V>();
        (0..length).for_each(|index| values.add(index).write(value(index)));
        core::slice::from_raw_parts_mut(values, length)
    }
}

/// The order of two Datums of a stored form.
///
/// # Safety
/// Both are Datums of a type that is stored so.
#[inline]
pub unsafe fn order<S: StoredDatum>(left: Datum, right: Datum) -> Ordering {
    // SAFETY: promised by the caller.
    unsafe { S::from_datum(left).order(S::from_datum(right)) }
}

/// The text of an ID as a Datum of type `cstring`, in the current memory context.
pub fn cstring<T: SortableId>(id: T, settings: &T::Settings) -> Datum {
    // Digits are written to where they are to be: to copy bytes that were written a moment ago waits for each of them.
    // SAFETY: palloc returns that many bytes, or raises an error. All are zeros before digits are written to the first of
    // them; the last stays zero, which ends the text.
    unsafe {
        let text = palloc(MAX_TEXT_LEN + 1).cast::<[u8; MAX_TEXT_LEN + 1]>();
        text.write([0; MAX_TEXT_LEN + 1]);
        id.digits(settings, &mut *text.cast());
        Datum::from(text)
    }
}

/// Bytes as a Datum of type `bytea`, or ASCII ones of type `text`, in the current memory context.
pub fn varlena(bytes: &[u8]) -> Datum {
    let length = pg_sys::VARHDRSZ + bytes.len();
    // SAFETY: palloc returns that many bytes, or raises an error; the header comes first.
    unsafe {
        let varlena = palloc(length).cast::<pg_sys::varlena>();
        pgrx::varlena::set_varsize_4b(varlena, length as i32);
        ptr::copy_nonoverlapping(bytes.as_ptr(), varlena.cast::<u8>().add(pg_sys::VARHDRSZ), bytes.len());
        Datum::from(varlena)
    }
}

/// A C string of the extension's own words, or of parts of another C string. Neither contains a NUL.
pub fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_default()
}
