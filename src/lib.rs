//! The PostgreSQL binding of the ID types of [`scru_ids`]. Every function is generic over the types.
//!
//! The files form layers. A file uses only files of earlier layers and, without cycles, of its own layer:
//! 1. the server: [`server`] (differences between versions), [`catalog`], [`stored_settings`], [`planner`], [`per_process`];
//! 2. values: [`datum`] (stored forms), [`epoch`], [`precision`] and [`tstzrange`] (times), [`shape`] (texts), [`mod@error`], [`clock`],
//!    [`random`], [`call`];
//! 3. state: [`setting_sources`] and [`settings`]; [`mark`], [`wal`] and [`promotion`]; [`shared`]; [`id_type`], which combines
//!    them for a type;
//! 4. one file for each concern, named as in `sql` and `tests`: [`io`], [`compare`], [`sort`], [`range`], [`generate`] …;
//! 5. [`symbols`]: the C symbol of each SQL function.
//!
//! The server calls a symbol, which passes a [`call::Call`] to a function of layer 4. The function returns a Datum or an
//! [`error::Error`], which [`call`] reports as PostgreSQL's own types report theirs.

mod brin;
mod buffer;
mod call;
mod casts;
mod catalog;
mod clock;
mod compare;
mod datum;
mod epoch;
mod error;
mod fields;
mod generate;
mod generators;
mod gist;
mod hash;
mod id_type;
mod inspect;
mod io;
mod log;
mod mark_page;
mod mark_sequence;
mod near_clock;
mod node;
mod old_marks;
mod per_process;
mod planner;
mod precision;
mod random;
mod range;
mod range_support;
mod recovery;
mod selectivity;
mod server;
mod setting_sources;
mod settings;
mod shape;
mod shared;
mod skip;
mod sort;
mod span;
mod startup;
mod stored_settings;
mod symbols;
mod time;
mod time_compare;
mod time_support;
mod tstzrange;
mod window;

#[cfg(any(test, feature = "pg_test"))]
mod tests;

use pgrx::prelude::*;

pgrx::pg_module_magic!();

/// Defines the settings. If the library is preloaded, also reserves shared memory and registers the background workers. In that
/// case it runs in the postmaster, whose memory every backend inherits. Random sources and generators are therefore created
/// later, in the backend that uses them.
#[pg_guard]
extern "C-unwind" fn _PG_init() {
    settings::define();
    // SAFETY: reads a variable of the server.
    if unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        shared::preload();
        startup::register();
    }
}

/// Set-up for pgrx-tests.
#[cfg(test)]
pub mod pg_test {
    /// Runs once before the tests.
    pub fn setup(_options: Vec<&str>) {}

    /// Returns the settings of the test server.
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec![]
    }
}
