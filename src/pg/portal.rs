//! The client's statements whose portals are open.

use core::cell::RefCell;
use core::ffi::c_void;

use pgrx::pg_guard;
use pgrx::pg_sys::{self, MemoryContextCallback, Portal};

use crate::pg::process::PerProcess;

/// The open portals in which [`statement`] was called.
static OPEN: PerProcess<RefCell<Vec<Portal>>> = PerProcess::new(RefCell::new(Vec::new()));

/// Returns the start of the client's statement. A cursor keeps that of the statement that has opened it. So does the portal of an
/// SQL statement in a function, so that all statements that one statement of the client runs have the same.
pub fn statement() -> i64 {
    // SAFETY: reads variables of this process. The portal that runs is open. Its context allocates the callback, and calls it before
    // the portal is freed.
    unsafe {
        let portal = pg_sys::ActivePortal;
        if portal.is_null() {
            return current();
        }
        if !OPEN.borrow().contains(&portal) {
            let context = (*portal).portalContext;
            let callback: *mut MemoryContextCallback =
                pg_sys::MemoryContextAlloc(context, size_of::<MemoryContextCallback>()).cast();
            (*callback).func = Some(close);
            (*callback).arg = portal.cast();
            pg_sys::MemoryContextRegisterResetCallback(context, callback);
            OPEN.borrow_mut().push(portal);
        }
        (*portal).creation_time
    }
}

/// Returns whether code of a statement that [`statement`] has returned may still run.
pub fn is_open(statement: i64) -> bool {
    // SAFETY: the portals are open.
    statement == current() || OPEN.borrow().iter().any(|portal| unsafe { (**portal).creation_time } == statement)
}

/// Returns the time of the client's last message.
fn current() -> i64 {
    // SAFETY: reads a variable of this process.
    unsafe { pg_sys::GetCurrentStatementStartTimestamp() }
}

#[pg_guard]
unsafe extern "C-unwind" fn close(portal: *mut c_void) {
    OPEN.borrow_mut().retain(|open| *open != portal.cast());
}
