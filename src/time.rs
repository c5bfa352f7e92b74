//! Times of IDs, and IDs of times.

use std::ffi::{CStr, CString};

use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::{self, Datum};
use scru_ids::{MAX_TEXT_LEN, SortableId, TimeError};

use crate::call::Call;
use crate::datum::{self, StoredDatum, Type};
use crate::error::Error;
use crate::settings;

// The server's functions as they are: what they may raise is a longjmp over frames of ours that have nothing to drop.
unsafe extern "C-unwind" {
    fn timestamptz_out(call: pg_sys::FunctionCallInfo) -> Datum;
    fn DirectFunctionCall1Coll(function: pg_sys::PGFunction, collation: pg_sys::Oid, argument: Datum) -> Datum;
}

/// Microseconds from 1970-01-01, where our times begin, to 2000-01-01, where the server's do.
const EPOCH_2000: i64 = 946_684_800_000_000;

const MINUS_INFINITY: i64 = i64::MIN;
const INFINITY: i64 = i64::MAX;

const _: () = assert!(
    pg_sys::POSTGRES_EPOCH_JDATE - pg_sys::UNIX_EPOCH_JDATE == (EPOCH_2000 / 1_000_000 / 86_400) as u32,
    "both epochs are the server's"
);

/// `T_timestamp(T) → timestamptz`
pub fn timestamp<T: Type>(call: Call) -> Datum {
    Datum::from(of(call.id::<T>(0)))
}

/// The time of an ID as a timestamptz.
#[inline]
pub fn of<T: SortableId>(id: T) -> i64 {
    id.timestamp_micros() - EPOCH_2000
}

/// The time of an ID as the server writes it in this session.
pub fn timestamptz_text<T: SortableId>(id: T) -> String {
    let time = Datum::from(of(id));
    // SAFETY: a timestamptz is what the server's function takes, and a C string what it returns.
    unsafe {
        let text = DirectFunctionCall1Coll(Some(timestamptz_out), pg_sys::Oid::INVALID, time);
        CStr::from_ptr(text.cast_mut_ptr()).to_string_lossy().into_owned()
    }
}

/// The time of an ID as pgrx's type.
pub fn timestamptz<T: SortableId>(id: T) -> Option<TimestampWithTimeZone> {
    of_unix_micros(id.timestamp_micros())
}

/// Microseconds since 1970 as pgrx's type; `None` if the server has no such time.
pub fn of_unix_micros(micros: i64) -> Option<TimestampWithTimeZone> {
    TimestampWithTimeZone::try_from(micros - EPOCH_2000).ok()
}

/// `T_lower(timestamptz) → T`
pub fn lower<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(bound(call.int8(0), T::lower)?.to_stored().into_datum())
}

/// `T_upper(timestamptz) → T`
pub fn upper<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(bound(call.int8(0), T::upper)?.to_stored().into_datum())
}

/// `T_time_encoder(timestamptz) → text`, in the form that pg_partman asks for: the text of `T_lower`. Raises 22008 before the
/// smallest ID's time as well, for the decoder could not lead back from there.
pub fn encode<T: Type>(call: Call) -> Result<Datum, Error> {
    if unix_micros(call.int8(0)).is_some_and(|micros| micros < T::TICKS.epoch) {
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
    let text = CString::new(call.varlena(0)).unwrap_or_default();
    let id = T::parse(text.to_bytes()).map_err(|error| Error::bad_text::<T>(&text, error))?;
    let micros = id.timestamp_micros();
    let since_second = micros.rem_euclid(1_000_000);
    let is_rounded = since_second < T::TICKS.micros;
    Ok(Datum::from(if is_rounded { micros - since_second } else { micros } - EPOCH_2000))
}

/// A timestamptz as microseconds since 1970, the infinite ones and those beyond as the last ones there are.
pub fn saturated_unix_micros(timestamptz: i64) -> i64 {
    unix_micros(timestamptz).unwrap_or(timestamptz)
}

/// A timestamptz as microseconds since 1970, or nothing if it is infinite.
pub fn unix_micros(timestamptz: i64) -> Option<i64> {
    (timestamptz != MINUS_INFINITY && timestamptz != INFINITY).then(|| since_1970(timestamptz))
}

/// A finite timestamptz as microseconds since 1970. No ID type reaches the years in which this sum would overflow.
const fn since_1970(timestamptz: i64) -> i64 {
    timestamptz.saturating_add(EPOCH_2000)
}

fn bound<T: Type>(timestamptz: i64, round: fn(i64) -> Result<T, TimeError>) -> Result<T, Error> {
    match unix_micros(timestamptz) {
        Some(micros) => round(micros).map_err(|TimeError| Error::time_out_of_range::<T>()),
        None if timestamptz == INFINITY => Ok(T::MAX),
        None => Ok(T::MIN),
    }
}
