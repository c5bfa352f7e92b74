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
use syn::{Block, Expr, ExprForLoop, ExprIf, Item, Local, Stmt};

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

/// What a part of the protocol names and does.
struct Contents<'a> {
    names: BTreeSet<&'a str>,
    has_access: bool,
    /// Whether another backend can observe or influence it, or it can fail.
    is_shared: bool,
}

impl<'a> Contents<'a> {
    fn of(text: &'a str) -> Self {
        let names: BTreeSet<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()).collect();
        let has_access = names.contains("access");
        let passes_access = text.contains("(access)") || text.contains("(access,");
        Self { names, has_access, is_shared: has_access && text.contains('?') || passes_access }
    }
}

fn leaves(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(Expr::Return(_) | Expr::Break(_), _))
}

/// The value of a block that ends with this statement.
fn value(statement: &Stmt) -> Option<&Expr> {
    match statement {
        Stmt::Expr(Expr::If(ExprIf { else_branch: None, .. }) | Expr::Loop(_) | Expr::ForLoop(_), None) => None,
        Stmt::Expr(value, None) => Some(value),
        _ => None,
    }
}

/// Whether an expression consists of calls and names, without a block.
fn is_simple(expression: &Expr) -> bool {
    matches!(expression, Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_))
}

/// The changes of a function.
struct Changes<'a> {
    text: &'a str,
    function: String,
    returns_unit: bool,
    /// The condition of the `if` whose block is visited next.
    condition: Option<&'a Expr>,
    /// Whether the block that is visited next is the body of the function.
    is_body: bool,
    found: Vec<Change>,
}

impl<'a> Changes<'a> {
    fn text_of(&self, part: &impl Spanned) -> &'a str {
        &self.text[part.span().byte_range()]
    }

    fn short(&self, part: &impl Spanned) -> String {
        let text = self.text_of(part).split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim_end_matches(';').replace("access.", "").replace("access, ", "").replace("::<T>", "")
    }

    fn name_of(&self, statement: &Stmt) -> String {
        match statement {
            Stmt::Local(Local { pat, .. }) => format!("let {}", self.short(pat)),
            Stmt::Expr(Expr::If(ExprIf { cond, .. }), _) => format!("if {}", self.short(cond)),
            Stmt::Expr(Expr::Loop(_), _) => "loop".to_owned(),
            Stmt::Expr(Expr::ForLoop(ExprForLoop { expr, .. }), _) => format!("for {}", self.short(expr)),
            _ => self.short(statement),
        }
    }

    /// Deletes a statement.
    fn delete(&mut self, statement: &Stmt, condition: Option<&Expr>, is_only: bool, returns_unit: bool) {
        // Deleting the `if` as a whole is the same change.
        let is_private = |condition| !Contents::of(self.text_of(condition)).is_shared;
        let is_whole = is_only && condition.is_some_and(is_private);
        let new = match value(statement) {
            Some(value) if returns_unit && is_simple(value) && self.text_of(value) != "Ok(())" => "Ok(())",
            None if !matches!(statement, Stmt::Local(_)) && !is_whole => "",
            _ => return,
        };
        let place = match condition {
            Some(condition) if leaves(statement) => format!(" in if {}", self.short(condition)),
            _ => String::new(),
        };
        let name = format!("{}: without {}{place}", self.function, self.name_of(statement));
        self.found.push(Change { name, bytes: statement.span().byte_range(), new: new.to_owned() });
    }

    /// Swaps a statement with the next one.
    fn swap(&mut self, [first, second]: [&Stmt; 2], returns_unit: bool) {
        let [before, after] = [first, second].map(|statement| Contents::of(self.text_of(statement)));
        let is_private = after.names.contains("flush_time") && !after.is_shared;
        let is_bound = match first {
            Stmt::Local(Local { pat, .. }) => !Contents::of(self.text_of(pat)).names.is_disjoint(&after.names),
            _ => false,
        };
        let leaves = leaves(first) || leaves(second);
        if !before.is_shared || !after.has_access || leaves || is_private || is_bound {
            return;
        }
        let new = match (value(second), first) {
            (None, _) => format!("{}\n{}", self.text_of(second), self.text_of(first)),
            (Some(value), Stmt::Expr(Expr::Try(first), Some(_))) if returns_unit && is_simple(value) => {
                format!("{}?;\n{}", self.text_of(value), self.text_of(&first.expr))
            }
            _ => return,
        };
        let name = format!("{}: {} after {}", self.function, self.name_of(first), self.name_of(second));
        let bytes = first.span().byte_range().start..second.span().byte_range().end;
        self.found.push(Change { name, bytes, new });
    }
}

impl<'a> Visit<'a> for Changes<'a> {
    fn visit_expr_if(&mut self, expression: &'a ExprIf) {
        self.visit_expr(&expression.cond);
        self.condition = Some(&expression.cond);
        self.visit_block(&expression.then_branch);
        if let Some((_, other)) = &expression.else_branch {
            self.visit_expr(other);
        }
    }

    /// The `else` of a `let` must leave.
    fn visit_local(&mut self, local: &'a Local) {
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
        }
    }

    fn visit_block(&mut self, block: &'a Block) {
        let condition = self.condition.take();
        let returns_unit = std::mem::take(&mut self.is_body) && self.returns_unit;
        for (at, statement) in block.stmts.iter().enumerate() {
            // A function that ends with a loop leaves it by `return` only.
            if at + 1 == block.stmts.len() && matches!(statement, Stmt::Expr(Expr::Loop(_), None)) {
                continue;
            }
            self.delete(statement, condition, block.stmts.len() == 1, returns_unit);
            if let Some(next) = block.stmts.get(at + 1) {
                self.swap([statement, next], returns_unit);
            }
        }
        visit::visit_block(self, block);
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
        let mut changes = Changes {
            text: &text,
            function: function.sig.ident.to_string(),
            returns_unit: head.contains("-> Result<(), "),
            condition: None,
            is_body: true,
            found: Vec::new(),
        };
        changes.visit_block(&function.block);
        for (_, mistake, old, new) in MISTAKES.iter().filter(|(name, ..)| *name == changes.function) {
            let found: Vec<usize> = text[body.clone()].match_indices(old).map(|(at, _)| body.start + at).collect();
            let &[start] = &found[..] else { return Err(format!("{mistake}: {} places", found.len()).into()) };
            let name = format!("{}: {mistake}", changes.function);
            changes.found.push(Change { name, bytes: start..start + old.len(), new: (*new).to_owned() });
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
