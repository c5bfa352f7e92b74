//! Functions that return a field of an ID.

use pgrx::pg_sys::Datum;
use scru_ids::{FieldValue, Getter};

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
    let value = match &field.getter {
        Getter::Bits24(get) => FieldValue::Bits24(get(id)),
        Getter::Bits32(get) => FieldValue::Bits32(get(id)),
        Getter::Bits80(get) => FieldValue::Bits80(get(id)),
        Getter::Bits24By { parameter, range, get } => {
            let argument = call.int4(1);
            if !range.contains(&argument) {
                return Err(Error::argument_out_of_range(parameter, argument, range));
            }
            FieldValue::Bits24(get(id, argument))
        }
    };
    Ok(match value {
        FieldValue::Bits24(value) => Datum::from(value),
        FieldValue::Bits32(value) => Datum::from(i64::from(value)),
        FieldValue::Bits80(bytes) => datum::varlena(&bytes),
    })
}
