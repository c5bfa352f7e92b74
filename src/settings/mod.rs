//! The settings: their definitions and hooks, the sources that may set them, and which of these decides.
//!
//! A setting of an ID system is defined in `scru_ids`, in the file of that system.

mod definitions;
pub mod hosts;
pub mod sources;

pub use definitions::{Common, TIME_OF_ID, define};
pub use sources::{Configured, Settings, changes, check_none_refused, deciding, of};
