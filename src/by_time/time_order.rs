//! The order of `T_timestamp(id)`, served by btree indexes with the ID as a column.
//!
//! The hook for tables lets ORDER BY name the ID where that is the same order. The hook for paths makes the planner consider a copy of
//! each such index, as if the column of the ID had the time of the ID, and ended the order of the index: IDs of the same time are in the
//! order of the IDs, not of the next column. The copy has the other facts of the index, so that conditions, index-only scans and costs
//! are those of the index. When the planner estimates the cost of a path of the copy, the path gets the index itself.

use core::ffi::c_int;
use core::ptr;

use pgrx::pg_sys::{
    self, BTLessStrategyNumber as LESS, IndexOptInfo, IndexPath, Oid, PlannerInfo, RangeTblEntry, RelOptInfo,
    SortGroupClause, TargetEntry, amcostestimate_function,
};

use crate::by_time::expression::{self, list};
use crate::by_time::time_condition::{self, TIME_FAMILY, Table, as_id, strategy_of};
use crate::by_time::time_of_id::{self, TimeOfId};
use crate::pg::datum;
use crate::pg::plan_nodes::{NodeRef, Nodes};
use crate::pg::unguarded::{
    build_index_pathkeys, copy_node, create_index_paths, equal, exprType, is_dummy_rel, lappend, list_copy_head,
    lookup_type_cache, makeTargetEntry, palloc,
};

/// Lets ORDER BY name an ID in place of its time, if that is the order of the same rows: if the ID is the next key, and if the time is
/// the last key of a table with partitions, which the server appends in the order of their key only.
///
/// # Safety
/// Must be called by the planner's hook for tables.
pub unsafe fn order_by_id(table: &Table) {
    // SAFETY: guaranteed by the caller. The planner owns the query, whose keys have target entries.
    unsafe {
        let parse = &mut *table.root.parse;
        let is_plain = table.relation.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL
            && parse.commandType == pg_sys::CmdType::CMD_SELECT
            && [parse.distinctClause, parse.groupClause, parse.groupingSets, parse.windowClause]
                == [ptr::null_mut(); 4]
            && parse.setOperations.is_null()
            && !(parse.hasAggs || parse.hasTargetSRFs)
            && parse.limitOption != pg_sys::LimitOption::LIMIT_OPTION_WITH_TIES;
        let keys = Nodes::new(parse.sortClause).as_slice();
        for (index, key) in keys.iter().enumerate().filter(|_| is_plain) {
            let next = keys.get(index + 1).map(|next| *next.as_ptr::<SortGroupClause>());
            order_key_by_id(table, &mut *key.as_ptr(), next);
        }
    }
}

unsafe fn order_key_by_id(table: &Table, key: &mut SortGroupClause, next: Option<SortGroupClause>) -> Option<()> {
    // SAFETY: as in `order_by_id`. Entries of the type cache are never freed.
    unsafe {
        let root = table.root.as_ptr();
        let entries = Nodes::new((*root).processed_tlist);
        let entry_of = |key: &SortGroupClause| {
            let mut all = entries.iter().map(NodeRef::as_ptr::<TargetEntry>);
            all.find(|&entry| (*entry).ressortgroupref == key.tleSortGroupRef)
        };
        let entry = entry_of(key)?;
        let (function, id) = table.id_of(NodeRef::new((*entry).expr)?)?;
        let flags = pg_sys::TYPECACHE_EQ_OPR | pg_sys::TYPECACHE_LT_OPR | pg_sys::TYPECACHE_GT_OPR;
        let operators = &*lookup_type_cache(function.id_type, flags as c_int);
        let operator = if strategy_of(key.sortop)? == LESS { operators.lt_opr } else { operators.gt_opr };
        if let Some(next) = next {
            let is_id =
                equal(NodeRef::new((*entry_of(&next)?).expr).map(NodeRef::without_relabel), Some(id.without_relabel()));
            let is_same = is_id && (next.sortop, next.nulls_first) == (operator, key.nulls_first);
            // The planner ignores the second of two equal keys.
            return is_same.then(|| *key = next);
        }
        if table.relation.part_scheme.is_null() {
            return None;
        }
        let id = as_id(copy_node(id), &function);
        if (*entry).resjunk {
            (*entry).expr = id.as_ptr();
        } else {
            let references = entries.iter().map(|entry| (*entry.as_ptr::<TargetEntry>()).ressortgroupref);
            key.tleSortGroupRef = references.max()? + 1;
            let new = makeTargetEntry(id, entries.as_slice().len() as i16 + 1, ptr::null_mut(), true);
            (*new.as_ptr::<TargetEntry>()).ressortgroupref = key.tleSortGroupRef;
            (*root).processed_tlist = list(entries.iter().chain([new])).as_ptr();
            (*(*root).parse).targetList = (*root).processed_tlist;
        }
        (key.sortop, key.eqop) = (operator, operators.eq_opr);
        Some(())
    }
}

/// An index as if it were on the time of an ID.
#[repr(C)]
struct TimeIndex {
    index: IndexOptInfo,
    real: *mut IndexOptInfo,
}

/// Adds the paths of a table in the order of the time of an ID.
///
/// # Safety
/// Must be called by the planner's hook for paths.
pub unsafe fn add_paths(root: *mut PlannerInfo, relation: *mut RelOptInfo, entry: *mut RangeTblEntry) {
    // SAFETY: guaranteed by the caller. No frame has anything to drop.
    unsafe {
        let is_scanned = (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION
            && !(*entry).inh
            && (*entry).tablesample.is_null()
            && !(*relation).indexlist.is_null();
        let is_ordered =
            !(*root).query_pathkeys.is_null() || !(*relation).joininfo.is_null() || (*relation).has_eclass_joins;
        if !(is_scanned && is_ordered) {
            return;
        }
        let real = (*relation).indexlist;
        let mut all = Nodes::EMPTY;
        for index in Nodes::new(real).as_slice() {
            for (column, function) in columns_with_ids(&*index.as_ptr()) {
                all = time_index(root, index.as_ptr(), column, &function).map_or(all, |index| lappend(all, index));
            }
        }
        // Without an estimate of a remaining comparison, a query with a LIMIT could read the whole table in the order of time.
        let clauses = || Nodes::new((*relation).baserestrictinfo).iter().filter_map(NodeRef::clause);
        let is_limited = || clauses().any(|clause| time_condition::has_comparison(&*relation, clause));
        if !all.is_empty() && !is_dummy_rel(relation) && !is_limited() {
            (*relation).indexlist = all.as_ptr();
            create_index_paths(root, relation);
            (*relation).indexlist = real;
        }
    }
}

/// The columns of a btree index with IDs, and the functions of their times.
fn columns_with_ids(index: &IndexOptInfo) -> impl Iterator<Item = (usize, TimeOfId)> {
    // From PostgreSQL 16 on, a table with partitions has indexes without an order.
    let is_ordered = index.relam == pg_sys::BTREE_AM_OID && !index.sortopfamily.is_null() && index.amhasgettuple;
    let count = if is_ordered { index.nkeycolumns as usize } else { 0 };
    // SAFETY: the arrays have an element for each key column. An expression has the number 0.
    (0..count).filter_map(|column| unsafe {
        let (type_, family) = (*index.opcintype.add(column), *index.opfamily.add(column));
        let function = time_of_id::KNOWN.find(|known| known.id_type == type_ && known.family == family)?;
        (*index.indexkeys.add(column) != 0).then_some((column, function))
    })
}

/// The copy of an index with the time of the ID in a column; `None` if the query has no use for this order.
unsafe fn time_index<'p>(
    root: *mut PlannerInfo,
    real: *mut IndexOptInfo,
    column: usize,
    function: &TimeOfId,
) -> Option<NodeRef<'p>> {
    // SAFETY: guaranteed by the caller. The arrays have an element for each key column.
    unsafe {
        let with = |array: *const Oid, of_time| {
            let element = |each| if each == column { of_time } else { *array.add(each) };
            datum::array((*real).nkeycolumns as usize, element)
        };
        let entries = Nodes::new((*real).indextlist);
        let id = NodeRef::new(entries.structs::<TargetEntry>().nth(column)?.expr)?;
        let of_time = palloc(size_of::<TimeIndex>()).cast::<TimeIndex>();
        of_time.write(TimeIndex { index: *real, real });
        let index = &raw mut (*of_time).index;
        (&raw mut (*index).amcostestimate).cast::<amcostestimate_function>().write(Some(estimate_cost));
        (*index).amhasgetbitmap = false;
        (*index).sortopfamily = with((*real).sortopfamily, TIME_FAMILY.into());
        (*index).opcintype = with((*real).opcintype, pg_sys::TIMESTAMPTZOID);
        let ordered = |tail: Option<NodeRef<'p>>| {
            let before = list_copy_head(entries, column as c_int);
            let entry = tail.map(|time| makeTargetEntry(time, column as i16 + 1, ptr::null_mut(), false));
            (*index).indextlist = entry.map_or(before, |entry| lappend(before, entry)).as_ptr();
            let keys = build_index_pathkeys(root, index, pg_sys::ScanDirection::ForwardScanDirection as c_int);
            Nodes::new(keys).as_slice().len()
        };
        let before = ordered(None);
        // The ID of a domain is the argument of a cast as it is, and that of a function call below a conversion.
        let plain = copy_node(id);
        let converted = as_id(copy_node(id), function);
        let is_useful = |id| ordered(Some(expression::call(function.function, pg_sys::TIMESTAMPTZOID, [id]))) > before;
        let is_domain = exprType(plain) != function.id_type;
        if is_useful(converted) || is_domain && is_useful(plain) { NodeRef::new(index) } else { None }
    }
}

/// Gives a path the index itself, and calls its estimator.
unsafe extern "C-unwind" fn estimate_cost(
    root: *mut PlannerInfo,
    path: *mut IndexPath,
    loops: f64,
    startup: *mut f64,
    total: *mut f64,
    selectivity: *mut f64,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: the index of the path is a `TimeIndex`, whose estimator this is. The estimators of all versions have these arguments.
    unsafe {
        let real = (*(*path).indexinfo.cast::<TimeIndex>()).real;
        (*path).indexinfo = real;
        if let Some(estimate) = (&raw const (*real).amcostestimate).cast::<amcostestimate_function>().read() {
            estimate(root, path, loops, startup, total, selectivity, correlation, pages);
        }
    }
}
