//! Explores the model exhaustively within small bounds, and checks that the model checker finds deliberate mistakes.

use std::io::Write;

use scru_model::{Bounds, Mistake};
use stateright::{Checker, Model};

/// Visits every state within the bounds, prints their number, and asserts the invariants.
fn explore(name: &str, bounds: Bounds) {
    let checker = bounds.checker().threads(2).spawn_bfs().join();
    // Written to stderr directly, because the test harness hides the output of `eprintln!` if a test passes.
    let _ = writeln!(std::io::stderr(), "model: {name}: {} states visited", checker.unique_state_count());
    checker.assert_properties();
}

/// Asserts that the model checker finds a violation of an invariant, and prints the actions that lead to it.
fn counterexample(property: &'static str, bounds: Bounds) {
    let checker = bounds.checker().spawn_bfs().join();
    let path = checker.assert_any_discovery(property);
    println!("{property}: {:?}", path.into_actions());
}

fn two_backends() -> Bounds {
    Bounds { backends: 2, ids: 3, clock_moves: 1, forward: vec![1, 9], ..Bounds::default() }
}

fn one_backend() -> Bounds {
    Bounds { backends: 1, ids: 4, clock_moves: 3, ..two_backends() }
}

#[test]
fn a_clock_that_is_set_back() {
    let setbacks = |bounds| Bounds { clock_setbacks: 1, back: vec![2, 6, 100], ..bounds };
    explore("clock set back, two backends", setbacks(two_backends()));
    explore("clock set back, one backend", setbacks(one_backend()));
}

#[test]
fn a_crash_with_a_clock_that_is_set_back() {
    let crashes = |crashes, bounds| Bounds { crashes, clock_setbacks: 1, back: vec![6, 100], ..bounds };
    explore("crash, two backends", crashes(1, two_backends()));
    explore("two crashes, one backend", crashes(2, one_backend()));
}

#[test]
fn a_clean_shutdown() {
    explore("shutdown, two backends", Bounds { stops: 1, ..two_backends() });
    explore(
        "shutdowns and a crash, one backend",
        Bounds { stops: 2, crashes: 1, clock_setbacks: 1, back: vec![6], clock_moves: 2, ids: 3, ..one_backend() },
    );
}

#[test]
fn a_promotion() {
    let promotion = |bounds| Bounds { promotion: vec![-100, -12, 0, 6], ..bounds };
    explore("promotion, two backends", promotion(two_backends()));
    explore("promotion, one backend", promotion(one_backend()));
}

/// The standby has restarted after the last commit, and knows only the time of a checkpoint.
#[test]
fn a_promotion_without_a_replayed_commit() {
    let restarts = |bounds| Bounds { promotion: vec![-12, 0], standby_restarts: 1, forward: vec![1, 3], ..bounds };
    explore("promotion without a commit, two backends", restarts(Bounds { clock_moves: 1, ..two_backends() }));
    explore("promotion without a commit, one backend", restarts(Bounds { clock_moves: 2, ..one_backend() }));
}

/// The crash may also precede the first ID, and the mark of the promotion.
#[test]
fn a_promotion_and_a_crash() {
    let crashes = |bounds| Bounds { promotion: vec![-12, 0], standby_restarts: 1, crashes: 1, ..bounds };
    explore("promotion and crash, two backends", crashes(Bounds { clock_moves: 0, ..two_backends() }));
    explore(
        "promotion and crash, one backend",
        crashes(Bounds { clock_moves: 2, forward: vec![3, 9], ..one_backend() }),
    );
}

#[test]
fn a_writer_that_is_suspended() {
    let suspensions =
        |bounds| Bounds { suspensions: 1, crashes: 1, clock_setbacks: 1, back: vec![6], forward: vec![6], ..bounds };
    explore("suspended writer, two backends", suspensions(two_backends()));
}

/// The mark is wrong because the clock was ahead.
#[test]
fn a_mark_that_is_set_back() {
    let sets = Bounds {
        clock_moves: 1,
        forward: vec![100],
        clock_setbacks: 1,
        back: vec![100],
        mark_sets: 1,
        set_to: vec![0, 5],
        ids: 2,
        ..two_backends()
    };
    explore("mark set, two backends", sets.clone());
    explore("mark set and crash, two backends", Bounds { crashes: 1, set_to: vec![5], ..sets.clone() });
    let suspended = Bounds { suspensions: 1, set_to: vec![5], ..sets };
    explore("mark set, suspended writer, two backends", suspended.clone());
    explore("mark set, suspended writer and crash, two backends", Bounds { crashes: 1, ..suspended });
}

/// IDs that are generated in the meantime are unique, even if the server crashes and the clock is set back afterwards.
#[test]
fn a_mark_that_is_set_during_generation() {
    let sets = Bounds {
        clock_moves: 1,
        forward: vec![6],
        clock_setbacks: 1,
        back: vec![6],
        crashes: 1,
        mark_sets: 1,
        set_to: vec![5],
        ..two_backends()
    };
    explore("mark set during generation, two backends", sets.clone());
    explore(
        "mark set during generation, suspended writer, two backends",
        Bounds { suspensions: 1, ids: 2, ..sets.clone() },
    );
    // The removed mark may be that of a broader node. The new mark is then for that node, because the removed mark also covered
    // lower ticks of its other parts.
    let part = Bounds {
        backends: 1,
        nodes: vec!["2/22", "4/23"],
        node_changes: 3,
        clock_moves: 1,
        forward: vec![6],
        set_to: vec![0],
        ids: 2,
        ..sets.clone()
    };
    explore("mark of a part of a node set, one backend", part);
    // Setting the mark twice to the same tick stores the same word twice.
    explore("mark set twice during generation, two backends", Bounds { mark_sets: 2, ids: 2, ..sets });
}

#[test]
fn a_change_of_the_node() {
    let changes = |bounds| Bounds { nodes: vec!["2/22", "6/23"], node_changes: 2, ..bounds };
    explore(
        "node, two backends",
        changes(Bounds { nodes: vec!["2/22"], node_changes: 1, clock_moves: 0, ..two_backends() }),
    );
    // The clock returns to the tick of an ID. The mark that covers the ID is that of an overlapping node, or that of a node whose
    // reservation another node has replaced.
    let crash = |bounds| Bounds { crashes: 1, clock_setbacks: 1, ..bounds };
    let overlaps = Bounds { nodes: vec!["2/22"], node_changes: 1, clock_moves: 1, back: vec![4], ..one_backend() };
    explore("overlapping node, crash and clock set back, one backend", crash(overlaps));
    let replaced =
        Bounds { nodes: vec!["6/23"], node_changes: 2, clock_moves: 3, back: vec![14], ids: 2, ..one_backend() };
    explore("node changed and restored, crash and clock set back, one backend", crash(replaced));
    explore("node and crash, one backend", changes(Bounds { crashes: 1, clock_moves: 2, ..one_backend() }));
}

/// The clock reaches and passes the last reserved tick, and returns to the same tick after a crash.
#[test]
fn a_reservation_that_is_used_up() {
    let edges =
        Bounds { forward: vec![5, 7], clock_setbacks: 1, back: vec![5, 7], crashes: 1, ids: 3, ..one_backend() };
    explore("reservation used up, one backend", edges.clone());
    explore(
        "reservation used up and node changed, one backend",
        Bounds { nodes: vec!["2/22"], node_changes: 1, ..edges },
    );
}

#[test]
fn without_the_successor_wait_an_id_is_generated_twice() {
    counterexample("IDs are unique", Bounds { crashes: 1, mistake: Mistake::NoSuccessorWait, ..one_backend() });
}

#[test]
fn a_mark_that_is_written_late_permits_duplicates() {
    let bounds = Bounds { crashes: 1, clock_setbacks: 1, back: vec![6], forward: vec![6], ..two_backends() };
    counterexample("IDs are unique", Bounds { mistake: Mistake::ReservationBeforeMark, ..bounds });
}

#[test]
fn a_clock_that_is_read_first_causes_refusals_without_reason() {
    counterexample("every refusal has a reason", Bounds { mistake: Mistake::ClockBeforeState, ..two_backends() });
}
