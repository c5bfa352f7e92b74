//! Descriptions of the settings of a type: their values, who may change them, and how they are stored.

/// A setting of one type, for its generator or its text form.
#[derive(Debug)]
pub struct Setting<S: 'static> {
    /// The name, without the extension's prefix.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// Who may change the setting, and where.
    pub context: SettingContext,
    /// The values of the setting, and the function that stores them.
    pub kind: Kind<S>,
}

/// Who may change a setting, and where. PostgreSQL shows it as `pg_settings.context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingContext {
    /// Every user, in a session.
    User,
    /// Only the configuration file. A change takes effect on reload.
    Reload,
    /// The configuration file, `ALTER ROLE ALL SET` and `ALTER DATABASE … SET`. For settings that determine uniqueness, and
    /// therefore must have one value in all sessions of a database.
    Superuser,
}

/// The values of a setting.
#[derive(Debug)]
pub enum Kind<S: 'static> {
    /// One of several words. The first is the default.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Stores the index of the word.
        apply: fn(&mut S, usize),
    },
    /// An integer.
    Integer {
        /// The default value.
        default: i32,
        /// The smallest value.
        min: i32,
        /// The largest value.
        max: i32,
        /// Stores the value.
        apply: fn(&mut S, i32),
    },
    /// A text with a syntax of its own. Not every user may change such a setting.
    Text {
        /// The default value.
        default: &'static str,
        /// Parses and stores the value. If it is invalid, returns the reason as a sentence.
        apply: fn(&mut S, &str) -> Result<(), String>,
    },
}
