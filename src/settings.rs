//! The settings: defined from tables, checked as they are set, parsed once after each change.
//!
//! A setting of a type that not every user may change is judged by its source: where the value came from. The check hook
//! receives the source and attaches it to the value, so that it is known whenever the server assigns that value, also by
//! RESET and at the end of a transaction.

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

/// The most settings that a type has.
const MAX_SETTINGS: usize = 3;

/// The settings that concern several types.
#[derive(Clone, Copy, Default)]
pub struct Common {
    /// What generators do when the clock has moved back.
    pub on_clock_rollback: OnClockRollback,
    /// Whether all generators draw from the state that the whole server shares.
    pub server_wide: bool,
}

const COMMON_SETTINGS: &[Setting<Common>] = &[
    Setting {
        name: "generator_scope",
        summary: "Within what the IDs of scru128, ulid and scru160 are strictly increasing: a connection, or the server.",
        context: SettingContext::User,
        kind: Kind::Choice { words: &["backend", "server"], keep: |common, word| common.server_wide = word == 1 },
    },
    Setting {
        name: "on_clock_rollback",
        summary: "What scru128, ulid and scru160 do when the clock has moved back by more than 10 s: start afresh, or fail.",
        context: SettingContext::User,
        kind: Kind::Choice {
            words: &["reset", "error"],
            keep: |common, word| {
                common.on_clock_rollback = if word == 0 { OnClockRollback::Reset } else { OnClockRollback::Error };
            },
        },
    },
];

/// An ID type, with what a process keeps of its settings.
pub trait Configured: SortableId {
    /// What this process keeps of the type's settings.
    fn kept_settings() -> &'static Settings<Self>;
}

/// What a process keeps of a type's settings.
pub struct Settings<T: SortableId> {
    /// All of them.
    group: PerProcess<Group<T::Settings>>,
    /// The values of those that hold for the whole server, and where they came from.
    server: PerProcess<ServerSettings>,
}

impl<T: SortableId> Settings<T> {
    /// Settings that are yet to be defined.
    pub const fn new() -> Self {
        Self { group: PerProcess::new(Group::new(T::SETTINGS)), server: PerProcess::new(ServerSettings::new()) }
    }
}

/// See [`is_preloaded`].
static IS_PRELOADED: PerProcess<bool> = PerProcess::new(false);

static COMMON: PerProcess<Group<Common>> = PerProcess::new(Group::new(COMMON_SETTINGS));

/// Counts the changes of any setting, so that parsed values know when they are out of date.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// The settings that concern several types.
#[inline]
pub fn common() -> Common {
    COMMON.with(|group| group.current(None))
}

/// How often any setting has changed.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

/// The settings of one type.
#[inline]
pub fn of<T: Configured>() -> T::Settings {
    if T::SETTINGS.is_empty() {
        T::Settings::default()
    } else {
        T::kept_settings().group.with(|group| group.current(Some(&T::kept_settings().server)))
    }
}

/// Whether the server preloaded the library: the settings are then defined before a session starts.
pub fn is_preloaded() -> bool {
    IS_PRELOADED.with(|preloaded| *preloaded)
}

/// Defines all settings. Once in each process, or in the postmaster for all.
pub fn define() {
    // SAFETY: reads a variable of the server.
    IS_PRELOADED.with(|preloaded| *preloaded = unsafe { pg_sys::process_shared_preload_libraries_in_progress });
    COMMON.with(|group| group.define(|_| Hooks::USER, |_, _| ()));
    macro_rules! define {
        ($name:ident, $id:ident, $sql:literal) => {
            let kept = scru_ids::$id::kept_settings();
            let reject = |index, value| kept.server.with(|settings| settings.reject(index, value));
            kept.group.with(|group| group.define(Hooks::of_type::<scru_ids::$id>, reject));
            for (name, value) in kept.server.with(|settings| settings.defaults(scru_ids::$id::SETTINGS)) {
                hand_on(&name, &value);
            }
        };
    }
    scru_ids::registry!(define);
    // SAFETY: from here on, a misspelt scru.… is an error instead of a setting that does nothing.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
}

/// Has parallel workers take a default over from their leader, which may have begun before another value was stored. The server
/// hands on all settings but those without a source.
fn hand_on(name: &CStr, value: &CStr) {
    // SAFETY: the server copies what it keeps. Within a parallel plan, nothing can be set.
    unsafe {
        if !pg_sys::IsInParallelMode() {
            let (context, source) = (pg_sys::GucContext::PGC_SUSET, GucSource::PGC_S_DYNAMIC_DEFAULT);
            pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), context, source);
        }
    }
}

/// Raises an error while a setting of the type has a value that not all sessions of the database have, or the default instead
/// of a configured value that the server refused: another server may have the same.
#[inline]
pub fn check_none_refused<T: Configured>() -> Result<(), Error> {
    if T::kept_settings().server.with(|settings| settings.are_checked) { Ok(()) } else { check::<T>() }
}

#[cold]
fn check<T: Configured>() -> Result<(), Error> {
    reject_stored::<T>();
    T::kept_settings().server.with(|settings| settings.check(T::SETTINGS))
}

/// Takes note of malformed values that were stored before the library was preloaded: as a session starts, the server skips them
/// with a warning.
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
            T::kept_settings().server.with(|settings| settings.reject(index, Sourced { source, value }));
        }
    }
}

/// Whether a setting accepts a text as its value.
fn is_valid<S: Default>(setting: &Setting<S>, text: &[u8]) -> bool {
    match (&setting.kind, str::from_utf8(text)) {
        (Kind::Text { keep, .. }, Ok(text)) => keep(&mut S::default(), text).is_ok(),
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

/// The value of the type's setting that decides uniqueness, and where it came from; `None` if the type has no such setting.
pub fn deciding<T: Configured>() -> Option<Deciding> {
    let index = T::SETTINGS.iter().position(|setting| setting.context == SettingContext::Superuser)?;
    T::kept_settings().server.with(|settings| {
        let accepted = settings.each.get(index)?.accepted.as_ref()?;
        Some(Deciding { name: T::SETTINGS[index].name, value: accepted.value.to_string(), source: accepted.source })
    })
}

/// The setting of a type that decides uniqueness.
pub struct Deciding {
    /// Its name, without the extension's prefix.
    pub name: &'static str,
    /// Its value, as a text.
    pub value: String,
    source: GucSource::Type,
}

impl Deciding {
    /// Whether nothing sets it.
    pub fn is_default(&self) -> bool {
        is_default(self.source)
    }

    /// Where its value came from, in words.
    pub fn source(&self) -> &'static str {
        in_words(self.source)
    }
}

/// Whether a value from this source is the default.
fn is_default(source: GucSource::Type) -> bool {
    matches!(source, GucSource::PGC_S_DEFAULT | GucSource::PGC_S_DYNAMIC_DEFAULT)
}

/// A source of settings, in words.
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

/// What to do about a value from a source.
fn way_out(source: GucSource::Type, name: &str) -> String {
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

/// Whether a value from this source may take effect: it is the same for all sessions of a database.
fn may_set(context: SettingContext, source: GucSource::Type) -> bool {
    match context {
        SettingContext::User => true,
        SettingContext::Reload => source <= GucSource::PGC_S_ARGV,
        SettingContext::Superuser => source <= GucSource::PGC_S_DATABASE,
    }
}

/// The sources that may set a setting, as a sentence.
fn who_may_set(context: SettingContext) -> &'static str {
    match context {
        SettingContext::Superuser => {
            "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must \
             have the same value."
        }
        _ => "Only the configuration file can set it.",
    }
}

/// A value, and where it came from.
#[derive(Debug)]
struct Sourced {
    source: GucSource::Type,
    value: Value,
}

/// A value of a setting, as the server keeps it.
#[derive(Clone, Debug)]
enum Value {
    /// A number, or the index of a word.
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

/// What this process knows of a setting that not every user may change.
#[derive(Debug)]
struct ServerSetting {
    /// The last value from a source that may set it.
    accepted: Option<Sourced>,
    /// The value in effect, if it is from a source that may not set it.
    overriding: Option<Sourced>,
    /// The configured value that the server refused as the setting was defined, until another one is configured.
    rejected: Option<Sourced>,
}

impl ServerSetting {
    const UNDEFINED: Self = Self { accepted: None, overriding: None, rejected: None };

    /// The server assigns a value.
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
        // Else a parallel worker takes over its leader's settings: resetting them to their defaults is the first step, and all
        // of it where the leader's is refused. What the worker itself read from the configuration stays.
    }

    /// The value that must not be used, and whether the reason is its source.
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

/// Whether this process is a worker of a parallel plan.
fn is_parallel_worker() -> bool {
    // SAFETY: an int that the server sets once in each process.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// What this process knows of the settings of a type that not every user may change, by their index among all of them.
#[derive(Debug)]
pub struct ServerSettings {
    each: [ServerSetting; MAX_SETTINGS],
    /// Whether none of them is refused, as of the last change.
    are_checked: bool,
}

impl ServerSettings {
    /// Settings that are yet to be defined.
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

    /// Names and values of the settings that decide uniqueness and have their default, unless that is refused.
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
        .hint(way_out(*source, name))
}

fn wrong_value(name: &str, Sourced { source, value }: &Sourced) -> Error {
    let message = format!("invalid value for parameter \"scru.{name}\": \"{value}\"");
    let source_in_words = in_words(*source);
    Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!(
            "It is set by {source_in_words}. The default is not used instead, because it may be another server's."
        ))
        .hint(way_out(*source, name))
}

/// A table of settings, the variables that the server keeps for them, and their values as last parsed.
pub struct Group<S: 'static> {
    settings: &'static [Setting<S>],
    variables: Vec<Variable>,
    parsed: Option<(u32, S)>,
}

/// What the server writes a setting's value to. It lives as long as the process.
#[derive(Clone, Copy)]
enum Variable {
    Number(*mut c_int),
    Text(*mut *mut c_char),
}

impl Variable {
    /// The value that is there, or nothing for a text that is not set.
    ///
    /// # Safety
    /// The setting has been defined.
    unsafe fn value(self) -> Option<Value> {
        // SAFETY: the server keeps a valid value there.
        unsafe {
            match self {
                Self::Number(number) => Some(Value::Number(*number)),
                Self::Text(text) => text_of(*text).map(Value::Text),
            }
        }
    }
}

/// A C string of the server's; `None` if it is null.
unsafe fn text_of(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

impl<S: Copy + Default> Group<S> {
    /// A table whose settings are yet to be defined.
    pub const fn new(settings: &'static [Setting<S>]) -> Self {
        Self { settings, variables: Vec::new(), parsed: None }
    }

    /// The values that are set; where not every user may change them, those that were accepted.
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
                keep(setting, &value, &mut settings);
            }
        }
        settings
    }

    /// Defines the settings, and hands each configured value that the server refused, with a warning, to `reject`.
    fn define(&mut self, hooks: impl Fn(usize) -> Hooks, reject: impl Fn(usize, Sourced)) {
        for (index, setting) in self.settings.iter().enumerate() {
            let name = leaked(&format!("scru.{}", setting.name));
            let configured = server::configured(name);
            let hooks = if setting.context == SettingContext::User { Hooks::USER } else { hooks(index) };
            // SAFETY: called by the server's rules, from _PG_init; nothing that is handed over is ever freed.
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

fn keep<S>(setting: &Setting<S>, value: &Value, settings: &mut S) {
    match (&setting.kind, value) {
        (Kind::Choice { keep, .. }, Value::Number(number)) => keep(settings, *number as usize),
        (Kind::Integer { keep, .. }, Value::Number(number)) => keep(settings, *number),
        (Kind::Text { keep, .. }, Value::Text(text)) => {
            let checked = keep(settings, text);
            debug_assert!(checked.is_ok(), "the check hook lets only valid texts pass");
        }
        _ => {}
    }
}

/// What the server calls as a setting changes.
#[derive(Clone, Copy)]
struct Hooks {
    check_number: pg_sys::GucIntCheckHook,
    assign_number: pg_sys::GucIntAssignHook,
    check_text: pg_sys::GucStringCheckHook,
    assign_text: pg_sys::GucStringAssignHook,
}

impl Hooks {
    /// For a setting that every user may change.
    const USER: Self =
        Self { check_number: None, assign_number: Some(number_changes), check_text: None, assign_text: None };

    /// For the setting of a type with this index.
    fn of_type<T: Configured>(index: usize) -> Self {
        const { assert!(T::SETTINGS.len() <= MAX_SETTINGS, "Hooks::of_type knows too few settings") };
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
    // SAFETY: as the caller's.
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

/// The words of a choice as the server wants them, with an empty one at the end.
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

/// A C string that lives as long as the process. Our names and defaults have no NUL.
fn leaked(text: &str) -> &'static CStr {
    Box::leak(datum::c_string(text).into_boxed_c_str())
}

unsafe extern "C-unwind" fn number_changes(_value: c_int, _extra: *mut c_void) {
    CHANGES.fetch_add(1, Relaxed);
}

/// Attaches the source to a number.
#[pg_guard]
unsafe extern "C-unwind" fn check_number<T: Configured, const INDEX: usize>(
    _value: *mut c_int,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: as the server calls check hooks.
    unsafe { attach_source(&T::SETTINGS[INDEX], extra, source) }
}

/// Rejects a text that the setting doesn't take, with the reason as DETAIL; attaches the source to others.
#[pg_guard]
unsafe extern "C-unwind" fn check_text<T: Configured, const INDEX: usize>(
    value: *mut *mut c_char,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    let setting = &T::SETTINGS[INDEX];
    // SAFETY: the server hands over a C string.
    let text = unsafe { text_of(*value) }.unwrap_or_default();
    if let Kind::Text { keep, .. } = setting.kind
        && let Err(reason) = keep(&mut T::Settings::default(), &text)
    {
        // SAFETY: as the server's macros do.
        unsafe {
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int);
            pg_sys::GUC_check_errdetail_string = server_string(reason);
        }
        return false;
    }
    // SAFETY: as the server calls check hooks.
    unsafe { attach_source(setting, extra, source) }
}

/// Attaches its source to a value that has been checked. SET is refused at once for what decides uniqueness: no draw could use it.
///
/// # Safety
/// From a check hook, with what the server passed to it.
unsafe fn attach_source<S>(setting: &Setting<S>, extra: *mut *mut c_void, source: GucSource::Type) -> bool {
    // SAFETY: as the caller's; the memory has room for the source.
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

/// A text in memory of the server's.
fn server_string(text: impl Into<Vec<u8>>) -> *mut c_char {
    let text = datum::c_string(text);
    // SAFETY: a copy of a C string.
    unsafe { pg_sys::pstrdup(text.as_ptr()) }
}

unsafe extern "C-unwind" fn assign_number<T: Configured, const INDEX: usize>(value: c_int, extra: *mut c_void) {
    // SAFETY: `check_number` made the extra.
    unsafe { assign::<T>(INDEX, Value::Number(value), extra) };
}

unsafe extern "C-unwind" fn assign_text<T: Configured, const INDEX: usize>(value: *const c_char, extra: *mut c_void) {
    // SAFETY: the server hands over a C string; `check_text` made the extra.
    unsafe { assign::<T>(INDEX, Value::Text(text_of(value).unwrap_or_default()), extra) };
}

/// Takes note of a value that the server assigns, and of its source.
unsafe fn assign<T: Configured>(index: usize, value: Value, extra: *mut c_void) {
    // SAFETY: `attach_source` made the extra. A value without one would be from nowhere that may set it.
    let source = unsafe { extra.cast::<GucSource::Type>().as_ref() }.copied().unwrap_or(GucSource::PGC_S_SESSION);
    let context = T::SETTINGS[index].context;
    T::kept_settings().server.with(|settings| settings.assign(index, context, Sourced { source, value }));
    CHANGES.fetch_add(1, Relaxed);
}
