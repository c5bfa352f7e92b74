//! The accesses of a backend to the world, and the model's [`Access`].
//!
//! A backend's state is its operation and the answers that it has received so far. To continue, the operation runs again from the
//! start, receives the recorded answers, performs one more access, and stops at the next one.

mod marks;

use std::convert::Infallible;

use rand::TryRng;
use scru_ids::{Context, OnClockRollback};
use scru_server::draw::Access;
use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Known, Lsn, Pending};

use crate::kind::Shared;
use crate::operation::Call;
use crate::world::{Fault, World};
use crate::{Bounds, Changed};

/// The maximum number of accesses of an operation. An operation that takes more does not end.
const MAX_ACCESSES: usize = 120;

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
    Pending(Pending),
    Position(Lsn),
    /// What a database carries, and its version.
    Carried(Mark, Carried, Lsn),
    /// The version of what was written.
    Written(Mark, Option<Lsn>),
}

impl Answer {
    /// The position that the answer contains.
    pub(crate) fn position_mut(&mut self) -> Option<&mut Lsn> {
        match self {
            Self::Position(position) | Self::Pending(Pending { position, .. }) => Some(position),
            _ => self.version_mut().map(|(_, version)| version),
        }
    }

    /// The version that the answer contains of what the database carries.
    pub(crate) fn version_mut(&mut self) -> Option<(Mark, &mut Lsn)> {
        match self {
            Self::Carried(of, _, version) | Self::Written(of, Some(version)) => Some((*of, version)),
            _ => None,
        }
    }
}

/// Whether another action can come between an access and the previous one of the same backend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Another action can precede it and observe or change what it accesses.
    Shared,
    /// It accesses data that only the holder of the lock, or this backend, accesses.
    Private,
}

impl Order {
    /// The order of an access to shared memory. A single backend shares it with no other, and a crash clears it.
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
    pub(crate) known: [Known; 2],
    pub(crate) due: i64,
}

impl<'a> Run<'a> {
    pub(crate) fn new(bounds: &'a Bounds, world: &'a mut World, backend: usize, fails: bool) -> Self {
        let private = &mut world.backends[backend];
        let answers = private.operation.as_mut().map(|operation| std::mem::take(&mut operation.answers));
        let (known, due) = (private.known, private.due);
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
            known,
            due,
        }
    }

    fn database(&self) -> usize {
        self.world.backends[self.backend].database
    }

    /// Whether the operation changes the marks for all databases.
    fn corrects(&self) -> bool {
        let operation = self.world.backends[self.backend].operation.as_ref();
        operation.is_some_and(|operation| matches!(operation.call, Call::Set(_) | Call::Raise(_)))
    }

    /// The first reading of the clock, which an ID was generated from, and the last one, to which the marks were set back.
    pub(crate) fn times(&self) -> (i64, i64) {
        let mut times =
            self.answers.iter().filter_map(|answer| if let Answer::Time(now) = answer { Some(*now) } else { None });
        let first = times.next().unwrap_or(0);
        (first, times.next_back().unwrap_or(first))
    }

    fn stop<R>(&mut self) -> Result<R, Halt> {
        self.has_stopped = true;
        Err(Halt::Stop)
    }

    /// Performs an access, or returns its recorded answer.
    fn access(&mut self, order: Order, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        if self.has_stopped {
            return Err(Halt::Stop);
        }
        if self.next == self.answers.len() {
            if order == Order::Shared && self.has_acted {
                return self.stop();
            }
            self.has_acted |= order == Order::Shared;
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
        match self.access(Order::Shared, |world| if fails { Answer::Failed } else { perform(world) })? {
            Answer::Failed => Err(Halt::Failed),
            answer => Ok(answer),
        }
    }

    /// Performs an access that requires the lock.
    fn locked(&mut self, order: Order, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        self.require_lock(true);
        self.access(order, perform)
    }

    /// A superuser who sets the marks back raises nothing.
    fn require_lower(&mut self, old: i64, new: i64) {
        let operation = self.world.backends[self.backend].operation.as_ref();
        if !self.has_stopped && new > old && operation.is_some_and(|operation| matches!(operation.call, Call::Set(_))) {
            self.world.fail(Fault::Raised);
        }
    }

    fn require_lock(&mut self, holds: bool) {
        if !self.has_stopped && self.holds_lock != holds {
            self.world.fail(Fault::Lock);
        }
    }

    /// Performs an access to shared memory.
    fn memory(&mut self, perform: impl FnOnce(&mut World) -> Answer) -> Result<Answer, Halt> {
        self.access(Order::of_memory(self.world), perform)
    }

    fn load(&mut self, perform: impl FnOnce(&World) -> u64) -> Result<u64, Halt> {
        self.memory(|world| Answer::Number(perform(world))).map(Self::number)
    }

    fn number(answer: Answer) -> u64 {
        if let Answer::Number(number) = answer { number } else { u64::MAX }
    }

    fn flag(answer: Answer) -> bool {
        answer == Answer::Flag(true)
    }
}

/// A random source. Counters start at the same number, so a tick that starts twice repeats its first ID.
pub struct Random;

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(1)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(1)
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

impl<T: Shared> Access<T> for Run<'_> {
    type Random = Random;

    fn word(&mut self) -> Result<u64, Halt> {
        self.load(|world| world.shared.words[T::KIND as usize])
    }

    fn swap(&mut self, old: u64, new: u64) -> Result<bool, Halt> {
        self.require_lower(T::KIND.tick(old).1, T::KIND.tick(new).1);
        self.memory(|world| {
            let word = &mut world.shared.words[T::KIND as usize];
            let is_current = *word == old;
            if is_current {
                *word = new;
            }
            Answer::Flag(is_current)
        })
        .map(Self::flag)
    }

    fn context(&self, now: i64) -> Context<T::Settings> {
        let settings = T::settings(self.bounds, self.world.backends[self.backend].node);
        Context { now, on_clock_rollback: OnClockRollback::Error, settings }
    }

    fn from(&self) -> i64 {
        self.world.backends[self.backend].transaction.from
    }

    fn arrived(&self) -> i64 {
        self.world.backends[self.backend].transaction.arrived
    }

    fn random(&mut self, _now: i64) -> Result<Random, Halt> {
        Ok(Random)
    }

    fn is_due(&mut self, reserved: i64) -> bool {
        std::mem::replace(&mut self.due, reserved) != reserved
    }
}
