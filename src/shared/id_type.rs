//! The trait [`Type`]: an ID type with the state that a process has of it.

use core::cell::Cell;

use scru_ids::{Context, GeneratedId, Stored};
use scru_server::mark::LONGEST_TICK_MICROS;

use crate::call::stored::StoredId;
use crate::settings::FromSettings;
use crate::shared::state::{Atomic, SharedWord, TypeMemory};

/// An ID type with the process's state of it. [`crate::symbols`] implements this trait for every ID system.
pub trait Type: StoredId + GeneratedId<State: SharedWord, Settings: FromSettings> {
    fn process() -> &'static Process<Self>;
}

/// The process's state of a type.
pub struct Process<T: Type> {
    /// The state of the process's own generator; `None` before its first ID.
    pub generator: Cell<Option<T::State>>,
    /// The shared memory; `None` until it is looked up.
    pub memory: Cell<Option<&'static TypeMemory<Atomic<T>>>>,
    /// How the process draws; `None` before the first draw.
    pub draw_settings: Cell<Option<DrawSettings<T>>>,
}

/// What the draws of a type in this process have in common until a setting changes.
#[derive(Clone, Copy)]
pub struct DrawSettings<T: Type> {
    /// The value of [`changes`](crate::settings::changes) when the settings were read.
    pub changes: u32,
    /// Whether they are from the state that the backends share.
    pub is_shared: bool,
    /// The settings, without a reading of the clock.
    pub context: Context<T::Settings>,
}

impl<T: Type> Process<T> {
    pub const fn new() -> Self {
        Self { generator: Cell::new(None), memory: Cell::new(None), draw_settings: Cell::new(None) }
    }
}

/// Asserts at compile time what the generic functions require of a type.
pub const fn check<T: Type>() {
    assert!(T::FIELDS.len() <= 4, "symbols.rs exports functions for four fields");
    assert!(T::NODE_SETTING.is_some() == T::Settings::NODE.is_some(), "settings/mod.rs has the setting with the node");
    assert!(!T::SERVER_WIDE || size_of::<T::State>() == 8, "not all processors have atomic operations on 128 bits");
    assert!(T::TICKS.epoch % T::TICKS.micros == 0 && LONGEST_TICK_MICROS % T::TICKS.micros == 0, "marks start ticks");
    assert!(
        T::Stored::BY_VALUE || T::TICKS.max == (1 << 48) - 1 && T::SEQUENCE_BITS as usize + 48 <= 8 * T::Stored::LEN,
        "sort keys and estimates rely on a 48-bit timestamp at the beginning of a type passed by reference"
    );
}
