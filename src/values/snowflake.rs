//! The time of Snowflake IDs in columns of type `bigint`: see [`scru_ids::Snowflake`].

use pgrx::pg_sys::Datum;
use scru_ids::Snowflake;

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};

/// `scru_snowflake_timestamp(bigint, bigint, integer) → timestamptz`: the time of an ID; NULL for a negative number
///
/// Raises 22008 if a timestamptz cannot have the time, and as [`layout`].
pub fn timestamp(call: Call) -> Result<Datum, Error> {
    let (id, layout) = (call.int8(0), layout(call)?);
    if id < 0 {
        return Ok(call.null());
    }
    let timestamptz = layout.timestamp_ms(id).and_then(epoch::of_unix_millis);
    timestamptz.map(Datum::from).ok_or_else(|| {
        sql_error!(ERRCODE_DATETIME_FIELD_OVERFLOW, "timestamp out of range")
            .detail(format!("With this epoch and shift, no timestamp has the time of the ID {id}."))
    })
}

/// `scru_snowflake_lower(timestamptz, bigint, integer) → bigint`: the first ID of the millisecond that contains a time, or of the
/// nearest one that has IDs
///
/// Raises an error as [`layout`].
pub fn lower(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(layout(call)?.lower(epoch::unix_millis(call.int8(0)))))
}

/// The layout of the last two arguments. Raises 22023 if the shift is out of range.
fn layout(call: Call) -> Result<Snowflake, Error> {
    let (epoch_ms, shift) = (call.int8(1), call.int4(2));
    let layout = u32::try_from(shift).ok().and_then(|shift| Snowflake::new(epoch_ms, shift));
    layout.ok_or_else(|| Error::argument_out_of_range("shift", shift, &(0..=Snowflake::MAX_SHIFT as i32)))
}
