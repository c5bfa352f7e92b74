//! Conditions by which the executor skips partitions.
//!
//! The planner skips partitions by constants. If the value of a condition is known only during the execution, such as that of a
//! parameter, the server derives steps from the conditions of the partitioned table, which skip partitions at the start of the
//! execution or for each row of another table. It understands only operators of the partition key's operator class. The native
//! comparisons are therefore added to the conditions of the partitioned table, which has no rows of its own. The scans of the
//! partitions have copies of the original conditions, and evaluate one operator for each row.

use core::ptr;

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, Oid, ParamPathInfo, PlannerInfo, RangeTblEntry, RelOptInfo, RestrictInfo,
};

use crate::by_time::condition::Condition;
use crate::by_time::expression::{self, list};
use crate::pg::nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    check_stack_depth, get_func_support, lappend, list_concat, make_ands_explicit, makeBoolExpr, palloc,
};

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
        let (root, relation) = (Root::new(root), &mut *relation);
        let conditions = Nodes::new(relation.baserestrictinfo);
        pg_sys::panic::pgrx_extern_c_guard(|| {
            for parameters in Nodes::new(relation.ppilist).as_slice() {
                let parameters = parameters.as_ptr::<ParamPathInfo>();
                let own = Nodes::new((*parameters).ppi_clauses);
                (*parameters).ppi_clauses = with_comparisons(root, own, conditions).as_ptr();
            }
            relation.baserestrictinfo = with_comparisons(root, conditions, Nodes::EMPTY).as_ptr();
        });
    }
}

/// Returns conditions with their comparisons. They stay as many, because the planner counts those of a parameterized path.
///
/// The server uses a comparison of a column of the partition key only with comparisons of the columns before it, which it finds
/// only in the same AND. One condition therefore becomes an AND of all conditions, of the others that hold as well, and of their
/// comparisons.
///
/// # Safety
/// The lists have conditions.
unsafe fn with_comparisons<'p>(root: Root<'p>, conditions: Nodes<'p>, others: Nodes<'p>) -> Nodes<'p> {
    // SAFETY: guaranteed by the caller. A copy of a condition is complete except for its derived properties, which are only read of
    // conditions that are evaluated.
    unsafe {
        let [conditions, others] = [conditions, others].map(|list| list.structs::<RestrictInfo>());
        let is_or = |condition: &RestrictInfo| !condition.orclause.is_null();
        let clause = |condition: &RestrictInfo| NodeRef::new(condition.clause);
        let (mut first, mut all) = (None, Nodes::EMPTY);
        for &condition in conditions.iter().chain(others).filter(|each| !is_or(each) && !each.pseudoconstant) {
            let Some(clause) = clause(condition) else { continue };
            let extended = extended(root, clause);
            first = first.or(extended.map(|_| ptr::from_ref(condition)));
            all = list_concat(all, extended.unwrap_or_else(|| list([clause])));
        }
        list(conditions.iter().map(|&condition| {
            let conjuncts = match is_or(condition) {
                true => clause(condition).and_then(|clause| extended(root, clause)),
                false => (first == Some(ptr::from_ref(condition))).then_some(all),
            };
            let Some(conjuncts) = conjuncts else { return NodeRef::of(condition) };
            let copy = palloc(size_of::<RestrictInfo>()).cast::<RestrictInfo>();
            copy.write(RestrictInfo {
                clause: make_ands_explicit(conjuncts).as_ptr(),
                orclause: ptr::null_mut(),
                ..*condition
            });
            NodeRef::of(&*copy)
        }))
    }
}

/// The conjuncts of an expression and of the comparisons of each condition on time in its ANDs and ORs; `None` if it has none. They
/// are true for the same rows. Where the expression is false, they may be NULL instead.
fn extended<'p>(root: Root<'p>, node: NodeRef<'p>) -> Option<Nodes<'p>> {
    let Some(junction) = node.cast::<BoolExpr>() else {
        let (function, arguments) = expression::called(node)?;
        return Some(lappend(comparisons(root, function, arguments)?, node));
    };
    if junction.boolop == BoolExprType::NOT_EXPR {
        return None;
    }
    check_stack_depth();
    let (is_and, mut is_extended) = (junction.boolop == BoolExprType::AND_EXPR, false);
    // SAFETY: the arguments are expressions.
    let arguments = unsafe { Nodes::new(junction.args) };
    let arguments = arguments.as_slice().iter().fold(Nodes::EMPTY, |all, &argument| {
        let conjuncts = extended(root, argument);
        is_extended |= conjuncts.is_some();
        let conjuncts = conjuncts.unwrap_or_else(|| list([argument]));
        match is_and {
            true => list_concat(all, conjuncts),
            false => lappend(all, make_ands_explicit(conjuncts)),
        }
    });
    is_extended.then(|| match is_and {
        true => arguments,
        false => list([makeBoolExpr(BoolExprType::OR_EXPR, arguments, -1)]),
    })
}

/// The native comparisons that follow from a call of a function of any ID system; `None` if it is none of ours, or if they cannot be
/// computed before the scan.
fn comparisons<'p>(root: Root<'p>, function: Oid, arguments: Nodes<'p>) -> Option<Nodes<'p>> {
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
