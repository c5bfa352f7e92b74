//! Functions for administrators: the state of the generators, and the correction of a wrong high-water mark.

use core::sync::atomic::Ordering;

use pgrx::JsonB;
use pgrx::datum::{Interval, TimestampWithTimeZone};
use pgrx::pg_sys::Datum;
use scru_ids::{Context, GeneratedId, id_systems};
use scru_server::mark::{self, Mark};
use scru_server::protocol::{self, Marks};
use serde_json::json;

use crate::call::error::{Error, attempt, sql_error};
use crate::call::{Call, epoch};
use crate::draw::{generate, node};
use crate::pg::{clock, wal};
use crate::settings::FromSettings;
use crate::shared::id_type::{DrawSettings, Type};
use crate::shared::mark_page::{self, MarkPage};
use crate::shared::marks::SharedMarks;
use crate::shared::random::Random;
use crate::shared::state::SharedWord;
use crate::shared::{mark_sequence, memory};

/// The columns of a row of `scru_generators`, as [`all`] lists them.
type Row = (
    &'static str,
    &'static str,
    Option<String>,
    Option<TimestampWithTimeZone>,
    Option<TimestampWithTimeZone>,
    &'static str,
    Option<Interval>,
    Option<String>,
    JsonB,
);

/// `scru_generators() → setof (type text, scope text, node text, last_time timestamptz, mark timestamptz, draw text, wait interval,
/// reason text, details jsonb)`: one row per type. The last ID is that of the state that all backends share; scope and node follow this
/// session's settings. The mark is that of draws for shared state, otherwise that of horizons.
pub fn all(call: Call) -> Result<Datum, Error> {
    call.rows(|| {
        let seen = Mark::ALL.map(|of| attempt(|| Seen::of(of)));
        let mut rows = Vec::new();
        id_systems!(|Id| rows.push(row::<Id>(&seen)?));
        Ok(rows)
    })
}

fn row<T: Type>(seen: &[Result<Seen, Error>; 2]) -> Result<Row, Error> {
    let DrawSettings { context, is_shared, .. } = generate::draw_settings::<T>();
    let node = T::Settings::from_settings().ok().and_then(|settings| T::node_text(&settings));
    // Without atomic operations for the word, no state is shared.
    let is_lock_free = T::State::is_lock_free();
    let word = if is_lock_free { T::State::load(&memory::of_type::<T>()?.word.0) } else { T::State::default() };
    let state = (word != T::State::default()).then_some(word);
    let (wait, reason) = forecast::<T>(word, context, is_shared, seen).unwrap_or_else(|error| (0, Some(error)));
    let draw = match (&reason, wait) {
        (Some(_), _) => "refuse",
        (None, 0) => "continue",
        (None, _) => "wait",
    };
    let mark = seen[usize::from(!is_shared)].as_ref().map_or(0, |seen| seen.durable.max(seen.arrived));
    let time = |micros: i64| (micros != 0).then_some(micros).and_then(epoch::of_unix_micros);
    let last = state.map(|state| T::TICKS.start(T::state_tick(state)));
    let scope = if is_shared { "server" } else { "session" };
    let wait = (wait > 0).then_some(wait).and_then(|wait| Interval::new(0, 0, wait).ok());
    let details = JsonB(json!({
        "last_id": state.and_then(T::last_id).map(|id| id.to_string()),
        "node_source": T::Settings::node().map(|node| node.source.to_string()),
        "last_failure": time(memory::of_marks()?.failed.load(Ordering::Relaxed)),
    }));
    let (last, reason) = (last.and_then(epoch::of_unix_micros), reason.map(|error| error.message()));
    Ok((T::NAME, scope, node, last, time(mark), draw, wait, reason, details))
}

/// A mark as the next draw finds it, also before the first draw since the start, and on a standby.
struct Seen {
    /// The time at or above which all IDs are.
    start: i64,
    /// The mark of the page.
    durable: i64,
    /// The time that has arrived with the database; 0 if there is none.
    arrived: i64,
}

impl Seen {
    fn of(of: Mark) -> Result<Self, Error> {
        let page = if mark_page::exists()? { MarkPage::lock(mark_page::pin()?, true) } else { None };
        let durable = page.map_or(Ok(0), |page| page.time(of))?;
        let mut marks = SharedMarks::new()?;
        let start = if marks.era()? == 0 { durable } else { marks.start(of)? };
        Ok(Self { start, durable, arrived: mark_sequence::read(of)?.0.arrived() })
    }
}

/// What the next draw will do; on a standby, after its promotion: the time that it waits, and the error that it raises.
fn forecast<T: Type>(
    word: T::State,
    context: Context<T::Settings>,
    is_shared: bool,
    seen: &[Result<Seen, Error>; 2],
) -> Result<(i64, Option<Error>), Error> {
    T::Settings::from_settings()?;
    if T::SERVER_WIDE {
        node::check_host::<T>()?;
    }
    let mut random = Random::get(clock::now())?;
    let context = |now| Context { now, ..context };
    let [draws, horizons] = seen;
    // Draws continue without a mark of the horizons.
    let (from, arrived) = horizons.as_ref().map_or((0, 0), |horizons| (horizons.start, horizons.arrived));
    let (wait, refusal) = if is_shared {
        let draws = draws.as_ref().map_err(Error::clone)?;
        let (start, arrived) = (draws.start.max(from), draws.arrived.max(arrived));
        let is_first = mark::begins_without_mark::<T>(word, draws.start);
        let word = if is_first { T::successor_state(clock::now(), &mut random) } else { word };
        mark::forecast::<T>(clock::now(), |now| mark::step(word, start, arrived, &context(now), &mut random))
    } else {
        let state = T::process().generator.get().unwrap_or_default();
        let from = from.max(arrived);
        mark::forecast::<T>(clock::now(), |now| mark::private_step(state, from, &context(now), &mut random))
    };
    Ok((wait, refusal.map(|refusal| generate::refused::<T>(refusal, is_shared))))
}

/// `scru_set_mark(mark timestamptz) → void`: sets the marks back to a time if they are above it
///
/// `scru_raise_mark(mark timestamptz) → void`, with `raises`: raises the marks to a time if they are below it
///
/// Raises 22023 for an infinite time, 25006 during recovery, XX001 if the page of the marks is damaged.
pub fn change_marks(call: Call, raises: bool) -> Result<Datum, Error> {
    let time = epoch::unix_micros(call.int8(0))
        .ok_or_else(|| sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "the high-water mark must be a finite time"))?;
    if wal::is_in_recovery() {
        let function = if raises { "scru_raise_mark" } else { "scru_set_mark" };
        return Err(sql_error!(ERRCODE_READ_ONLY_SQL_TRANSACTION, "cannot execute {function}() during recovery")
            .hint("Set the mark on the primary, or after the promotion."));
    }
    // Under the lock of the page, no memory is allocated.
    id_systems!(|Id| if <Id as GeneratedId>::State::is_lock_free() {
        memory::of_type::<Id>()?;
    });
    let change = if raises { protocol::raise_marks } else { protocol::set_marks };
    change(&mut SharedMarks::new()?, time.clamp(0, mark_page::LAST))?;
    Ok(Datum::null())
}
