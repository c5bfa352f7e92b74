//! Conversion between IDs and times.

use pgrx::pg_sys::{Datum, Oid};
use scru_ids::MAX_TEXT_LEN;

use crate::call::error::Error;
use crate::call::{Call, epoch};
use crate::pg::datum;
use crate::pg::unguarded::{DirectFunctionCall1Coll, timestamptz_date};
use crate::shared::id_type::Type;

/// `T_timestamp(T) → timestamptz`: NULL if a value of a core type is not an ID
pub fn timestamp<T: Type>(call: Call) -> Datum {
    let id = call.id::<T>(0);
    if id.is_id() { Datum::from(epoch::of(id)) } else { call.null() }
}

/// `scru_before(timestamptz) → timestamptz`: the time one microsecond earlier. Before the earliest time is `-infinity`.
pub fn before(call: Call) -> Datum {
    Datum::from(epoch::before(call.int8(0)))
}

/// `T_date(T) → date`: the day of the time of an ID, in the session's time zone
pub fn date<T: Type>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the function takes a timestamptz.
    Ok(unsafe { DirectFunctionCall1Coll(Some(timestamptz_date), Oid::INVALID, epoch::of(call.id::<T>(0)).into()) })
}

/// `T_time_encoder(timestamptz) → text`: the text of the first ID at or after a time, as an encoder for pg_partman
///
/// The decoder assumes that it is rounded up. Raises 22008 if the type has no such ID, and for a time before that of the smallest ID,
/// which the decoder could not return.
pub fn encode<T: Type>(call: Call) -> Result<Datum, Error> {
    let micros = epoch::unix_micros(call.int8(0)).filter(|micros| *micros >= T::TICKS.epoch);
    let tick = micros.map(|micros| T::TICKS.starting_before(micros)).filter(|tick| *tick <= T::TICKS.max);
    let id = tick.map(T::first_of).ok_or_else(Error::time_out_of_range::<T>)?;
    Ok(datum::varlena(id.digits(&mut [0; MAX_TEXT_LEN])))
}

/// `T_time_decoder(text) → timestamptz`: the time of an ID, as a decoder for pg_partman. Raises 22P02 or 22003 like `T_in`.
///
/// If the encoder rounds a whole second up to this time, the result is the whole second. pg_partman computes the start of the
/// next partition from the bounds of the last one, and a bound up to a tick late would leave a gap between the two.
pub fn decode<T: Type>(call: Call) -> Result<Datum, Error> {
    let text = call.varlena(0);
    let id = T::parse(text).map_err(|error| Error::bad_text::<T>(text, error))?;
    let micros = id.timestamp_micros();
    let since_second = micros.rem_euclid(1_000_000);
    let is_rounded = since_second < T::TICKS.micros;
    Ok(Datum::from(if is_rounded { micros - since_second } else { micros } - epoch::EPOCH_2000))
}

/// `T_lower(timestamptz) → T`, `T_upper(timestamptz) → T`: the first or the last ID of the tick that contains a time, or of the nearest
/// tick
#[inline]
pub fn bound<T: Type>(call: Call, of: fn(i64) -> T) -> Result<Datum, Error> {
    call.id_of_time(|| true, |micros| Some(of(micros)))
}
