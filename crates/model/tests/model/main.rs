//! A model of the generators of a server, for a model checker.
//!
//! The model runs the functions of [`scru_server::protocol`] and [`scru_server::draw`], the same text as the extension. Each access to
//! shared memory, the clock or the log is an action of its own, so that any other action can precede it. The other actions are
//! crashes, promotions, upgrades, restored databases, failures, and changes of the clock, the node and the marks.

mod access;
mod changes;
mod harmless;
mod kind;
mod world;
mod worlds;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use scru_server::mark::{self, Mark};
use scru_server::protocol::Marks;
use stateright::{Model, Property};

pub use access::{Changed, Drawn, Protocol};
use access::{Halt, Run};
pub use kind::Kind;
use world::{Backend, Call, Operation, Raised, Transaction};
pub use world::{Fault, World};

/// The unit of the times of a world: the tick of scru64, in microseconds.
const TICK: i64 = 256_000;

/// The initial time of the clock: the start of a tick and of a second.
const NOON: i64 = 1_793_534_400_000_000;

/// The time this number of ticks after the initial time.
const fn at(ticks: i64) -> i64 {
    NOON + ticks * TICK
}

/// The bounds of an exploration: the possible actions, and the maximum number of each.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The database, the node and the type of each backend.
    pub backends: Vec<(usize, usize, Kind)>,
    /// The maximum number of times that a backend is suspended in an operation while another one goes or the clock moves; `None` for
    /// any number.
    pub switches: Option<u8>,
    /// The maximum number of horizons that are read.
    pub horizons: u8,
    /// The nodes. None is the node `5/23`.
    pub nodes: Vec<&'static str>,
    /// Whether the server has no mark yet.
    pub is_new: bool,
    /// The mark of the server's last run, in ticks after the initial time. By default, that run ended long ago.
    pub last_mark: Option<i64>,
    /// The time that a flush takes, in microseconds.
    pub flush_time: i64,
    /// The number of IDs after which no further action follows.
    pub ids: usize,
    /// The time of the clock in the beginning, in ticks after the initial time.
    pub clock: i64,
    /// The maximum number of times that the clock advances.
    pub clock_moves: u8,
    /// The steps by which the clock may advance, in ticks.
    pub forward: Vec<i64>,
    /// The maximum number of times that the clock is set back.
    pub clock_setbacks: u8,
    /// The steps by which the clock may be set back, in ticks.
    pub back: Vec<i64>,
    /// Whether the clock only moves while all backends are idle, so that none continues with a reading of the wrong time.
    pub is_clock_calm: bool,
    /// The maximum number of crashes. A crash kills all backends, clears shared memory, and cuts off a part of the log that is
    /// not flushed.
    pub crashes: u8,
    /// The maximum number of promotions of a standby that has replayed any part of the log.
    pub promotions: u8,
    /// The possible differences of the new server's clock from the old one's, in ticks.
    pub promotion: Vec<i64>,
    /// The maximum number of upgrades, which move all databases to a new server without its page.
    pub upgrades: u8,
    /// Whether the rows move without what the databases carry, as to a logical subscriber.
    pub is_bare: bool,
    /// The maximum number of databases that are restored from the dump of another server.
    pub restores: u8,
    /// The marks that a restored database carries, in ticks after the initial time.
    pub restored: Vec<(Mark, i64)>,
    /// The maximum number of changes of a backend's node.
    pub node_changes: u8,
    /// The maximum number of times that the marks are set back.
    pub mark_sets: u8,
    /// The values to which the marks may be set back, in ticks after the initial time.
    pub set_to: Vec<i64>,
    /// The maximum number of times that the marks are raised.
    pub mark_raises: u8,
    /// The values to which the marks may be raised, in ticks after the initial time.
    pub raise_to: Vec<i64>,
    /// The maximum number of accesses to the log that fail.
    pub failures: u8,
    /// The maximum number of times that the server flushes the log.
    pub flushes: u8,
    /// The maximum number of marks that are logged before an ID is generated.
    pub marks: Option<u8>,
    /// Whether every state is examined for an operation or a wait that does not end.
    pub checks_ends: bool,
    /// The text of the protocol.
    pub protocol: Protocol,
    /// The number of the change, if that is the changed protocol.
    pub change: usize,
}

/// An action of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A backend performs its next access. If it is idle, it begins to generate an ID, or a transaction.
    Go(usize),
    /// The next access of a backend fails.
    Fail(usize),
    /// A backend begins to read a horizon.
    Horizon(usize),
    /// A backend begins to set the marks back to this number of ticks after the initial time.
    Set(usize, i64),
    /// A backend begins to raise the marks to this number of ticks after the initial time.
    Raise(usize, i64),
    /// The clock moves by this number of ticks.
    Clock(i64),
    /// The server flushes the log.
    Flush,
    /// All backends are killed, and the server restarts with the log up to this position.
    Crash(u64),
    /// A standby that has replayed the log up to this position becomes the server. Its clock differs by this number of ticks.
    ///
    /// Whether it is promoted or restarted without its signal makes no difference: it keeps nothing but what it has replayed. So
    /// does a base backup or a snapshot, because its recovery ends at a position after its last copied page.
    Promote(u64, i64),
    /// The databases move to a new server. Its clock differs by this number of ticks.
    Upgrade(i64),
    /// The database of a backend is restored from the dump of another server, which carries one of [`Bounds::restored`].
    Restore(usize, usize),
    /// The node of a backend changes to the one with this index.
    Node(usize, usize),
}

impl Action {
    /// The backend that goes; `None` if the action is not that of a backend.
    const fn backend(self) -> Option<usize> {
        match self {
            Self::Go(backend)
            | Self::Fail(backend)
            | Self::Horizon(backend)
            | Self::Set(backend, _)
            | Self::Raise(backend, _) => Some(backend),
            _ => None,
        }
    }
}

impl Bounds {
    /// Whether transactions begin with what has arrived with the database, and with the floor of the horizons.
    fn has_transactions(&self) -> bool {
        self.upgrades + self.restores + self.horizons > 0
    }

    fn can_move_clock(&self, world: &World) -> bool {
        !self.is_clock_calm
            && (world.counts.clock_moves < self.clock_moves || world.counts.clock_setbacks < self.clock_setbacks)
    }

    /// Whether a backend may go that suspends another one, or the clock move.
    fn can_suspend(&self, world: &World, goes: Option<usize>) -> bool {
        self.switches.is_none_or(|switches| world.counts.switches < switches || !world.suspends(goes))
    }

    /// Whether a part of the flushed log may become the whole log.
    fn needs_history(&self, world: &World) -> bool {
        world.counts.promotions < self.promotions
    }

    /// Whether the rows may become all IDs that must not be generated again.
    fn needs_rows(&self, world: &World) -> bool {
        self.needs_history(world) || world.counts.upgrades < self.upgrades
    }

    /// Lets a backend perform its next access. Returns `false` if it cannot.
    fn go(&self, world: &mut World, backend: usize, call: Call, fails: bool) -> bool {
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
    fn ends(&self, world: &World) -> bool {
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
    fn draws_after_set(&self, world: &World) -> bool {
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

fn hash(backend: &Backend) -> u64 {
    let mut hasher = DefaultHasher::new();
    backend.hash(&mut hasher);
    hasher.finish()
}

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.counts.ids >= self.ids || world.fault.is_some() {
            return;
        }
        let counts = &world.counts;
        for (number, backend) in world.backends.iter().enumerate() {
            if !self.can_suspend(world, Some(number)) {
                continue;
            }
            actions.push(Action::Go(number));
            if counts.failures < self.failures {
                actions.push(Action::Fail(number));
            }
            if backend.operation.is_some() {
                continue;
            }
            if counts.horizons < self.horizons {
                actions.push(Action::Horizon(number));
            }
            // The marks are never set to a time before the clock: an administrator corrects the clock first.
            let can_be_set = |ticks: &&i64| world.clock <= at(**ticks);
            if counts.mark_sets < self.mark_sets {
                actions.extend(self.set_to.iter().filter(can_be_set).map(|ticks| Action::Set(number, *ticks)));
            }
            if counts.mark_raises < self.mark_raises {
                actions.extend(self.raise_to.iter().map(|ticks| Action::Raise(number, *ticks)));
            }
            if counts.node_changes < self.node_changes {
                let others = (0..self.nodes.len()).filter(|node| *node != backend.node);
                actions.extend(others.map(|node| Action::Node(number, node)));
            }
        }
        let can_move = !self.is_clock_calm && self.can_suspend(world, None) || world.are_idle();
        if counts.clock_moves < self.clock_moves && can_move {
            actions.extend(self.forward.iter().map(|ticks| Action::Clock(*ticks)));
        }
        if counts.clock_setbacks < self.clock_setbacks && can_move {
            actions.extend(self.back.iter().map(|ticks| Action::Clock(-ticks)));
        }
        if counts.flushes < self.flushes && world.log.flushed < world.log.end() {
            actions.push(Action::Flush);
        }
        if counts.crashes < self.crashes {
            actions.extend((world.log.flushed..=world.log.end()).map(Action::Crash));
        }
        if counts.promotions < self.promotions {
            for position in 0..=world.log.flushed {
                actions.extend(self.promotion.iter().map(|ticks| Action::Promote(position, *ticks)));
            }
        }
        if counts.restores < self.restores {
            for (number, backend) in world.backends.iter().enumerate() {
                let is_free = |other: &Backend| {
                    other.database != backend.database || other.operation.is_none() && !other.transaction.has_begun
                };
                if backend.database > 0 && world.backends.iter().all(is_free) {
                    actions.extend((0..self.restored.len()).map(|restored| Action::Restore(number, restored)));
                }
            }
        }
        if counts.upgrades < self.upgrades {
            actions.extend(self.promotion.iter().map(|ticks| Action::Upgrade(*ticks)));
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        let goes = action.backend();
        if self.switches.is_some() && (goes.is_some() || matches!(action, Action::Clock(_))) {
            next.counts.switches += u8::from(world.suspends(goes));
            next.backends.iter_mut().enumerate().for_each(|(number, backend)| backend.goes = goes == Some(number));
        }
        let counts = &mut next.counts;
        match action {
            Action::Go(backend) => {
                self.go(&mut next, backend, Call::Draw, false).then_some(())?;
            }
            Action::Fail(backend) => {
                counts.failures += 1;
                self.go(&mut next, backend, Call::Draw, true).then_some(())?;
            }
            Action::Horizon(backend) => {
                counts.horizons += 1;
                self.go(&mut next, backend, Call::Floor, false).then_some(())?;
            }
            Action::Set(backend, ticks) => {
                counts.mark_sets += 1;
                next.may_refuse = true;
                next.is_set_late &= next.is_setting();
                self.go(&mut next, backend, Call::Set(at(ticks)), false).then_some(())?;
            }
            Action::Raise(backend, ticks) => {
                counts.mark_raises += 1;
                next.may_refuse = true;
                self.go(&mut next, backend, Call::Raise(at(ticks)), false).then_some(())?;
            }
            Action::Clock(ticks) => {
                next.clock += ticks * TICK;
                if ticks > 0 {
                    counts.clock_moves += 1;
                    next.set_to = None;
                    // Others draw with the wrong clock after the marks were set back.
                    next.is_set_late = next.is_setting();
                } else {
                    counts.clock_setbacks += 1;
                    next.may_refuse = true;
                }
            }
            Action::Flush => {
                counts.flushes += 1;
                next.log.flush(world.log.end());
            }
            Action::Crash(position) => {
                next.may_refuse |= counts.crashes > 0 || counts.promotions > 0 || self.flush_time > 0;
                counts.crashes += 1;
                next.crash(position);
            }
            Action::Promote(position, ticks) => {
                next.may_refuse |= ticks < 0 || counts.crashes > 0 || counts.promotions > 0 || self.flush_time > 0;
                counts.promotions += 1;
                next.promote(position);
                next.clock += ticks * TICK;
            }
            Action::Upgrade(ticks) => {
                counts.upgrades += 1;
                next.may_refuse = true;
                next.upgrade(self.is_bare);
                next.clock += ticks * TICK;
            }
            Action::Restore(backend, restored) => {
                counts.restores += 1;
                next.restore(self, backend, self.restored[restored]);
            }
            Action::Node(backend, node) => {
                counts.node_changes += 1;
                next.backends[backend].node = node;
            }
        }
        // A backend is not suspended after its operation.
        next.backends.iter_mut().for_each(|backend| backend.goes &= backend.operation.is_some());
        if !matches!(action, Action::Go(_) | Action::Flush) {
            next.marks_logged = 0;
        }
        if !self.needs_history(&next) {
            next.compact();
        }
        if !self.needs_rows(&next) {
            next.log.forget_rows(|_| true);
        }
        next.renumber_versions();
        if next.backends.len() > 1 {
            // Backends are interchangeable: sorting them merges equivalent states.
            next.backends.sort_by_cached_key(hash);
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no invariant is violated", |_, world: &World| world.fault.is_none()),
            Property::always("every operation and every wait ends", |bounds: &Bounds, world: &World| {
                !bounds.checks_ends || bounds.ends(world)
            }),
            Property::always("no backend waits for a mark that is set back", |bounds: &Bounds, world: &World| {
                bounds.draws_after_set(world)
            }),
            Property::sometimes(worlds::ALL_GENERATED, |bounds: &Bounds, world: &World| world.counts.ids == bounds.ids),
        ]
    }
}
