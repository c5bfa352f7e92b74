//! The write-ahead log: whether the server replays it, and flushing it up to a position.

use core::ptr;

use pgrx::pg_sys::{self, XLogRecPtr};

/// Whether the server is in recovery. Recovery is never re-entered.
pub use crate::pg::unguarded::RecoveryInProgress as is_in_recovery;

pub fn is_flushed(position: XLogRecPtr) -> bool {
    // SAFETY: reads shared memory. The server is not in recovery.
    unsafe { pg_sys::GetFlushRecPtr(ptr::null_mut()) >= position }
}

/// Flushes the log up to a position. Like the flush of a COMMIT, it cannot be canceled.
pub fn flush(position: XLogRecPtr) {
    // SAFETY: the position is the end of a record.
    unsafe { pg_sys::XLogFlush(position) };
}

/// Lets the WAL writer flush the log up to a position, within about 200 ms.
pub fn flush_later(position: XLogRecPtr) {
    // SAFETY: as in `flush`.
    unsafe { pg_sys::XLogSetAsyncXactLSN(position) };
}
