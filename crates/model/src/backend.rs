//! The actions of a backend. Each access to shared state is an action of its own.

use scru_ids::mark::{self, Cover, Entry, Mark, NodeCode, Reservation};
use scru_ids::{Context, FastRange, OnClockRollback, Refusal, Scru64, Scru64Settings, SortableId, State, Step};

use crate::world::{Fault, World};
use crate::{Bounds, Mistake, TICKS, Zeros, id};

/// A backend: its position and its private state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Backend {
    pub(crate) at: At,
    /// The last ID that its client received; 0 if there is none.
    pub(crate) last: u64,
    /// The fast path: the start and the end of the words and of the times, and the node.
    pub(crate) range: Option<(u64, u64, i64, i64, usize)>,
    /// Whether it has ensured that the reservation respects the promotion.
    pub(crate) respects_promotion: bool,
}

impl Backend {
    /// Returns whether the backend sets a mark and holds the claim, so that no other backend can claim the right to write.
    fn is_setting(&self) -> bool {
        matches!(self.at, At::Set { next, .. } if next != Stage::Claim)
    }
}

/// The position of a backend, before its next access to shared state. "Next" describes this access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum At {
    #[default]
    Idle,
    /// Next: loads the generation. Only with [`Mistake::ClockBeforeState`].
    ClockRead { now: i64 },
    /// Next: looks for the mark of the promotion that began this timeline.
    LookForPromotion(u32),
    /// Next: writes this mark.
    WritePromotion(u32),
    /// The mark is written. Next: withdraws the reservation, and begins a generation.
    RespectPromotion(u32),
    /// The reservation respects the mark. Next: publishes the timeline.
    PublishPromotion(u32),
    /// Next: loads the word. `now` is the time, if the clock was read first.
    GenerationRead { generation: u64, now: Option<i64> },
    /// Next: loads the reservation.
    WordRead { generation: u64, word: u64, now: Option<i64> },
    /// Next: reads the clock, unless it was read first, and takes a full step.
    ReservedRead { generation: u64, word: u64, reserved: u64, now: Option<i64> },
    /// Next: the compare-and-swap of the word.
    Draw { word: u64, drawn: Drawn },
    /// Next: loads the generation again and, if it is unchanged, returns the ID to the client.
    LookAtGeneration(Drawn),
    /// Next: the compare-and-swap of the fast path.
    FastPath { word: u64, now: i64 },
    /// Next: reads the clock on the fast path.
    FastWordRead { word: u64 },
    /// Next: reads the marks.
    Enter { word: u64, now: i64, node: usize },
    /// Next: the compare-and-swap that raises the word.
    Raise { old: u64, new: u64, now: i64, node: usize },
    /// Next: loads the reservation.
    Reserve(Need),
    /// Next: loads the generation. `reserved` is `None` if the reservation is made in advance.
    Generation { need: Need, reserved: Option<u64> },
    /// Next: loads the word.
    Word { need: Need, reserved: Option<u64> },
    /// Next: claims the right to write, or waits if another backend has a claim.
    Claim { need: Need, reserved: u64 },
    /// Next: claims the right to write, or gives up if another backend has a claim.
    ClaimAhead(Need),
    /// The backend holds the claim. Next: loads the reservation.
    ReserveAhead { need: Need, claim: u64 },
    /// Next: loads the number of the state, or assigns it if it is 0, and lists the marks that the new mark replaces.
    Prepare { need: Need, reserved: u64, claim: u64 },
    /// Next: writes the temporary file.
    Write(Writing),
    /// Next: loads the generation, and gives up if it has ended.
    LookAgain(Writing),
    /// Next: renames the temporary file.
    Rename(Writing),
    /// The mark is durable. Next: publishes the reservation.
    Publish(Writing),
    /// Next: releases the claim.
    Release { claim: u64 },
    /// The backend sets a mark. Next: the stage `next`.
    Set { setting: Setting, next: Stage },
}

/// A generated ID that has not yet been returned to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Drawn {
    generation: u64,
    id: u64,
    next: u64,
    now: i64,
    is_last_part: bool,
    node: usize,
}

/// The need to reserve a node's IDs up to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Need {
    /// The word that requires the reservation.
    word: u64,
    /// The generation of reservations for the word; 0 until it is loaded.
    generation: u64,
    node: usize,
    tick: u64,
}

/// A reservation that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Writing {
    /// The packed reservation that it replaces.
    reserved: u64,
    mark: Mark,
    /// The tick of the highest mark that it replaces. This mark is kept until the next reservation.
    below: u64,
    generation: u64,
    claim: u64,
    /// Whether its temporary file exists.
    has_file: bool,
}

/// A call of `scru_set_mark()` that sets the mark of a node to a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Setting {
    node: usize,
    tick: u64,
    /// The mark to write; `None` until the marks that it removes are known.
    mark: Option<Mark>,
}

/// The next access of a backend that sets a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stage {
    Claim,
    Look,
    Write,
    ForgetPromotion,
    Withdraw,
    EndGeneration,
    RemoveFiles,
    Remove,
    ForgetState,
    StoreWord,
    WithdrawAgain,
    EndGenerationAgain,
    Release,
}

fn first_need(word: u64, now: i64, node: usize) -> Need {
    Need { word, generation: 0, node, tick: mark::first_tick::<Scru64>(word, now) }
}

fn unpack(word: u64) -> <Scru64 as SortableId>::State {
    <Scru64 as SortableId>::State::unpack(word)
}

/// Claims the right to write a reservation. Returns the claim; `None` if another backend has one that has not expired.
fn claim(world: &mut World) -> Option<u64> {
    claim_as(world, world.monotonic)
}

fn claim_as(world: &mut World, claim: u64) -> Option<u64> {
    let is_free = mark::is_free(world.shared.claim, world.monotonic);
    is_free.then(|| {
        world.shared.claim = claim;
        claim
    })
}

fn release(world: &mut World, claim: u64) {
    if world.shared.claim == claim {
        world.shared.claim = 0;
    }
}

/// Removes the temporary files of the marks for which `goes` returns `true`.
fn remove_files(world: &mut World, goes: impl Fn(Mark) -> bool) {
    for backend in &mut world.backends {
        if let At::LookAgain(writing) | At::Rename(writing) = &mut backend.at
            && goes(writing.mark)
        {
            writing.has_file = false;
        }
    }
}

impl Bounds {
    fn context(&self, node: usize, now: i64) -> Context<Scru64Settings> {
        let text = if node == 0 { "5/23" } else { self.nodes[node - 1] };
        let settings = Scru64Settings { node: text.parse().unwrap_or_default() };
        Context { now, on_clock_rollback: OnClockRollback::Error, settings }
    }

    fn code(&self, node: usize) -> NodeCode {
        Scru64::node(&self.context(node, 0).settings)
    }

    /// Lets a backend begin to set the mark of the current node to a tick.
    pub(crate) fn set_mark(&self, world: &mut World, backend: usize, tick: u64) {
        let setting = Setting { node: world.node, tick, mark: None };
        world.backends[backend].at = At::Set { setting, next: Stage::Claim };
    }

    /// Performs the next access of a backend to shared state, and the decisions that follow from it.
    pub(crate) fn go(&self, world: &mut World, backend: usize) {
        world.backends[backend].at = match world.backends[backend].at {
            At::Idle => self.begin(world, backend),
            At::ClockRead { now } => self.read_generation(world, Some(now)),
            At::LookForPromotion(timeline) => {
                let has_mark = world.marks.iter().any(|mark| mark.is_of_promotion(timeline));
                if has_mark { At::RespectPromotion(timeline) } else { At::WritePromotion(timeline) }
            }
            At::WritePromotion(timeline) => {
                world.marks.insert(Mark::of_promotion::<Scru64>(timeline, Some(world.replayed)));
                At::RespectPromotion(timeline)
            }
            At::RespectPromotion(timeline) => {
                world.withdraw();
                world.shared.generation += 1;
                At::PublishPromotion(timeline)
            }
            At::PublishPromotion(timeline) => {
                world.shared.promotion = timeline;
                world.backends[backend].respects_promotion = true;
                At::Idle
            }
            At::GenerationRead { generation, now } => At::WordRead { generation, word: world.shared.word, now },
            At::WordRead { generation, word, now } => {
                At::ReservedRead { generation, word, reserved: world.shared.reserved, now }
            }
            At::ReservedRead { generation, word, reserved, now } => {
                let now = now.unwrap_or(world.clock);
                self.step(world, generation, word, reserved, now)
            }
            At::Draw { word, .. } if world.shared.word != word => At::Idle,
            At::Draw { drawn, .. } => {
                world.shared.word = drawn.next;
                if self.has_one_generation() {
                    self.hand_out(world, backend, drawn)
                } else {
                    At::LookAtGeneration(drawn)
                }
            }
            At::LookAtGeneration(drawn) if world.shared.generation != drawn.generation => At::Idle,
            At::LookAtGeneration(drawn) => self.hand_out(world, backend, drawn),
            At::FastWordRead { word } => At::FastPath { word, now: world.clock },
            At::FastPath { word, now } => {
                let is_in_range = |(from, to, start, end, node): (u64, u64, i64, i64, usize)| {
                    (from..to).contains(&word) && (start..end).contains(&now) && node == world.node
                };
                let counts = world.backends[backend].range.is_some_and(is_in_range);
                if counts && world.shared.word == word {
                    world.shared.word = word + 1;
                    world.hand_out(backend, word + 1, now);
                }
                At::Idle
            }
            At::Enter { word, now, node } => self.enter(world, word, now, node),
            At::Raise { old, new, now, node } => {
                if world.shared.word != old {
                    At::Idle
                } else {
                    world.shared.word = new;
                    At::Reserve(first_need(new, now, node))
                }
            }
            At::Reserve(need) => match self.cover(world, need) {
                Cover::Outside => At::Generation { need, reserved: Some(world.shared.reserved) },
                Cover::Within | Cover::Last => At::Idle,
            },
            At::Generation { need, reserved } => {
                At::Word { need: Need { generation: world.shared.generation, ..need }, reserved }
            }
            At::Word { need, reserved } => {
                let is_set_back = mark::is_set_back::<Scru64>(world.shared.word, need.word);
                match reserved {
                    _ if is_set_back => At::Idle,
                    Some(reserved) => At::Claim { need, reserved },
                    None => At::ClaimAhead(need),
                }
            }
            At::Claim { need, reserved } => match claim(world) {
                Some(claim) => At::Prepare { need, reserved, claim },
                None => At::Reserve(need),
            },
            At::ClaimAhead(need) => claim(world).map_or(At::Idle, |claim| At::ReserveAhead { need, claim }),
            At::ReserveAhead { need, claim } => match self.cover(world, need) {
                Cover::Last => At::Prepare { need, reserved: world.shared.reserved, claim },
                Cover::Within | Cover::Outside => At::Release { claim },
            },
            At::Prepare { need, reserved, claim } => self.prepare(world, need, reserved, claim),
            At::Write(writing) => At::LookAgain(Writing { has_file: true, ..writing }),
            At::LookAgain(writing) if writing.generation == world.shared.generation => At::Rename(writing),
            At::Rename(writing) if writing.has_file => {
                world.marks.insert(writing.mark);
                At::Publish(Writing { has_file: false, ..writing })
            }
            At::LookAgain(Writing { claim, .. }) | At::Rename(Writing { claim, .. }) => At::Release { claim },
            At::Publish(Writing { reserved, mark, below, claim, .. }) => {
                if world.shared.reserved == reserved {
                    world.shared.reserved = Reservation { node: mark.node, until: mark.tick }.pack::<Scru64>();
                    world.marks.retain(|other| !(mark.replaces(*other) && other.tick < below));
                }
                At::Release { claim }
            }
            At::Release { claim } => {
                release(world, claim);
                At::Idle
            }
            At::Set { setting, next } => self.set(world, setting, next),
        };
    }

    /// Performs the first access to generate an ID.
    fn begin(&self, world: &mut World, backend: usize) -> At {
        if let Some(timeline) = world.promotion().filter(|_| !world.backends[backend].respects_promotion) {
            if world.shared.promotion != timeline {
                return At::LookForPromotion(timeline);
            }
            world.backends[backend].respects_promotion = true;
        }
        match self.mistake {
            Mistake::ClockBeforeState => At::ClockRead { now: world.clock },
            _ => self.read_generation(world, None),
        }
    }

    /// Returns whether the generation never changes. Loading it is then not an action of its own.
    fn has_one_generation(&self) -> bool {
        self.mark_sets == 0 && self.promotion.is_empty()
    }

    fn read_generation(&self, world: &World, now: Option<i64>) -> At {
        let (generation, word) = (world.shared.generation, world.shared.word);
        if self.has_one_generation() {
            At::WordRead { generation, word, now }
        } else {
            At::GenerationRead { generation, now }
        }
    }

    /// Returns an ID to the client, and opens the fast path.
    fn hand_out(&self, world: &mut World, backend: usize, drawn: Drawn) -> At {
        let Drawn { id, next, now, is_last_part, node, .. } = drawn;
        world.hand_out(backend, id, now);
        let FastRange { words, times } = self.range(id, node);
        world.backends[backend].range = Some((words.start, words.end, times.start, times.end, node));
        let need = Need { word: next, generation: 0, node, tick: crate::id(id).tick() };
        if is_last_part { At::Generation { need, reserved: None } } else { At::Idle }
    }

    /// Takes a full step from the loaded values.
    fn step(&self, world: &mut World, generation: u64, word: u64, reserved: u64, now: i64) -> At {
        let (node, code) = (world.node, self.code(world.node));
        if !Reservation::unpack::<Scru64>(reserved).is_some_and(|reservation| reservation.node == code) {
            return At::Enter { word, now, node };
        }
        match Scru64::step(unpack(word), &self.context(node, now), &mut Zeros) {
            Step::Made(next, id) => match mark::cover::<Scru64>(reserved, code, id.tick()) {
                Cover::Outside => At::Reserve(Need { word, generation: 0, node, tick: id.tick() }),
                cover => {
                    let (id, next, is_last_part) = (id.to_u64(), next.pack(), cover == Cover::Last);
                    At::Draw { word, drawn: Drawn { generation, id, next, now, is_last_part, node } }
                }
            },
            Step::Refused(Refusal::ClockMovedBack(_)) if world.is_undisturbed => {
                world.fault = Some(Fault::RefusedWithoutReason);
                At::Idle
            }
            Step::Wait(_) | Step::Refused(_) => At::Idle,
        }
    }

    /// Reads the marks, and prepares the first step of a node.
    fn enter(&self, world: &mut World, word: u64, now: i64, node: usize) -> At {
        let own = [world.shared.state, world.shared.predecessor];
        world.shared.start = mark::start::<Scru64>(world.shared.start, now);
        let mut floor = mark::floor(world.marks.iter().copied(), self.code(node), own);
        let mut start = world.shared.start;
        if self.mistake == Mistake::NoSuccessorWait {
            // The tick of the clock, as if there were no predecessor.
            (floor, start) = (None, Scru64::first_of(TICKS.nearest(now)).to_u64());
        }
        match mark::enter::<Scru64>(word, start, floor, now, &mut Zeros) {
            Entry::Ready => At::Reserve(first_need(word, now, node)),
            Entry::Raise(new) => At::Raise { old: word, new, now, node },
            // After a wait, the backend repeats its step; after a refusal, the client repeats its call.
            Entry::Wait(_) | Entry::Refused(_) => At::Idle,
        }
    }

    fn cover(&self, world: &World, need: Need) -> Cover {
        mark::cover::<Scru64>(world.shared.reserved, self.code(need.node), need.tick)
    }

    /// Determines the mark of a reservation, and the marks that it replaces.
    fn prepare(&self, world: &mut World, need: Need, reserved: u64, claim: u64) -> At {
        if world.shared.state == 0 {
            world.shared.state = world.next_state;
            world.next_state += 1;
        }
        let node = self.code(need.node);
        let until = Reservation::from::<Scru64>(node, need.tick).until;
        let mark = Mark { node, tick: until, state: world.shared.state };
        // The highest tick is sufficient: the replaced mark with this tick is kept, and those below it are removed.
        let below = world.marks.iter().filter(|other| mark.replaces(**other)).map(|other| other.tick).max();
        if self.mistake == Mistake::ReservationBeforeMark {
            world.shared.reserved = Reservation { node, until }.pack::<Scru64>();
        }
        let (generation, below) = (need.generation, below.unwrap_or(0));
        At::Write(Writing { reserved, mark, below, generation, claim, has_file: false })
    }

    /// Performs the next access of a backend that sets a mark.
    fn set(&self, world: &mut World, setting: Setting, stage: Stage) -> At {
        let Setting { node, tick, mark } = setting;
        let asked = Mark { node: self.code(node), tick, state: 0 };
        let goes = |old: Mark| Some(old) != mark && asked.removes(old);
        let next = match stage {
            Stage::Claim => match claim_as(world, mark::SETS_MARK) {
                Some(_) => Stage::Look,
                None => Stage::Claim,
            },
            Stage::Look => {
                let removed = world.marks.iter().copied().filter(|old| asked.removes(*old));
                let mark = Some(asked.in_place_of(removed));
                return At::Set { setting: Setting { mark, ..setting }, next: Stage::Write };
            }
            Stage::Write => {
                world.marks.extend(mark);
                Stage::ForgetPromotion
            }
            Stage::ForgetPromotion => {
                world.marks.extend(world.promotion().map(|timeline| Mark::of_promotion::<Scru64>(timeline, None)));
                Stage::Withdraw
            }
            Stage::Withdraw => {
                world.withdraw();
                Stage::EndGeneration
            }
            Stage::EndGeneration => {
                world.shared.generation += 1;
                Stage::RemoveFiles
            }
            Stage::RemoveFiles => {
                remove_files(world, goes);
                Stage::Remove
            }
            Stage::Remove => {
                world.marks.retain(|mark| !goes(*mark));
                Stage::ForgetState
            }
            Stage::ForgetState => {
                (world.shared.state, world.shared.predecessor) = (0, 0);
                Stage::StoreWord
            }
            Stage::StoreWord => {
                world.shared.word = Scru64::state_after(tick, &mut Zeros).pack();
                let settings = self.context(node, 0).settings;
                world.forget_after(tick, |made| id(made).is_local(&settings));
                Stage::WithdrawAgain
            }
            Stage::WithdrawAgain => {
                world.withdraw();
                Stage::EndGenerationAgain
            }
            Stage::EndGenerationAgain => {
                world.shared.generation += 1;
                Stage::Release
            }
            Stage::Release => {
                release(world, mark::SETS_MARK);
                world.set_to = Some((node, tick));
                return At::Idle;
            }
        };
        At::Set { setting, next }
    }

    fn range(&self, made: u64, node: usize) -> FastRange<Scru64> {
        let none = FastRange { words: 0..0, times: 0..0 };
        let settings = self.context(node, 0).settings;
        Scru64::FAST_PATH.map_or(none, |fast_path| (fast_path.range)(id(made), &settings))
    }

    /// Returns whether a new session gets an ID once the clock has passed all marks and the word.
    pub(crate) fn ends(&self, world: &World) -> bool {
        let mut world = world.clone();
        // A backend that sets the mark finishes first, because its claim does not expire.
        while let Some(setter) = world.backends.iter().position(|backend| backend.is_setting()) {
            self.go(&mut world, setter);
        }
        let words = [world.shared.word, world.shared.start].map(|word| id(word).tick());
        let promotion = world.promotion().map(|timeline| Mark::of_promotion::<Scru64>(timeline, Some(world.replayed)));
        let marks = world.marks.iter().copied().chain(promotion).map(|mark| mark.tick);
        let highest = marks.chain(words).max();
        self.draws(world, highest.unwrap_or(0))
    }

    /// Returns whether a new session gets an ID once the clock has passed the tick to which the current node's mark was set, both
    /// now and after a crash. Returns true if no such mark was set, or if a backend is not idle.
    pub(crate) fn draws_after_set_mark(&self, world: &World) -> bool {
        let is_idle = world.backends.iter().all(|backend| backend.at == At::Idle);
        let Some((_, tick)) = world.set_to.filter(|(node, _)| is_idle && *node == world.node) else { return true };
        let mut anew = world.clone();
        anew.begin_anew();
        self.draws(world.clone(), tick) && self.draws(anew, tick)
    }

    /// Returns whether a new session gets an ID within a fixed number of accesses after the clock has passed a tick.
    fn draws(&self, mut world: World, after: u64) -> bool {
        world.clock = world.clock.max(TICKS.start(after + 1));
        world.backends.push(Backend::default());
        let (newest, before) = (world.backends.len() - 1, world.handed_out.len());
        (0..160).any(|_| {
            self.go(&mut world, newest);
            // Each failed attempt takes a tick.
            world.clock += if world.backends[newest].at == At::Idle { TICKS.micros } else { 0 };
            world.monotonic += mark::CLAIM_MICROS + 1;
            world.handed_out.len() > before || world.fault.is_some()
        })
    }
}
