//! ID generation: runs the pure step of each type with the clock, the random source and the generator state.

use pgrx::pg_sys::Datum;
use scru_ids::{Context, MAX_BEHIND_MICROS, OnClockRollback, Refusal, Step};
use scru_server::mark::{self, Mark};
use scru_server::{draw, protocol};

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};
use crate::draw::node;
use crate::feed::publication;
use crate::pg::{clock, transaction, wal};
use crate::settings::{self, FromSettings};
use crate::shared::id_type::{Draw, Terms, Type};
use crate::shared::marks::{Backend, Generator};
use crate::shared::random::Random;
use crate::shared::{memory, waits};

/// `gen_T() → T`
pub fn generate<T: Type>(_call: Call) -> Result<Datum, Error> {
    loop {
        // A copy would take longer than the rest of a draw.
        // SAFETY: nothing writes the cell while the reference is in use: `prepare` and `wait` are called without it.
        let draw = match unsafe { &*T::process().draw.as_ptr() } {
            Some(draw) if draw.as_of == as_of() => draw,
            _ => &prepare::<T>()?,
        };
        let step = match draw.shared {
            None => Some(own_step(&draw.terms)?),
            Some((marks, memory)) => {
                let mut backend = Backend::at(marks).with(Generator { memory, terms: &draw.terms });
                if draw.as_of == 0 { draw::draw_unlogged(&mut backend)? } else { draw::draw(&mut backend)? }
            }
        };
        match step {
            Some(Step::Made(_, id)) => return Ok(id.to_datum()),
            // The shared state has changed, or something was required first.
            None => clock::check_for_interrupts(),
            Some(Step::Wait(until)) => wait(until, *draw)?,
            Some(Step::Refused(refusal)) => return Err(refused::<T>(refusal, draw.shared.is_some())),
        }
    }
}

/// The transaction and the settings, as one number, which is not 0.
#[inline(always)]
fn as_of() -> u64 {
    u64::from(settings::changes()) << 32 | u64::from(transaction::local())
}

/// What the draws of the transaction have in common: publishes the transaction, and looks at what the database carries.
#[cold]
#[inline(never)]
fn prepare<T: Type>() -> Result<Draw<T>, Error> {
    let last = T::process().draw.get().filter(|last| last.as_of >> 32 == u64::from(settings::changes()));
    let mut draw = last.map_or_else(configure, Ok)?;
    draw.terms.from = publication::begin()?;
    // A transaction that began during recovery can outlast it.
    draw.as_of = if wal::is_in_recovery() { 0 } else { as_of() };
    if let Some((marks, _)) = draw.shared
        && draw.as_of != 0
    {
        draw.terms.arrived = protocol::learn(&mut Backend::at(marks), Mark::Draws)?.max(publication::arrived());
    }
    T::process().draw.set(Some(draw));
    Ok(draw)
}

/// What the draws of the session have in common until a setting changes. Announces the node.
#[cold]
#[inline(never)]
fn configure<T: Type>() -> Result<Draw<T>, Error> {
    if T::SERVER_WIDE {
        if wal::is_in_recovery() {
            return Err(in_recovery::<T>());
        }
        T::Settings::from_settings()?;
        node::announce::<T>()?;
    }
    let (terms, is_shared) = terms::<T>();
    let shared = if is_shared { Some((memory::of_marks()?, memory::of_type::<T>()?)) } else { None };
    Ok(Draw { as_of: 0, terms, shared })
}

/// The terms of draws before a transaction has published, and whether they are from the state that the backends share.
///
/// The common settings do not apply to SERVER_WIDE types. With the generator scope "server", a clock rollback is an error, because a
/// reset would break the order of IDs across sessions.
pub fn terms<T: Type>() -> (Terms<T>, bool) {
    let is_shared = T::SERVER_WIDE || settings::is_scope_server();
    let on_clock_rollback = if is_shared { OnClockRollback::Error } else { settings::on_clock_rollback() };
    (Terms::new(on_clock_rollback), is_shared)
}

/// Waits until the clock reads a time, or for a part of that: an administrator may set the marks back. Waits within a tick are shorter.
#[cold]
#[inline(never)]
fn wait<T: Type>(until: i64, draw: Draw<T>) -> Result<(), Error> {
    T::process().draw.set(None);
    // The clock is far behind the transaction's bound. A private generator continues without it.
    if draw.shared.is_none() && draw.terms.from.saturating_sub(clock::now()) > MAX_BEHIND_MICROS {
        publication::advance(until);
        return Ok(());
    }
    clock::wait_until(until.min(clock::now().saturating_add(MAX_BEHIND_MICROS)), &waits::CLOCK);
    publication::begin_anew().map(drop)
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
    let id = T::random_of(tick, &mut Random::get(clock::now())?);
    Ok(id.to_datum())
}

/// Takes one step from the state of this process.
#[inline(always)]
fn own_step<T: Type>(terms: &Terms<T>) -> Result<Step<T>, Error> {
    let now = clock::now();
    let context = Context { now, ..terms.context };
    let generator = &T::process().generator;
    let step = mark::private_step(generator.get().unwrap_or_default(), terms.from, &context, &mut Random::get(now)?);
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
