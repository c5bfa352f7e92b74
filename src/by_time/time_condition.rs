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
use core::ptr;

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, FromExpr, IndexOptInfo, JoinExpr, List, Node, NodeTag, NullTest, Oid, OpExpr,
    PlannerInfo, RelOptInfo, RowCompareExpr, SQLValueFunction,
};

use crate::by_time::expression::{self, cast, constant, elements};
use crate::by_time::time_of_id::{self, TimeOfId};
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

/// Returns the btree strategy of the function of a comparison with a timestamptz, and the types of its operands.
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
            let table = Table { root, relation: &*relation, is_parent, is_rewritten: Cell::new(None) };
            if table.relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
                // CREATE INDEX and CLUSTER plan a query without a jointree.
                table.in_jointree((*(*root).parse).jointree.cast());
                let entry = *(*root).simple_rte_array.add(table.relation.relid as usize);
                let levels = (*entry).securityQuals;
                for index in 0..elements::<List>(levels).len() {
                    let level = &mut (*(*levels).elements.add(index)).ptr_value;
                    *level = table.conjunction(level.cast()).cast();
                }
            }
            for &index in elements::<IndexOptInfo>(table.relation.indexlist) {
                (*index).indpred = table.conjunction((*index).indpred);
            }
        });
    }
}

/// Returns whether a condition of a table contains a comparison of the time of an ID, as those under UNION ALL remain.
///
/// # Safety
/// `node` is the expression of the condition, or an argument of its AND, OR or NOT.
pub unsafe fn has_comparison(relation: &RelOptInfo, node: *mut Node) -> bool {
    // SAFETY: expressions of the planner.
    unsafe {
        if let Some(junction) = cast::<BoolExpr>(node, NodeTag::T_BoolExpr) {
            check_stack_depth();
            return elements(junction.args).iter().any(|&argument| has_comparison(relation, argument));
        }
        expression::called(node).is_some_and(|(function, arguments)| {
            comparison_of(function).is_some()
                && elements(arguments).iter().any(|&argument| id_of(relation, argument).is_some())
        })
    }
}

/// Returns the ID whose time an expression is, if it is a column of the table.
unsafe fn id_of(relation: &RelOptInfo, node: *mut Node) -> Option<(TimeOfId, *mut Node)> {
    // SAFETY: `node` is an expression.
    unsafe {
        let (function, id) = time_of_id::called(node)?;
        let column = expression::column(id)?;
        let is_of_table = column.varno as u32 == relation.relid && column.varlevelsup == 0;
        (is_of_table && getBaseType(column.vartype) == function.id_type).then_some((function, id))
    }
}

/// A table whose conditions are rewritten.
struct Table<'a> {
    root: *mut PlannerInfo,
    relation: &'a RelOptInfo,
    is_parent: bool,
    /// Whether its conditions are rewritten, once that is known.
    is_rewritten: Cell<Option<bool>>,
}

impl Table<'_> {
    /// As [`id_of`]; `None` also if the conditions of the table remain.
    unsafe fn id_of(&self, node: *mut Node) -> Option<(TimeOfId, *mut Node)> {
        // SAFETY: `node` is an expression.
        unsafe {
            let (function, id) = id_of(self.relation, node)?;
            let is_rewritten = self.is_rewritten.get().unwrap_or_else(|| {
                let is_rewritten = self.is_to_be_rewritten();
                self.is_rewritten.set(Some(is_rewritten));
                is_rewritten
            });
            (is_rewritten && function.is_executable()).then_some((function, id))
        }
    }

    /// Returns whether the conditions of the table are rewritten: unless it has its own access by the time of an ID. A child has the
    /// conditions of its topmost parent.
    unsafe fn is_to_be_rewritten(&self) -> bool {
        // SAFETY: the planner has entries for the numbers of tables.
        unsafe {
            let top = bms_next_member(self.relation.top_parent_relids, -1);
            if top > 0 {
                let parent = &*(*(*self.root).simple_rel_array.add(top as usize));
                return !parent.part_scheme.is_null() && !has_own_access(self.root, parent);
            }
            // The CHECK constraints of the children of a table without partitions may exclude them.
            let is_inherited = self.is_parent && self.relation.part_scheme.is_null();
            self.relation.fdwroutine.is_null() && !is_inherited && !has_own_access(self.root, self.relation)
        }
    }

    /// Rewrites the conditions of a FROM clause or a join.
    unsafe fn in_jointree(&self, node: *mut Node) {
        // SAFETY: the tag identifies the struct. The planner owns the query.
        unsafe {
            if node.is_null() {
                return;
            }
            match (*node).type_ {
                NodeTag::T_FromExpr => {
                    let from = &mut *node.cast::<FromExpr>();
                    elements(from.fromlist).iter().for_each(|&item| self.in_jointree(item));
                    from.quals = self.conjunction(from.quals.cast()).cast();
                }
                NodeTag::T_JoinExpr => {
                    let join = &mut *node.cast::<JoinExpr>();
                    self.in_jointree(join.larg);
                    self.in_jointree(join.rarg);
                    join.quals = self.conjunction(join.quals.cast()).cast();
                }
                _ => {}
            }
        }
    }

    /// Returns conditions with an implicit AND, rewritten. Below an AND, the planner expects no other.
    unsafe fn conjunction(&self, conditions: *mut List) -> *mut List {
        // SAFETY: expressions of the planner.
        unsafe { self.each(conditions, |list, condition| list_concat(list, make_ands_implicit(condition))) }
    }

    /// Returns conditions, rewritten and added to a list one by one; the same list if none changes.
    unsafe fn each(&self, conditions: *mut List, add: unsafe fn(*mut List, *mut Node) -> *mut List) -> *mut List {
        let mut result = None;
        // SAFETY: expressions of the planner.
        unsafe {
            for (index, &condition) in elements::<Node>(conditions).iter().enumerate() {
                let rewritten = self.condition(condition);
                if result.is_none() && rewritten != condition {
                    result = Some(list_copy_head(conditions, index as c_int));
                }
                result = result.map(|list| add(list, rewritten));
            }
        }
        result.unwrap_or(conditions)
    }

    /// Returns a condition, rewritten; the same node if it remains.
    unsafe fn condition(&self, node: *mut Node) -> *mut Node {
        // SAFETY: the tag identifies the struct.
        unsafe {
            let rewritten = match (*node).type_ {
                NodeTag::T_OpExpr => self.operator(&*node.cast()),
                NodeTag::T_BoolExpr => self.boolean(&*node.cast()),
                NodeTag::T_NullTest => self.null_test(&*node.cast()),
                NodeTag::T_RowCompareExpr => self.row_comparison(&*node.cast()),
                _ => None,
            };
            rewritten.unwrap_or(node)
        }
    }

    unsafe fn boolean(&self, expression: &BoolExpr) -> Option<*mut Node> {
        // SAFETY: expressions of the planner.
        unsafe {
            if expression.boolop == BoolExprType::AND_EXPR {
                let arguments = self.conjunction(expression.args);
                return (arguments != expression.args).then(|| make_ands_explicit(arguments));
            }
            let arguments = self.each(expression.args, |list, node| lappend(list, node.cast()));
            (arguments != expression.args).then(|| makeBoolExpr(expression.boolop, arguments, expression.location))
        }
    }

    /// The time of an ID is NULL if and only if the ID is.
    unsafe fn null_test(&self, test: &NullTest) -> Option<*mut Node> {
        // SAFETY: expressions of the planner.
        unsafe {
            let (_, id) = self.id_of(test.arg.cast()).filter(|_| !test.argisrow)?;
            let copy = copy_node(ptr::from_ref(test).cast_mut().cast()).cast::<NullTest>();
            (*copy).arg = copy_node(id).cast();
            Some(copy.cast())
        }
    }

    /// `(E, …) < (t, …)` implies `E <= t`.
    unsafe fn row_comparison(&self, row: &RowCompareExpr) -> Option<*mut Node> {
        // SAFETY: expressions of the planner. The list has OIDs, one for each pair of operands.
        unsafe {
            let first = (*(*row.opnos).elements).oid_value;
            let (strategy, types) = comparison_of(get_opcode(first))?;
            let (left, right) = (*elements::<Node>(row.largs).first()?, *elements::<Node>(row.rargs).first()?);
            if strategy == EQUAL || [left, right].iter().any(|&node| is_costly(node)) {
                return None;
            }
            let strategy = if strategy < EQUAL { LESS_OR_EQUAL } else { GREATER_OR_EQUAL };
            let bound = self.comparison(strategy, types, left, right)?;
            let row = copy_node(ptr::from_ref(row).cast_mut().cast());
            Some(make_ands_explicit(list_concat(expression::list([row]), make_ands_implicit(bound))))
        }
    }

    unsafe fn operator(&self, operator: &OpExpr) -> Option<*mut Node> {
        // SAFETY: an operator of this kind has two arguments. The negator of an operator has no function yet.
        unsafe {
            let is_looked_up = operator.opfuncid != Oid::INVALID;
            let function = if is_looked_up { operator.opfuncid } else { get_opcode(operator.opno) };
            let (strategy, types) = comparison_of(function)?;
            let &[left, right] = elements(operator.args) else { return None };
            self.comparison(strategy, types, left, right)
        }
    }

    /// Returns the comparison of two times, of which one is that of an ID, as a comparison of the ID.
    unsafe fn comparison(
        &self,
        strategy: u32,
        types: [Oid; 2],
        left: *mut Node,
        right: *mut Node,
    ) -> Option<*mut Node> {
        // SAFETY: expressions of the planner.
        unsafe {
            let ((function, id), strategy, time, type_) = match self.id_of(left) {
                Some(id) => (id, strategy, right, types[1]),
                None => (self.id_of(right)?, GREATER + LESS - strategy, left, types[0]),
            };
            // The times of two IDs of one table set no bound.
            if bms_is_member(self.relation.relid as c_int, pull_varnos(self.root, time)) {
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
            Some(make_ands_explicit(
                both.into_iter().fold(ptr::null_mut(), |list, each| list_concat(list, make_ands_implicit(each))),
            ))
        }
    }

    /// Returns the comparison of an ID with a time.
    unsafe fn compared(&self, function: &TimeOfId, strategy: u32, id: *mut Node, time: *mut Node) -> *mut Node {
        // SAFETY: builds expressions in the planner's memory. The functions and operators have these operands.
        unsafe {
            let none = Oid::INVALID;
            let mut time = copy_node(time);
            if matches!(strategy, GREATER_OR_EQUAL | LESS) {
                time = expression::call(function.before, pg_sys::TIMESTAMPTZOID, [time]);
            }
            let operator = if strategy >= GREATER_OR_EQUAL { function.greater } else { function.less_or_equal };
            let id = as_id(copy_node(id), function);
            let comparison = make_opclause(operator, pg_sys::BOOLOID, false, id, time, none, none);
            eval_const_expressions(self.root, comparison.cast())
        }
    }
}

/// Returns a column of the type of an ID, or of a domain over it, as an ID. The argument of a cast is the column itself, that of a
/// function call is below a node for the conversion.
///
/// # Safety
/// `id` is such an expression, which becomes part of the result.
pub unsafe fn as_id(id: *mut Node, function: &TimeOfId) -> *mut Node {
    // SAFETY: guaranteed by the caller. A domain has the bytes of its type.
    unsafe {
        match exprType(id) == function.id_type {
            true => id,
            false => {
                let implicit = pg_sys::CoercionForm::COERCE_IMPLICIT_CAST;
                makeRelabelType(id, function.id_type, -1, Oid::INVALID, implicit)
            }
        }
    }
}

/// Returns whether an expression must not be evaluated twice.
unsafe fn is_costly(node: *mut Node) -> bool {
    // SAFETY: an expression of the planner.
    unsafe { contain_volatile_functions(node) || contain_subplans(node) }
}

/// Returns a time as a timestamptz; `None` if the cast of a date or a timestamp could fail, which comparisons never do.
unsafe fn as_timestamptz(time: *mut Node, type_: Oid) -> Option<*mut Node> {
    let cast = match type_ {
        pg_sys::TIMESTAMPTZOID => return Some(time),
        pg_sys::DATEOID => pg_sys::F_TIMESTAMPTZ_DATE,
        _ => pg_sys::F_TIMESTAMPTZ_TIMESTAMP,
    };
    // SAFETY: builds an expression in the planner's memory.
    unsafe {
        is_safe_to_cast(time, type_).then(|| expression::call(cast.into(), pg_sys::TIMESTAMPTZOID, [copy_node(time)]))
    }
}

/// Returns whether the cast of a date or a timestamp to timestamptz cannot fail: that of `current_date` or `localtimestamp`, of a
/// date up to a century from `current_date`, and of a constant more than two days from the limits, or infinite.
unsafe fn is_safe_to_cast(time: *mut Node, type_: Oid) -> bool {
    const CENTURY: i32 = 36_525;
    const MICROS_PER_DAY: i64 = 86_400_000_000;
    // The limits of timestamptz, in days since 2000-01-01.
    const DAYS: core::ops::Range<i64> = -2_451_545..106_751_983;
    // SAFETY: the tag and the type identify the value.
    unsafe {
        let is_current = |node| cast::<SQLValueFunction>(node, NodeTag::T_SQLValueFunction).is_some();
        if is_current(time) {
            return true;
        }
        if let Some((function, arguments)) = expression::called(time) {
            let is_offset = [pg_sys::F_DATE_PLI, pg_sys::F_DATE_MII].contains(&function.to_u32());
            let &[date, days] = elements(arguments) else { return false };
            let days = constant(days).map(|days| days.constvalue.value() as i32);
            return is_offset && is_current(date) && days.is_some_and(|days| (-CENTURY..CENTURY).contains(&days));
        }
        let Some(value) = constant(time).map(|time| time.constvalue.value()) else { return false };
        let is_date = type_ == pg_sys::DATEOID;
        let (is_infinite, days) = if is_date {
            let days = value as i32;
            (days == i32::MIN || days == i32::MAX, i64::from(days))
        } else {
            let micros = value as i64;
            (micros == i64::MIN || micros == i64::MAX, micros.div_euclid(MICROS_PER_DAY))
        };
        is_infinite || (DAYS.start + 2..DAYS.end - 2).contains(&days)
    }
}

/// Returns whether a column of an index of the table is the time of an ID, or one of its partition key. An expression that only
/// contains it, such as its date, serves no condition on the time, and a partial index only those of some queries.
unsafe fn has_own_access(root: *mut PlannerInfo, relation: &RelOptInfo) -> bool {
    // SAFETY: a table with partitions has as many lists of expressions as its scheme has columns.
    unsafe {
        let has_time = |columns| elements::<Node>(columns).iter().any(|&each| time_of_id::called(each).is_some());
        let is_usable = |predicate: *mut List| {
            let conditions = || conditions_in((*(*root).parse).jointree.cast());
            predicate.is_null() || predicate_implied_by(predicate, conditions(), false)
        };
        let indexes = elements::<IndexOptInfo>(relation.indexlist);
        indexes.iter().any(|&index| has_time((*index).indexprs) && is_usable((*index).indpred))
            || relation.part_scheme.as_ref().is_some_and(|scheme| {
                (0..scheme.partnatts as usize).any(|column| has_time(*relation.partexprs.add(column)))
            })
    }
}

/// Returns the conditions of a FROM clause or a join, and of all parts of it.
unsafe fn conditions_in(node: *mut Node) -> *mut List {
    // SAFETY: the tag identifies the struct. The conditions are lists with an implicit AND.
    unsafe {
        if node.is_null() {
            return ptr::null_mut();
        }
        let with = |quals: *mut Node, parts: &[*mut Node]| {
            let all = |list: *mut List, &part: &*mut Node| list_concat_copy(list, conditions_in(part));
            parts.iter().fold(quals.cast(), all)
        };
        match (*node).type_ {
            NodeTag::T_FromExpr => {
                with((*node.cast::<FromExpr>()).quals, elements((*node.cast::<FromExpr>()).fromlist))
            }
            NodeTag::T_JoinExpr => {
                let join = &*node.cast::<JoinExpr>();
                with(join.quals, &[join.larg, join.rarg])
            }
            _ => ptr::null_mut(),
        }
    }
}
