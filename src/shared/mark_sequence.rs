//! The sequences of each database that carry its marks on the ways on which rows travel without the log: pg_dump, pg_upgrade,
//! CREATE DATABASE.
//!
//! The value is a time in microseconds since 1970-01-01 UTC. `log_cnt`, which dumps leave out, is the system identifier of the server
//! that wrote the value, so that a value that has arrived from another server is recognized. The owner of the database can write any
//! value, so each is checked on its way in.

use core::cell::Cell;
use core::ffi::CStr;

use pgrx::pg_guard;
use pgrx::pg_sys::{self, Datum, FormData_pg_sequence_data, LOCKMODE, Oid, Relation, SysCacheIdentifier};
use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Known, Lsn};

use crate::call::error::{Error, sql_error};
use crate::call::internal_schema;
use crate::pg::buffer::{LockedPage, RecentBuffer};
use crate::pg::process::PerProcess;
use crate::pg::{catalog, server};
use crate::shared::mark_page::{LAST, LOCK_WAIT};

/// The name of a sequence in the internal schema, in which only its owner can create objects.
const fn name(of: Mark) -> &'static CStr {
    match of {
        Mark::Draws => c"draws",
        Mark::Horizons => c"horizons",
    }
}

/// What this process keeps of a sequence.
#[derive(Clone, Copy)]
pub struct Kept {
    pub number: Oid,
    /// The buffer that had its page when it was last read or written.
    pub buffer: Option<RecentBuffer>,
    pub known: Known,
}

const NOTHING: Kept = Kept { number: Oid::INVALID, buffer: None, known: Known { era: 0, until: 0, version: 0 } };

static KEPT: PerProcess<[Cell<Kept>; 2]> = PerProcess::new([Cell::new(NOTHING), Cell::new(NOTHING)]);

pub fn kept(of: Mark) -> &'static Cell<Kept> {
    &KEPT[of as usize]
}

/// Forgets what this process keeps of a sequence that has changed. For `_PG_init`.
pub fn register() {
    // SAFETY: the function only sets variables.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(forget), Datum::null()) };
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_argument: Datum, changed: Oid) {
    for kept in &*KEPT {
        if [kept.get().number, Oid::INVALID].contains(&changed) {
            kept.set(NOTHING);
        }
    }
}

/// What a sequence carries, and its version: the position of the end of the record that wrote it. As all functions here, 55000 if the
/// extension's sequence is missing or has become unlogged.
pub fn read(of: Mark) -> Result<(Carried, Lsn), Error> {
    with_page(of, |_, page| {
        // SAFETY: the page is locked.
        let FormData_pg_sequence_data { last_value, log_cnt, is_called } = unsafe { *data(page) };
        // A value outside of the range of marks counts as the nearest one.
        let time = if is_called { last_value.clamp(0, LAST) } else { 0 };
        (Carried { time, has_arrived: is_called && log_cnt != system_identifier() }, page.position())
    })
}

/// Writes what a sequence carries. Returns the position of the end of the record; `None` and writes nothing if `old` is not the present
/// version.
pub fn write(of: Mark, old: Lsn, new: Carried) -> Result<Option<Lsn>, Error> {
    with_page(of, |sequence, page| {
        let data = data(page);
        // SAFETY: the closure changes fields of the sequence's tuple, which is in the page. The relation is open.
        (page.position() == old).then(|| unsafe {
            page.log(server::is_logged(sequence), |_| {
                // Dumps set the value, which must be in the range of the sequence.
                (*data).last_value = new.time.max(1);
                (*data).log_cnt = if new.has_arrived { 0 } else { system_identifier() };
                (*data).is_called = new.time > 0;
            })
        })
    })
}

/// Runs `work` with a sequence and its page, which is locked. If an error of the server ends the wait for the lock, the transaction
/// closes the sequence.
fn with_page<R>(of: Mark, work: impl FnOnce(Relation, &LockedPage) -> R) -> Result<R, Error> {
    // A standby permits this lock as well.
    const LOCK: LOCKMODE = pg_sys::RowExclusiveLock as LOCKMODE;
    if kept(of).get().number == Oid::INVALID {
        kept(of).set(Kept { number: find(of)?, ..NOTHING });
    }
    // SAFETY: a look-up. The lock on the sequence keeps its file while it is open. It has one page.
    unsafe {
        let sequence = pg_sys::try_relation_open(kept(of).get().number, LOCK);
        if sequence.is_null() {
            return Err(unusable(of, false));
        }
        let is_permanent = (*(*sequence).rd_rel).relpersistence as u8 == pg_sys::RELPERSISTENCE_PERMANENT;
        let page = is_permanent.then(|| LockedPage::lock(pg_sys::ReadBuffer(sequence, 0), Some(&LOCK_WAIT))).flatten();
        let result = page.map(|page| {
            kept(of).update(|kept| Kept { buffer: Some(page.recent()), ..kept });
            work(sequence, &page)
        });
        pg_sys::relation_close(sequence, LOCK);
        result.ok_or_else(|| unusable(of, true))
    }
}

/// The tuple of a sequence.
fn data(page: &LockedPage) -> *mut FormData_pg_sequence_data {
    let page = page.header();
    // SAFETY: a sequence has one page with one tuple.
    unsafe {
        let offset = (*(*page).pd_linp.as_ptr()).lp_off() as usize;
        let tuple = page.cast::<u8>().add(offset);
        let header = (*tuple.cast::<pg_sys::HeapTupleHeaderData>()).t_hoff as usize;
        tuple.add(header).cast()
    }
}

/// The sequence with this name that belongs to the owner of the schema.
fn find(of: Mark) -> Result<Oid, Error> {
    // SAFETY: look-ups in the catalogs, whose rows have these structs.
    unsafe {
        let schema = internal_schema();
        let number = pg_sys::get_relname_relid(name(of).as_ptr(), schema);
        let owner_of = |schema: &pg_sys::FormData_pg_namespace, _| schema.nspowner;
        let owner = catalog::read(SysCacheIdentifier::NAMESPACEOID as _, &[schema.into()], owner_of);
        let is_own = |row: &pg_sys::FormData_pg_class, _| {
            row.relkind as u8 == pg_sys::RELKIND_SEQUENCE && Some(row.relowner) == owner
        };
        let found = catalog::read(SysCacheIdentifier::RELOID as _, &[number.into()], is_own);
        if found == Some(true) { Ok(number) } else { Err(unusable(of, false)) }
    }
}

/// The number of the server's data, which copies of its files share.
fn system_identifier() -> i64 {
    // SAFETY: reads a constant of the server.
    unsafe { pg_sys::GetSystemIdentifier() as i64 }
}

/// The error for a sequence that is missing, or has become unlogged.
#[cold]
fn unusable(of: Mark, is_unlogged: bool) -> Error {
    let name = format!("scru_internal.{}", name(of).to_string_lossy());
    let error = if is_unlogged {
        sql_error!(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "sequence \"{name}\" has become unlogged")
            .detail("After a crash, dumps and pg_upgrade would not carry the high-water mark of the database.")
            .hint(format!("A superuser can use ALTER SEQUENCE {name} SET LOGGED."))
    } else {
        sql_error!(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "sequence \"{name}\" of extension \"scru\" is missing")
            .detail("Dumps and pg_upgrade would not carry the high-water mark of the database.")
            .hint("Restore the database from a dump, or let a superuser undo what has replaced the sequence.")
    };
    error.of([Some(c"scru_internal"), Some(self::name(of)), None, None])
}
