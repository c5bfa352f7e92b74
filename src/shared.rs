//! Server-wide generators: one shared word per type, an atomic integer in shared memory.
//!
//! The backends use no lock, so a backend that is killed leaves none held. Preloading is optional: the first backend that needs
//! the word allocates it. The backends also share the state of the durable high-water mark ([`crate::mark`]): an ID of a
//! server-wide type is generated only after the IDs of its node up to its tick have been reserved durably.

use std::ffi::CString;
use std::path::Path;

use pgrx::{PgSqlErrorCode as SqlState, PgTryBuilder, pg_guard, pg_sys};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use rand::RngExt;
use scru_ids::mark::{self as decide, Cover, Entry, Mark, NodeCode, Reservation};
use scru_ids::{Context, FastRange, SortableId, State, Step, Word, registry};

use crate::datum;
use crate::error::Error;
use crate::mark::{self, Record};
use crate::per_process::PerProcess;
use crate::random::with_random;
use crate::settings::Configured;
use crate::{clock, promotion, server, settings};

/// The size of a word in shared memory, in bytes. It is the same for all types.
const WORD_SIZE: usize = size_of::<u128>();

/// The size of [`Shared`], in bytes.
const SHARED_SIZE: usize = size_of::<Shared>();

/// The size of one allocation in the main segment of shared memory, in bytes. The server rounds each size up to a cache line.
const ALLOCATION_SIZE: usize = 128;

/// The word of a generator state that backends share: `u64` or `u128`.
pub trait SharedWord: Copy + Default + Eq + From<u64> + Send + Sync + 'static {
    /// The word in shared memory.
    type Atomic: Sync + 'static;

    /// Returns whether the processor has atomic instructions for the word. Their emulation by a lock works only within one
    /// process.
    fn is_lock_free() -> bool;

    /// Returns the word + 1.
    fn next(self) -> Self;

    /// Returns the lower 64 bits.
    fn low(self) -> u64;

    /// Loads the word.
    fn load(word: &Self::Atomic) -> Self;

    /// Stores a word unconditionally.
    fn store(word: &Self::Atomic, new: Self);

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

            fn next(self) -> Self {
                self + 1
            }

            fn low(self) -> u64 {
                self as u64
            }

            fn load(word: &$atomic) -> Self {
                word.load(Ordering::Acquire)
            }

            fn store(word: &$atomic, new: Self) {
                word.store(new, Ordering::Release);
            }

            fn replace(word: &$atomic, old: Self, new: Self) -> bool {
                word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            }
        }
    };
}

shared_word!(u64, AtomicU64);
shared_word!(u128, AtomicU128);

/// The word of an ID type in shared memory.
pub type Atomic<T> = <Word<T> as SharedWord>::Atomic;

/// An ID type whose generator state fits into a shared word.
pub trait SharedState: Configured + SortableId<State: State<Word: SharedWord>> {
    /// Returns the process's view of the shared state.
    fn shared_state() -> &'static ProcessState<Self>;
}

/// The process's view of a type's shared state.
pub struct ProcessState<T: SharedState> {
    /// The shared memory; `None` until it is looked up.
    memory: PerProcess<Option<Memory<T>>>,
    /// Whether this process has ensured that the reservation respects the last promotion.
    respects_promotion: PerProcess<bool>,
    /// The fast path; `None` until a full [`step`] opens it.
    fast_path: PerProcess<Option<OpenFastPath<T>>>,
}

impl<T: SharedState> ProcessState<T> {
    /// Creates the initial view.
    pub const fn new() -> Self {
        Self {
            memory: PerProcess::new(None),
            respects_promotion: PerProcess::new(false),
            fast_path: PerProcess::new(None),
        }
    }
}

/// The state of a type's high-water mark that the backends share. All fields are initially 0.
#[repr(C)]
pub struct Shared {
    /// The packed [`Reservation`].
    reserved: AtomicU64,
    /// The claim to write the next reservation: its time by [`clock::monotonic_micros`], or [`decide::SETS_MARK`]; 0 if there is
    /// none.
    claim: AtomicU64,
    /// The random number of this state; 0 before the first reservation.
    state: AtomicU64,
    /// The number of the state that ended with `start`; 0 if there is none.
    predecessor: AtomicU64,
    /// The word with which this state starts; 0 if it is unknown.
    start: AtomicU64,
    /// The timeline of the last promotion whose mark is written and which the reservation respects; 0 if there is none.
    promotion: AtomicU64,
    /// The generation: the number of times that the reservation was withdrawn.
    generation: AtomicU64,
    /// 1 if the node has been logged, otherwise 0.
    announced: AtomicU64,
}

/// A type's shared memory.
#[derive(Clone, Copy)]
pub struct Memory<T: SharedState> {
    word: &'static Atomic<T>,
    shared: &'static Shared,
}

/// Takes a full step from the state that all backends of the server share. Returns `None` if the step must be repeated, because
/// another backend has changed the state or because a reservation was required first.
///
/// The clock is read after the state. If it were read before, and other backends advanced the state in between, the clock would
/// seem to have moved back.
///
/// # Errors
/// Returns an error if shared memory or random numbers are not available, or if the high-water mark cannot be read or written.
#[inline(always)]
pub fn step<T: SharedState>(context: impl FnOnce() -> Context<T::Settings>) -> Result<Option<Step<T>>, Error> {
    let memory = memory::<T>()?;
    memory.respect_promotion()?;
    let generation = memory.shared.generation.load(Ordering::Acquire);
    let old = Word::<T>::load(memory.word);
    let reserved = memory.shared.reserved.load(Ordering::Acquire);
    let context = context();
    let node = T::node(&context.settings);
    if !Reservation::unpack::<T>(reserved).is_some_and(|reservation| reservation.node == node) {
        return memory.enter(old, reserved, node, context.now);
    }
    let step = with_random(|rng| T::step(T::State::unpack(old), &context, rng))?;
    let Step::Made(next, id) = step else { return Ok(Some(step)) };
    let cover = if T::SERVER_WIDE { decide::cover::<T>(reserved, node, id.tick()) } else { Cover::Within };
    if cover == Cover::Outside {
        memory.reserve(old, node, id.tick())?;
        return Ok(None);
    }
    if !Word::<T>::replace(memory.word, old, next.pack()) {
        return Ok(None);
    }
    // The compare-and-swap alone does not prove that the reservation is still valid: after the word was loaded, a backend that
    // sets the mark may have withdrawn the reservation and stored the same word again. Such a backend changes the generation
    // before it stores the word.
    if memory.shared.generation.load(Ordering::Acquire) != generation {
        return Ok(None);
    }
    if let Some(fast_path) = T::FAST_PATH {
        let (word, range) = (memory.word, (fast_path.range)(id, &context.settings));
        T::shared_state()
            .fast_path
            .with(|state| *state = Some(OpenFastPath { word, range, as_of: settings::changes() }));
    }
    if cover == Cover::Last {
        memory.reserve_ahead(next.pack(), node, id.tick());
    }
    Ok(Some(step))
}

impl<T: SharedState> Memory<T> {
    /// Prepares the first step of a node: raises the word above all IDs that predecessors of this state may have generated, and
    /// makes the node's first reservation. Returns `None` if the step must be repeated; otherwise a wait or a refusal.
    ///
    /// # Errors
    /// Returns an error if the high-water mark cannot be read or written, or if random numbers are not available.
    #[cold]
    #[inline(never)]
    fn enter(self, old: Word<T>, reserved: u64, node: NodeCode, now: i64) -> Result<Option<Step<T>>, Error> {
        let records = mark::read::<T>()?;
        // Loaded after the records are read: the number of a state is stored before its first record is written. Each record of
        // this state is therefore recognized as its own.
        let own = [&self.shared.state, &self.shared.predecessor].map(|state| state.load(Ordering::Acquire));
        let floor = decide::floor(records.into_iter().filter_map(Record::mark), node, own);
        let start = self.start(now);
        let word = match with_random(|rng| decide::enter::<T>(old, start, floor, now, rng))? {
            Entry::Ready => old,
            Entry::Raise(new) if Word::<T>::replace(self.word, old, new) => new,
            Entry::Raise(_) => return Ok(None),
            Entry::Wait(until) => return Ok(Some(Step::Wait(until))),
            Entry::Refused(refusal) => return Ok(Some(Step::Refused(refusal))),
        };
        if T::SERVER_WIDE {
            self.reserve(word, node, decide::first_tick::<T>(word, now))?;
        } else {
            let entered = Reservation { node, until: 0 }.pack::<T>();
            let _ = self.shared.reserved.compare_exchange(reserved, entered, Ordering::AcqRel, Ordering::Relaxed);
        }
        Ok(None)
    }

    /// Returns the word with which this state starts. The first call determines it for all backends.
    fn start(self, now: i64) -> Word<T> {
        let start = decide::start::<T>(Word::<T>::from(self.shared.start.load(Ordering::Acquire)), now);
        match self.shared.start.compare_exchange(0, start.low(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => start,
            Err(start) => Word::<T>::from(start),
        }
    }

    /// Ensures that this or another backend reserves the node's IDs at least up to a tick. Makes no reservation if `word`, the
    /// word that requires it, has been set back. The caller must repeat its step in both cases.
    ///
    /// # Errors
    /// Returns an error if the reservation cannot be written.
    #[cold]
    #[inline(never)]
    fn reserve(self, word: Word<T>, node: NodeCode, tick: u64) -> Result<(), Error> {
        loop {
            let reserved = self.shared.reserved.load(Ordering::Acquire);
            if decide::cover::<T>(reserved, node, tick) != Cover::Outside {
                return Ok(());
            }
            let Some(generation) = self.generation_of(word) else { return Ok(()) };
            if let Some(_claim) = self.claim() {
                return self.write(reserved, generation, node, tick);
            }
            clock::wait(1_000, &clock::MARK);
        }
    }

    /// Makes the next reservation before it is required, unless another backend holds the claim. Ignores errors: the backend that
    /// requires the reservation raises them.
    #[cold]
    #[inline(never)]
    fn reserve_ahead(self, word: Word<T>, node: NodeCode, tick: u64) {
        let Some(generation) = self.generation_of(word) else { return };
        if let Some(_claim) = self.claim() {
            let reserved = self.shared.reserved.load(Ordering::Acquire);
            if decide::cover::<T>(reserved, node, tick) == Cover::Last {
                let _ = self.write(reserved, generation, node, tick);
            }
        }
    }

    /// Returns the generation of the reservations for a word; `None` if the word has been set back.
    ///
    /// The generation is loaded before the word, while `set_mark_claimed` stores the word before it changes the generation for
    /// the last time. A backend that loads the last generation therefore also finds that the word has been set back. No
    /// reservation for the old word is made in that generation.
    fn generation_of(self, word: Word<T>) -> Option<u64> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        (!decide::is_set_back::<T>(Word::<T>::load(self.word), word)).then_some(generation)
    }

    /// Writes the mark of a reservation durably, then publishes the reservation in place of `reserved`. Writes no mark if the
    /// generation has ended, and publishes nothing if another backend has withdrawn or replaced `reserved` in the meantime.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written, or if random numbers are not available.
    fn write(self, reserved: u64, generation: u64, node: NodeCode, tick: u64) -> Result<(), Error> {
        let reservation = Reservation::from::<T>(node, tick);
        let until = Mark { node, tick: reservation.until, state: self.state()? };
        // Listed before the mark is written: a lower record that appears later may belong to a new generation, after the mark was
        // set back, and must remain.
        let below = mark::list::<T>(|record| matches!(record, Record::Mark(mark) if until.replaces(mark)));
        let is_wanted = || self.shared.generation.load(Ordering::Acquire) == generation;
        if !mark::write::<T>(Record::Mark(until), is_wanted)? {
            return Ok(());
        }
        let new = reservation.pack::<T>();
        if self.shared.reserved.compare_exchange(reserved, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            mark::remove_but_highest::<T>(below);
        }
        Ok(())
    }

    /// Returns the number of this state, which the first call generates.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be prepared, or if random numbers are not available.
    fn state(self) -> Result<u64, Error> {
        let state = &self.shared.state;
        if state.load(Ordering::Acquire) == 0 {
            // Before the number is stored: a backend that finds a number relies on a prepared directory.
            mark::prepare::<T>()?;
            let random = with_random(|rng| rng.random_range(1..Mark::PROMOTION))?;
            let _ = state.compare_exchange(0, random, Ordering::AcqRel, Ordering::Relaxed);
        }
        Ok(state.load(Ordering::Acquire))
    }

    /// Claims the right to write a reservation. Returns `None` if another backend holds a claim that has not expired. A claim
    /// expires because its holder may be suspended.
    fn claim(self) -> Option<Claim> {
        let now = clock::monotonic_micros();
        self.claim_as(now, now)
    }

    fn claim_as(self, value: u64, now: u64) -> Option<Claim> {
        let holder = &self.shared.claim;
        let old = holder.load(Ordering::Acquire);
        let is_taken = decide::is_free(old, now)
            && holder.compare_exchange(old, value, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        is_taken.then_some(Claim { holder, value })
    }

    /// Withdraws the reservation, so that every node enters again. The generation changes last: a backend that loads the new
    /// generation finds no reservation of an earlier one.
    fn withdraw(self) {
        let generation = self.shared.generation.load(Ordering::Acquire) + 1;
        self.shared.reserved.store(Reservation::none::<T>(generation), Ordering::Release);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Ensures that the reservation respects the mark of the last promotion, if there is one. Each process does this once after
    /// recovery: recovery is never re-entered.
    ///
    /// # Errors
    /// Returns an error if the WAL cannot be read or the marks of the promotion cannot be written.
    #[inline(always)]
    fn respect_promotion(self) -> Result<(), Error> {
        if T::shared_state().respects_promotion.with(|respects| *respects) { Ok(()) } else { self.apply_promotion() }
    }

    #[cold]
    #[inline(never)]
    fn apply_promotion(self) -> Result<(), Error> {
        if promotion::is_in_recovery() {
            return Ok(());
        }
        if let Some(timeline) = promotion::timeline()
            && self.shared.promotion.load(Ordering::Acquire) != u64::from(timeline)
        {
            promotion::write_marks()?;
            // Before the timeline is stored: a backend that finds the timeline must not find a reservation from before the
            // promotion.
            self.withdraw();
            self.shared.promotion.store(timeline.into(), Ordering::Release);
        }
        T::shared_state().respects_promotion.with(|respects| *respects = true);
        Ok(())
    }

    /// Sets the mark of a node, and the state of the whole server, to a tick. The claim does not expire, so no other backend
    /// starts to write a reservation in the meantime.
    ///
    /// # Errors
    /// Returns an error if the mark cannot be written, if a replaced record cannot be removed, or if random numbers are not
    /// available.
    fn set_mark(self, node: NodeCode, tick: u64) -> Result<(), Error> {
        loop {
            if let Some(_claim) = self.claim_as(decide::SETS_MARK, clock::monotonic_micros()) {
                return self.set_mark_claimed(Mark { node, tick, state: 0 });
            }
            clock::wait(1_000, &clock::MARK);
        }
    }

    /// Sets the mark while this backend holds the claim.
    ///
    /// A backend that was suspended while it wrote a reservation must not restore a record that this function removes. Such a
    /// backend checks the generation before it renames its temporary file, so this function ends the generation before it removes
    /// files. It removes the temporary files first: a backend that has passed the check then has no file to rename. It removes
    /// the records last, including those that were renamed in between.
    fn set_mark_claimed(self, asked: Mark) -> Result<(), Error> {
        let removed = mark::list::<T>(|record| matches!(record, Record::Mark(old) if asked.removes(old)));
        let new = asked.in_place_of(removed.into_iter().filter_map(Record::mark));
        mark::write::<T>(Record::Mark(new), || true)?;
        promotion::forget::<T>()?;
        self.withdraw();
        mark::remove_for_good::<T>(|record| record.mark().is_none_or(|old| old != new && asked.removes(old)))?;
        // The word is set back below the IDs of other nodes as well. Without the numbers of this state and its predecessor, the
        // remaining marks count as those of other states, so that their nodes enter above them.
        self.shared.state.store(0, Ordering::Release);
        self.shared.predecessor.store(0, Ordering::Release);
        let word = with_random(|rng| T::state_after(asked.tick, rng))?.pack();
        Word::<T>::store(self.word, word);
        // After the word is stored: reservations for the old word belong to an earlier generation.
        self.withdraw();
        Ok(())
    }
}

/// The right of a backend to write the durable mark, until the claim is dropped or expires.
struct Claim {
    holder: &'static AtomicU64,
    value: u64,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.holder.compare_exchange(self.value, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Sets the high-water mark of a type's generator, for this session's node, to a time.
///
/// # Errors
/// Returns an error if shared memory is not available, or if the mark cannot be written.
pub fn set_mark<T: SharedState>(micros: i64) -> Result<(), Error> {
    memory::<T>()?.set_mark(T::node(&settings::of::<T>()), T::TICKS.nearest(micros))
}

/// The status of a type's server-wide generator.
pub struct Status<T: SortableId> {
    /// The state; `None` if it is unused.
    pub state: Option<T::State>,
    /// The start of the last reserved tick, in microseconds since 1970-01-01 UTC; `None` if there is no reservation.
    pub reserved_until: Option<i64>,
}

/// Returns the status of a type's server-wide generator.
///
/// # Errors
/// Returns an error if shared memory is not available.
pub fn status<T: SharedState>() -> Result<Status<T>, Error> {
    if !Word::<T>::is_lock_free() {
        return Ok(Status { state: None, reserved_until: None });
    }
    let memory = memory::<T>()?;
    let word = Word::<T>::load(memory.word);
    let reserved = Reservation::unpack::<T>(memory.shared.reserved.load(Ordering::Acquire));
    Ok(Status {
        state: (word != Word::<T>::default()).then(|| T::State::unpack(word)),
        reserved_until: reserved.filter(|_| T::SERVER_WIDE).map(|reserved| T::TICKS.start(reserved.until)),
    })
}

/// Returns whether the node is still to be logged: `true` only for the first call by any process after a start of the server.
///
/// # Errors
/// Returns an error if shared memory is not available.
pub fn is_unannounced<T: SharedState>() -> Result<bool, Error> {
    Ok(memory::<T>()?.shared.announced.swap(1, Ordering::Relaxed) == 0)
}

/// The fast path opened by the last full [`step`]. Its preconditions need no re-check: recovery is never re-entered, and a
/// comparison with `as_of` detects every change of a setting.
pub struct OpenFastPath<T: SharedState> {
    word: &'static Atomic<T>,
    range: FastRange<T>,
    /// The value of [`settings::changes`] when the fast path was opened.
    as_of: u32,
}

/// Returns the next ID by the fast path: one compare-and-swap of the shared word. Returns `None` if a full [`step`] is required,
/// or if another backend was faster.
#[inline(always)]
pub fn draw_fast<T: SharedState>() -> Option<T> {
    let fast_path = T::FAST_PATH?;
    T::shared_state().fast_path.with(|open| {
        let OpenFastPath { word, range, as_of } = open.as_ref()?;
        let old = Word::<T>::load(word);
        let is_in_range = range.words.contains(&old) && *as_of == settings::changes();
        if !is_in_range || !range.times.contains(&clock::now()) {
            return None;
        }
        let new = old.next();
        Word::<T>::replace(word, old, new).then(|| (fast_path.id)(new))
    })
}

#[inline]
fn memory<T: SharedState>() -> Result<Memory<T>, Error> {
    match T::shared_state().memory.with(|memory| *memory) {
        Some(memory) => Ok(memory),
        None => look_up::<T>(),
    }
}

/// Finds or allocates the shared memory, and keeps its address.
///
/// # Errors
/// 0A000 if the processor has no atomic instructions for the word, 53200 if not enough shared memory is left.
#[cold]
#[inline(never)]
fn look_up<T: SharedState>() -> Result<Memory<T>, Error> {
    if !Word::<T>::is_lock_free() {
        let message = format!("server-wide generation of {} is not supported on this processor", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .detail("The processor has no atomic operation on 128 bits.")
            .hint("Set scru.generator_scope to \"backend\"."));
    }
    let find = || {
        let word = server::shared_memory::<WORD_SIZE>(&word_name::<T>());
        Ok((word, server::shared_memory::<SHARED_SIZE>(&mark_name::<T>())))
    };
    let (word, shared) =
        PgTryBuilder::new(find).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory())).execute()?;
    // SAFETY: each allocation has the size and the alignment of its type, is initially zero, and remains for the life of the
    // process.
    let memory = unsafe { Memory { word: &*word.cast::<Atomic<T>>(), shared: &*shared.cast::<Shared>() } };
    T::shared_state().memory.with(|state| *state = Some(memory));
    Ok(memory)
}

/// Returns the name by which the backends find a type's word. Another layout of the word requires another version in the name.
fn word_name<T: SharedState>() -> CString {
    datum::c_string(format!("scru {} generator v1", T::NAME))
}

/// Returns the name by which the backends find a type's [`Shared`].
fn mark_name<T: SharedState>() -> CString {
    datum::c_string(format!("scru {} mark v1", T::NAME))
}

#[cold]
fn no_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the few bytes needed.")
}

static PREV_SHMEM_REQUEST_HOOK: PerProcess<pg_sys::shmem_request_hook_type> = PerProcess::new(None);
static PREV_SHMEM_STARTUP_HOOK: PerProcess<pg_sys::shmem_startup_hook_type> = PerProcess::new(None);

/// Installs the hooks that allocate shared memory. Must be called from `_PG_init` when the server starts.
pub fn preload() {
    // SAFETY: sets hooks of the postmaster. Each hook calls the one that it replaces, as the server requires.
    unsafe {
        PREV_SHMEM_REQUEST_HOOK.with(|prev| *prev = pg_sys::shmem_request_hook);
        PREV_SHMEM_STARTUP_HOOK.with(|prev| *prev = pg_sys::shmem_startup_hook);
        pg_sys::shmem_request_hook = Some(request);
        pg_sys::shmem_startup_hook = Some(startup);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn request() {
    // SAFETY: the postmaster calls this hook when libraries may request shared memory.
    unsafe {
        if let Some(prev) = PREV_SHMEM_REQUEST_HOOK.with(|prev| *prev) {
            prev();
        }
        macro_rules! request {
            ($name:ident, $id:ident) => {
                pg_sys::RequestAddinShmemSpace(2 * ALLOCATION_SIZE);
            };
        }
        registry!(request);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn startup() {
    // SAFETY: the postmaster calls this hook after it has created shared memory, at the start and after a crash.
    unsafe {
        if let Some(prev) = PREV_SHMEM_STARTUP_HOOK.with(|prev| *prev) {
            prev();
        }
        macro_rules! start {
            ($name:ident, $id:ident) => {
                start::<scru_ids::$id>();
            };
        }
        registry!(start);
        if !pg_sys::IsUnderPostmaster {
            pg_sys::on_shmem_exit(Some(shutdown), pg_sys::Datum::null());
        }
    }
}

/// Allocates a type's shared memory. For a server-wide type, also stores the word with which its state starts: the last word of
/// its predecessor. If that word is unknown, stores a word above all IDs that a predecessor may have generated until now. In
/// archive recovery, stores no word.
///
/// # Safety
/// Must be called from the startup hook of shared memory.
unsafe fn start<T: SharedState>() {
    if !Word::<T>::is_lock_free() {
        return;
    }
    let mut found = false;
    // SAFETY: as in `look_up`. The children of the postmaster inherit the addresses.
    let memory = unsafe {
        let word = pg_sys::ShmemInitStruct(word_name::<T>().as_ptr(), WORD_SIZE, &mut found);
        let shared = pg_sys::ShmemInitStruct(mark_name::<T>().as_ptr(), SHARED_SIZE, &mut found);
        Memory::<T> { word: &*word.cast::<Atomic<T>>(), shared: &*shared.cast::<Shared>() }
    };
    T::shared_state().memory.with(|state| *state = Some(memory));
    if found || !T::SERVER_WIDE {
        return;
    }
    let last = take_last::<T>();
    if starts_in_archive_recovery() {
        return;
    }
    let start = match last {
        Some((state, word)) => {
            memory.shared.predecessor.store(state, Ordering::Release);
            word
        }
        None => T::successor_state(clock::now()).pack().low(),
    };
    memory.shared.start.store(start, Ordering::Release);
}

/// Removes the record of the last shutdown, which is valid for one start only, and returns its content: the number and the last
/// word of the predecessor. Returns `None` if there is no such record, or if it cannot be read or removed.
fn take_last<T: SharedState>() -> Option<(u64, u64)> {
    let records = mark::read::<T>().ok()?;
    let last = records.into_iter().filter_map(|record| match record {
        Record::Last { state, word } => Some((state, word)),
        Record::Mark(_) => None,
    });
    let last = last.max_by_key(|(_, word)| *word)?;
    mark::remove_for_good::<T>(|record| matches!(record, Record::Last { .. })).ok()?;
    Some(last)
}

/// Writes the last word of each server-wide type when the postmaster exits after a shutdown: no other process is left to change
/// it. Does nothing if `code` is not 0: the postmaster also calls this function after a crash, before it restarts the server.
/// Shared memory may then be corrupted.
#[pg_guard]
unsafe extern "C-unwind" fn shutdown(code: core::ffi::c_int, _argument: pg_sys::Datum) {
    // SAFETY: reads a variable of the server. It is true in every child of the postmaster.
    if code != 0 || unsafe { pg_sys::IsUnderPostmaster } {
        return;
    }
    macro_rules! save {
        ($name:ident, $id:ident) => {
            save_last::<scru_ids::$id>();
        };
    }
    registry!(save);
}

fn save_last<T: SharedState>() {
    let Some(memory) = T::shared_state().memory.with(|memory| *memory).filter(|_| T::SERVER_WIDE) else { return };
    let load = |value: &AtomicU64| value.load(Ordering::Acquire);
    let (state, predecessor) = (load(&memory.shared.state), load(&memory.shared.predecessor));
    let (word, start) = (Word::<T>::load(memory.word).low(), load(&memory.shared.start));
    if let Some((state, word)) = decide::last(state, word, predecessor, start) {
        // A failure is ignored: without this record, the next state starts above the marks.
        let _ = mark::write::<T>(Record::Last { state, word }, || true);
    }
}

/// Returns whether the server starts in archive recovery: as a standby, or to reach a recovery target. Its predecessor is then
/// the server whose WAL it replays, which may generate IDs until the promotion. The server itself recognizes archive recovery by
/// the same files in its working directory.
fn starts_in_archive_recovery() -> bool {
    ["standby.signal", "recovery.signal"].iter().any(|file| Path::new(file).exists())
}
