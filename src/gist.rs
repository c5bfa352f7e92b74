//! GiST: equality, order and time of an ID beside columns of other types, for exclusion constraints and temporal keys.
//!
//! A key of the index is a span of IDs, in a leaf the span of one ID. It is a `bytea`: the low end, and those bytes of the high
//! end from which on the two differ. In a leaf these are the bytes of the ID.

use core::cmp::Ordering;
use core::ffi::c_int;
use core::mem::offset_of;
use core::ptr;

use pgrx::pg_sys::{self, Datum, GISTENTRY, OffsetNumber, SortSupport};
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::{self, StoredDatum, StoredId};
use crate::error::Error;
use crate::sort;

/// No ID has more bytes.
const MAX_LEN: usize = 20;

/// A key of the index: a span of IDs, with its ends.
struct Key<T: StoredId> {
    low: T::Stored,
    high: T::Stored,
}

impl<T: StoredId> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: StoredId> Copy for Key<T> {}

impl<T: StoredId> Key<T> {
    const LEN: usize = <T::Stored as Stored>::LEN;

    fn of(id: T::Stored) -> Self {
        Self { low: id, high: id }
    }

    /// Bytes that are no key, as a damaged page may have them, are the span of all IDs.
    fn from_bytes(bytes: &[u8]) -> Self {
        Self::read(bytes).unwrap_or(Self { low: T::MIN.to_stored(), high: T::MAX.to_stored() })
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (low, rest) = bytes.split_at_checked(Self::LEN)?;
        let mut high = [0; MAX_LEN];
        let high = high.get_mut(..Self::LEN)?;
        high.copy_from_slice(low);
        high.get_mut(Self::LEN.checked_sub(rest.len())?..)?.copy_from_slice(rest);
        Some(Self { low: T::Stored::from_bytes(low)?, high: T::Stored::from_bytes(high)? })
    }

    /// # Safety
    /// The Datum is a key of such an index.
    unsafe fn from_datum(datum: Datum) -> Self {
        // SAFETY: a key is a bytea, so short that it is never compressed or stored elsewhere.
        Self::from_bytes(unsafe { pgrx::varlena_to_byte_slice(datum.cast_mut_ptr()) })
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

    /// The least span with both in it.
    fn with(self, other: Self) -> Self {
        let low = if other.low.order(self.low).is_lt() { other.low } else { self.low };
        let high = if other.high.order(self.high).is_gt() { other.high } else { self.high };
        Self { low, high }
    }

    fn order(self, other: Self) -> Ordering {
        self.low.order(other.low).then_with(|| self.high.order(other.high))
    }

    /// How much longer the span becomes with another in it.
    fn growth(self, other: Self) -> f64 {
        let both = self.with(other);
        distance(both.low, self.low) + distance(self.high, both.high)
    }

    /// Whether an ID of the span may compare so, by how the ends compare. In a leaf the answer is exact.
    fn may_be(self, strategy: u32, compare: impl Fn(T::Stored) -> Ordering) -> bool {
        let (low, high) = (compare(self.low), compare(self.high));
        match strategy {
            pg_sys::RTEqualStrategyNumber => low.is_le() && high.is_ge(),
            pg_sys::RTNotEqualStrategyNumber => low.is_ne() || high.is_ne(),
            pg_sys::RTLessStrategyNumber => low.is_lt(),
            pg_sys::RTLessEqualStrategyNumber => low.is_le(),
            pg_sys::RTGreaterStrategyNumber => high.is_gt(),
            pg_sys::RTGreaterEqualStrategyNumber => high.is_ge(),
            _ => false,
        }
    }
}

/// From one value up to another, exact where they are close: by the first 16 bytes.
fn distance(low: impl Stored, high: impl Stored) -> f64 {
    let head = |bytes: &[u8]| bytes.iter().take(16).fold(0, |head, &byte| head << 8 | u128::from(byte));
    head(high.to_bytes().as_ref()).saturating_sub(head(low.to_bytes().as_ref())) as f64
}

/// `T_gist_consistent(internal, T, smallint, oid, internal) → boolean`
///
/// The second argument is a tstzrange for `<@`.
pub fn consistent<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes an entry of the index, and a place to note whether the row has to be looked at.
    let key = unsafe {
        call.datum(4).cast_mut_ptr::<bool>().write(false);
        Key::<T>::from_datum((*entry(call)).key)
    };
    let strategy = call.int2(2) as u32;
    let matches = if strategy == pg_sys::RTContainedByStrategyNumber {
        time_range::<T>(call).is_some_and(|(first, last)| {
            key.high.order(first.to_stored()).is_ge() && key.low.order(last.to_stored()).is_le()
        })
    } else {
        let id = call.stored::<T>(1);
        key.may_be(strategy, |end| end.order(id))
    };
    Ok(Datum::from(matches))
}

/// The first and the last ID within the range of time.
fn time_range<T: StoredId>(call: Call) -> Option<(T, T)> {
    let (from, to) = call.tstzrange(1)?;
    let (first, last) = T::TICKS.within(from, to)?;
    Some((T::first_of(first), T::last_of(last)))
}

/// `T_gist_compress(internal) → internal`: an ID as a key
pub fn compress<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let entry = entry(call);
    // SAFETY: an entry whose key is an ID where `leafkey` is set.
    unsafe {
        if !(*entry).leafkey {
            return Ok(call.datum(0));
        }
        let id = <T::Stored as StoredDatum>::from_datum((*entry).key);
        Ok(replaced(*entry, Key::<T>::of(id).into_datum()))
    }
}

/// `T_gist_fetch(internal) → internal`: the ID of a leaf, for index-only scans
pub fn fetch<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: an entry of a leaf.
    unsafe {
        let entry = *entry(call);
        Ok(replaced(entry, Key::<T>::from_datum(entry.key).low.into_datum()))
    }
}

/// `T_gist_union(internal, internal) → bytea`: the span of all keys
pub fn union<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a vector of at least one entry, and a place for the size of the result.
    unsafe {
        let union = union_of(entries(call).iter().map(|entry| Key::<T>::from_datum(entry.key))).into_datum();
        call.datum(1).cast_mut_ptr::<c_int>().write(pgrx::varsize_any(union.cast_mut_ptr()) as c_int);
        Ok(union)
    }
}

fn union_of<T: StoredId>(keys: impl Iterator<Item = Key<T>>) -> Key<T> {
    keys.reduce(Key::with).unwrap_or(Key { low: T::MIN.to_stored(), high: T::MAX.to_stored() })
}

/// `T_gist_penalty(internal, internal, internal) → internal`: how much a key grows by another
pub fn penalty<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes two entries, and a place for the result.
    unsafe {
        let [key, new] = [0, 1].map(|index| Key::<T>::from_datum((*call.datum(index).cast_mut_ptr::<GISTENTRY>()).key));
        // From 2^-64 to 2^64: well within what a float holds.
        let growth = key.growth(new) / (1_u128 << 64) as f64;
        call.datum(2).cast_mut_ptr::<f32>().write(growth as f32);
    }
    Ok(call.datum(2))
}

/// `T_gist_picksplit(internal, internal) → internal`: the keys in order, cut in two
///
/// Where the last key, whose insertion splits the page, is the largest, more of the same are to be expected: then the left page
/// is left nearly full, as a B-tree does it.
pub fn picksplit<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes a vector of at least two entries from its second place on, and a place for the result.
    unsafe {
        let entries = &entries(call)[1..];
        let keys = datum::slice(entries.len(), |index| (Key::<T>::from_datum(entries[index].key), index));
        keys.sort_unstable_by(|(left, left_index), (right, right_index)| {
            left.order(*right).then(left_index.cmp(right_index))
        });
        let appends = keys.last().is_some_and(|(_, index)| *index == entries.len() - 1) && is_full_page(entries);
        let (left, right) = keys.split_at(if appends { keys.len() * 9 / 10 } else { keys.len() / 2 });
        let split = &mut *call.datum(1).cast_mut_ptr::<pg_sys::GIST_SPLITVEC>();
        (split.spl_left, split.spl_nleft, split.spl_ldatum) = half(left);
        (split.spl_right, split.spl_nright, split.spl_rdatum) = half(right);
    }
    Ok(call.datum(1))
}

/// Whether entries to be split are those of one page and one more: an insertion found the page full.
///
/// # Safety
/// The server passes them to be split, with the page that they are, or some of them are, on.
unsafe fn is_full_page(entries: &[GISTENTRY]) -> bool {
    // SAFETY: as the caller's. A page begins with its header, whose line pointers end at `pd_lower`.
    let lower = unsafe { (*entries[0].page.cast::<pg_sys::PageHeaderData>()).pd_lower };
    let line_pointers = usize::from(lower).saturating_sub(offset_of!(pg_sys::PageHeaderData, pd_linp));
    entries.len() == line_pointers / size_of::<pg_sys::ItemIdData>() + 1
}

/// The offsets of keys, which count from 1, their number, and the span of all.
fn half<T: StoredId>(keys: &[(Key<T>, usize)]) -> (*mut OffsetNumber, c_int, Datum) {
    let offsets =
        datum::slice(keys.len(), |index| keys[index].1 as OffsetNumber + pg_sys::FirstOffsetNumber as OffsetNumber);
    (offsets.as_mut_ptr(), keys.len() as c_int, union_of(keys.iter().map(|(key, _)| *key)).into_datum())
}

/// `T_gist_same(bytea, bytea, internal) → internal`: whether two keys are the same
pub fn same<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes two keys, and a place for the result.
    unsafe {
        let [left, right] = [0, 1].map(|index| Key::<T>::from_datum(call.datum(index)));
        call.datum(2).cast_mut_ptr::<bool>().write(left.order(right).is_eq());
    }
    Ok(call.datum(2))
}

/// `T_gist_sortsupport(internal)`: the order of leaf keys, by which an index is built
pub fn sort_support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: sort support functions get a SortSupport to fill in.
    let support = unsafe { &mut *call.datum(0).cast_mut_ptr::<pg_sys::SortSupportData>() };
    support.comparator = Some(compare::<T>);
    if support.abbreviate {
        support.comparator = Some(sort::ssup_datum_unsigned_cmp);
        support.abbrev_converter = Some(abbreviate::<T>);
        support.abbrev_abort = Some(never);
        support.abbrev_full_comparator = Some(compare::<T>);
    }
    Ok(Datum::null())
}

unsafe extern "C-unwind" fn compare<T: StoredId>(left: Datum, right: Datum, _support: SortSupport) -> c_int {
    // SAFETY: the server sorts keys of the index.
    unsafe { Key::<T>::from_datum(left).order(Key::from_datum(right)) as c_int }
}

/// The first eight bytes as a number.
unsafe extern "C-unwind" fn abbreviate<T: StoredId>(key: Datum, _support: SortSupport) -> Datum {
    // SAFETY: the server sorts keys of the index.
    let low = unsafe { Key::<T>::from_datum(key) }.low.to_bytes();
    Datum::from(low.as_ref().first_chunk().map_or(0, |head| u64::from_be_bytes(*head)))
}

unsafe extern "C-unwind" fn never(_rows: c_int, _support: SortSupport) -> bool {
    false
}

/// The first argument as an entry of the index.
fn entry(call: Call) -> *mut GISTENTRY {
    call.datum(0).cast_mut_ptr()
}

/// An entry like another, with another key, in the current memory context.
fn replaced(entry: GISTENTRY, key: Datum) -> Datum {
    Datum::from(ptr::from_mut(&mut datum::slice(1, |_| GISTENTRY { key, leafkey: false, ..entry })[0]))
}

/// The first argument as a vector of entries.
unsafe fn entries<'a>(call: Call) -> &'a [GISTENTRY] {
    let vector = call.datum(0).cast_mut_ptr::<pg_sys::GistEntryVector>();
    // SAFETY: the server passes a vector of that many entries.
    unsafe { core::slice::from_raw_parts((*vector).vector.as_ptr(), (*vector).n as usize) }
}
