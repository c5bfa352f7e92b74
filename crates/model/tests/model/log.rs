//! The log: the marks, what the databases carry, the rows and the horizons that it restores.

use std::collections::BTreeMap;

use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Lsn};

use crate::world::{DATABASES, Id};

/// What the log restores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Disk {
    /// The marks of the page.
    pub(crate) page: [i64; 2],
    /// The marks of each database.
    pub(crate) carried: [[Carried; 2]; DATABASES],
    /// The rows: the ID, and a bit for the database.
    pub(crate) rows: BTreeMap<Id, u8>,
    /// The horizons that readers have written to rows.
    pub(crate) horizons: [i64; DATABASES],
}

/// A record of the log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Record {
    Page(Mark, i64),
    Carried(usize, Mark, Carried),
    Row(Id, u8),
    Horizon(usize, i64),
    /// A record that is forgotten.
    Nothing,
}

/// The log: a state, and the records that follow it. A position is the number of records before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Log {
    pub(crate) base: Disk,
    pub(crate) records: Vec<Record>,
    /// The position up to which the log is durable.
    pub(crate) flushed: Lsn,
    /// For each database, the versions of the marks that it carries: the position of the record, and above [`VERSION`] a number.
    pub(crate) versions: [[Lsn; 2]; DATABASES],
}

/// The step from a version to the next one.
pub(crate) const VERSION: Lsn = 1 << 16;

impl Log {
    pub(crate) fn end(&self) -> Lsn {
        self.records.len() as u64
    }

    /// The state after all records.
    pub(crate) fn disk(&self) -> Disk {
        let mut disk = self.base.clone();
        self.records.iter().for_each(|record| disk.replay(record));
        disk
    }

    pub(crate) fn write_mark(&mut self, of: Mark, time: i64) -> Lsn {
        self.write(Record::Page(of, time))
    }

    pub(crate) fn write_carried(&mut self, database: usize, of: Mark, carried: Carried) -> Lsn {
        let position = self.write(Record::Carried(database, of, carried));
        let version = &mut self.versions[database][of as usize];
        *version = (*version / VERSION + 1) * VERSION + position;
        *version
    }

    /// The mark that a database carries, and its version.
    pub(crate) fn carried(&self, database: usize, of: Mark) -> (Carried, Lsn) {
        (self.disk().carried[database][of as usize], self.versions[database][of as usize])
    }

    /// Whether the durable page and the sequence of a database cover a time.
    pub(crate) fn covers(&self, database: usize, of: Mark, time: i64) -> bool {
        let durable = self.records[..self.flushed as usize].iter().rev();
        let page =
            durable.filter_map(|record| if let Record::Page(page, time) = record { Some((page, time)) } else { None });
        let page = page.filter(|(page, _)| **page == of).map(|(_, time)| *time).next();
        page.unwrap_or(self.base.page[of as usize]) >= time && self.carried(database, of).0.time >= time
    }

    pub(crate) fn write(&mut self, record: Record) -> Lsn {
        self.records.push(record);
        self.end()
    }

    pub(crate) fn is_flushed(&self, position: Lsn) -> bool {
        self.flushed >= position % VERSION
    }

    /// Makes the records up to a position durable.
    pub(crate) fn flush(&mut self, position: Lsn) {
        self.flushed = self.flushed.max((position % VERSION).min(self.end()));
    }

    /// Merges the durable records into the state that precedes them, and returns their number. Positions count from them.
    pub(crate) fn compact(&mut self) -> u64 {
        let durable = std::mem::take(&mut self.flushed);
        for record in self.records.drain(..durable as usize) {
            self.base.replay(&record);
        }
        durable
    }

    /// Discards the records after a position.
    pub(crate) fn cut(&mut self, position: Lsn) {
        self.records.truncate(position as usize);
        self.flushed = position;
    }

    /// Removes the rows for which `goes` returns `true`.
    pub(crate) fn forget_rows(&mut self, goes: impl Fn(Id) -> bool) {
        self.base.rows.retain(|row, _| !goes(*row));
        for record in &mut self.records {
            if let Record::Row(row, _) = record
                && goes(*row)
            {
                *record = Record::Nothing;
            }
        }
    }

    pub(crate) fn forget_horizons(&mut self) {
        self.base.horizons = [0; DATABASES];
        for record in &mut self.records {
            if let Record::Horizon(..) = record {
                *record = Record::Nothing;
            }
        }
    }
}

impl Disk {
    fn replay(&mut self, record: &Record) {
        match record {
            Record::Page(of, time) => self.page[*of as usize] = *time,
            Record::Carried(database, of, carried) => self.carried[*database][*of as usize] = *carried,
            Record::Row(id, database) => *self.rows.entry(*id).or_default() |= *database,
            Record::Horizon(database, horizon) => self.horizons[*database] = *horizon,
            Record::Nothing => {}
        }
    }
}
