//! What a transaction publishes before its first ID and at its end, so that readers know its bound.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use pgrx::{pg_guard, pg_sys};
use scru_server::horizon;
use scru_server::mark::Mark;
use scru_server::protocol::{self, Marks};

use crate::call::error::{self, Error};
use crate::feed::horizon_access::SharedHorizon;
use crate::pg::process::PerProcess;
use crate::pg::{transaction, wal};
use crate::shared::marks::Backend;
use crate::shared::memory;

/// The transaction in which this process has last drawn.
#[derive(Clone, Copy)]
struct Drawing {
    /// Its number in this process; 0 if there is none.
    local: u32,
    /// The time at or above which it draws.
    from: i64,
    /// The first value of `from`.
    first: i64,
    /// The time that has arrived with the database with the mark of horizons, which `from` includes; 0 if there is none.
    arrived: i64,
    /// The time that has arrived with either mark; `None` before the transaction draws from shared state.
    arrived_of_both: Option<i64>,
}

const NOT_DRAWN: Drawing = Drawing { local: 0, from: i64::MIN, first: i64::MIN, arrived: 0, arrived_of_both: None };

static DRAWING: PerProcess<Cell<Drawing>> = PerProcess::new(Cell::new(NOT_DRAWN));

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<Cell<(u32, bool)>> = PerProcess::new(Cell::new((0, false)));

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    // SAFETY: the function handles each event.
    unsafe { pg_sys::RegisterXactCallback(Some(on_event), ptr::null_mut()) };
}

/// What this process has published for its transaction.
#[inline(always)]
fn published() -> Option<Drawing> {
    let drawing = DRAWING.get();
    (drawing.local == transaction::local()).then_some(drawing)
}

/// Begins the generation of IDs in a transaction: before its first ID, publishes the transaction, and before the first of this process,
/// finds the shared memory and reads the marks. Returns the time at or above which this process draws; `None` during recovery. 53200 if
/// not enough shared memory is left, as with all functions here.
#[inline(always)]
pub fn begin() -> Result<Option<i64>, Error> {
    match published() {
        Some(drawing) => Ok(Some(drawing.from)),
        None => begin_anew(),
    }
}

/// As [`begin`], also for a transaction that is published: what the database carries may have changed.
#[cold]
#[inline(never)]
pub fn begin_anew() -> Result<Option<i64>, Error> {
    // A transaction that draws during recovery cannot write.
    if wal::is_in_recovery() {
        return Ok(None);
    }
    let local = transaction::local();
    let (from, arrived) = match memory::of_horizon(true)? {
        Some(memory) => {
            let arrived = learn()?;
            let mut access = SharedHorizon::new(memory);
            let from = horizon::publish(&mut access)?.max(arrived);
            let (ending, is_prepared) = ENDING.get();
            if ending == local && !transaction::is_parallel_worker() {
                access.record(transaction::assign_own_number(), is_prepared)?;
            }
            (from, arrived)
        }
        // Nobody can read a horizon on this server.
        None => (i64::MIN, 0),
    };
    let first = published().map(|before| before.first).filter(|first| *first != i64::MIN).unwrap_or(from);
    DRAWING.set(Drawing { local, from, first, arrived, arrived_of_both: None });
    Ok(Some(from))
}

/// The time that has arrived with the database, and for which draws from shared state wait in a transaction that has begun; 0 if there
/// is none.
#[inline(always)]
pub fn arrived() -> Result<i64, Error> {
    match DRAWING.get().arrived_of_both {
        Some(arrived) => Ok(arrived),
        None => learn_of_draws(),
    }
}

#[cold]
#[inline(never)]
fn learn_of_draws() -> Result<i64, Error> {
    let arrived = protocol::learn(&mut Backend::with(())?, Mark::Draws)?.max(DRAWING.get().arrived);
    DRAWING.update(|drawing| Drawing { arrived_of_both: Some(arrived), ..drawing });
    Ok(arrived)
}

/// Looks at what the database carries for the horizons. Returns the time that has arrived; 0 if there is none.
fn learn() -> Result<i64, Error> {
    let mut marks = Backend::with(())?;
    if protocol::is_learned(&mut marks, Mark::Horizons)? { Ok(0) } else { Ok(learn_anew(marks)) }
}

/// Continues if the page or the sequence cannot be read or written: as long as that is so, there are no horizons, and only the clock is
/// above those from before the start.
#[cold]
fn learn_anew(mut marks: Backend<()>) -> i64 {
    let look = || protocol::learn(&mut Backend::with(())?, Mark::Horizons);
    // A parallel operation permits no subtransaction, in which errors of the server can be ignored as well. Those of the sequence are
    // not: what has arrived would be unknown.
    let learned = if transaction::is_parallel() { look() } else { error::attempt(look) };
    let of_sequence = |_| marks.read_carried(Mark::Horizons).map(|(carried, _)| carried.arrived());
    learned.or_else(of_sequence).unwrap_or_default()
}

/// Publishes the transaction unless it is published, and returns the time that no reader has passed which does not wait for the end
/// of the transaction: what this process has loaded from the clock and the floor after it had published. The bound itself is too
/// early: a reader that has not seen it may have raised the floor in between.
///
/// # Errors
/// As [`begin`].
#[inline]
pub fn unpassed() -> Result<i64, Error> {
    begin()?;
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
    ENDING.set((transaction::local(), is_prepared));
    // A parallel worker may have published for this process.
    let may_have_published = published().is_some() || transaction::has_led();
    if !wal::is_in_recovery()
        && may_have_published
        && let Some(number) = transaction::own_number()
        && let Err(error) = memory::of_horizon(false)
            .and_then(|memory| memory.map_or(Ok(()), |memory| SharedHorizon::new(memory).record(number, is_prepared)))
    {
        // SAFETY: nothing is left to drop. The transaction rolls back.
        unsafe { error::report(error, ptr::null_mut()) };
    }
}
