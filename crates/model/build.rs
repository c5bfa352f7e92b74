//! Writes the changed protocol: the text of the protocol in which each function also has a body for each of its changes. A change
//! deletes one statement, or swaps two adjacent ones that access what backends share. The number of the change that runs is that
//! of the access.

use std::error::Error;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::{env, fs};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Item, ItemFn, Stmt};

/// The path of the protocol's text.
const PROTOCOL: &str = "../server/src/protocol.rs";

/// The function that the model does not run: a standby has no log.
const UNUSED: &str = "draw_unlogged";

/// The lines before the functions.
const HEAD: &str = "
    use rand::Rng;
    use scru_ids::{FastRange, GeneratedId, NodeCode, SortableId, State, Step, Word};
    use scru_server::mark::{self, Cover, Mark, Reservation};
    use scru_server::protocol::{Access, Carried, Entered, FastAccess, Pending, Position, Version};
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
    function: String,
    /// The line that opens the block; empty for the body of the function.
    head: &'a str,
    statements: Vec<Statement>,
    /// Whether it is the body of a function that returns `()` or an error.
    returns_unit: bool,
}

/// Whether a line has code.
fn is_code(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//") && !line.starts_with("#[")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Whether a statement has an access that another backend can observe or influence, or that can fail.
fn has_access(text: &str) -> bool {
    text.contains("access") && text.contains('?')
}

/// The lines of a node of the syntax tree.
fn lines(node: &impl Spanned) -> Range<usize> {
    node.span().start().line - 1..node.span().end().line
}

fn statements(block: &syn::Block) -> Vec<Statement> {
    let is_value = |value: &Expr| !matches!(value, Expr::If(_) | Expr::ForLoop(_));
    let last = block.stmts.len().saturating_sub(1);
    let statement = |(at, each): (usize, &Stmt)| {
        let is_value = at == last && matches!(each, Stmt::Expr(value, None) if is_value(value));
        Statement { lines: lines(each), is_value }
    };
    block.stmts.iter().enumerate().map(statement).collect()
}

/// The names that a `let` binds.
fn bound(text: &str) -> Vec<&str> {
    let pattern = text.trim_start().strip_prefix("let ").and_then(|rest| rest.split(" = ").next());
    let names =
        words(pattern.unwrap_or_default()).filter(|word| word.starts_with(char::is_lowercase) && *word != "mut");
    names.collect()
}

/// A short form of a statement's first line.
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

    /// The change that deletes a statement.
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

    /// The change that swaps a statement with the next one.
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

/// The blocks of a function, each after the one that contains it.
struct Blocks<'a> {
    text: &'a [&'a str],
    function: String,
    found: Vec<Block<'a>>,
}

impl<'ast> Visit<'ast> for Blocks<'_> {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        let (text, function) = (self.text, self.function.clone());
        let open = text[block.brace_token.span.open().start().line - 1];
        let is_body = self.found.is_empty();
        let (head, returns_unit) = (if is_body { "" } else { open }, is_body && open.contains("Result<(), "));
        self.found.push(Block { text, function, head, statements: statements(block), returns_unit });
        visit::visit_block(self, block);
    }
}

fn changes(text: &[&str], function: &ItemFn) -> Vec<Change> {
    let mut blocks = Blocks { text, function: function.sig.ident.to_string(), found: Vec::new() };
    blocks.visit_block(&function.block);
    blocks.found.iter().flat_map(|block| block.changes().collect::<Vec<_>>()).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTOCOL}");
    println!("cargo::rerun-if-changed=build.rs");
    let source = fs::read_to_string(PROTOCOL)?;
    let text: Vec<&str> = source.lines().map(|line| if is_code(line) { line } else { "" }).collect();
    let mut output =
        format!("#[allow(warnings, clippy::all, reason = \"written by a program\")]\nmod changed {{ {HEAD}");
    let mut names = Vec::new();
    for item in syn::parse_file(&source)?.items {
        let Item::Fn(function) = item else { continue };
        if function.sig.ident == UNUSED {
            continue;
        }
        let body = lines(&function.block);
        let head =
            text[lines(&function.sig).start..=body.start].join("\n").replace("Access<T>>", "Access<T> + Changed>");
        writeln!(output, "{head}\n    match access.change() {{")?;
        let inner = body.start + 1..body.end - 1;
        for Change { name, lines, new } in changes(&text, &function) {
            names.push(name);
            let before = text[inner.start..lines.start].join("\n");
            let after = text[lines.end..inner.end].join("\n");
            writeln!(output, "{} => {{ {before}\n{new}\n{after} }}", names.len())?;
        }
        writeln!(output, "_ => {{ {} }}\n    }}\n}}", text[inner].join("\n"))?;
    }
    writeln!(
        output,
        "}}\n/// The names of the changes. The first has the number 1.\nconst CHANGES: &[&str] = &{names:#?};"
    )?;
    let directory = env::var_os("OUT_DIR").unwrap_or_default();
    Ok(fs::write(Path::new(&directory).join("changed.rs"), output)?)
}
