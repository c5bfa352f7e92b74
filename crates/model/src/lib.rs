//! A model of a server-wide 64-bit generator, for a model checker.
//!
//! The state consists of the shared word, the clock, the durable marks and the backends. The actions are the steps of the
//! backends, crashes, restarts, promotions, and changes of the clock, the node and the mark.
//!
//! For all decisions, the model calls the same functions of [`scru_ids`] as the extension. It adds the accesses to shared state
//! between these calls. Each access is an action of its own, so that any other action can precede it.

mod backend;
mod world;

use std::convert::Infallible;

use rand::TryRng;
use scru_ids::mark::CLAIM_MICROS;
use scru_ids::{Scru64, SortableId};
use stateright::{Model, Property};

use backend::At;
use world::Fault;
pub use world::World;

const TICKS: scru_ids::Ticks = Scru64::TICKS;

/// The initial time of the clock: the start of a tick and of a second.
const NOON: i64 = 1_793_534_400_000_000;

/// A deliberate mistake in the model, which the model checker must find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// No mistake: the model behaves like the extension.
    #[default]
    None,
    /// A new state starts at the clock's tick, whatever IDs its predecessors may have generated.
    NoSuccessorWait,
    /// A reservation is published before its mark is durable.
    ReservationBeforeMark,
    /// The clock is read before the state.
    ClockBeforeState,
}

/// The bounds of an exploration: the possible actions, and the maximum number of each.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The number of backends.
    pub backends: usize,
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
    /// The maximum number of times that the holder of a claim is suspended until its claim has expired.
    pub suspensions: u8,
    /// The maximum number of crashes. A crash kills all backends and clears shared memory.
    pub crashes: u8,
    /// The maximum number of clean shutdowns.
    pub stops: u8,
    /// The possible differences of the standby's clock from the primary's, in ticks. If empty, there is no promotion.
    pub promotion: Vec<i64>,
    /// The maximum number of restarts of the standby before its promotion, from a checkpoint after all commits.
    pub standby_restarts: u8,
    /// The maximum number of changes of the node.
    pub node_changes: u8,
    /// The nodes in addition to the initial one.
    pub nodes: Vec<&'static str>,
    /// The maximum number of times that the mark is set.
    pub mark_sets: u8,
    /// The values to which the mark may be set, in ticks after the initial time.
    pub set_to: Vec<u64>,
    /// The deliberate mistake.
    pub mistake: Mistake,
}

/// An action of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A backend performs its next access to shared state.
    Go(usize),
    /// A backend begins to generate an ID by the fast path.
    GoFast(usize),
    /// The clock moves by this number of ticks.
    Clock(i64),
    /// The holder of the claim is suspended until its claim has expired.
    Suspend,
    /// All backends are killed, and the server restarts without its shared memory.
    Crash,
    /// The server is shut down cleanly and restarts.
    Stop,
    /// The standby restarts from a checkpoint after all commits, so that the WAL that it replays has none.
    RestartStandby,
    /// The standby is promoted. Its clock differs from the primary's by this number of ticks.
    Promote(i64),
    /// The node changes to the one with this index.
    Node(usize),
    /// A backend begins to set the mark to this number of ticks after the initial time.
    SetMark(usize, u64),
}

/// A random source that returns only zeros. The first ID of a tick is always the same, so a tick that starts twice repeats it.
struct Zeros;

impl TryRng for Zeros {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.fill(0);
        Ok(())
    }
}

fn id(word: u64) -> Scru64 {
    Scru64::from_u64(word).unwrap_or(Scru64::MAX)
}

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.backends)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.handed_out.len() >= self.ids || world.fault.is_some() {
            return;
        }
        let counts = &world.counts;
        for (number, backend) in world.backends.iter().enumerate() {
            actions.push(Action::Go(number));
            if backend.at != At::Idle {
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
        }
        let are_idle = world.backends.iter().all(|backend| backend.at == At::Idle);
        // In a run that sets marks, the clock is set back only while all backends are idle. Once a mark is being set, the clock
        // also advances only while they are idle. Otherwise a backend could use a wrong time after the mark is set, and raise the
        // mark again.
        if counts.clock_moves < self.clock_moves && (are_idle || counts.mark_sets == 0) {
            actions.extend(self.forward.iter().map(|ticks| Action::Clock(*ticks)));
        }
        if counts.clock_setbacks < self.clock_setbacks && (are_idle || self.mark_sets == 0) {
            actions.extend(self.back.iter().map(|ticks| Action::Clock(-ticks)));
        }
        if counts.suspensions < self.suspensions && world.shared.claim != 0 {
            actions.push(Action::Suspend);
        }
        if counts.crashes < self.crashes {
            actions.push(Action::Crash);
        }
        if counts.stops < self.stops && are_idle {
            actions.push(Action::Stop);
        }
        if world.timeline == 1 {
            actions.extend(self.promotion.iter().map(|ticks| Action::Promote(*ticks)));
            if counts.standby_restarts < self.standby_restarts {
                actions.push(Action::RestartStandby);
            }
        }
        if counts.node_changes < self.node_changes {
            actions.extend((0..=self.nodes.len()).filter(|node| *node != world.node).map(Action::Node));
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Go(backend) => self.go(&mut next, backend),
            Action::GoFast(backend) => next.backends[backend].at = At::FastWordRead { word: world.shared.word },
            Action::Clock(ticks) => {
                next.clock += ticks * TICKS.micros;
                if ticks > 0 {
                    next.counts.clock_moves += 1;
                    next.set_to = None;
                } else {
                    next.counts.clock_setbacks += 1;
                    next.is_undisturbed = false;
                }
            }
            Action::Suspend => {
                next.counts.suspensions += 1;
                next.monotonic += CLAIM_MICROS + 1;
            }
            Action::Crash => {
                next.counts.crashes += 1;
                next.begin_anew();
            }
            Action::Stop => {
                next.counts.stops += 1;
                next.restart();
            }
            Action::RestartStandby => {
                next.counts.standby_restarts += 1;
                next.replayed = world::whole_seconds(next.clock);
            }
            Action::Promote(ticks) => {
                next.promote();
                next.clock += ticks * TICKS.micros;
            }
            Action::Node(node) => {
                next.counts.node_changes += 1;
                next.node = node;
            }
            Action::SetMark(backend, ticks) => {
                next.counts.mark_sets += 1;
                self.set_mark(&mut next, backend, TICKS.nearest(NOON) + ticks);
            }
        }
        // Backends are interchangeable: sorting them merges equivalent states.
        next.backends.sort_unstable();
        if self.promotion.is_empty() {
            next.replayed = 0;
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("IDs are unique", |_, world: &World| world.fault != Some(Fault::Twice)),
            Property::always("IDs increase within a session", |_, world: &World| {
                world.fault != Some(Fault::NotIncreasing)
            }),
            Property::always("IDs are at most 1 s ahead", |_, world: &World| world.fault != Some(Fault::TooFarAhead)),
            Property::always("every refusal has a reason", |_, world: &World| {
                world.fault != Some(Fault::RefusedWithoutReason)
            }),
            Property::always("every wait ends", |bounds: &Bounds, world: &World| bounds.ends(world)),
            Property::always("no backend waits for a mark that is set back", |bounds: &Bounds, world: &World| {
                bounds.draws_after_set_mark(world)
            }),
            Property::sometimes("all IDs are generated", |bounds: &Bounds, world: &World| {
                world.handed_out.len() == bounds.ids
            }),
        ]
    }
}
