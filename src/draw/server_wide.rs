//! Server-wide generators: one shared word per type, an atomic integer in shared memory, and the extension's accesses for the
//! [`protocol`] by which the backends share it.

use core::convert::Infallible;
use std::time::Instant;

use pgrx::PgTryBuilder;
use portable_atomic::Ordering;
use scru_ids::{Context, OnClockRollback, Step, Word};
use scru_server::horizon;
use scru_server::mark::{Mark, Reserved};
use scru_server::protocol::{self, Access, Carried, FastAccess, Lsn, Pending};

use crate::call::error::{Error, attempt};
use crate::feed;
use crate::pg::catalog::Schema;
use crate::pg::{clock, wal};
use crate::settings;
use crate::shared::id_type::{Memory, OpenFastPath, Shared, SharedWord, Type};
use crate::shared::mark_page::{MarkPage, Name, Pinned};
use crate::shared::random::Random;
use crate::shared::{mark_sequence, memory, waits};

/// A backend's access to what the backends share.
struct SharedGenerator<T: Type> {
    memory: Memory<T>,
    /// The schema of the function that draws, in which the extension's sequences are.
    schema: Schema,
    on_clock_rollback: OnClockRollback,
    /// As [`feed::publication::published`].
    from: i64,
    /// The last reading of the clock.
    clock: i64,
    page: Option<MarkPage>,
}

impl<T: Type> SharedGenerator<T> {
    fn new(schema: Schema, on_clock_rollback: OnClockRollback, from: i64) -> Result<Self, Error> {
        Ok(Self { memory: memory::of_type::<T>()?, schema, on_clock_rollback, from, clock: 0, page: None })
    }

    fn page(&self) -> &MarkPage {
        // Impossible: the protocol accesses the page under its lock only, which the model checks.
        self.page.as_ref().unwrap_or_else(|| unreachable!("the page is not locked"))
    }
}

impl<T: Type> FastAccess<T> for SharedGenerator<T> {
    type Error = Error;

    #[inline(always)]
    fn now(&mut self) -> Result<i64, Error> {
        self.clock = clock::now();
        Ok(self.clock.max(self.from))
    }

    #[inline(always)]
    fn word(&mut self) -> Result<Word<T>, Error> {
        Ok(Word::<T>::load(self.memory.word))
    }

    #[inline(always)]
    fn swap(&mut self, old: Word<T>, new: Word<T>) -> Result<bool, Error> {
        Ok(Word::<T>::replace(self.memory.word, old, new))
    }
}

impl<T: Type> Access<T> for SharedGenerator<T> {
    type Random = Random;

    #[inline(always)]
    fn context(&self, now: i64) -> Context<T::Settings> {
        Context { settings: settings::of::<T>(), on_clock_rollback: self.on_clock_rollback, now }
    }

    #[inline(always)]
    fn delay(&self) -> Option<Step<T>> {
        horizon::time(self.from, feed::publication::carried(), self.clock, self.on_clock_rollback).err()
    }

    #[inline(always)]
    fn reserved(&mut self) -> Result<Reserved, Error> {
        Ok(Reserved(self.memory.shared.reserved.load(Ordering::SeqCst)))
    }

    #[inline(always)]
    fn random<R>(&mut self, draw: impl FnOnce(&mut Random) -> R) -> Result<R, Error> {
        Ok(draw(&mut Random::get()?))
    }

    #[inline(always)]
    fn flush_time(&self) -> i64 {
        self.memory.shared.flush_time.load(Ordering::Relaxed) as i64
    }

    fn is_due(&mut self, reserved: Reserved) -> bool {
        T::process().asked.replace(reserved) != reserved
    }

    fn lock(&mut self, wait: bool) -> Result<bool, Error> {
        let shared = self.memory.shared;
        let pinned = PgTryBuilder::new(Pinned::new).catch_others(|cause| {
            shared.note_failure();
            cause.rethrow()
        });
        self.page = pinned.execute().inspect_err(|_| shared.note_failure())?.lock(wait);
        Ok(self.page.is_some())
    }

    fn unlock(&mut self) -> Result<(), Error> {
        self.page = None;
        Ok(())
    }

    fn marks(&mut self) -> Result<Vec<Mark>, Error> {
        self.page().marks(Name::of::<T>()).inspect_err(|_| self.memory.shared.note_failure())
    }

    fn log(&mut self, marks: &[Mark]) -> Result<Lsn, Error> {
        self.page().log(Name::of::<T>(), marks)
    }

    fn reserve(&mut self, reserved: Reserved) -> Result<(), Error> {
        let Shared { reserved: old, flush_time, .. } = self.memory.shared;
        if old.swap(reserved.0, Ordering::SeqCst) != reserved.0 {
            // One slow flush must not lengthen all later reservations.
            flush_time.store(flush_time.load(Ordering::Relaxed) / 16 * 15, Ordering::Relaxed);
        }
        Ok(())
    }

    fn pending(&mut self) -> Result<Pending, Error> {
        let Shared { pending_reserved, pending_position, .. } = self.memory.shared;
        let reserved = Reserved(pending_reserved.load(Ordering::Relaxed));
        Ok(Pending { reserved, position: pending_position.load(Ordering::Relaxed) })
    }

    fn set_pending(&mut self, pending: Pending) -> Result<(), Error> {
        self.memory.shared.pending_reserved.store(pending.reserved.0, Ordering::Relaxed);
        self.memory.shared.pending_position.store(pending.position, Ordering::Relaxed);
        Ok(())
    }

    fn run(&mut self) -> Result<u64, Error> {
        Ok(self.memory.shared.run.load(Ordering::Relaxed))
    }

    fn set_run(&mut self, run: u64) -> Result<(), Error> {
        self.memory.shared.run.store(run, Ordering::Relaxed);
        Ok(())
    }

    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Error> {
        Ok(wal::is_flushed(position))
    }

    fn flush(&mut self, position: Lsn) -> Result<(), Error> {
        if !wal::is_flushed(position) {
            let start = Instant::now();
            wal::flush(position);
            self.memory.shared.flush_time.fetch_max(start.elapsed().as_micros() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn flush_later(&mut self, position: Lsn) -> Result<(), Error> {
        wal::flush_later(position);
        Ok(())
    }

    #[inline(always)]
    fn known_carried(&self) -> Reserved {
        T::process().known_carried.get()
    }

    fn know_carried(&mut self, reserved: Reserved) {
        T::process().known_carried.set(reserved);
    }

    fn read_carried(&mut self) -> Result<(Carried, Lsn), Error> {
        mark_sequence::read::<T>(self.schema, true)
    }

    fn write_carried(&mut self, old: Option<Lsn>, new: Mark) -> Result<Option<Lsn>, Error> {
        mark_sequence::write::<T>(self.schema, old, new)
    }
}

/// Takes a full step, as [`protocol::draw`]. The clock counts as reading at least `from`.
#[inline(always)]
pub fn step<T: Type>(schema: Schema, on_clock_rollback: OnClockRollback, from: i64) -> Result<Option<Step<T>>, Error> {
    let mut access = SharedGenerator::<T>::new(schema, on_clock_rollback, from)?;
    // During recovery, there is no such time.
    if !T::SERVER_WIDE && from == i64::MIN && wal::is_in_recovery() {
        return protocol::draw_unlogged(&mut access);
    }
    let step = protocol::draw(&mut access)?;
    if let Some(Step::Made(_, id)) = step {
        open_fast_path(access.memory, id);
    }
    Ok(step)
}

/// Opens the fast path, if the type has one, in the range of an ID.
#[inline(always)]
fn open_fast_path<T: Type>(memory: Memory<T>, id: T) {
    if let Some(fast_path) = T::FAST_PATH {
        let range = (fast_path.range)(id, &settings::of::<T>());
        T::process().fast_path.set(Some(OpenFastPath { memory, range, as_of: settings::changes() }));
    }
}

/// Sets the high-water mark of a type's generator, for this session's node, to a time. With `at_least`, only raises it.
pub fn set_mark<T: Type>(schema: Schema, micros: i64, at_least: bool) -> Result<(), Error> {
    let mut access = SharedGenerator::<T>::new(schema, OnClockRollback::default(), i64::MIN)?;
    let (node, tick) = (T::node(&settings::of::<T>()), T::TICKS.nearest(micros));
    if at_least { protocol::raise_mark(&mut access, node, tick) } else { protocol::set_mark(&mut access, node, tick) }
}

/// The type's marks, the number of the run, the durable floor, and the mark that the database carries.
pub type Marks = (Vec<Mark>, u64, i64, Carried);

/// The marks for a look at what the next draw will do, also on a standby, or the error that it would raise.
pub fn marks<T: Type>(schema: Schema) -> Result<Marks, Error> {
    let look = || {
        let run = &memory::of_type::<T>()?.shared.run;
        let (marks, run, floor) = match Pinned::existing()? {
            Some(page) => {
                let Some(page) = page.lock(false) else { return Ok(None) };
                (page.marks(Name::of::<T>())?, run.load(Ordering::Relaxed), page.floor()?)
            }
            None => (Vec::new(), 0, 0),
        };
        Ok(Some((marks, run, floor, mark_sequence::read::<T>(schema, false)?.0)))
    };
    loop {
        match attempt(look)? {
            Some(marks) => return Ok(marks),
            None => clock::wait(1_000, &waits::MARK),
        }
    }
}

/// The accesses of the fast path, and its last reading of the clock.
struct Fast<T: Type> {
    memory: Memory<T>,
    clock: i64,
}

impl<T: Type> FastAccess<T> for Fast<T> {
    type Error = Infallible;

    #[inline(always)]
    fn now(&mut self) -> Result<i64, Infallible> {
        self.clock = clock::now();
        Ok(self.clock)
    }

    #[inline(always)]
    fn word(&mut self) -> Result<Word<T>, Infallible> {
        Ok(Word::<T>::load(self.memory.word))
    }

    #[inline(always)]
    fn swap(&mut self, old: Word<T>, new: Word<T>) -> Result<bool, Infallible> {
        Ok(Word::<T>::replace(self.memory.word, old, new))
    }
}

/// The fast path: one compare-and-swap of the word. `None` if a full [`step`] is required, or if another backend was faster.
#[inline(always)]
pub fn draw_fast<T: Type>() -> Option<T> {
    let fast_path = T::FAST_PATH?;
    // A copy would take more registers than are free across the call that reads the clock.
    // SAFETY: nothing that this function calls writes the cell.
    let OpenFastPath { memory, range, as_of } = unsafe { &*T::process().fast_path.as_ptr() }.as_ref()?;
    if *as_of != settings::changes() {
        return None;
    }
    // The first ID of a transaction is drawn by a full step.
    let from = feed::publication::published()?;
    let mut access = Fast { memory: *memory, clock: 0 };
    let Ok(drawn) = protocol::draw_fast(&mut access, range);
    drawn.filter(|_| access.clock >= from).map(fast_path.id)
}
