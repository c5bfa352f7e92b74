//! The changes of the protocol that no world finds, each with the reason why no invariant needs what it changes.

/// The names of the changes, as the build script writes them.
pub const HARMLESS: &[&str] = &[
    // What is known only spares a look at the sequence, which finds the same.
    "learn: without if is_learned(of)?",
    "learn: without return Ok(0) in if is_learned(of)?",
    "learn: if is_learned(of)? after begin(access)?",
    // What is known of the era before the first is looked up again.
    "learn: begin(access)? after let era",
    // The sequence was extended, or by another backend, which has read the same reservation. Restores wait for the transaction.
    "draw: without return Ok(mark::delay(arrived, clock()?, 0)) in if known.era != era || end > known.until",
    // A start that is not durable yet is not returned.
    "raise: if reserved(of)? < raised after if raise_start(of, era, raised)? && reserved(of)? >= raised",
    // Each transaction of a world begins by reading the page. The superuser's function may be the first to do so.
    "raise_marks: without begin(access)?",
    // The era concerns draws of this server, the sequences those of others.
    "raise_marks: locked(|access| { let era = era()?; set_era(era + 1) })? after Mark::ALL.into_iter().try_for_each(|of| \
     change_carried(of, |carried, _| carried.max(time)))",
];

/// The changes that no world of the default test finds. They are not shown to be harmless. `make test-model` explores them.
pub const LONG: &[&str] = &[
    "begin: without if era()? != 0",
    "begin: without result",
    "begin: without return Ok(()) in if era()? != 0",
    "begin_locked: set_start(of, 1, durable)? after reserve(of, durable)?",
    "begin_locked: without reserve(of, durable)?",
    "discard: without if is_above",
    "draw: if !swap(word, state.pack())? after if era()? != era",
    "draw: if end > reserved after let known",
    "draw: if era == 0 after let (word, step)",
    "draw: if era()? != era after if reserved - end < mark::low(flush_time()) && is_due(reserved)",
    "draw: keeps an ID of an earlier era",
    "draw: what a process knows outlives the era",
    "draw: without if era()? != era",
    "draw: without if reserved - end < mark::low(flush_time()) && is_due(reserved)",
    "draw: without return Ok(None) in if era()? != era",
    "extend: if carried.has_arrived after let reserved",
    "extend: without know(of, Known::default())",
    "lower_word: without if mark::end(T::state_tick(T::State::unpack(old))) <= time",
    "lower_word: without return Ok(()) in if swap(old, back.pack())?",
    "next: let start after let word",
    "renew: without return Ok(()) in if !lock(wait)?",
    "renew_locked: if of == Mark::Draws && start(of)? == 0 after let Some(need)",
    "renew_locked: let Some(need) after let reserved",
    "renew_locked: new servers start at the clock",
    "renew_locked: settle_locked(of)? after if of == Mark::Draws && start(of)? == 0",
    "renew_locked: without if of == Mark::Draws && start(of)? == 0",
    "renew_locked: without set_start(of, era, first)?",
    "renew_locked: without settle_locked(of)?",
    "set_marks: without flush(position)?",
    "set_marks_locked: begin_locked(access)? after let reserved",
    "set_marks_locked: for Mark::ALL after let era",
    "set_marks_locked: if durable(of)? > new after let start",
    "set_marks_locked: if of == Mark::Draws after reserve(of, reserved.min(new))?",
    "set_marks_locked: position = log(of, new)? after set_pending(of, Pending { until: new, position })?",
    "set_marks_locked: set_era(era)? after let new",
    "set_marks_locked: set_start(of, era, start.min(new))? after if of == Mark::Draws",
    "set_marks_locked: without if of == Mark::Draws",
    "set_marks_locked: without set_era(era)?",
];
