use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::pin_mut;
use scru_ids::Scru128;
use tokio_postgres::NoTls;
use tokio_postgres::binary_copy::BinaryCopyInWriter;

use crate::report;

pub async fn run(url: &str, ids: Vec<Scru128>) -> Result<(), Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let since = UNIX_EPOCH + Duration::from_secs(1_793_491_200);
    let id = ids[0];
    // block 1 of rust.md#tokio-postgres
    report("made", [made]);
    report("found", found.iter().map(|row| row.get::<_, Scru128>("id")));
    report("later", later.iter().map(|row| row.get::<_, Scru128>("id")));
    let within = "SELECT id FROM orders WHERE id <@ tstzrange($1, NULL) ORDER BY id";
    let within = client.query(within, &[&since]).await?;
    report("later_in_a_range", within.iter().map(|row| row.get::<_, Scru128>("id")));
    let array = "SELECT array_agg(id ORDER BY id) FROM orders WHERE note = 'given'";
    report("array", client.query_one(array, &[]).await?.get::<_, Vec<Scru128>>(0));
    // block 2 of rust.md#tokio-postgres
    client.execute("DELETE FROM orders WHERE id = $1", &[&id]).await?;
    let insert = "INSERT INTO orders (id, note) VALUES ($1::text::scru128, 'given') RETURNING id::text";
    report("first", [client.query_one(insert, &[&id.to_string()]).await?.get::<_, String>("id")]);
    let error = client.query_one(insert, &[&"!"]).await.expect_err("this is no ID");
    report("malformed", error.code().map(|code| code.code()));
    Ok(())
}
