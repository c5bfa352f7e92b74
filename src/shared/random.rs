//! The process's random source.

use core::cell::Cell;
use core::convert::Infallible;
use core::mem::MaybeUninit;

use pgrx::pg_sys;
use rand::rngs::{StdRng, SysRng};
use rand::{SeedableRng, TryRng};

use crate::call::error::Error;
use crate::pg::process::PerProcess;

/// The generator is seeded again when the clock, in microseconds, has changed above this number of bits: 66 ms.
const PERIOD_BITS: u32 = 16;

struct Source {
    /// The process that has seeded the generator; 0 if there is none.
    seeded_by: Cell<i32>,
    /// The period of the clock in which it was seeded.
    seeded_in: Cell<i64>,
    rng: Cell<MaybeUninit<StdRng>>,
}

static SOURCE: PerProcess<Source> =
    PerProcess::new(Source { seeded_by: Cell::new(0), seeded_in: Cell::new(0), rng: Cell::new(MaybeUninit::uninit()) });

/// The process's random source: a cryptographic generator. It is seeded from the operating system at its first use, and again
///
/// - after a fork, so that no two processes share random numbers,
/// - in each period of 66 ms of the clock: the memory of a virtual machine can be restored twice.
pub struct Random(());

impl Random {
    /// The source, for a reading of the system clock. 58000 if the operating system cannot provide random numbers.
    #[inline(always)]
    pub fn get(now: i64) -> Result<Self, Error> {
        // SAFETY: an integer that the server sets once in each process.
        let pid = unsafe { pg_sys::MyProcPid };
        let period = now >> PERIOD_BITS;
        if SOURCE.seeded_by.get() == pid && SOURCE.seeded_in.get() == period {
            Ok(Self(()))
        } else {
            Self::seed(pid, period)
        }
    }

    #[cold]
    #[inline(never)]
    fn seed(pid: i32, period: i64) -> Result<Self, Error> {
        // If it fails, the next use must not find the old state.
        SOURCE.seeded_by.set(0);
        let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| Error::no_randomness(&error))?;
        SOURCE.rng.set(MaybeUninit::new(rng));
        SOURCE.seeded_by.set(pid);
        SOURCE.seeded_in.set(period);
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
