//! sqlx, with IDs as values of the types of `scru-ids` and as text.

use std::error::Error;

use futures_util::TryStreamExt;
use scru_ids::SortableId;
use sqlx::postgres::{PgHasArrayType, Postgres};
use sqlx::{AssertSqlSafe, Connection, Decode, Encode, PgConnection, Row, Type};

use crate::{or_null, report};

/// The traits of sqlx that the types of `scru-ids` implement.
pub trait Value:
    SortableId + Unpin + Type<Postgres> + PgHasArrayType + for<'q> Encode<'q, Postgres> + for<'r> Decode<'r, Postgres>
{
}

impl<Id> Value for Id where
    Id: SortableId
        + Unpin
        + Type<Postgres>
        + PgHasArrayType
        + for<'q> Encode<'q, Postgres>
        + for<'r> Decode<'r, Postgres>
{
}

pub async fn run<Id: Value>(url: &str, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let mut connection = PgConnection::connect(url).await?;
    let ids: Vec<Id> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    query(&mut connection, &ids).await?;
    nullable(&mut connection, &ids).await?;
    by_time::<Id>(&mut connection).await?;
    in_range::<Id>(&mut connection).await?;
    copy(&mut connection, &ids).await?;
    as_text(&mut connection, Id::NAME, texts).await
}

async fn query<Id: Value>(connection: &mut PgConnection, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let insert = "INSERT INTO orders (note) VALUES ('made') RETURNING id";
    let made: Id = sqlx::query_scalar(insert).fetch_one(&mut *connection).await?;
    for id in ids {
        let insert = "INSERT INTO orders (id, note) VALUES ($1, 'given')";
        sqlx::query(insert).bind(id).execute(&mut *connection).await?;
    }
    let select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id";
    let found: Vec<Id> = sqlx::query_scalar(select).bind(ids).fetch_all(&mut *connection).await?;

    // Without a prepared statement, results are in the text format.
    let select = "SELECT id FROM orders WHERE note = 'given' ORDER BY id";
    let rows = sqlx::raw_sql(select).fetch_all(&mut *connection).await?;
    let found_in_text: Vec<Id> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;

    report("made", [made]);
    report("found", found);
    report("found_in_text", found_in_text);
    Ok(())
}

async fn nullable<Id: Value>(connection: &mut PgConnection, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let insert = "INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id";
    let null: Option<Id> = sqlx::query_scalar(insert).bind(None::<Id>).fetch_one(&mut *connection).await?;
    report("null", [or_null(null)]);

    let list: Vec<Option<Id>> = [None].into_iter().chain(ids.iter().copied().map(Some)).collect();
    let insert = "INSERT INTO lists VALUES ($1) RETURNING ids";
    let array: Vec<Option<Id>> = sqlx::query_scalar(insert).bind(list).fetch_one(&mut *connection).await?;
    report("array", array.into_iter().map(or_null));
    Ok(())
}

async fn by_time<Id: Value>(connection: &mut PgConnection) -> Result<(), Box<dyn Error>> {
    let since = "2026-11-01T00:00:00Z";
    let select = "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id";
    let found: Vec<Id> = sqlx::query_scalar(select).bind(since).fetch_all(&mut *connection).await?;
    report("found_by_time", found);
    Ok(())
}

async fn in_range<Id: Value>(connection: &mut PgConnection) -> Result<(), Box<dyn Error>> {
    let since = "[2026-11-01T00:00:00Z,)";
    let select = "SELECT id FROM orders WHERE note = 'given' AND id <@ $1::tstzrange ORDER BY id";
    let found: Vec<Id> = sqlx::query_scalar(select).bind(since).fetch_all(&mut *connection).await?;
    report("found_in_range", found);

    let at = "[2026-11-01T00:00:00Z,2026-11-01T00:00:00Z]";
    let reserved = "SELECT count(*) FROM reservations WHERE during @> $1::tstzrange";
    let count: i64 = sqlx::query_scalar(reserved).bind(at).fetch_one(&mut *connection).await?;
    report("reserved", [count]);
    Ok(())
}

async fn copy<Id: Value>(connection: &mut PgConnection, ids: &[Id]) -> Result<(), Box<dyn Error>> {
    let mut copy = connection.copy_in_raw("COPY copied (id) FROM STDIN").await?;
    for id in ids {
        copy.send(format!("{id}\n").into_bytes()).await?;
    }
    copy.finish().await?;

    let chunks: Vec<_> = connection.copy_out_raw("COPY copied (id) TO STDOUT").await?.try_collect().await?;
    report("copied", String::from_utf8(chunks.concat())?.lines());
    Ok(())
}

/// IDs as strings with casts in SQL, without the crate `scru-ids`.
async fn as_text(connection: &mut PgConnection, name: &str, ids: &[String]) -> Result<(), Box<dyn Error>> {
    let insert = format!("INSERT INTO orders (id, note) VALUES ($1::text::{name}, 'cast') RETURNING id::text");
    let insert = |text| sqlx::query_scalar::<_, String>(AssertSqlSafe(insert.clone())).bind(text);
    let mut cast = Vec::new();
    for id in ids {
        cast.push(insert(id.as_str()).fetch_one(&mut *connection).await?);
    }
    let any = format!("SELECT id::text FROM orders WHERE note = 'cast' AND id = ANY($1::text[]::{name}[]) ORDER BY id");
    let found: Vec<String> = sqlx::query_scalar(AssertSqlSafe(any)).bind(ids).fetch_all(&mut *connection).await?;
    report("cast", cast);
    report("found_by_cast", found);

    let error = insert("!").fetch_one(&mut *connection).await.expect_err("this is no ID");
    report("malformed", error.as_database_error().and_then(|error| error.code()));
    Ok(())
}
