//! The floor with which a database has arrived from another server, and the one that it carries to others: in its sequence.

use core::cell::Cell;
use core::sync::atomic::Ordering;

use scru_ids::{GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS};
use scru_server::horizon::{self, LEAD_MICROS};

use crate::call::error::Error;
use crate::feed::floor;
use crate::feed::horizon_access::SharedHorizon;
use crate::pg::catalog::Schema;
use crate::pg::process::PerProcess;
use crate::pg::{clock, transaction, wal};
use crate::shared::mark_page::LAST_FLOOR;
use crate::shared::mark_sequence::{self, OWN_FLOOR, Value};
use crate::shared::memory::{self, Header, HorizonMemory};

/// The floor with which this database has arrived, above which its IDs are, while the clock has not passed it; otherwise the
/// smallest number.
pub static CARRIED: PerProcess<Cell<i64>> = PerProcess::new(Cell::new(i64::MIN));

/// The shared memory for a reader; `None` if no process of this server can allocate it.
pub fn memory(schema: Schema) -> Result<Option<HorizonMemory>, Error> {
    let memory = memory::of_horizon()?;
    if let Some(memory) = memory.filter(|memory| !is_learned(*memory)) {
        learn(memory, schema)?;
    }
    Ok(memory)
}

/// The time at or above which a draw is because of the floor that the database carries; the smallest number if none.
#[inline]
pub fn for_draw(memory: HorizonMemory, schema: Schema) -> i64 {
    if !is_learned(memory) {
        learn_to_draw(memory, schema);
    }
    CARRIED.get()
}

/// Whether this process knows the floor that the database carries, and the durable one has been read.
#[inline]
fn is_learned(memory: HorizonMemory) -> bool {
    OWN_FLOOR.get().is_some() && memory.has_begun()
}

/// Raises the floor to the durable one, and to the one with which this database has arrived, once the clock has passed it.
#[cold]
fn learn(memory: HorizonMemory, schema: Schema) -> Result<(), Error> {
    if !memory.has_begun() {
        floor::begin(memory)?;
    }
    let mut access = SharedHorizon::new(memory);
    access.schema = schema;
    let bound = horizon::learn(&mut access)?;
    CARRIED.set(bound.unwrap_or(i64::MIN));
    // Whether it reaches up to a horizon, `carry` looks.
    OWN_FLOOR.set(bound.is_none().then_some(0));
    Ok(())
}

/// As [`memory()`], for a draw: continues if the page cannot be read or written. As long as that is so, there are no horizons, and only
/// the clock is above those from before the start. If the sequence is unlogged, it is of no use to a draw.
#[cold]
fn learn_to_draw(memory: HorizonMemory, schema: Schema) {
    let carried = mark_sequence::read_floor(schema, true).unwrap_or_default();
    CARRIED.set(carried.filter(|carried| carried.has_arrived).map_or(i64::MIN, |carried| carried.value));
    // A parallel operation permits no subtransaction, in which errors of the server can be ignored as well.
    if transaction::is_parallel() {
        let _ = learn(memory, schema);
    } else {
        let _ = transaction::attempt(|| learn(memory, schema));
    }
}

/// Lets the sequence of this database carry a floor that is not below a horizon, before that is returned.
pub fn carry(memory: HorizonMemory, schema: Schema, horizon: i64) -> Result<(), Error> {
    let durable = || memory.header.durable.load(Ordering::SeqCst);
    // It is above the durable floor if an administrator has set that back.
    let is_enough = |carried: i64| (horizon..=durable()).contains(&carried);
    while !OWN_FLOOR.get().is_some_and(is_enough) {
        let next = |present: &Value| (!present.has_arrived && !is_enough(present.value)).then(durable);
        match mark_sequence::write_floor(schema, next)? {
            Some(Value { value, has_arrived: true, .. }) if value >= horizon => break,
            Some(Value { has_arrived: true, .. }) => learn(memory, schema)?,
            Some(carried) => {
                wal::flush(carried.position);
                OWN_FLOOR.set(Some(carried.value));
                break;
            }
            None => break,
        }
    }
    Ok(())
}

/// Raises the floor above the tick of a time: transactions that begin later draw above it. Does nothing for types whose generators
/// always have a mark, because the floor would delay the other types. XX001 if the page of the marks is damaged.
pub fn raise_above<T: GeneratedId>(schema: Schema, time: i64) -> Result<(), Error> {
    let floor = T::TICKS.start(T::TICKS.nearest(time) + 1).min(LAST_FLOOR as i64 - LEAD_MICROS);
    // A transaction draws above the clock.
    if T::SERVER_WIDE || floor <= clock::now() {
        return Ok(());
    }
    let Some(memory) = memory::of_horizon()? else { return Ok(()) };
    learn_to_draw(memory, schema);
    floor::make_durable(memory, floor)?;
    memory.header.floor.fetch_max(floor, Ordering::SeqCst);
    Ok(())
}

/// Sets the floor back if a wrong clock has left it in the future, and the one that the database carries. IDs below horizons that
/// were returned can then be generated. XX001 if the page of the marks is damaged.
pub fn set_back(schema: Schema, mark: i64) -> Result<(), Error> {
    let Some(memory) = memory::of_horizon()? else { return Ok(()) };
    learn_to_draw(memory, schema);
    let Header { floor, durable, .. } = memory.header;
    let now = clock::now();
    let is_ahead = |time: i64| time.saturating_sub(now) > MAX_BEHIND_MICROS.max(MAX_AHEAD_MICROS);
    let new = mark.max(now);
    let mut position = 0;
    if is_ahead(floor.load(Ordering::SeqCst)) {
        let page = floor::page()?;
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
    OWN_FLOOR.set(None);
    wal::flush(position);
    Ok(())
}
