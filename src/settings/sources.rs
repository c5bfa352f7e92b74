//! The settings that not every user may change: their values, and the sources that may set them.
//!
//! The check hook receives the source of a value and attaches it to the value as extra data. The source is therefore known whenever
//! the server assigns the value, including by RESET and at the end of a transaction.

use core::cell::{Cell, RefCell};
use core::ffi::{c_int, c_void};
use core::fmt;
use core::ptr;

use pgrx::pg_sys::GucSource;
use pgrx::{PgSqlErrorCode as SqlState, pg_sys};
use scru_ids::setting_state::{SettingState, Source, Sourced};
use scru_ids::{Kind, Setting, SettingContext};

use crate::call::error::Error;
use crate::pg::datum;
use crate::pg::server;
use crate::settings::stored;

/// The maximum number of settings of a type.
pub const MAX_SETTINGS: usize = 3;

/// The value of a setting, as the server stores it.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer, or the index of a choice's word.
    Number(c_int),
    /// A text, or any value that was rejected.
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

/// The process's state of a type's settings that not every user may change, by their index among all settings of the type.
#[derive(Debug)]
pub struct ServerSettings {
    each: RefCell<[SettingState<Value>; MAX_SETTINGS]>,
    /// Whether [`check`] has run since the last change, and has found no refused value.
    are_checked: Cell<bool>,
}

impl ServerSettings {
    /// Creates the state of settings that are not yet defined.
    pub const fn new() -> Self {
        Self { each: RefCell::new([SettingState::UNDEFINED; MAX_SETTINGS]), are_checked: Cell::new(false) }
    }

    /// Returns whether [`check`] has run since the last change, and has found no refused value.
    pub fn are_checked(&self) -> bool {
        self.are_checked.get()
    }

    /// Returns the value of a setting and its source; `None` if the setting is refused or not yet defined.
    pub fn get(&self, index: usize, context: SettingContext) -> Option<Sourced<Value>> {
        self.each.borrow().get(index)?.decide(context).ok()?.cloned()
    }

    /// Records a value that the server assigns.
    pub fn assign(&self, index: usize, source: Source, value: Value) {
        self.each.borrow_mut()[index].assign(Sourced { source, value }, is_parallel_worker());
        self.are_checked.set(false);
    }

    /// Records a value that the server has rejected.
    pub fn reject(&self, index: usize, source: GucSource::Type, value: String) {
        self.each.borrow_mut()[index].reject(Sourced { source: rank(source), value: Value::Text(value) });
        self.are_checked.set(false);
    }

    fn source_to_pass(&self, index: usize) -> Option<Source> {
        self.each.borrow()[index].source_to_pass()
    }

    fn check_all<S>(&self, settings: &[Setting<S>]) -> Result<(), Error> {
        for (setting, state) in settings.iter().zip(&*self.each.borrow()) {
            state.decide(setting.context).map_err(|refused| refusal(setting, refused))?;
        }
        self.are_checked.set(true);
        Ok(())
    }
}

/// Checks the settings of a type that not every user may change.
///
/// # Errors
/// Returns an error (22023) if a source that may not set it has set a setting, or if the configured value is malformed. The value
/// in effect may then be another server's.
#[cold]
pub fn check<S: Default>(state: &ServerSettings, settings: &[Setting<S>], is_preloaded: bool) -> Result<(), Error> {
    if is_preloaded {
        reject_stored(state, settings);
    }
    pass_to_workers(state, settings);
    state.check_all(settings)
}

/// Records malformed values that were stored before the library was preloaded. The server skips them with a warning when a
/// session starts.
fn reject_stored<S: Default>(state: &ServerSettings, settings: &[Setting<S>]) {
    for (index, setting) in deciding(settings) {
        if let Some((source, value)) = stored::of_all_roles(&format!("scru.{}", setting.name))
            && !is_valid(setting, &value)
        {
            let value = String::from_utf8_lossy(&value).into_owned();
            state.reject(index, source, value);
        }
    }
}

/// Makes the server pass the decisions of this process to its parallel workers, which read the configuration later. It does not
/// pass values with the source PGC_S_DEFAULT.
pub fn pass_to_workers<S>(state: &ServerSettings, settings: &[Setting<S>]) {
    // SAFETY: a variable of the server.
    if is_parallel_worker() || unsafe { pg_sys::IsInParallelMode() } {
        return;
    }
    for (index, setting) in deciding(settings) {
        let source = match state.source_to_pass(index) {
            Some(Source::PassedDefault) => GucSource::PGC_S_DYNAMIC_DEFAULT,
            Some(Source::Refused) => GucSource::PGC_S_OVERRIDE,
            _ => continue,
        };
        let name = datum::c_string(format!("scru.{}", setting.name));
        // SAFETY: the setting is defined. The server copies the value. Outside of parallel mode, settings can be changed.
        unsafe {
            let value = datum::c_string(
                datum::text_of(pg_sys::GetConfigOption(name.as_ptr(), false, false)).unwrap_or_default(),
            );
            pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), pg_sys::GucContext::PGC_SUSET, source);
        }
    }
}

/// Returns the settings that decide uniqueness, with their indexes.
fn deciding<S>(settings: &[Setting<S>]) -> impl Iterator<Item = (usize, &Setting<S>)> {
    settings.iter().enumerate().filter(|(_, setting)| setting.context == SettingContext::Superuser)
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

/// Returns whether this process is a parallel worker.
fn is_parallel_worker() -> bool {
    // SAFETY: an integer that the server sets once in each process.
    unsafe { pg_sys::ParallelWorkerNumber >= 0 }
}

/// Returns the server's source as a source of the pure rules.
fn rank(source: GucSource::Type) -> Source {
    match source {
        GucSource::PGC_S_DEFAULT => Source::Default,
        GucSource::PGC_S_DYNAMIC_DEFAULT => Source::PassedDefault,
        GucSource::PGC_S_ENV_VAR => Source::Environment,
        GucSource::PGC_S_FILE => Source::File,
        GucSource::PGC_S_ARGV => Source::CommandLine,
        GucSource::PGC_S_GLOBAL => Source::AllRoles,
        GucSource::PGC_S_DATABASE => Source::Database,
        GucSource::PGC_S_USER => Source::Role,
        GucSource::PGC_S_DATABASE_USER => Source::RoleInDatabase,
        GucSource::PGC_S_CLIENT => Source::Client,
        GucSource::PGC_S_OVERRIDE => Source::Refused,
        _ => Source::Session,
    }
}

// ------------------------------------------------------------------------------------------------------------ check hooks

/// Attaches its source to a valid value. Rejects SET of a setting that decides uniqueness (55P02), because a value from a session
/// is always refused.
///
/// # Safety
/// Must be called from a check hook, with its arguments.
pub unsafe fn attach_source<S>(setting: &Setting<S>, extra: *mut *mut c_void, source: GucSource::Type) -> bool {
    // SAFETY: guaranteed by the caller. The memory has room for the source.
    unsafe {
        if setting.context == SettingContext::Superuser && source == GucSource::PGC_S_SESSION {
            let message = format!("parameter \"scru.{}\" cannot be changed now", setting.name);
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_CANT_CHANGE_RUNTIME_PARAM as c_int);
            pg_sys::GUC_check_errmsg_string = datum::server_string(message);
            pg_sys::GUC_check_errdetail_string = datum::server_string(who_may_set(setting.context));
            return false;
        }
        let attached = server::setting_extra(size_of::<Source>()).cast::<Source>();
        if attached.is_null() {
            return false;
        }
        attached.write(rank(source));
        *extra = attached.cast();
        true
    }
}

/// Returns the source that [`attach_source`] has attached to a value. A value without one counts as set by the session.
///
/// # Safety
/// `extra` is the extra data of a setting whose check hook calls [`attach_source`].
pub unsafe fn attached_source(extra: *mut c_void) -> Source {
    // SAFETY: guaranteed by the caller.
    unsafe { extra.cast::<Source>().as_ref() }.copied().unwrap_or(Source::Session)
}

// --------------------------------------------------------------------------------------------------------------- messages

/// A type's setting that decides uniqueness, and its value.
pub struct Deciding {
    /// The name without the prefix `scru.`.
    pub name: &'static str,
    /// The value as text.
    pub value: String,
    source: Source,
}

impl Deciding {
    /// Returns the type's setting that decides uniqueness; `None` if the type has none, or if it is refused.
    pub fn of<S>(state: &ServerSettings, settings: &'static [Setting<S>]) -> Option<Self> {
        let (index, setting) = deciding(settings).next()?;
        let Sourced { source, value } = state.get(index, setting.context)?;
        Some(Self { name: setting.name, value: value.to_string(), source })
    }

    /// Returns whether the value is the default.
    pub fn is_default(&self) -> bool {
        self.source.is_default()
    }

    /// Returns whether the value is that of the session's database.
    pub fn is_of_database(&self) -> bool {
        self.source == Source::Database
    }

    /// Returns the source of the value as a phrase.
    pub fn source(&self) -> &'static str {
        in_words(self.source)
    }
}

/// Returns the error for a refused value.
fn refusal<S>(setting: &Setting<S>, Sourced { source, value }: &Sourced<Value>) -> Error {
    let (name, words) = (setting.name, in_words(*source));
    let error = if *source == Source::Refused {
        Error::new(
            SqlState::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("parameter \"scru.{name}\" is refused in this session"),
        )
        .detail("The session has a malformed value, or one from a source that may not set it.")
    } else if setting.context.admits(*source) {
        Error::new(
            SqlState::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("invalid value for parameter \"scru.{name}\": \"{value}\""),
        )
        .detail(format!("It is set by {words}. The default is not used instead, because it may be another server's."))
    } else {
        Error::new(
            SqlState::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("parameter \"scru.{name}\" must not be set by {words}"),
        )
        .detail(format!("It is set to \"{value}\". {}", who_may_set(setting.context)))
    };
    error.hint(hint_for(*source, name))
}

/// Returns a source as a phrase.
fn in_words(source: Source) -> &'static str {
    match source {
        Source::Default | Source::PassedDefault => "the default",
        Source::Environment => "the server's environment",
        Source::File => "the configuration file",
        Source::CommandLine => "the server's command line",
        Source::AllRoles => "ALTER ROLE ALL",
        Source::Database => "ALTER DATABASE",
        Source::Role => "ALTER ROLE",
        Source::RoleInDatabase => "ALTER ROLE IN DATABASE",
        Source::Client => "the connection options",
        Source::Refused | Source::Session => "the session",
    }
}

/// Returns the HINT for a value that is refused.
fn hint_for(source: Source, name: &str) -> String {
    match source {
        Source::AllRoles => format!("Correct it with ALTER ROLE ALL SET scru.{name}, and reconnect."),
        Source::Database => format!("Correct it with ALTER DATABASE ... SET scru.{name}, and reconnect."),
        Source::Role => format!("Use ALTER ROLE ... RESET scru.{name}, and reconnect."),
        Source::RoleInDatabase => format!("Use ALTER ROLE ... IN DATABASE ... RESET scru.{name}, and reconnect."),
        Source::Client => "Remove it from the connection options, and reconnect.".into(),
        Source::Refused => {
            "Generate an ID without parallel workers: the error then names the value and its source.".into()
        }
        Source::CommandLine => "Correct it in the server's command line, and restart the server.".into(),
        Source::Session => format!("Use RESET scru.{name}."),
        _ => format!("Correct it in {}, and reload.", in_words(source)),
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
