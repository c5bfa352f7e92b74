//! The settings: defined from tables, checked as they are set, parsed once after each change.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::ffi::CString;

use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{Kind, OnClockRollback, Scope, Setting};

use crate::datum::Type;
use crate::error::Error;
use crate::process::PerProcess;
use crate::server;

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
        scope: Scope::User,
        kind: Kind::Choice { words: &["backend", "server"], keep: |common, word| common.server_wide = word == 1 },
    },
    Setting {
        name: "on_clock_rollback",
        summary: "What scru128, ulid and scru160 do when the clock has moved back by more than 10 s: start afresh, or fail.",
        scope: Scope::User,
        kind: Kind::Choice {
            words: &["reset", "error"],
            keep: |common, word| {
                common.on_clock_rollback = if word == 0 { OnClockRollback::Reset } else { OnClockRollback::Error };
            },
        },
    },
];

static COMMON: PerProcess<Group<Common>> = PerProcess::new(Group::new(COMMON_SETTINGS));

/// Counts the changes of any setting, so that parsed values know when they are out of date.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// The settings that concern several types.
#[inline]
pub fn common() -> Common {
    COMMON.with(Group::current)
}

/// How often any setting has changed.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

/// The settings of one type.
#[inline]
pub fn of<T: Type>() -> T::Settings {
    if T::SETTINGS.is_empty() { T::Settings::default() } else { T::process().settings.with(Group::current) }
}

/// Defines all settings. Once in each process, or in the postmaster for all.
pub fn define() {
    COMMON.with(|group| group.define(Hooks::of_no_type()));
    macro_rules! define {
        ($name:ident, $id:ident, $sql:literal) => {
            let process = scru_ids::$id::process();
            let refused = process.settings.with(|group| group.define(Hooks::of::<scru_ids::$id>()));
            process.refused_setting.with(|kept| *kept = refused);
        };
    }
    scru_ids::registry!(define);
    // SAFETY: from here on, a misspelt scru.… is an error instead of a setting that does nothing.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
}

/// An error while the type has a setting for the whole server whose configured value was refused. The default that holds in
/// its place may be another server's, and IDs would come twice.
#[inline]
pub fn check_none_refused<T: Type>() -> Result<(), Error> {
    T::process().refused_setting.with(|refused| match refused {
        None => Ok(()),
        Some(refused) => Err(refused_setting(refused)),
    })
}

#[cold]
fn refused_setting(Refused { name, value }: &Refused) -> Error {
    let message = format!("invalid value for parameter \"scru.{name}\": \"{value}\"");
    Error::new(SqlState::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail("The server's configuration has it; the default that holds in its place may be another server's.")
        .hint("Correct it there, and reload the configuration.")
}

/// A setting, and its value in the configuration that the server refused as the setting was defined.
pub struct Refused {
    name: &'static str,
    value: String,
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

impl<S: Copy + Default> Group<S> {
    /// A table whose settings are yet to be defined.
    pub const fn new(settings: &'static [Setting<S>]) -> Self {
        Self { settings, variables: Vec::new(), parsed: None }
    }

    /// The values that are set.
    #[inline]
    fn current(&mut self) -> S {
        let changes = CHANGES.load(Relaxed);
        match self.parsed {
            Some((as_of, settings)) if as_of == changes => settings,
            _ => self.parsed.insert((changes, self.parse())).1,
        }
    }

    #[cold]
    fn parse(&self) -> S {
        let mut settings = S::default();
        for (setting, &variable) in self.settings.iter().zip(&self.variables) {
            // SAFETY: `define` made the variable for this setting, and the server keeps a valid value there.
            unsafe { keep(setting, variable, &mut settings) };
        }
        settings
    }

    /// Defines the settings. Returns one for the whole server whose configured value the server refused, with a warning.
    fn define(&mut self, hooks: Hooks) -> Option<Refused> {
        let mut refused = None;
        for setting in self.settings {
            let configured = configured(setting);
            // SAFETY: called by the server's rules, from _PG_init; nothing that is handed over is ever freed.
            let variable = unsafe { define_one(setting, hooks) };
            if let (Some(value), Scope::Server) = (configured, setting.scope)
                && !is_kept(setting, variable, &value)
            {
                refused = Some(Refused { name: setting.name, value });
            }
            self.variables.push(variable);
        }
        refused
    }
}

unsafe fn keep<S>(setting: &Setting<S>, variable: Variable, settings: &mut S) {
    // SAFETY: as the caller's.
    unsafe {
        match (&setting.kind, variable) {
            (Kind::Choice { keep, .. }, Variable::Number(number)) => keep(settings, *number as usize),
            (Kind::Integer { keep, .. }, Variable::Number(number)) => keep(settings, *number),
            (Kind::Text { keep, .. }, Variable::Text(text)) if !(*text).is_null() => {
                let checked = keep(settings, &CStr::from_ptr(*text).to_string_lossy());
                debug_assert!(checked.is_ok(), "the check hook lets only valid texts pass");
            }
            _ => {}
        }
    }
}

/// What the configuration says of a setting that is not yet defined.
fn configured<S>(setting: &Setting<S>) -> Option<String> {
    let name = CString::new(format!("scru.{}", setting.name)).unwrap_or_default();
    server::configured(&name)
}

/// Whether the server has kept a configured value: else it has the default.
fn is_kept<S>(setting: &Setting<S>, variable: Variable, value: &str) -> bool {
    // SAFETY: `define_one` made the variable for this setting, and the server keeps a valid value there.
    unsafe {
        match (&setting.kind, variable) {
            (Kind::Text { .. }, Variable::Text(text)) => CStr::from_ptr(*text).to_bytes() == value.as_bytes(),
            (Kind::Integer { default, .. }, Variable::Number(number)) => {
                *number != *default || value.trim().parse() == Ok(*default)
            }
            _ => true,
        }
    }
}

/// What the server calls as settings change.
#[derive(Clone, Copy)]
struct Hooks {
    check_text: pg_sys::GucStringCheckHook,
    assign_text: pg_sys::GucStringAssignHook,
    assign_number: pg_sys::GucIntAssignHook,
}

impl Hooks {
    fn of_no_type() -> Self {
        Self { check_text: None, assign_text: None, assign_number: Some(number_changes) }
    }

    fn of<T: Type>() -> Self {
        Self {
            check_text: Some(check_text::<T>),
            assign_text: Some(text_is_assigned::<T>),
            assign_number: Some(number_is_assigned::<T>),
        }
    }
}

unsafe fn define_one<S>(setting: &Setting<S>, hooks: Hooks) -> Variable {
    let name = leaked(&format!("scru.{}", setting.name));
    let summary = leaked(setting.summary);
    let who = match setting.scope {
        Scope::User => pg_sys::GucContext::PGC_USERSET,
        Scope::Server => pg_sys::GucContext::PGC_SIGHUP,
    };
    let details = ptr::null();
    let assign_number = if setting.scope == Scope::User { Some(number_changes as _) } else { hooks.assign_number };
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
                    None,
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
                    None,
                    assign_number,
                    None,
                );
                Variable::Number(number)
            }
            Kind::Text { default, .. } => {
                let text = Box::leak(Box::new(ptr::null_mut()));
                let default = leaked(default);
                pg_sys::DefineCustomStringVariable(
                    name,
                    summary,
                    details,
                    text,
                    default,
                    who,
                    0,
                    hooks.check_text,
                    hooks.assign_text,
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
        name: leaked(word),
        val: index as c_int,
        hidden: false,
    };
    let end = pg_sys::config_enum_entry { name: ptr::null(), val: 0, hidden: false };
    let entries: Vec<_> = words.iter().enumerate().map(entry).chain([end]).collect();
    entries.leak().as_ptr()
}

/// A C string that lives as long as the process. Our names and defaults have no NUL.
fn leaked(text: &str) -> *const c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

unsafe extern "C-unwind" fn number_changes(_value: c_int, _extra: *mut c_void) {
    CHANGES.fetch_add(1, Relaxed);
}

/// A number for the whole server is set, so that no value of it is refused any more.
unsafe extern "C-unwind" fn number_is_assigned<T: Type>(_value: c_int, _extra: *mut c_void) {
    T::process().refused_setting.with(|refused| *refused = None);
    CHANGES.fetch_add(1, Relaxed);
}

/// The same of a text.
unsafe extern "C-unwind" fn text_is_assigned<T: Type>(_value: *const c_char, _extra: *mut c_void) {
    T::process().refused_setting.with(|refused| *refused = None);
    CHANGES.fetch_add(1, Relaxed);
}

/// Rejects a text that the type's setting doesn't take, with the reason as DETAIL.
#[pg_guard]
unsafe extern "C-unwind" fn check_text<T: Type>(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: the server hands over a C string; what it gets as DETAIL is its own copy.
    unsafe {
        let text = CStr::from_ptr(*value).to_string_lossy();
        let reason = T::SETTINGS.iter().find_map(|setting| match setting.kind {
            Kind::Text { keep, .. } => keep(&mut T::Settings::default(), &text).err(),
            _ => None,
        });
        let Some(reason) = reason.map(|reason| CString::new(reason).unwrap_or_default()) else { return true };
        pg_sys::GUC_check_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int);
        pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(reason.as_ptr());
        false
    }
}
