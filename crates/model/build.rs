//! Writes the changed protocol: the text of the protocol in which each function also has a body for each of its changes. A change
//! deletes one statement, or swaps two adjacent ones that access what backends share. The number of the change that runs is that
//! of the access.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::{env, fs, io};

/// The path of the protocol's text.
const PROTOCOL: &str = "../server/src/protocol.rs";

/// The function that the model does not run: a standby has no log.
const UNUSED: &str = "draw_unlogged";

/// The lines before the functions.
const HEAD: &str = "
    use rand::Rng;
    use scru_ids::{FastRange, GeneratedId, NodeCode, SortableId, State, Step, Word};
    use scru_server::mark::{self, Cover, Mark, Reservation};
    use scru_server::protocol::{Access, Carried, Pending, Position, Version};
    use crate::Changed;
";

/// A statement: the indices of its lines, and whether it is the value of its block.
struct Statement {
    lines: Range<usize>,
    is_value: bool,
}

/// A change of a function: its name, the lines that it replaces, and their replacement.
struct Change {
    name: String,
    lines: Range<usize>,
    new: String,
}

/// A block of a function.
struct Block<'a> {
    text: &'a [&'a str],
    function: &'a str,
    /// The line before the block.
    head: &'a str,
    statements: Vec<Statement>,
    /// Whether its value is `Ok(())` or an error.
    returns_unit: bool,
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns whether a line has code.
fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//") && !line.starts_with("#[")
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Returns whether a statement has an access that another backend can observe or influence, or that can fail.
fn has_access(text: &str) -> bool {
    text.contains("access") && text.contains('?')
}

/// Returns the statements of a block.
fn statements(text: &[&str], block: Range<usize>) -> Vec<Statement> {
    let code: Vec<usize> = block.filter(|line| is_code(text[*line])).collect();
    let depth = code.first().map_or(0, |line| indent(text[*line]));
    let mut found = Vec::new();
    let mut start = None;
    for (at, line) in code.iter().copied().enumerate() {
        let first = *start.get_or_insert(line);
        let next = code.get(at + 1).map(|next| text[*next]);
        let has_end = indent(text[line]) == depth && text[line].ends_with([';', '}']);
        let continues = next.is_some_and(|next| next.trim_start().starts_with('.'));
        if next.is_none() || has_end && !continues {
            let lines = first..line + 1;
            let is_unit = ["if ", "for "].iter().any(|keyword| text[first].trim_start().starts_with(keyword));
            let is_value = next.is_none() && !text[line].ends_with(';') && !is_unit;
            found.push(Statement { lines, is_value });
            start = None;
        }
    }
    found
}

/// Returns the names that a `let` binds.
fn bound(text: &str) -> Vec<&str> {
    let pattern = text.trim_start().strip_prefix("let ").and_then(|rest| rest.split(" = ").next());
    let names =
        words(pattern.unwrap_or_default()).filter(|word| word.starts_with(char::is_lowercase) && *word != "mut");
    names.collect()
}

/// Returns a short form of a statement's first line.
fn short(first: &str) -> String {
    let first = if first.contains(" let ") && !first.contains("if ") {
        first.split(" = ").next().unwrap_or(first)
    } else {
        first
    };
    first.trim().trim_end_matches(['{', ';', ' ']).replace("access.", "").replace("access, ", "").replace("::<T>", "")
}

impl Block<'_> {
    fn text_of(&self, statement: &Statement) -> String {
        self.text[statement.lines.clone()].join("\n")
    }

    fn name_of(&self, statement: &Statement) -> String {
        short(self.text[statement.lines.start])
    }

    /// Returns the change that deletes a statement.
    fn without(&self, statement: &Statement) -> Option<Change> {
        let body = self.text_of(statement);
        let new = match statement.is_value {
            true if self.returns_unit && body.trim() != "Ok(())" && !body.contains('{') => "Ok(())",
            true => return None,
            false if body.trim_start().starts_with("let ") => return None,
            // Deleting the block as a whole is the same change.
            false if self.statements.len() == 1 && self.head.contains("if ") && !has_access(self.head) => return None,
            false => "",
        };
        let leaves = ["return", "break"].iter().any(|word| body.trim_start().starts_with(word));
        let place = if leaves { format!(" in {}", short(self.head)) } else { String::new() };
        let name = format!("{}: without {}{place}", self.function, self.name_of(statement));
        Some(Change { name, lines: statement.lines.clone(), new: new.to_owned() })
    }

    /// Returns the change that swaps a statement with the next one.
    fn swapped(&self, statement: &Statement, next: &Statement) -> Option<Change> {
        let (first, second) = (self.text_of(statement), self.text_of(next));
        let leaves = |text: &str| ["return", "break"].iter().any(|word| text.trim_start().starts_with(word));
        if !has_access(&first) && !first.contains("access,")
            || !second.contains("access")
            || leaves(&first)
            || leaves(&second)
        {
            return None;
        }
        let is_private = |text: &str| text.contains("access.flush_time()") && !has_access(text);
        let is_bound = bound(&first).iter().any(|name| words(&second).any(|word| word == *name));
        if is_private(&first) || is_private(&second) || is_bound {
            return None;
        }
        let new = match next.is_value {
            true => {
                let value =
                    first.trim_end().strip_suffix("?;").filter(|_| self.returns_unit && !second.contains('{'))?;
                format!("{}?;\n{value}", second.trim_end())
            }
            false => format!("{second}\n{first}"),
        };
        let name = format!("{}: {} after {}", self.function, self.name_of(statement), self.name_of(next));
        Some(Change { name, lines: statement.lines.start..next.lines.end, new })
    }

    fn changes(&self) -> impl Iterator<Item = Change> {
        self.statements.iter().enumerate().flat_map(|(at, statement)| {
            let next = self.statements.get(at + 1);
            [self.without(statement), next.and_then(|next| self.swapped(statement, next))].into_iter().flatten()
        })
    }
}

/// A function: its name, and the indices of its lines.
struct Function<'a> {
    name: &'a str,
    first: usize,
    /// The line that opens the body, and the one that closes it.
    open: usize,
    end: usize,
}

fn is_function(line: &str) -> bool {
    line.starts_with("pub fn ") || line.starts_with("fn ")
}

fn functions<'a>(text: &[&'a str]) -> Vec<Function<'a>> {
    let find = |from: usize, is_it: fn(&str) -> bool| (from..text.len()).find(|line| is_it(text[*line]));
    let starts = (0..text.len()).filter(|line| is_function(text[*line]));
    let function = |first: usize| {
        let name = text[first].split("fn ").nth(1)?.split(['<', '(']).next()?;
        let open = find(first, |line| line.ends_with('{'))?;
        Some(Function { name, first, open, end: find(open, |line| line == "}")? })
    };
    starts.filter_map(function).collect()
}

/// Returns the changes of a function.
fn changes(text: &[&str], function: &Function<'_>) -> Vec<Change> {
    let &Function { name, open, end, .. } = function;
    let block = |head, lines, returns_unit| Block {
        text,
        function: name,
        head,
        statements: statements(text, lines),
        returns_unit,
    };
    let mut found: Vec<Change> = block("", open + 1..end, text[open].contains("Result<(), ")).changes().collect();
    for line in open + 1..end {
        let closes = |close: &usize| is_code(text[*close]) && indent(text[*close]) == indent(text[line]);
        let close =
            (line + 1..end).find(closes).filter(|_| text[line].ends_with('{') && !text[line].contains("match "));
        found.extend(close.into_iter().flat_map(|close| {
            let inner = block(text[line], line + 1..close, false);
            inner.changes().collect::<Vec<_>>()
        }));
    }
    found
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={PROTOCOL}");
    println!("cargo::rerun-if-changed=build.rs");
    let source = fs::read_to_string(PROTOCOL)?;
    let text: Vec<&str> = source.lines().map(|line| if is_code(line) { line } else { "" }).collect();
    let mut output =
        format!("#[allow(warnings, clippy::all, reason = \"written by a program\")]\nmod changed {{ {HEAD}");
    let mut names = Vec::new();
    for function in functions(&text).iter().filter(|function| function.name != UNUSED) {
        let head = text[function.first..=function.open].join("\n").replace("A: Access<T>", "A: Access<T> + Changed");
        let _ = writeln!(output, "{head}\n    match access.change() {{");
        for Change { name, lines, new } in changes(&text, function) {
            names.push(name);
            let before = text[function.open + 1..lines.start].join("\n");
            let after = text[lines.end..function.end].join("\n");
            let _ = writeln!(output, "{} => {{ {before}\n{new}\n{after} }}", names.len());
        }
        let whole = text[function.open + 1..function.end].join("\n");
        let _ = writeln!(output, "_ => {{ {whole} }}\n    }}\n}}");
    }
    let _ = writeln!(
        output,
        "}}\n/// The names of the changes. The first has the number 1.\nconst CHANGES: &[&str] = &{names:#?};"
    );
    let directory = env::var_os("OUT_DIR").unwrap_or_default();
    fs::write(Path::new(&directory).join("changed.rs"), output)
}
