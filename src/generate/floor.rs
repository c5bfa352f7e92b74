//! The floor below which no transaction draws: where it is durable, how a server begins with it, and the one with which a database
//! has arrived from another server.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use scru_ids::horizon::{self, LEAD_MICROS};
use scru_ids::{GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS};

use crate::call::error::Error;
use crate::generate::horizon::Backend;
use crate::generate::mark_page::{LAST_FLOOR, MarkPage, Pinned};
use crate::generate::mark_sequence::{self, Value};
use crate::generate::memory::{self, Header, HorizonMemory};
use crate::pg::catalog::Schema;
use crate::pg::process::PerProcess;
use crate::pg::{clock, log, transaction};

/// The floor that this database carries and calls its own, as far as this process knows; `None` if it has to look.
static CARRIED: PerProcess<Cell<Option<i64>>> = PerProcess::new(Cell::new(None));

/// The time at or above which the IDs of this database are, which [`horizon::learn`] has returned; the smallest number if none.
static BOUND: PerProcess<Cell<i64>> = PerProcess::new(Cell::new(i64::MIN));

/// Returns the time at or above which the IDs of this database are, whatever the floor is, as far as this process knows.
#[inline]
pub fn bound() -> i64 {
    BOUND.get()
}

/// Forgets what this process knows of the sequence.
pub fn forget() {
    CARRIED.set(None);
}

/// Returns the shared memory for a reader; `None` if no process of this server can allocate it.
pub fn memory(schema: Schema) -> Result<Option<HorizonMemory>, Error> {
    let memory = memory::of_horizon()?;
    if let Some(memory) = memory.filter(|memory| !is_known(*memory)) {
        learn(memory, schema)?;
    }
    Ok(memory)
}

/// Returns whether this process need not call [`memory`] or [`learn_to_draw`].
#[inline]
pub fn is_known(memory: HorizonMemory) -> bool {
    CARRIED.get().is_some() && memory.has_begun()
}

/// Raises the floor to the durable one, and to the one with which this database has arrived, once the clock has passed it.
#[cold]
fn learn(memory: HorizonMemory, schema: Schema) -> Result<(), Error> {
    if !memory.has_begun() {
        begin(memory)?;
    }
    let carried = mark_sequence::read_floor(schema, true)?;
    let mut backend = Backend::new(memory);
    backend.schema = schema;
    let bound = horizon::learn(&mut backend)?;
    BOUND.set(bound.unwrap_or(i64::MIN));
    CARRIED.set(bound.is_none().then(|| carried.map_or(0, |carried| carried.value)));
    Ok(())
}

/// As [`memory`], for a draw: continues if the page cannot be read or written. As long as that is so, there are no horizons, and only
/// the clock is above those from before the start. If the sequence is unlogged, it is of no use to a draw.
#[cold]
pub fn learn_to_draw(memory: HorizonMemory, schema: Schema) -> Result<(), Error> {
    let carried = mark_sequence::read_floor(schema, true).unwrap_or_default();
    BOUND.set(carried.filter(|carried| carried.has_arrived).map_or(i64::MIN, |carried| carried.value));
    if transaction::is_parallel() {
        return learn(memory, schema);
    }
    let _ = transaction::attempt(|| learn(memory, schema));
    Ok(())
}

/// Lets the sequence of this database carry a floor that is not below a horizon, before that is returned.
pub fn carry(memory: HorizonMemory, schema: Schema, horizon: i64) -> Result<(), Error> {
    let durable = || memory.header.durable.load(Ordering::SeqCst);
    // It is above the durable floor if an administrator has set that back.
    let is_enough = |carried: i64| (horizon..=durable()).contains(&carried);
    while !CARRIED.get().is_some_and(is_enough) {
        let next = |present: &Value| (!present.has_arrived && !is_enough(present.value)).then(durable);
        match mark_sequence::write_floor(schema, next)? {
            Some(Value { value, has_arrived: true, .. }) if value >= horizon => break,
            Some(Value { has_arrived: true, .. }) => learn(memory, schema)?,
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
    let page = Pinned::existing()?.and_then(|page| page.lock(true));
    let logged = page.map_or(Ok(0), |page| page.floor())?;
    durable.fetch_max(logged, Ordering::SeqCst);
    floor.fetch_max(logged, Ordering::SeqCst);
    if !transaction::carried_bounds().is_empty() {
        prepared.fetch_add(1, Ordering::SeqCst);
    }
    // Transactions that were prepared before the start have no entry.
    let _ = since.compare_exchange(0, transaction::next(), Ordering::SeqCst, Ordering::Relaxed);
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

/// Returns the floor of this server for a look, also before the first draw since its start and on a standby; `None` if there is none,
/// or if another backend has locked the page.
///
/// # Errors
/// XX001 if the page of the marks is damaged, 53200 if not enough shared memory is left.
pub fn look() -> Result<Option<i64>, Error> {
    let floor = match memory::of_horizon()?.filter(HorizonMemory::has_begun) {
        Some(memory) => memory.header.floor.load(Ordering::Relaxed),
        None => Pinned::existing()?.and_then(|page| page.lock(false)).map_or(Ok(0), |page| page.floor())?,
    };
    Ok((floor != 0).then_some(floor))
}

/// Raises the floor above the tick of a time: transactions that begin later draw above it. Does nothing for types whose generators
/// always have a mark, because the floor would delay the other types.
///
/// # Errors
/// XX001 if the page of the marks is damaged.
pub fn raise_above<T: GeneratedId>(schema: Schema, time: i64) -> Result<(), Error> {
    let floor = T::TICKS.start(T::TICKS.nearest(time) + 1).min(LAST_FLOOR as i64 - LEAD_MICROS);
    // A transaction draws above the clock.
    if T::SERVER_WIDE || floor <= clock::now() {
        return Ok(());
    }
    let Some(memory) = memory::of_horizon()? else { return Ok(()) };
    learn_to_draw(memory, schema)?;
    make_durable(memory, floor)?;
    memory.header.floor.fetch_max(floor, Ordering::SeqCst);
    Ok(())
}

/// Sets the floor back if a wrong clock has left it in the future, and the one that the database carries. IDs below horizons that
/// were returned can then be generated.
///
/// # Errors
/// XX001 if the page of the marks is damaged.
pub fn set_back(schema: Schema, mark: i64) -> Result<(), Error> {
    let Some(memory) = memory::of_horizon()? else { return Ok(()) };
    learn_to_draw(memory, schema)?;
    let Header { floor, durable, .. } = memory.header;
    let now = clock::now();
    let is_ahead = |time: i64| time.saturating_sub(now) > MAX_BEHIND_MICROS.max(MAX_AHEAD_MICROS);
    let new = mark.max(now);
    let mut position = 0;
    if is_ahead(floor.load(Ordering::SeqCst)) {
        let page = page()?;
        if page.floor()? > new {
            position = page.log_floor(new)?;
            durable.store(new, Ordering::SeqCst);
            floor.store(new, Ordering::SeqCst);
        }
    }
    let next = |carried: &Value| (is_ahead(carried.value) && carried.value > new).then_some(new);
    if let Some(carried) = mark_sequence::write_floor(schema, next).unwrap_or_default() {
        position = position.max(carried.position);
    }
    forget();
    log::flush(position);
    Ok(())
}

/// Returns the locked page of the marks.
fn page() -> Result<MarkPage, Error> {
    Pinned::new()?.lock(true).ok_or_else(memory::no_memory)
}
