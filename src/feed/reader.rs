//! Functions for those who read a table as a feed: the horizon, and the transactions that hold it; and whether an ID is timely.

use pgrx::pg_sys::{Datum, Interval};
use scru_ids::MAX_AHEAD_MICROS;
use scru_server::mark::Mark;
use scru_server::protocol::{self, Marks};

use crate::call::error::{Error, sql_error};
use crate::call::{Call, epoch};
use crate::feed::{publication, returned};
use crate::pg::transaction::Snapshot;
use crate::pg::{clock, process, wal};
use crate::shared::id_type::Type;
use crate::shared::marks::SharedMarks;

/// `T_horizon() → T`
///
/// Raises 25006 during recovery, 40001 if the snapshot is too old.
pub fn horizon<T: Type>(_call: Call) -> Result<Datum, Error> {
    refuse_elsewhere::<T>()?;
    returned::of_statement().map(|micros| T::lower(micros).to_datum())
}

/// `T_horizon(after T, lag interval DEFAULT '0') → T`: the horizon minus the lag
///
/// Additionally raises 22023 if `after` is above all IDs that this server may have generated, and more than 1 s ahead of the clock, or if
/// the lag is negative, and 22004 if one of them is NULL: a reader without a position would receive nothing.
pub fn horizon_after<T: Type>(call: Call) -> Result<Datum, Error> {
    let name = T::NAME;
    if call.is_null(1) {
        return Err(sql_error!(ERRCODE_NULL_VALUE_NOT_ALLOWED, "the lag of a feed must not be null"));
    }
    let lag = lag_micros(call.interval(1))?;
    refuse_elsewhere::<T>()?;
    if call.is_null(0) {
        return Err(sql_error!(ERRCODE_NULL_VALUE_NOT_ALLOWED, "the position of {name}_horizon() must not be null")
            .hint(format!("Begin with {name}_lower('-infinity').")));
    }
    let after: T = call.id(0);
    let horizon = returned::of_statement()?;
    if after > T::lower(horizon) && after.tick() > last_known::<T>()? {
        return Err(sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "the {name} is above all that this server knows")
            .of_type::<T>()
            .detail("The server may have lost transactions in a failover, and may generate IDs below this one.")
            .hint(
                "If no ID has been generated since, first call scru_raise_mark() with the time of this ID. \
             Otherwise, read the table again from a position that all its readers have passed.",
            ));
    }
    Ok(T::lower(horizon.saturating_sub(lag)).to_datum())
}

/// The last tick of which this server may have generated an ID. The marks include what is reserved.
fn last_known<T: Type>() -> Result<u64, Error> {
    let mut marks = SharedMarks::new()?;
    let mut last = clock::now() + MAX_AHEAD_MICROS;
    for of in Mark::ALL {
        let arrived = protocol::learn(&mut marks, of)?;
        last = last.max(marks.start(of)?).max(marks.reserved(of)?).max(arrived);
    }
    Ok(T::TICKS.nearest(last))
}

/// Refuses where the transactions of this process and those that write the rows are of different servers.
fn refuse_elsewhere<T: Type>() -> Result<(), Error> {
    let name = T::NAME;
    if process::is_internal_connection_of_citus() {
        return Err(sql_error!(ERRCODE_FEATURE_NOT_SUPPORTED, "cannot execute {name}_horizon() on a shard of Citus")
            .detail("A node does not know which transactions run on the other nodes.")
            .hint("Compute the minimum of the horizons of all nodes first, and pass it as a parameter."));
    }
    // SAFETY: the snapshot is used here only.
    if !wal::is_in_recovery() && !unsafe { Snapshot::active() }.is_of_recovery() {
        return Ok(());
    }
    Err(sql_error!(ERRCODE_READ_ONLY_SQL_TRANSACTION, "cannot execute {name}_horizon() during recovery")
        .detail("A standby does not know which transactions run on its primary.")
        .hint("Read the rows on the primary, or up to a horizon in a row that the primary has written."))
}

/// `scru_horizon_holders() → setof (pid integer, first_time timestamptz)`: the transactions of this database that hold the horizon
pub fn holders(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let holders = if wal::is_in_recovery() { Vec::new() } else { returned::holders()? };
        Ok(holders.into_iter().map(|(pid, bound)| (pid, epoch::of_unix_micros(bound))).collect::<Vec<_>>())
    })
}

/// Why the row of an ID cannot be inserted in this transaction. Times are in microseconds since 1970-01-01 UTC.
pub enum Untimely {
    /// NULL, or not an ID of the system.
    NoId,
    /// A reader may have passed the ID: it is before this time.
    Old(i64),
    /// Readers would not receive the row for long: it is after this time.
    Ahead(i64),
}

/// Publishes the transaction, and returns why a value is untimely for a feed that is read up to a lag before the horizon; `None` if it
/// is timely.
pub fn untimely<T: Type>(stored: Option<T::Stored>, lag: i64) -> Result<Option<Untimely>, Error> {
    let from = publication::unpassed()?;
    let Some(id) = stored.and_then(T::from_stored).filter(|id| id.is_id()) else { return Ok(Some(Untimely::NoId)) };
    let first = from.saturating_sub(lag);
    if id.tick() < T::TICKS.nearest(first) {
        return Ok(Some(Untimely::Old(first)));
    }
    let lead = lag.saturating_add(MAX_AHEAD_MICROS);
    let is_within = |now: i64| id.tick() <= T::TICKS.nearest(now.saturating_add(lead));
    // The clock is rarely behind: read only for IDs that are ahead of the transaction's beginning.
    let is_timely = is_within(from) || is_within(clock::now());
    Ok((!is_timely).then(|| Untimely::Ahead(from.max(clock::now()).saturating_add(lead))))
}

/// The length of a lag, in microseconds: a month has 30 days, as where the server compares intervals.
pub fn lag_micros(lag: &Interval) -> Result<i64, Error> {
    let micros = epoch::compared_length(lag);
    if micros < 0 {
        return Err(sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "the lag of a feed must not be negative"));
    }
    Ok(i64::try_from(micros).unwrap_or(i64::MAX))
}
