//! The decisions of the extension as functions without a server. The extension performs their accesses.
#![forbid(unsafe_code)]

pub mod draw;
pub mod horizon;
pub mod mark;
pub mod protocol;
pub mod selectivity;
pub mod setting_state;
mod sort_key;
pub mod time_compare;

pub use sort_key::SortKeys;
