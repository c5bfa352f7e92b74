//! The changes of the protocol that no world finds, each with the reason why no invariant needs what it changes.

/// The names of the changes, as the build script writes them.
pub const HARMLESS: &[&str] = &[
    // What is known only spares a look at the sequence, which finds the same.
    "learn: without if is_learned(of)?",
    "learn: without return Ok(0) in if is_learned(of)?",
    "learn: if is_learned(of)? after read_page(access)?",
    // What is known of the era before the first is looked up again.
    "learn: read_page(access)? after let era",
    // A start that is not durable yet is not returned.
    "raise: if reserved(of)? < raised after if raise_start(of, era, raised)? && reserved(of)? >= raised",
    // The era concerns draws of this server, the sequences those of others.
    "raise_marks: locked(|access| after Mark::ALL.into_iter().try_for_each(|of| change_carried(of, |carried, _| carried.max(time)))?",
    // They spare the lock of the page, under which the era is looked at again.
    "read_page: without if era()? != 0",
    "read_page: without return Ok(()) in if era()? != 0",
    // Before the era has begun, nobody loads either.
    "read_page_locked: set_start(of, 1, durable)? after reserve(of, durable)?",
    // What is loaded while there is no era is thrown away.
    "draw: if era == 0 after let (word, step)",
    // A renewal changes nothing that the process knows, and is repeated after a failure.
    "draw: if end > reserved after let known",
    // The ID is discarded all the same.
    "draw: if era()? != era after if reserved - end < mark::last_part(flush_time()) && is_due(reserved)",
    // Without a renewal ahead of need, a draw waits for the flush. Without the settlement, so does the next one.
    "draw: without if reserved - end < mark::last_part(flush_time()) && is_due(reserved)",
    "renew_locked: without settle_locked(of)?",
    // The first step makes an ID, which is thrown away.
    "draw: if word == T::State::default() && mark::begins_without_mark(word, start(Mark::Draws)?) after let Ok((state, id))",
    // What the process knows is its own.
    "raise_floor: if reserved(Mark::Horizons)? < floor after let known",
    // An extension that is not needed finds that.
    "raise_floor: if arrived > 0 || known.era == era && floor <= known.until after arrived = extend(Mark::Horizons, era, Some(floor))?",
    // Whoever draws without a reservation has loaded one before, and an older clock before that.
    "set_marks_locked: set_era(era)? after let new",
    // If the mark has arrived, the reservation is not used.
    "extend: if carried.has_arrived after let reserved",
    // What raises the start above the clock, or lowers it, changes the era, so that the ID is discarded.
    "next: let start after let word",
    // Need depends on the start, the word and the clock, the reservation on the page's lock, which is held.
    "renew_locked: settle_locked(of)? after let Some(need)",
    "renew_locked: let Some(need) after let reserved",
    // Only the holder of the lock changes the era.
    "set_marks_locked: for of in Mark::ALL after let era",
    // Until the reservation is stored again, no ID leaves, and whoever raises the start looks at the reservation again.
    "set_marks_locked: if durable(of)? > new after let start",
    "set_marks_locked: set_start(of, era, start.min(new))? after if of == Mark::Draws",
    // A word above the reservation requires the lock of the page, or is set back by the draw that it refuses.
    "set_marks_locked: if of == Mark::Draws after reserve(of, reserved.min(new))?",
];
