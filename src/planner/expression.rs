//! Expressions and catalog look-ups that the planner support functions share.

use core::ffi::{CStr, c_int, c_void};

use pgrx::pg_sys::{self, Datum, Expr, List, Node, NodeTag, Oid, PlannerInfo};

use crate::pg::server;

// Declared here to avoid pgrx's guards: planning a query makes dozens of these calls, and the guards would cost more than the
// calls. A server error is a longjmp over Rust frames that have nothing to drop.
unsafe extern "C-unwind" {
    fn SearchSysCache1(cache: c_int, key: Datum) -> pg_sys::HeapTuple;
    fn SearchSysCache3(cache: c_int, first: Datum, second: Datum, third: Datum) -> pg_sys::HeapTuple;
    fn ReleaseSysCache(row: pg_sys::HeapTuple);
    fn buildoidvector(oids: *const Oid, length: c_int) -> *mut pg_sys::oidvector;
    fn lookup_type_cache(type_: Oid, flags: c_int) -> *mut pg_sys::TypeCacheEntry;
    fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
    fn get_opcode(operator: Oid) -> Oid;
    fn exprType(node: *const Node) -> Oid;
    fn copyObjectImpl(node: *const c_void) -> *mut c_void;
    fn lappend(list: *mut List, node: *mut c_void) -> *mut List;
    fn makeFuncExpr(
        function: Oid,
        returns: Oid,
        arguments: *mut List,
        collation: Oid,
        input_collation: Oid,
        form: pg_sys::CoercionForm::Type,
    ) -> *mut pg_sys::FuncExpr;
    fn make_opclause(
        operator: Oid,
        returns: Oid,
        returns_set: bool,
        left: *mut Expr,
        right: *mut Expr,
        collation: Oid,
        input_collation: Oid,
    ) -> *mut Expr;
}

/// Returns whether only native comparisons on `node` can skip parts of its table. This is the case if `node` is a column of the
/// ID type or of a domain over it, and the column's table meets two conditions. It is part of this query, and it has partitions,
/// children, or an access method other than heap. Partition pruning and other access methods use only operators of the column's
/// default operator class.
///
/// # Safety
/// `root` and `node` are the planner's.
pub unsafe fn is_skipped_by_comparisons(root: *mut PlannerInfo, node: *mut Node) -> bool {
    // SAFETY: while a query is planned, the number of a column's table refers to the query's range table.
    unsafe {
        if root.is_null() {
            return false;
        }
        let node = without_relabel(node);
        if (*node).type_ != NodeTag::T_Var {
            return false;
        }
        let (table, level) = ((*node.cast::<pg_sys::Var>()).varno, (*node.cast::<pg_sys::Var>()).varlevelsup);
        let tables = (*(*root).parse).rtable;
        // Special numbers, such as INNER_VAR, are outside of the range table.
        level == 0 && !tables.is_null() && (1..=(*tables).length).contains(&table) && {
            let table = nth(tables, table as usize - 1).cast::<pg_sys::RangeTblEntry>();
            (*table).rtekind == pg_sys::RTEKind::RTE_RELATION && ((*table).inh || !is_heap((*table).relid))
        }
    }
}

/// Returns whether an expression is a column.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn is_column(node: *mut Node) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { (*without_relabel(node)).type_ == NodeTag::T_Var }
}

/// Returns the expression below a binary-coercible cast, such as that of a tstzrange to the domain.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn without_relabel(node: *mut Node) -> *mut Node {
    // SAFETY: the tag identifies the struct.
    unsafe {
        match (*node).type_ {
            NodeTag::T_RelabelType => without_relabel((*node.cast::<pg_sys::RelabelType>()).arg.cast()),
            _ => node,
        }
    }
}

/// Returns whether a relation has the access method heap, or none. A foreign table has none.
unsafe fn is_heap(relation: Oid) -> bool {
    // SAFETY: a look-up in the system cache, whose row is released.
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

/// Returns the btree operator family of an ID type.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn family(id_type: Oid) -> Oid {
    // SAFETY: a look-up in the type cache, whose entries are never freed.
    unsafe { (*lookup_type_cache(id_type, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32)).btree_opf }
}

/// Returns the btree operator of an ID type with a strategy.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn operator(id_type: Oid, strategy: u32) -> Oid {
    // SAFETY: look-ups in the system cache.
    unsafe { get_opfamily_member(family(id_type), id_type, id_type, strategy as i16) }
}

/// Builds `id op bound`, with the ID type's btree operator of this strategy.
///
/// # Safety
/// `id` and `bound` are expressions of the ID type, and not part of another expression.
pub unsafe fn comparison(id_type: Oid, strategy: u32, id: *mut Node, bound: *mut Node) -> *mut Expr {
    // SAFETY: builds an expression in the planner's memory.
    unsafe {
        let (operator, none) = (operator(id_type, strategy), Oid::INVALID);
        make_opclause(operator, pg_sys::BOOLOID, false, id.cast(), bound.cast(), none, none)
    }
}

/// Returns a copy of an expression.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn copy(node: *mut Node) -> *mut Node {
    // SAFETY: guaranteed by the caller.
    unsafe { copyObjectImpl(node.cast()).cast() }
}

/// Returns whether the operator family of an index contains the ID type's operators of these strategies. The family's own
/// strategy numbers may differ: a user can create a family, for example with descending order.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn is_indexable<const N: usize>(id_type: Oid, strategies: [u32; N], index_family: Oid) -> bool {
    // SAFETY: look-ups in the system cache.
    strategies.iter().all(|&strategy| unsafe { pg_sys::op_in_opfamily(operator(id_type, strategy), index_family) })
}

/// Returns the type of an expression.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn type_of(node: *mut Node) -> Oid {
    // SAFETY: guaranteed by the caller.
    unsafe { exprType(node) }
}

/// The name of a function or of another catalog object.
#[derive(Clone, Copy)]
pub struct Name([u8; pg_sys::NAMEDATALEN as usize]);

impl Name {
    /// Concatenates parts, whose total length must be less than NAMEDATALEN.
    pub fn of(parts: &[&str]) -> Self {
        let (mut name, mut end) = ([0; _], 0);
        for part in parts {
            name[end..end + part.len()].copy_from_slice(part.as_bytes());
            end += part.len();
        }
        Self(name)
    }

    /// Returns the name as bytes, without the terminating NUL.
    pub fn as_bytes(&self) -> &[u8] {
        CStr::from_bytes_until_nul(&self.0).map_or(&[], CStr::to_bytes)
    }
}

/// Returns the name of a function and the OID of its schema; `None` if there is no such function.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn name_and_schema(function: Oid) -> Option<(Name, Oid)> {
    // SAFETY: a look-up in the system cache, whose row is released.
    unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as _, Datum::from(function));
        if row.is_null() {
            return None;
        }
        let function = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let found = (Name(function.proname.data.map(|byte| byte as u8)), function.pronamespace);
        ReleaseSysCache(row);
        Some(found)
    }
}

/// Returns the function with a name and argument types in a schema; `None` if there is none, if it is not written in C, or if the
/// user must not execute it: a query must not fail because of a function that it does not contain. Only a superuser can create a
/// function in C, so that a function of another user is never called.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn function_in(schema: Oid, name: &Name, arguments: &[Oid]) -> Option<Oid> {
    // SAFETY: a look-up in the system cache, whose row is released.
    unsafe {
        let arguments = buildoidvector(arguments.as_ptr(), arguments.len() as c_int);
        let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as _;
        let row = SearchSysCache3(cache, Datum::from(name.0.as_ptr()), Datum::from(arguments), Datum::from(schema));
        if row.is_null() {
            return None;
        }
        let function = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>();
        let found = (function.prolang == Oid::from(pg_sys::ClanguageId)).then_some(function.oid);
        ReleaseSysCache(row);
        found.filter(|&function| server::may_execute(function))
    }
}

/// Builds a function call.
///
/// # Safety
/// `function` takes these arguments and returns the type. The arguments are not part of another expression.
pub unsafe fn call<const N: usize>(function: Oid, returns: Oid, arguments: [*mut Node; N]) -> *mut Node {
    // SAFETY: builds an expression in the planner's memory.
    unsafe {
        let arguments = arguments.into_iter().fold(core::ptr::null_mut(), |list, node| append(list, node));
        let explicit = pg_sys::CoercionForm::COERCE_EXPLICIT_CALL;
        makeFuncExpr(function, returns, arguments, Oid::INVALID, Oid::INVALID, explicit).cast()
    }
}

/// Appends a node to a list, and returns the list.
///
/// # Safety
/// `list` is a list of nodes, or null if it is empty.
pub unsafe fn append<N>(list: *mut List, node: *mut N) -> *mut List {
    // SAFETY: guaranteed by the caller.
    unsafe { lappend(list, node.cast()) }
}

/// Returns the length of a list.
///
/// # Safety
/// `list` is a list, or null if it is empty.
pub unsafe fn length(list: *mut List) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { list.as_ref() }.map_or(0, |list| list.length as usize)
}

/// Returns the node at `index` of a list.
///
/// # Safety
/// `list` is a list of nodes longer than `index`.
pub unsafe fn nth(list: *mut List, index: usize) -> *mut Node {
    // SAFETY: guaranteed by the caller.
    unsafe { (*(*list).elements.add(index)).ptr_value.cast() }
}

/// Returns the function and the arguments of an operator or of a function call; `None` for any other node.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn called(node: *mut Node) -> Option<(Oid, *mut List)> {
    // SAFETY: the node's tag determines its struct.
    unsafe {
        match (*node).type_ {
            NodeTag::T_OpExpr => {
                let operator = &*node.cast::<pg_sys::OpExpr>();
                let is_looked_up = operator.opfuncid != Oid::INVALID;
                let function = if is_looked_up { operator.opfuncid } else { get_opcode(operator.opno) };
                Some((function, operator.args))
            }
            NodeTag::T_FuncExpr => {
                let call = &*node.cast::<pg_sys::FuncExpr>();
                Some((call.funcid, call.args))
            }
            _ => None,
        }
    }
}
