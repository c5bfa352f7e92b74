//! Whether a process may use the value of a setting that decides uniqueness: a pure function of the events that the server reports.
//!
//! The value of the source with the highest rank decides. If the source may not set the setting, or if the value is malformed, the
//! setting is refused. The server itself skips a value that it rejects, and later assigns a value of a lower rank in its place. A
//! refusal is therefore cleared only by a value of the same or a higher rank.
//!
//! A parallel worker first reads the configuration itself. Then the server resets its settings to their defaults and assigns the
//! values of the leader, except defaults. The leader gives a default another source, and so passes it as well.

use core::fmt;

/// The source of a value, in the order of rank: the server assigns a value only if its rank is at least that of the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Default,
    /// The default, with a source that makes the server pass it to parallel workers.
    PassedDefault,
    Environment,
    File,
    CommandLine,
    AllRoles,
    Database,
    Role,
    RoleInDatabase,
    Client,
    /// A refusal that a process passes to its parallel workers, which may have read another configuration.
    Refused,
    Session,
}

impl Source {
    /// Whether the value is the default.
    pub fn is_default(self) -> bool {
        self <= Self::PassedDefault
    }

    /// Whether a value with this source may take effect: the source gives all sessions of a database the same value.
    pub fn is_admitted(self) -> bool {
        self <= Self::Database
    }
}

/// The name of the source, for messages.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default | Self::PassedDefault => "the default",
            Self::Environment => "the server's environment",
            Self::File => "the configuration file",
            Self::CommandLine => "the server's command line",
            Self::AllRoles => "ALTER ROLE ALL",
            Self::Database => "ALTER DATABASE",
            Self::Role => "ALTER ROLE",
            Self::RoleInDatabase => "ALTER ROLE IN DATABASE",
            Self::Client => "the connection options",
            Self::Refused | Self::Session => "the session",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<V> {
    pub source: Source,
    pub value: V,
}

/// The process's state of a setting.
#[derive(Debug)]
pub struct SettingState<V> {
    /// The last value that the server has assigned.
    assigned: Option<Sourced<V>>,
    /// The configured value that the server has rejected, while no assigned value has cleared the refusal.
    rejected: Option<Sourced<V>>,
}

impl<V> SettingState<V> {
    /// The state of a setting that is not yet defined.
    pub const UNDEFINED: Self = Self { assigned: None, rejected: None };

    /// Records a value that the server assigns to a process, which may be a parallel worker.
    pub fn assign(&mut self, assigned: Sourced<V>, is_worker: bool) {
        let source = assigned.source;
        if is_worker && source == Source::Default && self.assigned.is_some() {
            // The server resets the setting, to assign the leader's value. If the leader passes none, the worker's own one decides.
            return;
        }
        self.rejected.take_if(|rejected| {
            // The command line does not change while the server runs, so the leader has rejected the same value.
            let is_replaced_by_leader = is_worker && rejected.source != Source::CommandLine;
            source != Source::Refused && (rejected.source <= source || is_replaced_by_leader)
        });
        self.assigned = Some(assigned);
    }

    /// Records a configured value that the server has rejected, unless the assigned value has a higher rank.
    pub fn reject(&mut self, rejected: Sourced<V>) {
        if self.assigned.as_ref().is_none_or(|assigned| assigned.source <= rejected.source) {
            self.rejected = Some(rejected);
        }
    }

    /// The value to use; `None` if the setting is not yet defined.
    ///
    /// # Errors
    /// Returns the value that is refused. If its source is admitted, the value is malformed.
    pub fn decide(&self) -> Result<Option<&Sourced<V>>, &Sourced<V>> {
        match (&self.rejected, &self.assigned) {
            (Some(refused), _) => Err(refused),
            (_, Some(assigned)) if !assigned.source.is_admitted() => Err(assigned),
            (_, assigned) => Ok(assigned.as_ref()),
        }
    }

    /// The source that the assigned value must get so that the server passes this process's decision to parallel workers;
    /// `None` if it already does.
    ///
    /// The refusal of a value of the server's configuration is not passed: it would outrank the correction that a reload brings. A
    /// worker reads the configuration itself.
    pub fn source_to_pass(&self) -> Option<Source> {
        let assigned = self.assigned.as_ref()?.source;
        match &self.rejected {
            // Read when a session starts, such a value can differ between a leader and its later worker.
            Some(rejected) if rejected.source > Source::CommandLine => {
                (assigned != Source::Refused).then_some(Source::Refused)
            }
            Some(_) => None,
            None => (assigned == Source::Default).then_some(Source::PassedDefault),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/setting_state.rs"]
mod tests;
