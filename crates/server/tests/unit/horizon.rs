use std::collections::HashSet;

use super::*;

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
    /// The guard compares an ID that was made elsewhere with the bound, not with what the transaction loads after it has published.
    ComparesWithBound,
    /// The reader reads up to the horizon, although the guard accepts IDs that are older by the lag.
    OmitsLag,
}

/// The lag by which IDs generated elsewhere can be older than their transaction.
const LAG: i64 = 3;

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
    /// The lowest time of an ID made elsewhere that the guard accepts.
    accepted: Option<i64>,
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

impl HorizonAccess for Run<'_> {
    type Error = Stop;

    fn now(&mut self) -> Result<i64, Stop> {
        self.access(|world| world.clock)
    }
    fn floor(&mut self) -> Result<i64, Stop> {
        self.access(|world| world.floor)
    }
    fn raise_floor(&mut self) -> Result<i64, Stop> {
        let is_late = self.mistake == Mistake::ScansFirst;
        self.access(|world| {
            let floor = world.clock.max(world.floor);
            *if is_late { &mut world.late } else { &mut world.floor } = floor;
            floor
        })
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

    fn own(&self) -> (Place, Owner) {
        (Place::Slot(0), OWN)
    }
    fn slots(&self) -> usize {
        1
    }

    fn owner(&mut self, of: Place) -> Result<Owner, Stop> {
        if let (Place::Entry(_), false) = (of, self.is_writer) {
            if self.mistake == Mistake::LooksUpFirst {
                // As it was when the snapshot was taken.
                return Ok(Owner::NONE);
            }
            // A reader that waits for the entry would otherwise take any number of steps.
            if self.next == self.answers.len() && self.world.state & 1 == 1 {
                return Err(Stop);
            }
        }
        self.access(|world| *world.owner_at(of) as i64).map(|word| Owner(word as u64))
    }
    fn replace_owner(&mut self, of: Place, old: Owner, new: Owner) -> Result<bool, Stop> {
        self.access(|world| {
            world.flush_all();
            let owner = world.owner_at(of);
            let is_old = *owner == old.0;
            if is_old {
                *owner = new.0;
            }
            i64::from(is_old)
        })
        .map(|done| done == 1)
    }
    fn set_owner(&mut self, of: Place, owner: Owner) -> Result<(), Stop> {
        self.access(|world| {
            match of {
                Place::Slot(_) => world.buffer.push((true, owner.0)),
                Place::Entry(_) => world.state = owner.0,
            }
            0
        })
        .map(drop)
    }
    fn bound(&mut self, of: Place) -> Result<i64, Stop> {
        let is_writer = self.is_writer;
        self.access(|world| {
            let stored = world.buffer.iter().rev().find(|(is_owner, _)| is_writer && !is_owner);
            match of {
                Place::Slot(_) => stored.map_or(world.bound, |(_, bound)| *bound as i64),
                Place::Entry(_) => world.entry,
            }
        })
    }
    fn set_bound(&mut self, of: Place, bound: i64) -> Result<(), Stop> {
        self.access(|world| {
            match of {
                Place::Slot(_) => world.buffer.push((false, bound as u64)),
                Place::Entry(_) => world.entry = bound,
            }
            0
        })
        .map(drop)
    }

    fn runs(&mut self, _: usize, owner: Owner) -> Result<bool, Stop> {
        self.access(|world| i64::from(world.running && owner == OWN)).map(|runs| runs == 1)
    }
    fn prepared(&mut self) -> Result<i64, Stop> {
        self.access(|world| {
            world.floor = world.floor.max(world.late);
            0
        })
        .map(|_| i64::MAX)
    }
    fn since(&mut self) -> Result<u64, Stop> {
        Ok(1)
    }
    fn unseen(&mut self) -> Result<(Vec<u64>, Range<u64>), Stop> {
        let is_unseen = self.world.sees == Some(false) && self.mistake != Mistake::Forgets;
        Ok((if is_unseen { vec![NUMBER] } else { Vec::new() }, NUMBER + 1..NUMBER + 1))
    }
    fn has_committed(&mut self, _: u64) -> Result<bool, Stop> {
        Ok(true)
    }
}

impl World {
    fn owner_at(&mut self, of: Place) -> &mut u64 {
        match of {
            Place::Slot(_) => &mut self.owner,
            Place::Entry(_) => &mut self.state,
        }
    }

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
        let reader = if self.reader.at == 1 { Process { at: END, ..Process::default() } } else { self.reader.clone() };
        Some(Self {
            clock: self.clock,
            clock_steps: self.clock_steps,
            // A floor that was returned is durable.
            floor: self.floor,
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
    /// The program of a transaction: learn, publish, draw, record, end. Returns whether it goes on.
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
                let bound = if self.mistake == Mistake::ComparesWithBound { self.bound(Place::Slot(0))? } else { from };
                self.world.accepted = Some(bound - LAG);
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
                let bound = self.bound(Place::Slot(0))?;
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

/// Explores all orders of the accesses. Returns the number of worlds, and whether one of these faults occurs:
///
/// - A transaction that the snapshot does not see has an ID below the horizon.
/// - Such a transaction can insert an ID that was made elsewhere, and that a reader with a lag has passed.
/// - A snapshot has two horizons.
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
        {
            let passed = if mistake == Mistake::OmitsLag { horizon } else { horizon - LAG };
            if drawn < horizon || world.accepted.is_some_and(|accepted| accepted < passed) {
                return (known.len(), true);
            }
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
        Mistake::ComparesWithBound,
        Mistake::OmitsLag,
    ] {
        assert!(explore(mistake).1, "{mistake:?}");
    }
}

#[test]
fn an_owner_has_its_numbers() {
    assert_eq!(Owner::new(4_194_304, u32::MAX).pid(), 4_194_304);
    let [first, second] = [2, 3].map(Owner::of_entry);
    assert!(first != second && !second.is_busy() && second.busy().is_busy() && second.busy() != first.busy());
}
