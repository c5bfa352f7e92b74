//! The page of the durable high-water marks: one block of the file `global/8672`, which the log protects like a table.
//!
//! The file belongs to no catalog, so that no transaction, database or user owns it. Its number is in the range that the server
//! reserves for its development. A record of the log holds the whole page, about 100 bytes, so that replay creates the file.
//! Otherwise the file appears whole, as a valid page without marks. So outside of recovery, a page of zeros or a short file is a
//! damaged one, never a new one.

use core::ffi::CStr;
use core::mem::offset_of;
use core::{array, ptr, slice};
use std::io::ErrorKind;

use pgrx::pg_sys::{self, Buffer, PageHeaderData};
use scru_ids::Ticks;
use scru_server::mark::Mark;
use scru_server::protocol::Lsn;

use crate::call::error::{Error, sql_error};
use crate::pg::buffer::LockedPage;
use crate::pg::clock::WaitEvent;
use crate::pg::process::PerProcess;
use crate::pg::{global_page, wal};

/// The number of the file, and its path.
const NUMBER: u32 = 8672;
const PATH: &str = "global/8672";

/// The path of the file until it is renamed. Base backups leave out files with this prefix.
const NEW: &CStr = c"global/pgsql_tmp_scru";

/// The layout of the page's content, with little-endian integers. The bytes are never accessed by it.
#[repr(C)]
pub struct Content {
    pub magic: [u8; 4],
    pub version: u32,
    /// The times of the marks, in microseconds since 1970-01-01 UTC; 0 if there is none.
    pub times: [i64; 2],
    /// The CRC-32 of what precedes.
    pub checksum: u32,
    pub zeros: u32,
}

/// The version of the layout. Sessions with the library of the version before access the same page: a version that changes the layout
/// reads both and writes this one, and the version after it writes the new one.
const VERSION: u32 = 2;

/// Whether this library reads the pages of a version, in the file of a number.
pub const fn is_read(version: u32, number: u32) -> bool {
    version == VERSION && number == NUMBER
}

/// The length of the header of every page, and of the content, in bytes.
const START: usize = offset_of!(PageHeaderData, pd_linp);
const LENGTH: usize = size_of::<Content>();
const TIMES: usize = offset_of!(Content, times);
const CHECKSUM: usize = offset_of!(Content, checksum);

/// The last time that a mark can have: the last one of a type with 48 bits of milliseconds.
pub const LAST: i64 = Ticks::UNIX_MILLIS_48.start(Ticks::UNIX_MILLIS_48.max);

/// A wait for another backend that has locked a mark, as pg_stat_activity shows it.
pub static LOCK_WAIT: PerProcess<WaitEvent> = PerProcess::new(WaitEvent::new(c"ScruMark"));

/// Whether the page exists; `false` if replay has just created its file. XX001 if the file is shorter.
pub fn exists() -> Result<bool, Error> {
    match global_page::is_whole(NUMBER) {
        Some(false) if !wal::is_in_recovery() => Err(foreign_page()),
        found => Ok(found == Some(true)),
    }
}

/// Reads the page, and pins its buffer. Creates the page if it does not exist. 53100 or 58030 if that fails.
pub fn pin() -> Result<Buffer, Error> {
    if !exists()? {
        create()?;
    }
    Ok(global_page::read(NUMBER))
}

/// Creates the page without marks, unless it exists. No ID precedes its first record in the log.
fn create() -> Result<(), Error> {
    // SAFETY: the memory has the size of a page, and remains.
    let page = unsafe {
        let page = pg_sys::palloc0(pg_sys::BLCKSZ as usize);
        fill(page.cast(), &content([0; 2]));
        slice::from_raw_parts_mut(page.cast::<u8>(), pg_sys::BLCKSZ as usize)
    };
    global_page::create(NUMBER, NEW, page).map_err(|failure| {
        let reason = failure.to_string();
        // Without the error number, as in the server's own messages.
        let reason = reason.split(" (os error").next().unwrap_or_default();
        let file = NEW.to_string_lossy();
        match failure.kind() {
            ErrorKind::StorageFull => sql_error!(ERRCODE_DISK_FULL, "could not write file \"{file}\": {reason}")
                .hint("Check free disk space."),
            _ => sql_error!(ERRCODE_IO_ERROR, "could not write file \"{file}\": {reason}"),
        }
    })
}

/// Writes a content to a page.
///
/// # Safety
/// The page is in memory that only this process accesses. The content fits into it.
unsafe fn fill(page: *mut PageHeaderData, content: &[u8]) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        pg_sys::PageInit(page.cast(), pg_sys::BLCKSZ as usize, 0);
        ptr::copy_nonoverlapping(content.as_ptr(), page.cast::<u8>().add(START), content.len());
        (*page).pd_lower = (START + content.len()) as u16;
    }
}

pub struct MarkPage(LockedPage);

impl MarkPage {
    /// Locks the page in a pinned buffer. Returns `None` if another backend has locked it and `wait` is false.
    pub fn lock(page: Buffer, wait: bool) -> Option<Self> {
        // SAFETY: the buffer is pinned, and its pin is passed on.
        unsafe { LockedPage::lock(page, wait.then_some(&LOCK_WAIT)) }.map(Self)
    }

    /// The time of a mark; 0 if there is none. As all accesses, XX001 if the page is not one of this extension, or is damaged.
    pub fn time(&self, of: Mark) -> Result<i64, Error> {
        Ok(self.times()?[of as usize])
    }

    /// Replaces the time of a mark, and logs the page. Returns the position of the end of the record.
    pub fn log(&self, of: Mark, time: i64) -> Result<Lsn, Error> {
        let mut times = self.times()?;
        times[of as usize] = time.min(LAST);
        let content = content(times);
        // SAFETY: the content fits into the page. No relation has the file: the server logs it always.
        Ok(unsafe { self.0.log(true, |page| fill(page, &content)) })
    }

    fn times(&self) -> Result<[i64; 2], Error> {
        let found = &self.0.bytes()[START..START + LENGTH];
        let time = |at: usize| i64::from_le_bytes(array::from_fn(|byte| found[TIMES + 8 * at + byte]));
        let times = [time(0), time(1)];
        let is_valid = found == content(times) && times.iter().all(|time| (0..=LAST).contains(time));
        if is_valid { Ok(times) } else { Err(foreign_page()) }
    }
}

fn content(times: [i64; 2]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..4].copy_from_slice(b"scru");
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    bytes[TIMES..CHECKSUM].copy_from_slice(times.map(i64::to_le_bytes).as_flattened());
    let checksum = crc32fast::hash(&bytes[..CHECKSUM]);
    bytes[CHECKSUM..CHECKSUM + 4].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

#[cold]
fn foreign_page() -> Error {
    sql_error!(ERRCODE_DATA_CORRUPTED, "file \"{PATH}\" has no valid high-water marks")
        .detail("Generating an ID from shared state requires a durable high-water mark.")
        .hint(
            "Restore the file from a backup. If there is none, stop the server, remove the file, start the server, and use \
             scru_raise_mark() to raise the marks above all generated IDs.",
        )
}
