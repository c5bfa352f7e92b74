//! Generators: the clock, the random numbers and the state of this process around the pure step of each type.

use core::mem::MaybeUninit;
use core::ptr;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Datum};
use scru_ids::{Context, Refusal, Step};

use crate::call::Call;
use crate::datum::{StoredDatum, Type};
use crate::error::Error;
use crate::process::with_random;
use crate::settings::Common;
use crate::{node, settings, shared, time};

// The server's functions as they are: pgrx's guard around the first would cost as much as the rest of a draw, and the one
// around the second would put a Rust backtrace into the user's message, where one is asked for. What that raises is a longjmp
// over frames of ours that have nothing to drop.
unsafe extern "C-unwind" {
    fn RecoveryInProgress() -> bool;
    fn ProcessInterrupts();
}

/// `gen_T() → T`
pub fn generate<T: Type>(_call: Call) -> Result<Datum, Error> {
    let id = match shared::count::<T>() {
        Some(id) => id,
        None if T::COUNT.is_some() => draw_apart::<T>()?,
        None => draw::<T>()?,
    };
    Ok(id.to_stored().into_datum())
}

/// A whole draw, for the types whose IDs seldom take one: apart, so that the others have no registers to save.
#[cold]
#[inline(never)]
fn draw_apart<T: Type>() -> Result<T, Error> {
    draw()
}

/// A whole draw: as many steps, and as much waiting, as it takes.
#[inline(always)]
fn draw<T: Type>() -> Result<T, Error> {
    if T::SERVER_WIDE {
        refuse_in_recovery::<T>()?;
        settings::check_none_refused::<T>()?;
        node::announce::<T>();
    }
    // Types of the whole server know no other scope, and never start afresh.
    let common = if T::SERVER_WIDE { Common::default() } else { settings::common() };
    let context = || context::<T>(common);
    loop {
        let step = if T::SERVER_WIDE || common.server_wide {
            // Where another backend was faster: again, from the state that it left.
            let Some(step) = shared::step::<T>(context)? else { continue };
            step
        } else {
            own_step::<T>(&context())?
        };
        match step {
            Step::Made(_, id) => return Ok(id),
            Step::Wait(until) => wait_until(until),
            Step::Refused(refusal) => return Err(refused::<T>(refusal)),
        }
    }
}

/// What a step depends on, now.
#[inline(always)]
fn context<T: Type>(common: Common) -> Context<T::Settings> {
    Context { settings: settings::of::<T>(), on_clock_rollback: common.on_clock_rollback, now: unix_micros() }
}

/// `gen_T(timestamptz) → T`
pub fn generate_at<T: Type>(call: Call) -> Result<Datum, Error> {
    let tick = time::unix_micros(call.int8(0))
        .and_then(|micros| T::TICKS.minted_at(micros).ok())
        .ok_or_else(Error::time_out_of_range::<T>)?;
    let id = with_random(|rng| T::random_of(tick, rng))?;
    Ok(id.to_stored().into_datum())
}

/// One step from the state of this process.
fn own_step<T: Type>(context: &Context<T::Settings>) -> Result<Step<T>, Error> {
    with_random(|rng| {
        T::process().generator.with(|state| {
            let step = T::step(state.unwrap_or_default(), context, rng);
            if let Step::Made(next, _) = step {
                *state = Some(next);
            }
            step
        })
    })
}

/// A standby has its primary's settings, so that both would give out the same IDs.
fn refuse_in_recovery<T: Type>() -> Result<(), Error> {
    // SAFETY: reads the server's state.
    if unsafe { RecoveryInProgress() } { Err(in_recovery::<T>()) } else { Ok(()) }
}

#[cold]
#[inline(never)]
fn in_recovery<T: Type>() -> Error {
    let message = format!("cannot execute gen_{}() during recovery", T::NAME);
    Error::new(SqlState::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
        .detail("A standby would give out the same IDs as its primary.")
        .hint("Generate the ID on the primary.")
}

/// The clock, in microseconds since 1970-01-01 UTC. The server reads it by the same call, in a function of its own.
#[inline]
pub fn unix_micros() -> i64 {
    let mut now = MaybeUninit::<libc::timeval>::uninit();
    // SAFETY: it writes the time; of errors its manual knows none but a bad pointer.
    let now = unsafe {
        libc::gettimeofday(now.as_mut_ptr(), ptr::null_mut());
        now.assume_init()
    };
    #[allow(clippy::useless_conversion, reason = "32 bits on macOS")]
    let micros = i64::from(now.tv_usec);
    now.tv_sec * 1_000_000 + micros
}

/// Waits until the clock reads this, or is seen to move back, and lets a cancel or a timeout through.
fn wait_until(until: i64) {
    let mut left = until - unix_micros();
    while left > 0 {
        wait(left);
        // An early awakening is not the end: a step that is taken too early may refuse instead of waiting again.
        let still_left = until - unix_micros();
        if still_left > left {
            return;
        }
        left = still_left;
    }
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
        if pg_sys::InterruptPending != 0 {
            ProcessInterrupts();
        }
    }
}

#[cold]
#[inline(never)]
fn refused<T: Type>(refusal: Refusal) -> Error {
    match refusal {
        Refusal::ClockMovedBack(micros) => clock_moved_back::<T>(micros as f64 / 1e6),
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

fn clock_moved_back<T: Type>(seconds: f64) -> Error {
    let message = format!("could not generate a {}: the system clock has moved back", T::NAME);
    let hint = if T::SERVER_WIDE {
        "Correct the clock, or wait until it has caught up: an ID that was given out must not come again."
    } else {
        "Correct the clock, or wait until it has caught up, or set scru.on_clock_rollback to \"reset\"."
    };
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(format!("The clock is {seconds} s behind the last ID."))
        .hint(hint)
}
