//! The trait [`Type`]: an ID type with the state that a process has of it.

use core::cell::Cell;

use scru_ids::{Context, GeneratedId, OnClockRollback, SqlId, State, Stored};

use crate::call::stored::StoredId;
use crate::settings::FromSettings;
use crate::shared::state::{MarksMemory, TypeMemory};
use crate::shared::word::{Atomic, SharedWord};

/// An ID type with the process's state of it. [`crate::symbols`] implements this trait for every ID system.
pub trait Type: StoredId + GeneratedId<State: State<Word: SharedWord>, Settings: FromSettings> {
    fn process() -> &'static Process<Self>;
}

/// The process's state of a type.
pub struct Process<T: Type> {
    /// The state of the process's own generator; `None` before its first ID.
    pub generator: Cell<Option<T::State>>,
    /// The value of [`changes`](crate::settings::changes) for which this process has announced the server's node, which it does before its first ID.
    pub announced: Cell<Option<u32>>,
    /// The shared memory; `None` until it is looked up.
    pub memory: Cell<Option<&'static TypeMemory<Atomic<T>>>>,
    /// What the last draw had found; `None` before the first.
    pub draw: Cell<Option<Draw<T>>>,
}

/// What the draws of a type have in common, until the transaction ends or a setting changes.
#[derive(Clone, Copy)]
pub struct Draw<T: Type> {
    /// The transaction and the settings, as one number.
    pub as_of: u64,
    pub terms: Terms<T>,
    /// The state that the backends share; `None` for that of the process.
    pub shared: Option<(&'static MarksMemory, &'static TypeMemory<Atomic<T>>)>,
}

/// What the draws of a transaction have in common.
#[derive(Clone, Copy)]
pub struct Terms<T: Type> {
    /// The settings, without a reading of the clock.
    pub context: Context<T::Settings>,
    /// The time at or above which the process draws.
    pub from: i64,
    /// The time that has arrived with the database, for which draws from shared state wait; 0 if there is none.
    pub arrived: i64,
}

impl<T: Type> Terms<T> {
    /// The terms before the transaction has published.
    pub fn new(on_clock_rollback: OnClockRollback) -> Self {
        // Refused settings have their defaults: no ID is generated with them.
        let settings = T::Settings::from_settings().unwrap_or_default();
        Self { context: Context { settings, on_clock_rollback, now: 0 }, from: 0, arrived: 0 }
    }
}

impl<T: Type> Process<T> {
    pub const fn new() -> Self {
        Self { generator: Cell::new(None), announced: Cell::new(None), memory: Cell::new(None), draw: Cell::new(None) }
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
