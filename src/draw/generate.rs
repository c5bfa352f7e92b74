//! ID generation: runs the pure step of each type with the clock, the random source and the generator state.

use pgrx::pg_sys::Datum;
use scru_ids::{Context, MAX_BEHIND_MICROS, OnClockRollback, Refusal, Step};
use scru_server::horizon;

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};
use crate::draw::{node, server_wide};
use crate::feed::publication;
use crate::pg::{clock, wal};
use crate::settings::{self, Common};
use crate::shared::id_type::Type;
use crate::shared::random::Random;
use crate::shared::waits;

/// `gen_T() → T`
pub fn generate<T: Type>(call: Call) -> Result<Datum, Error> {
    // Only scru64 has a fast path. Others draw by full steps, of a shared state or of one of this process.
    if T::FAST_PATH.is_none() {
        return draw::<T>(call).map(T::to_datum);
    }
    server_wide::draw_fast::<T>().map_or_else(|| draw_out_of_line::<T>(call), Ok).map(T::to_datum)
}

/// Out-of-line slow path; keeps the fast path free of register spills.
#[cold]
#[inline(never)]
fn draw_out_of_line<T: Type>(call: Call) -> Result<T, Error> {
    draw(call)
}

/// Generates an ID by full steps. Repeats the step until it succeeds or is refused, and waits for the clock in between.
#[inline(always)]
fn draw<T: Type>(call: Call) -> Result<T, Error> {
    if T::SERVER_WIDE {
        if wal::is_in_recovery() {
            return Err(in_recovery::<T>());
        }
        settings::check_none_refused::<T>()?;
        node::announce::<T>()?;
    }
    // The common settings do not apply to SERVER_WIDE types. With the generator scope "server", a clock rollback is an error,
    // because a reset would break the order of IDs across sessions.
    let mut common = if T::SERVER_WIDE { Common::default() } else { settings::of::<Common>() };
    if common.server_wide {
        common.on_clock_rollback = OnClockRollback::Error;
    }
    let is_shared = T::SERVER_WIDE || common.server_wide;
    loop {
        let from = publication::begin(call.schema())?;
        let step = match is_shared {
            true => server_wide::step::<T>(call.schema(), common.on_clock_rollback, from)?,
            false => Some(own_step::<T>(common.on_clock_rollback, from)?),
        };
        match step {
            Some(Step::Made(_, id)) => return Ok(id),
            // The shared state has changed, or a reservation was required. Retry from the new state.
            None => clock::check_for_interrupts(),
            // The clock is far behind the transaction's bound. Generation continues without it.
            Some(Step::Wait(until)) if !is_shared && from.saturating_sub(clock::now()) > MAX_BEHIND_MICROS => {
                publication::advance(until);
            }
            Some(Step::Wait(until)) => wait_for_clock(call, until)?,
            Some(Step::Refused(refusal)) => return Err(refused::<T>(refusal, common.server_wide)),
        }
    }
}

/// Waits until the clock reads a time, or for a part of that: an administrator may set the mark back. Waits within a tick are shorter.
#[cold]
fn wait_for_clock(call: Call, until: i64) -> Result<(), Error> {
    clock::wait_until(until.min(clock::now().saturating_add(MAX_BEHIND_MICROS)), &waits::CLOCK);
    publication::begin_anew(call.schema()).map(drop)
}

/// `gen_T(timestamptz) → T`. Raises 22008 for a time outside the range, or within a reserved tick.
pub fn generate_at<T: Type>(call: Call) -> Result<Datum, Error> {
    let tick =
        epoch::unix_micros(call.int8(0)).and_then(|micros| T::TICKS.generated_at(micros).ok()).ok_or_else(|| {
            let [first, end] = [1, T::TICKS.max].map(|tick| epoch::text(epoch::of(T::first_of(tick))));
            let detail =
                format!("A {} can be generated for times from {first} up to, but not including, {end}.", T::NAME);
            Error::time_out_of_range::<T>().detail(detail)
        })?;
    let id = T::random_of(tick, &mut Random::get()?);
    Ok(id.to_datum())
}

/// Takes one step from the state of this process. The clock counts as reading at least `from`.
#[inline(always)]
fn own_step<T: Type>(on_clock_rollback: OnClockRollback, from: i64) -> Result<Step<T>, Error> {
    // Nothing shared is raised, so that what the database carries delays nothing.
    let now = match horizon::time(from, i64::MIN, clock::now(), on_clock_rollback) {
        Ok(time) => time,
        Err(delay) => return Ok(delay),
    };
    let context = &Context { settings: settings::of::<T>(), on_clock_rollback, now };
    let generator = &T::process().generator;
    let step = T::step(generator.get().unwrap_or_default(), context, &mut Random::get()?);
    if let Step::Made(next, _) = step {
        generator.set(Some(next));
    }
    Ok(step)
}

#[cold]
#[inline(never)]
fn in_recovery<T: Type>() -> Error {
    sql_error!(ERRCODE_READ_ONLY_SQL_TRANSACTION, "cannot execute gen_{}() during recovery", T::NAME)
        .detail("A standby would generate the same IDs as its primary.")
        .hint("Generate the ID on the primary.")
}

#[cold]
#[inline(never)]
pub fn refused<T: Type>(refusal: Refusal, server_wide: bool) -> Error {
    let seconds = |micros: u64| micros as f64 / 1e6;
    match refusal {
        Refusal::ClockMovedBack(micros) => sql_error!(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not generate a {}: the system clock has moved back",
            T::NAME
        )
        .detail(format!("The clock is {} s behind the last ID.", seconds(micros)))
        .hint(if T::SERVER_WIDE {
            "Correct the clock, or wait until it has caught up. If the last ID has a wrong time, a superuser can \
                     set the mark back with scru_set_mark()."
        } else if server_wide {
            "Correct the clock, or wait until it has caught up, or set scru.generator_scope to \"backend\"."
        } else {
            "Correct the clock, or wait until it has caught up, or set scru.on_clock_rollback to \"reset\"."
        }),
        Refusal::BehindMark(micros) => sql_error!(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not generate a {}: the system clock is behind the high-water mark",
            T::NAME
        )
        .detail(format!("The clock is {} s behind the last ID that may already have been generated.", seconds(micros)))
        .hint(
            "Correct the clock, or wait until it has caught up. If the mark is wrong, a superuser can set it back with \
             scru_set_mark().",
        ),
        Refusal::ClockOutOfRange => Error::time_out_of_range::<T>()
            .detail("The system clock reads a time for which there are no IDs.")
            .hint("Correct the clock."),
        Refusal::Exhausted => sql_error!(
            ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            "could not generate a {}: its random part overflows",
            T::NAME
        )
        .detail("There is no greater ID within this millisecond.")
        .hint("Try again: the next millisecond begins with a new random number."),
    }
}
