//! A call of a trigger.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};

/// The call of a trigger BEFORE INSERT FOR EACH ROW with one argument, the name of a column.
#[derive(Clone, Copy)]
pub struct Trigger(*mut pg_sys::TriggerData);

impl Trigger {
    /// Returns the trigger's call; `None` if the function was called in another way.
    pub fn of(info: pg_sys::FunctionCallInfo) -> Option<Self> {
        // SAFETY: the server passes a valid call.
        unsafe {
            let context = (*info).context;
            if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
                return None;
            }
            let data = context.cast::<pg_sys::TriggerData>();
            let expected = pg_sys::TRIGGER_EVENT_INSERT | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_BEFORE;
            let mask = pg_sys::TRIGGER_EVENT_OPMASK | pg_sys::TRIGGER_EVENT_ROW | pg_sys::TRIGGER_EVENT_TIMINGMASK;
            let is_expected = (*data).tg_event & mask == expected && (*(*data).tg_trigger).tgnargs == 1;
            is_expected.then_some(Self(data))
        }
    }

    /// Returns the argument of the trigger.
    pub fn argument<'a>(self) -> &'a [u8] {
        // SAFETY: the trigger has one argument, a C string that outlives the call.
        unsafe { CStr::from_ptr(*(*(*self.0).tg_trigger).tgargs) }.to_bytes()
    }

    /// Returns the value of the column in the new row (`None` if it is NULL), and the name of its type or of the type under its
    /// domain; `None` if there is no such column with a type of this schema.
    pub fn value(self, schema: Oid) -> Option<(Option<Datum>, String)> {
        // SAFETY: the row and its descriptor are valid during the call.
        unsafe {
            let descriptor = (*(*self.0).tg_relation).rd_att;
            let number = pg_sys::SPI_fnumber(descriptor, *(*(*self.0).tg_trigger).tgargs);
            if number <= 0 {
                return None;
            }
            let id_type = pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, number));
            let mut is_null = false;
            let value = pg_sys::heap_getattr((*self.0).tg_trigtuple, number, descriptor, &mut is_null);
            let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::TYPEOID as _, Datum::from(id_type));
            if tuple.is_null() {
                return None;
            }
            let row = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_type>();
            let (namespace, text) = ((*row).typnamespace, (*row).typname);
            pg_sys::ReleaseSysCache(tuple);
            let text = CStr::from_ptr(text.data.as_ptr()).to_string_lossy().into_owned();
            (namespace == schema).then(|| ((!is_null).then_some(value), text))
        }
    }

    /// Returns the row, as the result of the trigger.
    pub fn row(self) -> Datum {
        // SAFETY: the call is valid.
        Datum::from(unsafe { (*self.0).tg_trigtuple })
    }
}
