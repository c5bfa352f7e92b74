//! The guard of a table that is read as a feed: a trigger that refuses rows whose IDs readers may have passed.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Interval, Oid};
use scru_ids::{Stored, id_systems};

use crate::call::error::{Error, quoting, sql_error};
use crate::call::stored::StoredDatum;
use crate::call::{Call, epoch};
use crate::feed::reader::{self, Timeliness};
use crate::pg::trigger::{Column, Trigger, literal, quoted};
use crate::shared::id_type::Type;

/// The schema of the server's types.
const PG_CATALOG: Oid = Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);

/// The ID system whose IDs a column has.
struct System {
    name: &'static str,
    /// Whether the type of the column is that of the functions of the system.
    is_own_type: bool,
    timeliness: fn(Trigger, &Column, i64) -> Result<Timeliness, Error>,
}

/// `scru_feed_guard() → trigger`: raises 22023 if the ID of a new row is not timely
///
/// The arguments of the trigger are the name of the column, the lag, and, for a type that IDs of several systems have, the system.
pub fn guard(call: Call) -> Result<Datum, Error> {
    let trigger = call.trigger().ok_or_else(|| misused(None, &[], None))?;
    let arguments = trigger.arguments();
    let column = arguments.first().and_then(|name| trigger.column(name));
    let system = column.as_ref().and_then(|column| system_of(column, arguments.get(2), call.schema()));
    if !trigger.is_after_new_row() || !(1..=3).contains(&arguments.len()) {
        return Err(misused(Some(trigger), &arguments, system.as_ref()));
    }
    let (Some(column), Some(system)) = (column, system) else { return Err(no_column(arguments[0])) };
    let lag = arguments.get(1).map_or(Ok(0), |lag| lag_of(lag))?;
    match (system.timeliness)(trigger, &column, lag)? {
        // The server ignores the result of an AFTER trigger.
        Timeliness::Timely => Ok(Datum::null()),
        refused => Err(refusal(refused, system.name, trigger.table(), arguments[0])),
    }
}

/// The system of a column; `None` if it must be named, or if no system has IDs of its type.
fn system_of(column: &Column, named: Option<&&CStr>, schema: Oid) -> Option<System> {
    let named = named.map_or(column.type_name.as_slice(), |name| name.to_bytes());
    id_systems!(|Id| if let Some(system) = of_column::<Id>(column, named, schema) {
        return Some(system);
    });
    None
}

/// The system `T` if a column can have its IDs, and `named` is the name of `T` or of the type that only `T` has.
/// An ID system of a core type has no type of its own: another user's type with its name has values of another form.
fn of_column<T: Type>(column: &Column, named: &[u8], schema: Oid) -> Option<System> {
    let of_server = match T::Stored::LEN {
        8 => "int8",
        16 => "uuid",
        _ => "",
    };
    let is = |schema, name: &str| column.type_schema == schema && column.type_name == name.as_bytes();
    let is_core = T::CORE_TYPE.is_some_and(|name| is(PG_CATALOG, name));
    let is_own = T::CORE_TYPE.is_none() && is(schema, T::NAME);
    let can_have = is_own || is(PG_CATALOG, of_server);
    let is_named = named == T::NAME.as_bytes() || T::CORE_TYPE.is_some_and(|name| named == name.as_bytes());
    (can_have && is_named).then_some(System {
        name: T::NAME,
        is_own_type: is_own || is_core,
        timeliness: timeliness::<T>,
    })
}

/// The timeliness of the ID in the new row. An UPDATE that keeps the ID is timely.
fn timeliness<T: Type>(trigger: Trigger, column: &Column, lag: i64) -> Result<Timeliness, Error> {
    // SAFETY: the type of the column has this stored form.
    let stored = |datum| unsafe { <T::Stored as StoredDatum>::from_datum(datum) };
    let [new, old] = [trigger.new_value(column), trigger.old_value(column)].map(|datum| datum.map(stored));
    if let (Some(new), Some(old)) = (new, old)
        && new.order(old).is_eq()
    {
        return Ok(Timeliness::Timely);
    }
    reader::timeliness::<T>(new, lag)
}

/// The lag of an argument of the trigger, in microseconds.
fn lag_of(text: &CStr) -> Result<i64, Error> {
    // SAFETY: the function takes a C string, the OID of a type for its messages, and a modifier, and returns an interval.
    let lag = unsafe {
        let arguments =
            [Some(Datum::from(text.as_ptr())), Some(Datum::from(pg_sys::INTERVALOID)), Some(Datum::from(-1))];
        pgrx::direct_function_call_as_datum(pg_sys::interval_in, &arguments)
    };
    // SAFETY: as above.
    reader::lag_micros(unsafe { &*lag.unwrap_or(Datum::null()).cast_mut_ptr::<Interval>() })
}

#[cold]
fn refusal(refused: Timeliness, system: &str, table: &CStr, column: &CStr) -> Error {
    let names = [column.to_bytes(), table.to_bytes()];
    let time = |micros: i64| epoch::text(micros.saturating_sub(epoch::EPOCH_2000));
    match refused {
        Timeliness::Old(first) => sql_error!(
            ERRCODE_INVALID_PARAMETER_VALUE,
            quoting("the ID in column \"{}\" of table \"{}\" is too old for a feed", &names)
        )
        .detail(format!("Readers may have passed it: this transaction can insert IDs from {} on.", time(first)))
        .hint("Generate a new ID and insert the row again, or give the guard and all readers a longer lag."),
        Timeliness::Ahead(last) => sql_error!(
            ERRCODE_INVALID_PARAMETER_VALUE,
            quoting("the ID in column \"{}\" of table \"{}\" is too far ahead of the clock", &names)
        )
        .detail(format!("Readers would wait for its time: this transaction can insert IDs up to {}.", time(last)))
        .hint("Correct the clock of the machine that generated the ID."),
        Timeliness::NoId | Timeliness::Timely => sql_error!(
            ERRCODE_INVALID_PARAMETER_VALUE,
            quoting("the value in column \"{}\" of table \"{}\" is not a {}", &[names[0], names[1], system.as_bytes()])
        )
        .detail("Readers of a feed receive rows in the order of their IDs.")
        .hint("Insert the row with an ID, or let the default of the column generate it."),
    }
}

#[cold]
fn misused(trigger: Option<Trigger>, arguments: &[&CStr], system: Option<&System>) -> Error {
    let table = trigger.map_or_else(|| b"events".to_vec(), |trigger| trigger.qualified_table());
    let column = arguments.first().map_or_else(|| b"id".to_vec(), |name| quoted(name));
    let lag = literal(arguments.get(1).unwrap_or(&c"0"));
    let name = system.map_or("T", |system| system.name);
    let (cast, named) = match system {
        Some(system) if !system.is_own_type => (format!("::{name}"), format!(", {name}")),
        _ => (String::new(), String::new()),
    };
    let statement = "CREATE TRIGGER guard AFTER INSERT ON {} FOR EACH ROW WHEN (NOT {}_is_timely(NEW.{}{}, {})) EXECUTE \
                     FUNCTION scru_feed_guard({}, {}{});";
    let [name, cast, named] = [name, &cast, &named].map(str::as_bytes);
    sql_error!(
        ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "scru_feed_guard() must be called as a trigger AFTER INSERT OR UPDATE FOR EACH ROW with one to three arguments"
    )
    .hint(quoting(statement, &[&table, name, &column, cast, &lag, &column, &lag, named]))
}

#[cold]
fn no_column(column: &CStr) -> Error {
    let name = column.to_bytes();
    sql_error!(ERRCODE_UNDEFINED_COLUMN, quoting("column \"{}\" is not a stored column of an ID type of scru", &[name]))
        .hint("For a column of type uuid or bigint, name the ID system in a third argument of the trigger.")
}
