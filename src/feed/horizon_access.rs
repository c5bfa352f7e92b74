//! The extension's accesses for the [`horizon`]: what the transactions of this process publish, and what others read.

use core::ops::Range;
use core::sync::atomic::{Ordering, fence};

use scru_server::horizon::{self, HorizonAccess, Owner, Place};
use scru_server::mark::Mark;
use scru_server::protocol::{self, Marks};

use crate::call::error::Error;
use crate::feed::prepared;
use crate::pg::clock;
use crate::pg::process::own_database;
use crate::pg::transaction::{self, Snapshot};
use crate::shared::marks::SharedMarks;
use crate::shared::memory::{HorizonMemory, Published};

/// This process's access to the shared memory.
pub struct SharedHorizon {
    pub memory: &'static HorizonMemory,
    pub marks: SharedMarks,
    own: (Place, Owner),
    /// The snapshot of the reader; `None` for the active one.
    pub snapshot: Option<Snapshot>,
}

impl SharedHorizon {
    pub fn new(memory: &'static HorizonMemory) -> Result<Self, Error> {
        if memory.header.since.load(Ordering::Acquire) == 0 {
            prepared::begin(&memory.header);
        }
        let (slot, (pid, number)) = transaction::own();
        let own = (Place::Slot(slot), Owner::new(pid, number));
        Ok(Self { memory, marks: SharedMarks::new()?, own, snapshot: None })
    }

    /// Records the bound of this process's transaction, if it has published one.
    pub fn record(&mut self, number: u64, is_prepared: bool) -> Result<(), Error> {
        let (slot, own) = self.own;
        if self.owner(slot)? != own {
            return Ok(());
        }
        let bound = self.bound(slot)?;
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
        self.marks.start(Mark::Horizons)
    }

    fn raise_floor(&mut self) -> Result<i64, Error> {
        protocol::raise_floor(&mut self.marks)
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

    fn own(&self) -> (Place, Owner) {
        self.own
    }

    fn slots(&self) -> usize {
        self.memory.slots.len()
    }

    fn owner(&mut self, of: Place) -> Result<Owner, Error> {
        Ok(Owner(self.memory.published(of).owner.load(Ordering::SeqCst)))
    }

    fn replace_owner(&mut self, of: Place, old: Owner, new: Owner) -> Result<bool, Error> {
        Ok(self.memory.published(of).owner.compare_exchange(old.0, new.0, Ordering::SeqCst, Ordering::SeqCst).is_ok())
    }

    fn set_owner(&mut self, of: Place, owner: Owner) -> Result<(), Error> {
        // For an entry, the lock under which the transaction ends makes it visible to readers.
        self.memory.published(of).owner.store(owner.0, Ordering::Release);
        Ok(())
    }

    fn bound(&mut self, of: Place) -> Result<i64, Error> {
        let Published { bound, database, .. } = self.memory.published(of);
        let (bound, database) = (bound.load(Ordering::SeqCst), database.load(Ordering::SeqCst));
        Ok(if database == u64::from(own_database()) { bound } else { i64::MAX })
    }

    fn set_bound(&mut self, of: Place, bound: i64) -> Result<(), Error> {
        // A reader that loads this or the database finds the owner that was stored before.
        self.memory.published(of).bound.store(bound, Ordering::Release);
        self.memory.published(of).database.store(own_database().into(), Ordering::Release);
        Ok(())
    }

    fn runs(&mut self, slot: usize, owner: Owner) -> Result<bool, Error> {
        Ok(transaction::of_process(slot).is_some_and(|(pid, number)| Owner::new(pid, number) == owner))
    }

    fn prepared(&mut self) -> Result<i64, Error> {
        Ok(prepared::bounds(self.memory).into_iter().min().unwrap_or(i64::MAX))
    }

    fn since(&mut self) -> Result<u64, Error> {
        Ok(self.memory.header.since.load(Ordering::SeqCst))
    }

    fn unseen(&mut self) -> Result<(Vec<u64>, Range<u64>), Error> {
        // SAFETY: the snapshot is used here only.
        Ok(self.snapshot.unwrap_or_else(|| unsafe { Snapshot::active() }).unseen())
    }

    fn has_committed(&mut self, transaction: u64) -> Result<bool, Error> {
        Ok(transaction::has_committed(transaction))
    }
}
