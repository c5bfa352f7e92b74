//! Runs a driver with IDs of a type: `clients DRIVER TYPE ID…`, with the environment variable DATABASE_URL. Prints the results,
//! which `test_clients.py` checks.

mod with_sqlx;
mod with_tokio_postgres;

use std::env;
use std::error::Error;

use tokio_postgres::types::{FromSqlOwned, ToSql};
use with_sqlx::Value;

/// Prints a line for the test: a name, and the resulting values.
fn report(name: &str, values: impl IntoIterator<Item: ToString>) {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    println!("{name} {}", values.join(" "));
}

fn or_null(value: Option<impl ToString>) -> String {
    value.map_or("NULL".to_owned(), |value| value.to_string())
}

async fn run<Id: Value + ToSql + FromSqlOwned>(driver: &str, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let url = env::var("DATABASE_URL")?;
    match driver {
        "tokio-postgres" => with_tokio_postgres::run::<Id>(&url, texts).await,
        "sqlx" => with_sqlx::run::<Id>(&url, texts).await,
        _ => Err(format!("there is no driver {driver}").into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().collect();
    let [_, driver, name, texts @ ..] = &arguments[..] else { return Err("clients DRIVER TYPE ID…".into()) };
    macro_rules! run_if_named {
        ($name:ident, $Id:ident) => {
            if name == stringify!($name) {
                return run::<scru_ids::$Id>(driver, texts).await;
            }
        };
    }
    scru_ids::registry!(run_if_named);
    Err(format!("there is no type {name}").into())
}
