//! The allocator of this library: the system's, and a reserve for when that has no memory left.
//!
//! Without memory, Rust aborts the process, and the server then ends all sessions. An allocator must not raise an error instead: neither
//! a panic nor a longjmp may leave it, because the frames of its callers have values to drop, and their states are inconsistent. So the
//! reserve serves the allocation, and the call of the SQL function fails when it has returned. What the library allocates does not grow
//! with the arguments of users, so that the reserve suffices until then.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::{Cell, UnsafeCell};
use core::ptr;
use std::alloc::System;

use crate::pg::process::PerProcess;

/// The pages are those of the process's own data: the system has promised them at its start, and provides them when they are used.
const SIZE: usize = 1 << 19;

#[repr(C, align(16))]
struct Reserve {
    memory: UnsafeCell<[u8; SIZE]>,
    /// The number of bytes that are in use, and of allocations in them. Memory is free again when there is none left.
    used: Cell<usize>,
    allocations: Cell<usize>,
    has_served: Cell<bool>,
}

static RESERVE: PerProcess<Reserve> = PerProcess::new(Reserve {
    memory: UnsafeCell::new([0; SIZE]),
    used: Cell::new(0),
    allocations: Cell::new(0),
    has_served: Cell::new(false),
});

impl Reserve {
    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    /// Allocates memory; null if not enough is left.
    #[cold]
    fn allocate(&self, layout: Layout) -> *mut u8 {
        let base = self.base();
        let start = (base.addr() + self.used.get()).next_multiple_of(layout.align()) - base.addr();
        if start + layout.size() > SIZE {
            return ptr::null_mut();
        }
        self.used.set(start + layout.size());
        self.allocations.update(|allocations| allocations + 1);
        self.has_served.set(true);
        base.wrapping_add(start)
    }

    #[cold]
    fn free(&self) {
        self.allocations.update(|allocations| allocations - 1);
        if self.allocations.get() == 0 {
            self.used.set(0);
        }
    }
}

/// Whether the system has refused an allocation since the last call.
#[inline(always)]
pub fn has_run_out() -> bool {
    RESERVE.has_served.get() && RESERVE.has_served.replace(false)
}

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: memory of the system goes back to the system. Allocations of the reserve do not overlap until all are free. Nothing panics. The
// trait's `realloc` allocates and copies, from either to either.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { RESERVE.allocate(layout) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if memory.addr().wrapping_sub(RESERVE.base().addr()) < SIZE {
            RESERVE.free();
        } else {
            // SAFETY: guaranteed by the caller.
            unsafe { System.dealloc(memory, layout) }
        }
    }
}
