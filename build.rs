//! Keeps the linker from dropping what `cargo pgrx schema` reads from the library, and nothing else refers to.
//!
//! cargo-pgrx would give this flag to all that it builds, and so have all that the tests have built already built anew.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system != "macos") {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--no-gc-sections");
    }
}
