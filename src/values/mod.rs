//! The SQL functions of values. One file for each concern, named as in `sql` and `tests`.

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
pub mod snowflake;
pub mod sort;
pub mod time;
pub mod window;
