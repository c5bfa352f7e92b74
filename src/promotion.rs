//! What a promoted server has to exceed: the IDs that its primary handed out.

use pgrx::pg_sys::{self, TimeLineID};
use scru_ids::SortableId;
use scru_ids::mark::Mark;
use scru_ids::registry;

use crate::error::Error;
use crate::mark::{self, Record};
use crate::{epoch, wal};

// The server's function as it is: pgrx's guard around it would cost as much as the rest of a draw.
unsafe extern "C-unwind" {
    fn RecoveryInProgress() -> bool;
}

/// Whether the server is in recovery.
#[inline]
pub fn is_in_recovery() -> bool {
    // SAFETY: reads the server's state.
    unsafe { RecoveryInProgress() }
}

/// The timeline that began with the server's last promotion; `None` in recovery, and on the first timeline.
pub fn timeline() -> Option<TimeLineID> {
    if is_in_recovery() {
        return None;
    }
    // SAFETY: reads shared memory. The server is not in recovery, so that the timeline is set.
    let timeline = unsafe { pg_sys::GetWALInsertionTimeLine() };
    (timeline > 1).then_some(timeline)
}

/// Keeps the marks of the promotion that began the server's timeline, unless they are there: of all types, so that a restart
/// before their first draw does not forget it.
///
/// # Errors
/// If the WAL cannot be read, or a mark cannot be written.
pub fn keep_marks() -> Result<(), Error> {
    let Some(timeline) = timeline() else { return Ok(()) };
    let mut is_missing = false;
    macro_rules! look {
        ($name:ident, $id:ident, $sql:literal) => {
            is_missing |= !is_kept::<scru_ids::$id>(timeline);
        };
    }
    registry!(look);
    if !is_missing {
        return Ok(());
    }
    let last = wal::last_time_before(timeline)?.max(last_replayed_commit());
    macro_rules! keep {
        ($name:ident, $id:ident, $sql:literal) => {
            keep::<scru_ids::$id>(timeline, last)?;
        };
    }
    registry!(keep);
    Ok(())
}

/// Marks a promotion as one that asks for nothing more: what a superuser has set holds instead.
///
/// # Errors
/// If the mark cannot be written.
pub fn forget<T: SortableId>() -> Result<(), Error> {
    timeline().map_or(Ok(()), |timeline| write::<T>(Mark::of_promotion::<T>(timeline, None)))
}

fn is_kept<T: SortableId>(timeline: TimeLineID) -> bool {
    let is_of_promotion = |record| matches!(record, Record::Mark(mark) if mark.is_of_promotion(timeline));
    !mark::list::<T>(is_of_promotion).is_empty()
}

/// Keeps a type's mark, unless another process has, and removes those of earlier promotions that it makes needless.
fn keep<T: SortableId>(timeline: TimeLineID, last: Option<i64>) -> Result<(), Error> {
    if is_kept::<T>(timeline) {
        return Ok(());
    }
    let new = Mark::of_promotion::<T>(timeline, last);
    let is_needless = |old: Mark| old.state >= Mark::PROMOTION && old.tick <= new.tick;
    let needless = mark::list::<T>(|record| matches!(record, Record::Mark(old) if is_needless(old)));
    write::<T>(new)?;
    mark::remove_but_newest::<T>(needless);
    Ok(())
}

fn write<T: SortableId>(mark: Mark) -> Result<(), Error> {
    // One that was taken away meanwhile was set back by a superuser.
    mark::write::<T>(Record::Mark(mark), || true).map(|_| ())
}

/// The time of the last commit that archive recovery has replayed since the server's start, in microseconds since 1970-01-01
/// UTC; `None` on a server that was not promoted.
fn last_replayed_commit() -> Option<i64> {
    // SAFETY: reads shared memory under the server's own lock.
    let time = unsafe { pg_sys::GetLatestXTime() };
    (time != 0).then(|| epoch::saturated_unix_micros(time))
}
