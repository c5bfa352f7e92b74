//! The server as it is: what differs between its versions, catalogs, clocks, pages and WAL, hooks, values in its memory, and memory of Rust.

pub mod allocator;
pub mod buffer;
pub mod catalog;
pub mod clock;
pub mod datum;
pub mod global_page;
pub mod plan_nodes;
pub mod portal;
pub mod process;
pub mod server;
pub mod transaction;
pub mod trigger;
pub mod unguarded;
pub mod wal;
