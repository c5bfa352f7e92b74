//! Times of IDs, and IDs of times.

use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, TimeError};

use crate::call::Call;
use crate::datum;
use crate::error::Error;
use crate::id_type::Type;
use crate::{epoch, settings};

/// `T_timestamp(T) → timestamptz`
pub fn timestamp<T: Type>(call: Call) -> Datum {
    Datum::from(epoch::of(call.id::<T>(0)))
}

/// `T_lower(timestamptz) → T`
pub fn lower<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(bound(call.int8(0), T::lower)?.to_datum())
}

/// `T_upper(timestamptz) → T`
pub fn upper<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(bound(call.int8(0), T::upper)?.to_datum())
}

/// `T_time_encoder(timestamptz) → text`, in the form that pg_partman asks for: the text of `T_lower`. Raises 22008 before the
/// smallest ID's time as well, for the decoder could not lead back from there.
pub fn encode<T: Type>(call: Call) -> Result<Datum, Error> {
    if epoch::unix_micros(call.int8(0)).is_some_and(|micros| micros < T::TICKS.epoch) {
        return Err(Error::time_out_of_range::<T>());
    }
    let id = bound(call.int8(0), T::lower)?;
    let mut buffer = [0; MAX_TEXT_LEN];
    Ok(datum::varlena(id.digits(&settings::of::<T>(), &mut buffer)))
}

/// `T_time_decoder(text) → timestamptz`, its counterpart: the time of an ID's text, or the whole second that the encoder rounds
/// up to it. For pg_partman reckons where the next partition begins from the bounds of the last one: if a bound came back up to
/// a tick late, there would be a gap between the two.
pub fn decode<T: Type>(call: Call) -> Result<Datum, Error> {
    let text = datum::c_string(call.varlena(0));
    let id = T::parse(text.to_bytes()).map_err(|error| Error::bad_text::<T>(&text, error))?;
    let micros = id.timestamp_micros();
    let since_second = micros.rem_euclid(1_000_000);
    let is_rounded = since_second < T::TICKS.micros;
    Ok(Datum::from(if is_rounded { micros - since_second } else { micros } - epoch::EPOCH_2000))
}

fn bound<T: Type>(timestamptz: i64, round: fn(i64) -> Result<T, TimeError>) -> Result<T, Error> {
    match epoch::unix_micros(timestamptz) {
        Some(micros) => round(micros).map_err(|TimeError| Error::time_out_of_range::<T>()),
        None if timestamptz == epoch::INFINITY => Ok(T::MAX),
        None => Ok(T::MIN),
    }
}
