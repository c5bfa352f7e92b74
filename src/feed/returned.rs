//! The horizons that this process returns to readers.

use core::cell::RefCell;
use std::collections::HashMap;

use scru_server::horizon::{self, HorizonAccess, Owner, Place};

use crate::call::error::{Error, sql_error};
use crate::feed::horizon_access::SharedHorizon;
use crate::feed::prepared;
use crate::pg::portal;
use crate::pg::process::PerProcess;
use crate::pg::transaction::{self, Snapshot};
use crate::shared::memory;

/// The horizons that this process has returned in a transaction, by the client's statement and the content of the snapshot.
///
/// The server evaluates a STABLE function any number of times in a statement. Two values for one snapshot would together be wrong,
/// because a transaction may roll back in between. So the first one is returned again. A later statement can have an equal snapshot:
/// on an idle server, it would never read the last row if it had the same value.
struct Returned {
    local: u32,
    all: HashMap<(i64, Box<[u32]>), i64>,
    /// The number of values at which those that nobody can ask for are removed.
    full: usize,
}

/// The statement of all snapshots that are those of their transaction.
const OF_TRANSACTION: i64 = 0;

static RETURNED: PerProcess<RefCell<Option<Returned>>> = PerProcess::new(RefCell::new(None));

fn remember(key: (i64, Box<[u32]>), value: i64) {
    let mut kept = RETURNED.borrow_mut();
    let returned = kept.get_or_insert_with(|| Returned { local: transaction::local(), all: HashMap::new(), full: 64 });
    if returned.all.len() >= returned.full {
        let is_open = |statement| statement == OF_TRANSACTION || portal::is_open(statement);
        returned.all.retain(|(statement, content), _| is_open(*statement) && !Snapshot::is_gone(content));
        returned.full = 64.max(2 * returned.all.len());
    }
    returned.all.insert(key, value);
}

/// The horizon of the snapshot of the statement, in microseconds since 1970-01-01 UTC. 40001 if the snapshot is too old,
/// 25000 in a parallel worker.
pub fn of_statement() -> Result<i64, Error> {
    // SAFETY: this function returns before the statement ends.
    let snapshot = unsafe { Snapshot::active() };
    let statement = if Snapshot::is_of_transaction() { OF_TRANSACTION } else { portal::statement() };
    let key = (statement, snapshot.content());
    RETURNED.borrow_mut().take_if(|returned| returned.local != transaction::local());
    if let Some(value) = RETURNED.borrow().as_ref().and_then(|returned| returned.all.get(&key)) {
        return Ok(*value);
    }
    if transaction::is_parallel_worker() {
        return Err(sql_error!(ERRCODE_INVALID_TRANSACTION_STATE, "cannot read a horizon in a parallel worker")
            .hint("Declare the function that calls it as PARALLEL RESTRICTED."));
    }
    let mut access = reader()?;
    access.snapshot = Some(snapshot);
    let value = horizon::horizon(&mut access)?.ok_or_else(too_old)?;
    remember(key, value);
    Ok(value)
}

fn reader() -> Result<SharedHorizon, Error> {
    SharedHorizon::new(memory::of_horizon(true)?.ok_or_else(memory::no_memory)?)
}

#[cold]
fn too_old() -> Error {
    // Programs repeat a transaction with this SQLSTATE by themselves.
    sql_error!(ERRCODE_T_R_SERIALIZATION_FAILURE, "the snapshot is too old for a horizon")
        .detail(
            "A transaction that the snapshot does not see has committed, and its first ID is no longer known: the server has just started, \
             or a transaction whose number is higher by a multiple of 65536 has also generated IDs.",
        )
        .hint("Retry in a new transaction, and call the function first in it.")
}

/// The transactions of this database that hold the horizon: the process ID, `None` if it is prepared, and the bound.
pub fn holders() -> Result<Vec<(Option<i32>, i64)>, Error> {
    let mut access = reader()?;
    let mut holders = Vec::new();
    for slot in 0..access.slots() {
        let owner = access.owner(Place::Slot(slot))?;
        let bound = access.bound(Place::Slot(slot))?;
        if owner != Owner::NONE && access.runs(slot, owner)? {
            holders.push((Some(owner.pid() as i32), bound));
        }
    }
    holders.extend(prepared::bounds(access.memory).into_iter().map(|bound| (None, bound)));
    holders.sort_by_key(|(_, bound)| *bound);
    Ok(holders)
}
