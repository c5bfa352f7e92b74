//! The settings that decide uniqueness, the node of each type that has one: which of their sources decides.
//!
//! The check hook receives the source of a value and attaches it to the value as extra data. The source is therefore known whenever
//! the server assigns the value, including by RESET and at the end of a transaction. `scru_server::setting_state` has the rules.

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use pgrx::datum::Array;
use pgrx::guc::GucCheckError;
use pgrx::pg_sys::{GucContext, GucSource, Oid};
use pgrx::{FromDatum, PgSqlErrorCode as SqlState, pg_guard, pg_sys};
use scru_ids::{NodeError, Scru64, Scru64Node, SortableId, SqlId, Ulidflake};
use scru_server::setting_state::{SettingState, Source, Sourced};

use crate::call::error::{Error, sql_error};
use crate::pg::process::PerProcess;
use crate::pg::{catalog, datum, server, transaction};

pub static SCRU64_NODE: PerProcess<Node<Scru64Node>> =
    PerProcess::new(Node::new(Scru64::NODE_SETTING, |text| text.parse().map_err(|error: NodeError| error.to_string())));

pub static ULIDFLAKE_SCALABILITY: PerProcess<Node<Option<u32>>> =
    PerProcess::new(Node::new(Ulidflake::NODE_SETTING, parse_number));

/// The largest number of a server in ulidflakes. -1 stands for no number.
pub const MAX_NUMBER: c_int = Ulidflake::MAX.scalability() as c_int;

/// Whether the server preloaded the library. If so, the settings are defined before a session starts.
pub static IS_PRELOADED: PerProcess<Cell<bool>> = PerProcess::new(Cell::new(false));

/// See [`changes`].
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// The number of changes of the settings in this process. What was read from them before a change is stale.
#[inline]
pub fn changes() -> u32 {
    CHANGES.load(Relaxed)
}

pub fn count_change() {
    CHANGES.fetch_add(1, Relaxed);
}

/// A setting that decides uniqueness. `V` is its value, and the default of `V` is its default.
pub struct Node<V> {
    /// The name without the prefix `scru.`.
    name: &'static str,
    /// Parses a value. If it is invalid, returns the reason as a sentence.
    parse: fn(&str) -> Result<V, String>,
    state: RefCell<SettingState<String>>,
    /// The value in effect; `None` until it is asked for after a change, and while it is refused.
    value: Cell<Option<V>>,
}

/// A value in effect, as text, with the name of its setting without the prefix `scru.`.
pub struct Deciding {
    pub name: &'static str,
    pub value: String,
    pub source: Source,
}

impl<V: Copy + Default> Node<V> {
    /// The state of a setting that is not yet defined. Only a static calls this, so that a missing name is an error of the compiler.
    const fn new(name: Option<&'static str>, parse: fn(&str) -> Result<V, String>) -> Self {
        let name = name.expect("the ID system has a node");
        Self { name, parse, state: RefCell::new(SettingState::UNDEFINED), value: Cell::new(None) }
    }

    /// Defines the setting. Records a configured value that the server has rejected with a warning.
    pub fn define(&self, define: impl FnOnce(&'static CStr)) {
        let name = Box::leak(datum::c_string(format!("scru.{}", self.name)).into_boxed_c_str());
        let configured = server::configured(name);
        define(name);
        if let Some((source, value)) = configured
            && server::reset_source(name) != source
        {
            self.reject(source, value);
        }
        self.pass_to_workers();
    }

    fn reject(&self, source: GucSource::Type, value: String) {
        self.state.borrow_mut().reject(Sourced { source: rank(source), value });
        self.value.set(None);
    }

    /// Records a value that the server assigns.
    ///
    /// # Safety
    /// `extra` is the extra data that [`Self::attach_source`] made.
    unsafe fn assign(&self, value: String, extra: *mut c_void) {
        // SAFETY: guaranteed by the caller. A value without a source counts as set by the session.
        let source = unsafe { extra.cast::<Source>().as_ref() }.copied().unwrap_or(Source::Session);
        self.state.borrow_mut().assign(Sourced { source, value }, transaction::is_parallel_worker());
        self.value.set(None);
        count_change();
    }

    /// The value in effect.
    ///
    /// # Errors
    /// Returns an error (22023) if a source that may not set it has set the setting, or if the configured value is malformed. The value
    /// in effect may then be another server's.
    #[inline]
    pub fn value(&self) -> Result<V, Error> {
        self.value.get().map_or_else(|| self.decide(), Ok)
    }

    #[cold]
    fn decide(&self) -> Result<V, Error> {
        if IS_PRELOADED.get() {
            self.reject_stored();
        }
        self.pass_to_workers();
        let state = self.state.borrow();
        let decided = state.decide().map_err(|refused| refusal(self.name, refused))?;
        let value = decided.and_then(|decided| (self.parse)(&decided.value).ok()).unwrap_or_default();
        self.value.set(Some(value));
        Ok(value)
    }

    /// The value in effect with its source; `None` if it is refused.
    pub fn deciding(&self) -> Option<Deciding> {
        let state = self.state.borrow();
        let Sourced { source, value } = state.decide().ok()??;
        Some(Deciding { name: self.name, value: value.clone(), source: *source })
    }

    /// Records a malformed value that was stored before the library was preloaded. The server skips it with a warning when a session
    /// starts.
    fn reject_stored(&self) {
        if let Some((source, value)) = stored_for_all_roles(self.name)
            && !str::from_utf8(&value).is_ok_and(|value| (self.parse)(value).is_ok())
        {
            self.reject(source, String::from_utf8_lossy(&value).into_owned());
        }
    }

    /// Makes the server pass the decision of this process to its parallel workers, which read the configuration later. It does not
    /// pass a value with the source PGC_S_DEFAULT.
    fn pass_to_workers(&self) {
        if transaction::is_parallel_worker() || transaction::is_parallel() {
            return;
        }
        let source = match self.state.borrow().source_to_pass() {
            Some(Source::PassedDefault) => GucSource::PGC_S_DYNAMIC_DEFAULT,
            Some(Source::Refused) => GucSource::PGC_S_OVERRIDE,
            _ => return,
        };
        let name = datum::c_string(format!("scru.{}", self.name));
        let value = datum::c_string(shown(&name));
        // SAFETY: the setting is defined. The server copies the value. Outside of parallel mode, settings can be changed.
        unsafe { pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), GucContext::PGC_SUSET, source) };
    }

    /// Attaches its source to a valid value. Rejects SET (55P02), because a value from a session is always refused.
    ///
    /// # Safety
    /// Must be called from a check hook, with its arguments.
    unsafe fn attach_source(&self, extra: *mut *mut c_void, source: GucSource::Type) -> bool {
        // SAFETY: guaranteed by the caller. The memory has room for the source.
        unsafe {
            if source == GucSource::PGC_S_SESSION {
                GucCheckError::new(format!("parameter \"scru.{}\" cannot be changed now", self.name))
                    .with_detail(WHO_MAY_SET)
                    .with_errcode(SqlState::ERRCODE_CANT_CHANGE_RUNTIME_PARAM as c_int)
                    .apply();
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
}

// ------------------------------------------------------------------------------------------------------------------ hooks

/// Check hook: rejects a malformed node with the reason as DETAIL.
#[pg_guard]
pub unsafe extern "C-unwind" fn check_node(
    value: *mut *mut c_char,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: guaranteed by the server for check hooks. It passes a C string or null.
    unsafe {
        // A text that is cut off here is too long for a node in any case.
        let text = datum::text_of(*value).unwrap_or_default();
        let reason = match (SCRU64_NODE.parse)(&text) {
            Ok(_) => return SCRU64_NODE.attach_source(extra, source),
            Err(reason) => reason,
        };
        GucCheckError::default()
            .with_detail(reason)
            .with_errcode(SqlState::ERRCODE_INVALID_PARAMETER_VALUE as c_int)
            .apply();
    }
    false
}

/// Check hook. The server checks the range.
#[pg_guard]
pub unsafe extern "C-unwind" fn check_number(
    _value: *mut c_int,
    extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    // SAFETY: guaranteed by the server for check hooks.
    unsafe { ULIDFLAKE_SCALABILITY.attach_source(extra, source) }
}

pub unsafe extern "C-unwind" fn assign_node(value: *const c_char, extra: *mut c_void) {
    // SAFETY: the server passes a C string or null. `check_node` made the extra data.
    unsafe { SCRU64_NODE.assign(datum::text_of(value).unwrap_or_default(), extra) };
}

pub unsafe extern "C-unwind" fn assign_number(value: c_int, extra: *mut c_void) {
    // SAFETY: `check_number` made the extra data.
    unsafe { ULIDFLAKE_SCALABILITY.assign(value.to_string(), extra) };
}

/// Parses a number as the server does, in any notation.
fn parse_number(text: &str) -> Result<Option<u32>, String> {
    let (text, mut number, mut hint) = (datum::c_string(text), 0, ptr::null());
    // SAFETY: writes the number, or returns false.
    let is_number = unsafe { pg_sys::parse_int(text.as_ptr(), &mut number, 0, &mut hint) };
    let is_valid = is_number && (-1..=MAX_NUMBER).contains(&number);
    is_valid.then(|| u32::try_from(number).ok()).ok_or_else(String::new)
}

/// The present value of one of the server's settings, as a text.
pub fn shown(name: &CStr) -> String {
    // SAFETY: a look-up of a setting that is defined.
    unsafe { datum::text_of(pg_sys::GetConfigOption(name.as_ptr(), false, false)) }.unwrap_or_default()
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
        catalog::scan(pg_sys::DbRoleSettingRelationId, Oid::INVALID, &mut [], |row, columns| {
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

// --------------------------------------------------------------------------------------------------------------- messages

/// The error for a refused value.
fn refusal(name: &str, Sourced { source, value }: &Sourced<String>) -> Error {
    let error = if *source == Source::Refused {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "parameter \"scru.{name}\" is refused in this session")
            .detail("The session has a malformed value, or one from a source that may not set it.")
    } else if source.is_admitted() {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "invalid value for parameter \"scru.{name}\": \"{value}\"").detail(
            format!("It is set by {source}. The default is not used instead, because it may be another server's."),
        )
    } else {
        sql_error!(ERRCODE_INVALID_PARAMETER_VALUE, "parameter \"scru.{name}\" must not be set by {source}")
            .detail(format!("It is set to \"{value}\". {}", WHO_MAY_SET))
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

const WHO_MAY_SET: &str = "Only the configuration file, ALTER ROLE ALL and ALTER DATABASE can set it: every session of the database must \
                           have the same value.";
