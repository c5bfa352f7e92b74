//! A call of a trigger.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{called_as_trigger, trigger_fired_before, trigger_fired_by_insert, trigger_fired_for_row};

/// The call of a trigger BEFORE INSERT FOR EACH ROW whose first argument is the name of a column.
#[derive(Clone, Copy)]
pub struct Trigger<'call>(&'call pg_sys::TriggerData);

impl<'call> Trigger<'call> {
    /// Returns the trigger's call; `None` if the function was called in another way.
    ///
    /// # Safety
    /// The server has passed the call, which outlives the returned value.
    pub unsafe fn of(info: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if !called_as_trigger(info) {
                return None;
            }
            let data = &*(*info).context.cast::<pg_sys::TriggerData>();
            let event = data.tg_event;
            let is_expected =
                trigger_fired_by_insert(event) && trigger_fired_for_row(event) && trigger_fired_before(event);
            (is_expected && (*data.tg_trigger).tgnargs > 0).then_some(Self(data))
        }
    }

    pub fn argument(self, index: usize) -> Option<&'call [u8]> {
        // SAFETY: the arguments are C strings that outlive the call.
        unsafe {
            let trigger = self.0.tg_trigger;
            let exists = index < (*trigger).tgnargs as usize;
            exists.then(|| CStr::from_ptr(*(*trigger).tgargs.add(index)).to_bytes())
        }
    }

    /// The value of the column in the new row (`None` if it is NULL), and its type or the type under its domain.
    pub fn value(self) -> Option<(Option<Datum>, TypeName)> {
        // SAFETY: the row and its descriptor are valid during the call.
        unsafe {
            let descriptor = (*self.0.tg_relation).rd_att;
            let number = pg_sys::SPI_fnumber(descriptor, *(*self.0.tg_trigger).tgargs);
            if number <= 0 {
                return None;
            }
            let of_type = pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, number));
            let mut is_null = false;
            let value = pg_sys::heap_getattr(self.0.tg_trigtuple, number, descriptor, &mut is_null);
            let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::TYPEOID as _, Datum::from(of_type));
            if tuple.is_null() {
                return None;
            }
            let row = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_type>();
            let (schema, name) = ((*row).typnamespace, (*row).typname);
            pg_sys::ReleaseSysCache(tuple);
            let name = CStr::from_ptr(name.data.as_ptr()).to_bytes().to_vec();
            Some(((!is_null).then_some(value), TypeName { schema, name }))
        }
    }

    /// The result of the trigger.
    pub fn row(self) -> Datum {
        Datum::from(self.0.tg_trigtuple)
    }
}

/// The name of a type.
pub struct TypeName {
    pub schema: Oid,
    pub name: Vec<u8>,
}
