//! A page in `global/` that belongs to no catalog.

use core::ffi::{CStr, c_int};
use core::ptr;
use std::{fs, io};

use pgrx::pg_sys::{self, ForkNumber, LOCKMODE};

use crate::pg::{datum, server};

/// The number of no backend: the file is not temporary.
const NO_BACKEND: c_int = -1;

/// Whether the file of a page in `global/`, which belongs to no catalog, has a whole page; `None` if it does not exist.
pub fn is_whole(number: u32) -> Option<bool> {
    // SAFETY: the server caches the open file.
    unsafe {
        let file = pg_sys::smgropen(server::global_file(number), NO_BACKEND);
        pg_sys::smgrexists(file, ForkNumber::MAIN_FORKNUM)
            .then(|| pg_sys::smgrnblocks(file, ForkNumber::MAIN_FORKNUM) > 0)
    }
}

/// Creates the file of a page in `global/`, unless it exists. It appears whole: a file at the path `new` is synced and renamed. Replay
/// of the page's first record also creates the file.
pub fn create(number: u32, new: &CStr, page: &mut [u8]) -> io::Result<()> {
    let path = datum::c_string(format!("global/{number}"));
    // A lock of this type also excludes the other processes of a parallel query.
    let tag = pg_sys::LOCKTAG {
        locktag_field2: number,
        locktag_type: pg_sys::LockTagType::LOCKTAG_RELATION_EXTEND as u8,
        locktag_lockmethodid: pg_sys::DEFAULT_LOCKMETHOD as u8,
        ..Default::default()
    };
    let mode = pg_sys::ExclusiveLock as LOCKMODE;
    // SAFETY: the lock lets one process at a time create the file, which takes no other lock.
    unsafe {
        server::set_checksum(page.as_mut_ptr().cast());
        pg_sys::LockAcquire(&tag, mode, false, false);
        let is_missing = is_whole(number).is_none();
        let written = if is_missing { fs::write(&*new.to_string_lossy(), page) } else { Ok(()) };
        if is_missing && written.is_ok() {
            pg_sys::durable_rename(new.as_ptr(), path.as_ptr(), pgrx::PgLogLevel::ERROR as c_int);
        }
        pg_sys::LockRelease(&tag, mode, false);
        written
    }
}

/// Pins the buffer of a page in `global/` that exists.
pub fn read(number: u32) -> pg_sys::Buffer {
    let (file, fork, mode) =
        (server::global_file(number), ForkNumber::MAIN_FORKNUM, pg_sys::ReadBufferMode::RBM_NORMAL);
    // SAFETY: the strategy is optional. The file is durable, so `permanent` is true.
    unsafe { pg_sys::ReadBufferWithoutRelcache(file, fork, 0, mode, ptr::null_mut(), true) }
}
