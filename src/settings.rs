//! The settings: defined from tables, checked as they are set, parsed once after each change.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::ffi::CString;

use pgrx::{PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{Kind, OnClockRollback, Scope, Setting};

use crate::datum::Type;
use crate::process::PerProcess;

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

/// The settings of one type.
#[inline]
pub fn of<T: Type>() -> T::Settings {
    if T::SETTINGS.is_empty() { T::Settings::default() } else { T::process().settings.with(Group::current) }
}

/// Defines all settings. Once in each process, or in the postmaster for all.
pub fn define() {
    COMMON.with(|group| group.define(None));
    macro_rules! define {
        ($name:ident, $id:ident, $sql:literal) => {
            scru_ids::$id::process().settings.with(|group| group.define(Some(check_text::<scru_ids::$id>)));
        };
    }
    scru_ids::registry!(define);
    // SAFETY: from here on, a misspelt scru.… is an error instead of a setting that does nothing.
    unsafe { pg_sys::MarkGUCPrefixReserved(c"scru".as_ptr()) };
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

    fn define(&mut self, check_text: pg_sys::GucStringCheckHook) {
        // SAFETY: called by the server's rules, from _PG_init; nothing that is handed over is ever freed.
        self.variables = self.settings.iter().map(|setting| unsafe { define_one(setting, check_text) }).collect();
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

unsafe fn define_one<S>(setting: &Setting<S>, check_text: pg_sys::GucStringCheckHook) -> Variable {
    let name = leaked(&format!("scru.{}", setting.name));
    let summary = leaked(setting.summary);
    let who = match setting.scope {
        Scope::User => pg_sys::GucContext::PGC_USERSET,
        Scope::Server => pg_sys::GucContext::PGC_SIGHUP,
    };
    let details = ptr::null();
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
                    Some(number_changes),
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
                    Some(number_changes),
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
                    check_text,
                    Some(text_changes),
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

unsafe extern "C-unwind" fn text_changes(_value: *const c_char, _extra: *mut c_void) {
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
