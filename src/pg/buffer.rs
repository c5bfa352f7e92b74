//! Pages in the server's buffers, and the log that protects them.

use core::slice;
use core::sync::atomic::{AtomicU64, Ordering};

use pgrx::pg_sys::{self, Buffer, PageHeaderData, XLogRecPtr};

use crate::pg::clock::{self, WaitEvent};

/// The number of attempts to lock a page before the backend sleeps between them.
const SPINS: u32 = 100;

/// The buffer that had the page of a file with one page, to look at the page again without a pin.
#[derive(Clone, Copy)]
pub struct RecentBuffer {
    position: *mut u64,
    descriptor: *const pg_sys::BufferTag,
    /// What the buffer had: the numbers of the database and of the file.
    had: u64,
}
const _: () =
    assert!(size_of::<pg_sys::BufferTag>() == 20, "the first three numbers are the tablespace, the database, the file");

impl RecentBuffer {
    /// Whether the page is still there, and was last changed by the record that ends at a position. A change during the call may be
    /// overlooked.
    #[inline]
    pub fn has_position(self, position: XLogRecPtr) -> bool {
        // SAFETY: the buffers and their descriptors are in shared memory as long as the process runs. Nothing is read as a reference.
        unsafe {
            let found = AtomicU64::from_ptr(self.position).load(Ordering::Acquire);
            // The higher half is first.
            let found = if cfg!(target_endian = "little") { found.rotate_left(32) } else { found };
            found == position && file(self.descriptor) == self.had
        }
    }
}

/// # Safety
/// The pointer is to the descriptor of a buffer.
#[inline(always)]
unsafe fn file(descriptor: *const pg_sys::BufferTag) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { descriptor.cast::<u32>().add(1).cast::<u64>().read_unaligned() }
}

/// A page that this backend has locked exclusively. The lock and the pin end when the value is dropped, or with the transaction.
pub struct LockedPage(Buffer);

impl LockedPage {
    /// Locks a page. Returns `None` if another backend has locked it and there is no event to wait with.
    ///
    /// A wait can be canceled. The server's own wait for a page could not: whoever writes the page to disk first flushes the log
    /// while it holds the lock.
    ///
    /// # Safety
    /// `buffer` is pinned. The pin belongs to the returned value.
    pub unsafe fn lock(buffer: Buffer, wait: Option<&WaitEvent>) -> Option<Self> {
        let mut attempts = 0;
        // SAFETY: guaranteed by the caller. If an interrupt ends the wait, the transaction releases the pin.
        unsafe {
            while !pg_sys::ConditionalLockBuffer(buffer) {
                let Some(event) = wait else {
                    pg_sys::ReleaseBuffer(buffer);
                    return None;
                };
                attempts += 1;
                if attempts > SPINS {
                    clock::wait(1_000, event);
                } else {
                    core::hint::spin_loop();
                }
            }
        }
        Some(Self(buffer))
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the page is locked, and has this size.
        unsafe { slice::from_raw_parts(self.header().cast(), pg_sys::BLCKSZ as usize) }
    }

    pub fn header(&self) -> *mut PageHeaderData {
        // SAFETY: a pinned buffer has a page in shared memory.
        unsafe { pg_sys::BufferBlocks.add((self.0 as usize - 1) * pg_sys::BLCKSZ as usize).cast() }
    }

    pub fn recent(&self) -> RecentBuffer {
        // SAFETY: the buffer is pinned. A descriptor begins with the tag.
        unsafe {
            let descriptor = pg_sys::BufferDescriptors.add(self.0 as usize - 1).cast();
            RecentBuffer { position: self.header().cast(), descriptor, had: file(descriptor) }
        }
    }

    /// The position of the end of the record that has last changed the page.
    pub fn position(&self) -> XLogRecPtr {
        // SAFETY: the buffer is pinned.
        unsafe { pg_sys::BufferGetLSNAtomic(self.0) }
    }

    /// Changes the page, and logs it as a whole if `is_logged`. Returns the position of the end of the record that has last changed it.
    ///
    /// # Safety
    /// `change` leaves a valid page with the standard layout. It neither allocates nor fails: an error would stop the server.
    /// `is_logged` is what the server would do for the file of the page: a record of another file would stop recovery.
    pub unsafe fn log(&self, is_logged: bool, change: impl FnOnce(*mut PageHeaderData)) -> XLogRecPtr {
        // SAFETY: guaranteed by the caller. This is the order that the server's README for the log requires.
        unsafe {
            pg_sys::CritSectionCount += 1;
            change(self.header());
            pg_sys::MarkBufferDirty(self.0);
            let position = if is_logged { pg_sys::log_newpage_buffer(self.0, true) } else { self.position() };
            pg_sys::CritSectionCount -= 1;
            position
        }
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        // SAFETY: the value holds the lock and the pin.
        unsafe { pg_sys::UnlockReleaseBuffer(self.0) };
    }
}
