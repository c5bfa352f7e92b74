//! The functions of the server that are called without pgrx's guard. A guard calls sigsetjmp, which costs more than most of these
//! functions, and planning a query or filtering rows by time calls them often.
//!
//! Without it, an error of the server is a longjmp over the frames of the callers. These have nothing to drop. The server compares
//! the `ssup_datum_…_cmp` by address, and pgrx's wrappers have other addresses.

use core::ffi::{c_char, c_int, c_void};

use pgrx::pg_sys::{
    self, AttStatsSlot, BoolExprType, Datum, Expr, FmgrInfo, FunctionCallInfo, HeapTuple, IndexOptInfo, List, Node,
    Oid, PlannerInfo, RelOptInfo, SortSupport, TargetEntry, VacAttrStats, VariableStatData,
};

unsafe extern "C-unwind" {
    pub fn ActiveSnapshotSet() -> bool;
    pub fn bms_is_member(member: c_int, set: *const pg_sys::Bitmapset) -> bool;
    pub fn bms_next_member(set: *const pg_sys::Bitmapset, previous: c_int) -> c_int;
    pub fn bms_num_members(set: *const pg_sys::Bitmapset) -> c_int;
    pub fn build_index_pathkeys(root: *mut PlannerInfo, index: *mut IndexOptInfo, direction: c_int) -> *mut List;
    pub fn buildoidvector(oids: *const Oid, length: c_int) -> *mut pg_sys::oidvector;
    pub fn CacheRegisterSyscacheCallback(
        cache: c_int,
        callback: unsafe extern "C-unwind" fn(Datum, c_int, u32),
        argument: Datum,
    );
    /// Raises 54001 if the stack is nearly exhausted.
    pub fn check_stack_depth();
    pub fn contain_subplans(node: *mut Node) -> bool;
    pub fn contain_var_clause(node: *mut Node) -> bool;
    pub fn contain_volatile_functions(node: *mut Node) -> bool;
    /// Returns a copy of a node.
    #[link_name = "copyObjectImpl"]
    pub fn copy_node(node: *mut Node) -> *mut Node;
    pub fn create_index_paths(root: *mut PlannerInfo, relation: *mut RelOptInfo);
    pub fn DirectFunctionCall1Coll(function: pg_sys::PGFunction, collation: Oid, argument: Datum) -> Datum;
    pub fn DirectFunctionCall2Coll(function: pg_sys::PGFunction, collation: Oid, first: Datum, second: Datum) -> Datum;
    pub fn equal(one: *const c_void, other: *const c_void) -> bool;
    pub fn errcode(sqlstate: c_int) -> c_int;
    pub fn errdetail_internal(format: *const c_char, ...) -> c_int;
    pub fn errhint(format: *const c_char, ...) -> c_int;
    pub fn errmsg_internal(format: *const c_char, ...) -> c_int;
    pub fn estimate_expression_value(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    pub fn eval_const_expressions(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    pub fn examine_variable(root: *mut PlannerInfo, node: *mut Node, relation: c_int, column: *mut VariableStatData);
    /// Returns the type of an expression.
    pub fn exprType(node: *const Node) -> Oid;
    pub fn fmgr_info(function: Oid, info: *mut FmgrInfo);
    pub fn free_attstatsslot(slot: *mut AttStatsSlot);
    pub fn get_attstatsslot(slot: *mut AttStatsSlot, row: HeapTuple, kind: c_int, operator: Oid, flags: c_int) -> bool;
    pub fn get_func_support(function: Oid) -> Oid;
    pub fn get_negator(operator: Oid) -> Oid;
    /// Returns the function of an operator; 0 if there is no such operator.
    pub fn get_opcode(operator: Oid) -> Oid;
    pub fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
    pub fn get_oprrest(operator: Oid) -> Oid;
    pub fn get_typlenbyval(type_: Oid, length: *mut i16, by_value: *mut bool);
    pub fn GetActiveSnapshot() -> pg_sys::Snapshot;
    /// Returns the type below a domain; any other type itself.
    pub fn getBaseType(type_: Oid) -> Oid;
    pub fn GetCurrentTransactionStartTimestamp() -> i64;
    pub fn GetPortalByName(name: *const c_char) -> pg_sys::Portal;
    pub fn GetSysCacheOid(cache: c_int, column: i16, name: Datum, left: Datum, right: Datum, schema: Datum) -> Oid;
    pub fn hash_bytes(bytes: *const u8, length: c_int) -> u32;
    pub fn hash_bytes_extended(bytes: *const u8, length: c_int, seed: u64) -> u64;
    pub fn hash_bytes_uint32(value: u32) -> u32;
    pub fn hash_bytes_uint32_extended(value: u32, seed: u64) -> u64;
    pub fn heap_copytuple(row: HeapTuple) -> HeapTuple;
    pub fn heap_freetuple(row: HeapTuple);
    pub fn ineq_histogram_selectivity(
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
    pub fn is_dummy_rel(relation: *mut RelOptInfo) -> bool;
    /// Appends a node to a list, which is null if it is empty.
    pub fn lappend(list: *mut List, node: *mut c_void) -> *mut List;
    pub fn list_concat(one: *mut List, other: *const List) -> *mut List;
    pub fn list_concat_copy(one: *const List, other: *const List) -> *mut List;
    pub fn list_copy_head(list: *const List, length: c_int) -> *mut List;
    pub fn lookup_type_cache(type_: Oid, flags: c_int) -> *mut pg_sys::TypeCacheEntry;
    pub fn make_ands_explicit(clauses: *mut List) -> *mut Node;
    pub fn make_ands_implicit(clause: *mut Node) -> *mut List;
    /// Builds an expression with an operator.
    pub fn make_opclause(
        operator: Oid,
        returns: Oid,
        returns_set: bool,
        left: *mut Node,
        right: *mut Node,
        collation: Oid,
        input_collation: Oid,
    ) -> *mut Expr;
    pub fn makeBoolExpr(operator: BoolExprType::Type, arguments: *mut List, location: c_int) -> *mut Node;
    pub fn makeFuncExpr(
        function: Oid,
        returns: Oid,
        arguments: *mut List,
        collation: Oid,
        input_collation: Oid,
        form: pg_sys::CoercionForm::Type,
    ) -> *mut pg_sys::FuncExpr;
    pub fn makeRelabelType(
        node: *mut Node,
        type_: Oid,
        modifier: i32,
        collation: Oid,
        form: pg_sys::CoercionForm::Type,
    ) -> *mut Node;
    pub fn makeTargetEntry(expression: *mut Expr, number: i16, name: *mut c_char, is_junk: bool) -> *mut TargetEntry;
    pub fn mcv_selectivity(
        column: *mut VariableStatData,
        function: *mut FmgrInfo,
        collation: Oid,
        value: Datum,
        is_left: bool,
        common: *mut f64,
    ) -> f64;
    pub fn MemoryContextAlloc(context: pg_sys::MemoryContext, size: usize) -> *mut c_void;
    pub fn palloc(size: usize) -> *mut c_void;
    pub fn pg_detoast_datum(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
    pub fn pg_detoast_datum_packed(datum: *mut pg_sys::varlena) -> *mut pg_sys::varlena;
    pub fn predicate_implied_by(predicate: *mut List, conditions: *mut List, is_weak: bool) -> bool;
    pub fn ProcessInterrupts();
    pub fn pull_varnos(root: *mut PlannerInfo, node: *mut Node) -> *mut pg_sys::Bitmapset;
    pub fn range_deserialize(
        typcache: *mut pg_sys::TypeCacheEntry,
        range: *const pg_sys::RangeType,
        lower: *mut pg_sys::RangeBound,
        upper: *mut pg_sys::RangeBound,
        is_empty: *mut bool,
    );
    pub fn RecoveryInProgress() -> bool;
    pub fn ReleaseSysCache(row: HeapTuple);
    pub fn SearchSysCache1(cache: c_int, key: Datum) -> HeapTuple;
    pub fn SearchSysCache3(cache: c_int, first: Datum, second: Datum, third: Datum) -> HeapTuple;
    pub fn ssup_datum_signed_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
    pub fn ssup_datum_unsigned_cmp(left: Datum, right: Datum, support: SortSupport) -> c_int;
    pub fn statistic_proc_security_check(column: *mut VariableStatData, function: Oid) -> bool;
    pub fn std_typanalyze(column: *mut VacAttrStats) -> bool;
    pub fn timestamptz_date(call: FunctionCallInfo) -> Datum;
    pub fn timestamptz_mi_interval(call: FunctionCallInfo) -> Datum;
    pub fn timestamptz_pl_interval(call: FunctionCallInfo) -> Datum;
    pub fn timestamptz_trunc(call: FunctionCallInfo) -> Datum;
}
