//! Scans and rows of system catalogs. All functions must be called in a transaction.

use core::array::from_fn;
use core::cell::OnceCell;
use core::ffi::{CStr, c_int};
use core::ptr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::varlena_to_byte_slice;

use crate::pg::datum;
use crate::pg::plan_nodes::{NodeRef, Nodes};
use crate::pg::process::PerProcess;
use crate::pg::unguarded::{ReleaseSysCache, SysCacheGetAttr, get_opcode, pg_detoast_datum_packed};

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// Calls `visit` for each row of a catalog, or of another table, with the row and the tuple descriptor: all rows without an index (0),
/// otherwise those that the index finds by keys.
pub fn scan(
    catalog: Oid,
    index: Oid,
    keys: &mut [pg_sys::ScanKeyData],
    mut visit: impl FnMut(pg_sys::HeapTuple, pg_sys::TupleDesc),
) {
    // SAFETY: the table is open while it is scanned.
    unsafe {
        let relation = pg_sys::table_open(catalog, LOCK);
        let (has_index, count) = (index != Oid::INVALID, keys.len() as c_int);
        // A null snapshot: the catalog snapshot.
        let scan = pg_sys::systable_beginscan(relation, index, has_index, ptr::null_mut(), count, keys.as_mut_ptr());
        while let Some(row) = ptr::NonNull::new(pg_sys::systable_getnext(scan)) {
            visit(row.as_ptr(), (*relation).rd_att);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, LOCK);
    }
}

/// Whether a catalog, or another table, has rows. Does not wait: false if another session holds a conflicting lock.
pub fn has_rows(catalog: Oid) -> bool {
    let mut has_rows = false;
    // SAFETY: the lock is released once.
    unsafe {
        if pg_sys::ConditionalLockRelationOid(catalog, LOCK) {
            scan(catalog, Oid::INVALID, &mut [], |_, _| has_rows = true);
            pg_sys::UnlockRelationOid(catalog, LOCK);
        }
    }
    has_rows
}

/// The type with a name in a schema; 0 if there is none.
pub fn type_in(schema: Oid, name: &str) -> Oid {
    let (cache, column) = (pg_sys::SysCacheIdentifier::TYPENAMENSP as _, pg_sys::Anum_pg_type_oid as _);
    let (name, none) = (datum::c_string(name), Datum::null());
    // SAFETY: the keys have the types of the cache's.
    unsafe { pg_sys::GetSysCacheOid(cache, column, Datum::from(name.as_ptr()), schema.into(), none, none) }
}

pub fn has_extension(extension: &CStr) -> bool {
    // SAFETY: a look-up.
    unsafe { pg_sys::get_extension_oid(extension.as_ptr(), true) != Oid::INVALID }
}

/// As [`has_rows`], for a table of another extension, in the schema with its name. False if this database does not have it.
pub fn extension_has_rows(extension: &CStr, table: &CStr) -> bool {
    if !has_extension(extension) {
        return false;
    }
    // SAFETY: look-ups.
    let table =
        unsafe { pg_sys::get_relname_relid(table.as_ptr(), pg_sys::get_namespace_oid(extension.as_ptr(), true)) };
    table != Oid::INVALID && has_rows(table)
}

/// Whether the server has loaded Citus, which it does at its start.
pub fn has_citus() -> bool {
    static HAS_CITUS: PerProcess<OnceCell<bool>> = PerProcess::new(OnceCell::new());
    // SAFETY: a look-up. Where Citus is loaded, the server knows its settings.
    *HAS_CITUS.get_or_init(|| unsafe { !pg_sys::GetConfigOption(c"citus.shard_count".as_ptr(), true, false).is_null() })
}

/// Whether Citus distributes a table, so that its rows are on other nodes. Of a reference table, each node has all rows.
pub fn is_distributed_by_citus(table: Oid) -> bool {
    // SAFETY: look-ups. The columns have the types OID, char and int.
    unsafe {
        let schema = Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
        let catalog = pg_sys::get_relname_relid(c"pg_dist_partition".as_ptr(), schema);
        if catalog == Oid::INVALID {
            return false;
        }
        let names = [c"logicalrelid", c"partmethod", c"repmodel", c"colocationid"];
        let numbers = names.map(|name| pg_sys::get_attnum(catalog, name.as_ptr()));
        let mut is_distributed = false;
        scan(catalog, Oid::INVALID, &mut [], |row, columns| {
            let [of_table, method, replication, colocation] =
                numbers.map(|number| pg_sys::heap_getattr(row, number.into(), columns, &mut false).value());
            // A table without a distribution column is a reference table, one of this node only, or in a schema of another node.
            let is_elsewhere = method as u8 != b'n' || replication as u8 != b't' && colocation as u32 != 0;
            is_distributed |= of_table as u32 == table.to_u32() && is_elsewhere;
        });
        is_distributed
    }
}

/// The function and the arguments of an operator or of a function call; `None` for any other node.
pub fn called(node: NodeRef) -> Option<(Oid, Nodes)> {
    let function = match node.cast::<pg_sys::OpExpr>() {
        // The planner may not have looked up the function yet.
        Some(operator) if operator.opfuncid == Oid::INVALID => get_opcode(operator.opno),
        Some(operator) => operator.opfuncid,
        None => node.cast::<pg_sys::FuncExpr>()?.funcid,
    };
    Some((function, node.arguments()))
}

/// What `recognize` makes of the symbol of a function of an extension; `None` if it is not written in C. Only a superuser can create
/// such a function, so that a function of another user is never taken for ours.
pub fn symbol<R>(function: Oid, recognize: impl FnOnce(&str) -> Option<R>) -> Option<R> {
    // The server's own functions have lower OIDs.
    if function.to_u32() < pg_sys::FirstNormalObjectId {
        return None;
    }
    // SAFETY: rows of this cache have this form. The column is a text, which is never NULL.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::PROCOID as _;
        read(cache, &[function.into()], |function: &pg_sys::FormData_pg_proc, row| {
            if function.prolang != Oid::from(pg_sys::ClanguageId) {
                return None;
            }
            let symbol = SysCacheGetAttr(cache, row, pg_sys::Anum_pg_proc_prosrc as _, &mut false);
            let symbol = varlena_to_byte_slice(pg_detoast_datum_packed(symbol.cast_mut_ptr()));
            recognize(str::from_utf8(symbol).ok()?)
        })?
    }
}

/// What `read` finds in the row of a system cache with up to four keys, which is then released; `None` if there is none.
///
/// # Safety
/// The keys have the types of the cache's, whose rows have the form `Form`.
pub unsafe fn read<Form, R>(
    cache: c_int,
    keys: &[Datum],
    read: impl FnOnce(&Form, pg_sys::HeapTuple) -> R,
) -> Option<R> {
    let [first, second, third, fourth] = from_fn(|index| keys.get(index).copied().unwrap_or(Datum::null()));
    // SAFETY: guaranteed by the caller.
    unsafe {
        let row = pg_sys::SearchSysCache(cache, first, second, third, fourth);
        if row.is_null() {
            return None;
        }
        let found = read(&*pg_sys::GETSTRUCT(row).cast::<Form>(), row);
        ReleaseSysCache(row);
        Some(found)
    }
}
