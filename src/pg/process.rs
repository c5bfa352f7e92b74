//! Values that each process of the server has for itself, and what its connection is.

use core::cell::RefCell;
use core::ffi::CStr;
use core::ops::Deref;

use pgrx::pg_sys;

/// The value of a `static` that each process has for itself. It needs no lock: only one thread of a server process runs SQL. A
/// mutable value is in a [`Cell`](core::cell::Cell), or in a [`RefCell`] if it is not `Copy`.
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

/// What a process has looked up, until it forgets it. Few entries: they are searched one by one.
pub struct LookedUp<T>(PerProcess<RefCell<Vec<T>>>);

impl<T: Copy> LookedUp<T> {
    pub const fn new() -> Self {
        Self(PerProcess::new(RefCell::new(Vec::new())))
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    #[inline]
    pub fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        self.0.borrow().iter().find(|&entry| is_wanted(entry)).copied()
    }

    /// As [`Self::find`]; adds the result of `look_up` if there is none. `look_up` may forget the other entries.
    #[inline]
    pub fn find_or(&self, is_wanted: impl Fn(&T) -> bool, look_up: impl FnOnce() -> Option<T>) -> Option<T> {
        self.find(is_wanted).or_else(|| look_up().inspect(|&found| self.0.borrow_mut().push(found)))
    }

    pub fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

pub fn own_database() -> u32 {
    // SAFETY: reads a variable of this process.
    unsafe { pg_sys::MyDatabaseId }.to_u32()
}

/// Whether a coordinator of Citus has opened the connection of this process to query shards. Connections of
/// `run_command_on_all_nodes()` are others.
pub fn is_internal_connection_of_citus() -> bool {
    // SAFETY: the server's setting is a C string, or null before it is set.
    unsafe {
        let name = pg_sys::application_name;
        !name.is_null() && CStr::from_ptr(name).to_bytes().starts_with(b"citus_internal gpid=")
    }
}
