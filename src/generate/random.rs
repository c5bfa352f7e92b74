//! The process's random source.

use pgrx::pg_sys;
use rand::SeedableRng;
use rand::rngs::{StdRng, SysRng};

use crate::call::error::Error;
use crate::pg::per_process::PerProcess;

/// A cryptographic generator and the process that seeded it.
struct Seeded {
    pid: i32,
    rng: StdRng,
}

static RANDOM: PerProcess<Option<Seeded>> = PerProcess::new(None);

/// Calls `use_it` with the process's random source. The source is seeded from the operating system at its first use, and again
/// after a fork, so that no two processes share random numbers.
///
/// # Errors
/// Returns an error (58000) if the operating system cannot provide random numbers.
pub fn with_random<R>(use_it: impl FnOnce(&mut StdRng) -> R) -> Result<R, Error> {
    // SAFETY: an integer that the server sets once in each process.
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
