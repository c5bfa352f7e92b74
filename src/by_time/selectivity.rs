//! Restriction estimators of the comparisons of an ID with an ID or a time, and of `id <@ tstzrange`.
//!
//! The estimates are read from the statistics of the column, like those of `<` between numbers. The server's own estimators cannot
//! convert an ID to a number, and therefore assume the middle of a histogram bucket, which is a hundredth of the table by default.
//! Given a built-in type in place of the ID's, they read the leading bytes of an ID as a number.
//!
//! The server combines a lower and an upper bound to a range only if their estimators are its own. Here, the estimator finds the
//! other conditions on the same ID, and returns the condition's share of their joint selectivity: see [`Tightest`]. It also stores
//! the shares of the others, because n estimates of n conditions would take quadratic time.
//!
//! The estimator evaluates the stable functions of a condition, like the server's. An index condition that is derived from a
//! condition gets its share of the stored estimate, so that these functions are not called again for each index.

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{self, Bitmapset, Datum, FmgrInfo, Oid, OpExpr, RestrictInfo, RowCompareExpr, VariableStatData};
use scru_ids::Stored;
use scru_server::selectivity::{Bounds, Tightest, UNKNOWN_BOUND, UNKNOWN_RANGE};
use scru_server::time_compare::{Operator, first_and_last};

use crate::by_time::condition::{Comparison, Condition};
use crate::by_time::expression::{self, Native};
use crate::by_time::restriction::{arguments_of, find, store_share};
use crate::by_time::time_condition::TIMESTAMPTZ_EQUAL;
use crate::by_time::{time_of_id, time_statistics};
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{Call, epoch};
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    contain_var_clause, contain_volatile_functions, copy_node, equal, examine_variable, exprType, fmgr_info,
    get_opcode, get_oprrest, heap_freetuple,
};
use crate::pg::{catalog, clock, datum};

/// `T_ineqsel(internal, oid, internal, integer) → double precision`: the restriction estimator of `<`, `<=`, `>=` and `>` between
/// two IDs or between an ID and a time, and of `<@` and `@>`.
pub fn of_operator<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let operator = Oid::from(call.int4(1) as u32);
    // SAFETY: the server passes the planner's state, the operator, its arguments and the relation.
    let (root, arguments) =
        unsafe { (Root::new(call.datum(0).cast_mut_ptr()), Nodes::new(call.datum(2).cast_mut_ptr())) };
    // A user can create another operator with this estimator.
    let known = root.zip(Condition::of::<T>(get_opcode(operator), arguments));
    let fraction = known.map_or(UNKNOWN_BOUND, |(root, condition)| {
        estimate::<T>(root, &condition, get_oprrest(operator), call.int4(3))
    });
    Ok(Datum::from(fraction.to_bits()))
}

/// Estimates a call of `T_contained_by_range` or `T_range_contains`. Returns null for the other functions, and for a range in a join.
///
/// # Safety
/// The request is for one of our functions.
pub unsafe fn of_function<T: StoredId>(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> *mut pg_sys::SupportRequestSelectivity {
    // SAFETY: the request has the arguments of an estimator.
    let (request, root, arguments) =
        unsafe { (&mut *request, Root::new((*request).root), Nodes::new((*request).args)) };
    let condition =
        Condition::of::<T>(request.funcid, arguments).filter(|condition| condition.comparison == Comparison::Range);
    match root.zip(condition) {
        Some((root, condition)) if !request.is_join => {
            request.selectivity = estimate::<T>(root, &condition, Oid::INVALID, request.varRelid);
            request
        }
        _ => ptr::null_mut(),
    }
}

/// The estimated fraction of a column's rows that satisfy a condition; its share if there are other conditions with the same estimator.
/// The server's default if no ID is a column, or if both arguments are.
fn estimate<T: StoredId>(root: Root, condition: &Condition, estimator: Oid, relation: c_int) -> f64 {
    let sides = [condition.id, condition.operand].map(|side| {
        let mut statistics = VariableStatData::default();
        examine_variable(root, side, relation, &mut statistics);
        statistics
    });
    let share = |comparison, id, other, statistics: VariableStatData| {
        let mut column = Column { root, id, estimator, statistics, range: None };
        column.share::<T>(comparison, other, condition.arguments)
    };
    let fraction = match (condition.comparison, sides.map(|side| !side.rel.is_null())) {
        (comparison, [true, false]) => share(comparison, condition.id, condition.operand, sides[0]),
        (Comparison::Id(operator), [false, true]) => {
            share(Comparison::Id(operator.commuted()), condition.operand, condition.id, sides[1])
        }
        (Comparison::Range, _) => UNKNOWN_RANGE,
        _ => UNKNOWN_BOUND,
    };
    for side in sides.iter().filter(|side| !side.statsTuple.is_null()) {
        // SAFETY: the server sets the function for this row.
        side.freefunc.iter().for_each(|free| unsafe { free(side.statsTuple) });
    }
    fraction.clamp(0.0, 1.0)
}

/// An ID in the conditions of a query, usually a column, with its statistics.
struct Column<'p> {
    root: Root<'p>,
    id: NodeRef<'p>,
    /// The estimator of the conditions.
    estimator: Oid,
    statistics: VariableStatData,
    /// The range of a bound that was evaluated, and its value.
    range: Option<(NodeRef<'p>, NodeRef<'p>)>,
}

impl<'p> Column<'p> {
    /// The condition's share of the joint selectivity of all conditions on the ID. Stores the shares of the others.
    fn share<T: StoredId>(&mut self, comparison: Comparison, other: NodeRef<'p>, arguments: Nodes<'p>) -> f64 {
        let origin = self.origin::<T>(other, arguments);
        if let Origin::Derived(share) = origin {
            return share;
        }
        let own = (comparison, self.value_of(other));
        let nulls = self.null_fraction();
        let Origin::Condition(siblings, join) = origin else {
            return Tightest::of([&self.bounds::<T>(own)], nulls).share(0);
        };
        let conditions = self.conditions::<T>(siblings, join, arguments, own);
        let tightest = self.equality::<T>(conditions).unwrap_or_else(|| {
            // SAFETY: the memory of the planner.
            let bounds = unsafe { datum::slice(conditions.len(), |index| self.bounds::<T>(conditions[index].1)) };
            Tightest::of(bounds.iter(), nulls)
        });
        let is_own = |condition: NodeRef| arguments_of(condition) == Some(arguments);
        for (index, &(condition, _)) in conditions.iter().enumerate().filter(|(_, each)| !is_own(each.0)) {
            store_share(condition, tightest.share(index));
        }
        tightest.share(conditions.iter().position(|each| is_own(each.0)).unwrap_or(0))
    }

    /// What the condition with these arguments is, which compares the ID with `other`.
    fn origin<T: StoredId>(&self, other: NodeRef<'p>, arguments: Nodes<'p>) -> Origin<'p> {
        if self.estimator == Oid::INVALID {
            return Origin::Alone;
        }
        // SAFETY: the table and its lists of conditions are the planner's.
        let (table, of_joins) = unsafe {
            let table = &*self.statistics.rel;
            (Nodes::new(table.baserestrictinfo), Nodes::new(table.joininfo))
        };
        let is_own = |condition: NodeRef<'p>| arguments_of(condition) == Some(arguments);
        let test = |condition: NodeRef<'p>| match is_own(condition) {
            true => Some(None),
            false => self.derived_share::<T>(condition, other, arguments).map(Some),
        };
        match find(0, table, &test) {
            Some((.., Some(share))) => return Origin::Derived(share),
            Some((siblings, _, None)) => return siblings.map_or(Origin::Alone, |all| Origin::Condition(all, None)),
            None => {}
        }
        let Some((siblings, found, ())) = find(0, of_joins, &|condition| is_own(condition).then_some(())) else {
            return Origin::Alone;
        };
        let join = found.cast::<RestrictInfo>().map(|condition| condition.required_relids.cast_const());
        siblings.map_or(Origin::Alone, |all| Origin::Condition(all, join.filter(|_| all == of_joins)))
    }

    /// The share of the index condition with these arguments, if a support function has derived it from the condition `source`: a root of
    /// the stored share of `source`, because the planner multiplies the shares of all that are derived from it. Evaluates no function.
    fn derived_share<T: StoredId>(&self, source: NodeRef<'p>, bound: NodeRef<'p>, arguments: Nodes<'p>) -> Option<f64> {
        let (function, of_source) = catalog::called(source.clause()?)?;
        let operand = of_source.iter().find(|&each| !equal(Some(each), Some(self.id)))?.without_relabel();
        let may_be_source = match catalog::called(bound) {
            Some((_, of_bound)) => equal(Some(operand), of_bound.iter().next().map(NodeRef::without_relabel)),
            None => bound.is_constant() && operand.is_constant() && exprType(operand) != self.statistics.vartype,
        };
        let stored = source.cast::<RestrictInfo>()?.norm_selec;
        if !may_be_source || stored < 0.0 {
            return None;
        }
        let condition = Condition::of::<T>(function, of_source)?;
        self.compared(&condition)?;
        let number = if let Some((bound, of_bound)) = catalog::called(bound) {
            condition.comparisons_with::<T>(bound, of_bound)?
        } else {
            let derived = condition.comparisons::<T>(Some(self.root))?;
            let is_derived = |one: NodeRef<'p>| equal(one.arguments().as_node(), arguments.as_node());
            derived.iter().any(is_derived).then_some(derived.as_slice().len())?
        };
        Some(stored.min(1.0).powf(1.0 / number as f64))
    }

    /// Those of some conditions that are on the ID, with their values. The condition with the arguments `arguments` has the value `own`.
    /// With `join`, without the conditions of joins of other tables.
    fn conditions<T: StoredId>(
        &mut self,
        siblings: Nodes<'p>,
        join: Option<*const Bitmapset>,
        arguments: Nodes<'p>,
        own: Value<'p>,
    ) -> &'p [(NodeRef<'p>, Value<'p>)] {
        let siblings = siblings.as_slice();
        // SAFETY: the memory of the planner.
        let conditions = unsafe { datum::slice(siblings.len(), |index| (siblings[index], own)) };
        let mut count = 0;
        for &sibling in siblings {
            clock::check_for_interrupts();
            let Some(condition) = sibling.cast::<RestrictInfo>() else { continue };
            // SAFETY: sets of the planner.
            if join.is_some_and(|join| unsafe { !pg_sys::bms_equal(join, condition.required_relids) }) {
                continue;
            }
            if self.is_of_row(sibling) {
                store_share(sibling, 1.0);
            }
            let is_own = arguments_of(sibling) == Some(arguments);
            if let Some(value) = if is_own { Some(own) } else { self.value_of_other::<T>(sibling) } {
                conditions[count] = (sibling, value);
                count += 1;
            }
        }
        &conditions[..count]
    }

    /// The value of another condition; `None` if it has another estimator, if it is not on the same ID, or if it compares the ID with a
    /// column or with the result of a volatile function.
    fn value_of_other<T: StoredId>(&mut self, condition: NodeRef<'p>) -> Option<Value<'p>> {
        let operator = condition.clause()?;
        if get_oprrest(operator.cast::<OpExpr>()?.opno) != self.estimator {
            return None;
        }
        let (function, arguments) = catalog::called(operator)?;
        let (comparison, other) = self.compared(&Condition::of::<T>(function, arguments)?)?;
        if contain_var_clause(other) {
            return None;
        }
        let value = self.value_of(other);
        (value.is_constant() || !contain_volatile_functions(value)).then_some((comparison, value))
    }

    /// Whether a condition is a comparison of a row that begins with the time of the ID. It has no effect beside the bound that
    /// [`time_condition`](super::time_condition) adds.
    fn is_of_row(&self, condition: NodeRef<'p>) -> bool {
        let Some(row) = condition.clause().and_then(NodeRef::cast::<RowCompareExpr>) else { return false };
        // SAFETY: lists of operands.
        [row.largs, row.rargs].into_iter().any(|operands| unsafe {
            let first = Nodes::new(operands).iter().next().and_then(time_of_id::called);
            first.is_some_and(|(_, id)| equal(Some(id.without_relabel()), Some(self.id.without_relabel())))
        })
    }

    /// What a condition compares this ID with, with the ID on the left, and the other side; `None` if it has another ID.
    fn compared(&self, condition: &Condition<'p>) -> Option<(Comparison, NodeRef<'p>)> {
        let is_id = |node| equal(Some(node), Some(self.id));
        match condition.comparison {
            comparison if is_id(condition.id) => Some((comparison, condition.operand)),
            Comparison::Id(operator) if is_id(condition.operand) => {
                Some((Comparison::Id(operator.commuted()), condition.id))
            }
            _ => None,
        }
    }

    /// Evaluates an operand of a condition as far as the planner can. Two bounds can replace one range: its value is kept, so that
    /// its functions are called once.
    fn value_of(&mut self, operand: NodeRef<'p>) -> NodeRef<'p> {
        let called = catalog::called(operand).map(|(function, arguments)| (function, arguments.as_slice()));
        let Some((function, &[range])) =
            called.filter(|(_, arguments)| matches!(arguments, [range] if exprType(*range) == pg_sys::TSTZRANGEOID))
        else {
            return expression::estimated(self.root, operand);
        };
        let value = match self.range {
            Some((same, value)) if equal(Some(same), Some(range)) => value,
            _ => expression::estimated(self.root, range),
        };
        self.range = Some((range, value));
        expression::estimated(self.root, expression::call(function, exprType(operand), [copy_node(value)]))
    }

    /// The bounds that a condition sets on the ID.
    fn bounds<T: StoredId>(&self, (comparison, value): Value<'p>) -> Bounds {
        if value.cast::<pg_sys::Const>().is_some_and(|constant| constant.constisnull) {
            return Bounds::NONE;
        }
        match comparison {
            Comparison::Id(operator) | Comparison::Time(operator) => {
                self.bound::<T>(operator, known((comparison, value)))
            }
            Comparison::Range => {
                let Some(range) = value.constant() else { return Bounds::UNKNOWN };
                // SAFETY: the operator takes a range.
                let (first, last): (T, T) = first_and_last(unsafe { epoch::range_bounds(range.constvalue) });
                if first > last {
                    return Bounds::NONE;
                }
                let [first, last] = [(Operator::GreaterOrEqual, first), (Operator::LessOrEqual, last)];
                let [lower, upper] = [first, last].map(|bound| self.bound(bound.0, Some(bound)));
                Bounds { lower: lower.lower, upper: upper.upper }
            }
        }
    }

    /// The bound that an operator sets. `known` is the equivalent comparison with an ID; `None` if the ID is unknown.
    fn bound<T: StoredId>(&self, operator: Operator, known: Option<(Operator, T)>) -> Bounds {
        let selectivity = known.and_then(|(operator, id)| self.selectivity(operator, id));
        Bounds::one(operator.is_lower_bound(), selectivity.unwrap_or(UNKNOWN_BOUND))
    }

    /// The fraction of the column's rows that satisfy an operator; `None` if there are no statistics. Estimated by the times if some are
    /// common: their rows have different IDs.
    fn selectivity<T: StoredId>(&self, operator: Operator, id: T) -> Option<f64> {
        let ((operator, id), row) = (operator.among_ids(id), self.statistics.statsTuple);
        if row.is_null() {
            return None;
        }
        // SAFETY: the statistics are those of a column with IDs, and `times` those of a column of times.
        unsafe {
            if time_statistics::has_common_times(row)
                && let Some(mut times) = self.of_times()
            {
                let time = epoch::of(id);
                let is_better = time_statistics::divide_at(times.statsTuple, time, id == T::first_of(id.tick()));
                let found = is_better.then(|| self.fraction(&mut times, pg_sys::TIMESTAMPTZOID, operator, time.into()));
                heap_freetuple(times.statsTuple);
                if let Some(found) = found {
                    return found;
                }
            }
            // A macaddr has 6 bytes, the length of the timestamp of an ID of more than 8 bytes.
            let number = if T::Stored::BY_VALUE { pg_sys::INT8OID } else { pg_sys::MACADDROID };
            let mut of_ids = VariableStatData { vartype: number, ..self.statistics };
            self.fraction(&mut of_ids, self.statistics.vartype, operator, id.to_stored().as_datum())
        }
    }

    /// The fraction of rows that satisfy an operator of a type with a value, by these statistics. Tests the most common values one by
    /// one, and estimates the others from the histogram.
    unsafe fn fraction(&self, of: &mut VariableStatData, type_: Oid, operator: Operator, value: Datum) -> Option<f64> {
        let native = Native::of(type_, operator)?;
        let (mut function, none, mut common) = (FmgrInfo::default(), Oid::INVALID, 0.0);
        let (root, type_) = (self.root.as_ptr(), of.vartype);
        let (operator, is_greater, is_equal) = (native.operator, operator.is_lower_bound(), operator.includes_bound());
        fmgr_info(native.function, &mut function);
        // SAFETY: the statistics have the type of the value. The arguments are those of the server's estimators.
        let (within, others) = unsafe {
            let within = pg_sys::mcv_selectivity(of, &mut function, none, value, true, &mut common);
            let function = &mut function;
            let others = pg_sys::ineq_histogram_selectivity(
                root, of, operator, function, is_greater, is_equal, none, value, type_,
            );
            (within, if others >= 0.0 { others } else { 0.5 })
        };
        Some((within + (1.0 - self.null_fraction() - common) * others).clamp(0.0, 1.0))
    }

    /// The fraction of rows with one time, if two conditions in a row are its bounds, as the share of the first.
    fn equality<T: StoredId>(&self, conditions: &[(NodeRef<'p>, Value<'p>)]) -> Option<Tightest> {
        let index = conditions.windows(2).position(|pair| are_of_one_time::<T>(pair[0].1, pair[1].1))?;
        let ((_, value), operator, none) = (conditions[index].1, TIMESTAMPTZ_EQUAL.into(), Oid::INVALID);
        let time = known::<T>(conditions[index].1).map(|(_, id)| Datum::from(epoch::of(id)));
        let mut times = self.of_times()?;
        // SAFETY: the statistics are those of a column of times.
        let fraction = unsafe {
            let fraction = match time {
                Some(time) => pg_sys::var_eq_const(&mut times, operator, none, time, false, true, false),
                None => pg_sys::var_eq_non_const(&mut times, operator, none, value.as_ptr(), true, false),
            };
            heap_freetuple(times.statsTuple);
            fraction
        };
        Some(Tightest::one(index, fraction))
    }

    /// The statistics of the times of the IDs, whose row the caller frees; `None` if there are none.
    fn of_times(&self) -> Option<VariableStatData> {
        // SAFETY: the statistics are null or a row of pg_statistic.
        let row = unsafe { time_statistics::of_times(self.statistics.statsTuple) }?;
        let type_ = pg_sys::TIMESTAMPTZOID;
        Some(VariableStatData { statsTuple: row, vartype: type_, atttype: type_, isunique: false, ..self.statistics })
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

/// What a condition compares an ID with, as far as it can be evaluated.
type Value<'p> = (Comparison, NodeRef<'p>);

/// The comparison with an ID that a condition with a constant is among IDs; `None` for a range.
fn known<T: StoredId>((comparison, value): Value) -> Option<(Operator, T)> {
    let constant = value.constant()?.constvalue;
    let (operator, id) = match comparison {
        Comparison::Id(operator) => {
            // SAFETY: the operator takes an ID.
            let stored = unsafe { T::Stored::from_datum(constant) };
            (operator, T::from_stored(stored).unwrap_or(T::MAX))
        }
        Comparison::Time(operator) => operator.at_time(epoch::saturated_unix_micros(constant.value() as i64)),
        Comparison::Range => return None,
    };
    Some(operator.among_ids(id))
}

/// Whether two conditions are the bounds of one tick, or those of an unknown time that [`time_condition`](super::time_condition) sets.
fn are_of_one_time<T: StoredId>(lower: Value, upper: Value) -> bool {
    match (known::<T>(lower), known::<T>(upper)) {
        (Some((Operator::GreaterOrEqual, first)), Some((Operator::Less, end))) => {
            first.tick() + 1 == end.tick() && [first, end].iter().all(|id| *id == T::first_of(id.tick()))
        }
        (None, None) => {
            let both = (Comparison::Time(Operator::Greater), Comparison::Time(Operator::LessOrEqual));
            let time = time_of_id::argument_of_before(lower.1);
            (lower.0, upper.0) == both && time.is_some() && equal(time, Some(upper.1))
        }
        _ => false,
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
