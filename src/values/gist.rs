//! GiST operator class: equality, order and time of IDs. It allows exclusion constraints and temporal keys on an ID and columns
//! of other types.
//!
//! An index key is a range of IDs, and in a leaf the range of a single ID. It is stored as a `bytea`: the bytes of the low end,
//! followed by those of the high end from the first difference on. A leaf key therefore consists of the bytes of its ID, and a sorted
//! index build uses the server's sort support for `bytea`.

use core::ffi::c_int;
use core::mem::offset_of;

use pgrx::pg_sys::{self, Datum, GISTENTRY, OffsetNumber};
use scru_ids::Stored;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::pg::datum;

/// The length of the longest ID, in bytes.
const MAX_LEN: usize = 20;

/// An index key: the range of IDs from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<T: StoredId> {
    low: T::Stored,
    high: T::Stored,
}

impl<T: StoredId> Key<T> {
    const LEN: usize = <T::Stored as Stored>::LEN;

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        const { assert!(Self::LEN <= MAX_LEN, "MAX_LEN is the length of the longest ID") };
        let (low, rest) = bytes.split_at_checked(Self::LEN)?;
        let mut high = [0; MAX_LEN];
        let high = high.get_mut(..Self::LEN)?;
        high.copy_from_slice(low);
        high.get_mut(Self::LEN.checked_sub(rest.len())?..)?.copy_from_slice(rest);
        Some(Self { low: T::Stored::from_bytes(low)?, high: T::Stored::from_bytes(high)? })
    }

    /// Invalid bytes, as on a damaged page, are the range of all IDs.
    ///
    /// # Safety
    /// The Datum is a key of a GiST index on this type.
    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a key is a bytea that is too short to be compressed or stored out of line.
        Self::from_bytes(unsafe { pgrx::varlena_to_byte_slice(datum.cast_mut_ptr()) }).unwrap_or_else(Self::all)
    }

    fn all() -> Self {
        Self { low: T::MIN.to_stored(), high: T::MAX.to_stored() }
    }

    fn into_datum(self) -> Datum {
        let (low, high) = (self.low.to_bytes(), self.high.to_bytes());
        let (low, high) = (low.as_ref(), high.as_ref());
        let common = low.iter().zip(high).take_while(|(low, high)| low == high).count();
        let mut bytes = [0; 2 * MAX_LEN];
        bytes[..Self::LEN].copy_from_slice(low);
        let length = 2 * Self::LEN - common;
        bytes[Self::LEN..length].copy_from_slice(&high[common..]);
        datum::varlena(&bytes[..length])
    }

    /// The smallest range that contains both.
    fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// How much the range grows if it has to contain another.
    fn growth(self, other: Self) -> f64 {
        let both = self.with(other);
        let distance = |low: T::Stored, high: T::Stored| high.head().saturating_sub(low.head()) as f64;
        distance(both.low, self.low) + distance(self.high, both.high)
    }

    /// Whether an ID in the range may satisfy the operator of a strategy with an ID on its right. Exact for a leaf key.
    fn may_satisfy(self, strategy: u32, id: T::Stored) -> bool {
        match strategy {
            pg_sys::RTEqualStrategyNumber => self.low <= id && id <= self.high,
            pg_sys::RTNotEqualStrategyNumber => self.low != id || self.high != id,
            pg_sys::RTLessStrategyNumber => self.low < id,
            pg_sys::RTLessEqualStrategyNumber => self.low <= id,
            pg_sys::RTGreaterStrategyNumber => self.high > id,
            pg_sys::RTGreaterEqualStrategyNumber => self.high >= id,
            _ => false,
        }
    }
}

/// `T_gist_consistent(internal, T, smallint, oid, internal) → boolean`
///
/// The second argument is a tstzrange if the strategy is that of `<@`. The result is exact: `recheck` is set to false.
pub fn consistent<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes an index entry and a pointer to `recheck`.
    let key = unsafe {
        call.datum(4).cast_mut_ptr::<bool>().write(false);
        Key::<T>::from_datum((*entry(call)).key)
    };
    let strategy = call.int2(2) as u32;
    let matches = if strategy == pg_sys::RTContainedByStrategyNumber {
        let &(first, last) = call.ids_in_range::<T>(1)?;
        key.high >= first && key.low <= last
    } else {
        key.may_satisfy(strategy, call.stored::<T>(1))
    };
    Ok(Datum::from(matches))
}

/// `T_gist_compress(internal) → internal`: an entry with the key of an ID
pub fn compress<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let entry = entry(call);
    // SAFETY: the server passes an index entry, whose key is an ID if `leafkey` is set.
    unsafe {
        if !(*entry).leafkey {
            return Ok(call.datum(0));
        }
        let id = <T::Stored as StoredDatum>::from_datum((*entry).key);
        Ok(replaced(*entry, Key::<T> { low: id, high: id }.into_datum()))
    }
}

/// `T_gist_fetch(internal) → internal`: an entry with the ID of a leaf key, for index-only scans
pub fn fetch<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a leaf entry.
    unsafe {
        let entry = *entry(call);
        Ok(replaced(entry, Key::<T>::from_datum(entry.key).low.into_datum()))
    }
}

/// `T_gist_union(internal, internal) → bytea`: the smallest range that contains all keys
pub fn union<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a vector of at least one entry, and a pointer for the size of the result.
    unsafe {
        let union = union_of(entries(call).iter().map(|entry| Key::<T>::from_datum(entry.key))).into_datum();
        call.datum(1).cast_mut_ptr::<c_int>().write(pgrx::varsize_any(union.cast_mut_ptr()) as c_int);
        Ok(union)
    }
}

fn union_of<T: StoredId>(keys: impl Iterator<Item = Key<T>>) -> Key<T> {
    keys.reduce(Key::with).unwrap_or_else(Key::all)
}

/// `T_gist_penalty(internal, internal, internal) → internal`: how much a key grows if it has to contain another
pub fn penalty<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes two entries, and a pointer for the result.
    unsafe {
        let [key, new] = [0, 1].map(|index| Key::<T>::from_datum((*call.datum(index).cast_mut_ptr::<GISTENTRY>()).key));
        // Scaled to the range from 2^-64 to 2^64, which an `f32` can represent.
        let growth = key.growth(new) / (1_u128 << 64) as f64;
        call.datum(2).cast_mut_ptr::<f32>().write(growth as f32);
    }
    Ok(call.datum(2))
}

/// `T_gist_picksplit(internal, internal) → internal`: the keys in order, split in two
///
/// If the last key, whose insertion splits the page, is the largest, ascending insertions are likely to follow. The left page
/// then keeps 90 % of the keys, as in a B-tree.
pub fn picksplit<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a vector of at least two entries, which begin at index 1, and a pointer for the result.
    unsafe {
        let entries = &entries(call)[1..];
        let keys = datum::slice(entries.len(), |index| (Key::<T>::from_datum(entries[index].key), index));
        keys.sort_unstable();
        let appends = keys.last().is_some_and(|(_, index)| *index == entries.len() - 1) && is_full_page(entries);
        let (left, right) = keys.split_at(if appends { keys.len() * 9 / 10 } else { keys.len() / 2 });
        let split = &mut *call.datum(1).cast_mut_ptr::<pg_sys::GIST_SPLITVEC>();
        (split.spl_left, split.spl_nleft, split.spl_ldatum) = half(left);
        (split.spl_right, split.spl_nright, split.spl_rdatum) = half(right);
    }
    Ok(call.datum(1))
}

/// Whether a single insertion into a full page causes the split: the entries are those of the page and one more.
///
/// # Safety
/// The entries are those that the server passes to be split. Their page is valid.
unsafe fn is_full_page(entries: &[GISTENTRY]) -> bool {
    // SAFETY: guaranteed by the caller. A page begins with its header; its line pointers end at `pd_lower`.
    let lower = unsafe { (*entries[0].page.cast::<pg_sys::PageHeaderData>()).pd_lower };
    let line_pointers = usize::from(lower).saturating_sub(offset_of!(pg_sys::PageHeaderData, pd_linp));
    entries.len() == line_pointers / size_of::<pg_sys::ItemIdData>() + 1
}

/// The offsets of keys, counted from 1, the number of keys, and their union.
fn half<T: StoredId>(keys: &[(Key<T>, usize)]) -> (*mut OffsetNumber, c_int, Datum) {
    let offsets =
        datum::array(keys.len(), |index| keys[index].1 as OffsetNumber + pg_sys::FirstOffsetNumber as OffsetNumber);
    (offsets, keys.len() as c_int, union_of(keys.iter().map(|(key, _)| *key)).into_datum())
}

/// `T_gist_same(bytea, bytea, internal) → internal`: whether two keys are equal
pub fn same<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes two keys, and a pointer for the result.
    unsafe {
        let [left, right] = [0, 1].map(|index| Key::<T>::from_datum(call.datum(index)));
        call.datum(2).cast_mut_ptr::<bool>().write(left == right);
    }
    Ok(call.datum(2))
}

fn entry(call: Call) -> *mut GISTENTRY {
    call.datum(0).cast_mut_ptr()
}

/// A copy of an entry with another key and without `leafkey`, in the current memory context.
fn replaced(entry: GISTENTRY, key: Datum) -> Datum {
    Datum::from(datum::array(1, |_| GISTENTRY { key, leafkey: false, ..entry }))
}

unsafe fn entries<'a>(call: Call) -> &'a [GISTENTRY] {
    let vector = call.datum(0).cast_mut_ptr::<pg_sys::GistEntryVector>();
    // SAFETY: the server passes a vector of `n` entries.
    unsafe { core::slice::from_raw_parts((*vector).vector.as_ptr(), (*vector).n as usize) }
}
