//! Questions by time: `id <@ tstzrange`, answered by the index on the ID itself.
//!
//! A span of time is two bounds on the ID. An index is offered the two comparisons as its condition. Where the ID is a column
//! of a table with partitions or children, the operator itself is rewritten into the two comparisons: these are what the
//! planner leaves partitions out by. Elsewhere it stays, for [`crate::selectivity`] tells its rows better than the server can
//! tell those of the comparisons.

use std::ffi::CString;

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid, PlannerInfo};

use crate::call::Call;
use crate::datum::{StoredDatum, Type};
use crate::error::Error;
use crate::selectivity;

/// `T_lower(tstzrange) → T`: the first inside, or the largest of all if none is
pub fn lower<T: Type>(call: Call) -> Result<Datum, Error> {
    let first = ticks::<T>(call, 0).map_or(T::MAX, |(first, _)| T::first_of(first));
    Ok(first.to_stored().into_datum())
}

/// `T_upper(tstzrange) → T`: the last inside, or the smallest of all if none is
pub fn upper<T: Type>(call: Call) -> Result<Datum, Error> {
    let last = ticks::<T>(call, 0).map_or(T::MIN, |(_, last)| T::last_of(last));
    Ok(last.to_stored().into_datum())
}

/// `T_contained_by_range(T, tstzrange) → boolean`
pub fn contained_by<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(0), ticks::<T>(call, 1))))
}

/// `T_range_contains(tstzrange, T) → boolean`
pub fn contains<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(is_within(call.id::<T>(1), ticks::<T>(call, 0))))
}

fn is_within<T: Type>(id: T, ticks: Option<(u64, u64)>) -> bool {
    ticks.is_some_and(|(first, last)| (first..=last).contains(&id.tick()))
}

/// The ticks that start inside of a range.
fn ticks<T: Type>(call: Call, index: usize) -> Option<(u64, u64)> {
    call.tstzrange(index).and_then(|(from, to)| T::TICKS.within(from, to))
}

/// `T_range_support(internal) → internal`: the planner's questions about the two functions above
pub fn support<T: Type>(call: Call) -> Result<Datum, Error> {
    let request = call.datum(0).cast_mut_ptr::<Node>();
    // SAFETY: a support function gets a node that tells what it asks.
    let answer: *mut Node = unsafe {
        match (*request).type_ {
            NodeTag::T_SupportRequestSimplify => simplified::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestIndexCondition => index_condition::<T>(request.cast()).cast(),
            NodeTag::T_SupportRequestSelectivity => selectivity::of_function::<T>(request.cast()).cast(),
            _ => core::ptr::null_mut(),
        }
    };
    Ok(Datum::from(answer))
}

/// The two comparisons in place of the operator, where the ID is a column of a table with partitions or children and the
/// range is the same wherever it is computed.
unsafe fn simplified<T: Type>(request: *mut pg_sys::SupportRequestSimplify) -> *mut Expr {
    // SAFETY: called for a call of one of our two functions.
    unsafe {
        let call = (*request).fcall;
        let span = Span::of((*call).funcid, (*call).args);
        let root = (*request).root;
        if !is_column_with_children(root, span.id)
            || pg_sys::contain_volatile_functions(span.range)
            || pg_sys::contain_subplans(span.range)
        {
            return core::ptr::null_mut();
        }
        pg_sys::make_andclause(span.comparisons::<T>(root, span.family()))
    }
}

/// Whether an expression is a column, of the type itself or of a domain over it, of a table of this very query that has
/// partitions or children.
unsafe fn is_column_with_children(root: *mut PlannerInfo, node: *mut Node) -> bool {
    // SAFETY: where there is a plan in the making, a column of it points into its range table.
    unsafe {
        if root.is_null() {
            return false;
        }
        if (*node).type_ == NodeTag::T_RelabelType {
            return is_column_with_children(root, (*node.cast::<pg_sys::RelabelType>()).arg.cast());
        }
        if (*node).type_ != NodeTag::T_Var {
            return false;
        }
        let (table, level) = ((*node.cast::<pg_sys::Var>()).varno, (*node.cast::<pg_sys::Var>()).varlevelsup);
        let tables = (*(*root).parse).rtable;
        // Columns of what is not in the range table have numbers of their own.
        level == 0 && (1..=(*tables).length).contains(&table) && {
            let table = nth(tables, table as usize - 1).cast::<pg_sys::RangeTblEntry>();
            (*table).rtekind == pg_sys::RTEKind::RTE_RELATION && (*table).inh
        }
    }
}

/// The two comparisons as an exact index condition, if the index knows them.
unsafe fn index_condition<T: Type>(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut List {
    // SAFETY: called for one of our two functions or their operators, an argument of which is the index's column.
    unsafe {
        let request = &mut *request;
        let arguments = match (*request.node).type_ {
            NodeTag::T_OpExpr => (*request.node.cast::<pg_sys::OpExpr>()).args,
            NodeTag::T_FuncExpr => (*request.node.cast::<pg_sys::FuncExpr>()).args,
            _ => return core::ptr::null_mut(),
        };
        let span = Span::of(request.funcid, arguments);
        // The strategies of btree, which BRIN minmax has too.
        let knows_order = [pg_sys::BTREE_AM_OID, pg_sys::BRIN_AM_OID].map(Oid::from).contains(&(*request.index).relam)
            && span.operator(request.opfamily, pg_sys::BTGreaterEqualStrategyNumber) != Oid::INVALID;
        let asks_for_id = nth(arguments, request.indexarg as usize) == span.id;
        if !knows_order
            || !asks_for_id
            || !pg_sys::is_pseudo_constant_for_index(request.root, span.range, request.index)
        {
            return core::ptr::null_mut();
        }
        request.lossy = false;
        span.comparisons::<T>(request.root, request.opfamily)
    }
}

/// The arguments of one of our two functions, whichever comes first.
pub struct Span {
    pub function: Oid,
    pub id: *mut Node,
    pub id_type: Oid,
    pub range: *mut Node,
}

impl Span {
    /// Of a call of one of them.
    ///
    /// # Safety
    /// `function` is one of the two, `arguments` is a list of its two arguments.
    pub unsafe fn of(function: Oid, arguments: *mut List) -> Self {
        // SAFETY: the SQL declares two arguments, one of which is a tstzrange.
        unsafe {
            let [first, second] = [0, 1].map(|index| nth(arguments, index));
            let (id, range) =
                if pg_sys::exprType(first) == pg_sys::TSTZRANGEOID { (second, first) } else { (first, second) };
            Self { function, id, id_type: pg_sys::exprType(id), range }
        }
    }

    /// The operator family of the ID type's order.
    ///
    /// # Safety
    /// For the server to call.
    pub unsafe fn family(&self) -> Oid {
        // SAFETY: a look-up in the catalog, whose entry stays.
        unsafe { (*pg_sys::lookup_type_cache(self.id_type, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32)).btree_opf }
    }

    /// `id >= T_lower(range)` and `id <= T_upper(range)`, in the operators of an operator family.
    unsafe fn comparisons<T: Type>(&self, root: *mut PlannerInfo, family: Oid) -> *mut List {
        let bounds = [(pg_sys::BTGreaterEqualStrategyNumber, "lower"), (pg_sys::BTLessEqualStrategyNumber, "upper")];
        bounds.into_iter().fold(core::ptr::null_mut(), |clauses, (strategy, bound)| {
            // SAFETY: builds an expression of the planner's in its memory.
            unsafe {
                let operator = self.operator(family, strategy);
                let bound = self.bound::<T>(root, bound);
                let [id, bound] = [self.id, bound].map(|node| pg_sys::copyObjectImpl(node.cast()).cast::<Expr>());
                let none = Oid::INVALID;
                let clause = pg_sys::make_opclause(operator, pg_sys::BOOLOID, false, id, bound, none, none);
                pg_sys::lappend(clauses, clause.cast())
            }
        })
    }

    /// An operator of the ID type, by its strategy.
    ///
    /// # Safety
    /// For the server to call.
    pub unsafe fn operator(&self, family: Oid, strategy: u32) -> Oid {
        // SAFETY: a look-up in the catalog.
        unsafe { pg_sys::get_opfamily_member(family, self.id_type, self.id_type, strategy as i16) }
    }

    /// The call `T_lower(range)` or `T_upper(range)`, or its value if that is known by now.
    ///
    /// # Safety
    /// For the server to call.
    pub unsafe fn bound<T: Type>(&self, root: *mut PlannerInfo, bound: &str) -> *mut Node {
        // The functions are in the schema of the one that is being planned.
        let name = CString::new(format!("{}_{bound}", T::NAME)).unwrap_or_default();
        // SAFETY: look-ups in the catalog, and an expression of the planner's in its memory.
        unsafe {
            let schema = pg_sys::get_namespace_name(pg_sys::get_func_namespace(self.function));
            let names = [schema, pg_sys::pstrdup(name.as_ptr())]
                .into_iter()
                .fold(core::ptr::null_mut(), |names, part| pg_sys::lappend(names, pg_sys::makeString(part).cast()));
            let function = pg_sys::LookupFuncName(names, 1, &pg_sys::TSTZRANGEOID, false);
            let arguments = pg_sys::lappend(core::ptr::null_mut(), self.range.cast());
            let explicit = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
            let none = Oid::INVALID;
            let call = pg_sys::makeFuncExpr(function, self.id_type, arguments, none, none, explicit);
            pg_sys::eval_const_expressions(root, call.cast())
        }
    }
}

unsafe fn nth(list: *mut List, index: usize) -> *mut Node {
    // SAFETY: a list of nodes that is longer than that.
    unsafe { (*(*list).elements.add(index)).ptr_value.cast() }
}
