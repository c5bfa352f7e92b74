//! The floor below which no transaction draws: where it is durable, and how a server begins with it.

use core::sync::atomic::Ordering;

use scru_server::horizon::LEAD_MICROS;

use crate::call::error::Error;
use crate::feed::prepared;
use crate::pg::{transaction, wal};
use crate::shared::mark_page::{MarkPage, Pinned};
use crate::shared::memory::{self, Header, HorizonMemory};

/// Reads the durable floor for the first time since the start of the server.
#[cold]
pub fn begin(memory: HorizonMemory) -> Result<(), Error> {
    let Header { floor, durable, since, prepared, .. } = memory.header;
    let page = Pinned::existing()?.and_then(|page| page.lock(true));
    let logged = page.map_or(Ok(0), |page| page.floor())?;
    durable.fetch_max(logged, Ordering::SeqCst);
    floor.fetch_max(logged, Ordering::SeqCst);
    if !prepared::locked_bounds().is_empty() {
        prepared.fetch_add(1, Ordering::SeqCst);
    }
    // Transactions that were prepared before the start have no entry.
    let _ = since.compare_exchange(0, transaction::next(), Ordering::SeqCst, Ordering::Relaxed);
    Ok(())
}

/// Makes a floor durable: every later start of a server with these data begins at or above it. XX001 if the page is damaged.
pub fn make_durable(memory: HorizonMemory, floor: i64) -> Result<(), Error> {
    let logged = floor.saturating_add(LEAD_MICROS);
    let position = {
        let page = page()?;
        // Another process may have logged a higher one. Its flush includes this one.
        if page.floor()? < logged { page.log_floor(logged)? } else { page.position() }
    };
    wal::flush(position);
    let page = page()?;
    // An administrator may have set the floor back.
    if page.floor()? >= logged {
        memory.header.durable.fetch_max(logged, Ordering::SeqCst);
    }
    Ok(())
}

/// The floor of this server for a look, also before the first draw since its start and on a standby; `None` if there is none,
/// or if another backend has locked the page. XX001 if the page is damaged, 53200 if not enough shared memory is left.
pub fn look() -> Result<Option<i64>, Error> {
    let floor = match memory::of_horizon()?.filter(HorizonMemory::has_begun) {
        Some(memory) => memory.header.floor.load(Ordering::Relaxed),
        None => Pinned::existing()?.and_then(|page| page.lock(false)).map_or(Ok(0), |page| page.floor())?,
    };
    Ok((floor != 0).then_some(floor))
}

pub fn page() -> Result<MarkPage, Error> {
    Pinned::new()?.lock(true).ok_or_else(memory::no_memory)
}
