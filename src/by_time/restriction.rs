//! The conditions of a query as the planner keeps them: where one is found, its arguments, and its stored selectivity.

use core::cell::Cell;

use pgrx::pg_sys::{BoolExpr, BoolExprType, NodeTag, RestrictInfo};

use crate::pg::clock;
use crate::pg::plan_nodes::{NodeRef, Nodes};
use crate::pg::process::PerProcess;

/// Where [`find`] last found something, by depth: in the conditions of a table, in the arms of one that is an OR, and in the conditions
/// of an arm or of a list below it. The planner asks for the conditions in their order: a search that starts there compares one or two
/// of thousands.
static LAST_FOUND: PerProcess<Cell<[usize; 3]>> = PerProcess::new(Cell::new([0; 3]));

/// A result of [`find`]: the conjunction that contains the condition, `None` if it is a whole arm; the condition; the test's result.
pub type Found<'p, R> = (Option<Nodes<'p>>, NodeRef<'p>, R);

/// The first result of `test` for a condition in a list at a depth, or in an arm of an OR.
pub fn find<'p, R>(depth: usize, list: Nodes<'p>, test: &dyn Fn(NodeRef<'p>) -> Option<R>) -> Option<Found<'p, R>> {
    from_last_found(depth, list, &|condition| {
        let restriction = condition.cast::<RestrictInfo>()?;
        if let Some(result) = test(condition) {
            return Some((Some(list), condition, result));
        }
        // SAFETY: an OR is an expression, whose arms are conditions, or ANDs of conditions.
        let arms = unsafe { NodeRef::new(restriction.orclause) }?.arguments();
        from_last_found(depth + 1, arms, &|arm| match arm.cast::<BoolExpr>() {
            Some(and) if and.boolop == BoolExprType::AND_EXPR => find(depth + 2, arm.arguments(), test),
            None if arm.tag() == NodeTag::T_RestrictInfo => test(arm).map(|result| (None, arm, result)),
            _ => None,
        })
    })
}

/// The first result of `test` for an element of a list. Starts with the one for which it had a result last.
fn from_last_found<'p, R>(depth: usize, list: Nodes<'p>, test: &dyn Fn(NodeRef<'p>) -> Option<R>) -> Option<R> {
    let nodes = list.as_slice();
    let mut places = LAST_FOUND.get();
    let depth = depth.min(places.len() - 1);
    let start = if places[depth] < nodes.len() { places[depth] } else { 0 };
    for index in (start..nodes.len()).chain(0..start) {
        clock::check_for_interrupts();
        if let Some(result) = test(nodes[index]) {
            // The test may have stored a place in a list below.
            places = LAST_FOUND.get();
            places[depth] = index;
            LAST_FOUND.set(places);
            return Some(result);
        }
    }
    None
}

/// The arguments of a condition that is an operator; `None` for any other.
pub fn arguments_of(condition: NodeRef) -> Option<Nodes> {
    condition.clause().filter(|clause| clause.tag() == NodeTag::T_OpExpr).map(NodeRef::arguments)
}

/// Stores the share of a condition as its selectivity, unless the planner has stored one.
pub fn store_share(condition: NodeRef, share: f64) {
    let condition = condition.as_ptr::<RestrictInfo>();
    // SAFETY: a condition of the planner.
    unsafe {
        if (*condition).norm_selec < 0.0 && (*condition).outer_selec < 0.0 {
            ((*condition).norm_selec, (*condition).outer_selec) = (share, share);
        }
    }
}
