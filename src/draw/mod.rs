//! The generation of IDs, by the protocol in [`scru_server::protocol`], the node of the server, and the functions for administrators.

pub mod admin;
pub mod generate;
pub mod node;
mod server_wide;
