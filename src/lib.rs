//! The PostgreSQL binding of the ID types of [`scru_ids`]. The functions of a type are generic.
//!
//! Each folder is a layer. docs/architecture.md lists them, and what each may use. [`symbols`] has the C symbol of each SQL function:
//! the server calls a symbol, which passes a [`call::Call`] to a function of `values`, `by_time`, `draw` or `feed`.

mod by_time;
mod call;
mod draw;
mod feed;
mod pg;
mod settings;
mod shared;
mod symbols;
mod values;

#[cfg(any(test, feature = "pg_test"))]
mod tests;

use pgrx::prelude::*;

pgrx::pg_module_magic!();

/// Defines the settings, and registers the hooks. If the library is preloaded, also reserves shared memory and registers the
/// background worker. In that case it runs in the postmaster, whose memory every backend inherits. Random sources and generators
/// are therefore created later, in the backend that uses them.
#[pg_guard]
extern "C-unwind" fn _PG_init() {
    settings::define();
    by_time::register();
    feed::publication::register();
    shared::mark_sequence::register();
    // SAFETY: reads a variable of the server. It calls this function once.
    unsafe {
        if pg_sys::process_shared_preload_libraries_in_progress {
            shared::memory::preload();
            draw::node::register();
        }
    }
}

/// Set-up for pgrx-tests.
#[cfg(test)]
pub mod pg_test {
    /// Runs once before the tests.
    pub fn setup(_options: Vec<&str>) {}

    /// The settings of the test server.
    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec![]
    }
}
