//! Generators: the clock, the random numbers and the state of this process around the pure step of each type.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Datum};
use scru_ids::{Context, MAX_ROLLBACK_MICROS, Refusal, Step};

use crate::call::Call;
use crate::datum::{StoredDatum, Type};
use crate::error::Error;
use crate::process::with_random;
use crate::{settings, time};

/// `gen_T() → T`
pub fn generate<T: Type>(_call: Call) -> Result<Datum, Error> {
    loop {
        let now = unix_micros();
        match step::<T>(now)? {
            Step::Made(_, id) => return Ok(id.to_stored().into_datum()),
            Step::Wait(until) => wait(until - now),
            Step::Refused(refusal) => return Err(refused::<T>(refusal)),
        }
    }
}

/// `gen_T(timestamptz) → T`
pub fn generate_at<T: Type>(call: Call) -> Result<Datum, Error> {
    let tick = time::unix_micros(call.int8(0))
        .and_then(|micros| T::TICKS.at_or_before(micros).ok())
        // The first and the last are reserved.
        .filter(|&tick| tick != 0 && tick != T::TICKS.max)
        .ok_or_else(Error::time_out_of_range::<T>)?;
    let id = with_random(|rng| T::random_of(tick, rng))?;
    Ok(id.to_stored().into_datum())
}

fn step<T: Type>(now: i64) -> Result<Step<T>, Error> {
    let on_clock_rollback = settings::common().on_clock_rollback;
    let context = Context { now, on_clock_rollback, settings: settings::of::<T>() };
    with_random(|rng| {
        T::process().generator.with(|state| {
            let step = T::step(state.unwrap_or_default(), &context, rng);
            if let Step::Made(next, _) = step {
                *state = Some(next);
            }
            step
        })
    })
}

/// The clock, in microseconds since 1970-01-01 UTC.
fn unix_micros() -> i64 {
    let micros = |distance: Duration| distance.as_micros() as i64;
    SystemTime::now().duration_since(UNIX_EPOCH).map_or_else(|before| -micros(before.duration()), micros)
}

/// Waits, at the most so long, and lets a cancel or a timeout through.
fn wait(micros: i64) {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    let millis = micros / 1_000;
    // SAFETY: waits as the server's own functions do, on the latch that every interrupt sets.
    unsafe {
        if millis == 0 {
            pg_sys::pg_usleep(micros.max(1));
        } else {
            pg_sys::WaitLatch(pg_sys::MyLatch, events as i32, millis, pg_sys::PG_WAIT_EXTENSION);
            pg_sys::ResetLatch(pg_sys::MyLatch);
        }
    }
    pgrx::check_for_interrupts!();
}

#[cold]
fn refused<T: Type>(refusal: Refusal) -> Error {
    match refusal {
        Refusal::ClockMovedBack(micros) => Error::new(
            SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("could not generate a {}: the system clock has moved back", T::NAME),
        )
        .detail(format!("The clock is {} s behind the last ID.", seconds(micros)))
        .hint(format!(
            "Correct the clock, or wait until it has caught up. To start afresh where it is more than {} s behind, set scru.on_clock_rollback to \"reset\".",
            seconds(MAX_ROLLBACK_MICROS)
        )),
        Refusal::ClockOutOfRange => Error::time_out_of_range::<T>()
            .detail("The system clock reads a time for which there are no IDs.")
            .hint("Correct the clock."),
        Refusal::Exhausted => Error::new(
            SqlState::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            format!("could not generate a {}: its random part overflows", T::NAME),
        )
        .detail("There is no greater ID within this millisecond.")
        .hint("Try again: the next millisecond begins with a new random number."),
    }
}

/// Microseconds as seconds, without needless digits.
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}
