//! Writes the changed protocol: the text of the protocol in which each function also has a body for each of its changes. A change
//! deletes one statement, or swaps two adjacent ones that access what backends share. The number of the change that runs is that
//! of the access.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::{env, fs};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprIf, Item, Local, Stmt};

#[path = "tests/model/mistakes.rs"]
mod mistakes;
use mistakes::MISTAKES;

/// The text of the protocol.
const PROTOCOL: [&str; 2] = ["../server/src/protocol.rs", "../server/src/draw.rs"];

/// The function that the model does not run: a standby has no log.
const UNUSED: &str = "draw_unlogged";

/// The lines before the functions.
const HEAD: &str = "
    use rand::Rng;
    use scru_ids::{GeneratedId, NoId, Refusal, SortableId, Step};
    use scru_server::draw::Access;
    use scru_server::mark::{self, Mark};
    use scru_server::protocol::{Carried, Known, Lsn, Marks, Pending};
    use crate::Changed;
";

/// A change of a function: its name, the bytes of the protocol that it replaces, and their replacement.
struct Change {
    name: String,
    bytes: Range<usize>,
    new: String,
}

/// The names in a part of the protocol.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()).collect()
}

/// Whether another backend can observe or influence a part of the protocol, or it can fail.
fn is_shared(text: &str) -> bool {
    names(text).contains("access") && text.contains('?') || text.contains("(access)") || text.contains("(access,")
}

/// A text without what all of its kind have in common.
fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_end_matches(';').replace("access.", "").replace("access, ", "").replace("::<T>", "")
}

fn leaves(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(Expr::Return(_) | Expr::Break(_), _))
}

/// Whether a statement has no value, and binds none.
fn is_plain(statement: &Stmt) -> bool {
    use Expr::{ForLoop, If, Loop};
    matches!(
        statement,
        Stmt::Expr(_, Some(_)) | Stmt::Expr(If(ExprIf { else_branch: None, .. }) | Loop(_) | ForLoop(_), None)
    )
}

/// The changes of a function.
struct Changes<'a> {
    text: &'a str,
    function: String,
    found: Vec<Change>,
}

impl<'a> Changes<'a> {
    fn text_of(&self, part: &impl Spanned) -> &'a str {
        &self.text[part.span().byte_range()]
    }

    /// A statement up to its value or its block.
    fn name_of(&self, statement: &Stmt) -> String {
        let text = self.text_of(statement);
        let end = if text.starts_with("let ") { " =" } else { "{\n" };
        short(text.split(end).next().unwrap_or_default())
    }

    fn push(&mut self, name: &str, bytes: Range<usize>, new: impl Into<String>) {
        self.found.push(Change { name: format!("{}: {name}", self.function), bytes, new: new.into() });
    }

    /// Deletes a statement.
    fn delete(&mut self, statement: &Stmt, condition: Option<&Expr>, is_only: bool) {
        // Deleting the `if` as a whole is the same change.
        let is_whole = is_only && condition.is_some_and(|condition| !is_shared(self.text_of(condition)));
        if !is_plain(statement) || is_whole {
            return;
        }
        let place = match condition {
            Some(condition) if leaves(statement) => format!(" in if {}", short(self.text_of(condition))),
            _ => String::new(),
        };
        self.push(&format!("without {}{place}", self.name_of(statement)), statement.span().byte_range(), "");
    }

    /// Swaps a statement with the next one.
    fn swap(&mut self, first: &Stmt, second: &Stmt) {
        let [before, after] = [first, second].map(|statement| self.text_of(statement));
        let is_private = names(after).contains("flush_time") && !is_shared(after);
        let is_bound = match first {
            Stmt::Local(Local { pat, .. }) => !names(self.text_of(pat)).is_disjoint(&names(after)),
            _ => false,
        };
        let is_value = matches!(second, Stmt::Expr(_, None)) && !is_plain(second);
        let leaves = leaves(first) || leaves(second);
        if !is_shared(before) || !names(after).contains("access") || is_private || is_bound || is_value || leaves {
            return;
        }
        let name = format!("{} after {}", self.name_of(first), self.name_of(second));
        let bytes = first.span().byte_range().start..second.span().byte_range().end;
        self.push(&name, bytes, format!("{after}\n{before}"));
    }

    /// Changes the statements of a block, which may be that of an `if` with a condition.
    fn change(&mut self, block: &Block, condition: Option<&Expr>) {
        for (at, statement) in block.stmts.iter().enumerate() {
            // A function that ends with a loop leaves it by `return` only.
            if at + 1 == block.stmts.len() && matches!(statement, Stmt::Expr(Expr::Loop(_), None)) {
                continue;
            }
            self.delete(statement, condition, block.stmts.len() == 1);
            if let Some(next) = block.stmts.get(at + 1) {
                self.swap(statement, next);
            }
        }
        visit::visit_block(self, block);
    }
}

impl Visit<'_> for Changes<'_> {
    fn visit_expr_if(&mut self, expression: &ExprIf) {
        self.visit_expr(&expression.cond);
        self.change(&expression.then_branch, Some(&expression.cond));
        if let Some((_, other)) = &expression.else_branch {
            self.visit_expr(other);
        }
    }

    /// The `else` of a `let` must leave.
    fn visit_local(&mut self, local: &Local) {
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
        }
    }

    fn visit_block(&mut self, block: &Block) {
        self.change(block, None);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=tests/model/mistakes.rs");
    let mut text = String::new();
    for path in PROTOCOL {
        println!("cargo::rerun-if-changed={path}");
        // The comments of a module are attributes of the whole text.
        text += &fs::read_to_string(path)?.replace("//!", "//");
    }
    let mut output =
        format!("#[allow(warnings, clippy::all, reason = \"written by a program\")]\nmod changed {{ {HEAD}");
    let mut names = Vec::new();
    for item in &syn::parse_file(&text)?.items {
        let Item::Fn(function) = item else { continue };
        if function.sig.ident == UNUSED {
            continue;
        }
        let body = function.block.span().byte_range();
        let head = text[function.sig.span().byte_range()]
            .replace("Access<T>", "Access<T> + Changed")
            .replace("A: Marks", "A: Marks + Changed");
        let mut changes = Changes { text: &text, function: function.sig.ident.to_string(), found: Vec::new() };
        changes.change(&function.block, None);
        for (_, mistake, old, new) in MISTAKES.iter().filter(|(name, ..)| function.sig.ident == name) {
            let found: Vec<usize> = text[body.clone()].match_indices(old).map(|(at, _)| body.start + at).collect();
            let &[start] = &found[..] else { return Err(format!("{mistake}: {} places", found.len()).into()) };
            changes.push(mistake, start..start + old.len(), *new);
        }
        writeln!(output, "pub {head} {{\n    match access.change() {{")?;
        for Change { name, bytes, new } in changes.found {
            names.push(name);
            let (before, after) = (&text[body.start..bytes.start], &text[bytes.end..body.end]);
            writeln!(output, "{} => {before}{new}{after}", names.len())?;
        }
        writeln!(output, "_ => {}\n    }}\n}}", &text[body])?;
    }
    writeln!(output, "}}\n/// The names of the changes, from number 1.\nconst CHANGES: &[&str] = &{names:#?};")?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("changed.rs"), output)?;
    Ok(())
}
