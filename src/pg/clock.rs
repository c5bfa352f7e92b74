//! The clocks of the operating system, and interruptible waits.

use core::cell::OnceCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::ptr;

use pgrx::pg_sys;

use crate::pg::server;
use crate::pg::unguarded::ProcessInterrupts;

/// A wait event, as shown in pg_stat_activity. Each process looks up its number once.
pub struct WaitEvent(&'static CStr, OnceCell<u32>);

impl WaitEvent {
    pub const fn new(name: &'static CStr) -> Self {
        Self(name, OnceCell::new())
    }
}

/// The time of the system clock, in microseconds since 1970-01-01 UTC. Like GetCurrentTimestamp(), calls gettimeofday().
#[inline]
pub fn now() -> i64 {
    let mut now = MaybeUninit::<libc::timeval>::uninit();
    // SAFETY: gettimeofday() initializes `now`. It fails only if the pointer is invalid.
    let now = unsafe {
        libc::gettimeofday(now.as_mut_ptr(), ptr::null_mut());
        now.assume_init()
    };
    #[allow(clippy::useless_conversion, reason = "tv_usec has 32 bits on macOS")]
    let micros = i64::from(now.tv_usec);
    now.tv_sec * 1_000_000 + micros
}

/// Waits until the clock reaches `until`, in microseconds since 1970-01-01 UTC, or moves back. Processes interrupts.
pub fn wait_until(until: i64, event: &WaitEvent) {
    let mut left = until - now();
    while left > 0 {
        wait(left, event);
        // A set latch ends the wait early. Returning here would be wrong: before `until`, the next step of a generator can be
        // refused.
        let still_left = until - now();
        if still_left > left {
            return;
        }
        left = still_left;
    }
}

/// Waits for at most `micros` microseconds. Processes interrupts.
pub fn wait(micros: i64, WaitEvent(name, number): &WaitEvent) {
    let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    let millis = micros / 1_000;
    // SAFETY: MyLatch is the latch of this process. Every interrupt sets it.
    unsafe {
        if millis == 0 {
            // The timeout of WaitLatch() is in whole milliseconds.
            pg_sys::pg_usleep(micros.max(1));
        } else {
            let number = *number.get_or_init(|| server::wait_event(name));
            pg_sys::WaitLatch(pg_sys::MyLatch, events as i32, millis, number);
            pg_sys::ResetLatch(pg_sys::MyLatch);
        }
    }
    pgrx::check_for_interrupts!();
}

/// Processes pending interrupts, such as a query cancel or a timeout, without pgrx's guard: the frames of the callers have nothing to
/// drop.
#[inline]
pub fn check_for_interrupts() {
    // SAFETY: as in the server's macro CHECK_FOR_INTERRUPTS().
    if unsafe { pg_sys::InterruptPending } != 0 {
        ProcessInterrupts();
    }
}
