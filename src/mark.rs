//! The files of the durable high-water mark, in the directory `scru` of the data directory.
//!
//! Each record is one small file. Its name holds all data of the record, and its content is the name with a checksum. A record
//! is written to a temporary file, which is synced and renamed. Except by [`remove_for_good`], a record is removed only after a
//! higher one has been written. A writer that resumes after a suspension can therefore only add a lower record, which has no
//! effect.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys;
use scru_ids::SortableId;
use scru_ids::mark::{Mark, NodeCode};

use crate::error::{self, Error};

/// The directory, relative to the data directory, which is the server's working directory.
const DIRECTORY: &str = "scru";

/// The name prefix of temporary files.
const TEMPORARY: &str = "tmp-";

/// A durable record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A high-water mark.
    Mark(Mark),
    /// The final word of a generator state whose server shut down without a crash: the last ID of all nodes.
    Last {
        /// The random number that identifies the state.
        state: u64,
        /// The packed state.
        word: u64,
    },
}

impl Record {
    /// Returns the mark; `None` if the record is not a mark.
    pub fn mark(self) -> Option<Mark> {
        match self {
            Self::Mark(mark) => Some(mark),
            Self::Last { .. } => None,
        }
    }

    /// Returns the name of the record's file.
    fn name<T: SortableId>(self) -> String {
        match self {
            Self::Mark(Mark { node, tick, state }) => {
                format!("{}-mark-{:06x}-{tick:016x}-{state:016x}", T::NAME, node.to_u32())
            }
            Self::Last { state, word } => format!("{}-last-{word:016x}-{state:016x}", T::NAME),
        }
    }

    /// Returns the record that a file name encodes; `None` if it is not the name of a record.
    fn of_name<T: SortableId>(name: &str) -> Option<Self> {
        let number = |text| u64::from_str_radix(text, 16).ok();
        let fields: Vec<_> = name.strip_prefix(T::NAME)?.strip_prefix('-')?.split('-').collect();
        let record = match fields.as_slice() {
            ["mark", node, tick, state] => {
                let node = NodeCode::from_u32(u32::from_str_radix(node, 16).ok()?)?;
                Self::Mark(Mark { node, tick: number(tick)?, state: number(state)? })
            }
            ["last", word, state] => Self::Last { state: number(state)?, word: number(word)? },
            _ => return None,
        };
        // Each record has exactly one valid name.
        (record.name::<T>() == name).then_some(record)
    }
}

/// Returns the content of a record's file: its name and the CRC-32 of the name.
fn content(name: &str) -> String {
    format!("{name} {:08x}\n", crc32fast::hash(name.as_bytes()))
}

/// Returns all records of a type.
///
/// # Errors
/// 58030 if the directory or a file cannot be read, XX001 if a file is damaged or its name is invalid.
pub fn read<T: SortableId>() -> Result<Vec<Record>, Error> {
    // If a record disappears during the scan, the scan may have missed the record that was written in its place.
    loop {
        if let Some(records) = try_read::<T>()? {
            return Ok(records);
        }
    }
}

/// Returns all records of a type; `None` if one of them was removed during the scan.
fn try_read<T: SortableId>() -> Result<Option<Vec<Record>>, Error> {
    let mut records = Vec::new();
    for name in names().map_err(|error| io_error::<T>("read directory", DIRECTORY.as_ref(), &error))? {
        if !name.strip_prefix(T::NAME).is_some_and(|rest| rest.starts_with('-')) {
            continue;
        }
        let path = Path::new(DIRECTORY).join(&name);
        match fs::read(&path) {
            Ok(text) if text == content(&name).as_bytes() => {}
            Ok(_) => return Err(damaged::<T>(&path)),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_error::<T>("read file", &path, &error)),
        }
        records.push(Record::of_name::<T>(&name).ok_or_else(|| damaged::<T>(&path))?);
    }
    Ok(Some(records))
}

/// Returns the names of all files in the directory; none if the directory does not exist.
fn names() -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// Writes a record durably, and returns `true`. Returns `false`, and writes no record, if `is_wanted` returns `false` just
/// before the rename, or if [`remove_for_good`] has removed the temporary file.
///
/// # Errors
/// 53100 or 58030 if the file cannot be written.
pub fn write<T: SortableId>(record: Record, is_wanted: impl Fn() -> bool) -> Result<bool, Error> {
    let name = record.name::<T>();
    let path = Path::new(DIRECTORY).join(&name);
    let temporary = Path::new(DIRECTORY).join(format!("{TEMPORARY}{}-{name}", process::id()));
    let written = write_file(&temporary, &path, &content(&name), is_wanted);
    if !matches!(written, Ok(true)) {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(|error| io_error::<T>("write file", &path, &error))
}

fn write_file(temporary: &Path, path: &Path, content: &str, is_wanted: impl Fn() -> bool) -> io::Result<bool> {
    let mut file = match File::create(temporary) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make_directory()?;
            File::create(temporary)?
        }
        file => file?,
    };
    file.write_all(content.as_bytes())?;
    sync(&file)?;
    if !is_wanted() {
        return Ok(false);
    }
    match fs::rename(temporary, path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(()) => sync(&File::open(DIRECTORY)?).map(|()| true),
    }
}

/// Prepares the directory for a new generator state. Creates it if necessary, and syncs its parent in any case, because the
/// process that created the directory may have been killed before the sync. Removes the temporary files of processes that no
/// longer exist.
///
/// # Errors
/// 53100 or 58030 if the directory cannot be created or synced.
pub fn prepare<T: SortableId>() -> Result<(), Error> {
    make_directory().map_err(|error| io_error::<T>("create directory", DIRECTORY.as_ref(), &error))?;
    for name in names().unwrap_or_default() {
        if writer_of(&name).is_some_and(|pid| !exists(pid)) {
            let _ = fs::remove_file(Path::new(DIRECTORY).join(name));
        }
    }
    Ok(())
}

fn make_directory() -> io::Result<()> {
    match fs::create_dir(DIRECTORY) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        created => created?,
    }
    sync(&File::open(".")?)
}

/// Syncs a file or a directory, unless `fsync` is off.
fn sync(file: &File) -> io::Result<()> {
    // SAFETY: reads a variable of the server.
    if unsafe { pg_sys::enableFsync } { file.sync_all() } else { Ok(()) }
}

/// Returns the records of a type for which `is_wanted` returns `true`; none if the directory cannot be read.
pub fn list<T: SortableId>(is_wanted: impl Fn(Record) -> bool) -> Vec<Record> {
    let names = names().unwrap_or_default();
    names.iter().filter_map(|name| Record::of_name::<T>(name)).filter(|record| is_wanted(*record)).collect()
}

/// Removes records that a higher one has replaced, except the highest of them. Ignores failures, because a record that remains
/// has no effect. The highest is kept until the next call: a base backup in progress may have listed it, but not its
/// replacement.
pub fn remove_but_highest<T: SortableId>(mut records: Vec<Record>) {
    records.sort_unstable_by_key(|record| match record {
        Record::Mark(Mark { tick, .. }) => *tick,
        Record::Last { word, .. } => *word,
    });
    records.pop();
    for record in records {
        let _ = fs::remove_file(Path::new(DIRECTORY).join(record.name::<T>()));
    }
}

/// Removes the records of a type for which `goes` returns `true`. Removes their temporary files first, so that a suspended
/// writer cannot rename one of them into place afterwards.
///
/// # Errors
/// 58030 if the directory cannot be read or synced, or a file cannot be removed.
pub fn remove_for_good<T: SortableId>(goes: impl Fn(Record) -> bool) -> Result<(), Error> {
    for is_temporary in [true, false] {
        for name in names().map_err(|error| io_error::<T>("read directory", DIRECTORY.as_ref(), &error))? {
            let record = if is_temporary { record_of_temporary(&name) } else { Some(name.as_str()) };
            if record.and_then(Record::of_name::<T>).is_some_and(&goes) {
                remove_file::<T>(&Path::new(DIRECTORY).join(name))?;
            }
        }
    }
    match File::open(DIRECTORY).and_then(|directory| sync(&directory)) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(io_error::<T>("sync directory", DIRECTORY.as_ref(), &error))
        }
        _ => Ok(()),
    }
}

fn remove_file<T: SortableId>(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error::<T>("remove file", path, &error)),
        _ => Ok(()),
    }
}

/// Returns the name that a temporary file is renamed to; `None` if the file is not temporary.
fn record_of_temporary(name: &str) -> Option<&str> {
    name.strip_prefix(TEMPORARY)?.split_once('-').map(|(_, record)| record)
}

/// Returns the process ID of the writer of a temporary file; `None` if the file is not temporary.
fn writer_of(name: &str) -> Option<libc::pid_t> {
    name.strip_prefix(TEMPORARY)?.split('-').next()?.parse().ok()
}

fn exists(pid: libc::pid_t) -> bool {
    // SAFETY: signal 0 only checks whether the process exists.
    let is_signaled = unsafe { libc::kill(pid, 0) == 0 };
    is_signaled || io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

#[cold]
fn io_error<T: SortableId>(attempt: &str, path: &Path, failure: &io::Error) -> Error {
    let reason = error::os_reason(failure);
    let message = format!("could not {attempt} \"{}\": {reason}", path.display());
    let (sqlstate, hint) = match failure.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => (SqlState::ERRCODE_DISK_FULL, "Check free disk space."),
        _ => (SqlState::ERRCODE_IO_ERROR, "Check the directory \"scru\" in the data directory, and its permissions."),
    };
    Error::new(sqlstate, message).detail(needs_mark::<T>()).hint(hint)
}

#[cold]
fn damaged<T: SortableId>(path: &Path) -> Error {
    let message = format!("file \"{}\" is damaged", path.display());
    Error::new(SqlState::ERRCODE_DATA_CORRUPTED, message)
        .detail(needs_mark::<T>())
        .hint("Remove the file, and use scru_set_mark() to set the mark above all generated IDs.")
}

fn needs_mark<T: SortableId>() -> String {
    format!("Generating a {} requires a durable high-water mark.", T::NAME)
}
