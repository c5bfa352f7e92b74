//! An ID type as the extension has it: its facts, its stored form, its settings and its generator.

use scru_ids::{SortableId, Stored};

use crate::datum::StoredId;
use crate::per_process::PerProcess;
use crate::shared::SharedState;

/// An ID type, with what a server process keeps of its generator. [`crate::symbols`] implements it for every type of the registry.
pub trait Type: StoredId + SharedState {
    /// What this process keeps of the generator.
    fn process() -> &'static Process<Self>;
}

/// What this process keeps of a type's generator.
pub struct Process<T: Type> {
    /// The state of this process's own generator.
    pub generator: PerProcess<Option<T::State>>,
    /// Whether this process has drawn an ID, and so announced the server's node.
    pub is_announced: PerProcess<bool>,
}

impl<T: Type> Process<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { generator: PerProcess::new(None), is_announced: PerProcess::new(false) }
    }
}

/// What the functions of all types rely on, checked as a type is registered.
pub const fn check<T: SortableId>() {
    assert!(T::FIELDS.len() <= 4, "symbols.rs exports functions for four fields");
    assert!(
        T::Stored::BY_VALUE || T::TICKS.max == (1 << 48) - 1 && T::SEQUENCE_BITS as usize + 48 <= 8 * T::Stored::LEN,
        "sort keys and estimates rely on a 48-bit timestamp at the beginning of a type passed by reference"
    );
}
