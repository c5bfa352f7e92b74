//! `scru_inspect` and `scru_types`: descriptions of IDs and of the ID types.

use pgrx::JsonB;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{SqlId, Stored, registry};
use serde_json::{Map, Value};

use crate::call::error::Error;
use crate::call::stored::StoredId;
use crate::call::{Call, epoch, hints, row};

row! {
    /// A row of `scru_inspect`.
    struct Row { system: &'static str, canonical: String, timestamp: TimestampWithTimeZone, fields: JsonB, }
}

/// `scru_inspect(text) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: one row if the text is an ID,
/// two rows (scru128 and ulid) if it is a uuid, no rows otherwise
///
/// The text may be in any encoding.
pub fn of_text(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let text = call.varlena(0);
        let uuid = hints::uuid_bytes(text);
        let mut rows = Vec::new();
        registry!(|Id| rows.extend(read::<Id>(text, uuid).and_then(row).map(Row::columns)));
        Ok(rows)
    })
}

/// `scru_inspect(T) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: one row
pub fn of_id<T: StoredId>(call: Call) -> Result<Datum, Error> {
    call.rows(|| Ok(row(call.id::<T>(0)).map(Row::columns)))
}

/// `scru_types() → setof (type text, bytes integer, digits integer, tick interval, earliest timestamptz, latest timestamptz,
/// smallest text, largest text)`: one row per type
pub fn types(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        registry!(|Id| rows.extend(facts::<Id>().map(Facts::columns)));
        Ok(rows)
    })
}

row! {
    /// A row of `scru_types`.
    struct Facts {
        system: &'static str,
        bytes: i32,
        digits: i32,
        tick: Interval,
        earliest: TimestampWithTimeZone,
        latest: TimestampWithTimeZone,
        smallest: String,
        largest: String,
    }
}

fn facts<T: SqlId>() -> Option<Facts> {
    Some(Facts {
        system: T::NAME,
        bytes: <T::Stored as Stored>::LEN as i32,
        digits: T::TEXT_LEN as i32,
        tick: Interval::new(0, 0, T::TICKS.micros).ok()?,
        earliest: epoch::timestamptz(T::MIN)?,
        latest: epoch::timestamptz(T::MAX)?,
        smallest: T::MIN.to_string(),
        largest: T::MAX.to_string(),
    })
}

/// The ID with the bytes of `uuid` if given, otherwise the ID of `text`; `None` if there is no such ID.
fn read<T: SqlId>(text: &[u8], uuid: Option<[u8; 16]>) -> Option<T> {
    match uuid {
        Some(bytes) => T::from_be_bytes(&bytes).ok(),
        None => T::parse(text).ok(),
    }
}

fn row<T: SqlId>(id: T) -> Option<Row> {
    let fields = JsonB(Value::Object(fields(id)));
    Some(Row { system: T::NAME, canonical: id.to_string(), timestamp: epoch::timestamptz(id)?, fields })
}

/// The fields of an ID, except those that need a parameter.
fn fields<T: SqlId>(id: T) -> Map<String, Value> {
    let named = |field: &scru_ids::Field<T>| {
        let value = serde_json::to_value(field.getter.value(id)?).ok()?;
        Some((field.name.to_owned(), value))
    };
    T::FIELDS.iter().filter_map(named).collect()
}
