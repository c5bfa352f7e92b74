//! Times in the write-ahead log: what a promoted server knows of its primary's clock.

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

const FOLDER: &str = "pg_wal";

/// The last time in the WAL before a timeline's beginning, in microseconds since 1970-01-01 UTC: of a transaction that ended or
/// was prepared, or of a checkpoint. `None` if the timeline is the first, or that part of the WAL is gone.
///
/// # Errors
/// If a file cannot be read.
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
        .detail("The first ID after a promotion has to be above those of the last transaction in the WAL.")
        .hint("Check the directory \"pg_wal\" in the data directory, and its permissions.")
}

/// The WAL up to the beginning of a timeline.
struct Past {
    /// All timelines that lead there and where they begin, the youngest first.
    timelines: Vec<(TimeLineID, XLogRecPtr)>,
    end: XLogRecPtr,
    segment_size: u64,
    /// The segment that was read last, and its number.
    open: Option<(u64, File)>,
    /// Why the last read failed.
    error: Option<io::Error>,
}

impl Past {
    fn of(timeline: TimeLineID) -> Self {
        // SAFETY: reads a file of the server. The list has an entry at least, and all are of this type. The size is set as the
        // server starts.
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

    /// The file of a segment. A timeline begins with a copy of the segment in which it leaves the one before.
    fn path(&self, segment: u64) -> PathBuf {
        let end = (segment + 1) * self.segment_size;
        let timeline = self.timelines.iter().find(|(_, begin)| *begin < end).map_or(0, |&(timeline, _)| timeline);
        let segments = (1 << 32) / self.segment_size;
        Path::new(FOLDER).join(format!("{timeline:08X}{:08X}{:08X}", segment / segments, segment % segments))
    }

    /// The last time in the records that begin in a segment.
    fn last_time_in(&mut self, segment: u64) -> io::Result<Option<i64>> {
        let start = segment * self.segment_size;
        let mut routine = pg_sys::XLogReaderRoutine { page_read: Some(read_page), ..Default::default() };
        let (mut last, mut message) = (None, ptr::null_mut());
        // SAFETY: used as the server's own programs do. `self` outlives the reader, which has no other file to close.
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

/// Hands a page to the reader, up to the end of the [`Past`]; -1 if there is less than is wanted.
unsafe extern "C-unwind" fn read_page(
    reader: *mut XLogReaderState,
    page: XLogRecPtr,
    wanted: c_int,
    _record: XLogRecPtr,
    buffer: *mut c_char,
) -> c_int {
    // SAFETY: the reader was made with this, and its buffer has room for a page.
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

/// The time in a record, in microseconds since 1970-01-01 UTC; `None` if it has none that is of use here.
///
/// # Safety
/// The record is one that a reader has decoded.
unsafe fn time_of(record: &DecodedXLogRecord) -> Option<i64> {
    let (manager, info) = (u32::from(record.header.xl_rmid), u32::from(record.header.xl_info));
    if record.main_data_len == 0 {
        return None;
    }
    // SAFETY: as the caller's.
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
            // In whole seconds, rounded down.
            pg_sys::XLOG_CHECKPOINT_SHUTDOWN | pg_sys::XLOG_CHECKPOINT_ONLINE => {
                number(offset_of!(pg_sys::CheckPoint, time))
                    .map(|seconds| seconds.saturating_add(1).saturating_mul(1_000_000))
            }
            _ => None,
        },
        _ => None,
    }
}
