//! The page of the durable high-water marks: one block of the file `global/8672`, which the log protects like a table.
//!
//! The file belongs to no catalog, so that no transaction, database or user owns it. Its number is in the range that the server
//! reserves for its development. A record of the log holds the whole page, about 100 bytes, so that replay creates the file.
//! Otherwise the file appears whole, as a valid page without entries. So outside of recovery, a page of zeros or a short file is a
//! damaged one, never a new one.
//!
//! After the header of every page, it has a [`PageHeader`] and the entries, each a [`PageEntry`], with little-endian integers.

use core::array;
use core::ffi::CStr;
use core::mem::offset_of;
use core::ptr;
use core::slice;
use std::io::ErrorKind;

use pgrx::pg_sys::{self, PageHeaderData};
use scru_ids::{NodeCode, SortableId, Ticks};
use scru_server::mark::{MAX_MARKS, Mark};
use scru_server::protocol::Lsn;

use crate::call::error::{Error, sql_error};
use crate::pg::buffer::LockedPage;
use crate::pg::{server, wal};
use crate::shared::waits;

/// The number of the file, and its path.
const NUMBER: u32 = 8672;
const PATH: &str = "global/8672";

/// The path of the file until it is renamed. Base backups leave out files with this prefix.
const NEW: &CStr = c"global/pgsql_tmp_scru";

const MAGIC: [u8; 4] = *b"scru";
/// The version of the layout.
pub const VERSION: u16 = 1;

/// The layout of the page's own header. The bytes are never accessed by it.
#[repr(C)]
pub struct PageHeader {
    pub magic: [u8; 4],
    pub version: u16,
    /// The number of entries.
    pub count: u16,
    /// The CRC-32 of the entries.
    pub checksum: u32,
    pub zeros: u32,
}

/// The layout of an entry. The bytes are never accessed by it.
#[repr(C)]
pub struct PageEntry {
    /// The name of a type, padded with zeros.
    pub name: [u8; NAME],
    pub node: u32,
    pub tick: u64,
    pub run: u64,
}

/// The length of the header of every page, of the page's own header, of an entry, and of a type's name, in bytes.
const START: usize = offset_of!(PageHeaderData, pd_linp);
const HEADER: usize = size_of::<PageHeader>();
const ENTRY: usize = size_of::<PageEntry>();
const NAME: usize = 12;

/// The entries of two types, of the floor, and of six types that have one node.
const _: () = assert!(START + HEADER + (2 * MAX_MARKS + 1 + 6 * 2) * ENTRY <= pg_sys::BLCKSZ as usize);

/// The last time that a floor can be: the last one of a type with 48 bits of milliseconds.
pub const LAST_FLOOR: u64 = Ticks::UNIX_MILLIS_48.start(Ticks::UNIX_MILLIS_48.max) as u64;

/// The name in an entry, and the last tick that such an entry can have.
#[derive(Clone, Copy)]
pub struct Name([u8; NAME], u64);

impl Name {
    /// The name in the entry with the floor of the horizons, which has a time in place of a tick. No type can have it.
    const FLOOR: Self = Self(*b"\0horizon\0\0\0\0", LAST_FLOOR);

    pub fn of<T: SortableId>() -> Self {
        const { assert!(T::NAME.len() < NAME, "the page has 12 bytes for the name of a type") };
        Self(array::from_fn(|index| T::NAME.as_bytes().get(index).copied().unwrap_or_default()), T::TICKS.max)
    }
}

/// The pinned buffer of the page.
pub struct Pinned(pg_sys::Buffer);

impl Pinned {
    /// Reads the page. Creates it if it does not exist. 53100 or 58030 if that fails.
    pub fn new() -> Result<Self, Error> {
        match Self::existing()? {
            Some(page) => Ok(page),
            None => create().and_then(|()| Self::existing()?.ok_or_else(foreign_page)),
        }
    }

    /// Reads the page; `None` if it does not exist, or if replay has just created its file. XX001 if the file is shorter.
    pub fn existing() -> Result<Option<Self>, Error> {
        match server::has_global_page(NUMBER) {
            Some(true) => Ok(Some(Self(server::read_global_page(NUMBER)))),
            Some(false) if !wal::is_in_recovery() => Err(foreign_page()),
            _ => Ok(None),
        }
    }

    /// Locks the page. Returns `None` if another backend has locked it and `wait` is false.
    pub fn lock(self, wait: bool) -> Option<MarkPage> {
        // SAFETY: the buffer is pinned, and its pin is passed on.
        unsafe { LockedPage::lock(self.0, wait.then_some(&waits::MARK)) }.map(MarkPage)
    }
}

/// Creates the page without entries, unless it exists. No ID precedes its first record in the log.
fn create() -> Result<(), Error> {
    // SAFETY: the memory has the size of a page, and remains.
    let page = unsafe {
        let page = pg_sys::palloc0(pg_sys::BLCKSZ as usize);
        fill(page.cast(), &header(&[]));
        slice::from_raw_parts_mut(page.cast::<u8>(), pg_sys::BLCKSZ as usize)
    };
    server::create_global_page(NUMBER, NEW, page).map_err(|failure| {
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
    /// The marks under a name. As all accesses, XX001 if the page is not one of this extension, or is damaged.
    pub fn marks(&self, Name(name, last): Name) -> Result<Vec<Mark>, Error> {
        let mark = |entry: &[u8]| {
            let node = NodeCode::from_u32(u32::from_le_bytes(*entry[offset_of!(PageEntry, node)..].first_chunk()?))?;
            let tick = u64::from_le_bytes(*entry[offset_of!(PageEntry, tick)..].first_chunk()?);
            let run = u64::from_le_bytes(*entry[offset_of!(PageEntry, run)..].first_chunk()?);
            (tick <= last).then_some(Mark { node, tick, run })
        };
        let entries = self.entries()?.chunks_exact(ENTRY).filter(|entry| entry.starts_with(&name));
        entries.map(|entry| mark(entry).ok_or_else(foreign_page)).collect()
    }

    /// Replaces the marks under a name, and logs the page. Returns the position of the end of the record.
    pub fn log(&self, name: Name, marks: &[Mark]) -> Result<Lsn, Error> {
        let others = self.entries()?.chunks_exact(ENTRY).filter(|entry| !entry.starts_with(&name.0)).flatten().copied();
        let entry = |mark: &Mark| {
            let (node, tick, run) = (mark.node.to_u32().to_le_bytes(), mark.tick.to_le_bytes(), mark.run.to_le_bytes());
            [name.0.as_slice(), &node, &tick, &run].concat()
        };
        let entries: Vec<u8> = others.chain(marks.iter().flat_map(entry)).collect();
        let content = [header(&entries), entries].concat();
        if START + content.len() > pg_sys::BLCKSZ as usize {
            return Err(foreign_page());
        }
        // SAFETY: the page is locked, and MAX_MARKS of each type fit into it. The file is permanent.
        Ok(unsafe { self.0.log(true, |page| fill(page, &content)) })
    }

    /// The durable floor of the horizons, in microseconds since 1970-01-01 UTC; 0 if there is none.
    pub fn floor(&self) -> Result<i64, Error> {
        Ok(self.marks(Name::FLOOR)?.first().map_or(0, |mark| mark.tick as i64))
    }

    /// As [`log`](Self::log), for the durable floor of the horizons.
    pub fn log_floor(&self, floor: i64) -> Result<Lsn, Error> {
        self.log(Name::FLOOR, &[Mark { node: NodeCode::ALL, tick: floor as u64, run: 0 }])
    }

    pub fn position(&self) -> Lsn {
        self.0.position()
    }

    fn entries(&self) -> Result<&[u8], Error> {
        let content = &self.0.bytes()[START..];
        let at = offset_of!(PageHeader, count);
        let count = u16::from_le_bytes([content[at], content[at + 1]]) as usize;
        match content.get(HEADER..HEADER + count * ENTRY) {
            Some(entries) if content.starts_with(&header(entries)) => Ok(entries),
            _ => Err(foreign_page()),
        }
    }
}

fn header(entries: &[u8]) -> Vec<u8> {
    let (count, checksum) = ((entries.len() / ENTRY) as u16, crc32fast::hash(entries));
    [MAGIC.as_slice(), &VERSION.to_le_bytes(), &count.to_le_bytes(), &checksum.to_le_bytes(), &[0; 4]].concat()
}

#[cold]
fn foreign_page() -> Error {
    sql_error!(ERRCODE_DATA_CORRUPTED, "file \"{PATH}\" has no valid high-water marks")
        .detail("Generating an ID from shared state requires a durable high-water mark.")
        .hint(
            "Restore the file from a backup. If there is none, stop the server, remove the file, start the server, and use \
             scru_set_mark() to set the marks above all generated IDs.",
        )
}
