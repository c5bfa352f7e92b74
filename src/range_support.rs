//! Planner support function of `id <@ tstzrange`.
//!
//! The operator is equivalent to two comparisons of the ID. An index gets them as its condition. If only comparisons let the
//! server skip parts of the table, they replace the operator. Otherwise the operator remains, because
//! [`crate::selectivity`] estimates its rows more accurately than the server estimates those of two comparisons.

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag};

use crate::call::Call;
use crate::datum::StoredId;
use crate::error::Error;
use crate::planner::{self, nth};
use crate::selectivity;
use crate::span::Span;

/// `T_range_support(internal) → internal`: the support function of `T_contained_by_range` and `T_range_contains`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: the server passes a support request, whose tag identifies the struct.
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

/// Returns the two comparisons in place of the operator if only they let the server skip parts of the table; null otherwise.
/// Also returns null if the range contains a volatile function or a subplan, which must not be evaluated twice.
unsafe fn simplified<T: StoredId>(request: *mut pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: the request is for a call of one of the two functions.
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

/// Returns the two comparisons as an exact index condition; null if the index does not support their operators.
unsafe fn index_condition<T: StoredId>(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: the request is for one of the two functions or their operators, with the index column as an argument.
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
