//! The planner's hook for paths that an extension adds to a table.

use core::cell::Cell;

use pgrx::pg_sys::{self, Index, PlannerInfo, RangeTblEntry, RelOptInfo, set_rel_pathlist_hook_type};

use crate::pg::process::PerProcess;

/// What [`on_paths`] calls: with the state of the planner, an entry of the query's range table, and its relation.
pub type OnPaths = unsafe fn(*mut PlannerInfo, *mut RelOptInfo, *mut RangeTblEntry);

/// The function that `hook` calls, and the hook that was there before.
static HOOKS: PerProcess<Cell<Option<(OnPaths, set_rel_pathlist_hook_type)>>> = PerProcess::new(Cell::new(None));

/// Registers a function that the planner calls when it has added its own paths.
pub fn on_paths(function: OnPaths) {
    // SAFETY: called from _PG_init. Only this thread reads or writes the hook.
    HOOKS.set(Some((function, unsafe { (&raw mut pg_sys::set_rel_pathlist_hook).replace(Some(hook)) })));
}

/// Whether another extension has this hook.
pub fn has_other_hook() -> bool {
    // SAFETY: as in `on_paths`.
    let first = unsafe { (&raw const pg_sys::set_rel_pathlist_hook).read() };
    let is_own = first.is_some_and(|first| first as usize == hook as *const () as usize);
    if is_own { HOOKS.get().is_some_and(|(_, next)| next.is_some()) } else { first.is_some() }
}

/// Calls the function first: other extensions may replace paths, for example those of a partly compressed chunk.
unsafe extern "C-unwind" fn hook(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: Index,
    entry: *mut RangeTblEntry,
) {
    let Some((function, next)) = HOOKS.get() else { return };
    // SAFETY: the arguments are the planner's.
    unsafe {
        function(root, relation, entry);
        if let Some(next) = next {
            next(root, relation, number, entry);
        }
    }
}
