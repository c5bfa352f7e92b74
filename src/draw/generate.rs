//! ID generation: runs the pure step of each type with the clock, the random source and the generator state.

use pgrx::pg_sys::Datum;
use scru_ids::{Context, MAX_BEHIND_MICROS, OnClockRollback, Refusal, Step};
use scru_server::{draw, mark};

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};
use crate::draw::node;
use crate::feed::publication;
use crate::pg::clock::{self, WaitEvent};
use crate::pg::process::PerProcess;
use crate::pg::{transaction, wal};
use crate::settings::{self, FromSettings, changes};
use crate::shared::id_type::{Draws, Type};
use crate::shared::marks::{Backend, Generator};
use crate::shared::memory;
use crate::shared::random::Random;

/// A wait for the clock to reach the time of the next ID, as pg_stat_activity shows it.
static CLOCK_WAIT: PerProcess<WaitEvent> = PerProcess::new(WaitEvent::new(c"ScruClock"));

/// `gen_T() → T`
pub fn generate<T: Type>(_call: Call) -> Result<Datum, Error> {
    loop {
        // A copy would take longer than the rest of a draw.
        // SAFETY: nothing writes the cell while the reference is in use: `prepare` and `wait` are called without it.
        let draws = match unsafe { &*T::process().draws.as_ptr() } {
            Some(draws) if (draws.local, draws.changes) == (transaction::local(), changes()) => draws,
            _ => &prepare::<T>()?,
        };
        let Draws { local, ref context, from, arrived, shared, .. } = *draws;
        let step = match shared {
            None => Some(own_step::<T>(context, from)?),
            Some(memory) => {
                let mut backend = Backend::with(Generator { memory, context, from, arrived })?;
                if local == 0 { draw::draw_unlogged(&mut backend)? } else { draw::draw(&mut backend)? }
            }
        };
        match step {
            Some(Step::Made(_, id)) => return Ok(id.to_datum()),
            // The shared state has changed, or something was required first.
            None => clock::check_for_interrupts(),
            Some(Step::Wait(until)) => wait::<T>(until, shared.is_none().then_some(from))?,
            Some(Step::Refused(refusal)) => return Err(refused::<T>(refusal, shared.is_some())),
        }
    }
}

/// What the draws of the transaction have in common: publishes the transaction, and looks at what the database carries.
#[cold]
#[inline(never)]
fn prepare<T: Type>() -> Result<Draws<T>, Error> {
    let last = T::process().draws.get().filter(|last| last.changes == changes());
    let mut draws = last.map_or_else(configure, Ok)?;
    let from = publication::begin()?;
    // A transaction that began during recovery can outlast it.
    draws.local = from.map_or(0, |_| transaction::local());
    draws.from = from.unwrap_or(i64::MIN);
    if draws.shared.is_some() && from.is_some() {
        draws.arrived = publication::arrived()?;
    }
    T::process().draws.set(Some(draws));
    Ok(draws)
}

/// What the draws of the session have in common until a setting changes. Announces the node.
#[cold]
#[inline(never)]
fn configure<T: Type>() -> Result<Draws<T>, Error> {
    if T::SERVER_WIDE {
        if wal::is_in_recovery() {
            return Err(in_recovery::<T>());
        }
        T::Settings::from_settings()?;
        node::announce::<T>(T::process().draws.get().is_none())?;
    }
    let (context, is_shared) = context::<T>();
    let shared = if is_shared { Some(memory::of_type::<T>()?) } else { None };
    Ok(Draws { changes: changes(), local: 0, context, from: 0, arrived: 0, shared })
}

/// The settings of draws, and whether they are from the state that the backends share.
///
/// The common settings do not apply to SERVER_WIDE types. With the generator scope "server", a clock rollback is an error, because a
/// reset would break the order of IDs across sessions.
pub fn context<T: Type>() -> (Context<T::Settings>, bool) {
    let is_shared = T::SERVER_WIDE || settings::is_scope_server();
    let on_clock_rollback = if is_shared { OnClockRollback::Error } else { settings::on_clock_rollback() };
    // Refused settings have their defaults: no ID is generated with them.
    let settings = T::Settings::from_settings().unwrap_or_default();
    (Context { settings, on_clock_rollback, now: 0 }, is_shared)
}

/// Waits until the clock reads a time, or for a part of that: an administrator may set the marks back. Waits within a tick are shorter.
/// A private generator draws at or above `private_from`.
#[cold]
#[inline(never)]
fn wait<T: Type>(until: i64, private_from: Option<i64>) -> Result<(), Error> {
    T::process().draws.update(|draws| draws.map(|draws| Draws { local: 0, ..draws }));
    // The clock is far behind the transaction's bound. A private generator continues without it.
    if private_from.is_some_and(|from| from.saturating_sub(clock::now()) > MAX_BEHIND_MICROS) {
        publication::advance(until);
        return Ok(());
    }
    clock::wait_until(until.min(clock::now().saturating_add(MAX_BEHIND_MICROS)), &CLOCK_WAIT);
    publication::begin_anew().map(drop)
}

/// `gen_T(timestamptz) → T`. Raises 22008 for a time outside the range, or within a reserved tick.
pub fn generate_at<T: Type>(call: Call) -> Result<Datum, Error> {
    let tick = epoch::unix_micros(call.int8(0)).and_then(|micros| T::TICKS.generated_at(micros)).ok_or_else(|| {
        let [first, end] = [1, T::TICKS.max].map(|tick| epoch::text(epoch::of(T::first_of(tick))));
        let detail = format!("A {} can be generated for times from {first} up to, but not including, {end}.", T::NAME);
        Error::time_out_of_range::<T>().detail(detail)
    })?;
    let id = T::random_of(tick, &mut Random::get(clock::now())?);
    Ok(id.to_datum())
}

/// Takes one step from the state of this process.
#[inline(always)]
fn own_step<T: Type>(context: &Context<T::Settings>, from: i64) -> Result<Step<T>, Error> {
    let now = clock::now();
    let generator = &T::process().generator;
    let state = generator.get().unwrap_or_default();
    let step = mark::private_step(state, from, &Context { now, ..*context }, &mut Random::get(now)?);
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
pub fn refused<T: Type>(refusal: Refusal, is_shared: bool) -> Error {
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
        } else if is_shared {
            "Correct the clock, or wait until it has caught up, or set scru.generator_scope to \"session\"."
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
    .of_type::<T>()
}
