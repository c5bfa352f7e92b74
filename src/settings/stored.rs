//! The values that `ALTER ROLE ALL SET` and `ALTER DATABASE … SET` have stored for the sessions of this database.

use core::ffi::{c_char, c_int};
use core::ptr;

use pgrx::pg_sys::{self, Datum, GucSource, Oid};
use pgrx::varlena_to_byte_slice;

use crate::pg::catalog;

const CONFIG_COLUMN: c_int = pg_sys::Anum_pg_db_role_setting_setconfig as c_int;

/// Returns the value of a setting that is stored for all roles, and its source. A value for this database takes precedence over
/// one for all databases. Returns `None` if there is no value, or outside of a transaction.
pub fn of_all_roles(name: &str) -> Option<(GucSource::Type, Vec<u8>)> {
    let mut found: Option<(GucSource::Type, Vec<u8>)> = None;
    // SAFETY: in a transaction. Rows of this catalog have this struct.
    unsafe {
        if !pg_sys::IsTransactionState() {
            return None;
        }
        catalog::scan(pg_sys::DbRoleSettingRelationId, |row, columns| {
            let key = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_db_role_setting>();
            let source = match key.setdatabase {
                _ if key.setrole != Oid::INVALID => return,
                Oid::INVALID => GucSource::PGC_S_GLOBAL,
                database if database == pg_sys::MyDatabaseId => GucSource::PGC_S_DATABASE,
                _ => return,
            };
            let value = value(row, columns, name).map(|value| (source, value));
            found = found.take().into_iter().chain(value).max_by_key(|(source, _)| *source);
        });
    }
    found
}

/// Returns the value of a setting in a row of `pg_db_role_setting`.
unsafe fn value(row: pg_sys::HeapTuple, columns: pg_sys::TupleDesc, name: &str) -> Option<Vec<u8>> {
    let (mut is_null, mut entries, mut count) = (false, ptr::null_mut::<Datum>(), 0);
    // SAFETY: the column is an array of texts of the form `name=value`.
    unsafe {
        let config = pg_sys::heap_getattr(row, CONFIG_COLUMN, columns, &mut is_null);
        if is_null {
            return None;
        }
        let array = pg_sys::pg_detoast_datum(config.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
        let (align, nulls) = (pg_sys::TYPALIGN_INT as c_char, ptr::null_mut());
        pg_sys::deconstruct_array(array, pg_sys::TEXTOID, -1, false, align, &mut entries, nulls, &mut count);
        (0..count as usize).find_map(|index| {
            let entry = varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed((*entries.add(index)).cast_mut_ptr()));
            Some(entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec())
        })
    }
}
