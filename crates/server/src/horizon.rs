//! The horizon: the time below which no further ID can appear in a snapshot. A unit test explores the orders of the accesses.
//!
//! Everything is in one measure, microseconds since 1970-01-01 UTC, so that one bound serves the IDs of all types: an ID is never
//! of an earlier tick than the time from which it was drawn.
//!
//! - The *floor* is shared, and only rises. A reader raises it to the clock before it looks for transactions.
//! - A transaction *publishes* a lower bound of its IDs in the slot of its process before it draws its first one. It then reads the
//!   floor, and draws at or above both.
//! - The server says whether a transaction still runs. Before a transaction with rows ends, it writes its bound to a *table*, which
//!   is hashed by the number of the transaction.
//!
//! A reader and a transaction each store and then load, with a full fence in between. So either the reader sees the bound, or the
//! transaction sees the floor.
//!
//! As with [`protocol`](crate::protocol), the functions are straight-line code over their accesses.

use core::ops::Range;

/// The number of entries of the table. Transactions whose numbers differ by a multiple of it share an entry: the latest of those that
/// have drawn and ended has it.
pub const ENTRIES: u64 = 1 << 16;

/// The transaction that has a slot or an entry, as a word of shared memory. The lowest bit is set while it stores its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(pub u64);

impl Owner {
    /// No transaction.
    pub const NONE: Self = Self(0);

    /// The owner of a slot, by its process ID and its local number.
    pub const fn new(pid: u32, number: u32) -> Self {
        Self((pid as u64) << 33 | (number as u64) << 1)
    }

    /// The owner of an entry, by the number of the transaction.
    const fn of_entry(transaction: u64) -> Self {
        Self(transaction << 1)
    }

    /// The process ID of the owner of a slot.
    pub const fn pid(self) -> u32 {
        (self.0 >> 33) as u32
    }

    /// This owner while it stores its bound.
    const fn busy(self) -> Self {
        Self(self.0 | 1)
    }

    /// Whether the bound is not yet stored.
    const fn is_busy(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What has an owner and a bound in shared memory.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The slot of a process, by its index.
    Slot(usize),
    /// The entry of the table for a transaction number.
    Entry(u64),
}

/// Access to what the processes of a server share. An error ends the function that gets it.
///
/// A parallel worker publishes for the transaction of its leader.
pub trait HorizonAccess {
    /// The error of an access.
    type Error;

    /// Reads the clock, in microseconds since 1970-01-01 UTC.
    fn now(&mut self) -> Result<i64, Self::Error>;
    /// Loads the floor: the [`start`](crate::protocol::Marks::start) of the horizons.
    fn floor(&mut self) -> Result<i64, Self::Error>;
    /// Raises the floor to the clock, and returns it, as [`floor`](crate::protocol::raise_floor).
    fn raise_floor(&mut self) -> Result<i64, Self::Error>;
    /// Orders the preceding accesses before the following ones.
    fn fence(&mut self) -> Result<(), Self::Error>;
    /// Waits a moment for another process.
    fn pause(&mut self) -> Result<(), Self::Error>;

    /// The slot of this process's transaction, and its owner.
    fn own(&self) -> (Place, Owner);
    /// The number of slots.
    fn slots(&self) -> usize;

    /// Loads the owner.
    fn owner(&mut self, of: Place) -> Result<Owner, Self::Error>;
    /// Replaces the owner with a compare-and-swap. Returns `false` if another process has changed it.
    fn replace_owner(&mut self, of: Place, old: Owner, new: Owner) -> Result<bool, Self::Error>;
    /// Stores the owner.
    fn set_owner(&mut self, of: Place, owner: Owner) -> Result<(), Self::Error>;
    /// Loads the bound; the largest number for a transaction of another database.
    fn bound(&mut self, of: Place) -> Result<i64, Self::Error>;
    /// Stores the bound.
    fn set_bound(&mut self, of: Place, bound: i64) -> Result<(), Self::Error>;

    /// Whether the server says that the transaction runs in the process of the slot, in the reader's database.
    fn runs(&mut self, slot: usize, owner: Owner) -> Result<bool, Self::Error>;
    /// The lowest bound of the database's prepared transactions; the largest number if there are none.
    fn prepared(&mut self) -> Result<i64, Self::Error>;
    /// The number before which transactions may have ended without an entry.
    fn since(&mut self) -> Result<u64, Self::Error>;
    /// The transactions that the snapshot saw running, and the numbers of those that it did not see: from the first one that had not
    /// begun up to the next transaction.
    fn unseen(&mut self) -> Result<(Vec<u64>, Range<u64>), Self::Error>;
    /// Whether a transaction has committed, and no longer runs.
    fn has_committed(&mut self, transaction: u64) -> Result<bool, Self::Error>;
}

/// Publishes a bound for a transaction, unless a process of the transaction has done so. Returns the time at or above which this
/// process draws the IDs of the transaction.
///
/// The published bound stays the same: the other processes of a parallel query draw above it.
pub fn publish<A: HorizonAccess>(access: &mut A) -> Result<i64, A::Error> {
    let (slot, own) = access.own();
    let bound = loop {
        let owner = access.owner(slot)?;
        if owner == own {
            break access.bound(slot)?;
        }
        // Another process of the parallel query is about to store the bound.
        if owner == own.busy() {
            access.pause()?;
        } else if access.replace_owner(slot, owner, own.busy())? {
            let bound = access.floor()?.max(access.now()?);
            access.set_bound(slot, bound)?;
            access.set_owner(slot, own)?;
            break bound;
        }
    };
    // A reader that has not seen the owner has raised the floor before.
    access.fence()?;
    Ok(bound.max(access.floor()?))
}

/// Writes the bound of a transaction to the table. Must be called while the server still says that the transaction runs.
pub fn record<A: HorizonAccess>(access: &mut A, transaction: u64, bound: i64) -> Result<(), A::Error> {
    let (own, entry) = (Owner::of_entry(transaction), Place::Entry(transaction));
    loop {
        let owner = access.owner(entry)?;
        // A later transaction has the entry: readers that need this one find that it is lost.
        if owner >= own {
            return Ok(());
        }
        if owner.is_busy() {
            access.pause()?;
        } else if access.replace_owner(entry, owner, own.busy())? {
            access.set_bound(entry, bound)?;
            return access.set_owner(entry, own);
        }
    }
}

/// The horizon of a snapshot, in microseconds since 1970-01-01 UTC; `None` if the snapshot is too old: a transaction that it
/// does not see has committed, and its bound is no longer known.
///
/// A transaction that the snapshot does not see either published before the slots are loaded, or draws above the floor. In the
/// first case it still runs when its slot is loaded, or is prepared when the locks are listed, or has ended. If it has ended, it
/// has an entry.
pub fn horizon<A: HorizonAccess>(access: &mut A) -> Result<Option<i64>, A::Error> {
    let mut horizon = access.raise_floor()?;
    access.fence()?;
    for slot in 0..access.slots() {
        let owner = access.owner(Place::Slot(slot))?;
        // A busy owner has not yet loaded the floor.
        if owner == Owner::NONE || owner.is_busy() {
            continue;
        }
        // Before the server is asked: while the transaction runs, its bound does not change.
        let bound = access.bound(Place::Slot(slot))?;
        if access.runs(slot, owner)? {
            horizon = horizon.min(bound);
        }
    }
    horizon = horizon.min(access.prepared()?);
    access.fence()?;
    let (running, Range { start: end, end: next }) = access.unseen()?;
    let since = access.since()?;
    for transaction in running {
        let Some(bound) = look_up(access, transaction, since)? else { return Ok(None) };
        horizon = horizon.min(bound);
    }
    // One open transaction can have begun any number of subtransactions, which have numbers of their own.
    for latest in end.max(next.saturating_sub(ENTRIES))..next {
        // No transaction from `end` on has had the entry.
        if end >= since && access.owner(Place::Entry(latest))? < Owner::of_entry(end) {
            continue;
        }
        for transaction in (end..=latest).rev().step_by(ENTRIES as usize) {
            let Some(bound) = look_up(access, transaction, since)? else { return Ok(None) };
            horizon = horizon.min(bound);
        }
    }
    Ok(Some(horizon))
}

/// The bound of a transaction that the snapshot does not see; the largest number if it holds nothing, `None` if its bound is not known.
/// Transactions before `since` may have ended without an entry.
fn look_up<A: HorizonAccess>(access: &mut A, transaction: u64, since: u64) -> Result<Option<i64>, A::Error> {
    let (own, entry) = (Owner::of_entry(transaction), Place::Entry(transaction));
    loop {
        let owner = access.owner(entry)?;
        let is_lost = owner > own.busy() || owner < own && transaction < since;
        if is_lost {
            // If it still runs, its slot has been considered. If it has rolled back, nobody will see its rows.
            return Ok((!access.has_committed(transaction)?).then_some(i64::MAX));
        }
        if owner < own {
            return Ok(Some(i64::MAX));
        }
        if owner.is_busy() {
            access.pause()?;
            continue;
        }
        let bound = access.bound(entry)?;
        access.fence()?;
        if access.owner(entry)? == own {
            return Ok(Some(bound));
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/horizon.rs"]
mod tests;
