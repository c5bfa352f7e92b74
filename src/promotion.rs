//! Promotions: the IDs of a promoted server must be greater than those that its primary generated.

use pgrx::pg_sys::{self, TimeLineID};
use scru_ids::SortableId;
use scru_ids::mark::Mark;
use scru_ids::registry;

use crate::error::Error;
use crate::mark::{self, Record};
use crate::{epoch, wal};

// Declared here to avoid pgrx's guard, which would cost as much as the rest of the generation of an ID.
unsafe extern "C-unwind" {
    fn RecoveryInProgress() -> bool;
}

/// Returns whether the server is in recovery.
#[inline]
pub fn is_in_recovery() -> bool {
    // SAFETY: reads the state of the server.
    unsafe { RecoveryInProgress() }
}

/// Returns the timeline that began with the server's last promotion; `None` in recovery, and on the first timeline.
pub fn timeline() -> Option<TimeLineID> {
    if is_in_recovery() {
        return None;
    }
    // SAFETY: reads shared memory. The server is not in recovery, so the timeline is set.
    let timeline = unsafe { pg_sys::GetWALInsertionTimeLine() };
    (timeline > 1).then_some(timeline)
}

/// Writes the marks of the promotion that began the server's timeline, unless they exist. Writes them for all types at once, so
/// that a restart before a type's first ID does not lose the promotion.
///
/// # Errors
/// Returns an error if the WAL cannot be read or a mark cannot be written.
pub fn write_marks() -> Result<(), Error> {
    let Some(timeline) = timeline() else { return Ok(()) };
    let mut is_missing = false;
    macro_rules! look {
        ($name:ident, $id:ident) => {
            is_missing |= !has_mark::<scru_ids::$id>(timeline);
        };
    }
    registry!(look);
    if !is_missing {
        return Ok(());
    }
    let last = wal::last_time_before(timeline)?.max(last_replayed_commit());
    macro_rules! write_each {
        ($name:ident, $id:ident) => {
            write_if_missing::<scru_ids::$id>(timeline, last)?;
        };
    }
    registry!(write_each);
    Ok(())
}

/// Writes a mark of tick 0 for the last promotion, if there is one. The mark set by a superuser then applies instead.
///
/// # Errors
/// Returns an error if the mark cannot be written.
pub fn forget<T: SortableId>() -> Result<(), Error> {
    timeline().map_or(Ok(()), |timeline| write::<T>(Mark::of_promotion::<T>(timeline, None)))
}

fn has_mark<T: SortableId>(timeline: TimeLineID) -> bool {
    let is_of_promotion = |record| matches!(record, Record::Mark(mark) if mark.is_of_promotion(timeline));
    !mark::list::<T>(is_of_promotion).is_empty()
}

/// Writes a type's mark, unless another process has written it, and removes the marks of earlier promotions that it replaces.
fn write_if_missing<T: SortableId>(timeline: TimeLineID, last: Option<i64>) -> Result<(), Error> {
    if has_mark::<T>(timeline) {
        return Ok(());
    }
    let new = Mark::of_promotion::<T>(timeline, last);
    let is_replaced = |old: Mark| old.state >= Mark::PROMOTION && old.tick <= new.tick;
    let replaced = mark::list::<T>(|record| matches!(record, Record::Mark(old) if is_replaced(old)));
    write::<T>(new)?;
    mark::remove_but_highest::<T>(replaced);
    Ok(())
}

fn write<T: SortableId>(mark: Mark) -> Result<(), Error> {
    // `false` means that a superuser has set the mark back in the meantime.
    mark::write::<T>(Record::Mark(mark), || true).map(|_| ())
}

/// Returns the time of the last commit or abort that archive recovery has replayed since the server's start, in microseconds
/// since 1970-01-01 UTC; `None` if there is none.
fn last_replayed_commit() -> Option<i64> {
    // SAFETY: reads shared memory under the server's lock.
    let time = unsafe { pg_sys::GetLatestXTime() };
    (time != 0).then(|| epoch::saturated_unix_micros(time))
}
