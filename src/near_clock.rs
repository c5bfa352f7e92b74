//! Times that move with the clock alone, such as `now() - interval '1 day'` or `current_date`, as the planner sees them.

use pgrx::pg_sys::{self, Datum, Interval, List, Node, NodeTag, SQLValueFunction, SQLValueFunctionOp as Keyword};

use crate::datum::StoredId;
use crate::epoch;
use crate::planner::{self, nth};

const MICROS_PER_DAY: i128 = 86_400_000_000;
const DAYS_PER_LONGEST_MONTH: i128 = 31;

/// A plan is not kept for as long: a century.
const CLOCK_RANGE: i128 = 36_525 * MICROS_PER_DAY;

// The server's function as it is: it reads a variable, and pgrx's guard would cost more than that.
unsafe extern "C-unwind" {
    fn GetCurrentTransactionStartTimestamp() -> i64;
}

/// Whether an expression is a time that moves with the clock alone, and stays before the type's last time as long as a plan is
/// kept.
///
/// # Safety
/// `node` is an expression of type timestamptz, in a transaction.
pub unsafe fn is_before<T: StoredId>(node: *mut Node) -> bool {
    // SAFETY: as promised.
    let latest = unsafe { latest(node) };
    latest.is_some_and(|latest| latest + CLOCK_RANGE < i128::from(epoch::of(T::MAX)))
}

/// A time that an expression of type timestamptz or date is not after while the clock reads what it does now; `None` if it
/// depends on more than the clock.
unsafe fn latest(node: *mut Node) -> Option<i128> {
    // SAFETY: the tag tells the struct.
    unsafe {
        if (*node).type_ == NodeTag::T_SQLValueFunction {
            return is_clock((*node.cast::<SQLValueFunction>()).op).then(now);
        }
        let (function, arguments) = planner::called(node)?;
        latest_of_call(function.to_u32(), arguments)
    }
}

/// The same for a call of one of the server's functions.
unsafe fn latest_of_call(function: u32, arguments: *mut List) -> Option<i128> {
    // SAFETY: the server's functions have these arguments.
    unsafe {
        let argument = |index| nth(arguments, index);
        match function {
            pg_sys::F_NOW | pg_sys::F_TRANSACTION_TIMESTAMP | pg_sys::F_STATEMENT_TIMESTAMP => Some(now()),
            pg_sys::F_TIMESTAMPTZ_DATE => latest(argument(0)),
            pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMPTZ | pg_sys::F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT => latest(argument(1)),
            pg_sys::F_TIMESTAMPTZ_PL_INTERVAL | pg_sys::F_TIMESTAMPTZ_MI_INTERVAL => {
                let interval = constant(argument(1))?.cast_mut_ptr::<Interval>();
                Some(latest(argument(0))? + longest(&*interval))
            }
            pg_sys::F_DATE_PLI | pg_sys::F_DATE_MII => {
                let days = constant(argument(1))?.value() as i32;
                Some(latest(argument(0))? + i128::from(days).abs() * MICROS_PER_DAY)
            }
            _ => None,
        }
    }
}

/// Whether an SQL keyword stands for the clock, as a timestamptz or a date.
const fn is_clock(keyword: Keyword::Type) -> bool {
    matches!(
        keyword,
        Keyword::SVFOP_CURRENT_TIMESTAMP | Keyword::SVFOP_CURRENT_TIMESTAMP_N | Keyword::SVFOP_CURRENT_DATE
    )
}

/// The start of the transaction, rounded up by more than a date in any time zone is ahead of it.
fn now() -> i128 {
    // SAFETY: reads a variable of the server's.
    i128::from(unsafe { GetCurrentTransactionStartTimestamp() }) + 2 * MICROS_PER_DAY
}

/// A length that an interval is not longer than, forward or backward.
fn longest(interval: &Interval) -> i128 {
    let days = i128::from(interval.month).abs() * DAYS_PER_LONGEST_MONTH + i128::from(interval.day).abs();
    days * MICROS_PER_DAY + i128::from(interval.time).abs()
}

/// The value of a constant that is not NULL.
unsafe fn constant(node: *mut Node) -> Option<Datum> {
    // SAFETY: the tag tells the struct.
    unsafe {
        if (*node).type_ != NodeTag::T_Const || (*node.cast::<pg_sys::Const>()).constisnull {
            return None;
        }
        Some((*node.cast::<pg_sys::Const>()).constvalue)
    }
}
