//! Selectivity: what part of a table the planner may expect `id <@ tstzrange` to let pass.
//!
//! It is read from the statistics of the column, as for `<` and its kin. What the server's own estimators lack is a number
//! for an ID, so that within one bucket of a histogram (a hundredth of the table) they can but take the middle. An ID's
//! leading bytes are such a number, and here the server is told to read them.
//!
//! Comparisons with a time have the server's own estimators, which alone it pairs to a span.

use core::ffi::{CStr, c_int};
use core::ptr;

use pgrx::pg_sys::{self, Datum, List, Node, NodeTag, Oid, PlannerInfo, VariableStatData};

use crate::call::Call;
use crate::datum::{StoredDatum, StoredId};
use crate::error::Error;
use crate::planner;
use crate::span::{self, Span};

/// `T_rangesel(internal, oid, internal, integer) → double precision`: the restriction estimator of the two operators
pub fn of_operator<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: an estimator gets the planner's state, the operator, its arguments and the relation.
    let part = unsafe {
        let function = pg_sys::get_opcode(call.oid(1));
        if is_ours::<T>(function) {
            estimate::<T>(call.datum(0).cast_mut_ptr(), function, call.datum(2).cast_mut_ptr(), call.int4(3))
        } else {
            pg_sys::DEFAULT_RANGE_INEQ_SEL
        }
    };
    Ok(Datum::from(part.to_bits()))
}

/// Whether a function is one of the two that [`crate::range_support`] speaks for, whose arguments are known. An operator of
/// anybody's may name an estimator, and have arguments of any type; a support function is for a superuser alone to attach.
unsafe fn is_ours<T: StoredId>(function: Oid) -> bool {
    // SAFETY: look-ups in the catalog; a name is copied for the caller.
    unsafe {
        let support = pg_sys::get_func_support(function);
        let name = if support == Oid::INVALID { ptr::null_mut() } else { pg_sys::get_func_name(support) };
        !name.is_null() && CStr::from_ptr(name).to_bytes() == format!("{}_range_support", T::NAME).as_bytes()
    }
}

/// The same for a call of one of the two functions, outside of a join.
///
/// # Safety
/// For a request about one of them.
pub unsafe fn of_function<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: the request carries what an estimator gets.
    unsafe {
        if (*request).is_join {
            return ptr::null_mut();
        }
        (*request).selectivity =
            estimate::<T>((*request).root, (*request).funcid, (*request).args, (*request).varRelid);
        request
    }
}

/// The part of a column's rows within a range, where both are known; else what the server takes for any unknown range.
unsafe fn estimate<T: StoredId>(root: *mut PlannerInfo, function: Oid, arguments: *mut List, relation: c_int) -> f64 {
    // SAFETY: the planner's own structures, of which the statistics are given back.
    let part = unsafe {
        let (mut column, mut range, mut is_left) = (VariableStatData::default(), ptr::null_mut::<Node>(), false);
        if !pg_sys::get_restriction_variable(root, arguments, relation, &mut column, &mut range, &mut is_left) {
            return pg_sys::DEFAULT_RANGE_INEQ_SEL;
        }
        let mut span = Span { range, ..Span::of(function, arguments) };
        let part = if is_known(range) && column.vartype == span.id_type {
            // The server multiplies what it gets for each predicate: each gets the same share of what they let pass together.
            let count = intersect_with_others(root, column.rel, arguments, &mut span);
            part_within::<T>(root, &mut column, &span, is_left).map(|part| part.max(0.0).powf(1.0 / f64::from(count)))
        } else if is_null(range) {
            Some(0.0)
        } else {
            None
        };
        if let (Some(free), false) = (column.freefunc, column.statsTuple.is_null()) {
            free(column.statsTuple);
        }
        part
    };
    part.map_or(pg_sys::DEFAULT_RANGE_INEQ_SEL, |part| part.clamp(0.0, 1.0))
}

/// Intersects the range of a predicate with the known ranges that the query asks of the same ID, if the predicate is one of the
/// table's, and returns how many these are. A span is often asked as two half-open ranges.
unsafe fn intersect_with_others(
    root: *mut PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    arguments: *mut List,
    span: &mut Span,
) -> u32 {
    // SAFETY: the planner's own structures; what has our support function is one of our functions.
    unsafe {
        let predicates = if table.is_null() { ptr::null_mut() } else { (*table).baserestrictinfo };
        let length = if predicates.is_null() { 0 } else { (*predicates).length as usize };
        let clauses = (0..length).map(|index| (*planner::nth(predicates, index).cast::<pg_sys::RestrictInfo>()).clause);
        let support = pg_sys::get_func_support(span.function);
        let (mut count, mut is_of_table) = (1, false);
        let mut common = (*span.range.cast::<pg_sys::Const>()).constvalue;
        for clause in clauses {
            let clause = clause.cast::<Node>();
            let Some((function, others)) = planner::called(clause) else { continue };
            if others == arguments {
                is_of_table = true;
            } else if pg_sys::get_func_support(function) == support {
                let other = Span::of(function, others);
                let range = pg_sys::estimate_expression_value(root, other.range);
                if is_known(range) && pg_sys::equal(other.id.cast(), span.id.cast()) {
                    let range = (*range.cast::<pg_sys::Const>()).constvalue;
                    common =
                        pg_sys::OidFunctionCall2Coll(pg_sys::F_RANGE_INTERSECT.into(), Oid::INVALID, common, range);
                    count += 1;
                }
            }
        }
        if !is_of_table || count == 1 {
            return 1;
        }
        let constant = pg_sys::copyObjectImpl(span.range.cast()).cast::<pg_sys::Const>();
        (*constant).constvalue = common;
        span.range = constant.cast();
        count
    }
}

/// Whether an expression is NULL.
unsafe fn is_null(node: *mut Node) -> bool {
    // SAFETY: the tag tells the struct.
    unsafe { (*node).type_ == NodeTag::T_Const && (*node.cast::<pg_sys::Const>()).constisnull }
}

/// Whether an expression is a constant, and not NULL.
unsafe fn is_known(node: *mut Node) -> bool {
    // SAFETY: the tag tells the struct.
    unsafe { (*node).type_ == NodeTag::T_Const && !(*node.cast::<pg_sys::Const>()).constisnull }
}

/// The same from the column's statistics, if there are any: its most common values are looked at one by one, the others are
/// those that the histogram has between the two bounds.
unsafe fn part_within<T: StoredId>(
    root: *mut PlannerInfo,
    column: &mut VariableStatData,
    span: &Span,
    is_left: bool,
) -> Option<f64> {
    // SAFETY: the planner's own structures; the range is a constant.
    unsafe {
        let range = &*span.range.cast::<pg_sys::Const>();
        let lower = span::value::<T>(span.bound::<T>(root, "lower")?)?;
        let upper = span::value::<T>(span.bound::<T>(root, "upper")?)?;
        if lower > upper {
            return Some(0.0);
        }
        if column.statsTuple.is_null() {
            return None;
        }
        let mut common = 0.0;
        let mut function = fmgr_info(span.function);
        let common_within =
            pg_sys::mcv_selectivity(column, &mut function, Oid::INVALID, range.constvalue, is_left, &mut common);

        column.vartype = T::Stored::SCALAR;
        let from_lower = if lower == T::MIN { 1.0 } else { beyond(root, column, span, lower, true)? };
        let to_upper = if upper == T::MAX { 1.0 } else { beyond(root, column, span, upper, false)? };
        let nulls = (*pg_sys::GETSTRUCT(column.statsTuple).cast::<pg_sys::FormData_pg_statistic>()).stanullfrac;
        let others = 1.0 - f64::from(nulls) - common;
        Some(common_within + others * (from_lower + to_upper - 1.0).max(0.0))
    }
}

/// The part of a column's histogram at or after its lower bound, or at or before its upper one; nothing if it has none.
unsafe fn beyond<T: StoredId>(
    root: *mut PlannerInfo,
    column: &mut VariableStatData,
    span: &Span,
    bound: T,
    is_lower: bool,
) -> Option<f64> {
    let strategy = if is_lower { pg_sys::BTGreaterEqualStrategyNumber } else { pg_sys::BTLessEqualStrategyNumber };
    // SAFETY: as the server's estimators call it for `>=` and `<=`.
    let part = unsafe {
        let operator = planner::operator(span.id_type, strategy);
        let mut function = fmgr_info(pg_sys::get_opcode(operator));
        let (bound, scalar) = (bound.to_datum(), column.vartype);
        let none = Oid::INVALID;
        pg_sys::ineq_histogram_selectivity(root, column, operator, &mut function, is_lower, true, none, bound, scalar)
    };
    (part >= 0.0).then_some(part)
}

unsafe fn fmgr_info(function: Oid) -> pg_sys::FmgrInfo {
    let mut info = pg_sys::FmgrInfo::default();
    // SAFETY: looks up a function that there is.
    unsafe { pg_sys::fmgr_info(function, &mut info) };
    info
}
