//! The planner's expressions and catalog look-ups that the support functions share.

use std::ffi::CString;

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid, PlannerInfo};

/// Whether a predicate on `node` does its work only as native comparisons: `node` is a column, of the type itself or of a domain
/// over it, of a table of this very query that has partitions or children, or whose access method is not heap. Partitions and
/// the storage of other access methods are skipped by comparisons of the column's default operator class alone.
///
/// # Safety
/// `root` and `node` are the planner's.
pub unsafe fn is_skipped_by_comparisons(root: *mut PlannerInfo, node: *mut Node) -> bool {
    // SAFETY: where there is a plan in the making, a column of it points into its range table.
    unsafe {
        if root.is_null() {
            return false;
        }
        if (*node).type_ == NodeTag::T_RelabelType {
            return is_skipped_by_comparisons(root, (*node.cast::<pg_sys::RelabelType>()).arg.cast());
        }
        if (*node).type_ != NodeTag::T_Var {
            return false;
        }
        let (table, level) = ((*node.cast::<pg_sys::Var>()).varno, (*node.cast::<pg_sys::Var>()).varlevelsup);
        let tables = (*(*root).parse).rtable;
        // Columns of what is not in the range table have numbers of their own.
        level == 0 && !tables.is_null() && (1..=(*tables).length).contains(&table) && {
            let table = nth(tables, table as usize - 1).cast::<pg_sys::RangeTblEntry>();
            (*table).rtekind == pg_sys::RTEKind::RTE_RELATION && ((*table).inh || !is_heap((*table).relid))
        }
    }
}

/// Whether a relation has the access method heap, or none of its own, as a foreign table.
unsafe fn is_heap(relation: Oid) -> bool {
    // SAFETY: a look-up in the catalog, which is given back.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as _, Datum::from(relation));
        if row.is_null() {
            return true;
        }
        let access_method = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_class>()).relam;
        pg_sys::ReleaseSysCache(row);
        [pg_sys::HEAP_TABLE_AM_OID, Oid::INVALID].contains(&access_method)
    }
}

/// The operator family of an ID type's order.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn family(id_type: Oid) -> Oid {
    // SAFETY: a look-up in the catalog, whose entry stays.
    unsafe { (*pg_sys::lookup_type_cache(id_type, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32)).btree_opf }
}

/// The operator of an ID type with a strategy of btree.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn operator(id_type: Oid, strategy: u32) -> Oid {
    // SAFETY: look-ups in the catalog.
    unsafe { pg_sys::get_opfamily_member(family(id_type), id_type, id_type, strategy as i16) }
}

/// `id op bound`, with the operator of the ID type that has this strategy of btree.
///
/// # Safety
/// `id` and `bound` are expressions of the ID type, which are no part of another expression.
pub unsafe fn comparison(id_type: Oid, strategy: u32, id: *mut Node, bound: *mut Node) -> *mut Expr {
    // SAFETY: builds an expression of the planner's in its memory.
    unsafe {
        let (operator, none) = (operator(id_type, strategy), Oid::INVALID);
        pg_sys::make_opclause(operator, pg_sys::BOOLOID, false, id.cast(), bound.cast(), none, none)
    }
}

/// A copy of an expression.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn copy(node: *mut Node) -> *mut Node {
    // SAFETY: as promised.
    unsafe { pg_sys::copyObjectImpl(node.cast()).cast() }
}

/// Whether a family of an index has the operators of these strategies, under whichever strategies of its own: a family may be
/// somebody else's, as one in descending order.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn is_indexable<const N: usize>(id_type: Oid, strategies: [u32; N], index_family: Oid) -> bool {
    // SAFETY: look-ups in the catalog.
    strategies.iter().all(|&strategy| unsafe { pg_sys::op_in_opfamily(operator(id_type, strategy), index_family) })
}

/// The first function of these names and argument types that there is in the schema of another one. It is looked up without
/// regard to the user's privileges, and counts only if it is written in C, as no one but a superuser can.
///
/// # Safety
/// `neighbour` is a function.
pub unsafe fn function_beside(neighbour: Oid, names: &[String], arguments: &[Oid]) -> Option<Oid> {
    // SAFETY: look-ups in the catalog, which are given back.
    unsafe {
        let schema = pg_sys::get_func_namespace(neighbour);
        let arguments = pg_sys::buildoidvector(arguments.as_ptr(), arguments.len() as i32);
        names.iter().find_map(|name| {
            let name = CString::new(name.as_str()).ok()?;
            let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as _;
            let keys = (Datum::from(name.as_ptr()), Datum::from(arguments), Datum::from(schema));
            let row = pg_sys::SearchSysCache3(cache, keys.0, keys.1, keys.2);
            if row.is_null() {
                return None;
            }
            let function = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
            let found = (function.prolang == Oid::from(pg_sys::ClanguageId)).then_some(function.oid);
            pg_sys::ReleaseSysCache(row);
            found
        })
    }
}

/// A call of a function, or its value if that is known by now.
///
/// # Safety
/// `function` takes these arguments and returns the type.
pub unsafe fn evaluated<const N: usize>(
    root: *mut PlannerInfo,
    function: Oid,
    returns: Oid,
    arguments: [*mut Node; N],
) -> *mut Node {
    // SAFETY: builds an expression of the planner's in its memory.
    unsafe {
        let arguments = arguments.into_iter().fold(core::ptr::null_mut(), |list, node| append(list, copy(node)));
        let explicit = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        let call = pg_sys::makeFuncExpr(function, returns, arguments, Oid::INVALID, Oid::INVALID, explicit);
        pg_sys::eval_const_expressions(root, call.cast())
    }
}

/// A list with one more node at its end.
///
/// # Safety
/// `list` is a list of nodes, or null if it is empty.
pub unsafe fn append<N>(list: *mut List, node: *mut N) -> *mut List {
    // SAFETY: as promised.
    unsafe { pg_sys::lappend(list, node.cast()) }
}

/// A node of a list.
///
/// # Safety
/// `list` is a list of nodes that is longer than `index`.
pub unsafe fn nth(list: *mut List, index: usize) -> *mut Node {
    // SAFETY: as promised.
    unsafe { (*(*list).elements.add(index)).ptr_value.cast() }
}

/// The function and the arguments of an operator or of a function call.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn called(node: *mut Node) -> Option<(Oid, *mut List)> {
    // SAFETY: the tag tells the struct.
    unsafe {
        match (*node).type_ {
            NodeTag::T_OpExpr => {
                let operator = &*node.cast::<pg_sys::OpExpr>();
                Some((pg_sys::get_opcode(operator.opno), operator.args))
            }
            NodeTag::T_FuncExpr => {
                let call = &*node.cast::<pg_sys::FuncExpr>();
                Some((call.funcid, call.args))
            }
            _ => None,
        }
    }
}
