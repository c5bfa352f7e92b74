//! Conditions on the time of an ID, and the native comparisons with which the support functions replace them.
//!
//! A comparison with a constant time is rewritten into a native comparison with the first ID of a tick, which every part of the
//! planner can use. A comparison with a time near the clock, such as `now() - interval '1 day'`, is rewritten likewise, with
//! `T_floor` as the bound: such a time is before that of the largest ID, so that `T_floor` does not fail.
//!
//! A comparison with any other time keeps its operator. An index gets a native comparison with `T_time_bound` as its condition.
//! That function returns NULL if no ID satisfies the comparison. A NULL condition correctly finds no rows, but it would also find
//! none under NOT, and therefore cannot replace the operator.
//!
//! The scan of a partitioned table evaluates the operator for each row. The executor skips partitions by the same native comparisons
//! as an index: see [`pruning`](crate::by_time::pruning).
//!
//! If a table access method skips parts of the table by native comparisons, two conditions replace the operator. One is a native
//! comparison with `T_time_lower` or `T_time_upper`, which are never NULL. The other is `T_time_possible`, which is false for the
//! largest and the smallest ID if no ID satisfies the operator. `T_time_possible` has no effect on the row estimate.
//!
//! `id <@ tstzrange` is equivalent to two comparisons of the ID. They replace the operator if the range is constant, which allows
//! proofs: the use of partial indexes, constraint exclusion, and partition pruning by the planner. They also replace it if only
//! comparisons let the server skip parts of the table, unless the range is a column. Otherwise, the operator remains, because two
//! comparisons would evaluate the range twice for each row. Indexes and partition pruning get them as their condition.
//!
//! A condition on a value of a [`CORE_TYPE`](scru_ids::SqlId::CORE_TYPE) keeps its operator, also with a constant: the operator has
//! an estimator of this extension, and the native comparisons have the server's. For such a type, `T_time_bound` is never NULL. The
//! native comparison with it is the index condition. It also replaces the operator if only native comparisons let the server skip
//! parts of the table.

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{self, Const, Expr, List, Oid};
use scru_ids::Stored;
use scru_server::range;
use scru_server::time_compare::Operator;

use crate::by_time::expression::{self, Skipping};
use crate::by_time::{near_clock, time_of_id};
use crate::call::epoch;
use crate::call::stored::StoredId;
use crate::pg::datum;
use crate::pg::nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    contain_subplans, contain_var_clause, contain_volatile_functions, copy_node, equal, eval_const_expressions,
    exprType, getBaseType, lappend, make_ands_explicit, make_opclause,
};

/// What a condition compares an ID with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// An ID, to the right of the operator.
    Id(Operator),
    /// A time, to the right of the operator.
    Time(Operator),
    /// A range of times.
    Range,
}

impl Test {
    /// What a function compares its two arguments with, by its name; `None` if it is none of ours. Any user can create a function with
    /// such a name. Callers therefore check the type of each value before they read the value.
    pub fn of<T: StoredId>(function: Oid) -> Option<Self> {
        let (test, _) = expression::name_and_schema(function, Self::named::<T>)?;
        test.map(|(test, _)| test)
    }

    /// What the function with a name compares its two arguments with, and whether the ID is the second one.
    fn named<T: StoredId>(name: &[u8]) -> Option<(Self, bool)> {
        if let Some(rest) = name.strip_prefix(b"timestamptz_") {
            let operator = rest.strip_suffix(T::NAME.as_bytes())?.strip_suffix(b"_")?;
            return Some((Self::Time(Operator::named(operator)?.commuted()), true));
        }
        let rest = name.strip_prefix(T::NAME.as_bytes())?.strip_prefix(b"_")?;
        Some(match (rest, rest.strip_suffix(b"_timestamptz")) {
            (b"contained_by_range", _) => (Self::Range, false),
            (b"range_contains", _) => (Self::Range, true),
            (_, Some(operator)) => (Self::Time(Operator::named(operator)?), false),
            (operator, None) => (Self::Id(Operator::named(operator)?), false),
        })
    }
}

/// A call of one of our functions, or of its operator.
pub struct Condition<'p> {
    pub test: Test,
    schema: Oid,
    id: NodeRef<'p>,
    id_type: Oid,
    /// The time or the range.
    operand: NodeRef<'p>,
}

impl<'p> Condition<'p> {
    /// Reads a call of a function; `None` if the function is none of ours. Any user can create a function with the name of one of
    /// ours. The range is therefore checked to be one, because its value may be read.
    pub fn of<T: StoredId>(function: Oid, arguments: Nodes<'p>) -> Option<Self> {
        let (test, schema) = expression::name_and_schema(function, Test::named::<T>)?;
        let (test, is_id_second) = test?;
        let &[first, second] = arguments.as_slice() else { return None };
        let (id, mut operand) = if is_id_second { (second, first) } else { (first, second) };
        if test == Test::Range {
            operand = operand.without_relabel();
            if getBaseType(exprType(operand)) != pg_sys::TSTZRANGEOID {
                return None;
            }
        }
        Some(Self { test, schema, id, id_type: exprType(id), operand })
    }

    /// Clauses with native comparisons that are equivalent to the operator anywhere in a query; `None` if it remains.
    fn clauses<T: StoredId>(&self, root: Root<'p>) -> Option<Nodes<'p>> {
        let is_of_core_type = T::CORE_TYPE.is_some();
        let is_constant = self.operand.constant().is_some();
        let clauses = match self.test {
            _ if is_of_core_type => None,
            Test::Time(operator) => self.with_constant::<T>(operator).or_else(|| self.with_first_id::<T>(operator)),
            // Two comparisons would evaluate an ID that is not a column twice.
            Test::Range if is_constant && self.id.column().is_some() => self.within_range::<T>(root),
            Test::Range | Test::Id(_) => None,
        };
        if clauses.is_some() {
            return clauses;
        }
        let is_worth_it = match expression::skipping(root, self.id) {
            Skipping::None => false,
            Skipping::Constants => is_constant,
            Skipping::All => true,
        };
        if !is_worth_it
            || contain_volatile_functions(self.operand)
            || contain_subplans(self.operand)
            // The server's join estimator takes two comparisons for independent ones.
            || self.test == Test::Range && contain_var_clause(self.operand)
        {
            return None;
        }
        match self.test {
            Test::Time(operator) if !is_of_core_type => self.with_possible_bound::<T>(operator),
            _ => self.comparisons::<T>(root),
        }
    }

    /// Whether the time or the range is no constant, and can be computed more than once before a scan.
    pub fn is_computable(&self) -> bool {
        !self.operand.is_constant() && !contain_volatile_functions(self.operand) && !contain_subplans(self.operand)
    }

    /// The native comparisons that an index gets as its condition; `None` if a function that they call does not exist, or if the user
    /// must not execute it.
    pub fn comparisons<T: StoredId>(&self, root: Root<'p>) -> Option<Nodes<'p>> {
        match self.test {
            Test::Id(_) => None,
            Test::Time(operator) => {
                self.with_constant::<T>(operator).or_else(|| self.with_nearest_bound::<T>(operator))
            }
            Test::Range => self.within_range::<T>(root),
        }
    }

    /// The number of comparisons that replace this condition in an index if the bound of one of them is a call of a function with these
    /// arguments; `None` if it is not. Two conditions on one time differ in the symbol.
    pub fn comparisons_with<T: StoredId>(&self, function: Oid, arguments: Nodes) -> Option<u8> {
        let number = |name: &[u8]| match (self.test, name.strip_prefix(T::NAME.as_bytes())?) {
            (Test::Time(operator), b"_time_bound") => Some((1, Some(operator))),
            (Test::Range, b"_range_lower" | b"_range_upper") => Some((2, None)),
            _ => None,
        };
        let (number, operator) = expression::name_and_schema(function, number)?.0?;
        let has_symbol = |operator| {
            let second = arguments.as_slice().get(1);
            second.is_some_and(|&second| equal(Some(second), Some(symbol(operator).1)))
        };
        operator.is_none_or(has_symbol).then_some(number)
    }

    /// Whether the operator family of an index contains the operators of these comparisons. The family's own strategy numbers may
    /// differ: a user can create a family, for example with descending order.
    fn is_indexable<T: StoredId>(&self, family: Oid) -> bool {
        let contains = |operator: Operator| {
            let operator = expression::operator(self.id_type, operator.strategy());
            // SAFETY: a look-up in the system cache.
            unsafe { pg_sys::op_in_opfamily(operator, family) }
        };
        match self.test {
            Test::Id(_) => false,
            Test::Time(operator) => contains(of_nearest::<T>(operator)),
            Test::Range => contains(Operator::GreaterOrEqual) && contains(Operator::LessOrEqual),
        }
    }

    /// The equivalent comparison with an ID; `None` if the time is not a constant.
    fn with_constant<T: StoredId>(&self, operator: Operator) -> Option<Nodes<'p>> {
        let time = self.operand.constant()?.constvalue.value() as i64;
        let (operator, id) = operator.with_id::<T>(epoch::saturated_unix_micros(time));
        Some(expression::list([self.with_id(operator, id)?]))
    }

    /// For a time near the clock, `id >= T_floor(time)` or `id < T_floor(time)`. For `>` and `<=`, the bound is
    /// `T_time_lower(time, '>')` instead; for `>` and `<=` with `scru_before(t)`, which is `E >= t` or `E < t`, it is `T_lower(t)`.
    fn with_first_id<T: StoredId>(&self, operator: Operator) -> Option<Nodes<'p>> {
        if !near_clock::is_before::<T>(self.operand) {
            return None;
        }
        let rounded = |name, time| self.call(&[T::NAME, name], self.id_type, [(pg_sys::TIMESTAMPTZOID, time)]);
        let bound = if operator.is_at_start_of_tick() {
            rounded("_floor", self.operand)?
        } else if let Some(time) = time_of_id::argument_of_before(self.operand) {
            rounded("_lower", time)?
        } else {
            self.bound::<T>("lower", Operator::Greater)?
        };
        let operator = if operator.is_lower_bound() { Operator::GreaterOrEqual } else { Operator::Less };
        Some(expression::list([self.compared(operator, bound)?]))
    }

    /// `id >= T_time_bound(time, symbol)` or `id <= T_time_bound(time, symbol)`
    fn with_nearest_bound<T: StoredId>(&self, operator: Operator) -> Option<Nodes<'p>> {
        let bound = self.bound::<T>("bound", operator)?;
        Some(expression::list([self.compared(of_nearest::<T>(operator), bound)?]))
    }

    /// `id >= T_time_lower(time, symbol) AND T_time_possible(id, time, symbol)`, or with `<=` and `T_time_upper`
    fn with_possible_bound<T: StoredId>(&self, operator: Operator) -> Option<Nodes<'p>> {
        let bound = self.bound::<T>(if operator.is_lower_bound() { "lower" } else { "upper" }, operator)?;
        let arguments = [(self.id_type, self.id), (pg_sys::TIMESTAMPTZOID, self.operand), symbol(operator)];
        let possible = self.call(&[T::NAME, "_time_possible"], pg_sys::BOOLOID, arguments)?;
        Some(expression::list([self.compared(of_nearest::<T>(operator), bound)?, possible]))
    }

    /// `id >= T_range_lower(range)` and `id <= T_range_upper(range)`. For a constant range, comparisons with the first ID of a tick
    /// where possible, as for constant times, and only one of them if the other holds for every value of the type. Computing these
    /// IDs here saves the look-up and the evaluation of a function for each of them.
    fn within_range<T: StoredId>(&self, root: Root<'p>) -> Option<Nodes<'p>> {
        if let Some(range) = self.operand.constant() {
            // SAFETY: `of` has checked the type.
            let (first, last): (T, T) = unsafe { first_and_last(range) };
            let has_other_values = T::CORE_TYPE.is_some();
            let has_lower = first != T::MIN || has_other_values;
            let has_upper = last != T::MAX || has_other_values || !has_lower;
            let lower = has_lower.then_some((Operator::GreaterOrEqual, first));
            let upper = has_upper.then(|| Operator::LessOrEqual.at_tick(last));
            let bounds = lower.into_iter().chain(upper);
            return bounds
                .map(|(operator, id)| self.with_id(operator, id))
                .try_fold(Nodes::EMPTY, |clauses, clause| Some(lappend(clauses, clause?)));
        }
        let compared = |operator, bound| {
            let range = [(pg_sys::TSTZRANGEOID, copy_node(self.operand))];
            let call = self.call(&[T::NAME, "_range_", bound], self.id_type, range)?;
            // The bound of NULL is NULL.
            self.compared(operator, if self.operand.is_constant() { eval_const_expressions(root, call) } else { call })
        };
        let lower = compared(Operator::GreaterOrEqual, "lower")?;
        Some(expression::list([lower, compared(Operator::LessOrEqual, "upper")?]))
    }

    /// The call `T_time_NAME(time, symbol)`; `None` if the function does not exist.
    fn bound<T: StoredId>(&self, name: &str, operator: Operator) -> Option<NodeRef<'p>> {
        let time = (pg_sys::TIMESTAMPTZOID, copy_node(self.operand));
        self.call(&[T::NAME, "_time_", name], self.id_type, [time, symbol(operator)])
    }

    /// A call of the function with a name, in parts, in the schema of the condition's function; `None` if there is none. The arguments
    /// have these types.
    fn call<const N: usize>(
        &self,
        name: &[&str],
        returns: Oid,
        arguments: [(Oid, NodeRef<'p>); N],
    ) -> Option<NodeRef<'p>> {
        let function = expression::function_in(self.schema, name, &arguments.map(|(type_, _)| type_))?;
        Some(expression::call(function, returns, arguments.map(|(_, node)| node)))
    }

    /// The comparison with an ID; `None` as [`Self::compared`].
    fn with_id<T: StoredId>(&self, operator: Operator, id: T) -> Option<NodeRef<'p>> {
        let (length, by_value) = (size_of::<T::Stored>() as c_int, T::Stored::BY_VALUE);
        self.compared(operator, expression::constant(self.id_type, Oid::INVALID, length, id.to_datum(), by_value))
    }

    /// The native comparison `id op bound`; `None` if there is none, as for the type of a user's function with the name of ours, or if
    /// the user must not execute its function: a query must not fail because of an operator that it does not contain.
    fn compared(&self, operator: Operator, bound: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let operator = expression::operator(self.id_type, operator.strategy());
        if operator == Oid::INVALID || !expression::may_execute(operator) {
            return None;
        }
        let (id, none) = (copy_node(self.id), Oid::INVALID);
        Some(make_opclause(operator, pg_sys::BOOLOID, false, id, bound, none, none))
    }
}

/// The operator of the native comparison with the nearest ID that satisfies an operator; for a core type, the operator itself.
const fn of_nearest<T: StoredId>(operator: Operator) -> Operator {
    if T::CORE_TYPE.is_some() {
        operator
    } else if operator.is_lower_bound() {
        Operator::GreaterOrEqual
    } else {
        Operator::LessOrEqual
    }
}

/// The symbol of an operator as a constant of type text.
fn symbol<'p>(operator: Operator) -> (Oid, NodeRef<'p>) {
    let (symbol, collation) = (datum::varlena(operator.symbol().as_bytes()), pg_sys::DEFAULT_COLLATION_OID);
    (pg_sys::TEXTOID, expression::constant(pg_sys::TEXTOID, collation, -1, symbol, false))
}

/// The first and the last ID in a constant range; the largest and the smallest of all if there is none.
///
/// # Safety
/// `range` is a tstzrange other than NULL.
pub unsafe fn first_and_last<T: StoredId>(range: &Const) -> (T, T) {
    // SAFETY: guaranteed by the caller.
    range::first_and_last(unsafe { epoch::range_bounds(range.constvalue) })
}

/// Answers the server's request for an expression in place of a call; null if the call remains.
///
/// # Safety
/// The request is for one of our functions, during planning.
pub unsafe fn simplify<T: StoredId>(request: &pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: guaranteed by the caller.
    let (root, call, arguments) = unsafe {
        let call = &*request.fcall;
        (Root::new(request.root), call.funcid, Nodes::new(call.args))
    };
    let clauses = Condition::of::<T>(call, arguments).and_then(|condition| condition.clauses::<T>(root));
    clauses.map_or(ptr::null_mut(), |clauses| make_ands_explicit(clauses).as_ptr())
}

/// Answers the server's request for an exact index condition; null if the index does not support the operators.
///
/// # Safety
/// The request is for one of our functions or operators, with the index column as an argument, during planning.
pub unsafe fn index<T: StoredId>(request: &mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: guaranteed by the caller.
    let (root, node) = unsafe { (Root::new(request.root), NodeRef::new(request.node)) };
    let comparisons = node.and_then(expression::called).and_then(|(function, arguments)| {
        let condition = Condition::of::<T>(function, arguments)?;
        let operand = condition.operand.as_ptr();
        // SAFETY: the index is that of the request.
        let is_supported = arguments.as_slice()[request.indexarg as usize] == condition.id
            && condition.is_indexable::<T>(request.opfamily)
            && unsafe { pg_sys::is_pseudo_constant_for_index(request.root, operand, request.index) };
        if is_supported { condition.comparisons::<T>(root) } else { None }
    });
    request.lossy = comparisons.is_none();
    comparisons.map_or(ptr::null_mut(), Nodes::as_ptr)
}
