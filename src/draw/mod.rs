//! The generation of IDs, the node of the server, and the functions for administrators.

pub mod admin;
pub mod generate;
pub mod node;
