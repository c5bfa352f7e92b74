//! Mistakes in the protocol that are not a change of a statement. The build script makes them.

/// The function, the mistake, and the text that it replaces in the function.
pub const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("draw", "covers the start of a tick", "mark::end::<T>(id.tick())", "T::TICKS.start(id.tick())"),
    ("draw", "what a process knows outlives the era", "known.era != era || ", ""),
    ("draw", "keeps an ID of an earlier era", "access.era()? != era", "false"),
    ("next", "starts at the clock", "access.start(Mark::Draws)?.max(access.from())", "access.from()"),
    ("next", "ignores the floor", ".max(access.from())", ""),
    (
        "draw",
        "new servers start at the clock",
        "T::successor_state(now, &mut access.random(now)?)",
        "T::state_after(1, &mut access.random(0)?)",
    ),
    (
        "renew_locked",
        "counts before it is flushed",
        "Ok(Some(position))\n}",
        "access.reserve(of, until)?;\nOk(Some(position))\n}",
    ),
    (
        "renew_locked",
        "is pending before it is logged",
        "let position = access.log(of, until)?;",
        "let position = access.pending(of)?.position;\n\
         access.set_pending(of, Pending { until, position })?;\n\
         let position = access.log(of, until)?;",
    ),
    (
        "raise",
        "returns before it is durable",
        "if access.reserved(of)? < raised {
            renew(access, of, |access| time(access).map(Some), true)?;
        }
        // A superuser may have set the mark back.
        if access.raise_start(of, era, raised)? && access.reserved(of)? >= raised {",
        "if access.raise_start(of, era, raised)? {",
    ),
    ("adopt", "adopts above the clock", "access.clock()?", "access.clock()?.saturating_add(1_000_000)"),
    ("set_marks_locked", "sets to the clock", "mark::lowest(time, access.clock()?)", "time.max(access.clock()?)"),
];
