//! The generation of IDs: the draw, the state that processes share, and the marks that make 64-bit IDs unique for ever.
//!
//! The decisions are in `scru_ids::protocol`, `scru_ids::mark` and `scru_ids::horizon`; the files here perform their accesses.
//! docs/design.md explains them. Uses [`crate::settings`] and the folders below it.

pub mod admin;
pub mod carried_floor;
pub mod draw;
pub mod feed;
pub mod floor;
pub mod guard;
pub mod horizon;
pub mod horizon_access;
pub mod id_type;
mod layouts;
pub mod mark_page;
pub mod mark_sequence;
pub mod memory;
pub mod node;
pub mod random;
pub mod shared;
