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
use crate::feed::prepared;
use crate::pg::process::PerProcess;
use crate::pg::{transaction, wal};
use crate::shared::marks::Backend;
use crate::shared::memory::{self, HorizonMemory};

/// The transaction in which this process has last drawn.
#[derive(Clone, Copy)]
struct Drawing {
    local: u64,
    /// The time at or above which it draws.
    from: i64,
    /// The first value of `from`.
    first: i64,
    /// The time that has arrived with the database, which `from` includes; 0 if there is none.
    arrived: i64,
}

const NOT_DRAWN: Drawing = Drawing { local: u64::MAX, from: i64::MIN, first: i64::MIN, arrived: 0 };

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

/// The time that had arrived with the database when the transaction was published; 0 if there is none.
pub fn arrived() -> i64 {
    DRAWING.get().arrived
}

/// Begins the generation of IDs in a transaction: before its first ID, publishes the transaction, and before the first of this process,
/// finds the shared memory and reads the marks. Returns the time at or above which this process draws. 53200 if not enough shared
/// memory is left, as with all functions here.
#[inline]
pub fn begin() -> Result<i64, Error> {
    match published() {
        Some(from) => Ok(from),
        None => begin_anew(),
    }
}

/// As [`begin`], also for a transaction that is published: what the database carries may have changed.
#[cold]
#[inline(never)]
pub fn begin_anew() -> Result<i64, Error> {
    // A transaction that draws during recovery cannot write.
    if wal::is_in_recovery() {
        return Ok(i64::MIN);
    }
    let local = u64::from(transaction::local());
    let (from, arrived) = match memory::of_horizon()? {
        Some(memory) => {
            let arrived = learn(memory);
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
    let before = DRAWING.get();
    let first = if before.local == local && before.first != i64::MIN { before.first } else { from };
    DRAWING.set(Drawing { local, from, first, arrived });
    Ok(from)
}

/// Looks at what the database carries for the horizons. Continues if the page or the sequence cannot be read or written: as long as that
/// is so, there are no horizons, and only the clock is above those from before the start.
fn learn(memory: HorizonMemory) -> i64 {
    let mut marks = Backend::at(memory.marks);
    if memory.has_begun() && protocol::is_learned(&mut marks, Mark::Horizons).unwrap_or_default() {
        return 0;
    }
    let look = || {
        let arrived = protocol::learn(&mut Backend::at(memory.marks), Mark::Horizons)?;
        prepared::begin(memory);
        Ok(arrived)
    };
    let mut of_sequence = || {
        let (carried, _) = marks.read_carried(Mark::Horizons)?;
        Ok::<_, Error>(if carried.has_arrived { carried.time } else { 0 })
    };
    // A parallel operation permits no subtransaction, in which errors of the server can be ignored as well. Those of the sequence are
    // not: what has arrived would be unknown.
    let learned = if transaction::is_parallel() { look() } else { error::attempt(look) };
    learned.or_else(|_| of_sequence()).unwrap_or_default()
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
