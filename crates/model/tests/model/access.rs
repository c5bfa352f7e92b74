//! The accesses of a backend to the world, the model's [`Access`], and the text of the protocol that has them.
//!
//! A backend's state is its operation and the answers that it has received so far. To continue, the operation runs again from the
//! start, receives the recorded answers, performs one more access, and stops at the next one.

use std::convert::Infallible;

use rand::TryRng;
use scru_ids::{Context, FastRange, NodeCode, OnClockRollback, Scru64, Scru64Settings, Step};
use scru_server::mark::{self, Mark, Reserved};
use scru_server::protocol::{Access, Carried, FastAccess, Lsn, Pending};

use crate::Bounds;
use crate::world::{Call, Fault, World};

/// The maximum number of accesses of an operation. An operation that takes more does not end.
const MAX_ACCESSES: usize = 80;

/// The error of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halt {
    /// The operation stops before its next access.
    Stop,
    /// The access failed.
    Failed,
}

/// The answer to an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Done,
    Failed,
    Flag(bool),
    Number(u64),
    Time(i64),
    Marks(Vec<Mark>),
    Pending(Pending),
    Position(Lsn),
    Run(u64),
    Carried(Carried, Lsn),
    Written(Option<Lsn>),
}

impl Answer {
    /// The position that the answer contains.
    pub(crate) fn position_mut(&mut self) -> Option<&mut Lsn> {
        match self {
            Self::Position(position) | Self::Pending(Pending { position, .. }) => Some(position),
            Self::Written(position) => position.as_mut(),
            _ => None,
        }
    }
}

/// Whether another action can come between an access and the previous one of the same backend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Another action can precede it and observe or change what it accesses.
    Shared,
    /// It accesses data that only the holder of the lock, or this backend, accesses.
    Private,
}

impl Kind {
    /// The kind of an access to shared memory. A single backend shares it with no other, and a crash clears it.
    fn of_memory(world: &World) -> Self {
        if world.backends.len() > 1 { Self::Shared } else { Self::Private }
    }
}

/// The run of an operation for one more access.
pub struct Run<'a> {
    bounds: &'a Bounds,
    pub(crate) world: &'a mut World,
    backend: usize,
    pub(crate) answers: Vec<Answer>,
    next: usize,
    /// Whether an access that other actions can precede was performed in this run.
    has_acted: bool,
    pub(crate) has_stopped: bool,
    /// Whether the access of this run fails, and whether it has failed.
    fails: bool,
    pub(crate) has_failed: bool,
    pub(crate) holds_lock: bool,
    pub(crate) known_carried: Reserved,
    pub(crate) due: Reserved,
    /// The last reading of the clock.
    clock: i64,
}

impl<'a> Run<'a> {
    pub(crate) fn new(bounds: &'a Bounds, world: &'a mut World, backend: usize, fails: bool) -> Self {
        let private = &mut world.backends[backend];
        let answers = private.operation.as_mut().map(|operation| std::mem::take(&mut operation.answers));
        let (known_carried, due) = (private.known_carried, private.due);
        Self {
            bounds,
            world,
            backend,
            answers: answers.unwrap_or_default(),
            next: 0,
            has_acted: false,
            has_stopped: false,
            fails,
            has_failed: false,
            holds_lock: false,
            known_carried,
            due,
            clock: i64::MIN,
        }
    }

    /// The time from which the transaction draws.
    fn from(&self) -> i64 {
        self.world.backends[self.backend].from
    }

    /// The part of that time that the database carried when the transaction began; as a fault, what it carries now.
    fn bound(&self) -> i64 {
        let database = self.world.backends[self.backend].database;
        if self.bounds.is_bound_read_late { self.world.bounds[database] } else { self.from() }
    }

    /// Whether the operation draws an ID: it must not delay the backends of other databases.
    fn draws(&self) -> bool {
        let operation = self.world.backends[self.backend].operation.as_ref();
        operation.is_some_and(|operation| matches!(operation.call, Call::Draw | Call::DrawFast))
    }

    /// The first reading of the clock, which an ID was generated from.
    pub(crate) fn first_time(&self) -> i64 {
        let times = self.answers.iter();
        times.flat_map(|answer| if let Answer::Time(now) = answer { Some(*now) } else { None }).next().unwrap_or(0)
    }

    fn stop<R>(&mut self) -> Result<R, Halt> {
        self.has_stopped = true;
        Err(Halt::Stop)
    }

    /// Performs an access, or returns its recorded answer.
    fn access(&mut self, kind: Kind, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        if self.has_stopped {
            return Err(Halt::Stop);
        }
        if self.next == self.answers.len() {
            if kind == Kind::Shared && self.has_acted {
                return self.stop();
            }
            self.has_acted |= kind == Kind::Shared;
            if self.answers.len() > MAX_ACCESSES {
                self.world.fail(Fault::Endless);
                return self.stop();
            }
            let answer = perform(self.world);
            self.answers.push(answer);
        }
        self.next += 1;
        Ok(self.answers[self.next - 1].clone())
    }

    /// Performs an access that can fail.
    fn attempt(&mut self, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        let fails = self.fails && !self.has_acted && self.next == self.answers.len() && !self.has_stopped;
        self.has_failed |= fails;
        match self.access(Kind::Shared, |world| if fails { Answer::Failed } else { perform(world) })? {
            Answer::Failed => Err(Halt::Failed),
            answer => Ok(answer),
        }
    }

    /// Performs an access that requires the lock.
    fn locked(&mut self, kind: Kind, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        self.require_lock(true);
        self.access(kind, perform)
    }

    fn require_lock(&mut self, holds: bool) {
        if !self.has_stopped && self.holds_lock != holds {
            self.world.fail(Fault::Lock);
        }
    }

    fn number(answer: Answer) -> u64 {
        if let Answer::Number(number) = answer { number } else { u64::MAX }
    }

    fn flag(answer: Answer) -> bool {
        answer == Answer::Flag(true)
    }
}

/// A random source. Counters start at 0, so a tick that starts twice repeats its first ID. Each run has its own number.
pub struct Random {
    run: u64,
    is_used: bool,
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.is_used = true;
        Ok(self.run)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(0);
        Ok(())
    }
}

impl Changed for Run<'_> {
    fn change(&self) -> usize {
        self.bounds.change
    }
}

impl FastAccess<Scru64> for Run<'_> {
    type Error = Halt;

    fn now(&mut self) -> Result<i64, Halt> {
        let kind = if self.bounds.can_move_clock(self.world) { Kind::Shared } else { Kind::Private };
        match self.access(kind, |world| Answer::Time(world.clock))? {
            Answer::Time(now) => {
                self.clock = now;
                Ok(now.max(self.from()))
            }
            _ => Ok(0),
        }
    }

    fn word(&mut self) -> Result<u64, Halt> {
        self.access(Kind::of_memory(self.world), |world| Answer::Number(world.shared.word)).map(Self::number)
    }

    fn swap(&mut self, old: u64, new: u64) -> Result<bool, Halt> {
        let swap = |world: &mut World| {
            let is_current = world.shared.word == old;
            if is_current {
                world.shared.word = new;
            }
            Answer::Flag(is_current)
        };
        self.access(Kind::of_memory(self.world), swap).map(Self::flag)
    }
}

impl Access<Scru64> for Run<'_> {
    type Random = Random;

    fn context(&self, now: i64) -> Context<Scru64Settings> {
        let settings = self.bounds.settings(self.world.backends[self.backend].node);
        Context { now, on_clock_rollback: OnClockRollback::Error, settings }
    }

    fn delay(&self) -> Option<Step<Scru64>> {
        mark::delay(self.bound(), self.clock, 0)
    }

    fn reserved(&mut self) -> Result<Reserved, Halt> {
        let load = |world: &mut World| Answer::Number(world.shared.reserved.0);
        self.access(Kind::of_memory(self.world), load).map(Self::number).map(Reserved)
    }

    fn random<R>(&mut self, draw: impl FnOnce(&mut Random) -> R) -> Result<R, Halt> {
        if self.has_stopped {
            return Err(Halt::Stop);
        }
        let recorded = match self.answers.get(self.next) {
            Some(Answer::Run(run)) => *run,
            Some(_) => 0,
            None => self.world.next_run(&self.answers),
        };
        let mut random = Random { run: recorded, is_used: false };
        let drawn = draw(&mut random);
        let answer = if random.is_used { Answer::Run(recorded) } else { Answer::Done };
        self.access(Kind::Private, |_| answer)?;
        Ok(drawn)
    }

    fn flush_time(&self) -> i64 {
        self.bounds.flush_time
    }

    fn is_due(&mut self, reserved: Reserved) -> bool {
        std::mem::replace(&mut self.due, reserved) != reserved
    }

    /// Locking is no action of its own: it is equivalent to locking directly before the next access.
    fn lock(&mut self, wait: bool) -> Result<bool, Halt> {
        self.require_lock(false);
        let is_new = !self.has_stopped && self.next == self.answers.len();
        if is_new && (self.has_acted || wait && self.world.shared.is_locked) {
            return self.stop();
        }
        let is_locked = self.next == self.answers.len() && self.world.shared.is_locked;
        let kind = if is_locked { Kind::Shared } else { Kind::Private };
        let locked = self.access(kind, |world| {
            let locked = !std::mem::replace(&mut world.shared.is_locked, true);
            Answer::Flag(locked)
        });
        let locked = locked.map(Self::flag)?;
        self.holds_lock |= locked;
        Ok(locked)
    }

    /// Unlocking is no action of its own: it is equivalent to unlocking directly after the previous access.
    fn unlock(&mut self) -> Result<(), Halt> {
        self.locked(Kind::Private, |world| {
            world.shared.is_locked = false;
            Answer::Done
        })?;
        self.holds_lock = false;
        Ok(())
    }

    fn marks(&mut self) -> Result<Vec<Mark>, Halt> {
        match self.locked(Kind::Private, |world| Answer::Marks(world.log.disk().marks))? {
            Answer::Marks(marks) => Ok(marks),
            _ => Ok(Vec::new()),
        }
    }

    fn log(&mut self, marks: &[Mark]) -> Result<Lsn, Halt> {
        self.require_lock(true);
        let (backend, maximum, draws) = (self.backend, self.bounds.marks, self.draws());
        self.attempt(|world| {
            world.forget_above_mark(backend);
            let old = world.log.disk().marks;
            let arrived = marks.iter().find(|mark| draws && mark.run == 0 && !old.contains(mark));
            if arrived.is_some_and(|arrived| old.iter().any(|mark| mark.covers(*arrived))) {
                world.fail(Fault::NeedlessMark);
            }
            if let Some(maximum) = maximum {
                world.marks_logged += 1;
                if world.marks_logged > maximum {
                    world.fail(Fault::NeedlessMark);
                }
            }
            Answer::Position(world.log.write_marks(marks))
        })
        .map(|answer| if let Answer::Position(position) = answer { position } else { Lsn::MAX })
    }

    fn reserve(&mut self, reserved: Reserved) -> Result<(), Halt> {
        if reserved == Reserved::NONE && self.draws() {
            self.world.fail(Fault::Withdrawn);
        }
        self.locked(Kind::of_memory(self.world), |world| {
            world.shared.reserved = reserved;
            Answer::Done
        })
        .map(|_| ())
    }

    fn pending(&mut self) -> Result<Pending, Halt> {
        match self.locked(Kind::Private, |world| Answer::Pending(world.shared.pending))? {
            Answer::Pending(pending) => Ok(pending),
            _ => Ok(Pending::default()),
        }
    }

    fn set_pending(&mut self, pending: Pending) -> Result<(), Halt> {
        self.locked(Kind::Private, |world| {
            world.shared.pending = pending;
            Answer::Done
        })
        .map(|_| ())
    }

    fn run(&mut self) -> Result<u64, Halt> {
        self.locked(Kind::Private, |world| Answer::Number(world.shared.run)).map(Self::number)
    }

    fn set_run(&mut self, run: u64) -> Result<(), Halt> {
        self.locked(Kind::Private, |world| {
            world.shared.run = run;
            Answer::Done
        })
        .map(|_| ())
    }

    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Halt> {
        self.access(Kind::Shared, |world| Answer::Flag(world.log.flushed >= position)).map(Self::flag)
    }

    fn flush(&mut self, position: Lsn) -> Result<(), Halt> {
        self.require_lock(false);
        self.attempt(|world| {
            world.log.flush(position);
            Answer::Done
        })
        .map(|_| ())
    }

    fn flush_later(&mut self, _: Lsn) -> Result<(), Halt> {
        self.access(Kind::Private, |_| Answer::Done).map(|_| ())
    }

    fn known_carried(&self) -> Reserved {
        self.known_carried
    }

    fn know_carried(&mut self, reserved: Reserved) {
        self.known_carried = reserved;
    }

    fn read_carried(&mut self) -> Result<(Carried, Lsn), Halt> {
        self.require_lock(false);
        let database = self.world.backends[self.backend].database;
        let carried = |world: &mut World| {
            let (carried, version) = world.log.carried(database);
            Answer::Carried(carried, version)
        };
        match self.attempt(carried)? {
            Answer::Carried(carried, version) => Ok((carried, version)),
            _ => Ok((Carried::Nothing, 0)),
        }
    }

    fn write_carried(&mut self, old: Option<Lsn>, new: Mark) -> Result<Option<Lsn>, Halt> {
        self.require_lock(false);
        let database = self.world.backends[self.backend].database;
        let answer = self.attempt(|world| {
            let is_current = old.is_none_or(|old| old == world.log.carried(database).1);
            Answer::Written(is_current.then(|| world.log.write_carried(database, Carried::Own(Some(new)))))
        });
        match answer? {
            Answer::Written(position) => Ok(position),
            _ => Ok(None),
        }
    }
}

/// The functions of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Draws an ID by a full step.
    pub draw: fn(&mut Run<'_>) -> Result<Option<Step<Scru64>>, Halt>,
    /// Draws an ID by the fast path.
    pub draw_fast: fn(&mut Run<'_>, &FastRange<Scru64>) -> Result<Option<u64>, Halt>,
    /// Sets the mark of a node.
    pub set_mark: fn(&mut Run<'_>, NodeCode, u64) -> Result<(), Halt>,
    /// Raises the mark of a node.
    pub raise_mark: fn(&mut Run<'_>, NodeCode, u64) -> Result<(), Halt>,
}

/// Access by a changed protocol.
pub trait Changed {
    /// The number of the change; 0 if there is none.
    fn change(&self) -> usize;
}

/// The [`Protocol`] whose functions a module has.
macro_rules! protocol {
    ($($module:ident)::+) => {
        crate::Protocol {
            draw: |run| $($module)::+::draw::<scru_ids::Scru64, _>(run),
            draw_fast: |run, range| $($module)::+::draw_fast::<scru_ids::Scru64, _>(run, range),
            set_mark: |run, node, tick| $($module)::+::set_mark::<scru_ids::Scru64, _>(run, node, tick),
            raise_mark: |run, node, tick| $($module)::+::raise_mark::<scru_ids::Scru64, _>(run, node, tick),
        }
    };
}

pub(crate) use protocol;

/// The protocol as the extension runs it.
impl Default for Protocol {
    fn default() -> Self {
        protocol!(scru_server::protocol)
    }
}
