//! tokio-postgres, with IDs as values of the types of `scru-ids` and as text.

use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use futures_util::{TryStreamExt, pin_mut};
use scru_ids::SortableId;
use tokio_postgres::binary_copy::{BinaryCopyInWriter, BinaryCopyOutStream};
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};
use tokio_postgres::{Client, NoTls};

use crate::{or_null, report};

pub async fn run<Id: SortableId + ToSql + FromSqlOwned>(url: &str, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let ids: Vec<Id> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    query(&client, &ids).await?;
    nullable(&client, &ids).await?;
    by_time::<Id>(&client).await?;
    in_range::<Id>(&client).await?;
    copy(&client, &ids).await?;
    as_text(&client, Id::NAME, texts).await
}

async fn query<Id: SortableId + ToSql + FromSqlOwned>(client: &Client, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let made: Id = client.query_one("INSERT INTO orders (note) VALUES ('made') RETURNING id", &[]).await?.get(0);
    for id in ids {
        client.execute("INSERT INTO orders (id, note) VALUES ($1, 'given')", &[id]).await?;
    }
    let rows = client.query("SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id", &[&ids]).await?;
    let found: Vec<Id> = rows.iter().map(|row| row.get(0)).collect();

    report("made", [made]);
    report("found", found);
    Ok(())
}

async fn nullable<Id: SortableId + ToSql + FromSqlOwned>(client: &Client, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let insert = "INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id";
    let null: Option<Id> = client.query_one(insert, &[&None::<Id>]).await?.get(0);
    report("null", [or_null(null)]);

    let list: Vec<Option<Id>> = [None].into_iter().chain(ids.iter().copied().map(Some)).collect();
    let array: Vec<Option<Id>> =
        client.query_one("INSERT INTO lists VALUES ($1) RETURNING ids", &[&list]).await?.get(0);
    report("array", array.into_iter().map(or_null));
    Ok(())
}

async fn by_time<Id: SortableId + FromSqlOwned>(client: &Client) -> Result<(), Box<dyn Error>> {
    let since = UNIX_EPOCH + Duration::from_secs(1_793_491_200);
    let select = "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id";
    let rows = client.query(select, &[&since]).await?;
    report("found_by_time", rows.iter().map(|row| row.get::<_, Id>(0)));
    Ok(())
}

async fn in_range<Id: SortableId + FromSqlOwned>(client: &Client) -> Result<(), Box<dyn Error>> {
    let since = UNIX_EPOCH + Duration::from_secs(1_793_491_200);
    let select = "SELECT id FROM orders WHERE note = 'given' AND id <@ tstzrange($1, NULL) ORDER BY id";
    let rows = client.query(select, &[&since]).await?;
    report("found_in_range", rows.iter().map(|row| row.get::<_, Id>(0)));

    let untyped = client.prepare("SELECT FROM reservations WHERE during @> $1").await?;
    assert_eq!(untyped.params(), [Type::TSTZ_RANGE]);
    let reserved = "SELECT count(*) FROM reservations WHERE during @> tstzrange($1, $1, '[]')";
    let count: i64 = client.query_one(reserved, &[&since]).await?.get(0);
    report("reserved", [count]);
    Ok(())
}

async fn copy<Id: SortableId + ToSql + FromSqlOwned>(client: &Client, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let types = [client.prepare("SELECT id FROM orders").await?.columns()[0].type_().clone()];
    let sink = client.copy_in("COPY copied (id) FROM STDIN (FORMAT binary)").await?;
    let writer = BinaryCopyInWriter::new(sink, &types);
    pin_mut!(writer);
    for id in ids {
        writer.as_mut().write(&[id]).await?;
    }
    writer.finish().await?;

    let stream = client.copy_out("COPY copied (id) TO STDOUT (FORMAT binary)").await?;
    let rows: Vec<_> = BinaryCopyOutStream::new(stream, &types).try_collect().await?;
    report("copied", rows.iter().map(|row| row.get::<Id>(0)));
    Ok(())
}

/// IDs as strings with casts in SQL, without the crate `scru-ids`.
async fn as_text(client: &Client, name: &str, ids: &[String]) -> Result<(), Box<dyn Error>> {
    let insert = format!("INSERT INTO orders (id, note) VALUES ($1::text::{name}, 'cast') RETURNING id::text");
    let mut cast = Vec::new();
    for id in ids {
        cast.push(client.query_one(&insert, &[id]).await?.get::<_, String>(0));
    }
    let any = format!("SELECT id::text FROM orders WHERE note = 'cast' AND id = ANY($1::text[]::{name}[]) ORDER BY id");
    let found: Vec<String> = client.query(&any, &[&ids]).await?.iter().map(|row| row.get(0)).collect();
    report("cast", cast);
    report("found_by_cast", found);

    let error = client.query_one(&insert, &[&"!"]).await.expect_err("this is no ID");
    report("malformed", error.code().map(|code| code.code()));
    Ok(())
}
