//! The values of the settings, and the sources that may set them.
//!
//! The check hook receives the source of a value and attaches it to the value as extra data. The source is therefore known whenever
//! the server assigns the value, including by RESET and at the end of a transaction.

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use pgrx::datum::Array;
use pgrx::pg_sys::{AsPgCStr, GucContext, GucSource, Oid};
use pgrx::{FromDatum, PgSqlErrorCode as SqlState, pg_sys};
use scru_ids::{Kind, Setting, SettingContext};
use scru_server::setting_state::{SettingState, Source, Sourced};

use crate::call::error::{Error, sql_error};
use crate::pg::process::PerProcess;
use crate::pg::{catalog, datum, server, transaction};

/// The maximum number of settings in a table.
pub const MAX_SETTINGS: usize = 3;

/// The number of changes of any setting. A parsed value is stale once this number has changed.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// See [`is_preloaded`].
pub static IS_PRELOADED: PerProcess<Cell<bool>> = PerProcess::new(Cell::new(false));

/// The owner of a table of settings: an ID system, or [`Common`](crate::settings::Common) for those that several types share.
pub trait Configured: 'static {
    /// The parsed values.
    type Values: Copy + Default;

    /// The settings.
    const TABLE: &'static [Setting<Self::Values>];

    fn state() -> &'static Settings<Self::Values>;
}

/// The process's state of a table of settings.
pub struct Settings<S> {
    /// The values, as texts, and their sources, by the index of the setting.
    each: RefCell<[SettingState<String>; MAX_SETTINGS]>,
    /// Whether [`check`] has run since the last change of a setting that not every user may change, and has found no refused value.
    are_checked: Cell<bool>,
    /// The values as last parsed, and the value of [`changes`] then.
    parsed: Cell<Option<(u32, S)>>,
}

impl<S> Settings<S> {
    /// Creates the state of settings that are not yet defined.
    pub const fn new() -> Self {
        let each = RefCell::new([SettingState::UNDEFINED; MAX_SETTINGS]);
        Self { each, are_checked: Cell::new(false), parsed: Cell::new(None) }
    }

    /// Records a value that the server has rejected.
    pub fn reject(&self, index: usize, source: GucSource::Type, value: String) {
        self.each.borrow_mut()[index].reject(Sourced { source: rank(source), value });
        self.are_checked.set(false);
    }
}

/// Records a value that the server assigns.
pub fn assign<T: Configured>(index: usize, source: Source, value: String) {
    let state = T::state();
    // A setting that every user may change is never refused, and a worker always has its leader's value.
    let is_of_user = T::TABLE[index].context == SettingContext::User;
    let is_worker = !is_of_user && transaction::is_parallel_worker();
    state.each.borrow_mut()[index].assign(Sourced { source, value }, is_worker);
    state.are_checked.set(is_of_user && state.are_checked.get());
    count_change();
}

pub fn count_change() {
    CHANGES.fetch_add(1, Relaxed);
}

/// The number of changes of any setting in this process.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

/// Whether the server preloaded the library. If so, the settings are defined before a session starts.
fn is_preloaded() -> bool {
    IS_PRELOADED.get()
}

/// The values in effect. A refused setting has its default.
#[inline]
pub fn of<T: Configured>() -> T::Values {
    if T::TABLE.is_empty() {
        return T::Values::default();
    }
    match T::state().parsed.get() {
        Some((as_of, values)) if as_of == changes() => values,
        _ => parse::<T>(),
    }
}

#[cold]
fn parse<T: Configured>() -> T::Values {
    let mut values = T::Values::default();
    for (setting, state) in T::TABLE.iter().zip(&*T::state().each.borrow()) {
        if let Ok(Some(decided)) = state.decide(setting.context) {
            apply(setting, &decided.value, &mut values);
        }
    }
    T::state().parsed.set(Some((changes(), values)));
    values
}

/// Stores a value that the check hook has let pass.
fn apply<S>(setting: &Setting<S>, value: &str, values: &mut S) {
    let is_applied = match setting.kind {
        Kind::Choice { words, apply } => {
            words.iter().position(|word| *word == value).map(|word| apply(values, word)).is_some()
        }
        Kind::Integer { apply, .. } => value.parse().map(|number| apply(values, number)).is_ok(),
        Kind::Text { apply, .. } => apply(values, value).is_ok(),
    };
    debug_assert!(is_applied, "the check hook lets only valid values pass");
}

/// Checks the settings that not every user may change.
///
/// # Errors
/// Returns an error (22023) if a source that may not set it has set a setting, or if the configured value is malformed. The value
/// in effect may then be another server's.
#[inline]
pub fn check_none_refused<T: Configured>() -> Result<(), Error> {
    if T::state().are_checked.get() { Ok(()) } else { check::<T>() }
}

#[cold]
fn check<T: Configured>() -> Result<(), Error> {
    if is_preloaded() {
        reject_stored::<T>();
    }
    pass_to_workers::<T>();
    for (setting, state) in T::TABLE.iter().zip(&*T::state().each.borrow()) {
        state.decide(setting.context).map_err(|refused| refusal(setting, refused))?;
    }
    T::state().are_checked.set(true);
    Ok(())
}

/// Records malformed values that were stored before the library was preloaded. The server skips them with a warning when a
/// session starts.
fn reject_stored<T: Configured>() {
    for (index, setting) in decisive::<T>() {
        if let Some((source, value)) = stored_for_all_roles(setting.name)
            && !is_valid(setting, &value)
        {
            T::state().reject(index, source, String::from_utf8_lossy(&value).into_owned());
        }
    }
}

/// Makes the server pass the decisions of this process to its parallel workers, which read the configuration later. It does not
/// pass values with the source PGC_S_DEFAULT.
pub fn pass_to_workers<T: Configured>() {
    if transaction::is_parallel_worker() || transaction::is_parallel() {
        return;
    }
    for (index, setting) in decisive::<T>() {
        let source = match T::state().each.borrow()[index].source_to_pass() {
            Some(Source::PassedDefault) => GucSource::PGC_S_DYNAMIC_DEFAULT,
            Some(Source::Refused) => GucSource::PGC_S_OVERRIDE,
            _ => continue,
        };
        let name = datum::c_string(format!("scru.{}", setting.name));
        let value = datum::c_string(shown(&name));
        // SAFETY: the setting is defined. The server copies the value. Outside of parallel mode, settings can be changed.
        unsafe { pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), GucContext::PGC_SUSET, source) };
    }
}

/// The present value of one of the server's settings, as a text.
pub fn shown(name: &CStr) -> String {
    // SAFETY: a look-up of a setting that is defined.
    unsafe { datum::text_of(pg_sys::GetConfigOption(name.as_ptr(), false, false)) }.unwrap_or_default()
}

/// The settings that decide uniqueness, with their indexes.
fn decisive<T: Configured>() -> impl Iterator<Item = (usize, &'static Setting<T::Values>)> {
    T::TABLE.iter().enumerate().filter(|(_, setting)| setting.context == SettingContext::Superuser)
}

/// The value of a setting that `ALTER ROLE ALL SET` or `ALTER DATABASE … SET` has stored for the sessions of this database,
/// and its source. A value for this database takes precedence over one for all databases. Returns `None` if there is no value, or
/// outside of a transaction.
fn stored_for_all_roles(name: &str) -> Option<(GucSource::Type, Vec<u8>)> {
    let prefix = format!("scru.{name}=");
    let mut found = None;
    // SAFETY: in a transaction. Rows of this catalog have this struct, and an array of texts of the form `name=value`.
    unsafe {
        if !pg_sys::IsTransactionState() {
            return None;
        }
        catalog::scan(pg_sys::DbRoleSettingRelationId, |row, columns| {
            let key = &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_db_role_setting>();
            let source = match key.setdatabase {
                _ if key.setrole != Oid::INVALID => return,
                Oid::INVALID => GucSource::PGC_S_GLOBAL,
                database if database == pg_sys::MyDatabaseId => GucSource::PGC_S_DATABASE,
                _ => return,
            };
            let mut is_null = false;
            let column = pg_sys::Anum_pg_db_role_setting_setconfig as c_int;
            let entries = pg_sys::heap_getattr(row, column, columns, &mut is_null);
            let Some(entries) = Array::<&[u8]>::from_datum(entries, is_null) else { return };
            let value = entries.iter().flatten().find_map(|entry| entry.strip_prefix(prefix.as_bytes()));
            found = found.take().max(value.map(|value| (source, value[..value.len().min(datum::MAX_TEXT)].to_vec())));
        });
    }
    found
}

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

/// The server's source as a source of the pure rules.
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
            pg_sys::GUC_check_errcode(SqlState::ERRCODE_CANT_CHANGE_RUNTIME_PARAM as c_int);
            pg_sys::GUC_check_errmsg_string =
                format!("parameter \"scru.{}\" cannot be changed now", setting.name).as_pg_cstr();
            pg_sys::GUC_check_errdetail_string = who_may_set(setting.context).as_pg_cstr();
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

/// The source that [`attach_source`] has attached to a value. A value without one counts as set by the session.
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
    pub source: Source,
}

/// The type's setting that decides uniqueness; `None` if the type has none, or if it is refused.
pub fn deciding<T: Configured>() -> Option<Deciding> {
    let (index, setting) = decisive::<T>().next()?;
    let each = T::state().each.borrow();
    let Sourced { source, value } = each[index].decide(setting.context).ok()??;
    Some(Deciding { name: setting.name, value: value.clone(), source: *source })
}

/// The error for a refused value.
fn refusal<S>(setting: &Setting<S>, Sourced { source, value }: &Sourced<String>) -> Error {
    let name = setting.name;
    let error = if *source == Source::Refused {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "parameter \"scru.{name}\" is refused in this session")
            .detail("The session has a malformed value, or one from a source that may not set it.")
    } else if source.is_admitted(setting.context) {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "invalid value for parameter \"scru.{name}\": \"{value}\"").detail(
            format!("It is set by {source}. The default is not used instead, because it may be another server's."),
        )
    } else {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "parameter \"scru.{name}\" must not be set by {source}")
            .detail(format!("It is set to \"{value}\". {}", who_may_set(setting.context)))
    };
    error.hint(hint_for(*source, name))
}

/// The HINT for a value that is refused.
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
        _ => format!("Correct it in {source}, and reload."),
    }
}

/// A sentence that names the sources that may set a setting.
fn who_may_set(context: SettingContext) -> &'static str {
    match context {
        SettingContext::Superuser => {
            "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must \
             have the same value."
        }
        _ => "Only the configuration file can set it.",
    }
}
