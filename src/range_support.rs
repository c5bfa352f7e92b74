//! The planner's support function of `id <@ tstzrange`.
//!
//! A span of time is two bounds on the ID. An index is offered the two comparisons as its condition. Where only comparisons
//! let parts of a table be skipped, the operator itself is rewritten into them. Elsewhere it stays, for
//! [`crate::selectivity`] tells its rows better than the server can tell those of the comparisons.

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag};

use crate::call::Call;
use crate::datum::StoredId;
use crate::error::Error;
use crate::planner::{self, nth};
use crate::selectivity;
use crate::span::Span;

/// `T_range_support(internal) → internal`: of `T_contained_by_range` and `T_range_contains`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: a support function gets a node that tells what it asks.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::of_function::<T>(request.cast()).cast(),
            _ => core::ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// The two comparisons in place of the operator, where these skip parts of the table and the range is the same wherever it is
/// computed.
unsafe fn simplified<T: StoredId>(request: *mut pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: called for a call of one of our two functions.
    unsafe {
        let call = (*request).fcall;
        let span = Span::of((*call).funcid, (*call).args);
        let root = (*request).root;
        if !planner::is_skipped_by_comparisons(root, span.id)
            || pg_sys::contain_volatile_functions(span.range)
            || pg_sys::contain_subplans(span.range)
        {
            return core::ptr::null_mut();
        }
        let comparisons = span.comparisons::<T>(root);
        if comparisons.is_null() { core::ptr::null_mut() } else { pg_sys::make_andclause(comparisons) }
    }
}

/// The two comparisons as an exact index condition, if the index has their operators.
unsafe fn index_condition<T: StoredId>(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: called for one of our two functions or their operators, an argument of which is the index's column.
    unsafe {
        let request = &mut *request;
        let Some((function, arguments)) = planner::called(request.node) else { return core::ptr::null_mut() };
        let span = Span::of(function, arguments);
        if nth(arguments, request.indexarg as usize) != span.id
            || !span.is_indexable(request.opfamily)
            || !pg_sys::is_pseudo_constant_for_index(request.root, span.range, request.index)
        {
            return core::ptr::null_mut();
        }
        request.lossy = false;
        span.comparisons::<T>(request.root)
    }
}
