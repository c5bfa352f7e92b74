//! What a transaction publishes before its first ID and at its end, so that readers know its bound.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use pgrx::{pg_guard, pg_sys};
use scru_server::horizon;
use scru_server::mark::Mark;
use scru_server::protocol;

use crate::call::error::{self, Error};
use crate::feed::horizon_access::SharedHorizon;
use crate::pg::process::PerProcess;
use crate::pg::{transaction, wal};
use crate::shared::marks::{DRAWING, SharedMarks};
use crate::shared::{mark_sequence, memory};

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<Cell<(u32, bool)>> = PerProcess::new(Cell::new((0, false)));

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    // SAFETY: the function handles each event.
    unsafe { pg_sys::RegisterXactCallback(Some(on_event), ptr::null_mut()) };
}

/// Whether the draws of this process need nothing of [`begin`]; `false` during recovery.
#[inline(always)]
pub fn has_begun(is_shared: bool) -> bool {
    let begun = if is_shared { &DRAWING.begun_shared } else { &DRAWING.published };
    begun.get() == transaction::local()
}

/// Begins the generation of IDs in a transaction: before its first ID, publishes the transaction. Before the first of this process, finds
/// the shared memory, and before the first since the start of the server, reads the marks. Before the first ID from shared state, looks
/// at what the database carries for these. With `anew`, also in a transaction that has begun: what the database carries may have changed.
/// During recovery, a transaction writes nothing, and can outlast it. 53200 if not enough shared memory is left, as with all functions
/// here.
#[cold]
#[inline(never)]
pub fn begin(is_shared: bool, anew: bool) -> Result<(), Error> {
    // A process that has published a transaction is never in recovery again.
    if DRAWING.published.get() == 0 && wal::is_in_recovery() {
        return Ok(());
    }
    if anew || DRAWING.published.get() != transaction::local() {
        publish()?;
    }
    if is_shared {
        let arrived = protocol::learn(&mut SharedMarks::new()?, Mark::Draws)?;
        DRAWING.arrived.set(arrived.max(DRAWING.arrived.get()));
        DRAWING.begun_shared.set(transaction::local());
    }
    Ok(())
}

/// Publishes the transaction, and remembers at or above which time it draws.
fn publish() -> Result<(), Error> {
    // If there is no memory, nobody can read a horizon on this server.
    let (local, mut from, mut arrived) = (transaction::local(), i64::MIN, 0);
    if let Some(memory) = memory::of_horizon(true)? {
        let mut access = SharedHorizon::new(memory)?;
        arrived = if protocol::is_learned(&mut access.marks, Mark::Horizons)? { 0 } else { learn_horizons() };
        from = horizon::publish(&mut access)?.max(arrived);
        // A callback of another library may draw after `on_event`.
        let (ending, is_prepared) = ENDING.get();
        if ending == local && !transaction::is_parallel_worker() {
            access.record(transaction::assign_own_number(), is_prepared)?;
        }
    }
    if DRAWING.published.get() != local {
        DRAWING.first.set(from);
    }
    DRAWING.published.set(local);
    DRAWING.begun_shared.set(0);
    DRAWING.from.set(from);
    DRAWING.arrived.set(arrived);
    Ok(())
}

/// Looks at what the database carries for the horizons. Returns the time that has arrived; 0 if there is none.
///
/// Continues if the page or the sequence cannot be read or written: as long as that is so, there are no horizons, and only the clock is
/// above those from before the start.
#[cold]
fn learn_horizons() -> i64 {
    let look = || protocol::learn(&mut SharedMarks::new()?, Mark::Horizons);
    // A parallel operation permits no subtransaction, in which errors of the server can be ignored as well. Those of the sequence are
    // not: what has arrived would be unknown.
    let learned = if transaction::is_parallel() { look() } else { error::attempt(look) };
    let of_sequence = |_| mark_sequence::read(Mark::Horizons).map(|(carried, _)| carried.arrived());
    learned.or_else(of_sequence).unwrap_or_default()
}

/// Publishes the transaction unless it is published, and returns the time that no reader has passed which does not wait for the end
/// of the transaction: what this process has loaded from the clock and the floor after it had published. The bound itself is too
/// early: a reader that has not seen it may have raised the floor in between.
///
/// # Errors
/// As [`begin`].
pub fn unpassed() -> Result<i64, Error> {
    begin(false, false)?;
    Ok(DRAWING.first.get())
}

#[pg_guard]
unsafe extern "C-unwind" fn on_event(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let is_prepared = event == pg_sys::XactEvent::XACT_EVENT_PRE_PREPARE;
    if !is_prepared && event != pg_sys::XactEvent::XACT_EVENT_PRE_COMMIT {
        return;
    }
    ENDING.set((transaction::local(), is_prepared));
    // A parallel worker may have published for this process.
    let may_have_published = DRAWING.published.get() == transaction::local() || transaction::has_led();
    if !wal::is_in_recovery()
        && may_have_published
        && let Some(number) = transaction::own_number()
        && let Err(error) = memory::of_horizon(false)
            .and_then(|memory| memory.map_or(Ok(()), |memory| SharedHorizon::new(memory)?.record(number, is_prepared)))
    {
        // SAFETY: nothing is left to drop. The transaction rolls back.
        unsafe { error::report(error, ptr::null_mut()) };
    }
}
