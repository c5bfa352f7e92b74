//! The precision of comparisons between IDs and times.

use scru_ids::SortableId;

/// The precision with which an ID is compared with a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The time of an ID is compared with the exact time. The SQL of versions before 0.3.0 refers to symbols with this precision,
    /// because conditions of partial indexes and constraints were evaluated with it.
    Microsecond,
    /// The tick of an ID is compared with the tick that contains the time.
    Tick,
}

impl Precision {
    /// Truncates a time, in microseconds since 1970-01-01 UTC, to this precision.
    pub const fn truncate<T: SortableId>(self, micros: i64) -> i64 {
        match self {
            Self::Microsecond => micros,
            Self::Tick => T::TICKS.floor(micros),
        }
    }
}
