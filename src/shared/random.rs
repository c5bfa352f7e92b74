//! The process's random source.

use core::cell::Cell;
use core::convert::Infallible;
use core::mem::MaybeUninit;

use pgrx::pg_sys;
use rand::rngs::{StdRng, SysRng};
use rand::{SeedableRng, TryRng};

use crate::call::error::Error;
use crate::pg::process::PerProcess;

/// How long the generator is not seeded again if it is in use, and while it is not, in microseconds.
const MAX_AGE: u64 = 1_000_000;
const MAX_PAUSE: u64 = 100_000;

struct Source {
    /// The process that has seeded the generator; 0 if there is none.
    seeded_by: Cell<i32>,
    /// The readings of the clock when it was seeded, and when it was last used.
    seeded_at: Cell<i64>,
    used_at: Cell<i64>,
    rng: Cell<MaybeUninit<StdRng>>,
}

static SOURCE: PerProcess<Source> = PerProcess::new(Source {
    seeded_by: Cell::new(0),
    seeded_at: Cell::new(0),
    used_at: Cell::new(0),
    rng: Cell::new(MaybeUninit::uninit()),
});

/// The process's random source: a cryptographic generator. It is seeded from the operating system at its first use, and again
///
/// - after a fork, so that no two processes share random numbers,
/// - each second, after a pause of 100 ms, and if the clock moves back: the memory of a virtual machine can be restored twice.
pub struct Random(());

impl Random {
    /// The source, for a reading of the system clock. 58000 if the operating system cannot provide random numbers.
    #[inline(always)]
    pub fn get(now: i64) -> Result<Self, Error> {
        // SAFETY: an integer that the server sets once in each process.
        let pid = unsafe { pg_sys::MyProcPid };
        // A negative difference is a large number.
        let pause = now.wrapping_sub(SOURCE.used_at.replace(now)) as u64;
        let age = now.wrapping_sub(SOURCE.seeded_at.get()) as u64;
        if SOURCE.seeded_by.get() == pid && pause <= MAX_PAUSE && age <= MAX_AGE {
            Ok(Self(()))
        } else {
            Self::seed(pid, now)
        }
    }

    #[cold]
    #[inline(never)]
    fn seed(pid: i32, now: i64) -> Result<Self, Error> {
        // If it fails, the next use must not find the old state.
        SOURCE.seeded_by.set(0);
        let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| Error::no_randomness(&error))?;
        SOURCE.rng.set(MaybeUninit::new(rng));
        SOURCE.seeded_by.set(pid);
        SOURCE.seeded_at.set(now);
        Ok(Self(()))
    }

    #[inline(always)]
    fn rng(&mut self) -> &mut StdRng {
        // SAFETY: a value of this type exists only after the generator is seeded. The methods below are the only callers. They return
        // before the next reference is made, because the generator calls nothing else.
        unsafe { &mut *SOURCE.rng.as_ptr().cast() }
    }
}

impl TryRng for Random {
    type Error = Infallible;

    #[inline(always)]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.rng().try_next_u32()
    }

    #[inline(always)]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.rng().try_next_u64()
    }

    #[inline(always)]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng().try_fill_bytes(bytes)
    }
}
