//! Refuses a horizon for the rows of other servers: a comparison with a column of a foreign table, or of a table that Citus
//! distributes. Joins of such tables with a table that is compared with a horizon remain.

use core::ffi::CStr;
use core::ptr;

use pgrx::pg_sys::{self, Oid, OpExpr, Param, Plan, PlannerInfo, RangeTblEntry, RelOptInfo, SubPlan, TargetEntry};
use scru_ids::{SortableId, id_systems};

use crate::call::error::{Error, quoting, report, sql_error};
use crate::pg::catalog;
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};

/// Raises 0A000 if a condition of a table compares one of its columns with a horizon of this server, and its rows are elsewhere.
/// Partitions and other children are not checked: those with old rows may be elsewhere.
///
/// # Safety
/// Must be called by the planner's hook for paths.
pub unsafe fn refuse_horizon(root: *mut PlannerInfo, relation: *mut RelOptInfo, entry: *mut RangeTblEntry) {
    // SAFETY: guaranteed by the caller. No frame has anything to drop.
    unsafe {
        let is_table = (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION;
        let is_foreign = (*entry).relkind as u8 == pg_sys::RELKIND_FOREIGN_TABLE;
        let may_be_elsewhere = is_table && (is_foreign || catalog::has_citus());
        if !may_be_elsewhere || (*relation).reloptkind != pg_sys::RelOptKind::RELOPT_BASEREL {
            return;
        }
        let Some(root) = Root::new(root) else { return };
        let mut clauses = Nodes::new((*relation).baserestrictinfo).iter().filter_map(NodeRef::clause);
        let name = clauses.find_map(|clause| horizon_compared_with_column(root, clause));
        if let Some(name) = name
            && (is_foreign || catalog::is_distributed_by_citus((*entry).relid))
        {
            report(refusal(name, (*entry).relid, is_foreign), ptr::null_mut());
        }
    }
}

#[cold]
unsafe fn refusal(name: &str, table: Oid, is_foreign: bool) -> Error {
    // SAFETY: the table and its schema exist. The functions copy their names.
    let (schema, table) = unsafe {
        let schema = pg_sys::get_namespace_name(pg_sys::get_rel_namespace(table));
        (CStr::from_ptr(schema), CStr::from_ptr(pg_sys::get_rel_name(table)))
    };
    let kind = if is_foreign { b"foreign".as_slice() } else { b"distributed" };
    let values = [name.as_bytes(), kind, table.to_bytes()];
    sql_error!(ERRCODE_FEATURE_NOT_SUPPORTED, quoting("cannot apply {}_horizon() to {} table \"{}\"", &values))
        .detail("A server does not know which transactions run on the servers with the rows.")
        .hint(if is_foreign {
            "Create a view with the condition on the foreign server, and a foreign table on that view."
        } else {
            "Compute the minimum of the horizons of all nodes first, and pass it as a parameter."
        })
        .of([Some(schema), Some(table), None, None])
}

/// The system of a horizon with which an operator compares a column.
fn horizon_compared_with_column(root: Root, operator: NodeRef) -> Option<&'static str> {
    let operands = operator.cast::<OpExpr>().map(|_| operator.arguments())?;
    operands.iter().any(|operand| operand.column().is_some()).then_some(())?;
    operands.iter().find_map(|operand| horizon(root, operand))
}

/// The system of a horizon in an expression, or in the subquery that it stands for.
fn horizon(root: Root, node: NodeRef) -> Option<&'static str> {
    let node = node.without_relabel();
    if let Some(parameter) = node.cast::<Param>() {
        let is_of_subquery = parameter.paramkind == pg_sys::ParamKind::PARAM_EXEC;
        return if is_of_subquery { horizon_of_subquery(root, parameter) } else { None };
    }
    let (function, arguments) = catalog::called(node)?;
    let system = catalog::symbol(function, system_of_horizon);
    system.or_else(|| arguments.iter().find_map(|argument| horizon(root, argument)))
}

fn horizon_of_subquery(root: Root, parameter: &Param) -> Option<&'static str> {
    // SAFETY: lists of the planner. The number of a subquery refers to its plan.
    unsafe {
        let mut subqueries = Nodes::new(root.init_plans).structs::<SubPlan>();
        let subquery = subqueries.find(|each| pg_sys::list_member_int(each.setParam, parameter.paramid))?;
        let plans = (*(*root.glob).subplans).elements;
        let plan = (*plans.add(subquery.plan_id as usize - 1)).ptr_value.cast::<Plan>().as_ref()?;
        let mut entries = Nodes::new(plan.targetlist).structs::<TargetEntry>();
        entries.find_map(|entry| horizon(root, NodeRef::new(entry.expr)?))
    }
}

fn system_of_horizon(symbol: &str) -> Option<&'static str> {
    id_systems!(|Id| if let Some("_horizon" | "_horizon_after") = symbol.strip_prefix(Id::NAME) {
        return Some(Id::NAME);
    });
    None
}
