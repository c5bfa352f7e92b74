//! Explores every world of the model exhaustively.

use std::io::Write;

use stateright::{Checker, Model};

use crate::worlds;

/// Visits every state of each world, prints their number, and asserts the invariants. `WORLD=text` selects the worlds whose names
/// contain a text.
#[test]
fn the_protocol_keeps_the_invariants_in_every_world() {
    let only = std::env::var("WORLD").unwrap_or_default();
    for (name, bounds) in worlds::worlds().into_iter().filter(|(name, _)| name.contains(&only)) {
        let checker = bounds.checker().spawn_bfs().join();
        // Written to stderr directly, because the test harness hides the output of `eprintln!` if a test passes.
        let _ = writeln!(std::io::stderr(), "model: {name}: {} states visited", checker.unique_state_count());
        for (property, path) in checker.discoveries() {
            let is_violated = property != worlds::ALL_GENERATED;
            assert!(!is_violated, "{name}: {property}: {:?}", path.into_actions());
        }
        assert!(checker.discovery(worlds::ALL_GENERATED).is_some(), "{name}: {}", worlds::ALL_GENERATED);
    }
}
