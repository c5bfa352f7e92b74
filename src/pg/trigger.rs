//! A call of a trigger. `PgTrigger` of pgrx requires names in UTF-8, and finds the columns of a row by name.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{called_as_trigger, trigger_fired_by_update};

use crate::pg::catalog;

/// The call of a trigger of any kind.
#[derive(Clone, Copy)]
pub struct Trigger<'call>(&'call pg_sys::TriggerData);

impl<'call> Trigger<'call> {
    /// The trigger's call; `None` if the function was called in another way.
    ///
    /// # Safety
    /// The server has passed the call, which outlives the returned value.
    pub unsafe fn of(info: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: guaranteed by the caller.
        unsafe { called_as_trigger(info).then(|| Self(&*(*info).context.cast::<pg_sys::TriggerData>())) }
    }

    /// Whether the trigger is AFTER INSERT OR UPDATE FOR EACH ROW, for all rows of a table that is not a foreign one: without WHEN, and
    /// not only for an UPDATE that sets some columns, because a trigger BEFORE can change others.
    pub fn is_after_each_new_row(self) -> bool {
        let kind = pg_sys::TRIGGER_TYPE_ROW | pg_sys::TRIGGER_TYPE_INSERT | pg_sys::TRIGGER_TYPE_UPDATE;
        // SAFETY: the trigger is valid during the call. The relation is open.
        unsafe {
            let trigger = &*self.0.tg_trigger;
            trigger.tgtype == kind as i16
                && trigger.tgnattr == 0
                && trigger.tgqual.is_null()
                && (*(*self.0.tg_relation).rd_rel).relkind as u8 != pg_sys::RELKIND_FOREIGN_TABLE
        }
    }

    pub fn name(self) -> &'call CStr {
        // SAFETY: the trigger is valid during the call, and has a name.
        unsafe { CStr::from_ptr((*self.0.tg_trigger).tgname) }
    }

    pub fn arguments(self) -> Vec<&'call CStr> {
        // SAFETY: the arguments are C strings that outlive the call.
        unsafe {
            let trigger = self.0.tg_trigger;
            (0..(*trigger).tgnargs as usize).map(|index| CStr::from_ptr(*(*trigger).tgargs.add(index))).collect()
        }
    }

    pub fn table(self) -> &'call CStr {
        // SAFETY: the relation is open during the call.
        unsafe { CStr::from_ptr((*(*self.0.tg_relation).rd_rel).relname.data.as_ptr()) }
    }

    /// A copy in the current memory context.
    pub fn schema(self) -> &'call CStr {
        // SAFETY: the relation is open during the call. The function copies the name of the schema, which exists.
        unsafe { CStr::from_ptr(pg_sys::get_namespace_name((*(*self.0.tg_relation).rd_rel).relnamespace)) }
    }

    /// The number of a column of the table, and the type under its domain; `None` if there is no column with this name, or if its
    /// values are not stored.
    pub fn column(self, name: &CStr) -> Option<(i32, Oid)> {
        // SAFETY: the descriptor is valid during the call, and has the attribute.
        unsafe {
            let descriptor = (*self.0.tg_relation).rd_att;
            let number = pg_sys::SPI_fnumber(descriptor, name.as_ptr());
            if number <= 0 || pg_sys::get_attgenerated((*self.0.tg_relation).rd_id, number as i16) as u8 == b'v' {
                return None;
            }
            Some((number, pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, number))))
        }
    }

    /// Lets the trigger depend on the column of its table with this number, unless it depends on one: unlike a name, the number stays with
    /// the column. Returns whether it depends on this one. A trigger without WHEN and list of columns has no dependency on one of its own.
    pub fn tie_to_column(self, number: i32) -> bool {
        let mut remembered = None;
        // SAFETY: the trigger is valid during the call. The relation is open. The rows of the catalog have this form.
        unsafe {
            let (trigger, table) = ((*self.0.tg_trigger).tgoid, (*self.0.tg_relation).rd_id);
            let mut keys = [pg_sys::ScanKeyData::default(); 2];
            let columns = [pg_sys::Anum_pg_depend_classid, pg_sys::Anum_pg_depend_objid];
            for ((key, column), value) in keys.iter_mut().zip(columns).zip([pg_sys::TriggerRelationId, trigger]) {
                let equal = pg_sys::BTEqualStrategyNumber as u16;
                pg_sys::ScanKeyInit(key, column as i16, equal, pg_sys::F_OIDEQ.into(), Datum::from(value));
            }
            catalog::scan(pg_sys::DependRelationId, pg_sys::DependDependerIndexId.into(), &mut keys, |row, _| {
                let form = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_depend>();
                if form.refclassid == pg_sys::RelationRelationId && form.refobjid == table && form.refobjsubid != 0 {
                    remembered = Some(form.refobjsubid);
                }
            });
            if remembered.is_none() {
                let address =
                    |class, id, part| pg_sys::ObjectAddress { classId: class, objectId: id, objectSubId: part };
                let depender = address(pg_sys::TriggerRelationId, trigger, 0);
                let referenced = address(pg_sys::RelationRelationId, table, number);
                pg_sys::recordDependencyOn(&depender, &referenced, pg_sys::DependencyType::DEPENDENCY_NORMAL);
            }
        }
        remembered.is_none_or(|remembered| remembered == number)
    }

    /// The values of a column: in the new row, and in the row before an UPDATE. `None` for NULL, and in place of a row before an INSERT.
    /// Only if [`is_after_each_new_row`](Self::is_after_each_new_row).
    pub fn new_and_old(self, column: i32) -> [Option<Datum>; 2] {
        let value = |row| {
            let mut is_null = false;
            // SAFETY: the row and its descriptor are valid during the call. The column is one of the descriptor.
            let value = unsafe { pg_sys::heap_getattr(row, column, (*self.0.tg_relation).rd_att, &mut is_null) };
            (!is_null).then_some(value)
        };
        match trigger_fired_by_update(self.0.tg_event) {
            // The server passes the new row of an UPDATE apart.
            true => [value(self.0.tg_newtuple), value(self.0.tg_trigtuple)],
            false => [value(self.0.tg_trigtuple), None],
        }
    }
}

/// A name as SQL writes it.
pub fn quoted(name: &CStr) -> Vec<u8> {
    // SAFETY: the function takes and returns a C string.
    unsafe { CStr::from_ptr(pg_sys::quote_identifier(name.as_ptr())).to_bytes().to_vec() }
}

/// A string as SQL writes it.
pub fn literal(string: &CStr) -> Vec<u8> {
    // SAFETY: the function takes and returns a C string.
    unsafe { CStr::from_ptr(pg_sys::quote_literal_cstr(string.as_ptr())).to_bytes().to_vec() }
}
