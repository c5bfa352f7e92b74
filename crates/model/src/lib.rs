//! A model of a server's 64-bit generator, for a model checker: the shared word, the clock, the durable marks, crash, restart,
//! promotion, a change of the node, a mark that an administrator sets, and backends that any of these may interrupt.
//!
//! All decisions are those of [`scru_ids`]: the model calls the functions that the extension calls, and adds only what lies
//! between them: each access to something that others change is an action of its own.

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

/// The moment at which the clock begins: the start of a tick and of a second.
const NOON: i64 = 1_793_534_400_000_000;

/// A mistake for the model to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// None: what the extension does.
    #[default]
    None,
    /// A state that begins anew waits for nothing that its predecessors may have handed out.
    NoSuccessorWait,
    /// The mark is written after the IDs have been handed out that need it.
    MarkAfterMinting,
    /// The clock is read before the state.
    ClockBeforeState,
}

/// What may happen, and how often.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Backends.
    pub backends: usize,
    /// IDs.
    pub ids: usize,
    /// How often the clock may go on, each time by one of `forward`, in ticks.
    pub clock_moves: u8,
    /// By how many ticks.
    pub forward: Vec<i64>,
    /// How often the clock may be set back, each time by one of `back`, in ticks.
    pub clock_setbacks: u8,
    /// By how many ticks.
    pub back: Vec<i64>,
    /// How often a process that writes a reservation may be suspended for so long that another one takes over.
    pub suspensions: u8,
    /// How often all backends may be killed, and the shared memory be gone.
    pub crashes: u8,
    /// How often the server may be stopped in good order.
    pub stops: u8,
    /// Whether a standby may be promoted, with its clock off by one of these, in ticks.
    pub promotion: Vec<i64>,
    /// How often the standby may have restarted before, from a checkpoint of its primary after all commits.
    pub standby_restarts: u8,
    /// How often the node may change.
    pub node_changes: u8,
    /// The nodes that it may change to, after the first.
    pub nodes: Vec<&'static str>,
    /// How often the mark may be set, each time to one of `set_to`, in ticks.
    pub mark_sets: u8,
    /// To how many ticks after the beginning.
    pub set_to: Vec<u64>,
    /// A mistake.
    pub mistake: Mistake,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A backend goes on to its next access.
    Go(usize),
    /// A backend with a fast path takes it.
    GoFast(usize),
    /// The clock moves by so many ticks.
    Clock(i64),
    /// The process that writes a reservation is suspended until its claim has expired.
    Suspend,
    /// All backends are killed, and the server begins anew.
    Crash,
    /// The server is stopped in good order and started again.
    Stop,
    /// The standby restarts from a checkpoint after all commits, of which its WAL then has none.
    RestartStandby,
    /// The primary is gone, and its standby takes over, whose clock differs by so many ticks.
    Promote(i64),
    /// The node changes to that one.
    Node(usize),
    /// A backend begins to set the mark to so many ticks after the beginning.
    SetMark(usize, u64),
}

/// Random numbers that are all 0: each tick begins with the same ID, so that a tick that begins twice repeats it.
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
            // Once the clock is right.
            let can_be_set = |ticks: &&u64| world.clock <= TICKS.start(TICKS.nearest(NOON) + **ticks);
            if counts.mark_sets < self.mark_sets {
                actions.extend(self.set_to.iter().filter(can_be_set).map(|ticks| Action::SetMark(number, *ticks)));
            }
        }
        let are_idle = world.backends.iter().all(|backend| backend.at == At::Idle);
        // A clock that is wrong while the mark is set, and a draw that has read the wrong time, would set it ahead again.
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
        // Backends are alike: which one is first tells nothing.
        next.backends.sort_unstable();
        if self.promotion.is_empty() {
            next.replayed = 0;
        }
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no ID twice", |_, world: &World| world.fault != Some(Fault::Twice)),
            Property::always("increasing per connection", |_, world: &World| world.fault != Some(Fault::NotIncreasing)),
            Property::always("at most the lead ahead", |_, world: &World| world.fault != Some(Fault::TooFarAhead)),
            Property::always("refused with reason", |_, world: &World| {
                world.fault != Some(Fault::RefusedWithoutReason)
            }),
            Property::always("every wait ends", |bounds: &Bounds, world: &World| bounds.ends(world)),
            Property::always("a mark that is set back holds up nobody", |bounds: &Bounds, world: &World| {
                bounds.is_set_back(world)
            }),
            Property::sometimes("all IDs are drawn", |bounds: &Bounds, world: &World| {
                world.handed_out.len() == bounds.ids
            }),
        ]
    }
}
