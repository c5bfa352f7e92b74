//! The trait [`Type`]: an ID type with its stored form, its settings and the state of its generator.

use scru_ids::{SqlId, Stored};

use crate::generate::shared::SharedState;
use crate::pg::datum::StoredId;
use crate::pg::per_process::PerProcess;

/// An ID type with the process's state of its generator. [`crate::symbols`] implements this trait for every type of the
/// registry.
pub trait Type: StoredId + SharedState {
    /// Returns the process's state of the generator.
    fn process() -> &'static Process<Self>;
}

/// The process's state of a type's generator.
pub struct Process<T: Type> {
    /// The state of the process's own generator; `None` before its first ID.
    pub generator: PerProcess<Option<T::State>>,
    /// The value of `settings::changes` for which this process has announced the server's node, which it does before its first ID.
    pub announced: PerProcess<Option<u32>>,
}

impl<T: Type> Process<T> {
    /// Creates the initial state.
    pub const fn new() -> Self {
        Self { generator: PerProcess::new(None), announced: PerProcess::new(None) }
    }
}

/// Asserts at compile time what the generic functions require of a type.
pub const fn check<T: SqlId>() {
    assert!(T::FIELDS.len() <= 4, "symbols.rs exports functions for four fields");
    assert!(
        T::Stored::BY_VALUE || T::TICKS.max == (1 << 48) - 1 && T::SEQUENCE_BITS as usize + 48 <= 8 * T::Stored::LEN,
        "sort keys and estimates rely on a 48-bit timestamp at the beginning of a type passed by reference"
    );
}
