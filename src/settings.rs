//! The settings: their definitions, their hooks, and their parsed values.
//!
//! If not every user may change a setting, the source of a value determines whether the value may be used. The check hook
//! receives the source and attaches it to the value as extra data. The source is therefore known whenever the server assigns the
//! value, including by RESET and at the end of a transaction.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::ffi::CString;

use pgrx::pg_sys::GucSource;
use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{Kind, OnClockRollback, Setting, SettingContext, SortableId};

use crate::datum;
use crate::error::Error;
use crate::per_process::PerProcess;
use crate::{server, stored_settings};

/// The maximum number of settings of a type.
const MAX_SETTINGS: usize = 3;

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
pub trait Configured: SortableId {
    /// Returns the process's state of the settings.
    fn settings_state() -> &'static Settings<Self>;
}

/// The process's state of a type's settings.
pub struct Settings<T: SortableId> {
    /// All settings of the type.
    group: PerProcess<Group<T::Settings>>,
    /// The values and sources of the settings that not every user may change.
    server: PerProcess<ServerSettings>,
}

impl<T: SortableId> Settings<T> {
    /// Creates the state of settings that are not yet defined.
    pub const fn new() -> Self {
        Self { group: PerProcess::new(Group::new(T::SETTINGS)), server: PerProcess::new(ServerSettings::new()) }
    }
}

/// See [`is_preloaded`].
static IS_PRELOADED: PerProcess<bool> = PerProcess::new(false);

static COMMON: PerProcess<Group<Common>> = PerProcess::new(Group::new(COMMON_SETTINGS));

/// The number of changes of any setting. A parsed value is stale once this number has changed.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// Returns the settings shared by several types.
#[inline]
pub fn common() -> Common {
    COMMON.with(|group| group.current(None))
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
        T::settings_state().group.with(|group| group.current(Some(&T::settings_state().server)))
    }
}

/// Returns whether the server preloaded the library. If so, the settings are defined before a session starts.
pub fn is_preloaded() -> bool {
    IS_PRELOADED.with(|preloaded| *preloaded)
}

/// Defines all settings: once in each process, or in the postmaster if the library is preloaded.
pub fn define() {
    // SAFETY: reads a variable of the server.
    IS_PRELOADED.with(|preloaded| *preloaded = unsafe { pg_sys::process_shared_preload_libraries_in_progress });
    COMMON.with(|group| group.define(|_| Hooks::USER, |_, _| ()));
    macro_rules! define {
        ($name:ident, $id:ident) => {
            let state = scru_ids::$id::settings_state();
            let reject = |index, value| state.server.with(|settings| settings.reject(index, value));
            state.group.with(|group| group.define(Hooks::of_type::<scru_ids::$id>, reject));
            for (name, value) in state.server.with(|settings| settings.defaults(scru_ids::$id::SETTINGS)) {
                pass_to_workers(&name, &value);
            }
        };
    }
    scru_ids::registry!(define);
    // SAFETY: the server copies the prefix. From here on, an unknown setting `scru.…` is an error instead of a placeholder.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
}

/// Makes the server pass a default value to parallel workers. Changes the value's source to PGC_S_DYNAMIC_DEFAULT, because the
/// server does not pass values with the source PGC_S_DEFAULT. A worker without its leader's value could use one that was stored
/// after the leader began.
fn pass_to_workers(name: &CStr, value: &CStr) {
    // SAFETY: the server copies the value. Settings cannot be changed during a parallel operation.
    unsafe {
        if !pg_sys::IsInParallelMode() {
            let (context, source) = (pg_sys::GucContext::PGC_SUSET, GucSource::PGC_S_DYNAMIC_DEFAULT);
            pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), context, source);
        }
    }
}

/// Checks the settings of the type that not every user may change.
///
/// # Errors
/// Returns an error (22023) if a value in effect has a source that may not set it, or if the server has rejected the configured
/// value. In the second case, the value in effect may be another server's.
#[inline]
pub fn check_none_refused<T: Configured>() -> Result<(), Error> {
    if T::settings_state().server.with(|settings| settings.are_checked) { Ok(()) } else { check::<T>() }
}

#[cold]
fn check<T: Configured>() -> Result<(), Error> {
    reject_stored::<T>();
    T::settings_state().server.with(|settings| settings.check(T::SETTINGS))
}

/// Records malformed values that were stored before the library was preloaded. The server skips them with a warning when a
/// session starts.
fn reject_stored<T: Configured>() {
    if !is_preloaded() {
        return;
    }
    for (index, setting) in T::SETTINGS.iter().enumerate() {
        if setting.context == SettingContext::Superuser
            && let Some((source, value)) = stored_settings::of_all_roles(&format!("scru.{}", setting.name))
            && !is_valid(setting, &value)
        {
            let value = Value::Text(String::from_utf8_lossy(&value).into_owned());
            T::settings_state().server.with(|settings| settings.reject(index, Sourced { source, value }));
        }
    }
}

/// Returns whether a setting accepts a value.
fn is_valid<S: Default>(setting: &Setting<S>, text: &[u8]) -> bool {
    match (&setting.kind, str::from_utf8(text)) {
        (Kind::Text { apply, .. }, Ok(text)) => apply(&mut S::default(), text).is_ok(),
        (Kind::Integer { min, max, .. }, Ok(text)) => {
            let (text, mut number, mut hint) = (datum::c_string(text), 0, ptr::null());
            // SAFETY: writes the number, or returns false.
            let is_number = unsafe { pg_sys::parse_int(text.as_ptr(), &mut number, 0, &mut hint) };
            is_number && (*min..=*max).contains(&number)
        }
        (Kind::Choice { words, .. }, Ok(text)) => words.contains(&text),
        (_, Err(_)) => false,
    }
}

/// Returns the type's setting that decides uniqueness; `None` if the type has none.
pub fn deciding<T: Configured>() -> Option<Deciding> {
    let index = T::SETTINGS.iter().position(|setting| setting.context == SettingContext::Superuser)?;
    T::settings_state().server.with(|settings| {
        let accepted = settings.each.get(index)?.accepted.as_ref()?;
        Some(Deciding { name: T::SETTINGS[index].name, value: accepted.value.to_string(), source: accepted.source })
    })
}

/// A type's setting that decides uniqueness, and its value.
pub struct Deciding {
    /// The name without the prefix `scru.`.
    pub name: &'static str,
    /// The value as text.
    pub value: String,
    source: GucSource::Type,
}

impl Deciding {
    /// Returns whether the value is the default.
    pub fn is_default(&self) -> bool {
        is_default(self.source)
    }

    /// Returns the source of the value as a phrase.
    pub fn source(&self) -> &'static str {
        in_words(self.source)
    }
}

/// Returns whether a value with this source is the default.
fn is_default(source: GucSource::Type) -> bool {
    matches!(source, GucSource::PGC_S_DEFAULT | GucSource::PGC_S_DYNAMIC_DEFAULT)
}

/// Returns a source as a phrase.
fn in_words(source: GucSource::Type) -> &'static str {
    match source {
        GucSource::PGC_S_DEFAULT | GucSource::PGC_S_DYNAMIC_DEFAULT => "the default",
        GucSource::PGC_S_ENV_VAR => "the server's environment",
        GucSource::PGC_S_FILE => "the configuration file",
        GucSource::PGC_S_ARGV => "the server's command line",
        GucSource::PGC_S_GLOBAL => "ALTER ROLE ALL",
        GucSource::PGC_S_DATABASE => "ALTER DATABASE",
        GucSource::PGC_S_USER => "ALTER ROLE",
        GucSource::PGC_S_DATABASE_USER => "ALTER ROLE IN DATABASE",
        GucSource::PGC_S_CLIENT => "the connection options",
        _ => "the session",
    }
}

/// Returns the HINT for a value that is refused.
fn hint_for(source: GucSource::Type, name: &str) -> String {
    match source {
        GucSource::PGC_S_GLOBAL => format!("Correct it with ALTER ROLE ALL SET scru.{name}, and reconnect."),
        GucSource::PGC_S_DATABASE => format!("Correct it with ALTER DATABASE ... SET scru.{name}, and reconnect."),
        GucSource::PGC_S_USER => format!("Use ALTER ROLE ... RESET scru.{name}, and reconnect."),
        GucSource::PGC_S_DATABASE_USER => {
            format!("Use ALTER ROLE ... IN DATABASE ... RESET scru.{name}, and reconnect.")
        }
        GucSource::PGC_S_CLIENT => "Remove it from the connection options, and reconnect.".into(),
        source if source < GucSource::PGC_S_GLOBAL => format!("Correct it in {}, and reload.", in_words(source)),
        _ => format!("Use RESET scru.{name}."),
    }
}

/// Returns whether a value with this source may take effect. If not every user may change the setting, the source must give all
/// sessions of a database the same value.
fn may_set(context: SettingContext, source: GucSource::Type) -> bool {
    match context {
        SettingContext::User => true,
        SettingContext::Reload => source <= GucSource::PGC_S_ARGV,
        SettingContext::Superuser => source <= GucSource::PGC_S_DATABASE,
    }
}

/// Returns a sentence that names the sources that may set a setting.
fn who_may_set(context: SettingContext) -> &'static str {
    match context {
        SettingContext::Superuser => {
            "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must \
             have the same value."
        }
        _ => "Only the configuration file can set it.",
    }
}

/// A value and its source.
#[derive(Debug)]
struct Sourced {
    source: GucSource::Type,
    value: Value,
}

/// The value of a setting, as the server stores it.
#[derive(Clone, Debug)]
enum Value {
    /// An integer, or the index of a choice's word.
    Number(c_int),
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// The process's state of a setting that not every user may change.
#[derive(Debug)]
struct ServerSetting {
    /// The last value with a source that may set it.
    accepted: Option<Sourced>,
    /// The value in effect, if its source may not set it.
    overriding: Option<Sourced>,
    /// The configured value that the server has rejected, until another value is configured.
    rejected: Option<Sourced>,
}

impl ServerSetting {
    const UNDEFINED: Self = Self { accepted: None, overriding: None, rejected: None };

    /// Records a value that the server assigns.
    fn assign(&mut self, context: SettingContext, assigned: Sourced) {
        if !may_set(context, assigned.source) {
            self.overriding = Some(assigned);
            return;
        }
        self.overriding = None;
        if assigned.source != GucSource::PGC_S_DEFAULT {
            self.rejected = None;
            self.accepted = Some(assigned);
        } else if !is_parallel_worker() || self.accepted.as_ref().is_none_or(Sourced::is_default) {
            self.accepted = Some(assigned);
        }
        // Otherwise, this parallel worker restores the settings of its leader. The server first resets them to their defaults. It
        // passes no value if the configured one was rejected in the leader. The worker then keeps the value that it has read from
        // the configuration.
    }

    /// Returns the value that must not be used, and whether its source is the reason; `None` if the setting can be used.
    fn refused(&self, context: SettingContext) -> Option<(&Sourced, bool)> {
        if let Some(overriding) = &self.overriding {
            return Some((overriding, true));
        }
        let rejected = self.rejected.as_ref()?;
        let wins = self.accepted.as_ref().is_none_or(|accepted| accepted.source < rejected.source);
        wins.then(|| (rejected, !may_set(context, rejected.source)))
    }
}

impl Sourced {
    fn is_default(&self) -> bool {
        is_default(self.source)
    }
}

/// Returns whether this process is a parallel worker.
fn is_parallel_worker() -> bool {
    // SAFETY: an integer that the server sets once in each process.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// The process's state of a type's settings that not every user may change, by their index among all settings of the type.
#[derive(Debug)]
pub struct ServerSettings {
    each: [ServerSetting; MAX_SETTINGS],
    /// Whether [`check`](Self::check) has run since the last change, and has found no refused value.
    are_checked: bool,
}

impl ServerSettings {
    /// Creates the state of settings that are not yet defined.
    pub const fn new() -> Self {
        Self { each: [ServerSetting::UNDEFINED; MAX_SETTINGS], are_checked: false }
    }

    fn assign(&mut self, index: usize, context: SettingContext, assigned: Sourced) {
        self.each[index].assign(context, assigned);
        self.are_checked = false;
    }

    fn reject(&mut self, index: usize, rejected: Sourced) {
        self.each[index].rejected = Some(rejected);
        self.are_checked = false;
    }

    /// Returns the names and values of the settings that decide uniqueness, have the default value, and are not refused.
    fn defaults<S>(&self, settings: &[Setting<S>]) -> Vec<(CString, CString)> {
        let default = |(setting, state): (&Setting<S>, &ServerSetting)| {
            let is_deciding = setting.context == SettingContext::Superuser && state.refused(setting.context).is_none();
            let accepted = state.accepted.as_ref().filter(|accepted| is_deciding && accepted.is_default())?;
            let name = CString::new(format!("scru.{}", setting.name)).ok()?;
            Some((name, CString::new(accepted.value.to_string()).ok()?))
        };
        settings.iter().zip(&self.each).filter_map(default).collect()
    }

    #[cold]
    fn check<S>(&mut self, settings: &[Setting<S>]) -> Result<(), Error> {
        for (setting, state) in settings.iter().zip(&self.each) {
            if let Some((refused, by_source)) = state.refused(setting.context) {
                return Err(if by_source {
                    wrong_source(setting.name, setting.context, refused)
                } else {
                    wrong_value(setting.name, refused)
                });
            }
        }
        self.are_checked = true;
        Ok(())
    }
}

fn wrong_source(name: &str, context: SettingContext, Sourced { source, value }: &Sourced) -> Error {
    let message = format!("parameter \"scru.{name}\" must not be set by {}", in_words(*source));
    Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!("It is set to \"{value}\". {}", who_may_set(context)))
        .hint(hint_for(*source, name))
}

fn wrong_value(name: &str, Sourced { source, value }: &Sourced) -> Error {
    let message = format!("invalid value for parameter \"scru.{name}\": \"{value}\"");
    let source_in_words = in_words(*source);
    Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!(
            "It is set by {source_in_words}. The default is not used instead, because it may be another server's."
        ))
        .hint(hint_for(*source, name))
}

/// A table of settings, the server's variables for them, and their values as last parsed.
pub struct Group<S: 'static> {
    settings: &'static [Setting<S>],
    variables: Vec<Variable>,
    parsed: Option<(u32, S)>,
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
                Self::Text(text) => text_of(*text).map(Value::Text),
            }
        }
    }
}

/// Returns a copy of a C string; `None` if it is null.
unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: guaranteed by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

impl<S: Copy + Default> Group<S> {
    /// Creates a table of settings that are not yet defined.
    pub const fn new(settings: &'static [Setting<S>]) -> Self {
        Self { settings, variables: Vec::new(), parsed: None }
    }

    /// Returns the values in effect. A setting that not every user may change has its last accepted value.
    #[inline]
    fn current(&mut self, server_settings: Option<&PerProcess<ServerSettings>>) -> S {
        let changes = CHANGES.load(Relaxed);
        match self.parsed {
            Some((as_of, settings)) if as_of == changes => settings,
            _ => self.parsed.insert((changes, self.parse(server_settings))).1,
        }
    }

    #[cold]
    fn parse(&self, server_settings: Option<&PerProcess<ServerSettings>>) -> S {
        let accepted = |index: usize| {
            server_settings?.with(|all| all.each.get(index)?.accepted.as_ref().map(|accepted| accepted.value.clone()))
        };
        let mut settings = S::default();
        for (index, (setting, &variable)) in self.settings.iter().zip(&self.variables).enumerate() {
            let value = match setting.context {
                // SAFETY: `define` has defined the setting with this variable.
                SettingContext::User => unsafe { variable.value() },
                _ => accepted(index),
            };
            if let Some(value) = value {
                apply(setting, &value, &mut settings);
            }
        }
        settings
    }

    /// Defines the settings, and calls `reject` with each configured value that the server rejected with a warning.
    fn define(&mut self, hooks: impl Fn(usize) -> Hooks, reject: impl Fn(usize, Sourced)) {
        for (index, setting) in self.settings.iter().enumerate() {
            let name = leaked(&format!("scru.{}", setting.name));
            let configured = server::configured(name);
            let hooks = if setting.context == SettingContext::User { Hooks::USER } else { hooks(index) };
            // SAFETY: called from _PG_init, as the server requires. The arguments are never freed.
            self.variables.push(unsafe { define_one(setting, name, hooks) });
            if let (Some((source, value)), SettingContext::Reload | SettingContext::Superuser) =
                (configured, setting.context)
                && server::reset_source(name) != source
            {
                reject(index, Sourced { source, value: Value::Text(value) });
            }
        }
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
                    0,
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
                    0,
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
                    0,
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

/// Check hook of integers and choices: attaches the source to the value.
#[pg_guard]
unsafe extern "C-unwind" fn check_number<T: Configured, const INDEX: usize>(
    _value: *mut c_int,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { attach_source(&T::SETTINGS[INDEX], extra, source) }
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
    let text = unsafe { text_of(*value) }.unwrap_or_default();
    if let Kind::Text { apply, .. } = setting.kind
        && let Err(reason) = apply(&mut T::Settings::default(), &text)
    {
        // SAFETY: the body of the server's macros.
        unsafe {
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int);
            pg_sys::GUC_check_errdetail_string = server_string(reason);
        }
        return false;
    }
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { attach_source(setting, extra, source) }
}

/// Attaches its source to a valid value. Rejects SET of a setting that decides uniqueness (55P02), because a value from a session
/// is always refused.
///
/// # Safety
/// Must be called from a check hook, with its arguments.
unsafe fn attach_source<S>(setting: &Setting<S>, extra: *mut *mut c_void, source: GucSource::Type) -> bool {
    // SAFETY: guaranteed by the caller. The memory has room for the source.
    unsafe {
        if setting.context == SettingContext::Superuser && source == GucSource::PGC_S_SESSION {
            let message = format!("parameter \"scru.{}\" cannot be changed now", setting.name);
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_CANT_CHANGE_RUNTIME_PARAM as c_int);
            pg_sys::GUC_check_errmsg_string = server_string(message);
            pg_sys::GUC_check_errdetail_string = server_string(who_may_set(setting.context));
            return false;
        }
        let attached = server::setting_extra(size_of::<GucSource::Type>()).cast::<GucSource::Type>();
        if attached.is_null() {
            return false;
        }
        attached.write(source);
        *extra = attached.cast();
        true
    }
}

/// Returns a copy of a text in the current memory context.
fn server_string(text: impl Into<Vec<u8>>) -> *mut c_char {
    let text = datum::c_string(text);
    // SAFETY: copies a C string.
    unsafe { pg_sys::pstrdup(text.as_ptr()) }
}

unsafe extern "C-unwind" fn assign_number<T: Configured, const INDEX: usize>(value: c_int, extra: *mut c_void) {
    // SAFETY: `check_number` made the extra data.
    unsafe { assign::<T>(INDEX, Value::Number(value), extra) };
}

unsafe extern "C-unwind" fn assign_text<T: Configured, const INDEX: usize>(value: *const c_char, extra: *mut c_void) {
    // SAFETY: the server passes a C string or null. `check_text` made the extra data.
    unsafe { assign::<T>(INDEX, Value::Text(text_of(value).unwrap_or_default()), extra) };
}

/// Records a value that the server assigns, and its source.
unsafe fn assign<T: Configured>(index: usize, value: Value, extra: *mut c_void) {
    // SAFETY: `attach_source` made the extra data. A value without it counts as set by the session, which may not set it.
    let source = unsafe { extra.cast::<GucSource::Type>().as_ref() }.copied().unwrap_or(GucSource::PGC_S_SESSION);
    let context = T::SETTINGS[index].context;
    T::settings_state().server.with(|settings| settings.assign(index, context, Sourced { source, value }));
    CHANGES.fetch_add(1, Relaxed);
}
