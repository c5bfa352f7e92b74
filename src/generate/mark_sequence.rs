//! The sequence `T_mark` of each database. It carries the high-water mark on the ways on which rows travel without the log:
//! pg_dump, pg_upgrade, CREATE DATABASE.
//!
//! The value is a packed [`Reservation`]. `log_cnt`, which dumps leave out, is the system identifier of the server that wrote the
//! value, so that a value that has arrived from another server is recognized.

use core::ffi::CStr;

use pgrx::pg_sys::{self, FormData_pg_sequence_data, LOCKMODE, Oid, Relation};
use scru_ids::SortableId;
use scru_ids::mark::{Mark, Reservation};
use scru_ids::protocol::{Carried, Position, Version};

use crate::pg::buffer::LockedPage;
use crate::pg::datum;

/// The schema in which the server permits no sequences, and the schema that has them if the extension is there.
const PG_CATALOG: Oid = Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);
const HOME: &CStr = c"scru_marks";

/// The locks for a look at a sequence and for drawing.
const READING: LOCKMODE = pg_sys::AccessShareLock as LOCKMODE;
const WRITING: LOCKMODE = pg_sys::RowExclusiveLock as LOCKMODE;

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

/// Returns the mark that the sequence of the extension in a schema carries, and its version; `Nothing` if there is no sequence.
pub fn read<T: SortableId>(schema: Oid) -> (Carried, Version) {
    match Sequence::open::<T>(schema, WRITING, true) {
        Some(sequence) => (sequence.carried::<T>(), sequence.page.position()),
        None => (Carried::Nothing, 0),
    }
}

/// Like [`read`] without the version, also on a standby. Returns `Nothing` if another backend has locked the page of the sequence.
pub fn look<T: SortableId>(schema: Oid) -> Carried {
    Sequence::open::<T>(schema, READING, false).map_or(Carried::Nothing, |sequence| sequence.carried::<T>())
}

/// Writes a mark to the sequence, as written by this server. Returns the position of the end of the record, 0 if there is no
/// sequence; `None` and writes nothing if `old` is given and is not the present version.
pub fn write<T: SortableId>(schema: Oid, old: Option<Version>, new: Mark) -> Option<Position> {
    let Some(sequence) = Sequence::open::<T>(schema, WRITING, true) else { return Some(0) };
    if old.is_some_and(|old| old != sequence.page.position()) {
        return None;
    }
    let value = Reservation { node: new.node, until: new.tick }.pack::<T>() as i64;
    let data = sequence.data();
    // SAFETY: the closure changes fields of the sequence's tuple, which is in the page.
    let position = unsafe {
        sequence.page.log(|_| {
            (*data).last_value = value;
            (*data).log_cnt = system_identifier();
            (*data).is_called = true;
        })
    };
    Some(position)
}

impl Sequence {
    /// Opens and locks the sequence; `None` if it does not exist, or if another backend has locked its page and `wait` is false.
    fn open<T: SortableId>(schema: Oid, mode: LOCKMODE, wait: bool) -> Option<Self> {
        if !T::SERVER_WIDE {
            return None;
        }
        let name = datum::c_string(format!("{}_mark", T::NAME));
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
            let page = LockedPage::lock(pg_sys::ReadBuffer(relation, 0), wait)?;
            Some(Self { page, _relation: open })
        }
    }

    fn carried<T: SortableId>(&self) -> Carried {
        // SAFETY: the page is locked.
        let data = unsafe { *self.data() };
        let mark = Reservation::unpack::<T>(data.last_value as u64).filter(|_| data.is_called);
        match mark.map(|Reservation { node, until }| Mark { node, tick: until, run: 0 }) {
            Some(mark) if data.log_cnt != system_identifier() => Carried::Arrived(mark),
            mark => Carried::Own(mark),
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
