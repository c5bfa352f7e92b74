//! The word of a generator state in shared memory: an atomic integer.

use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use scru_ids::Word;

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
pub type Atomic<T> = <Word<T> as SharedWord>::Atomic;
