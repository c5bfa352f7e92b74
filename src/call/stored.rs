//! Conversion of IDs to and from Datums: 16 or 20 bytes by reference, or 8 bytes by value.

use core::cmp::Ordering;

use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, SortableId, SqlId, Stored};

use crate::pg::unguarded::palloc;

const _: () = assert!(size_of::<Datum>() == 8, "scru requires an 8-byte Datum: its 64-bit types are passed by value");

/// An ID type whose stored form can be converted to and from a Datum.
pub trait StoredId: SqlId<Stored: StoredDatum> {
    /// In the current memory context.
    #[inline]
    fn to_datum(self) -> Datum {
        self.to_stored().into_datum()
    }
}

impl<T: SqlId<Stored: StoredDatum>> StoredId for T {}

/// A stored form that can be converted to and from a Datum, and compared.
pub trait StoredDatum: Stored {
    /// # Safety
    /// The Datum must be of a type with this stored form.
    unsafe fn from_datum(datum: Datum) -> Self;

    /// In the current memory context.
    fn into_datum(self) -> Datum;

    /// Without a copy: the value must outlive the Datum, and must not change.
    fn as_datum(&self) -> Datum;

    fn order(self, other: Self) -> Ordering;
}

impl<const N: usize> StoredDatum for [u8; N] {
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
    fn as_datum(&self) -> Datum {
        Datum::from(self.as_ptr())
    }

    #[inline]
    fn order(self, other: Self) -> Ordering {
        if N != 16 && N != 20 {
            return self.cmp(&other);
        }
        // Compares the IDs of 16 and 20 bytes as numbers. For memcmp, they would be copied to the stack first.
        let head = |bytes: Self| bytes.first_chunk().map(|head| u128::from_be_bytes(*head));
        let tail = |bytes: Self| bytes[16..].first_chunk().map(|tail| u32::from_be_bytes(*tail));
        head(self).cmp(&head(other)).then_with(|| tail(self).cmp(&tail(other)))
    }
}

impl StoredDatum for i64 {
    unsafe fn from_datum(datum: Datum) -> Self {
        datum.value() as Self
    }

    fn into_datum(self) -> Datum {
        Datum::from(self)
    }

    fn as_datum(&self) -> Datum {
        Datum::from(*self)
    }

    #[inline]
    fn order(self, other: Self) -> Ordering {
        self.cmp(&other)
    }
}

/// The text of an ID as a Datum of type `cstring`, in the current memory context.
pub fn cstring<T: SortableId>(id: T) -> Datum {
    // Writes the digits in place: a copy from a buffer would stall on store forwarding.
    // SAFETY: palloc returns that many bytes, or raises an error. All bytes are set to 0, then `digits` writes at most the first
    // MAX_TEXT_LEN bytes. The last byte stays 0 and terminates the text.
    unsafe {
        let text = palloc(MAX_TEXT_LEN + 1).cast::<[u8; MAX_TEXT_LEN + 1]>();
        text.write([0; MAX_TEXT_LEN + 1]);
        id.digits(&mut *text.cast());
        Datum::from(text)
    }
}
