//! Renders the reference pages from the regression test `reference`, its expected output, and the install scripts.
//!
//! Each comment in the regression test is a line of a page. `# Title` begins a page. `### OBJECT` documents an object under its
//! own heading, and `| OBJECT` in a row of a table. The statements up to the next comment are the object's example. The install
//! scripts supply the definition and the COMMENT of the object.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::Error;
use crate::catalog::{Catalog, Object, key};

/// The maximum length of a line outside tables, in characters.
const WIDTH: usize = 120;

/// A released version.
pub struct Release {
    /// The version number.
    pub version: String,
    /// The objects of the version.
    pub catalog: Catalog,
}

/// The sources of the pages.
pub struct Sources<'a> {
    /// The regression test, rendered from `sql/reference.sql.in`.
    pub sql: &'a str,
    /// The expected output of the regression test: each statement, followed by its results.
    pub output: &'a str,
    /// The objects of the current version.
    pub catalog: &'a Catalog,
    /// The released versions, oldest first.
    pub releases: &'a [Release],
    /// The current version.
    pub version: &'a str,
}

/// A line of the regression test: a comment, or a line of a statement with the result lines that follow it.
enum Line<'a> {
    Comment(&'a str),
    Statement(&'a str, Vec<&'a str>),
}

/// Returns the paths of the pages, relative to `docs`, and their contents.
///
/// # Errors
/// Fails if the expected output does not match the regression test. Fails if an object has no COMMENT, has no example, or is not
/// documented exactly once. Functions with `internal` parameters need no example.
pub fn pages(sources: &Sources<'_>) -> Result<Vec<(String, String)>, Error> {
    let lines = lines(sources.sql, sources.output)?;
    let mut pages: Vec<Page<'_>> = Vec::new();
    let mut documented = BTreeSet::new();
    for (index, line) in lines.iter().enumerate() {
        let Line::Comment(text) = line else { continue };
        if let Some(title) = text.strip_prefix("# ") {
            pages.push(Page::new(title));
            continue;
        }
        let Some(page) = pages.last_mut() else { continue };
        let object = text.strip_prefix("### ").or_else(|| text.strip_prefix("| "));
        let Some(identity) = object else {
            page.text(text);
            continue;
        };
        if !documented.insert(key(identity)) {
            return Err(format!("{identity} is documented twice").into());
        }
        let entry = Entry::new(identity, &lines[index + 1..], sources)?;
        if text.starts_with('#') { page.heading(&entry) } else { page.row(&entry) }
    }
    if let Some(missing) = sources.catalog.keys().find(|key| !documented.contains(*key)) {
        return Err(format!("sql/reference.sql.in does not document {missing}").into());
    }
    Ok(pages.into_iter().map(Page::finish).collect())
}

/// Returns the lines of the regression test from the first page title, with the results of each statement.
fn lines<'a>(sql: &'a str, output: &'a str) -> Result<Vec<Line<'a>>, Error> {
    let mut sql = sql.lines().filter(|line| !line.is_empty()).skip_while(|line| !is_title(line)).peekable();
    let mut lines: Vec<Line<'a>> = Vec::new();
    for printed in output.lines().skip_while(|line| !is_title(line)) {
        if sql.next_if_eq(&printed).is_some() {
            let comment = printed.strip_prefix("--");
            lines.push(match comment {
                Some(comment) => Line::Comment(comment.trim_start()),
                None => Line::Statement(printed, Vec::new()),
            });
        } else if let Some(Line::Statement(_, results)) = lines.last_mut() {
            // The result of a function that returns void is an empty line, which the pages omit.
            results.extend(Some(printed).filter(|line| !line.is_empty()));
        } else {
            return Err(stale(printed));
        }
    }
    match sql.next() {
        Some(line) => Err(stale(line)),
        None => Ok(lines),
    }
}

fn is_title(line: &str) -> bool {
    line.starts_with("-- # ")
}

fn stale(line: &str) -> Error {
    format!(
        "tests/pg_regress/expected/reference.out does not match tests/pg_regress/sql/reference.sql, at: {line}\n\
         Run the regression test `reference`, copy its output to expected/reference.out, and run `make gen` again."
    )
    .into()
}

/// The documentation of an object.
struct Entry<'a> {
    /// The name of the object as in `COMMENT ON`, without its kind.
    name: &'a str,
    object: &'a Object,
    /// The first version that contains the object.
    since: &'a str,
    /// The lines of the example's statements.
    example: Vec<&'a str>,
    /// The lines of the example's statements, each followed by its results as comments.
    example_with_results: String,
    /// The lines of the example's results.
    results: Vec<&'a str>,
}

impl<'a> Entry<'a> {
    fn new(identity: &'a str, following: &[Line<'a>], sources: &Sources<'a>) -> Result<Self, Error> {
        let object =
            sources.catalog.get(identity).ok_or_else(|| format!("no install script contains COMMENT ON {identity}"))?;
        // Before 0.3.0, the operand of <@ and @> was tstzrange itself.
        let former = identity.replace("scru_tstzrange", "tstzrange");
        let is_in = |release: &&Release| [identity, &former].iter().any(|name| release.catalog.get(name).is_some());
        let release = sources.releases.iter().find(is_in);
        let mut entry = Self {
            name: identity[object.kind.len()..].trim_start(),
            object,
            since: release.map_or(sources.version, |release| &release.version),
            example: Vec::new(),
            example_with_results: String::new(),
            results: Vec::new(),
        };
        for line in following {
            let Line::Statement(statement, results) = line else { break };
            entry.example.push(statement);
            writeln!(entry.example_with_results, "{statement}")?;
            for result in results {
                writeln!(entry.example_with_results, "-- {result}")?;
            }
            entry.results.extend(results);
        }
        if entry.example.is_empty() && !identity.contains("internal") {
            return Err(format!("{identity} has no example").into());
        }
        Ok(entry)
    }

    /// Returns the signature in Markdown.
    fn signature(&self) -> String {
        match self.object.kind {
            "CAST" => format!("`{}`", self.name.trim_matches(['(', ')']).replace(" AS ", "` to `")),
            "OPERATOR" => self.operator().unwrap_or_default(),
            "OPERATOR CLASS" => format!("`{})", self.name.replace(" USING ", "` (")),
            "FUNCTION" => format!("`{}`", self.function()),
            _ => format!("`{}`", self.name),
        }
    }

    /// Returns the signature of a function: its name and its input parameters.
    fn function(&self) -> String {
        let created = self.object.definition.trim_start_matches("CREATE FUNCTION ");
        let (name, arguments) = created.split(')').next().unwrap_or_default().split_once('(').unwrap_or_default();
        let inputs: Vec<_> = arguments.trim().split(", ").filter(|argument| !argument.starts_with("OUT ")).collect();
        format!("{name}({})", inputs.join(", "))
    }

    /// Returns the signature of an operator: `a < b` for `< (a, b)`.
    fn operator(&self) -> Option<String> {
        let (symbol, operands) = self.name.split_once(" (")?;
        let (left, right) = operands.strip_suffix(')')?.split_once(", ")?;
        Some(format!("`{left} {symbol} {right}`"))
    }

    /// Returns the properties of the object that a page shows, such as its volatility.
    fn properties(&self) -> Vec<String> {
        let definition = &self.object.definition;
        let has = |words: &str| definition.contains(words);
        match self.object.kind {
            "FUNCTION" => {
                let volatility = ["immutable", "stable"].into_iter().find(|word| has(&word.to_uppercase()));
                let mut properties =
                    vec![format!("returns {}", self.returns()), volatility.unwrap_or("volatile").into()];
                properties.extend(has("LEAKPROOF").then(|| "leakproof".into()));
                properties
            }
            "CAST" => {
                let mut properties = vec![if has("AS ASSIGNMENT") { "*assignment*" } else { "*explicit*" }.into()];
                properties.extend(has("WITHOUT FUNCTION").then(|| "*without function*".into()));
                properties
            }
            "OPERATOR CLASS" => {
                let operators: Vec<_> = definition.split("OPERATOR ").skip(2).filter_map(symbol).collect();
                let mut properties = vec![format!("operators {}", operators.join(" "))];
                properties.extend(has(" DEFAULT ").then(|| "default".into()));
                properties
            }
            _ => Vec::new(),
        }
    }

    /// Returns the result type of a function, or the columns of its rows.
    fn returns(&self) -> String {
        let definition = &self.object.definition;
        let columns = definition.split("OUT ").skip(1).filter_map(|rest| rest.split([',', ')']).next());
        let columns: Vec<_> = columns.map(str::trim).collect();
        if !columns.is_empty() {
            return format!("rows of `{}`", columns.join(", "));
        }
        let returns = definition.split_once("RETURNS ").map_or("", |(_, rest)| rest);
        let end = [" AS ", " LANGUAGE "].into_iter().filter_map(|word| returns.find(word)).min();
        format!("`{}`", returns[..end.unwrap_or(returns.len())].to_lowercase())
    }
}

/// Returns the symbol of an operator in the definition of an operator class: `<` for `1 <, …`.
fn symbol(operator: &str) -> Option<String> {
    Some(format!("`{}`", operator.split([' ', ',', ';']).nth(1)?))
}

/// A page that is being rendered.
struct Page<'a> {
    title: &'a str,
    content: String,
    is_in_table: bool,
}

impl<'a> Page<'a> {
    fn new(title: &'a str) -> Self {
        let source = "<!-- Rendered by `make gen` from sql/reference.sql.in and the COMMENTs in sql. Do not edit. -->";
        Self { title, content: format!("{source}\n\n# {title}\n\n"), is_in_table: false }
    }

    /// Adds a line of text or the heading of a section.
    fn text(&mut self, text: &str) {
        self.is_in_table = false;
        if text.starts_with('#') {
            self.begin_paragraph();
            self.content += &format!("{text}\n\n");
        } else if text.starts_with("- ") {
            self.content += &wrapped(text).trim_end().replace('\n', "\n  ");
            self.content.push('\n');
        } else {
            self.content += &wrapped(text);
        }
    }

    fn begin_paragraph(&mut self) {
        if !self.content.ends_with("\n\n") {
            self.content.push('\n');
        }
    }

    /// Adds an object under its own heading.
    fn heading(&mut self, entry: &Entry<'_>) {
        self.is_in_table = false;
        self.begin_paragraph();
        let properties = entry.properties().join(", ");
        let properties = if properties.is_empty() { String::new() } else { format!(" {}.", capitalized(&properties)) };
        let text = format!("{}.{properties} Since {}.", capitalized(&entry.object.comment), entry.since);
        let example = &entry.example_with_results;
        self.content +=
            &format!("### {}\n\n{}\n```sql\n{example}```\n", entry.signature().replace('`', ""), wrapped(&text));
    }

    /// Adds an object as a row of a table.
    fn row(&mut self, entry: &Entry<'_>) {
        if !self.is_in_table {
            self.begin_paragraph();
            let kind = entry.object.kind.to_lowercase();
            self.content += &format!("| {kind} | description | example | result | since |\n|---|---|---|---|---|\n");
            self.is_in_table = true;
        }
        let mut description = entry.object.comment.clone();
        for property in entry.properties() {
            description += &format!("; {property}");
        }
        let cells = [
            entry.signature(),
            description,
            code(entry.example.join(" ").trim_end_matches(';')),
            code(&entry.results.join(" ")),
            entry.since.into(),
        ];
        self.content += &format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }

    fn finish(self) -> (String, String) {
        let path = match self.title {
            "Reference" => "reference.md".into(),
            title => format!("reference/{title}.md"),
        };
        (path, self.content)
    }
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Returns the text, wrapped to lines of at most [`WIDTH`] characters. A longer word has its own line.
fn wrapped(text: &str) -> String {
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let width = word.chars().count();
        match column {
            0 => {}
            _ if column + 1 + width > WIDTH => {
                lines.push('\n');
                column = 0;
            }
            _ => {
                lines.push(' ');
                column += 1;
            }
        }
        lines += word;
        column += width;
    }
    lines + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "CREATE FUNCTION f(t) RETURNS integer
    AS 'MODULE_PATHNAME', 'f' LANGUAGE C IMMUTABLE STRICT LEAKPROOF;
COMMENT ON FUNCTION f(t) IS 'the field';
COMMENT ON FUNCTION g(t) IS 'either';
CREATE FUNCTION g(t) RETURNS text
    AS 'MODULE_PATHNAME', 'g' LANGUAGE C;
";
    const SQL: &str = "\\i setup
-- # t
-- The type.
-- ### FUNCTION f(t)
SELECT f('1');
-- | FUNCTION g(t)
SELECT g('1');
";
    const OUTPUT: &str = "\\i setup
-- # t
-- The type.
-- ### FUNCTION f(t)
SELECT f('1');
1
-- | FUNCTION g(t)
SELECT g('1');
a | b
";

    fn rendered(sql: &str, output: &str) -> Result<Vec<(String, String)>, String> {
        let catalog = Catalog::of(SCRIPT);
        let released = SCRIPT.lines().take(3).collect::<Vec<_>>().join("\n");
        let releases = [Release { version: "0.1.0".into(), catalog: Catalog::of(&released) }];
        let sources = Sources { sql, output, catalog: &catalog, releases: &releases, version: "0.2.0" };
        pages(&sources).map_err(|error| error.to_string())
    }

    #[test]
    fn objects_have_a_signature_an_example_and_a_version() {
        let pages = rendered(SQL, OUTPUT).unwrap();
        let [(path, page)] = &pages[..] else { panic!("one page") };
        assert_eq!(path, "reference/t.md");
        let (_, page) = page.split_once("# t\n\n").unwrap();
        assert_eq!(
            page,
            "The type.

### f(t)

The field. Returns `integer`, immutable, leakproof. Since 0.1.0.

```sql
SELECT f('1');
-- 1
```

| function | description | example | result | since |
|---|---|---|---|---|
| `g(t)` | either; returns `text`; volatile | `SELECT g('1')` | `a \\| b` | 0.2.0 |
"
        );
    }

    #[test]
    fn missing_and_stale_examples_are_errors() {
        let error = |sql: &str, output: &str| rendered(sql, output).unwrap_err();
        let without = |text: &str, line: &str| text.replace(line, "");
        let (row, call) = ("-- | FUNCTION g(t)\n", "SELECT g('1');\n");
        assert!(error(SQL, &without(OUTPUT, call)).starts_with("tests/pg_regress/expected/reference.out does not"));
        let [sql, output] = [SQL, OUTPUT].map(|text| without(&without(&without(text, row), call), "a | b\n"));
        assert_eq!(error(&sql, &output), "sql/reference.sql.in does not document FUNCTION g(t)");
        let [sql, output] = [SQL, OUTPUT].map(|text| without(&without(text, call), "a | b\n"));
        assert_eq!(error(&sql, &output), "FUNCTION g(t) has no example");
        let [sql, output] = [SQL, OUTPUT].map(|text| text.replace("N g(t)", "N f(t)"));
        assert_eq!(error(&sql, &output), "FUNCTION f(t) is documented twice");
        let [sql, output] = [SQL, OUTPUT].map(|text| text.replace("N g(t)", "N h(t)"));
        assert_eq!(error(&sql, &output), "no install script contains COMMENT ON FUNCTION h(t)");
    }

    #[test]
    fn lines_are_wrapped_between_words() {
        let text = wrapped("word ".repeat(40).trim_end());
        assert_eq!(text.lines().map(str::len).collect::<Vec<_>>(), [119, 79]);
    }
}
