//! ID generation: runs the pure step of each type with the clock, the random source and the generator state.

use pgrx::pg_sys::Datum;
use scru_ids::{Context, MAX_BEHIND_MICROS, NoId, OnClockRollback, Refusal, Step};
use scru_server::{draw, mark};

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};
use crate::draw::node;
use crate::feed::publication;
use crate::pg::clock::{self, WaitEvent};
use crate::pg::process::PerProcess;
use crate::pg::wal;
use crate::settings::{self, FromSettings, changes};
use crate::shared::id_type::{DrawSettings, Type};
use crate::shared::marks::{DRAWING, SharedMarks};
use crate::shared::random::Random;

/// A wait for the clock to reach the time of the next ID, as pg_stat_activity shows it.
static CLOCK_WAIT: PerProcess<WaitEvent> = PerProcess::new(WaitEvent::new(c"ScruClock"));

/// `gen_T() → T`
pub fn generate<T: Type>(_call: Call) -> Result<Datum, Error> {
    loop {
        let DrawSettings { is_shared, context, .. } = match T::process().draw_settings.get() {
            Some(settings) if settings.changes == changes() => settings,
            last => configure::<T>(last.is_none())?,
        };
        if !publication::has_begun(is_shared) {
            publication::begin(is_shared, false)?;
        }
        let step = if !is_shared {
            Some(draw_private::<T>(context)?)
        } else if DRAWING.published.get() == 0 {
            // In recovery.
            draw::draw_unlogged(&mut SharedMarks::new()?)?
        } else {
            draw::draw(&mut SharedMarks::new()?)?
        };
        match step {
            Some(Ok((_, id))) => return Ok(id.to_datum()),
            // The shared state has changed, or something was required first.
            None => clock::check_for_interrupts(),
            Some(Err(NoId::Wait(until))) => wait(until, is_shared)?,
            Some(Err(NoId::Refused(refusal))) => return Err(refused::<T>(refusal, is_shared)),
        }
    }
}

/// Reads the settings, and announces the node. For SERVER_WIDE types, raises 25006 during recovery.
#[cold]
#[inline(never)]
fn configure<T: Type>(is_first: bool) -> Result<DrawSettings<T>, Error> {
    if T::SERVER_WIDE {
        if wal::is_in_recovery() {
            return Err(sql_error!(
                ERRCODE_READ_ONLY_SQL_TRANSACTION,
                "cannot execute gen_{}() during recovery",
                T::NAME
            )
            .detail("A standby would generate the same IDs as its primary.")
            .hint("Generate the ID on the primary."));
        }
        T::Settings::from_settings()?;
        node::announce::<T>(is_first)?;
    }
    let settings = draw_settings::<T>();
    T::process().draw_settings.set(Some(settings));
    Ok(settings)
}

/// The settings of draws.
///
/// The common settings do not apply to SERVER_WIDE types. With the generator scope "server", a clock rollback is an error, because a
/// reset would break the order of IDs across sessions.
pub fn draw_settings<T: Type>() -> DrawSettings<T> {
    let is_shared = T::SERVER_WIDE || settings::is_scope_server();
    let on_clock_rollback = if is_shared { OnClockRollback::Error } else { settings::on_clock_rollback() };
    // Refused settings have their defaults: no ID is generated with them.
    let settings = T::Settings::from_settings().unwrap_or_default();
    DrawSettings { changes: changes(), is_shared, context: Context { settings, on_clock_rollback, now: 0 } }
}

/// Waits until the clock reads a time, or for a part of that: an administrator may set the marks back.
#[cold]
#[inline(never)]
fn wait(until: i64, is_shared: bool) -> Result<(), Error> {
    let (from, now) = (DRAWING.from.get(), clock::now());
    // The clock is far behind the transaction's bound. A private generator continues without the clock.
    if !is_shared && from.saturating_sub(now) > MAX_BEHIND_MICROS {
        DRAWING.from.set(from.max(until));
        return Ok(());
    }
    clock::wait_until(until.min(now.saturating_add(MAX_BEHIND_MICROS)), &CLOCK_WAIT);
    publication::begin(is_shared, true)
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
fn draw_private<T: Type>(context: Context<T::Settings>) -> Result<Step<T>, Error> {
    let (now, generator) = (clock::now(), &T::process().generator);
    let state = generator.get().unwrap_or_default();
    let step = mark::private_step(state, DRAWING.from.get(), &Context { now, ..context }, &mut Random::get(now)?);
    if let Ok((next, _)) = step {
        generator.set(Some(next));
    }
    Ok(step)
}

#[cold]
#[inline(never)]
pub fn refused<T: Type>(refusal: Refusal, is_shared: bool) -> Error {
    let (name, seconds) = (T::NAME, |micros: u64| micros as f64 / 1e6);
    match refusal {
        Refusal::ClockMovedBack(micros) => sql_error!(
            ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "could not generate a {name}: the system clock has moved back"
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
            "could not generate a {name}: the system clock is behind the high-water mark"
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
            "could not generate a {name}: its random part overflows"
        )
        .detail("There is no greater ID within this tick.")
        .hint("Try again: the next tick begins with a new random number."),
    }
    .of_type::<T>()
}
