//! The time of Snowflake IDs in columns of type `bigint`: see [`scru_ids::Snowflake`].

use pgrx::pg_sys::Datum;
use scru_ids::{Snowflake, TimeError};

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};

/// `scru_snowflake_timestamp(bigint, timestamptz, integer) → timestamptz`: the time of an ID; NULL for a negative number
///
/// Raises 22008 if a timestamptz cannot have the time, and as [`layout`].
pub fn timestamp(call: Call) -> Result<Datum, Error> {
    let (id, layout) = (call.int8(0), layout(call)?);
    if id < 0 {
        return Ok(call.null());
    }
    match layout.timestamp(id) {
        Ok(timestamptz) if epoch::is_finite(timestamptz) => Ok(Datum::from(timestamptz)),
        _ => Err(sql_error!(ERRCODE_DATETIME_FIELD_OVERFLOW, "timestamp out of range")
            .detail(format!("With this epoch and shift, the time of the ID {id} is later than any timestamp."))),
    }
}

/// `scru_snowflake_floor(timestamptz, timestamptz, integer) → bigint`: the first ID of the millisecond that contains a time; the
/// smallest and the largest bigint that are IDs for infinite times
///
/// Raises 22008 for a finite time after the last millisecond, and as [`layout`].
pub fn floor(call: Call) -> Result<Datum, Error> {
    let (timestamptz, layout) = (call.int8(0), layout(call)?);
    let id = match epoch::unix_micros(timestamptz) {
        Some(_) => layout.floor(timestamptz).map_err(|TimeError| after_the_last(layout))?,
        None if timestamptz == epoch::INFINITY => i64::MAX,
        None => 0,
    };
    Ok(Datum::from(id))
}

/// The layout of the last two arguments, with the epoch in the server's microseconds.
///
/// # Errors
/// Returns an error (22023) if the shift is out of range, and one (22008) if the epoch is infinite.
fn layout(call: Call) -> Result<Snowflake, Error> {
    let (timestamptz, shift) = (call.int8(1), call.int4(2));
    if epoch::unix_micros(timestamptz).is_none() {
        return Err(sql_error!(ERRCODE_DATETIME_FIELD_OVERFLOW, "epoch out of range")
            .detail("The epoch of IDs is a finite time."));
    }
    let layout = u32::try_from(shift).ok().and_then(|shift| Snowflake::new(timestamptz, shift));
    layout.ok_or_else(|| Error::argument_out_of_range("shift", shift, &(0..=Snowflake::MAX_SHIFT as i32)))
}

#[cold]
fn after_the_last(layout: Snowflake) -> Error {
    let [first, last] = [0, i64::MAX].map(|id| epoch::text(layout.timestamp(id).unwrap_or(epoch::INFINITY)));
    sql_error!(ERRCODE_DATETIME_FIELD_OVERFLOW, "timestamp out of range")
        .detail(format!("With this epoch and shift, the time of an ID is between {first} and {last}."))
}
