//! Conditions by which the executor skips partitions.
//!
//! The planner skips partitions by constants. If the value of a condition is known only during the execution, such as that of a
//! parameter, the server derives steps from the conditions of the partitioned table, which skip partitions at the start of the
//! execution or for each row of another table. So do extensions such as TimescaleDB from those of other parents. They understand only
//! operators of the column's default operator class. The native comparisons therefore replace the conditions of the parent, which has
//! no rows of its own. The scans of the children have copies of the original conditions, and evaluate one operator for each row.

use core::ptr;

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, Oid, ParamPathInfo, PlannerInfo, RangeTblEntry, RelOptInfo, RestrictInfo,
};

use crate::by_time::condition::Condition;
use crate::by_time::expression::{self, list};
use crate::pg::catalog;
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{check_stack_depth, get_func_support, make_ands_explicit, makeBoolExpr, palloc};

/// Replaces the conditions of a partitioned table, of a UNION ALL, or of another parent if an extension may skip its children, and those
/// of its parameterized paths, by native comparisons. The copies that the conditions of the children are remain as they are.
///
/// # Safety
/// Must be called for a table of the query with children when its paths are known, and before one of them becomes a plan.
pub unsafe fn use_comparisons(root: *mut PlannerInfo, relation: *mut RelOptInfo, table: *mut RangeTblEntry) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let is_partitioned = (*table).relkind as u8 == pg_sys::RELKIND_PARTITIONED_TABLE;
        let is_union = (*table).rtekind == pg_sys::RTEKind::RTE_SUBQUERY;
        if !(is_partitioned || is_union || expression::has_other_hook()) {
            return;
        }
        let (root, relation) = (Root::new(root), &mut *relation);
        let conditions = Nodes::new(relation.baserestrictinfo);
        for parameters in Nodes::new(relation.ppilist).iter() {
            let parameters = parameters.as_ptr::<ParamPathInfo>();
            let own = Nodes::new((*parameters).ppi_clauses);
            (*parameters).ppi_clauses = with_comparisons(root, own, conditions).as_ptr();
        }
        relation.baserestrictinfo = with_comparisons(root, conditions, Nodes::EMPTY).as_ptr();
    }
}

/// The conditions of a parent with native comparisons. They stay as many, because the planner counts those of a parameterized path.
///
/// The server uses a comparison of a column of the partition key only with comparisons of the columns before it, which it finds
/// only in the same AND. One condition therefore becomes an AND of all conditions, and of the others that hold as well.
fn with_comparisons<'p>(root: Option<Root<'p>>, conditions: Nodes<'p>, others: Nodes<'p>) -> Nodes<'p> {
    let is_or = |condition: &RestrictInfo| !condition.orclause.is_null();
    let conjunct = |node: NodeRef<'p>| {
        node.cast::<RestrictInfo>().filter(|condition| !is_or(condition) && !condition.pseudoconstant)?;
        Some((node, node.clause()?))
    };
    let mut first = None;
    let all = list(conditions.iter().chain(others.iter()).filter_map(conjunct).flat_map(|(node, clause)| {
        let native = native(root, clause);
        first = first.or(native.map(|_| node));
        native.unwrap_or_else(|| list([clause])).iter()
    }));
    list(conditions.iter().map(|node| {
        let condition = node.cast::<RestrictInfo>();
        let conjuncts = match condition.is_some_and(is_or) {
            true => node.clause().and_then(|clause| native(root, clause)),
            false => (first == Some(node)).then_some(all),
        };
        let copy = condition.zip(conjuncts).and_then(|(condition, conjuncts)| {
            let clause = make_ands_explicit(conjuncts).as_ptr();
            // SAFETY: the memory of the planner. A copy of a condition is complete except for its other derived properties, which are
            // only read of conditions that are evaluated.
            unsafe {
                let copy = palloc(size_of::<RestrictInfo>()).cast::<RestrictInfo>();
                let (orclause, none) = (ptr::null_mut(), Oid::INVALID);
                // Memoize takes a side as its key by the tables of the old clause, whose sides may be the other way round.
                let keys = RestrictInfo { left_hasheqoperator: none, right_hasheqoperator: none, ..*condition };
                copy.write(RestrictInfo { clause, orclause, ..keys });
                NodeRef::new(copy)
            }
        });
        copy.unwrap_or(node)
    }))
}

/// The conjuncts of an expression with native comparisons in place of the conditions on time in its ANDs and ORs; `None` if it has none.
/// They are true for the same rows. Where the expression is false, they may be NULL instead.
fn native<'p>(root: Option<Root<'p>>, node: NodeRef<'p>) -> Option<Nodes<'p>> {
    let Some(junction) = node.cast::<BoolExpr>() else {
        let (function, arguments) = catalog::called(node)?;
        if get_func_support(function) != Oid::INVALID {
            scru_ids::id_systems!(|Id| if let Some(condition) = Condition::of::<Id>(function, arguments) {
                // Others cannot be computed before the scan.
                return (!expression::is_costly(condition.operand)).then(|| condition.comparisons::<Id>(root))?;
            });
        }
        return None;
    };
    if junction.boolop == BoolExprType::NOT_EXPR {
        return None;
    }
    check_stack_depth();
    let is_and = junction.boolop == BoolExprType::AND_EXPR;
    let mut is_native = false;
    let arguments = list(node.arguments().iter().flat_map(|argument| {
        let conjuncts = native(root, argument);
        is_native |= conjuncts.is_some();
        let conjuncts = conjuncts.unwrap_or_else(|| list([argument]));
        if is_and { conjuncts } else { list([make_ands_explicit(conjuncts)]) }.iter()
    }));
    is_native.then(|| match is_and {
        true => arguments,
        false => list([makeBoolExpr(BoolExprType::OR_EXPR, arguments, -1)]),
    })
}
