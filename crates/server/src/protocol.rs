//! The protocol by which the backends of a server share a generator. The model runs this text. `docs/design.md` explains it.
//!
//! The functions are straight-line code over an [`Access`] to shared memory, the clock, randomness and the log. The extension
//! performs each access. The model runs the same code, and makes each access an action, so that any other action can precede it.
//!
//! Two things are shared: the *word*, which is the state of the generator and changes by compare-and-swap only, and the *page*,
//! which holds the marks and is changed only under its lock, in the log before any row that they cover. No flush happens under
//! the lock. Drawing an ID takes no lock unless a reservation is due.

use rand::Rng;
use scru_ids::{Context, FastRange, GeneratedId, NodeCode, State, Step, Word};

use crate::mark::{self, Cover, Mark, Reservation, Reserved};

/// A position in the write-ahead log (log sequence number).
pub type Lsn = u64;

/// A reservation whose mark is in the log, and the position up to which the log must be flushed before the reservation counts.
/// The default, 0 and 0, is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pending {
    /// The reservation.
    pub reserved: Reserved,
    /// The end of the mark's record.
    pub position: Lsn,
}

/// The mark that travels with a database, in a sequence that dumps and pg_upgrade preserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carried {
    /// The database carries no mark: the IDs of the type are unique without a state.
    Nothing,
    /// This server wrote the mark; `None` before the first.
    Own(Option<Mark>),
    /// The mark arrived with the data of another server.
    Arrived(Mark),
}

impl Carried {
    /// The mark, whoever wrote it.
    pub const fn mark(self) -> Option<Mark> {
        match self {
            Self::Nothing => None,
            Self::Own(mark) => mark,
            Self::Arrived(mark) => Some(mark),
        }
    }
}

/// The accesses of the fast path. An error ends the function that gets it.
pub trait FastAccess<T: GeneratedId> {
    /// The error of an access.
    type Error;

    /// Reads the clock, in microseconds since 1970-01-01 UTC. For a full step, it counts as reading at least the time from which this
    /// process draws. [`draw_fast`] leaves this check to its caller.
    fn now(&mut self) -> Result<i64, Self::Error>;
    /// Loads the word.
    fn word(&mut self) -> Result<Word<T>, Self::Error>;
    /// Replaces the word `old` by `new`. Returns `false` if another backend has changed the word.
    fn swap(&mut self, old: Word<T>, new: Word<T>) -> Result<bool, Self::Error>;
}

/// Access to what the backends of a server share.
pub trait Access<T: GeneratedId>: FastAccess<T> {
    /// The random source.
    type Random: Rng;

    /// The context of a step at a reading of the clock. It is private to the process.
    fn context(&self, now: i64) -> Context<T::Settings>;
    /// The wait or the refusal of this process if the clock, as last read, is too far behind the time from which it draws.
    fn delay(&self) -> Option<Step<T>>;
    /// Loads the reservation.
    fn reserved(&mut self) -> Result<Reserved, Self::Error>;
    /// Calls `draw` with the random source.
    fn random<R>(&mut self, draw: impl FnOnce(&mut Self::Random) -> R) -> Result<R, Self::Error>;
    /// The time that a flush takes on this disk, in microseconds. An outdated value is harmless.
    fn flush_time(&self) -> i64;
    /// Whether this process is to renew a reservation that ends soon: once each, so that not all compete for the lock.
    fn is_due(&mut self, reserved: Reserved) -> bool;

    /// Locks the page. Returns `false` if another backend has locked it and `wait` is false.
    fn lock(&mut self, wait: bool) -> Result<bool, Self::Error>;
    /// Unlocks the page. Is also called after an access under the lock has failed.
    fn unlock(&mut self) -> Result<(), Self::Error>;
    /// Under the lock: returns the type's marks.
    fn marks(&mut self) -> Result<Vec<Mark>, Self::Error>;
    /// Under the lock: replaces the type's marks, and logs them. Returns the position of the end of the record.
    fn log(&mut self, marks: &[Mark]) -> Result<Lsn, Self::Error>;
    /// Under the lock: stores the reservation.
    fn reserve(&mut self, reserved: Reserved) -> Result<(), Self::Error>;
    /// Under the lock: returns the reservation that is not yet flushed.
    fn pending(&mut self) -> Result<Pending, Self::Error>;
    /// Under the lock: stores the reservation that is not yet flushed.
    fn set_pending(&mut self, pending: Pending) -> Result<(), Self::Error>;
    /// Under the lock: returns the number of the run; 0 if none has begun.
    fn run(&mut self) -> Result<u64, Self::Error>;
    /// Under the lock: stores the number of the run.
    fn set_run(&mut self, run: u64) -> Result<(), Self::Error>;

    /// Whether the log is flushed up to a position.
    fn is_flushed(&mut self, position: Lsn) -> Result<bool, Self::Error>;
    /// Flushes the log up to a position, and measures the time.
    fn flush(&mut self, position: Lsn) -> Result<(), Self::Error>;
    /// Asks the server to flush the log up to a position, and does not wait.
    fn flush_later(&mut self, position: Lsn) -> Result<(), Self::Error>;

    /// The reservation up to which this process knows the database's own mark to reach.
    fn known_carried(&self) -> Reserved;
    /// Remembers that the database's own mark reaches up to a reservation.
    fn know_carried(&mut self, reserved: Reserved);
    /// Not under the lock: returns the mark that the database carries, and its version: the position of the record that wrote it.
    fn read_carried(&mut self) -> Result<(Carried, Lsn), Self::Error>;
    /// Not under the lock: replaces the mark that the database carries, and logs it as written by this server. Returns the position
    /// of the end of the record; `None` and changes nothing if `old` is given and is not the present version.
    fn write_carried(&mut self, old: Option<Lsn>, new: Mark) -> Result<Option<Lsn>, Self::Error>;
}

/// Draws an ID by a full step. Returns `None` if the step must be repeated, because another backend has changed the word or
/// because a reservation was required first. docs/design.md explains the order of the accesses.
#[inline(always)]
pub fn draw<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<Option<Step<T>>, A::Error> {
    let reserved = access.reserved()?;
    let word = access.word()?;
    let now = access.now()?;
    // First, so that nothing that backends share is raised because of the time from which one draws.
    if let Some(delay) = access.delay() {
        return Ok(Some(delay));
    }
    let context = access.context(now);
    let node = T::node(&context.settings);
    if !reserved.is_of::<T>(node) {
        return enter(access, node);
    }
    let step = access.random(|rng| T::step(T::State::unpack(word), &context, rng))?;
    let Step::Made(next, id) = step else { return Ok(Some(step)) };
    let flush_time = access.flush_time();
    let cover = reserved.cover::<T>(node, id.tick(), flush_time);
    if cover == Cover::Outside {
        return renew(access, node, true).map(|()| None);
    }
    if access.known_carried() != reserved {
        return extend_carried(access, node, reserved);
    }
    if !access.swap(word, next.pack())? {
        return Ok(None);
    }
    // The mark may have been set back after the reservation was loaded: `set_mark` withdraws it before it reads the word.
    let present = access.reserved()?;
    if present != reserved && present.cover::<T>(node, id.tick(), flush_time) == Cover::Outside {
        return Ok(None);
    }
    if cover == Cover::Last && access.is_due(present) {
        renew(access, node, false)?;
    }
    Ok(Some(step))
}

/// Draws an ID by the fast path: the word + 1, within the tick of an ID that [`draw`] returned to this process. Returns the new
/// word; `None` if a full step is required.
///
/// Needs no reservation of its own: whoever brought the word into this tick had reserved the tick as a whole.
#[inline(always)]
pub fn draw_fast<T: GeneratedId, A: FastAccess<T>>(
    access: &mut A,
    range: &FastRange<T>,
) -> Result<Option<Word<T>>, A::Error> {
    let old = access.word()?;
    if !range.words.contains(&old) || !range.times.contains(&access.now()?) {
        return Ok(None);
    }
    let new = old + Word::<T>::from(1);
    Ok(access.swap(old, new)?.then_some(new))
}

/// Draws an ID without a reservation. A standby cannot log marks, so it draws this way. Only for types without `SERVER_WIDE`.
pub fn draw_unlogged<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<Option<Step<T>>, A::Error> {
    let word = access.word()?;
    let now = access.now()?;
    let context = access.context(now);
    let step = access.random(|rng| T::step(T::State::unpack(word), &context, rng))?;
    match step {
        Step::Made(next, _) if !access.swap(word, next.pack())? => Ok(None),
        step => Ok(Some(step)),
    }
}

/// Runs `work` under the lock of the page.
fn locked<T: GeneratedId, A: Access<T>, R>(
    access: &mut A,
    work: impl FnOnce(&mut A) -> Result<R, A::Error>,
) -> Result<R, A::Error> {
    access.lock(true)?;
    let result = work(access);
    access.unlock()?;
    result
}

/// Prepares the first ID of a node in this run: raises the word above all IDs that earlier runs may have generated, and makes the
/// node's first reservation. Returns `None` if the step must be repeated; otherwise a wait or a refusal.
#[cold]
#[inline(never)]
fn enter<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode) -> Result<Option<Step<T>>, A::Error> {
    match locked(access, |access| enter_locked(access, node))? {
        Entered::Reserved(position) => {
            settle(access, position)?;
            Ok(None)
        }
        Entered::Changed => Ok(None),
        Entered::Delayed(delay) => Ok(Some(delay)),
    }
}

/// The result of preparing the first ID of a node under the lock.
pub enum Entered<T: GeneratedId> {
    /// The node has a reservation, which counts once the log is flushed up to this position.
    Reserved(Lsn),
    /// Another backend has changed what is shared.
    Changed,
    /// The clock is too far behind: a wait or a refusal.
    Delayed(Step<T>),
}

fn enter_locked<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode) -> Result<Entered<T>, A::Error> {
    // Another backend may have entered the node.
    let pending = access.pending()?;
    if access.reserved()?.is_of::<T>(node) {
        return Ok(Entered::Changed);
    }
    if pending.reserved.is_of::<T>(node) {
        return Ok(Entered::Reserved(pending.position));
    }
    let marks = access.marks()?;
    let run = match access.run()? {
        0 => access.random(|rng| rng.next_u64().max(1))?,
        run => run,
    };
    let old = access.word()?;
    let now = access.now()?;
    // Rows can arrive without a mark, as from the publisher of a logical subscriber, or lose it with the page.
    let high_water = if marks.is_empty() && T::SERVER_WIDE {
        Some(T::state_tick(T::successor_state(now)))
    } else {
        mark::high_water(&marks, node, run)
    };
    let word = match access.random(|rng| mark::enter::<T>(old, high_water, now, rng))? {
        Ok(word) => word,
        Err(delay) => return Ok(Entered::Delayed(delay)),
    };
    if word != old && !access.swap(old, word)? {
        return Ok(Entered::Changed);
    }
    access.set_run(run)?;
    let tick = mark::first_tick::<T>(word, now);
    make(access, marks, node, tick, run).map(Entered::Reserved)
}

/// Under the lock: logs the mark of a reservation from a tick on. Returns the position up to which it must be flushed.
fn make<T: GeneratedId, A: Access<T>>(
    access: &mut A,
    mut marks: Vec<Mark>,
    node: NodeCode,
    tick: u64,
    run: u64,
) -> Result<Lsn, A::Error> {
    let reservation = Reservation::from::<T>(node, tick, access.flush_time());
    mark::add(&mut marks, Mark { node, tick: reservation.until, run });
    let position = access.log(&marks)?;
    access.set_pending(Pending { reserved: reservation.pack::<T>(), position })?;
    Ok(position)
}

/// Makes the next reservation of a node. With `wait`, waits until it counts. Otherwise leaves the flush to the server, and does
/// nothing if the page is locked.
#[cold]
#[inline(never)]
fn renew<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode, wait: bool) -> Result<(), A::Error> {
    if !access.lock(wait)? {
        return Ok(());
    }
    let position = renew_locked(access, node);
    access.unlock()?;
    match position? {
        Some(position) if wait => settle(access, position),
        Some(position) => access.flush_later(position),
        None => Ok(()),
    }
}

/// The position to flush; `None` if the step must be repeated.
fn renew_locked<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode) -> Result<Option<Lsn>, A::Error> {
    settle_locked(access)?;
    // Read again under the lock: a backend that was suspended may have an outdated word or clock.
    let reserved = access.reserved()?;
    let word = access.word()?;
    let tick = mark::first_tick::<T>(word, access.now()?);
    let flush_time = access.flush_time();
    let cover = |reserved: Reserved| reserved.cover::<T>(node, tick, flush_time);
    if !reserved.is_of::<T>(node) || cover(reserved) == Cover::Within {
        return Ok(None);
    }
    let pending = access.pending()?;
    if pending.reserved != reserved && cover(pending.reserved) != Cover::Outside {
        return Ok(Some(pending.position));
    }
    let (marks, run) = (access.marks()?, access.run()?);
    make(access, marks, node, tick, run).map(Some)
}

/// Flushes the log up to a position, so that the pending reservation counts.
fn settle<T: GeneratedId, A: Access<T>>(access: &mut A, position: Lsn) -> Result<(), A::Error> {
    access.flush(position)?;
    locked(access, settle_locked)
}

/// Under the lock: makes the pending reservation count if its mark is flushed.
fn settle_locked<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<(), A::Error> {
    let pending = access.pending()?;
    if pending.reserved != Reserved::NONE && access.is_flushed(pending.position)? {
        access.reserve(pending.reserved)?;
    }
    Ok(())
}

/// Makes the database's own mark reach up to a reservation. If a mark has arrived with the data of another server, first adopts
/// it. Returns `None`, because the step must be repeated, or a refusal.
#[cold]
#[inline(never)]
fn extend_carried<T: GeneratedId, A: Access<T>>(
    access: &mut A,
    node: NodeCode,
    reserved: Reserved,
) -> Result<Option<Step<T>>, A::Error> {
    let Some(Reservation { until, .. }) = reserved.unpack::<T>() else { return Ok(None) };
    let (old, version) = access.read_carried()?;
    if let Carried::Arrived(arrived) = old {
        return adopt(access, arrived, version);
    }
    // `set_mark` withdraws the reservation before it sets back the mark that the database carries.
    if access.reserved()? != reserved {
        return Ok(None);
    }
    if join_carried(access, old, version, Mark { node, tick: until, run: 0 })? {
        access.know_carried(reserved);
    }
    Ok(None)
}

/// Joins a mark to the one that the database carries. Returns `false` if that has changed in the meantime, or has arrived from
/// another server.
fn join_carried<T: GeneratedId, A: Access<T>>(
    access: &mut A,
    old: Carried,
    version: Lsn,
    new: Mark,
) -> Result<bool, A::Error> {
    match old {
        Carried::Nothing => Ok(true),
        Carried::Arrived(_) => Ok(false),
        Carried::Own(own) => match own.map_or(new, |own| own.join(new)) {
            joined if own == Some(joined) => Ok(true),
            joined => Ok(access.write_carried(Some(version), joined)?.is_some()),
        },
    }
}

/// Adopts a mark that has arrived with the data of another server, once the clock or the word has passed it. Whoever wrote it can
/// therefore delay no other database. The database calls the mark its own last, because its other sessions then draw.
fn adopt<T: GeneratedId, A: Access<T>>(
    access: &mut A,
    arrived: Mark,
    version: Lsn,
) -> Result<Option<Step<T>>, A::Error> {
    let last = access.random(|rng| T::state_after(arrived.tick, rng))?.pack();
    loop {
        let old = access.word()?;
        if old >= last {
            break;
        }
        if let Some(delay) = mark::delay_of_arrival::<T>(arrived, access.now()?) {
            return Ok(Some(delay));
        }
        if access.swap(old, last)? {
            break;
        }
    }
    locked(access, |access| keep_locked(access, arrived))?;
    access.write_carried(Some(version), arrived)?;
    Ok(None)
}

/// Under the lock: adds a mark that the word has passed to the page, unless one of the page covers it. Withdraws no reservation.
fn keep_locked<T: GeneratedId, A: Access<T>>(access: &mut A, arrived: Mark) -> Result<(), A::Error> {
    let mut marks = access.marks()?;
    if !marks.iter().any(|mark| mark.covers(arrived)) {
        mark::add(&mut marks, arrived);
        access.log(&marks)?;
    }
    Ok(())
}

/// Adds a mark above which every run continues, and withdraws the reservation, so that every node enters again.
fn raise<T: GeneratedId, A: Access<T>>(access: &mut A, new: Mark) -> Result<(), A::Error> {
    let position = locked(access, |access| raise_locked(access, new))?;
    access.flush(position)
}

fn raise_locked<T: GeneratedId, A: Access<T>>(access: &mut A, new: Mark) -> Result<Lsn, A::Error> {
    withdraw(access)?;
    // The fast path does not load the reservation. No fast range contains the last ID of a tick.
    loop {
        let old = access.word()?;
        let tick = T::state_tick(T::State::unpack(old));
        let last = access.random(|rng| T::state_after(tick, rng))?.pack();
        if tick == 0 || last == old || access.swap(old, last)? {
            break;
        }
    }
    let mut marks = access.marks()?;
    mark::add(&mut marks, Mark { run: 0, ..new });
    access.log(&marks)
}

/// Under the lock: withdraws the reservation, so that every node enters again.
fn withdraw<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<(), A::Error> {
    access.reserve(Reserved::NONE)?;
    access.set_pending(Pending::default())
}

/// Raises the mark of a node to a tick, if it is lower: the IDs of this server continue above it.
pub fn raise_mark<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode, tick: u64) -> Result<(), A::Error> {
    let new = Mark { node, tick, run: 0 };
    // First, so that the flush of the page includes it. A mark that has arrived remains until it is moved into the page.
    loop {
        let (carried, version) = access.read_carried()?;
        if matches!(carried, Carried::Arrived(_)) || join_carried(access, carried, version, new)? {
            break;
        }
    }
    raise(access, new)
}

/// Sets the mark of a node, and the word of the whole server, back to a tick; not to one that the clock will soon reach, so that no
/// ID that was drawn with a right clock is drawn again.
pub fn set_mark<T: GeneratedId, A: Access<T>>(access: &mut A, node: NodeCode, tick: u64) -> Result<(), A::Error> {
    let (carried, _) = access.read_carried()?;
    let new = Mark { node, tick, run: 0 };
    let (mut position, new) = locked(access, |access| set_mark_locked(access, new, carried))?;
    if carried != Carried::Nothing
        && let Some(end) = access.write_carried(None, new)?
    {
        position = position.max(end);
    }
    access.flush(position)
}

/// The position to flush, and the new mark that the database carries.
fn set_mark_locked<T: GeneratedId, A: Access<T>>(
    access: &mut A,
    new: Mark,
    carried: Carried,
) -> Result<(Lsn, Mark), A::Error> {
    // Before the word is read: a backend that swaps the word afterwards does not find its reservation again, and discards the ID.
    withdraw(access)?;
    let mut marks = access.marks()?;
    let tick = loop {
        let old = access.word()?;
        let tick = mark::lowest::<T>(new.tick, access.now()?);
        if T::state_tick(T::State::unpack(old)) <= tick {
            break tick;
        }
        let back = access.random(|rng| T::state_after(tick, rng))?.pack();
        if access.swap(old, back)? {
            // The word is now below the IDs of all nodes. In a new run, every node enters above its mark.
            access.set_run(0)?;
            break tick;
        }
    };
    if let Carried::Arrived(arrived) = carried {
        mark::add(&mut marks, Mark { tick: arrived.tick.min(tick), ..arrived });
    }
    mark::set_back(&mut marks, new.node, tick);
    // The mark that the database carries also covers the nodes that it has had.
    let node = carried.mark().map_or(new.node, |carried| carried.node.join(new.node));
    Ok((access.log(&marks)?, Mark { node, tick, run: 0 }))
}
