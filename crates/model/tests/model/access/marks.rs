//! The model's [`Marks`]: the clock, the marks, the lock of the page, the log, and what the databases carry.

use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Known, Lsn, Marks, Pending};

use super::{Answer, Halt, Order, Run};
use crate::kind::Kind;
use crate::world::{Fault, World};

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
