//! Times in the WAL: a promoted server infers from them how far its primary's clock had advanced.

use core::ffi::{c_char, c_int};
use core::mem::offset_of;
use core::{ptr, slice};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, DecodedXLogRecord, TimeLineHistoryEntry, TimeLineID, XLogReaderState, XLogRecPtr};

use crate::error::{self, Error};
use crate::{epoch, server};

const DIRECTORY: &str = "pg_wal";

/// Returns the last time in the WAL before the beginning of a timeline, in microseconds since 1970-01-01 UTC. It is the time of
/// the end or the preparation of a transaction, or of a checkpoint. Returns `None` if the timeline is the first one, or if that
/// part of the WAL has been removed.
///
/// # Errors
/// Returns an error (58030) if a file cannot be read.
pub fn last_time_before(timeline: TimeLineID) -> Result<Option<i64>, Error> {
    let mut past = Past::of(timeline);
    let mut segment = past.end.saturating_sub(1) / past.segment_size;
    while segment > 0 {
        match past.last_time_in(segment) {
            Ok(None) => segment -= 1,
            Ok(last) => return Ok(last),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&past.path(segment), &error)),
        }
    }
    Ok(None)
}

#[cold]
fn unreadable(path: &Path, failure: &io::Error) -> Error {
    let message = format!("could not read file \"{}\": {}", path.display(), error::os_reason(failure));
    Error::new(SqlState::ERRCODE_IO_ERROR, message)
        .detail("The first ID after a promotion must be greater than the IDs of the last transaction in the WAL.")
        .hint("Check the directory \"pg_wal\" in the data directory, and its permissions.")
}

/// The WAL before the beginning of a timeline.
struct Past {
    /// The history of the timeline: each timeline and where it begins, the newest first.
    timelines: Vec<(TimeLineID, XLogRecPtr)>,
    end: XLogRecPtr,
    segment_size: u64,
    /// The number and the file of the segment that was read last.
    open: Option<(u64, File)>,
    /// The error of the last read, if it failed.
    error: Option<io::Error>,
}

impl Past {
    fn of(timeline: TimeLineID) -> Self {
        // SAFETY: reads a history file of the server. The list has at least one entry, and all entries have this type. The
        // server sets the segment size when it starts.
        let (history, segment_size) = unsafe {
            let list = &*pg_sys::readTimeLineHistory(timeline);
            (slice::from_raw_parts(list.elements, list.length as usize), pg_sys::wal_segment_size as u64)
        };
        // SAFETY: as above.
        let entry = |cell: &pg_sys::ListCell| unsafe { *cell.ptr_value.cast::<TimeLineHistoryEntry>() };
        let timelines: Vec<_> = history.iter().map(entry).map(|entry| (entry.tli, entry.begin)).collect();
        let end = timelines.first().map_or(0, |&(_, begin)| begin);
        Self { timelines, end, segment_size, open: None, error: None }
    }

    /// Returns the path of a segment. If timelines share the segment, the path is that of the newest timeline, whose file begins
    /// with a copy of the older timelines' records.
    fn path(&self, segment: u64) -> PathBuf {
        let end = (segment + 1) * self.segment_size;
        let timeline = self.timelines.iter().find(|(_, begin)| *begin < end).map_or(0, |&(timeline, _)| timeline);
        let segments = (1 << 32) / self.segment_size;
        Path::new(DIRECTORY).join(format!("{timeline:08X}{:08X}{:08X}", segment / segments, segment % segments))
    }

    /// Returns the last time in the records that begin in a segment; `None` if they have none.
    fn last_time_in(&mut self, segment: u64) -> io::Result<Option<i64>> {
        let start = segment * self.segment_size;
        let mut routine = pg_sys::XLogReaderRoutine { page_read: Some(read_page), ..Default::default() };
        let (mut last, mut message) = (None, ptr::null_mut());
        // SAFETY: the server's own programs use a reader in this way. `self` outlives the reader, which opens no file itself.
        unsafe {
            let private = ptr::from_mut(self).cast();
            let reader = pg_sys::XLogReaderAllocate(self.segment_size as c_int, ptr::null(), &mut routine, private);
            if reader.is_null() {
                return Err(ErrorKind::OutOfMemory.into());
            }
            if server::find_wal_record(reader, start) != 0 {
                while !pg_sys::XLogReadRecord(reader, &mut message).is_null()
                    && (*reader).ReadRecPtr < start + self.segment_size
                {
                    last = last.max(time_of(&*(*reader).record));
                }
            }
            pg_sys::XLogReaderFree(reader);
        }
        self.error.take().map_or(Ok(last), Err)
    }

    fn read(&mut self, position: XLogRecPtr, page: &mut [u8]) -> io::Result<()> {
        let segment = position / self.segment_size;
        if self.open.as_ref().is_none_or(|(open, _)| *open != segment) {
            self.open = Some((segment, File::open(self.path(segment))?));
        }
        let file = self.open.as_ref().map(|(_, file)| file);
        file.map_or(Ok(()), |file| file.read_exact_at(page, position % self.segment_size))
    }
}

/// Reads a page for the reader, up to the end of the [`Past`]. Returns the number of bytes; -1 if fewer than `wanted` precede
/// that end, or if the read fails.
unsafe extern "C-unwind" fn read_page(
    reader: *mut XLogReaderState,
    page: XLogRecPtr,
    wanted: c_int,
    _record: XLogRecPtr,
    buffer: *mut c_char,
) -> c_int {
    // SAFETY: `last_time_in` creates the reader with a `Past`. The reader's buffer has room for a page.
    let (past, buffer) = unsafe {
        let past = &mut *(*reader).private_data.cast::<Past>();
        let length = past.end.saturating_sub(page).min(pg_sys::XLOG_BLCKSZ.into());
        (past, slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize))
    };
    if buffer.len() < wanted as usize {
        return -1;
    }
    match past.read(page, buffer) {
        Ok(()) => buffer.len() as c_int,
        Err(error) => {
            past.error = Some(error);
            -1
        }
    }
}

/// Returns the time in a record, in microseconds since 1970-01-01 UTC; `None` unless the record is the end or the
/// preparation of a transaction, or a checkpoint.
///
/// # Safety
/// A reader has decoded the record.
unsafe fn time_of(record: &DecodedXLogRecord) -> Option<i64> {
    let (manager, info) = (u32::from(record.header.xl_rmid), u32::from(record.header.xl_info));
    if record.main_data_len == 0 {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    let data = unsafe { slice::from_raw_parts(record.main_data.cast::<u8>(), record.main_data_len as usize) };
    let number = |offset: usize| Some(i64::from_ne_bytes(*data.get(offset..)?.first_chunk()?));
    match manager {
        pg_sys::RmgrIds::RM_XACT_ID => match info & pg_sys::XLOG_XACT_OPMASK {
            pg_sys::XLOG_XACT_PREPARE => number(offset_of!(pg_sys::xl_xact_prepare, prepared_at)),
            pg_sys::XLOG_XACT_COMMIT
            | pg_sys::XLOG_XACT_ABORT
            | pg_sys::XLOG_XACT_COMMIT_PREPARED
            | pg_sys::XLOG_XACT_ABORT_PREPARED => number(offset_of!(pg_sys::xl_xact_commit, xact_time)),
            _ => None,
        }
        .map(epoch::saturated_unix_micros),
        pg_sys::RmgrIds::RM_XLOG_ID => match info & !pg_sys::XLR_INFO_MASK {
            // In whole seconds, rounded down. One second more is an upper bound.
            pg_sys::XLOG_CHECKPOINT_SHUTDOWN | pg_sys::XLOG_CHECKPOINT_ONLINE => {
                number(offset_of!(pg_sys::CheckPoint, time))
                    .map(|seconds| seconds.saturating_add(1).saturating_mul(1_000_000))
            }
            _ => None,
        },
        _ => None,
    }
}
