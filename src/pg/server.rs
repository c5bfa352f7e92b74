//! The differences between the supported versions of the server. The rest of `src` is the same for all versions.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::{AtomicU32, Ordering};

use pgrx::pg_sys::{self, GucSource, Node, Oid, PlannerInfo, RelOptInfo};
#[cfg(any(feature = "pg15", feature = "pg16"))]
use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder};

use crate::pg::datum;
use crate::pg::process::PerProcess;

#[cfg(feature = "pg15")]
unsafe extern "C-unwind" {
    fn errstart(level: c_int, domain: *const c_char) -> bool;
    fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    fn pg_proc_aclcheck(function: Oid, role: Oid, mode: pg_sys::AclMode) -> pg_sys::AclResult::Type;
}

#[cfg(not(feature = "pg15"))]
unsafe extern "C-unwind" {
    fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
    fn errsave_finish(context: *mut Node, file: *const c_char, line: c_int, function: *const c_char);
    fn object_aclcheck(class: Oid, object: Oid, role: Oid, mode: pg_sys::AclMode) -> pg_sys::AclResult::Type;
}

pub fn may_execute(function: Oid) -> bool {
    // SAFETY: look-ups in the catalog, in a transaction. No frame has anything to drop if the server raises an error.
    unsafe {
        let (role, mode) = (pg_sys::GetUserId(), pg_sys::AclMode::from(pg_sys::ACL_EXECUTE));
        let result = cfg_select! {
            feature = "pg15" => pg_proc_aclcheck(function, role, mode),
            _ => object_aclcheck(pg_sys::ProcedureRelationId, function, role, mode),
        };
        result == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// Reports an error, whose fields `set_fields` sets. From PostgreSQL 16 on, the error is soft if `context` asks for that: only then
/// does the function return.
///
/// # Safety
/// As [`crate::call::error::report`], the only caller.
#[cfg_attr(feature = "pg15", expect(unused_variables, reason = "PostgreSQL 15 has no soft errors"))]
pub unsafe fn report_error(context: *mut Node, line: u32, set_fields: impl FnOnce()) {
    let (file, line, function) = (c"error.rs".as_ptr(), line as c_int, c"report".as_ptr());
    // SAFETY: guaranteed by the caller.
    unsafe {
        let is_reported = cfg_select! {
            feature = "pg15" => errstart(pgrx::PgLogLevel::ERROR as c_int, ptr::null()),
            _ => errsave_start(context, ptr::null()),
        };
        if is_reported {
            set_fields();
            cfg_select! {
                feature = "pg15" => errfinish(file, line, function),
                _ => errsave_finish(context, file, line, function),
            }
        }
    }
}

/// The reset value of a setting that is not defined yet, and its source; `None` if it has no value.
///
/// Until a setting is defined, the server keeps a placeholder for it, with the value of the source with the highest priority.
pub fn configured(name: &CStr) -> Option<(GucSource::Type, String)> {
    // SAFETY: a look-up. The text is copied before the server can free it. A setting that is not defined is a placeholder, which
    // is always a string. Up to PostgreSQL 18, a `config_string` begins with the generic struct. From 19 on, the generic struct has
    // a union.
    unsafe {
        let placeholder = find_setting(name).as_ref()?;
        let value = cfg_select! {
            any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18") => {
                (*ptr::from_ref(placeholder).cast::<pg_sys::config_string>()).reset_val
            }
            _ => placeholder.__bindgen_anon_1._string.reset_val,
        };
        Some((placeholder.reset_source, datum::text_of(value)?))
    }
}

pub fn reset_source(name: &CStr) -> GucSource::Type {
    // SAFETY: a look-up.
    unsafe { find_setting(name).as_ref() }.map_or(GucSource::PGC_S_DEFAULT, |setting| setting.reset_source)
}

/// The server's record of a setting; null if the name is unknown.
fn find_setting(name: &CStr) -> *mut pg_sys::config_generic {
    // SAFETY: look-ups. PostgreSQL 15 has an array of all settings.
    unsafe {
        #[cfg(feature = "pg15")]
        {
            let settings = pg_sys::get_guc_variables().cast_const();
            let count = usize::try_from(pg_sys::GetNumConfigOptions()).unwrap_or_default();
            let has_name = |setting: &&*mut pg_sys::config_generic| {
                CStr::from_ptr((***setting).name).to_bytes().eq_ignore_ascii_case(name.to_bytes())
            };
            core::slice::from_raw_parts(settings, count).iter().find(has_name).copied().unwrap_or(ptr::null_mut())
        }
        #[cfg(not(feature = "pg15"))]
        pg_sys::find_option(name.as_ptr(), false, true, 0)
    }
}

/// Allocates the extra data of a check hook, which the server frees with the value. Returns null if out of memory.
pub fn setting_extra(size: usize) -> *mut c_void {
    // SAFETY: allocations. PostgreSQL 15 frees the memory with free().
    unsafe {
        cfg_select! {
            feature = "pg15" => libc::malloc(size),
            _ => pg_sys::guc_malloc(pgrx::PgLogLevel::LOG as c_int, size),
        }
    }
}

/// The flag of a setting whose configured value takes effect even if the library is loaded during a parallel operation. Minor
/// versions from before November 2024 ignore it.
pub const ALLOW_IN_PARALLEL: c_int = if cfg!(feature = "pg15") { 0x40_0000 } else { 0x8000 };

/// The shared memory with a name, zeroed when it is first allocated. All backends of the server find the same memory,
/// even if the library is not preloaded. Up to PostgreSQL 16 it comes from the spare part of the main segment; from 17 on it is
/// a dynamic segment. Raises 53200 if not enough shared memory is left.
pub fn shared_memory(name: &CStr, size: usize) -> *mut c_void {
    let mut found = false;
    // SAFETY: all backends pass the same size for a name. The main segment is zeroed at first, and never reused.
    unsafe {
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        SEGMENT_SIZE.store(size, Ordering::Relaxed);
        let name = name.as_ptr();
        cfg_select! {
            any(feature = "pg15", feature = "pg16") => pg_sys::ShmemInitStruct(name, size, &mut found),
            any(feature = "pg17", feature = "pg18") => pg_sys::GetNamedDSMSegment(name, size, Some(zero), &mut found),
            _ => pg_sys::GetNamedDSMSegment(name, size, Some(zero), &mut found, ptr::null_mut()),
        }
    }
}

/// The size of the segment that this process is about to create.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
static SEGMENT_SIZE: AtomicUsize = AtomicUsize::new(0);

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
unsafe extern "C-unwind" fn zero(
    memory: *mut c_void,
    #[cfg(not(any(feature = "pg17", feature = "pg18")))] _argument: *mut c_void,
) {
    // SAFETY: the memory has this size.
    unsafe { memory.cast::<u8>().write_bytes(0, SEGMENT_SIZE.load(Ordering::Relaxed)) };
}

/// Whether the server logs changes of a permanent relation: with wal_level = minimal, not those of a new file.
///
/// # Safety
/// The relation is open.
pub unsafe fn is_logged(relation: pg_sys::Relation) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let of_file = cfg_select! {
            feature = "pg15" => (*relation).rd_firstRelfilenodeSubid,
            _ => (*relation).rd_firstRelfilelocatorSubid,
        };
        let is_new = (*relation).rd_createSubid != 0 || of_file != 0;
        !is_new || pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as c_int
    }
}

/// Sets the checksum of a page if the server has checksums.
///
/// # Safety
/// The page has the size of the server's pages.
pub unsafe fn set_checksum(page: pg_sys::Page) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        cfg_select! {
            any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18") => {
                pg_sys::PageSetChecksumInplace(page, 0);
            }
            _ => pg_sys::PageSetChecksum(page, 0),
        }
    }
}

/// The file with a number in `global/`.
#[cfg(feature = "pg15")]
pub fn global_file(number: u32) -> pg_sys::RelFileNode {
    pg_sys::RelFileNode { spcNode: pg_sys::GLOBALTABLESPACE_OID, dbNode: Oid::INVALID, relNode: number.into() }
}

#[cfg(not(feature = "pg15"))]
pub fn global_file(number: u32) -> pg_sys::RelFileLocator {
    pg_sys::RelFileLocator { spcOid: pg_sys::GLOBALTABLESPACE_OID, dbOid: Oid::INVALID, relNumber: number.into() }
}

/// The number of a wait event, whose name pg_stat_activity shows. Up to PostgreSQL 16, all extensions share one event.
pub fn wait_event(name: &CStr) -> u32 {
    let _ = name;
    cfg_select! {
        any(feature = "pg15", feature = "pg16") => pg_sys::PG_WAIT_EXTENSION,
        // SAFETY: the server copies the name. It returns the existing number if the name already has one.
        _ => unsafe { pg_sys::WaitEventExtensionNew(name.as_ptr()) },
    }
}

/// The number of the local transaction of a process; 0 if it has none.
///
/// # Safety
/// `process` is an entry of the server's array of processes.
#[inline(always)]
pub unsafe fn local_transaction(process: *mut pg_sys::PGPROC) -> u32 {
    // SAFETY: guaranteed by the caller. The field is aligned, and other processes change it as a whole.
    unsafe {
        let number = cfg_select! {
            any(feature = "pg15", feature = "pg16") => &raw mut (*process).lxid,
            _ => &raw mut (*process).vxid.lxid,
        };
        AtomicU32::from_ptr(number).load(Ordering::Acquire)
    }
}

/// The shared memory with a name and a size that is too large for the spare part of the main segment; zeroed when it is
/// first allocated. `None` if the main segment has no room for the handle: then no process of this server will ever find room.
///
/// Without `allocate`, also `None` if no process has allocated it; from PostgreSQL 17 on, if none has allocated any by name, because
/// the server does not tell more.
/// Raises an error of class 53 if the operating system has not enough shared memory.
pub fn large_shared_memory(name: &CStr, size: usize, allocate: bool) -> Option<*mut c_void> {
    let handle = handle(name)?;
    (allocate || handle.load(Ordering::Acquire) != 0).then(|| segment(handle, name, size))
}

/// The handle of the segment with a name, which is 0 at first; `None` if the main segment has no room for it.
#[cfg(any(feature = "pg15", feature = "pg16"))]
fn handle(name: &CStr) -> Option<&'static AtomicU32> {
    // The handle takes four of the bytes.
    let find = || Some(shared_memory(name, 64));
    let handle = PgTryBuilder::new(find).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| None).execute()?;
    // SAFETY: the allocation has this size, and remains.
    unsafe { handle.cast::<AtomicU32>().as_ref() }
}

/// The handle of the area with all segments that have names, which is 0 until a process allocates one.
#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn handle(_name: &CStr) -> Option<&'static AtomicU32> {
    // The handles of an area and of a table in it.
    const SIZE: usize = 16;
    // SAFETY: the server has made this struct of its main segment at its start.
    unsafe { pg_sys::ShmemInitStruct(c"DSM Registry Data".as_ptr(), SIZE, &mut false).cast::<AtomicU32>().as_ref() }
}

#[cfg(any(feature = "pg15", feature = "pg16"))]
fn segment(handle: &AtomicU32, _name: &CStr, size: usize) -> *mut c_void {
    // SAFETY: the segment has this size.
    unsafe {
        if handle.load(Ordering::Acquire) == 0 {
            let segment = pg_sys::dsm_create(size, 0);
            pg_sys::dsm_segment_address(segment).cast::<u8>().write_bytes(0, size);
            // Before other processes can find it. Only the first segment remains.
            pg_sys::dsm_pin_segment(segment);
            let own = pg_sys::dsm_segment_handle(segment);
            if handle.compare_exchange(0, own, Ordering::AcqRel, Ordering::Acquire).is_err() {
                pg_sys::dsm_unpin_segment(own);
            }
            pg_sys::dsm_detach(segment);
        }
        let segment = pg_sys::dsm_attach(handle.load(Ordering::Acquire));
        if segment.is_null() {
            pgrx::error!("could not attach to the shared memory of the ID generators");
        }
        pg_sys::dsm_pin_mapping(segment);
        pg_sys::dsm_segment_address(segment)
    }
}

#[cfg(not(any(feature = "pg15", feature = "pg16")))]
fn segment(_handle: &AtomicU32, name: &CStr, size: usize) -> *mut c_void {
    shared_memory(name, size)
}

/// What [`on_table`] calls: with the state of the planner, and a table of the query.
pub type OnTable = unsafe fn(*mut PlannerInfo, *mut RelOptInfo);

cfg_select! {
    any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18") => {
        use pg_sys::{get_relation_info_hook as TABLE_HOOK, get_relation_info_hook_type as TableHook};
    }
    _ => {
        use pg_sys::{build_simple_rel_hook as TABLE_HOOK, build_simple_rel_hook_type as TableHook};
    }
}

/// The function that `table_hook` calls, and the hook that was there before.
static TABLE_HOOKS: PerProcess<Cell<Option<(OnTable, TableHook)>>> = PerProcess::new(Cell::new(None));

/// Registers a function that the planner calls for each table of a query, before it distributes the conditions of the query.
pub fn on_table(function: OnTable) {
    // SAFETY: called from _PG_init. Only this thread reads or writes the hook.
    TABLE_HOOKS.set(Some((function, unsafe { (&raw mut TABLE_HOOK).replace(Some(table_hook)) })));
}

unsafe extern "C-unwind" fn table_hook(
    root: *mut PlannerInfo,
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))] table: Oid,
    #[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))] is_parent: bool,
    relation: *mut RelOptInfo,
    #[cfg(not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18")))]
    entry: *mut pg_sys::RangeTblEntry,
) {
    let Some((function, next)) = TABLE_HOOKS.get() else { return };
    // SAFETY: the arguments are the planner's.
    unsafe {
        if let Some(next) = next {
            cfg_select! {
                any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18") => {
                    next(root, table, is_parent, relation);
                }
                _ => next(root, relation, entry),
            }
        }
        // From PostgreSQL 19 on, the planner also calls the hook for what is not a table.
        if (*relation).rtekind == pg_sys::RTEKind::RTE_RELATION {
            function(root, relation);
        }
    }
}
