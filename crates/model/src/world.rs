//! The state of the model: the clock, shared memory, the marks on disk, the standby, the backends, and the generated IDs.

use std::collections::BTreeSet;

use scru_ids::mark::{self, Mark, NodeCode, Reservation};
use scru_ids::{MAX_AHEAD_MICROS, Scru64, SortableId};

use crate::backend::Backend;
use crate::{NOON, TICKS, id};

/// The state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) clock: i64,
    /// The monotonic clock, by which claims expire, in microseconds.
    pub(crate) monotonic: u64,
    /// The number of actions so far.
    pub(crate) counts: Counts,
    /// Whether the clock was never set back and the server never lost its shared memory.
    pub(crate) is_undisturbed: bool,
    pub(crate) node: usize,
    pub(crate) shared: Shared,
    /// The durable marks.
    pub(crate) marks: BTreeSet<Mark>,
    /// The number of the next state. Each state has its own.
    pub(crate) next_state: u64,
    /// The last time in the WAL that the standby has replayed.
    pub(crate) replayed: i64,
    /// The timeline: 1, or 2 after the promotion.
    pub(crate) timeline: u32,
    pub(crate) handed_out: BTreeSet<u64>,
    /// The node whose mark was set, and the tick to which it was set; `None` once an ID is generated or the clock advances.
    pub(crate) set_to: Option<(usize, u64)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) backends: Vec<Backend>,
}

/// The number of actions so far, for each kind that [`crate::Bounds`] limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    pub(crate) clock_moves: u8,
    pub(crate) clock_setbacks: u8,
    pub(crate) suspensions: u8,
    pub(crate) crashes: u8,
    pub(crate) stops: u8,
    pub(crate) standby_restarts: u8,
    pub(crate) node_changes: u8,
    pub(crate) mark_sets: u8,
}

/// Shared memory: the shared word and the state of the high-water mark. All fields are 0 after a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shared {
    pub(crate) word: u64,
    pub(crate) reserved: u64,
    pub(crate) claim: u64,
    pub(crate) state: u64,
    pub(crate) predecessor: u64,
    pub(crate) start: u64,
    /// The timeline of the promotion that the reservation respects; 0 if there is none.
    pub(crate) promotion: u32,
    pub(crate) generation: u64,
}

/// The mark of a state that ended long ago.
const LONG_AGO: Mark = Mark { node: NodeCode::new(5, 23), tick: TICKS.nearest(NOON) - 100, state: 1 };

/// A violation of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    Twice,
    NotIncreasing,
    TooFarAhead,
    RefusedWithoutReason,
}

impl World {
    /// Returns a server whose predecessor ended long ago, so that its first ID requires no wait.
    pub(crate) fn new(backends: usize) -> Self {
        let start = Scru64::first_of(TICKS.nearest(NOON) - 1).to_u64();
        Self {
            clock: NOON,
            monotonic: 1,
            counts: Counts::default(),
            is_undisturbed: true,
            node: 0,
            shared: Shared { start, ..Shared::default() },
            marks: BTreeSet::from([LONG_AGO]),
            next_state: LONG_AGO.state + 1,
            replayed: whole_seconds(NOON),
            timeline: 1,
            handed_out: BTreeSet::new(),
            set_to: None,
            fault: None,
            backends: vec![Backend::default(); backends],
        }
    }

    /// Kills all backends and clears shared memory.
    pub(crate) fn begin_anew(&mut self) {
        self.is_undisturbed = false;
        self.shared = Shared::default();
        self.backends.fill(Backend::default());
    }

    /// Shuts the server down cleanly and restarts it.
    pub(crate) fn restart(&mut self) {
        let Shared { state, word, predecessor, start, .. } = self.shared;
        self.begin_anew();
        if let Some((predecessor, start)) = mark::last(state, word, predecessor, start) {
            (self.shared.predecessor, self.shared.start) = (predecessor, start);
        }
    }

    /// Promotes the standby. Its data directory is a copy from before the first ID.
    pub(crate) fn promote(&mut self) {
        self.begin_anew();
        self.marks = BTreeSet::from([LONG_AGO]);
        self.timeline = 2;
    }

    /// Returns the timeline that began with the promotion; `None` before the promotion.
    pub(crate) fn promotion(&self) -> Option<u32> {
        (self.timeline > 1).then_some(self.timeline)
    }

    /// Withdraws the reservation, so that every node enters again. The caller then begins the next generation.
    pub(crate) fn withdraw(&mut self) {
        self.shared.reserved = Reservation::none::<Scru64>(self.shared.generation + 1);
    }

    /// Returns an ID to its client, and commits the transaction. Records a violation of an invariant.
    pub(crate) fn hand_out(&mut self, backend: usize, new: u64, now: i64) {
        let last = &mut self.backends[backend].last;
        let fault = if new <= *last {
            Some(Fault::NotIncreasing)
        } else if self.handed_out.contains(&new) {
            Some(Fault::Twice)
        } else if id(new).timestamp_micros() > now + MAX_AHEAD_MICROS {
            Some(Fault::TooFarAhead)
        } else {
            None
        };
        *last = new;
        self.fault = self.fault.or(fault);
        self.handed_out.insert(new);
        self.set_to = None;
        if self.timeline == 1 {
            self.replayed = self.replayed.max(self.clock);
        }
    }

    /// Permits the IDs of a node after a tick to be generated again, because an administrator has set the mark to that tick.
    pub(crate) fn forget_after(&mut self, tick: u64, is_local: impl Fn(u64) -> bool) {
        self.handed_out.retain(|made| id(*made).tick() <= tick || !is_local(*made));
        for backend in &mut self.backends {
            if id(backend.last).tick() > tick {
                backend.last = 0;
            }
        }
    }
}

/// Returns the start of the second that contains a time. A checkpoint record has its time in whole seconds.
pub(crate) fn whole_seconds(micros: i64) -> i64 {
    micros - micros.rem_euclid(1_000_000)
}
