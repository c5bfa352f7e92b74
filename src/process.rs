//! What a server process keeps: its random source, and of every type the generator's state and the parsed settings.

use core::cell::UnsafeCell;

use pgrx::pg_sys;
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};

use crate::datum::Type;
use crate::error::Error;
use crate::settings::{Group, ServerSettings};
use crate::shared::{Counting, Memory};

/// A value of this process. A server process has one thread that runs SQL, so that plain memory is enough.
pub struct PerProcess<T>(UnsafeCell<T>);

// SAFETY: only the process's one SQL thread ever gets here.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// Wraps the value that the process begins with.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Gives the value to `use_it`, which must not come back here for the same value, nor let the server raise an error.
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: one thread, and no second borrow by the promise above, which every caller in this crate keeps.
        use_it(unsafe { &mut *self.0.get() })
    }
}

/// What this process keeps of one type.
pub struct Process<T: Type> {
    /// The state of this process's own generator.
    pub generator: PerProcess<Option<T::State>>,
    /// Where the state is that all processes share, once it has been looked up.
    pub shared: PerProcess<Option<Memory<T>>>,
    /// Whether this process has seen to it that a promotion is respected.
    pub respects_promotion: PerProcess<bool>,
    /// What it can draw from there by counting.
    pub counting: PerProcess<Option<Counting<T>>>,
    /// The settings of the type alone.
    pub settings: PerProcess<Group<T::Settings>>,
    /// The values of those that hold for the whole server, and where they came from.
    pub server_settings: PerProcess<ServerSettings>,
    /// Whether this process has drawn an ID and so told the server's number.
    pub is_announced: PerProcess<bool>,
}

impl<T: Type> Process<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self {
            generator: PerProcess::new(None),
            shared: PerProcess::new(None),
            respects_promotion: PerProcess::new(false),
            counting: PerProcess::new(None),
            settings: PerProcess::new(Group::new(T::SETTINGS)),
            server_settings: PerProcess::new(ServerSettings::new()),
            is_announced: PerProcess::new(false),
        }
    }
}

/// A cryptographic generator, and the process that seeded it.
struct Seeded {
    pid: i32,
    rng: StdRng,
}

static RANDOM: PerProcess<Option<Seeded>> = PerProcess::new(None);

/// Gives the random source of this process to `use_it`. It is seeded from the operating system at its first use, anew in a
/// process that was forked from one that had used it: no two processes share random numbers.
///
/// # Errors
/// If the operating system has no random numbers.
pub fn with_random<R>(use_it: impl FnOnce(&mut StdRng) -> R) -> Result<R, Error> {
    // SAFETY: an int that the server sets once in each process.
    let pid = unsafe { pg_sys::MyProcPid };
    RANDOM.with(|random| {
        let seeded = match random {
            Some(seeded) if seeded.pid == pid => seeded,
            _ => seed(random, pid)?,
        };
        Ok(use_it(&mut seeded.rng))
    })
}

#[cold]
#[inline(never)]
fn seed(random: &mut Option<Seeded>, pid: i32) -> Result<&mut Seeded, Error> {
    let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| Error::no_randomness(&error))?;
    Ok(random.insert(Seeded { pid, rng }))
}
