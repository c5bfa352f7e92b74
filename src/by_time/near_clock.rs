//! Planner expressions that depend only on the clock and the time zone, such as `now() - interval '1 day'` or `current_date`.

use pgrx::pg_sys::{self as pg, Interval, SQLValueFunction};

use crate::by_time::time_of_id;
use crate::call::epoch::MICROS_PER_DAY;
use crate::call::stored::StoredId;
use crate::pg::plan_nodes::NodeRef;
use crate::pg::{catalog, clock};

const MICROS_PER_YEAR: i128 = 366 * MICROS_PER_DAY;

/// Whether an expression of type timestamptz depends only on the clock and the time zone, and remains before the time of the type's
/// largest ID for a century: a session keeps no plan for as long.
pub fn is_before_largest<T: StoredId>(node: NodeRef) -> bool {
    let latest = |years: i64| i128::from(clock::now()) + i128::from(years + 100) * MICROS_PER_YEAR;
    years_ahead(node).is_some_and(|years| latest(years) < i128::from(T::MAX.timestamp_micros()))
}

/// By how many years the value of an expression is after the clock at most; `None` if it depends on more.
fn years_ahead(node: NodeRef) -> Option<i64> {
    if let Some(value) = node.cast::<SQLValueFunction>() {
        let types = [pg::DATEOID, pg::TIMESTAMPOID, pg::TIMESTAMPTZOID];
        return types.contains(&value.type_).then_some(1);
    }
    let (function, arguments) = catalog::called(node)?;
    match (function.to_u32(), arguments.as_slice()) {
        (pg::F_NOW | pg::F_TRANSACTION_TIMESTAMP | pg::F_STATEMENT_TIMESTAMP, _) => Some(1),
        (pg::F_TIMESTAMPTZ_DATE | pg::F_TIMESTAMPTZ_TIMESTAMP | pg::F_DATE_TIMESTAMPTZ, &[time])
        | (pg::F_DATE_TIMESTAMP | pg::F_TIMESTAMP_DATE | pg::F_TIMESTAMP_TIMESTAMPTZ, &[time])
        | (pg::F_DATE_SMALLER | pg::F_TIMESTAMP_SMALLER, &[time, _])
        | (pg::F_DATE_TRUNC_TEXT_TIMESTAMPTZ | pg::F_DATE_TRUNC_TEXT_TIMESTAMP, &[_, time])
        | (pg::F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, &[_, time, _])
        | (pg::F_TIMEZONE_TEXT_TIMESTAMPTZ, &[_, time]) => years_ahead(time),
        // The limit of `time_condition` is before 2000.
        (pg::F_DATE_LARGER | pg::F_TIMESTAMP_LARGER, &[time, limit]) => {
            limit.constant().filter(|limit| (limit.constvalue.value() as i64) < 0).and_then(|_| years_ahead(time))
        }
        (pg::F_DATE_PLI | pg::F_DATE_MII, &[date, days]) => {
            Some(years_ahead(date)? + i64::from(days.constant()?.constvalue.value() as i32 / 365).abs() + 1)
        }
        (pg::F_TIMESTAMPTZ_PL_INTERVAL | pg::F_TIMESTAMPTZ_MI_INTERVAL, &[time, interval])
        | (pg::F_TIMESTAMP_PL_INTERVAL | pg::F_TIMESTAMP_MI_INTERVAL, &[time, interval])
        | (pg::F_DATE_PL_INTERVAL | pg::F_DATE_MI_INTERVAL, &[time, interval]) => {
            // SAFETY: the second argument of these functions is an interval.
            let interval = unsafe { &*interval.constant()?.constvalue.cast_mut_ptr::<Interval>() };
            let parts = [interval.month / 12, interval.day / 365, (interval.time / MICROS_PER_YEAR as i64) as i32];
            Some(years_ahead(time)? + parts.map(|years| i64::from(years).abs() + 1).iter().sum::<i64>())
        }
        _ => years_ahead(time_of_id::argument_of_before(node)?),
    }
}
