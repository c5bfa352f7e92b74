//! The settings: [`define`] is the list of them. The server's own rules apply, except for the two that decide uniqueness, for which
//! [`nodes`] has the rule.

pub mod hosts;
pub mod nodes;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ops::RangeInclusive;
use std::ffi::CString;

use pgrx::guc::GucContext::{self, Internal, Sighup, Suset, Userset};
use pgrx::guc::{GucEnum, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};
use pgrx::pg_sys;
use scru_ids::{
    OnClockRollback, Scru64Settings, Scru160Counter, Scru160Settings, UlidflakeOverflow, UlidflakeSettings,
};

use crate::call::error::Error;
use crate::pg::server;
pub use nodes::{Deciding, changes};
use nodes::{IS_PRELOADED, SCRU64_NODE, ULIDFLAKE_SCALABILITY};

#[derive(Clone, Copy, PartialEq, PostgresGucEnum)]
enum Scope {
    #[name = c"session"]
    Session,
    #[name = c"server"]
    Server,
}

#[derive(Clone, Copy, PartialEq, PostgresGucEnum)]
enum Rollback {
    #[name = c"reset"]
    Reset,
    #[name = c"error"]
    Error,
}

#[derive(Clone, Copy, PartialEq, PostgresGucEnum)]
enum Overflow {
    #[name = c"wait"]
    Wait,
    #[name = c"error"]
    Error,
}

#[derive(Clone, Copy, PartialEq, PostgresGucEnum)]
enum Counter {
    #[name = c"random"]
    Random,
    #[name = c"microsecond"]
    Microsecond,
}

// A panic here would be an error of the compiler, as for each constant.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!(),
};

static NODE: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"0/4"));
static SCALABILITY: GucSetting<i32> = GucSetting::<i32>::new(-1);
static NODE_HOSTS: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(c"*"));
static ENTROPY_BITS: GucSetting<i32> = GucSetting::<i32>::new(8);
static ON_OVERFLOW: GucSetting<Overflow> = GucSetting::<Overflow>::new(Overflow::Wait);
static GENERATOR_SCOPE: GucSetting<Scope> = GucSetting::<Scope>::new(Scope::Session);
static ON_CLOCK_ROLLBACK: GucSetting<Rollback> = GucSetting::<Rollback>::new(Rollback::Reset);
static COUNTER: GucSetting<Counter> = GucSetting::<Counter>::new(Counter::Random);
static LIBRARY_VERSION: GucSetting<Option<CString>> = GucSetting::<Option<CString>>::new(Some(VERSION));
/// Whether indexes on IDs serve conditions on their time, and its order.
pub static TIME_OF_ID: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Defines all settings: once in each process, or in the postmaster if the library is preloaded.
pub fn define() {
    // SAFETY: reads a variable of the server.
    IS_PRELOADED.set(unsafe { pg_sys::process_shared_preload_libraries_in_progress });
    SCRU64_NODE.define(|name| {
        let summary = c"Node of this server, as node_id/node_id_size; every server needs its own.";
        text(name, summary, &NODE, Suset, Some(nodes::check_node), Some(nodes::assign_node));
    });
    ULIDFLAKE_SCALABILITY.define(|name| {
        let summary = c"Number of this server in the scalable form, or -1 for the stand-alone form.";
        let hooks = (Some(nodes::check_number as _), Some(nodes::assign_number as _));
        number(name, summary, &SCALABILITY, -1..=nodes::MAX_NUMBER, Suset, hooks);
    });
    let summary = c"Hosts on which the node of this server may be used: names, each with an optional port.";
    text(c"scru.node_hosts", summary, &NODE_HOSTS, Suset, None, Some(count_text));
    let summary = c"Number of bits of the random increment between the ulidflakes of a millisecond.";
    let hooks = (None, Some(count_number as _));
    number(c"scru.ulidflake_entropy_bits", summary, &ENTROPY_BITS, 1..=16, Sighup, hooks);
    let summary = c"Reaction when a millisecond has no room for a further ulidflake: wait, or fail.";
    choice(c"scru.ulidflake_on_overflow", summary, &ON_OVERFLOW, Userset);
    let summary = c"Scope within which the IDs of scru128, ulid, scru160 and gen_uuidv7() are strictly increasing.";
    choice(c"scru.generator_scope", summary, &GENERATOR_SCOPE, Userset);
    let summary = c"What scru128, ulid, scru160 and gen_uuidv7() do when the clock has moved back by more than 10 s: start again, or fail.";
    choice(c"scru.on_clock_rollback", summary, &ON_CLOCK_ROLLBACK, Userset);
    let summary = c"Initial value of the counter of a scru160: random bits, or the microsecond.";
    choice(c"scru.scru160_counter", summary, &COUNTER, Sighup);
    let summary = c"Whether an index on an ID serves conditions on its time, and its order.";
    GucRegistry::define_bool_guc(c"scru.enable_time_of_id", summary, c"", &TIME_OF_ID, Userset, flags());
    let summary = c"Version of the library that this session has loaded.";
    text(c"scru.library_version", summary, &LIBRARY_VERSION, Internal, None, None);
    // SAFETY: the server copies the prefix. From here on, an unknown setting `scru.…` is an error instead of a placeholder.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
}

/// pgrx has no name for the flag.
fn flags() -> GucFlags {
    GucFlags::from_bits_retain(server::ALLOW_IN_PARALLEL)
}

fn choice<T: GucEnum>(name: &'static CStr, summary: &'static CStr, setting: &'static GucSetting<T>, who: GucContext) {
    let (check, assign, show) = (None, Some(count_number as _), None);
    // SAFETY: the hook does not panic.
    unsafe { GucRegistry::define_enum_guc_with_hooks(name, summary, c"", setting, who, flags(), check, assign, show) }
}

fn number(
    name: &'static CStr,
    summary: &'static CStr,
    setting: &'static GucSetting<i32>,
    range: RangeInclusive<i32>,
    who: GucContext,
    (check, assign): (pg_sys::GucIntCheckHook, pg_sys::GucIntAssignHook),
) {
    // SAFETY: the hooks are guarded, or do not panic.
    unsafe {
        let (min, max) = range.into_inner();
        GucRegistry::define_int_guc_with_hooks(name, summary, c"", setting, min, max, who, flags(), check, assign, None)
    }
}

fn text(
    name: &'static CStr,
    summary: &'static CStr,
    setting: &'static GucSetting<Option<CString>>,
    who: GucContext,
    check: pg_sys::GucStringCheckHook,
    assign: pg_sys::GucStringAssignHook,
) {
    // SAFETY: the hooks are guarded, or do not panic.
    unsafe { GucRegistry::define_string_guc_with_hooks(name, summary, c"", setting, who, flags(), check, assign, None) }
}

unsafe extern "C-unwind" fn count_number(_value: c_int, _extra: *mut c_void) {
    nodes::count_change();
}

unsafe extern "C-unwind" fn count_text(_value: *const c_char, _extra: *mut c_void) {
    nodes::count_change();
}

/// Whether the generators of all types use the state in shared memory.
pub fn is_scope_server() -> bool {
    GENERATOR_SCOPE.get() == Scope::Server
}

pub fn on_clock_rollback() -> OnClockRollback {
    if ON_CLOCK_ROLLBACK.get() == Rollback::Error { OnClockRollback::Error } else { OnClockRollback::Reset }
}

/// What the generator of an ID system takes from the settings. A system without settings of its own has `()`.
pub trait FromSettings: Copy + Default {
    /// Returns the setting with the node, or `None` if it is refused. `None` if the system has no such setting.
    const NODE: Option<fn() -> Option<Deciding>> = None;

    /// # Errors
    /// Returns an error (22023) if the node is refused: see [`nodes`].
    fn from_settings() -> Result<Self, Error> {
        Ok(Self::default())
    }

    /// The setting with the node; `None` if the system has none, or if it is refused.
    fn node() -> Option<Deciding> {
        Self::NODE.and_then(|node| node())
    }
}

impl FromSettings for () {}

impl FromSettings for Scru64Settings {
    const NODE: Option<fn() -> Option<Deciding>> = Some(|| SCRU64_NODE.deciding());

    #[inline]
    fn from_settings() -> Result<Self, Error> {
        Ok(Self { node: SCRU64_NODE.value()? })
    }
}

impl FromSettings for UlidflakeSettings {
    const NODE: Option<fn() -> Option<Deciding>> = Some(|| ULIDFLAKE_SCALABILITY.deciding());

    #[inline]
    fn from_settings() -> Result<Self, Error> {
        let is_error = ON_OVERFLOW.get() == Overflow::Error;
        let on_overflow = if is_error { UlidflakeOverflow::Error } else { UlidflakeOverflow::Wait };
        let entropy_bits = ENTROPY_BITS.get().unsigned_abs();
        Ok(Self { scalability: ULIDFLAKE_SCALABILITY.value()?, entropy_bits, on_overflow })
    }
}

impl FromSettings for Scru160Settings {
    fn from_settings() -> Result<Self, Error> {
        let is_microsecond = COUNTER.get() == Counter::Microsecond;
        Ok(Self { counter: if is_microsecond { Scru160Counter::Microsecond } else { Scru160Counter::Random } })
    }
}
