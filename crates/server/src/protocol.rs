//! The protocol of the durable marks. The model runs this text and that of [`draw`](crate::draw). `docs/design.md` explains it.
//!
//! The functions are straight-line code over [`Marks`], the accesses to shared memory, the clock and the log. The extension performs
//! each access. The model runs the same code, and makes each access an action, so that any other action can precede it. It also runs
//! the code without single statements: therefore, an access whose result is not used is a statement.
//!
//! The page has the two marks. It changes only under its lock, in the log before any row that it covers. No flush happens under the
//! lock. The *era* is the number of times that a superuser has changed the marks, plus 1; 0 before the server has read the page.

use crate::mark::{self, Mark};

/// A position in the write-ahead log (log sequence number).
pub type Lsn = u64;

/// A mark that is in the log, and the position up to which the log must be flushed before it counts. The default is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The time.
    pub until: i64,
    /// The end of the record.
    pub position: Lsn,
}

/// The mark that travels with a database, in a sequence that dumps and pg_upgrade preserve: a lower bound of the IDs of the
/// database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Carried {
    /// The time; 0 if none was written.
    pub time: i64,
    /// Whether it arrived with the data of another server, and waits until it is adopted.
    pub has_arrived: bool,
}

impl Carried {
    /// The time if it has arrived; otherwise 0.
    pub const fn arrived(self) -> i64 {
        if self.has_arrived { self.time } else { 0 }
    }
}

/// What a process knows of the mark that its database carries: in this version, it is its own, and reaches up to a time that was
/// reserved in an era.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    /// The era; 0 if nothing is known.
    pub era: u64,
    /// The time.
    pub until: i64,
    /// The position of the record that wrote it.
    pub version: Lsn,
}

/// Access to the marks. An error ends the function that gets it.
pub trait Marks {
    /// The error of an access.
    type Error;

    /// Reads the clock, in microseconds since 1970-01-01 UTC.
    fn clock(&mut self) -> Result<i64, Self::Error>;
    /// The time that a flush takes on this disk, in microseconds. An outdated value is harmless.
    fn flush_time(&self) -> i64;

    /// Loads the era.
    fn era(&mut self) -> Result<u64, Self::Error>;
    /// Loads the time at or above which every ID is.
    fn start(&mut self, of: Mark) -> Result<i64, Self::Error>;
    /// Loads the era in which it was set, and which a raise keeps.
    fn era_of_start(&mut self, of: Mark) -> Result<u64, Self::Error>;
    /// Raises it, if it is lower. Returns `false` and changes nothing if it was set in another era.
    fn raise_start(&mut self, of: Mark, era: u64, time: i64) -> Result<bool, Self::Error>;
    /// Loads the time up to which IDs may be drawn, or horizons returned.
    fn reserved(&mut self, of: Mark) -> Result<i64, Self::Error>;

    /// Whether the page exists.
    fn has_page(&mut self) -> Result<bool, Self::Error>;
    /// Locks the page, which it creates first if it does not exist. Returns `false` if another backend has locked it and `wait` is false.
    fn lock(&mut self, wait: bool) -> Result<bool, Self::Error>;
    /// Unlocks the page. Is also called after an access under the lock has failed.
    fn unlock(&mut self) -> Result<(), Self::Error>;
    /// Under the lock: stores the time at or above which every ID is in an era.
    fn set_start(&mut self, of: Mark, era: u64, time: i64) -> Result<(), Self::Error>;
    /// Stores the era, if it is the next one: under the lock, or without a page.
    fn set_era(&mut self, era: u64) -> Result<(), Self::Error>;
    /// Under the lock: stores the time up to which IDs may be drawn, or horizons returned.
    fn reserve(&mut self, of: Mark, time: i64) -> Result<(), Self::Error>;
    /// Under the lock: returns the mark that is not yet flushed.
    fn pending(&mut self, of: Mark) -> Result<Pending, Self::Error>;
    /// Under the lock: stores the mark that is not yet flushed.
    fn set_pending(&mut self, of: Mark, pending: Pending) -> Result<(), Self::Error>;
    /// Under the lock: returns the mark of the page; 0 if there is none.
    fn durable(&mut self, of: Mark) -> Result<i64, Self::Error>;
    /// Under the lock: replaces the mark of the page, and logs it. Returns the position of the end of the record.
    fn log(&mut self, of: Mark, time: i64) -> Result<Lsn, Self::Error>;
    /// Under the lock: [`lower_word`](crate::draw::lower_word) for each type.
    fn lower_words(&mut self, time: i64) -> Result<(), Self::Error>;

    /// Whether the log is flushed up to a position.
    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Self::Error>;
    /// Flushes the log up to a position, and measures the time.
    fn flush(&mut self, position: Lsn) -> Result<(), Self::Error>;
    /// Asks the server to flush the log up to a position, and does not wait.
    fn flush_later(&mut self, position: Lsn) -> Result<(), Self::Error>;

    /// What this process knows of the mark that the database carries.
    fn known(&self, of: Mark) -> Known;
    /// Remembers that.
    fn know(&mut self, of: Mark, known: Known);
    /// Not under the lock: whether the mark that the database carries has a version.
    fn has_version(&mut self, of: Mark, version: Lsn) -> Result<bool, Self::Error>;
    /// Not under the lock: returns the mark that the database carries, and its version: the position of the record that wrote it.
    fn read_carried(&mut self, of: Mark) -> Result<(Carried, Lsn), Self::Error>;
    /// Not under the lock: replaces the mark that the database carries, and logs it. Returns the position of the end of the record;
    /// `None` and changes nothing if `old` is not the present version.
    fn write_carried(&mut self, of: Mark, old: Lsn, new: Carried) -> Result<Option<Lsn>, Self::Error>;
}

/// Runs `work` under the lock of the page.
pub fn locked<A: Marks, R>(access: &mut A, work: impl FnOnce(&mut A) -> Result<R, A::Error>) -> Result<R, A::Error> {
    access.lock(true)?;
    let result = work(access);
    access.unlock()?;
    result
}

/// Reads the page, unless a process has done so since the start of the server. Creates none: private generators need no page.
pub fn read_page<A: Marks>(access: &mut A) -> Result<(), A::Error> {
    if access.era()? != 0 {
        return Ok(());
    }
    if access.has_page()? { locked(access, read_page_locked) } else { access.set_era(1) }
}

fn read_page_locked<A: Marks>(access: &mut A) -> Result<(), A::Error> {
    if access.era()? != 0 {
        return Ok(());
    }
    for of in Mark::ALL {
        let durable = access.durable(of)?;
        access.set_start(of, 1, durable)?;
        access.reserve(of, durable)?;
    }
    access.set_era(1)?;
    Ok(())
}

/// Makes the next reservation. It includes the time that `need` returns under the lock; `None` if none is needed. With `wait`, waits
/// until it counts. Otherwise leaves the flush to the server, and does nothing if the page is locked.
#[cold]
#[inline(never)]
pub fn renew<A: Marks>(
    access: &mut A,
    of: Mark,
    need: impl FnOnce(&mut A) -> Result<Option<i64>, A::Error>,
    wait: bool,
) -> Result<(), A::Error> {
    if !access.lock(wait)? {
        return Ok(());
    }
    let position = renew_locked(access, of, need);
    access.unlock()?;
    match position? {
        Some(position) if wait => {
            access.flush(position)?;
            locked(access, |access| settle_locked(access, of))
        }
        Some(position) => access.flush_later(position),
        None => Ok(()),
    }
}

/// The position to flush; `None` if nothing is to be done.
fn renew_locked<A: Marks>(
    access: &mut A,
    of: Mark,
    need: impl FnOnce(&mut A) -> Result<Option<i64>, A::Error>,
) -> Result<Option<Lsn>, A::Error> {
    settle_locked(access, of)?;
    let Some(need) = need(access)? else { return Ok(None) };
    let reserved = access.reserved(of)?;
    if reserved >= need.saturating_add(mark::last_part(access.flush_time())) {
        return Ok(None);
    }
    let pending = access.pending(of)?;
    if pending.until >= need && pending.until > reserved {
        return Ok(Some(pending.position));
    }
    let until = need.saturating_add(mark::lead(of, access.flush_time()));
    let position = access.log(of, until)?;
    access.set_pending(of, Pending { until, position })?;
    Ok(Some(position))
}

/// Under the lock: makes the pending mark count if it is flushed.
fn settle_locked<A: Marks>(access: &mut A, of: Mark) -> Result<(), A::Error> {
    let pending = access.pending(of)?;
    if pending.until > access.reserved(of)? && access.is_flushed(pending.position)? {
        access.reserve(of, pending.until)?;
    }
    Ok(())
}

/// Raises the start of a mark to a time, which is durable first. Returns the time.
fn raise<A: Marks>(access: &mut A, of: Mark, time: impl Fn(&mut A) -> Result<i64, A::Error>) -> Result<i64, A::Error> {
    loop {
        let era = access.era_of_start(of)?;
        let raised = time(access)?;
        if access.reserved(of)? < raised {
            renew(access, of, |access| time(access).map(Some), true)?;
        }
        // A superuser may have set the mark back.
        if access.raise_start(of, era, raised)? && access.reserved(of)? >= raised {
            return Ok(raised);
        }
    }
}

/// Looks at what the database carries, for the beginning of a transaction. Adopts a mark that has arrived with the data of another
/// server if the clock has passed it. Returns it otherwise: the time at or above which the IDs of the database are; 0 if there is
/// none.
#[inline]
pub fn learn<A: Marks>(access: &mut A, of: Mark) -> Result<i64, A::Error> {
    if is_learned(access, of)? {
        return Ok(0);
    }
    read_page(access)?;
    let era = access.era()?;
    extend(access, of, era, None)
}

/// Whether this process knows what the database carries, and that is its own.
pub fn is_learned<A: Marks>(access: &mut A, of: Mark) -> Result<bool, A::Error> {
    let known = access.known(of);
    Ok(known.era != 0 && known.era == access.era()? && access.has_version(of, known.version)?)
}

/// Makes the mark that the database carries reach up to a time that is reserved, if one is given. Otherwise as [`learn`].
#[cold]
#[inline(never)]
pub fn extend<A: Marks>(access: &mut A, of: Mark, era: u64, time: Option<i64>) -> Result<i64, A::Error> {
    let (carried, version) = access.read_carried(of)?;
    if carried.has_arrived {
        // What this process knows is of a mark that was replaced.
        access.know(of, Known::default());
        return adopt(access, of, carried.time, version);
    }
    let reserved = access.reserved(of)?;
    // Above the reservation, it is one that a superuser has since set back from another database.
    let until = if carried.time > reserved { 0 } else { carried.time };
    match time {
        Some(time) if time > until && time <= reserved => {
            let new = Carried { time: reserved, has_arrived: false };
            if let Some(version) = access.write_carried(of, version, new)? {
                access.know(of, Known { era, until: reserved, version });
            }
        }
        _ => access.know(of, Known { era, until, version }),
    }
    Ok(0)
}

/// Adopts a mark that has arrived with the data of another server, once the clock has passed it. Whoever wrote it can therefore
/// delay no other database. The database calls the mark its own last, because its other sessions then draw.
fn adopt<A: Marks>(access: &mut A, of: Mark, time: i64, version: Lsn) -> Result<i64, A::Error> {
    if time > access.clock()? {
        return Ok(time);
    }
    raise(access, of, |_| Ok(time))?;
    access.write_carried(of, version, Carried { time, has_arrived: false })?;
    Ok(0)
}

/// The time up to which a reader may receive rows if no transaction runs: raises the start of the horizons to the clock. The database
/// carries it.
pub fn raise_floor<A: Marks>(access: &mut A) -> Result<i64, A::Error> {
    loop {
        let mut arrived = learn(access, Mark::Horizons)?;
        let now = |access: &mut A| Ok(access.start(Mark::Horizons)?.max(access.clock()?));
        let floor = raise(access, Mark::Horizons, now)?;
        // A superuser may set the mark back, also during the flush: then the reader must not receive the floor.
        loop {
            let era = access.era()?;
            if access.reserved(Mark::Horizons)? < floor {
                break;
            }
            let known = access.known(Mark::Horizons);
            if arrived > 0 || known.era == era && floor <= known.until {
                access.flush(known.version)?;
                if access.era()? == era {
                    return Ok(floor);
                }
            }
            arrived = extend(access, Mark::Horizons, era, Some(floor))?;
        }
    }
}

/// Raises both marks above a time: later IDs of all types are of ticks that start after it. So are those of the database in another
/// server.
pub fn raise_marks<A: Marks>(access: &mut A, time: i64) -> Result<(), A::Error> {
    let time = mark::after(time);
    read_page(access)?;
    for of in Mark::ALL {
        raise(access, of, |_| Ok(time))?;
    }
    // A backend that has loaded a lower start discards its ID.
    locked(access, |access| {
        let era = access.era()?;
        access.set_era(era + 1)
    })?;
    Mark::ALL.into_iter().try_for_each(|of| change_carried(access, of, |carried, _| carried.max(time)))?;
    Ok(())
}

/// Sets both marks and all words back to a time; not to one that the clock will soon reach, so that no ID that was drawn with a right
/// clock is drawn again. Raises nothing.
pub fn set_marks<A: Marks>(access: &mut A, time: i64) -> Result<(), A::Error> {
    let new = locked(access, |access| set_marks_locked(access, time))?;
    // Flushes the page as well, whose record precedes. Whoever was suspended here for long must not lower what covers the IDs that
    // others have since drawn.
    let lower = |carried: i64, reserved: i64| carried.min(new.max(reserved));
    Mark::ALL.into_iter().try_for_each(|of| change_carried(access, of, lower))?;
    Ok(())
}

/// The time to which all was set back.
fn set_marks_locked<A: Marks>(access: &mut A, time: i64) -> Result<i64, A::Error> {
    read_page_locked(access)?;
    let reserved = [access.reserved(Mark::Draws)?, access.reserved(Mark::Horizons)?];
    // First, and before the era. A backend that has loaded the reservation before has read an older clock, and discards its ID if it
    // swaps the word after that was read.
    for of in Mark::ALL {
        access.reserve(of, 0)?;
    }
    let era = access.era()? + 1;
    access.set_era(era)?;
    let new = mark::lowest(time, access.clock()?);
    for (of, reserved) in Mark::ALL.into_iter().zip(reserved) {
        if access.durable(of)? > new {
            let position = access.log(of, new)?;
            access.set_pending(of, Pending { until: new, position })?;
        }
        let start = access.start(of)?;
        access.set_start(of, era, start.min(new))?;
        if of == Mark::Draws {
            access.lower_words(new)?;
        }
        access.reserve(of, reserved.min(new))?;
    }
    Ok(new)
}

/// Changes the mark that the database carries, whoever wrote it: `change` gets its time, and the reservation after that was read. Writes
/// it even if it is the same, so that a backend which has read it before does not replace it.
fn change_carried<A: Marks>(access: &mut A, of: Mark, change: impl Fn(i64, i64) -> i64) -> Result<(), A::Error> {
    loop {
        let (carried, version) = access.read_carried(of)?;
        let time = change(carried.time, access.reserved(of)?);
        if let Some(position) = access.write_carried(of, version, Carried { time, ..carried })? {
            return access.flush(position);
        }
    }
}
