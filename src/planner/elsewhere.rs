//! Refuses a horizon for the rows of other servers: a comparison with a column of a foreign table, or of a table that Citus
//! distributes. Joins of such tables with a table that is compared with a horizon remain.

use core::ffi::CStr;
use core::ptr;

use pgrx::PgSqlErrorCode as SqlState;
use pgrx::pg_sys::{self, Node, NodeTag, Oid, PlannerInfo, RangeTblEntry, RelOptInfo};
use scru_ids::id_systems;

use crate::call::error::{Error, report};
use crate::pg::catalog;
use crate::planner::expression::{self, cast, elements};

/// Raises 0A000 if a condition of a table compares one of its columns with a horizon of this server, and its rows are elsewhere.
/// Partitions and other children are not checked: those with old rows may be elsewhere.
///
/// # Safety
/// Must be called by the planner's hook for paths.
pub unsafe fn on_paths(root: *mut PlannerInfo, relation: *mut RelOptInfo, entry: *mut RangeTblEntry) {
    // SAFETY: guaranteed by the caller. No frame has anything to drop.
    unsafe {
        let is_table = (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION;
        if !is_table || (*relation).reloptkind != pg_sys::RelOptKind::RELOPT_BASEREL {
            return;
        }
        pg_sys::panic::pgrx_extern_c_guard(|| {
            let conditions = elements::<pg_sys::RestrictInfo>((*relation).baserestrictinfo);
            let name =
                conditions.iter().find_map(|&condition| horizon_compared_with_column(root, (*condition).clause.cast()));
            let is_foreign = (*entry).relkind as u8 == pg_sys::RELKIND_FOREIGN_TABLE;
            let is_distributed = || catalog::has_citus() && catalog::is_distributed_by_citus((*entry).relid);
            if let Some(name) = name
                && (is_foreign || is_distributed())
            {
                report(refusal(name, (*entry).relid, is_foreign), ptr::null_mut());
            }
        });
    }
}

#[cold]
unsafe fn refusal(name: &str, table: Oid, is_foreign: bool) -> Error {
    // SAFETY: the table exists. The function copies its name.
    let table = unsafe { CStr::from_ptr(pg_sys::get_rel_name(table)) }.to_bytes();
    let kind = if is_foreign { b"foreign".as_slice() } else { b"distributed" };
    let message =
        [b"cannot apply ".as_slice(), name.as_bytes(), b"_horizon() to ", kind, b" table \"", table, b"\""].concat();
    Error::new(SqlState::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .detail("A server does not know which transactions run on the servers with the rows.")
        .hint(if is_foreign {
            "Create a view with the condition on the foreign server, and a foreign table on that view."
        } else {
            "Compute the minimum of the horizons of all nodes first, and pass it as a parameter."
        })
}

/// Returns the system of a horizon with which a condition compares a column.
unsafe fn horizon_compared_with_column(root: *mut PlannerInfo, node: *mut Node) -> Option<&'static str> {
    // SAFETY: expressions of the planner.
    unsafe {
        let comparison = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr)?;
        let operands = elements::<Node>(comparison.args);
        operands.iter().any(|&operand| expression::column(operand).is_some()).then_some(())?;
        operands.iter().find_map(|&operand| horizon(root, operand))
    }
}

/// Returns the system of a horizon in an expression, or in the subquery that it stands for.
unsafe fn horizon(root: *mut PlannerInfo, node: *mut Node) -> Option<&'static str> {
    // SAFETY: expressions and plans of the planner.
    unsafe {
        let node = expression::without_relabel(node);
        if let Some(parameter) = cast::<pg_sys::Param>(node, NodeTag::T_Param) {
            let subqueries = elements::<pg_sys::SubPlan>((*root).init_plans);
            let &subquery =
                subqueries.iter().find(|&&each| pg_sys::list_member_int((*each).setParam, parameter.paramid))?;
            let plans = elements::<pg_sys::Plan>((*(*root).glob).subplans);
            let entries = elements::<pg_sys::TargetEntry>((*plans[(*subquery).plan_id as usize - 1]).targetlist);
            return entries.iter().find_map(|&entry| horizon(root, (*entry).expr.cast()));
        }
        let (function, arguments) = expression::called(node)?;
        let named = expression::name_and_schema(function, system_of_horizon)?.0;
        named
            .filter(|_| catalog::is_of_extension(function))
            .or_else(|| elements::<Node>(arguments).iter().find_map(|&argument| horizon(root, argument)))
    }
}

fn system_of_horizon(function: &[u8]) -> Option<&'static str> {
    macro_rules! find {
        ($name:ident, $id:ident) => {
            if function.strip_suffix(b"_horizon") == Some(stringify!($name).as_bytes()) {
                return Some(stringify!($name));
            }
        };
    }
    id_systems!(find);
    None
}
