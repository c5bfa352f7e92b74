//! The C symbols of the SQL functions. Most functions of a type have the symbol `<type>_<function>`.

use core::cmp::Ordering;

use pgrx::pg_sys;
use scru_ids::{core_registry, registry};

use crate::call::{guarded, raw};
use crate::functions::time_compare::{self, Precision};
use crate::functions::{
    brin, casts, compare, fields, gin, gist, hash, inspect, io, prefixed, range, sort, time, window,
};
use crate::generate::id_type::{self, Process, Type};
use crate::generate::{admin, draw, feed, node, old_versions};
use crate::pg::process::PerProcess;
use crate::planner::{self, selectivity, tick_statistics};

/// Exports a function under a symbol, with the `Pg_finfo_record` that declares its calling convention. `$run` is `guarded` for
/// a function that can fail, and `raw` for one that cannot.
macro_rules! export {
    ($run:ident, $symbol:expr, $function:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", $symbol))]
            extern "C" fn convention() -> &'static pg_sys::Pg_finfo_record {
                &pg_sys::Pg_finfo_record { api_version: 1 }
            }

            #[unsafe(export_name = $symbol)]
            unsafe extern "C-unwind" fn entry(info: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
                // SAFETY: the SQL declares the symbol with the arguments that the function reads.
                unsafe { $run(info, $function) }
            }
        };
    };
}

/// Exports functions of a type, each under the symbol `<before><type><after><suffix>`.
macro_rules! exports {
    ($name:ident $suffix:literal: $($run:ident $before:literal $after:literal $function:expr;)*) => {
        $(export!($run, concat!($before, stringify!($name), $after, $suffix), $function);)*
    };
}

/// Exports the functions that compare IDs with times.
macro_rules! conditions {
    ($name:ident, $precision:ident, $suffix:literal) => {
        exports! { $name $suffix:
            raw "" "_lt_timestamptz" |call| time_compare::id_with_time::<Id>(call, Precision::$precision, Ordering::is_lt);
            raw "" "_le_timestamptz" |call| time_compare::id_with_time::<Id>(call, Precision::$precision, Ordering::is_le);
            raw "" "_ge_timestamptz" |call| time_compare::id_with_time::<Id>(call, Precision::$precision, Ordering::is_ge);
            raw "" "_gt_timestamptz" |call| time_compare::id_with_time::<Id>(call, Precision::$precision, Ordering::is_gt);
            raw "timestamptz_lt_" "" |call| time_compare::time_with_id::<Id>(call, Precision::$precision, Ordering::is_lt);
            raw "timestamptz_le_" "" |call| time_compare::time_with_id::<Id>(call, Precision::$precision, Ordering::is_le);
            raw "timestamptz_ge_" "" |call| time_compare::time_with_id::<Id>(call, Precision::$precision, Ordering::is_ge);
            raw "timestamptz_gt_" "" |call| time_compare::time_with_id::<Id>(call, Precision::$precision, Ordering::is_gt);
            guarded "" "_time_bound" |call| time_compare::bound::<Id>(call, Precision::$precision);
            guarded "" "_time_support" |call| planner::support::<Id>(call, Precision::$precision);
            guarded "" "_lower_of_range" |call| range::lower::<Id>(call, Precision::$precision);
            guarded "" "_upper_of_range" |call| range::upper::<Id>(call, Precision::$precision);
            guarded "" "_contained_by_range" |call| range::contained_by::<Id>(call, Precision::$precision);
            guarded "" "_range_contains" |call| range::contains::<Id>(call, Precision::$precision);
            guarded "" "_range_support" |call| planner::support::<Id>(call, Precision::$precision);
        }
    };
}

/// Exports the functions of conditions on time that only a type of the extension has.
macro_rules! conditions_of_type {
    ($name:ident, $precision:ident, $suffix:literal) => {
        exports! { $name $suffix:
            guarded "" "_time_lower" |call| time_compare::lower::<Id>(call, Precision::$precision);
            guarded "" "_time_upper" |call| time_compare::upper::<Id>(call, Precision::$precision);
            guarded "" "_time_possible" |call| time_compare::possible::<Id>(call, Precision::$precision);
            guarded "" "_gist_consistent" |call| gist::consistent::<Id>(call, Precision::$precision);
        }
    };
}

/// Implements the traits of an ID system, and exports the symbols that do not depend on whether the extension or the server has
/// its SQL type: generation, time, conditions on time, and prefixes.
macro_rules! system {
    ($name:ident, $id:ident) => {
        const _: () = {
            use scru_ids::$id as Id;

            const _: () = id_type::check::<Id>();

            impl Type for Id {
                fn process() -> &'static Process<Self> {
                    static PROCESS: PerProcess<Process<Id>> = PerProcess::new(Process::new());
                    &PROCESS
                }
            }

            exports! { $name "":
                guarded "gen_" "" draw::generate::<Id>;
                guarded "gen_" "_at" draw::generate_at::<Id>;
                raw "" "_timestamp" time::timestamp::<Id>;
                guarded "" "_lower" time::lower::<Id>;
                guarded "" "_upper" time::upper::<Id>;
                guarded "" "_floor" time::floor::<Id>;
                guarded "" "_ineqsel" |call| selectivity::of_operator::<Id>(call, Precision::Tick);
                guarded "" "_horizon" feed::horizon::<Id>;
                guarded "" "_horizon_after" feed::horizon_after::<Id>;
                guarded "" "_prefixed" prefixed::prefixed::<Id>;
                guarded "" "_unprefixed" prefixed::unprefixed::<Id>;
            }
            conditions!($name, Tick, "_by_tick");
        };
    };
}

/// Exports the symbols of the extension's type for an ID system, and those of the system, and includes its SQL.
macro_rules! symbols {
    ($name:ident, $id:ident, $sql:literal) => {
        system!($name, $id);

        const _: () = {
            use scru_ids::$id as Id;

            exports! { $name "":
                guarded "" "_in" io::input::<Id>;
                guarded "" "_out" io::output::<Id>;
                guarded "" "_recv" io::receive::<Id>;
                guarded "" "_send" io::send::<Id>;

                raw "" "_eq" |call| compare::test::<Id>(call, Ordering::is_eq);
                raw "" "_ne" |call| compare::test::<Id>(call, Ordering::is_ne);
                raw "" "_lt" |call| compare::test::<Id>(call, Ordering::is_lt);
                raw "" "_le" |call| compare::test::<Id>(call, Ordering::is_le);
                raw "" "_gt" |call| compare::test::<Id>(call, Ordering::is_gt);
                raw "" "_ge" |call| compare::test::<Id>(call, Ordering::is_ge);
                raw "" "_cmp" compare::cmp::<Id>;
                raw "" "_smaller" compare::smaller::<Id>;
                raw "" "_larger" compare::larger::<Id>;
                guarded "" "_sortsupport" sort::support::<Id>;
                guarded "" "_skipsupport" sort::skip_support::<Id>;
                raw "" "_hash" hash::hash::<Id>;
                raw "" "_hash_extended" hash::hash_extended::<Id>;
                raw "" "_distance" brin::distance::<Id>;

                guarded "" "_gin_extract_value" gin::extract_value;
                guarded "" "_gin_extract_query" gin::extract_query::<Id>;
                raw "" "_gin_compare_partial" gin::compare_partial::<Id>;
                raw "" "_gin_triconsistent" gin::triconsistent;

                guarded "" "_gist_union" gist::union::<Id>;
                guarded "" "_gist_compress" gist::compress::<Id>;
                guarded "" "_gist_penalty" gist::penalty::<Id>;
                guarded "" "_gist_picksplit" gist::picksplit::<Id>;
                guarded "" "_gist_same" gist::same::<Id>;
                guarded "" "_gist_fetch" gist::fetch::<Id>;
                guarded "" "_gist_sortsupport" gist::sort_support::<Id>;
                guarded "" "_in_range" window::in_range::<Id>;

                guarded "" "_typanalyze" tick_statistics::request::<Id>;
                guarded "" "_rangesel" |call| selectivity::of_operator::<Id>(call, Precision::Microsecond);
                guarded "" "_time_encoder" time::encode::<Id>;
                guarded "" "_time_decoder" time::decode::<Id>;

                guarded "" "_to_bytea" io::send::<Id>;
                guarded "" "_from_bytea" casts::from_bytea::<Id>;
                guarded "" "_from_bigint" casts::from_bigint::<Id>;
                guarded "" "_to_numeric" casts::to_numeric::<Id>;
                guarded "" "_from_numeric" casts::from_numeric::<Id>;

                guarded "" "_field_0" fields::field::<Id, 0>;
                guarded "" "_field_1" fields::field::<Id, 1>;
                guarded "" "_field_2" fields::field::<Id, 2>;
                guarded "" "_field_3" fields::field::<Id, 3>;
                guarded "" "_inspect" inspect::of_id::<Id>;
                guarded "" "_is_local" node::is_local::<Id>;
            }
            conditions_of_type!($name, Tick, "_by_tick");
            // The SQL of versions before 0.3.0 compares exact times.
            conditions!($name, Microsecond, "");
            conditions_of_type!($name, Microsecond, "");

            pgrx::extension_sql_file!($sql);
        };
    };
}

pgrx::extension_sql_file!("../sql/install/range.sql", bootstrap);
registry!(symbols, sql);
core_registry!(system);

export!(guarded, "scru_inspect_wrapper", inspect::of_text);
export!(guarded, "scru_types_wrapper", inspect::types);
// The SQL of versions before 0.3.0 declares fewer columns.
export!(guarded, "scru_generators_wrapper", admin::all_until_0_2_0);
export!(guarded, "scru_generators", admin::all);
export!(guarded, "scru_set_mark", admin::set_mark);
export!(guarded, "scru_raise_mark", admin::raise_mark);
export!(guarded, "scru_horizon_holders", feed::holders);
export!(guarded, "scru_feed_guard", feed::guard);
export!(guarded, "scru_note_old_sessions", old_versions::note_sessions);

pgrx::extension_sql_file!("../sql/install/extension.sql", finalize);
