//! Runs a driver on IDs: `clients DRIVER ID…`, with the environment variable DATABASE_URL. The programs contain the code
//! blocks of docs/rust.md, which build.rs inserts.

mod with_sqlx {
    include!(concat!(env!("OUT_DIR"), "/with_sqlx.rs"));
}
mod with_tokio_postgres {
    include!(concat!(env!("OUT_DIR"), "/with_tokio_postgres.rs"));
}

use std::env;
use std::error::Error;

use scru_ids::Scru128;

/// Prints a line for the test: a name, and the resulting values.
fn report(name: &str, values: impl IntoIterator<Item: ToString>) {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    println!("{name} {}", values.join(" "));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::var("DATABASE_URL")?;
    let mut arguments = env::args().skip(1);
    let driver = arguments.next();
    let ids: Vec<Scru128> = arguments.map(|text| text.parse()).collect::<Result<_, _>>()?;
    match driver.as_deref() {
        Some("tokio-postgres") => with_tokio_postgres::run(&url, ids).await,
        _ => with_sqlx::run(&url, ids).await,
    }
}
