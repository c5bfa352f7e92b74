//! Statistics of the ticks in a column, which ANALYZE stores beside those of the server.
//!
//! The time of a burst is a most common value of a `timestamptz` column. The IDs of a burst are different, and the server's
//! histogram spreads them over a bucket. ANALYZE therefore also stores the most common ticks, each as its first ID, with their
//! fractions of the rows, and a histogram of the other IDs. A column without common ticks has no such statistics.
//!
//! These are two slots of `pg_statistic`, whose kinds only this library reads. The server uses up to three of the five slots. If it
//! also stores most common IDs, as for a foreign key, the common ticks include them, and the server uses its own for `=`.

use core::cmp::{Ordering, Reverse};
use core::ffi::c_int;

use pgrx::pg_sys::{self, AttStatsSlot, Datum, HeapTuple, Oid, VacAttrStats, VariableStatData};
use scru_server::selectivity::Commonness;
use scru_server::time_compare::Operator;

use crate::call::Call;
use crate::call::error::Error;
use crate::call::stored::{StoredDatum, StoredId};
use crate::pg::unguarded::{free_attstatsslot, get_attstatsslot, heap_copytuple, heap_freetuple, std_typanalyze};
use crate::pg::{clock, datum};

/// The kinds of the slots. The range from 10000 to 30000 is for private use.
const COMMON_TICKS: i16 = 15_280;
const OTHER_IDS: i16 = 15_281;
const HISTOGRAM: i16 = pg_sys::STATISTIC_KIND_HISTOGRAM as i16;

/// The rows that ANALYZE samples for each unit of the statistics target.
const ROWS_PER_TARGET: c_int = 300;

/// `T_typanalyze(internal) → boolean`: requests the statistics of the server and those of the ticks; false if the column has a
/// statistics target of 0
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

/// Computes the statistics of a column from a sample.
unsafe extern "C-unwind" fn compute<T: StoredId>(
    column: *mut VacAttrStats,
    fetch: pg_sys::AnalyzeAttrFetchFunc,
    rows: c_int,
    total: f64,
) {
    // SAFETY: ANALYZE passes the struct that `request` has filled in, and a function that returns the sampled values. The memory
    // context is reset after the column.
    unsafe {
        // Sets `compute_stats` to the server's function again.
        std_typanalyze(column);
        if let Some(standard) = (*column).compute_stats {
            standard(column, fetch, rows, total);
        }
        if (*column).stats_valid {
            add_ticks::<T>(&mut *column, sorted_sample::<T>(column, fetch, rows), rows, total);
        }
    }
}

/// The sampled IDs without NULLs, in ascending order.
unsafe fn sorted_sample<'a, T: StoredId>(
    column: *mut VacAttrStats,
    fetch: pg_sys::AnalyzeAttrFetchFunc,
    rows: c_int,
) -> &'a mut [T::Stored] {
    // SAFETY: the memory context of ANALYZE.
    let ids = unsafe { datum::slice(rows as usize, |_| T::MIN.to_stored()) };
    let mut count = 0;
    if let Some(fetch) = fetch {
        for row in 0..rows {
            clock::check_for_interrupts();
            let mut is_null = false;
            // SAFETY: the function returns values of the column, for rows below `rows`.
            unsafe {
                let value = fetch(column, row, &mut is_null);
                if !is_null {
                    ids[count] = T::Stored::from_datum(value);
                    count += 1;
                }
            }
        }
    }
    let ids = &mut ids[..count];
    ids.sort_unstable_by(|one, other| one.order(*other));
    ids
}

/// Stores the common ticks and a histogram of the other IDs, unless all ticks are about equally common.
unsafe fn add_ticks<T: StoredId>(column: &mut VacAttrStats, ids: &mut [T::Stored], rows: c_int, total: f64) {
    let target = (column.minrows / ROWS_PER_TARGET) as usize;
    let runs = ids.chunk_by(|one, other| tick::<T>(*one) == tick::<T>(*other));
    let commonness = Commonness::of(runs.clone().map(<[_]>::len), f64::from(rows) / total, target);
    let common = runs.filter(|run| commonness.includes(run.len()));
    let count = common.clone().count();
    if count == 0 {
        return;
    }
    // SAFETY: the memory context of ANALYZE.
    let lengths = unsafe { datum::slice(count, |_| (0, 0)) };
    for (entry, run) in lengths.iter_mut().zip(common) {
        *entry = (tick::<T>(run[0]), run.len());
    }
    lengths.sort_unstable_by_key(|&(_, length)| Reverse(length));
    let common = &mut lengths[..count.min(target)];
    common.sort_unstable();

    let mut others = 0;
    for index in 0..ids.len() {
        if common.binary_search_by_key(&tick::<T>(ids[index]), |&(tick, _)| tick).is_err() {
            ids[others] = ids[index];
            others += 1;
        }
    }
    // SAFETY: the memory context of ANALYZE, in which the statistics have to be.
    unsafe {
        let context = pg_sys::MemoryContextSwitchTo(column.anl_context);
        let ticks = datum::slice(common.len(), |index| T::first_of(common[index].0).to_datum());
        let fractions = datum::slice(common.len(), |index| common[index].1 as f32 / rows as f32);
        add_slot(column, COMMON_TICKS, ticks, fractions);
        if others > 1 {
            let bounds = others.min(target + 1);
            let bound = |index: usize| ids[index * (others - 1) / (bounds - 1)].into_datum();
            add_slot(column, OTHER_IDS, datum::slice(bounds, bound), &mut []);
        }
        pg_sys::MemoryContextSwitchTo(context);
    }
}

fn tick<T: StoredId>(id: T::Stored) -> u64 {
    T::from_stored(id).map_or(0, T::tick)
}

/// Stores statistics in the first free slot, with the operator `<` of the server's histogram.
fn add_slot(column: &mut VacAttrStats, kind: i16, values: &mut [Datum], numbers: &mut [f32]) {
    let Some(slot) = column.stakind.iter().position(|&kind| kind == 0) else { return };
    let histogram = column.stakind.iter().position(|&kind| kind == HISTOGRAM);
    column.stakind[slot] = kind;
    column.staop[slot] = histogram.map_or(Oid::INVALID, |histogram| column.staop[histogram]);
    (column.stavalues[slot], column.numvalues[slot]) = (values.as_mut_ptr(), values.len() as c_int);
    if !numbers.is_empty() {
        (column.stanumbers[slot], column.numnumbers[slot]) = (numbers.as_mut_ptr(), numbers.len() as c_int);
    }
}

/// The statistics of the ticks in a column.
pub struct TickStatistics {
    common: AttStatsSlot,
    /// A copy of the statistics, with the histogram of the other IDs in place of the server's.
    others: HeapTuple,
}

impl TickStatistics {
    /// The statistics; `None` if ANALYZE has stored none. The caller frees them.
    pub unsafe fn of(column: &VariableStatData) -> Option<Self> {
        let row = column.statsTuple;
        // SAFETY: the row is null or one of pg_statistic.
        unsafe {
            if row.is_null() || !kinds(row).contains(&COMMON_TICKS) {
                return None;
            }
            let (mut common, others) = (AttStatsSlot::default(), heap_copytuple(row));
            let flags = pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS;
            get_attstatsslot(&mut common, row, c_int::from(COMMON_TICKS), Oid::INVALID, flags as c_int);
            for kind in kinds(others) {
                *kind = match *kind {
                    HISTOGRAM => 0,
                    OTHER_IDS => HISTOGRAM,
                    other => other,
                };
            }
            Some(Self { common, others })
        }
    }

    /// The fraction of rows that are in common ticks and satisfy an operator, and of all in common ticks. Returns `None` if
    /// the bound is within a common tick, whose rows the server's histogram divides better.
    pub unsafe fn common<T: StoredId>(&self, operator: Operator, id: T) -> Option<(f64, f64)> {
        let (mut from_bound, mut below) = (0.0, 0.0);
        for index in 0..self.common.nvalues.min(self.common.nnumbers) as usize {
            // SAFETY: the slot has that many first IDs of ticks, and their fractions.
            let (first, fraction) = unsafe {
                let first = T::Stored::from_datum(*self.common.values.add(index));
                (T::from_stored(first)?, f64::from(*self.common.numbers.add(index)))
            };
            match first.tick().cmp(&id.tick()) {
                Ordering::Equal if first != id => return None,
                order if order.is_ge() => from_bound += fraction,
                _ => below += fraction,
            }
        }
        Some((if operator.is_lower_bound() { from_bound } else { below }, from_bound + below))
    }

    /// A row of `pg_statistic` whose histogram has the IDs that are in no common tick.
    pub fn others(&self) -> HeapTuple {
        self.others
    }

    pub unsafe fn free(mut self) {
        // SAFETY: allocated by `of`.
        unsafe {
            free_attstatsslot(&mut self.common);
            heap_freetuple(self.others);
        }
    }
}

/// The kinds of the slots of a row of `pg_statistic`.
unsafe fn kinds<'a>(row: HeapTuple) -> &'a mut [i16] {
    // SAFETY: the kinds are adjacent columns of fixed length.
    unsafe {
        let row = pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_statistic>();
        core::slice::from_raw_parts_mut(&raw mut (*row).stakind1, pg_sys::STATISTIC_NUM_SLOTS as usize)
    }
}
