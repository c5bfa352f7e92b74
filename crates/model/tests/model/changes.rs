//! Explores the worlds with each change of the protocol: a statement deleted, or two adjacent accesses swapped. The build script of
//! the crate writes the changed protocol.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{env, thread};

use stateright::{Checker, HasDiscoveries, Model};

use crate::harmless::HARMLESS;
use crate::protocol::protocol;
use crate::{Bounds, worlds};

include!(concat!(env!("OUT_DIR"), "/changed.rs"));

/// The maximum numbers of states that are visited in each world: few at first, because most changes are found soon.
const STATES: [usize; 3] = [1_500, 25_000, 300_000];

/// Whether a function can be called in a world. A world in which it is not called finds no change of it.
fn is_called(function: &str, bounds: &Bounds) -> bool {
    let arrives = bounds.upgrades + bounds.restores > 0;
    match function {
        "set_marks" | "set_marks_locked" | "lower_word" => bounds.mark_sets > 0,
        "raise_marks" => bounds.mark_raises > 0,
        "change_carried" => bounds.mark_sets + bounds.mark_raises > 0,
        "adopt" => arrives,
        "learn" => arrives || bounds.horizons > 0,
        "raise_floor" => bounds.horizons > 0,
        "raise" => arrives || bounds.horizons > 0 || bounds.mark_raises > 0,
        _ => true,
    }
}

/// The name of the first world in which a change of the protocol violates a property.
fn red(number: usize) -> Option<&'static str> {
    let function = CHANGES[number - 1].split(':').next().unwrap_or_default();
    let is_red = |bounds: &Bounds, states: usize| {
        let model = Bounds { protocol: protocol!(changed, changed), change: number, ..bounds.clone() };
        let options = model.checker().finish_when(HasDiscoveries::AnyFailures).target_state_count(states);
        let checker = options.spawn_bfs().join();
        let is_violated = checker.discoveries().keys().any(|property| *property != worlds::ALL_GENERATED);
        let is_exhausted = checker.state_count() < states;
        is_violated || is_exhausted && checker.discovery(worlds::ALL_GENERATED).is_none()
    };
    let mut worlds = worlds::worlds();
    let only = env::var("WORLD").unwrap_or_default();
    worlds.retain(|(name, bounds)| name.contains(&only) && is_called(function, bounds));
    let all = STATES.iter().flat_map(|states| worlds.iter().map(move |world| (world, *states)));
    all.into_iter().find(|((_, bounds), states)| is_red(bounds, *states)).map(|((name, _), _)| *name)
}

/// Those of some changes that no world finds. Explores two at a time.
fn green(numbers: &[usize]) -> BTreeSet<String> {
    let next = AtomicUsize::new(0);
    let explore = || {
        let mut green = Vec::new();
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (start, name) = (Instant::now(), CHANGES[*number - 1]);
            let red = red(*number);
            // Written to stderr directly, because the test harness hides the output of `eprintln!` if a test passes.
            let (seconds, world) = (start.elapsed().as_secs_f32(), red.unwrap_or("no world"));
            let _ = writeln!(std::io::stderr(), "model: {name}: found by {world} in {seconds:.1} s");
            green.extend(red.is_none().then(|| name.to_owned()));
        }
        green
    };
    thread::scope(|scope| {
        let threads = [scope.spawn(explore), scope.spawn(explore)];
        threads.into_iter().flat_map(|thread| thread.join().expect("a world has been explored")).collect()
    })
}

#[test]
fn every_listed_change_exists() {
    let changes: BTreeSet<&str> = CHANGES.iter().copied().collect();
    assert_eq!(changes.len(), CHANGES.len(), "each change has its own name");
    assert_eq!(HARMLESS.iter().filter(|name| !changes.contains(*name)).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// The numbers of some changes. `CHANGE=text` selects those whose names contain a text.
fn numbers(is_wanted: impl Fn(&&str) -> bool) -> Vec<usize> {
    let only = env::var("CHANGE").unwrap_or_default();
    (1..=CHANGES.len())
        .filter(|number| is_wanted(&CHANGES[number - 1]) && CHANGES[number - 1].contains(&only))
        .collect()
}

#[test]
fn the_worlds_find_the_other_changes() {
    assert_eq!(green(&numbers(|name| !HARMLESS.contains(name))), BTreeSet::new());
}

/// `make test-model` runs it.
#[test]
#[ignore = "takes minutes"]
fn the_worlds_find_no_harmless_change() {
    let numbers = numbers(|name| HARMLESS.contains(name));
    let names: BTreeSet<String> = numbers.iter().map(|number| CHANGES[number - 1].to_owned()).collect();
    assert_eq!(green(&numbers), names);
}
