//! The definitions of the settings, and their hooks.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use pgrx::pg_sys::{AsPgCStr, GucContext, GucSource};
use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{Kind, OnClockRollback, Setting, SettingContext};

use crate::pg::process::PerProcess;
use crate::pg::{datum, server};
use crate::settings::hosts;
use crate::settings::sources::{self, Configured, IS_PRELOADED, MAX_SETTINGS, Settings};

/// The settings shared by several types.
#[derive(Clone, Copy, Default)]
pub struct Common {
    /// The reaction to a clock that has moved back.
    pub on_clock_rollback: OnClockRollback,
    /// Whether all generators use the state in shared memory.
    pub server_wide: bool,
}

impl Configured for Common {
    type Values = Self;

    const TABLE: &'static [Setting<Self>] = &[
        Setting {
            name: "generator_scope",
            summary: "Scope within which the IDs of scru128, ulid, scru160 and gen_uuidv7() are strictly increasing.",
            context: SettingContext::User,
            kind: Kind::Choice { words: &["backend", "server"], apply: |common, word| common.server_wide = word == 1 },
        },
        Setting {
            name: "on_clock_rollback",
            summary: "What scru128, ulid, scru160 and gen_uuidv7() do when the clock has moved back by more than 10 s: start again, or fail.",
            context: SettingContext::User,
            kind: Kind::Choice {
                words: &["reset", "error"],
                apply: |common, word| {
                    common.on_clock_rollback = if word == 0 { OnClockRollback::Reset } else { OnClockRollback::Error };
                },
            },
        },
    ];

    fn state() -> &'static Settings<Self> {
        static STATE: PerProcess<Settings<Common>> = PerProcess::new(Settings::new());
        &STATE
    }
}

/// Whether indexes on IDs serve conditions on their time, and its order.
pub static TIME_OF_ID: PerProcess<Cell<bool>> = PerProcess::new(Cell::new(true));

/// Defines a setting by a function of the server, with the address of its variable and its further values.
macro_rules! define {
    ($define:ident, $name:expr, $summary:expr, [$($value:expr),*], $context:expr, $check:expr, $assign:expr) => {{
        let (name, summary, flags) = ($name.as_ptr(), $summary.as_ptr(), server::ALLOW_IN_PARALLEL);
        pg_sys::$define(name, summary, ptr::null(), $($value,)* $context, flags, $check, $assign, None);
    }};
}

/// Defines all settings: once in each process, or in the postmaster if the library is preloaded.
pub fn define() {
    // SAFETY: reads a variable of the server.
    IS_PRELOADED.set(unsafe { pg_sys::process_shared_preload_libraries_in_progress });
    define_table::<Common>();
    scru_ids::id_systems!(|Id| define_table::<Id>());
    let (summary, version) = (c"Version of the library that this session has loaded.", env!("CARGO_PKG_VERSION"));
    define_text(c"scru.library_version", summary, leaked(version), GucContext::PGC_INTERNAL);
    let summary = c"Hosts on which the node of this server may be used: names, each with an optional port.";
    define_text(hosts::SETTING, summary, c"*", GucContext::PGC_SUSET);
    let (name, summary) =
        (c"scru.time_of_id", c"Whether an index on an ID serves conditions on its time, and its order.");
    // SAFETY: called from _PG_init. The arguments are never freed.
    unsafe {
        let variable = TIME_OF_ID.as_ptr();
        define!(DefineCustomBoolVariable, name, summary, [variable, true], GucContext::PGC_USERSET, None, None);
    }
    // SAFETY: the server copies the prefix. From here on, an unknown setting `scru.…` is an error instead of a placeholder.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
}

/// Defines a setting that belongs to no type.
fn define_text(name: &'static CStr, summary: &'static CStr, default: &'static CStr, context: GucContext::Type) {
    // SAFETY: called from _PG_init. The arguments are never freed.
    unsafe {
        let (variable, assign) = (variable(ptr::null_mut()), Some(count_change_of_text as _));
        define!(DefineCustomStringVariable, name, summary, [variable, default.as_ptr()], context, None, assign);
    }
}

/// Defines the settings of a table.
fn define_table<T: Configured>() {
    const { assert!(T::TABLE.len() <= MAX_SETTINGS && MAX_SETTINGS == 3, "each setting of a table is defined below") };
    define_one::<T, 0>();
    define_one::<T, 1>();
    define_one::<T, 2>();
    sources::pass_to_workers::<T>();
}

/// Defines a setting. Records a configured value that the server has rejected with a warning.
fn define_one<T: Configured, const INDEX: usize>() {
    let Some(setting) = T::TABLE.get(INDEX) else { return };
    let (name, summary) = (leaked(&format!("scru.{}", setting.name)), leaked(setting.summary));
    let configured = server::configured(name);
    let who = match setting.context {
        SettingContext::User => GucContext::PGC_USERSET,
        SettingContext::Reload => GucContext::PGC_SIGHUP,
        SettingContext::Superuser => GucContext::PGC_SUSET,
    };
    let (check, assign) = (Some(check_number::<T, INDEX> as _), Some(assign_number::<T, INDEX> as _));
    // SAFETY: called from _PG_init, as the server requires. The arguments are never freed.
    unsafe {
        match &setting.kind {
            Kind::Choice { words, .. } => {
                define!(DefineCustomEnumVariable, name, summary, [variable(0), 0, choices(words)], who, check, assign);
            }
            Kind::Integer { default, min, max, .. } => {
                let variable = variable(*default);
                define!(DefineCustomIntVariable, name, summary, [variable, *default, *min, *max], who, check, assign);
            }
            Kind::Text { default, .. } => {
                let (variable, default) = (variable(ptr::null_mut()), leaked(default).as_ptr());
                let (check, assign) = (Some(check_text::<T, INDEX> as _), Some(assign_text::<T, INDEX> as _));
                define!(DefineCustomStringVariable, name, summary, [variable, default], who, check, assign);
            }
        }
    }
    if setting.context != SettingContext::User
        && let Some((source, value)) = configured
        && server::reset_source(name) != source
    {
        T::state().reject(INDEX, source, value);
    }
}

/// A variable to which the server writes the value of a setting, and which is never freed.
fn variable<V>(initial: V) -> *mut V {
    Box::leak(Box::new(initial))
}

/// The words of a choice as the server's entries, terminated by an empty entry.
fn choices(words: &[&str]) -> *const pg_sys::config_enum_entry {
    let entry = |(index, word): (usize, &&str)| pg_sys::config_enum_entry {
        name: leaked(word).as_ptr(),
        val: index as c_int,
        hidden: false,
    };
    let end = pg_sys::config_enum_entry { name: ptr::null(), val: 0, hidden: false };
    let entries: Vec<_> = words.iter().enumerate().map(entry).chain([end]).collect();
    entries.leak().as_ptr()
}

/// A C string that is never freed. The names and defaults of settings contain no NUL.
fn leaked(text: &str) -> &'static CStr {
    Box::leak(datum::c_string(text).into_boxed_c_str())
}

unsafe extern "C-unwind" fn count_change_of_text(_value: *const c_char, _extra: *mut c_void) {
    sources::count_change();
}

/// Check hook of integers and choices: attaches the source to the value.
#[pg_guard]
unsafe extern "C-unwind" fn check_number<T: Configured, const INDEX: usize>(
    _value: *mut c_int,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { sources::attach_source(&T::TABLE[INDEX], extra, source) }
}

/// Check hook of texts: rejects an invalid value with the reason as DETAIL, and attaches the source to a valid one.
#[pg_guard]
unsafe extern "C-unwind" fn check_text<T: Configured, const INDEX: usize>(
    value: *mut *mut c_char,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    let setting = &T::TABLE[INDEX];
    // SAFETY: the server passes a C string or null.
    let text = unsafe { datum::text_of(*value) }.unwrap_or_default();
    let reason = match setting.kind {
        _ if text.len() >= datum::MAX_TEXT => Some(format!("It has more than {} bytes.", datum::MAX_TEXT - 1)),
        Kind::Text { apply, .. } => apply(&mut T::Values::default(), &text).err(),
        _ => None,
    };
    if let Some(reason) = reason {
        // SAFETY: the body of the server's macros.
        unsafe {
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int);
            pg_sys::GUC_check_errdetail_string = reason.as_pg_cstr();
        }
        return false;
    }
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { sources::attach_source(setting, extra, source) }
}

unsafe extern "C-unwind" fn assign_number<T: Configured, const INDEX: usize>(value: c_int, extra: *mut c_void) {
    // SAFETY: `check_number` made the extra data.
    let source = unsafe { sources::attached_source(extra) };
    let value = match T::TABLE[INDEX].kind {
        Kind::Choice { words, .. } => words[value as usize].to_owned(),
        _ => value.to_string(),
    };
    sources::assign::<T>(INDEX, source, value);
}

unsafe extern "C-unwind" fn assign_text<T: Configured, const INDEX: usize>(value: *const c_char, extra: *mut c_void) {
    // SAFETY: the server passes a C string or null. `check_text` made the extra data.
    let (text, source) = unsafe { (datum::text_of(value).unwrap_or_default(), sources::attached_source(extra)) };
    sources::assign::<T>(INDEX, source, text);
}
