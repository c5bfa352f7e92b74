//! Planner support function of the comparison operators between an ID and a time, and of `T_time_possible`.
//!
//! A comparison with a constant time is rewritten into a native comparison with the first ID of a tick, which every part of the
//! planner can use. A comparison with a time near the clock, such as `now() - interval '1 day'`, is rewritten likewise, with
//! `T_floor` as the bound: such a time is before that of the largest ID, so that `T_floor` does not fail.
//!
//! A comparison with any other time keeps its operator. An index gets a native comparison with `T_time_bound` as its condition.
//! That function returns NULL if no ID satisfies the comparison. A NULL condition correctly finds no rows, but it would also find
//! none under NOT, and therefore cannot replace the operator.
//!
//! If only native comparisons let the server skip parts of the table, the operator is replaced by two conditions. One is a native
//! comparison with `T_time_lower` or `T_time_upper`, which are never NULL. The other is `T_time_possible`, which is false if no ID
//! satisfies the operator. `T_time_possible` has no effect on the row estimate.
//!
//! A comparison with a value of a [`CORE_TYPE`](scru_ids::SqlId::CORE_TYPE) keeps its operator, also with a constant time, for
//! the sake of its estimator: the native comparisons have the server's. There, `T_time_bound` is never NULL, and replaces the time in
//! an index condition, and in the operator if only native comparisons let the server skip parts of the table.

use core::ptr;

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid};

use crate::call::Call;
use crate::call::error::Error;
use crate::functions::precision::Precision;
use crate::functions::time_compare::Operator;
use crate::pg::datum::{self, StoredId};
use crate::planner::expression::{self, Name, nth};
use crate::planner::near_clock;
use crate::planner::span;

/// `T_time_support(internal) → internal`: the support function of `T_lt_timestamptz`, `timestamptz_lt_T`, the functions of the
/// other operators, and `T_time_possible`
pub fn support<T: StoredId>(call: Call, precision: Precision) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: the server passes a support request, whose tag identifies the struct.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast(), precision).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast(), precision).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::<T>(request.cast()).cast(),
            _ => ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// Returns an expression that contains a native comparison and is equivalent to the operator anywhere in a query; null if the
/// operator remains.
unsafe fn simplified<T: StoredId>(request: *mut pg_sys::SupportRequestSimplify, precision: Precision) -> *mut Expr {
    // SAFETY: the request is for a call of one of our functions.
    unsafe {
        let (root, call) = ((*request).root, (*request).fcall);
        let Some(comparison) = Comparison::of::<T>((*call).funcid, (*call).args, precision) else {
            return ptr::null_mut();
        };
        let is_of_core_type = T::CORE_TYPE.is_some();
        if is_of_core_type && !expression::is_skipped_by_comparisons(root, comparison.id) {
            return ptr::null_mut();
        }
        if (*comparison.time).type_ == NodeTag::T_Const {
            return comparison.with_constant::<T>(&*comparison.time.cast::<pg_sys::Const>());
        }
        if !is_of_core_type && near_clock::is_before::<T>(comparison.time) {
            return comparison.with_first_id::<T>().unwrap_or(ptr::null_mut());
        }
        if !expression::is_skipped_by_comparisons(root, comparison.id)
            || pg_sys::contain_volatile_functions(comparison.time)
            || pg_sys::contain_subplans(comparison.time)
        {
            return ptr::null_mut();
        }
        let replacement =
            if is_of_core_type { comparison.with_nearest_bound::<T>() } else { comparison.with_possible_bound::<T>() };
        replacement.unwrap_or(ptr::null_mut())
    }
}

/// Returns a native comparison as an exact index condition; null if the index does not support its operator.
unsafe fn index_condition<T: StoredId>(
    request: *mut pg_sys::SupportRequestIndexCondition,
    precision: Precision,
) -> *mut List {
    // SAFETY: the request is for one of our functions or operators, with the index column as an argument.
    unsafe {
        let request = &mut *request;
        let comparison = expression::called(request.node)
            .and_then(|(function, arguments)| Some((arguments, Comparison::of::<T>(function, arguments, precision)?)));
        let Some((arguments, comparison)) = comparison else { return ptr::null_mut() };
        if nth(arguments, request.indexarg as usize) != comparison.id
            || !expression::is_indexable(comparison.id_type, [comparison.strategy::<T>()], request.opfamily)
            || !pg_sys::is_pseudo_constant_for_index(request.root, comparison.time, request.index)
        {
            return ptr::null_mut();
        }
        let comparison = Comparison { time: expression::copy(comparison.time), ..comparison };
        // Only a core type keeps the operator with a constant time.
        let clause = if (*comparison.time).type_ == NodeTag::T_Const {
            let id = expression::copy(comparison.id);
            Comparison { id, ..comparison }.with_constant::<T>(&*comparison.time.cast::<pg_sys::Const>())
        } else {
            comparison.with_nearest_bound::<T>().unwrap_or(ptr::null_mut())
        };
        if clause.is_null() {
            return ptr::null_mut();
        }
        request.lossy = false;
        expression::append(ptr::null_mut(), clause)
    }
}

/// Estimates that `T_time_possible` is true for all rows: it is false only for times beyond those of all IDs. Returns null for
/// the other functions.
unsafe fn selectivity<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: the request is for one of our functions.
    unsafe {
        match expression::name_and_schema((*request).funcid) {
            Some((name, _)) if name.as_bytes() == possible::<T>().as_bytes() => {
                (*request).selectivity = 1.0;
                request
            }
            _ => ptr::null_mut(),
        }
    }
}

/// A comparison between an ID and a time.
struct Comparison {
    schema: Oid,
    id: *mut Node,
    id_type: Oid,
    time: *mut Node,
    operator: Operator,
    precision: Precision,
}

impl Comparison {
    /// Reads a call of one of our functions, whose names contain the operator: `T_ge_timestamptz` or `timestamptz_ge_T`. Returns
    /// `None` for any other name.
    unsafe fn of<T: StoredId>(function: Oid, arguments: *mut List, precision: Precision) -> Option<Self> {
        // SAFETY: the SQL declares two arguments, an ID and a timestamptz.
        unsafe {
            let (name, schema) = expression::name_and_schema(function)?;
            let (operator, is_time_first) = Operator::of_function::<T>(name.as_bytes())?;
            let [first, second] = [0, 1].map(|index| nth(arguments, index));
            let (id, time) = if is_time_first { (second, first) } else { (first, second) };
            Some(Self { schema, id, id_type: expression::type_of(id), time, operator, precision })
        }
    }

    /// Returns the btree strategy for a native comparison with the nearest ID that satisfies the operator; for a core type, that of
    /// the operator itself.
    const fn strategy<T: StoredId>(&self) -> u32 {
        if T::CORE_TYPE.is_some() {
            self.operator.strategy()
        } else if self.operator.is_from_below() {
            pg_sys::BTGreaterEqualStrategyNumber
        } else {
            pg_sys::BTLessEqualStrategyNumber
        }
    }

    /// Returns the equivalent comparison with an ID for a constant time; null if the time is NULL.
    unsafe fn with_constant<T: StoredId>(&self, time: &pg_sys::Const) -> *mut Expr {
        if time.constisnull {
            return ptr::null_mut();
        }
        let (operator, bound) = self.operator.with_id::<T>(time.constvalue.value() as i64, self.precision);
        // SAFETY: builds an expression in the planner's memory.
        unsafe {
            expression::comparison(self.id_type, operator.strategy(), self.id, span::constant(self.id_type, bound))
        }
    }

    /// For a time that is not after that of the largest ID, returns `id >= T_floor(time)` or `id < T_floor(time)`, and with the
    /// precision of earlier versions `T_lower`. For `>` and `<=`, the bound is `T_time_lower(time, '>')` instead.
    unsafe fn with_first_id<T: StoredId>(&self) -> Option<*mut Expr> {
        let (strategy, from) = if self.operator.is_from_below() {
            (pg_sys::BTGreaterEqualStrategyNumber, self.operator)
        } else {
            (pg_sys::BTLessStrategyNumber, self.operator.negated())
        };
        // SAFETY: builds an expression in the planner's memory; the function takes a time and returns an ID.
        unsafe {
            let bound = if from == Operator::GreaterOrEqual {
                let name = match self.precision {
                    Precision::Microsecond => Name::of(&[T::NAME, "_lower"]),
                    Precision::Tick => Name::of(&[T::NAME, "_floor"]),
                };
                let function = expression::function_in(self.schema, &name, &[pg_sys::TIMESTAMPTZOID])?;
                expression::call(function, self.id_type, [self.time])
            } else {
                self.bound::<T>("lower", from)?
            };
            Some(expression::comparison(self.id_type, strategy, self.id, bound))
        }
    }

    /// Returns `id >= T_time_bound(time, symbol)` or `id <= T_time_bound(time, symbol)`.
    unsafe fn with_nearest_bound<T: StoredId>(&self) -> Option<*mut Expr> {
        // SAFETY: builds an expression in the planner's memory.
        unsafe {
            let bound = self.bound::<T>("bound", self.operator)?;
            Some(expression::comparison(self.id_type, self.strategy::<T>(), expression::copy(self.id), bound))
        }
    }

    /// Returns `id >= T_time_lower(time, symbol) AND T_time_possible(id, time, symbol)`, or with `<=` and `T_time_upper`.
    unsafe fn with_possible_bound<T: StoredId>(&self) -> Option<*mut Expr> {
        // SAFETY: builds an expression in the planner's memory.
        unsafe {
            let bound =
                self.bound::<T>(if self.operator.is_from_below() { "lower" } else { "upper" }, self.operator)?;
            let comparison =
                expression::comparison(self.id_type, self.strategy::<T>(), expression::copy(self.id), bound);
            let clauses = expression::append(ptr::null_mut(), comparison);
            Some(pg_sys::make_andclause(expression::append(clauses, self.possible::<T>()?)))
        }
    }

    /// Returns the call `T_time_NAME(time, symbol)`; `None` if the function does not exist.
    unsafe fn bound<T: StoredId>(&self, name: &str, operator: Operator) -> Option<*mut Node> {
        // SAFETY: the function takes a time and a text, and returns an ID.
        unsafe {
            let types = [pg_sys::TIMESTAMPTZOID, pg_sys::TEXTOID];
            let function = expression::function_in(self.schema, &Name::of(&[T::NAME, "_time_", name]), &types)?;
            Some(expression::call(function, self.id_type, [self.time, symbol(operator)]))
        }
    }

    /// Returns the call `T_time_possible(id, time, symbol)`; `None` if the function does not exist.
    unsafe fn possible<T: StoredId>(&self) -> Option<*mut Node> {
        // SAFETY: the function takes an ID, a time and a text, and returns a boolean.
        unsafe {
            let types = [self.id_type, pg_sys::TIMESTAMPTZOID, pg_sys::TEXTOID];
            let function = expression::function_in(self.schema, &possible::<T>(), &types)?;
            let arguments = [expression::copy(self.id), expression::copy(self.time), symbol(self.operator)];
            Some(expression::call(function, pg_sys::BOOLOID, arguments))
        }
    }
}

/// Returns the name of the function `T_time_possible`.
fn possible<T: StoredId>() -> Name {
    Name::of(&[T::NAME, "_time_possible"])
}

/// Returns the symbol of an operator as a constant of type text.
unsafe fn symbol(operator: Operator) -> *mut Node {
    let symbol = datum::varlena(operator.symbol().as_bytes());
    // SAFETY: a text is of variable length.
    unsafe { pg_sys::makeConst(pg_sys::TEXTOID, -1, pg_sys::DEFAULT_COLLATION_OID, -1, symbol, false, false).cast() }
}
