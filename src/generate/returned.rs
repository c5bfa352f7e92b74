//! The horizons that this process has returned for its snapshots.
//!
//! The server evaluates a STABLE function any number of times in a statement. Two values for one snapshot would together be wrong,
//! because a transaction may roll back in between. So the first one is returned again.

use core::cell::RefCell;
use std::collections::HashMap;

use crate::pg::process::PerProcess;
use crate::pg::transaction::{self, Snapshot};

/// The values that this process has returned in a transaction, by the content of the snapshots.
struct Returned {
    local: u64,
    last: Option<(Box<[u32]>, i64)>,
    all: HashMap<Box<[u32]>, i64>,
    /// The number of values at which those of snapshots that are gone are removed.
    full: usize,
}

static RETURNED: PerProcess<RefCell<Option<Returned>>> = PerProcess::new(RefCell::new(None));

/// Returns the value that was returned for a snapshot in this transaction.
pub fn returned(snapshot: &Snapshot) -> Option<i64> {
    let returned = RETURNED.borrow();
    let returned = returned.as_ref().filter(|returned| returned.local == u64::from(transaction::local()))?;
    match &returned.last {
        Some((content, value)) if snapshot.has(content) => Some(*value),
        _ => returned.all.get(&snapshot.content()).copied(),
    }
}

/// Remembers the value that is returned for a snapshot.
pub fn remember(snapshot: &Snapshot, value: i64) {
    let content = snapshot.content();
    let local = u64::from(transaction::local());
    let mut returned = RETURNED.borrow_mut();
    returned.take_if(|returned| returned.local != local);
    let returned = returned.get_or_insert_with(|| Returned { local, last: None, all: HashMap::new(), full: 64 });
    if returned.all.len() >= returned.full {
        returned.all.retain(|content, _| !Snapshot::is_gone(content));
        returned.full = 64.max(2 * returned.all.len());
    }
    returned.all.insert(content.clone(), value);
    returned.last = Some((content, value));
}
