//! Values private to one server process.

use core::cell::UnsafeCell;

/// A value private to the process. It needs no lock, because only one thread of a server process runs SQL.
pub struct PerProcess<T>(UnsafeCell<T>);

// SAFETY: only the thread that runs SQL accesses the value.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// Wraps the initial value.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `use_it` with the value. `use_it` must not access the same value again, nor let the server raise an error.
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: there is one thread, and every caller in this crate keeps the rule above, which excludes a second borrow.
        use_it(unsafe { &mut *self.0.get() })
    }
}
