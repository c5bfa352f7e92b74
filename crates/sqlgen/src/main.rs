//! Renders the SQL that users see, `sql/install/*.sql`, from its two templates `sql/*.sql.in` and from the registry of the
//! types. With `--check` it writes nothing, but fails where the committed SQL is not what it would write.
//!
//! With `--script` it prints the whole install script of this version.
//!
//! With `--release` it freezes the SQL of this version as one script, `sql/released/scru--VERSION.sql`. From then on that
//! version's SQL does not change: `--check` fails where it would, and what changes belongs to the next version.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use minijinja::{Environment, UndefinedBehavior, context};
use scru_ids::{Field, Getter, SettingContext, SortableId, Stored};
use serde::Serialize;

type Error = Box<dyn std::error::Error>;

/// What `type.sql.in` knows of a type.
#[derive(Serialize)]
struct Type {
    #[serde(rename = "T")]
    name: &'static str,
    summary: &'static str,
    length: usize,
    by_value: bool,
    text_varies: bool,
    uuid: bool,
    numeric: bool,
    backfill: bool,
    /// The setting that gives each server its number, if the IDs bear one.
    number_setting: Option<&'static str>,
    tick: String,
    fields: Vec<FieldFunction>,
    comparisons: &'static [Comparison],
    time_comparisons: Vec<Comparison>,
}

/// What it knows of the function that reads a field.
#[derive(Serialize)]
struct FieldFunction {
    name: &'static str,
    summary: &'static str,
    sql_type: &'static str,
    parameter: Option<&'static str>,
}

/// What it knows of a comparison operator.
#[derive(Clone, Copy, Serialize)]
struct Comparison {
    name: &'static str,
    symbol: &'static str,
    commutator: &'static str,
    negator: &'static str,
    estimator: &'static str,
    comment: &'static str,
}

/// A binary-coercible cast from one of our types to another.
#[derive(Serialize)]
struct Cast {
    from: &'static str,
    to: &'static str,
}

const fn comparison([name, symbol, commutator, negator, estimator, comment]: [&'static str; 6]) -> Comparison {
    Comparison { name, symbol, commutator, negator, estimator, comment }
}

impl Comparison {
    /// Whether an ID is compared with a time by it, too: equality by time would not be transitive.
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

fn type_of<T: SortableId>() -> Type {
    let length = <T::Stored as Stored>::LEN;
    Type {
        name: T::NAME,
        summary: T::SUMMARY,
        length,
        by_value: length == 8,
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
        ($name:ident, $id:ident, $path:literal) => {
            types.push(type_of::<scru_ids::$id>());
        };
    }
    scru_ids::registry!(add);
    types
}

fn casts_between(types: &[Type]) -> Vec<Cast> {
    let names = || types.iter().filter(|each| each.uuid).map(|each| each.name);
    names().flat_map(|from| names().filter(move |to| *to != from).map(move |to| Cast { from, to })).collect()
}

/// Every file below `sql/install`, with its content.
fn rendered(sql: &Path) -> Result<Vec<(String, String)>, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_keep_trailing_newline(true);
    let type_template = fs::read_to_string(sql.join("type.sql.in"))?;
    let extension_template = fs::read_to_string(sql.join("extension.sql.in"))?;

    let types = registered_types();
    let mut files = Vec::new();
    for each in &types {
        files.push((format!("{}.sql", each.name), environment.render_str(&type_template, each)?));
    }
    let extension = context! { types, casts_between_types => casts_between(&types) };
    files.push(("extension.sql".into(), environment.render_str(&extension_template, extension)?));
    Ok(files)
}

/// The names below `sql/install` that are not as rendered: changed, missing, or rendered from nothing.
fn drift(install: &Path, files: &[(String, String)]) -> Result<Vec<String>, Error> {
    let is_current = |(name, content): &(String, String)| {
        fs::read_to_string(install.join(name)).is_ok_and(|committed| committed == *content)
    };
    let mut names: Vec<_> = files.iter().filter(|file| !is_current(file)).map(|(name, _)| name.clone()).collect();
    for entry in fs::read_dir(install)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !files.iter().any(|(rendered, _)| *rendered == name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// The whole install script of this version, as it is released, and where.
fn release(sql: &Path, files: &[(String, String)]) -> (PathBuf, String) {
    let path = sql.join("released").join(concat!("scru--", env!("CARGO_PKG_VERSION"), ".sql"));
    let scripts: Vec<_> = files.iter().map(|(_, content)| content.as_str()).collect();
    (path, format!("\\echo Use \"CREATE EXTENSION scru\" to load this file. \\quit\n\n{}", scripts.join("\n")))
}

fn main() -> Result<ExitCode, Error> {
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql");
    let install = sql.join("install");
    let files = rendered(&sql)?;
    let (released, script) = release(&sql, &files);
    if env::args().any(|argument| argument == "--script") {
        print!("{script}");
        return Ok(ExitCode::SUCCESS);
    }
    if env::args().any(|argument| argument == "--release") {
        fs::File::create_new(&released)
            .and_then(|mut file| file.write_all(script.as_bytes()))
            .map_err(|error| format!("cannot release {}: {error}", released.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if env::args().any(|argument| argument == "--check") {
        if fs::read_to_string(&released).is_ok_and(|frozen| frozen != script) {
            eprintln!("The SQL of {} is released: a change of it needs the next version", env!("CARGO_PKG_VERSION"));
            return Ok(ExitCode::FAILURE);
        }
        let names = drift(&install, &files)?;
        for name in &names {
            eprintln!("sql/install/{name} is not what the templates render: run `make gen`");
        }
        return Ok(if names.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    for (name, content) in files {
        fs::write(install.join(name), content)?;
    }
    Ok(ExitCode::SUCCESS)
}
