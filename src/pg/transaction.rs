//! Transactions: that of this process, those of others, and the snapshot of a statement.

use core::ops::Range;
use core::slice;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use pgrx::pg_sys::{self, PGPROC, TransactionId};

use crate::pg::process::own_database;
use crate::pg::server;
use crate::pg::unguarded::{ActiveSnapshotSet, GetActiveSnapshot};

/// A transaction: the process that runs it, and its number there, which is 0 if there is none.
pub type LocalTransaction = (u32, u32);

#[inline(always)]
pub fn local() -> u32 {
    // SAFETY: a process that runs SQL has an entry.
    unsafe { server::local_transaction(pg_sys::MyProc) }
}

/// The number of processes that can run SQL.
pub fn processes() -> usize {
    // SAFETY: the server sets the variable before it creates shared memory.
    unsafe { pg_sys::MaxBackends as usize }
}

/// The index of the process that runs the transaction, and the transaction: for a parallel worker, those of its leader.
pub fn own() -> (usize, LocalTransaction) {
    // SAFETY: a worker's leader waits for it, so its entry remains.
    unsafe {
        let process = if is_parallel_worker() { (*pg_sys::MyProc).lockGroupLeader } else { pg_sys::MyProc };
        let index = process.offset_from((*pg_sys::ProcGlobal).allProcs) as usize;
        (index, running(process))
    }
}

pub fn is_parallel_worker() -> bool {
    // SAFETY: reads a variable of the server.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 && !(*pg_sys::MyProc).lockGroupLeader.is_null() }
}

/// Whether this process takes part in a parallel query, in which subtransactions cannot begin.
pub fn is_parallel() -> bool {
    // SAFETY: reads the state of this process.
    unsafe { pg_sys::IsInParallelMode() }
}

pub fn has_led() -> bool {
    // SAFETY: reads an entry of this process.
    unsafe { !(*pg_sys::MyProc).lockGroupLeader.is_null() }
}

/// The transaction that a process runs, with the number 0 if none, if the process is connected to this database.
pub fn of_process(index: usize) -> Option<LocalTransaction> {
    assert!(index < processes());
    // SAFETY: the server's array has an entry for each of them.
    unsafe {
        let process = (*pg_sys::ProcGlobal).allProcs.add(index);
        let database = AtomicU32::from_ptr((&raw mut (*process).databaseId).cast()).load(Ordering::Acquire);
        (database == own_database()).then(|| running(process))
    }
}

/// # Safety
/// `process` is an entry of the server's array of processes.
unsafe fn running(process: *mut PGPROC) -> LocalTransaction {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let pid = AtomicI32::from_ptr(&raw mut (*process).pid).load(Ordering::Acquire);
        (pid as u32, server::local_transaction(process))
    }
}

/// The snapshot of the statement.
#[derive(Clone, Copy)]
pub struct Snapshot(pg_sys::Snapshot);

impl Snapshot {
    /// # Safety
    /// The snapshot is not used after the statement.
    pub unsafe fn active() -> Self {
        // SAFETY: a transaction runs.
        Self(unsafe { if ActiveSnapshotSet() { GetActiveSnapshot() } else { pg_sys::GetTransactionSnapshot() } })
    }

    pub fn is_of_recovery(self) -> bool {
        // SAFETY: the snapshot is valid.
        unsafe { (*self.0).takenDuringRecovery }
    }

    /// The lowest transaction that it saw running, the first that it does not see, and all that it saw running.
    fn parts(&self) -> (TransactionId, TransactionId, &[TransactionId]) {
        // SAFETY: the snapshot is valid, and has `xcnt` entries.
        unsafe {
            let snapshot = &*self.0;
            let running =
                if snapshot.xcnt == 0 { &[] } else { slice::from_raw_parts(snapshot.xip, snapshot.xcnt as usize) };
            (snapshot.xmin, snapshot.xmax, running)
        }
    }

    /// Whether all statements of the transaction have the snapshot.
    pub fn is_of_transaction() -> bool {
        // SAFETY: reads a variable of this process.
        unsafe { pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32 }
    }

    /// The content of the snapshot: what it sees depends on nothing but that and on the statement's own changes.
    pub fn content(&self) -> Box<[u32]> {
        let (first, end, running) = self.parts();
        [first, end].iter().chain(running).map(|transaction| u32::from(*transaction)).collect()
    }

    /// Whether no snapshot with this content can be in use.
    pub fn is_gone(content: &[u32]) -> bool {
        // SAFETY: reads an entry of this process. It is at most the lowest of its snapshots.
        let oldest = unsafe { u32::from((*pg_sys::MyProc).xmin) };
        oldest != 0 && (content[0].wrapping_sub(oldest) as i32) < 0
    }

    /// The transactions that the snapshot saw running, and the numbers of those that had not begun, up to the next transaction.
    pub fn unseen(self) -> (Vec<u64>, Range<u64>) {
        let (next, (_, end, running)) = (next(), self.parts());
        let full = |transaction: &TransactionId| {
            let behind = (next as u32).wrapping_sub(u32::from(*transaction));
            next - u64::from(behind)
        };
        (running.iter().map(full).collect(), full(&end)..next)
    }
}

pub fn next() -> u64 {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::ReadNextFullTransactionId().value }
}

/// `None` if this process's transaction has no number, because it has changed nothing.
pub fn own_number() -> Option<u64> {
    // SAFETY: reads the state of this process.
    let number = unsafe { pg_sys::GetTopFullTransactionIdIfAny().value };
    (number as u32 != 0).then_some(number)
}

pub fn assign_own_number() -> u64 {
    // SAFETY: a transaction runs.
    unsafe { pg_sys::GetTopFullTransactionId().value }
}

/// Whether a transaction has committed, and no longer runs.
pub fn has_committed(number: u64) -> bool {
    let number = TransactionId::from(number as u32);
    // SAFETY: a snapshot in use keeps the status of its transactions. In this order: for a subtransaction of a running one, the status
    // costs less than the search among the running ones.
    unsafe { pg_sys::TransactionIdDidCommit(number) && !pg_sys::TransactionIdIsInProgress(number) }
}
