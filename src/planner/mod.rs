//! What the planner asks: conditions on time as conditions on IDs, for indexes and partitions, and estimates of rows.
//!
//! Uses [`crate::functions`], for the comparison that a condition stands for, and the folders below it.

pub mod condition;
pub mod expression;
pub mod hook;
pub mod near_clock;
pub mod pruning;
pub mod selectivity;
pub mod tick_statistics;

use core::ptr;

use pgrx::pg_guard;
use pgrx::pg_sys::{Datum, Index, Node, NodeTag, PlannerInfo, RangeTblEntry, RelOptInfo};

use crate::call::Call;
use crate::call::error::Error;
use crate::pg::datum::StoredId;

/// Installs the hook of the planner.
///
/// # Safety
/// Must be called once, when the library is loaded.
pub unsafe fn register() {
    // SAFETY: guaranteed by the caller.
    unsafe { hook::install(on_paths) };
}

/// Is called for each table of a query, when its paths are known.
#[pg_guard]
unsafe extern "C-unwind" fn on_paths(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: Index,
    table: *mut RangeTblEntry,
) {
    // SAFETY: guaranteed by the server.
    unsafe {
        hook::call_previous(root, relation, number, table);
        pruning::add_comparisons(root, relation, table);
    }
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
