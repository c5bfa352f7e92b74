//! A model of a server-wide 64-bit generator, for a model checker.
//!
//! The model runs the functions of [`scru_server::protocol`], the same text as the extension. Each access to shared memory, the clock
//! or the log is an action of its own, so that any other action can precede it. The other actions are crashes, promotions,
//! upgrades, failures, and changes of the clock, the node and the mark.

mod access;
mod changes;
mod harmless;
mod world;
mod worlds;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use scru_ids::{FastRange, GeneratedId, NodeCode, Scru64, Scru64Settings, SortableId, Step, Ticks};
use stateright::{Model, Property};

use access::Run;
pub use access::{Changed, Protocol};
use world::{Call, Operation, Raised};
pub use world::{Fault, World};

const TICKS: Ticks = Scru64::TICKS;

/// The initial time of the clock: the start of a tick and of a second.
const NOON: i64 = 1_793_534_400_000_000;

/// The bounds of an exploration: the possible actions, and the maximum number of each.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The database and the node of each backend.
    pub backends: Vec<(usize, usize)>,
    /// The nodes. None is the node `5/23`.
    pub nodes: Vec<&'static str>,
    /// Whether the server has no mark yet.
    pub is_new: bool,
    /// The mark of the server's last run, in ticks after the initial time. By default, that run ended long ago.
    pub last_mark: Option<u64>,
    /// Whether the databases carry no mark.
    pub carries_nothing: bool,
    /// The time that a flush takes, in microseconds.
    pub flush_time: i64,
    /// The number of IDs after which no further action follows.
    pub ids: usize,
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
    /// The maximum number of databases that are restored from the dump of another server.
    pub restores: u8,
    /// The marks that a restored database carries, in ticks after the initial time.
    pub restored: Vec<u64>,
    /// Whether a restored database carries a horizon in place of a mark.
    pub is_horizon_restored: bool,
    /// The maximum number of times that the owner of a restored database takes back what it carries.
    pub take_backs: u8,
    /// A fault: whether a draw waits for what its database carries at the time, although it draws from what it carried at first.
    pub is_bound_read_late: bool,
    /// The maximum number of changes of a backend's node.
    pub node_changes: u8,
    /// The maximum number of times that the mark is set.
    pub mark_sets: u8,
    /// The values to which the mark may be set, in ticks after the initial time.
    pub set_to: Vec<u64>,
    /// The maximum number of times that the mark is raised.
    pub mark_raises: u8,
    /// The values to which the mark may be raised, in ticks after the initial time.
    pub raise_to: Vec<u64>,
    /// The maximum number of accesses to the log that fail.
    pub failures: u8,
    /// The maximum number of times that the server flushes the log.
    pub flushes: u8,
    /// Whether the fast path is explored.
    pub is_fast: bool,
    /// The maximum number of marks that are logged before an ID is generated, if the backends share a node.
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
    /// A backend performs its next access. If it is idle, it begins to generate an ID.
    Go(usize),
    /// The next access of a backend fails.
    Fail(usize),
    /// A backend begins to generate an ID by the fast path.
    GoFast(usize),
    /// A backend begins to set the mark to this number of ticks after the initial time.
    SetMark(usize, u64),
    /// A backend begins to raise the mark to this number of ticks after the initial time.
    RaiseMark(usize, u64),
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
    /// The database of a backend is restored from the dump of another server, which carries a mark of this number of ticks after
    /// the initial time.
    Restore(usize, u64),
    /// The owner of a database takes back the horizon that it carries, as in a transaction that may roll back.
    TakeBack(usize),
    /// The node of a backend changes to the one with this index.
    Node(usize, usize),
}

fn id(word: u64) -> Scru64 {
    Scru64::from_u64(word).unwrap_or(Scru64::MAX)
}

impl Bounds {
    fn settings(&self, node: usize) -> Scru64Settings {
        let text = self.nodes.get(node).copied().unwrap_or("5/23");
        Scru64Settings { node: text.parse().unwrap_or_default() }
    }

    fn code(&self, node: usize) -> NodeCode {
        Scru64::node(&self.settings(node))
    }

    /// The first ID of a node in a tick.
    fn first_id(&self, node: usize, tick: u64) -> u64 {
        let node = self.settings(node).node;
        Scru64::from_fields(tick, node.id() << (24 - node.size())).unwrap_or(Scru64::MIN).to_u64()
    }

    fn can_move_clock(&self, world: &World) -> bool {
        !self.is_clock_calm
            && (world.counts.clock_moves < self.clock_moves || world.counts.clock_setbacks < self.clock_setbacks)
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
        let begins = world.backends[backend].operation.is_none();
        if begins {
            let given = match call {
                Call::SetMark(_) => self.local(world, backend),
                _ => Vec::new(),
            };
            world.backends[backend].operation = Some(Operation { call, answers: Vec::new(), given });
            world.backends[backend].precedes_raise = false;
            let bound = world.bounds[world.backends[backend].database];
            world.backends[backend].from =
                Some(world.backends[backend].from).filter(|from| *from != 0).unwrap_or(bound);
        }
        let Some(Operation { call, given, .. }) = world.backends[backend].operation.clone() else { return false };
        let before = world.backends[backend].operation.as_ref().map_or(0, |operation| operation.answers.len());
        let node = self.code(world.backends[backend].node);
        let range = world.backends[backend]
            .range
            .map(|(from, to, start, end)| FastRange { words: from..to, times: start..end });
        let Protocol { draw, draw_fast, set_mark, raise_mark } = self.protocol;
        let mut run = Run::new(self, world, backend, fails);
        let result = match call {
            Call::Draw => draw(&mut run).map(|step| step.map(|step| (step, true))),
            Call::DrawFast => match range {
                Some(range) => {
                    draw_fast(&mut run, &range).map(|word| word.map(|word| (Step::Made(unpack(word), id(word)), false)))
                }
                None => Ok(None),
            },
            Call::SetMark(tick) => set_mark(&mut run, node, tick).map(|()| None),
            Call::RaiseMark(tick) => raise_mark(&mut run, node, tick).map(|()| None),
        };
        let now = run.first_time();
        let Run { answers, has_stopped, has_failed, holds_lock, known_carried, due, .. } = run;
        if fails && !has_failed {
            return false;
        }
        if has_stopped {
            let has_acted = answers.len() > before || world.fault.is_some();
            world.backends[backend].operation = Some(Operation { call, answers, given });
            return has_acted;
        }
        let private = &mut world.backends[backend];
        (private.known_carried, private.due, private.operation) = (known_carried, due, None);
        // A step that is repeated is one of the same transaction.
        if !matches!(result, Ok(None)) {
            private.from = 0;
        }
        if holds_lock {
            world.fail(Fault::Lock);
        }
        match result {
            Ok(Some((Step::Made(_, made), is_full))) => {
                world.hand_out(self, backend, made.to_u64(), now);
                if is_full && self.is_fast {
                    let settings = self.settings(world.backends[backend].node);
                    world.backends[backend].range = Scru64::FAST_PATH.map(|fast_path| {
                        let FastRange { words, times } = (fast_path.range)(made, &settings);
                        (words.start, words.end, times.start, times.end)
                    });
                }
            }
            Ok(Some(_)) if !self.has_reason(world, backend) => world.fail(Fault::RefusedWithoutReason),
            Ok(None) => self.finish(world, backend, call),
            Ok(Some(_)) | Err(_) => {}
        }
        world.backends[backend].precedes_raise = false;
        true
    }

    /// Whether a wait or a refusal has a reason. What was restored in another database is none.
    fn has_reason(&self, world: &World, backend: usize) -> bool {
        let is_restored = world.restored == Some(world.backends[backend].database);
        world.may_refuse || is_restored || self.is_exhausted(world, backend)
    }

    /// Whether the next ID of a backend requires the next tick: the last ID is of another node, or the last one of its tick.
    fn is_exhausted(&self, world: &World, backend: usize) -> bool {
        let (last, node) = (id(world.shared.word), self.settings(world.backends[backend].node).node);
        let is_given = last != Scru64::last_of(last.tick());
        let is_last = last.counter(node.size()) == (1 << (24 - node.size())) - 1;
        is_given && (is_last || last.node_id(node.size()) != node.id())
    }

    /// Records what a call that changes the mark has promised.
    fn finish(&self, world: &mut World, backend: usize, call: Call) {
        let world::Backend { database, node, .. } = world.backends[backend];
        match call {
            Call::SetMark(tick) => world.set_to = Some((database, node, tick)),
            Call::RaiseMark(tick) => {
                world.raised = Some(Raised { node: self.code(node), tick, database, is_local: false });
                for other in &mut world.backends {
                    other.precedes_raise = other.operation.is_some();
                }
            }
            Call::Draw | Call::DrawFast => {}
        }
    }

    /// The given IDs that a mark of the backend's node may cover: those of the smallest node that includes the nodes of
    /// overlapping marks.
    fn local(&self, world: &World, backend: usize) -> Vec<u64> {
        let node = self.code(world.backends[backend].node);
        let overlaps = |other: &NodeCode| other.overlaps(node);
        let marks = world.log.disk().marks;
        let broadest = marks.iter().map(|mark| mark.node).filter(overlaps).fold(node, Ord::min);
        let is_local = |made: &u64| {
            let whole = NodeCode::new(id(*made).node_ctr() >> 1, 23);
            whole.overlaps(broadest)
        };
        world.given.iter().map(|(made, _)| *made).filter(is_local).collect()
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
        let carried = disk.carried.iter().filter_map(|carried| carried.mark());
        let marks = disk.marks.iter().copied().chain(carried).map(|mark| mark.tick);
        let highest = marks.chain([id(world.shared.word).tick()]).max().unwrap_or(0);
        let (database, node) = (world.backends[0].database, world.backends[0].node);
        self.draws(world, database, node, highest)
    }

    /// Whether a new session gets an ID once the clock has passed the tick to which the current node's mark was set, both
    /// now, after a crash, and on a new server.
    fn draws_after_set_mark(&self, world: &World) -> bool {
        let Some((database, node, tick)) = world.set_to.filter(|_| world.are_idle() && self.is_clock_calm) else {
            return true;
        };
        let mut anew = world.clone();
        anew.crash(world.log.flushed);
        let mut elsewhere = world.clone();
        elsewhere.upgrade();
        [world.clone(), anew, elsewhere].into_iter().all(|world| self.draws(world, database, node, tick))
    }

    /// Whether a new session gets an ID within a fixed number of accesses after the clock has passed a tick.
    fn draws(&self, mut world: World, database: usize, node: usize, after: u64) -> bool {
        world.clock = world.clock.max(TICKS.start(after + 1)).max(world.bounds[database]);
        world.may_refuse = true;
        world.backends.push(world::Backend { database, node, ..world::Backend::default() });
        let newest = world.backends.len() - 1;
        (0..200).any(|_| {
            self.go(&mut world, newest, Call::Draw, false);
            // Each failed attempt takes a tick.
            world.clock += if world.backends[newest].operation.is_none() { TICKS.micros } else { 0 };
            world.backends[newest].last > 0
        })
    }
}

fn unpack(word: u64) -> <Scru64 as GeneratedId>::State {
    scru_ids::State::unpack(word)
}

fn hash(backend: &world::Backend) -> u64 {
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
            actions.push(Action::Go(number));
            if counts.failures < self.failures {
                actions.push(Action::Fail(number));
            }
            if backend.operation.is_some() {
                continue;
            }
            if backend.range.is_some() {
                actions.push(Action::GoFast(number));
            }
            // The mark is never set to a tick before the clock: an administrator corrects the clock first.
            let can_be_set = |ticks: &&u64| world.clock <= TICKS.start(TICKS.nearest(NOON) + **ticks);
            if counts.mark_sets < self.mark_sets {
                actions.extend(self.set_to.iter().filter(can_be_set).map(|ticks| Action::SetMark(number, *ticks)));
            }
            if counts.mark_raises < self.mark_raises {
                actions.extend(self.raise_to.iter().map(|ticks| Action::RaiseMark(number, *ticks)));
            }
            if counts.node_changes < self.node_changes {
                let others = (0..self.nodes.len()).filter(|node| *node != backend.node);
                actions.extend(others.map(|node| Action::Node(number, node)));
            }
        }
        let can_move = !self.is_clock_calm || world.are_idle();
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
                let is_idle = |other: &world::Backend| other.database != backend.database || other.operation.is_none();
                if backend.database > 0 && world.backends.iter().all(is_idle) {
                    actions.extend(self.restored.iter().map(|ticks| Action::Restore(number, *ticks)));
                }
            }
        }
        if let Some(database) = world.restored.filter(|database| world.bounds[*database] > 0)
            && counts.take_backs < self.take_backs
        {
            actions.push(Action::TakeBack(database));
        }
        if counts.upgrades < self.upgrades {
            actions.extend(self.promotion.iter().map(|ticks| Action::Upgrade(*ticks)));
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        let counts = &mut next.counts;
        match action {
            Action::Go(backend) => {
                self.go(&mut next, backend, Call::Draw, false).then_some(())?;
            }
            Action::Fail(backend) => {
                counts.failures += 1;
                self.go(&mut next, backend, Call::Draw, true).then_some(())?;
            }
            Action::GoFast(backend) => {
                self.go(&mut next, backend, Call::DrawFast, false).then_some(())?;
            }
            Action::SetMark(backend, ticks) => {
                counts.mark_sets += 1;
                next.may_refuse = true;
                self.go(&mut next, backend, Call::SetMark(TICKS.nearest(NOON) + ticks), false).then_some(())?;
            }
            Action::RaiseMark(backend, ticks) => {
                counts.mark_raises += 1;
                next.may_refuse = true;
                self.go(&mut next, backend, Call::RaiseMark(TICKS.nearest(NOON) + ticks), false).then_some(())?;
            }
            Action::Clock(ticks) => {
                next.clock += ticks * TICKS.micros;
                if ticks > 0 {
                    counts.clock_moves += 1;
                    next.set_to = None;
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
                next.clock += ticks * TICKS.micros;
            }
            Action::Upgrade(ticks) => {
                counts.upgrades += 1;
                next.may_refuse = true;
                next.upgrade();
                next.clock += ticks * TICKS.micros;
            }
            Action::Restore(backend, ticks) => {
                counts.restores += 1;
                next.restore(self, backend, TICKS.nearest(NOON) + ticks);
            }
            Action::TakeBack(database) => {
                counts.take_backs += 1;
                next.take_back(database);
            }
            Action::Node(backend, node) => {
                counts.node_changes += 1;
                next.backends[backend].node = node;
                next.backends[backend].range = None;
            }
        }
        if !matches!(action, Action::Go(_) | Action::GoFast(_) | Action::Flush) {
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
                bounds.draws_after_set_mark(world)
            }),
            Property::sometimes(worlds::ALL_GENERATED, |bounds: &Bounds, world: &World| world.counts.ids == bounds.ids),
        ]
    }
}
