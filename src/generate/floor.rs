//! The floor below which no transaction draws: where it is durable, and how a server begins with it.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use scru_ids::horizon::LEAD_MICROS;
use scru_ids::{MAX_AHEAD_MICROS, MAX_BEHIND_MICROS};

use crate::call::error::Error;
use crate::generate::mark_page::{MarkPage, Pinned};
use crate::generate::mark_sequence::{self, Value};
use crate::generate::memory::{self, Header, HorizonMemory};
use crate::pg::process::PerProcess;
use crate::pg::{clock, log, transaction};

/// The floor that the sequence of this database carries, as far as this process knows; `None` if it has not looked.
static CARRIED: PerProcess<Cell<Option<i64>>> = PerProcess::new(Cell::new(None));

/// Returns the shared memory for a reader; `None` if no process of this server can allocate it.
pub fn memory() -> Result<Option<HorizonMemory>, Error> {
    let memory = memory::of_horizon()?;
    if let Some(memory) = memory.filter(|memory| !is_known(*memory)) {
        learn(memory)?;
    }
    Ok(memory)
}

/// Returns whether this process need not call [`learn`] or [`learn_or_ignore`].
#[inline]
pub fn is_known(memory: HorizonMemory) -> bool {
    CARRIED.get().is_some() && memory.has_begun()
}

/// Raises the floor to the durable one, and to the one with which this database has arrived from another server.
#[cold]
fn learn(memory: HorizonMemory) -> Result<(), Error> {
    if !memory.has_begun() {
        begin(memory)?;
    }
    let carried = mark_sequence::read_floor();
    if let Some(Value { value: time, has_arrived: true, .. }) = carried {
        make_durable(memory, time.saturating_sub(LEAD_MICROS))?;
        memory.header.floor.fetch_max(time, Ordering::SeqCst);
        mark_sequence::write_floor(|present| (present.has_arrived && present.value == time).then_some(time));
    }
    CARRIED.set(Some(carried.map_or(0, |carried| carried.value)));
    Ok(())
}

/// Lets the sequence of this database carry a floor that is not below a horizon, before that is returned.
pub fn carry(memory: HorizonMemory, horizon: i64) -> Result<(), Error> {
    let durable = || memory.header.durable.load(Ordering::SeqCst);
    // It is above the durable floor if an administrator has set that back.
    let is_enough = |carried: i64| (horizon..=durable()).contains(&carried);
    while !CARRIED.get().is_some_and(is_enough) {
        let next = |present: &Value| (!present.has_arrived && !is_enough(present.value)).then(durable);
        match mark_sequence::write_floor(next) {
            Some(carried) if carried.has_arrived => learn(memory)?,
            Some(carried) => {
                log::flush(carried.position);
                CARRIED.set(Some(carried.value));
                break;
            }
            None => break,
        }
    }
    Ok(())
}

/// Reads the durable floor for the first time since the start of the server.
#[cold]
fn begin(memory: HorizonMemory) -> Result<(), Error> {
    let Header { floor, durable, since, prepared, .. } = memory.header;
    let page = Pinned::existing().and_then(|page| page.lock(true));
    let logged = page.map_or(Ok(0), |page| page.floor())?;
    durable.fetch_max(logged, Ordering::SeqCst);
    floor.fetch_max(logged, Ordering::SeqCst);
    if !transaction::carried_bounds().is_empty() {
        prepared.store(1, Ordering::SeqCst);
    }
    // Transactions that were prepared before the start have no entry.
    let _ = since.compare_exchange(0, transaction::next(), Ordering::SeqCst, Ordering::Relaxed);
    Ok(())
}

/// Reads the durable floor. Generation continues if that fails: as long as the page cannot be read, there are no horizons. Then only
/// the clock is above those from before the start.
#[cold]
pub fn learn_or_ignore(memory: HorizonMemory) -> Result<(), Error> {
    if transaction::is_parallel() {
        return learn(memory);
    }
    let _ = transaction::attempt(|| learn(memory));
    Ok(())
}

/// Makes a floor durable: every later start of a server with these data begins at or above it.
///
/// # Errors
/// XX001 if the page of the marks is damaged.
pub fn make_durable(memory: HorizonMemory, floor: i64) -> Result<(), Error> {
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
        memory.header.durable.fetch_max(logged, Ordering::SeqCst);
    }
    Ok(())
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
    mark_sequence::write_floor(|_| Some(new));
    log::flush(position);
    Ok(())
}

/// Returns the locked page of the marks.
fn page() -> Result<MarkPage, Error> {
    Pinned::new().lock(true).ok_or_else(memory::no_memory)
}
