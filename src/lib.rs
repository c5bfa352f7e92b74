//! The binding: how PostgreSQL sees the ID types of [`scru_ids`]. Every function is generic over the types.
//!
//! A file uses files of its own layer, without a circle, and of those above:
//! 1. the server: [`server`] (what differs by version), [`catalog`], [`stored_settings`], [`planner`], [`per_process`];
//! 2. values: [`datum`] (stored forms), [`epoch`] (times), [`shape`] (texts), [`mod@error`], [`clock`], [`random`], [`call`];
//! 3. state: [`settings`]; [`mark`], [`wal`] and [`promotion`]; [`shared`]; [`id_type`], a type with all of them;
//! 4. one concern a file, named as in `sql` and `tests`: [`io`], [`compare`], [`sort`], [`range`], [`generate`] …;
//! 5. [`symbols`]: the C symbol of each SQL function.
//!
//! A call begins in the last layer: the server calls a symbol, which hands a [`call::Call`] to a function of a concern. That returns
//! a Datum, or an [`error::Error`], which is reported as the server's own types do.

mod brin;
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
mod mark;
mod near_clock;
mod node;
mod per_process;
mod planner;
mod promotion;
mod random;
mod range;
mod range_support;
mod selectivity;
mod server;
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
mod wal;
mod window;

#[cfg(any(test, feature = "pg_test"))]
mod tests;

use pgrx::prelude::*;

pgrx::pg_module_magic!();

/// Defines the settings and, if the library is preloaded, reserves shared memory. Then this runs in the postmaster, and every
/// backend forks from what it leaves behind: random sources and generators come to life in the backend that uses them.
#[pg_guard]
extern "C-unwind" fn _PG_init() {
    settings::define();
    // SAFETY: reads variables of the server.
    let (is_preloading, is_backend) =
        unsafe { (pg_sys::process_shared_preload_libraries_in_progress, pg_sys::IsUnderPostmaster) };
    if is_preloading {
        shared::preload();
        startup::register();
    } else if is_backend {
        // Without shared memory, because nobody may draw in this session. A failure is left to the draw.
        let _ = promotion::keep_marks();
    }
}

/// The test framework's set-up.
#[cfg(test)]
pub mod pg_test {
    /// Runs once before the tests.
    pub fn setup(_options: Vec<&str>) {}

    /// The settings of the test server.
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec![]
    }
}
