//! The objects of an install script: those with a COMMENT, which the regression test `catalog` requires of all.
//!
//! The catalog of a server has them, too. But pages from it would need a server, and a line of expected output for each object, and a
//! change of a COMMENT would take two runs of `make gen` with a regression test between them.

use std::collections::BTreeMap;

/// The objects of an install script, by their [`key`].
#[derive(Debug, Default)]
pub struct Catalog(BTreeMap<String, Object>);

/// An object of the extension.
#[derive(Debug, Default)]
pub struct Object {
    /// The kind of object, as in `COMMENT ON`: `FUNCTION`, `OPERATOR CLASS`, etc.
    pub kind: &'static str,
    /// The COMMENT.
    pub comment: String,
    /// The `CREATE` statement of a function, a cast or an operator class, in one line, without the body of a function.
    pub definition: String,
}

/// The kinds of objects. Longer kinds precede their prefixes, because [`kind`] returns the first match.
const KINDS: [&str; 8] =
    ["FUNCTION", "AGGREGATE", "OPERATOR CLASS", "OPERATOR FAMILY", "OPERATOR", "CAST", "TYPE", "DOMAIN"];

impl Catalog {
    /// Parses a script.
    pub fn of(script: &str) -> Self {
        let statements = statements(script);
        let definitions: BTreeMap<_, _> = statements.iter().filter_map(|each| Some((created(each)?, each))).collect();
        let object = |(identity, comment): (&str, String)| {
            let (kind, key) = (kind(identity).unwrap_or_default(), key(identity));
            let definition = definitions.get(&key).map(|definition| definition.to_string()).unwrap_or_default();
            (key, Object { kind, comment, definition })
        };
        Self(statements.iter().filter_map(|statement| commented(statement)).map(object).collect())
    }

    /// Returns the object with this kind and name, as in `COMMENT ON`; `None` if the script has no such object.
    pub fn get(&self, identity: &str) -> Option<&Object> {
        self.0.get(&key(identity))
    }

    /// Returns the keys of all objects but operator families, which have the names of their classes.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, object)| object.kind != "OPERATOR FAMILY").map(|(key, _)| key.as_str())
    }
}

/// Returns the `CREATE` and `COMMENT ON` statements that begin a line, each in one line. A body in `$function$` is omitted.
fn statements(script: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("CREATE ") && !line.starts_with("COMMENT ON ") {
            continue;
        }
        let mut statement = line.to_owned();
        while !statement.ends_with(';') && !statement.ends_with("$function$") {
            let Some(line) = lines.next() else { break };
            statement = format!("{statement} {}", line.trim());
        }
        statements.push(statement);
    }
    statements
}

/// Returns the object of a COMMENT statement, with its kind, and the text.
fn commented(statement: &str) -> Option<(&str, String)> {
    let (identity, literal) = statement.strip_prefix("COMMENT ON ")?.split_once(" IS '")?;
    Some((identity, literal.strip_suffix("';")?.replace("''", "'")))
}

/// Returns the [`key`] of the function, cast or operator class that a CREATE statement creates; `None` for other objects, whose
/// definitions no page shows.
fn created(statement: &str) -> Option<String> {
    let created = statement.strip_prefix("CREATE ")?;
    match kind(created)? {
        "OPERATOR CLASS" => {
            let method = created.split_once(" USING ")?.1.split(' ').next()?;
            Some(format!("OPERATOR CLASS {} USING {method}", created.split(' ').nth(2)?))
        }
        "FUNCTION" | "CAST" => Some(key(&created[..=created.find(')')?])),
        _ => None,
    }
}

/// Returns the kind with which an object's identity begins.
fn kind(identity: &str) -> Option<&'static str> {
    KINDS.into_iter().find(|kind| identity.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' ')))
}

/// Returns the identity without parameter names and OUT parameters.
pub fn key(identity: &str) -> String {
    let Some((name, arguments)) = identity.strip_suffix(')').and_then(|identity| identity.split_once('(')) else {
        return identity.into();
    };
    if identity.starts_with("CAST") {
        return identity.into();
    }
    let types = arguments.split(',').filter(|argument| !argument.trim().starts_with("OUT "));
    let types: Vec<_> = types.filter_map(|argument| argument.split(' ').next_back()).collect();
    format!("{name}({})", types.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "CREATE TYPE t;
CREATE TYPE t (
    INPUT = t_in
);
COMMENT ON TYPE t IS 'one server''s IDs';
CREATE FUNCTION f(id t, size integer, OUT part text) RETURNS record
    AS 'MODULE_PATHNAME', 'f' LANGUAGE C;
COMMENT ON FUNCTION f(t, integer) IS 'a part';
CREATE FUNCTION g() RETURNS text
    AS $function$
BEGIN
    COMMENT ON TYPE u IS 'none';
END $function$;
CREATE OPERATOR CLASS t_ops DEFAULT FOR TYPE t USING btree AS
    OPERATOR 1 <;
COMMENT ON OPERATOR CLASS t_ops USING btree IS 'order';
COMMENT ON OPERATOR FAMILY t_ops USING btree IS 'order';
CREATE CAST (t AS uuid) WITHOUT FUNCTION;
COMMENT ON CAST (t AS uuid) IS 'the same bytes';
";

    #[test]
    fn objects_are_found_by_their_identity_in_comment_on() {
        let catalog = Catalog::of(SCRIPT);
        let keys: Vec<_> = catalog.keys().collect();
        assert_eq!(keys, ["CAST (t AS uuid)", "FUNCTION f(t, integer)", "OPERATOR CLASS t_ops USING btree", "TYPE t"]);
        assert_eq!(catalog.get("TYPE t").unwrap().comment, "one server's IDs");
        let function = catalog.get("FUNCTION f(id t, size integer)").unwrap();
        assert_eq!(function.comment, "a part");
        assert!(function.definition.ends_with("RETURNS record AS 'MODULE_PATHNAME', 'f' LANGUAGE C;"));
        assert!(catalog.get("OPERATOR CLASS t_ops USING btree").unwrap().definition.ends_with("OPERATOR 1 <;"));
        assert!(catalog.get("CAST (t AS uuid)").unwrap().definition.ends_with("WITHOUT FUNCTION;"));
        assert!(catalog.get("FUNCTION f(t)").is_none());
    }
}
