//! Planner support function of `id <@ tstzrange`.
//!
//! The operator is equivalent to two comparisons of the ID. They replace the operator if the range is constant, which allows proofs:
//! the use of partial indexes, and constraint exclusion. They also replace it if only comparisons let the server skip parts of the
//! table. Otherwise, the operator remains, because two comparisons would evaluate the range twice for each row, and an index gets
//! them as its condition. A [`CORE_TYPE`](scru_ids::SqlId::CORE_TYPE) also keeps it with a constant range, for its estimator.

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag};

use crate::call::Call;
use crate::call::error::Error;
use crate::functions::precision::Precision;
use crate::pg::datum::StoredId;
use crate::planner::expression::{self, nth};
use crate::planner::selectivity;
use crate::planner::span::Span;

/// `T_range_support(internal) → internal`: the support function of `T_contained_by_range` and `T_range_contains`
pub fn support<T: StoredId>(call: Call, precision: Precision) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: the server passes a support request, whose tag identifies the struct.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast(), precision).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast(), precision).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::of_function::<T>(request.cast(), precision).cast(),
            _ => core::ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// Returns the two comparisons in place of the operator; null if the operator remains. The ID of a constant range must be a column,
/// because two comparisons would evaluate an expression twice. The SQL of earlier versions keeps the operator, because the server's
/// estimators of its comparisons are less accurate.
unsafe fn simplified<T: StoredId>(request: *mut pg_sys::SupportRequestSimplify, precision: Precision) -> *mut Expr {
    // SAFETY: the request is for a call of one of the two functions.
    unsafe {
        let call = (*request).fcall;
        let span = Span::of((*call).funcid, (*call).args, precision);
        let root = (*request).root;
        let is_constant = precision == Precision::Tick
            && T::CORE_TYPE.is_none()
            && (*span.range).type_ == NodeTag::T_Const
            && expression::is_column(span.id);
        let is_evaluable_twice =
            || !pg_sys::contain_volatile_functions(span.range) && !pg_sys::contain_subplans(span.range);
        if !is_constant && !(expression::is_skipped_by_comparisons(root, span.id) && is_evaluable_twice()) {
            return core::ptr::null_mut();
        }
        let comparisons = span.comparisons::<T>(root);
        match expression::length(comparisons) {
            0 => core::ptr::null_mut(),
            1 => nth(comparisons, 0).cast(),
            _ => pg_sys::make_andclause(comparisons),
        }
    }
}

/// Returns the two comparisons as an exact index condition; null if the index does not support their operators.
unsafe fn index_condition<T: StoredId>(
    request: *mut pg_sys::SupportRequestIndexCondition,
    precision: Precision,
) -> *mut List {
    // SAFETY: the request is for one of the two functions or their operators, with the index column as an argument.
    unsafe {
        let request = &mut *request;
        let Some((function, arguments)) = expression::called(request.node) else { return core::ptr::null_mut() };
        let span = Span::of(function, arguments, precision);
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
