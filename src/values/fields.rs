//! Functions that return a field of an ID.

use pgrx::pg_sys::Datum;
use scru_ids::Getter;

use crate::call::Call;
use crate::call::error::{Error, sql_error};
use crate::call::stored::StoredId;
use crate::pg::datum;

/// `T_<field>(T)`, `T_<field>(T, integer)`: the field at index `NUMBER` of the type's fields
///
/// Raises 22023 if the integer is out of range, 42883 if the type has no such field.
pub fn field<T: StoredId, const NUMBER: usize>(call: Call) -> Result<Datum, Error> {
    let id = call.id::<T>(0);
    let Some(field) = T::FIELDS.get(NUMBER) else {
        return Err(sql_error!(ERRCODE_UNDEFINED_FUNCTION, "this function belongs to another version of scru"));
    };
    Ok(match &field.getter {
        Getter::Bits24(get) => Datum::from(get(id)),
        Getter::Bits32(get) => Datum::from(i64::from(get(id))),
        Getter::Bits80(get) => datum::varlena(&get(id)),
        Getter::Bits24By { parameter, range, get } => {
            let argument = call.int4(1);
            if !range.contains(&argument) {
                return Err(Error::argument_out_of_range(parameter, argument, range));
            }
            Datum::from(get(id, argument as u32))
        }
    })
}
