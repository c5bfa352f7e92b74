//! Shared memory. The marks have one part, and each type has its word. Readers have the bounds that processes publish, and the table
//! of ended transactions.
//!
//! If the library is preloaded, the memory is in the main segment. Otherwise the first process that needs it allocates it: from
//! PostgreSQL 17 on, and in any version for the horizon, as a dynamic segment.

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicI64, AtomicU64};
use std::ffi::CString;
use std::panic::UnwindSafe;

use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_guard, pg_sys};
use scru_ids::{GeneratedId, id_systems};
use scru_server::horizon::{ENTRIES, Place};

use crate::call::error::{Error, sql_error};
use crate::pg::process::PerProcess;
use crate::pg::{datum, server, transaction};
use crate::shared::id_type::Type;
use crate::shared::state::{Atomic, MarksMemory, SharedWord, TypeMemory};

/// What the server takes for the size of a cache line, in bytes. It rounds each allocation in the main segment up to it.
const CACHE_LINE: usize = 128;

/// The names by which the backends find the shared memory. A change of a layout requires a new version in the name.
pub const MARKS: &CStr = c"scru marks v1";
pub const TYPE: &str = "generator v2";
pub const HORIZON: &CStr = c"scru horizon v2";

fn name<T: Type>() -> CString {
    datum::c_string(format!("scru {} {TYPE}", T::NAME))
}

/// What all processes share for the horizon. All fields are initially 0.
#[repr(C, align(64))]
pub struct Header {
    /// The number before which transactions may have ended without an entry; 0 until the first process begins.
    pub since: AtomicU64,
    /// How many times a transaction that has drawn has taken the lock with which it is prepared.
    pub prepared: AtomicU64,
    /// The value of `prepared` before no such lock was found.
    pub ended: AtomicU64,
}

/// The bound of a transaction.
#[repr(C)]
pub struct Published {
    /// The [`Owner`](scru_server::horizon::Owner): the transaction that has published last.
    pub owner: AtomicU64,
    pub bound: AtomicI64,
    /// The OID of its database.
    pub database: AtomicU64,
}

/// What a process shares for the horizon.
#[repr(C, align(64))]
pub struct Slot {
    pub published: Published,
}

/// The shared memory of the horizon.
#[repr(C)]
pub struct HorizonMemory {
    pub header: Header,
    entries: [Published; ENTRIES as usize],
    pub slots: [Slot],
}

impl HorizonMemory {
    fn size() -> usize {
        size_of::<Header>() + ENTRIES as usize * size_of::<Published>() + transaction::processes() * size_of::<Slot>()
    }

    /// # Safety
    /// The memory is zeroed, has the size, is aligned to a cache line, and remains for the life of the process.
    unsafe fn at(memory: *mut c_void) -> &'static Self {
        // SAFETY: guaranteed by the caller. The number of the slots is part of the pointer.
        unsafe { &*(ptr::slice_from_raw_parts(memory, transaction::processes()) as *const Self) }
    }

    pub fn published(&self, of: Place) -> &Published {
        match of {
            Place::Slot(slot) => &self.slots[slot].published,
            Place::Entry(transaction) => &self.entries[(transaction % ENTRIES) as usize],
        }
    }
}

static MARKS_MEMORY: PerProcess<Cell<Option<&'static MarksMemory>>> = PerProcess::new(Cell::new(None));
static HORIZON_MEMORY: PerProcess<Cell<Option<&'static HorizonMemory>>> = PerProcess::new(Cell::new(None));

/// What the backends share of the marks. 53200 if not enough shared memory is left.
#[inline]
pub fn of_marks() -> Result<&'static MarksMemory, Error> {
    match MARKS_MEMORY.get() {
        Some(memory) => Ok(memory),
        // SAFETY: the name is that of this layout.
        None => unsafe { find_struct(&MARKS_MEMORY, MARKS) },
    }
}

/// 0A000 if the processor has no atomic instructions for the word, 53200 if not enough shared memory is left.
#[inline]
pub fn of_type<T: Type>() -> Result<&'static TypeMemory<Atomic<T>>, Error> {
    match T::process().memory.get() {
        Some(memory) => Ok(memory),
        None if !T::State::is_lock_free() => Err(sql_error!(
            ERRCODE_FEATURE_NOT_SUPPORTED,
            "server-wide generation of {} is not supported on this processor",
            T::NAME
        )
        .of_type::<T>()
        .detail("The processor has no atomic operation on 128 bits.")
        .hint("Set scru.generator_scope to \"session\".")),
        // SAFETY: the name is that of this layout.
        None => unsafe { find_struct(&T::process().memory, &name::<T>()) },
    }
}

/// Finds or allocates a struct, and keeps its address.
///
/// # Safety
/// All processes have the same struct under the name. It may be zeroed.
#[cold]
#[inline(never)]
unsafe fn find_struct<M>(kept: &Cell<Option<&'static M>>, name: &CStr) -> Result<&'static M, Error> {
    // SAFETY: guaranteed by the caller, and by `shared_memory` for this size.
    let memory = find(|| unsafe { &*server::shared_memory(name, size_of::<M>()).cast::<M>() })?;
    kept.set(Some(memory));
    Ok(memory)
}

/// The shared memory of the horizon; `None` if no process of this server can allocate it. Without `allocate`, does not allocate it where
/// the server can tell whether it exists. 53200 if not enough shared memory is left.
#[inline]
pub fn of_horizon(allocate: bool) -> Result<Option<&'static HorizonMemory>, Error> {
    match HORIZON_MEMORY.get() {
        Some(memory) => Ok(Some(memory)),
        None => find_of_horizon(allocate),
    }
}

#[cold]
fn find_of_horizon(allocate: bool) -> Result<Option<&'static HorizonMemory>, Error> {
    let found = find(|| server::large_shared_memory(HORIZON, HorizonMemory::size(), allocate))?;
    // SAFETY: the allocation has this size, is aligned to a page, and its mapping is pinned.
    HORIZON_MEMORY.set(found.map(|found| unsafe { HorizonMemory::at(found) }));
    Ok(HORIZON_MEMORY.get())
}

/// Finds or allocates shared memory with a function that raises 53200 if not enough is left. Adds a HINT to this error.
fn find<R>(by: impl FnOnce() -> R + UnwindSafe) -> Result<R, Error> {
    PgTryBuilder::new(|| Ok(by())).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory())).execute()
}

#[cold]
pub fn no_memory() -> Error {
    sql_error!(ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the memory.")
}

static PREV_SHMEM_REQUEST_HOOK: PerProcess<Cell<pg_sys::shmem_request_hook_type>> = PerProcess::new(Cell::new(None));
static PREV_SHMEM_STARTUP_HOOK: PerProcess<Cell<pg_sys::shmem_startup_hook_type>> = PerProcess::new(Cell::new(None));

/// Installs the hooks that allocate shared memory.
///
/// # Safety
/// Must be called once, from `_PG_init` when the server starts.
pub unsafe fn preload() {
    // SAFETY: guaranteed by the caller. Each hook calls the one that it replaces, as the server requires.
    unsafe {
        PREV_SHMEM_REQUEST_HOOK.set((&raw mut pg_sys::shmem_request_hook).replace(Some(request)));
        PREV_SHMEM_STARTUP_HOOK.set((&raw mut pg_sys::shmem_startup_hook).replace(Some(startup)));
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn request() {
    // SAFETY: the postmaster calls this hook when libraries may request shared memory.
    unsafe {
        if let Some(prev) = PREV_SHMEM_REQUEST_HOOK.get() {
            prev();
        }
        // Alignment may take another cache line of each.
        let request = |size| pg_sys::RequestAddinShmemSpace(size + CACHE_LINE);
        id_systems!(|Id| request(size_of::<TypeMemory<Atomic<Id>>>()));
        request(size_of::<MarksMemory>());
        request(HorizonMemory::size());
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn startup() {
    // SAFETY: the postmaster calls this hook after it has created shared memory, at the start and after a crash. The main segment
    // is zeroed, and its allocations are aligned to cache lines. The children of the postmaster inherit the addresses.
    unsafe {
        if let Some(prev) = PREV_SHMEM_STARTUP_HOOK.get() {
            prev();
        }
        let allocate = |name: &CStr, size| pg_sys::ShmemInitStruct(name.as_ptr(), size, &mut false);
        id_systems!(|Id| if <Id as GeneratedId>::State::is_lock_free() {
            Id::process().memory.set(Some(&*allocate(&name::<Id>(), size_of::<TypeMemory<Atomic<Id>>>()).cast()));
        });
        MARKS_MEMORY.set(Some(&*allocate(MARKS, size_of::<MarksMemory>()).cast()));
        HORIZON_MEMORY.set(Some(HorizonMemory::at(allocate(HORIZON, HorizonMemory::size()))));
    }
}
