//! Scans of system catalogs.

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{self, Oid};

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

// Declared here to avoid pgrx's guards, which turn a server error into a panic and back. A server error is a longjmp over Rust
// frames, which leaks at most the texts that `stored_settings` and its caller hold.
unsafe extern "C-unwind" {
    fn ConditionalLockRelationOid(relation: Oid, mode: pg_sys::LOCKMODE) -> bool;
    fn UnlockRelationOid(relation: Oid, mode: pg_sys::LOCKMODE);
    fn table_open(relation: Oid, mode: pg_sys::LOCKMODE) -> pg_sys::Relation;
    fn table_close(relation: pg_sys::Relation, mode: pg_sys::LOCKMODE);
    fn systable_beginscan(
        relation: pg_sys::Relation,
        index: Oid,
        index_is_ok: bool,
        snapshot: pg_sys::Snapshot,
        key_count: c_int,
        key: pg_sys::ScanKey,
    ) -> pg_sys::SysScanDesc;
    fn systable_getnext(scan: pg_sys::SysScanDesc) -> pg_sys::HeapTuple;
    fn systable_endscan(scan: pg_sys::SysScanDesc);
}

/// Calls `visit` for each row of a catalog, with the row and the catalog's tuple descriptor.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn scan(catalog: Oid, mut visit: impl FnMut(pg_sys::HeapTuple, pg_sys::TupleDesc)) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let relation = table_open(catalog, LOCK);
        // No index: a sequential scan. A null snapshot: the catalog snapshot.
        let scan = systable_beginscan(relation, Oid::INVALID, false, ptr::null_mut(), 0, ptr::null_mut());
        loop {
            let row = systable_getnext(scan);
            if row.is_null() {
                break;
            }
            visit(row, (*relation).rd_att);
        }
        systable_endscan(scan);
        table_close(relation, LOCK);
    }
}

/// Returns whether a catalog has rows. Does not wait for locks: returns false if another session holds a conflicting lock.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn has_rows(catalog: Oid) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !ConditionalLockRelationOid(catalog, LOCK) {
            return false;
        }
        let mut has_rows = false;
        scan(catalog, |_, _| has_rows = true);
        UnlockRelationOid(catalog, LOCK);
        has_rows
    }
}
