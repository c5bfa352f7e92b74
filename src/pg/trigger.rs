//! A call of a trigger.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{
    called_as_trigger, trigger_fired_after, trigger_fired_by_insert, trigger_fired_by_update, trigger_fired_for_row,
};

use crate::pg::catalog;

/// The call of a trigger of any kind.
#[derive(Clone, Copy)]
pub struct Trigger<'call>(&'call pg_sys::TriggerData);

/// A stored column of the table of a trigger, and the schema and the name of the type under its domain.
pub struct Column {
    number: i32,
    pub type_schema: Oid,
    pub type_name: Vec<u8>,
}

impl<'call> Trigger<'call> {
    /// The trigger's call; `None` if the function was called in another way.
    ///
    /// # Safety
    /// The server has passed the call, which outlives the returned value.
    pub unsafe fn of(info: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: guaranteed by the caller.
        unsafe { called_as_trigger(info).then(|| Self(&*(*info).context.cast::<pg_sys::TriggerData>())) }
    }

    /// Whether the trigger is AFTER INSERT or AFTER UPDATE FOR EACH ROW, and not on a foreign table.
    pub fn is_after_new_row(self) -> bool {
        let event = self.0.tg_event;
        // SAFETY: the functions read the bits of the event. The relation is open.
        unsafe {
            trigger_fired_after(event)
                && trigger_fired_for_row(event)
                && (trigger_fired_by_insert(event) || trigger_fired_by_update(event))
                && (*(*self.0.tg_relation).rd_rel).relkind as u8 != pg_sys::RELKIND_FOREIGN_TABLE
        }
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

    /// The name of the table with that of its schema, as SQL writes them.
    pub fn qualified_table(self) -> Vec<u8> {
        // SAFETY: the relation is open during the call. The function copies the name of the schema, which exists.
        let schema =
            unsafe { CStr::from_ptr(pg_sys::get_namespace_name((*(*self.0.tg_relation).rd_rel).relnamespace)) };
        [quoted(schema), quoted(self.table())].join(b".".as_slice())
    }

    /// A column of the table; `None` if there is none with this name, or if its values are not stored.
    pub fn column(self, name: &CStr) -> Option<Column> {
        // SAFETY: the descriptor is valid during the call, and has the attribute.
        unsafe {
            let descriptor = (*self.0.tg_relation).rd_att;
            let number = pg_sys::SPI_fnumber(descriptor, name.as_ptr());
            if number <= 0 || pg_sys::get_attgenerated((*self.0.tg_relation).rd_id, number as i16) as u8 == b'v' {
                return None;
            }
            let of_type = pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, number));
            let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::TYPEOID as _, Datum::from(of_type));
            let schema_and_name = |form: &pg_sys::FormData_pg_type| (form.typnamespace, form.typname);
            let (type_schema, name) = catalog::read(row, schema_and_name)?;
            let type_name = CStr::from_ptr(name.data.as_ptr()).to_bytes().to_vec();
            Some(Column { number, type_schema, type_name })
        }
    }

    /// The value of a column in the new row of a trigger for which [`is_after_new_row`](Self::is_after_new_row) holds; `None`
    /// if it is NULL.
    pub fn new_value(self, column: &Column) -> Option<Datum> {
        // The server passes the new row of an UPDATE apart.
        let is_update = trigger_fired_by_update(self.0.tg_event);
        self.value(if is_update { self.0.tg_newtuple } else { self.0.tg_trigtuple }, column)
    }

    /// As [`new_value`](Self::new_value), of the row before an UPDATE; `None` for an INSERT.
    pub fn old_value(self, column: &Column) -> Option<Datum> {
        let is_update = trigger_fired_by_update(self.0.tg_event);
        if is_update { self.value(self.0.tg_trigtuple, column) } else { None }
    }

    fn value(self, row: pg_sys::HeapTuple, column: &Column) -> Option<Datum> {
        let mut is_null = false;
        // SAFETY: the row and its descriptor are valid during the call. The column is one of the descriptor.
        let value = unsafe { pg_sys::heap_getattr(row, column.number, (*self.0.tg_relation).rd_att, &mut is_null) };
        (!is_null).then_some(value)
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
