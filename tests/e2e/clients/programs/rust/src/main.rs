//! Runs a driver on IDs: `clients DRIVER ID…`, with the environment variable DATABASE_URL.

include!(concat!(env!("OUT_DIR"), "/program.rs"));
