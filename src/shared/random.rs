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

/// The process that has seeded the generator, which is 0 if there is none, and the period of the clock in which it has done so.
static SEEDED: PerProcess<Cell<(i32, i64)>> = PerProcess::new(Cell::new((0, 0)));

static RNG: PerProcess<Cell<MaybeUninit<StdRng>>> = PerProcess::new(Cell::new(MaybeUninit::uninit()));

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
        let seeded = unsafe { (pg_sys::MyProcPid, now >> PERIOD_BITS) };
        if SEEDED.get() == seeded { Ok(Self(())) } else { Self::seed(seeded) }
    }

    #[cold]
    #[inline(never)]
    fn seed(seeded: (i32, i64)) -> Result<Self, Error> {
        // If it fails, the next use must not find the old state.
        SEEDED.set((0, 0));
        let rng = StdRng::try_from_rng(&mut SysRng).map_err(|error| Error::no_randomness(&error))?;
        RNG.set(MaybeUninit::new(rng));
        SEEDED.set(seeded);
        Ok(Self(()))
    }

    #[inline(always)]
    fn rng(&mut self) -> &mut StdRng {
        // SAFETY: a value of this type exists only after the generator is seeded. The methods below are the only callers. They return
        // before the next reference is made, because the generator calls nothing else.
        unsafe { &mut *RNG.as_ptr().cast() }
    }
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.rng().try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.rng().try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng().try_fill_bytes(bytes)
    }
}
