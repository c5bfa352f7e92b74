//! The client's statements whose portals are open.

use core::cell::Cell;
use core::ffi::CStr;
use core::{iter, ptr};

use pgrx::pg_sys::{self, MemoryContextData, PortalData, PortalStatus};

use crate::pg::process::PerProcess;
use crate::pg::unguarded::GetPortalByName;

/// The start of the client's statement. A cursor keeps that of the statement that has opened it. All statements that a
/// function runs, also in loops, which have portals of their own, have that of the oldest portal that runs: their caller's.
pub fn statement() -> i64 {
    let running = open().filter(|portal| portal.status == PortalStatus::PORTAL_ACTIVE);
    // Times do not order portals, because the clock can be set back.
    running.last().map_or_else(current, |portal| portal.creation_time)
}

/// Whether code of a statement that [`statement`] has returned may still run.
pub fn is_open(statement: i64) -> bool {
    statement == current() || open().any(|portal| portal.creation_time == statement)
}

/// The parent of the contexts of portals, which the server never frees.
static PARENT: PerProcess<Cell<Option<&'static MemoryContextData>>> = PerProcess::new(Cell::new(None));

/// The open portals, newest first. The server keeps a memory context with the name of each under one parent; the portal without a name
/// has another one there.
fn open() -> impl Iterator<Item = &'static PortalData> {
    // SAFETY: no caller keeps what it gets. The names of contexts are C strings.
    unsafe {
        let is_parent = |context: &&MemoryContextData| CStr::from_ptr(context.name) == c"TopPortalContext";
        let parent = PARENT.get().or_else(|| children(&*pg_sys::TopMemoryContext).find(is_parent));
        PARENT.set(parent);
        let contexts = parent.into_iter().flat_map(children);
        contexts.filter_map(|context| {
            let portals = [context.ident, c"".as_ptr()].map(|name| GetPortalByName(name).as_ref());
            portals.into_iter().flatten().find(|portal| ptr::eq(portal.portalContext.cast_const(), context))
        })
    }
}

fn children(parent: &MemoryContextData) -> impl Iterator<Item = &'static MemoryContextData> + use<> {
    // SAFETY: the context is valid, and so are its children.
    unsafe { iter::successors(parent.firstchild.as_ref(), |child| child.nextchild.as_ref()) }
}

/// The time of the client's last message.
fn current() -> i64 {
    // SAFETY: reads a variable of this process.
    unsafe { pg_sys::GetCurrentStatementStartTimestamp() }
}
