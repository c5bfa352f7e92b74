//! The sequences of each database. `T_mark` carries the high-water mark of a type, `scru_horizon_mark` the floor of the horizons,
//! on the ways on which rows travel without the log: pg_dump, pg_upgrade, CREATE DATABASE.
//!
//! The value is a [`Reserved`], or a time in microseconds since 1970-01-01 UTC. `log_cnt`, which dumps leave out, is the
//! system identifier of the server that wrote the value, so that a value that has arrived from another server is recognized. The
//! owner of the database can write any value, so each is checked on its way in.

use core::cell::Cell;
use core::ffi::CStr;

use pgrx::pg_guard;
use pgrx::pg_sys::{self, Datum, FormData_pg_sequence_data, LOCKMODE, Oid, Relation};
use scru_ids::id_systems;
use scru_server::mark::{Mark, Reservation, Reserved};
use scru_server::protocol::{Carried, Lsn};

use crate::call::error::{Error, sql_error};
use crate::pg::buffer::LockedPage;
use crate::pg::catalog::{self, Schema};
use crate::pg::process::PerProcess;
use crate::pg::{datum, server};
use crate::shared::id_type::Type;
use crate::shared::mark_page::LAST_FLOOR;
use crate::shared::waits;

/// The schema that has the sequences of an extension in `pg_catalog`, where the server permits none.
const HOME: &CStr = c"scru_marks";

/// The name of the sequence of the floor, and the one that this process has last read.
const FLOOR: &CStr = c"scru_horizon_mark";
static OF_FLOOR: PerProcess<Cell<Oid>> = PerProcess::new(Cell::new(Oid::INVALID));

/// The floor that this database carries and calls its own, as far as this process knows; `None` if it has to look.
pub static OWN_FLOOR: PerProcess<Cell<Option<i64>>> = PerProcess::new(Cell::new(None));

/// Forgets what this process knows of a sequence that has changed, or of one that it has not found. For `_PG_init`.
pub fn register() {
    // SAFETY: the function only sets variables.
    unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(forget), Datum::null()) };
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_argument: Datum, changed: Oid) {
    let concerns = |known: Oid| [known, Oid::INVALID].contains(&changed) || known == Oid::INVALID;
    id_systems!(|Id| {
        let process = Id::process();
        if concerns(process.sequence.get()) {
            process.known_carried.set(Reserved::NONE);
            process.fast_path.set(None);
        }
    });
    if concerns(OF_FLOOR.get()) {
        OWN_FLOOR.set(None);
    }
}

/// An open sequence, whose page is locked. The page is released first.
struct Sequence {
    page: LockedPage,
    relation: OpenRelation,
}

/// A relation that is closed when the value is dropped.
struct OpenRelation(Relation, LOCKMODE);

impl Drop for OpenRelation {
    fn drop(&mut self) {
        // SAFETY: the relation is open.
        unsafe { pg_sys::relation_close(self.0, self.1) };
    }
}

/// What a sequence carries.
#[derive(Clone, Copy)]
pub struct Value {
    /// The [`Reserved`], or the time of the floor; 0 if nobody has written one.
    pub value: i64,
    /// Whether another server has written it.
    pub has_arrived: bool,
    /// The position of the end of the record that has written it.
    pub position: Lsn,
}

/// The mark that the sequence of the extension carries, and its version; `Nothing` if there is no sequence. Without `write`,
/// works on a standby as well, and returns `Nothing` if another backend has locked the page of the sequence. As all functions here,
/// 55000 if the sequence is unlogged.
pub fn read<T: Type>(schema: Schema, write: bool) -> Result<(Carried, Lsn), Error> {
    let Some(sequence) = Sequence::of::<T>(schema, write)? else { return Ok((Carried::Nothing, 0)) };
    let Value { value, has_arrived, position } = sequence.value(u64::MAX);
    let reservation = Reserved(value as u64).unpack::<T>();
    let carried = match reservation.map(|Reservation { node, until }| Mark { node, tick: until, run: 0 }) {
        Some(mark) if has_arrived => Carried::Arrived(mark),
        mark => Carried::Own(mark),
    };
    Ok((carried, position))
}

/// Writes a mark to the sequence, as written by this server. Returns the position of the end of the record, 0 if there is no
/// sequence; `None` and writes nothing if `old` is given and is not the present version.
pub fn write<T: Type>(schema: Schema, old: Option<Lsn>, new: Mark) -> Result<Option<Lsn>, Error> {
    let Some(sequence) = Sequence::of::<T>(schema, true)? else { return Ok(Some(0)) };
    if old.is_some_and(|old| old != sequence.page.position()) {
        return Ok(None);
    }
    Ok(Some(sequence.write(Reservation { node: new.node, until: new.tick }.pack::<T>().0 as i64)))
}

/// The floor that the sequence of this database carries; `None` if there is no sequence. Without `write`, as [`read`].
pub fn read_floor(schema: Schema, write: bool) -> Result<Option<Value>, Error> {
    let sequence = Sequence::open(FLOOR, schema, write, &OF_FLOOR)?;
    Ok(sequence.map(|sequence| sequence.value(LAST_FLOOR)))
}

/// Writes the floor that `next` returns for the present one to the sequence of this database, as written by this server. Returns
/// the floor that it then carries; `None` if there is no sequence.
pub fn write_floor(schema: Schema, next: impl FnOnce(&Value) -> Option<i64>) -> Result<Option<Value>, Error> {
    let Some(sequence) = Sequence::open(FLOOR, schema, true, &OF_FLOOR)? else { return Ok(None) };
    let present = sequence.value(LAST_FLOOR);
    Ok(Some(match next(&present) {
        Some(value) => Value { value, has_arrived: false, position: sequence.write(value) },
        None => present,
    }))
}

impl Sequence {
    fn of<T: Type>(schema: Schema, write: bool) -> Result<Option<Self>, Error> {
        if !T::SERVER_WIDE {
            return Ok(None);
        }
        Self::open(&datum::c_string(format!("{}_mark", T::NAME)), schema, write, &T::process().sequence)
    }

    /// Opens and locks a sequence that the extension has created; `None` if there is none. Without `write`, as [`read`].
    ///
    /// The owner of the extension can add members to it, but not to the list of what dumps include. The owners are checked as well.
    fn open(name: &CStr, schema: Schema, write: bool, known: &Cell<Oid>) -> Result<Option<Self>, Error> {
        let mode = (if write { pg_sys::RowExclusiveLock } else { pg_sys::AccessShareLock }) as LOCKMODE;
        known.set(Oid::INVALID);
        // SAFETY: look-ups in the catalogs. The lock on the sequence keeps its file while it is open.
        unsafe {
            let Some((home, relations)) = catalog::configuration_of_extension(c"scru") else { return Ok(None) };
            let homes = [home, pg_sys::get_namespace_oid(HOME.as_ptr(), true)];
            let is_named = |home| relations.contains(&home).then_some(home);
            let named = homes.iter().find_map(|home| is_named(pg_sys::get_relname_relid(name.as_ptr(), *home)));
            let Some(number) = named else { return Ok(None) };
            let relation = pg_sys::try_relation_open(number, mode);
            if relation.is_null() {
                return Ok(None);
            }
            let (open, row) = (OpenRelation(relation, mode), &*(*relation).rd_rel);
            if row.relkind as u8 != pg_sys::RELKIND_SEQUENCE || !schema.has_owner(row) {
                return Ok(None);
            }
            known.set(number);
            if row.relpersistence as u8 != pg_sys::RELPERSISTENCE_PERMANENT {
                return Err(unlogged(name));
            }
            let page = LockedPage::lock(pg_sys::ReadBuffer(relation, 0), write.then_some(&waits::MARK));
            Ok(page.map(|page| Self { page, relation: open }))
        }
    }

    /// What the sequence carries. A value above the last one counts as that, and so does a negative one.
    fn value(&self, last: u64) -> Value {
        // SAFETY: the page is locked.
        let FormData_pg_sequence_data { last_value, log_cnt, is_called } = unsafe { *self.data() };
        let value = if is_called { (last_value as u64).min(last) as i64 } else { 0 };
        let has_arrived = is_called && log_cnt != system_identifier();
        Value { value, has_arrived, position: self.page.position() }
    }

    /// Writes a value, as written by this server. Returns the position of the end of the record.
    fn write(&self, value: i64) -> Lsn {
        let data = self.data();
        // SAFETY: the closure changes fields of the sequence's tuple, which is in the page.
        unsafe {
            self.page.log(server::is_logged(self.relation.0), |_| {
                (*data).last_value = value;
                (*data).log_cnt = system_identifier();
                (*data).is_called = true;
            })
        }
    }

    fn data(&self) -> *mut FormData_pg_sequence_data {
        let page = self.page.header();
        // SAFETY: a sequence has one page with one tuple.
        unsafe {
            let offset = (*(*page).pd_linp.as_ptr()).lp_off() as usize;
            let tuple = page.cast::<u8>().add(offset);
            let header = (*tuple.cast::<pg_sys::HeapTupleHeaderData>()).t_hoff as usize;
            tuple.add(header).cast()
        }
    }
}

/// The number of the server's data, which copies of its files share.
fn system_identifier() -> i64 {
    // SAFETY: reads a constant of the server.
    unsafe { pg_sys::GetSystemIdentifier() as i64 }
}

#[cold]
fn unlogged(name: &CStr) -> Error {
    let name = name.to_string_lossy();
    sql_error!(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, "sequence \"{name}\" has become unlogged")
        .detail("After a crash, dumps and pg_upgrade would not carry what the sequence has carried.")
        .hint(format!("A superuser can use ALTER SEQUENCE {name} SET LOGGED."))
}
