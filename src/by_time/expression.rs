//! Expressions and catalog look-ups of the planner.

use core::ffi::{CStr, c_int};

use pgrx::pg_sys::{self, Datum, FuncExpr, Oid, OpExpr};

use crate::pg::nodes::{NodeRef, Nodes, Root};
use crate::pg::unguarded::{
    ReleaseSysCache, SearchSysCache1, SearchSysCache3, buildoidvector, get_negator, get_opcode, get_opfamily_member,
    lappend, lookup_type_cache, makeConst, makeFuncExpr,
};
use crate::pg::{paths, server};

/// The function and the arguments of an operator or of a function call; `None` for any other node.
pub fn called(node: NodeRef) -> Option<(Oid, Nodes)> {
    // SAFETY: arguments are nodes.
    let nodes = |list| unsafe { Nodes::new(list) };
    if let Some(operator) = node.cast::<OpExpr>() {
        return Some((function_of(operator), nodes(operator.args)));
    }
    node.cast::<FuncExpr>().map(|call| (call.funcid, nodes(call.args)))
}

/// The function of an operator, which the planner may not have looked up yet.
pub fn function_of(operator: &OpExpr) -> Oid {
    if operator.opfuncid != Oid::INVALID { operator.opfuncid } else { get_opcode(operator.opno) }
}

pub fn list<'p>(nodes: impl IntoIterator<Item = NodeRef<'p>>) -> Nodes<'p> {
    nodes.into_iter().fold(Nodes::EMPTY, |list, node| lappend(list, node))
}

/// Builds a function call. The arguments are not part of another expression.
pub fn call<'p, const N: usize>(function: Oid, returns: Oid, arguments: [NodeRef<'p>; N]) -> NodeRef<'p> {
    let (none, explicit) = (Oid::INVALID, pg_sys::CoercionForm::COERCE_EXPLICIT_CALL);
    makeFuncExpr(function, returns, list(arguments), none, none, explicit)
}

/// Builds a constant of a type with this length, which is not NULL.
pub fn constant<'p>(type_: Oid, collation: Oid, length: c_int, value: Datum, by_value: bool) -> NodeRef<'p> {
    // SAFETY: the callers pass a value of the type.
    unsafe { makeConst(type_, -1, collation, length, value, false, by_value) }
}

/// The btree operator family of a type.
pub fn family(type_: Oid) -> Oid {
    // SAFETY: entries of the type cache are never freed.
    unsafe { (*lookup_type_cache(type_, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int)).btree_opf }
}

/// The btree operator of an ID type with a strategy.
pub fn operator(id_type: Oid, strategy: u32) -> Oid {
    get_opfamily_member(family(id_type), id_type, id_type, strategy as i16)
}

/// Whether the user may execute the functions of an operator and of its negator, which replaces the operator under NOT.
pub fn may_execute(operator: Oid) -> bool {
    [operator, get_negator(operator)].iter().all(|&operator| server::may_execute(get_opcode(operator)))
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

/// Which native comparisons on `node` let the server skip parts of its table. This requires that `node` is a column of the ID type or
/// of a domain over it, and that its table is part of this query.
pub fn skipping(root: Root, node: NodeRef) -> Skipping {
    let (Some(root), Some(column)) = (root.get(), node.column().filter(|column| column.varlevelsup == 0)) else {
        return Skipping::None;
    };
    // SAFETY: while a query is planned, the number of a column's table refers to the query's range table.
    let tables = unsafe { Nodes::new((*root.parse).rtable).structs::<pg_sys::RangeTblEntry>() };
    // Special numbers, such as INNER_VAR, are outside of the range table.
    let table = usize::try_from(column.varno - 1).ok().and_then(|index| tables.get(index));
    let Some(table) = table.filter(|table| table.rtekind == pg_sys::RTEKind::RTE_RELATION) else {
        return Skipping::None;
    };
    match (table.inh, table.relkind as u8) {
        (false, _) if is_heap(table.relid) => Skipping::None,
        (false, _) => Skipping::All,
        (true, pg_sys::RELKIND_PARTITIONED_TABLE) => match is_in_partition_key(table.relid, column.varattno) {
            true => Skipping::Constants,
            false => Skipping::None,
        },
        // Another extension with this hook, such as TimescaleDB, may exclude children at the start of execution.
        (true, _) if paths::has_other_hook() => Skipping::All,
        (true, _) => Skipping::Constants,
    }
}

/// Whether a column is part of the partition key of a table, which is one by range or list.
fn is_in_partition_key(table: Oid, column: i16) -> bool {
    // SAFETY: rows of this cache have this form. The key has as many columns as the row states.
    let is_in_key = unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::PARTRELID as _, Datum::from(table));
        read(row, |key: &pg_sys::FormData_pg_partitioned_table| {
            let columns = key.partattrs.values.as_slice(key.partnatts as usize);
            b"rl".contains(&(key.partstrat as u8)) && columns.contains(&column)
        })
    };
    is_in_key == Some(true)
}

/// Whether a relation has the access method heap, or none. A foreign table has none.
fn is_heap(relation: Oid) -> bool {
    // SAFETY: rows of this cache have this form.
    let access_method = unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as _, Datum::from(relation));
        read(row, |class: &pg_sys::FormData_pg_class| class.relam)
    };
    access_method.is_none_or(|method| [pg_sys::HEAP_TABLE_AM_OID, Oid::INVALID].contains(&method))
}

/// What `parse` makes of the name of a function, and the OID of its schema; `None` if there is no such function.
pub fn name_and_schema<R>(function: Oid, parse: impl FnOnce(&[u8]) -> R) -> Option<(R, Oid)> {
    // SAFETY: rows of this cache have this form. A name ends with a NUL.
    unsafe {
        let row = SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as _, Datum::from(function));
        read(row, |function: &pg_sys::FormData_pg_proc| {
            (parse(CStr::from_ptr(function.proname.data.as_ptr()).to_bytes()), function.pronamespace)
        })
    }
}

/// The function with a name, which is the concatenation of parts, and argument types in a schema; `None` if there is none, if it is
/// not written in C, or if the user must not execute it: a query must not fail because of a function that it does not contain. Only
/// a superuser can create a function in C, so that a function of another user is never called.
pub fn function_in(schema: Oid, parts: &[&str], arguments: &[Oid]) -> Option<Oid> {
    let (mut name, mut end) = ([0; pg_sys::NAMEDATALEN as usize], 0);
    for part in parts {
        name[end..end + part.len()].copy_from_slice(part.as_bytes());
        end += part.len();
    }
    // SAFETY: rows of this cache have this form.
    let (function, language) = unsafe {
        let arguments = buildoidvector(arguments.as_ptr(), arguments.len() as c_int);
        let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as _;
        let row = SearchSysCache3(cache, Datum::from(name.as_ptr()), Datum::from(arguments), Datum::from(schema));
        read(row, |function: &pg_sys::FormData_pg_proc| (function.oid, function.prolang))?
    };
    (language == Oid::from(pg_sys::ClanguageId) && server::may_execute(function)).then_some(function)
}

/// What `read` finds in a row of a system cache, which is then released; `None` if the row is null.
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
