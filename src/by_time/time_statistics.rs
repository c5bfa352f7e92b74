//! Statistics of the times of a column with IDs: the server's own, as ANALYZE computes them for a column of times.
//!
//! The common values and the histogram are two slots of `pg_statistic`, whose kinds only this library reads. The server uses up to
//! three of the five slots. [`of_times`] returns the row that a column of times would have, for the server's estimators.
//!
//! The planner finds statistics of an expression in an index on it. [`add_index`] adds one that serves no path, and the server's hook
//! for the statistics of an index returns the row.

use core::cell::Cell;
use core::ffi::c_int;
use core::{ptr, slice};

use pgrx::pg_sys::{
    self, AttStatsSlot, Datum, HeapTuple, IndexOptInfo, Oid, PlannerInfo, RelOptInfo, VacAttrStats, VariableStatData,
};

use crate::by_time::expression::{self, list};
use crate::by_time::time_condition::{self, TIMESTAMPTZ_LESS};
use crate::by_time::time_of_id;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{Call, epoch};
use crate::pg::datum;
use crate::pg::plan_nodes::{NodeRef, Nodes, Root};
use crate::pg::process::PerProcess;
use crate::pg::unguarded::{
    copy_node, examine_variable, free_attstatsslot, get_attstatsslot, get_atttype, getBaseType, heap_copytuple,
    heap_freetuple, palloc0, std_typanalyze,
};

const MCV: i16 = pg_sys::STATISTIC_KIND_MCV as i16;
const HISTOGRAM: i16 = pg_sys::STATISTIC_KIND_HISTOGRAM as i16;
/// The kinds of the slots, and those of the server. The range from 10000 to 30000 is for private use. The numbers of the second slot
/// are the estimated number of times, as in `stadistinct`.
const COMMON_TIMES: i16 = 15_282;
const TIMES: i16 = 15_283;
const KINDS: [(i16, i16); 2] = [(COMMON_TIMES, MCV), (TIMES, HISTOGRAM)];

/// `T_typanalyze(internal) → boolean`: requests the statistics of the IDs and those of their times; false if the column has a statistics
/// target of 0
pub fn request<T: StoredId>(call: Call) -> Result<Datum, Error> {
    let column = call.datum(0).cast_mut_ptr();
    // SAFETY: ANALYZE passes the struct of a column of the type.
    unsafe {
        let is_requested = std_typanalyze(column);
        if is_requested {
            (*column).compute_stats = Some(compute::<T>);
        }
        Ok(Datum::from(is_requested))
    }
}

/// The time of a row without an ID, which is the time of no ID.
const NULL: i64 = i64::MAX;

/// The time with a number among those that [`compute`] passes.
unsafe extern "C-unwind" fn time(column: *mut VacAttrStats, number: c_int, is_null: *mut bool) -> Datum {
    // SAFETY: there are as many as rows.
    unsafe {
        let time = *(*column).exprvals.add(number as usize);
        *is_null = time.value() as i64 == NULL;
        time
    }
}

/// Computes the statistics of a column from a sample, and those of the times, in their order: that of the rows matters only for
/// statistics that [`add_slots`] ignores.
unsafe extern "C-unwind" fn compute<T: StoredId>(
    column: *mut VacAttrStats,
    fetch: pg_sys::AnalyzeAttrFetchFunc,
    rows: c_int,
    total: f64,
) {
    // SAFETY: ANALYZE passes the struct that `request` has filled in, and a function that returns the sampled values. The memory context
    // is that of the column.
    unsafe {
        let (Some(sampled), mut times, mut type_) = (fetch, *column, *(*column).attrtype) else { return };
        let in_order = datum::slice(rows as usize, |row| {
            let mut is_null = false;
            let id = sampled(column, row as c_int, &mut is_null);
            if is_null { NULL } else { T::from_stored(T::Stored::from_datum(id)).map_or(0, epoch::of) }
        });
        in_order.sort_unstable();
        (type_.typlen, type_.typbyval, type_.typalign) = (8, true, b'd' as _);
        (times.attrtype, times.attrtypid, times.attrtypmod) = (&raw mut type_, pg_sys::TIMESTAMPTZOID, -1);
        times.exprvals = in_order.as_mut_ptr().cast();
        for (statistics, fetch) in [(column, sampled), (&raw mut times, time as _)] {
            // Sets `compute_stats` to the server's function.
            std_typanalyze(statistics);
            if let Some(standard) = (*statistics).compute_stats {
                standard(statistics, Some(fetch), rows, total);
            }
        }
        if (*column).stats_valid {
            add_slots(&mut *column, &times);
        }
    }
}

/// Copies the slots of the times. A slot needs values: without a histogram, those of [`TIMES`] are a common time, which is none.
unsafe fn add_slots(column: &mut VacAttrStats, times: &VacAttrStats) {
    let slot_of = |kinds: &[i16], kind| kinds.iter().position(|&each| each == kind);
    for (own, kind) in KINDS {
        let common = slot_of(&times.stakind, MCV);
        let source = slot_of(&times.stakind, kind).or(common.filter(|_| own == TIMES));
        let (Some(slot), Some(source)) = (slot_of(&column.stakind, 0), source) else { continue };
        (column.stakind[slot], column.staop[slot]) = (own, times.staop[source]);
        (column.statypid[slot], column.statyplen[slot]) = (pg_sys::TIMESTAMPTZOID, 8);
        (column.statypbyval[slot], column.statypalign[slot]) = (true, b'd' as _);
        (column.stavalues[slot], column.numvalues[slot]) = (times.stavalues[source], times.numvalues[source]);
        (column.stanumbers[slot], column.numnumbers[slot]) = (times.stanumbers[source], times.numnumbers[source]);
        if own == TIMES {
            if times.stakind[source] == MCV {
                (column.staop[slot], column.numvalues[slot]) = (TIMESTAMPTZ_LESS.into(), 1);
            }
            // SAFETY: the memory context of ANALYZE, in which the statistics have to be.
            unsafe {
                let distinct = pg_sys::MemoryContextAlloc(column.anl_context, size_of::<f32>()).cast::<f32>();
                distinct.write(times.stadistinct);
                (column.stanumbers[slot], column.numnumbers[slot]) = (distinct, 1);
            }
        }
    }
}

/// The statistics of the times of a column with these statistics of IDs: a row of `pg_statistic`, which the caller frees. `None` if
/// there are none.
pub unsafe fn of_times(row: HeapTuple) -> Option<HeapTuple> {
    // SAFETY: the row is null or one of pg_statistic.
    unsafe {
        if row.is_null() || !kinds(row).contains(&TIMES) {
            return None;
        }
        let distinct = with_slot(row, TIMES, pg_sys::ATTSTATSSLOT_NUMBERS, |slot| *slot.numbers);
        let times = heap_copytuple(row);
        let form = &mut *pg_sys::GETSTRUCT(times).cast::<pg_sys::FormData_pg_statistic>();
        (form.stadistinct, form.stawidth) = (distinct, 8);
        for kind in kinds(times) {
            // The server's are those of the IDs.
            let own = KINDS.iter().find(|(own, _)| own == kind);
            *kind = own.map_or(if [MCV, HISTOGRAM].contains(kind) { 0 } else { *kind }, |&(_, standard)| standard);
        }
        Some(times)
    }
}

/// Whether a column with these statistics of IDs has common times.
pub unsafe fn has_common_times(row: HeapTuple) -> bool {
    // SAFETY: the row is one of pg_statistic.
    unsafe { kinds(row).contains(&COMMON_TIMES) }
}

/// Whether the statistics of times, in such a row, divide the rows better than those of the IDs: at the start of a tick, or within one
/// that is not common. Beyond their ends, the server reads the present ends of the index on the ID.
pub unsafe fn divide_at(times: HeapTuple, time: i64, is_start: bool) -> bool {
    let [mut is_above, mut is_below, mut is_common] = [false; 3];
    for kind in [MCV, HISTOGRAM] {
        // SAFETY: both slots have times.
        unsafe {
            with_slot(times, kind, pg_sys::ATTSTATSSLOT_VALUES, |slot| {
                for &value in slice::from_raw_parts(slot.values.cast::<i64>(), slot.nvalues as usize) {
                    is_above |= time >= value;
                    is_below |= time <= value;
                    is_common |= time == value && kind == MCV;
                }
            });
        }
    }
    is_above && is_below && (is_start || !is_common)
}

/// What `read` returns for the values or the numbers of the slot of a kind, which exists.
unsafe fn with_slot<R>(row: HeapTuple, kind: i16, part: u32, read: impl FnOnce(&AttStatsSlot) -> R) -> R {
    let mut slot = AttStatsSlot::default();
    // SAFETY: the row is one of pg_statistic.
    unsafe {
        get_attstatsslot(&mut slot, row, c_int::from(kind), Oid::INVALID, part as c_int);
        let result = read(&slot);
        free_attstatsslot(&mut slot);
        result
    }
}

unsafe fn kinds<'a>(row: HeapTuple) -> &'a mut [i16] {
    // SAFETY: the kinds are adjacent columns of fixed length.
    unsafe {
        let row = pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_statistic>();
        slice::from_raw_parts_mut(&raw mut (*row).stakind1, pg_sys::STATISTIC_NUM_SLOTS as usize)
    }
}

static NEXT: PerProcess<Cell<pg_sys::get_index_stats_hook_type>> = PerProcess::new(Cell::new(None));

pub fn register() {
    // SAFETY: called from _PG_init. Only this thread reads or writes the hook.
    unsafe { NEXT.set((&raw mut pg_sys::get_index_stats_hook).replace(Some(statistics_of_index))) };
}

/// Sets the statistics of a column of the index of [`add_index`].
unsafe extern "C-unwind" fn statistics_of_index(
    root: *mut PlannerInfo,
    index: Oid,
    column: i16,
    data: *mut VariableStatData,
) -> bool {
    // SAFETY: the planner has entries for the numbers of tables. It examines an expression, or estimates the cost of a real index: then,
    // `data` can be uninitialized.
    unsafe {
        let tables = slice::from_raw_parts((*root).simple_rte_array, (*root).simple_rel_array_size as usize);
        if !tables.iter().any(|table| table.as_ref().is_some_and(|table| table.relid == index)) {
            return NEXT.get().is_some_and(|next| next(root, index, column, data));
        }
        if let Some((root, (_, id))) = Root::new(root).zip(NodeRef::new((*data).var).and_then(time_of_id::called)) {
            let mut of_id = VariableStatData::default();
            examine_variable(root, id, 0, &mut of_id);
            (*data).statsTuple = of_times(of_id.statsTuple).unwrap_or(ptr::null_mut());
            (*data).freefunc = Some(heap_freetuple);
            (*data).acl_ok = of_id.acl_ok;
            of_id.freefunc.iter().filter(|_| !of_id.statsTuple.is_null()).for_each(|free| free(of_id.statsTuple));
        }
        // Otherwise, the server would look for statistics of a column of the table.
        true
    }
}

/// Adds an index on the times of a table's IDs, by which the planner finds their statistics. It has the OID of the table, and none of
/// the properties that a path needs.
pub unsafe fn add_index(root: *mut PlannerInfo, relation: *mut RelOptInfo) {
    // SAFETY: a table of the planner. Its columns with IDs are expressions of their type, or of a domain.
    unsafe {
        let (number, table) = ((*relation).relid, (**(*root).simple_rte_array.add((*relation).relid as usize)).relid);
        let times = list((1..=(*relation).max_attr).flat_map(|column| {
            let type_ = get_atttype(table, column);
            let base = if type_.to_u32() < pg_sys::FirstNormalObjectId { type_ } else { getBaseType(type_) };
            let function = time_of_id::KNOWN.find(|known| known.id_type == base);
            let time = function.and_then(|function| {
                let id = NodeRef::new(pg_sys::makeVar(number as _, column, type_, -1, Oid::INVALID, 0))?;
                let of = |id| expression::call(function.function, pg_sys::TIMESTAMPTZOID, [id]);
                Some([Some(of(time_condition::as_id(id, &function))), (type_ != base).then(|| of(copy_node(id)))])
            });
            time.into_iter().flatten().flatten()
        }));
        if times.is_empty() {
            return;
        }
        let count = times.as_slice().len();
        let index = palloc0(size_of::<IndexOptInfo>()).cast::<IndexOptInfo>();
        let zeros = palloc0(count * size_of::<Oid>());
        (*index).type_ = pg_sys::NodeTag::T_IndexOptInfo;
        ((*index).indexoid, (*index).rel, (*index).indexprs) = (table, relation, times.as_ptr());
        ((*index).ncolumns, (*index).nkeycolumns) = (count as c_int, 1);
        ((*index).indexkeys, (*index).canreturn) = (zeros.cast(), zeros.cast());
        ((*index).indexcollations, (*index).opfamily, (*index).opcintype) = (zeros.cast(), zeros.cast(), zeros.cast());
        (*index).hypothetical = true;
        let all = Nodes::new((*relation).indexlist).iter().chain(NodeRef::new(index));
        (*relation).indexlist = list(all).as_ptr();
    }
}
