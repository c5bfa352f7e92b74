//! Restriction estimators of the comparisons of an ID with an ID or a time, and of `id <@ tstzrange`.
//!
//! The estimates are read from the statistics of the column, like those of `<` between numbers. The server's own estimators cannot
//! convert an ID to a number, and therefore assume the middle of a histogram bucket, which is a hundredth of the table by default.
//! Given the type [`StoredDatum::SCALAR`] in place of the ID's, they read the leading bytes of an ID as a number.
//!
//! The server combines a lower and an upper bound to a range only if their estimators are its own. Here, the estimator finds the
//! other conditions on the same ID, and returns the condition's share of their joint selectivity: see [`Tightest`]. It also stores
//! the shares of the others, because n estimates of n conditions would take quadratic time.
//!
//! The estimator evaluates the stable functions of a condition, like the server's. An index condition that is derived from a
//! condition gets its share of the stored estimate, so that these functions are not called again for each index.

use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{
    self, Bitmapset, BoolExpr, BoolExprType, Const, Datum, FmgrInfo, List, NodeTag, Oid, OpExpr, RestrictInfo,
    VariableStatData,
};
use scru_ids::Stored;
use scru_server::selectivity::{Bounds, Tightest, UNKNOWN_BOUND, UNKNOWN_RANGE};
use scru_server::time_compare::Operator;

use crate::by_time::condition::{self, Condition, Test};
use crate::by_time::expression;
use crate::by_time::tick_statistics::TickStatistics;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{Call, epoch};
use crate::pg::nodes::{NodeRef, Nodes, Root};
use crate::pg::process::PerProcess;
use crate::pg::unguarded::{
    bms_num_members, contain_volatile_functions, copy_node, equal, estimate_expression_value, examine_variable,
    exprType, fmgr_info, get_opcode, get_oprrest, get_typlenbyval, getBaseType, ineq_histogram_selectivity,
    mcv_selectivity, statistic_proc_security_check,
};
use crate::pg::{clock, datum};

/// `T_ineqsel(internal, oid, internal, integer) → double precision`: the restriction estimator of `<`, `<=`, `>=` and `>` between
/// two IDs or between an ID and a time, and of `<@` and `@>`.
pub fn of_operator<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let operator = call.oid(1);
    // SAFETY: the server passes the planner's state, the operator, its arguments and the relation.
    let (root, arguments) =
        unsafe { (Root::new(call.datum(0).cast_mut_ptr()), Nodes::new(call.datum(2).cast_mut_ptr())) };
    let of_test = |test| estimate::<T>(root, test, get_oprrest(operator), arguments, call.int4(3));
    let fraction = Test::of::<T>(get_opcode(operator)).map_or(UNKNOWN_BOUND, of_test);
    Ok(Datum::from(fraction.to_bits()))
}

/// Estimates a call of `T_contained_by_range` or `T_range_contains`, and that `T_time_possible` is true for all rows: it is false
/// only for times beyond those of all IDs. Returns null for the other functions, and for a range in a join.
///
/// # Safety
/// The request is for one of our functions.
pub unsafe fn of_function<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: the request has the arguments of an estimator.
    unsafe {
        let (root, arguments) = (Root::new((*request).root), Nodes::new((*request).args));
        let is_possible = |name: &[u8]| name.strip_prefix(T::NAME.as_bytes()) == Some(b"_time_possible");
        if let Some((true, _)) = expression::name_and_schema((*request).funcid, is_possible) {
            (*request).selectivity = 1.0;
        } else if !(*request).is_join && Test::of::<T>((*request).funcid) == Some(Test::Range) {
            (*request).selectivity = estimate::<T>(root, Test::Range, Oid::INVALID, arguments, (*request).varRelid);
        } else {
            return ptr::null_mut();
        }
        request
    }
}

/// The estimated fraction of a column's rows that satisfy a condition; its share if there are other conditions with the same estimator.
/// The server's default if no argument is a column, or if an argument is none of the type.
fn estimate<T: StoredId>(root: Root, test: Test, estimator: Oid, arguments: Nodes, relation: c_int) -> f64 {
    let mut fraction = if test == Test::Range { UNKNOWN_RANGE } else { UNKNOWN_BOUND };
    if let Some((mut column, other, is_left)) = Column::of(root, arguments, relation, estimator) {
        if column.has_type_of::<T>() {
            // SAFETY: the statistics are those of the column, and are released once.
            column.ticks = unsafe { TickStatistics::of(&column.statistics) };
            fraction = column.share::<T>(test, arguments, other, is_left);
            if let Some(ticks) = column.ticks {
                // SAFETY: as above.
                unsafe { ticks.free() };
            }
        }
        release(&column.statistics);
    }
    fraction.clamp(0.0, 1.0)
}

fn release(statistics: &VariableStatData) {
    if let (Some(free), false) = (statistics.freefunc, statistics.statsTuple.is_null()) {
        // SAFETY: the server sets the function for this row.
        unsafe { free(statistics.statsTuple) };
    }
}

/// An ID in the conditions of a query, usually a column, with its statistics.
struct Column<'p> {
    root: Root<'p>,
    id: NodeRef<'p>,
    type_: Oid,
    /// The estimator of the conditions.
    estimator: Oid,
    statistics: VariableStatData,
    ticks: Option<TickStatistics>,
    /// The range of a bound that was evaluated, and its value.
    range: Option<(NodeRef<'p>, NodeRef<'p>)>,
}

impl<'p> Column<'p> {
    /// The argument that depends on a table, with its statistics, then the other one, and whether the former is on the left; `None` if
    /// both depend on tables, or none does. The caller releases the statistics.
    fn of(root: Root<'p>, arguments: Nodes<'p>, relation: c_int, estimator: Oid) -> Option<(Self, NodeRef<'p>, bool)> {
        // An operator of a user can have this estimator and one argument.
        let &[left, right] = arguments.as_slice() else { return None };
        let [left, right] = [left, right].map(|id| {
            let mut statistics = VariableStatData::default();
            // SAFETY: an estimator has a root.
            unsafe { examine_variable(root, id, relation, &mut statistics) };
            Self { root, id, type_: statistics.vartype, estimator, statistics, ticks: None, range: None }
        });
        match (left.statistics.rel.is_null(), right.statistics.rel.is_null()) {
            (false, true) => Some((left, right.id, true)),
            (true, false) => Some((right, left.id, false)),
            _ => {
                release(&left.statistics);
                release(&right.statistics);
                None
            }
        }
    }

    /// Whether the values of the column have the length of the type's, so that reading one of them is safe.
    fn has_type_of<T: StoredId>(&self) -> bool {
        let (mut length, mut by_value) = (0, false);
        get_typlenbyval(self.type_, &mut length, &mut by_value);
        (length as usize, by_value) == (size_of::<T::Stored>(), T::Stored::BY_VALUE)
    }

    /// The condition's share of the joint selectivity of all conditions on the ID. Stores the shares of the others.
    fn share<T: StoredId>(&mut self, test: Test, arguments: Nodes<'p>, other: NodeRef<'p>, is_left: bool) -> f64 {
        let origin = self.origin::<T>(arguments, other);
        if let Origin::Derived(share) = origin {
            return share;
        }
        let value = self.value_of(other);
        let own = self.bounds::<T>(test, value, is_left);
        let alone = [own];
        let (conditions, bounds) = match origin {
            Origin::Condition(siblings, join) => self.conditions::<T>(siblings, join, arguments, own),
            _ => (&[][..], &alone[..]),
        };
        let tightest = Tightest::of(bounds, self.null_fraction());
        let is_own = |condition: &NodeRef| arguments_of(*condition) == Some(arguments);
        for (index, condition) in conditions.iter().enumerate().filter(|(_, condition)| !is_own(condition)) {
            store_share(*condition, tightest.share(index));
        }
        tightest.share(conditions.iter().position(is_own).unwrap_or(0))
    }

    /// What the condition with these arguments is. `bound` is the argument that is not the ID.
    fn origin<T: StoredId>(&self, arguments: Nodes<'p>, bound: NodeRef<'p>) -> Origin<'p> {
        if self.estimator == Oid::INVALID {
            return Origin::Alone;
        }
        // SAFETY: the table and its lists of conditions are the planner's.
        let (table, of_joins) = unsafe {
            let table = &*self.statistics.rel;
            (Nodes::new(table.baserestrictinfo), Nodes::new(table.joininfo))
        };
        let source = match expression::called(bound) {
            Some((_, of_bound)) => of_bound.as_slice().first().copied().map(Source::Operand),
            None => (bound.is_constant() && exprType(bound) == self.type_).then_some(Source::Constant),
        };
        let is_own = |condition: NodeRef<'p>| arguments_of(condition) == Some(arguments);
        let test = |condition: NodeRef<'p>| match is_own(condition) {
            true => Some(None),
            false => self.share_of_derived::<T>(condition, arguments, bound, source?).map(Some),
        };
        match find(0, table, &test) {
            Some((.., Some(share))) => return Origin::Derived(share),
            Some((siblings, _, None)) => return siblings.map_or(Origin::Alone, |all| Origin::Condition(all, None)),
            None => {}
        }
        let Some((siblings, condition, ())) = find(0, of_joins, &|condition| is_own(condition).then_some(())) else {
            return Origin::Alone;
        };
        let join = condition.cast::<RestrictInfo>().map(|condition| condition.required_relids.cast_const());
        siblings.map_or(Origin::Alone, |all| Origin::Condition(all, join.filter(|_| all == of_joins)))
    }

    /// The share of an index condition with these arguments, if a support function has derived it from `condition`: a root of the
    /// stored share of `condition`, because the planner multiplies the shares of all that are derived from it. Evaluates no function.
    /// `bound` and `source` are as in [`Self::origin`].
    fn share_of_derived<T: StoredId>(
        &self,
        condition: NodeRef<'p>,
        arguments: Nodes<'p>,
        bound: NodeRef<'p>,
        source: Source<'p>,
    ) -> Option<f64> {
        let (function, of_condition) = expression::called(clause_of(condition)?)?;
        let (other, _) = self.other(of_condition)?;
        let other = other.without_relabel();
        let may_be_origin = match source {
            Source::Constant => other.is_constant() && exprType(other) != self.type_,
            Source::Operand(operand) => equal(Some(other), Some(operand.without_relabel())),
        };
        let stored = condition.cast::<RestrictInfo>()?.norm_selec;
        if !may_be_origin || stored < 0.0 {
            return None;
        }
        let condition = Condition::of::<T>(function, of_condition)?;
        let number = if let Some((bound, of_bound)) = expression::called(bound) {
            usize::from(condition.comparisons_with::<T>(bound, of_bound)?)
        } else {
            let derived = condition.comparisons::<T>(self.root)?;
            let is_derived = |&one: &NodeRef<'p>| {
                expression::called(one).is_some_and(|(_, of_one)| equal(of_one.as_node(), arguments.as_node()))
            };
            derived.as_slice().iter().any(is_derived).then_some(derived.as_slice().len())?
        };
        Some(stored.min(1.0).powf(1.0 / number as f64))
    }

    /// Those of some conditions that are on the ID, and their bounds. The condition with the arguments `arguments` has the bounds `own`.
    /// With `join`, without the conditions of joins of other tables.
    fn conditions<T: StoredId>(
        &mut self,
        siblings: Nodes<'p>,
        join: Option<*const Bitmapset>,
        arguments: Nodes<'p>,
        own: Bounds,
    ) -> (&'p [NodeRef<'p>], &'p [Bounds]) {
        let siblings = siblings.as_slice();
        // SAFETY: the memory of the planner.
        let (conditions, bounds) =
            unsafe { (datum::slice(siblings.len(), |index| siblings[index]), datum::slice(siblings.len(), |_| own)) };
        let mut count = 0;
        for &sibling in siblings {
            clock::check_for_interrupts();
            let Some(condition) = sibling.cast::<RestrictInfo>() else { continue };
            // SAFETY: sets of the planner.
            if join.is_some_and(|join| unsafe { !pg_sys::bms_equal(join, condition.required_relids) }) {
                continue;
            }
            let is_own = arguments_of(sibling) == Some(arguments);
            if let Some(found) = if is_own { Some(own) } else { self.bounds_of_other::<T>(condition) } {
                (conditions[count], bounds[count]) = (sibling, found);
                count += 1;
            }
        }
        (&conditions[..count], &bounds[..count])
    }

    /// The bounds of another condition; `None` if it has another estimator, if it is not on the same ID, or if it compares the ID with a
    /// column or with the result of a volatile function.
    fn bounds_of_other<T: StoredId>(&mut self, condition: &'p RestrictInfo) -> Option<Bounds> {
        // SAFETY: the clause of a condition is an expression.
        let clause = unsafe { NodeRef::new(condition.clause) }?;
        if get_oprrest(clause.cast::<OpExpr>()?.opno) != self.estimator {
            return None;
        }
        let (function, arguments) = expression::called(clause)?;
        let (other, is_left) = self.other(arguments)?;
        let tables = if is_left { condition.right_relids } else { condition.left_relids };
        // SAFETY: a set of the planner.
        if unsafe { bms_num_members(tables) } > 0 {
            return None;
        }
        let test = Test::of::<T>(function)?;
        let other = self.value_of(other);
        if !other.is_constant() && contain_volatile_functions(other) {
            return None;
        }
        Some(self.bounds::<T>(test, other, is_left))
    }

    /// The operand with which arguments compare this ID, and whether the ID is on the left; `None` if they do not.
    fn other(&self, arguments: Nodes<'p>) -> Option<(NodeRef<'p>, bool)> {
        let &[left, right] = arguments.as_slice() else { return None };
        let is_id = |node| equal(Some(node), Some(self.id));
        if is_id(left) { Some((right, true)) } else { is_id(right).then_some((left, false)) }
    }

    /// Evaluates an operand of a condition as far as the planner can. Two bounds can replace one range: its value is kept, so that
    /// its functions are called once.
    fn value_of(&mut self, operand: NodeRef<'p>) -> NodeRef<'p> {
        let root = self.root;
        // SAFETY: an estimator has a root.
        let estimated = |node| unsafe { estimate_expression_value(root, node) };
        let call = expression::called(operand).map(|(function, arguments)| (function, arguments.as_slice()));
        let Some((function, &[range])) =
            call.filter(|(_, arguments)| matches!(arguments, [range] if exprType(*range) == pg_sys::TSTZRANGEOID))
        else {
            return estimated(operand);
        };
        let value = match self.range {
            Some((same, value)) if equal(Some(same), Some(range)) => value,
            _ => estimated(range),
        };
        self.range = Some((range, value));
        estimated(expression::call(function, exprType(operand), [copy_node(value)]))
    }

    /// The bounds that a condition sets on the ID. `is_left` tells whether the ID is the left operand of a comparison with another ID.
    fn bounds<T: StoredId>(&mut self, test: Test, other: NodeRef<'p>, is_left: bool) -> Bounds {
        // SAFETY: the value is read only if it is of the expected type.
        unsafe {
            let constant = other.cast::<Const>();
            if constant.is_some_and(|constant| constant.constisnull) {
                return Bounds::NONE;
            }
            match test {
                Test::Id(operator) => {
                    let operator = if is_left { operator } else { operator.commuted() };
                    let form = (size_of::<T::Stored>() as c_int, T::Stored::BY_VALUE);
                    let id = constant.filter(|id| (id.constlen, id.constbyval) == form);
                    let id = id.map(|id| T::from_stored(T::Stored::from_datum(id.constvalue)).unwrap_or(T::MAX));
                    self.bound(operator, id)
                }
                Test::Time(operator) => {
                    let time = constant.filter(|time| time.consttype == pg_sys::TIMESTAMPTZOID);
                    let micros = time.map(|time| epoch::saturated_unix_micros(time.constvalue.value() as i64));
                    match micros.map(|micros| operator.with_id::<T>(micros)) {
                        Some((operator, id)) => self.bound(operator, Some(id)),
                        None => self.bound::<T>(operator, None),
                    }
                }
                Test::Range => {
                    let range = constant.filter(|range| getBaseType(range.consttype) == pg_sys::TSTZRANGEOID);
                    let Some(range) = range else { return Bounds::UNKNOWN };
                    let (first, last): (T, T) = condition::first_and_last(range);
                    if first > last {
                        return Bounds::NONE;
                    }
                    let lower = self.bound(Operator::GreaterOrEqual, Some(first)).lower;
                    let upper = self.bound(Operator::LessOrEqual, Some(last)).upper;
                    Bounds { lower, upper }
                }
            }
        }
    }

    /// The bound that an operator sets with an ID on its right; `None` if the ID is unknown.
    fn bound<T: StoredId>(&mut self, operator: Operator, id: Option<T>) -> Bounds {
        let selectivity = id.and_then(|id| self.selectivity(operator, id));
        Bounds::one(operator.is_lower_bound(), selectivity.unwrap_or(UNKNOWN_BOUND))
    }

    /// The fraction of the column's rows that satisfy an operator; `None` if there are no statistics. Tests the most common
    /// ticks or values one by one, and estimates the others from the histogram.
    fn selectivity<T: StoredId>(&mut self, operator: Operator, id: T) -> Option<f64> {
        let (operator, id) = operator.at_tick(id);
        // SAFETY: the column has the type of the ID. The arguments are those of the server's estimators, except for the types.
        unsafe {
            if self.statistics.statsTuple.is_null() {
                return None;
            }
            let native = expression::operator(self.type_, operator.strategy());
            let (mut function, none) = (FmgrInfo::default(), Oid::INVALID);
            if native == none {
                return None;
            }
            fmgr_info(get_opcode(native), &mut function);
            let (value, row, scalar) = (id.to_datum(), self.statistics.statsTuple, T::Stored::SCALAR);
            let mut is_allowed = || statistic_proc_security_check(&mut self.statistics, function.fn_oid);
            let ticks = self.ticks.as_ref().filter(|_| is_allowed());
            let of_ticks = ticks.and_then(|ticks| Some((ticks.others(), ticks.common(operator, id)?)));
            let (histogram, (common_within, common)) = of_ticks.unwrap_or_else(|| {
                let (column, mut common) = (&mut self.statistics, 0.0);
                let within = mcv_selectivity(column, &mut function, none, value, true, &mut common);
                (row, (within, common))
            });
            let (is_greater, is_equal) = (operator.is_lower_bound(), operator.includes_bound());
            (self.statistics.vartype, self.statistics.statsTuple) = (scalar, histogram);
            let others = ineq_histogram_selectivity(
                self.root,
                &mut self.statistics,
                native,
                &mut function,
                is_greater,
                is_equal,
                none,
                value,
                scalar,
            );
            (self.statistics.vartype, self.statistics.statsTuple) = (self.type_, row);
            let others = if others >= 0.0 { others } else { 0.5 };
            Some((common_within + (1.0 - self.null_fraction() - common) * others).clamp(0.0, 1.0))
        }
    }

    /// The fraction of NULLs in the column, and 0 if there are no statistics.
    fn null_fraction(&self) -> f64 {
        let row = self.statistics.statsTuple;
        if row.is_null() {
            return 0.0;
        }
        // SAFETY: the statistics are a row of pg_statistic.
        unsafe { f64::from((*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_statistic>()).stanullfrac) }
    }
}

/// What a condition is that the planner asks to estimate.
enum Origin<'p> {
    /// A condition of the table, and those that are ANDed with it, itself included: those of the table, those of an arm of an OR, or
    /// those of all outer joins. Only those of the join of the given tables concern it.
    Condition(Nodes<'p>, Option<*const Bitmapset>),
    /// An index condition that is derived from a condition of the table, and its share.
    Derived(f64),
    /// A condition that is estimated on its own: it is a whole arm of an OR, or has no estimator, or is of another query.
    Alone,
}

/// What the bound of an index condition is computed from.
#[derive(Clone, Copy)]
enum Source<'p> {
    /// A constant.
    Constant,
    /// The operand of the condition from which the index condition may be derived.
    Operand(NodeRef<'p>),
}

/// The lists in which [`find`] last found something, with the index, by depth: the conditions of a table, the arms of one that is an
/// OR, and the conditions of an arm or of a list below it. The planner asks for the conditions in their order: a search that starts
/// there compares one or two of thousands. A list that has been freed since then is never read.
static LAST_FOUND: PerProcess<Cell<[(*const List, usize); 3]>> = PerProcess::new(Cell::new([(ptr::null(), 0); 3]));

/// A result of [`find`]: the conjunction that contains the condition, `None` if it is a whole arm; the condition; the test's result.
type Found<'p, R> = (Option<Nodes<'p>>, NodeRef<'p>, R);

/// The first result of `test` for a condition in a list at a depth, or in an arm of an OR.
fn find<'p, R>(depth: usize, list: Nodes<'p>, test: &dyn Fn(NodeRef<'p>) -> Option<R>) -> Option<Found<'p, R>> {
    from_last_found(depth, list, &|condition| {
        let restriction = condition.cast::<RestrictInfo>()?;
        if let Some(result) = test(condition) {
            return Some((Some(list), condition, result));
        }
        // SAFETY: an OR is an expression, whose arms are conditions, or ANDs of conditions.
        let (arms, conjunction) = unsafe {
            let arms = restriction.orclause.cast::<BoolExpr>().as_ref()?;
            (Nodes::new(arms.args), |and: &BoolExpr| Nodes::new(and.args))
        };
        from_last_found(depth + 1, arms, &|arm| match arm.cast::<BoolExpr>() {
            Some(and) if and.boolop == BoolExprType::AND_EXPR => find(depth + 2, conjunction(and), test),
            None if arm.tag() == NodeTag::T_RestrictInfo => test(arm).map(|result| (None, arm, result)),
            _ => None,
        })
    })
}

/// The first result of `test` for an element of a list. Starts with the one for which it had a result last.
fn from_last_found<'p, R>(depth: usize, list: Nodes<'p>, test: &dyn Fn(NodeRef<'p>) -> Option<R>) -> Option<R> {
    let nodes = list.as_slice();
    let mut places = LAST_FOUND.get();
    let depth = depth.min(places.len() - 1);
    let (last_list, last) = places[depth];
    let start = if last_list == list.as_ptr().cast_const() && last < nodes.len() { last } else { 0 };
    for index in (start..nodes.len()).chain(0..start) {
        clock::check_for_interrupts();
        if let Some(result) = test(nodes[index]) {
            // The test may have stored a place in a list below.
            places = LAST_FOUND.get();
            places[depth] = (list.as_ptr(), index);
            LAST_FOUND.set(places);
            return Some(result);
        }
    }
    None
}

/// The expression of a condition; `None` if the node is none.
fn clause_of(condition: NodeRef) -> Option<NodeRef> {
    // SAFETY: the clause of a condition is an expression.
    condition.cast::<RestrictInfo>().and_then(|condition| unsafe { NodeRef::new(condition.clause) })
}

/// The arguments of a condition that is an operator; `None` for any other.
fn arguments_of(condition: NodeRef) -> Option<Nodes> {
    // SAFETY: arguments are nodes.
    clause_of(condition)?.cast::<OpExpr>().map(|operator| unsafe { Nodes::new(operator.args) })
}

/// Stores the share of a condition as its selectivity, unless the planner has stored one.
fn store_share(condition: NodeRef, share: f64) {
    // SAFETY: a condition of the planner. No reference to it is in use.
    let condition = unsafe { &mut *condition.as_ptr::<RestrictInfo>() };
    if condition.norm_selec < 0.0 && condition.outer_selec < 0.0 {
        (condition.norm_selec, condition.outer_selec) = (share, share);
    }
}
