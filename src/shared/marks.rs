//! The extension's accesses for the [`protocol`](scru_server::protocol) of the marks, and for draws from shared state.

use core::cell::Cell;
use core::sync::atomic::Ordering;
use std::panic::{AssertUnwindSafe, UnwindSafe};
use std::time::Instant;

use pgrx::PgTryBuilder;
use scru_ids::{Context, GeneratedId, id_systems};
use scru_server::draw::{self, Access};
use scru_server::mark::Mark;
use scru_server::protocol::{Carried, Known, Lsn, Marks, Pending};

use crate::call::error::Error;
use crate::pg::process::PerProcess;
use crate::pg::{clock, wal};
use crate::shared::id_type::Type;
use crate::shared::mark_page::{self, LAST, MarkPage};
use crate::shared::mark_sequence::{self, Kept};
use crate::shared::memory;
use crate::shared::random::Random;
use crate::shared::state::{MarkMemory, MarksMemory, SharedWord};

/// What this process has found for the draws of its transaction. The numbers are those of transactions in this process, and 0 for none.
pub struct Drawing {
    /// The transaction that it has published.
    pub published: Cell<u32>,
    /// The transaction for whose draws from shared state it has looked at what the database carries.
    pub begun_shared: Cell<u32>,
    /// The time at or above which it draws.
    pub from: Cell<i64>,
    /// The first value of `from` in the transaction.
    pub first: Cell<i64>,
    /// The time that has arrived with the database, and for which draws from shared state wait; 0 if there is none.
    pub arrived: Cell<i64>,
}

/// Set by [`begin`](crate::feed::publication::begin). A private generator that continues far above the clock raises `from`.
pub static DRAWING: PerProcess<Drawing> = PerProcess::new(Drawing {
    published: Cell::new(0),
    begun_shared: Cell::new(0),
    from: Cell::new(i64::MIN),
    first: Cell::new(i64::MIN),
    arrived: Cell::new(0),
});

/// The reservation that this process has last asked to renew.
static ASKED: PerProcess<Cell<i64>> = PerProcess::new(Cell::new(0));

/// The bits of a start that are its time. Those above are the lowest of its era, so that a process which was suspended does not undo
/// what a superuser has set.
const TIME_BITS: u32 = 59;
const _: () = assert!(LAST < 1 << TIME_BITS);

fn start_in(era: u64, time: i64) -> u64 {
    era << TIME_BITS | time.clamp(0, LAST) as u64
}

/// A backend's access to what the backends share.
pub struct SharedMarks {
    memory: &'static MarksMemory,
    page: Option<MarkPage>,
}

impl SharedMarks {
    /// 53200 if not enough shared memory is left.
    pub fn new() -> Result<Self, Error> {
        Ok(Self { memory: memory::of_marks()?, page: None })
    }

    fn page(&self) -> &MarkPage {
        // Impossible: the protocol accesses the page under its lock only, which the model checks.
        self.page.as_ref().unwrap_or_else(|| unreachable!("the page is not locked"))
    }

    /// Notes the time if an access to the page fails.
    fn noting_failures<R>(&self, access: impl FnOnce() -> Result<R, Error> + UnwindSafe) -> Result<R, Error> {
        let memory = self.memory;
        let note = || memory.failed.store(clock::now(), Ordering::Relaxed);
        let guarded = PgTryBuilder::new(access).catch_others(|cause| {
            note();
            cause.rethrow()
        });
        guarded.execute().inspect_err(|_| note())
    }

    fn of(&self, mark: Mark) -> &'static MarkMemory {
        &self.memory.marks[mark as usize]
    }
}

impl Marks for SharedMarks {
    type Error = Error;

    fn clock(&mut self) -> Result<i64, Error> {
        Ok(clock::now())
    }

    fn flush_time(&self) -> i64 {
        self.memory.flush_time.load(Ordering::Relaxed)
    }

    fn era(&mut self) -> Result<u64, Error> {
        Ok(self.memory.era.load(Ordering::SeqCst))
    }

    fn start(&mut self, of: Mark) -> Result<i64, Error> {
        Ok((self.of(of).start.load(Ordering::SeqCst) & ((1 << TIME_BITS) - 1)) as i64)
    }

    fn era_of_start(&mut self, of: Mark) -> Result<u64, Error> {
        Ok(self.of(of).start.load(Ordering::SeqCst) >> TIME_BITS)
    }

    fn raise_start(&mut self, of: Mark, era: u64, time: i64) -> Result<bool, Error> {
        let new = start_in(era, time);
        let raise = |old: u64| (old == 0 || old >> TIME_BITS == new >> TIME_BITS).then_some(new.max(old));
        Ok(self.of(of).start.fetch_update(Ordering::SeqCst, Ordering::SeqCst, raise).is_ok())
    }

    fn reserved(&mut self, of: Mark) -> Result<i64, Error> {
        Ok(self.of(of).reserved.load(Ordering::SeqCst))
    }

    fn has_page(&mut self) -> Result<bool, Error> {
        self.noting_failures(mark_page::exists)
    }

    fn lock(&mut self, wait: bool) -> Result<bool, Error> {
        self.page = MarkPage::lock(self.noting_failures(mark_page::pin)?, wait);
        Ok(self.page.is_some())
    }

    fn unlock(&mut self) -> Result<(), Error> {
        self.page = None;
        Ok(())
    }

    fn set_start(&mut self, of: Mark, era: u64, time: i64) -> Result<(), Error> {
        self.of(of).start.store(start_in(era, time), Ordering::SeqCst);
        Ok(())
    }

    fn set_era(&mut self, era: u64) -> Result<(), Error> {
        let _ = self.memory.era.compare_exchange(era - 1, era, Ordering::SeqCst, Ordering::SeqCst);
        Ok(())
    }

    fn reserve(&mut self, of: Mark, time: i64) -> Result<(), Error> {
        if self.of(of).reserved.swap(time, Ordering::SeqCst) != time {
            // One slow flush must not lengthen all later reservations.
            self.memory.flush_time.store(self.flush_time() / 16 * 15, Ordering::Relaxed);
        }
        Ok(())
    }

    fn pending(&mut self, of: Mark) -> Result<Pending, Error> {
        let MarkMemory { pending_until, pending_position, .. } = self.of(of);
        let position = pending_position.load(Ordering::Relaxed);
        Ok(Pending { until: pending_until.load(Ordering::Relaxed), position })
    }

    fn set_pending(&mut self, of: Mark, pending: Pending) -> Result<(), Error> {
        self.of(of).pending_until.store(pending.until, Ordering::Relaxed);
        self.of(of).pending_position.store(pending.position, Ordering::Relaxed);
        Ok(())
    }

    fn durable(&mut self, of: Mark) -> Result<i64, Error> {
        self.noting_failures(AssertUnwindSafe(|| self.page().time(of)))
    }

    fn log(&mut self, of: Mark, time: i64) -> Result<Lsn, Error> {
        self.noting_failures(AssertUnwindSafe(|| self.page().log(of, time)))
    }

    fn lower_words(&mut self, time: i64) -> Result<(), Error> {
        id_systems!(|Id| if <Id as GeneratedId>::State::is_lock_free() {
            draw::lower_word::<Id, _>(self, time)?;
        });
        Ok(())
    }

    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Error> {
        Ok(wal::is_flushed(position))
    }

    fn flush(&mut self, position: Lsn) -> Result<(), Error> {
        if !wal::is_flushed(position) {
            let start = Instant::now();
            wal::flush(position);
            self.memory.flush_time.fetch_max(start.elapsed().as_micros() as i64, Ordering::Relaxed);
        }
        Ok(())
    }

    fn flush_later(&mut self, position: Lsn) -> Result<(), Error> {
        wal::flush_later(position);
        Ok(())
    }

    fn known(&self, of: Mark) -> Known {
        mark_sequence::kept(of).get().known
    }

    fn know(&mut self, of: Mark, known: Known) {
        mark_sequence::kept(of).update(|kept| Kept { known, ..kept });
    }

    fn has_version(&mut self, of: Mark, version: Lsn) -> Result<bool, Error> {
        Ok(mark_sequence::kept(of).get().buffer.is_some_and(|buffer| buffer.has_position(version)))
    }

    fn read_carried(&mut self, of: Mark) -> Result<(Carried, Lsn), Error> {
        mark_sequence::read(of)
    }

    fn write_carried(&mut self, of: Mark, old: Lsn, new: Carried) -> Result<Option<Lsn>, Error> {
        mark_sequence::write(of, old, new)
    }
}

impl<T: Type> Access<T> for SharedMarks {
    type Random = Random;

    fn word(&mut self) -> Result<T::State, Error> {
        Ok(T::State::load(&memory::of_type::<T>()?.word.0))
    }

    fn swap(&mut self, old: T::State, new: T::State) -> Result<bool, Error> {
        Ok(T::State::replace(&memory::of_type::<T>()?.word.0, old, new))
    }

    fn context(&self, now: i64) -> Context<T::Settings> {
        // Impossible: every draw reads the settings first.
        Context { now, ..T::process().draw_settings.get().unwrap_or_else(|| unreachable!("no settings")).context }
    }

    fn from(&self) -> i64 {
        DRAWING.from.get()
    }

    fn arrived(&self) -> i64 {
        DRAWING.arrived.get()
    }

    fn random(&mut self, now: i64) -> Result<Random, Error> {
        Random::get(now)
    }

    fn is_due(&mut self, reserved: i64) -> bool {
        ASKED.replace(reserved) != reserved
    }
}
