//! The planner's support function of `id < time` and its kin, and of `T_time_possible`.
//!
//! A comparison with a constant time is rewritten into a native one with the first ID of a tick, which everything in the planner
//! knows how to use. So is one with a time near that of the clock, such as `now() - interval '1 day'`, with `T_lower` as the bound:
//! it has a first ID for every time up to the type's last.
//!
//! One with any other time keeps its operator, and is offered to indexes as a native comparison with `T_time_bound`. That is NULL
//! where no ID compares so: a condition then finds no row, but under NOT it would find none either, so that it cannot stand in for
//! the operator. Where only native comparisons let parts of a table be skipped, one with `T_time_lower` or `T_time_upper`, which are
//! never NULL, does so together with `T_time_possible`, which is false where no ID compares so and has no part in the estimate.

use core::ptr;

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid};
use scru_ids::Stored;

use crate::call::Call;
use crate::datum::{self, StoredId};
use crate::error::Error;
use crate::near_clock;
use crate::planner::{self, Name, nth};
use crate::time_compare::Operator;

/// `T_time_support(internal) → internal`: of `T_lt_timestamptz`, `timestamptz_lt_T` and their kin, and of `T_time_possible`
pub fn support<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: a support function gets a node that tells what it asks.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::<T>(request.cast()).cast(),
            _ => ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// Native comparisons in place of the operator: they are equal to it in every place of a query.
unsafe fn simplified<T: StoredId>(request: *mut pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: called for a call of one of our functions.
    unsafe {
        let (root, call) = ((*request).root, (*request).fcall);
        let Some(comparison) = Comparison::of::<T>((*call).funcid, (*call).args) else { return ptr::null_mut() };
        if (*comparison.time).type_ == NodeTag::T_Const {
            return comparison.with_constant::<T>(&*comparison.time.cast::<pg_sys::Const>());
        }
        if near_clock::is_before::<T>(comparison.time) {
            return comparison.with_first_id::<T>().unwrap_or(ptr::null_mut());
        }
        if !planner::is_skipped_by_comparisons(root, comparison.id)
            || pg_sys::contain_volatile_functions(comparison.time)
            || pg_sys::contain_subplans(comparison.time)
        {
            return ptr::null_mut();
        }
        comparison.with_possible_bound::<T>().unwrap_or(ptr::null_mut())
    }
}

/// A native comparison as an exact index condition, if the index has its operator.
unsafe fn index_condition<T: StoredId>(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: called for one of our functions or operators, an argument of which is the index's column.
    unsafe {
        let request = &mut *request;
        let comparison = planner::called(request.node)
            .and_then(|(function, arguments)| Some((arguments, Comparison::of::<T>(function, arguments)?)));
        let Some((arguments, comparison)) = comparison else { return ptr::null_mut() };
        if nth(arguments, request.indexarg as usize) != comparison.id
            || !planner::is_indexable(comparison.id_type, [comparison.strategy()], request.opfamily)
            || !pg_sys::is_pseudo_constant_for_index(request.root, comparison.time, request.index)
        {
            return ptr::null_mut();
        }
        let comparison = Comparison { time: planner::copy(comparison.time), ..comparison };
        let Some(clause) = comparison.with_nearest_bound::<T>() else { return ptr::null_mut() };
        request.lossy = false;
        planner::append(ptr::null_mut(), clause)
    }
}

/// That `T_time_possible` holds for all rows: only times beyond all IDs make it false.
unsafe fn selectivity<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: called for one of our functions.
    unsafe {
        match planner::name_and_schema((*request).funcid) {
            Some((name, _)) if name.as_bytes() == possible::<T>().as_bytes() => {
                (*request).selectivity = 1.0;
                request
            }
            _ => ptr::null_mut(),
        }
    }
}

/// An ID and a time, compared.
struct Comparison {
    schema: Oid,
    id: *mut Node,
    id_type: Oid,
    time: *mut Node,
    operator: Operator,
}

impl Comparison {
    /// Of a call of one of our functions, which have the operator in their names: `T_ge_timestamptz` or `timestamptz_ge_T`.
    unsafe fn of<T: StoredId>(function: Oid, arguments: *mut List) -> Option<Self> {
        // SAFETY: the SQL declares two arguments, an ID and a timestamptz.
        unsafe {
            let (name, schema) = planner::name_and_schema(function)?;
            let [first, second] = [0, 1].map(|index| nth(arguments, index));
            let (id, time, operator) = match name.as_bytes().strip_prefix(b"timestamptz_") {
                Some(rest) => (second, first, Operator::named(rest.get(..2)?)?.commuted()),
                None => (first, second, Operator::named(name.as_bytes().get(T::NAME.len() + 1..)?.get(..2)?)?),
            };
            Some(Self { schema, id, id_type: planner::type_of(id), time, operator })
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
    unsafe fn with_constant<T: StoredId>(&self, time: &pg_sys::Const) -> *mut Expr {
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

    /// With a time that is not after the type's last: `id >= T_lower(time)` or `id < T_lower(time)`; for `>` and `<=` with
    /// `T_time_lower(time, '>')`.
    unsafe fn with_first_id<T: StoredId>(&self) -> Option<*mut Expr> {
        let (strategy, from) = if self.operator.is_from_below() {
            (pg_sys::BTGreaterEqualStrategyNumber, self.operator)
        } else {
            (pg_sys::BTLessStrategyNumber, self.operator.negated())
        };
        // SAFETY: builds an expression of the planner's in its memory; `T_lower` takes a time and returns an ID.
        unsafe {
            let bound = if from == Operator::GreaterOrEqual {
                let lower = Name::of(&[T::NAME, "_lower"]);
                let function = planner::function_in(self.schema, &lower, &[pg_sys::TIMESTAMPTZOID])?;
                planner::call(function, self.id_type, [self.time])
            } else {
                self.bound::<T>("lower", from)?
            };
            Some(planner::comparison(self.id_type, strategy, self.id, bound))
        }
    }

    /// `id >= T_time_bound(time, '>=')`, or `<=` likewise.
    unsafe fn with_nearest_bound<T: StoredId>(&self) -> Option<*mut Expr> {
        // SAFETY: builds an expression of the planner's in its memory.
        unsafe {
            let bound = self.bound::<T>("bound", self.operator)?;
            Some(planner::comparison(self.id_type, self.strategy(), planner::copy(self.id), bound))
        }
    }

    /// `id >= T_time_lower(time, '>=') AND T_time_possible(id, time, '>=')`, or `id <= T_time_upper(time, '<=')` likewise.
    unsafe fn with_possible_bound<T: StoredId>(&self) -> Option<*mut Expr> {
        // SAFETY: builds an expression of the planner's in its memory.
        unsafe {
            let bound =
                self.bound::<T>(if self.operator.is_from_below() { "lower" } else { "upper" }, self.operator)?;
            let comparison = planner::comparison(self.id_type, self.strategy(), planner::copy(self.id), bound);
            let clauses = planner::append(ptr::null_mut(), comparison);
            Some(pg_sys::make_andclause(planner::append(clauses, self.possible::<T>()?)))
        }
    }

    /// The call `T_time_NAME(time, symbol)`.
    unsafe fn bound<T: StoredId>(&self, name: &str, operator: Operator) -> Option<*mut Node> {
        // SAFETY: the function takes a time and a text, and returns an ID.
        unsafe {
            let types = [pg_sys::TIMESTAMPTZOID, pg_sys::TEXTOID];
            let function = planner::function_in(self.schema, &Name::of(&[T::NAME, "_time_", name]), &types)?;
            Some(planner::call(function, self.id_type, [self.time, symbol(operator)]))
        }
    }

    /// The call `T_time_possible(id, time, symbol)`.
    unsafe fn possible<T: StoredId>(&self) -> Option<*mut Node> {
        // SAFETY: the function takes an ID, a time and a text, and returns a boolean.
        unsafe {
            let types = [self.id_type, pg_sys::TIMESTAMPTZOID, pg_sys::TEXTOID];
            let function = planner::function_in(self.schema, &possible::<T>(), &types)?;
            let arguments = [planner::copy(self.id), planner::copy(self.time), symbol(self.operator)];
            Some(planner::call(function, pg_sys::BOOLOID, arguments))
        }
    }
}

/// The name of the function that tells whether an operator holds for any ID.
fn possible<T: StoredId>() -> Name {
    Name::of(&[T::NAME, "_time_possible"])
}

/// The symbol of an operator as an expression.
unsafe fn symbol(operator: Operator) -> *mut Node {
    let symbol = datum::varlena(operator.symbol().as_bytes());
    // SAFETY: a text is of variable length.
    unsafe { pg_sys::makeConst(pg_sys::TEXTOID, -1, pg_sys::DEFAULT_COLLATION_OID, -1, symbol, false, false).cast() }
}

/// An ID as an expression.
unsafe fn constant<T: StoredId>(id_type: Oid, id: T) -> *mut Node {
    let (length, by_value) = (size_of::<T::Stored>() as i32, T::Stored::BY_VALUE);
    // SAFETY: the length and the way of passing are those of the type.
    unsafe { pg_sys::makeConst(id_type, -1, Oid::INVALID, length, id.to_datum(), false, by_value).cast() }
}
