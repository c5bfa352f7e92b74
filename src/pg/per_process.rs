//! Values private to one server process.

use core::ops::Deref;

/// A value private to the process, for a static. It needs no lock, because only one thread of a server process runs SQL. A value
/// that changes is in a [`Cell`](core::cell::Cell), or in a [`RefCell`](core::cell::RefCell) if it is not copied.
pub struct PerProcess<T>(T);

// SAFETY: only the thread that runs SQL accesses the value.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
    /// Wraps the initial value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for PerProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
