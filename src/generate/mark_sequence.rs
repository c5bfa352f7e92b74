//! The sequences of each database. `T_mark` carries the high-water mark of a type, `scru_horizon_mark` the floor of the horizons,
//! on the ways on which rows travel without the log: pg_dump, pg_upgrade, CREATE DATABASE.
//!
//! The value is a packed [`Reservation`], or a time in microseconds since 1970-01-01 UTC. `log_cnt`, which dumps leave out, is the
//! system identifier of the server that wrote the value, so that a value that has arrived from another server is recognized.

use core::ffi::CStr;

use pgrx::pg_sys::{self, FormData_pg_sequence_data, LOCKMODE, Oid, Relation};
use scru_ids::GeneratedId;
use scru_ids::mark::{Mark, Reservation};
use scru_ids::protocol::{Carried, Position, Version};

use crate::pg::buffer::LockedPage;
use crate::pg::{catalog, datum};

/// The schema in which the server permits no sequences, and the schema that has them if the extension is there.
const PG_CATALOG: Oid = Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
const HOME: &CStr = c"scru_marks";

/// An open sequence, whose page is locked. The page is released first.
struct Sequence {
    page: LockedPage,
    _relation: OpenRelation,
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
    /// The packed [`Reservation`], or the time of the floor; 0 if nobody has written one.
    pub value: i64,
    /// Whether another server has written it.
    pub has_arrived: bool,
    /// The position of the end of the record that has written it.
    pub position: Position,
}

/// Returns the mark that the sequence of the extension in a schema carries, and its version; `Nothing` if there is no sequence.
/// Without `write`, works on a standby, too, and returns `Nothing` if another backend has locked the page of the sequence.
pub fn read<T: GeneratedId>(schema: Oid, write: bool) -> (Carried, Version) {
    let Some(sequence) = Sequence::of::<T>(schema, write) else { return (Carried::Nothing, 0) };
    let Value { value, has_arrived, position } = sequence.value();
    let reservation = Reservation::unpack::<T>(value as u64);
    let carried = match reservation.map(|Reservation { node, until }| Mark { node, tick: until, run: 0 }) {
        Some(mark) if has_arrived => Carried::Arrived(mark),
        mark => Carried::Own(mark),
    };
    (carried, position)
}

/// Writes a mark to the sequence, as written by this server. Returns the position of the end of the record, 0 if there is no
/// sequence; `None` and writes nothing if `old` is given and is not the present version.
pub fn write<T: GeneratedId>(schema: Oid, old: Option<Version>, new: Mark) -> Option<Position> {
    let Some(sequence) = Sequence::of::<T>(schema, true) else { return Some(0) };
    if old.is_some_and(|old| old != sequence.page.position()) {
        return None;
    }
    Some(sequence.write(Reservation { node: new.node, until: new.tick }.pack::<T>() as i64))
}

/// Returns the floor that the sequence of this database carries; `None` if there is no sequence.
pub fn read_floor() -> Option<Value> {
    Some(Sequence::of_floor()?.value())
}

/// Writes the floor that `next` returns for the present one to the sequence of this database, as written by this server. Returns
/// the floor that it then carries; `None` if there is no sequence.
pub fn write_floor(next: impl FnOnce(&Value) -> Option<i64>) -> Option<Value> {
    let sequence = Sequence::of_floor()?;
    let present = sequence.value();
    Some(match next(&present) {
        Some(value) => Value { value, has_arrived: false, position: sequence.write(value) },
        None => present,
    })
}

impl Sequence {
    fn of<T: GeneratedId>(schema: Oid, write: bool) -> Option<Self> {
        if !T::SERVER_WIDE {
            return None;
        }
        Self::open(&datum::c_string(format!("{}_mark", T::NAME)), schema, write)
    }

    fn of_floor() -> Option<Self> {
        // SAFETY: called in a transaction.
        let schema = unsafe { catalog::schema_of_extension(c"scru") }?;
        Self::open(c"scru_horizon_mark", schema, true)
    }

    /// Opens and locks a sequence; `None` if it does not exist. Without `write`, only for a look: works on a standby, too, and
    /// returns `None` if another backend has locked its page.
    fn open(name: &CStr, schema: Oid, write: bool) -> Option<Self> {
        let mode = (if write { pg_sys::RowExclusiveLock } else { pg_sys::AccessShareLock }) as LOCKMODE;
        // SAFETY: look-ups in the catalogs. The lock on the sequence keeps its file while it is open.
        unsafe {
            let mut relation = pg_sys::get_relname_relid(name.as_ptr(), schema);
            if relation == Oid::INVALID && schema == PG_CATALOG {
                relation = pg_sys::get_relname_relid(name.as_ptr(), pg_sys::get_namespace_oid(HOME.as_ptr(), true));
            }
            if relation == Oid::INVALID {
                return None;
            }
            let relation = pg_sys::try_relation_open(relation, mode);
            if relation.is_null() {
                return None;
            }
            let open = OpenRelation(relation, mode);
            if (*(*relation).rd_rel).relkind as u8 != pg_sys::RELKIND_SEQUENCE {
                return None;
            }
            let page = LockedPage::lock(pg_sys::ReadBuffer(relation, 0), write)?;
            Some(Self { page, _relation: open })
        }
    }

    /// Returns what the sequence carries.
    fn value(&self) -> Value {
        // SAFETY: the page is locked.
        let FormData_pg_sequence_data { last_value, log_cnt, is_called } = unsafe { *self.data() };
        let (value, has_arrived) = if is_called { (last_value, log_cnt != system_identifier()) } else { (0, false) };
        Value { value, has_arrived, position: self.page.position() }
    }

    /// Writes a value, as written by this server. Returns the position of the end of the record.
    fn write(&self, value: i64) -> Position {
        let data = self.data();
        // SAFETY: the closure changes fields of the sequence's tuple, which is in the page.
        unsafe {
            self.page.log(|_| {
                (*data).last_value = value;
                (*data).log_cnt = system_identifier();
                (*data).is_called = true;
            })
        }
    }

    /// Returns the data of the sequence's only tuple.
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

/// Returns the number that identifies the server's data, which copies of its files share.
fn system_identifier() -> i64 {
    // SAFETY: reads a constant of the server.
    unsafe { pg_sys::GetSystemIdentifier() as i64 }
}
