//! The operations of a backend, and whether each ends.

use scru_server::mark::{self, Mark};
use scru_server::protocol::Marks;

use crate::access::{Answer, Halt, Run};
use crate::kind::{self, Kind};
use crate::world::{Backend, Fault, Raised, Transaction, World};
use crate::{Bounds, Drawn, Protocol, TICK};

/// An operation that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) answers: Vec<Answer>,
}

/// What a backend does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    /// Begins a transaction.
    Begin,
    Draw,
    /// Raises the floor of the horizons.
    Floor,
    /// Sets the marks back to a time.
    Set(i64),
    /// Raises the marks to a time.
    Raise(i64),
}

impl Bounds {
    /// Lets a backend perform its next access. Returns `false` if it cannot.
    pub(crate) fn go(&self, world: &mut World, backend: usize, call: Call, fails: bool) -> bool {
        let Backend { operation, kind, private, transaction, .. } = &mut world.backends[backend];
        let (kind, private, transaction) = (*kind, *private, *transaction);
        if operation.is_none() {
            let begins = call == Call::Draw && self.has_transactions() && !transaction.has_begun;
            let call = if begins { Call::Begin } else { call };
            *operation = Some(Operation { call, answers: Vec::new() });
        }
        let Some(Operation { call, answers }) = &world.backends[backend].operation else { return false };
        let (call, before) = (*call, answers.len());
        let Protocol { draw, learn, floor, set_marks, raise_marks, .. } = self.protocol;
        let mut run = Run::new(self, world, backend, fails);
        let result = match call {
            Call::Begin => begin(&mut run, kind, learn).map(Done::Begun),
            Call::Draw if kind == Kind::Private => {
                run.clock().map(|now| Done::Private(kind::private_step(private, transaction.from, now)))
            }
            Call::Draw => draw(&mut run, kind).map(|drawn| drawn.map_or(Done::Repeat, Done::Drawn)),
            Call::Floor => floor(&mut run).map(Done::Horizon),
            Call::Set(time) => set_marks(&mut run, time).map(|()| Done::Corrected),
            Call::Raise(time) => raise_marks(&mut run, time).map(|()| Done::Corrected),
        };
        let (now, last) = run.times();
        let Run { answers, has_stopped, has_failed, holds_lock, known, due, .. } = run;
        if fails && !has_failed {
            return false;
        }
        if has_stopped {
            let has_acted = answers.len() > before || world.fault.is_some();
            world.backends[backend].operation = Some(Operation { call, answers });
            return has_acted;
        }
        let present = &mut world.backends[backend];
        (present.known, present.due, present.operation) = (known, due, None);
        // A step that is repeated is one of the same transaction.
        if !matches!(result, Ok(Done::Repeat)) {
            present.transaction = Transaction::default();
        }
        if holds_lock {
            world.fail(Fault::Lock);
        }
        match result {
            Ok(Done::Begun(begun)) => {
                let horizon = world.horizon(world.backends[backend].database);
                world.backends[backend].transaction = Transaction { horizon, ..begun };
            }
            Ok(Done::Drawn(Some(word))) => {
                world.backends[backend].transaction = transaction;
                world.hand_out(self, backend, word, kind.tick(word), now);
                world.backends[backend].transaction = Transaction::default();
            }
            Ok(Done::Private(Some((private, tick)))) => {
                world.backends[backend].transaction = transaction;
                world.hand_out(self, backend, 0, tick, now);
                (world.backends[backend].transaction, world.backends[backend].private) =
                    (Transaction::default(), private);
            }
            Ok(Done::Drawn(None) | Done::Private(None)) if !self.has_reason(world, backend, transaction) => {
                world.fail(Fault::RefusedWithoutReason);
            }
            Ok(Done::Horizon(horizon)) => world.return_horizon(self, backend, horizon),
            Ok(Done::Corrected) => {
                let call = if let Call::Set(time) = call { Call::Set(mark::lowest(time, last)) } else { call };
                self.correct(world, backend, call);
            }
            Ok(Done::Repeat | Done::Drawn(None) | Done::Private(None)) | Err(_) => {}
        }
        true
    }

    /// Whether a wait or a refusal has a reason. What was restored in another database is none.
    fn has_reason(&self, world: &World, backend: usize, transaction: Transaction) -> bool {
        let Backend { database, node, kind, .. } = world.backends[backend];
        let is_restored = world.restored.is_some_and(|(restored, _)| restored == database);
        let word = world.shared.words[kind as usize];
        // The last state before a start has no further ID in its tick.
        let is_ahead = kind == Kind::Flake && world.shared.marks[0].start.max(transaction.from) > world.clock;
        world.may_refuse || is_restored || is_ahead || kind.is_exhausted(self, node, word)
    }

    /// Records what a superuser has promised.
    fn correct(&self, world: &mut World, backend: usize, call: Call) {
        let Backend { database, node, kind, .. } = world.backends[backend];
        if let Call::Set(time) = call {
            let is_above = |kind: &Kind| kind.tick(world.shared.words[*kind as usize]).1 > time;
            if self.backends.len() == 1 && Kind::SHARED.iter().any(is_above) {
                world.fail(Fault::NotSetBack);
            }
            world.check_given();
            world.set_to = (!world.is_set_late).then_some((database, node, kind, time));
        } else if let Call::Raise(time) = call {
            world.raised = Some(Raised { time, database, is_local: false });
        }
    }

    /// Whether each backend can end its operation, and whether a new session then gets an ID once the clock has passed all
    /// marks and the word.
    pub(crate) fn ends(&self, world: &World) -> bool {
        let mut world = world.clone();
        if !world.are_idle() {
            let mut can_go = |backend: usize| {
                world.backends[backend].operation.is_some() && self.go(&mut world, backend, Call::Draw, false)
            };
            return (0..self.backends.len()).any(&mut can_go);
        }
        let disk = world.log.disk();
        let words = Kind::SHARED.map(|kind| kind.tick(world.shared.words[kind as usize]).1);
        let carried = disk.carried.iter().flatten().map(|carried| carried.time);
        let highest = carried.chain(disk.page).chain(words).max().unwrap_or(0);
        let Backend { database, node, kind, .. } = world.backends[0];
        self.draws(world, (database, node, kind), highest)
    }

    /// Whether a new session gets an ID once the clock has passed the time to which the marks were set back, both now, after a
    /// crash, and on a new server.
    pub(crate) fn draws_after_set(&self, world: &World) -> bool {
        let Some((database, node, kind, time)) = world.set_to.filter(|_| world.are_idle()) else { return true };
        let mut anew = world.clone();
        anew.crash(world.log.flushed);
        let mut elsewhere = world.clone();
        elsewhere.upgrade(false);
        [world.clone(), anew, elsewhere].into_iter().all(|world| self.draws(world, (database, node, kind), time))
    }

    /// Whether a new session gets an ID within a fixed number of accesses after the clock has passed a time.
    fn draws(&self, mut world: World, (database, node, kind): (usize, usize, Kind), after: i64) -> bool {
        world.clock = world.clock.max(after);
        world.may_refuse = true;
        world.backends.push(Backend { database, node, kind, ..Backend::default() });
        let (newest, ids) = (world.backends.len() - 1, world.counts.ids);
        (0..400).any(|_| {
            self.go(&mut world, newest, Call::Draw, false);
            // Each failed attempt takes a tick.
            world.clock += if world.backends[newest].operation.is_none() { TICK } else { 0 };
            world.counts.ids > ids
        })
    }
}

/// The result of an operation.
enum Done {
    Begun(Transaction),
    /// The step must be repeated.
    Repeat,
    Drawn(Drawn),
    /// A step of a private generator: its state, and the start and the end of the tick.
    Private(Option<(u128, (i64, i64))>),
    Horizon(i64),
    Corrected,
}

/// Begins a transaction: learns what has arrived with the database, and loads the floor of the horizons.
fn begin(
    run: &mut Run<'_>,
    kind: Kind,
    learn: fn(&mut Run<'_>, Mark) -> Result<i64, Halt>,
) -> Result<Transaction, Halt> {
    let [draws, horizons] = Mark::ALL.map(|of| learn(run, of));
    let (draws, horizons) = (draws?, horizons?);
    let floor = run.start(Mark::Horizons)?;
    // A private generator is its own: it may be ahead of the clock.
    let from = if kind == Kind::Private { floor.max(horizons) } else { floor };
    Ok(Transaction { has_begun: true, from, arrived: draws.max(horizons), horizon: 0 })
}
