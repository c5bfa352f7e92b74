//! The types whose IDs the backends draw, with their own ticks and steps.

use scru_ids::{Context, GeneratedId, OnClockRollback, Scru64, Scru128, SortableId, Ulidflake};
use scru_server::mark;

use crate::Bounds;
use crate::access::Random;

/// A type of ID. The state of each packs into the number with which the model stores an ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// scru64, with ticks of 256 ms.
    #[default]
    Scru64,
    /// ulidflake, with ticks of 1 ms.
    Flake,
    /// scru128, of which each backend has a private generator.
    Private,
}

/// A 64-bit type whose word the backends share.
pub(crate) trait Shared: GeneratedId<State = u64> {
    const KIND: Kind;

    fn settings(bounds: &Bounds, node: usize) -> Self::Settings;
}

impl Shared for Scru64 {
    const KIND: Kind = Kind::Scru64;

    fn settings(bounds: &Bounds, node: usize) -> Self::Settings {
        let text = bounds.nodes.get(node).copied().unwrap_or("5/23");
        Self::Settings { node: text.parse().unwrap_or_default() }
    }
}

impl Shared for Ulidflake {
    const KIND: Kind = Kind::Flake;

    fn settings(_: &Bounds, _: usize) -> Self::Settings {
        Self::Settings::default()
    }
}

impl Kind {
    /// The types whose words the backends share.
    pub const SHARED: [Self; 2] = [Self::Scru64, Self::Flake];

    /// The start and the end of the tick of an ID.
    pub(crate) fn tick(self, word: u64) -> (i64, i64) {
        fn of<T: Shared>(word: u64) -> (i64, i64) {
            let tick = T::state_tick(word);
            (T::TICKS.start(tick), mark::end::<T>(tick))
        }
        if self == Self::Flake { of::<Ulidflake>(word) } else { of::<Scru64>(word) }
    }

    /// The first ID of a node at a time.
    pub(crate) fn first_id(self, bounds: &Bounds, node: usize, now: i64) -> u64 {
        fn of<T: Shared>(bounds: &Bounds, node: usize, now: i64) -> u64 {
            let settings = T::settings(bounds, node);
            match T::step(0, &Context { now, on_clock_rollback: OnClockRollback::Error, settings }, &mut Random) {
                Ok((word, _)) => word,
                _ => 0,
            }
        }
        if self == Self::Flake { of::<Ulidflake>(bounds, node, now) } else { of::<Scru64>(bounds, node, now) }
    }

    /// Whether no ID of a node follows a word in its tick.
    pub(crate) fn is_exhausted(self, bounds: &Bounds, node: usize, word: u64) -> bool {
        let last = Scru64::from_u64(word).unwrap_or(Scru64::MAX);
        let node = Scru64::settings(bounds, node).node;
        let is_last = last.counter(node.size()) == (1 << (24 - node.size())) - 1;
        word != 0 && (self == Self::Flake || is_last || last.node_id(node.size()) != node.id())
    }
}

/// A step of a private generator from its last state, at or above a time: its state, and the tick of the ID.
pub(crate) fn private_step(state: u128, from: i64, now: i64) -> Option<(u128, (i64, i64))> {
    let context = Context { now, on_clock_rollback: OnClockRollback::Reset, settings: () };
    match mark::private_step::<Scru128>(state, from, &context, &mut Random) {
        Ok((state, id)) => Some((state, (Scru128::TICKS.start(id.tick()), mark::end::<Scru128>(id.tick())))),
        _ => None,
    }
}
