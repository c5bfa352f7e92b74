//! Values that each process of the server has for itself.

use core::ops::Deref;

/// The value of a `static` that each process has for itself. It needs no lock: only one thread of a server process runs SQL. A
/// mutable value is in a [`Cell`](core::cell::Cell), or in a [`RefCell`](core::cell::RefCell) if it is not `Copy`.
pub struct PerProcess<T>(T);

// SAFETY: only the thread that runs SQL accesses the value.
unsafe impl<T> Sync for PerProcess<T> {}

impl<T> PerProcess<T> {
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
