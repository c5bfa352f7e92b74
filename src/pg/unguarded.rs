//! The functions of the server that are called without pgrx's guard. A guard calls sigsetjmp, which costs more than most of these
//! functions, and planning a query or filtering rows by time calls them often.
//!
//! Without it, an error of the server is a longjmp over the frames of the callers. These have nothing to drop but the server's
//! memory, except those of `ActiveSnapshotSet`, `GetActiveSnapshot`, `GetPortalByName` and `ReleaseSysCache`, which raise no errors. The
//! server compares the `ssup_datum_…_cmp` by address, and pgrx's wrappers have other addresses.
//!
//! A function is `safe` if every value of its arguments is valid. Catalogs are read in a transaction, in which all functions of this
//! extension are called.

use core::ffi::{c_char, c_int, c_void};

use pgrx::pg_sys::{
    self, AttStatsSlot, BoolExprType, Datum, FmgrInfo, FunctionCallInfo, HeapTuple, IndexOptInfo, List, Oid,
    PlannerInfo, RelOptInfo, SortSupport, VacAttrStats, VariableStatData,
};

use crate::pg::plan_nodes::{NodeRef, Nodes, Root};

unsafe extern "C-unwind" {
    pub safe fn ActiveSnapshotSet() -> bool;
    pub fn build_index_pathkeys(root: *mut PlannerInfo, index: *mut IndexOptInfo, direction: c_int) -> *mut List;
    pub fn buildoidvector(oids: *const Oid, length: c_int) -> *mut pg_sys::oidvector;
    /// Raises 54001 if the stack is nearly exhausted.
    pub safe fn check_stack_depth();
    pub safe fn contain_subplans(node: NodeRef) -> bool;
    pub safe fn contain_var_clause(node: NodeRef) -> bool;
    pub safe fn contain_volatile_functions(node: NodeRef) -> bool;
    #[link_name = "copyObjectImpl"]
    pub safe fn copy_node<'p>(node: NodeRef<'p>) -> NodeRef<'p>;
    pub fn create_index_paths(root: *mut PlannerInfo, relation: *mut RelOptInfo);
    pub fn DirectFunctionCall1Coll(function: pg_sys::PGFunction, collation: Oid, argument: Datum) -> Datum;
    pub fn DirectFunctionCall2Coll(function: pg_sys::PGFunction, collation: Oid, first: Datum, second: Datum) -> Datum;
    pub safe fn equal(one: Option<NodeRef>, other: Option<NodeRef>) -> bool;
    pub fn err_generic_string(field: c_int, text: *const c_char) -> c_int;
    pub safe fn errcode(sqlstate: c_int) -> c_int;
    pub fn errdetail_internal(format: *const c_char, ...) -> c_int;
    pub fn errhint(format: *const c_char, ...) -> c_int;
    pub fn errmsg_internal(format: *const c_char, ...) -> c_int;
    pub safe fn estimate_expression_value<'p>(root: Root<'p>, node: NodeRef<'p>) -> NodeRef<'p>;
    pub safe fn eval_const_expressions<'p>(root: Option<Root<'p>>, node: NodeRef<'p>) -> NodeRef<'p>;
    pub fn evaluate_expr<'p>(node: NodeRef<'p>, type_: Oid, type_modifier: i32, collation: Oid) -> NodeRef<'p>;
    pub safe fn examine_variable(root: Root, node: NodeRef, relation: c_int, column: &mut VariableStatData);
    pub safe fn exprType(node: NodeRef) -> Oid;
    pub safe fn fmgr_info(function: Oid, info: &mut FmgrInfo);
    pub fn free_attstatsslot(slot: *mut AttStatsSlot);
    pub fn get_attstatsslot(slot: *mut AttStatsSlot, row: HeapTuple, kind: c_int, operator: Oid, flags: c_int) -> bool;
    /// 0 if there is no such column.
    pub safe fn get_atttype(table: Oid, column: i16) -> Oid;
    pub safe fn get_func_support(function: Oid) -> Oid;
    pub safe fn get_negator(operator: Oid) -> Oid;
    /// The strategy of an operator in an operator family; 0 if it is none of the family.
    pub safe fn get_op_opfamily_strategy(operator: Oid, family: Oid) -> c_int;
    /// 0 if there is no such operator.
    pub safe fn get_opcode(operator: Oid) -> Oid;
    pub safe fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
    pub safe fn get_oprrest(operator: Oid) -> Oid;
    pub fn GetActiveSnapshot() -> pg_sys::Snapshot;
    /// The type below a domain; any other type itself.
    pub safe fn getBaseType(type_: Oid) -> Oid;
    pub fn GetPortalByName(name: *const c_char) -> pg_sys::Portal;
    pub fn GetSysCacheOid(cache: c_int, column: i16, name: Datum, left: Datum, right: Datum, schema: Datum) -> Oid;
    pub fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;
    pub safe fn hash_bytes_uint32_extended(value: u32, seed: u64) -> u64;
    pub fn heap_copytuple(row: HeapTuple) -> HeapTuple;
    pub fn heap_freetuple(row: HeapTuple);
    pub fn is_dummy_rel(relation: *mut RelOptInfo) -> bool;
    /// Changes the list, which nobody else must have.
    pub fn lappend<'p>(list: Nodes<'p>, node: NodeRef<'p>) -> Nodes<'p>;
    pub safe fn list_copy_head<'p>(list: Nodes<'p>, length: c_int) -> Nodes<'p>;
    pub safe fn lookup_type_cache(type_: Oid, flags: c_int) -> *mut pg_sys::TypeCacheEntry;
    pub safe fn make_ands_explicit<'p>(clauses: Nodes<'p>) -> NodeRef<'p>;
    pub safe fn make_ands_implicit<'p>(clause: NodeRef<'p>) -> Nodes<'p>;
    pub safe fn make_opclause<'p>(
        operator: Oid,
        returns: Oid,
        returns_set: bool,
        left: NodeRef<'p>,
        right: NodeRef<'p>,
        collation: Oid,
        input_collation: Oid,
    ) -> NodeRef<'p>;
    pub safe fn makeBoolExpr<'p>(operator: BoolExprType::Type, arguments: Nodes<'p>, location: c_int) -> NodeRef<'p>;
    pub fn makeConst<'p>(
        type_: Oid,
        modifier: i32,
        collation: Oid,
        length: c_int,
        value: Datum,
        is_null: bool,
        by_value: bool,
    ) -> NodeRef<'p>;
    pub safe fn makeFuncExpr<'p>(
        function: Oid,
        returns: Oid,
        arguments: Nodes<'p>,
        collation: Oid,
        input_collation: Oid,
        form: pg_sys::CoercionForm::Type,
    ) -> NodeRef<'p>;
    pub fn makeTargetEntry<'p>(expression: NodeRef<'p>, number: i16, name: *mut c_char, is_junk: bool) -> NodeRef<'p>;
    pub fn MemoryContextAlloc(context: pg_sys::MemoryContext, size: usize) -> *mut c_void;
    pub fn numeric_out(call: FunctionCallInfo) -> Datum;
    pub fn palloc(size: usize) -> *mut c_void;
    pub fn palloc0(size: usize) -> *mut c_void;
    pub fn pg_detoast_datum_packed(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
    pub safe fn predicate_implied_by(predicate: Nodes, conditions: Nodes, is_weak: bool) -> bool;
    pub safe fn ProcessInterrupts();
    pub safe fn pull_varnos(root: Root, node: NodeRef) -> *mut pg_sys::Bitmapset;
    /// Lets the plan be made anew when the function changes.
    pub fn record_plan_function_dependency(root: *mut PlannerInfo, function: Oid);
    pub safe fn RecoveryInProgress() -> bool;
    pub fn ReleaseSysCache(row: HeapTuple);
    pub fn ssup_datum_signed_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
    pub fn ssup_datum_unsigned_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
    pub fn std_typanalyze(column: *mut VacAttrStats) -> bool;
    pub fn SysCacheGetAttr(cache: c_int, row: HeapTuple, column: i16, is_null: &mut bool) -> Datum;
    pub fn timestamptz_date(call: FunctionCallInfo) -> Datum;
    pub fn timestamptz_mi_interval(call: FunctionCallInfo) -> Datum;
    pub fn timestamptz_pl_interval(call: FunctionCallInfo) -> Datum;
}
