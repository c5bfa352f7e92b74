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

/// The path of the install script of an extension in this version after its release.
fn released(extension: &str) -> String {
    format!("sql/released/{extension}--{VERSION}.sql")
}

/// Renders the complete install scripts of this version, by the names of their extensions, and the files, by their paths: the parts of
/// the scripts, and the regression test with the examples.
fn rendered() -> Result<[BTreeMap<String, String>; 2], minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    environment.set_loader(path_loader("sql"));
    let render = |template: &str, properties: &Value| environment.get_template(template)?.render(properties);

    let (mut types, mut core_systems) = (Vec::new(), Vec::new());
    registry!(|Id| types.push(system::<Id>()));
    core_registry!(|Id| core_systems.push(system::<Id>()));
    let all = context! { types, core_systems };

    let mut scripts = BTreeMap::new();
    let mut files = BTreeMap::from([(EXAMPLES.into(), render("reference.sql.in", &all)?)]);
    let mut add = |name: &str, parts: Vec<(&str, String)>| -> Result<(), minijinja::Error> {
        let properties = context! { extension => name };
        let [begin, end] = [render("begin.sql.in", &properties)?, render("end.sql.in", &properties)?];
        let contents: Vec<_> = parts.iter().map(|(_, content)| content.as_str()).collect();
        let script = format!(
            "\\echo Use \"CREATE EXTENSION {name}\" to load this file. \\quit\n\n{begin}\n{}\n{end}",
            contents.join("\n")
        );
        scripts.insert(name.into(), script);
        files.extend(parts.into_iter().map(|(part, content)| (format!("{INSTALL}/{part}.sql"), content)));
        Ok(())
    };

    let mut parts = vec![("internal", render("internal.sql.in", &all)?)];
    registry!(|Id| parts.push((Id::NAME, render("type.sql.in", &system::<Id>())?)));
    parts.push(("extension", render("extension.sql.in", &all)?));
    add("scru", parts)?;
    core_registry!(|Id| {
        let name = format!("scru_{}", Id::NAME);
        add(&name, vec![(&name, render("core.sql.in", &system::<Id>())?)])?;
    });
    add("scru_text", vec![("scru_text", render("text.sql.in", &all)?)])?;
    Ok([scripts, files])
}

/// Fails if this version is released and its SQL has changed, or if a committed file differs from its rendering, is missing, or is
/// no longer rendered.
fn check(scripts: &BTreeMap<String, String>, files: &BTreeMap<String, String>) -> Result<(), Error> {
    if scripts.iter().any(|(name, script)| fs::read_to_string(released(name)).is_ok_and(|frozen| frozen != *script)) {
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
    let [scripts, files] = rendered()?;
    match arguments {
        [] => files.iter().try_for_each(|(path, content)| Ok(fs::write(path, content)?)),
        ["--check"] => check(&scripts, &files),
        ["--script", name] => {
            print!("{}", scripts.get(*name).ok_or_else(|| format!("there is no extension \"{name}\""))?);
            Ok(())
        }
        ["--release"] => scripts.iter().try_for_each(|(name, script)| {
            fs::File::create_new(released(name))
                .and_then(|mut file| file.write_all(script.as_bytes()))
                .map_err(|error| format!("cannot release {}: {error}", released(name)).into())
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
