//! Pages in the server's buffers, and the log that protects them.

use core::slice;

use pgrx::pg_sys::{self, Buffer, PageHeaderData, XLogRecPtr};

use crate::pg::clock::{self, WaitEvent};

/// The number of attempts to lock a page before the backend sleeps between them.
const SPINS: u32 = 100;

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
        let index = self.0 as usize - 1;
        // SAFETY: a pinned buffer has a page in shared memory.
        unsafe { pg_sys::BufferBlocks.add(index * pg_sys::BLCKSZ as usize).cast() }
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
