//! The C symbols of the SQL functions. Most functions of a type have the symbol `<type>_<function>`.

use core::cmp::Ordering;

use pgrx::pg_sys;
use scru_ids::{core_registry, encrypted_registry, registry};

use crate::by_time::{self, range, selectivity, tick_statistics, time_compare, time_of_id};
use crate::call::{guarded, raw};
use crate::draw::{admin, generate, node};
use crate::feed::{guard, reader};
use crate::pg::process::PerProcess;
use crate::shared::id_type::{self, Process, Type};
use crate::values::{
    brin, casts, compare, encryption, fields, gin, gist, hash, inspect, io, prefixed, snowflake, sort, time, window,
};

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

/// Exports functions of a type, each under the symbol `<before><type><after>`.
macro_rules! exports {
    ($name:ident: $($run:ident $before:literal $after:literal $function:expr;)*) => {
        $(export!($run, concat!($before, stringify!($name), $after), $function);)*
    };
}

/// Implements the traits of an ID system, and exports the symbols that do not depend on whether the extension or the server has
/// its SQL type: `min` and `max`, generation, time, conditions on time, and prefixes.
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

            exports! { $name:
                guarded "gen_" "" generate::generate::<Id>;
                guarded "gen_" "_at" generate::generate_at::<Id>;
                raw "" "_smaller" compare::smaller::<Id>;
                raw "" "_larger" compare::larger::<Id>;
                raw "" "_timestamp" time::timestamp::<Id>;
                guarded "" "_lower" time::lower::<Id>;
                guarded "" "_upper" time::upper::<Id>;
                guarded "" "_floor" time::floor::<Id>;

                raw "" "_lt_timestamptz" |call| time_compare::id_with_time::<Id>(call, Ordering::is_lt);
                raw "" "_le_timestamptz" |call| time_compare::id_with_time::<Id>(call, Ordering::is_le);
                raw "" "_ge_timestamptz" |call| time_compare::id_with_time::<Id>(call, Ordering::is_ge);
                raw "" "_gt_timestamptz" |call| time_compare::id_with_time::<Id>(call, Ordering::is_gt);
                raw "timestamptz_lt_" "" |call| time_compare::time_with_id::<Id>(call, Ordering::is_lt);
                raw "timestamptz_le_" "" |call| time_compare::time_with_id::<Id>(call, Ordering::is_le);
                raw "timestamptz_ge_" "" |call| time_compare::time_with_id::<Id>(call, Ordering::is_ge);
                raw "timestamptz_gt_" "" |call| time_compare::time_with_id::<Id>(call, Ordering::is_gt);
                guarded "" "_time_bound" time_compare::bound::<Id>;
                guarded "" "_time_support" by_time::support::<Id>;
                guarded "" "_range_lower" range::lower::<Id>;
                guarded "" "_range_upper" range::upper::<Id>;
                guarded "" "_contained_by_range" range::contained_by::<Id>;
                guarded "" "_range_contains" range::contains::<Id>;
                guarded "" "_range_support" by_time::support::<Id>;
                guarded "" "_ineqsel" selectivity::of_operator::<Id>;

                guarded "" "_horizon" reader::horizon::<Id>;
                guarded "" "_horizon_after" reader::horizon_after::<Id>;
                guarded "" "_horizon_with_lag" reader::horizon_with_lag::<Id>;
                guarded "" "_is_timely" reader::is_timely::<Id>;
                guarded "" "_prefixed" prefixed::prefixed::<Id>;
                guarded "" "_unprefixed" prefixed::unprefixed::<Id>;
            }
        };
    };
}

/// Exports the symbols of the extension's type for an ID system, and those of the system, and includes its SQL.
macro_rules! symbols {
    ($name:ident, $id:ident, $sql:literal) => {
        system!($name, $id);

        const _: () = {
            use scru_ids::$id as Id;

            exports! { $name:
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
                guarded "" "_sortsupport" sort::support::<Id>;
                guarded "" "_skipsupport" sort::skip_support::<Id>;
                raw "" "_hash" hash::hash::<Id>;
                raw "" "_hash_extended" hash::hash_extended::<Id>;
                raw "" "_distance" brin::distance::<Id>;

                guarded "" "_gin_extract_value" gin::extract_value;
                guarded "" "_gin_extract_query" gin::extract_query::<Id>;
                raw "" "_gin_compare_partial" gin::compare_partial::<Id>;
                raw "" "_gin_triconsistent" gin::triconsistent;

                guarded "" "_gist_consistent" gist::consistent::<Id>;
                guarded "" "_gist_union" gist::union::<Id>;
                guarded "" "_gist_compress" gist::compress::<Id>;
                guarded "" "_gist_penalty" gist::penalty::<Id>;
                guarded "" "_gist_picksplit" gist::picksplit::<Id>;
                guarded "" "_gist_same" gist::same::<Id>;
                guarded "" "_gist_fetch" gist::fetch::<Id>;
                guarded "" "_gist_sortsupport" gist::sort_support::<Id>;
                guarded "" "_in_range" window::in_range::<Id>;

                guarded "" "_typanalyze" tick_statistics::request::<Id>;
                guarded "" "_time_lower" time_compare::lower::<Id>;
                guarded "" "_time_upper" time_compare::upper::<Id>;
                guarded "" "_time_possible" time_compare::possible::<Id>;
                guarded "" "_timestamp_support" time_of_id::support::<Id>;
                guarded "" "_date" time::date::<Id>;
                guarded "" "_truncated" time::truncated::<Id>;
                guarded "" "_time_encoder" time::encode::<Id>;
                guarded "" "_time_decoder" time::decode::<Id>;

                guarded "" "_to_bytea" io::send::<Id>;
                guarded "" "_from_bytea" casts::from_bytea::<Id>;
                guarded "" "_from_text" casts::from_text::<Id>;
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

            pgrx::extension_sql_file!($sql);
        };
    };
}

/// Exports the symbols for the encryption of IDs.
macro_rules! encryption {
    ($name:ident, $id:ident $(, $bytes:literal)?) => {
        exports! { $name:
            guarded "" "_encrypted" encryption::encrypted::<scru_ids::$id>;
            guarded "" "_decrypted" encryption::decrypted::<scru_ids::$id>;
        }
    };
}

pgrx::extension_sql_file!("../sql/install/range.sql", bootstrap);
registry!(symbols, sql);
core_registry!(system);
encrypted_registry!(encryption);
core_registry!(encryption);

export!(guarded, "scru_bigint_encrypted", encryption::bigint_encrypted);
export!(guarded, "scru_bigint_decrypted", encryption::bigint_decrypted);

export!(raw, "scru_before", time::before);
export!(guarded, "scru_inspect", inspect::of_text);
export!(guarded, "scru_types", inspect::types);
export!(guarded, "scru_snowflake_timestamp", snowflake::timestamp);
export!(guarded, "scru_snowflake_floor", snowflake::floor);
export!(guarded, "scru_generators", admin::all);
export!(guarded, "scru64_nodes_collide", node::collide);
export!(guarded, "scru_set_mark", admin::set_mark);
export!(guarded, "scru_raise_mark", admin::raise_mark);
export!(guarded, "scru_horizon_holders", reader::holders);
export!(guarded, "scru_feed_guard", guard::guard);

pgrx::extension_sql_file!("../sql/install/extension.sql", finalize);
