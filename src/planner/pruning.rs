//! Conditions by which the executor skips partitions.
//!
//! The planner skips partitions by constants. If the value of a condition is known only during the execution, such as that of a
//! parameter, the server derives steps from the conditions of the partitioned table, which skip partitions at the start of the
//! execution or for each row of another table. It understands only operators of the partition key's operator class. The native
//! comparisons are therefore added to the conditions of the partitioned table, which has no rows of its own. The scans of the
//! partitions have copies of the original conditions, and evaluate one operator for each row.

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, List, Node, NodeTag, Oid, ParamPathInfo, PlannerInfo, RangeTblEntry, RelOptInfo,
    RestrictInfo,
};

use crate::planner::condition::Condition;
use crate::planner::expression::{self, cast, elements};

// Declared here to avoid pgrx's guards, as in `expression`.
unsafe extern "C-unwind" {
    fn get_func_support(function: Oid) -> Oid;
    fn makeBoolExpr(operator: BoolExprType::Type, arguments: *mut List, location: i32) -> *mut pg_sys::Expr;
}

/// Adds native comparisons to the conditions of a partitioned table or of a UNION ALL, and to those of its parameterized paths.
/// The copies that the conditions of the partitions are remain as they are.
///
/// # Safety
/// Must be called for a table of the query when its paths are known, and before one of them becomes a plan.
pub unsafe fn add_comparisons(root: *mut PlannerInfo, relation: *mut RelOptInfo, table: *mut RangeTblEntry) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let is_partitioned = (*table).relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE;
        let is_union = (*table).rtekind == pg_sys::RTEKind::RTE_SUBQUERY;
        if !(*table).inh || !(is_partitioned || is_union) {
            return;
        }
        let relation = &mut *relation;
        pg_sys::panic::pgrx_extern_c_guard(|| {
            relation.baserestrictinfo = with_comparisons(root, relation.baserestrictinfo);
            for &parameters in elements::<ParamPathInfo>(relation.ppilist) {
                (*parameters).ppi_clauses = with_comparisons(root, (*parameters).ppi_clauses);
            }
        });
    }
}

/// Returns conditions, to each of which its comparisons are added. They stay as many, because the planner counts those of a
/// parameterized path.
unsafe fn with_comparisons(root: *mut PlannerInfo, conditions: *mut List) -> *mut List {
    // SAFETY: structs of the planner. A copy of a condition is complete except for its derived properties, which are only read of
    // conditions that are evaluated.
    unsafe {
        let with_comparisons = |&condition: &*mut RestrictInfo| {
            let Some(clause) = extended(root, (*condition).clause.cast()) else { return condition };
            let copy = pg_sys::palloc(size_of::<RestrictInfo>()).cast::<RestrictInfo>();
            copy.copy_from_nonoverlapping(condition, 1);
            ((*copy).clause, (*copy).orclause) = (clause.cast(), core::ptr::null_mut());
            copy
        };
        expression::list(elements(conditions).iter().map(with_comparisons))
    }
}

/// Returns an expression in which comparisons are added to each condition on time in its ANDs and ORs; `None` if it has none.
/// It is true for the same rows. Where the expression is false, it may be NULL instead.
unsafe fn extended(root: *mut PlannerInfo, node: *mut Node) -> Option<*mut Node> {
    // SAFETY: expressions of the planner.
    unsafe {
        if let Some(junction) = cast::<BoolExpr>(node, NodeTag::T_BoolExpr) {
            if junction.boolop == BoolExprType::NOT_EXPR {
                return None;
            }
            expression::check_stack_depth();
            let mut is_extended = false;
            let arguments = expression::list(elements(junction.args).iter().map(|&argument| {
                let extended = extended(root, argument);
                is_extended |= extended.is_some();
                extended.unwrap_or(argument)
            }));
            return is_extended.then(|| makeBoolExpr(junction.boolop, arguments, -1).cast());
        }
        let (function, arguments) = expression::called(node)?;
        let comparisons = comparisons(root, function, arguments)?;
        let conjunction = elements::<Node>(comparisons).iter().copied().chain([node]);
        Some(makeBoolExpr(BoolExprType::AND_EXPR, expression::list(conjunction), -1).cast())
    }
}

/// Returns the native comparisons that follow from a call of a function of any ID system; `None` if it is none of ours, or if they
/// cannot be computed before the scan.
unsafe fn comparisons(root: *mut PlannerInfo, function: Oid, arguments: *mut List) -> Option<*mut List> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if get_func_support(function) == Oid::INVALID {
            return None;
        }
        macro_rules! of_system {
            ($name:ident, $id:ident) => {
                if let Some(condition) = Condition::of::<scru_ids::$id>(function, arguments) {
                    return condition.is_computable().then(|| condition.comparisons::<scru_ids::$id>(root))?;
                }
            };
        }
        scru_ids::id_systems!(of_system);
        None
    }
}
