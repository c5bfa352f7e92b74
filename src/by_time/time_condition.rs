//! Conditions on `T_timestamp(id)`, as conditions on the ID.
//!
//! The operators `>` and `<=` of an ID and a time compare the tick of the ID with the tick that contains the time. The time of an ID
//! is the start of its tick. With E = `T_timestamp(id)`:
//!
//! | condition | is | condition | is |
//! |---|---|---|---|
//! | `E > t` | `id > t` | `E <= t` | `id <= t` |
//! | `E >= t` | `id > scru_before(t)` | `E < t` | `id <= scru_before(t)` |
//!
//! `E = t` is both `E >= t` and `E <= t`. The rest of the planner then treats them as any other condition on an ID: see
//! [`super::condition`]. The hook runs once for each table, after the simplification of the query, and before the planner distributes
//! the conditions. It rewrites the conditions of the query and of policies, and the predicates of partial indexes, below AND, OR and
//! NOT. A condition that it leaves as it is remains correct.

use core::cell::Cell;
use core::ffi::c_int;

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, FromExpr, IndexOptInfo, JoinExpr, NodeTag, NullTest, Oid, OpExpr, PlannerInfo,
    RelOptInfo, RowCompareExpr, SQLValueFunction,
};

use crate::by_time::expression::{self, list};
use crate::by_time::time_of_id::{self, TimeOfId};
use crate::call::epoch;
use crate::pg::nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    bms_is_member, bms_next_member, check_stack_depth, contain_subplans, contain_var_clause,
    contain_volatile_functions, copy_node, eval_const_expressions, exprType, get_opcode, getBaseType, lappend,
    list_concat, list_concat_copy, list_copy_head, make_ands_explicit, make_ands_implicit, make_opclause, makeBoolExpr,
    makeRelabelType, predicate_implied_by, pull_varnos,
};

const LESS: u32 = pg_sys::BTLessStrategyNumber;
const LESS_OR_EQUAL: u32 = pg_sys::BTLessEqualStrategyNumber;
const EQUAL: u32 = pg_sys::BTEqualStrategyNumber;
const GREATER_OR_EQUAL: u32 = pg_sys::BTGreaterEqualStrategyNumber;
const GREATER: u32 = pg_sys::BTGreaterStrategyNumber;

/// The btree operator family of timestamptz, timestamp and date.
pub const TIME_FAMILY: u32 = 434;

/// The types of the operands of the comparisons with a timestamptz, and the functions, in the order of their btree strategies.
const COMPARISONS: [([Oid; 2], [u32; 5]); 5] = {
    use pg_sys::*;
    [
        (
            [TIMESTAMPTZOID, TIMESTAMPTZOID],
            [F_TIMESTAMPTZ_LT, F_TIMESTAMPTZ_LE, F_TIMESTAMPTZ_EQ, F_TIMESTAMPTZ_GE, F_TIMESTAMPTZ_GT],
        ),
        (
            [TIMESTAMPTZOID, DATEOID],
            [
                F_TIMESTAMPTZ_LT_DATE,
                F_TIMESTAMPTZ_LE_DATE,
                F_TIMESTAMPTZ_EQ_DATE,
                F_TIMESTAMPTZ_GE_DATE,
                F_TIMESTAMPTZ_GT_DATE,
            ],
        ),
        (
            [DATEOID, TIMESTAMPTZOID],
            [
                F_DATE_LT_TIMESTAMPTZ,
                F_DATE_LE_TIMESTAMPTZ,
                F_DATE_EQ_TIMESTAMPTZ,
                F_DATE_GE_TIMESTAMPTZ,
                F_DATE_GT_TIMESTAMPTZ,
            ],
        ),
        (
            [TIMESTAMPTZOID, TIMESTAMPOID],
            [
                F_TIMESTAMPTZ_LT_TIMESTAMP,
                F_TIMESTAMPTZ_LE_TIMESTAMP,
                F_TIMESTAMPTZ_EQ_TIMESTAMP,
                F_TIMESTAMPTZ_GE_TIMESTAMP,
                F_TIMESTAMPTZ_GT_TIMESTAMP,
            ],
        ),
        (
            [TIMESTAMPOID, TIMESTAMPTZOID],
            [
                F_TIMESTAMP_LT_TIMESTAMPTZ,
                F_TIMESTAMP_LE_TIMESTAMPTZ,
                F_TIMESTAMP_EQ_TIMESTAMPTZ,
                F_TIMESTAMP_GE_TIMESTAMPTZ,
                F_TIMESTAMP_GT_TIMESTAMPTZ,
            ],
        ),
    ]
};

/// The btree strategy of the function of a comparison with a timestamptz, and the types of its operands.
fn comparison_of(function: Oid) -> Option<(u32, [Oid; 2])> {
    // Excludes the comparisons of most other types at once.
    const ALL: core::ops::RangeInclusive<u32> = pg_sys::F_TIMESTAMPTZ_EQ..=pg_sys::F_TIMESTAMPTZ_NE_TIMESTAMP;
    let function = function.to_u32();
    if !ALL.contains(&function) {
        return None;
    }
    COMPARISONS.iter().find_map(|(types, functions)| {
        let index = functions.iter().position(|&each| each == function)?;
        Some((index as u32 + LESS, *types))
    })
}

/// Rewrites the conditions of a query on the times of IDs of a table, and the predicates of its partial indexes.
///
/// # Safety
/// Must be called by the planner's hook for tables.
pub unsafe fn on_table(root: *mut PlannerInfo, relation: *mut RelOptInfo, is_parent: bool) {
    if !time_of_id::is_served() {
        return;
    }
    // SAFETY: guaranteed by the caller. No frame has anything to drop.
    unsafe {
        pg_sys::panic::pgrx_extern_c_guard(|| {
            let relation = &*relation;
            let table =
                Table { planner: &*root, root: Root::new(root), relation, is_parent, is_rewritten: Cell::new(None) };
            let rewrite = |conditions| table.conjunction(Nodes::new(conditions)).as_ptr();
            if relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
                // CREATE INDEX and CLUSTER plan a query without a jointree.
                table.in_jointree(NodeRef::new((*(*root).parse).jointree));
                let entry = *(*root).simple_rte_array.add(relation.relid as usize);
                if let Some(levels) = (*entry).securityQuals.as_ref() {
                    for index in 0..levels.length as usize {
                        let level = &mut (*levels.elements.add(index)).ptr_value;
                        *level = rewrite(level.cast()).cast();
                    }
                }
            }
            for index in Nodes::new(relation.indexlist).as_slice() {
                let index = index.as_ptr::<IndexOptInfo>();
                (*index).indpred = rewrite((*index).indpred);
            }
        });
    }
}

/// Whether a condition of a table contains a comparison of the time of an ID, as those under UNION ALL remain. The node is the
/// expression of the condition, or an argument of its AND, OR or NOT.
pub fn has_comparison(relation: &RelOptInfo, node: NodeRef) -> bool {
    if let Some(junction) = node.cast::<BoolExpr>() {
        check_stack_depth();
        return arguments(junction).as_slice().iter().any(|&argument| has_comparison(relation, argument));
    }
    expression::called(node).is_some_and(|(function, arguments)| {
        comparison_of(function).is_some()
            && arguments.as_slice().iter().any(|&argument| id_of(relation, argument).is_some())
    })
}

fn arguments(junction: &BoolExpr) -> Nodes<'_> {
    // SAFETY: the arguments are expressions.
    unsafe { Nodes::new(junction.args) }
}

/// The ID whose time an expression is, if it is a column of the table.
fn id_of<'p>(relation: &RelOptInfo, node: NodeRef<'p>) -> Option<(TimeOfId, NodeRef<'p>)> {
    let (function, id) = time_of_id::called(node)?;
    let column = id.column()?;
    let is_of_table = column.varno as u32 == relation.relid && column.varlevelsup == 0;
    (is_of_table && getBaseType(column.vartype) == function.id_type).then_some((function, id))
}

/// A table whose conditions are rewritten.
struct Table<'p> {
    planner: &'p PlannerInfo,
    root: Root<'p>,
    relation: &'p RelOptInfo,
    is_parent: bool,
    /// Whether its conditions are rewritten, once that is known.
    is_rewritten: Cell<Option<bool>>,
}

impl<'p> Table<'p> {
    /// As [`id_of`]; `None` also if the conditions of the table remain.
    fn id_of(&self, node: NodeRef<'p>) -> Option<(TimeOfId, NodeRef<'p>)> {
        let (function, id) = id_of(self.relation, node)?;
        let is_rewritten = self.is_rewritten.get().unwrap_or_else(|| self.is_to_be_rewritten());
        self.is_rewritten.set(Some(is_rewritten));
        (is_rewritten && function.is_executable()).then_some((function, id))
    }

    /// Whether the conditions of the table are rewritten: unless it has its own access by the time of an ID. A child has the conditions
    /// of its topmost parent.
    fn is_to_be_rewritten(&self) -> bool {
        // SAFETY: the planner has entries for the numbers of tables.
        let parent = unsafe {
            let top = bms_next_member(self.relation.top_parent_relids, -1);
            if top > 0 { (*self.planner.simple_rel_array.add(top as usize)).as_ref() } else { None }
        };
        if let Some(parent) = parent {
            return !parent.part_scheme.is_null() && !self.has_own_access(parent);
        }
        // The CHECK constraints of the children of a table without partitions may exclude them.
        let is_inherited = self.is_parent && self.relation.part_scheme.is_null();
        self.relation.fdwroutine.is_null() && !is_inherited && !self.has_own_access(self.relation)
    }

    /// Whether a column of an index of a table is the time of an ID, or one of its partition key. An expression that only contains it,
    /// such as its date, serves no condition on the time, and a partial index only those of some queries.
    fn has_own_access(&self, relation: &RelOptInfo) -> bool {
        // SAFETY: a table with partitions has as many lists of expressions as its scheme has columns.
        unsafe {
            let has_time = |columns| {
                let columns = Nodes::new(columns).as_slice();
                columns.iter().any(|&each| time_of_id::called(each).is_some())
            };
            let is_usable = |predicate| {
                let conditions = || conditions_in(NodeRef::new((*self.planner.parse).jointree));
                let predicate = Nodes::new(predicate);
                predicate.is_empty() || predicate_implied_by(predicate, conditions(), false)
            };
            let indexes = Nodes::new(relation.indexlist).structs::<IndexOptInfo>();
            indexes.iter().any(|index| has_time(index.indexprs) && is_usable(index.indpred))
                || relation.part_scheme.as_ref().is_some_and(|scheme| {
                    (0..scheme.partnatts as usize).any(|column| has_time(*relation.partexprs.add(column)))
                })
        }
    }

    /// Rewrites the conditions of a FROM clause or a join.
    fn in_jointree(&self, node: Option<NodeRef<'p>>) {
        // SAFETY: the tag identifies the struct. The planner owns the query. Conditions are lists with an implicit AND.
        unsafe {
            let rewritten = |quals: *mut pg_sys::Node| self.conjunction(Nodes::new(quals.cast())).as_ptr().cast();
            match node.map(|node| (node.tag(), node)) {
                Some((NodeTag::T_FromExpr, from)) => {
                    let from = from.as_ptr::<FromExpr>();
                    Nodes::new((*from).fromlist).as_slice().iter().for_each(|&item| self.in_jointree(Some(item)));
                    (*from).quals = rewritten((*from).quals);
                }
                Some((NodeTag::T_JoinExpr, join)) => {
                    let join = join.as_ptr::<JoinExpr>();
                    self.in_jointree(NodeRef::new((*join).larg));
                    self.in_jointree(NodeRef::new((*join).rarg));
                    (*join).quals = rewritten((*join).quals);
                }
                _ => {}
            }
        }
    }

    /// Conditions with an implicit AND, rewritten. Below an AND, the planner expects no other.
    fn conjunction(&self, conditions: Nodes<'p>) -> Nodes<'p> {
        self.each(conditions, |list, condition| list_concat(list, make_ands_implicit(condition)))
    }

    /// Conditions, rewritten and added to a list one by one; the same list if none changes.
    fn each(&self, conditions: Nodes<'p>, add: fn(Nodes<'p>, NodeRef<'p>) -> Nodes<'p>) -> Nodes<'p> {
        let mut result = None;
        for (index, &condition) in conditions.as_slice().iter().enumerate() {
            let rewritten = self.condition(condition);
            if result.is_none() && rewritten != condition {
                result = Some(list_copy_head(conditions, index as c_int));
            }
            result = result.map(|list| add(list, rewritten));
        }
        result.unwrap_or(conditions)
    }

    /// A condition, rewritten; the same node if it remains.
    fn condition(&self, node: NodeRef<'p>) -> NodeRef<'p> {
        let rewritten = if let Some(operator) = node.cast() {
            self.operator(operator)
        } else if let Some(junction) = node.cast() {
            self.boolean(junction)
        } else if let Some(test) = node.cast() {
            self.null_test(test)
        } else {
            node.cast().and_then(|row| self.row_comparison(row))
        };
        rewritten.unwrap_or(node)
    }

    fn boolean(&self, junction: &'p BoolExpr) -> Option<NodeRef<'p>> {
        let old = arguments(junction);
        if junction.boolop == BoolExprType::AND_EXPR {
            let new = self.conjunction(old);
            return (new != old).then(|| make_ands_explicit(new));
        }
        let new = self.each(old, |list, node| lappend(list, node));
        (new != old).then(|| makeBoolExpr(junction.boolop, new, junction.location))
    }

    /// The time of an ID is NULL if and only if the ID is.
    fn null_test(&self, test: &'p NullTest) -> Option<NodeRef<'p>> {
        // SAFETY: the argument is an expression, and so is the copy.
        unsafe {
            let (_, id) = self.id_of(NodeRef::new(test.arg)?).filter(|_| !test.argisrow)?;
            let copy = copy_node(NodeRef::of(test));
            (*copy.as_ptr::<NullTest>()).arg = copy_node(id).as_ptr();
            Some(copy)
        }
    }

    /// `(E, …) < (t, …)` implies `E <= t`.
    fn row_comparison(&self, row: &'p RowCompareExpr) -> Option<NodeRef<'p>> {
        // SAFETY: the list has OIDs, one for each pair of operands, which are expressions.
        let (operator, left, right) = unsafe {
            let first = |operands| Nodes::new(operands).as_slice().first().copied();
            ((*(*row.opnos).elements).oid_value, first(row.largs)?, first(row.rargs)?)
        };
        let (strategy, types) = comparison_of(get_opcode(operator))?;
        if strategy == EQUAL || [left, right].into_iter().any(is_costly) {
            return None;
        }
        let strategy = if strategy < EQUAL { LESS_OR_EQUAL } else { GREATER_OR_EQUAL };
        let bound = self.comparison(strategy, types, left, right)?;
        let row = list([copy_node(NodeRef::of(row))]);
        Some(make_ands_explicit(list_concat(row, make_ands_implicit(bound))))
    }

    /// The negator of an operator has no function yet.
    fn operator(&self, operator: &'p OpExpr) -> Option<NodeRef<'p>> {
        let (strategy, types) = comparison_of(expression::function_of(operator))?;
        // SAFETY: arguments are nodes.
        let &[left, right] = unsafe { Nodes::new(operator.args) }.as_slice() else { return None };
        self.comparison(strategy, types, left, right)
    }

    /// The comparison of two times, of which one is that of an ID, as a comparison of the ID.
    fn comparison(&self, strategy: u32, types: [Oid; 2], left: NodeRef<'p>, right: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let ((function, id), strategy, time, type_) = match self.id_of(left) {
            Some(id) => (id, strategy, right, types[1]),
            None => (self.id_of(right)?, GREATER + LESS - strategy, left, types[0]),
        };
        // The times of two IDs of one table set no bound.
        // SAFETY: the set is the server's.
        if unsafe { bms_is_member(self.relation.relid as c_int, pull_varnos(self.root, time)) } {
            return None;
        }
        let time = as_timestamptz(time, type_)?;
        if strategy != EQUAL {
            return Some(self.compared(&function, strategy, id, time));
        }
        // Joins by equality remain, for hash and merge joins.
        if contain_var_clause(time) || is_costly(time) {
            return None;
        }
        let both = [GREATER_OR_EQUAL, LESS_OR_EQUAL].map(|each| self.compared(&function, each, id, time));
        let both = both.into_iter().fold(Nodes::EMPTY, |list, each| list_concat(list, make_ands_implicit(each)));
        Some(make_ands_explicit(both))
    }

    /// The comparison of an ID with a time.
    fn compared(&self, function: &TimeOfId, strategy: u32, id: NodeRef<'p>, time: NodeRef<'p>) -> NodeRef<'p> {
        let none = Oid::INVALID;
        let time = match (strategy, time.constant()) {
            (GREATER | LESS_OR_EQUAL, _) => copy_node(time),
            // Computed here: the planner would set up an executor for a call.
            (_, Some(time)) => {
                let before = epoch::before(time.constvalue.value() as i64);
                expression::constant(pg_sys::TIMESTAMPTZOID, none, size_of::<i64>() as c_int, before.into(), true)
            }
            _ => expression::call(function.before, pg_sys::TIMESTAMPTZOID, [copy_node(time)]),
        };
        let operator = if strategy >= GREATER_OR_EQUAL { function.greater } else { function.less_or_equal };
        let id = as_id(copy_node(id), function);
        eval_const_expressions(self.root, make_opclause(operator, pg_sys::BOOLOID, false, id, time, none, none))
    }
}

/// A column of the type of an ID, or of a domain over it, as an ID. The argument of a cast is the column itself, that of a function
/// call is below a node for the conversion.
pub fn as_id<'p>(id: NodeRef<'p>, function: &TimeOfId) -> NodeRef<'p> {
    match exprType(id) == function.id_type {
        true => id,
        // A domain has the bytes of its type.
        false => {
            let implicit = pg_sys::CoercionForm::COERCE_IMPLICIT_CAST;
            makeRelabelType(id, function.id_type, -1, Oid::INVALID, implicit)
        }
    }
}

/// Whether an expression must not be evaluated twice.
fn is_costly(node: NodeRef) -> bool {
    contain_volatile_functions(node) || contain_subplans(node)
}

/// A time as a timestamptz; `None` if the cast of a date or a timestamp could fail, which comparisons never do.
fn as_timestamptz(time: NodeRef, type_: Oid) -> Option<NodeRef> {
    let cast = match type_ {
        pg_sys::TIMESTAMPTZOID => return Some(time),
        pg_sys::DATEOID => pg_sys::F_TIMESTAMPTZ_DATE,
        _ => pg_sys::F_TIMESTAMPTZ_TIMESTAMP,
    };
    is_safe_to_cast(time, type_).then(|| expression::call(cast.into(), pg_sys::TIMESTAMPTZOID, [copy_node(time)]))
}

/// Whether the cast of a date or a timestamp to timestamptz cannot fail: that of `current_date` or `localtimestamp`, of a date up to a
/// century from `current_date`, and of a constant more than two days from the limits, or infinite.
fn is_safe_to_cast(time: NodeRef, type_: Oid) -> bool {
    const CENTURY: i32 = 36_525;
    const MICROS_PER_DAY: i64 = 86_400_000_000;
    // The limits of timestamptz, in days since 2000-01-01.
    const DAYS: core::ops::Range<i64> = -2_451_545..106_751_983;
    let is_current = |node: NodeRef| node.cast::<SQLValueFunction>().is_some();
    if is_current(time) {
        return true;
    }
    if let Some((function, arguments)) = expression::called(time) {
        let is_offset = [pg_sys::F_DATE_PLI, pg_sys::F_DATE_MII].contains(&function.to_u32());
        let &[date, days] = arguments.as_slice() else { return false };
        let days = days.constant().map(|days| days.constvalue.value() as i32);
        return is_offset && is_current(date) && days.is_some_and(|days| (-CENTURY..CENTURY).contains(&days));
    }
    let Some(value) = time.constant().map(|time| time.constvalue.value()) else { return false };
    let (is_infinite, days) = if type_ == pg_sys::DATEOID {
        let days = value as i32;
        (days == i32::MIN || days == i32::MAX, i64::from(days))
    } else {
        let micros = value as i64;
        (micros == i64::MIN || micros == i64::MAX, micros.div_euclid(MICROS_PER_DAY))
    };
    is_infinite || (DAYS.start + 2..DAYS.end - 2).contains(&days)
}

/// The conditions of a FROM clause or a join, and of all parts of it.
fn conditions_in(node: Option<NodeRef>) -> Nodes {
    // SAFETY: the tag identifies the struct. The conditions are lists with an implicit AND.
    unsafe {
        match node.map(|node| (node.tag(), node)) {
            Some((NodeTag::T_FromExpr, from)) => {
                let from = &*from.as_ptr::<FromExpr>();
                let parts = Nodes::new(from.fromlist).as_slice().iter();
                parts.fold(Nodes::new(from.quals.cast()), |all, &part| list_concat_copy(all, conditions_in(Some(part))))
            }
            Some((NodeTag::T_JoinExpr, join)) => {
                let join = &*join.as_ptr::<JoinExpr>();
                let left = list_concat_copy(Nodes::new(join.quals.cast()), conditions_in(NodeRef::new(join.larg)));
                list_concat_copy(left, conditions_in(NodeRef::new(join.rarg)))
            }
            _ => Nodes::EMPTY,
        }
    }
}
