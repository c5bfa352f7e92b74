//! Scans of system catalogs.

use core::ptr;

use pgrx::pg_sys::{self, Oid};

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// Calls `visit` for each row of a catalog, with the row and the catalog's tuple descriptor.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn scan(catalog: Oid, mut visit: impl FnMut(pg_sys::HeapTuple, pg_sys::TupleDesc)) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let relation = pg_sys::table_open(catalog, LOCK);
        // No index: a sequential scan. A null snapshot: the catalog snapshot.
        let scan = pg_sys::systable_beginscan(relation, Oid::INVALID, false, ptr::null_mut(), 0, ptr::null_mut());
        loop {
            let row = pg_sys::systable_getnext(scan);
            if row.is_null() {
                break;
            }
            visit(row, (*relation).rd_att);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, LOCK);
    }
}

/// Returns whether a catalog has rows. Does not wait for locks: returns false if another session holds a conflicting lock.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn has_rows(catalog: Oid) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !pg_sys::ConditionalLockRelationOid(catalog, LOCK) {
            return false;
        }
        let mut has_rows = false;
        scan(catalog, |_, _| has_rows = true);
        pg_sys::UnlockRelationOid(catalog, LOCK);
        has_rows
    }
}

/// The schema of the extension: that of the function with this OID.
#[derive(Clone, Copy)]
pub struct Schema {
    /// The OID of a function of the extension.
    pub of_function: Oid,
}

impl Schema {
    /// No schema: the fast path needs none.
    pub const NONE: Self = Self { of_function: Oid::INVALID };

    /// Returns the OID of the schema.
    pub fn oid(self) -> Oid {
        // SAFETY: a look-up in the catalogs.
        unsafe { pg_sys::get_func_namespace(self.of_function) }
    }
}
