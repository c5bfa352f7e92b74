//! The settings: their definitions, their hooks, and their parsed values.

use core::cell::{Cell, OnceCell};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use pgrx::pg_sys::GucSource;
use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{Kind, OnClockRollback, Setting, SettingContext, SqlId};

use crate::call::error::Error;
use crate::pg::datum;
use crate::pg::process::PerProcess;
use crate::pg::server;
use crate::settings::hosts;
use crate::settings::sources::{self, Deciding, MAX_SETTINGS, ServerSettings, Value};

/// The settings shared by several types.
#[derive(Clone, Copy, Default)]
pub struct Common {
    /// The reaction to a clock that has moved back.
    pub on_clock_rollback: OnClockRollback,
    /// Whether all generators use the state in shared memory.
    pub server_wide: bool,
}

const COMMON_SETTINGS: &[Setting<Common>] = &[
    Setting {
        name: "generator_scope",
        summary: "Scope within which scru128, ulid and scru160 IDs are strictly increasing.",
        context: SettingContext::User,
        kind: Kind::Choice { words: &["backend", "server"], apply: |common, word| common.server_wide = word == 1 },
    },
    Setting {
        name: "on_clock_rollback",
        summary: "What scru128, ulid and scru160 do when the clock has moved back by more than 10 s: start again, or fail.",
        context: SettingContext::User,
        kind: Kind::Choice {
            words: &["reset", "error"],
            apply: |common, word| {
                common.on_clock_rollback = if word == 0 { OnClockRollback::Reset } else { OnClockRollback::Error };
            },
        },
    },
];

/// An ID type with the process's state of its settings.
pub trait Configured: SqlId {
    /// Returns the process's state of the settings.
    fn settings_state() -> &'static Settings<Self>;
}

/// The process's state of a type's settings.
pub struct Settings<T: SqlId> {
    /// All settings of the type.
    group: Group<T::Settings>,
    /// The values and sources of the settings that not every user may change.
    server: ServerSettings,
}

impl<T: SqlId> Settings<T> {
    /// Creates the state of settings that are not yet defined.
    pub const fn new() -> Self {
        Self { group: Group::new(T::SETTINGS), server: ServerSettings::new() }
    }
}

/// See [`is_preloaded`].
static IS_PRELOADED: PerProcess<Cell<bool>> = PerProcess::new(Cell::new(false));

static COMMON: PerProcess<Group<Common>> = PerProcess::new(Group::new(COMMON_SETTINGS));

const LIBRARY_VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// The number of changes of any setting. A parsed value is stale once this number has changed.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// Returns the settings shared by several types.
#[inline]
pub fn common() -> Common {
    COMMON.current(None)
}

/// Returns the number of changes of any setting in this process.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

/// Returns the settings of one type.
#[inline]
pub fn of<T: Configured>() -> T::Settings {
    if T::SETTINGS.is_empty() {
        T::Settings::default()
    } else {
        let Settings { group, server } = T::settings_state();
        group.current(Some(server))
    }
}

/// Returns whether the server preloaded the library. If so, the settings are defined before a session starts.
pub fn is_preloaded() -> bool {
    IS_PRELOADED.get()
}

/// Defines all settings: once in each process, or in the postmaster if the library is preloaded.
pub fn define() {
    // SAFETY: reads a variable of the server.
    IS_PRELOADED.set(unsafe { pg_sys::process_shared_preload_libraries_in_progress });
    COMMON.define(|_| Hooks::USER, |_, _, _| ());
    macro_rules! define {
        ($name:ident, $id:ident) => {
            let Settings { group, server } = scru_ids::$id::settings_state();
            let reject = |index, source, value| server.reject(index, source, value);
            group.define(Hooks::of_type::<scru_ids::$id>, reject);
            sources::pass_to_workers(server, scru_ids::$id::SETTINGS);
        };
    }
    scru_ids::id_systems!(define);
    // Libraries before 0.3.0 do not have it.
    let summary = c"Version of the library that this session has loaded.";
    define_text(c"scru.library_version", summary, LIBRARY_VERSION, pg_sys::GucContext::PGC_INTERNAL);
    let summary = c"Hosts on which the node of this server may be used: names, each with an optional port.";
    let hosts = define_text(c"scru.node_hosts", summary, c"*", pg_sys::GucContext::PGC_SUSET);
    // SAFETY: the variable is that of a setting, and is never freed. The server copies the prefix. From here on, an unknown setting
    // `scru.…` is an error instead of a placeholder.
    unsafe {
        hosts::set_variable(hosts);
        pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr());
    }
}

/// Defines a setting that belongs to no type, and returns the variable to which the server writes its value. It is never freed.
fn define_text(
    name: &'static CStr,
    summary: &'static CStr,
    default: &'static CStr,
    context: pg_sys::GucContext::Type,
) -> *mut *mut c_char {
    let variable = Box::leak(Box::new(ptr::null_mut()));
    // SAFETY: called from _PG_init. The arguments are never freed.
    unsafe {
        pg_sys::DefineCustomStringVariable(
            name.as_ptr(),
            summary.as_ptr(),
            ptr::null(),
            variable,
            default.as_ptr(),
            context,
            server::ALLOW_IN_PARALLEL,
            None,
            Some(count_change_of_text),
            None,
        );
    }
    variable
}

/// Checks the settings of the type that not every user may change.
///
/// # Errors
/// Returns an error (22023) if a setting is refused, because the value in effect may be another server's.
#[inline]
pub fn check_none_refused<T: Configured>() -> Result<(), Error> {
    let state = &T::settings_state().server;
    if state.are_checked() { Ok(()) } else { sources::check(state, T::SETTINGS, is_preloaded()) }
}

/// Returns the type's setting that decides uniqueness; `None` if the type has none, or if it is refused.
pub fn deciding<T: Configured>() -> Option<Deciding> {
    Deciding::of(&T::settings_state().server, T::SETTINGS)
}

/// A table of settings, the server's variables for them, and their values as last parsed.
pub struct Group<S: 'static> {
    settings: &'static [Setting<S>],
    variables: OnceCell<Vec<Variable>>,
    parsed: Cell<Option<(u32, S)>>,
}

/// The variable to which the server writes a setting's value. It is never freed.
#[derive(Clone, Copy)]
enum Variable {
    Number(*mut c_int),
    Text(*mut *mut c_char),
}

impl Variable {
    /// Returns the current value; `None` for a text that is null.
    ///
    /// # Safety
    /// The setting is defined.
    unsafe fn value(self) -> Option<Value> {
        // SAFETY: the server keeps a valid value in the variable.
        unsafe {
            match self {
                Self::Number(number) => Some(Value::Number(*number)),
                Self::Text(text) => datum::text_of(*text).map(Value::Text),
            }
        }
    }
}

impl<S: Copy + Default> Group<S> {
    /// Creates a table of settings that are not yet defined. Called at compile time, where it asserts that each setting has hooks.
    pub const fn new(settings: &'static [Setting<S>]) -> Self {
        let mut index = 0;
        while index < settings.len() {
            let Setting { context, kind, .. } = &settings[index];
            assert!(
                !matches!((context, kind), (SettingContext::User, Kind::Text { .. })),
                "a text setting that every user may change has no hooks"
            );
            index += 1;
        }
        Self { settings, variables: OnceCell::new(), parsed: Cell::new(None) }
    }

    /// Returns the values in effect. A refused setting has its default.
    #[inline]
    fn current(&self, server_settings: Option<&ServerSettings>) -> S {
        match self.parsed.get() {
            Some((as_of, settings)) if as_of == changes() => settings,
            _ => self.parse(server_settings),
        }
    }

    #[cold]
    fn parse(&self, server_settings: Option<&ServerSettings>) -> S {
        let decided = |index, context| Some(server_settings?.get(index, context)?.value);
        let mut settings = S::default();
        for (index, (setting, &variable)) in
            self.settings.iter().zip(self.variables.get().into_iter().flatten()).enumerate()
        {
            let value = match setting.context {
                // SAFETY: `define` has defined the setting with this variable.
                SettingContext::User => unsafe { variable.value() },
                context => decided(index, context),
            };
            if let Some(value) = value {
                apply(setting, &value, &mut settings);
            }
        }
        self.parsed.set(Some((changes(), settings)));
        settings
    }

    /// Defines the settings, and calls `reject` with each configured value that the server rejected with a warning.
    fn define(&self, hooks: impl Fn(usize) -> Hooks, reject: impl Fn(usize, GucSource::Type, String)) {
        let mut variables = Vec::new();
        for (index, setting) in self.settings.iter().enumerate() {
            let name = leaked(&format!("scru.{}", setting.name));
            let configured = server::configured(name);
            let hooks = if setting.context == SettingContext::User { Hooks::USER } else { hooks(index) };
            // SAFETY: called from _PG_init, as the server requires. The arguments are never freed.
            variables.push(unsafe { define_one(setting, name, hooks) });
            if let (Some((source, value)), SettingContext::Reload | SettingContext::Superuser) =
                (configured, setting.context)
                && server::reset_source(name) != source
            {
                reject(index, source, value);
            }
        }
        // A second call would have failed, because a setting can be defined only once.
        let _ = self.variables.set(variables);
    }
}

fn apply<S>(setting: &Setting<S>, value: &Value, settings: &mut S) {
    match (&setting.kind, value) {
        (Kind::Choice { apply, .. }, Value::Number(number)) => apply(settings, *number as usize),
        (Kind::Integer { apply, .. }, Value::Number(number)) => apply(settings, *number),
        (Kind::Text { apply, .. }, Value::Text(text)) => {
            let checked = apply(settings, text);
            debug_assert!(checked.is_ok(), "the check hook lets only valid texts pass");
        }
        _ => {}
    }
}

/// The functions that the server calls when a setting changes.
#[derive(Clone, Copy)]
struct Hooks {
    check_number: pg_sys::GucIntCheckHook,
    assign_number: pg_sys::GucIntAssignHook,
    check_text: pg_sys::GucStringCheckHook,
    assign_text: pg_sys::GucStringAssignHook,
}

impl Hooks {
    /// The hooks of a setting that every user may change.
    const USER: Self =
        Self { check_number: None, assign_number: Some(count_change), check_text: None, assign_text: None };

    /// Returns the hooks of the type's setting with this index.
    fn of_type<T: Configured>(index: usize) -> Self {
        const { assert!(T::SETTINGS.len() <= MAX_SETTINGS, "a type has more than MAX_SETTINGS settings") };
        match index {
            0 => Self::of_setting::<T, 0>(),
            1 => Self::of_setting::<T, 1>(),
            _ => Self::of_setting::<T, 2>(),
        }
    }

    fn of_setting<T: Configured, const INDEX: usize>() -> Self {
        Self {
            check_number: Some(check_number::<T, INDEX>),
            assign_number: Some(assign_number::<T, INDEX>),
            check_text: Some(check_text::<T, INDEX>),
            assign_text: Some(assign_text::<T, INDEX>),
        }
    }
}

unsafe fn define_one<S>(setting: &Setting<S>, name: &'static CStr, hooks: Hooks) -> Variable {
    let name = name.as_ptr();
    let summary = leaked(setting.summary).as_ptr();
    let who = match setting.context {
        SettingContext::User => pg_sys::GucContext::PGC_USERSET,
        SettingContext::Reload => pg_sys::GucContext::PGC_SIGHUP,
        SettingContext::Superuser => pg_sys::GucContext::PGC_SUSET,
    };
    let details = ptr::null();
    let Hooks { check_number, assign_number, check_text, assign_text } = hooks;
    // SAFETY: guaranteed by the caller.
    unsafe {
        match &setting.kind {
            Kind::Choice { words, .. } => {
                let number = Box::leak(Box::new(0));
                let entries = choices(words);
                pg_sys::DefineCustomEnumVariable(
                    name,
                    summary,
                    details,
                    number,
                    0,
                    entries,
                    who,
                    server::ALLOW_IN_PARALLEL,
                    check_number,
                    assign_number,
                    None,
                );
                Variable::Number(number)
            }
            Kind::Integer { default, min, max, .. } => {
                let number = Box::leak(Box::new(*default));
                pg_sys::DefineCustomIntVariable(
                    name,
                    summary,
                    details,
                    number,
                    *default,
                    *min,
                    *max,
                    who,
                    server::ALLOW_IN_PARALLEL,
                    check_number,
                    assign_number,
                    None,
                );
                Variable::Number(number)
            }
            Kind::Text { default, .. } => {
                let text = Box::leak(Box::new(ptr::null_mut()));
                let default = leaked(default).as_ptr();
                pg_sys::DefineCustomStringVariable(
                    name,
                    summary,
                    details,
                    text,
                    default,
                    who,
                    server::ALLOW_IN_PARALLEL,
                    check_text,
                    assign_text,
                    None,
                );
                Variable::Text(text)
            }
        }
    }
}

/// Returns the words of a choice as the server's entries, terminated by an empty entry.
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

/// Returns a C string that is never freed. The names and defaults of settings contain no NUL.
fn leaked(text: &str) -> &'static CStr {
    Box::leak(datum::c_string(text).into_boxed_c_str())
}

unsafe extern "C-unwind" fn count_change(_value: c_int, _extra: *mut c_void) {
    CHANGES.fetch_add(1, Relaxed);
}

unsafe extern "C-unwind" fn count_change_of_text(_value: *const c_char, _extra: *mut c_void) {
    CHANGES.fetch_add(1, Relaxed);
}

/// Check hook of integers and choices: attaches the source to the value.
#[pg_guard]
unsafe extern "C-unwind" fn check_number<T: Configured, const INDEX: usize>(
    _value: *mut c_int,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { sources::attach_source(&T::SETTINGS[INDEX], extra, source) }
}

/// Check hook of texts: rejects an invalid value with the reason as DETAIL, and attaches the source to a valid one.
#[pg_guard]
unsafe extern "C-unwind" fn check_text<T: Configured, const INDEX: usize>(
    value: *mut *mut c_char,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    let setting = &T::SETTINGS[INDEX];
    // SAFETY: the server passes a C string or null.
    let text = unsafe { datum::text_of(*value) }.unwrap_or_default();
    if let Kind::Text { apply, .. } = setting.kind
        && let Err(reason) = apply(&mut T::Settings::default(), &text)
    {
        // SAFETY: the body of the server's macros.
        unsafe {
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int);
            pg_sys::GUC_check_errdetail_string = datum::server_string(reason);
        }
        return false;
    }
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { sources::attach_source(setting, extra, source) }
}

unsafe extern "C-unwind" fn assign_number<T: Configured, const INDEX: usize>(value: c_int, extra: *mut c_void) {
    // SAFETY: `check_number` made the extra data.
    unsafe { assign::<T>(INDEX, Value::Number(value), extra) };
}

unsafe extern "C-unwind" fn assign_text<T: Configured, const INDEX: usize>(value: *const c_char, extra: *mut c_void) {
    // SAFETY: the server passes a C string or null. `check_text` made the extra data.
    unsafe { assign::<T>(INDEX, Value::Text(datum::text_of(value).unwrap_or_default()), extra) };
}

/// Records a value that the server assigns, and its source.
unsafe fn assign<T: Configured>(index: usize, value: Value, extra: *mut c_void) {
    // SAFETY: the check hooks call `attach_source`.
    let source = unsafe { sources::attached_source(extra) };
    T::settings_state().server.assign(index, source, value);
    CHANGES.fetch_add(1, Relaxed);
}
