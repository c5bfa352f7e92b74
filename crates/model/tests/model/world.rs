//! The state of the model: the clock, shared memory, the backends, and the generated IDs.

use std::collections::BTreeMap;

use scru_ids::MAX_AHEAD_MICROS;
use scru_server::mark::{self, Mark};
use scru_server::protocol::{Carried, Known, Lsn, Pending};

use crate::access::Answer;
use crate::kind::Kind;
use crate::log::{Disk, Log, Record, VERSION};
use crate::operation::{Call, Operation};
use crate::{Bounds, at};

/// The number of databases.
pub(crate) const DATABASES: usize = 2;

/// The databases with which an ID must not be shared: a bit for each.
const ALL_DATABASES: u8 = (1 << DATABASES) - 1;

/// The state of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub(crate) clock: i64,
    /// The number of actions so far.
    pub(crate) counts: Counts,
    /// Whether there is a reason for a wait or a refusal: a clock that moved back, a lost state, or a mark that was raised.
    pub(crate) may_refuse: bool,
    pub(crate) log: Log,
    pub(crate) shared: Shared,
    pub(crate) backends: Vec<Backend>,
    /// The IDs that must not be generated again, and the databases in which they must not.
    pub(crate) given: BTreeMap<Id, u8>,
    /// For each database, the last horizon that was returned: the IDs of later transactions are not below it.
    pub(crate) horizons: [i64; DATABASES],
    /// The time to which the marks were raised last.
    pub(crate) raised: Option<Raised>,
    /// The backend that has set the marks back, as it was, and the time; `None` once an ID is generated or the clock advances.
    pub(crate) set_to: Option<(usize, usize, Kind, i64)>,
    /// Whether the clock has moved forward while the marks are set back.
    pub(crate) is_set_late: bool,
    /// The database that was restored from the dump of another server, and the horizon that the dump has.
    pub(crate) restored: Option<(usize, i64)>,
    /// The databases that carry an older mark since they were restored, as bits: the next ID of each covers all again.
    pub(crate) uncovered: u8,
    /// The number of marks that were logged since the last ID or the last change of circumstances.
    pub(crate) marks_logged: u8,
    pub(crate) fault: Option<Fault>,
}

/// An ID of a type, as its word.
pub(crate) type Id = (Kind, u64);

/// The marks were raised: later IDs are at or above a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Raised {
    pub(crate) time: i64,
    /// The database whose session raised it.
    pub(crate) database: usize,
    /// Whether only the IDs of this database are above it, because the server has changed.
    pub(crate) is_local: bool,
}

/// The number of actions so far, for each kind that [`Bounds`] limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    pub(crate) ids: usize,
    pub(crate) horizons: u8,
    pub(crate) clock_moves: u8,
    pub(crate) clock_setbacks: u8,
    pub(crate) crashes: u8,
    pub(crate) promotions: u8,
    pub(crate) upgrades: u8,
    pub(crate) restores: u8,
    pub(crate) node_changes: u8,
    pub(crate) mark_sets: u8,
    pub(crate) mark_raises: u8,
    pub(crate) failures: u8,
    pub(crate) flushes: u8,
    pub(crate) switches: u8,
}

/// Shared memory. All fields are 0 after a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shared {
    pub(crate) words: [u64; 2],
    pub(crate) era: u64,
    pub(crate) is_locked: bool,
    pub(crate) marks: [SharedMark; 2],
}

/// What is shared of a mark.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SharedMark {
    pub(crate) start: i64,
    /// The era in which it was set.
    pub(crate) era: u64,
    pub(crate) reserved: i64,
    pub(crate) pending: Pending,
}

/// A backend: its operation and its private memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Backend {
    pub(crate) database: usize,
    /// The index of its node.
    pub(crate) node: usize,
    /// The type that it draws.
    pub(crate) kind: Kind,
    pub(crate) operation: Option<Operation>,
    /// Whether it went last, if switches are counted.
    pub(crate) goes: bool,
    /// The last ID that its client received; 0 if there is none.
    pub(crate) last: u64,
    /// The state of its private generator.
    pub(crate) private: u128,
    pub(crate) known: [Known; 2],
    pub(crate) due: i64,
    pub(crate) transaction: Transaction,
}

/// What a backend has learned at the beginning of its transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Transaction {
    pub(crate) has_begun: bool,
    /// The time at or above which it draws.
    pub(crate) from: i64,
    /// The time that has arrived with its database, and for which its draws from shared state wait.
    pub(crate) arrived: i64,
    /// The last horizon of its database.
    pub(crate) horizon: i64,
}

/// A violation of an invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// An ID is generated twice.
    Twice,
    /// An ID is not greater than the last one of the session.
    NotIncreasing,
    /// An ID is more than 1 s ahead of the clock.
    TooFarAhead,
    /// A wait or a refusal has no reason.
    RefusedWithoutReason,
    /// The page is accessed without its lock, or the lock is held where it must not be.
    Lock,
    /// An operation does not end.
    Endless,
    /// An ID is below a time to which the marks were raised.
    BelowRaisedMark,
    /// An ID is below a horizon that was returned before its transaction began.
    BelowHorizon,
    /// What databases share is raised above the clock because of what has arrived with one.
    AheadOfArrived,
    /// A mark is logged although it is not needed. Backends could do so for ever.
    NeedlessMark,
    /// A reservation is withdrawn, but not by a superuser.
    Withdrawn,
    /// What sets the marks back raises one, or a word.
    Raised,
    /// A word is above the time to which the marks were set back.
    NotSetBack,
    /// An ID or a horizon is returned that the durable page or the sequence of its database does not cover.
    Uncovered,
}

impl World {
    /// A new server, or one with the marks of its last run. If that ended long ago, the first ID requires no wait.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let last = bounds.last_mark.map(|ticks| Kind::Scru64.first_id(bounds, 0, at(ticks)));
        let time = last.map_or(at(-100), |last| Kind::Scru64.tick(last).1);
        let page = if bounds.is_new { [0; 2] } else { [time; 2] };
        let carried = [[Carried { time: page[0], has_arrived: false }; 2]; DATABASES];
        let backends = bounds.backends.iter().map(|(database, node, kind)| Backend {
            database: *database,
            node: *node,
            kind: *kind,
            ..Backend::default()
        });
        Self {
            clock: at(bounds.clock),
            counts: Counts::default(),
            may_refuse: bounds.is_new || last.is_some(),
            log: Log {
                base: Disk { page, carried, ..Disk::default() },
                records: Vec::new(),
                flushed: 0,
                versions: [[0; 2]; DATABASES],
            },
            shared: Shared::default(),
            given: last.map(|last| ((Kind::Scru64, last), ALL_DATABASES)).into_iter().collect(),
            backends: backends.collect(),
            horizons: [0; DATABASES],
            raised: None,
            set_to: None,
            is_set_late: false,
            restored: None,
            uncovered: 0,
            marks_logged: 0,
            fault: None,
        }
    }

    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// Numbers the versions that backends know, and the present ones, from 0. States that differ only in their history become equal.
    pub(crate) fn renumber_versions(&mut self) {
        for (number, present) in self.log.versions.iter_mut().flatten().enumerate() {
            let (database, of) = (number / 2, Mark::ALL[number % 2]);
            let mut versions = vec![present];
            for backend in self.backends.iter_mut().filter(|backend| backend.database == database) {
                versions.push(&mut backend.known[of as usize].version);
                let answers = backend.operation.iter_mut().flat_map(|operation| &mut operation.answers);
                versions.extend(
                    answers
                        .filter_map(Answer::version_mut)
                        .filter(|(other, _)| *other == of)
                        .map(|(_, version)| version),
                );
            }
            versions.sort_unstable();
            let (mut last, mut number) = (None, 0);
            for version in versions {
                number += Lsn::from(last.is_some_and(|last| last != *version / VERSION));
                last = Some(*version / VERSION);
                *version = number * VERSION + *version % VERSION;
            }
        }
    }

    /// Forgets the order of the durable records. States that differ only in their history become equal.
    pub(crate) fn compact(&mut self) {
        let durable = self.log.compact();
        let [draws, horizons] = &mut self.shared.marks;
        let mut positions = vec![&mut draws.pending.position, &mut horizons.pending.position];
        positions.extend(self.log.versions.iter_mut().flatten());
        for backend in &mut self.backends {
            positions.extend(backend.known.iter_mut().map(|known| &mut known.version));
            let answers = backend.operation.iter_mut().flat_map(|operation| &mut operation.answers);
            positions.extend(answers.filter_map(Answer::position_mut));
        }
        for position in positions {
            *position -= durable.min(*position % VERSION);
        }
    }

    /// Whether a backend sets the marks back.
    pub(crate) fn is_setting(&self) -> bool {
        let calls = self.backends.iter().filter_map(|backend| backend.operation.as_ref());
        calls.map(|operation| operation.call).any(|call| matches!(call, Call::Set(_)))
    }

    /// Whether a backend is suspended in its operation if another one goes, or an action that is not of a backend follows.
    pub(crate) fn suspends(&self, goes: Option<usize>) -> bool {
        let mut others = self.backends.iter().enumerate().filter(|(number, _)| goes != Some(*number));
        others.any(|(_, other)| other.goes && other.operation.is_some())
    }

    pub(crate) fn are_idle(&self) -> bool {
        self.backends.iter().all(|backend| backend.operation.is_none())
    }

    /// Kills all backends, and clears shared memory.
    fn begin_anew(&mut self) {
        self.shared = Shared::default();
        self.log.versions = [[0; 2]; DATABASES];
        for backend in &mut self.backends {
            let Backend { database, node, kind, .. } = *backend;
            *backend = Backend { database, node, kind, ..Backend::default() };
        }
    }

    /// Restarts the server after a crash. The log keeps its durable records, and those up to a position.
    pub(crate) fn crash(&mut self, position: Lsn) {
        self.begin_anew();
        self.log.cut(position);
    }

    /// Promotes a standby that has replayed the log up to a position.
    pub(crate) fn promote(&mut self, position: Lsn) {
        self.begin_anew();
        self.log.cut(position);
        let Disk { rows, horizons, .. } = self.log.disk();
        self.given = rows.into_keys().map(|row| (row, ALL_DATABASES)).collect();
        self.horizons = horizons;
        self.raised = None;
        self.set_to = None;
    }

    /// Moves the databases to a new server, as pg_upgrade does or a dump; without what they carry if it is bare.
    pub(crate) fn upgrade(&mut self, is_bare: bool) {
        self.begin_anew();
        let Disk { carried, mut rows, .. } = self.log.disk();
        rows.values_mut().for_each(|databases| *databases &= !self.uncovered);
        let arrived = |Carried { time, .. }| Carried { time, has_arrived: time > 0 };
        let arrived = |carried| if is_bare { Carried::default() } else { arrived(carried) };
        self.raised = self.raised.map(|raised| Raised { is_local: true, ..raised });
        self.given.clone_from(&rows);
        let carried = carried.map(|carried| carried.map(arrived));
        self.log = Log {
            base: Disk { carried, rows, horizons: self.horizons, ..Disk::default() },
            records: Vec::new(),
            flushed: 0,
            versions: self.log.versions,
        };
    }

    /// Restores a database from the dump of a server that has generated an ID of a tick, or returned a horizon. Replaces what was
    /// restored before. The sessions of the database continue.
    pub(crate) fn restore(&mut self, bounds: &Bounds, backend: usize, (of, ticks): (Mark, i64)) {
        let Backend { database, node, kind, .. } = self.backends[backend];
        let id = (kind, kind.first_id(bounds, node, at(ticks)));
        let time = if of == Mark::Draws { kind.tick(id.1).1 } else { at(ticks) };
        let version = self.log.write_carried(database, of, Carried { time, has_arrived: true });
        self.log.flush(version);
        if of == Mark::Draws {
            self.given.retain(|_, databases| *databases != 1 << database);
            *self.given.entry(id).or_default() |= 1 << database;
            self.uncovered |= 1 << database;
        } else {
            self.horizons[database] = 0;
        }
        self.restored = Some((database, if of == Mark::Draws { 0 } else { time }));
    }

    /// The time at or above which the IDs of a database are, if their transaction begins now.
    pub(crate) fn horizon(&self, database: usize) -> i64 {
        let restored = self.restored.filter(|(restored, _)| *restored == database);
        self.horizons[database].max(restored.map_or(0, |(_, horizon)| horizon))
    }

    /// A horizon to its reader.
    pub(crate) fn return_horizon(&mut self, bounds: &Bounds, backend: usize, horizon: i64) {
        let Backend { database, .. } = self.backends[backend];
        if !self.log.covers(database, Mark::Horizons, horizon) {
            self.fail(Fault::Uncovered);
        }
        self.horizons[database] = self.horizons[database].max(horizon);
        if bounds.needs_rows(self) {
            self.log.write(Record::Horizon(database, self.horizons[database]));
        }
    }

    /// After a superuser has set the marks back: the page covers each ID that must not be generated again, unless it is of a dump.
    pub(crate) fn check_given(&mut self) {
        let page = self.log.disk().page[Mark::Draws as usize];
        let mut given = self.given.iter().filter(|(_, databases)| **databases == ALL_DATABASES);
        if given.any(|((kind, word), _)| kind.tick(*word).1 > page) {
            self.fail(Fault::Uncovered);
        }
    }

    /// An ID to its client, which inserts it. Records a violation of an invariant. `tick` is the start and the end of its tick.
    pub(crate) fn hand_out(&mut self, bounds: &Bounds, backend: usize, word: u64, tick: (i64, i64), now: i64) {
        let Backend { database, kind, last, transaction, .. } = self.backends[backend];
        let (bit, is_private) = (1 << database, kind == Kind::Private);
        let given = self.given.get(&(kind, word)).copied();
        if given.is_some_and(|databases| databases & bit != 0) {
            self.fail(Fault::Twice);
        } else if word <= last && !is_private {
            self.fail(Fault::NotIncreasing);
        } else if tick.0 > now + MAX_AHEAD_MICROS && !(is_private && self.may_refuse) {
            self.fail(Fault::TooFarAhead);
        } else if tick.1 <= transaction.horizon {
            self.fail(Fault::BelowHorizon);
        } else if !is_private && !self.log.covers(database, Mark::Draws, tick.1) {
            self.fail(Fault::Uncovered);
        } else if transaction.arrived > now && !is_private {
            self.fail(Fault::AheadOfArrived);
        } else if let Some(raised) = self.raised
            && (raised.database == database || !raised.is_local)
            && tick.1 <= raised.time
        {
            self.fail(Fault::BelowRaisedMark);
        }
        self.counts.ids += 1;
        self.marks_logged = 0;
        self.set_to = None;
        if is_private {
            return;
        }
        self.given.insert((kind, word), ALL_DATABASES);
        self.uncovered &= !bit;
        self.backends[backend].last = word;
        if bounds.needs_rows(self) {
            self.log.write(Record::Row((kind, word), bit));
        }
    }

    /// While a superuser sets the marks back: permits the IDs to be generated again that are above the time to which they go with the
    /// present clock. The consumers of horizons continue from an earlier one.
    pub(crate) fn forget_above_mark(&mut self, backend: usize) {
        let Some(Operation { call: Call::Set(time), .. }) = self.backends[backend].operation else { return };
        let lowest = mark::lowest(time, self.clock);
        let goes = |(kind, word): Id| kind.tick(word).1 > lowest;
        self.given.retain(|id, _| !goes(*id));
        self.log.forget_rows(goes);
        self.log.forget_horizons();
        self.horizons = [0; DATABASES];
        self.restored = self.restored.map(|(database, _)| (database, 0));
        self.raised = None;
        for backend in &mut self.backends {
            backend.transaction.horizon = 0;
            if goes((backend.kind, backend.last)) {
                backend.last = 0;
            }
        }
    }
}
