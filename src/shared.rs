//! Server-wide generators: one atomic word a type in shared memory, and no lock, so that a backend that is killed in the
//! middle leaves nothing held.
//!
//! It needs no preloading: the first backend that draws makes the word. Beside it lies what the backends know of the durable
//! high-water mark ([`crate::mark`]): no ID leaves the word before its node's IDs are reserved up to its tick.

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

/// Every word has this room, whichever it is.
const WORD_ROOM: usize = size_of::<u128>();

/// The room of what lies beside the word.
const MARK_ROOM: usize = size_of::<Shared>();

/// What a piece of shared memory takes of that of the server's start.
const PIECE: usize = 128;

/// A generator's state as one word, and how processes share it.
pub trait SharedWord: Copy + Default + Eq + From<u64> + Send + Sync + 'static {
    /// The word in shared memory.
    type Atomic: Sync + 'static;

    /// Whether the processor changes such a word in one step. What emulates that with a lock knows one process only.
    fn is_lock_free() -> bool;

    /// The word + 1.
    fn next(self) -> Self;

    /// The lower 64 bits.
    fn low(self) -> u64;

    /// The word as it is.
    fn load(word: &Self::Atomic) -> Self;

    /// Replaces the word, whatever it is.
    fn store(word: &Self::Atomic, new: Self);

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

/// The word of an ID type's generator, in shared memory.
pub type Atomic<T> = <Word<T> as SharedWord>::Atomic;

/// An ID type whose generator's state is one shared word, with what a process keeps of it.
pub trait SharedState: Configured + SortableId<State: State<Word: SharedWord>> {
    /// What this process keeps of the shared state.
    fn kept_shared() -> &'static Kept<Self>;
}

/// What a process keeps of a type's shared state.
pub struct Kept<T: SharedState> {
    /// Where it is, once it has been looked up.
    memory: PerProcess<Option<Memory<T>>>,
    /// Whether this process has seen to it that a promotion is respected.
    respects_promotion: PerProcess<bool>,
    /// What it can draw from there on the fast path.
    fast_path: PerProcess<Option<OpenFastPath<T>>>,
}

impl<T: SharedState> Kept<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self {
            memory: PerProcess::new(None),
            respects_promotion: PerProcess::new(false),
            fast_path: PerProcess::new(None),
        }
    }
}

/// What the backends share of a type's high-water mark. All zero at first.
#[repr(C)]
pub struct Shared {
    /// The [`Reservation`].
    reserved: AtomicU64,
    /// When the backend began that writes the next one, by [`clock::monotonic_micros`]; 0 if nobody does.
    claim: AtomicU64,
    /// The random number of this state; 0 until the first reservation.
    state: AtomicU64,
    /// The number of the state that ended with `start`; 0 if there is none.
    predecessor: AtomicU64,
    /// The word to begin with; 0 if it is not known.
    start: AtomicU64,
    /// The timeline that began with the last promotion, once that has its mark and the reservation respects it.
    promotion: AtomicU64,
    /// How often the reservation was taken back.
    generation: AtomicU64,
    /// 1 as soon as the log names the node.
    announced: AtomicU64,
}

/// A type's shared memory.
#[derive(Clone, Copy)]
pub struct Memory<T: SharedState> {
    word: &'static Atomic<T>,
    shared: &'static Shared,
}

/// One step from the state that all backends of the server share, or nothing if it has to be tried again: another backend was
/// faster, or a reservation had to be made first. The clock is read after the state: read before, it would seem to have moved
/// back where others went on in between.
///
/// # Errors
/// If there is no shared memory, or no random numbers, or the high-water mark cannot be read or written.
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
    // The word may have been set back to the same value meanwhile, and the reservation with it.
    if memory.shared.generation.load(Ordering::Acquire) != generation {
        return Ok(None);
    }
    if let Some(fast_path) = T::FAST_PATH {
        let (word, range) = (memory.word, (fast_path.range)(id, &context.settings));
        T::kept_shared().fast_path.with(|kept| *kept = Some(OpenFastPath { word, range, as_of: settings::changes() }));
    }
    if cover == Cover::Last {
        memory.reserve_ahead(next.pack(), node, id.tick());
    }
    Ok(Some(step))
}

impl<T: SharedState> Memory<T> {
    /// Lets a node's first ID be above all that its predecessors may have handed out, or tells why there is none yet; then
    /// reserves the first of them. Nothing if the draw can begin.
    #[cold]
    #[inline(never)]
    fn enter(self, old: Word<T>, reserved: u64, node: NodeCode, now: i64) -> Result<Option<Step<T>>, Error> {
        let records = mark::read::<T>()?;
        // After the records: a state's number is there before its first record is.
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

    /// The word to begin with, the same from the first attempt on.
    fn start(self, now: i64) -> Word<T> {
        let start = decide::start::<T>(Word::<T>::from(self.shared.start.load(Ordering::Acquire)), now);
        match self.shared.start.compare_exchange(0, start.low(), Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => start,
            Err(kept) => Word::<T>::from(kept),
        }
    }

    /// Has the node's IDs reserved up to a tick at least, by this backend or another one, unless the word that asks for it has
    /// been set back.
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

    /// Makes the next reservation before it is needed, unless another backend does. An error is left to who needs it.
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

    /// The generation that reservations for this word belong to; `None` if the word has been set back. A mark that is set back
    /// changes the word before the generation, so that no reservation for the old word is one of the new generation.
    fn generation_of(self, word: Word<T>) -> Option<u64> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        (!decide::is_set_back::<T>(Word::<T>::load(self.word), word)).then_some(generation)
    }

    /// Writes a reservation, durably first. In place of `reserved`, which has to be there still: else it has been taken back,
    /// or somebody else's is as good.
    fn write(self, reserved: u64, generation: u64, node: NodeCode, tick: u64) -> Result<(), Error> {
        let reservation = Reservation::from::<T>(node, tick);
        let until = Mark { node, tick: reservation.until, state: self.state()? };
        // Before the reservation is there: what comes later is not known to be below it.
        let below = mark::list::<T>(|record| matches!(record, Record::Mark(mark) if until.replaces(mark)));
        let is_wanted = || self.shared.generation.load(Ordering::Acquire) == generation;
        if !mark::write::<T>(Record::Mark(until), is_wanted)? {
            return Ok(());
        }
        let new = reservation.pack::<T>();
        if self.shared.reserved.compare_exchange(reserved, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            mark::remove_but_newest::<T>(below);
        }
        Ok(())
    }

    /// The number of this state.
    fn state(self) -> Result<u64, Error> {
        let state = &self.shared.state;
        if state.load(Ordering::Acquire) == 0 {
            // First, so that whoever finds a number there needs no preparation.
            mark::prepare::<T>()?;
            let random = with_random(|rng| rng.random_range(1..Mark::PROMOTION))?;
            let _ = state.compare_exchange(0, random, Ordering::AcqRel, Ordering::Relaxed);
        }
        Ok(state.load(Ordering::Acquire))
    }

    /// The claim to write a reservation, unless another backend has one that has not expired: its holder may be suspended.
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

    /// Takes the reservation back, so that every node enters anew. The generation changes last: a backend that has seen the new one
    /// finds no earlier reservation.
    fn take_back(self) {
        let generation = self.shared.generation.load(Ordering::Acquire) + 1;
        self.shared.reserved.store(Reservation::none::<T>(generation), Ordering::Release);
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// On a server that was promoted: has the reservation respect the mark of that. Asked for by each process once, when the
    /// server takes writes; recovery is never re-entered.
    #[inline(always)]
    fn respect_promotion(self) -> Result<(), Error> {
        if T::kept_shared().respects_promotion.with(|respects| *respects) { Ok(()) } else { self.keep_promotion() }
    }

    #[cold]
    #[inline(never)]
    fn keep_promotion(self) -> Result<(), Error> {
        if promotion::is_in_recovery() {
            return Ok(());
        }
        if let Some(timeline) = promotion::timeline()
            && self.shared.promotion.load(Ordering::Acquire) != u64::from(timeline)
        {
            promotion::keep_marks()?;
            // First: who finds the timeline there must not find what was reserved before it began.
            self.take_back();
            self.shared.promotion.store(timeline.into(), Ordering::Release);
        }
        T::kept_shared().respects_promotion.with(|respects| *respects = true);
        Ok(())
    }

    /// Sets the mark of a node, and the state of the whole server, to a tick. Meanwhile no backend writes a reservation.
    fn set_mark(self, node: NodeCode, tick: u64) -> Result<(), Error> {
        loop {
            if let Some(_claim) = self.claim_as(decide::SETS_MARK, clock::monotonic_micros()) {
                return self.set_mark_claimed(Mark { node, tick, state: 0 });
            }
            clock::wait(1_000, &clock::MARK);
        }
    }

    /// A backend that was suspended while it wrote a reservation cannot put its record back: it does so only in its own
    /// generation, and from a temporary file. The generation ends first, then the temporary files, then the records.
    fn set_mark_claimed(self, asked: Mark) -> Result<(), Error> {
        let removed = mark::list::<T>(|record| matches!(record, Record::Mark(old) if asked.removes(old)));
        let new = asked.in_place_of(removed.into_iter().filter_map(Record::mark));
        mark::write::<T>(Record::Mark(new), || true)?;
        promotion::forget::<T>()?;
        self.take_back();
        mark::remove_for_good::<T>(|record| record.mark().is_none_or(|old| old != new && asked.removes(old)))?;
        // The marks that are left hold like those of a predecessor: the word falls below the IDs of other nodes as well.
        self.shared.state.store(0, Ordering::Release);
        self.shared.predecessor.store(0, Ordering::Release);
        let word = with_random(|rng| T::state_after(asked.tick, rng))?.pack();
        Word::<T>::store(self.word, word);
        // Reservations that the former word asked for are of a former generation.
        self.take_back();
        Ok(())
    }
}

/// The right of a backend to write the durable mark, until it is dropped or expires.
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
/// If there is no shared memory, or the mark cannot be written.
pub fn set_mark<T: SharedState>(micros: i64) -> Result<(), Error> {
    memory::<T>()?.set_mark(T::node(&settings::of::<T>()), T::TICKS.nearest(micros))
}

/// What a type's server-wide generator has come to.
pub struct Status<T: SortableId> {
    /// The state, unless it is unused.
    pub state: Option<T::State>,
    /// The start of the last tick that is reserved, in microseconds since 1970-01-01 UTC.
    pub reserved_until: Option<i64>,
}

/// What a type's server-wide generator has come to.
///
/// # Errors
/// If there is no shared memory left.
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

/// Whether the log is yet to name the node that the type draws with: true once in a server's life.
///
/// # Errors
/// If there is no shared memory.
pub fn is_unannounced<T: SharedState>() -> Result<bool, Error> {
    Ok(memory::<T>()?.shared.announced.swap(1, Ordering::Relaxed) == 0)
}

/// The fast path opened by the last full [`step`]. Its preconditions need no re-check: recovery is never re-entered, and every change
/// of a setting changes `as_of`.
pub struct OpenFastPath<T: SharedState> {
    word: &'static Atomic<T>,
    range: FastRange<T>,
    /// The settings that it was made with.
    as_of: u32,
}

/// The next ID where the type counts on from the state that all backends share, as it does most of the time. Nothing where
/// it takes a whole [`step`], or where another backend was faster.
#[inline(always)]
pub fn draw_fast<T: SharedState>() -> Option<T> {
    let fast_path = T::FAST_PATH?;
    T::kept_shared().fast_path.with(|open| {
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
    match T::kept_shared().memory.with(|memory| *memory) {
        Some(memory) => Ok(memory),
        None => look_up::<T>(),
    }
}

/// Finds the shared memory, or makes it, and keeps where it is.
#[cold]
#[inline(never)]
fn look_up<T: SharedState>() -> Result<Memory<T>, Error> {
    if !Word::<T>::is_lock_free() {
        let message = format!("server-wide generation of {} is not supported on this processor", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .detail("It has no atomic operation on 128 bits.")
            .hint("Set scru.generator_scope to \"backend\"."));
    }
    let find = || {
        let word = server::shared_memory::<WORD_ROOM>(&word_name::<T>());
        Ok((word, server::shared_memory::<MARK_ROOM>(&mark_name::<T>())))
    };
    let (word, shared) =
        PgTryBuilder::new(find).catch_when(SqlState::ERRCODE_OUT_OF_MEMORY, |_| Err(no_memory())).execute()?;
    // SAFETY: each piece has the room, is aligned for it, zero at first, and stays for the life of the process.
    let memory = unsafe { Memory { word: &*word.cast::<Atomic<T>>(), shared: &*shared.cast::<Shared>() } };
    T::kept_shared().memory.with(|kept| *kept = Some(memory));
    Ok(memory)
}

/// The name under which the backends find a type's word. A word laid out otherwise needs another version.
fn word_name<T: SharedState>() -> CString {
    datum::c_string(format!("scru {} generator v1", T::NAME))
}

/// The name under which they find what lies beside it.
fn mark_name<T: SharedState>() -> CString {
    datum::c_string(format!("scru {} mark v1", T::NAME))
}

#[cold]
fn no_memory() -> Error {
    Error::new(SqlState::ERRCODE_OUT_OF_MEMORY, "out of shared memory for the state of the ID generators")
        .hint("Add \"scru\" to shared_preload_libraries and restart the server: that reserves the few bytes needed.")
}

static NEXT_REQUEST_HOOK: PerProcess<pg_sys::shmem_request_hook_type> = PerProcess::new(None);
static NEXT_STARTUP_HOOK: PerProcess<pg_sys::shmem_startup_hook_type> = PerProcess::new(None);

/// Reserves shared memory. For `_PG_init` at the server's start.
pub fn preload() {
    // SAFETY: the postmaster's hooks, chained as the server asks for.
    unsafe {
        NEXT_REQUEST_HOOK.with(|next| *next = pg_sys::shmem_request_hook);
        NEXT_STARTUP_HOOK.with(|next| *next = pg_sys::shmem_startup_hook);
        pg_sys::shmem_request_hook = Some(request);
        pg_sys::shmem_startup_hook = Some(startup);
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
                pg_sys::RequestAddinShmemSpace(2 * PIECE);
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
        if !pg_sys::IsUnderPostmaster {
            pg_sys::on_shmem_exit(Some(shutdown), pg_sys::Datum::null());
        }
    }
}

/// Makes a type's shared memory, and tells it where the predecessor ended, or the moment from which on a predecessor's IDs need
/// no more waiting.
unsafe fn start<T: SharedState>() {
    if !Word::<T>::is_lock_free() {
        return;
    }
    let mut found = false;
    // SAFETY: as in `look_up`; the children of the postmaster inherit the addresses.
    let memory = unsafe {
        let word = pg_sys::ShmemInitStruct(word_name::<T>().as_ptr(), WORD_ROOM, &mut found);
        let shared = pg_sys::ShmemInitStruct(mark_name::<T>().as_ptr(), MARK_ROOM, &mut found);
        Memory::<T> { word: &*word.cast::<Atomic<T>>(), shared: &*shared.cast::<Shared>() }
    };
    T::kept_shared().memory.with(|kept| *kept = Some(memory));
    if found || !T::SERVER_WIDE {
        return;
    }
    let last = take_last::<T>();
    if becomes_standby() {
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

/// What the predecessor came to, if it ended in good order: the number of its state and its word. It holds once.
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

/// Keeps what the types' words came to, where the postmaster ends in good order: no other process is left. It also runs
/// before a start anew after a crash, when shared memory is not to be trusted.
#[pg_guard]
unsafe extern "C-unwind" fn shutdown(code: core::ffi::c_int, _argument: pg_sys::Datum) {
    // SAFETY: reads a variable of the server, which is set in every other process.
    if code != 0 || unsafe { pg_sys::IsUnderPostmaster } {
        return;
    }
    macro_rules! keep {
        ($name:ident, $id:ident, $sql:literal) => {
            keep_last::<scru_ids::$id>();
        };
    }
    registry!(keep);
}

fn keep_last<T: SharedState>() {
    let Some(memory) = T::kept_shared().memory.with(|memory| *memory).filter(|_| T::SERVER_WIDE) else { return };
    let load = |value: &AtomicU64| value.load(Ordering::Acquire);
    let (state, predecessor) = (load(&memory.shared.state), load(&memory.shared.predecessor));
    let (word, start) = (Word::<T>::load(memory.word).low(), load(&memory.shared.start));
    if let Some((state, word)) = decide::last(state, word, predecessor, start) {
        // Without it, the next start respects the marks.
        let _ = mark::write::<T>(Record::Last { state, word }, || true);
    }
}

/// Whether the server that starts is a standby. Its predecessor is its primary, which goes on until the promotion. These are
/// the files by which the server itself knows, in its working directory.
fn becomes_standby() -> bool {
    ["standby.signal", "recovery.signal"].iter().any(|file| Path::new(file).exists())
}
