//! The accesses of a backend to the world, the model's [`Access`], and the text of the protocol that has them.
//!
//! A backend's state is its operation and the answers that it has received so far. To continue, the operation runs again from the
//! start, receives the recorded answers, performs one more access, and stops at the next one.

use std::convert::Infallible;

use rand::TryRng;
use scru_ids::{Context, OnClockRollback, Step};
use scru_server::draw::Access;
use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Known, Lsn, Marks, Pending};

use crate::Bounds;
use crate::kind::{Kind, Shared};
use crate::world::{Call, Fault, World};

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

impl Marks for Run<'_> {
    type Error = Halt;

    fn clock(&mut self) -> Result<i64, Halt> {
        let order = if self.bounds.can_move_clock(self.world) { Order::Shared } else { Order::Private };
        let (backend, is_locked) = (self.backend, self.holds_lock);
        let answer = self.access(order, |world| {
            // A superuser sets the marks back to what this reading permits.
            if is_locked {
                world.forget_above_mark(backend);
            }
            Answer::Time(world.clock)
        });
        Ok(if let Answer::Time(now) = answer? { now } else { 0 })
    }

    fn flush_time(&self) -> i64 {
        self.bounds.flush_time
    }

    fn era(&mut self) -> Result<u64, Halt> {
        self.load(|world| world.shared.era)
    }

    fn start(&mut self, of: Mark) -> Result<i64, Halt> {
        self.load(|world| world.shared.marks[of as usize].start as u64).map(|start| start as i64)
    }

    fn era_of_start(&mut self, of: Mark) -> Result<u64, Halt> {
        self.load(|world| world.shared.marks[of as usize].era)
    }

    fn raise_start(&mut self, of: Mark, era: u64, time: i64) -> Result<bool, Halt> {
        let is_own = !self.corrects() && self.bounds.is_clock_calm;
        let raise = |world: &mut World| {
            let clock = world.clock;
            let mark = &mut world.shared.marks[of as usize];
            let is_of_era = mark.start == 0 || mark.era == era;
            // Only the page and a superuser raise what all databases share above the clock.
            let is_ahead = is_own && is_of_era && time > mark.start.max(clock);
            if is_of_era {
                (mark.start, mark.era) = (mark.start.max(time), era);
            }
            if is_ahead {
                world.fail(Fault::AheadOfArrived);
            }
            Answer::Flag(is_of_era)
        };
        self.access(Order::of_memory(self.world), raise).map(Self::flag)
    }

    fn set_start(&mut self, of: Mark, era: u64, time: i64) -> Result<(), Halt> {
        self.locked(Order::of_memory(self.world), |world| {
            let mark = &mut world.shared.marks[of as usize];
            (mark.start, mark.era) = (time, era);
            Answer::Done
        })
        .map(|_| ())
    }

    /// A server without marks has no page.
    fn has_page(&mut self) -> Result<bool, Halt> {
        self.access(Order::Shared, |world| Answer::Flag(world.log.disk().page != [0; 2])).map(Self::flag)
    }

    fn reserved(&mut self, of: Mark) -> Result<i64, Halt> {
        self.load(|world| world.shared.marks[of as usize].reserved as u64).map(|reserved| reserved as i64)
    }

    /// Locking is no action of its own: it is equivalent to locking directly before the next access.
    fn lock(&mut self, wait: bool) -> Result<bool, Halt> {
        self.require_lock(false);
        let is_new = !self.has_stopped && self.next == self.answers.len();
        if is_new && (self.has_acted || wait && self.world.shared.is_locked) {
            return self.stop();
        }
        let is_locked = self.next == self.answers.len() && self.world.shared.is_locked;
        let order = if is_locked { Order::Shared } else { Order::Private };
        let locked = self.access(order, |world| {
            let locked = !std::mem::replace(&mut world.shared.is_locked, true);
            Answer::Flag(locked)
        });
        let locked = locked.map(Self::flag)?;
        self.holds_lock |= locked;
        Ok(locked)
    }

    /// Unlocking is no action of its own: it is equivalent to unlocking directly after the previous access.
    fn unlock(&mut self) -> Result<(), Halt> {
        self.locked(Order::Private, |world| {
            world.shared.is_locked = false;
            Answer::Done
        })?;
        self.holds_lock = false;
        Ok(())
    }

    fn set_era(&mut self, era: u64) -> Result<(), Halt> {
        self.require_lock(self.holds_lock || era > 1);
        self.access(Order::of_memory(self.world), |world| {
            if world.shared.era == era - 1 {
                world.shared.era = era;
            }
            Answer::Done
        })
        .map(|_| ())
    }

    fn reserve(&mut self, of: Mark, time: i64) -> Result<(), Halt> {
        let corrects = self.corrects();
        self.locked(Order::of_memory(self.world), |world| {
            let reserved = std::mem::replace(&mut world.shared.marks[of as usize].reserved, time);
            if reserved > time && !corrects {
                world.fail(Fault::Withdrawn);
            }
            Answer::Done
        })
        .map(|_| ())
    }

    fn pending(&mut self, of: Mark) -> Result<Pending, Halt> {
        match self.locked(Order::Private, |world| Answer::Pending(world.shared.marks[of as usize].pending))? {
            Answer::Pending(pending) => Ok(pending),
            _ => Ok(Pending::default()),
        }
    }

    fn set_pending(&mut self, of: Mark, pending: Pending) -> Result<(), Halt> {
        self.locked(Order::Private, |world| {
            world.shared.marks[of as usize].pending = pending;
            Answer::Done
        })
        .map(|_| ())
    }

    fn durable(&mut self, of: Mark) -> Result<i64, Halt> {
        let read = |world: &mut World| Answer::Number(world.log.disk().page[of as usize] as u64);
        self.require_lock(true);
        // Only a damaged page cannot be read.
        let answer = if self.bounds.failures > 0 { self.attempt(read) } else { self.access(Order::Private, read) };
        answer.map(|answer| Self::number(answer) as i64)
    }

    fn log(&mut self, of: Mark, time: i64) -> Result<Lsn, Halt> {
        self.require_lock(true);
        let maximum = self.bounds.marks;
        let answer = self.attempt(|world| {
            if let Some(maximum) = maximum {
                world.marks_logged += 1;
                if world.marks_logged > maximum {
                    world.fail(Fault::NeedlessMark);
                }
            }
            Answer::Position(world.log.write_mark(of, time))
        });
        answer.map(|answer| if let Answer::Position(position) = answer { position } else { Lsn::MAX })
    }

    fn lower_words(&mut self, time: i64) -> Result<(), Halt> {
        let kinds = self.world.backends.iter().map(|backend| backend.kind);
        let (first, last) = (kinds.clone().min(), kinds.max());
        let lower = self.bounds.protocol.lower_word;
        Kind::SHARED
            .into_iter()
            .filter(|kind| [first, last].contains(&Some(*kind)))
            .try_for_each(|kind| lower(self, kind, time))
    }

    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Halt> {
        self.access(Order::Shared, |world| Answer::Flag(world.log.is_flushed(position))).map(Self::flag)
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
        self.access(Order::Private, |_| Answer::Done).map(|_| ())
    }

    fn known(&self, of: Mark) -> Known {
        self.known[of as usize]
    }

    fn know(&mut self, of: Mark, known: Known) {
        self.known[of as usize] = known;
    }

    fn has_version(&mut self, of: Mark, version: Lsn) -> Result<bool, Halt> {
        self.require_lock(false);
        let database = self.database();
        let is_same = |world: &mut World| Answer::Flag(world.log.carried(database, of).1 == version);
        self.access(Order::Shared, is_same).map(Self::flag)
    }

    fn read_carried(&mut self, of: Mark) -> Result<(Carried, Lsn), Halt> {
        self.require_lock(false);
        let database = self.database();
        let answer = self.attempt(|world| {
            let (carried, version) = world.log.carried(database, of);
            Answer::Carried(of, carried, version)
        });
        Ok(if let Answer::Carried(_, carried, version) = answer? { (carried, version) } else { Default::default() })
    }

    fn write_carried(&mut self, of: Mark, old: Lsn, new: Carried) -> Result<Option<Lsn>, Halt> {
        self.require_lock(false);
        let database = self.database();
        let answer = self.attempt(|world| {
            let is_current = old == world.log.carried(database, of).1;
            Answer::Written(of, is_current.then(|| world.log.write_carried(database, of, new)))
        });
        Ok(if let Answer::Written(_, version) = answer? { version } else { None })
    }
}

/// The functions of the protocol.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Draws an ID of a type.
    pub draw: fn(&mut Run<'_>, Kind) -> Result<Option<Drawn>, Halt>,
    /// Learns what the database carries.
    pub learn: fn(&mut Run<'_>, Mark) -> Result<i64, Halt>,
    /// Raises the floor of the horizons.
    pub floor: fn(&mut Run<'_>) -> Result<i64, Halt>,
    /// Sets the marks back.
    pub set_marks: fn(&mut Run<'_>, i64) -> Result<(), Halt>,
    /// Raises the marks.
    pub raise_marks: fn(&mut Run<'_>, i64) -> Result<(), Halt>,
    /// Sets the word of a type back.
    pub lower_word: fn(&mut Run<'_>, Kind, i64) -> Result<(), Halt>,
}

/// The result of a step: the word of the ID; `None` for a wait or a refusal.
pub type Drawn = Option<u64>;

/// The result of a step of any type.
pub(crate) fn drawn<T: Shared>(step: Option<Step<T>>) -> Option<Drawn> {
    step.map(|step| step.ok().map(|(word, _)| word))
}

/// Access by a changed protocol.
pub trait Changed {
    /// The number of the change; 0 if there is none.
    fn change(&self) -> usize;
}

/// The [`Protocol`] whose functions two modules have.
macro_rules! protocol {
    ($($module:ident)::+, $($words:ident)::+) => {
        crate::Protocol {
            draw: |run, kind| match kind {
                crate::Kind::Flake => $($words)::+::draw::<scru_ids::Ulidflake, _>(run).map(crate::access::drawn),
                _ => $($words)::+::draw::<scru_ids::Scru64, _>(run).map(crate::access::drawn),
            },
            learn: |run, of| $($module)::+::learn(run, of),
            floor: |run| $($module)::+::raise_floor(run),
            set_marks: |run, time| $($module)::+::set_marks(run, time),
            raise_marks: |run, time| $($module)::+::raise_marks(run, time),
            lower_word: |run, kind, time| match kind {
                crate::Kind::Flake => $($words)::+::lower_word::<scru_ids::Ulidflake, _>(run, time),
                _ => $($words)::+::lower_word::<scru_ids::Scru64, _>(run, time),
            },
        }
    };
}

pub(crate) use protocol;

/// The protocol as the extension runs it.
impl Default for Protocol {
    fn default() -> Self {
        protocol!(scru_server::protocol, scru_server::draw)
    }
}
