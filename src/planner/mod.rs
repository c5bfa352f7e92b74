//! What the planner asks: conditions on time as conditions on IDs, for indexes and partitions, and estimates of rows.
//!
//! Uses [`crate::functions`], for the comparison that a condition stands for, and the folders below it.

pub mod condition;
pub mod expression;
pub mod near_clock;
pub mod pruning;
pub mod selectivity;
pub mod tick_statistics;

use core::ptr;

use pgrx::pg_sys::{Datum, Node, NodeTag};

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::StoredId;
use crate::pg::paths;

/// Registers the planner's hook, by which the executor skips partitions.
pub fn register() {
    paths::on_paths(pruning::add_comparisons);
}

/// `T_time_support(internal) → internal`: the support function of `T_lt_timestamptz`, `timestamptz_lt_T`, the functions of the
/// other operators, and `T_time_possible`; and `T_range_support(internal) → internal`: that of `T_contained_by_range` and
/// `T_range_contains`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: the server passes a support request, whose tag identifies the struct.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => condition::simplify::<T>(&*request.cast()).cast(),
            NodeTag::T_SupportRequestIndexCondition => condition::index::<T>(&mut *request.cast()).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::of_function::<T>(request.cast()).cast(),
            _ => ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}
