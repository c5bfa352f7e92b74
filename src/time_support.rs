//! The planner's support function of `id < time` and its kin.
//!
//! A comparison with a constant time is rewritten into a native one with the first ID of a tick, which everything in the planner
//! knows how to use. One with any other time keeps its operator, and is offered to indexes as a native comparison with
//! `T_time_bound`. That is NULL where no ID compares so: a condition then finds no row, but under NOT it would find none either,
//! so that it cannot stand in for the operator. Where only native comparisons let parts of a table be skipped, two of them can:
//! `T_time_lower` and `T_time_upper` are never NULL, and lie the wrong way round where no ID compares so.

use core::ffi::CStr;
use core::ptr;

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid, PlannerInfo};

use crate::call::Call;
use crate::datum::{self, StoredDatum, Type};
use crate::error::Error;
use crate::planner::{self, nth};
use crate::time_compare::Operator;

/// `T_time_support(internal) → internal`: of `T_lt_timestamptz`, `timestamptz_lt_T` and their kin
pub fn support<T: Type>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: a support function gets a node that tells what it asks.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast()).cast(),
            _ => ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// Native comparisons in place of the operator: they are equal to it in every place of a query.
unsafe fn simplified<T: Type>(request: *mut pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: called for a call of one of our functions.
    unsafe {
        let (root, call) = ((*request).root, (*request).fcall);
        let Some(comparison) = Comparison::of((*call).funcid, (*call).args) else { return ptr::null_mut() };
        if (*comparison.time).type_ == NodeTag::T_Const {
            return comparison.with_constant::<T>(&*comparison.time.cast::<pg_sys::Const>());
        }
        if !planner::is_skipped_by_comparisons(root, comparison.id)
            || pg_sys::contain_volatile_functions(comparison.time)
            || pg_sys::contain_subplans(comparison.time)
        {
            return ptr::null_mut();
        }
        comparison.with_both_bounds::<T>(root).unwrap_or(ptr::null_mut())
    }
}

/// A native comparison as an exact index condition, if the index has its operator.
unsafe fn index_condition<T: Type>(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: called for one of our functions or operators, an argument of which is the index's column.
    unsafe {
        let request = &mut *request;
        let comparison = planner::called(request.node)
            .and_then(|(function, arguments)| Some((arguments, Comparison::of(function, arguments)?)));
        let Some((arguments, comparison)) = comparison else { return ptr::null_mut() };
        if nth(arguments, request.indexarg as usize) != comparison.id
            || !planner::is_indexable(comparison.id_type, [comparison.strategy()], request.opfamily)
            || !pg_sys::is_pseudo_constant_for_index(request.root, comparison.time, request.index)
        {
            return ptr::null_mut();
        }
        let Some(clause) = comparison.with_nearest_bound::<T>(request.root) else { return ptr::null_mut() };
        request.lossy = false;
        planner::append(ptr::null_mut(), clause)
    }
}

/// An ID and a time, compared.
struct Comparison {
    function: Oid,
    id: *mut Node,
    id_type: Oid,
    time: *mut Node,
    operator: Operator,
}

impl Comparison {
    /// Of a call of one of our functions, which have the operator in their names.
    unsafe fn of(function: Oid, arguments: *mut List) -> Option<Self> {
        // SAFETY: the SQL declares two arguments, one of which is a timestamptz; a name is copied for the caller.
        unsafe {
            let name = pg_sys::get_func_name(function);
            if name.is_null() {
                return None;
            }
            let operator = CStr::from_ptr(name).to_str().ok()?.split('_').find_map(Operator::named)?;
            let [first, second] = [0, 1].map(|index| nth(arguments, index));
            let (id, time, operator) = if pg_sys::exprType(first) == pg_sys::TIMESTAMPTZOID {
                (second, first, operator.commuted())
            } else {
                (first, second, operator)
            };
            Some(Self { function, id, id_type: pg_sys::exprType(id), time, operator })
        }
    }

    /// The strategy of the native operator that compares with the nearest ID for which the operator holds.
    const fn strategy(&self) -> u32 {
        if self.operator.is_from_below() {
            pg_sys::BTGreaterEqualStrategyNumber
        } else {
            pg_sys::BTLessEqualStrategyNumber
        }
    }

    /// With a constant time: `id >= bound` or `id < bound`, where the bound is the first ID of a tick; where that would be the tick
    /// after the last one, `id > largest` or `id <= largest`, so that the largest ID is told from an infinite time, too.
    unsafe fn with_constant<T: Type>(&self, time: &pg_sys::Const) -> *mut Expr {
        if time.constisnull {
            return ptr::null_mut();
        }
        let below = self.operator.ticks_below::<T>(time.constvalue.value() as i64);
        let is_in_range = below <= T::TICKS.max;
        let strategy = match (self.operator.is_from_below(), is_in_range) {
            (true, true) => pg_sys::BTGreaterEqualStrategyNumber,
            (true, false) => pg_sys::BTGreaterStrategyNumber,
            (false, true) => pg_sys::BTLessStrategyNumber,
            (false, false) => pg_sys::BTLessEqualStrategyNumber,
        };
        let bound = if is_in_range { T::first_of(below) } else { T::MAX };
        // SAFETY: builds an expression of the planner's in its memory.
        unsafe { planner::comparison(self.id_type, strategy, self.id, constant(self.id_type, bound)) }
    }

    /// `id >= T_time_bound(time, '>=')`, or `<=` likewise.
    unsafe fn with_nearest_bound<T: Type>(&self, root: *mut PlannerInfo) -> Option<*mut Expr> {
        // SAFETY: builds an expression of the planner's in its memory.
        unsafe {
            let bound = self.bound::<T>(root, "bound")?;
            Some(planner::comparison(self.id_type, self.strategy(), planner::copy(self.id), bound))
        }
    }

    /// `id >= T_time_lower(time, '>=') AND id <= T_time_upper(time, '>=')`.
    unsafe fn with_both_bounds<T: Type>(&self, root: *mut PlannerInfo) -> Option<*mut Expr> {
        let bounds = [(pg_sys::BTGreaterEqualStrategyNumber, "lower"), (pg_sys::BTLessEqualStrategyNumber, "upper")];
        // SAFETY: builds an expression of the planner's in its memory.
        unsafe {
            let mut clauses = ptr::null_mut();
            for (strategy, name) in bounds {
                let bound = self.bound::<T>(root, name)?;
                clauses = planner::append(
                    clauses,
                    planner::comparison(self.id_type, strategy, planner::copy(self.id), bound),
                );
            }
            Some(pg_sys::make_andclause(clauses))
        }
    }

    /// The call `T_time_NAME(time, symbol)`.
    unsafe fn bound<T: Type>(&self, root: *mut PlannerInfo, name: &str) -> Option<*mut Node> {
        // SAFETY: the function takes a time and a text, and returns an ID.
        unsafe {
            let function = {
                let names = [format!("{}_time_{name}", T::NAME)];
                planner::function_beside(self.function, &names, &[pg_sys::TIMESTAMPTZOID, pg_sys::TEXTOID])?
            };
            let symbol = datum::varlena(self.operator.symbol().as_bytes());
            let collation = pg_sys::DEFAULT_COLLATION_OID;
            let symbol = pg_sys::makeConst(pg_sys::TEXTOID, -1, collation, -1, symbol, false, false);
            Some(planner::evaluated(root, function, self.id_type, [self.time, symbol.cast()]))
        }
    }
}

/// An ID as an expression.
unsafe fn constant<T: Type>(id_type: Oid, id: T) -> *mut Node {
    let (length, by_value) = (size_of::<T::Stored>() as i32, <T::Stored as StoredDatum>::BY_VALUE);
    // SAFETY: the length and the way of passing are those of the type.
    unsafe { pg_sys::makeConst(id_type, -1, Oid::INVALID, length, id.to_stored().into_datum(), false, by_value).cast() }
}
