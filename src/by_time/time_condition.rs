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
//! `E = t` is both `E >= t` and `E <= t`. Each is then simplified, as any other condition on an ID: see [`super::condition`].
//! The hook runs once for each table, after the simplification of the query, and before the planner distributes
//! the conditions. It rewrites the conditions of the query and of policies, and the predicates of partial indexes, below AND, OR and
//! NOT. A condition that it leaves as it is remains correct.

use core::ffi::c_int;

use pgrx::datum::{Array, FromDatum};
use pgrx::pg_sys::{
    self, ArrayExpr, BTEqualStrategyNumber as EQUAL, BTGreaterEqualStrategyNumber as GREATER_OR_EQUAL,
    BTGreaterStrategyNumber as GREATER, BTLessEqualStrategyNumber as LESS_OR_EQUAL, BTLessStrategyNumber as LESS,
    BoolExpr, BoolExprType, Datum, FromExpr, IndexOptInfo, JoinExpr, List, Node, NodeTag, NullTest, Oid, OpExpr,
    RangeTblEntry, RelOptInfo, RowCompareExpr, SQLValueFunction, ScalarArrayOpExpr,
};
use scru_server::time_compare::Operator;

use crate::by_time::expression::{self, is_costly, list};
use crate::by_time::time_of_id::{self, TimeOfId};
use crate::call::epoch::{self, MICROS_PER_DAY};
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    check_stack_depth, contain_var_clause, copy_node, exprType, get_op_opfamily_strategy, getBaseType,
    make_ands_explicit, make_ands_implicit, makeBoolExpr, predicate_implied_by, pull_varnos,
};

/// The btree operator family of timestamptz, timestamp and date, and two of its operators.
pub const TIME_FAMILY: u32 = 434;
pub const TIMESTAMPTZ_EQUAL: u32 = 1320;
pub const TIMESTAMPTZ_LESS: u32 = 1322;

/// The btree strategy of a comparison of times; `None` for another operator.
pub fn strategy_of(operator: Oid) -> Option<u32> {
    let strategy = get_op_opfamily_strategy(operator, TIME_FAMILY.into());
    (strategy != 0).then_some(strategy as u32)
}

pub fn has_predicate(relation: &RelOptInfo) -> bool {
    // SAFETY: the table's list of indexes.
    let mut indexes = unsafe { Nodes::new(relation.indexlist) }.structs::<IndexOptInfo>();
    indexes.any(|index| !index.indpred.is_null())
}

/// Visits the conditions of a FROM clause or a join, and of all parts of it: lists with an implicit AND.
fn visit_conditions(node: Option<NodeRef>, visit: &mut dyn FnMut(&mut *mut Node)) {
    // SAFETY: the tag identifies the struct. The planner owns the query.
    unsafe {
        match node.map(|node| (node.tag(), node)) {
            Some((NodeTag::T_FromExpr, from)) => {
                let from = from.as_ptr::<FromExpr>();
                Nodes::new((*from).fromlist).iter().for_each(|item| visit_conditions(Some(item), visit));
                visit(&mut (*from).quals);
            }
            Some((NodeTag::T_JoinExpr, join)) => {
                let join = join.as_ptr::<JoinExpr>();
                visit_conditions(NodeRef::new((*join).larg), visit);
                visit_conditions(NodeRef::new((*join).rarg), visit);
                visit(&mut (*join).quals);
            }
            _ => {}
        }
    }
}

/// Whether a condition of a table contains a comparison of the time of an ID, as those under UNION ALL remain. The node is the
/// expression of the condition, or an argument of its AND, OR or NOT.
pub fn has_comparison(relation: &RelOptInfo, node: NodeRef) -> bool {
    let mut arguments = node.arguments().iter();
    if node.tag() == NodeTag::T_BoolExpr {
        check_stack_depth();
        return arguments.any(|argument| has_comparison(relation, argument));
    }
    let operator = node.cast::<OpExpr>();
    arguments.any(|argument| id_of(relation, argument).is_some())
        && operator.is_none_or(|operator| strategy_of(operator.opno).is_some())
}

/// The ID whose time an expression is, if it is a column of the table.
fn id_of<'p>(relation: &RelOptInfo, node: NodeRef<'p>) -> Option<(TimeOfId, NodeRef<'p>)> {
    let (function, id) = time_of_id::called(node)?;
    let column = id.column()?;
    let is_of_table = column.varno as u32 == relation.relid && column.varlevelsup == 0;
    let has_type = |type_| type_ == function.id_type;
    (is_of_table && (has_type(column.vartype) || has_type(getBaseType(column.vartype)))).then_some((function, id))
}

/// A table whose conditions are rewritten.
pub struct Table<'p> {
    pub root: Root<'p>,
    pub relation: &'p RelOptInfo,
    is_rewritten: bool,
}

impl<'p> Table<'p> {
    pub fn of(root: Root<'p>, relation: &'p RelOptInfo) -> Self {
        let table = Self { root, relation, is_rewritten: false };
        Self { is_rewritten: table.is_to_be_rewritten(), ..table }
    }

    /// The entry of the table in the query's range table.
    fn entry(&self) -> &RangeTblEntry {
        // SAFETY: the planner has entries for the numbers of tables.
        unsafe { &**self.root.simple_rte_array.add(self.relation.relid as usize) }
    }

    /// Rewrites the conditions of the query on the times of IDs of the table, and the predicates of its partial indexes.
    ///
    /// # Safety
    /// Must be called by the planner's hook for tables.
    pub unsafe fn rewrite(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let rewrite = |conditions: *mut List| self.conjunction(Nodes::new(conditions)).as_ptr();
            if self.relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
                // CREATE INDEX and CLUSTER plan a query without a jointree.
                visit_conditions(NodeRef::new((*self.root.parse).jointree), &mut |conditions| {
                    *conditions = rewrite(conditions.cast()).cast();
                });
                if let Some(levels) = self.entry().securityQuals.as_ref() {
                    for index in 0..levels.length as usize {
                        let level = &mut (*levels.elements.add(index)).ptr_value;
                        *level = rewrite(level.cast()).cast();
                    }
                }
            }
            for index in Nodes::new(self.relation.indexlist).iter() {
                let index = index.as_ptr::<IndexOptInfo>();
                (*index).indpred = rewrite((*index).indpred);
            }
        }
    }

    /// As [`id_of`]; `None` also if the conditions of the table remain.
    pub fn id_of(&self, node: NodeRef<'p>) -> Option<(TimeOfId, NodeRef<'p>)> {
        let (function, id) = id_of(self.relation, node)?;
        (self.is_rewritten && function.is_executable()).then_some((function, id))
    }

    /// Whether the conditions of the table are rewritten: unless it has its own access by the time of an ID. A child has the conditions
    /// of its topmost parent.
    fn is_to_be_rewritten(&self) -> bool {
        // SAFETY: the planner has entries for the numbers of tables.
        let parent = unsafe {
            let top = pg_sys::bms_next_member(self.relation.top_parent_relids, -1);
            if top > 0 { (*self.root.simple_rel_array.add(top as usize)).as_ref() } else { None }
        };
        if let Some(parent) = parent {
            return !parent.part_scheme.is_null() && !self.has_own_access(parent);
        }
        // The CHECK constraints of the children of a table without partitions may exclude them.
        let is_inherited = self.entry().inh && self.relation.part_scheme.is_null();
        self.relation.fdwroutine.is_null() && !is_inherited && !self.has_own_access(self.relation)
    }

    /// Whether a column of an index of a table is the time of an ID, or one of its partition key. An expression that only contains it,
    /// such as its date, serves no condition on the time, and a partial index only those of some queries.
    fn has_own_access(&self, relation: &RelOptInfo) -> bool {
        // SAFETY: a table with partitions has as many lists of expressions as its scheme has columns.
        unsafe {
            let has_time = |columns| Nodes::new(columns).iter().any(|each| time_of_id::called(each).is_some());
            let is_usable = |predicate| {
                let (predicate, mut all) = (Nodes::new(predicate), Nodes::EMPTY);
                predicate.is_empty() || {
                    visit_conditions(NodeRef::new((*self.root.parse).jointree), &mut |conditions| {
                        all = list(all.iter().chain(Nodes::new(conditions.cast()).iter()));
                    });
                    predicate_implied_by(predicate, all, false)
                }
            };
            let mut indexes = Nodes::new(relation.indexlist).structs::<IndexOptInfo>();
            let is_real = |index: &IndexOptInfo| index.relam != Oid::INVALID;
            indexes.any(|index| is_real(index) && has_time(index.indexprs) && is_usable(index.indpred))
                || relation.part_scheme.as_ref().is_some_and(|scheme| {
                    (0..scheme.partnatts as usize).any(|column| has_time(*relation.partexprs.add(column)))
                })
        }
    }

    /// Conditions with an implicit AND, rewritten. Below an AND, the planner expects no other.
    fn conjunction(&self, conditions: Nodes<'p>) -> Nodes<'p> {
        let rewritten = self.each(conditions);
        if rewritten == conditions {
            return conditions;
        }
        list(rewritten.iter().flat_map(|condition| make_ands_implicit(condition).iter()))
    }

    /// Conditions, rewritten one by one; the same list if none changes.
    fn each(&self, conditions: Nodes<'p>) -> Nodes<'p> {
        let rewritten = list(conditions.iter().map(|condition| self.condition(condition)));
        if rewritten.as_slice() == conditions.as_slice() { conditions } else { rewritten }
    }

    /// A condition, rewritten; the same node if it remains.
    fn condition(&self, node: NodeRef<'p>) -> NodeRef<'p> {
        let rules = [Self::operator, Self::boolean, Self::null_test, Self::row_comparison, Self::any];
        rules.iter().find_map(|rule| rule(self, node)).unwrap_or(node)
    }

    fn operator(&self, node: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let operator = node.cast::<OpExpr>()?;
        let &[left, right] = node.arguments().as_slice() else { return None };
        self.comparison(|| strategy_of(operator.opno), left, right)
    }

    fn boolean(&self, node: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let (junction, old) = (node.cast::<BoolExpr>()?, node.arguments());
        if junction.boolop == BoolExprType::AND_EXPR {
            let new = self.conjunction(old);
            return (new != old).then(|| make_ands_explicit(new));
        }
        let new = self.each(old);
        // Below an OR, the planner expects no other.
        let arms = |arm: NodeRef<'p>| match arm.cast::<BoolExpr>() {
            Some(or) if [or.boolop, junction.boolop] == [BoolExprType::OR_EXPR; 2] => arm.arguments(),
            _ => list([arm]),
        };
        (new != old).then(|| makeBoolExpr(junction.boolop, list(new.iter().flat_map(|arm| arms(arm).iter())), -1))
    }

    /// `E = ANY (array)` of a few elements as an OR: an index on IDs takes two bounds for each.
    fn any(&self, node: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let any = node.cast::<ScalarArrayOpExpr>().filter(|any| any.useOr)?;
        // SAFETY: arguments are nodes.
        let &[time, array] = unsafe { Nodes::new(any.args) }.as_slice() else { return None };
        self.id_of(time)?;
        // An OR has arms.
        let elements = elements(array).filter(|all| !all.is_empty() && strategy_of(any.opno) == Some(EQUAL))?;
        let arms = list(elements.iter().take(FEW + 1).map_while(|each| self.comparison(|| Some(EQUAL), time, each)));
        match arms.as_slice() {
            all if all.len() > FEW || all.len() != elements.as_slice().len() => None,
            &[arm] => Some(arm),
            _ => Some(makeBoolExpr(BoolExprType::OR_EXPR, arms, -1)),
        }
    }

    /// The time of an ID is NULL if and only if the ID is.
    fn null_test(&self, node: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let test = node.cast::<NullTest>().filter(|test| !test.argisrow)?;
        // SAFETY: the argument is an expression, and so is the copy.
        unsafe {
            let (_, id) = self.id_of(NodeRef::new(test.arg)?)?;
            let copy = copy_node(node);
            (*copy.as_ptr::<NullTest>()).arg = copy_node(id).as_ptr();
            Some(copy)
        }
    }

    /// `(E, …) < (t, …)` implies `E <= t`.
    fn row_comparison(&self, node: NodeRef<'p>) -> Option<NodeRef<'p>> {
        let row = node.cast::<RowCompareExpr>()?;
        // SAFETY: the list has OIDs, one for each pair of operands, which are expressions.
        let (operator, left, right) = unsafe {
            let first = |operands| Nodes::new(operands).iter().next();
            ((*(*row.opnos).elements).oid_value, first(row.largs)?, first(row.rargs)?)
        };
        let strategy = match strategy_of(operator)? {
            LESS | LESS_OR_EQUAL => LESS_OR_EQUAL,
            GREATER | GREATER_OR_EQUAL => GREATER_OR_EQUAL,
            _ => return None,
        };
        if [left, right].into_iter().any(is_costly) {
            return None;
        }
        let bound = self.comparison(|| Some(strategy), left, right)?;
        // The estimate of the bound is that of both.
        Some(make_ands_explicit(list(make_ands_implicit(bound).iter().chain([copy_node(node)]))))
    }

    /// The comparison of two times, of which one is that of an ID, as a comparison of the ID.
    fn comparison(
        &self,
        strategy: impl FnOnce() -> Option<u32>,
        left: NodeRef<'p>,
        right: NodeRef<'p>,
    ) -> Option<NodeRef<'p>> {
        let ((function, id), strategy, time) = match self.id_of(left) {
            Some(id) => (id, strategy()?, right),
            None => (self.id_of(right)?, GREATER + LESS - strategy()?, left),
        };
        // The times of two IDs of one table set no bound.
        // SAFETY: the set is the server's.
        let is_of_table =
            || unsafe { pg_sys::bms_is_member(self.relation.relid as c_int, pull_varnos(self.root, time)) };
        if !time.is_constant() && is_of_table() {
            return None;
        }
        let time = as_timestamptz(time)?;
        if strategy != EQUAL {
            return Some(self.compared(&function, strategy, id, time));
        }
        // Joins by equality remain, for hash and merge joins.
        if contain_var_clause(time) || is_costly(time) {
            return None;
        }
        let both = [GREATER_OR_EQUAL, LESS_OR_EQUAL].map(|each| self.compared(&function, each, id, time));
        Some(make_ands_explicit(list(both.into_iter().flat_map(|each| make_ands_implicit(each).iter()))))
    }

    /// The comparison with one operator. It shares no node with the ID and the time: `on_time` copies both.
    fn compared(&self, function: &TimeOfId, strategy: u32, id: NodeRef<'p>, time: NodeRef<'p>) -> NodeRef<'p> {
        let type_ = pg_sys::TIMESTAMPTZOID;
        let time = match (strategy, time.constant()) {
            (GREATER | LESS_OR_EQUAL, _) => time,
            // Computed here: the planner would set up an executor for a call.
            (_, Some(time)) => expression::constant(type_, epoch::before(time.constvalue.value() as i64)),
            _ => expression::call(function.before, type_, [time]),
        };
        let operator = if strategy >= GREATER_OR_EQUAL { Operator::Greater } else { Operator::LessOrEqual };
        (function.on_time)(self.root, function, operator, as_id(id, function), time)
    }
}

/// A column of the type of an ID, or of a domain over it, as an ID. The argument of a cast is the column itself, that of a function
/// call is below a node for the conversion.
pub fn as_id<'p>(id: NodeRef<'p>, function: &TimeOfId) -> NodeRef<'p> {
    if exprType(id) == function.id_type {
        return id;
    }
    let (type_, implicit) = (function.id_type, pg_sys::CoercionForm::COERCE_IMPLICIT_CAST);
    // SAFETY: a domain has the bytes of its type.
    unsafe { NodeRef::new(pg_sys::makeRelabelType(id.as_ptr(), type_, -1, Oid::INVALID, implicit)).unwrap_or(id) }
}

/// The longest array of times whose elements become conditions.
const FEW: usize = 16;

/// The elements of an array of times; `None` if one is NULL, or if they are unknown. A constant array has a few.
fn elements(array: NodeRef) -> Option<Nodes> {
    if let Some(array) = array.cast::<ArrayExpr>().filter(|array| !array.multidims) {
        // SAFETY: elements are expressions.
        return Some(unsafe { Nodes::new(array.elements) });
    }
    let array = array.constant()?;
    // SAFETY: the operator takes an array of a time, whose types are passed by value.
    let (type_, values) = unsafe {
        (pg_sys::get_element_type(array.consttype), Array::<Datum>::from_datum(array.constvalue, array.constisnull)?)
    };
    let is_usable = values.len() <= FEW && values.iter().all(|value| value.is_some());
    is_usable.then(|| list(values.iter().flatten().map(|value| expression::constant(type_, value.value() as i64))))
}

/// A time as a timestamptz; `None` for another type. A date or a timestamp is first held within limits beyond which no ID has a time:
/// the cast of others could fail, which comparisons never do.
fn as_timestamptz(time: NodeRef) -> Option<NodeRef> {
    // Days since 2000-01-01, two days within the limits of timestamptz.
    const DAYS: [i64; 2] = [-2_451_543, 106_751_980];
    let type_ = exprType(time);
    let (cast, larger, smaller, unit) = match type_ {
        pg_sys::TIMESTAMPTZOID => return Some(time),
        pg_sys::DATEOID => (pg_sys::F_TIMESTAMPTZ_DATE, pg_sys::F_DATE_LARGER, pg_sys::F_DATE_SMALLER, 1),
        pg_sys::TIMESTAMPOID => {
            let functions = (pg_sys::F_TIMESTAMP_LARGER, pg_sys::F_TIMESTAMP_SMALLER);
            (pg_sys::F_TIMESTAMPTZ_TIMESTAMP, functions.0, functions.1, MICROS_PER_DAY as i64)
        }
        _ => return None,
    };
    let limits = DAYS.map(|days| days * unit);
    let within = if let Some(time) = time.constant() {
        expression::constant(type_, (time.constvalue.value() as i64).clamp(limits[0], limits[1]))
    } else if time.cast::<SQLValueFunction>().is_some() {
        time
    } else {
        let [lowest, highest] = limits.map(|limit| expression::constant(type_, limit));
        let above = expression::call(larger.into(), type_, [time, lowest]);
        expression::call(smaller.into(), type_, [above, highest])
    };
    Some(expression::call(cast.into(), pg_sys::TIMESTAMPTZOID, [within]))
}
