use std::error::Error;

use scru_ids::Scru128;
use sqlx::{Connection, PgConnection, Row};

use crate::report;

pub async fn run(url: &str, ids: Vec<Scru128>) -> Result<(), Box<dyn Error>> {
    let mut connection = PgConnection::connect(url).await?;
    let id = ids[0];
    // block 1 of rust.md#sqlx
    report("made", [made]);
    report("found", found);
    report("later", later);
    let array = "SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'";
    report("array", sqlx::query_scalar::<_, Vec<Scru128>>(array).fetch_one(&mut connection).await?);
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
