//! The number of this server in its 64-bit IDs: `T_is_local`, the log message that names the node, and the warning that another
//! server may have the same number.

use core::ffi::CStr;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgLogLevel, PgSqlErrorCode as SqlState};

use crate::call::Call;
use crate::call::error::Error;
use crate::generate::id_type::Type;
use crate::generate::shared;
use crate::pg::{catalog, transaction};
use crate::settings;
use crate::settings::hosts::{self, Mismatch};
use crate::settings::sources::Deciding;

/// `T_is_local(T) → boolean`: whether the ID has this server's number
pub fn is_local<T: Type>(call: Call) -> Result<Datum, Error> {
    settings::check_none_refused::<T>()?;
    Ok(Datum::from(call.id::<T>(0).is_local(&settings::of::<T>())))
}

/// Announces the node before a session generates its first ID, and after its settings have changed: logs the node if the last log
/// message names another one, and warns once if another server may have the same number: once since the start of a Citus node.
///
/// # Errors
/// As [`check_host`]. Returns an error if shared memory is not available.
#[inline]
pub fn announce<T: Type>() -> Result<(), Error> {
    let is_announced = T::process().announced.get() == Some(settings::changes());
    if is_announced { Ok(()) } else { announce_change::<T>() }
}

#[cold]
#[inline(never)]
fn announce_change<T: Type>() -> Result<(), Error> {
    check_host::<T>()?;
    log::<T>()?;
    let is_first = T::process().announced.replace(Some(settings::changes())).is_none();
    if is_first
        && let Some(reason) = reason_to_warn::<T>()
        && let Some(node) = settings::deciding::<T>()
        // Citus opens many connections for one statement.
        && (!matches!(reason, Reason::Citus) || shared::is_first_warning::<T>()?)
    {
        warn(&node, reason);
    }
    Ok(())
}

/// Checks that the node belongs to this server, if `scru.node_hosts` says to which servers it belongs.
///
/// # Errors
/// Returns an error (55000) if the setting does not name this server.
pub fn check_host<T: Type>() -> Result<(), Error> {
    match (hosts::mismatch(), settings::deciding::<T>()) {
        (Some(mismatch), Some(node)) => Err(belongs_to_others(&node, &mismatch)),
        _ => Ok(()),
    }
}

#[cold]
fn belongs_to_others(Deciding { name, value, .. }: &Deciding, Mismatch { hosts, this }: &Mismatch) -> Error {
    let message = format!("scru.{name} \"{value}\" does not belong to this server");
    Error::new(SqlState::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(format!("This server is {this}, and scru.node_hosts is \"{hosts}\". It may be a copy of another server."))
        .hint(format!(
            "If it is a copy, set its own scru.{name} and its scru.node_hosts with ALTER ROLE ALL SET, and reconnect. If \
             it replaces another server, add it to scru.node_hosts."
        ))
}

/// Why another server may have the same number.
#[derive(Clone, Copy)]
enum Reason {
    Citus,
    Subscription,
}

impl Reason {
    /// Returns the DETAIL of the warning.
    fn detail(self) -> &'static str {
        match self {
            Self::Citus => "This server is a Citus node, and other nodes may have the same value.",
            Self::Subscription => "This server subscribes to another one, which may have the same value.",
        }
    }

    /// Returns where to set the number, as a part of the HINT.
    fn place(self) -> &'static str {
        match self {
            // Citus propagates ALTER ROLE ALL SET to all nodes.
            Self::Citus => {
                "(on the coordinator in its configuration file, on workers with ALTER ROLE ALL SET while \
                 citus.enable_alter_role_set_propagation is off)"
            }
            Self::Subscription => "with ALTER ROLE ALL SET",
        }
    }
}

/// Returns the reason to warn. Returns `None` if the number is set, or if no other server is known. Returns `None` in a parallel
/// worker, so that a parallel query warns at most once.
fn reason_to_warn<T: Type>() -> Option<Reason> {
    if transaction::is_parallel_worker() || !settings::deciding::<T>().is_some_and(|node| node.is_default()) {
        None
    } else if is_in_citus() {
        Some(Reason::Citus)
    } else {
        has_subscriptions().then_some(Reason::Subscription)
    }
}

/// Logs the node with which IDs of a type are generated: after each start of the server, and when it has changed.
///
/// # Errors
/// Returns an error if shared memory is not available.
pub fn log<T: Type>() -> Result<(), Error> {
    let Some(node) = settings::deciding::<T>() else { return Ok(()) };
    // SAFETY: reads shared memory. The server is not in recovery, so the timeline is set.
    let timeline = unsafe { pg_sys::GetWALInsertionTimeLine() };
    let Deciding { name, value, .. } = &node;
    let message =
        format!("generating {} with scru.{name} \"{value}\" ({}), on timeline {timeline}", T::NAME, node.source());
    if shared::is_news::<T>(&message, node.is_of_database())? {
        report(PgLogLevel::LOG, SqlState::ERRCODE_SUCCESSFUL_COMPLETION, message, None);
    }
    Ok(())
}

fn warn(node: &Deciding, reason: Reason) {
    let Deciding { name, value, .. } = node;
    let message = format!("scru.{name} is not set, and its default \"{value}\" may not be unique among servers");
    let hint = format!("Give each server its own scru.{name} {}, and reconnect.", reason.place());
    report(PgLogLevel::WARNING, SqlState::ERRCODE_WARNING, message, Some((reason.detail(), hint)));
}

fn report(level: PgLogLevel, sqlstate: SqlState, message: String, detail_and_hint: Option<(&str, String)>) {
    let mut report = ErrorReport::new(sqlstate, message, "announce");
    if let Some((detail, hint)) = detail_and_hint {
        report = report.set_detail(detail).set_hint(hint);
    }
    report.report(level);
}

/// Returns whether any database of the server has a subscription, or this database one of pglogical; false if the catalog is
/// locked, because generation must not wait.
fn has_subscriptions() -> bool {
    // SAFETY: IDs are generated in a transaction.
    unsafe {
        catalog::has_rows(pg_sys::SubscriptionRelationId) || catalog::extension_has_rows(c"pglogical", c"subscription")
    }
}

/// Returns whether Citus is loaded. The server then knows its settings.
fn is_in_citus() -> bool {
    const SETTING: &CStr = c"citus.shard_count";
    // SAFETY: a look-up.
    unsafe { !pg_sys::GetConfigOption(SETTING.as_ptr(), true, false).is_null() }
}
