//! The floor below which no transaction draws: where it is durable, and how a server begins with it.

use core::sync::atomic::Ordering;

use scru_ids::horizon::LEAD_MICROS;
use scru_ids::{MAX_AHEAD_MICROS, MAX_BEHIND_MICROS};

use crate::call::error::Error;
use crate::generate::horizon_memory::{self, Header, Memory, attached};
use crate::generate::mark_page::MarkPage;
use crate::pg::{clock, log, subtransaction, transaction};

/// Returns the shared memory for a reader; `None` if no process of this server can allocate it.
pub fn memory() -> Result<Option<Memory>, Error> {
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

/// Reads the durable floor. Generation continues if that fails: as long as the page cannot be read, there are no horizons. Then only
/// the clock is above those from before the start.
#[cold]
pub fn begin_or_ignore(memory: Memory) -> Result<(), Error> {
    if transaction::is_parallel() {
        return begin(memory);
    }
    let _ = subtransaction::attempt(|| begin(memory));
    Ok(())
}

/// Makes a floor durable: every later start of a server with these data begins at or above it.
///
/// # Errors
/// XX001 if the page of the marks is damaged.
pub fn make_durable(memory: Memory, floor: i64) -> Result<(), Error> {
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
    log::flush(position);
    Ok(())
}

/// Returns the locked page of the marks.
fn page() -> Result<MarkPage, Error> {
    // SAFETY: the buffer is pinned for this call.
    let page = unsafe { MarkPage::lock(MarkPage::pin(), true) };
    page.ok_or_else(horizon_memory::no_memory)
}
