//! Functions for administrators: the state of the generators, and the correction of a wrong high-water mark.

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{MAX_TEXT_LEN, registry};

use crate::call::Call;
use crate::call::error::Error;
use crate::generate::id_type::Type;
use crate::generate::shared;
use crate::pg::{clock, epoch, recovery};
use crate::settings;

/// A row of `scru_generators`: type, scope, node, last ID, its time, its lead over the clock, reserved until, preloaded.
type Row = (
    &'static str,
    &'static str,
    Option<String>,
    Option<String>,
    Option<TimestampWithTimeZone>,
    Option<Interval>,
    Option<TimestampWithTimeZone>,
    bool,
);

/// `scru_generators() → setof (type text, scope text, node text, last_id text, last_time timestamptz, ahead interval,
/// reserved_until timestamptz, preloaded boolean)`: one row per type. The state is the one that all backends share; scope and
/// node follow this session's settings.
pub fn all(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        macro_rules! add {
            ($name:ident, $id:ident) => {
                rows.push(row::<scru_ids::$id>()?);
            };
        }
        registry!(add);
        Ok(rows)
    })
}

fn row<T: Type>() -> Result<Row, Error> {
    let is_server_wide = T::SERVER_WIDE || settings::common().server_wide;
    let node = settings::check_none_refused::<T>().ok().and_then(|()| T::node_text(&settings::of::<T>()));
    let status = shared::status::<T>()?;
    let last_micros = status.state.map(|state| T::TICKS.start(T::state_tick(state)));
    Ok((
        T::NAME,
        if is_server_wide { "server" } else { "backend" },
        node,
        status.state.and_then(T::last_id).map(text),
        last_micros.and_then(epoch::of_unix_micros),
        last_micros.and_then(|micros| Interval::new(0, 0, micros - clock::now()).ok()),
        status.reserved_until.and_then(epoch::of_unix_micros),
        settings::is_preloaded(),
    ))
}

fn text<T: Type>(id: T) -> String {
    let mut buffer = [0; MAX_TEXT_LEN];
    id.encode(&settings::of::<T>(), &mut buffer).to_owned()
}

/// `scru_set_mark(type text, mark timestamptz) → void`: sets the high-water mark of a type for this session's node
///
/// Raises 22023 for an infinite time or an unknown type, 25006 during recovery.
pub fn set_mark(call: Call) -> Result<Datum, Error> {
    change_mark(call, false)
}

/// `scru_raise_mark(type text, mark timestamptz) → void`: raises the high-water mark of a type for this session's node, if it is
/// lower
///
/// Raises 22023 for an infinite time or an unknown type, 25006 during recovery.
pub fn raise_mark(call: Call) -> Result<Datum, Error> {
    change_mark(call, true)
}

fn change_mark(call: Call, at_least: bool) -> Result<Datum, Error> {
    let (name, mark) = (call.varlena(0), epoch::unix_micros(call.int8(1)));
    let mark = mark.ok_or_else(|| {
        Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, "the high-water mark must be a finite time")
    })?;
    if recovery::is_in_recovery() {
        let function = if at_least { "scru_raise_mark" } else { "scru_set_mark" };
        let message = format!("cannot execute {function}() during recovery");
        return Err(Error::new(SqlState::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
            .hint("Set the mark on the primary, or after the promotion."));
    }
    macro_rules! set {
        ($type:ident, $id:ident) => {
            if name == stringify!($type).as_bytes() {
                settings::check_none_refused::<scru_ids::$id>()?;
                shared::set_mark::<scru_ids::$id>(call.schema(), mark, at_least)?;
                return Ok(Datum::null());
            }
        };
    }
    registry!(set);
    let message = [b"unknown ID type \"".as_slice(), name, b"\""].concat();
    Err(Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message))
}
