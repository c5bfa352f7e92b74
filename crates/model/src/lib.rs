//! A model of a server's 64-bit generator, for a model checker: the shared word, the clock, the durable marks, crash, restart,
//! promotion, a change of the node, and backends that any of these may interrupt.
//!
//! All decisions are those of [`scru_ids`]: the model calls the functions that the extension calls, and adds only what lies
//! between them: each access to something that others change is an action of its own. Whoever writes a mark may do so at any
//! time: that two of them do not is a matter of speed alone.

use std::collections::BTreeSet;
use std::convert::Infallible;

use rand::TryRng;
use scru_ids::mark::{self, Cover, Entry, Mark, Reservation};
use scru_ids::{
    Context, MAX_AHEAD_MICROS, OnClockRollback, Refusal, Scru64, Scru64Settings, SortableId, State, Step, Stretch,
};
use stateright::{Model, Property};

const TICKS: scru_ids::Ticks = Scru64::TICKS;

/// The moment at which the clock begins: a tick's start.
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
    /// How often all backends may be killed, and the shared memory be gone.
    pub crashes: u8,
    /// How often the server may be stopped in good order.
    pub stops: u8,
    /// Whether a standby may be promoted, with its clock off by one of these, in ticks.
    pub promotion: Vec<i64>,
    /// How often the node may change.
    pub node_changes: u8,
    /// The nodes that it may change to, after the first.
    pub nodes: Vec<&'static str>,
    /// A mistake.
    pub mistake: Mistake,
}

/// Everything that there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    clock: i64,
    clock_moves: u8,
    clock_setbacks: u8,
    /// Whether the clock has ever been set back, or the server has lost its state.
    is_undisturbed: bool,
    crashes: u8,
    stops: u8,
    is_promoted: bool,
    node_changes: u8,
    node: usize,
    // Shared memory.
    word: u64,
    reserved: u64,
    state: u64,
    predecessor: u64,
    start: u64,
    // The disk.
    marks: BTreeSet<Mark>,
    last: Option<(u64, u64)>,
    /// The number of the next state: each is another.
    next_state: u64,
    // What happened.
    handed_out: BTreeSet<u64>,
    last_commit: i64,
    fault: Option<Fault>,
    backends: Vec<Backend>,
}

/// What must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    Twice,
    NotIncreasing,
    TooFarAhead,
    RefusedWithoutReason,
}

/// A process, with what it has come to and what it knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Backend {
    at: At,
    /// The last ID that its connection got.
    last: u64,
    /// The fast path: words and times, and the node that they hold for.
    stretch: Option<(u64, u64, i64, i64, usize)>,
}

/// The point of a draw that a backend has come to, before its next access to something shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum At {
    #[default]
    Idle,
    /// Only with [`Mistake::ClockBeforeState`].
    ClockRead {
        now: i64,
    },
    WordRead {
        word: u64,
        now: Option<i64>,
    },
    ReservedRead {
        word: u64,
        reserved: u64,
        now: Option<i64>,
    },
    /// To replace the word and, on success, to hand out an ID.
    Draw {
        word: u64,
        id: u64,
        next: u64,
        now: i64,
        cover: u8,
        node: usize,
    },
    /// The same by the fast path.
    Count {
        word: u64,
        now: i64,
    },
    FastWordRead {
        word: u64,
    },
    /// To read the marks.
    Enter {
        word: u64,
        reserved: u64,
        now: i64,
        node: usize,
    },
    Raise {
        old: u64,
        new: u64,
        now: i64,
        node: usize,
    },
    /// To look at the reservation, and reserve if need be.
    Reserve {
        node: usize,
        tick: u64,
    },
    /// The record is to be put in its place on the disk.
    Write {
        node: usize,
        reserved: u64,
        mark: Mark,
        below: u64,
    },
    /// It is there, and is to be told to the others.
    Publish {
        node: usize,
        reserved: u64,
        mark: Mark,
        below: u64,
    },
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
    /// All backends are killed, and the server begins anew.
    Crash,
    /// The server is stopped in good order and started again.
    Stop,
    /// The primary is gone, and its standby takes over, whose clock differs by so many ticks.
    Promote(i64),
    /// The node changes to that one.
    Node(usize),
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

fn unpack(word: u64) -> <Scru64 as SortableId>::State {
    <Scru64 as SortableId>::State::unpack(word)
}

impl Bounds {
    fn context(&self, node: usize, now: i64) -> Context<Scru64Settings> {
        let text = if node == 0 { "5/23" } else { self.nodes[node - 1] };
        let settings = Scru64Settings { node: text.parse().unwrap_or_default() };
        Context { now, on_clock_rollback: OnClockRollback::Error, settings }
    }

    fn code(&self, node: usize) -> mark::NodeCode {
        Scru64::node(&self.context(node, 0).settings)
    }

    /// A backend's next access to something shared, and what it decides by it.
    fn go(&self, world: &mut World, backend: usize) {
        let early = self.mistake == Mistake::ClockBeforeState;
        world.backends[backend].at = match world.backends[backend].at {
            At::Idle if early => At::ClockRead { now: world.clock },
            At::Idle => At::WordRead { word: world.word, now: None },
            At::ClockRead { now } => At::WordRead { word: world.word, now: Some(now) },
            At::WordRead { word, now } => At::ReservedRead { word, reserved: world.reserved, now },
            At::ReservedRead { word, reserved, now } => {
                let now = now.unwrap_or(world.clock);
                self.step(world, word, reserved, now)
            }
            At::Draw { word, id, next, now, cover, node } => {
                if world.word != word {
                    At::Idle
                } else {
                    world.word = next;
                    hand_out(world, backend, id, now);
                    let Stretch { words, times } = self.stretch(id, node);
                    world.backends[backend].stretch = Some((words.start, words.end, times.start, times.end, node));
                    let tick = self::id(id).tick();
                    if cover == 0 { At::Idle } else { At::Reserve { node, tick } }
                }
            }
            At::FastWordRead { word } => At::Count { word, now: world.clock },
            At::Count { word, now } => {
                let is_in_stretch = |(from, to, start, end, node): (u64, u64, i64, i64, usize)| {
                    (from..to).contains(&word) && (start..end).contains(&now) && node == world.node
                };
                let counts = world.backends[backend].stretch.is_some_and(is_in_stretch);
                if counts && world.word == word {
                    world.word = word + 1;
                    hand_out(world, backend, word + 1, now);
                }
                At::Idle
            }
            At::Enter { word, reserved: _, now, node } => {
                let own = [world.state, world.predecessor];
                let code = self.code(node);
                world.start = mark::start::<Scru64>(world.start, now);
                let (mut floor, mut start) = (mark::floor(world.marks.iter().copied(), code, own), world.start);
                if self.mistake == Mistake::NoSuccessorWait {
                    // The clock's tick, as if nobody had been before.
                    (floor, start) = (None, Scru64::first_of(TICKS.nearest(now)).to_u64());
                }
                match mark::enter::<Scru64>(word, start, floor, now, &mut Zeros) {
                    Entry::Ready => At::Reserve { node, tick: first_tick(word, now) },
                    Entry::Raise(new) => At::Raise { old: word, new, now, node },
                    // A wait ends and the next try begins; a refusal is the user's to repeat.
                    Entry::Wait(_) | Entry::Refused(_) => At::Idle,
                }
            }
            At::Raise { old, new, now, node } => {
                if world.word != old {
                    At::Idle
                } else {
                    world.word = new;
                    At::Reserve { node, tick: first_tick(new, now) }
                }
            }
            At::Reserve { node, tick } => {
                let (code, reserved) = (self.code(node), world.reserved);
                if mark::cover::<Scru64>(reserved, code, tick) == Cover::Within {
                    At::Idle
                } else {
                    if world.state == 0 {
                        world.state = world.next_state;
                        world.next_state += 1;
                    }
                    let until = Reservation::from::<Scru64>(code, tick).until;
                    let mark = Mark { node: code, tick: until, state: world.state };
                    // The highest of those that are there now is enough to know them all.
                    let below = world.marks.iter().filter(|other| mark.replaces(**other)).map(|other| other.tick).max();
                    let (below, publish_first) = (below.unwrap_or(0), self.mistake == Mistake::MarkAfterMinting);
                    if publish_first {
                        world.reserved = Reservation { node: code, until }.pack::<Scru64>();
                    }
                    At::Write { node, reserved, mark, below }
                }
            }
            At::Write { node, reserved, mark, below } => {
                world.marks.insert(mark);
                At::Publish { node, reserved, mark, below }
            }
            At::Publish { node: _, reserved, mark, below } => {
                if world.reserved == reserved {
                    world.reserved = Reservation { node: mark.node, until: mark.tick }.pack::<Scru64>();
                    world.marks.retain(|other| !(mark.replaces(*other) && other.tick <= below));
                }
                At::Idle
            }
        };
    }

    /// What a whole step decides, from what it has read.
    fn step(&self, world: &mut World, word: u64, reserved: u64, now: i64) -> At {
        let (node, code) = (world.node, self.code(world.node));
        if !Reservation::unpack::<Scru64>(reserved).is_some_and(|reservation| reservation.node == code) {
            return At::Enter { word, reserved, now, node };
        }
        match Scru64::step(unpack(word), &self.context(node, now), &mut Zeros) {
            Step::Made(next, id) => match mark::cover::<Scru64>(reserved, code, id.tick()) {
                Cover::Outside => At::Reserve { node, tick: id.tick() },
                cover => {
                    let cover = u8::from(cover == Cover::Last);
                    At::Draw { word, id: id.to_u64(), next: next.pack(), now, cover, node }
                }
            },
            Step::Refused(Refusal::ClockMovedBack(_)) if world.is_undisturbed => {
                world.fault = Some(Fault::RefusedWithoutReason);
                At::Idle
            }
            Step::Wait(_) | Step::Refused(_) => At::Idle,
        }
    }

    fn stretch(&self, made: u64, node: usize) -> Stretch<Scru64> {
        let none = Stretch { words: 0..0, times: 0..0 };
        let settings = self.context(node, 0).settings;
        Scru64::COUNT.map_or(none, |count| (count.stretch)(id(made), &settings))
    }

    /// Whether a new connection gets an ID in the end, once the clock has passed whatever there is.
    fn ends(&self, world: &World) -> bool {
        let mut world = world.clone();
        let highest = world.marks.iter().map(|mark| mark.tick).chain([id(world.word).tick(), id(world.start).tick()]);
        world.clock = world.clock.max(TICKS.start(highest.max().unwrap_or(0) + 1));
        world.backends.push(Backend::default());
        let (newest, before) = (world.backends.len() - 1, world.handed_out.len());
        (0..80).any(|_| {
            self.go(&mut world, newest);
            // Each failed attempt takes some time.
            world.clock += if world.backends[newest].at == At::Idle { TICKS.micros } else { 0 };
            world.handed_out.len() > before || world.fault.is_some()
        })
    }
}

/// The tick from which on a node that enters needs its reservation.
fn first_tick(word: u64, now: i64) -> u64 {
    Scru64::state_tick(unpack(word)).max(TICKS.minted_at(now).unwrap_or_default())
}

/// An ID reaches its client, and the transaction commits.
fn hand_out(world: &mut World, backend: usize, new: u64, now: i64) {
    let last = &mut world.backends[backend].last;
    let fault = if new <= *last {
        Some(Fault::NotIncreasing)
    } else if world.handed_out.contains(&new) {
        Some(Fault::Twice)
    } else if id(new).timestamp_micros() > now + MAX_AHEAD_MICROS {
        Some(Fault::TooFarAhead)
    } else {
        None
    };
    *last = new;
    world.fault = world.fault.or(fault);
    world.handed_out.insert(new);
    world.last_commit = world.clock.max(world.last_commit);
}

/// All processes are gone, and the shared memory with them.
fn begin_anew(world: &mut World) {
    world.is_undisturbed = false;
    (world.word, world.reserved, world.state, world.predecessor, world.start) = (0, 0, 0, 0, 0);
    world.backends.fill(Backend::default());
}

impl Model for Bounds {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            clock: NOON,
            clock_moves: 0,
            clock_setbacks: 0,
            is_undisturbed: true,
            crashes: 0,
            stops: 0,
            is_promoted: false,
            node_changes: 0,
            node: 0,
            word: 0,
            reserved: 0,
            state: 0,
            predecessor: 0,
            // A server that was there long ago, so that the first ID needs no wait.
            start: Scru64::first_of(TICKS.nearest(NOON) - 1).to_u64(),
            marks: BTreeSet::new(),
            last: None,
            next_state: 1,
            handed_out: BTreeSet::new(),
            last_commit: 0,
            fault: None,
            backends: vec![Backend::default(); self.backends],
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if world.handed_out.len() >= self.ids || world.fault.is_some() {
            return;
        }
        for (number, backend) in world.backends.iter().enumerate() {
            actions.push(Action::Go(number));
            if backend.at == At::Idle && backend.stretch.is_some() {
                actions.push(Action::GoFast(number));
            }
        }
        if world.clock_moves < self.clock_moves {
            actions.extend(self.forward.iter().map(|ticks| Action::Clock(*ticks)));
        }
        if world.clock_setbacks < self.clock_setbacks {
            actions.extend(self.back.iter().map(|ticks| Action::Clock(-ticks)));
        }
        if world.crashes < self.crashes {
            actions.push(Action::Crash);
        }
        if world.stops < self.stops && world.backends.iter().all(|backend| backend.at == At::Idle) {
            actions.push(Action::Stop);
        }
        if !world.is_promoted {
            actions.extend(self.promotion.iter().map(|ticks| Action::Promote(*ticks)));
        }
        if world.node_changes < self.node_changes {
            actions.extend((0..=self.nodes.len()).filter(|node| *node != world.node).map(Action::Node));
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Go(backend) => self.go(&mut next, backend),
            Action::GoFast(backend) => next.backends[backend].at = At::FastWordRead { word: world.word },
            Action::Clock(ticks) => {
                next.clock += ticks * TICKS.micros;
                if ticks > 0 {
                    next.clock_moves += 1;
                } else {
                    next.clock_setbacks += 1;
                    next.is_undisturbed = false;
                }
            }
            Action::Crash => {
                next.crashes += 1;
                begin_anew(&mut next);
                // Preloaded: the word of an orderly end is taken, here an earlier one that is gone already.
                next.last = None;
            }
            Action::Stop => {
                next.stops += 1;
                let last = if world.word == 0 { (world.predecessor, world.start) } else { (world.state, world.word) };
                begin_anew(&mut next);
                if last.0 != 0 {
                    (next.predecessor, next.start) = last;
                }
            }
            Action::Promote(ticks) => {
                next.is_promoted = true;
                begin_anew(&mut next);
                // The standby is a copy from before the first ID, and has replayed all that was committed.
                next.marks.clear();
                if world.last_commit != 0 {
                    next.marks.insert(Mark::of_promotion::<Scru64>(2, Some(world.last_commit)));
                }
                next.clock += ticks * TICKS.micros;
            }
            Action::Node(node) => {
                next.node = node;
                next.node_changes += 1;
            }
        }
        // Backends are alike: which one is first tells nothing.
        next.backends.sort_unstable();
        if self.promotion.is_empty() {
            next.last_commit = 0;
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
            Property::sometimes("all IDs are drawn", |bounds: &Bounds, world: &World| {
                world.handed_out.len() == bounds.ids
            }),
        ]
    }
}
