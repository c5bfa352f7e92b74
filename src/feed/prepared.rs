//! The bounds of prepared transactions, which locks carry: they last as long as the transactions, also across a restart.

use core::slice;
use core::sync::atomic::Ordering;

use pgrx::pg_sys::{self, LOCKMODE, LOCKTAG};

use crate::pg::process::own_database;
use crate::pg::transaction;
use crate::shared::memory::{Header, HorizonMemory};

/// The last field of the tag of the locks that carry a bound. Advisory locks of users have 1 or 2.
const FIELD: u16 = 0x5363;

fn tag(bound: i64) -> LOCKTAG {
    LOCKTAG {
        locktag_field1: own_database(),
        locktag_field2: (bound >> 32) as u32,
        locktag_field3: bound as u32,
        locktag_field4: FIELD,
        locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
        locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
    }
}

/// Takes a lock that carries a bound, for this transaction: it lasts until the transaction ends, also if that is prepared.
pub fn lock_with_bound(bound: i64) {
    // SAFETY: a transaction runs. The mode does not conflict with itself.
    unsafe { pg_sys::LockAcquire(&tag(bound), pg_sys::ShareLock as LOCKMODE, false, false) };
}

/// The bounds that locks carry, each with its database.
pub fn locked_bounds() -> Vec<(u32, i64)> {
    // SAFETY: the server returns a copy in the current memory context.
    unsafe {
        let data = pg_sys::GetLockStatusData();
        let count = (*data).nelements as usize;
        let locks = if count == 0 { &[] } else { slice::from_raw_parts((*data).locks, count) };
        let own = tag(0);
        let is_own = |tag: &LOCKTAG| {
            (tag.locktag_field4, tag.locktag_type, tag.locktag_lockmethodid)
                == (own.locktag_field4, own.locktag_type, own.locktag_lockmethodid)
        };
        let bound = |tag: &LOCKTAG| {
            let bound = u64::from(tag.locktag_field2) << 32 | u64::from(tag.locktag_field3);
            (tag.locktag_field1, bound as i64)
        };
        locks.iter().map(|lock| &lock.locktag).filter(|tag| is_own(tag)).map(bound).collect()
    }
}

/// Before the first draw and the first horizon since the start of the server: transactions that were prepared before it have no entry.
#[cold]
pub fn begin(Header { since, prepared, .. }: &Header) {
    if !locked_bounds().is_empty() {
        prepared.fetch_add(1, Ordering::SeqCst);
    }
    let _ = since.compare_exchange(0, transaction::next(), Ordering::SeqCst, Ordering::Relaxed);
}

/// The bounds of this database's prepared transactions.
///
/// Listing the locks costs time, and few servers have prepared transactions. A transaction that takes its lock after the list was
/// made, and is counted later, still runs, or has ended.
pub fn bounds(HorizonMemory { header: Header { prepared, ended, .. }, .. }: &HorizonMemory) -> Vec<i64> {
    let before = prepared.load(Ordering::SeqCst);
    if ended.load(Ordering::SeqCst) >= before {
        return Vec::new();
    }
    let bounds = locked_bounds();
    if bounds.is_empty() {
        ended.fetch_max(before, Ordering::SeqCst);
    }
    let own = own_database();
    bounds.into_iter().filter(|(database, _)| *database == own).map(|(_, bound)| bound).collect()
}
