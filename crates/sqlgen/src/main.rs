//! Renders the install scripts of the extensions in `sql/install`, and the regression test with the examples of the reference pages.
//!
//! The sources are the templates `sql/*.sql.in` and the registry of ID systems. `tools/lib/reference.py` renders the pages.
//!
//! - `--check` writes no files. It fails if a committed file differs from its rendering, or if this version is released and its
//!   SQL has changed.
//! - `--script EXTENSION` prints the complete install script of this version of an extension.
//! - `--release` writes these scripts to `sql/released/EXTENSION--VERSION.sql`. A later change of the SQL requires a new version.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::ExitCode;
use std::{env, fs};

use minijinja::{Environment, UndefinedBehavior, Value, context, path_loader};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use scru_ids::{Getter, SortableId, SqlId, Stored, core_registry, registry};

type Error = Box<dyn std::error::Error>;

/// The version of the extension.
const VERSION: &str = env!("CARGO_PKG_VERSION");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const INSTALL: &str = "sql/install";
const EXAMPLES: &str = "tests/pg_regress/sql/reference.sql";

/// The properties of an ID system that the templates use.
fn system<T: SqlId>() -> Value {
    let fields = T::FIELDS.iter().map(|field| {
        let (sql_type, parameter) = match field.getter {
            Getter::Bits24(_) => ("integer", None),
            Getter::Bits32(_) => ("bigint", None),
            Getter::Bits80(_) => ("bytea", None),
            Getter::Bits24By { parameter, .. } => ("integer", Some(parameter)),
        };
        context! { name => field.name, summary => field.summary, sql_type, parameter }
    });
    let length = <T::Stored as Stored>::LEN;
    let tick = match T::TICKS.micros / 1_000 {
        1 => "millisecond".into(),
        millis => format!("tick of {millis} milliseconds"),
    };
    let [first, second] = examples::<T>();
    let is_core = T::CORE_TYPE.is_some();
    context! {
        T => T::NAME,
        // The SQL type: the extension's, or the server's.
        S => T::SQL_TYPE,
        core => is_core,
        summary => T::SUMMARY,
        length,
        digits => T::TEXT_LEN,
        by_value => T::Stored::BY_VALUE,
        uuid => length == 16,
        numeric => T::WIDE_INTEGER,
        backfill => !T::SERVER_WIDE,
        // Whether IDs can be encrypted to a uuid, and whether this walks until the uuid has version 4.
        encrypted => [8, 16].contains(&length),
        walked => length == 8 || is_core,
        // The setting with the server's number; none if IDs contain no such number.
        node_setting => T::NODE_SETTING,
        tick,
        fields => fields.collect::<Vec<_>>(),
        // Two IDs for the examples, in ascending order.
        first,
        second,
    }
}

/// The text of two IDs for the examples, with times of one and two seconds after 2025-01-01 12:00:00 UTC.
fn examples<T: SqlId>() -> [String; 2] {
    // The same sequence in each run and on each platform.
    let mut numbers = Xoshiro256PlusPlus::seed_from_u64(0);
    [1_735_732_801_000_000, 1_735_732_802_000_000].map(|micros: i64| {
        let tick = (micros - T::TICKS.epoch) / T::TICKS.micros;
        T::random_of(tick.unsigned_abs(), &mut numbers).to_string()
    })
}

/// An extension and its install script.
struct Extension {
    name: String,
    /// The complete install script of this version.
    script: String,
    /// The parts of the script: their names in [`INSTALL`], and their contents.
    parts: Vec<(String, String)>,
}

impl Extension {
    /// The path of the install script of this version after its release.
    fn released(&self) -> String {
        format!("sql/released/{}--{VERSION}.sql", self.name)
    }
}

/// Renders the install scripts and the regression test with the examples.
fn rendered() -> Result<(Vec<Extension>, String), minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.set_loader(path_loader("sql"));
    let render = |template: &str, properties: &Value| environment.get_template(template)?.render(properties);

    let (mut types, mut core_systems) = (Vec::new(), Vec::new());
    registry!(|Id| types.push(system::<Id>()));
    core_registry!(|Id| core_systems.push(system::<Id>()));
    let all = context! { types, core_systems };

    let extension = |name: &str, parts: Vec<(String, String)>| -> Result<_, minijinja::Error> {
        let properties = context! { extension => name };
        let [begin, end] = [render("begin.sql.in", &properties)?, render("end.sql.in", &properties)?];
        let contents: Vec<_> = parts.iter().map(|(_, content)| content.as_str()).collect();
        let script = format!(
            "\\echo Use \"CREATE EXTENSION {name}\" to load this file. \\quit\n\n{begin}\n{}\n{end}",
            contents.join("\n")
        );
        Ok(Extension { name: name.into(), script, parts })
    };

    let mut parts = vec![("internal".into(), render("internal.sql.in", &all)?)];
    registry!(|Id| parts.push((Id::NAME.into(), render("type.sql.in", &system::<Id>())?)));
    parts.push(("extension".into(), render("extension.sql.in", &all)?));
    let mut extensions = vec![extension("scru", parts)?];
    let of_one_part = |name: &str, part: String| extension(name, vec![(name.into(), part)]);
    core_registry!(|Id| {
        let part = render("core.sql.in", &system::<Id>())?;
        extensions.push(of_one_part(&format!("scru_{}", Id::NAME), part)?);
    });
    extensions.push(of_one_part("scru_text", render("text.sql.in", &all)?)?);
    Ok((extensions, render("reference.sql.in", &all)?))
}

/// Fails if this version is released and its SQL has changed, or if a committed file differs from its rendering, is missing, or is
/// no longer rendered. `files` has the rendered files by their paths.
fn check(extensions: &[Extension], files: &BTreeMap<String, String>) -> Result<(), Error> {
    let is_changed = |each: &Extension| fs::read_to_string(each.released()).is_ok_and(|frozen| frozen != each.script);
    if extensions.iter().any(is_changed) {
        return Err(format!("the SQL of version {VERSION} is released: change it in the next version").into());
    }
    let mut committed = BTreeMap::from([(EXAMPLES.into(), fs::read_to_string(EXAMPLES).unwrap_or_default())]);
    for entry in fs::read_dir(INSTALL)? {
        let path = format!("{INSTALL}/{}", entry?.file_name().display());
        committed.insert(path.clone(), fs::read_to_string(path)?);
    }
    let paths: BTreeSet<_> = files.keys().chain(committed.keys()).collect();
    let changed = paths.into_iter().filter(|path| files.get(*path) != committed.get(*path));
    let problems: Vec<_> = changed.map(|path| format!("{path} differs from its rendering: run `make gen`")).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn run(arguments: &[&str]) -> Result<(), Error> {
    env::set_current_dir(ROOT)?;
    let (extensions, examples) = rendered()?;
    let mut files = BTreeMap::from([(EXAMPLES.into(), examples)]);
    for (name, content) in extensions.iter().flat_map(|each| &each.parts) {
        files.insert(format!("{INSTALL}/{name}.sql"), content.clone());
    }
    match arguments {
        [] => files.iter().try_for_each(|(path, content)| Ok(fs::write(path, content)?)),
        ["--check"] => check(&extensions, &files),
        ["--script", name] => {
            let extension = extensions.iter().find(|each| each.name == *name);
            print!("{}", extension.ok_or_else(|| format!("there is no extension \"{name}\""))?.script);
            Ok(())
        }
        ["--release"] => extensions.iter().try_for_each(|each| {
            fs::File::create_new(each.released())
                .and_then(|mut file| file.write_all(each.script.as_bytes()))
                .map_err(|error| format!("cannot release {}: {error}", each.released()).into())
        }),
        _ => Err(format!("invalid arguments: {}", arguments.join(" ")).into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum Names {
        Systems,
        Types,
        TypesOf16Bytes,
        SystemsWithoutNode,
    }
    use Names::*;

    impl Names {
        fn include<T: SqlId>(&self) -> bool {
            match self {
                Systems => true,
                Types => T::CORE_TYPE.is_none(),
                TypesOf16Bytes => T::CORE_TYPE.is_none() && T::Stored::LEN == 16,
                SystemsWithoutNode => !T::SERVER_WIDE,
            }
        }
    }

    /// Texts that name types, which no other test compares with the registry: the file, the words before and after the text, and
    /// the types.
    #[rustfmt::skip]
    const TEXTS: &[(&str, &str, &str, Names)] = &[
        ("scru.control", "comment = ", "\n", Types),
        ("META.json", "\"description\": ", "\n", Types),
        ("META.json", "\"tags\": ", "\n", Types),
        ("README.md", "Time-sortable IDs as PostgreSQL types: ", "\n\n", Types),
        ("README.md", "## Which type?\n\n", "\n\n", Types),
        ("docs/types.md", "The types differ in size", "| bytes |", Types),
        ("docs/settings.md", "## scru.generator_scope", "- `session`", SystemsWithoutNode),
        ("docs/settings.md", "## scru.on_clock_rollback", "- `reset`", SystemsWithoutNode),
        ("src/settings/mod.rs", "Scope within which", "\n", SystemsWithoutNode),
        ("src/settings/mod.rs", "strictly increasing", "scru.on_clock_rollback", SystemsWithoutNode),
        ("src/call/hints.rs", "which can be cast to ", "\n", TypesOf16Bytes),
        ("crates/ids/README.md", "Time-sortable IDs: ", "\n\n", Types),
        ("crates/ids/README.md", "| type | bytes |", "\n\n", Systems),
        ("packaging/debian/tests/use.sql", "CREATE TABLE ids (", ");", Types),
        ("tests/e2e/clients/programs/alembic/models.py", "from scru_postgres.sqlalchemy import ", "class All", Types),
        ("tests/e2e/clients/programs/activerecord/scru.rb", "TYPES = ", "\n", Types),
    ];

    #[test]
    fn texts_name_every_type() {
        let mut missing = Vec::new();
        for (path, before, after, names) in TEXTS {
            let content = fs::read_to_string(format!("{ROOT}/{path}")).unwrap();
            let (_, text) = content.split_once(before).unwrap_or_else(|| panic!("{path} has no {before:?}"));
            let (text, _) =
                text.split_once(after).unwrap_or_else(|| panic!("{path} has no {after:?} after {before:?}"));
            // Prose writes Ulid-Flake, the name in its specification.
            let text = text.to_lowercase().replace("ulid-flake", "ulidflake");
            let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric()).collect();
            scru_ids::id_systems!(|Id| if names.include::<Id>() && !words.contains(&Id::NAME) {
                missing.push(format!("{path}, after {before:?}: {}", Id::NAME));
            });
        }
        assert!(missing.is_empty(), "types that are not named:\n{}", missing.join("\n"));
    }
}
