// The drivers, with the code blocks of docs/rust.md, which build.rs inserts.
use std::env;
use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::pin_mut;
use scru_ids::Scru128;
use sqlx::{Connection, PgConnection, Row};
use tokio_postgres::NoTls;
use tokio_postgres::binary_copy::BinaryCopyInWriter;

/// Prints a line for the test: a name, and the resulting values.
fn report(name: &str, values: impl IntoIterator<Item: ToString>) {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    println!("{name} {}", values.join(" "));
}

const ARRAY: &str = "SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = env::var("DATABASE_URL")?;
    let mut arguments = env::args().skip(1);
    let driver = arguments.next();
    let ids: Vec<Scru128> = arguments.map(|text| text.parse()).collect::<Result<_, _>>()?;
    match driver.as_deref() {
        Some("tokio-postgres") => with_tokio_postgres(&url, ids[0], ids).await,
        _ => with_sqlx(&url, ids[0], ids).await,
    }
}

async fn with_tokio_postgres(url: &str, id: Scru128, ids: Vec<Scru128>) -> Result<(), Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let since = UNIX_EPOCH + Duration::from_secs(1_793_491_200);
    // block 1 of rust.md#tokio-postgres
    report("made", [made]);
    report("found", found.iter().map(|row| row.get::<_, Scru128>("id")));
    report("later", later.iter().map(|row| row.get::<_, Scru128>("id")));
    let within = "SELECT id FROM orders WHERE id <@ tstzrange($1, NULL) ORDER BY id";
    let within = client.query(within, &[&since]).await?;
    report("later_in_a_range", within.iter().map(|row| row.get::<_, Scru128>("id")));
    report("array", client.query_one(ARRAY, &[]).await?.get::<_, Vec<Scru128>>(0));
    // block 2 of rust.md#tokio-postgres
    client.execute("DELETE FROM orders WHERE id = $1", &[&id]).await?;
    let insert = "INSERT INTO orders (id, note) VALUES ($1::text::scru128, 'given') RETURNING id::text";
    report("first", [client.query_one(insert, &[&id.to_string()]).await?.get::<_, String>("id")]);
    let error = client.query_one(insert, &[&"!"]).await.expect_err("this is no ID");
    report("malformed", error.code().map(|code| code.code()));
    Ok(())
}

async fn with_sqlx(url: &str, id: Scru128, ids: Vec<Scru128>) -> Result<(), Box<dyn Error>> {
    let mut connection = PgConnection::connect(url).await?;
    // block 1 of rust.md#sqlx
    report("made", [made]);
    report("found", found);
    report("later", later);
    report("array", sqlx::query_scalar::<_, Vec<Scru128>>(ARRAY).fetch_one(&mut connection).await?);
    // Without a prepared statement, results are in the text format.
    let rows = sqlx::raw_sql("SELECT id FROM orders WHERE note = 'given' ORDER BY id").fetch_all(&mut connection).await?;
    report("in_text", rows.iter().map(|row| row.get::<Scru128, _>(0)));
    for id in &ids {
        // block 2 of rust.md#sqlx
    }
    let malformed = sqlx::query("SELECT '!'::scru128").execute(&mut connection).await.expect_err("this is no ID");
    report("malformed", malformed.as_database_error().and_then(|error| error.code()));
    Ok(())
}
