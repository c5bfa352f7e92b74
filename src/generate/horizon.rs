//! The extension's accesses for the [`horizon`]: the transactions of this process publish, and others read.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use core::sync::atomic::{Ordering, fence};
use std::collections::HashMap;

use pgrx::pg_sys::{self, Oid};
use pgrx::{PgSqlErrorCode as SqlState, pg_guard};
use scru_ids::horizon::{self, Access, Owner};

use crate::call::error::Error;
use crate::generate::floor;
use crate::generate::mark_sequence::{self, Value};
use crate::generate::memory::{self, Header, HorizonMemory, Slot};
use crate::pg::catalog::Schema;
use crate::pg::process::PerProcess;
use crate::pg::transaction::{self, Snapshot};
use crate::pg::{clock, log, portal};

/// The transaction in which this process has last drawn, and the time at or above which it draws.
#[derive(Clone, Copy)]
struct Drawing {
    local: u64,
    from: i64,
}

static DRAWING: PerProcess<Cell<Drawing>> = PerProcess::new(Cell::new(Drawing { local: u64::MAX, from: i64::MIN }));

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<Cell<(u64, bool)>> = PerProcess::new(Cell::new((u64::MAX, false)));

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    // SAFETY: the function handles each event.
    unsafe { transaction::on_event(on_event) };
}

/// Returns the time at or above which this process draws the IDs of its transaction; `None` if [`publish`] must be called first.
#[inline(always)]
pub fn published() -> Option<i64> {
    let local = u64::from(transaction::local());
    let drawing = DRAWING.get();
    (drawing.local == local).then_some(drawing.from)
}

/// Publishes the transaction before its first ID, and returns the time at or above which this process draws.
///
/// # Errors
/// 53200 if not enough shared memory is left.
#[inline]
pub fn publish(schema: Schema) -> Result<i64, Error> {
    match published() {
        Some(from) => Ok(from),
        None => publish_anew(schema),
    }
}

#[cold]
#[inline(never)]
pub fn publish_anew(schema: Schema) -> Result<i64, Error> {
    // A transaction that draws during recovery cannot write.
    if log::is_in_recovery() {
        return Ok(i64::MIN);
    }
    let local = u64::from(transaction::local());
    let from = match memory::of_horizon()? {
        Some(memory) => {
            if !floor::is_known(memory) {
                floor::learn_to_draw(memory, schema)?;
            }
            let mut backend = Backend::new(memory);
            let from = horizon::publish(&mut backend)?.max(floor::bound());
            let (ending, is_prepared) = ENDING.get();
            if ending == local && !transaction::is_parallel_worker() {
                backend.record(transaction::assign_own_number(), is_prepared)?;
            }
            from
        }
        // Nobody can read a horizon on this server.
        None => i64::MIN,
    };
    DRAWING.set(Drawing { local, from });
    Ok(from)
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
        unsafe { crate::call::error::report(error, core::ptr::null_mut()) };
    }
}

/// This process's access to the shared memory.
pub struct Backend {
    memory: HorizonMemory,
    /// The schema of the extension, to access the sequence.
    pub schema: Schema,
    slot: &'static Slot,
    own: Owner,
    snapshot: Option<Snapshot>,
}

impl Backend {
    pub fn new(memory: HorizonMemory) -> Self {
        let (index, own) = transaction::own();
        Self { memory, schema: Schema::NONE, slot: &memory.slots[index], own, snapshot: None }
    }

    /// Returns the bound that this process's transaction has published; `None` if it has drawn no ID.
    fn own_bound(&self) -> Option<i64> {
        let is_published = self.slot.owner.load(Ordering::SeqCst) == self.own.0;
        is_published.then(|| self.slot.bound.load(Ordering::SeqCst))
    }

    /// Records the bound of this process's transaction, if it has published one.
    fn record(&mut self, number: u64, is_prepared: bool) -> Result<(), Error> {
        let Some(bound) = self.own_bound() else { return Ok(()) };
        if is_prepared {
            transaction::carry_bound(bound);
            self.memory.header.prepared.fetch_add(1, Ordering::SeqCst);
        }
        horizon::record(self, number, bound)
    }
}

impl Access for Backend {
    type Error = Error;

    fn now(&mut self) -> Result<i64, Error> {
        Ok(clock::now())
    }

    fn floor(&mut self) -> Result<i64, Error> {
        Ok(self.memory.header.floor.load(Ordering::SeqCst))
    }

    fn raise_floor(&mut self, floor: i64) -> Result<(), Error> {
        self.memory.header.floor.fetch_max(floor, Ordering::SeqCst);
        Ok(())
    }

    fn durable(&mut self) -> Result<i64, Error> {
        Ok(self.memory.header.durable.load(Ordering::SeqCst))
    }

    fn make_durable(&mut self, floor: i64) -> Result<(), Error> {
        floor::make_durable(self.memory, floor)
    }

    fn arrived(&mut self) -> Result<Option<i64>, Error> {
        let carried = mark_sequence::read_floor(self.schema, true)?;
        Ok(carried.filter(|carried| carried.has_arrived).map(|carried| carried.value))
    }

    fn adopt(&mut self, floor: i64) -> Result<(), Error> {
        let next = |carried: &Value| (carried.has_arrived && carried.value == floor).then_some(floor);
        mark_sequence::write_floor(self.schema, next).map(drop)
    }

    fn fence(&mut self) -> Result<(), Error> {
        fence(Ordering::SeqCst);
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Error> {
        core::hint::spin_loop();
        clock::check_for_interrupts();
        Ok(())
    }

    fn own(&self) -> Owner {
        self.own
    }

    fn owner(&mut self) -> Result<Owner, Error> {
        Ok(Owner(self.slot.owner.load(Ordering::SeqCst)))
    }

    fn replace_owner(&mut self, old: Owner, new: Owner) -> Result<bool, Error> {
        Ok(self.slot.owner.compare_exchange(old.0, new.0, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_owner(&mut self, owner: Owner) -> Result<(), Error> {
        self.slot.owner.store(owner.0, Ordering::Release);
        Ok(())
    }

    fn bound(&mut self) -> Result<i64, Error> {
        Ok(self.slot.bound.load(Ordering::SeqCst))
    }

    fn set_bound(&mut self, bound: i64) -> Result<(), Error> {
        self.slot.bound.store(bound, Ordering::Release);
        Ok(())
    }

    fn state(&mut self, transaction: u64) -> Result<u64, Error> {
        Ok(self.memory.entry(transaction).state.load(Ordering::SeqCst))
    }

    fn replace_state(&mut self, transaction: u64, old: u64, new: u64) -> Result<bool, Error> {
        let state = &self.memory.entry(transaction).state;
        Ok(state.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_state(&mut self, transaction: u64, state: u64) -> Result<(), Error> {
        // The lock under which the transaction ends makes it visible to readers.
        self.memory.entry(transaction).state.store(state, Ordering::Release);
        Ok(())
    }

    fn entry(&mut self, transaction: u64) -> Result<Option<i64>, Error> {
        let entry = self.memory.entry(transaction);
        let bound = entry.bound.load(Ordering::SeqCst);
        Ok((entry.database.load(Ordering::SeqCst) == own_database()).then_some(bound))
    }

    fn set_entry(&mut self, transaction: u64, bound: i64) -> Result<(), Error> {
        // A reader that loads one of these finds the state that was stored before.
        let entry = self.memory.entry(transaction);
        entry.bound.store(bound, Ordering::Release);
        entry.database.store(own_database(), Ordering::Release);
        Ok(())
    }

    fn slots(&self) -> usize {
        self.memory.slots.len()
    }

    fn owner_of(&mut self, slot: usize) -> Result<Owner, Error> {
        Ok(Owner(self.memory.slots[slot].owner.load(Ordering::SeqCst)))
    }

    fn bound_of(&mut self, slot: usize) -> Result<i64, Error> {
        Ok(self.memory.slots[slot].bound.load(Ordering::SeqCst))
    }

    fn runs(&mut self, slot: usize, owner: Owner) -> Result<bool, Error> {
        Ok(transaction::of_process(slot) == Some(owner))
    }

    fn prepared(&mut self) -> Result<Option<i64>, Error> {
        Ok(prepared_bounds(self.memory).into_iter().min())
    }

    fn next_transaction(&mut self) -> Result<u64, Error> {
        Ok(transaction::next())
    }

    fn since(&mut self) -> Result<u64, Error> {
        Ok(self.memory.header.since.load(Ordering::SeqCst))
    }

    fn unseen(&mut self, next: u64) -> Result<(Vec<u64>, u64), Error> {
        // SAFETY: the snapshot is used here only.
        Ok(self.snapshot.unwrap_or_else(|| unsafe { Snapshot::active() }).unseen(next))
    }

    fn has_committed(&mut self, transaction: u64) -> Result<bool, Error> {
        Ok(transaction::has_committed(transaction))
    }
}

fn own_database() -> u64 {
    // SAFETY: reads a variable of this process.
    u64::from(unsafe { pg_sys::MyDatabaseId }.to_u32())
}

/// Returns the bounds of this database's prepared transactions.
///
/// Listing the locks costs time, and few servers have prepared transactions. A transaction that takes its lock after the list was
/// made, and is counted later, still runs, or has ended.
fn prepared_bounds(memory: HorizonMemory) -> Vec<i64> {
    let Header { prepared, ended, .. } = memory.header;
    let before = prepared.load(Ordering::SeqCst);
    if memory.has_begun() && ended.load(Ordering::SeqCst) >= before {
        return Vec::new();
    }
    let bounds = transaction::carried_bounds();
    if bounds.is_empty() {
        ended.fetch_max(before, Ordering::SeqCst);
    }
    let own = own_database();
    let is_own = |(database, _): &(Oid, i64)| u64::from(database.to_u32()) == own;
    bounds.into_iter().filter(is_own).map(|(_, bound)| bound).collect()
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

/// Returns the client's statement to which a horizon belongs.
fn statement() -> i64 {
    if Snapshot::is_of_transaction() { OF_TRANSACTION } else { portal::statement() }
}

/// Returns the horizon that was returned for a snapshot in a statement of this transaction.
fn returned(statement: i64, snapshot: &Snapshot) -> Option<i64> {
    let returned = RETURNED.borrow();
    let returned = returned.as_ref().filter(|returned| returned.local == u64::from(transaction::local()))?;
    match &returned.last {
        Some((of_last, content, value)) if *of_last == statement && snapshot.has(content) => Some(*value),
        _ => returned.all.get(&(statement, snapshot.content())).copied(),
    }
}

/// Remembers the horizon that is returned for a snapshot.
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

/// Returns the horizon of the snapshot of the statement, in microseconds since 1970-01-01 UTC.
///
/// # Errors
/// 55000 if the snapshot is too old. 25000 in a parallel worker.
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
    let mut backend = Backend::new(floor::memory(schema)?.ok_or_else(memory::no_memory)?);
    backend.snapshot = Some(snapshot);
    let value = horizon::horizon(&mut backend)?.ok_or_else(too_old)?;
    floor::carry(backend.memory, schema, value)?;
    remember(statement, &snapshot, value);
    Ok(value)
}

/// Returns the time up to which this database knows its IDs.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn floor(schema: Schema) -> Result<i64, Error> {
    let memory = floor::memory(schema)?.ok_or_else(memory::no_memory)?;
    Ok(horizon::raise(&mut Backend::new(memory))?.max(floor::bound()))
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
///
/// # Errors
/// 53200 if not enough shared memory is left.
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

/// Returns the published bound of this process's transaction; `None` if it has drawn no ID.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn own_bound() -> Result<Option<i64>, Error> {
    Ok(memory::of_horizon()?.and_then(|memory| Backend::new(memory).own_bound()))
}
