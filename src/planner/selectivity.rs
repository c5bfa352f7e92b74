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
use core::ffi::{c_int, c_void};
use core::ptr;

use pgrx::pg_sys::{
    self, BoolExpr, BoolExprType, Const, Datum, FmgrInfo, List, Node, NodeTag, Oid, OpExpr, PlannerInfo, RestrictInfo,
    VariableStatData,
};
use scru_ids::Stored;
use scru_ids::selectivity::{Bounds, Tightest, UNKNOWN_BOUND, UNKNOWN_RANGE};

use crate::call::Call;
use crate::call::error::Error;
use crate::functions::time_compare::Operator;
use crate::pg::clock;
use crate::pg::datum::{self, StoredDatum, StoredId};
use crate::pg::process::PerProcess;
use crate::planner::condition::{self, Condition, Test};
use crate::planner::expression::{self, cast, elements, exprType, get_opcode, getBaseType};
use crate::planner::tick_statistics::TickStatistics;

// Declared here to avoid pgrx's guards: planning a query makes dozens of these calls, and the guards would cost more than the
// calls. A server error is a longjmp over Rust frames that have nothing to drop.
unsafe extern "C-unwind" {
    fn examine_variable(root: *mut PlannerInfo, node: *mut Node, relation: c_int, column: *mut VariableStatData);
    fn estimate_expression_value(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    fn get_oprrest(operator: Oid) -> Oid;
    fn get_typlenbyval(type_: Oid, length: *mut i16, by_value: *mut bool);
    fn contain_volatile_functions(node: *mut Node) -> bool;
    fn equal(one: *const c_void, other: *const c_void) -> bool;
    fn bms_num_members(set: *const pg_sys::Bitmapset) -> c_int;
    fn fmgr_info(function: Oid, info: *mut FmgrInfo);
    fn statistic_proc_security_check(column: *mut VariableStatData, function: Oid) -> bool;
    fn mcv_selectivity(
        column: *mut VariableStatData,
        function: *mut FmgrInfo,
        collation: Oid,
        value: Datum,
        is_left: bool,
        common: *mut f64,
    ) -> f64;
    fn ineq_histogram_selectivity(
        root: *mut PlannerInfo,
        column: *mut VariableStatData,
        operator: Oid,
        function: *mut FmgrInfo,
        is_greater: bool,
        is_equal: bool,
        collation: Oid,
        value: Datum,
        type_: Oid,
    ) -> f64;
}

/// `T_ineqsel(internal, oid, internal, integer) → double precision`: the restriction estimator of `<`, `<=`, `>=` and `>` between
/// two IDs or between an ID and a time, and of `<@` and `@>`.
pub fn of_operator<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let (root, operator, arguments) = (call.datum(0).cast_mut_ptr(), call.oid(1), call.datum(2).cast_mut_ptr());
    // SAFETY: the server passes the planner's state, the operator, its arguments and the relation.
    let fraction = unsafe {
        let test = Test::of::<T>(get_opcode(operator));
        let of_test = |test| estimate::<T>(root, test, get_oprrest(operator), arguments, call.int4(3));
        test.map_or(UNKNOWN_BOUND, of_test)
    };
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
        let (root, arguments, relation) = ((*request).root, (*request).args, (*request).varRelid);
        let is_possible = |name: &[u8]| name.strip_prefix(T::NAME.as_bytes()) == Some(b"_time_possible");
        if let Some((true, _)) = expression::name_and_schema((*request).funcid, is_possible) {
            (*request).selectivity = 1.0;
        } else if !(*request).is_join && Test::of::<T>((*request).funcid) == Some(Test::Range) {
            (*request).selectivity = estimate::<T>(root, Test::Range, Oid::INVALID, arguments, relation);
        } else {
            return ptr::null_mut();
        }
        request
    }
}

/// Returns the estimated fraction of a column's rows that satisfy a condition; its share if there are other conditions with the same
/// estimator. Returns the server's default if no argument is a column, or if an argument is none of the type.
unsafe fn estimate<T: StoredId>(
    root: *mut PlannerInfo,
    test: Test,
    estimator: Oid,
    arguments: *mut List,
    relation: c_int,
) -> f64 {
    let mut fraction = if test == Test::Range { UNKNOWN_RANGE } else { UNKNOWN_BOUND };
    // SAFETY: structs of the planner; the statistics are released.
    unsafe {
        if let Some((mut column, other, is_left)) = Column::of(root, arguments, relation, estimator) {
            if column.has_type_of::<T>() {
                column.ticks = TickStatistics::of(&column.statistics);
                fraction = column.share::<T>(test, arguments, other, is_left);
                if let Some(ticks) = column.ticks {
                    ticks.free();
                }
            }
            release(&column.statistics);
        }
    }
    fraction.clamp(0.0, 1.0)
}

/// Releases the row of the statistics of a column.
unsafe fn release(statistics: &VariableStatData) {
    if let (Some(free), false) = (statistics.freefunc, statistics.statsTuple.is_null()) {
        // SAFETY: the server sets the function for this row.
        unsafe { free(statistics.statsTuple) };
    }
}

/// An ID in the conditions of a query, usually a column, with its statistics.
struct Column {
    root: *mut PlannerInfo,
    id: *mut Node,
    type_: Oid,
    /// The estimator of the conditions.
    estimator: Oid,
    statistics: VariableStatData,
    ticks: Option<TickStatistics>,
    /// The range of a bound that was evaluated, and its value.
    range: Option<(*mut Node, *mut Node)>,
}

impl Column {
    /// Returns the argument that depends on a table, with its statistics, then the other one, and whether the former is on the
    /// left; `None` if both depend on tables, or none does. The caller releases the statistics.
    unsafe fn of(
        root: *mut PlannerInfo,
        arguments: *mut List,
        relation: c_int,
        estimator: Oid,
    ) -> Option<(Self, *mut Node, bool)> {
        // SAFETY: the server fills the structs.
        unsafe {
            // An operator of a user can have this estimator and one argument.
            let &[left, right] = elements(arguments) else { return None };
            let [left, right] = [left, right].map(|id| {
                let mut statistics = VariableStatData::default();
                examine_variable(root, id, relation, &mut statistics);
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
    }

    /// Returns whether the values of the column have the length of the type's, so that reading one of them is safe.
    unsafe fn has_type_of<T: StoredId>(&self) -> bool {
        let (mut length, mut by_value) = (0, false);
        // SAFETY: a look-up in the system cache.
        unsafe { get_typlenbyval(self.type_, &mut length, &mut by_value) };
        (length as usize, by_value) == (size_of::<T::Stored>(), T::Stored::BY_VALUE)
    }

    /// Returns the condition's share of the joint selectivity of all conditions on the ID, and stores the shares of the others.
    unsafe fn share<T: StoredId>(&mut self, test: Test, arguments: *mut List, other: *mut Node, is_left: bool) -> f64 {
        // SAFETY: structs of the planner.
        unsafe {
            let mut siblings = None;
            if self.estimator != Oid::INVALID {
                match self.origin::<T>(test, arguments, other) {
                    Some(Origin::Derived(share)) => return share,
                    Some(Origin::Condition(conjunction, join)) => siblings = Some((conjunction, join)),
                    None => {}
                }
            }
            let value = self.value_of(other);
            let own = self.bounds::<T>(test, value, is_left);
            let nulls = self.null_fraction();
            let mut own_share = Tightest::of(&[own], nulls).share(0);
            let Some((siblings, join)) = siblings else { return own_share };
            let (conditions, bounds) = self.conditions::<T>(siblings, join, arguments, own);
            let tightest = Tightest::of(bounds, nulls);
            for (index, &condition) in conditions.iter().enumerate() {
                let condition = &mut *condition;
                if arguments_of(condition) == arguments {
                    own_share = tightest.share(index);
                } else if condition.norm_selec < 0.0 && condition.outer_selec < 0.0 {
                    (condition.norm_selec, condition.outer_selec) = (tightest.share(index), tightest.share(index));
                }
            }
            own_share
        }
    }

    /// Returns what the condition with this test and these arguments is. `bound` is the argument that is not the ID.
    unsafe fn origin<T: StoredId>(&self, test: Test, arguments: *mut List, bound: *mut Node) -> Option<Origin> {
        // SAFETY: structs of the planner.
        unsafe {
            let table = &*self.statistics.rel;
            // The operand of the condition from which this one may be derived, which the bound contains; null if it is constant.
            let operand = match expression::called(bound) {
                Some((_, of_bound)) => elements::<Node>(of_bound).first().copied(),
                None => {
                    ((*bound).type_ == NodeTag::T_Const && exprType(bound) == self.type_).then_some(ptr::null_mut())
                }
            };
            let origin = |condition: *mut RestrictInfo| {
                if arguments_of(condition) == arguments {
                    return Some(None);
                }
                self.share_of_derived::<T>(test, condition, arguments, bound, operand?).map(Some)
            };
            match find(table.baserestrictinfo, &origin) {
                Some((_, _, Some(share))) => return Some(Origin::Derived(share)),
                Some((list, _, None)) => return Some(Origin::Condition(list, ptr::null())),
                None => {}
            }
            let own = |condition| (arguments_of(condition) == arguments).then_some(());
            let (list, condition, ()) = find(table.joininfo, &own)?;
            let is_of_join = list == table.joininfo;
            Some(Origin::Condition(list, if is_of_join { (*condition).required_relids } else { ptr::null() }))
        }
    }

    /// Returns the share of an index condition with this test and these arguments, if a support function has derived it from
    /// `condition`: a root of the stored share of `condition`, because the planner multiplies the shares of all that are derived from
    /// it. Evaluates no function. `bound` and `operand` are as in [`Self::origin`].
    unsafe fn share_of_derived<T: StoredId>(
        &self,
        test: Test,
        condition: *mut RestrictInfo,
        arguments: *mut List,
        bound: *mut Node,
        operand: *mut Node,
    ) -> Option<f64> {
        // SAFETY: structs of the planner; the tag identifies the struct.
        unsafe {
            let (function, of_condition) = expression::called((*condition).clause.cast())?;
            let (other, _) = self.other(of_condition)?;
            let other = expression::without_relabel(other);
            let may_be_origin = if operand.is_null() {
                (*other).type_ == NodeTag::T_Const && exprType(other) != self.type_
            } else {
                equal(other.cast(), expression::without_relabel(operand).cast())
            };
            if !may_be_origin || (*condition).norm_selec < 0.0 {
                return None;
            }
            let condition_on_time = Condition::of::<T>(function, of_condition)?;
            if let Some((bound, of_bound)) = expression::called(bound) {
                let Test::Id(native) = test else { return None };
                let share = 1.0 / condition_on_time.comparisons_with::<T>(native, bound, of_bound)? as f64;
                return Some((*condition).norm_selec.min(1.0).powf(share));
            }
            let derived = elements::<OpExpr>(condition_on_time.comparisons::<T>(self.root)?);
            let is_derived = derived.iter().any(|&one| equal((*one).args.cast(), arguments.cast()));
            is_derived.then(|| (*condition).norm_selec.min(1.0).powf(1.0 / derived.len() as f64))
        }
    }

    /// Returns those of some conditions that are on the ID, and their bounds. The condition with the arguments `arguments` has the
    /// bounds `own`. If `join` is not null, leaves out the conditions of other joins.
    unsafe fn conditions<'a, T: StoredId>(
        &mut self,
        siblings: *mut List,
        join: *const pg_sys::Bitmapset,
        arguments: *mut List,
        own: Bounds,
    ) -> (&'a [*mut RestrictInfo], &'a [Bounds]) {
        // SAFETY: structs of the planner.
        unsafe {
            let siblings = elements::<RestrictInfo>(siblings);
            let conditions = datum::slice(siblings.len(), |_| ptr::null_mut::<RestrictInfo>());
            let bounds = datum::slice(siblings.len(), |_| Bounds::default());
            let mut count = 0;
            for &condition in siblings {
                clock::check_for_interrupts();
                if (*condition).type_ != NodeTag::T_RestrictInfo
                    || !join.is_null() && !pg_sys::bms_equal(join, (*condition).required_relids)
                {
                    continue;
                }
                let is_own = arguments_of(condition) == arguments;
                let found = if is_own { Some(own) } else { self.bounds_of_other::<T>(condition) };
                if let Some(found) = found {
                    (conditions[count], bounds[count]) = (condition, found);
                    count += 1;
                }
            }
            (&conditions[..count], &bounds[..count])
        }
    }

    /// Returns the bounds of another condition; `None` if it has another estimator, if it is not on the same ID, or if it
    /// compares the ID with a column or with the result of a volatile function.
    unsafe fn bounds_of_other<T: StoredId>(&mut self, condition: *mut RestrictInfo) -> Option<Bounds> {
        // SAFETY: structs of the planner.
        unsafe {
            let clause = cast::<OpExpr>((*condition).clause.cast(), NodeTag::T_OpExpr)?;
            if get_oprrest(clause.opno) != self.estimator {
                return None;
            }
            let (other, is_left) = self.other(clause.args)?;
            let tables = if is_left { (*condition).right_relids } else { (*condition).left_relids };
            if bms_num_members(tables) > 0 {
                return None;
            }
            let (function, _) = expression::called((*condition).clause.cast())?;
            let test = Test::of::<T>(function)?;
            let other = self.value_of(other);
            if (*other).type_ != NodeTag::T_Const && contain_volatile_functions(other) {
                return None;
            }
            Some(self.bounds::<T>(test, other, is_left))
        }
    }

    /// Returns the operand with which arguments compare this ID, and whether the ID is on the left; `None` if they do not.
    unsafe fn other(&self, arguments: *mut List) -> Option<(*mut Node, bool)> {
        // SAFETY: expressions of the planner.
        unsafe {
            let &[left, right] = elements::<Node>(arguments) else { return None };
            let is_id = |node: *mut Node| equal(node.cast(), self.id.cast());
            if is_id(left) { Some((right, true)) } else { is_id(right).then_some((left, false)) }
        }
    }

    /// Evaluates an operand of a condition as far as the planner can. Two bounds can replace one range: its value is kept, so that
    /// its functions are called once.
    unsafe fn value_of(&mut self, operand: *mut Node) -> *mut Node {
        // SAFETY: expressions of the planner.
        unsafe {
            let (function, arguments) = expression::called(operand).unwrap_or((Oid::INVALID, ptr::null_mut()));
            let &[range] = elements(arguments) else { return estimate_expression_value(self.root, operand) };
            if exprType(range) != pg_sys::TSTZRANGEOID {
                return estimate_expression_value(self.root, operand);
            }
            let value = match self.range {
                Some((same, value)) if equal(same.cast(), range.cast()) => value,
                _ => estimate_expression_value(self.root, range),
            };
            self.range = Some((range, value));
            let bound = expression::call(function, exprType(operand), [expression::copy(value)]);
            estimate_expression_value(self.root, bound)
        }
    }

    /// Returns the bounds that a condition sets on the ID. `is_left` tells whether the ID is the left operand of a comparison
    /// with another ID.
    unsafe fn bounds<T: StoredId>(&mut self, test: Test, other: *mut Node, is_left: bool) -> Bounds {
        // SAFETY: the tag identifies the struct, and the value is read only if it is of the expected type.
        unsafe {
            let constant = cast::<Const>(other, NodeTag::T_Const);
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
                    match time.map(|time| operator.with_id::<T>(time.constvalue.value() as i64)) {
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

    /// Returns the bound that an operator sets with an ID on its right; `None` if the ID is unknown.
    unsafe fn bound<T: StoredId>(&mut self, operator: Operator, id: Option<T>) -> Bounds {
        // SAFETY: the column has the type of the ID.
        let selectivity = id.and_then(|id| unsafe { self.selectivity(operator, id) });
        Bounds::one(operator.is_from_below(), selectivity.unwrap_or(UNKNOWN_BOUND))
    }

    /// Returns the fraction of the column's rows that satisfy an operator; `None` if there are no statistics. Tests the most common
    /// ticks or values one by one, and estimates the others from the histogram.
    unsafe fn selectivity<T: StoredId>(&mut self, operator: Operator, id: T) -> Option<f64> {
        let (operator, id) = operator.at_tick(id);
        // SAFETY: the arguments are those of the server's estimators, except for the types.
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
            let (is_greater, is_equal) = (operator.is_from_below(), operator.includes_bound());
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

    /// Returns the fraction of NULLs in the column, and 0 if there are no statistics.
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
enum Origin {
    /// A condition of the table: the conditions that are ANDed with it, itself included. They are those of the table, those of an
    /// outer join that concern only one table, or those of an arm of an OR; none if the condition is a whole arm. The tables of the
    /// outer join come with them; null for the others.
    Condition(*mut List, *const pg_sys::Bitmapset),
    /// An index condition that is derived from a condition of the table, and its share.
    Derived(f64),
}

/// The lists in which [`find`] last found something, with the index, by depth: the conditions of a table, the arms of one that is an
/// OR, and the conditions of an arm or of a list below it. The planner asks for the conditions in their order: a search that starts
/// there compares one or two of thousands. A list that has been freed since then is never read.
static LAST_FOUND: PerProcess<Cell<[(*const List, usize); 3]>> = PerProcess::new(Cell::new([(ptr::null(), 0); 3]));

/// Returns the first result of `test` for a condition in a list or in an arm of an OR, with the condition and the conjunction that
/// contains it, which is null if the condition is a whole arm.
unsafe fn find<R>(
    list: *mut List,
    test: &dyn Fn(*mut RestrictInfo) -> Option<R>,
) -> Option<(*mut List, *mut RestrictInfo, R)> {
    // SAFETY: guaranteed by the caller.
    unsafe { find_at(0, list, test) }
}

/// Like [`find`], in a list at a depth.
unsafe fn find_at<R>(
    depth: usize,
    list: *mut List,
    test: &dyn Fn(*mut RestrictInfo) -> Option<R>,
) -> Option<(*mut List, *mut RestrictInfo, R)> {
    // SAFETY: structs of the planner.
    unsafe {
        from_last_found::<RestrictInfo, _>(depth, list, &|condition| {
            if (*condition).type_ != NodeTag::T_RestrictInfo {
                return None;
            }
            if let Some(result) = test(condition) {
                return Some((list, condition, result));
            }
            let arms = (*condition).orclause.cast::<BoolExpr>().as_ref()?;
            from_last_found::<Node, _>(depth + 1, arms.args, &|arm| match cast::<BoolExpr>(arm, NodeTag::T_BoolExpr) {
                Some(conjunction) if conjunction.boolop == BoolExprType::AND_EXPR => {
                    find_at(depth + 2, conjunction.args, test)
                }
                None if (*arm).type_ == NodeTag::T_RestrictInfo => {
                    test(arm.cast()).map(|result| (ptr::null_mut(), arm.cast(), result))
                }
                _ => None,
            })
        })
    }
}

/// Returns the first result of `test` for an element of a list. Starts with the one for which it had a result last.
unsafe fn from_last_found<N, R>(depth: usize, list: *mut List, test: &dyn Fn(*mut N) -> Option<R>) -> Option<R> {
    // SAFETY: a list of the planner.
    let nodes = unsafe { elements::<N>(list) };
    let mut places = LAST_FOUND.get();
    let depth = depth.min(places.len() - 1);
    let (last_list, last) = places[depth];
    let start = if last_list == list.cast_const() && last < nodes.len() { last } else { 0 };
    for index in (start..nodes.len()).chain(0..start) {
        clock::check_for_interrupts();
        if let Some(result) = test(nodes[index]) {
            // The test may have stored a place in a list below.
            places = LAST_FOUND.get();
            places[depth] = (list, index);
            LAST_FOUND.set(places);
            return Some(result);
        }
    }
    None
}

/// Returns the arguments of a condition that is an operator; null for any other.
unsafe fn arguments_of(condition: *mut RestrictInfo) -> *mut List {
    // SAFETY: the tag identifies the struct.
    let operator = unsafe { cast::<OpExpr>((*condition).clause.cast(), NodeTag::T_OpExpr) };
    operator.map_or(ptr::null_mut(), |operator| operator.args)
}
