//! Conditions on the time of an ID, and the native comparisons with which the support functions replace them.
//!
//! A comparison with a constant time is rewritten into a native comparison with the first ID of a tick, which every part of the
//! planner can use: the proofs for partial indexes, constraint exclusion, and partition pruning. A constant range becomes two of them.
//! A comparison with a time near the clock, such as `now() - interval '1 day'`, is rewritten likewise, with `T_lower` or `T_time_bound`:
//! such a time is before that of the largest ID. A bitmap scan then does not evaluate it for each row.
//!
//! A comparison with any other time keeps its operator. An index gets a native comparison with `T_time_bound` as its condition.
//! That function returns NULL if no ID satisfies the comparison. A NULL condition correctly finds no rows, but it would also find
//! none under NOT, and therefore cannot replace the operator in any place. The conditions by which the executor skips partitions are
//! these comparisons: see [`pruning`](crate::by_time::pruning). A range has two, with `T_range_lower` and `T_range_upper`.
//!
//! A condition on a value of a [`CORE_TYPE`](scru_ids::SqlId::CORE_TYPE) keeps its operator, also with a constant, unless only
//! native comparisons let the server skip parts of the table: the operator has an estimator of this extension, and the native comparisons
//! have the server's. For such a type, `T_time_bound` is never NULL.

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{self, Expr, List, Oid, OpExpr};
use scru_ids::Stored;
use scru_server::time_compare::{Operator, first_and_last};

use crate::by_time::expression::{self, Native};
use crate::by_time::near_clock;
use crate::by_time::time_of_id::TimeOfId;
use crate::call::stored::StoredId;
use crate::call::{epoch, internal_schema};
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::process::LookedUp;
use crate::pg::unguarded::{
    copy_node, equal, eval_const_expressions, exprType, make_ands_explicit, make_opclause, makeConst,
};
use crate::pg::{catalog, datum};

/// What a condition compares an ID with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// An ID, to the right of the operator.
    Id(Operator),
    /// A time, to the right of the operator.
    Time(Operator),
    /// A range of times.
    Range,
}

/// A function of a type that the planner recognizes in a query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// Compares its first argument, an ID, with the second one.
    Comparison(Comparison),
    /// Compares its second argument, an ID, with the first one.
    Commuted(Comparison),
    /// `T_time_bound`, `T_range_lower` or `T_range_upper`
    Bound,
}

/// The functions that this session has recognized: the type, the OID, and what it is.
pub static RECOGNIZED: LookedUp<(&str, Oid, Function)> = LookedUp::new();

impl Function {
    /// The function with an OID; `None` if it is none of these.
    pub fn of<T: StoredId>(oid: Oid) -> Option<Self> {
        let is_it = |&(name, known, _): &_| known == oid && name == T::NAME;
        let look_up = || Some((T::NAME, oid, Self::recognize::<T>(oid)?));
        RECOGNIZED.find_or(is_it, look_up).map(|(.., function)| function)
    }

    /// As [`Self::of`], by the symbol of the function in the catalog.
    fn recognize<T: StoredId>(function: Oid) -> Option<Self> {
        use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
        catalog::symbol(function, |symbol| {
            let affixes = symbol.strip_prefix(T::NAME).map(|suffix| ("", suffix));
            Some(match affixes.or_else(|| Some((symbol.strip_suffix(T::NAME)?, "")))? {
                ("", "_lt") => Self::Comparison(Comparison::Id(Less)),
                ("", "_le") => Self::Comparison(Comparison::Id(LessOrEqual)),
                ("", "_ge") => Self::Comparison(Comparison::Id(GreaterOrEqual)),
                ("", "_gt") => Self::Comparison(Comparison::Id(Greater)),
                ("", "_lt_timestamptz") => Self::Comparison(Comparison::Time(Less)),
                ("", "_le_timestamptz") => Self::Comparison(Comparison::Time(LessOrEqual)),
                ("", "_ge_timestamptz") => Self::Comparison(Comparison::Time(GreaterOrEqual)),
                ("", "_gt_timestamptz") => Self::Comparison(Comparison::Time(Greater)),
                ("timestamptz_lt_", "") => Self::Commuted(Comparison::Time(Greater)),
                ("timestamptz_le_", "") => Self::Commuted(Comparison::Time(GreaterOrEqual)),
                ("timestamptz_ge_", "") => Self::Commuted(Comparison::Time(LessOrEqual)),
                ("timestamptz_gt_", "") => Self::Commuted(Comparison::Time(Less)),
                ("", "_contained_by_range") => Self::Comparison(Comparison::Range),
                ("", "_range_contains") => Self::Commuted(Comparison::Range),
                ("", "_time_bound" | "_range_lower" | "_range_upper") => Self::Bound,
                _ => return None,
            })
        })
    }
}

/// A call of one of our functions, or of its operator.
pub struct Condition<'p> {
    pub comparison: Comparison,
    pub arguments: Nodes<'p>,
    pub id: NodeRef<'p>,
    /// The other ID, the time or the range.
    pub operand: NodeRef<'p>,
    id_type: Oid,
}

impl<'p> Condition<'p> {
    /// Reads a call of a function; `None` if the function compares no IDs of the type.
    pub fn of<T: StoredId>(function: Oid, arguments: Nodes<'p>) -> Option<Self> {
        let function = Function::of::<T>(function)?;
        let &[first, second] = arguments.as_slice() else { return None };
        let (comparison, id, operand) = match function {
            Function::Comparison(comparison) => (comparison, first, second),
            Function::Commuted(comparison) => (comparison, second, first),
            Function::Bound => return None,
        };
        let operand = if comparison == Comparison::Range { operand.without_relabel() } else { operand };
        Some(Self { comparison, arguments, id, operand, id_type: exprType(id) })
    }

    /// Clauses with native comparisons that are equivalent to the operator anywhere in a query; `None` if it remains.
    fn clauses<T: StoredId>(&self, root: Option<Root<'p>>) -> Option<Nodes<'p>> {
        let (is_of_core_type, is_constant) = (T::CORE_TYPE.is_some(), self.operand.constant().is_some());
        let is_replaced = match self.comparison {
            Comparison::Time(operator) if !is_of_core_type && near_clock::is_before_largest::<T>(self.operand) => {
                return self.near_clock::<T>(operator);
            }
            _ if is_of_core_type => {
                expression::is_skipped(root?, self.id, is_constant) && !expression::is_costly(self.operand)
            }
            Comparison::Id(_) => false,
            Comparison::Time(_) => is_constant,
            // Two comparisons would evaluate an ID that is not a column twice.
            Comparison::Range => is_constant && self.id.column().is_some(),
        };
        if is_replaced { self.comparisons::<T>(root) } else { None }
    }

    /// The native comparisons that are true for the same rows as the operator; where it is false, they can be NULL. `None` for the
    /// comparison of two IDs, and if a function that they call does not exist, or if the user must not execute it.
    pub fn comparisons<T: StoredId>(&self, root: Option<Root<'p>>) -> Option<Nodes<'p>> {
        match self.comparison {
            Comparison::Id(_) => None,
            Comparison::Time(operator) => Some(expression::list([self.with_time::<T>(operator)?])),
            Comparison::Range => self.within_range::<T>(root),
        }
    }

    /// The number of native comparisons that an index gets if the bound of one of them is a call of a function with these arguments, of
    /// which the first is the time or the range; `None` if it is not.
    pub fn comparisons_with<T: StoredId>(&self, function: Oid, arguments: Nodes) -> Option<usize> {
        Function::of::<T>(function).filter(|function| *function == Function::Bound)?;
        match (self.comparison, arguments.as_slice()) {
            // Two conditions on one time differ in the symbol.
            (Comparison::Time(operator), &[_, second]) => equal(Some(second), Some(symbol(operator))).then_some(1),
            (Comparison::Range, &[_]) => Some(2),
            _ => None,
        }
    }

    /// For a constant time, the equivalent comparison with an ID. Otherwise, `id >= T_time_bound(time, symbol)` or
    /// `id <= T_time_bound(time, symbol)`.
    fn with_time<T: StoredId>(&self, operator: Operator) -> Option<NodeRef<'p>> {
        let Some(time) = self.operand.constant() else {
            // The bound is the nearest ID that satisfies the operator; for a core type, the one with which it compares.
            let of_bound = match operator {
                _ if T::CORE_TYPE.is_some() => operator,
                Operator::GreaterOrEqual | Operator::Greater => Operator::GreaterOrEqual,
                Operator::LessOrEqual | Operator::Less => Operator::LessOrEqual,
            };
            return self.compared(of_bound, self.bound::<T>(operator)?);
        };
        let (operator, id) = operator.at_time::<T>(epoch::saturated_unix_micros(time.constvalue.value() as i64));
        self.with_id(operator, id)
    }

    /// For a time near the clock, `id >= bound` or `id < bound`, where the bound is the first ID of a tick: `T_lower(time)`, or, if the
    /// operator is `>` or `<=`, `T_time_bound(time, '>')`.
    fn near_clock<T: StoredId>(&self, operator: Operator) -> Option<Nodes<'p>> {
        use Operator::{Greater, GreaterOrEqual, Less};
        let bound = if operator.is_at_start_of_tick() {
            let function = expression::cast(pg_sys::TIMESTAMPTZOID, self.id_type)?;
            expression::call(function, self.id_type, [copy_node(self.operand)])
        } else {
            self.bound::<T>(Greater)?
        };
        let operator = if operator.is_lower_bound() { GreaterOrEqual } else { Less };
        Some(expression::list([self.compared(operator, bound)?]))
    }

    /// The call `T_time_bound(time, symbol)`; `None` if the function does not exist.
    fn bound<T: StoredId>(&self, operator: Operator) -> Option<NodeRef<'p>> {
        let arguments = [(pg_sys::TIMESTAMPTZOID, copy_node(self.operand)), (pg_sys::TEXTOID, symbol(operator))];
        self.call(&[T::NAME, "_time_bound"], arguments)
    }

    /// `id >= T_range_lower(range)` and `id <= T_range_upper(range)`. For a constant range, comparisons with the first ID of a tick
    /// where possible, as for constant times, and only one of them if the other holds for every value of the type. Computing these
    /// IDs here saves the look-up and the evaluation of a function for each of them.
    fn within_range<T: StoredId>(&self, root: Option<Root<'p>>) -> Option<Nodes<'p>> {
        if let Some(range) = self.operand.constant() {
            // SAFETY: the function takes a range.
            let (first, last): (T, T) = first_and_last(unsafe { epoch::range_bounds(range.constvalue) });
            let has_other_values = T::CORE_TYPE.is_some();
            let has_lower = first != T::MIN || has_other_values;
            let has_upper = last != T::MAX || has_other_values || !has_lower;
            let at_last = (Operator::LessOrEqual, last);
            let lower = has_lower.then_some((Operator::GreaterOrEqual, first));
            let upper = has_upper.then(|| if has_other_values { at_last } else { at_last.0.among_ids(last) });
            let clauses = [lower, upper].map(|bound| bound.map(|(operator, id)| self.with_id(operator, id)));
            return (!clauses.contains(&Some(None))).then(|| expression::list(clauses.into_iter().flatten().flatten()));
        }
        let compared = |operator, bound| {
            let range = [(pg_sys::TSTZRANGEOID, copy_node(self.operand))];
            let call = self.call(&[T::NAME, "_range_", bound], range)?;
            // The bound of NULL is NULL.
            self.compared(operator, if self.operand.is_constant() { eval_const_expressions(root, call) } else { call })
        };
        let lower = compared(Operator::GreaterOrEqual, "lower")?;
        Some(expression::list([lower, compared(Operator::LessOrEqual, "upper")?]))
    }

    /// A call of the internal function with a name, in parts, that returns an ID; `None` if there is none. The arguments have these types.
    fn call<const N: usize>(&self, name: &[&str], arguments: [(Oid, NodeRef<'p>); N]) -> Option<NodeRef<'p>> {
        let function = expression::function_in(internal_schema(), name, &arguments.map(|(type_, _)| type_))?;
        Some(expression::call(function, self.id_type, arguments.map(|(_, node)| node)))
    }

    /// The comparison with an ID; `None` as [`Self::compared`].
    fn with_id<T: StoredId>(&self, operator: Operator, id: T) -> Option<NodeRef<'p>> {
        let (length, by_value) = (size_of::<T::Stored>() as c_int, T::Stored::BY_VALUE);
        // SAFETY: an ID in the stored form of its type.
        let id = unsafe { makeConst(self.id_type, -1, Oid::INVALID, length, id.to_datum(), false, by_value) };
        self.compared(operator, id)
    }

    /// The native comparison `id op bound`; `None` if there is none, or if the user must not execute its function: a query must not fail
    /// because of an operator that it does not contain. A cached plan is not tested again for another role.
    fn compared(&self, operator: Operator, bound: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let native = Native::of(self.id_type, operator).filter(Native::is_executable)?;
        let (id, none) = (copy_node(self.id), Oid::INVALID);
        Some(make_opclause(native.operator, pg_sys::BOOLOID, false, id, bound, none, none))
    }
}

/// The symbol of an operator as a constant of type text.
fn symbol<'p>(operator: Operator) -> NodeRef<'p> {
    let (symbol, collation) = (datum::varlena(operator.symbol().as_bytes()), pg_sys::DEFAULT_COLLATION_OID);
    // SAFETY: a text.
    unsafe { makeConst(pg_sys::TEXTOID, -1, collation, -1, symbol, false, false) }
}

/// The simplified comparison of copies of an ID and a time, without a look-up of the function that compares them.
pub fn on_time<'p, T: StoredId>(
    root: Root<'p>,
    known: &TimeOfId,
    operator: Operator,
    id: NodeRef<'p>,
    operand: NodeRef<'p>,
) -> NodeRef<'p> {
    let (comparison, arguments, none) = (Comparison::Time(operator), Nodes::EMPTY, Oid::INVALID);
    let condition = Condition { comparison, arguments, id, operand, id_type: known.id_type };
    match condition.clauses::<T>(Some(root)) {
        Some(clauses) => make_ands_explicit(clauses),
        None => {
            let [id, operand] = [id, operand].map(|node| copy_node(node));
            make_opclause(known.operator(operator), pg_sys::BOOLOID, false, id, operand, none, none)
        }
    }
}

/// Answers the server's request for an expression in place of a call; null if the call remains.
///
/// # Safety
/// The request is for one of our functions, during planning.
pub unsafe fn simplify<T: StoredId>(request: &pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: guaranteed by the caller.
    let (root, call) = unsafe { (Root::new(request.root), NodeRef::new(request.fcall)) };
    let called = call.and_then(catalog::called);
    let condition = called.and_then(|(function, arguments)| Condition::of::<T>(function, arguments));
    let clauses = condition.and_then(|condition| condition.clauses::<T>(root));
    clauses.map_or(ptr::null_mut(), |clauses| make_ands_explicit(clauses).as_ptr())
}

/// Answers the server's request for an exact index condition; null if the index does not support the operators.
///
/// # Safety
/// The request is for one of our functions or operators, with the index column as an argument, during planning.
pub unsafe fn index<T: StoredId>(request: &mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: guaranteed by the caller.
    let (root, node) = unsafe { (Root::new(request.root), NodeRef::new(request.node)) };
    let comparisons = node.and_then(catalog::called).and_then(|(function, arguments)| {
        let condition = Condition::of::<T>(function, arguments)?;
        let is_of_column = arguments.as_slice()[request.indexarg as usize] == condition.id;
        // SAFETY: the index is that of the request. Look-ups in the system cache.
        unsafe {
            let operand = condition.operand.as_ptr();
            if !is_of_column || !pg_sys::is_pseudo_constant_for_index(request.root, operand, request.index) {
                return None;
            }
            // The strategies of the family may differ: a user can create one with descending order.
            let is_of_family = |each: &OpExpr| pg_sys::op_in_opfamily(each.opno, request.opfamily);
            condition.comparisons::<T>(root).filter(|all| all.structs().all(is_of_family))
        }
    });
    request.lossy = comparisons.is_none();
    comparisons.map_or(ptr::null_mut(), Nodes::as_ptr)
}
