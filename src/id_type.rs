//! An ID type as the extension has it: its facts, its stored form, its settings and its generator.

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
