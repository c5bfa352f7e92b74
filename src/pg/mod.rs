//! The server, as this extension sees it: what differs between its versions, catalogs, clocks, pages and log, values in Datums.
//!
//! Knows no ID system and no SQL function. The code that declares the server's functions by hand, because pgrx lacks them, is
//! here or in the file that calls them. Uses no other folder.

pub mod buffer;
pub mod catalog;
pub mod clock;
pub mod datum;
pub mod epoch;
pub mod log;
pub mod paths;
pub mod portal;
pub mod process;
pub mod server;
pub mod transaction;
pub mod trigger;
