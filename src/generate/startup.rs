//! The background worker that logs the node when recovery has finished, if the library is preloaded.

use core::ffi::{c_char, c_int};
use core::ptr;

use pgrx::{pg_guard, pg_sys};
use scru_ids::{GeneratedId, registry};

use crate::call::error::{self, Error};
use crate::generate::node;
use crate::settings;

/// The database that every server has.
const TEMPLATE1: pg_sys::Oid = pg_sys::Oid::from_u32(pg_sys::Template1DbOid);

/// Registers the background worker. Must be called from `_PG_init` when the server starts.
pub fn register() {
    // Reading the values of ALTER ROLE ALL SET needs a database. If this worker fails, the node is logged with the first ID.
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
    // SAFETY: called within _PG_init of a preloaded library. The server copies the description.
    unsafe { pg_sys::RegisterBackgroundWorker(&mut worker) };
}

/// Copies a short ASCII name into a C string of zeros.
fn copy_name(to: &mut [c_char], name: &str) {
    for (to, byte) in to.iter_mut().zip(name.bytes()) {
        *to = byte as c_char;
    }
}

/// The entry point of the worker that logs the node.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn scru_name_node(_argument: pg_sys::Datum) {
    // SAFETY: a background worker begins with these calls. Afterwards it has the settings of all roles.
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
        ($name:ident, $id:ident) => {
            // While a value is refused, no ID is generated, and each attempt raises the error.
            if scru_ids::$id::SERVER_WIDE && settings::check_none_refused::<scru_ids::$id>().is_ok() {
                node::check_host::<scru_ids::$id>()?;
                node::log::<scru_ids::$id>()?;
            }
        };
    }
    registry!(log);
    Ok(())
}

/// Raises an error, if there is one. The process then ends.
fn report(result: Result<(), Error>) {
    if let Err(error) = result {
        // SAFETY: nothing is left to drop. The server writes the error to its log.
        unsafe { error::report(error, ptr::null_mut()) };
    }
}
