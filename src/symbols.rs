//! The C symbols of the SQL functions. Most functions of a type have the symbol `<type>_<function>`.

use pgrx::pg_sys;
use scru_ids::{core_registry, registry};

use crate::call::{guarded, raw};
use crate::functions::precision::Precision;
use crate::functions::{
    brin, casts, compare, fields, gin, gist, hash, inspect, io, prefixed, range, skip, sort, time, time_compare, window,
};
use crate::generate::id_type::{self, Process, Type};
use crate::generate::{admin, draw, feed, node};
use crate::pg::per_process::PerProcess;
use crate::planner::{range_support, selectivity, tick_statistics, time_support};

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

            export!(raw, concat!(stringify!($name), "_timestamp"), time::timestamp::<Id>);
            export!(guarded, concat!(stringify!($name), "_lower"), time::lower::<Id>);
            export!(guarded, concat!(stringify!($name), "_upper"), time::upper::<Id>);
            export!(guarded, concat!(stringify!($name), "_floor"), time::floor::<Id>);

            // The SQL from version 0.3.0 on compares ticks.
            export!(raw, concat!(stringify!($name), "_lt_timestamptz_by_tick"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Tick, |order| order.is_lt())
            });
            export!(raw, concat!(stringify!($name), "_le_timestamptz_by_tick"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Tick, |order| order.is_le())
            });
            export!(raw, concat!(stringify!($name), "_ge_timestamptz_by_tick"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Tick, |order| order.is_ge())
            });
            export!(raw, concat!(stringify!($name), "_gt_timestamptz_by_tick"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Tick, |order| order.is_gt())
            });
            export!(raw, concat!("timestamptz_lt_", stringify!($name), "_by_tick"), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Tick, |order| order.is_lt())
            });
            export!(raw, concat!("timestamptz_le_", stringify!($name), "_by_tick"), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Tick, |order| order.is_le())
            });
            export!(raw, concat!("timestamptz_ge_", stringify!($name), "_by_tick"), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Tick, |order| order.is_ge())
            });
            export!(raw, concat!("timestamptz_gt_", stringify!($name), "_by_tick"), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Tick, |order| order.is_gt())
            });
            export!(guarded, concat!(stringify!($name), "_time_bound_by_tick"), |call| time_compare::bound::<Id>(
                call,
                Precision::Tick
            ));
            export!(guarded, concat!(stringify!($name), "_time_support_by_tick"), |call| time_support::support::<Id>(
                call,
                Precision::Tick
            ));
            export!(guarded, concat!(stringify!($name), "_lower_of_range_by_tick"), |call| range::lower::<Id>(
                call,
                Precision::Tick
            ));
            export!(guarded, concat!(stringify!($name), "_upper_of_range_by_tick"), |call| range::upper::<Id>(
                call,
                Precision::Tick
            ));
            export!(
                guarded,
                concat!(stringify!($name), "_contained_by_range_by_tick"),
                |call| range::contained_by::<Id>(call, Precision::Tick)
            );
            export!(guarded, concat!(stringify!($name), "_range_contains_by_tick"), |call| range::contains::<Id>(
                call,
                Precision::Tick
            ));
            export!(
                guarded,
                concat!(stringify!($name), "_range_support_by_tick"),
                |call| range_support::support::<Id>(call, Precision::Tick)
            );
            export!(guarded, concat!(stringify!($name), "_ineqsel"), |call| selectivity::of_operator::<Id>(
                call,
                Precision::Tick
            ));

            export!(guarded, concat!(stringify!($name), "_prefixed"), prefixed::prefixed::<Id>);
            export!(guarded, concat!(stringify!($name), "_unprefixed"), prefixed::unprefixed::<Id>);

            export!(guarded, concat!("gen_", stringify!($name)), draw::generate::<Id>);
            export!(guarded, concat!("gen_", stringify!($name), "_at"), draw::generate_at::<Id>);
            export!(guarded, concat!(stringify!($name), "_horizon"), feed::horizon::<Id>);
            export!(guarded, concat!(stringify!($name), "_horizon_after"), feed::horizon_after::<Id>);
        };
    };
}

/// Exports the symbols of the extension's type for an ID system, and those of the system, and includes its SQL.
macro_rules! symbols {
    ($name:ident, $id:ident, $sql:literal) => {
        system!($name, $id);

        const _: () = {
            use scru_ids::$id as Id;

            export!(guarded, concat!(stringify!($name), "_in"), io::input::<Id>);
            export!(guarded, concat!(stringify!($name), "_out"), io::output::<Id>);
            export!(guarded, concat!(stringify!($name), "_recv"), io::receive::<Id>);
            export!(guarded, concat!(stringify!($name), "_send"), io::send::<Id>);

            export!(raw, concat!(stringify!($name), "_eq"), |call| compare::test::<Id>(call, |order| order.is_eq()));
            export!(raw, concat!(stringify!($name), "_ne"), |call| compare::test::<Id>(call, |order| order.is_ne()));
            export!(raw, concat!(stringify!($name), "_lt"), |call| compare::test::<Id>(call, |order| order.is_lt()));
            export!(raw, concat!(stringify!($name), "_le"), |call| compare::test::<Id>(call, |order| order.is_le()));
            export!(raw, concat!(stringify!($name), "_gt"), |call| compare::test::<Id>(call, |order| order.is_gt()));
            export!(raw, concat!(stringify!($name), "_ge"), |call| compare::test::<Id>(call, |order| order.is_ge()));
            export!(raw, concat!(stringify!($name), "_cmp"), compare::cmp::<Id>);
            export!(raw, concat!(stringify!($name), "_smaller"), compare::smaller::<Id>);
            export!(raw, concat!(stringify!($name), "_larger"), compare::larger::<Id>);
            export!(guarded, concat!(stringify!($name), "_sortsupport"), sort::support::<Id>);
            export!(guarded, concat!(stringify!($name), "_skipsupport"), skip::support::<Id>);
            export!(raw, concat!(stringify!($name), "_hash"), hash::hash::<Id>);
            export!(raw, concat!(stringify!($name), "_hash_extended"), hash::hash_extended::<Id>);
            export!(raw, concat!(stringify!($name), "_distance"), brin::distance::<Id>);

            export!(guarded, concat!(stringify!($name), "_gin_extract_value"), gin::extract_value);
            export!(guarded, concat!(stringify!($name), "_gin_extract_query"), gin::extract_query::<Id>);
            export!(raw, concat!(stringify!($name), "_gin_compare_partial"), gin::compare_partial::<Id>);
            export!(raw, concat!(stringify!($name), "_gin_triconsistent"), gin::triconsistent);

            export!(guarded, concat!(stringify!($name), "_gist_union"), gist::union::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_compress"), gist::compress::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_penalty"), gist::penalty::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_picksplit"), gist::picksplit::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_same"), gist::same::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_fetch"), gist::fetch::<Id>);
            export!(guarded, concat!(stringify!($name), "_gist_sortsupport"), gist::sort_support::<Id>);
            export!(guarded, concat!(stringify!($name), "_in_range"), window::in_range::<Id>);

            export!(guarded, concat!(stringify!($name), "_typanalyze"), tick_statistics::request::<Id>);

            export!(guarded, concat!(stringify!($name), "_time_encoder"), time::encode::<Id>);
            export!(guarded, concat!(stringify!($name), "_time_decoder"), time::decode::<Id>);
            // The SQL of versions before 0.3.0 compares exact times, that from version 0.3.0 on compares ticks.
            export!(raw, concat!(stringify!($name), "_lt_timestamptz"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Microsecond, |order| order.is_lt())
            });
            export!(raw, concat!(stringify!($name), "_le_timestamptz"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Microsecond, |order| order.is_le())
            });
            export!(raw, concat!(stringify!($name), "_ge_timestamptz"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Microsecond, |order| order.is_ge())
            });
            export!(raw, concat!(stringify!($name), "_gt_timestamptz"), |call| {
                time_compare::id_with_time::<Id>(call, Precision::Microsecond, |order| order.is_gt())
            });
            export!(raw, concat!("timestamptz_lt_", stringify!($name)), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Microsecond, |order| order.is_lt())
            });
            export!(raw, concat!("timestamptz_le_", stringify!($name)), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Microsecond, |order| order.is_le())
            });
            export!(raw, concat!("timestamptz_ge_", stringify!($name)), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Microsecond, |order| order.is_ge())
            });
            export!(raw, concat!("timestamptz_gt_", stringify!($name)), |call| {
                time_compare::time_with_id::<Id>(call, Precision::Microsecond, |order| order.is_gt())
            });
            export!(guarded, concat!(stringify!($name), "_time_bound"), |call| time_compare::bound::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_time_lower"), |call| time_compare::lower::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_time_upper"), |call| time_compare::upper::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_time_possible"), |call| time_compare::possible::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_time_support"), |call| time_support::support::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_lower_of_range"), |call| range::lower::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_upper_of_range"), |call| range::upper::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_contained_by_range"), |call| range::contained_by::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_range_contains"), |call| range::contains::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_range_support"), |call| range_support::support::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_gist_consistent"), |call| gist::consistent::<Id>(
                call,
                Precision::Microsecond
            ));
            export!(guarded, concat!(stringify!($name), "_rangesel"), |call| selectivity::of_operator::<Id>(
                call,
                Precision::Microsecond
            ));

            export!(guarded, concat!(stringify!($name), "_time_lower_by_tick"), |call| time_compare::lower::<Id>(
                call,
                Precision::Tick
            ));
            export!(guarded, concat!(stringify!($name), "_time_upper_by_tick"), |call| time_compare::upper::<Id>(
                call,
                Precision::Tick
            ));
            export!(
                guarded,
                concat!(stringify!($name), "_time_possible_by_tick"),
                |call| time_compare::possible::<Id>(call, Precision::Tick)
            );
            export!(guarded, concat!(stringify!($name), "_gist_consistent_by_tick"), |call| gist::consistent::<Id>(
                call,
                Precision::Tick
            ));
            export!(guarded, concat!(stringify!($name), "_to_bytea"), io::send::<Id>);
            export!(guarded, concat!(stringify!($name), "_from_bytea"), casts::from_bytea::<Id>);
            export!(guarded, concat!(stringify!($name), "_from_bigint"), casts::from_bigint::<Id>);
            export!(guarded, concat!(stringify!($name), "_to_numeric"), casts::to_numeric::<Id>);
            export!(guarded, concat!(stringify!($name), "_from_numeric"), casts::from_numeric::<Id>);

            export!(guarded, concat!(stringify!($name), "_field_0"), fields::field::<Id, 0>);
            export!(guarded, concat!(stringify!($name), "_field_1"), fields::field::<Id, 1>);
            export!(guarded, concat!(stringify!($name), "_field_2"), fields::field::<Id, 2>);
            export!(guarded, concat!(stringify!($name), "_field_3"), fields::field::<Id, 3>);

            export!(guarded, concat!(stringify!($name), "_is_local"), node::is_local::<Id>);

            export!(guarded, concat!(stringify!($name), "_inspect"), inspect::of_id::<Id>);

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
export!(guarded, "scru_note_old_sessions", feed::note_old_sessions);

pgrx::extension_sql_file!("../sql/install/extension.sql", finalize);
