//! What readers of a table as a feed rely on: the transaction publishes itself before its first ID, and a horizon is below all later
//! rows. The decisions are in [`scru_server::horizon`].

pub mod elsewhere;
pub mod guard;
mod horizon_access;
mod prepared;
pub mod publication;
pub mod reader;
mod returned;
