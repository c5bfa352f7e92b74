//! The C symbols of the SQL functions. Most functions of a type have the symbol `<type>_<function>`.

use core::cmp::Ordering;

use pgrx::pg_sys;
use scru_ids::{SortableId, core_registry, encrypted_registry, id_systems, registry};

use crate::by_time::{self, condition, range, selectivity, time_compare, time_of_id, time_statistics};
use crate::call::stored::{StoredDatum, StoredId};
use crate::call::{guarded, raw};
use crate::draw::{admin, generate, node};
use crate::feed::{guard, reader};
use crate::pg::process::PerProcess;
use crate::shared::id_type::{self, Process, Type};
use crate::values::{
    casts, compare, encryption, fields, gin, gist, hash, inspect, io, prefixed, snowflake, sort, time, window,
};

/// Exports functions, each under the symbol of its parts, with the `Pg_finfo_record` that declares its calling convention. `guarded`
/// is for a function that can fail, and `raw` for one that cannot.
macro_rules! export {
    ($($run:ident [$($part:ident)*] $function:expr;)*) => {
        $(const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", $(stringify!($part)),*))]
            extern "C" fn convention() -> &'static pg_sys::Pg_finfo_record {
                &pg_sys::Pg_finfo_record { api_version: 1 }
            }

            #[unsafe(export_name = concat!($(stringify!($part)),*))]
            unsafe extern "C-unwind" fn entry(info: pg_sys::FunctionCallInfo) -> pg_sys::Datum {
                // SAFETY: the SQL declares the symbol with the arguments that the function reads.
                unsafe { $run(info, $function) }
            }
        };)*
    };
}

/// Implements [`Type`] for an ID system, and exports the symbols that do not depend on whether the extension or the server has its SQL
/// type: `min` and `max`, generation, time, conditions on time, horizons, and prefixes.
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

            export! {
                guarded [gen_ $name] generate::generate::<Id>;
                guarded [gen_ $name _at] generate::generate_at::<Id>;
                raw [$name _smaller] |call| compare::second_if::<Id>(call, Ordering::is_gt);
                raw [$name _larger] |call| compare::second_if::<Id>(call, Ordering::is_lt);
                raw [$name _timestamp] time::timestamp::<Id>;
                guarded [$name _lower] |call| time::bound(call, Id::lower);
                guarded [$name _upper] |call| time::bound(call, Id::upper);

                raw [$name _lt_timestamptz] |call| time_compare::id_with_time::<Id>(call, Ordering::is_lt);
                raw [$name _le_timestamptz] |call| time_compare::id_with_time::<Id>(call, Ordering::is_le);
                raw [$name _ge_timestamptz] |call| time_compare::id_with_time::<Id>(call, Ordering::is_ge);
                raw [$name _gt_timestamptz] |call| time_compare::id_with_time::<Id>(call, Ordering::is_gt);
                raw [timestamptz_lt_ $name] |call| time_compare::time_with_id::<Id>(call, Ordering::is_lt);
                raw [timestamptz_le_ $name] |call| time_compare::time_with_id::<Id>(call, Ordering::is_le);
                raw [timestamptz_ge_ $name] |call| time_compare::time_with_id::<Id>(call, Ordering::is_ge);
                raw [timestamptz_gt_ $name] |call| time_compare::time_with_id::<Id>(call, Ordering::is_gt);
                guarded [$name _time_bound] time_compare::bound::<Id>;
                guarded [$name _time_support] by_time::support::<Id>;
                guarded [$name _range_lower] |call| range::bound::<Id>(call, |first, _| first);
                guarded [$name _range_upper] |call| range::bound::<Id>(call, |_, last| last);
                guarded [$name _contained_by_range] |call| range::is_within::<Id>(call, 0, 1);
                guarded [$name _range_contains] |call| range::is_within::<Id>(call, 1, 0);
                guarded [$name _ineqsel] selectivity::of_operator::<Id>;

                guarded [$name _horizon] reader::horizon::<Id>;
                guarded [$name _horizon_after] reader::horizon_after::<Id>;
                guarded [$name _prefixed] prefixed::prefixed::<Id>;
                guarded [$name _unprefixed] prefixed::unprefixed::<Id>;
            }
        };
    };
}

/// Exports the symbols of an SQL type of the extension, and includes its SQL.
macro_rules! sql_type {
    ($name:ident, $id:ident, $sql:literal) => {
        const _: () = {
            use scru_ids::$id as Id;

            export! {
                guarded [$name _in] |call| io::parse::<Id>(call.cstring(0).to_bytes());
                guarded [$name _out] io::output::<Id>;
                guarded [$name _recv] |call| io::from_bytes::<Id>(call.message());
                guarded [$name _send] io::send::<Id>;

                raw [$name _eq] |call| compare::test::<Id>(call, Ordering::is_eq);
                raw [$name _ne] |call| compare::test::<Id>(call, Ordering::is_ne);
                raw [$name _lt] |call| compare::test::<Id>(call, Ordering::is_lt);
                raw [$name _le] |call| compare::test::<Id>(call, Ordering::is_le);
                raw [$name _gt] |call| compare::test::<Id>(call, Ordering::is_gt);
                raw [$name _ge] |call| compare::test::<Id>(call, Ordering::is_ge);
                raw [$name _cmp] compare::cmp::<Id>;
                guarded [$name _sortsupport] sort::support::<Id>;
                raw [$name _hash] hash::hash::<Id>;
                raw [$name _hash_extended] hash::hash_extended::<Id>;

                guarded [$name _gin_extract_value] gin::extract_value;
                guarded [$name _gin_extract_query] gin::extract_query::<Id>;
                raw [$name _gin_compare_partial] gin::compare_partial::<Id>;
                raw [$name _gin_triconsistent] gin::triconsistent;

                guarded [$name _gist_consistent] gist::consistent::<Id>;
                guarded [$name _gist_union] gist::union::<Id>;
                guarded [$name _gist_compress] gist::compress::<Id>;
                guarded [$name _gist_penalty] gist::penalty::<Id>;
                guarded [$name _gist_picksplit] gist::picksplit::<Id>;
                guarded [$name _gist_same] gist::same::<Id>;
                guarded [$name _gist_fetch] gist::fetch::<Id>;
                guarded [$name _in_range] window::in_range::<Id>;

                guarded [$name _typanalyze] time_statistics::request::<Id>;
                guarded [$name _timestamp_support] |call| time_of_id::support::<Id>(call, condition::on_time::<Id>);
                guarded [$name _date] time::date::<Id>;
                guarded [$name _time_encoder] time::encode::<Id>;
                guarded [$name _time_decoder] time::decode::<Id>;

                guarded [$name _from_bytea] |call| io::from_bytes::<Id>(call.varlena(0));
                guarded [$name _from_text] |call| io::parse::<Id>(call.varlena(0));
                guarded [$name _from_bigint] casts::from_bigint::<Id>;
                guarded [$name _to_numeric] casts::to_numeric::<Id>;
                guarded [$name _from_numeric] casts::from_numeric::<Id>;

                guarded [$name _field_0] fields::field::<Id, 0>;
                guarded [$name _field_1] fields::field::<Id, 1>;
                guarded [$name _field_2] fields::field::<Id, 2>;
                guarded [$name _field_3] fields::field::<Id, 3>;
                guarded [$name _inspect] inspect::of_id::<Id>;
                guarded [$name _is_local] node::is_local::<Id>;
            }

            pgrx::extension_sql_file!($sql);
        };
    };
}

/// Exports the symbols for the encryption of IDs.
macro_rules! encryption {
    ($name:ident, $id:ident) => {
        export! {
            guarded [$name _encrypt] |call| encryption::encrypt(call, call.id::<scru_ids::$id>(0));
            guarded [$name _decrypt] |call| encryption::decrypt(call, scru_ids::$id::to_datum);
        }
    };
}

pgrx::extension_sql_file!("../sql/install/internal.sql", bootstrap);
id_systems!(system);
registry!(sql_type, sql);
encrypted_registry!(encryption);
core_registry!(encryption);

export! {
    guarded [scru_bigint_encrypt] |call| encryption::encrypt(call, call.int8(0));
    guarded [scru_bigint_decrypt] |call| encryption::decrypt(call, i64::into_datum);

    raw [scru_before] time::before;
    guarded [scru_inspect] inspect::of_text;
    guarded [scru_inspect_uuid] inspect::of_uuid;
    guarded [scru_types] inspect::types;
    guarded [scru_snowflake_timestamp] snowflake::timestamp;
    guarded [scru_snowflake_lower] snowflake::lower;
    guarded [scru_generators] admin::all;
    guarded [scru64_nodes_collide] node::collide;
    guarded [scru_set_mark] |call| admin::change_marks(call, false);
    guarded [scru_raise_mark] |call| admin::change_marks(call, true);
    guarded [scru_horizon_holders] reader::holders;
    guarded [scru_feed_guard] guard::guard;
}

pgrx::extension_sql_file!("../sql/install/extension.sql", finalize);
