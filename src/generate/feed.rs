//! Functions for those who read a table as a feed: the horizon, the transactions that hold it, and the guard of a table.

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Datum, Oid};
use scru_ids::{MAX_AHEAD_MICROS, Stored, id_systems, mark};

use crate::call::Call;
use crate::call::error::Error;
use crate::generate::id_type::Type;
use crate::generate::mark_page::{Name, Pinned};
use crate::generate::{horizon, mark_sequence};
use crate::pg::catalog::Schema;
use crate::pg::datum::StoredDatum;
use crate::pg::transaction::Snapshot;
use crate::pg::trigger::TypeName;
use crate::pg::{clock, epoch, log};
use crate::settings;

/// The schema of the server's types.
const PG_CATALOG: Oid = Oid::from_u32(pg_sys::PG_CATALOG_NAMESPACE);

/// `T_horizon() → T`
///
/// Raises 25006 during recovery, 55000 if the snapshot is too old.
pub fn horizon<T: Type>(call: Call) -> Result<Datum, Error> {
    refuse_in_recovery::<T>()?;
    horizon::of_statement(call.schema()).map(|micros| first_of::<T>(micros).to_datum())
}

/// `T_horizon(after T) → T`: additionally raises 55000 if `after` is above all IDs that this server may have generated, and more than
/// 1 s ahead of the clock, and 22004 if it is NULL: a reader without a position would receive nothing.
pub fn horizon_after<T: Type>(call: Call) -> Result<Datum, Error> {
    refuse_in_recovery::<T>()?;
    if call.is_null(0) {
        let message = format!("the position of {}_horizon() must not be null", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
            .hint(format!("Begin with {}_lower('-infinity').", T::NAME)));
    }
    let after: T = call.id(0);
    let horizon = horizon::of_statement(call.schema())?;
    if after > first_of::<T>(horizon) && after.tick() > last_known::<T>(call.schema())? {
        let message = format!("the {} is above all that this server knows", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .detail("The server may have lost transactions in a failover, and may generate IDs below this one.")
            .hint(
                "If no ID has been generated since, first call scru_raise_mark() with the type and the time of this ID. \
                 Otherwise, read the table again from a position that all its readers have passed.",
            ));
    }
    Ok(first_of::<T>(horizon).to_datum())
}

/// Returns the last tick of which this server may have generated an ID. The marks include what is reserved.
fn last_known<T: Type>(schema: Schema) -> Result<u64, Error> {
    let tick = T::TICKS.nearest(horizon::floor(schema)?.max(clock::now() + MAX_AHEAD_MICROS));
    let page = Pinned::existing()?.and_then(|page| page.lock(true));
    let marks = page.map_or(Ok(Vec::new()), |page| page.marks(Name::of::<T>()))?;
    let of_node = mark::floor(&marks, T::node(&settings::of::<T>()), 0);
    // An unlogged sequence matters only to draws.
    let carried = mark_sequence::read::<T>(schema, true).ok().and_then(|(carried, _)| carried.mark());
    Ok(tick.max(of_node.unwrap_or(0)).max(carried.map_or(0, |mark| mark.tick)))
}

/// Returns the first ID of the tick of a time.
fn first_of<T: Type>(micros: i64) -> T {
    T::first_of(T::TICKS.nearest(micros))
}

fn refuse_in_recovery<T: Type>() -> Result<(), Error> {
    // SAFETY: the snapshot is used here only.
    if !log::is_in_recovery() && !unsafe { Snapshot::active() }.is_of_recovery() {
        return Ok(());
    }
    let message = format!("cannot execute {}_horizon() during recovery", T::NAME);
    Err(Error::new(SqlState::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
        .detail("A standby does not know which transactions run on its primary.")
        .hint("Read the rows on the primary, or up to a horizon in a row that the primary has written."))
}

/// `scru_horizon_holders() → setof (pid integer, first_time timestamptz)`: the transactions of this database that hold the horizon
pub fn holders(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let holders = if log::is_in_recovery() { Vec::new() } else { horizon::holders()? };
        Ok(holders.into_iter().map(|(pid, bound)| (pid, epoch::of_unix_micros(bound))).collect::<Vec<_>>())
    })
}

/// `scru_feed_guard() → trigger`: raises 55000 if the ID of a new row was not generated in this transaction
///
/// The arguments are the name of the column and, if its type is not of one ID system, the name of the ID system.
pub fn guard(call: Call) -> Result<Datum, Error> {
    let trigger = call.trigger().ok_or_else(not_a_trigger)?;
    let column = trigger.argument(0).unwrap_or_default();
    let (datum, of_type) = trigger.value().ok_or_else(|| no_column(column))?;
    let system = trigger.argument(1).unwrap_or(&of_type.name);
    macro_rules! check {
        ($name:ident, $id:ident) => {
            if is_column_of::<scru_ids::$id>(&of_type, system, call.schema().oid()) {
                // SAFETY: the type of the column has this stored form.
                let id = datum.map(|datum| unsafe { StoredDatum::from_datum(datum) });
                return match id {
                    Some(id) if !is_own::<scru_ids::$id>(id)? => Err(not_own(stringify!($name), column)),
                    _ => Ok(trigger.row()),
                };
            }
        };
    }
    id_systems!(check);
    Err(no_column(column))
}

/// Returns whether a column of a type can have IDs of `T`, and `system` names `T` or the type that only `T` has. An ID system of a
/// core type has no type of its own: another user's type with its name has values of another form.
fn is_column_of<T: Type>(of_type: &TypeName, system: &[u8], schema: Oid) -> bool {
    let of_server = match T::Stored::LEN {
        8 => "int8",
        16 => "uuid",
        _ => "",
    };
    let is = |schema, name: &str| of_type.schema == schema && of_type.name == name.as_bytes();
    (T::CORE_TYPE.is_none() && is(schema, T::NAME) || is(PG_CATALOG, of_server))
        && (system == T::NAME.as_bytes() || T::CORE_TYPE.is_some_and(|name| system == name.as_bytes()))
}

/// Returns whether an ID is not below the bound of this transaction.
fn is_own<T: Type>(id: T::Stored) -> Result<bool, Error> {
    let bound = if log::is_in_recovery() { None } else { horizon::own_bound()? };
    let id = T::from_stored(id);
    Ok(bound.is_some_and(|bound| id.is_some_and(|id| id >= first_of::<T>(bound))))
}

#[cold]
fn not_a_trigger() -> Error {
    let message = "scru_feed_guard() must be called as a trigger BEFORE INSERT FOR EACH ROW, with the name of a column";
    Error::new(SqlState::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED, message)
}

#[cold]
fn no_column(column: &[u8]) -> Error {
    let message = [b"column \"".as_slice(), column, b"\" is not a column of an ID type of scru"].concat();
    Error::new(SqlState::ERRCODE_UNDEFINED_COLUMN, message)
        .hint("For a column of type uuid or bigint, name the ID system in a second argument of the trigger.")
}

#[cold]
fn not_own(type_name: &str, column: &[u8]) -> Error {
    let message = [b"the ID in column \"".as_slice(), column, b"\" was not generated in this transaction"].concat();
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail("A reader of the table may already have passed it.")
        .hint(format!("Let the column's default, or gen_{type_name}() in the same transaction, generate the ID."))
}
