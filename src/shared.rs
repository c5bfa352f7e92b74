//! Server-wide generators: one atomic word a type in shared memory, and no lock at all, so that a backend that is killed
//! in the middle leaves nothing held.
//!
//! It needs no preloading: the first backend that draws makes the word. Where the library is preloaded, the postmaster
//! makes it at its start, so that by the first draw no ID of a forgotten predecessor has to be waited out.

use std::ffi::CString;
use std::path::Path;

use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_guard, pg_sys};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use scru_ids::{Context, State, Step, Stretch, Word, registry};

use crate::datum::Type;
use crate::error::Error;
use crate::process::{PerProcess, with_random};
use crate::{generate, server, settings};

/// Every word has this room, whichever it is.
const ROOM: usize = size_of::<u128>();

/// A generator's state as one word, and how processes share it.
pub trait SharedWord: Copy + Default + Eq + Send + Sync + 'static {
    /// The word in shared memory.
    type Atomic: Sync + 'static;

    /// Whether the processor changes such a word in one step. What emulates that with a lock knows one process only.
    fn is_lock_free() -> bool;

    /// The word + 1.
    fn next(self) -> Self;

    /// The word as it is.
    fn load(word: &Self::Atomic) -> Self;

    /// Puts `new` in place of `old`, or returns false if another backend was faster.
    fn replace(word: &Self::Atomic, old: Self, new: Self) -> bool;
}

macro_rules! shared_word {
    ($word:ty, $atomic:ty) => {
        impl SharedWord for $word {
            type Atomic = $atomic;

            fn is_lock_free() -> bool {
                <$atomic>::is_lock_free()
            }

            fn next(self) -> Self {
                self + 1
            }

            fn load(word: &$atomic) -> Self {
                word.load(Ordering::Acquire)
            }

            fn replace(word: &$atomic, old: Self, new: Self) -> bool {
                word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            }
        }
    };
}

shared_word!(u64, AtomicU64);
shared_word!(u128, AtomicU128);

/// The word of an ID type's generator, in shared memory.
pub type Atomic<T> = <Word<T> as SharedWord>::Atomic;

/// One step from the state that all backends of the server share, or nothing if another backend was faster. The clock is
/// read after the state: read before, it would seem to have moved back where others went on in between.
///
/// # Errors
/// If there is no shared memory, or no random numbers.
pub fn step<T: Type>(context: impl FnOnce() -> Context<T::Settings>) -> Result<Option<Step<T>>, Error> {
    let word = word::<T>()?;
    let old = Word::<T>::load(word);
    let context = context();
    // Nobody has drawn yet, as far as is remembered.
    let state = if old == Word::<T>::default() { T::successor_state(context.now) } else { T::State::unpack(old) };
    let step = with_random(|rng| T::step(state, &context, rng))?;
    let new = match step {
        Step::Made(next, _) => next.pack(),
        // Where the wait began has to be remembered, or it would begin anew with every call.
        Step::Wait(_) | Step::Refused(_) => state.pack(),
    };
    let is_current = new == old || Word::<T>::replace(word, old, new);
    if let (true, Step::Made(_, id), Some(count)) = (is_current, step, T::COUNT) {
        let stretch = (count.stretch)(id, &context.settings);
        T::process().counting.with(|kept| *kept = Some(Counting { word, stretch, as_of: settings::changes() }));
    }
    Ok(is_current.then_some(step))
}

/// The stretch that this process has come to by its last whole [`step`]. What is asked before that stays answered: a server that
/// has left recovery never enters it again, and a setting is refused as it is defined or never.
pub struct Counting<T: Type> {
    word: &'static Atomic<T>,
    stretch: Stretch<T>,
    /// The settings that it was made with.
    as_of: u32,
}

/// The next ID where the type counts on from the state that all backends share, as it does most of the time. Nothing where
/// it takes a whole [`step`], or where another backend was faster.
#[inline(always)]
pub fn count<T: Type>() -> Option<T> {
    let count = T::COUNT?;
    T::process().counting.with(|counting| {
        let Counting { word, stretch, as_of } = counting.as_ref()?;
        let old = Word::<T>::load(word);
        let is_in_stretch = stretch.words.contains(&old) && *as_of == settings::changes();
        if !is_in_stretch || !stretch.times.contains(&generate::unix_micros()) {
            return None;
        }
        let new = old.next();
        Word::<T>::replace(word, old, new).then(|| (count.id)(new))
    })
}

#[inline]
fn word<T: Type>() -> Result<&'static Atomic<T>, Error> {
    match T::process().shared.with(|word| *word) {
        Some(word) => Ok(word),
        None => look_up_word::<T>(),
    }
}

/// Finds the word, or makes it, and keeps where it is.
#[cold]
#[inline(never)]
fn look_up_word<T: Type>() -> Result<&'static Atomic<T>, Error> {
    if !Word::<T>::is_lock_free() {
        let message = format!("server-wide generation of {} is not supported on this processor", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .detail("It has no atomic operation on 128 bits.")
            .hint("Set scru.generator_scope to \"backend\"."));
    }
    let memory = PgTryBuilder::new(|| Ok(server::shared_memory(&segment_name::<T>(), ROOM)))
        .catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory()))
        .execute()?;
    // SAFETY: the memory has room for the word, is aligned for it, zero at first, and stays for the life of the process.
    let word = unsafe { &*memory.cast::<Atomic<T>>() };
    T::process().shared.with(|kept| *kept = Some(word));
    Ok(word)
}

/// The name under which the backends find a type's word. A word laid out otherwise needs another version.
fn segment_name<T: Type>() -> CString {
    CString::new(format!("scru {} generator v1", T::NAME)).unwrap_or_default()
}

#[cold]
fn no_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the few bytes needed.")
}

static NEXT_REQUEST_HOOK: PerProcess<pg_sys::shmem_request_hook_type> = PerProcess::new(None);
static NEXT_STARTUP_HOOK: PerProcess<pg_sys::shmem_startup_hook_type> = PerProcess::new(None);

/// Reserves the words at the server's start. For `_PG_init`; does nothing unless the library is being preloaded.
pub fn reserve() {
    // SAFETY: the postmaster's hooks, chained as the server asks for.
    unsafe {
        if pg_sys::process_shared_preload_libraries_in_progress {
            NEXT_REQUEST_HOOK.with(|next| *next = pg_sys::shmem_request_hook);
            NEXT_STARTUP_HOOK.with(|next| *next = pg_sys::shmem_startup_hook);
            pg_sys::shmem_request_hook = Some(request);
            pg_sys::shmem_startup_hook = Some(startup);
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn request() {
    // SAFETY: called by the postmaster when requests are due.
    unsafe {
        if let Some(next) = NEXT_REQUEST_HOOK.with(|next| *next) {
            next();
        }
        macro_rules! request {
            ($name:ident, $id:ident, $sql:literal) => {
                pg_sys::RequestAddinShmemSpace(ROOM);
            };
        }
        registry!(request);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn startup() {
    // SAFETY: called by the postmaster when shared memory is there, also anew after a crash.
    unsafe {
        if let Some(next) = NEXT_STARTUP_HOOK.with(|next| *next) {
            next();
        }
        macro_rules! start {
            ($name:ident, $id:ident, $sql:literal) => {
                start::<scru_ids::$id>();
            };
        }
        registry!(start);
    }
}

/// Makes a type's word, and remembers the moment from which on a predecessor's IDs need no more waiting.
unsafe fn start<T: Type>() {
    let mut found = false;
    // SAFETY: as in `word`; the children of the postmaster inherit the address.
    unsafe {
        let memory = pg_sys::ShmemInitStruct(segment_name::<T>().as_ptr(), ROOM, &mut found);
        let word = &*memory.cast::<Atomic<T>>();
        T::process().shared.with(|kept| *kept = Some(word));
        if !found && !becomes_standby() {
            Word::<T>::replace(word, Word::<T>::default(), T::successor_state(generate::unix_micros()).pack());
        }
    }
}

/// Whether the server that starts is a standby. Its predecessor is its primary, which goes on until the promotion: the first
/// draw after that makes the state. These are the files by which the server itself knows, in its working directory.
fn becomes_standby() -> bool {
    ["standby.signal", "recovery.signal"].iter().any(|file| Path::new(file).exists())
}
