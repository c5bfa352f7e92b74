//! The clock, and waiting for it.

use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::ffi::CStr;

use pgrx::pg_sys;

use crate::server;

// The server's function as it is: pgrx's guard around it would put a Rust backtrace into the user's message, where one is
// asked for. What it raises is a longjmp over frames of ours that have nothing to drop.
unsafe extern "C-unwind" {
    fn ProcessInterrupts();
}

/// What a session waits for, as pg_stat_activity shows it.
pub struct WaitEvent {
    name: &'static CStr,
    number: AtomicU32,
}

/// A wait for the clock to reach the next ID.
pub static CLOCK: WaitEvent = WaitEvent::new(c"ScruClock");

/// A wait for another backend that makes the durable high-water mark.
pub static MARK: WaitEvent = WaitEvent::new(c"ScruMark");

impl WaitEvent {
    const fn new(name: &'static CStr) -> Self {
        Self { name, number: AtomicU32::new(0) }
    }

    /// The server's number of the event, asked for once in a process.
    fn number(&self) -> u32 {
        match self.number.load(Relaxed) {
            0 => {
                let number = server::wait_event(self.name);
                self.number.store(number, Relaxed);
                number
            }
            number => number,
        }
    }
}

/// The clock, in microseconds since 1970-01-01 UTC. The server reads it by the same call, in a function of its own.
#[inline]
pub fn now() -> i64 {
    let mut now = MaybeUninit::<libc::timeval>::uninit();
    // SAFETY: it writes the time; of errors its manual knows none but a bad pointer.
    let now = unsafe {
        libc::gettimeofday(now.as_mut_ptr(), ptr::null_mut());
        now.assume_init()
    };
    #[allow(clippy::useless_conversion, reason = "32 bits on macOS")]
    let micros = i64::from(now.tv_usec);
    now.tv_sec * 1_000_000 + micros
}

/// Microseconds of a clock that nobody sets, the same for all processes, never 0.
pub fn monotonic_micros() -> u64 {
    let mut now = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: it writes the time; every system that the server runs on has this clock.
    let now = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, now.as_mut_ptr());
        now.assume_init()
    };
    (now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000).max(1)
}

/// Waits until the clock reads this, or is seen to move back, and lets a cancel or a timeout through.
pub fn wait_until(until: i64) {
    let mut left = until - now();
    while left > 0 {
        wait(left, &CLOCK);
        // An early awakening is not the end: a step that is taken too early may refuse instead of waiting again.
        let still_left = until - now();
        if still_left > left {
            return;
        }
        left = still_left;
    }
}

/// Waits at most so many microseconds, and lets a cancel or a timeout through.
pub fn wait(micros: i64, event: &WaitEvent) {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    let millis = micros / 1_000;
    // SAFETY: waits as the server's own functions do, on the latch that every interrupt sets.
    unsafe {
        if millis == 0 {
            pg_sys::pg_usleep(micros.max(1));
        } else {
            pg_sys::WaitLatch(pg_sys::MyLatch, events as i32, millis, event.number());
            pg_sys::ResetLatch(pg_sys::MyLatch);
        }
    }
    let_interrupts_through();
}

/// Lets a cancel or a timeout through.
#[inline]
pub fn let_interrupts_through() {
    // SAFETY: as the server's macro does it.
    unsafe {
        if pg_sys::InterruptPending != 0 {
            ProcessInterrupts();
        }
    }
}
