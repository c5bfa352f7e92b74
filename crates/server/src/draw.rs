//! How the backends of a server draw IDs from shared state: one *word* a type, which is the state of its generator and changes by
//! compare-and-swap only. As [`protocol`](crate::protocol), straight-line code over its accesses, which the model runs.

use rand::Rng;
use scru_ids::{Context, GeneratedId, NoId, Refusal, Step};

use crate::mark::{self, Mark};
use crate::protocol::{Marks, extend, locked, read_page, renew};

/// Access to the word of a type.
pub trait Access<T: GeneratedId>: Marks {
    /// The random source.
    type Random: Rng;

    /// Loads the word.
    fn word(&mut self) -> Result<T::State, Self::Error>;
    /// Replaces the word `old` by `new`. Returns `false` if another backend has changed the word.
    fn swap(&mut self, old: T::State, new: T::State) -> Result<bool, Self::Error>;
    /// The context of a step at a reading of the clock. It is private to the process.
    fn context(&self, now: i64) -> Context<T::Settings>;
    /// The time at or above which this process draws in its transaction, because of the horizons.
    fn from(&self) -> i64;
    /// The time that has arrived with the database, and for which its draws wait; 0 if there is none.
    fn arrived(&self) -> i64;
    /// The random source at a reading of the clock.
    fn random(&mut self, now: i64) -> Result<Self::Random, Self::Error>;
    /// Whether this process is to renew a reservation that ends soon: once each, so that not all compete for the lock.
    fn is_due(&mut self, reserved: i64) -> bool;
}

/// Draws an ID. Returns `None` if the draw must be repeated, because another backend has changed the word or because something was
/// required first. docs/design.md explains the order of the accesses.
#[inline(always)]
pub fn draw<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<Option<Step<T>>, A::Error> {
    let era = access.era()?;
    if era == 0 {
        return read_page(access).map(|()| None);
    }
    let (word, step) = next(access)?;
    if word == T::State::default() && mark::begins_without_mark::<T>(word, access.start(Mark::Draws)?) {
        let now = access.clock()?;
        let first = T::successor_state(now, &mut access.random(now)?);
        return access.swap(word, first).map(|_| None);
    }
    let Ok((state, id)) = step else {
        let has_lost = matches!(step, Err(NoId::Refused(Refusal::ClockMovedBack(_)))) && discard(access, word)?;
        return Ok((!has_lost).then_some(step));
    };
    let end = mark::end::<T>(id.tick());
    let reserved = access.reserved(Mark::Draws)?;
    if end > reserved {
        return renew(access, Mark::Draws, end_of_next::<T, A>, true).map(|()| None);
    }
    let known = access.known(Mark::Draws);
    if known.era != era || end > known.until {
        let arrived = extend(access, Mark::Draws, era, Some(end))?;
        return Ok(mark::delay(arrived, access.clock()?, 0).err().map(Err));
    }
    if !access.swap(word, state)? {
        return Ok(None);
    }
    // The marks may have changed after the reservation was loaded: `set_marks` changes the era before it reads the word.
    if access.era()? != era {
        return Ok(None);
    }
    if reserved - end < mark::last_part(access.flush_time()) && access.is_due(reserved) {
        renew(access, Mark::Draws, end_of_next::<T, A>, false)?;
    }
    Ok(Some(step))
}

/// Sets a word back that is above the reservation, and returns whether it is: a backend that was suspended while a superuser set the
/// marks back has swapped it, and has discarded the ID.
#[cold]
fn discard<T: GeneratedId, A: Access<T>>(access: &mut A, word: T::State) -> Result<bool, A::Error> {
    let is_above = T::SERVER_WIDE && mark::end::<T>(T::state_tick(word)) > access.reserved(Mark::Draws)?;
    if is_above {
        locked(access, |access| {
            let reserved = access.reserved(Mark::Draws)?;
            lower_word(access, reserved)
        })?;
    }
    Ok(is_above)
}

/// The word, and the next step from it.
#[inline(always)]
fn next<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<(T::State, Step<T>), A::Error> {
    let start = access.start(Mark::Draws)?.max(access.from());
    let word = access.word()?;
    // After the word. Otherwise, if other backends advance it in between, the clock seems to have moved back.
    let now = access.clock()?;
    let step = mark::step(word, start, access.arrived(), &access.context(now), &mut access.random(now)?);
    Ok((word, step))
}

/// The end of the tick of the next ID; `None` if the next step makes none. Read again under the lock: a backend that was suspended may
/// have an outdated word or clock.
fn end_of_next<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<Option<i64>, A::Error> {
    Ok(next::<T, A>(access)?.1.ok().map(|(_, id)| mark::end::<T>(id.tick())))
}

/// Draws an ID without a reservation. A standby cannot log, so it draws this way. Only for types without `SERVER_WIDE`.
pub fn draw_unlogged<T: GeneratedId, A: Access<T>>(access: &mut A) -> Result<Option<Step<T>>, A::Error> {
    let word = access.word()?;
    let now = access.clock()?;
    let step = T::step(word, &access.context(now), &mut access.random(now)?);
    match step {
        Ok((next, _)) if !access.swap(word, next)? => Ok(None),
        step => Ok(Some(step)),
    }
}

/// Sets a type's word back if its tick ends after a time, so that the next ID is at or above the time.
pub fn lower_word<T: GeneratedId, A: Access<T>>(access: &mut A, time: i64) -> Result<(), A::Error> {
    let back = mark::before::<T>(time, &mut access.random(time)?);
    loop {
        let old = access.word()?;
        if mark::end::<T>(T::state_tick(old)) <= time || access.swap(old, back)? {
            return Ok(());
        }
    }
}
