//! The worlds that the tests explore. Each is small, so that every state is visited.

use std::io::Write;

use scru_server::mark::Mark::{Draws, Horizons};
use stateright::{Checker, Model};

use crate::Bounds;
use crate::Kind::{Flake, Private, Scru64};

/// The property that all IDs of a world are generated in some order of its actions.
pub const ALL_GENERATED: &str = "all IDs are generated";

/// A named world.
pub type Named = (&'static str, Bounds);

/// A single backend. The clock moves between its operations, and a part of the log may be flushed.
fn alone() -> Bounds {
    Bounds {
        backends: vec![(0, 0, Scru64)],
        ids: 3,
        clock_moves: 1,
        forward: vec![9],
        flushes: 1,
        is_clock_calm: true,
        ..Bounds::default()
    }
}

/// A single backend of another type, and fewer states.
fn alone_with(kind: crate::Kind) -> Bounds {
    Bounds { backends: vec![(0, 0, kind)], ids: 2, flushes: 0, ..alone() }
}

/// Two backends. Each access of one can precede each access of the other.
fn two() -> Bounds {
    Bounds { backends: vec![(0, 0, Scru64), (0, 0, Scru64)], ids: 2, is_clock_calm: true, ..Bounds::default() }
}

/// The clock goes forward to a wrong time, and is corrected.
fn wrong(bounds: Bounds) -> Bounds {
    Bounds { clock_moves: 1, forward: vec![100], clock_setbacks: 1, back: vec![100], ..bounds }
}

/// The clock is wrong in the beginning, and corrected while a backend is suspended. A superuser then sets the marks back.
fn set_after_wrong_clock() -> Bounds {
    Bounds {
        clock: 1000,
        clock_setbacks: 1,
        back: vec![1000],
        mark_sets: 1,
        set_to: vec![0],
        is_clock_calm: false,
        ids: 1,
        ..two()
    }
}

fn back(bounds: Bounds) -> Bounds {
    Bounds { clock_setbacks: 1, back: vec![6], ..bounds }
}

/// A named world that differs from another one in some bounds.
macro_rules! world {
    ($name:literal, $base:expr $(, $field:ident: $value:expr)* $(,)?) => {
        ($name, Bounds { $($field: $value,)* ..$base })
    };
}

/// All worlds.
pub fn worlds() -> Vec<Named> {
    let databases = vec![(0, 0, Scru64), (1, 0, Scru64)];
    vec![
        // One backend, which draws.
        world!("clock", alone(), is_clock_calm: false, checks_ends: true, clock_moves: 2, forward: vec![1, 9],
            clock_setbacks: 1, back: vec![2, 6, 100]),
        world!("crash", back(alone()), crashes: 1, checks_ends: true, forward: vec![1, 9]),
        world!("crashes", back(alone()), crashes: 2, flushes: 0),
        world!("new, crash", back(alone()), is_new: true, crashes: 1, ids: 2),
        world!("promotions", alone(), promotions: 2, promotion: vec![-12, 0], clock_moves: 0, flushes: 2),
        world!("promotion, crash", alone(), promotions: 1, crashes: 1, promotion: vec![-12, 0], flushes: 0),
        world!("upgrade, crash", alone(), upgrades: 1, crashes: 1, checks_ends: true, promotion: vec![-4, 0],
            forward: vec![1, 3], flushes: 0),
        world!("upgrade, promotion", alone(), upgrades: 1, promotions: 1, promotion: vec![-4], forward: vec![1],
            flushes: 0),
        world!("failures", back(alone()), failures: 1, crashes: 1, flushes: 0, checks_ends: true),
        world!("nodes, crash", back(alone()), nodes: vec!["5/23", "2/22", "6/23"], node_changes: 2, crashes: 1,
            flushes: 0, ids: 2, forward: vec![4]),
        world!("slow disk, crash", back(alone()), flush_time: 800_000, crashes: 1),
        world!("flake, clock", alone_with(Flake), clock_moves: 2, forward: vec![1, 9], clock_setbacks: 1,
            back: vec![2, 6, 100]),
        world!("flake, crash", back(alone_with(Flake)), crashes: 1, checks_ends: true, forward: vec![1, 9]),
        world!("flake, promotions", alone_with(Flake), promotions: 2, promotion: vec![-12, 0], clock_moves: 0),
        world!("flake, upgrade", alone_with(Flake), upgrades: 1, promotion: vec![-4, 0], forward: vec![3]),
        // The marks are set back or raised.
        world!("mark set", wrong(alone()), mark_sets: 1, set_to: vec![0, 5], crashes: 1, flushes: 0, ids: 2),
        world!("mark set near, crash", alone(), mark_sets: 1, set_to: vec![0], clock_moves: 2, forward: vec![6],
            clock_setbacks: 1, back: vec![6], crashes: 1, flushes: 0, ids: 2),
        world!("mark set, upgrade", alone(), mark_sets: 1, set_to: vec![0], upgrades: 1, promotion: vec![-4, 0],
            forward: vec![4], flushes: 0, ids: 2),
        world!("mark raised", alone(), mark_raises: 1, raise_to: vec![0, 8], crashes: 1, flushes: 0),
        world!("mark raised, upgrade", alone(), mark_raises: 1, raise_to: vec![8], upgrades: 1,
            promotion: vec![-6, 0], forward: vec![3], flushes: 0),
        world!("flake, mark set", wrong(alone_with(Flake)), mark_sets: 1, set_to: vec![0, 5], crashes: 1),
        world!("flake, mark raised", alone_with(Flake), mark_raises: 1, raise_to: vec![8], crashes: 1),
        world!("far mark raised, crash", alone(), last_mark: Some(1000), mark_raises: 1, raise_to: vec![8], failures: 1,
            crashes: 1, forward: vec![1000], flushes: 0, ids: 1),
        world!("mark set and raised, crash", alone(), last_mark: Some(5), mark_sets: 1, set_to: vec![0], mark_raises: 1,
            raise_to: vec![0], crashes: 1, forward: vec![5], flushes: 0, ids: 1),
        // Rows arrive without a mark.
        world!("bare server", alone(), upgrades: 1, is_bare: true, promotion: vec![0], clock_moves: 0, flushes: 0,
            ids: 2),
        world!("flake, bare server", alone_with(Flake), upgrades: 1, is_bare: true, promotion: vec![0], clock_moves: 0),
        world!("two, bare server", two(), upgrades: 1, is_bare: true, promotion: vec![0], switches: Some(2)),
        // Two backends.
        world!("two", two(), clock_moves: 1, forward: vec![9], marks: Some(1)),
        world!("two, clock", two(), clock_moves: 1, forward: vec![1], is_clock_calm: false, ids: 1, clock_setbacks: 1,
            back: vec![6]),
        world!("two, clock forward", two(), clock_moves: 1, forward: vec![9], is_clock_calm: false, ids: 1),
        world!("two, crash", back(two()), crashes: 1),
        world!("two, promotion", two(), promotions: 1, promotion: vec![-6]),
        world!("two, last mark, two nodes", two(), backends: vec![(0, 0, Scru64), (0, 1, Scru64)],
            nodes: vec!["5/23", "6/23"], last_mark: Some(1), ids: 1),
        world!("two, mark set", wrong(two()), switches: Some(2), mark_sets: 1, set_to: vec![5]),
        world!("two, mark set twice", wrong(two()), switches: Some(1), mark_sets: 2, set_to: vec![2], ids: 1),
        world!("two, mark raised", two(), mark_raises: 1, raise_to: vec![8]),
        world!("two types, crash", back(two()), backends: vec![(0, 0, Scru64), (0, 0, Flake)], crashes: 1),
        world!("two types, mark set", wrong(two()), switches: Some(2), backends: vec![(0, 0, Scru64), (0, 0, Flake)],
            mark_sets: 1, set_to: vec![5]),
        world!("two types, mark raised", two(), backends: vec![(0, 0, Scru64), (0, 0, Flake)], mark_raises: 1,
            raise_to: vec![8]),
        // A superuser sets the marks back while others have read a wrong clock.
        world!("suspended, mark set", set_after_wrong_clock(), switches: Some(1)),
        world!("suspended twice, mark set", set_after_wrong_clock(), switches: Some(2)),
        world!("suspended, horizon, mark set", set_after_wrong_clock(), backends: vec![(0, 0, Private); 2], horizons: 1,
            switches: Some(1)),
        world!("suspended, horizon restored, mark set", set_after_wrong_clock(), backends: vec![(1, 0, Private); 2],
            horizons: 1, restores: 1, restored: vec![(Horizons, 1002)], switches: Some(1)),
        world!("two, far mark set while the clock moves", two(), last_mark: Some(100), mark_sets: 1, set_to: vec![0],
            clock_moves: 1, forward: vec![12], is_clock_calm: false),
        world!("two, horizon, far mark set", two(), switches: Some(1), last_mark: Some(100), horizons: 1, mark_sets: 1,
            set_to: vec![0], clock_moves: 1, forward: vec![12], ids: 1),
        // Databases that arrive.
        world!("two databases, upgrade", two(), switches: Some(2), backends: databases.clone(), upgrades: 1, promotion: vec![-4],
            clock_moves: 1, forward: vec![1, 3], ids: 1),
        world!("two, restored", two(), backends: databases.clone(), restores: 1,
            restored: vec![(Draws, 2), (Draws, 100)], ids: 1),
        world!("two, restored in the past", two(), backends: databases.clone(), restores: 1,
            restored: vec![(Draws, 1)], clock_moves: 1, forward: vec![2], ids: 1),
        world!("two, horizon restored", two(), backends: databases.clone(), restores: 1,
            restored: vec![(Horizons, 2), (Horizons, 100)], clock_moves: 1, forward: vec![3], ids: 1),
        world!("two of one database, restored", two(), backends: vec![(1, 0, Scru64); 2], restores: 1,
            restored: vec![(Draws, 1)], clock_moves: 1, forward: vec![2], clock_setbacks: 1, back: vec![2], ids: 1),
        world!("restored, crash", alone(), backends: vec![(1, 0, Scru64)], restores: 1, restored: vec![(Draws, 2)],
            crashes: 1, forward: vec![3], clock_setbacks: 1, back: vec![1], failures: 1, ids: 1),
        world!("restored twice, upgrade", alone(), backends: vec![(1, 0, Scru64)], restores: 2,
            restored: vec![(Draws, -50), (Draws, 2)], upgrades: 1, promotion: vec![-4], flushes: 0),
        // Horizons, and private generators.
        world!("horizon, crash", back(alone()), horizons: 2, crashes: 1, ids: 2, flushes: 0),
        world!("horizon, new, crash", back(alone()), is_new: true, horizons: 1, crashes: 1, ids: 2, flushes: 0),
        world!("horizon, promotion", alone(), horizons: 2, promotions: 1, promotion: vec![-12, 0], clock_moves: 0,
            ids: 2),
        world!("horizon, upgrade", alone(), horizons: 2, upgrades: 1, promotion: vec![-4, 0], forward: vec![3],
            ids: 2, flushes: 0),
        world!("horizon, mark set, crash", wrong(alone()), horizons: 2, mark_sets: 1, set_to: vec![0, 5], crashes: 1,
            flushes: 0, ids: 2),
        world!("two, horizon", back(two()), horizons: 1, ids: 1),
        world!("private, crash", back(alone_with(Private)), horizons: 2, crashes: 1),
        world!("private, promotion", alone_with(Private), horizons: 2, promotions: 1, promotion: vec![-12, 0],
            flushes: 1),
        world!("private, upgrade, crash", alone_with(Private), horizons: 2, upgrades: 1, crashes: 1,
            promotion: vec![-4, 0], forward: vec![3]),
        world!("private, horizon restored", alone(), backends: vec![(1, 0, Private)], horizons: 1, restores: 2,
            restored: vec![(Horizons, -5), (Horizons, 2)], crashes: 1, upgrades: 1, promotion: vec![-4],
            forward: vec![3], flushes: 0),
        world!("two, private, horizon restored", two(), backends: vec![(0, 0, Private), (1, 0, Private)], horizons: 1,
            restores: 1, restored: vec![(Horizons, 2)], clock_moves: 1, forward: vec![3], ids: 1),
        world!("two, private, upgrade", two(), switches: Some(2), backends: vec![(0, 0, Private), (0, 0, Scru64)], horizons: 1,
            upgrades: 1, promotion: vec![-4], clock_moves: 1, forward: vec![5], ids: 1),
        world!("restored in the past, upgrade", alone(), backends: vec![(1, 0, Scru64)], restores: 1,
            restored: vec![(Draws, -50)], upgrades: 1, promotion: vec![-4], clock_moves: 0, flushes: 0),
        // A backend goes on with what it knows.
        world!("suspended, renewed ahead", two(), clock_moves: 1, forward: vec![2], switches: Some(2), ids: 3),
        world!("in turns, mark set after a wrong clock", set_after_wrong_clock(), is_clock_calm: true, clock_moves: 1,
            forward: vec![6], upgrades: 1, promotion: vec![0], switches: Some(0), ids: 2),
        world!("in turns, mark set twice, upgrade", two(), mark_sets: 2, set_to: vec![9], upgrades: 1,
            promotion: vec![0], clock_moves: 2, forward: vec![10], switches: Some(0), ids: 4),
        world!("in turns, restored, upgrade", two(), backends: vec![(1, 0, Scru64); 2], restores: 1,
            restored: vec![(Draws, -50), (Draws, 2)], upgrades: 1, promotion: vec![-4, 0], clock_moves: 1,
            forward: vec![4], switches: Some(0), ids: 3),
    ]
}

/// Visits every state of each world, prints their number, and asserts the invariants. `WORLD=text` selects the worlds whose names
/// contain a text.
#[test]
fn the_protocol_keeps_the_invariants_in_every_world() {
    let only = std::env::var("WORLD").unwrap_or_default();
    for (name, bounds) in worlds().into_iter().filter(|(name, _)| name.contains(&only)) {
        let checker = bounds.checker().spawn_bfs().join();
        // Written to stderr directly, because the test harness hides the output of `eprintln!` if a test passes.
        let _ = writeln!(std::io::stderr(), "model: {name}: {} states visited", checker.unique_state_count());
        for (property, path) in checker.discoveries() {
            let (is_violated, fault) = (property != ALL_GENERATED, path.last_state().fault);
            assert!(!is_violated, "{name}: {property}: {fault:?}: {:?}", path.into_actions());
        }
        assert!(checker.discovery(ALL_GENERATED).is_some(), "{name}: {}", ALL_GENERATED);
    }
}
