//! The number of this server in its 64-bit IDs: `T_is_local`, the log message that names the node, the background worker that
//! writes it when recovery has finished, and the warning that another server may have the same number.

use core::ptr;
use core::sync::atomic::Ordering;

use pgrx::bgworkers::BackgroundWorkerBuilder;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgLogLevel, PgSqlErrorCode as SqlState, pg_guard};
use scru_ids::{GeneratedId, NodeError, Scru64Node, registry};
use scru_server::setting_state::Source;

use crate::call::Call;
use crate::call::error::{self, Error, quoting, sql_error};
use crate::pg::{catalog, transaction};
use crate::settings::{Deciding, FromSettings, hosts};
use crate::shared::id_type::Type;
use crate::shared::memory;
use crate::shared::state::TypeMemory;

/// `T_is_local(T) → boolean`: whether the ID has this server's number
pub fn is_local<T: Type>(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(call.id::<T>(0).is_local(&T::Settings::from_settings()?)))
}

/// `scru64_nodes_collide(text, text) → boolean`: whether two nodes could generate the same ID. Raises 22023 for an invalid node.
pub fn collide(call: Call) -> Result<Datum, Error> {
    Ok(Datum::from(parsed(call.varlena(0))?.collides(parsed(call.varlena(1))?)))
}

/// Parses a node as `scru.scru64_node` does.
fn parsed(text: &[u8]) -> Result<Scru64Node, Error> {
    let quoted = error::excerpt(text);
    // The reason quotes the text, which is in the encoding of the database. A valid node is ASCII.
    let ascii: String = quoted.iter().map(|&byte| if byte.is_ascii() { byte.into() } else { '?' }).collect();
    ascii.parse().map_err(|reason: NodeError| {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, quoting("invalid scru64 node \"{}\"", &[&quoted]))
            .detail(reason.to_string())
    })
}

/// Announces the node before a session generates its first ID, and after its settings have changed: logs the node if the last log
/// message names another one, and warns once if another server may have the same number: once since the start of a Citus node.
pub fn announce<T: Type>(is_first: bool) -> Result<(), Error> {
    check_host::<T>()?;
    log_node::<T>()?;
    // A parallel query warns at most once.
    if is_first && !transaction::is_parallel_worker() { warn::<T>() } else { Ok(()) }
}

/// Raises 55000 if `scru.node_hosts` says that the node belongs to other servers.
pub fn check_host<T: Type>() -> Result<(), Error> {
    let Some(((hosts, this), Deciding { name, value, .. })) = hosts::mismatch().zip(T::Settings::node()) else {
        return Ok(());
    };
    Err(sql_error!(
        ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        "scru.{name} \"{value}\" does not belong to this server"
    )
    .detail(format!("This server is {this}, and scru.node_hosts is \"{hosts}\". It may be a copy of another server."))
    .hint(format!(
        "If it is a copy, set its own scru.{name} and its scru.node_hosts with ALTER ROLE ALL SET, and reconnect. If it \
         replaces another server, add it to scru.node_hosts."
    )))
}

/// Logs the node after each start of the server, and when it differs from that of the last message by any process.
fn log_node<T: Type>() -> Result<(), Error> {
    let Some(node) = T::Settings::node() else { return Ok(()) };
    // SAFETY: reads shared memory. The server is not in recovery, so the timeline is set.
    let timeline = unsafe { pg_sys::GetWALInsertionTimeLine() };
    let Deciding { name, value, source } = node;
    let message = format!("generating {} with scru.{name} \"{value}\" ({source}), on timeline {timeline}", T::NAME);
    let TypeMemory { announced, announced_of_databases, .. } = memory::of_type::<T>()?;
    let checksum = u64::from(crc32fast::hash(message.as_bytes())) + 1;
    let is_news = if source == Source::Database {
        // News only once, because sessions of several databases alternate.
        let bit = 1 << (checksum % 64);
        announced_of_databases.fetch_or(bit, Ordering::Relaxed) & bit == 0
    } else {
        announced.swap(checksum, Ordering::Relaxed) != checksum
    };
    if is_news {
        ErrorReport::new(SqlState::ERRCODE_SUCCESSFUL_COMPLETION, message, "log").report(PgLogLevel::LOG);
    }
    Ok(())
}

/// Warns if the number is not set, and another server may have the same one.
fn warn<T: Type>() -> Result<(), Error> {
    let Some(Deciding { name, value, .. }) = T::Settings::node().filter(|node| node.source.is_default()) else {
        return Ok(());
    };
    // A subscription of any database of the server, or one of pglogical in this database. Generation must not wait for the catalog.
    let has_subscriptions = || {
        catalog::has_rows(pg_sys::SubscriptionRelationId) || catalog::extension_has_rows(c"pglogical", c"subscription")
    };
    let (detail, place) = if catalog::has_citus() {
        // Once for all sessions: Citus opens many connections for one statement.
        if memory::of_type::<T>()?.warned.swap(1, Ordering::Relaxed) != 0 {
            return Ok(());
        }
        // Citus propagates ALTER ROLE ALL SET to all nodes.
        (
            "This server is a Citus node, and other nodes may have the same value.",
            "(on the coordinator in its configuration file, on workers with ALTER ROLE ALL SET while \
             citus.enable_alter_role_set_propagation is off)",
        )
    } else if has_subscriptions() {
        ("This server subscribes to another one, which may have the same value.", "with ALTER ROLE ALL SET")
    } else {
        return Ok(());
    };
    ErrorReport::new(
        SqlState::ERRCODE_WARNING,
        format!("scru.{name} is not set, and its default \"{value}\" may not be unique among servers"),
        "warn",
    )
    .set_detail(detail)
    .set_hint(format!("Give each server its own scru.{name} {place}, and reconnect."))
    .report(PgLogLevel::WARNING);
    Ok(())
}

/// Registers the background worker that logs the node when recovery has finished. Must be called from `_PG_init` when the server
/// starts. If the worker fails, the node is logged with the first ID.
pub fn register() {
    // Reading the values of ALTER ROLE ALL SET needs a database.
    BackgroundWorkerBuilder::new("scru node")
        .set_library("scru")
        .set_function("scru_name_node")
        .enable_spi_access()
        .load();
}

/// The entry point of the worker that logs the node.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn scru_name_node(_argument: Datum) {
    // SAFETY: a background worker begins with these calls. Afterwards it has the settings of all roles.
    unsafe {
        pg_sys::BackgroundWorkerUnblockSignals();
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            Oid::from(pg_sys::Template1DbOid),
            Oid::INVALID,
            pg_sys::BGWORKER_BYPASS_ALLOWCONN,
        );
    }
    registry!(|Id| {
        // While a value is refused, no ID is generated, and each attempt raises the error.
        if Id::SERVER_WIDE
            && <Id as GeneratedId>::Settings::from_settings().is_ok()
            && let Err(error) = check_host::<Id>().and_then(|()| log_node::<Id>())
        {
            // SAFETY: nothing is left to drop. The process ends, and the server writes the error to its log.
            unsafe { error::report(error, ptr::null_mut()) };
        }
    });
}
