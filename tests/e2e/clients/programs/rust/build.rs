//! Writes the programs of `templates` with the code blocks of docs/rust.md in place of the lines that name them, as
//! tests/e2e/support/clients.py does.

use std::path::Path;
use std::{env, fs};

const PAGE: &str = "../../../../../docs/rust.md";

fn main() {
    let page = fs::read_to_string(PAGE).expect("the page exists");
    let out = env::var("OUT_DIR").expect("cargo sets it");
    for name in ["with_sqlx.rs", "with_tokio_postgres.rs"] {
        let template = fs::read_to_string(Path::new("templates").join(name)).expect("the template exists");
        let lines = template.lines().map(|line| match line.split_once("// block ") {
            Some((_, named)) => block(&page, named),
            None => line.to_owned(),
        });
        fs::write(Path::new(&out).join(name), lines.collect::<Vec<_>>().join("\n")).expect("the directory exists");
    }
    println!("cargo::rerun-if-changed={PAGE}");
    println!("cargo::rerun-if-changed=templates");
}

/// Returns the block of a name such as `2 of rust.md#sqlx`.
fn block(page: &str, named: &str) -> String {
    let (number, heading) = named.split_once(" of rust.md#").expect("a number and an anchor");
    let section = page.split("\n## ").find(|section| section.starts_with(heading)).expect("the heading exists");
    let number: usize = number.parse().expect("a number");
    section
        .split("```rust\n")
        .nth(number)
        .and_then(|text| text.split("```").next())
        .expect("the block exists")
        .to_owned()
}
