//! sqlx, with IDs as values of the types of `scru-ids`, and as text.

use std::error::Error;

use futures_util::TryStreamExt;
use scru_ids::SortableId;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef, Postgres};
use sqlx::{AssertSqlSafe, Connection, Decode, Encode, PgConnection, Type};

use crate::{or_null, report};

/// An ID of any of the types, as a parameter and a result of sqlx.
#[derive(Clone, Copy)]
struct Sql<Id>(Id);

impl<Id: SortableId> Type<Postgres> for Sql<Id> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name(Id::NAME)
    }
}

impl<Id: SortableId> PgHasArrayType for Sql<Id> {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::array_of(Id::NAME)
    }
}

impl<Id: SortableId> Encode<'_, Postgres> for Sql<Id> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        buffer.extend_from_slice(self.0.to_be_bytes().as_ref());
        Ok(IsNull::No)
    }
}

impl<Id: SortableId> Decode<'_, Postgres> for Sql<Id> {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self(match value.format() {
            PgValueFormat::Binary => Id::from_be_bytes(value.as_bytes()?)?,
            PgValueFormat::Text => value.as_str()?.parse()?,
        }))
    }
}

pub async fn run<Id: SortableId + Unpin>(url: &str, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let mut connection = PgConnection::connect(url).await?;
    let ids: Vec<Sql<Id>> = texts.iter().map(|text| text.parse().map(Sql)).collect::<Result<_, _>>()?;
    query(&mut connection, &ids).await?;
    nullable(&mut connection, &ids).await?;
    by_time::<Id>(&mut connection).await?;
    copy(&mut connection, &ids).await?;
    as_text(&mut connection, Id::NAME, texts).await
}

async fn query<Id: SortableId + Unpin>(connection: &mut PgConnection, ids: &[Sql<Id>]) -> Result<(), Box<dyn Error>> {
    let insert = "INSERT INTO orders (note) VALUES ('made') RETURNING id";
    let Sql(made): Sql<Id> = sqlx::query_scalar(insert).fetch_one(&mut *connection).await?;
    for id in ids {
        let insert = "INSERT INTO orders (id, note) VALUES ($1, 'given')";
        sqlx::query(insert).bind(id).execute(&mut *connection).await?;
    }
    let select = "SELECT id FROM orders WHERE note = 'given' AND id = ANY($1) ORDER BY id";
    let found: Vec<Sql<Id>> = sqlx::query_scalar(select).bind(ids).fetch_all(&mut *connection).await?;

    report("made", [made]);
    report("found", found.iter().map(|id| id.0));
    Ok(())
}

async fn nullable<Id: SortableId + Unpin>(
    connection: &mut PgConnection,
    ids: &[Sql<Id>],
) -> Result<(), Box<dyn Error>> {
    let insert = "INSERT INTO orders (id, note) VALUES ($1, 'null') RETURNING id";
    let null: Option<Sql<Id>> = sqlx::query_scalar(insert).bind(None::<Sql<Id>>).fetch_one(&mut *connection).await?;
    report("null", [or_null(null.map(|id| id.0))]);

    let list: Vec<Option<Sql<Id>>> = [None].into_iter().chain(ids.iter().copied().map(Some)).collect();
    let insert = "INSERT INTO lists VALUES ($1) RETURNING ids";
    let array: Vec<Option<Sql<Id>>> = sqlx::query_scalar(insert).bind(list).fetch_one(&mut *connection).await?;
    report("array", array.into_iter().map(|id| or_null(id.map(|id| id.0))));
    Ok(())
}

async fn by_time<Id: SortableId + Unpin>(connection: &mut PgConnection) -> Result<(), Box<dyn Error>> {
    let since = "2026-11-01T00:00:00Z";
    let select = "SELECT id FROM orders WHERE note = 'given' AND id >= $1::timestamptz ORDER BY id";
    let found: Vec<Sql<Id>> = sqlx::query_scalar(select).bind(since).fetch_all(&mut *connection).await?;
    report("found_by_time", found.iter().map(|id| id.0));
    Ok(())
}

async fn copy<Id: SortableId>(connection: &mut PgConnection, ids: &[Sql<Id>]) -> Result<(), Box<dyn Error>> {
    let mut copy = connection.copy_in_raw("COPY copied (id) FROM STDIN").await?;
    for Sql(id) in ids {
        copy.send(format!("{id}\n").into_bytes()).await?;
    }
    copy.finish().await?;

    let chunks: Vec<_> = connection.copy_out_raw("COPY copied (id) TO STDOUT").await?.try_collect().await?;
    report("copied", String::from_utf8(chunks.concat())?.lines());
    Ok(())
}

/// Without such a type: strings, which SQL casts.
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
