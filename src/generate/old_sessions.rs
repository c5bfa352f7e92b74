//! Sessions that have loaded an older library, which publishes nothing. Until they have ended, there is no horizon.

use core::sync::atomic::Ordering;

use pgrx::PgSqlErrorCode as SqlState;
use scru_ids::horizon::Owner;

use crate::call::error::Error;
use crate::generate::memory::{self, Header, HorizonMemory};
use crate::pg::{log, process, transaction};
use crate::settings;

/// Raises 55000 if a session of this database may have loaded an older library, which publishes nothing.
pub fn refuse(memory: HorizonMemory) -> Result<(), Error> {
    let Header { old_sessions, since, .. } = memory.header;
    if old_sessions.load(Ordering::SeqCst) == 0 {
        return Ok(());
    }
    let mut is_left = false;
    let (own, _) = transaction::own();
    for (index, slot) in memory.slots.iter().enumerate() {
        let old = slot.old.load(Ordering::SeqCst);
        if old == 0 {
            continue;
        }
        let is_new = index == own || Owner(slot.owner.load(Ordering::SeqCst)).pid() == old;
        if !is_new && transaction::is_connected(old) {
            is_left = true;
            if transaction::of_process(index).is_some_and(|process| process.pid() == old) {
                return Err(old_session(old));
            }
            continue;
        }
        if !is_new {
            // Its transactions have no entries.
            since.fetch_max(transaction::next(), Ordering::SeqCst);
        }
        let _ = slot.old.compare_exchange(old, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
    if !is_left {
        old_sessions.store(0, Ordering::SeqCst);
    }
    Ok(())
}

#[cold]
fn old_session(pid: u32) -> Error {
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "a session may use an older version of scru")
        .detail(format!(
            "When the extension was created or updated, the session with process ID {pid} had loaded another library."
        ))
        .hint("End the session: it loads the installed version when it connects again.")
}

/// Records the sessions of this database that may have loaded an older library. The scripts that create the extension or update it
/// to 0.3.0 call it. The library that a session loads later is the present one.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn note() -> Result<(), Error> {
    if settings::is_preloaded() || log::is_in_recovery() {
        return Ok(());
    }
    let (own, _) = transaction::own();
    let is_old = |&(index, pid): &(usize, u32)| {
        index != own
            && transaction::is_connected(pid)
            && !transaction::is_decoding(index)
            && process::may_have_another_library(pid)
    };
    let processes =
        (0..transaction::processes()).filter_map(|index| Some((index, transaction::of_process(index)?.pid())));
    let old: Vec<_> = processes.filter(is_old).collect();
    if old.is_empty() {
        return Ok(());
    }
    let Some(memory) = memory::of_horizon()? else { return Ok(()) };
    memory.header.old_sessions.store(1, Ordering::SeqCst);
    for (index, pid) in old {
        memory.slots[index].old.store(pid, Ordering::SeqCst);
    }
    Ok(())
}
