//! The horizon: the time below which no further ID can appear in a snapshot. This is the only text of its decisions.
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

use crate::generator::{
    GeneratedId, MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, MAX_ROLLBACK_MICROS, OnClockRollback, Refusal, Step,
};

/// The number of entries of the table: a reader finds each transaction whose number is among this many before the latest.
pub const ENTRIES: u64 = 1 << 16;

/// The lead of the durable floor over the floor, in microseconds: 1 s.
///
/// After a restart, IDs begin up to 1 s ahead of the clock without waiting ([`MAX_AHEAD_MICROS`]). Half as much would make readers
/// log the floor twice as often.
pub const LEAD_MICROS: i64 = 1_000_000;

/// A transaction that can publish, as a word of shared memory: its process ID and its local number, in the upper 63 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

impl Owner {
    /// No transaction.
    pub const NONE: Self = Self(0);

    /// Returns the owner with this process ID and local transaction number.
    pub const fn new(pid: u32, number: u32) -> Self {
        Self((pid as u64) << 33 | (number as u64) << 1)
    }

    /// Returns the process ID.
    pub const fn pid(self) -> u32 {
        (self.0 >> 33) as u32
    }

    /// Returns the owner while it stores its bound.
    const fn busy(self) -> Self {
        Self(self.0 | 1)
    }

    /// Returns whether the bound is not yet stored.
    const fn is_busy(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Access to what the processes of a server share. An error ends the function that gets it.
///
/// A parallel worker publishes for the transaction of its leader.
pub trait Access {
    /// The error of an access.
    type Error;

    /// Reads the clock, in microseconds since 1970-01-01 UTC.
    fn now(&mut self) -> Result<i64, Self::Error>;
    /// Loads the floor.
    fn floor(&mut self) -> Result<i64, Self::Error>;
    /// Raises the floor, if it is lower.
    fn raise_floor(&mut self, floor: i64) -> Result<(), Self::Error>;
    /// Loads the durable floor.
    fn durable(&mut self) -> Result<i64, Self::Error>;
    /// Makes a floor durable: every later start of a server with these data begins at or above it.
    fn make_durable(&mut self, floor: i64) -> Result<(), Self::Error>;
    /// Orders the preceding accesses before the following ones.
    fn fence(&mut self) -> Result<(), Self::Error>;
    /// Waits a moment for another process.
    fn pause(&mut self) -> Result<(), Self::Error>;

    /// Returns the transaction of this process.
    fn own(&self) -> Owner;
    /// Loads the owner of the transaction's slot.
    fn owner(&mut self) -> Result<Owner, Self::Error>;
    /// Replaces the owner of the transaction's slot with a compare-and-swap. Returns `false` if another process has changed it.
    fn replace_owner(&mut self, old: Owner, new: Owner) -> Result<bool, Self::Error>;
    /// Stores the owner of the transaction's slot.
    fn set_owner(&mut self, owner: Owner) -> Result<(), Self::Error>;
    /// Loads the bound of the transaction's slot.
    fn bound(&mut self) -> Result<i64, Self::Error>;
    /// Stores the bound of the transaction's slot.
    fn set_bound(&mut self, bound: i64) -> Result<(), Self::Error>;

    /// Loads the state of the entry for a transaction number.
    fn state(&mut self, transaction: u64) -> Result<u64, Self::Error>;
    /// Replaces the state of the entry with a compare-and-swap. Returns `false` if another process has changed it.
    fn replace_state(&mut self, transaction: u64, old: u64, new: u64) -> Result<bool, Self::Error>;
    /// Stores the state of the entry.
    fn set_state(&mut self, transaction: u64, state: u64) -> Result<(), Self::Error>;
    /// Loads the bound of the entry; `None` if it is of another database.
    fn entry(&mut self, transaction: u64) -> Result<Option<i64>, Self::Error>;
    /// Stores the bound of the entry.
    fn set_entry(&mut self, transaction: u64, bound: i64) -> Result<(), Self::Error>;

    /// Returns the number of slots.
    fn slots(&self) -> usize;
    /// Loads the owner of a slot.
    fn owner_of(&mut self, slot: usize) -> Result<Owner, Self::Error>;
    /// Loads the bound of a slot.
    fn bound_of(&mut self, slot: usize) -> Result<i64, Self::Error>;
    /// Returns whether the server says that the transaction runs in the process of the slot, in the reader's database.
    fn runs(&mut self, slot: usize, owner: Owner) -> Result<bool, Self::Error>;
    /// Returns the lowest bound of the database's prepared transactions; `None` if there are none.
    fn prepared(&mut self) -> Result<Option<i64>, Self::Error>;
    /// Returns the number of the next transaction.
    fn next_transaction(&mut self) -> Result<u64, Self::Error>;
    /// Returns the number before which transactions may have ended without an entry.
    fn since(&mut self) -> Result<u64, Self::Error>;
    /// Returns the transactions that the snapshot saw running, and the number from which on it saw none.
    fn unseen(&mut self, next: u64) -> Result<(Vec<u64>, u64), Self::Error>;
    /// Returns whether a transaction has committed, and no longer runs.
    fn has_committed(&mut self, transaction: u64) -> Result<bool, Self::Error>;
}

/// Publishes a bound for a transaction, unless a process of the transaction has done so. Returns the time at or above which this
/// process draws the IDs of the transaction.
///
/// The published bound stays the same: the other processes of a parallel query draw above it.
pub fn publish<A: Access>(access: &mut A) -> Result<i64, A::Error> {
    let own = access.own();
    loop {
        let owner = access.owner()?;
        if owner == own {
            break;
        }
        // Another process of the parallel query is about to store the bound.
        if owner == own.busy() {
            access.pause()?;
            continue;
        }
        if access.replace_owner(owner, own.busy())? {
            let bound = access.floor()?.max(access.now()?);
            access.set_bound(bound)?;
            access.set_owner(own)?;
            break;
        }
    }
    // A reader that has not seen the owner has raised the floor before.
    access.fence()?;
    Ok(access.bound()?.max(access.floor()?))
}

/// Returns the time with which a generator continues if the clock, which reads `now`, is behind the bound of the transaction.
///
/// # Errors
/// Returns a wait or a refusal if the clock is too far behind: for [`SERVER_WIDE`](GeneratedId::SERVER_WIDE) types, as
/// [`place_strictly`](crate::place_strictly) does, and for others if they refuse whenever the clock moves back.
#[inline]
pub fn behind<T: GeneratedId>(bound: i64, now: i64, on_clock_rollback: OnClockRollback) -> Result<i64, Step<T>> {
    let behind = bound.saturating_sub(now);
    let refuses = on_clock_rollback == OnClockRollback::Error;
    if T::SERVER_WIDE && behind > MAX_BEHIND_MICROS || refuses && behind > MAX_ROLLBACK_MICROS as i64 {
        Err(Step::Refused(Refusal::ClockMovedBack(behind as u64)))
    } else if T::SERVER_WIDE && behind > MAX_AHEAD_MICROS {
        Err(Step::Wait(bound - MAX_AHEAD_MICROS))
    } else {
        Ok(bound.max(now))
    }
}

/// Writes the bound of a transaction to the table. Must be called while the server still says that the transaction runs.
///
/// The state of an entry is the number of the transaction, shifted left by 1; its lowest bit is set while the entry is written.
pub fn record<A: Access>(access: &mut A, transaction: u64, bound: i64) -> Result<(), A::Error> {
    let own = transaction << 1;
    loop {
        let state = access.state(transaction)?;
        // A later transaction has the entry: readers that need this one find that it is lost.
        if state >= own {
            return Ok(());
        }
        if state & 1 == 1 {
            access.pause()?;
        } else if access.replace_state(transaction, state, own | 1)? {
            access.set_entry(transaction, bound)?;
            return access.set_state(transaction, own);
        }
    }
}

/// Returns the horizon of a snapshot, in microseconds since 1970-01-01 UTC; `None` if the snapshot is too old: a transaction that it
/// does not see has ended, and its bound is no longer known.
///
/// A transaction that the snapshot does not see either published before the slots are loaded, or draws above the floor. In the
/// first case it still runs when its slot is loaded, or is prepared when the locks are listed, or has ended. If it has ended, it
/// has an entry.
pub fn horizon<A: Access>(access: &mut A) -> Result<Option<i64>, A::Error> {
    let mut horizon = raise(access)?;
    access.fence()?;
    for slot in 0..access.slots() {
        let owner = access.owner_of(slot)?;
        // A busy owner has not yet loaded the floor.
        if owner == Owner::NONE || owner.is_busy() {
            continue;
        }
        // Before the server is asked: while the transaction runs, its bound does not change.
        let bound = access.bound_of(slot)?;
        if access.runs(slot, owner)? {
            horizon = horizon.min(bound);
        }
    }
    if let Some(bound) = access.prepared()? {
        horizon = horizon.min(bound);
    }
    access.fence()?;
    let next = access.next_transaction()?;
    let since = access.since()?;
    let (running, end) = access.unseen(next)?;
    if next.saturating_sub(end) > ENTRIES {
        return Ok(None);
    }
    for transaction in running.into_iter().chain(end..next) {
        match look_up(access, transaction, since)? {
            Some(bound) => horizon = horizon.min(bound),
            // If it still runs, the loop above has considered it. If it has rolled back, nobody will see its rows.
            None if access.has_committed(transaction)? => return Ok(None),
            None => {}
        }
    }
    Ok(Some(horizon))
}

/// Raises the floor to the clock, and returns it. The floor is durable first.
pub fn raise<A: Access>(access: &mut A) -> Result<i64, A::Error> {
    loop {
        let floor = access.floor()?.max(access.now()?);
        if access.durable()? < floor {
            access.make_durable(floor)?;
            continue;
        }
        access.raise_floor(floor)?;
        // An administrator may have set the floor back.
        if access.durable()? >= floor {
            return Ok(floor);
        }
    }
}

/// Returns the bound of a transaction; the largest number if it has published none or is of another database, `None` if its bound is
/// not known. Transactions before `since` may have ended without an entry.
fn look_up<A: Access>(access: &mut A, transaction: u64, since: u64) -> Result<Option<i64>, A::Error> {
    let own = transaction << 1;
    loop {
        let state = access.state(transaction)?;
        // A later transaction has the entry.
        if state > own | 1 {
            return Ok(None);
        }
        if state & 1 == 1 {
            access.pause()?;
            continue;
        }
        if state < own {
            return Ok((transaction >= since).then_some(i64::MAX));
        }
        let bound = access.entry(transaction)?.unwrap_or(i64::MAX);
        access.fence()?;
        if access.state(transaction)? == own {
            return Ok(Some(bound));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::OnClockRollback::{Error, Reset};
    use super::*;
    use crate::{Scru64, Scru128};

    /// A mistake that the search must find.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Mistake {
        None,
        /// The transaction draws before it publishes.
        DrawsFirst,
        /// The transaction does not wait until its bound is visible.
        NoFence,
        /// The server says that the transaction has ended before it has an entry.
        EndsFirst,
        /// The reader looks at the slots before it raises the floor.
        ScansFirst,
        /// The reader looks at the table before it looks at the slots.
        LooksUpFirst,
        /// The reader forgets transactions that have ended.
        Forgets,
        /// The reader evaluates the horizon of a snapshot a second time.
        EvaluatesTwice,
        /// The reader raises the floor before it is durable.
        RaisesFirst,
    }

    const OWN: Owner = Owner::new(7, 1);
    /// The number of the transaction.
    const NUMBER: u64 = 100;

    /// The position of a process whose program has ended.
    const END: u8 = u8::MAX;

    /// Two processes, a writer and a reader, and the memory that they share.
    #[derive(Clone, PartialEq, Eq, Hash, Default)]
    struct World {
        clock: i64,
        clock_steps: u8,
        floor: i64,
        durable: i64,
        owner: u64,
        bound: i64,
        state: u64,
        entry: i64,
        running: bool,
        committed: bool,
        /// Stores of the writer that the reader does not yet see, oldest first.
        buffer: Vec<(bool, u64)>,
        writer: Process,
        reader: Process,
        /// Whether the reader's snapshot sees the transaction; `None` until it is taken.
        sees: Option<bool>,
        /// The reader's late store of the floor, with [`Mistake::ScansFirst`].
        late: i64,
        drawn: Option<i64>,
        horizon: Option<i64>,
        /// The value of the second call in the snapshot.
        again: Option<i64>,
        has_restarted: bool,
    }

    /// The position of a process in its program, and the answers that the present function has received.
    #[derive(Clone, PartialEq, Eq, Hash, Default)]
    struct Process {
        at: u8,
        answers: Vec<i64>,
    }

    /// The end of the run of a function before its next access.
    #[derive(Debug)]
    struct Stop;

    /// The run of a function up to one new access.
    struct Run<'a> {
        world: &'a mut World,
        answers: Vec<i64>,
        next: usize,
        acted: bool,
        is_writer: bool,
        mistake: Mistake,
    }

    impl Run<'_> {
        fn access(&mut self, perform: impl FnOnce(&mut World) -> i64) -> Result<i64, Stop> {
            if self.next == self.answers.len() {
                if self.acted {
                    return Err(Stop);
                }
                self.acted = true;
                let answer = perform(self.world);
                self.answers.push(answer);
            }
            self.next += 1;
            Ok(self.answers[self.next - 1])
        }
    }

    impl Access for Run<'_> {
        type Error = Stop;

        fn now(&mut self) -> Result<i64, Stop> {
            self.access(|world| world.clock)
        }
        fn floor(&mut self) -> Result<i64, Stop> {
            self.access(|world| world.floor)
        }
        fn raise_floor(&mut self, floor: i64) -> Result<(), Stop> {
            let is_late = self.mistake == Mistake::ScansFirst;
            self.access(|world| {
                let stored = if is_late { &mut world.late } else { &mut world.floor };
                *stored = floor.max(*stored);
                0
            })
            .map(drop)
        }
        fn durable(&mut self) -> Result<i64, Stop> {
            if self.mistake == Mistake::RaisesFirst {
                return Ok(i64::MAX);
            }
            self.access(|world| world.durable)
        }
        fn make_durable(&mut self, floor: i64) -> Result<(), Stop> {
            self.access(|world| {
                world.durable = floor;
                0
            })
            .map(drop)
        }
        fn fence(&mut self) -> Result<(), Stop> {
            // The reader's stores are visible at once.
            if !self.is_writer {
                return Ok(());
            }
            let without = self.mistake == Mistake::NoFence;
            self.access(|world| {
                if !without {
                    world.flush_all();
                }
                0
            })
            .map(drop)
        }
        fn pause(&mut self) -> Result<(), Stop> {
            Ok(())
        }

        fn own(&self) -> Owner {
            OWN
        }
        fn owner(&mut self) -> Result<Owner, Stop> {
            self.access(|world| world.owner as i64).map(|word| Owner(word as u64))
        }
        fn replace_owner(&mut self, old: Owner, new: Owner) -> Result<bool, Stop> {
            self.access(|world| {
                world.flush_all();
                let is_old = world.owner == old.0;
                if is_old {
                    world.owner = new.0;
                }
                i64::from(is_old)
            })
            .map(|done| done == 1)
        }
        fn set_owner(&mut self, owner: Owner) -> Result<(), Stop> {
            self.access(|world| {
                world.buffer.push((true, owner.0));
                0
            })
            .map(drop)
        }
        fn bound(&mut self) -> Result<i64, Stop> {
            self.access(|world| {
                let stored = world.buffer.iter().rev().find(|(is_owner, _)| !is_owner);
                stored.map_or(world.bound, |(_, bound)| *bound as i64)
            })
        }
        fn set_bound(&mut self, bound: i64) -> Result<(), Stop> {
            self.access(|world| {
                world.buffer.push((false, bound as u64));
                0
            })
            .map(drop)
        }

        fn state(&mut self, _: u64) -> Result<u64, Stop> {
            if !self.is_writer && self.mistake == Mistake::LooksUpFirst {
                // As it was when the snapshot was taken.
                return Ok(0);
            }
            // A reader that waits for the entry would otherwise take any number of steps.
            if !self.is_writer && self.next == self.answers.len() && self.world.state & 1 == 1 {
                return Err(Stop);
            }
            self.access(|world| world.state as i64).map(|state| state as u64)
        }
        fn replace_state(&mut self, _: u64, _: u64, new: u64) -> Result<bool, Stop> {
            self.access(|world| {
                world.flush_all();
                world.state = new;
                1
            })
            .map(|_| true)
        }
        fn set_state(&mut self, _: u64, state: u64) -> Result<(), Stop> {
            self.access(|world| {
                world.state = state;
                0
            })
            .map(drop)
        }
        fn entry(&mut self, _: u64) -> Result<Option<i64>, Stop> {
            self.access(|world| world.entry).map(Some)
        }
        fn set_entry(&mut self, _: u64, bound: i64) -> Result<(), Stop> {
            self.access(|world| {
                world.entry = bound;
                0
            })
            .map(drop)
        }

        fn slots(&self) -> usize {
            1
        }
        fn owner_of(&mut self, _: usize) -> Result<Owner, Stop> {
            self.access(|world| world.owner as i64).map(|word| Owner(word as u64))
        }
        fn bound_of(&mut self, _: usize) -> Result<i64, Stop> {
            self.access(|world| world.bound)
        }
        fn runs(&mut self, _: usize, owner: Owner) -> Result<bool, Stop> {
            self.access(|world| i64::from(world.running && owner == OWN)).map(|runs| runs == 1)
        }
        fn prepared(&mut self) -> Result<Option<i64>, Stop> {
            self.access(|world| {
                world.floor = world.floor.max(world.late);
                0
            })
            .map(|_| None)
        }
        fn next_transaction(&mut self) -> Result<u64, Stop> {
            Ok(NUMBER + 1)
        }
        fn since(&mut self) -> Result<u64, Stop> {
            Ok(1)
        }
        fn unseen(&mut self, _: u64) -> Result<(Vec<u64>, u64), Stop> {
            let is_unseen = self.world.sees == Some(false) && self.mistake != Mistake::Forgets;
            Ok((if is_unseen { vec![NUMBER] } else { Vec::new() }, NUMBER + 1))
        }
        fn has_committed(&mut self, _: u64) -> Result<bool, Stop> {
            Ok(true)
        }
    }

    impl World {
        fn flush_one(&mut self) {
            let (is_owner, word) = self.buffer.remove(0);
            if is_owner {
                self.owner = word;
            } else {
                self.bound = word as i64;
            }
        }

        fn flush_all(&mut self) {
            while !self.buffer.is_empty() {
                self.flush_one();
            }
        }

        /// Returns the worlds after one more action.
        fn successors(&self, mistake: Mistake) -> Vec<Self> {
            let mut all = Vec::new();
            if !self.buffer.is_empty() {
                let mut world = self.clone();
                world.flush_one();
                all.push(world);
            }
            if self.clock_steps < 2 {
                for clock in [5, 20] {
                    all.push(Self { clock, clock_steps: self.clock_steps + 1, ..self.clone() });
                }
            }
            all.extend(self.restart());
            all.extend(self.step(mistake, true));
            all.extend(self.step(mistake, false));
            all
        }

        /// Returns the world after a crash and a start of the server, from which the writer begins again; `None` if there has been
        /// one, or if the transaction has committed.
        fn restart(&self) -> Option<Self> {
            if self.has_restarted || self.committed {
                return None;
            }
            // A reader that has its horizon is a consumer, which keeps it.
            let reader =
                if self.reader.at == 1 { Process { at: END, ..Process::default() } } else { self.reader.clone() };
            Some(Self {
                clock: self.clock,
                clock_steps: self.clock_steps,
                floor: self.durable,
                durable: self.durable,
                sees: self.sees,
                horizon: self.horizon,
                again: self.again,
                has_restarted: true,
                reader,
                ..Self::default()
            })
        }

        /// Returns the world after one more access of a process; `None` if it has ended.
        fn step(&self, mistake: Mistake, is_writer: bool) -> Option<Self> {
            let mut world = self.clone();
            let process = if is_writer { &mut world.writer } else { &mut world.reader };
            let (at, answers) = (process.at, std::mem::take(&mut process.answers));
            let mut run = Run { world: &mut world, answers, next: 0, acted: false, is_writer, mistake };
            let ended = if is_writer { run.write(at) } else { run.read(at) };
            let answers = run.answers;
            let is_writer = run.is_writer;
            let process = if is_writer { &mut world.writer } else { &mut world.reader };
            match ended {
                Err(Stop) => process.answers = answers,
                Ok(true) => process.at += 1,
                Ok(false) => return None,
            }
            Some(world)
        }
    }

    impl Run<'_> {
        /// The program of a transaction: publish, draw, record, end. Returns whether it goes on.
        fn write(&mut self, at: u8) -> Result<bool, Stop> {
            let draws_first = self.mistake == Mistake::DrawsFirst;
            let ends_first = self.mistake == Mistake::EndsFirst;
            match at {
                0 => {
                    self.world.running = true;
                    if draws_first {
                        self.world.drawn = Some(self.world.clock);
                    }
                }
                1 => {
                    let from = publish(self)?;
                    if !draws_first {
                        // The clock is read when the ID is drawn.
                        self.world.drawn = Some(from);
                    }
                }
                2 => {
                    if !draws_first {
                        self.world.drawn = self.world.drawn.map(|from| from.max(self.world.clock));
                    }
                }
                3 | 4 if (at == 3) == ends_first => {
                    self.world.running = false;
                    self.world.committed = true;
                }
                3 | 4 => {
                    let bound = self.bound()?;
                    record(self, NUMBER, bound)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        }

        /// The program of a reader: take a snapshot, compute the horizon.
        fn read(&mut self, at: u8) -> Result<bool, Stop> {
            match at {
                0 => self.world.sees = Some(self.world.committed),
                1 => {
                    if let Some(value) = horizon(self)? {
                        self.world.horizon = Some(value);
                    }
                }
                2 if self.mistake == Mistake::EvaluatesTwice => self.world.again = horizon(self)?,
                2 => self.world.again = self.world.horizon,
                _ => return Ok(false),
            }
            Ok(true)
        }
    }

    /// Explores all orders of the accesses. Returns the number of worlds, and whether a transaction that the snapshot does not see
    /// has an ID below the horizon, or a snapshot has two horizons.
    fn explore(mistake: Mistake) -> (usize, bool) {
        let start = World { clock: 10, ..World::default() };
        let mut known = HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some(world) = open.pop() {
            if world.again.is_some() && world.again != world.horizon {
                return (known.len(), true);
            }
            let is_over = world.writer.at > 4;
            if let (true, Some(drawn), Some(horizon)) = (is_over, world.drawn, world.horizon)
                && world.sees == Some(false)
                && drawn < horizon
            {
                return (known.len(), true);
            }
            for next in world.successors(mistake) {
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        (known.len(), false)
    }

    #[test]
    fn no_order_of_accesses_gives_a_horizon_above_a_row() {
        let (worlds, is_violated) = explore(Mistake::None);
        assert!(!is_violated);
        assert!(worlds > 10_000, "{worlds}");
    }

    #[test]
    fn the_search_finds_each_mistake() {
        for mistake in [
            Mistake::DrawsFirst,
            Mistake::NoFence,
            Mistake::EndsFirst,
            Mistake::ScansFirst,
            Mistake::LooksUpFirst,
            Mistake::Forgets,
            Mistake::EvaluatesTwice,
            Mistake::RaisesFirst,
        ] {
            assert!(explore(mistake).1, "{mistake:?}");
        }
    }

    #[test]
    fn generators_wait_or_refuse_behind_the_bound_like_behind_their_last_id() {
        let second = 1_000_000;
        let at = |behind_by, reaction| behind::<Scru64>(100 * second, 100 * second - behind_by, reaction);
        assert_eq!(at(-second, Error), Ok(101 * second));
        assert_eq!(at(second, Error), Ok(100 * second));
        assert_eq!(at(2 * second, Error), Err(Step::Wait(99 * second)));
        assert_eq!(at(2 * second + 1, Reset), Err(Step::Refused(Refusal::ClockMovedBack(2_000_001))));
        let at = |behind_by, reaction| behind::<Scru128>(100 * second, 100 * second - behind_by, reaction);
        assert_eq!(at(10 * second, Error), Ok(100 * second));
        assert_eq!(at(10 * second + 1, Error), Err(Step::Refused(Refusal::ClockMovedBack(10_000_001))));
        assert_eq!(at(3_600 * second, Reset), Ok(100 * second));
    }
}
