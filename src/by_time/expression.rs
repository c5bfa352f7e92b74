//! Expressions and catalog look-ups of the planner, and whether another extension has its hook for paths.

use core::cell::Cell;
use core::ffi::c_int;

use pgrx::pg_sys::{self, Datum, Oid, RangeTblEntry, set_rel_pathlist_hook_type};
use scru_server::time_compare::Operator;

use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::process::{LookedUp, PerProcess};
use crate::pg::unguarded::{
    GetSysCacheOid, buildoidvector, contain_subplans, contain_volatile_functions, estimate_expression_value,
    evaluate_expr, exprType, get_negator, get_opcode, get_opfamily_member, lappend, lookup_type_cache, makeConst,
    makeFuncExpr,
};
use crate::pg::{catalog, server};

pub fn list<'p>(nodes: impl IntoIterator<Item = NodeRef<'p>>) -> Nodes<'p> {
    // SAFETY: the list is new, so that nobody else has it.
    nodes.into_iter().fold(Nodes::EMPTY, |list, node| unsafe { lappend(list, node) })
}

/// Builds a function call of the arguments themselves: it is to be copied if they are part of another expression.
pub fn call<'p, const N: usize>(function: Oid, returns: Oid, arguments: [NodeRef<'p>; N]) -> NodeRef<'p> {
    let (none, explicit) = (Oid::INVALID, pg_sys::CoercionForm::COERCE_EXPLICIT_CALL);
    makeFuncExpr(function, returns, list(arguments), none, none, explicit)
}

/// A constant of type timestamptz or timestamp, or of type date, whose value has 4 bytes.
pub fn constant<'p>(type_: Oid, value: i64) -> NodeRef<'p> {
    let (length, value) = if type_ == pg_sys::DATEOID { (4, i64::from(value as i32)) } else { (8, value) };
    // SAFETY: these types are passed by value.
    unsafe { makeConst(type_, -1, Oid::INVALID, length, value.into(), false, true) }
}

/// Whether an expression must not be evaluated twice.
pub fn is_costly(node: NodeRef) -> bool {
    contain_volatile_functions(node) || contain_subplans(node)
}

/// The value of an expression as far as the planner can compute it, with the results that stable functions have now. Nested calls
/// are evaluated at once: the server would set up an executor for each.
pub fn estimated<'p>(root: Root<'p>, node: NodeRef<'p>) -> NodeRef<'p> {
    if node.is_constant() {
        return node;
    }
    if !has_only_calls(node) || contain_volatile_functions(node) {
        return estimate_expression_value(root, node);
    }
    // SAFETY: nothing in the expression depends on a row or on a parameter. Its type has neither a modifier nor a collation.
    unsafe { evaluate_expr(node, exprType(node), -1, Oid::INVALID) }
}

/// Whether an expression is a call of constants and such calls.
fn has_only_calls(node: NodeRef) -> bool {
    catalog::called(node)
        .is_some_and(|(_, arguments)| arguments.iter().all(|each| each.is_constant() || has_only_calls(each)))
}

pub fn family(type_: Oid) -> Oid {
    // SAFETY: entries of the type cache are never freed.
    unsafe { (*lookup_type_cache(type_, pg_sys::TYPECACHE_BTREE_OPFAMILY as c_int)).btree_opf }
}

/// A btree operator of two IDs of a type.
#[derive(Clone, Copy)]
pub struct Native {
    id_type: Oid,
    comparison: Operator,
    pub operator: Oid,
    pub function: Oid,
    /// The function of its negator, which replaces it under NOT.
    negated: Oid,
}

pub static NATIVE: LookedUp<Native> = LookedUp::new();

impl Native {
    /// `None` if the operator family of the type has no such operator.
    pub fn of(id_type: Oid, comparison: Operator) -> Option<Self> {
        let is_it = |known: &Self| known.id_type == id_type && known.comparison == comparison;
        NATIVE.find_or(is_it, || {
            let operator = get_opfamily_member(family(id_type), id_type, id_type, comparison as i16);
            if operator == Oid::INVALID {
                return None;
            }
            let [function, negated] = [operator, get_negator(operator)].map(|each| get_opcode(each));
            Some(Self { id_type, comparison, operator, function, negated })
        })
    }

    /// Whether the user may execute the functions of the operator and of its negator.
    pub fn is_executable(&self) -> bool {
        server::may_execute(self.function) && server::may_execute(self.negated)
    }
}

/// Whether native comparisons of `id` let the server skip parts of its table that the comparisons with times do not. This
/// requires that `id` is a column, of the ID type or of a domain over it, and that its table is part of this query.
pub fn is_skipped(root: Root, id: NodeRef, is_constant: bool) -> bool {
    let Some(column) = id.column().filter(|column| column.varlevelsup == 0) else { return false };
    // SAFETY: while a query is planned, the number of a column's table refers to the query's range table.
    let tables = unsafe { Nodes::new((*root.parse).rtable) }.as_slice();
    // Special numbers, such as INNER_VAR, are outside of the range table.
    let table = usize::try_from(column.varno - 1).ok().and_then(|index| tables.get(index)?.cast::<RangeTblEntry>());
    let table = table.filter(|table| table.rtekind == pg_sys::RTEKind::RTE_RELATION);
    table.is_some_and(|table| match (table.inh, table.relkind as u8) {
        // Another access method uses only operators of the column's default operator class.
        (false, _) => !is_heap(table.relid),
        // The planner skips partitions by ranges or lists of the column, and children whose CHECK constraints contradict the constant.
        // A partition that is itself partitioned gets a copy of the conditions, which are simplified again.
        (true, pg_sys::RELKIND_PARTITIONED_TABLE) => is_constant && is_in_partition_key(table.relid, column.varattno),
        // Another extension with this hook, such as TimescaleDB, may exclude children at the start of execution.
        (true, _) => is_constant || has_other_hook(),
    })
}

/// This library's hook for paths, and the one that was there before.
pub static PATH_HOOKS: PerProcess<Cell<[set_rel_pathlist_hook_type; 2]>> = PerProcess::new(Cell::new([None; 2]));

/// Whether another extension has the hook for paths, before or after this library.
pub fn has_other_hook() -> bool {
    // SAFETY: only this thread reads or writes the hook.
    let first = unsafe { (&raw const pg_sys::set_rel_pathlist_hook).read() };
    let [own, next] = PATH_HOOKS.get();
    next.is_some() || first.map(|hook| hook as usize) != own.map(|hook| hook as usize)
}

/// Whether a column is part of the partition key of a table, which is one by range or list.
fn is_in_partition_key(table: Oid, column: i16) -> bool {
    // SAFETY: rows of this cache have this form. The key has as many columns as the row states.
    let is_in_key = unsafe {
        let cache = pg_sys::SysCacheIdentifier::PARTRELID as c_int;
        catalog::read(cache, &[table.into()], |key: &pg_sys::FormData_pg_partitioned_table, _| {
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
        let cache = pg_sys::SysCacheIdentifier::RELOID as c_int;
        catalog::read(cache, &[relation.into()], |class: &pg_sys::FormData_pg_class, _| class.relam)
    };
    access_method.is_none_or(|method| [pg_sys::HEAP_TABLE_AM_OID, Oid::INVALID].contains(&method))
}

/// The function of the cast between two types; `None` if there is none, or if the user must not execute it. Only the owner of one of the
/// types can create a cast.
pub fn cast(source: Oid, target: Oid) -> Option<Oid> {
    let cache = pg_sys::SysCacheIdentifier::CASTSOURCETARGET as c_int;
    let (column, none) = (pg_sys::Anum_pg_cast_castfunc as i16, Datum::null());
    // SAFETY: the keys have the types of the cache's.
    let function = unsafe { GetSysCacheOid(cache, column, source.into(), target.into(), none, none) };
    (function != Oid::INVALID && server::may_execute(function)).then_some(function)
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
        let keys = [Datum::from(name.as_ptr()), Datum::from(arguments), Datum::from(schema)];
        let cache = pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as c_int;
        catalog::read(cache, &keys, |function: &pg_sys::FormData_pg_proc, _| (function.oid, function.prolang))?
    };
    (language == Oid::from(pg_sys::ClanguageId) && server::may_execute(function)).then_some(function)
}
