//! Keeps the linker from removing the sections that `cargo pgrx schema` reads, to which no code refers.
//!
//! cargo-pgrx would pass this flag to every crate, and Cargo would then rebuild what the tests have already built.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "macos") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--no-gc-sections");
    }
}
