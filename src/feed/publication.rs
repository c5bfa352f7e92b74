//! What a transaction publishes before its first ID and at its end, so that readers know its bound.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use pgrx::{pg_guard, pg_sys};
use scru_server::horizon;

use crate::call::error::{self, Error};
use crate::feed::carried_floor;
use crate::feed::horizon_access::SharedHorizon;
use crate::pg::catalog::Schema;
use crate::pg::process::PerProcess;
use crate::pg::{transaction, wal};
use crate::shared::memory;

/// The transaction in which this process has last drawn.
#[derive(Clone, Copy)]
struct Drawing {
    local: u64,
    /// The time at or above which it draws.
    from: i64,
    /// The first value of `from`.
    first: i64,
    /// The part of `from` that the database carries, as [`carried_floor::for_draw`] returns it.
    carried: i64,
}

const NOT_DRAWN: Drawing = Drawing { local: u64::MAX, from: i64::MIN, first: i64::MIN, carried: i64::MIN };

static DRAWING: PerProcess<Cell<Drawing>> = PerProcess::new(Cell::new(NOT_DRAWN));

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<Cell<(u64, bool)>> = PerProcess::new(Cell::new((u64::MAX, false)));

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    // SAFETY: the function handles each event.
    unsafe { pg_sys::RegisterXactCallback(Some(on_event), ptr::null_mut()) };
}

/// The time at or above which this process draws the IDs of its transaction; `None` if [`begin`] must be called first.
#[inline(always)]
pub fn published() -> Option<i64> {
    let local = u64::from(transaction::local());
    let drawing = DRAWING.get();
    (drawing.local == local).then_some(drawing.from)
}

/// The time that the database carried when the transaction was published; the smallest number if none.
#[inline(always)]
pub fn carried() -> i64 {
    DRAWING.get().carried
}

/// Begins the generation of IDs in a transaction: before its first ID, publishes the transaction, and before the first of this process,
/// finds the shared memory and reads the floors. Returns the time at or above which this process draws. 53200 if not enough shared
/// memory is left, as with all functions here.
#[inline]
pub fn begin(schema: Schema) -> Result<i64, Error> {
    match published() {
        Some(from) => Ok(from),
        None => begin_anew(schema),
    }
}

/// As [`begin`], also for a transaction that is published: what the database carries may have changed.
#[cold]
#[inline(never)]
pub fn begin_anew(schema: Schema) -> Result<i64, Error> {
    // A transaction that draws during recovery cannot write.
    if wal::is_in_recovery() {
        return Ok(i64::MIN);
    }
    let local = u64::from(transaction::local());
    // Once a process: finds the shared memory, then reads the floors, that of the database in mark_sequence.rs and that of the server in
    // mark_page.rs.
    let (from, carried) = match memory::of_horizon()? {
        Some(memory) => {
            let carried = carried_floor::for_draw(memory, schema);
            let mut access = SharedHorizon::new(memory);
            let from = horizon::publish(&mut access)?.max(carried);
            let (ending, is_prepared) = ENDING.get();
            if ending == local && !transaction::is_parallel_worker() {
                access.record(transaction::assign_own_number(), is_prepared)?;
            }
            (from, carried)
        }
        // Nobody can read a horizon on this server.
        None => (i64::MIN, i64::MIN),
    };
    let before = DRAWING.get();
    let first = if before.local == local && before.first != i64::MIN { before.first } else { from };
    DRAWING.set(Drawing { local, from, first, carried });
    Ok(from)
}

/// Publishes the transaction unless it is published, and returns the time that no reader has passed which does not wait for the end
/// of the transaction: what this process has loaded from the clock and the floor after it had published. The bound itself is too
/// early: a reader that has not seen it may have raised the floor in between.
///
/// # Errors
/// As [`begin`].
#[inline]
pub fn unpassed(schema: Schema) -> Result<i64, Error> {
    begin(schema)?;
    Ok(DRAWING.get().first)
}

/// Raises the time at or above which this process draws.
pub fn advance(from: i64) {
    DRAWING.update(|drawing| Drawing { from: drawing.from.max(from), ..drawing });
}

#[pg_guard]
unsafe extern "C-unwind" fn on_event(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let is_prepared = event == pg_sys::XactEvent::XACT_EVENT_PRE_PREPARE;
    if !is_prepared && event != pg_sys::XactEvent::XACT_EVENT_PRE_COMMIT {
        return;
    }
    ENDING.set((u64::from(transaction::local()), is_prepared));
    let memory = || match published() {
        Some(_) => memory::of_horizon(),
        // A parallel worker may have published for this process.
        None if transaction::has_led() => memory::existing_of_horizon(),
        None => Ok(None),
    };
    if !wal::is_in_recovery()
        && let Some(number) = transaction::own_number()
        && let Err(error) = memory()
            .and_then(|memory| memory.map_or(Ok(()), |memory| SharedHorizon::new(memory).record(number, is_prepared)))
    {
        // SAFETY: nothing is left to drop. The transaction rolls back.
        unsafe { error::report(error, ptr::null_mut()) };
    }
}
