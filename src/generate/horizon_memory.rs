//! The shared memory of the horizon: the floor, what each process publishes, and the table of the transactions that have ended.
//!
//! If the library is preloaded, the memory is in the main segment. Otherwise the first process that draws allocates a dynamic one.

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_sys};
use scru_ids::horizon::ENTRIES;

use crate::call::error::Error;
use crate::pg::process::PerProcess;
use crate::pg::{server, transaction};

const NAME: &CStr = c"scru horizon v1";

/// What all processes share. All fields are initially 0.
#[repr(C, align(64))]
pub struct Header {
    /// The floor, in microseconds since 1970-01-01 UTC.
    pub floor: AtomicI64,
    /// The floor of the next start. Changes only under the lock of the page of the marks, except at the start.
    pub durable: AtomicI64,
    /// The number before which transactions may have ended without an entry; 0 until the durable floor is read.
    pub since: AtomicU64,
    /// 1 if there may be prepared transactions that have drawn.
    pub prepared: AtomicU32,
    /// 1 if there may be sessions with an older library.
    pub old_sessions: AtomicU32,
}

/// What a process shares.
#[repr(C, align(64))]
pub struct Slot {
    /// The transaction that has published last.
    pub owner: AtomicU64,
    pub bound: AtomicI64,
    /// The ID of a process that may have loaded an older library; 0 if none.
    pub old: AtomicU32,
}

/// The entry of a transaction in the table.
#[repr(C)]
pub struct Entry {
    pub state: AtomicU64,
    pub bound: AtomicI64,
    pub database: AtomicU64,
}

/// The shared memory.
#[derive(Clone, Copy)]
pub struct Memory {
    pub header: &'static Header,
    pub slots: &'static [Slot],
    pub entries: &'static [Entry],
}

impl Memory {
    /// Returns the size in bytes.
    fn size() -> usize {
        size_of::<Header>() + transaction::processes() * size_of::<Slot>() + ENTRIES as usize * size_of::<Entry>()
    }

    /// # Safety
    /// The memory is zeroed, has the size, is aligned to a cache line, and remains for the life of the process.
    unsafe fn at(memory: *mut c_void) -> Self {
        let count = transaction::processes();
        // SAFETY: guaranteed by the caller.
        unsafe {
            let header = memory.cast::<Header>();
            let slots = header.add(1).cast::<Slot>();
            let entries = slots.add(count).cast::<Entry>();
            Self {
                header: &*header,
                slots: core::slice::from_raw_parts(slots, count),
                entries: core::slice::from_raw_parts(entries, ENTRIES as usize),
            }
        }
    }

    /// Returns whether a process has read the durable floor since the start of the server.
    pub fn has_begun(&self) -> bool {
        self.header.since.load(Ordering::Acquire) != 0
    }

    pub fn entry(&self, transaction: u64) -> &'static Entry {
        &self.entries[(transaction % ENTRIES) as usize]
    }
}

static MEMORY: PerProcess<Cell<Option<Memory>>> = PerProcess::new(Cell::new(None));

/// Requests shared memory. Must be called from the hook of the postmaster.
pub fn request() {
    // SAFETY: guaranteed by the caller. Alignment may take another cache line.
    unsafe { pg_sys::RequestAddinShmemSpace(Memory::size() + 128) };
}

/// Allocates the requested shared memory.
///
/// # Safety
/// Must be called from the startup hook of shared memory.
pub unsafe fn start() {
    let mut found = false;
    // SAFETY: the main segment is zeroed, and its allocations are aligned to cache lines. Children inherit the address.
    let memory = unsafe { Memory::at(pg_sys::ShmemInitStruct(NAME.as_ptr(), Memory::size(), &mut found)) };
    MEMORY.set(Some(memory));
}

/// Returns the shared memory, whose floor may not yet include the durable one; `None` if no process of this server can allocate it.
#[inline]
pub fn attached() -> Result<Option<Memory>, Error> {
    match MEMORY.get() {
        Some(memory) => Ok(Some(memory)),
        None => look_up(),
    }
}

#[cold]
fn look_up() -> Result<Option<Memory>, Error> {
    let find = || Ok(server::large_shared_memory(NAME, Memory::size()));
    let found = PgTryBuilder::new(find).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory())).execute()?;
    let Some(address) = found else { return Ok(None) };
    // SAFETY: the allocation has this size, is aligned to a page, and its mapping is pinned.
    let memory = unsafe { Memory::at(address) };
    MEMORY.set(Some(memory));
    Ok(Some(memory))
}

/// Returns the error for memory that the server cannot allocate (53200).
#[cold]
pub fn no_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the memory.")
}
