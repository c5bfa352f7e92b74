//! Expressions and catalog look-ups of the planner.

use core::ffi::{CStr, c_int};
use core::{ptr, slice};

use pgrx::pg_sys::{self, Datum, List, Node, NodeTag, Oid, PlannerInfo};

use crate::pg::unguarded::{
    ReleaseSysCache, SearchSysCache1, SearchSysCache3, buildoidvector, get_negator, get_opcode, get_opfamily_member,
    lappend, lookup_type_cache, makeFuncExpr,
};
use crate::pg::{paths, server};

/// Returns a node as the struct of its tag; `None` if it has another tag.
///
/// # Safety
/// `node` is a node, which remains unchanged, and `Struct` is the struct of nodes with this tag.
pub unsafe fn cast<'a, Struct>(node: *mut Node, tag: NodeTag) -> Option<&'a Struct> {
    // SAFETY: guaranteed by the caller.
    unsafe { ((*node).type_ == tag).then(|| &*node.cast()) }
}

/// Returns an expression as a constant; `None` if it is NULL or not a constant.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn constant<'a>(node: *mut Node) -> Option<&'a pg_sys::Const> {
    // SAFETY: guaranteed by the caller.
    unsafe { cast(node, NodeTag::T_Const) }.filter(|constant: &&pg_sys::Const| !constant.constisnull)
}

/// Returns an expression as a column; `None` if it is none.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn column<'a>(node: *mut Node) -> Option<&'a pg_sys::Var> {
    // SAFETY: guaranteed by the caller.
    unsafe { cast(without_relabel(node), NodeTag::T_Var) }
}

/// Returns the expression below a binary-coercible cast, such as that of a tstzrange to the domain.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn without_relabel(node: *mut Node) -> *mut Node {
    // SAFETY: the tag identifies the struct.
    unsafe {
        match cast::<pg_sys::RelabelType>(node, NodeTag::T_RelabelType) {
            Some(relabel) => without_relabel(relabel.arg.cast()),
            None => node,
        }
    }
}

/// Returns the function and the arguments of an operator or of a function call; `None` for any other node.
///
/// # Safety
/// `node` is an expression.
pub unsafe fn called(node: *mut Node) -> Option<(Oid, *mut List)> {
    // SAFETY: the tag identifies the struct.
    unsafe {
        if let Some(operator) = cast::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr) {
            let is_looked_up = operator.opfuncid != Oid::INVALID;
            let function = if is_looked_up { operator.opfuncid } else { get_opcode(operator.opno) };
            return Some((function, operator.args));
        }
        cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr).map(|call| (call.funcid, call.args))
    }
}

/// Returns the nodes of a list.
///
/// # Safety
/// `list` is a list of nodes of this type, or null if it is empty. It remains unchanged while the slice is in use.
pub unsafe fn elements<'a, N>(list: *mut List) -> &'a [*mut N] {
    // SAFETY: guaranteed by the caller. An element is a union of the size of a pointer.
    unsafe { list.as_ref().map_or(&[], |list| slice::from_raw_parts(list.elements.cast(), list.length as usize)) }
}

/// Returns a list of nodes, which is null if there are none.
///
/// # Safety
/// Must be called in a memory context that outlives the list.
pub unsafe fn list<N>(nodes: impl IntoIterator<Item = *mut N>) -> *mut List {
    // SAFETY: builds a list in the current memory context.
    nodes.into_iter().fold(ptr::null_mut(), |list, node| unsafe { lappend(list, node.cast()) })
}

/// Builds a function call.
///
/// # Safety
/// `function` takes these arguments and returns the type. The arguments are not part of another expression.
pub unsafe fn call<const N: usize>(function: Oid, returns: Oid, arguments: [*mut Node; N]) -> *mut Node {
    // SAFETY: builds an expression in the planner's memory.
    unsafe {
        let (none, explicit) = (Oid::INVALID, pg_sys::CoercionForm::COERCE_EXPLICIT_CALL);
        makeFuncExpr(function, returns, list(arguments), none, none, explicit).cast()
    }
}

/// Returns the btree operator of an ID type with a strategy.
///
/// # Safety
/// `id_type` is an ID type.
pub unsafe fn operator(id_type: Oid, strategy: u32) -> Oid {
    // SAFETY: look-ups in the type cache, whose entries are never freed, and in the system cache.
    unsafe {
        let family = (*lookup_type_cache(id_type, pg_sys::TYPECACHE_BTREE_OPFAMILY as i32)).btree_opf;
        get_opfamily_member(family, id_type, id_type, strategy as i16)
    }
}

/// Returns whether the user may execute the functions of an operator and of its negator, which replaces the operator under NOT.
///
/// # Safety
/// `operator` is an operator with a negator, in a transaction.
pub unsafe fn may_execute(operator: Oid) -> bool {
    // SAFETY: look-ups in the system cache.
    unsafe { [operator, get_negator(operator)].iter().all(|&operator| server::may_execute(get_opcode(operator))) }
}

/// Which native comparisons on a column let the server skip parts of its table that the comparisons with times do not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Skipping {
    /// None: the table is a heap, or has partitions by other columns or by hash.
    None,
    /// Those with constants: the planner skips partitions by ranges or lists of the column, and children whose CHECK constraints
    /// contradict them. A partition that is itself partitioned gets a copy of the conditions, which are simplified again.
    Constants,
    /// All: the table has an access method other than heap, which uses only operators of the column's default operator class.
    All,
}

/// Returns which native comparisons on `node` let the server skip parts of its table. This requires that `node` is a column of the
/// ID type or of a domain over it, and that its table is part of this query.
///
/// # Safety
/// `root` and `node` are the planner's.
pub unsafe fn skipping(root: *mut PlannerInfo, node: *mut Node) -> Skipping {
    // SAFETY: while a query is planned, the number of a column's table refers to the query's range table.
    unsafe {
        let Some(column) = column(node).filter(|column| !root.is_null() && column.varlevelsup == 0) else {
            return Skipping::None;
        };
        let tables = elements::<pg_sys::RangeTblEntry>((*(*root).parse).rtable);
        // Special numbers, such as INNER_VAR, are outside of the range table.
        let table = usize::try_from(column.varno - 1).ok().and_then(|index| tables.get(index));
        let Some(&table) = table.filter(|&&table| (*table).rtekind == pg_sys::RTEKind::RTE_RELATION) else {
            return Skipping::None;
        };
        match ((*table).inh, (*table).relkind as u8) {
            (false, _) if is_heap((*table).relid) => Skipping::None,
            (false, _) => Skipping::All,
            (true, pg_sys::RELKIND_PARTITIONED_TABLE) => match is_in_partition_key((*table).relid, column.varattno) {
                true => Skipping::Constants,
                false => Skipping::None,
            },
            // Another extension with this hook, such as TimescaleDB, may exclude children at the start of execution.
            (true, _) if paths::has_other_hook() => Skipping::All,
            (true, _) => Skipping::Constants,
        }
    }
}

/// Returns whether a column is part of the partition key of a table, which is one by range or list.
unsafe fn is_in_partition_key(table: Oid, column: i16) -> bool {
    // SAFETY: a look-up in the system cache, whose rows have this form. The key has as many columns as the row states.
    unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::PARTRELID as _, Datum::from(table));
        let is_in_key = read(row, |key: &pg_sys::FormData_pg_partitioned_table| {
            let columns = key.partattrs.values.as_slice(key.partnatts as usize);
            b"rl".contains(&(key.partstrat as u8)) && columns.contains(&column)
        });
        is_in_key == Some(true)
    }
}

/// Returns whether a relation has the access method heap, or none. A foreign table has none.
unsafe fn is_heap(relation: Oid) -> bool {
    // SAFETY: a look-up in the system cache, whose rows have this form.
    unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as _, Datum::from(relation));
        let access_method = read(row, |class: &pg_sys::FormData_pg_class| class.relam);
        access_method.is_none_or(|method| [pg_sys::HEAP_TABLE_AM_OID, Oid::INVALID].contains(&method))
    }
}

/// Returns what `parse` makes of the name of a function, and the OID of its schema; `None` if there is no such function.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn name_and_schema<R>(function: Oid, parse: impl FnOnce(&[u8]) -> R) -> Option<(R, Oid)> {
    // SAFETY: a look-up in the system cache, whose rows have this form. A name ends with a NUL.
    unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as _, Datum::from(function));
        read(row, |function: &pg_sys::FormData_pg_proc| {
            (parse(CStr::from_ptr(function.proname.data.as_ptr()).to_bytes()), function.pronamespace)
        })
    }
}

/// Returns the function with a name, which is the concatenation of parts, and argument types in a schema; `None` if there is none,
/// if it is not written in C, or if the user must not execute it: a query must not fail because of a function that it does not
/// contain. Only a superuser can create a function in C, so that a function of another user is never called.
///
/// # Safety
/// Must be called in a transaction.
pub unsafe fn function_in(schema: Oid, parts: &[&str], arguments: &[Oid]) -> Option<Oid> {
    let (mut name, mut end) = ([0; pg_sys::NAMEDATALEN as usize], 0);
    for part in parts {
        name[end..end + part.len()].copy_from_slice(part.as_bytes());
        end += part.len();
    }
    // SAFETY: a look-up in the system cache, whose rows have this form.
    unsafe {
        let arguments = buildoidvector(arguments.as_ptr(), arguments.len() as c_int);
        let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as _;
        let row = SearchSysCache3(cache, Datum::from(name.as_ptr()), Datum::from(arguments), Datum::from(schema));
        let (function, language) = read(row, |function: &pg_sys::FormData_pg_proc| (function.oid, function.prolang))?;
        (language == Oid::from(pg_sys::ClanguageId) && server::may_execute(function)).then_some(function)
    }
}

/// Returns what `read` finds in a row of a system cache, and releases the row; `None` if the row is null.
///
/// # Safety
/// The row has the form `Form`.
unsafe fn read<Form, R>(row: pg_sys::HeapTuple, read: impl FnOnce(&Form) -> R) -> Option<R> {
    if row.is_null() {
        return None;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let found = read(&*pg_sys::GETSTRUCT(row).cast::<Form>());
        ReleaseSysCache(row);
        Some(found)
    }
}
