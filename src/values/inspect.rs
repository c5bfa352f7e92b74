//! `scru_inspect` and `scru_types`: descriptions of IDs and of the ID types.

use std::ffi::CString;

use pgrx::JsonB;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{Field, SortableId, SqlId, Stored, id_systems, registry};
use serde_json::{Value, json};

use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{Call, epoch, hints};
use crate::pg::catalog;

/// The columns of a row of `scru_inspect`: the type, the canonical text, the time and the fields.
type Row = (&'static str, String, TimestampWithTimeZone, JsonB);

/// `scru_inspect(text) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: one row if the text is an ID, the
/// rows of [`of_uuid`] if it is a uuid, no rows otherwise
///
/// The text may be in any encoding.
pub fn of_text(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let text = call.varlena(0);
        if let Some(uuid) = hints::uuid_bytes(text) {
            return Ok(rows_of_uuid(&uuid));
        }
        let mut rows = Vec::new();
        registry!(|Id| rows.extend(Id::parse(text).ok().and_then(row)));
        Ok(rows)
    })
}

/// `scru_inspect(uuid) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: one row for each type that has the
/// bytes, and one for each installed ID system whose ID the uuid is
pub fn of_uuid(call: Call) -> Result<Datum, Error> {
    // SAFETY: the SQL declares the argument as uuid.
    call.rows(|| Ok(rows_of_uuid(&unsafe { <[u8; 16]>::from_datum(call.datum(0)) })))
}

fn rows_of_uuid(bytes: &[u8; 16]) -> Vec<Row> {
    let mut rows = Vec::new();
    id_systems!(|Id| if let Ok(id) = Id::from_be_bytes(bytes)
        && id.is_id()
        && is_installed::<Id>()
    {
        rows.extend(row(id));
    });
    rows
}

/// Whether this database has the functions of an ID system: those for a type of the server have an extension of their own.
fn is_installed<T: SqlId>() -> bool {
    T::CORE_TYPE.is_none() || CString::new(format!("scru_{}", T::NAME)).is_ok_and(|name| catalog::has_extension(&name))
}

/// `scru_inspect(T) → setof (type text, canonical text, "timestamp" timestamptz, fields jsonb)`: one row
pub fn of_id<T: StoredId>(call: Call) -> Result<Datum, Error> {
    call.rows(|| Ok(row(call.id::<T>(0))))
}

/// `scru_types() → setof (type text, bytes integer, digits integer, tick interval, earliest timestamptz, latest timestamptz,
/// details jsonb)`: one row per installed ID system
pub fn types(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        id_systems!(|Id| if is_installed::<Id>() {
            rows.extend(facts::<Id>());
        });
        Ok(rows)
    })
}

/// The columns of a row of `scru_types`, as [`types`] lists them.
type Facts = (&'static str, i32, i32, Interval, TimestampWithTimeZone, TimestampWithTimeZone, JsonB);

fn facts<T: SqlId>() -> Option<Facts> {
    let (bytes, digits) = (<T::Stored as Stored>::LEN as i32, T::TEXT_LEN as i32);
    let [earliest, latest] = [T::MIN, T::MAX].map(|id| epoch::of_unix_micros(id.timestamp_micros()));
    let details = JsonB(json!({ "smallest": T::MIN.to_string(), "largest": T::MAX.to_string() }));
    Some((T::NAME, bytes, digits, Interval::new(0, 0, T::TICKS.micros).ok()?, earliest?, latest?, details))
}

fn row<T: SqlId>(id: T) -> Option<Row> {
    // A field that needs a parameter has no value.
    let named = |field: &Field<T>| Some((field.name.to_owned(), serde_json::to_value(field.getter.value(id)?).ok()?));
    let fields = T::FIELDS.iter().filter_map(named).collect();
    Some((T::NAME, id.to_string(), epoch::of_unix_micros(id.timestamp_micros())?, JsonB(Value::Object(fields))))
}
