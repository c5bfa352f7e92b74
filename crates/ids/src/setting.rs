//! The settings of a type, as data: what a user may set, and how it is kept.

/// A setting that one type's generator or text form obeys.
#[derive(Debug)]
pub struct Setting<S: 'static> {
    /// Its name, without the extension's prefix.
    pub name: &'static str,
    /// One line that tells what it does.
    pub summary: &'static str,
    /// Who may change it, and how.
    pub context: SettingContext,
    /// Its values and what they do.
    pub kind: Kind<S>,
}

/// Who may change a setting, and how: what PostgreSQL shows as `pg_settings.context`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingContext {
    /// Every user, for a session.
    User,
    /// The configuration file alone. Takes effect on a reload.
    Reload,
    /// The configuration file, `ALTER ROLE ALL SET` and `ALTER DATABASE … SET`: for settings that decide uniqueness. They must
    /// have one value for all sessions of a database.
    Superuser,
}

/// The values of a setting. A type has one [`Kind::Text`] at the most.
#[derive(Debug)]
pub enum Kind<S: 'static> {
    /// One of several words; the default is the first.
    Choice {
        /// The words.
        words: &'static [&'static str],
        /// Keeps the word's index.
        keep: fn(&mut S, usize),
    },
    /// A whole number.
    Integer {
        /// The value when nothing is set.
        default: i32,
        /// The smallest value.
        min: i32,
        /// The largest value.
        max: i32,
        /// Keeps the value.
        keep: fn(&mut S, i32),
    },
    /// A text with a syntax of its own.
    Text {
        /// The value when nothing is set.
        default: &'static str,
        /// Keeps the value, or tells in a sentence why it is none.
        keep: fn(&mut S, &str) -> Result<(), String>,
    },
}
