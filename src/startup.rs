//! The processes that a preloaded server starts as soon as it takes writes: one keeps the marks of a promotion, one names the node in
//! the log.

use core::ffi::{c_char, c_int};
use core::ptr;

use pgrx::{pg_guard, pg_sys};
use scru_ids::{SortableId, registry};

use crate::error::{self, Error};
use crate::{node, promotion, settings};

/// Every server has this database.
const TEMPLATE1: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::Template1DbOid);

/// Has the server start the processes. For `_PG_init` at the server's start.
pub fn register() {
    // A crash forgets a process that is never to be restarted. One that has succeeded is not.
    register_one("scru promotion", "scru_keep_promotion", pg_sys::BGWORKER_SHMEM_ACCESS, 1);
    // What ALTER ROLE ALL SET has stored takes a database to read. Where that fails, the first draw names the node.
    let with_database = pg_sys::BGWORKER_SHMEM_ACCESS | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION;
    register_one("scru node", "scru_name_node", with_database, pg_sys::BGW_NEVER_RESTART);
}

fn register_one(name: &str, function: &str, flags: u32, restart_seconds: c_int) {
    let mut worker = pg_sys::BackgroundWorker {
        bgw_flags: flags as c_int,
        bgw_start_time: pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished,
        bgw_restart_time: restart_seconds,
        ..Default::default()
    };
    copy_name(&mut worker.bgw_name, name);
    copy_name(&mut worker.bgw_type, name);
    copy_name(&mut worker.bgw_library_name, "scru");
    copy_name(&mut worker.bgw_function_name, function);
    // SAFETY: within _PG_init of a preloaded library; the server copies the description.
    unsafe { pg_sys::RegisterBackgroundWorker(&mut worker) };
}

/// Copies a short ASCII name into a C string that is all zero.
fn copy_name(to: &mut [c_char], name: &str) {
    for (to, byte) in to.iter_mut().zip(name.bytes()) {
        *to = byte as c_char;
    }
}

/// The process that keeps the marks of a promotion.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn scru_keep_promotion(_argument: pg_sys::Datum) {
    report(promotion::keep_marks());
}

/// The process that names the node in the log.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn scru_name_node(_argument: pg_sys::Datum) {
    // SAFETY: as a background worker begins. It has the settings of all roles then.
    unsafe {
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            TEMPLATE1,
            pg_sys::Oid::INVALID,
            pg_sys::BGWORKER_BYPASS_ALLOWCONN,
        );
    }
    report(name_nodes());
}

fn name_nodes() -> Result<(), Error> {
    macro_rules! log {
        ($name:ident, $id:ident, $sql:literal) => {
            // A value that is refused makes no ID, and is an error of each draw.
            if scru_ids::$id::SERVER_WIDE && settings::check_none_refused::<scru_ids::$id>().is_ok() {
                node::log::<scru_ids::$id>()?;
            }
        };
    }
    registry!(log);
    Ok(())
}

/// Ends the process with an error, if there is one.
fn report(result: Result<(), Error>) {
    if let Err(error) = result {
        // SAFETY: nothing of ours is left to drop. The server writes the error to its log.
        unsafe { error::report(error, ptr::null_mut()) };
    }
}
