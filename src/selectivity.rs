//! Selectivity estimation of `id <@ tstzrange`.
//!
//! The estimate is read from the statistics of the column, like that of `<`. The server's own estimators cannot convert an ID to
//! a number, and therefore assume the middle of a histogram bucket, which is a hundredth of the table by default. Given the
//! type [`StoredDatum::SCALAR`] in place of the ID's, they read the leading bytes of an ID as a number.
//!
//! Comparisons with a time use the server's own estimators, because the server combines only these into a range.

use core::ffi::{CStr, c_int};
use core::ptr;

use pgrx::pg_sys::{self, Datum, List, Node, NodeTag, Oid, PlannerInfo, VariableStatData};

use crate::call::Call;
use crate::datum::{StoredDatum, StoredId};
use crate::error::Error;
use crate::planner;
use crate::span::{self, Span};

/// `T_rangesel(internal, oid, internal, integer) → double precision`: the restriction estimator of `<@` and `@>`
pub fn of_operator<T: StoredId>(call: Call) -> Result<Datum, Error> {
    // SAFETY: the server passes the planner's state, the operator, its arguments and the relation.
    let fraction = unsafe {
        let function = pg_sys::get_opcode(call.oid(1));
        if is_ours::<T>(function) {
            estimate::<T>(call.datum(0).cast_mut_ptr(), function, call.datum(2).cast_mut_ptr(), call.int4(3))
        } else {
            pg_sys::DEFAULT_RANGE_INEQ_SEL
        }
    };
    Ok(Datum::from(fraction.to_bits()))
}

/// Returns whether a function is `T_contained_by_range` or `T_range_contains`, whose argument types are known. Any user can
/// create an operator with this estimator and arguments of any type. The support function identifies the two functions, because
/// only a superuser can attach one to a function.
unsafe fn is_ours<T: StoredId>(function: Oid) -> bool {
    // SAFETY: look-ups in the catalog; the name is a copy.
    unsafe {
        let support = pg_sys::get_func_support(function);
        let name = if support == Oid::INVALID { ptr::null_mut() } else { pg_sys::get_func_name(support) };
        !name.is_null() && CStr::from_ptr(name).to_bytes() == format!("{}_range_support", T::NAME).as_bytes()
    }
}

/// Estimates a call of `T_contained_by_range` or `T_range_contains`. Returns null for a join.
///
/// # Safety
/// The request is for one of the two functions.
pub unsafe fn of_function<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: the request has the arguments of an estimator.
    unsafe {
        if (*request).is_join {
            return ptr::null_mut();
        }
        (*request).selectivity =
            estimate::<T>((*request).root, (*request).funcid, (*request).args, (*request).varRelid);
        request
    }
}

/// Returns the estimated fraction of a column's rows within a range; 0 if the range is NULL. Returns the server's default for
/// ranges if neither argument is a column, the range is not constant, or the column has no statistics.
unsafe fn estimate<T: StoredId>(root: *mut PlannerInfo, function: Oid, arguments: *mut List, relation: c_int) -> f64 {
    // SAFETY: structs of the planner; the statistics are released.
    let fraction = unsafe {
        let (mut column, mut range, mut is_left) = (VariableStatData::default(), ptr::null_mut::<Node>(), false);
        if !pg_sys::get_restriction_variable(root, arguments, relation, &mut column, &mut range, &mut is_left) {
            return pg_sys::DEFAULT_RANGE_INEQ_SEL;
        }
        let mut span = Span { range, ..Span::of(function, arguments) };
        let fraction = if is_known(range) && column.vartype == span.id_type {
            // The server multiplies the estimates of predicates: each of n predicates gets the nth root of the joint fraction.
            let count = intersect_with_others(root, column.rel, arguments, &mut span);
            fraction_within::<T>(root, &mut column, &span, is_left)
                .map(|fraction| fraction.max(0.0).powf(1.0 / f64::from(count)))
        } else if is_null(range) {
            Some(0.0)
        } else {
            None
        };
        if let (Some(free), false) = (column.freefunc, column.statsTuple.is_null()) {
            free(column.statsTuple);
        }
        fraction
    };
    fraction.map_or(pg_sys::DEFAULT_RANGE_INEQ_SEL, |fraction| fraction.clamp(0.0, 1.0))
}

/// Intersects the range of a predicate with the constant ranges of the table's other predicates on the same ID. Returns the
/// number of intersected ranges, including the predicate's own; 1 if the predicate is not one of the table's. Queries often
/// express a range by two ranges, each of which has one bound.
unsafe fn intersect_with_others(
    root: *mut PlannerInfo,
    table: *mut pg_sys::RelOptInfo,
    arguments: *mut List,
    span: &mut Span,
) -> u32 {
    // SAFETY: structs of the planner; a function with our support function is one of our functions.
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

/// Returns whether an expression is NULL.
unsafe fn is_null(node: *mut Node) -> bool {
    // SAFETY: the tag identifies the struct.
    unsafe { (*node).type_ == NodeTag::T_Const && (*node.cast::<pg_sys::Const>()).constisnull }
}

/// Returns whether an expression is a constant other than NULL.
unsafe fn is_known(node: *mut Node) -> bool {
    // SAFETY: the tag identifies the struct.
    unsafe { (*node).type_ == NodeTag::T_Const && !(*node.cast::<pg_sys::Const>()).constisnull }
}

/// Returns the fraction of a column's rows within a constant range; `None` if the statistics of the column are missing or do not
/// suffice. Tests the most common values one by one, and estimates the others from the histogram.
unsafe fn fraction_within<T: StoredId>(
    root: *mut PlannerInfo,
    column: &mut VariableStatData,
    span: &Span,
    is_left: bool,
) -> Option<f64> {
    // SAFETY: structs of the planner; the range is a constant.
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
        let from_lower = if lower == T::MIN { 1.0 } else { histogram_fraction(root, column, span, lower, true)? };
        let to_upper = if upper == T::MAX { 1.0 } else { histogram_fraction(root, column, span, upper, false)? };
        let nulls = (*pg_sys::GETSTRUCT(column.statsTuple).cast::<pg_sys::FormData_pg_statistic>()).stanullfrac;
        let others = 1.0 - f64::from(nulls) - common;
        Some(common_within + others * (from_lower + to_upper - 1.0).max(0.0))
    }
}

/// Returns the fraction of a column's histogram at or after a lower bound, or at or before an upper bound; `None` if the column
/// has no histogram.
unsafe fn histogram_fraction<T: StoredId>(
    root: *mut PlannerInfo,
    column: &mut VariableStatData,
    span: &Span,
    bound: T,
    is_lower: bool,
) -> Option<f64> {
    let strategy = if is_lower { pg_sys::BTGreaterEqualStrategyNumber } else { pg_sys::BTLessEqualStrategyNumber };
    // SAFETY: the arguments are those of the server's estimators of `>=` and `<=`.
    let fraction = unsafe {
        let operator = planner::operator(span.id_type, strategy);
        let mut function = fmgr_info(pg_sys::get_opcode(operator));
        let (bound, scalar) = (bound.to_datum(), column.vartype);
        let none = Oid::INVALID;
        pg_sys::ineq_histogram_selectivity(root, column, operator, &mut function, is_lower, true, none, bound, scalar)
    };
    (fraction >= 0.0).then_some(fraction)
}

unsafe fn fmgr_info(function: Oid) -> pg_sys::FmgrInfo {
    let mut info = pg_sys::FmgrInfo::default();
    // SAFETY: the function exists.
    unsafe { pg_sys::fmgr_info(function, &mut info) };
    info
}
