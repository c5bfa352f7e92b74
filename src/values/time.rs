//! Conversion between IDs and times.

use pgrx::pg_sys::{Datum, Oid};
use scru_ids::{MAX_TEXT_LEN, TimeError};

use crate::call::error::Error;
use crate::call::stored::StoredDatum;
use crate::call::{Call, epoch};
use crate::pg::datum;
use crate::pg::unguarded::{DirectFunctionCall1Coll, DirectFunctionCall2Coll, timestamptz_date, timestamptz_trunc};
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

/// `date_trunc(text, T) → timestamptz`: the time of an ID, truncated in the session's time zone. Raises 22023 for an unknown unit.
pub fn truncated<T: Type>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the function takes a text and a timestamptz.
    Ok(unsafe {
        DirectFunctionCall2Coll(Some(timestamptz_trunc), Oid::INVALID, call.datum(0), epoch::of(call.id::<T>(1)).into())
    })
}

/// `T_time_encoder(timestamptz) → text`: the text of `T_lower`, as an encoder for pg_partman
///
/// Raises 22008 also for a time before that of the smallest ID, because the decoder could not return such a time.
pub fn encode<T: Type>(call: Call) -> Result<Datum, Error> {
    if epoch::unix_micros(call.int8(0)).is_some_and(|micros| micros < T::TICKS.epoch) {
        return Err(Error::time_out_of_range::<T>());
    }
    let id = bound(call.int8(0), T::lower)?;
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

/// Functions that round a time to an ID:
///
/// - `T_lower(timestamptz) → T`: the first ID at or after a time. Raises 22008 for a finite time after that of the largest ID.
/// - `T_floor(timestamptz) → T`: the first ID of the tick that contains a time. Raises 22008 for a finite time after the last tick.
/// - `T_upper(timestamptz) → T`: the last ID at or before a time. Raises 22008 for a finite time before that of the smallest ID.
///
/// A filter such as `id >= T_floor(now())` calls the function for each row with the same time. These calls return the ID of the first
/// one, which no call changes, and no copy.
#[inline]
pub fn rounded<T: Type>(call: Call, round: fn(i64) -> Result<T, TimeError>) -> Result<Datum, Error> {
    let time = call.int8(0);
    let (of, first) = call.remembered((), || first(time, round))?;
    if *of == time && call.outlives_result() { Ok(first.as_datum()) } else { copied(time, round) }
}

/// The time and the ID of a first call. Out of line, as `copied` is: the fast path saves no registers.
#[inline(never)]
fn first<T: Type>(time: i64, round: fn(i64) -> Result<T, TimeError>) -> Result<(i64, T::Stored), Error> {
    Ok((time, bound(time, round)?.to_stored()))
}

#[inline(never)]
fn copied<T: Type>(time: i64, round: fn(i64) -> Result<T, TimeError>) -> Result<Datum, Error> {
    Ok(bound(time, round)?.to_datum())
}

fn bound<T: Type>(timestamptz: i64, round: fn(i64) -> Result<T, TimeError>) -> Result<T, Error> {
    match epoch::unix_micros(timestamptz) {
        Some(micros) => round(micros).map_err(|TimeError| Error::time_out_of_range::<T>()),
        None if timestamptz == epoch::INFINITY => Ok(T::MAX),
        None => Ok(T::MIN),
    }
}
