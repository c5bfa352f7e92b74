//! The worlds that the tests explore. Each is small, so that every state is visited.

use std::io::Write;

use stateright::{Checker, Model};

use crate::{Bounds, Fault};

/// The property that all IDs of a world are generated in some order of its actions.
pub const ALL_GENERATED: &str = "all IDs are generated";

/// A named world.
pub type Named = (&'static str, Bounds);

/// A single backend. The clock moves between its operations, and a part of the log may be flushed.
fn alone() -> Bounds {
    Bounds {
        backends: vec![(0, 0)],
        ids: 3,
        clock_moves: 1,
        forward: vec![9],
        flushes: 1,
        is_clock_calm: true,
        ..Bounds::default()
    }
}

/// Two backends. Each access of one can precede each access of the other.
fn two() -> Bounds {
    Bounds { backends: vec![(0, 0), (0, 0)], ids: 2, is_clock_calm: true, ..Bounds::default() }
}

/// Two databases, of which one is restored with a horizon in the future, which its owner then takes back.
fn taken_back() -> Bounds {
    Bounds {
        backends: vec![(0, 0), (1, 0)],
        restores: 1,
        restored: vec![2, 100],
        is_horizon_restored: true,
        take_backs: 1,
        clock_moves: 1,
        forward: vec![3],
        ids: 1,
        ..two()
    }
}

/// All worlds.
pub fn worlds() -> Vec<Named> {
    let back = |bounds| Bounds { clock_setbacks: 1, back: vec![6], ..bounds };
    vec![
        (
            "clock",
            Bounds {
                is_clock_calm: false,
                checks_ends: true,
                clock_moves: 2,
                forward: vec![1, 9],
                clock_setbacks: 1,
                back: vec![2, 6, 100],
                ..alone()
            },
        ),
        ("crash", Bounds { crashes: 1, checks_ends: true, forward: vec![1, 9], ..back(alone()) }),
        ("crashes", Bounds { crashes: 2, flushes: 0, ..back(alone()) }),
        ("new, crash", Bounds { is_new: true, crashes: 1, ids: 2, ..back(alone()) }),
        ("promotions", Bounds { promotions: 2, promotion: vec![-12, 0], clock_moves: 0, flushes: 2, ..alone() }),
        ("promotion, crash", Bounds { promotions: 1, crashes: 1, promotion: vec![-12, 0], flushes: 0, ..alone() }),
        (
            "upgrade, crash",
            Bounds {
                upgrades: 1,
                crashes: 1,
                checks_ends: true,
                promotion: vec![-4, 0],
                clock_moves: 1,
                forward: vec![1, 3],
                flushes: 0,
                ..alone()
            },
        ),
        (
            "upgrade, promotion",
            Bounds {
                upgrades: 1,
                promotions: 1,
                promotion: vec![-4],
                clock_moves: 1,
                forward: vec![1],
                flushes: 0,
                ..alone()
            },
        ),
        ("no carrier", Bounds { carries_nothing: true, crashes: 1, flushes: 0, ..back(alone()) }),
        ("failures", Bounds { failures: 1, crashes: 1, flushes: 0, checks_ends: true, ..back(alone()) }),
        (
            "nodes, crash",
            Bounds {
                nodes: vec!["5/23", "2/22", "6/23"],
                node_changes: 2,
                crashes: 1,
                flushes: 0,
                ids: 2,
                forward: vec![4],
                ..back(alone())
            },
        ),
        (
            "nodes, upgrade",
            Bounds {
                nodes: vec!["5/23", "6/23"],
                node_changes: 2,
                upgrades: 1,
                promotion: vec![-12],
                clock_moves: 0,
                flushes: 0,
                ..alone()
            },
        ),
        ("slow disk, crash", Bounds { flush_time: 800_000, crashes: 1, ..back(alone()) }),
        (
            "mark set",
            Bounds {
                forward: vec![100],
                clock_setbacks: 1,
                back: vec![100],
                mark_sets: 1,
                set_to: vec![0, 5],
                crashes: 1,
                flushes: 0,
                ids: 2,
                ..alone()
            },
        ),
        (
            "mark raised",
            Bounds { mark_raises: 1, raise_to: vec![0, 8], crashes: 1, is_fast: true, flushes: 0, ..alone() },
        ),
        (
            "mark raised, upgrade",
            Bounds {
                mark_raises: 1,
                raise_to: vec![8],
                upgrades: 1,
                promotion: vec![-6, 0],
                forward: vec![3],
                flushes: 0,
                ..alone()
            },
        ),
        ("two", Bounds { clock_moves: 1, forward: vec![9], marks: Some(1), ..two() }),
        (
            "two, clock",
            Bounds {
                clock_moves: 1,
                forward: vec![1],
                is_clock_calm: false,
                ids: 1,
                clock_setbacks: 1,
                back: vec![6],
                ..two()
            },
        ),
        ("two, fast", Bounds { marks: Some(1), is_fast: true, ids: 3, clock_moves: 1, forward: vec![1], ..two() }),
        ("two, crash", Bounds { crashes: 1, ..back(two()) }),
        ("two, promotion", Bounds { promotions: 1, promotion: vec![-6], ..two() }),
        (
            "two databases, two nodes",
            Bounds { backends: vec![(0, 0), (1, 1)], nodes: vec!["5/23", "2/22"], ids: 1, ..two() },
        ),
        (
            "two databases, upgrade",
            Bounds {
                backends: vec![(0, 0), (1, 0)],
                upgrades: 1,
                promotion: vec![-4],
                clock_moves: 1,
                forward: vec![1, 3],
                ..two()
            },
        ),
        (
            "two, mark set",
            Bounds {
                clock_moves: 1,
                forward: vec![100],
                clock_setbacks: 1,
                back: vec![100],
                mark_sets: 1,
                set_to: vec![5],
                ..two()
            },
        ),
        (
            "two, mark set twice",
            Bounds {
                clock_moves: 1,
                forward: vec![100],
                clock_setbacks: 1,
                back: vec![100],
                mark_sets: 2,
                set_to: vec![2],
                ids: 1,
                ..two()
            },
        ),
        ("two, mark raised", Bounds { mark_raises: 1, raise_to: vec![8], is_fast: true, ..two() }),
        ("two, clock forward", Bounds { clock_moves: 1, forward: vec![9], is_clock_calm: false, ids: 1, ..two() }),
        (
            "two, last mark, two nodes",
            Bounds { backends: vec![(0, 0), (0, 1)], nodes: vec!["5/23", "6/23"], last_mark: Some(1), ids: 1, ..two() },
        ),
        ("two, restored", Bounds { backends: vec![(0, 0), (1, 0)], restores: 1, restored: vec![100], ids: 1, ..two() }),
        (
            "two nodes, restored",
            Bounds {
                backends: vec![(0, 0), (1, 1)],
                nodes: vec!["5/23", "2/22"],
                restores: 1,
                restored: vec![100],
                ids: 1,
                ..two()
            },
        ),
        (
            "two, restored in the past",
            Bounds {
                backends: vec![(0, 0), (1, 0)],
                restores: 1,
                restored: vec![1],
                clock_moves: 1,
                forward: vec![2],
                ids: 1,
                ..two()
            },
        ),
        (
            "two, horizon restored",
            Bounds {
                backends: vec![(0, 0), (1, 0)],
                restores: 1,
                restored: vec![2, 100],
                is_horizon_restored: true,
                clock_moves: 1,
                forward: vec![3],
                ids: 1,
                ..two()
            },
        ),
        ("two, horizon taken back", taken_back()),
        (
            "two of one database, restored",
            Bounds {
                backends: vec![(1, 0), (1, 0)],
                restores: 1,
                restored: vec![1],
                clock_moves: 1,
                forward: vec![2],
                clock_setbacks: 1,
                back: vec![2],
                ids: 1,
                ..two()
            },
        ),
        (
            "restored, crash",
            Bounds {
                backends: vec![(1, 0)],
                nodes: vec!["5/23", "6/23"],
                node_changes: 2,
                restores: 1,
                restored: vec![2],
                crashes: 1,
                forward: vec![3],
                clock_setbacks: 1,
                back: vec![1],
                failures: 1,
                ids: 1,
                ..alone()
            },
        ),
        (
            "nodes, mark set",
            Bounds {
                backends: vec![(0, 1)],
                nodes: vec!["5/23", "6/23"],
                node_changes: 2,
                mark_sets: 1,
                set_to: vec![5],
                clock_moves: 2,
                forward: vec![100],
                clock_setbacks: 1,
                back: vec![100],
                flushes: 0,
                ids: 2,
                ..alone()
            },
        ),
        (
            "mark set near, crash",
            Bounds {
                mark_sets: 1,
                set_to: vec![0],
                clock_moves: 2,
                forward: vec![6],
                clock_setbacks: 1,
                back: vec![6],
                crashes: 1,
                flushes: 0,
                ids: 2,
                ..alone()
            },
        ),
        (
            "mark set, upgrade",
            Bounds {
                mark_sets: 1,
                set_to: vec![0],
                upgrades: 1,
                promotion: vec![-4, 0],
                forward: vec![4],
                flushes: 0,
                ids: 2,
                ..alone()
            },
        ),
        (
            "nodes, mark set near, crash",
            Bounds {
                nodes: vec!["5/23", "6/23"],
                node_changes: 2,
                mark_sets: 1,
                set_to: vec![0],
                crashes: 1,
                forward: vec![4],
                flushes: 0,
                ids: 2,
                ..back(alone())
            },
        ),
        (
            "nodes, mark set, upgrade",
            Bounds {
                nodes: vec!["5/23", "6/23"],
                node_changes: 2,
                mark_sets: 1,
                set_to: vec![0],
                upgrades: 1,
                promotion: vec![-4],
                forward: vec![4],
                flushes: 0,
                ids: 2,
                ..alone()
            },
        ),
    ]
}

#[test]
fn a_bound_that_a_draw_reads_late_raises_shared_state_above_the_clock() {
    let checker = Bounds { is_bound_read_late: true, ..taken_back() }.checker().spawn_bfs().join();
    let path = checker.discovery("no invariant is violated").expect("the model finds the fault");
    assert_eq!(path.last_state().fault, Some(Fault::TooFarAhead));
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
            let is_violated = property != ALL_GENERATED;
            assert!(!is_violated, "{name}: {property}: {:?}", path.into_actions());
        }
        assert!(checker.discovery(ALL_GENERATED).is_some(), "{name}: {}", ALL_GENERATED);
    }
}
