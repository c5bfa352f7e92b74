//! The random source of this process.

use pgrx::pg_sys;
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};

use crate::error::Error;
use crate::per_process::PerProcess;

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
