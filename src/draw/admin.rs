//! Functions for administrators: the state of the generators, and the correction of a wrong high-water mark.

use core::sync::atomic::Ordering;

use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{Context, MAX_TEXT_LEN, OnClockRollback, SortableId, State, Word, id_systems};
use scru_server::horizon;
use scru_server::mark::{self, Forecast, Reserved};
use scru_server::protocol::Carried;

use crate::call::error::{Error, attempt, quoting, sql_error};
use crate::call::{Call, epoch, row};
use crate::draw::{generate, node, server_wide};
use crate::feed::{carried_floor, floor};
use crate::pg::catalog::Schema;
use crate::pg::{clock, wal};
use crate::settings::{self, Common};
use crate::shared::id_type::{SharedWord, Type};
use crate::shared::random::Random;
use crate::shared::{mark_sequence, memory};

row! {
    /// A row of `scru_generators`.
    struct Row {
        system: &'static str,
        scope: &'static str,
        node: Option<String>,
        last_id: Option<String>,
        last_time: Option<TimestampWithTimeZone>,
        ahead: Option<Interval>,
        reserved_until: Option<TimestampWithTimeZone>,
        preloaded: bool,
        node_source: Option<String>,
        mark: Option<TimestampWithTimeZone>,
        mark_ahead: Option<Interval>,
        draw: &'static str,
        wait: Option<Interval>,
        reason: Option<String>,
        last_failure: Option<TimestampWithTimeZone>,
        floor_ahead: Option<Interval>,
    }
}

/// `scru_generators() → setof (type text, scope text, node text, last_id text, last_time timestamptz, ahead interval,
/// reserved_until timestamptz, preloaded boolean, node_source text, mark timestamptz, mark_ahead interval, draw text,
/// wait interval, reason text, last_failure timestamptz, floor_ahead interval)`: one row per type. The state is the one that all
/// backends share; scope and node follow this session's settings.
pub fn all(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let mut rows = Vec::new();
        let floor = attempt(floor::look).unwrap_or_default();
        id_systems!(|Id| rows.push(row::<Id>(call.schema(), floor)?.columns()));
        Ok(rows)
    })
}

fn row<T: Type>(schema: Schema, floor: Option<i64>) -> Result<Row, Error> {
    let is_server_wide = T::SERVER_WIDE || settings::of::<Common>().server_wide;
    let node = settings::check_none_refused::<T>().ok().and_then(|()| T::node_text(&settings::of::<T>()));
    // Without atomic operations for the word, no state is shared.
    let memory = if Word::<T>::is_lock_free() { Some(memory::of_type::<T>()?) } else { None };
    let word = memory.map(|memory| Word::<T>::load(memory.word));
    let state = word.filter(|word| *word != Word::<T>::default()).map(T::State::unpack);
    let reserved = memory.map_or(0, |memory| memory.shared.reserved.load(Ordering::Acquire));
    let reservation = Reserved(reserved).unpack::<T>().filter(|_| T::SERVER_WIDE);
    let failed = memory.map_or(0, |memory| memory.shared.failed.load(Ordering::Relaxed) as i64);
    let refused = |error: Error| Outlook { reason: Some(error.message()), ..Outlook::default() };
    let Outlook { mark, wait, reason } = outlook::<T>(schema, state, Reserved(reserved)).unwrap_or_else(refused);
    let draw = match (&reason, wait) {
        (Some(_), _) => "refuse",
        (None, Some(_)) => "wait",
        (None, None) => "continue",
    };
    let start = |tick| T::TICKS.start(tick);
    let lead = |micros: i64| interval(micros - clock::now());
    let (last, mark) = (state.map(T::state_tick).map(start), mark.map(start));
    Ok(Row {
        system: T::NAME,
        scope: if is_server_wide { "server" } else { "backend" },
        node,
        last_id: state.and_then(T::last_id).map(text),
        last_time: last.and_then(epoch::of_unix_micros),
        ahead: last.and_then(lead),
        reserved_until: reservation.map(|reservation| start(reservation.until)).and_then(epoch::of_unix_micros),
        preloaded: settings::is_preloaded(),
        node_source: settings::deciding::<T>().map(|deciding| deciding.source.to_string()),
        mark: mark.and_then(epoch::of_unix_micros),
        mark_ahead: mark.and_then(lead),
        draw,
        wait: wait.and_then(interval),
        reason,
        last_failure: (failed != 0).then_some(failed).and_then(epoch::of_unix_micros),
        floor_ahead: floor.and_then(lead),
    })
}

/// What the next draw will do; on a standby, after its promotion.
#[derive(Default)]
struct Outlook {
    /// The last tick up to which IDs may have been generated, if a mark says so.
    mark: Option<u64>,
    /// The time that the draw waits, in microseconds.
    wait: Option<i64>,
    /// Why it is refused.
    reason: Option<String>,
}

/// An error is a refusal that depends on no mark.
fn outlook<T: Type>(schema: Schema, state: Option<T::State>, reserved: Reserved) -> Result<Outlook, Error> {
    let Common { server_wide, on_clock_rollback } = settings::of::<Common>();
    settings::check_none_refused::<T>()?;
    if T::SERVER_WIDE {
        node::check_host::<T>()?;
    }
    let settings = settings::of::<T>();
    let mut context = Context { settings, on_clock_rollback, now: clock::now() };
    let memory = memory::of_horizon()?;
    let mut from = memory.map_or(0, |memory| memory.header.floor.load(Ordering::Relaxed));
    // A draw does without the sequence if that is unlogged.
    let carried = attempt(|| Ok(mark_sequence::read_floor(schema, false).unwrap_or_default()))?;
    let carried = carried.filter(|carried| carried.has_arrived);
    let bound = carried.map(|carried| carried.value).filter(|bound| *bound > context.now.max(from));
    let of_bound = bound.map(|bound| T::TICKS.nearest(bound));
    let (state, mark, high_water, arrived) = if T::SERVER_WIDE || server_wide {
        context.on_clock_rollback = OnClockRollback::Error;
        let (marks, run, durable, carried) = server_wide::marks::<T>(schema)?;
        let node = T::node(&settings);
        let arrived = if let Carried::Arrived(arrived) = carried { Some(arrived) } else { None };
        let of_others = mark::high_water(&marks, node, 0).max(arrived.map(|arrived| arrived.tick)).max(of_bound);
        if memory.is_some_and(|memory| !memory.has_begun()) {
            from = from.max(durable);
        }
        let high_water = if reserved.is_of::<T>(node) {
            None
        } else if T::SERVER_WIDE && marks.is_empty() {
            // As the protocol begins without any mark.
            Some(T::state_tick(T::successor_state(context.now)))
        } else {
            mark::high_water(&marks, node, run)
        };
        (state, of_others, high_water, arrived)
    } else {
        from = from.max(bound.unwrap_or(i64::MIN));
        (T::process().generator.get(), of_bound, None, None)
    };
    let arrived = arrived.filter(|arrived| state.is_none_or(|state| T::state_tick(state) <= arrived.tick));
    let bound = bound.filter(|bound| from < *bound).unwrap_or(i64::MIN);
    let delay = |now| {
        let of_arrival = arrived.and_then(|arrived| mark::delay_of_arrival(arrived, now));
        of_arrival.map_or_else(|| horizon::time(from.max(bound), bound, now, context.on_clock_rollback), Err)
    };
    let word = state.map_or_else(Word::<T>::default, State::pack);
    let mut random = Random::get()?;
    let Forecast { wait, refusal } = mark::forecast::<T>(word, high_water, delay, &context, &mut random);
    let reason = refusal.map(|refusal| generate::refused::<T>(refusal, server_wide).message());
    Ok(Outlook { mark, wait: (wait > 0).then_some(wait), reason })
}

fn interval(micros: i64) -> Option<Interval> {
    Interval::new(0, 0, micros).ok()
}

fn text<T: Type>(id: T) -> String {
    let mut buffer = [0; MAX_TEXT_LEN];
    id.encode(&settings::of::<T>(), &mut buffer).to_owned()
}

/// `scru_set_mark(type text, mark timestamptz) → void`: sets the high-water mark of a type for this session's node
///
/// `scru_raise_mark(type text, mark timestamptz) → void`, with `at_least`: only raises the mark
///
/// Raises 22023 for an infinite time or an unknown type, 25006 during recovery.
pub fn change_mark(call: Call, at_least: bool) -> Result<Datum, Error> {
    let (name, mark) = (call.varlena(0), epoch::unix_micros(call.int8(1)));
    let mark =
        mark.ok_or_else(|| sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "the high-water mark must be a finite time"))?;
    if wal::is_in_recovery() {
        let function = if at_least { "scru_raise_mark" } else { "scru_set_mark" };
        return Err(sql_error!(ERRCODE_READ_ONLY_SQL_TRANSACTION, "cannot execute {function}() during recovery")
            .hint("Set the mark on the primary, or after the promotion."));
    }
    id_systems!(|Id| if name == Id::NAME.as_bytes() {
        settings::check_none_refused::<Id>()?;
        server_wide::set_mark::<Id>(call.schema(), mark, at_least)?;
        if at_least {
            carried_floor::raise_above::<Id>(call.schema(), mark)?;
        } else {
            carried_floor::set_back(call.schema(), mark)?;
        }
        return Ok(Datum::null());
    });
    Err(sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, quoting("unknown ID type \"{}\"", &[name])))
}
