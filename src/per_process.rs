//! Memory of one server process.

use core::cell::UnsafeCell;

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
