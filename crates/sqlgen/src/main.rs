//! Renders the install scripts of the extensions in `sql/install`, and the regression test with the examples of the reference pages.
//!
//! The sources are the templates `sql/*.sql.in` and the registry of ID systems. `tools/lib/reference.py` renders the pages.
//!
//! - `--check` writes no files. It fails if a committed file differs from its rendering, or if this version is released and its
//!   SQL has changed.
//! - `--script EXTENSION` prints the complete install script of this version of an extension.
//! - `--release` writes these scripts to `sql/released/EXTENSION--VERSION.sql`. A later change of the SQL requires a new version.

mod sample;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use minijinja::{Environment, UndefinedBehavior, context};
use scru_ids::{Field, Getter, SettingContext, SqlId, Stored};
use serde::Serialize;

type Error = Box<dyn std::error::Error>;

/// The version of the extension.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The properties of an ID system that the templates use.
#[derive(Serialize)]
struct Type {
    #[serde(rename = "T")]
    name: &'static str,
    /// The SQL type: the extension's, or the server's.
    #[serde(rename = "S")]
    sql_type: &'static str,
    /// Whether the SQL type is the server's.
    core: bool,
    summary: &'static str,
    length: usize,
    digits: usize,
    by_value: bool,
    text_varies: bool,
    uuid: bool,
    numeric: bool,
    backfill: bool,
    /// The setting with the server's number; `None` if IDs contain no such number.
    number_setting: Option<&'static str>,
    tick: String,
    fields: Vec<FieldFunction>,
    comparisons: &'static [Comparison],
    time_comparisons: Vec<Comparison>,
    /// Two IDs for the examples, in ascending order.
    first: String,
    second: String,
}

/// The function that returns a field of an ID.
#[derive(Serialize)]
struct FieldFunction {
    name: &'static str,
    summary: &'static str,
    sql_type: &'static str,
    parameter: Option<&'static str>,
}

/// A comparison operator.
#[derive(Clone, Copy, Serialize)]
struct Comparison {
    name: &'static str,
    symbol: &'static str,
    commutator: &'static str,
    negator: &'static str,
    estimator: &'static str,
    comment: &'static str,
}

/// A binary-coercible cast between two types of the extension.
#[derive(Serialize)]
struct Cast {
    from: &'static str,
    to: &'static str,
}

const fn comparison([name, symbol, commutator, negator, estimator, comment]: [&'static str; 6]) -> Comparison {
    Comparison { name, symbol, commutator, negator, estimator, comment }
}

impl Comparison {
    /// Returns whether the operator also compares IDs with times. `=` and `<>` do not: equality by time is not transitive.
    fn is_with_time(&self) -> bool {
        !["eq", "ne"].contains(&self.name)
    }
}

const COMPARISONS: &[Comparison] = &[
    comparison(["eq", "=", "=", "<>", "eq", "equal"]),
    comparison(["ne", "<>", "<>", "=", "neq", "not equal"]),
    comparison(["lt", "<", ">", ">=", "scalarlt", "less than: created before"]),
    comparison(["le", "<=", ">=", ">", "scalarle", "less than or equal"]),
    comparison(["gt", ">", "<", "<=", "scalargt", "greater than: created after"]),
    comparison(["ge", ">=", "<=", "<", "scalarge", "greater than or equal"]),
];

fn type_of<T: SqlId>() -> Type {
    let length = <T::Stored as Stored>::LEN;
    let [first, second] = sample::ids::<T>();
    Type {
        name: T::NAME,
        sql_type: T::SQL_TYPE,
        core: T::CORE_TYPE.is_some(),
        summary: T::SUMMARY,
        length,
        digits: T::TEXT_LEN,
        by_value: T::Stored::BY_VALUE,
        text_varies: T::TEXT_VARIES,
        uuid: length == 16,
        numeric: T::WIDE_INTEGER,
        backfill: T::BACKFILL,
        number_setting: T::SETTINGS.iter().find(|it| it.context == SettingContext::Superuser).map(|it| it.name),
        tick: match T::TICKS.micros / 1_000 {
            1 => "millisecond".into(),
            millis => format!("tick of {millis} milliseconds"),
        },
        fields: T::FIELDS.iter().map(field_function).collect(),
        comparisons: COMPARISONS,
        time_comparisons: COMPARISONS.iter().filter(|each| each.is_with_time()).copied().collect(),
        first,
        second,
    }
}

fn field_function<T>(field: &Field<T>) -> FieldFunction {
    let (sql_type, parameter) = match field.getter {
        Getter::Bits24(_) => ("integer", None),
        Getter::Bits32(_) => ("bigint", None),
        Getter::Bits80(_) => ("bytea", None),
        Getter::Bits24By { parameter, .. } => ("integer", Some(parameter)),
    };
    FieldFunction { name: field.name, summary: field.summary, sql_type, parameter }
}

fn registered_types() -> Vec<Type> {
    let mut types = Vec::new();
    macro_rules! add {
        ($name:ident, $id:ident) => {
            types.push(type_of::<scru_ids::$id>());
        };
    }
    scru_ids::registry!(add);
    types
}

/// Returns the ID systems whose SQL type is the server's. Each has an extension of its own.
fn core_systems() -> Vec<Type> {
    let mut systems = Vec::new();
    macro_rules! add {
        ($name:ident, $id:ident) => {
            systems.push(type_of::<scru_ids::$id>());
        };
    }
    scru_ids::core_registry!(add);
    systems
}

fn casts_between(types: &[Type]) -> Vec<Cast> {
    let names = || types.iter().filter(|each| each.uuid).map(|each| each.name);
    names().flat_map(|from| names().filter(move |to| *to != from).map(move |to| Cast { from, to })).collect()
}

/// The path of a file, relative to the root, and its content.
type File = (String, String);

const INSTALL: &str = "sql/install";
const EXAMPLES: &str = "tests/pg_regress/sql/reference.sql";

/// An extension, and the parts of its install script.
struct Extension {
    name: String,
    files: Vec<File>,
}

/// Renders the install scripts and the regression test with the examples.
fn rendered(root: &Path) -> Result<(Vec<Extension>, File), Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let template = |name: &str| fs::read_to_string(root.join("sql").join(name));
    let system_template = template("system.sql.in")?;
    environment.add_template("system.sql.in", &system_template)?;
    let sequence_template = template("sequence.sql.in")?;
    environment.add_template("sequence.sql.in", &sequence_template)?;
    let type_template = template("type.sql.in")?;
    let core_template = template("core.sql.in")?;

    let (types, core_systems) = (registered_types(), core_systems());
    let domain = environment.render_str(&template("range.sql.in")?, ())?;
    let mut scripts = vec![(format!("{INSTALL}/range.sql"), domain)];
    for each in &types {
        scripts.push((format!("{INSTALL}/{}.sql", each.name), environment.render_str(&type_template, each)?));
    }
    let all = context! { types, core_systems, casts_between_types => casts_between(&types) };
    scripts.push((format!("{INSTALL}/extension.sql"), environment.render_str(&template("extension.sql.in")?, &all)?));
    let mut extensions = vec![Extension { name: "scru".into(), files: scripts }];
    for each in &core_systems {
        let name = format!("scru_{}", each.name);
        let script = environment.render_str(&core_template, each)?;
        extensions.push(Extension { files: vec![(format!("{INSTALL}/{name}.sql"), script)], name });
    }
    let examples = environment.render_str(&template("reference.sql.in")?, &all)?;
    Ok((extensions, (EXAMPLES.into(), examples)))
}

/// Returns the paths of files that differ from their rendering or are missing, and of files in `sql/install` that are no longer
/// rendered.
fn drift(root: &Path, files: &[File]) -> Result<Vec<String>, Error> {
    let is_current =
        |(path, content): &File| fs::read_to_string(root.join(path)).is_ok_and(|committed| committed == *content);
    let mut paths: Vec<_> = files.iter().filter(|file| !is_current(file)).map(|(path, _)| path.clone()).collect();
    for entry in fs::read_dir(root.join(INSTALL))? {
        let path = format!("{INSTALL}/{}", entry?.file_name().to_string_lossy());
        if !files.iter().any(|(rendered, _)| *rendered == path) {
            paths.push(path);
        }
    }
    Ok(paths)
}

impl Extension {
    /// Returns the complete install script of this version.
    fn script(&self) -> String {
        let scripts: Vec<_> = self.files.iter().map(|(_, content)| content.as_str()).collect();
        let name = &self.name;
        format!("\\echo Use \"CREATE EXTENSION {name}\" to load this file. \\quit\n\n{}", scripts.join("\n"))
    }

    /// Returns the path of the install script of this version after its release.
    fn released(&self, root: &Path) -> PathBuf {
        root.join(format!("sql/released/{}--{VERSION}.sql", self.name))
    }
}

/// Fails if a committed file differs from its rendering, or if this version is released and its SQL has changed.
fn check(root: &Path, extensions: &[Extension], files: &[File]) -> Result<ExitCode, Error> {
    let is_changed =
        |each: &Extension| fs::read_to_string(each.released(root)).is_ok_and(|frozen| frozen != each.script());
    if extensions.iter().any(is_changed) {
        eprintln!("the SQL of version {VERSION} is released: change it in the next version");
        return Ok(ExitCode::FAILURE);
    }
    let paths = drift(root, files)?;
    for path in &paths {
        eprintln!("{path} differs from its rendering: run `make gen`");
    }
    Ok(if paths.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write(root: &Path, files: &[File]) -> Result<(), Error> {
    for (path, content) in files {
        fs::write(root.join(path), content)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (extensions, examples) = rendered(&root)?;
    let mut files: Vec<_> = extensions.iter().flat_map(|each| each.files.clone()).collect();
    files.push(examples);
    match env::args().nth(1).as_deref() {
        Some("--script") => {
            let name = env::args().nth(2).unwrap_or_default();
            let extension = extensions.iter().find(|each| each.name == name);
            print!("{}", extension.ok_or_else(|| format!("there is no extension \"{name}\""))?.script());
            return Ok(ExitCode::SUCCESS);
        }
        Some("--release") => {
            for each in &extensions {
                let released = each.released(&root);
                fs::File::create_new(&released)
                    .and_then(|mut file| file.write_all(each.script().as_bytes()))
                    .map_err(|error| format!("cannot release {}: {error}", released.display()))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        Some("--check") => return check(&root, &extensions, &files),
        _ => {}
    }
    write(&root, &files)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_file_and_meta_json_name_every_type() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let texts = ["scru.control", "META.json"].map(|name| fs::read_to_string(root.join(name)).unwrap());
        let comment = texts[0].lines().find(|line| line.starts_with("comment = ")).unwrap();
        let tags = texts[1].lines().find(|line| line.contains("\"tags\"")).unwrap();
        for each in registered_types() {
            let is_name = |word: &str| word == each.name;
            for line in [comment, tags] {
                assert!(line.split(|c: char| !c.is_alphanumeric()).any(is_name), "{} is not in {line}", each.name);
            }
        }
    }
}
