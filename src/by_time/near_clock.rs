//! Planner expressions that depend only on the clock, such as `now() - interval '1 day'` or `current_date`.

use pgrx::pg_sys::{self, Interval, SQLValueFunction, SQLValueFunctionOp as Keyword};

use crate::by_time::{expression, time_of_id};
use crate::call::epoch::{self, MICROS_PER_DAY};
use crate::call::stored::StoredId;
use crate::pg::nodes::NodeRef;
use crate::pg::unguarded::GetCurrentTransactionStartTimestamp;

const DAYS_PER_LONGEST_MONTH: i128 = 31;

/// An upper bound of how long a session keeps a plan, in microseconds: a century.
const CLOCK_RANGE: i128 = 36_525 * MICROS_PER_DAY;

/// Whether an expression of type timestamptz depends only on the clock and remains before the time of the type's largest ID for as long
/// as a session keeps the plan.
pub fn is_before<T: StoredId>(node: NodeRef) -> bool {
    latest(node).is_some_and(|latest| latest + CLOCK_RANGE < i128::from(epoch::of(T::MAX)))
}

/// An upper bound of the current value of an expression of type timestamptz or date, in microseconds since 2000-01-01 UTC; `None` if
/// the expression depends on more than the clock.
fn latest(node: NodeRef) -> Option<i128> {
    if let Some(value) = node.cast::<SQLValueFunction>() {
        let is_clock = matches!(
            value.op,
            Keyword::SVFOP_CURRENT_TIMESTAMP | Keyword::SVFOP_CURRENT_TIMESTAMP_N | Keyword::SVFOP_CURRENT_DATE
        );
        return is_clock.then(latest_now);
    }
    let (function, arguments) = expression::called(node)?;
    latest_of_call(function.to_u32(), arguments.as_slice()).or_else(|| latest(time_of_id::argument_of_before(node)?))
}

/// The same bound for a function call; `None` if the function is not one of those known here.
fn latest_of_call(function: u32, arguments: &[NodeRef]) -> Option<i128> {
    match (function, arguments) {
        (pg_sys::F_NOW | pg_sys::F_TRANSACTION_TIMESTAMP | pg_sys::F_STATEMENT_TIMESTAMP, _) => Some(latest_now()),
        // The limits of `time_condition` are before that of the largest ID, or after it.
        (pg_sys::F_TIMESTAMPTZ_DATE, &[time]) | (pg_sys::F_DATE_LARGER | pg_sys::F_DATE_SMALLER, &[time, _]) => {
            latest(time)
        }
        (pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMPTZ | pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, &[_, time, ..]) => {
            latest(time)
        }
        (pg_sys::F_TIMESTAMPTZ_PL_INTERVAL | pg_sys::F_TIMESTAMPTZ_MI_INTERVAL, &[time, interval]) => {
            let interval = interval.constant()?.constvalue.cast_mut_ptr::<Interval>();
            // SAFETY: the second argument of these functions is an interval.
            Some(latest(time)? + longest(unsafe { &*interval }))
        }
        (pg_sys::F_DATE_PLI | pg_sys::F_DATE_MII, &[date, days]) => {
            let days = days.constant()?.constvalue.value() as i32;
            Some(latest(date)? + i128::from(days).abs() * MICROS_PER_DAY)
        }
        _ => None,
    }
}

/// The start of the transaction plus two days, an upper bound of the current date in any time zone.
fn latest_now() -> i128 {
    i128::from(GetCurrentTransactionStartTimestamp()) + 2 * MICROS_PER_DAY
}

/// An upper bound of the length of an interval in either direction, in microseconds.
fn longest(interval: &Interval) -> i128 {
    let days = i128::from(interval.month).abs() * DAYS_PER_LONGEST_MONTH + i128::from(interval.day).abs();
    days * MICROS_PER_DAY + i128::from(interval.time).abs()
}
