//! What older versions have left: the marks that 0.2.0 kept in files, which are moved into the page, and sessions that have loaded
//! an older library, which publishes nothing. Until these have ended, there is no horizon.

use core::sync::atomic::Ordering;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::Datum;
use scru_ids::horizon::Owner;
use scru_ids::mark::{Mark, NodeCode};
use scru_ids::{State, Word};

use crate::call::Call;
use crate::call::error::{self, Error};
use crate::generate::id_type::Type;
use crate::generate::memory::{self, Header, HorizonMemory};
use crate::pg::{log, process, transaction};
use crate::settings;

/// The directory, relative to the data directory, which is the server's working directory.
const DIRECTORY: &str = "scru";

/// Returns the marks that 0.2.0 kept in files of a type; none if the directory does not exist.
///
/// The name of a file holds its data: `T-mark-NODE-TICK-STATE` or `T-last-WORD-STATE`, in hexadecimal digits.
///
/// # Errors
/// 58030 if the directory cannot be read.
pub fn marks<T: Type>() -> Result<Vec<Mark>, Error> {
    Ok(file_names().map_err(|error| io_error::<T>(&error))?.iter().filter_map(|name| of_name::<T>(name)).collect())
}

/// Removes a type's files, and the directory if it is then empty. Ignores failures: a file that remains has no effect until the
/// next start, when its mark is below that of the page.
pub fn remove_marks<T: Type>() {
    for name in file_names().unwrap_or_default() {
        if of_name::<T>(&name).is_some() {
            let _ = fs::remove_file(Path::new(DIRECTORY).join(name));
        }
    }
    let _ = fs::remove_dir(DIRECTORY);
}

fn file_names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Returns the mark in the name of a file; `None` if it is not a file of the type.
fn of_name<T: Type>(name: &str) -> Option<Mark> {
    let number = |text| u64::from_str_radix(text, 16).ok();
    let fields: Vec<_> = name.strip_prefix(T::NAME)?.strip_prefix('-')?.split('-').collect();
    let (node, tick) = match fields.as_slice() {
        ["mark", node, tick, _] => (NodeCode::from_u32(u32::from_str_radix(node, 16).ok()?)?, number(tick)?),
        ["last", word, _] => (NodeCode::ALL, T::state_tick(T::State::unpack(Word::<T>::from(number(word)?)))),
        _ => return None,
    };
    Some(Mark { node, tick: tick.min(T::TICKS.max), run: 0 })
}

#[cold]
fn io_error<T: Type>(failure: &io::Error) -> Error {
    let reason = error::os_reason(failure);
    Error::new(SqlState::ERRCODE_IO_ERROR, format!("could not read directory \"{DIRECTORY}\": {reason}"))
        .detail(format!("Generating a {} requires the high-water mark that an earlier version stored there.", T::NAME))
        .hint("Check the directory \"scru\" in the data directory, and its permissions.")
}

/// Raises 55000 if a session of this database may have loaded an older library, which publishes nothing.
pub fn refuse_sessions(memory: HorizonMemory) -> Result<(), Error> {
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

/// `scru_note_old_sessions() → void`: records the sessions of this database that may have loaded an older library
///
/// The scripts that create the extension or update it to 0.3.0 call the function and drop it. The library that a session loads
/// later is the present one. Raises 53200 if not enough shared memory is left.
pub fn note_sessions(_call: Call) -> Result<Datum, Error> {
    if settings::is_preloaded() || log::is_in_recovery() {
        return Ok(Datum::null());
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
    if !old.is_empty()
        && let Some(memory) = memory::of_horizon()?
    {
        memory.header.old_sessions.store(1, Ordering::SeqCst);
        for (index, pid) in old {
            memory.slots[index].old.store(pid, Ordering::SeqCst);
        }
    }
    Ok(Datum::null())
}
