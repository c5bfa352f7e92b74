//! The changes of the protocol that no world finds, each with the reason why no invariant needs what it changes.

/// The names of the changes, as the build script writes them.
pub const HARMLESS: &[&str] = &[
    // A step changes nothing until the word is swapped.
    "draw: if !reserved.is_of(node) after let step",
    // Both are required before the ID. Their order is free.
    "draw: if cover == Cover::Outside after if known_carried() != reserved",
    // Reserving ahead only saves time: without it, a draw flushes in each reservation.
    "draw: without if cover == Cover::Last && is_due(present)",
    // A further reservation of the same run is made. It only saves a record of the log.
    "enter_locked: without if reserved()?.is_of(node)",
    "enter_locked: without return Ok(Entered::Changed) in if reserved()?.is_of(node)",
    // The reservations, the marks and the run change under the lock only, which the reader holds.
    "enter_locked: let pending after if reserved()?.is_of(node)",
    "enter_locked: let marks after let run",
    "enter_locked: let run after let old",
    "renew_locked: let reserved after let word",
    "raise_locked: loop after let mut marks",
    "set_mark_locked: withdraw(access)? after let mut marks",
    "set_mark_locked: let mut marks after let tick",
    // An older clock makes the reservation shorter, or the wait longer.
    "enter_locked: let old after let now",
    // A run without a mark has reserved nothing. The repeated step continues it.
    "enter_locked: if word != old && !swap(old, word)? after set_run(run)?",
    // The caller settles the pending reservation later. It saves a second lock.
    "renew_locked: without settle_locked(access)?",
    "renew_locked: settle_locked(access)? after let reserved",
    // The next iteration finds that the word has passed the mark, and ends.
    "adopt: without break in if swap(old, last)?",
    // A mark that has arrived is adopted whether or not the reservation is still valid.
    "extend_carried: if let Carried::Arrived(arrived) = old after if reserved()? != reserved",
    // The pending reservation is read under the lock only.
    "withdraw: reserve(Reserved::NONE)? after set_pending(Pending::default())",
    // The reservation is withdrawn, so that every ID whose word is swapped afterwards is discarded.
    "set_mark_locked: let old after let tick",
    // The next iteration finds the word set back, and ends.
    "set_mark_locked: without break tick in if swap(old, back)?",
    // A word that is below the mark is raised to it, as a draw of the node would do. Other nodes wait needlessly.
    "set_mark_locked: without if T::state_tick(T::State::unpack(old)) <= tick",
];
