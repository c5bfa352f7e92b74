//! What an ID is, and what the types are, for a person to read.

use pgrx::JsonB;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, SortableId, Stored, registry};
use serde_json::{Map, Value};

use crate::call::Call;
use crate::datum::StoredId;
use crate::error::Error;
use crate::{epoch, shape};

/// StoredId, canonical text, timestamp, fields.
type Row = (&'static str, String, TimestampWithTimeZone, JsonB);

/// `scru_inspect(text) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: a row for the type whose text
/// it is, which its shape tells, two for the text of a uuid, which is read as scru128 and as ulid, or none
///
/// The text need not be in UTF-8.
pub fn of_text(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let text = call.varlena(0);
        let uuid = shape::uuid_bytes(text);
        let mut rows = Vec::new();
        macro_rules! inspect {
            ($name:ident, $id:ident, $sql:literal) => {
                rows.extend(read::<scru_ids::$id>(text, uuid).and_then(row));
            };
        }
        registry!(inspect);
        Ok(rows)
    })
}

/// `scru_inspect(T) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: the row of an ID
pub fn of_id<T: StoredId>(call: Call) -> Result<Datum, Error> {
    call.rows(|| Ok(row(call.id::<T>(0))))
}

/// `scru_types() → setof (type text, bytes integer, digits integer, tick interval, earliest timestamptz, latest timestamptz,
/// smallest text, largest text)`: a row for each type
pub fn types(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        macro_rules! add {
            ($name:ident, $id:ident, $sql:literal) => {
                rows.extend(facts::<scru_ids::$id>());
            };
        }
        registry!(add);
        Ok(rows)
    })
}

/// StoredId, bytes, digits, tick, earliest, latest, smallest, largest.
type Facts = (&'static str, i32, i32, Interval, TimestampWithTimeZone, TimestampWithTimeZone, String, String);

fn facts<T: SortableId>() -> Option<Facts> {
    Some((
        T::NAME,
        <T::Stored as Stored>::LEN as i32,
        T::TEXT_LEN as i32,
        Interval::new(0, 0, T::TICKS.micros).ok()?,
        epoch::timestamptz(T::MIN)?,
        epoch::timestamptz(T::MAX)?,
        canonical(T::MIN),
        canonical(T::MAX),
    ))
}

/// The ID of a text, or of the bytes of a uuid.
fn read<T: SortableId>(text: &[u8], uuid: Option<[u8; 16]>) -> Option<T> {
    match uuid {
        Some(bytes) => T::Stored::from_bytes(&bytes).and_then(T::from_stored),
        None => T::parse(text).ok(),
    }
}

fn row<T: SortableId>(id: T) -> Option<Row> {
    Some((T::NAME, canonical(id), epoch::timestamptz(id)?, JsonB(Value::Object(fields(id)))))
}

fn canonical<T: SortableId>(id: T) -> String {
    let mut buffer = [0; MAX_TEXT_LEN];
    id.encode(&T::Settings::default(), &mut buffer).to_owned()
}

/// The fields that are the ID's own. Those that depend on a parameter are left to their functions.
fn fields<T: SortableId>(id: T) -> Map<String, Value> {
    let named = |field: &scru_ids::Field<T>| {
        let value = serde_json::to_value(field.getter.value(id)?).ok()?;
        Some((field.name.to_owned(), value))
    };
    T::FIELDS.iter().filter_map(named).collect()
}
