//! A call of an SQL function from the server: its arguments, its result, and its errors with their HINTs.
//!
//! A function gets a [`Call`] and returns a Datum or an [`error::Error`], which is raised as PostgreSQL's own types raise theirs.
//! Uses [`crate::pg`].

mod arguments;
pub mod error;
pub mod hints;

pub use arguments::{Call, guarded, raw};
