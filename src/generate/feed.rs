//! Functions for those who read a table as a feed: the horizon, the transactions that hold it, and the guard of a table.

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::datum::TimestampWithTimeZone;
use pgrx::pg_sys::Datum;
use scru_ids::{SortableId, registry};

use crate::call::Call;
use crate::call::error::Error;
use crate::generate::horizon;
use crate::generate::id_type::Type;
use crate::pg::datum::StoredDatum;
use crate::pg::transaction::Snapshot;
use crate::pg::trigger::Trigger;
use crate::pg::{epoch, recovery};

/// `T_horizon() → T`
///
/// Raises 25006 during recovery, 55000 if the snapshot is too old or if there are sessions with an older library.
pub fn horizon<T: Type>(_call: Call) -> Result<Datum, Error> {
    refuse_in_recovery::<T>()?;
    horizon::of_statement().map(|micros| first_of::<T>(micros).to_datum())
}

/// `T_horizon(after T) → T`: additionally raises 55000 if this server may still generate IDs below `after`.
pub fn horizon_after<T: Type>(call: Call) -> Result<Datum, Error> {
    refuse_in_recovery::<T>()?;
    let after: T = call.id(0);
    let horizon = horizon::of_statement()?;
    if after > first_of::<T>(horizon) && after > T::last_of(first_of::<T>(horizon::floor()?).tick()) {
        let message = format!("the {} is above all that this server knows", T::NAME);
        return Err(Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .detail("The server may have lost transactions in a failover, and may generate IDs below this one.")
            .hint("Read the table again from a position that all its readers have passed."));
    }
    Ok(first_of::<T>(horizon).to_datum())
}

/// Returns the first ID of the tick of a time.
fn first_of<T: Type>(micros: i64) -> T {
    T::first_of(T::TICKS.nearest(micros))
}

fn refuse_in_recovery<T: Type>() -> Result<(), Error> {
    if !recovery::is_in_recovery() && !Snapshot::active().is_of_recovery() {
        return Ok(());
    }
    let message = format!("cannot execute {}_horizon() during recovery", T::NAME);
    Err(Error::new(SqlState::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
        .detail("A standby does not know which transactions run on its primary.")
        .hint("Read the horizon on the primary, or from a row that the primary writes."))
}

/// `scru_horizon_holders() → setof (pid integer, first_time timestamptz)`: the transactions of this database that hold the horizon
pub fn holders(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let holders = if recovery::is_in_recovery() { Vec::new() } else { horizon::holders()? };
        let row = |(pid, bound): (Option<i32>, i64)| -> (Option<i32>, Option<TimestampWithTimeZone>) {
            (pid, epoch::of_unix_micros(bound))
        };
        Ok(holders.into_iter().map(row).collect::<Vec<_>>())
    })
}

/// `scru_feed_guard() → trigger`: raises 55000 if the ID of a new row was not generated in this transaction
pub fn guard(call: Call) -> Result<Datum, Error> {
    let trigger = Trigger::of(call.info()).ok_or_else(not_a_trigger)?;
    let column = trigger.argument();
    let (datum, type_name) = trigger.value(call.schema().oid()).ok_or_else(|| no_column(column))?;
    let Some(datum) = datum else { return Ok(trigger.row()) };
    let bound = if recovery::is_in_recovery() { None } else { horizon::own_bound()? };
    macro_rules! check {
        ($name:ident, $id:ident) => {
            if type_name == stringify!($name) {
                type Stored = <scru_ids::$id as SortableId>::Stored;
                // SAFETY: the column has this type.
                let stored = unsafe { <Stored as StoredDatum>::from_datum(datum) };
                let id = scru_ids::$id::from_stored(stored);
                let is_own = bound.is_some_and(|bound| id.is_some_and(|id| id >= first_of::<scru_ids::$id>(bound)));
                return if is_own { Ok(trigger.row()) } else { Err(not_own(stringify!($name), column)) };
            }
        };
    }
    registry!(check);
    Ok(trigger.row())
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
}

#[cold]
fn not_own(type_name: &str, column: &[u8]) -> Error {
    let message = [b"the ID in column \"".as_slice(), column, b"\" was not generated in this transaction"].concat();
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail("A reader of the table may already have passed it.")
        .hint(format!("Let the column's default, or gen_{type_name}() in the same transaction, generate the ID."))
}

/// `scru_note_old_sessions() → void`, which the update to 0.3.0 calls.
pub fn note_old_sessions(_call: Call) -> Result<Datum, Error> {
    horizon::note_old_sessions().map(|()| Datum::null())
}
