//! The state of the model: the clock, the log, shared memory, the backends, and the generated IDs.

use scru_ids::{MAX_AHEAD_MICROS, MAX_BEHIND_MICROS, NodeCode, SortableId};
use scru_server::mark::{Mark, Reserved};
use scru_server::protocol::{Carried, Lsn, Pending};

use crate::access::Answer;
use crate::{Bounds, NOON, TICKS, id};

/// The number of databases.
const DATABASES: usize = 2;

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
    pub(crate) given: Vec<(u64, u8)>,
    /// The mark that was raised last.
    pub(crate) raised: Option<Raised>,
    /// The backend's node and database, and the tick, of a mark that was set; `None` once an ID is generated or the clock advances.
    pub(crate) set_to: Option<(usize, usize, u64)>,
    /// The database that was restored from the dump of another server.
    pub(crate) restored: Option<usize>,
    /// For each database, the time at or above which its IDs are, as a restored horizon requires.
    pub(crate) bounds: [i64; DATABASES],
    /// The number of marks that were logged since the last ID or the last change of circumstances.
    pub(crate) marks_logged: u8,
    pub(crate) fault: Option<Fault>,
}

/// A mark that was raised: later IDs are above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Raised {
    pub(crate) node: NodeCode,
    pub(crate) tick: u64,
    /// The database whose session raised it.
    pub(crate) database: usize,
    /// Whether only the IDs of this database are above it, because the server has changed.
    pub(crate) is_local: bool,
}

/// The number of actions so far, for each kind that [`Bounds`] limits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    pub(crate) ids: usize,
    pub(crate) clock_moves: u8,
    pub(crate) clock_setbacks: u8,
    pub(crate) crashes: u8,
    pub(crate) promotions: u8,
    pub(crate) upgrades: u8,
    pub(crate) restores: u8,
    pub(crate) take_backs: u8,
    pub(crate) node_changes: u8,
    pub(crate) mark_sets: u8,
    pub(crate) mark_raises: u8,
    pub(crate) failures: u8,
    pub(crate) flushes: u8,
}

/// Shared memory. All fields are 0 after a crash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shared {
    pub(crate) word: u64,
    pub(crate) reserved: Reserved,
    pub(crate) is_locked: bool,
    pub(crate) pending: Pending,
    pub(crate) run: u64,
}

/// What the log restores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Disk {
    pub(crate) marks: Vec<Mark>,
    pub(crate) carried: Vec<Carried>,
    /// The rows: the ID, and a bit for the database.
    pub(crate) rows: Vec<(u64, u8)>,
}

/// A record of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Record {
    Marks(Vec<Mark>),
    Carried(usize, Carried),
    Row(u64, u8),
}

/// The log: a state, and the records that follow it. A position is the number of records before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Log {
    base: Disk,
    records: Vec<Record>,
    /// The position up to which the log is durable.
    pub(crate) flushed: Lsn,
    /// For each database, the version of the mark that it carries.
    versions: [Lsn; DATABASES],
}

impl Log {
    pub(crate) fn end(&self) -> Lsn {
        self.records.len() as u64
    }

    /// The runs of all marks.
    fn runs(&self) -> impl Iterator<Item = u64> {
        let records = self.records.iter();
        let later = records.filter_map(|record| if let Record::Marks(marks) = record { Some(marks) } else { None });
        later.chain([&self.base.marks]).flatten().map(|mark| mark.run)
    }

    /// The state after all records.
    pub(crate) fn disk(&self) -> Disk {
        let mut disk = self.base.clone();
        self.records.iter().for_each(|record| disk.replay(record));
        disk
    }

    pub(crate) fn write_marks(&mut self, marks: &[Mark]) -> Lsn {
        self.write(Record::Marks(marks.to_vec()))
    }

    pub(crate) fn write_carried(&mut self, database: usize, carried: Carried) -> Lsn {
        self.versions[database] += 1;
        self.write(Record::Carried(database, carried))
    }

    /// The mark that a database carries, and its version.
    pub(crate) fn carried(&self, database: usize) -> (Carried, Lsn) {
        (self.disk().carried[database], self.versions[database])
    }

    fn write(&mut self, record: Record) -> Lsn {
        self.records.push(record);
        self.end()
    }

    /// Makes the records up to a position durable.
    pub(crate) fn flush(&mut self, position: Lsn) {
        self.flushed = self.flushed.max(position.min(self.end()));
    }

    /// Merges the durable records into the state that precedes them, and returns their number. Positions count from them.
    fn compact(&mut self) -> u64 {
        let durable = std::mem::take(&mut self.flushed);
        for record in self.records.drain(..durable as usize) {
            self.base.replay(&record);
        }
        durable
    }

    /// Discards the records after a position.
    fn cut(&mut self, position: Lsn) {
        self.records.truncate(position as usize);
        self.flushed = position;
    }

    /// Removes the rows for which `goes` returns `true`.
    pub(crate) fn forget_rows(&mut self, goes: impl Fn(u64) -> bool) {
        self.base.rows.retain(|(row, _)| !goes(*row));
        for record in &mut self.records {
            if let Record::Row(row, _) = record
                && goes(*row)
            {
                *record = Record::Row(0, 0);
            }
        }
    }
}

impl Disk {
    fn replay(&mut self, record: &Record) {
        match record {
            Record::Marks(marks) => self.marks.clone_from(marks),
            Record::Carried(database, carried) => self.carried[*database] = *carried,
            Record::Row(0, _) => {}
            Record::Row(id, database) => self.rows.push((*id, *database)),
        }
    }
}

/// A backend: its operation and its private memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Backend {
    pub(crate) database: usize,
    /// The index of its node.
    pub(crate) node: usize,
    pub(crate) operation: Option<Operation>,
    /// The last ID that its client received; 0 if there is none.
    pub(crate) last: u64,
    /// The fast path: the start and the end of the words and of the times.
    pub(crate) range: Option<(u64, u64, i64, i64)>,
    pub(crate) known_carried: Reserved,
    pub(crate) due: Reserved,
    /// The time from which its transaction draws: what the database carried when it began; 0 if none runs.
    pub(crate) from: i64,
    /// Whether its operation began before the last mark was raised.
    pub(crate) precedes_raise: bool,
}

/// An operation that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub(crate) call: Call,
    pub(crate) answers: Vec<Answer>,
    /// The IDs that may be generated again, for a mark that is set.
    pub(crate) given: Vec<u64>,
}

/// The call of a function of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Draw,
    DrawFast,
    /// Sets the mark of the backend's node to a tick.
    SetMark(u64),
    /// Raises the mark of the backend's node to a tick.
    RaiseMark(u64),
}

/// The number of the run of [`LONG_AGO`].
const OLD_RUN: u64 = 1;

/// The tick of a run that ended long ago.
const LONG_AGO: u64 = TICKS.nearest(NOON) - 100;

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
    /// An ID is not above a mark that was raised.
    BelowRaisedMark,
    /// A mark is logged although it is not needed. Backends could do so for ever.
    NeedlessMark,
    /// A draw withdraws the reservation of all databases.
    Withdrawn,
}

impl World {
    /// A new server, or one with the mark of its last run. If that ended long ago, the first ID requires no wait.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let last = bounds.last_mark.map(|ticks| TICKS.nearest(NOON) + ticks);
        let mark = Mark { node: bounds.code(0), tick: last.unwrap_or(LONG_AGO), run: OLD_RUN };
        let marks = if bounds.is_new { Vec::new() } else { vec![mark] };
        let carried = match bounds.carries_nothing {
            true => Carried::Nothing,
            false if bounds.is_new => Carried::Own(None),
            false => Carried::Own(Some(Mark { run: 0, ..mark })),
        };
        let backends = bounds.backends.iter().map(|(database, node)| Backend {
            database: *database,
            node: *node,
            ..Backend::default()
        });
        Self {
            clock: NOON,
            counts: Counts::default(),
            may_refuse: bounds.is_new || last.is_some(),
            log: Log {
                base: Disk { marks, carried: vec![carried; DATABASES], rows: Vec::new() },
                records: Vec::new(),
                flushed: 0,
                versions: [0; DATABASES],
            },
            shared: Shared::default(),
            given: last.map(|tick| (bounds.first_id(0, tick), ALL_DATABASES)).into_iter().collect(),
            backends: backends.collect(),
            raised: None,
            set_to: None,
            restored: None,
            bounds: [0; DATABASES],
            marks_logged: 0,
            fault: None,
        }
    }

    pub(crate) fn fail(&mut self, fault: Fault) {
        self.fault = self.fault.or(Some(fault));
    }

    /// Numbers the versions that backends know, and the present ones, from 0. States that differ only in their history become equal.
    pub(crate) fn renumber_versions(&mut self) {
        for (database, present) in self.log.versions.iter_mut().enumerate() {
            let backends = self.backends.iter_mut().filter(|backend| backend.database == database);
            let operations = backends.filter_map(|backend| backend.operation.as_mut());
            let answers = operations.flat_map(|operation| &mut operation.answers);
            let known = answers
                .filter_map(|answer| if let Answer::Carried(_, version) = answer { Some(version) } else { None });
            let mut versions: Vec<&mut Lsn> = known.chain([present]).collect();
            versions.sort_unstable();
            let (mut last, mut number) = (None, 0);
            for version in versions {
                number += Lsn::from(last.is_some_and(|last| last != *version));
                last = Some(std::mem::replace(version, number));
            }
        }
    }

    /// Forgets the order of the durable records. States that differ only in their history become equal.
    pub(crate) fn compact(&mut self) {
        let durable = self.log.compact();
        let answers = self.backends.iter_mut().filter_map(|backend| backend.operation.as_mut());
        let answers = answers.flat_map(|operation| &mut operation.answers).filter_map(Answer::position_mut);
        for position in answers.chain([&mut self.shared.pending.position]) {
            *position = position.saturating_sub(durable);
        }
    }

    /// A number for a run that no other run has. `answers` are those of the present operation.
    pub(crate) fn next_run(&self, answers: &[Answer]) -> u64 {
        let operations = self.backends.iter().filter_map(|backend| backend.operation.as_ref());
        let answers = operations.flat_map(|operation| &operation.answers).chain(answers);
        let drawn = answers.filter_map(|answer| if let Answer::Run(run) = answer { Some(*run) } else { None });
        drawn.chain(self.log.runs()).chain([OLD_RUN, self.shared.run]).max().unwrap_or(0) + 1
    }

    pub(crate) fn are_idle(&self) -> bool {
        self.backends.iter().all(|backend| backend.operation.is_none())
    }

    /// Kills all backends, and clears shared memory.
    fn begin_anew(&mut self) {
        self.shared = Shared::default();
        for backend in &mut self.backends {
            *backend = Backend { database: backend.database, node: backend.node, ..Backend::default() };
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
        self.given = self.log.disk().rows.iter().map(|(row, _)| (*row, ALL_DATABASES)).collect();
        self.given.sort_unstable();
        self.raised = None;
        self.set_to = None;
    }

    /// Moves the databases to a new server, as pg_upgrade does or a dump.
    pub(crate) fn upgrade(&mut self) {
        self.begin_anew();
        let Disk { carried, rows, .. } = self.log.disk();
        let carried = carried.into_iter().map(|carried| match carried {
            Carried::Own(Some(mark)) => Carried::Arrived(mark),
            carried => carried,
        });
        self.raised = self.raised.map(|raised| Raised { is_local: true, ..raised });
        self.given.clone_from(&rows);
        self.given.sort_unstable();
        self.log = Log {
            base: Disk { marks: Vec::new(), carried: carried.collect(), rows },
            records: Vec::new(),
            flushed: 0,
            versions: [0; DATABASES],
        };
    }

    /// Restores the database of an idle backend, to which all reconnect, from the dump of a server that has generated the first ID of a
    /// tick.
    pub(crate) fn restore(&mut self, bounds: &Bounds, backend: usize, tick: u64) {
        let Backend { database, node, .. } = self.backends[backend];
        for other in self.backends.iter_mut().filter(|other| other.database == database) {
            *other = Backend { database, node: other.node, ..Backend::default() };
        }
        self.restored = Some(database);
        if bounds.is_horizon_restored {
            self.bounds[database] = TICKS.start(tick);
            return;
        }
        let arrived = Mark { node: bounds.code(node), tick, run: 0 };
        let position = self.log.write_carried(database, Carried::Arrived(arrived));
        self.log.flush(position);
        let new = bounds.first_id(node, tick);
        let at = self.given.partition_point(|(given, _)| *given < new);
        match self.given.get_mut(at).filter(|(given, _)| *given == new) {
            Some((_, databases)) => *databases |= 1 << database,
            None => self.given.insert(at, (new, 1 << database)),
        }
    }

    /// Takes back the horizon that a restored database carries. Its owner then answers for the IDs that it had.
    pub(crate) fn take_back(&mut self, database: usize) {
        self.bounds[database] = 0;
        self.given.retain(|(_, databases)| *databases == ALL_DATABASES);
    }

    /// An ID to its client, which inserts it. Records a violation of an invariant.
    pub(crate) fn hand_out(&mut self, bounds: &Bounds, backend: usize, new: u64, now: i64) {
        let Backend { database, node, last, precedes_raise, .. } = self.backends[backend];
        let bit = 1 << database;
        let at = self.given.partition_point(|(given, _)| *given < new);
        let is_again = self.given.get(at).is_some_and(|(given, _)| *given == new);
        if is_again && self.given[at].1 & bit != 0 {
            self.fail(Fault::Twice);
        } else if new <= last {
            self.fail(Fault::NotIncreasing);
        } else if id(new).timestamp_micros() > now + MAX_AHEAD_MICROS {
            self.fail(Fault::TooFarAhead);
        } else if let Some(raised) = self.raised
            && raised.node.overlaps(bounds.code(node))
            && (raised.database == database || !raised.is_local)
            && !precedes_raise
            && id(new).tick() <= raised.tick
        {
            self.fail(Fault::BelowRaisedMark);
        }
        if is_again {
            self.given[at].1 = ALL_DATABASES;
        } else {
            self.given.insert(at, (new, ALL_DATABASES));
        }
        self.backends[backend].last = new;
        self.counts.ids += 1;
        self.marks_logged = 0;
        self.set_to = None;
        if bounds.needs_rows(self) {
            self.log.write(Record::Row(new, bit));
        }
    }

    /// Permits the IDs above a mark that is being set to be generated again, if they were given when the operation began, and are
    /// too far ahead of the clock for any session to wait for it.
    pub(crate) fn forget_above_mark(&mut self, backend: usize) {
        let Some(Operation { call: Call::SetMark(tick), given, .. }) = &self.backends[backend].operation else {
            return;
        };
        let (tick, given) = (*tick, given.clone());
        let latest = self.clock + MAX_BEHIND_MICROS;
        let is_above = |made: u64| id(made).tick() > tick && id(made).timestamp_micros() > latest;
        let goes = |made: u64| is_above(made) && given.contains(&made);
        self.given.retain(|(made, _)| !goes(*made));
        self.log.forget_rows(goes);
        self.raised = None;
        for backend in &mut self.backends {
            if is_above(backend.last) {
                backend.last = 0;
            }
        }
    }
}
