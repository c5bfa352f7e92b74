//! Values in the server's memory: arrays, varlenas and C strings.

use core::ffi::{CStr, c_char};
use core::ptr;
use std::ffi::CString;

use pgrx::pg_sys::{self, Datum};

use crate::pg::unguarded::palloc;

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

/// The number of bytes of a text that [`text_of`] copies, because failing to allocate memory of Rust ends the server.
pub const MAX_TEXT: usize = 1 << 16;

/// # Safety
/// The pointer is null or a C string.
pub unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?.to_bytes();
    Some(String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT)]).into_owned())
}
