//! The extension's accesses for the [`horizon`]: the bounds of transactions in shared memory, and the values that this process has
//! returned for its snapshots.
//!
//! If the library is preloaded, the memory is in the main segment. Otherwise the first process that draws allocates a dynamic one.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
use std::collections::HashMap;

use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_guard, pg_sys};
use scru_ids::horizon::{self, ENTRIES, LEAD_MICROS, Owner, Publish, Read, Record, TooOld};
use scru_ids::{MAX_AHEAD_MICROS, MAX_BEHIND_MICROS};

use crate::call::error::Error;
use crate::generate::mark_page::MarkPage;
use crate::pg::per_process::PerProcess;
use crate::pg::transaction::{self, Snapshot};
use crate::pg::{clock, library, log, recovery, server, subtransaction};
use crate::settings;

const NAME: &CStr = c"scru horizon v1";

/// What all processes share. All fields are initially 0.
#[repr(C, align(64))]
struct Header {
    /// The floor, in microseconds since 1970-01-01 UTC.
    floor: AtomicI64,
    /// The floor of the next start. Changes only under the lock of the page of the marks, except at the start.
    durable: AtomicI64,
    /// The number before which transactions may have ended without an entry; 0 until the durable floor is read.
    since: AtomicU64,
    /// 1 if there may be prepared transactions that have drawn.
    prepared: AtomicU32,
    /// 1 if there may be sessions with an older library.
    old_sessions: AtomicU32,
}

/// What a process shares.
#[repr(C, align(64))]
struct Slot {
    /// The transaction that has published last.
    owner: AtomicU64,
    bound: AtomicI64,
    /// The ID of a process that may have loaded an older library; 0 if none.
    old: AtomicU32,
}

/// The entry of a transaction in the table.
#[repr(C)]
struct Entry {
    state: AtomicU64,
    bound: AtomicI64,
    database: AtomicU64,
}

/// The shared memory.
#[derive(Clone, Copy)]
struct Memory {
    header: &'static Header,
    slots: &'static [Slot],
    entries: &'static [Entry],
}

impl Memory {
    /// Returns the size in bytes.
    fn size() -> usize {
        size_of::<Header>() + transaction::processes() * size_of::<Slot>() + ENTRIES as usize * size_of::<Entry>()
    }

    /// # Safety
    /// The memory is zeroed, has the size, is aligned to a cache line, and remains for the life of the process.
    unsafe fn at(memory: *mut c_void) -> Self {
        let count = transaction::processes();
        // SAFETY: guaranteed by the caller.
        unsafe {
            let header = memory.cast::<Header>();
            let slots = header.add(1).cast::<Slot>();
            let entries = slots.add(count).cast::<Entry>();
            Self {
                header: &*header,
                slots: core::slice::from_raw_parts(slots, count),
                entries: core::slice::from_raw_parts(entries, ENTRIES as usize),
            }
        }
    }

    /// Returns whether a process has read the durable floor since the start of the server.
    fn has_begun(&self) -> bool {
        self.header.since.load(Ordering::Acquire) != 0
    }

    fn entry(&self, transaction: u64) -> &'static Entry {
        &self.entries[(transaction % ENTRIES) as usize]
    }
}

static MEMORY: PerProcess<Option<Memory>> = PerProcess::new(None);

/// The transaction in which this process has last drawn, and the time at or above which it draws.
#[derive(Clone, Copy)]
struct Drawing {
    local: u64,
    from: i64,
}

static DRAWING: PerProcess<Drawing> = PerProcess::new(Drawing { local: u64::MAX, from: i64::MIN });

/// The transaction of this process that has begun to end, and whether it is being prepared.
static ENDING: PerProcess<(u64, bool)> = PerProcess::new((u64::MAX, false));

/// The values that this process has returned in a transaction, by the content of the snapshots.
struct Returned {
    local: u64,
    last: Option<(Box<[u32]>, i64)>,
    all: HashMap<Box<[u32]>, i64>,
    /// The number of values at which those of snapshots that are gone are removed.
    full: usize,
}

static RETURNED: PerProcess<Option<Returned>> = PerProcess::new(None);

/// Registers the events of transactions. Must be called from `_PG_init`.
pub fn register() {
    transaction::on_event(on_event);
}

/// Requests shared memory. Must be called from the hook of the postmaster.
pub fn request() {
    // SAFETY: guaranteed by the caller. Alignment may take another cache line.
    unsafe { pg_sys::RequestAddinShmemSpace(Memory::size() + 128) };
}

/// Allocates the requested shared memory.
///
/// # Safety
/// Must be called from the startup hook of shared memory.
pub unsafe fn start() {
    let mut found = false;
    // SAFETY: the main segment is zeroed, and its allocations are aligned to cache lines. Children inherit the address.
    let memory = unsafe { Memory::at(pg_sys::ShmemInitStruct(NAME.as_ptr(), Memory::size(), &mut found)) };
    MEMORY.with(|state| *state = Some(memory));
}

/// Returns the shared memory for a reader; `None` if no process of this server can allocate it.
fn memory() -> Result<Option<Memory>, Error> {
    match attached()? {
        Some(memory) => {
            if !memory.has_begun() {
                begin(memory)?;
            }
            Ok(Some(memory))
        }
        None => Ok(None),
    }
}

/// Returns the shared memory, whose floor may not yet include the durable one; `None` if no process of this server can allocate it.
#[inline]
fn attached() -> Result<Option<Memory>, Error> {
    match MEMORY.with(|memory| *memory) {
        Some(memory) => Ok(Some(memory)),
        None => look_up(),
    }
}

#[cold]
fn look_up() -> Result<Option<Memory>, Error> {
    let find = || Ok(server::large_shared_memory(NAME, Memory::size()));
    let found = PgTryBuilder::new(find).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory())).execute()?;
    let Some(address) = found else { return Ok(None) };
    // SAFETY: the allocation has this size, is aligned to a page, and its mapping is pinned.
    let memory = unsafe { Memory::at(address) };
    MEMORY.with(|state| *state = Some(memory));
    Ok(Some(memory))
}

/// Returns the error for memory that the server cannot allocate (53200).
#[cold]
pub fn no_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the memory.")
}

/// Reads the durable floor for the first time since the start of the server.
#[cold]
fn begin(memory: Memory) -> Result<(), Error> {
    let Header { floor, durable, since, prepared, .. } = memory.header;
    let logged = match MarkPage::pin_existing() {
        // SAFETY: the buffer is pinned for this call.
        Some(buffer) => match unsafe { MarkPage::lock(buffer, true) } {
            Some(page) => page.floor()?,
            None => 0,
        },
        None => 0,
    };
    durable.fetch_max(logged, Ordering::SeqCst);
    floor.fetch_max(logged, Ordering::SeqCst);
    if !transaction::carried_bounds().is_empty() {
        prepared.store(1, Ordering::SeqCst);
    }
    // Transactions that were prepared before the start have no entry.
    let _ = since.compare_exchange(0, transaction::next(), Ordering::SeqCst, Ordering::Relaxed);
    Ok(())
}

/// Returns the time at or above which this process draws the IDs of its transaction; `None` if [`publish`] must be called first.
#[inline(always)]
pub fn published() -> Option<i64> {
    let local = u64::from(transaction::local());
    DRAWING.with(|drawing| (drawing.local == local).then_some(drawing.from))
}

/// Publishes the transaction before its first ID, and returns the time at or above which this process draws.
///
/// # Errors
/// 53200 if not enough shared memory is left.
#[inline]
pub fn publish() -> Result<i64, Error> {
    match published() {
        Some(from) => Ok(from),
        None => publish_first(),
    }
}

#[cold]
#[inline(never)]
fn publish_first() -> Result<i64, Error> {
    // A transaction that draws during recovery cannot write.
    if recovery::is_in_recovery() {
        return Ok(i64::MIN);
    }
    let local = u64::from(transaction::local());
    let from = match attached()? {
        Some(memory) => {
            if !memory.has_begun() {
                begin_or_ignore(memory)?;
            }
            let mut backend = Backend::new(memory);
            let from = horizon::publish(&mut backend)?;
            let (ending, is_prepared) = ENDING.with(|ending| *ending);
            if ending == local && !transaction::is_parallel_worker() {
                backend.record(transaction::assign_own_number(), is_prepared)?;
            }
            from
        }
        // Nobody can read a horizon on this server.
        None => i64::MIN,
    };
    DRAWING.with(|drawing| *drawing = Drawing { local, from });
    Ok(from)
}

/// Reads the durable floor. Generation continues if that fails: as long as the page cannot be read, there are no horizons. Then only
/// the clock is above those from before the start.
#[cold]
fn begin_or_ignore(memory: Memory) -> Result<(), Error> {
    if transaction::is_parallel() {
        return begin(memory);
    }
    let _ = subtransaction::attempt(|| begin(memory));
    Ok(())
}

/// Raises the time at or above which this process draws.
pub fn advance(from: i64) {
    DRAWING.with(|drawing| drawing.from = drawing.from.max(from));
}

#[pg_guard]
unsafe extern "C-unwind" fn on_event(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    let is_prepared = event == pg_sys::XactEvent::XACT_EVENT_PRE_PREPARE;
    if !is_prepared && event != pg_sys::XactEvent::XACT_EVENT_PRE_COMMIT {
        return;
    }
    ENDING.with(|ending| *ending = (u64::from(transaction::local()), is_prepared));
    // A parallel worker may have published for this process.
    if (published().is_some() || transaction::has_led())
        && !recovery::is_in_recovery()
        && let Some(number) = transaction::own_number()
        && let Err(error) = end(number, is_prepared)
    {
        // SAFETY: nothing is left to drop. The transaction rolls back.
        unsafe { crate::call::error::report(error, core::ptr::null_mut()) };
    }
}

fn end(number: u64, is_prepared: bool) -> Result<(), Error> {
    match attached()? {
        Some(memory) => Backend::new(memory).record(number, is_prepared),
        None => Ok(()),
    }
}

/// This process's access to the shared memory.
struct Backend {
    memory: Memory,
    slot: &'static Slot,
    own: Owner,
    snapshot: Option<Snapshot>,
}

impl Backend {
    fn new(memory: Memory) -> Self {
        let (index, own) = transaction::own();
        Self { memory, slot: &memory.slots[index], own, snapshot: None }
    }

    /// Records the bound of this process's transaction, if it has published one.
    fn record(&mut self, number: u64, is_prepared: bool) -> Result<(), Error> {
        if self.slot.owner.load(Ordering::SeqCst) != self.own.to_word() {
            return Ok(());
        }
        let bound = self.slot.bound.load(Ordering::SeqCst);
        if is_prepared {
            self.memory.header.prepared.store(1, Ordering::SeqCst);
            transaction::carry_bound(bound);
        }
        horizon::record(self, number, bound)
    }
}

/// Waits a moment for a process that stores a few words.
fn pause() {
    core::hint::spin_loop();
    clock::check_for_interrupts();
}

impl Publish for Backend {
    type Error = Error;

    fn own(&self) -> Owner {
        self.own
    }

    fn now(&mut self) -> Result<i64, Error> {
        Ok(clock::now())
    }

    fn owner(&mut self) -> Result<Owner, Error> {
        Ok(Owner::from_word(self.slot.owner.load(Ordering::SeqCst)))
    }

    fn replace_owner(&mut self, old: Owner, new: Owner) -> Result<bool, Error> {
        let (old, new) = (old.to_word(), new.to_word());
        Ok(self.slot.owner.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_owner(&mut self, owner: Owner) -> Result<(), Error> {
        self.slot.owner.store(owner.to_word(), Ordering::Release);
        Ok(())
    }

    fn bound(&mut self) -> Result<i64, Error> {
        Ok(self.slot.bound.load(Ordering::SeqCst))
    }

    fn set_bound(&mut self, bound: i64) -> Result<(), Error> {
        self.slot.bound.store(bound, Ordering::Release);
        Ok(())
    }

    fn floor(&mut self) -> Result<i64, Error> {
        Ok(self.memory.header.floor.load(Ordering::SeqCst))
    }

    fn fence(&mut self) -> Result<(), Error> {
        fence(Ordering::SeqCst);
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Error> {
        pause();
        Ok(())
    }
}

impl Record for Backend {
    type Error = Error;

    fn state(&mut self, transaction: u64) -> Result<u64, Error> {
        Ok(self.memory.entry(transaction).state.load(Ordering::SeqCst))
    }

    fn replace_state(&mut self, transaction: u64, old: u64, new: u64) -> Result<bool, Error> {
        let state = &self.memory.entry(transaction).state;
        Ok(state.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_entry(&mut self, transaction: u64, bound: i64) -> Result<(), Error> {
        let entry = self.memory.entry(transaction);
        entry.bound.store(bound, Ordering::SeqCst);
        entry.database.store(own_database(), Ordering::SeqCst);
        Ok(())
    }

    fn set_state(&mut self, transaction: u64, state: u64) -> Result<(), Error> {
        self.memory.entry(transaction).state.store(state, Ordering::SeqCst);
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Error> {
        pause();
        Ok(())
    }
}

impl Read for Backend {
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
        let logged = floor.saturating_add(LEAD_MICROS);
        let position = {
            let page = page()?;
            // Another process may have logged a higher one. Its flush includes this one.
            if page.floor()? < logged { page.log_floor(logged)? } else { page.position() }
        };
        log::flush(position);
        let page = page()?;
        // An administrator may have set the floor back.
        if page.floor()? >= logged {
            self.memory.header.durable.fetch_max(logged, Ordering::SeqCst);
        }
        Ok(())
    }

    fn fence(&mut self) -> Result<(), Error> {
        fence(Ordering::SeqCst);
        Ok(())
    }

    fn slots(&self) -> usize {
        self.memory.slots.len()
    }

    fn owner_of(&mut self, slot: usize) -> Result<Owner, Error> {
        Ok(Owner::from_word(self.memory.slots[slot].owner.load(Ordering::SeqCst)))
    }

    fn bound_of(&mut self, slot: usize) -> Result<i64, Error> {
        Ok(self.memory.slots[slot].bound.load(Ordering::SeqCst))
    }

    fn runs(&mut self, slot: usize, owner: Owner) -> Result<bool, Error> {
        Ok(transaction::of_process(slot) == Some(owner))
    }

    fn prepared(&mut self) -> Result<Option<i64>, Error> {
        if self.memory.header.prepared.load(Ordering::SeqCst) == 0 {
            return Ok(None);
        }
        Ok(prepared_bounds().min())
    }

    fn next_transaction(&mut self) -> Result<u64, Error> {
        Ok(transaction::next())
    }

    fn since(&mut self) -> Result<u64, Error> {
        Ok(self.memory.header.since.load(Ordering::SeqCst))
    }

    fn unseen(&mut self, next: u64) -> Result<(Vec<u64>, u64), Error> {
        Ok(self.snapshot.unwrap_or_else(Snapshot::active).unseen(next))
    }

    fn state(&mut self, transaction: u64) -> Result<u64, Error> {
        Ok(self.memory.entry(transaction).state.load(Ordering::SeqCst))
    }

    fn entry(&mut self, transaction: u64) -> Result<Option<i64>, Error> {
        let entry = self.memory.entry(transaction);
        let bound = entry.bound.load(Ordering::SeqCst);
        Ok((entry.database.load(Ordering::SeqCst) == own_database()).then_some(bound))
    }

    fn has_committed(&mut self, transaction: u64) -> Result<bool, Error> {
        Ok(transaction::has_committed(transaction))
    }

    fn pause(&mut self) -> Result<(), Error> {
        pause();
        Ok(())
    }
}

/// Returns the locked page of the marks.
fn page() -> Result<MarkPage, Error> {
    // SAFETY: the buffer is pinned for this call.
    let page = unsafe { MarkPage::lock(MarkPage::pin(), true) };
    page.ok_or_else(no_memory)
}

fn own_database() -> u64 {
    // SAFETY: reads a variable of this process.
    u64::from(unsafe { pg_sys::MyDatabaseId }.to_u32())
}

/// Returns the bounds of this database's prepared transactions.
fn prepared_bounds() -> impl Iterator<Item = i64> {
    let own = own_database();
    let carried = transaction::carried_bounds().into_iter();
    carried.filter(move |(database, _)| u64::from(database.to_u32()) == own).map(|(_, bound)| bound)
}

/// Returns the horizon of the snapshot of the statement, in microseconds since 1970-01-01 UTC.
///
/// The server evaluates a STABLE function any number of times in a statement. Two values for one snapshot would together be wrong,
/// because a transaction may roll back in between. So the first one is returned again.
///
/// # Errors
/// 55000 if the snapshot is too old, or if there are sessions with an older library. 25000 in a parallel worker.
pub fn of_statement() -> Result<i64, Error> {
    let snapshot = Snapshot::active();
    if let Some(value) = returned(&snapshot) {
        return Ok(value);
    }
    if transaction::is_parallel_worker() {
        let message = "cannot read a horizon in a parallel worker";
        return Err(Error::new(SqlState::ERRCODE_INVALID_TRANSACTION_STATE, message)
            .hint("Declare the function that calls it as PARALLEL RESTRICTED."));
    }
    let mut backend = Backend::new(memory()?.ok_or_else(no_memory)?);
    backend.snapshot = Some(snapshot);
    refuse_old_sessions(backend.memory)?;
    let value = horizon::horizon(&mut backend)?.map_err(|TooOld| too_old())?;
    remember(&snapshot, value);
    Ok(value)
}

/// Returns the floor, up to which this server knows its IDs.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn floor() -> Result<i64, Error> {
    horizon::raise(&mut Backend::new(memory()?.ok_or_else(no_memory)?))
}

/// Returns the value that was returned for a snapshot in this transaction.
fn returned(snapshot: &Snapshot) -> Option<i64> {
    RETURNED.with(|returned| {
        let returned = returned.as_ref().filter(|returned| returned.local == u64::from(transaction::local()))?;
        match &returned.last {
            Some((content, value)) if snapshot.has(content) => Some(*value),
            _ => returned.all.get(&snapshot.content()).copied(),
        }
    })
}

fn remember(snapshot: &Snapshot, value: i64) {
    let content = snapshot.content();
    RETURNED.with(|returned| {
        let local = u64::from(transaction::local());
        if returned.as_ref().is_none_or(|returned| returned.local != local) {
            *returned = Some(Returned { local, last: None, all: HashMap::new(), full: 64 });
        }
        if let Some(returned) = returned {
            if returned.all.len() >= returned.full {
                returned.all.retain(|content, _| !Snapshot::is_gone(content));
                returned.full = 64.max(2 * returned.all.len());
            }
            returned.all.insert(content.clone(), value);
            returned.last = Some((content, value));
        }
    });
}

#[cold]
fn too_old() -> Error {
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "the snapshot is too old for a horizon")
        .detail("More than 65536 transactions have begun since the snapshot was taken, or the server has just started.")
        .hint("Call the function first in the transaction, or retry in a new one.")
}

/// Raises 55000 if a session of this database may have loaded an older library, which publishes nothing.
fn refuse_old_sessions(memory: Memory) -> Result<(), Error> {
    let Header { old_sessions, since, .. } = memory.header;
    if old_sessions.load(Ordering::SeqCst) == 0 {
        return Ok(());
    }
    let mut is_left = false;
    let (own, _) = transaction::own();
    for (index, slot) in memory.slots.iter().enumerate() {
        let old = slot.old.load(Ordering::SeqCst);
        if old == 0 {
            continue;
        }
        let is_new = index == own || Owner::from_word(slot.owner.load(Ordering::SeqCst)).pid() == old;
        if !is_new && transaction::is_connected(old) {
            is_left = true;
            if transaction::of_process(index).is_some_and(|process| process.pid() == old) {
                return Err(old_session(old));
            }
            continue;
        }
        if !is_new {
            // Its transactions have no entries.
            since.fetch_max(transaction::next(), Ordering::SeqCst);
        }
        let _ = slot.old.compare_exchange(old, 0, Ordering::SeqCst, Ordering::SeqCst);
    }
    if !is_left {
        old_sessions.store(0, Ordering::SeqCst);
    }
    Ok(())
}

#[cold]
fn old_session(pid: u32) -> Error {
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "a session may use an older version of scru")
        .detail(format!(
            "When the extension was created or updated, the session with process ID {pid} had loaded another library."
        ))
        .hint("End the session: it loads the installed version when it connects again.")
}

/// Records the sessions of this database that may have loaded an older library. The scripts that create the extension or update it
/// to 0.3.0 call it. The library that a session loads later is the present one.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn note_old_sessions() -> Result<(), Error> {
    if settings::is_preloaded() || recovery::is_in_recovery() {
        return Ok(());
    }
    let (own, _) = transaction::own();
    let is_old = |&(index, pid): &(usize, u32)| {
        index != own && transaction::is_connected(pid) && !transaction::is_decoding(index) && library::may_differ(pid)
    };
    let processes =
        (0..transaction::processes()).filter_map(|index| Some((index, transaction::of_process(index)?.pid())));
    let old: Vec<_> = processes.filter(is_old).collect();
    if old.is_empty() {
        return Ok(());
    }
    let Some(memory) = attached()? else { return Ok(()) };
    memory.header.old_sessions.store(1, Ordering::SeqCst);
    for (index, pid) in old {
        memory.slots[index].old.store(pid, Ordering::SeqCst);
    }
    Ok(())
}

/// Returns the transactions of this database that hold the horizon: the process ID, `None` if it is prepared, and the bound.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn holders() -> Result<Vec<(Option<i32>, i64)>, Error> {
    let mut backend = Backend::new(attached()?.ok_or_else(no_memory)?);
    let mut holders = Vec::new();
    for slot in 0..backend.slots() {
        let owner = backend.owner_of(slot)?;
        let bound = backend.bound_of(slot)?;
        if owner != Owner::NONE && backend.runs(slot, owner)? {
            holders.push((Some(owner.pid() as i32), bound));
        }
    }
    if backend.memory.header.prepared.load(Ordering::SeqCst) != 0 {
        holders.extend(prepared_bounds().map(|bound| (None, bound)));
    }
    holders.sort_by_key(|(_, bound)| *bound);
    Ok(holders)
}

/// Returns the published bound of this process's transaction; `None` if it has drawn no ID.
///
/// # Errors
/// 53200 if not enough shared memory is left.
pub fn own_bound() -> Result<Option<i64>, Error> {
    let Some(memory) = attached()? else { return Ok(None) };
    let backend = Backend::new(memory);
    let is_published = backend.slot.owner.load(Ordering::SeqCst) == backend.own.to_word();
    Ok(is_published.then(|| backend.slot.bound.load(Ordering::SeqCst)))
}

/// Sets the floor back if a wrong clock has left it in the future. IDs below horizons that were returned can then be generated.
///
/// # Errors
/// XX001 if the page of the marks is damaged.
pub fn set_back(mark: i64) -> Result<(), Error> {
    let Some(memory) = memory()? else { return Ok(()) };
    let Header { floor, durable, .. } = memory.header;
    let now = clock::now();
    if floor.load(Ordering::SeqCst).saturating_sub(now) <= MAX_BEHIND_MICROS.max(MAX_AHEAD_MICROS) {
        return Ok(());
    }
    let new = mark.max(now);
    let position = {
        let page = page()?;
        if page.floor()? <= new {
            return Ok(());
        }
        let position = page.log_floor(new)?;
        durable.store(new, Ordering::SeqCst);
        floor.store(new, Ordering::SeqCst);
        position
    };
    log::flush(position);
    Ok(())
}
