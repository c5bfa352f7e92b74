//! The extension's accesses for the [`horizon`]: what the transactions of this process publish, and what others read.

use core::sync::atomic::{Ordering, fence};

use scru_server::horizon::{self, HorizonAccess, Owner};
use scru_server::mark::Mark;
use scru_server::protocol::{self, Marks};

use crate::call::error::Error;
use crate::feed::prepared;
use crate::pg::clock;
use crate::pg::process::own_database;
use crate::pg::transaction::{self, Snapshot};
use crate::shared::marks::Backend;
use crate::shared::memory::{HorizonMemory, Slot};

/// This process's access to the shared memory.
pub struct SharedHorizon {
    pub memory: HorizonMemory,
    own_slot: usize,
    own: Owner,
    /// The snapshot of the reader; `None` for the active one.
    pub snapshot: Option<Snapshot>,
}

impl SharedHorizon {
    pub fn new(memory: HorizonMemory) -> Self {
        let (own_slot, own) = transaction::own();
        Self { memory, own_slot, own: Owner::new(own.pid, own.number), snapshot: None }
    }

    fn marks(&self) -> Backend {
        Backend::at(self.memory.marks)
    }

    fn slot(&self) -> &'static Slot {
        &self.memory.slots[self.own_slot]
    }

    /// Records the bound of this process's transaction, if it has published one.
    pub fn record(&mut self, number: u64, is_prepared: bool) -> Result<(), Error> {
        let Slot { owner, bound } = self.slot();
        if owner.load(Ordering::SeqCst) != self.own.0 {
            return Ok(());
        }
        let bound = bound.load(Ordering::SeqCst);
        if is_prepared {
            prepared::lock_with_bound(bound);
            self.memory.header.prepared.fetch_add(1, Ordering::SeqCst);
        }
        horizon::record(self, number, bound)
    }
}

impl HorizonAccess for SharedHorizon {
    type Error = Error;

    fn now(&mut self) -> Result<i64, Error> {
        Ok(clock::now())
    }

    fn floor(&mut self) -> Result<i64, Error> {
        self.marks().start(Mark::Horizons)
    }

    fn raise_floor(&mut self) -> Result<i64, Error> {
        protocol::floor(&mut self.marks())
    }

    fn fence(&mut self) -> Result<(), Error> {
        fence(Ordering::SeqCst);
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Error> {
        core::hint::spin_loop();
        pgrx::check_for_interrupts!();
        Ok(())
    }

    fn own(&self) -> Owner {
        self.own
    }

    fn own_slot(&self) -> usize {
        self.own_slot
    }

    fn replace_owner(&mut self, old: Owner, new: Owner) -> Result<bool, Error> {
        Ok(self.slot().owner.compare_exchange(old.0, new.0, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_owner(&mut self, owner: Owner) -> Result<(), Error> {
        self.slot().owner.store(owner.0, Ordering::Release);
        Ok(())
    }

    fn set_bound(&mut self, bound: i64) -> Result<(), Error> {
        self.slot().bound.store(bound, Ordering::Release);
        Ok(())
    }

    fn entry_owner(&mut self, transaction: u64) -> Result<Owner, Error> {
        Ok(Owner(self.memory.entry(transaction).state.load(Ordering::SeqCst)))
    }

    fn replace_entry_owner(&mut self, transaction: u64, old: Owner, new: Owner) -> Result<bool, Error> {
        let state = &self.memory.entry(transaction).state;
        Ok(state.compare_exchange(old.0, new.0, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_entry_owner(&mut self, transaction: u64, owner: Owner) -> Result<(), Error> {
        // The lock under which the transaction ends makes it visible to readers.
        self.memory.entry(transaction).state.store(owner.0, Ordering::Release);
        Ok(())
    }

    fn entry(&mut self, transaction: u64) -> Result<Option<i64>, Error> {
        let entry = self.memory.entry(transaction);
        let bound = entry.bound.load(Ordering::SeqCst);
        Ok((entry.database.load(Ordering::SeqCst) == u64::from(own_database())).then_some(bound))
    }

    fn set_entry(&mut self, transaction: u64, bound: i64) -> Result<(), Error> {
        // A reader that loads one of these finds the state that was stored before.
        let entry = self.memory.entry(transaction);
        entry.bound.store(bound, Ordering::Release);
        entry.database.store(own_database().into(), Ordering::Release);
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
        Ok(transaction::of_process(slot).is_some_and(|running| Owner::new(running.pid, running.number) == owner))
    }

    fn prepared(&mut self) -> Result<Option<i64>, Error> {
        Ok(prepared::bounds(self.memory).into_iter().min())
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
