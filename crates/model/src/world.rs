//! What there is: the clock, shared memory, the disk, the standby, and what has been handed out.

use std::collections::BTreeSet;

use scru_ids::mark::{self, Mark, NodeCode, Reservation};
use scru_ids::{MAX_AHEAD_MICROS, Scru64, SortableId};

use crate::backend::Backend;
use crate::{NOON, TICKS, id};

/// The state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) clock: i64,
    /// A clock that nobody sets, by which claims expire.
    pub(crate) monotonic: u64,
    /// How often each thing has happened.
    pub(crate) counts: Counts,
    /// Whether the clock has never been set back, and the server never lost its state.
    pub(crate) is_undisturbed: bool,
    pub(crate) node: usize,
    pub(crate) shared: Shared,
    /// The records on the disk.
    pub(crate) marks: BTreeSet<Mark>,
    /// The number of the next state: each is another.
    pub(crate) next_state: u64,
    /// The last time in the standby's WAL, which the standby has replayed.
    pub(crate) replayed: i64,
    /// The timeline: the first, or that of the promoted standby.
    pub(crate) timeline: u32,
    pub(crate) handed_out: BTreeSet<u64>,
    /// The node and the tick that its mark was set to, until an ID is handed out or the clock goes on.
    pub(crate) set_to: Option<(usize, u64)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) backends: Vec<Backend>,
}

/// How often each thing has happened that may happen so many times.
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

/// Shared memory: the word, and what lies beside it. All zero at first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shared {
    pub(crate) word: u64,
    pub(crate) reserved: u64,
    pub(crate) claim: u64,
    pub(crate) state: u64,
    pub(crate) predecessor: u64,
    pub(crate) start: u64,
    /// The timeline whose promotion the reservation respects.
    pub(crate) promotion: u32,
    pub(crate) generation: u64,
}

/// The mark of a state that ended long ago.
const LONG_AGO: Mark = Mark { node: NodeCode::new(5, 23), tick: TICKS.nearest(NOON) - 100, state: 1 };

/// What must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    Twice,
    NotIncreasing,
    TooFarAhead,
    RefusedWithoutReason,
}

impl World {
    /// A server that was there long ago, so that the first ID needs no wait.
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

    /// Every process is gone, and the shared memory with them.
    pub(crate) fn begin_anew(&mut self) {
        self.is_undisturbed = false;
        self.shared = Shared::default();
        self.backends.fill(Backend::default());
    }

    /// The server ends in good order and starts again.
    pub(crate) fn restart(&mut self) {
        let Shared { state, word, predecessor, start, .. } = self.shared;
        self.begin_anew();
        if let Some((predecessor, start)) = mark::last(state, word, predecessor, start) {
            (self.shared.predecessor, self.shared.start) = (predecessor, start);
        }
    }

    /// The standby takes over, whose data directory is a copy from before the first ID.
    pub(crate) fn promote(&mut self) {
        self.begin_anew();
        self.marks = BTreeSet::from([LONG_AGO]);
        self.timeline = 2;
    }

    /// The timeline that began with a promotion.
    pub(crate) fn promotion(&self) -> Option<u32> {
        (self.timeline > 1).then_some(self.timeline)
    }

    /// Takes the reservation back, so that every node enters anew. The next generation is still to begin.
    pub(crate) fn take_back(&mut self) {
        self.shared.reserved = Reservation::none::<Scru64>(self.shared.generation + 1);
    }

    /// An ID reaches its client, and the transaction commits.
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

    /// IDs of a node after a tick may come again: an administrator has set the mark to that.
    pub(crate) fn forget_after(&mut self, tick: u64, is_local: impl Fn(u64) -> bool) {
        self.handed_out.retain(|made| id(*made).tick() <= tick || !is_local(*made));
        for backend in &mut self.backends {
            if id(backend.last).tick() > tick {
                backend.last = 0;
            }
        }
    }
}

/// The start of the second that a time lies in: what the record of a checkpoint has of it.
pub(crate) fn whole_seconds(micros: i64) -> i64 {
    micros - micros.rem_euclid(1_000_000)
}
