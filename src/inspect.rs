//! `scru_inspect(text)`: tells what an ID is. Its shape tells the type.

use pgrx::datum::TimestampWithTimeZone;
use pgrx::iter::TableIterator;
use pgrx::{JsonB, name, pg_extern};
use scru_ids::{MAX_TEXT_LEN, SortableId, Stored, registry};
use serde_json::{Map, Value};

use crate::time;

/// What a text is as one of our types.
type Row = (&'static str, String, TimestampWithTimeZone, JsonB);

/// `scru_inspect(text) → setof (type text, id text, "timestamp" timestamptz, fields jsonb)`: a row for the type whose text
/// it is, two for the text of a uuid, which is read as scru128 and as ulid, or none.
///
/// The text comes as bytes, for it need not be in UTF-8.
#[pg_extern(sql = false)]
fn scru_inspect(
    text: &[u8],
) -> TableIterator<
    'static,
    (name!(type, &'static str), name!(id, String), name!(timestamp, TimestampWithTimeZone), name!(fields, JsonB)),
> {
    let uuid = uuid_bytes(text);
    let mut rows = Vec::new();
    macro_rules! inspect {
        ($name:ident, $id:ident, $sql:literal) => {
            rows.extend(read::<scru_ids::$id>(text, uuid.as_deref()).and_then(row));
        };
    }
    registry!(inspect);
    TableIterator::new(rows)
}

/// The ID of a text, or of the bytes of a uuid.
fn read<T: SortableId>(text: &[u8], uuid: Option<&[u8]>) -> Option<T> {
    match uuid {
        Some(bytes) => T::Stored::from_bytes(bytes).and_then(T::from_stored),
        None => T::parse(text).ok(),
    }
}

/// The 16 bytes of a uuid in its usual form: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn uuid_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?;
    let groups: Vec<_> = text.split('-').collect();
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|digit| digit.is_ascii_hexdigit()));
    is_uuid.then(|| u128::from_str_radix(&groups.concat(), 16).ok())?.map(|value| value.to_be_bytes().to_vec())
}

fn row<T: SortableId>(id: T) -> Option<Row> {
    let mut buffer = [0; MAX_TEXT_LEN];
    let text = id.encode(&T::Settings::default(), &mut buffer).to_owned();
    Some((T::NAME, text, time::timestamptz(id)?, JsonB(Value::Object(fields(id)))))
}

/// The fields that are the ID's own. Those that depend on a parameter are left to their functions.
fn fields<T: SortableId>(id: T) -> Map<String, Value> {
    let named = |field: &scru_ids::Field<T>| {
        let value = serde_json::to_value(field.getter.value(id)?).ok()?;
        Some((field.name.to_owned(), value))
    };
    T::FIELDS.iter().filter_map(named).collect()
}
