//! The trait [`Type`]: an ID type with the state that a process has of it, and the memory that all processes share.

use core::cell::Cell;

use pgrx::pg_sys::Oid;
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use scru_ids::{FastRange, GeneratedId, Setting, SqlId, State, Stored, Word};
use scru_server::mark::Reserved;

use crate::call::stored::StoredId;
use crate::pg::clock;
use crate::settings::{Configured, Settings};

/// An ID type with the process's state of it. [`crate::symbols`] implements this trait for every ID system.
pub trait Type: StoredId + GeneratedId<State: State<Word: SharedWord>> {
    fn process() -> &'static Process<Self>;
}

/// The process's state of a type.
pub struct Process<T: Type> {
    settings: Settings<T::Settings>,
    /// The state of the process's own generator; `None` before its first ID.
    pub generator: Cell<Option<T::State>>,
    /// The value of [`changes`](crate::settings::changes) for which this process has announced the server's node, which it does before its first ID.
    pub announced: Cell<Option<u32>>,
    /// The shared memory; `None` until it is looked up.
    pub memory: Cell<Option<Memory<T>>>,
    /// The reservation up to which this process knows the database's own mark to reach.
    pub known_carried: Cell<Reserved>,
    /// The sequence that carries it, as last read.
    pub sequence: Cell<Oid>,
    /// The reservation that this process has last asked to renew.
    pub asked: Cell<Reserved>,
    /// The fast path; `None` until a full step opens it.
    pub fast_path: Cell<Option<OpenFastPath<T>>>,
}

impl<T: Type> Process<T> {
    pub const fn new() -> Self {
        Self {
            settings: Settings::new(),
            generator: Cell::new(None),
            announced: Cell::new(None),
            memory: Cell::new(None),
            known_carried: Cell::new(Reserved::NONE),
            sequence: Cell::new(Oid::INVALID),
            asked: Cell::new(Reserved::NONE),
            fast_path: Cell::new(None),
        }
    }
}

impl<T: Type> Configured for T {
    type Values = T::Settings;
    const TABLE: &'static [Setting<T::Settings>] = T::SETTINGS;

    fn state() -> &'static Settings<T::Settings> {
        &T::process().settings
    }
}

/// The fast path opened by the last full step. Its preconditions need no re-check: recovery is never re-entered, and a
/// comparison with `as_of` detects every change of a setting.
pub struct OpenFastPath<T: Type> {
    pub memory: Memory<T>,
    pub range: FastRange<T>,
    /// The value of [`changes`](crate::settings::changes) when the fast path was opened.
    pub as_of: u32,
}

/// The state of a type's high-water mark that the backends share. All fields are initially 0. Except for `reserved`, `flush_time`,
/// `failed` and those of the log messages, they are accessed under the lock of the page only.
#[repr(C)]
pub struct Shared {
    /// A [`Reserved`].
    pub reserved: AtomicU64,
    /// The time that a flush takes, in microseconds; 0 if none has been measured.
    pub flush_time: AtomicU64,
    /// The checksum of the last log message that names the node of the server; 0 if there is none.
    pub announced: AtomicU64,
    /// The log messages that name nodes of databases, as a set of one bit for each.
    pub announced_of_databases: AtomicU64,
    /// The time of the last failure to access the page, in microseconds since 1970-01-01 UTC; 0 if there is none.
    pub failed: AtomicU64,
    /// The fields of [`Pending`](scru_server::protocol::Pending).
    pub pending_reserved: AtomicU64,
    pub pending_position: AtomicU64,
    /// The random number of the run; 0 before the first reservation.
    pub run: AtomicU64,
    /// 1 if a session of a Citus node has been warned that the node is not set.
    pub warned: AtomicU64,
}

impl Shared {
    /// Records that the page could not be accessed.
    #[cold]
    pub fn note_failure(&self) {
        self.failed.store(clock::now() as u64, Ordering::Relaxed);
    }
}

/// A type's shared memory.
#[derive(Clone, Copy)]
pub struct Memory<T: Type> {
    pub word: &'static Atomic<T>,
    pub shared: &'static Shared,
}

/// The word of a generator state that backends share: `u64` or `u128`.
pub trait SharedWord: Copy + Default + Eq + From<u64> + Send + Sync + 'static {
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
pub type Atomic<T> = <Word<T> as SharedWord>::Atomic;

/// Asserts at compile time what the generic functions require of a type.
pub const fn check<T: SqlId>() {
    assert!(T::FIELDS.len() <= 4, "symbols.rs exports functions for four fields");
    assert!(
        T::Stored::BY_VALUE || T::TICKS.max == (1 << 48) - 1 && T::SEQUENCE_BITS as usize + 48 <= 8 * T::Stored::LEN,
        "sort keys and estimates rely on a 48-bit timestamp at the beginning of a type passed by reference"
    );
}
