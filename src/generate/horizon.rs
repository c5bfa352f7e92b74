//! The horizon: what a transaction publishes before its first ID and at its end, and the horizons that this process returns.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::ptr;
use std::collections::HashMap;

use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::horizon::{self, Access, Owner};

use crate::call::error::Error;
use crate::generate::horizon_access::{Backend, prepared_bounds};
use crate::generate::{carried_floor, memory};
use crate::pg::catalog::Schema;
use crate::pg::process::PerProcess;
use crate::pg::transaction::{self, Snapshot};
use crate::pg::{log, portal};

/// The transaction in which this process has last drawn, and the time at or above which it draws. `bound` is the part of `from` that
/// the database carries, and that nothing shared may reach before the clock. `first` is the first value of `from`.
#[derive(Clone, Copy)]
struct Drawing {
    local: u64,
    from: i64,
    first: i64,
    bound: i64,
}

const NOT_DRAWN: Drawing = Drawing { local: u64::MAX, from: i64::MIN, first: i64::MIN, bound: i64::MIN };

static DRAWING: PerProcess<Cell<Drawing>> = PerProcess::new(Cell::new(NOT_DRAWN));

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<Cell<(u64, bool)>> = PerProcess::new(Cell::new((u64::MAX, false)));

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    // SAFETY: the function handles each event.
    unsafe { pg_sys::RegisterXactCallback(Some(on_event), ptr::null_mut()) };
}

/// Returns the time at or above which this process draws the IDs of its transaction; `None` if [`publish`] must be called first.
#[inline(always)]
pub fn published() -> Option<i64> {
    let local = u64::from(transaction::local());
    let drawing = DRAWING.get();
    (drawing.local == local).then_some(drawing.from)
}

/// Returns the bound that the database carried when the transaction was published; the smallest number if none.
#[inline(always)]
pub fn bound() -> i64 {
    DRAWING.get().bound
}

/// Publishes the transaction before its first ID, and returns the time at or above which this process draws. 53200 if not enough
/// shared memory is left, as with all functions here.
#[inline]
pub fn publish(schema: Schema) -> Result<i64, Error> {
    match published() {
        Some(from) => Ok(from),
        None => publish_anew(schema),
    }
}

/// As [`publish`], also for a transaction that is published: what the database carries may have changed.
#[cold]
#[inline(never)]
pub fn publish_anew(schema: Schema) -> Result<i64, Error> {
    // A transaction that draws during recovery cannot write.
    if log::is_in_recovery() {
        return Ok(i64::MIN);
    }
    let local = u64::from(transaction::local());
    let (from, bound) = match memory::of_horizon()? {
        Some(memory) => {
            if !carried_floor::is_known(memory) {
                carried_floor::learn_to_draw(memory, schema)?;
            }
            let bound = carried_floor::BOUND.get();
            let mut backend = Backend::new(memory);
            let from = horizon::publish(&mut backend)?.max(bound);
            let (ending, is_prepared) = ENDING.get();
            if ending == local && !transaction::is_parallel_worker() {
                backend.record(transaction::assign_own_number(), is_prepared)?;
            }
            (from, bound)
        }
        // Nobody can read a horizon on this server.
        None => (i64::MIN, i64::MIN),
    };
    let before = DRAWING.get();
    let first = if before.local == local && before.first != i64::MIN { before.first } else { from };
    DRAWING.set(Drawing { local, from, first, bound });
    Ok(from)
}

/// Publishes the transaction unless it is published, and returns the time that no reader has passed which does not wait for the end
/// of the transaction: what this process has loaded from the clock and the floor after it had published. The bound itself is too
/// early: a reader that has not seen it may have raised the floor in between.
///
/// # Errors
/// As [`publish`].
#[inline]
pub fn unpassed(schema: Schema) -> Result<i64, Error> {
    publish(schema)?;
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
    if !log::is_in_recovery()
        && let Some(number) = transaction::own_number()
        && let Err(error) =
            memory().and_then(|memory| memory.map_or(Ok(()), |memory| Backend::new(memory).record(number, is_prepared)))
    {
        // SAFETY: nothing is left to drop. The transaction rolls back.
        unsafe { crate::call::error::report(error, ptr::null_mut()) };
    }
}

/// The horizons that this process has returned in a transaction, by the client's statement and the content of the snapshot.
///
/// The server evaluates a STABLE function any number of times in a statement. Two values for one snapshot would together be wrong,
/// because a transaction may roll back in between. So the first one is returned again. A later statement can have an equal snapshot:
/// on an idle server, it would never read the last row if it had the same value.
struct Returned {
    local: u64,
    last: Option<(i64, Box<[u32]>, i64)>,
    all: HashMap<(i64, Box<[u32]>), i64>,
    /// The number of values at which those that nobody can ask for are removed.
    full: usize,
}

/// The statement of all snapshots that are those of their transaction.
const OF_TRANSACTION: i64 = 0;

static RETURNED: PerProcess<RefCell<Option<Returned>>> = PerProcess::new(RefCell::new(None));

fn statement() -> i64 {
    if Snapshot::is_of_transaction() { OF_TRANSACTION } else { portal::statement() }
}

fn returned(statement: i64, snapshot: &Snapshot) -> Option<i64> {
    let returned = RETURNED.borrow();
    let returned = returned.as_ref().filter(|returned| returned.local == u64::from(transaction::local()))?;
    match &returned.last {
        Some((of_last, content, value)) if *of_last == statement && snapshot.has(content) => Some(*value),
        _ => returned.all.get(&(statement, snapshot.content())).copied(),
    }
}

fn remember(statement: i64, snapshot: &Snapshot, value: i64) {
    let content = snapshot.content();
    let local = u64::from(transaction::local());
    let mut returned = RETURNED.borrow_mut();
    returned.take_if(|returned| returned.local != local);
    let returned = returned.get_or_insert_with(|| Returned { local, last: None, all: HashMap::new(), full: 64 });
    if returned.all.len() >= returned.full {
        let is_open = |statement| statement == OF_TRANSACTION || portal::is_open(statement);
        returned.all.retain(|(statement, content), _| is_open(*statement) && !Snapshot::is_gone(content));
        returned.full = 64.max(2 * returned.all.len());
    }
    returned.all.insert((statement, content.clone()), value);
    returned.last = Some((statement, content, value));
}

/// Returns the horizon of the snapshot of the statement, in microseconds since 1970-01-01 UTC. 55000 if the snapshot is too old,
/// 25000 in a parallel worker.
pub fn of_statement(schema: Schema) -> Result<i64, Error> {
    // SAFETY: this function returns before the statement ends.
    let snapshot = unsafe { Snapshot::active() };
    let statement = statement();
    if let Some(value) = returned(statement, &snapshot) {
        return Ok(value);
    }
    if transaction::is_parallel_worker() {
        let message = "cannot read a horizon in a parallel worker";
        return Err(Error::new(SqlState::ERRCODE_INVALID_TRANSACTION_STATE, message)
            .hint("Declare the function that calls it as PARALLEL RESTRICTED."));
    }
    let mut backend = Backend::new(carried_floor::memory(schema)?.ok_or_else(memory::no_memory)?);
    backend.snapshot = Some(snapshot);
    let value = horizon::horizon(&mut backend)?.ok_or_else(too_old)?;
    carried_floor::carry(backend.memory, schema, value)?;
    remember(statement, &snapshot, value);
    Ok(value)
}

/// Returns the time up to which this database knows its IDs.
pub fn floor(schema: Schema) -> Result<i64, Error> {
    let memory = carried_floor::memory(schema)?.ok_or_else(memory::no_memory)?;
    Ok(horizon::raise(&mut Backend::new(memory))?.max(carried_floor::BOUND.get()))
}

#[cold]
fn too_old() -> Error {
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "the snapshot is too old for a horizon")
        .detail(
            "More than 65536 transactions have begun since the snapshot was taken, or since the beginning of a transaction \
             that committed after it, or the server has just started.",
        )
        .hint("Call the function first in the transaction, or retry in a new one.")
}

/// Returns the transactions of this database that hold the horizon: the process ID, `None` if it is prepared, and the bound.
pub fn holders() -> Result<Vec<(Option<i32>, i64)>, Error> {
    let mut backend = Backend::new(memory::of_horizon()?.ok_or_else(memory::no_memory)?);
    let mut holders = Vec::new();
    for slot in 0..backend.slots() {
        let owner = backend.owner_of(slot)?;
        let bound = backend.bound_of(slot)?;
        if owner != Owner::NONE && backend.runs(slot, owner)? {
            holders.push((Some(owner.pid() as i32), bound));
        }
    }
    holders.extend(prepared_bounds(backend.memory).into_iter().map(|bound| (None, bound)));
    holders.sort_by_key(|(_, bound)| *bound);
    Ok(holders)
}
