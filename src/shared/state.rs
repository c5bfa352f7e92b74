//! What the backends share, except for the horizon: the marks and the state of each type. [`memory`](crate::shared::memory) finds it.

use core::sync::atomic::AtomicI64;

use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use scru_ids::GeneratedId;

/// What the backends share of the marks. All fields are initially 0.
#[repr(C, align(64))]
pub struct MarksMemory {
    /// The number of times that a superuser has changed the marks, plus 1; 0 before the page is read.
    pub era: AtomicU64,
    /// The time that a flush takes, in microseconds; 0 if none has been measured.
    pub flush_time: AtomicI64,
    /// The time of the last failure to access the page, in microseconds since 1970-01-01 UTC; 0 if there is none.
    pub failed: AtomicI64,
    /// By [`Mark`](scru_server::mark::Mark). Readers write one of them, so each has a cache line.
    pub marks: [MarkMemory; 2],
}

/// What the backends share of a mark. The protocol documents the fields.
#[repr(C, align(64))]
pub struct MarkMemory {
    /// As `start_in` packs it.
    pub start: AtomicU64,
    pub reserved: AtomicI64,
    pub pending_until: AtomicI64,
    pub pending_position: AtomicU64,
}

/// What the backends share of a type whose word is `A`. All fields are initially 0.
#[repr(C, align(64))]
pub struct TypeMemory<A> {
    pub word: Padded<A>,
    /// The checksum of the last log message that names the node of the server, plus 1; 0 if there is none.
    pub announced: AtomicU64,
    /// The log messages that name nodes of databases, as a set of 64 bits by their checksums.
    pub announced_of_databases: AtomicU64,
    /// 1 if a session of a Citus node has been warned that the node is not set.
    pub warned: AtomicU64,
}

/// 16 bytes, so that the layout is the same for all types.
#[repr(C, align(16))]
pub struct Padded<A>(pub A);

/// The word of a generator state that backends share: `u64` or `u128`.
pub trait SharedWord: Copy + Default + Eq + Send + Sync + 'static {
    /// The word in shared memory.
    type Atomic: Sync + 'static;

    /// Whether the processor has atomic instructions for the word. Their emulation by a lock works only within one process.
    fn is_lock_free() -> bool;

    fn load(word: &Self::Atomic) -> Self;
    /// Replaces `old` by `new` with a compare-and-swap. Returns `false` if another backend has changed the word.
    fn replace(word: &Self::Atomic, old: Self, new: Self) -> bool;
}

macro_rules! shared_word {
    ($word:ty, $atomic:ty) => {
        impl SharedWord for $word {
            type Atomic = $atomic;

            fn is_lock_free() -> bool {
                <$atomic>::is_lock_free()
            }

            fn load(word: &$atomic) -> Self {
                word.load(Ordering::SeqCst)
            }

            fn replace(word: &$atomic, old: Self, new: Self) -> bool {
                word.compare_exchange(old, new, Ordering::SeqCst, Ordering::Relaxed).is_ok()
            }
        }
    };
}

shared_word!(u64, AtomicU64);
shared_word!(u128, AtomicU128);

/// The word of an ID type in shared memory.
pub type Atomic<T> = <<T as GeneratedId>::State as SharedWord>::Atomic;
