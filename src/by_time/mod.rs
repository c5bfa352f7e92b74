//! Conditions on the time of an ID: their functions, and the planner's support functions and hooks, which provide conditions on IDs
//! for indexes and partitions, the order by time, and estimates of rows.

pub mod condition;
mod expression;
mod near_clock;
mod pruning;
pub mod range;
mod restriction;
pub mod selectivity;
pub mod time_compare;
mod time_condition;
pub mod time_of_id;
mod time_order;
pub mod time_statistics;

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{self, Datum, Index, Node, NodeTag, PlannerInfo, RangeTblEntry, RelOptInfo, SysCacheIdentifier};

use crate::by_time::time_condition::Table;
use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::StoredId;
use crate::feed::elsewhere;
use crate::pg::plan_nodes::Root;
use crate::pg::server;

/// Registers the planner's hooks: by them, indexes on IDs serve conditions on `T_timestamp(id)` and the order by it, the executor
/// skips partitions by conditions on time, and horizons are refused for rows of other servers.
pub fn register() {
    use SysCacheIdentifier::{AMOPSTRATEGY, OPEROID, PROCOID};
    for cache in [PROCOID, OPEROID, AMOPSTRATEGY] {
        // SAFETY: called from _PG_init. The callback only writes variables.
        unsafe { pg_sys::CacheRegisterSyscacheCallback(cache as _, Some(forget), Datum::null()) };
    }
    time_statistics::register();
    server::on_table(on_table);
    // SAFETY: as above. Only this thread reads or writes the hook.
    let next = unsafe { (&raw mut pg_sys::set_rel_pathlist_hook).replace(Some(on_paths)) };
    expression::PATH_HOOKS.set([Some(on_paths), next]);
}

/// Removes what this session knows of functions, operators and operator families, when any of them changes.
unsafe extern "C-unwind" fn forget(_argument: Datum, _cache: c_int, _hash: u32) {
    time_of_id::KNOWN.forget();
    condition::RECOGNIZED.forget();
    expression::NATIVE.forget();
}

unsafe fn on_table(root: *mut PlannerInfo, relation: *mut RelOptInfo) {
    // SAFETY: called by the planner's hook for tables. No frame has anything to drop.
    unsafe {
        let is_called = time_of_id::is_called_in(root);
        if (is_called || time_condition::has_predicate(&*relation)) && time_of_id::is_in_use() {
            pg_sys::panic::pgrx_extern_c_guard(|| {
                let Some(table) = Root::new(root).map(|root| Table::of(root, &*relation)) else { return };
                table.rewrite();
                if is_called {
                    time_order::order_by_id(&table);
                    time_statistics::add_index(root, relation);
                }
            });
        }
    }
}

/// The hook for paths, which the planner calls when it has added its own. The hook that was there before comes last: other extensions may
/// replace paths, for example those of a partly compressed chunk.
unsafe extern "C-unwind" fn on_paths(
    root: *mut PlannerInfo,
    relation: *mut RelOptInfo,
    number: Index,
    entry: *mut RangeTblEntry,
) {
    // SAFETY: the arguments are the planner's. No frame has anything to drop.
    unsafe {
        pg_sys::panic::pgrx_extern_c_guard(|| {
            if time_of_id::is_called_in(root) && time_of_id::is_in_use() {
                time_order::add_paths(root, relation, entry);
            }
            if (*entry).inh {
                pruning::use_comparisons(root, relation, entry);
            }
            elsewhere::refuse_horizon(root, relation, entry);
        });
        if let [_, Some(next)] = expression::PATH_HOOKS.get() {
            next(root, relation, number, entry);
        }
    }
}

/// `T_time_support(internal) → internal`: the support function of `T_lt_timestamptz`, `timestamptz_lt_T`, the functions of the
/// other operators, `T_contained_by_range` and `T_range_contains`
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
