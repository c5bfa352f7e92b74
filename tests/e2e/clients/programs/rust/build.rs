//! Writes `program.rs` with the code blocks of docs/rust.md in place of the lines that name them.

use std::{env, fs};

const PAGE: &str = "../../../../../docs/rust.md";

fn main() {
    let page = fs::read_to_string(PAGE).expect("the page exists");
    let program = fs::read_to_string("program.rs").expect("the program exists");
    let lines = program.lines().map(|line| line.split_once("// block ").map_or(line, |(_, name)| block(&page, name)));
    let path = format!("{}/program.rs", env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(path, lines.collect::<Vec<_>>().join("\n")).expect("the directory exists");
    println!("cargo::rerun-if-changed={PAGE}");
    println!("cargo::rerun-if-changed=program.rs");
}

/// Returns the block of a name such as `2 of rust.md#sqlx`.
fn block<'a>(page: &'a str, name: &str) -> &'a str {
    let (number, heading) = name.split_once(" of rust.md#").expect("a number and an anchor");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect("the heading exists");
    let block = section.split("```rust\n").nth(number.parse().expect("a number")).expect("the block exists");
    block.split_once("```").expect("the block ends").0
}
