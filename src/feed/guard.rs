//! The guard of a table that is read as a feed: a trigger that refuses rows whose IDs readers may have passed.

use core::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Interval, Oid};
use scru_ids::{SortableId, Stored, id_systems};

use crate::call::error::{Error, excerpt, quoting, sql_error};
use crate::call::stored::StoredDatum;
use crate::call::{Call, epoch};
use crate::feed::reader::{self, Untimely};
use crate::pg::catalog;
use crate::pg::trigger::{Trigger, literal, quoted};
use crate::shared::id_type::Type;

/// The name of the ID system whose IDs a column has, and [`untimely`] for it.
type System = (&'static str, fn(Trigger, i32, i64) -> Result<Option<Untimely>, Error>);

/// What a trigger guards.
#[derive(Clone, Copy)]
struct Guard {
    column: i32,
    lag: i64,
    system: System,
}

/// `scru_feed_guard() → trigger`: raises 23514 if the ID of a new row is not timely
///
/// The arguments of the trigger are the name of the column, the lag, and, for a type that IDs of several systems have, the system.
pub fn guard(call: Call) -> Result<Datum, Error> {
    let trigger = call.trigger().ok_or_else(|| misused(None, &[]))?;
    let Guard { column, lag, system: (system, untimely) } = *call.remembered((), || guard_of(call, trigger))?;
    match untimely(trigger, column, lag)? {
        // The server ignores the result of an AFTER trigger.
        None => Ok(Datum::null()),
        Some(reason) => Err(refusal(reason, system, trigger)),
    }
}

/// The guard that a trigger declares: once for each statement that calls it.
#[cold]
fn guard_of(call: Call, trigger: Trigger) -> Result<Guard, Error> {
    let arguments = trigger.arguments();
    if !trigger.is_after_each_new_row() || !(2..=3).contains(&arguments.len()) {
        return Err(misused(Some(trigger), &arguments));
    }
    let found = trigger.column(arguments[0]).and_then(|(column, of_type)| {
        let named = arguments.get(2).map(|name| name.to_bytes());
        Some((column, system_of(of_type, named, call.schema())?))
    });
    let (column, system) = found.ok_or_else(|| no_column(trigger, arguments[0]))?;
    // The argument is a name, which another column can later get.
    if !trigger.tie_to_column(column) {
        return Err(another_column(trigger, arguments[0]));
    }
    Ok(Guard { column, lag: lag_of(arguments[1])?, system })
}

/// The system of the IDs in a column of a type; `None` if it must be named, or if no system has IDs of the type.
fn system_of(of_type: Oid, named: Option<&[u8]>, schema: Oid) -> Option<System> {
    id_systems!(|Id| if is_system::<Id>(of_type, named, schema) {
        return Some((Id::NAME, untimely::<Id>));
    });
    None
}

/// Whether a column of a type can have IDs of the system `T`, and the name is that of `T` or of the type that only `T` has. Without a
/// name, the type has to be that one. A type with the name of `T` is another user's unless it is in the schema of the extension.
fn is_system<T: Type>(of_type: Oid, named: Option<&[u8]>, schema: Oid) -> bool {
    let of_server = match T::Stored::LEN {
        8 => pg_sys::INT8OID,
        16 => pg_sys::UUIDOID,
        _ => Oid::INVALID,
    };
    let is_own = T::CORE_TYPE.is_none() && of_type == catalog::type_in(schema, T::NAME);
    let is_named = match named {
        Some(name) => [Some(T::NAME), T::CORE_TYPE].iter().flatten().any(|of| of.as_bytes() == name),
        None => is_own || T::CORE_TYPE.is_some(),
    };
    (is_own || of_type == of_server) && is_named
}

/// Why the ID in the new row is untimely; `None` if it is timely, or if an UPDATE keeps it.
fn untimely<T: Type>(trigger: Trigger, column: i32, lag: i64) -> Result<Option<Untimely>, Error> {
    // SAFETY: the type of the column has this stored form.
    let stored = |datum| unsafe { <T::Stored as StoredDatum>::from_datum(datum) };
    let [new, old] = trigger.new_and_old(column).map(|datum| datum.map(stored));
    if let (Some(new), Some(old)) = (new, old)
        && new.order(old).is_eq()
    {
        return Ok(None);
    }
    reader::untimely::<T>(new, lag)
}

/// The lag of an argument of the trigger, in microseconds.
fn lag_of(text: &CStr) -> Result<i64, Error> {
    // SAFETY: the function takes a C string, the OID of a type for its messages, and a modifier, and returns an interval.
    let lag = unsafe {
        let arguments = [text.as_ptr().into(), pg_sys::INTERVALOID.into(), Datum::from(-1)].map(Some);
        pgrx::direct_function_call_as_datum(pg_sys::interval_in, &arguments)
    };
    // SAFETY: as above.
    reader::lag_micros(unsafe { &*lag.unwrap_or(Datum::null()).cast_mut_ptr::<Interval>() })
}

#[cold]
fn refusal(reason: Untimely, system: &str, trigger: Trigger) -> Error {
    let column = trigger.arguments()[0];
    let names = [column.to_bytes(), trigger.table().to_bytes()];
    let time = |micros: i64| epoch::text(micros.saturating_sub(epoch::EPOCH_2000));
    match reason {
        Untimely::Old(first) => sql_error!(
            ERRCODE_CHECK_VIOLATION,
            quoting("the ID in column \"{}\" of table \"{}\" is too old for a feed", &names)
        )
        .detail(format!("Readers may have passed it: this transaction can insert IDs from {} on.", time(first)))
        .hint("Generate a new ID and insert the row again, or give the guard and all readers a longer lag."),
        Untimely::Ahead(last) => sql_error!(
            ERRCODE_CHECK_VIOLATION,
            quoting("the ID in column \"{}\" of table \"{}\" is too far ahead of the clock", &names)
        )
        .detail(format!("Readers would wait for its time: this transaction can insert IDs up to {}.", time(last)))
        .hint("Correct the clock of the machine that generated the ID."),
        Untimely::NoId => sql_error!(
            ERRCODE_CHECK_VIOLATION,
            quoting("the value in column \"{}\" of table \"{}\" is not a {}", &[names[0], names[1], system.as_bytes()])
        )
        .detail("Readers of a feed receive rows in the order of their IDs.")
        .hint("Insert the row with an ID, or let the default of the column generate it."),
    }
    .of(objects(trigger, Some(column)))
}

/// The schema, the table, the column and the trigger.
fn objects<'a>(trigger: Trigger<'a>, column: Option<&'a CStr>) -> [Option<&'a CStr>; 4] {
    [Some(trigger.schema()), Some(trigger.table()), column, Some(trigger.name())]
}

#[cold]
fn misused(trigger: Option<Trigger>, arguments: &[&CStr]) -> Error {
    let error = sql_error!(
        ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "scru_feed_guard() must be called as a trigger AFTER INSERT OR UPDATE FOR EACH ROW with two or three arguments"
    );
    let Some(trigger) = trigger else { return error };
    let is_name = |argument: &&CStr| argument.count_bytes() < pg_sys::NAMEDATALEN as usize;
    let argument = |index: usize| arguments.get(index).copied().filter(is_name);
    let arguments = [argument(0).or(Some(c"id")), argument(1).or(Some(c"5 s")), argument(2)];
    let arguments: Vec<_> = arguments.into_iter().flatten().map(literal).collect();
    let names = [trigger.name(), trigger.schema(), trigger.table()].map(quoted);
    let statement =
        "CREATE TRIGGER {} AFTER INSERT OR UPDATE ON {}.{} FOR EACH ROW EXECUTE FUNCTION scru_feed_guard({});";
    error
        .detail(
            "The trigger must have neither a list of columns nor a condition, and the table must not be a foreign one.",
        )
        .hint(quoting(statement, &[&names[0], &names[1], &names[2], &arguments.join(b", ".as_slice())]))
        .of(objects(trigger, None))
}

#[cold]
fn no_column(trigger: Trigger, column: &CStr) -> Error {
    let name = excerpt(column.to_bytes());
    sql_error!(
        ERRCODE_UNDEFINED_COLUMN,
        quoting("column \"{}\" is not a stored column of an ID type of scru", &[&name])
    )
    .hint("For a column of type uuid or bigint, name the ID system in a third argument of the trigger.")
    .of(objects(trigger, Some(column)))
}

#[cold]
fn another_column(trigger: Trigger, column: &CStr) -> Error {
    let names = [trigger.name(), trigger.table(), column].map(CStr::to_bytes);
    sql_error!(
        ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        quoting("trigger \"{}\" of table \"{}\" has guarded another column than \"{}\"", &names)
    )
    .detail("The column that it has guarded has been renamed, and another one now has its name.")
    .hint("Drop the trigger, and create it for the column with the IDs.")
    .of(objects(trigger, Some(column)))
}
