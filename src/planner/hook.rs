//! The server's hook for the paths of a table, which several extensions may use.

use core::cell::Cell;
use core::ptr;

use pgrx::pg_sys::{self, PlannerInfo, RangeTblEntry, RelOptInfo};

use crate::pg::process::PerProcess;

/// A function that the server calls for each table of a query, when it has found the paths of the table.
pub type Hook = unsafe extern "C-unwind" fn(*mut PlannerInfo, *mut RelOptInfo, pg_sys::Index, *mut RangeTblEntry);

/// This extension's function, and that of another extension, which was installed before.
static INSTALLED: PerProcess<Cell<(Option<Hook>, Option<Hook>)>> = PerProcess::new(Cell::new((None, None)));

/// Installs this extension's function.
///
/// # Safety
/// Must be called once in a process and those from which it is forked. `own` calls [`call_previous`].
pub unsafe fn install(own: Hook) {
    // SAFETY: a variable of the server, which only one thread uses.
    unsafe {
        let hook = &raw mut pg_sys::set_rel_pathlist_hook;
        INSTALLED.set((Some(own), hook.read()));
        hook.write(Some(own));
    }
}

/// Calls the function that was installed before this extension's.
///
/// # Safety
/// Must be called with the arguments of [`Hook`], during planning.
pub unsafe fn call_previous(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: pg_sys::Index,
    table: *mut RangeTblEntry,
) {
    if let (_, Some(previous)) = INSTALLED.get() {
        // SAFETY: guaranteed by the caller.
        unsafe { previous(root, relation, number, table) };
    }
}

/// Returns whether another extension also uses the hook.
pub fn has_other_users() -> bool {
    // SAFETY: a variable of the server, which only one thread uses.
    let current = unsafe { (&raw const pg_sys::set_rel_pathlist_hook).read() };
    let (own, previous) = INSTALLED.get();
    let is_own = matches!((own, current), (Some(own), Some(current)) if ptr::fn_addr_eq(own, current));
    previous.is_some() || !is_own
}
