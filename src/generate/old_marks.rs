//! The high-water marks that 0.2.0 kept in files, in the directory `scru` of the data directory. They are moved into the page.
//!
//! The name of a file holds its data: `T-mark-NODE-TICK-STATE` or `T-last-WORD-STATE`, in hexadecimal digits.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use pgrx::PgSqlErrorCode as SqlState;
use scru_ids::mark::{Mark, NodeCode};
use scru_ids::{GeneratedId, SortableId, State, Word};

use crate::call::error::{self, Error};

/// The directory, relative to the data directory, which is the server's working directory.
const DIRECTORY: &str = "scru";

/// Returns the marks of a type's files; none if the directory does not exist.
///
/// # Errors
/// 58030 if the directory cannot be read.
pub fn read<T: GeneratedId<State: State<Word: From<u64>>>>() -> Result<Vec<Mark>, Error> {
    Ok(names().map_err(|error| io_error::<T>(&error))?.iter().filter_map(|name| of_name::<T>(name)).collect())
}

/// Removes a type's files, and the directory if it is then empty. Ignores failures: a file that remains has no effect until the
/// next start, when its mark is below that of the page.
pub fn remove<T: GeneratedId<State: State<Word: From<u64>>>>() {
    for name in names().unwrap_or_default() {
        if of_name::<T>(&name).is_some() {
            let _ = fs::remove_file(Path::new(DIRECTORY).join(name));
        }
    }
    let _ = fs::remove_dir(DIRECTORY);
}

fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Returns the mark in the name of a file; `None` if it is not a file of the type.
fn of_name<T: GeneratedId<State: State<Word: From<u64>>>>(name: &str) -> Option<Mark> {
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
fn io_error<T: SortableId>(failure: &io::Error) -> Error {
    let reason = error::os_reason(failure);
    Error::new(SqlState::ERRCODE_IO_ERROR, format!("could not read directory \"{DIRECTORY}\": {reason}"))
        .detail(format!("Generating a {} requires the high-water mark that an earlier version stored there.", T::NAME))
        .hint("Check the directory \"scru\" in the data directory, and its permissions.")
}
