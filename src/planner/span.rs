//! `id <@ tstzrange` as an expression of the planner.

use core::ffi::c_int;

use pgrx::pg_sys::{self, List, Node, NodeTag, Oid, PlannerInfo};

use scru_ids::Stored;

use crate::functions::precision::Precision;
use crate::functions::range;
use crate::functions::time_compare::Operator;
use crate::pg::datum::{StoredDatum, StoredId};
use crate::pg::tstzrange;
use crate::planner::expression::{self, Name, nth};

/// The btree strategies of the two comparisons, and the name of the bound of each.
const BOUNDS: [(u32, &str); 2] =
    [(pg_sys::BTGreaterEqualStrategyNumber, "lower"), (pg_sys::BTLessEqualStrategyNumber, "upper")];

/// A call of `T_contained_by_range` or `T_range_contains`, which take the same arguments in opposite order.
pub struct Span {
    pub function: Oid,
    pub id: *mut Node,
    pub id_type: Oid,
    pub range: *mut Node,
    pub precision: Precision,
}

impl Span {
    /// Reads a call of one of the two functions.
    ///
    /// # Safety
    /// `function` is one of the two functions, and `arguments` is the list of its two arguments.
    pub unsafe fn of(function: Oid, arguments: *mut List, precision: Precision) -> Self {
        // SAFETY: the SQL declares two arguments, one of them a tstzrange, or from version 0.3.0 on, a domain over it.
        unsafe {
            let [first, second] = [0, 1].map(|index| nth(arguments, index));
            let is_range = pg_sys::getBaseType(pg_sys::exprType(first)) == pg_sys::TSTZRANGEOID;
            let (id, range) = if is_range { (second, first) } else { (first, second) };
            Self { function, id, id_type: pg_sys::exprType(id), range: expression::without_relabel(range), precision }
        }
    }

    /// Returns whether an index of this operator family supports both comparisons.
    ///
    /// # Safety
    /// Must be called during planning.
    pub unsafe fn is_indexable(&self, family: Oid) -> bool {
        // SAFETY: look-ups in the catalog.
        unsafe { expression::is_indexable(self.id_type, BOUNDS.map(|(strategy, _)| strategy), family) }
    }

    /// Returns `id >= T_range_lower(range)` and `id <= T_range_upper(range)`. For a constant range, returns comparisons with the
    /// first ID of a tick where possible, as for constant times, and only one of them if the other holds for every value of the
    /// type. Returns null if the functions do not exist.
    ///
    /// # Safety
    /// Must be called during planning.
    pub unsafe fn comparisons<T: StoredId>(&self, root: *mut PlannerInfo) -> *mut List {
        // SAFETY: builds expressions in the planner's memory.
        unsafe {
            let comparison =
                |strategy, bound| expression::comparison(self.id_type, strategy, expression::copy(self.id), bound);
            let mut clauses: *mut List = core::ptr::null_mut();
            if let Some((first, last)) = self.first_and_last::<T>() {
                let has_other_values = T::CORE_TYPE.is_some();
                if first != T::MIN || has_other_values {
                    let bound = constant(self.id_type, first);
                    clauses = expression::append(clauses, comparison(Operator::GreaterOrEqual.strategy(), bound));
                }
                if last != T::MAX || has_other_values || clauses.is_null() {
                    let (operator, last) = Operator::LessOrEqual.at_tick(last);
                    clauses =
                        expression::append(clauses, comparison(operator.strategy(), constant(self.id_type, last)));
                }
                return clauses;
            }
            for (strategy, bound) in BOUNDS {
                let Some(bound) = self.bound::<T>(root, bound) else { return core::ptr::null_mut() };
                clauses = expression::append(clauses, comparison(strategy, bound));
            }
            clauses
        }
    }

    /// Returns the first and the last ID in the range; `None` if the range is NULL or not a constant.
    /// Computing the IDs here saves the look-up and the evaluation of a function for each of them.
    unsafe fn first_and_last<T: StoredId>(&self) -> Option<(T, T)> {
        // SAFETY: the tag identifies the struct.
        unsafe {
            let range = self.range.cast::<pg_sys::Const>();
            ((*self.range).type_ == NodeTag::T_Const && !(*range).constisnull)
                .then(|| first_and_last(range, self.precision))
        }
    }

    /// Returns the call `T_range_lower(range)` or `T_range_upper(range)`; `None` if the function does not exist. The function is
    /// in the same schema as `self.function`; version 0.1.0 names it `T_lower` or `T_upper`.
    ///
    /// # Safety
    /// Must be called during planning.
    unsafe fn bound<T: StoredId>(&self, root: *mut PlannerInfo, bound: &str) -> Option<*mut Node> {
        // SAFETY: the function takes a range and returns an ID.
        unsafe {
            let (_, schema) = expression::name_and_schema(self.function)?;
            let names = [Name::of(&[T::NAME, "_range_", bound]), Name::of(&[T::NAME, "_", bound])];
            let function =
                names.iter().find_map(|name| expression::function_in(schema, name, &[pg_sys::TSTZRANGEOID]))?;
            let call = expression::call(function, self.id_type, [expression::copy(self.range)]);
            Some(pg_sys::eval_const_expressions(root, call))
        }
    }
}

/// Returns the first and the last ID in a constant range; the largest and the smallest of all if there is none.
///
/// # Safety
/// `range` is a tstzrange other than NULL.
pub unsafe fn first_and_last<T: StoredId>(range: *mut pg_sys::Const, precision: Precision) -> (T, T) {
    // SAFETY: guaranteed by the caller. The type cache has an entry for tstzrange.
    unsafe {
        let entry = |range_type| pg_sys::lookup_type_cache(range_type, pg_sys::TYPECACHE_RANGE_INFO as c_int);
        range::first_and_last(tstzrange::bounds((*range).constvalue, entry), precision)
    }
}

/// Returns an ID as a constant.
///
/// # Safety
/// `id_type` is the OID of the ID type. Must be called during planning.
pub unsafe fn constant<T: StoredId>(id_type: Oid, id: T) -> *mut Node {
    let (length, by_value) = (size_of::<T::Stored>() as i32, T::Stored::BY_VALUE);
    // SAFETY: `length` and `by_value` are those of the type.
    unsafe { pg_sys::makeConst(id_type, -1, Oid::INVALID, length, id.to_datum(), false, by_value).cast() }
}

/// Returns the value of a constant ID; `None` if the expression is NULL or not a constant.
///
/// # Safety
/// `node` is an expression of the ID type.
pub unsafe fn value<T: StoredId>(node: *mut Node) -> Option<T> {
    // SAFETY: the tag identifies the struct, and a constant of the ID type holds its Datum.
    unsafe {
        if (*node).type_ != NodeTag::T_Const || (*node.cast::<pg_sys::Const>()).constisnull {
            return None;
        }
        let stored = <T::Stored as StoredDatum>::from_datum((*node.cast::<pg_sys::Const>()).constvalue);
        Some(T::from_stored(stored).unwrap_or(T::MAX))
    }
}
