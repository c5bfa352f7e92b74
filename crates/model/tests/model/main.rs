//! A model of the generators of a server, for a model checker.
//!
//! The model runs the functions of [`scru_server::protocol`] and [`scru_server::draw`], the same text as the extension. Each access to
//! shared memory, the clock or the log is an action of its own, so that any other action can precede it. The other actions are
//! crashes, promotions, upgrades, restored databases, failures, and changes of the clock, the node and the marks.

mod access;
mod bounds;
mod changes;
mod harmless;
mod kind;
mod log;
mod operation;
mod protocol;
mod world;
mod worlds;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use stateright::{Model, Property};

pub use bounds::Bounds;
pub use kind::Kind;
use operation::Call;
pub use protocol::{Changed, Drawn, Protocol};
use world::Backend;
pub use world::{Fault, World};

/// The unit of the times of a world: the tick of scru64, in microseconds.
const TICK: i64 = 256_000;

/// The initial time of the clock: the start of a tick and of a second.
const NOON: i64 = 1_793_534_400_000_000;

/// The time this number of ticks after the initial time.
const fn at(ticks: i64) -> i64 {
    NOON + ticks * TICK
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
