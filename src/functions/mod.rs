//! The SQL functions of values: text and bytes, prefixes, comparison, hashing, indexes, time, ranges, casts, encryption. One file for
//! each concern, named as in `sql` and `tests`.
//!
//! Generic over the ID types. Uses [`crate::generate`] for the traits of a type, and the folders below it.

pub mod brin;
pub mod casts;
pub mod compare;
pub mod encryption;
pub mod fields;
pub mod gin;
pub mod gist;
pub mod hash;
pub mod inspect;
pub mod io;
pub mod prefixed;
pub mod range;
pub mod snowflake;
pub mod sort;
pub mod time;
pub mod time_compare;
pub mod window;
