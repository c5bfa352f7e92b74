//! The benchmarks are in `benches`; Cargo wants a library beside them.
