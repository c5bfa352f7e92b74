//! A generator with a clock and a random source, for programs outside the database.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{process, thread};

use rand::Rng;
use rand::rngs::StdRng;

use crate::GeneratedId;
use crate::generator::{Context, NoId, OnClockRollback, Refusal};

/// A clock that a [`Generator`] reads and waits for.
pub trait Clock {
    /// Returns the time, in microseconds since 1970-01-01 UTC.
    fn unix_micros(&mut self) -> i64;

    /// Waits until the clock reads the time `unix_micros`, in microseconds since 1970-01-01 UTC. May return earlier.
    fn wait_until(&mut self, unix_micros: i64);
}

/// The clock of the operating system. Waiting suspends the thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_micros(&mut self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(error) => i64::try_from(error.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
        }
    }

    fn wait_until(&mut self, unix_micros: i64) {
        let micros = u64::try_from(unix_micros.saturating_sub(self.unix_micros())).unwrap_or(0);
        thread::sleep(Duration::from_micros(micros));
    }
}

/// A generator of strictly increasing IDs.
///
/// If the clock moves back by more than 10 s, the generator starts again with smaller IDs, or returns an error
/// ([`OnClockRollback`]). A generator of 64-bit IDs instead returns an error if the clock is more than 2 s behind the last ID.
///
/// 64-bit IDs are unique only if no two generators have the same node at the same time: give each process a node of its own in the
/// settings. A generator does not know the last ID of an earlier generator with its node. It therefore starts one second ahead of
/// the clock, so that its IDs are new unless the clock was set back. IDs of the other types are unique without coordination.
///
/// ```
/// use scru_ids::{Generator, Scru64, Scru64Settings};
///
/// let mut generator = Generator::<Scru64>::with_settings(Scru64Settings { node: "42/8".parse()? });
/// let (first, second) = (generator.generate()?, generator.generate()?);
/// assert!(first < second);
/// assert_eq!(first.node_id(8), 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator<T: GeneratedId, C = SystemClock, R = StdRng> {
    state: Option<T::State>,
    settings: T::Settings,
    on_clock_rollback: OnClockRollback,
    clock: C,
    rng: R,
}

impl<T: GeneratedId> Generator<T> {
    /// Returns a generator with the default settings, the clock of the operating system, and a cryptographically secure random
    /// source that the operating system seeds.
    ///
    /// # Panics
    /// Panics if the operating system provides no random numbers.
    pub fn new() -> Self {
        Self::with_settings(T::Settings::default())
    }

    /// Returns a generator with these settings, otherwise like [`new`](Self::new).
    ///
    /// # Panics
    /// Panics if the operating system provides no random numbers.
    pub fn with_settings(settings: T::Settings) -> Self {
        Self::with(settings, SystemClock, rand::make_rng())
    }
}

impl<T: GeneratedId> Default for Generator<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: GeneratedId, C: Clock, R: Rng> Generator<T, C, R> {
    /// Returns a generator with these settings, this clock and this random source.
    pub const fn with(settings: T::Settings, clock: C, rng: R) -> Self {
        Self { state: None, settings, on_clock_rollback: OnClockRollback::Reset, clock, rng }
    }

    /// Sets the reaction to a clock that has moved back. It has no effect on [`Scru64`](crate::Scru64) and
    /// [`Ulidflake`](crate::Ulidflake), for which such a clock is always an error.
    #[must_use]
    pub fn on_clock_rollback(self, on_clock_rollback: OnClockRollback) -> Self {
        Self { on_clock_rollback, ..self }
    }

    /// Generates the next ID. Waits for the clock if the type has no further ID at the current time.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the clock has moved back too far, if it reads a time for which the type generates no IDs, or if
    /// the random part has no room for a further ID within this tick.
    pub fn generate(&mut self) -> Result<T, Refusal> {
        loop {
            let Self { settings, on_clock_rollback, .. } = *self;
            let context = Context { now: self.clock.unix_micros(), on_clock_rollback, settings };
            let state = *self.state.get_or_insert_with(|| T::successor_state(context.now, &mut self.rng));
            match T::step(state, &context, &mut self.rng) {
                Ok((next, id)) => {
                    self.state = Some(next);
                    return Ok(id);
                }
                Err(NoId::Wait(until)) => self.clock.wait_until(until),
                Err(NoId::Refused(refusal)) => return Err(refusal),
            }
        }
    }
}

/// A generator that all threads of a process share, and the process: it is created at first use, and again in a forked process.
pub type OfProcess<T> = Mutex<Option<(u32, Generator<T>)>>;

pub fn generate<T: GeneratedId>(of_process: &OfProcess<T>) -> T {
    // A thread that panics leaves a usable generator, so the poisoning of the mutex is ignored.
    let mut state = of_process.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = process::id();
    let state = match state.as_mut() {
        Some((of, generator)) if *of == pid => generator,
        _ => &mut state.insert((pid, Generator::new())).1,
    };
    loop {
        match state.generate() {
            Ok(id) => return id,
            // The next tick starts with a new random number.
            Err(Refusal::Exhausted) => thread::sleep(Duration::from_micros(T::TICKS.micros.unsigned_abs())),
            Err(refusal) => panic!("could not generate a {}: {refusal}", T::NAME),
        }
    }
}

/// Implements `new()` for a type whose IDs are unique without a node.
macro_rules! new {
    ($Id:ident) => {
        impl $Id {
            /// Generates an ID that is greater than all IDs that this function has generated in this process, unless the clock
            /// was set back by more than 10 s. [`Generator::generate`](crate::Generator::generate) returns errors where this
            /// function panics.
            ///
            /// ```
            #[doc = concat!("use scru_ids::", stringify!($Id), ";")]
            #[doc = concat!("assert!(", stringify!($Id), "::new() < ", stringify!($Id), "::new());")]
            /// ```
            ///
            /// # Panics
            /// Panics if the operating system provides no random numbers, or if its clock reads a time before 1970 or after the
            /// year 10889.
            #[allow(clippy::new_without_default, reason = "a default value should always be the same")]
            pub fn new() -> Self {
                static GENERATOR: $crate::standalone::OfProcess<$Id> = $crate::standalone::OfProcess::new(None);
                $crate::standalone::generate(&GENERATOR)
            }
        }
    };
}
pub(crate) use new;

#[cfg(test)]
#[path = "../tests/unit/standalone.rs"]
mod tests;
