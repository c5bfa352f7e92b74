//! Functions for administrators: the state of the generators, and the correction of a wrong high-water mark.

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::mark::{self, Forecast, Mark};
use scru_ids::protocol::Carried;
use scru_ids::{Context, MAX_TEXT_LEN, OnClockRollback, State, Word, id_systems, registry};

use crate::call::Call;
use crate::call::error::Error;
use crate::generate::id_type::Type;
use crate::generate::random::Random;
use crate::generate::shared::Status;
use crate::generate::{draw, floor, node, shared};
use crate::pg::catalog::Schema;
use crate::pg::{clock, epoch, log, transaction};
use crate::settings;

/// A row of `scru_generators` in 0.2.0: type, scope, node, last ID, its time, its lead over the clock, reserved until, preloaded.
type OldRow = (
    &'static str,
    &'static str,
    Option<String>,
    Option<String>,
    Option<TimestampWithTimeZone>,
    Option<Interval>,
    Option<TimestampWithTimeZone>,
    bool,
);

/// A row of `scru_generators`: additionally the source of the node, the mark, its lead over the clock, what the next draw does, for
/// how long it waits, why it is refused, and the time of the last failure.
type Row = (
    &'static str,
    &'static str,
    Option<String>,
    Option<String>,
    Option<TimestampWithTimeZone>,
    Option<Interval>,
    Option<TimestampWithTimeZone>,
    bool,
    Option<&'static str>,
    Option<TimestampWithTimeZone>,
    Option<Interval>,
    &'static str,
    Option<Interval>,
    Option<String>,
    Option<TimestampWithTimeZone>,
);

/// `scru_generators() → setof (type text, scope text, node text, last_id text, last_time timestamptz, ahead interval,
/// reserved_until timestamptz, preloaded boolean, node_source text, mark timestamptz, mark_ahead interval, draw text,
/// wait interval, reason text, last_failure timestamptz)`: one row per type. The state is the one that all backends share; scope
/// and node follow this session's settings.
pub fn all(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        macro_rules! add {
            ($name:ident, $id:ident) => {
                rows.push(row::<scru_ids::$id>(call.schema())?);
            };
        }
        id_systems!(add);
        Ok(rows)
    })
}

/// `scru_generators` of 0.2.0, with the columns up to `preloaded`.
pub fn all_until_0_2_0(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        macro_rules! add {
            ($name:ident, $id:ident) => {
                rows.push(old_row::<scru_ids::$id>(&shared::status::<scru_ids::$id>()?)?);
            };
        }
        registry!(add);
        Ok(rows)
    })
}

fn row<T: Type>(schema: Schema) -> Result<Row, Error> {
    let status = shared::status::<T>()?;
    let (name, scope, node, last_id, last_time, ahead, reserved_until, preloaded) = old_row::<T>(&status)?;
    let source = settings::deciding::<T>().map(|deciding| deciding.source());
    let Outlook { mark, wait, reason } = outlook::<T>(schema, &status);
    let mark = mark.map(|tick| T::TICKS.start(tick));
    let draw = match (&reason, wait) {
        (Some(_), _) => "refuse",
        (None, Some(_)) => "wait",
        (None, None) => "continue",
    };
    Ok((
        name,
        scope,
        node,
        last_id,
        last_time,
        ahead,
        reserved_until,
        preloaded,
        source,
        mark.and_then(epoch::of_unix_micros),
        mark.and_then(|micros| interval(micros - clock::now())),
        draw,
        wait.and_then(interval),
        reason,
        status.failed.and_then(epoch::of_unix_micros),
    ))
}

/// What the next draw of a type will do. On a standby: after its promotion.
struct Outlook {
    /// The last tick up to which IDs may have been generated; `None` if there is no mark, or if the state is not shared.
    mark: Option<u64>,
    /// The time that the draw waits, in microseconds; `None` if it does not wait.
    wait: Option<i64>,
    /// The reason why the draw is refused; `None` if it is not.
    reason: Option<String>,
}

impl Outlook {
    fn refused(reason: String) -> Self {
        Self { mark: None, wait: None, reason: Some(reason) }
    }
}

fn outlook<T: Type>(schema: Schema, status: &Status<T>) -> Outlook {
    let server_wide = settings::common().server_wide;
    if let Err(refused) = settings::check_none_refused::<T>() {
        return Outlook::refused(refused.message());
    }
    if T::SERVER_WIDE
        && let Err(refused) = node::check_host::<T>()
    {
        return Outlook::refused(refused.message());
    }
    let settings = settings::of::<T>();
    let mut context = Context { settings, on_clock_rollback: settings::common().on_clock_rollback, now: clock::now() };
    let (word, mark, floor, arrived) = if T::SERVER_WIDE || server_wide {
        context.on_clock_rollback = OnClockRollback::Error;
        let (marks, run, carried) = match marks::<T>(schema) {
            Ok(marks) => marks,
            Err(reason) => return Outlook::refused(reason),
        };
        let node = T::node(&settings);
        let arrived = if let Carried::Arrived(arrived) = carried { Some(arrived) } else { None };
        let of_others = mark::floor(&marks, node, 0).max(arrived.map(|arrived| arrived.tick));
        let floor = if mark::is_of::<T>(status.reserved, node) {
            None
        } else if T::SERVER_WIDE && marks.is_empty() {
            // As the protocol begins without any mark.
            Some(T::state_tick(T::successor_state(context.now)))
        } else {
            mark::floor(&marks, node, run)
        };
        (status.state.map_or_else(Word::<T>::default, State::pack), of_others, floor, arrived)
    } else {
        let state = T::process().generator.get();
        (state.map_or_else(Word::<T>::default, State::pack), None, None, None)
    };
    let forecast = Random::get().map(|mut rng| mark::forecast::<T>(word, floor, arrived, &context, &mut rng));
    match forecast {
        Ok(Forecast { wait, refusal }) => Outlook {
            mark,
            wait: (wait > 0).then_some(wait),
            reason: refusal.map(|refusal| draw::refused::<T>(refusal, server_wide).message()),
        },
        Err(error) => Outlook::refused(error.message()),
    }
}

/// Returns the type's marks, the number of the run, and the mark that the database carries, or the message of the error that a draw would raise.
fn marks<T: Type>(schema: Schema) -> Result<(Vec<Mark>, u64, Carried), String> {
    loop {
        match transaction::attempt(|| shared::marks::<T>(schema))?.map_err(Error::message)? {
            Some(marks) => return Ok(marks),
            None => clock::wait(1_000, &clock::MARK),
        }
    }
}

fn interval(micros: i64) -> Option<Interval> {
    Interval::new(0, 0, micros).ok()
}

fn old_row<T: Type>(status: &Status<T>) -> Result<OldRow, Error> {
    let is_server_wide = T::SERVER_WIDE || settings::common().server_wide;
    let node = settings::check_none_refused::<T>().ok().and_then(|()| T::node_text(&settings::of::<T>()));
    let last_micros = status.state.map(|state| T::TICKS.start(T::state_tick(state)));
    Ok((
        T::NAME,
        if is_server_wide { "server" } else { "backend" },
        node,
        status.state.and_then(T::last_id).map(text),
        last_micros.and_then(epoch::of_unix_micros),
        last_micros.and_then(|micros| interval(micros - clock::now())),
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
    if log::is_in_recovery() {
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
                if !at_least {
                    floor::set_back(mark)?;
                }
                return Ok(Datum::null());
            }
        };
    }
    id_systems!(set);
    let message = [b"unknown ID type \"".as_slice(), name, b"\""].concat();
    Err(Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message))
}
