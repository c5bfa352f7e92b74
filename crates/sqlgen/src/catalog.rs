//! The objects that an install script creates and keeps, with their definitions and COMMENTs.

use std::collections::BTreeMap;

/// The objects of an install script, by their [`key`].
#[derive(Debug, Default)]
pub struct Catalog(BTreeMap<String, Object>);

/// An object of the extension.
#[derive(Debug, Default)]
pub struct Object {
    /// The kind of object, as in `COMMENT ON`: `FUNCTION`, `OPERATOR CLASS`, etc.
    pub kind: &'static str,
    /// The COMMENT; empty if there is none.
    pub comment: String,
    /// The `CREATE` statement in one line, without the body of a function.
    pub definition: String,
}

/// The kinds of objects. Longer kinds precede their prefixes, because [`kind`] returns the first match.
const KINDS: [&str; 8] =
    ["FUNCTION", "AGGREGATE", "OPERATOR CLASS", "OPERATOR FAMILY", "OPERATOR", "CAST", "TYPE", "DOMAIN"];

impl Catalog {
    /// Parses a script.
    pub fn of(script: &str) -> Self {
        let mut catalog = Self::default();
        for statement in statements(script) {
            if let Some((identity, comment)) = commented(&statement) {
                catalog.object(&identity).comment = comment;
            } else if let Some(identity) = created(&statement) {
                catalog.object(&identity).definition = statement;
            } else if let Some(identity) = statement.strip_prefix("DROP ") {
                catalog.0.remove(&key(identity.trim_end_matches(';')));
            }
        }
        catalog
    }

    /// Returns the object with this kind and name, as in `COMMENT ON`; `None` if the script has no such object.
    pub fn get(&self, identity: &str) -> Option<&Object> {
        self.0.get(&key(identity))
    }

    /// Returns the keys of all objects but operator families, which have the names of their classes.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, object)| object.kind != "OPERATOR FAMILY").map(|(key, _)| key.as_str())
    }

    fn object(&mut self, identity: &str) -> &mut Object {
        let object = self.0.entry(key(identity)).or_default();
        object.kind = kind(identity).unwrap_or_default();
        object
    }
}

/// Returns the `CREATE`, `DROP` and `COMMENT ON` statements that begin a line, each in one line. A body in `$function$` is omitted.
fn statements(script: &str) -> Vec<String> {
    let mut statements = Vec::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        if !["CREATE ", "DROP ", "COMMENT ON "].iter().any(|command| line.starts_with(command)) {
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
fn commented(statement: &str) -> Option<(String, String)> {
    let (identity, literal) = statement.strip_prefix("COMMENT ON ")?.split_once(" IS '")?;
    Some((identity.into(), literal.strip_suffix("';")?.replace("''", "'")))
}

/// Returns the object that a CREATE statement creates, with its kind, as in `COMMENT ON`.
fn created(statement: &str) -> Option<String> {
    let created = statement.strip_prefix("CREATE ")?;
    Some(match kind(created)? {
        "OPERATOR CLASS" => {
            let method = created.split_once(" USING ")?.1.split(' ').next()?;
            format!("OPERATOR CLASS {} USING {method}", created.split(' ').nth(2)?)
        }
        "OPERATOR" => {
            let symbol = created.split(' ').nth(1)?;
            format!("OPERATOR {symbol} ({}, {})", property(created, "LEFTARG")?, property(created, "RIGHTARG")?)
        }
        "TYPE" | "DOMAIN" => created.split([' ', ';']).take(2).collect::<Vec<_>>().join(" "),
        _ => created[..=created.find(')')?].into(),
    })
}

/// Returns the value of `NAME = value` in a definition.
fn property<'a>(definition: &'a str, name: &str) -> Option<&'a str> {
    definition.split_once(&format!("{name} = "))?.1.split([',', ' ']).next()
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

    const SCRIPT: &str = "CREATE DOMAIN d AS tstzrange;
CREATE TYPE t;
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
CREATE OPERATOR <@ (
    LEFTARG = t, RIGHTARG = tstzrange, FUNCTION = within
);
CREATE OPERATOR CLASS t_ops DEFAULT FOR TYPE t USING btree AS
    OPERATOR 1 <;
CREATE CAST (t AS uuid) WITHOUT FUNCTION;
CREATE FUNCTION h() RETURNS void AS 'MODULE_PATHNAME', 'h' LANGUAGE C;
DROP FUNCTION h();
";

    #[test]
    fn objects_are_found_by_their_identity_in_comment_on() {
        let catalog = Catalog::of(SCRIPT);
        let keys: Vec<_> = catalog.keys().collect();
        let operators = ["OPERATOR <@ (t, tstzrange)", "OPERATOR CLASS t_ops USING btree"];
        assert_eq!(
            keys,
            [
                "CAST (t AS uuid)",
                "DOMAIN d",
                "FUNCTION f(t, integer)",
                "FUNCTION g()",
                operators[0],
                operators[1],
                "TYPE t"
            ]
        );
        assert_eq!(catalog.get("TYPE t").unwrap().comment, "one server's IDs");
        let function = catalog.get("FUNCTION f(id t, size integer)").unwrap();
        assert_eq!(function.comment, "a part");
        assert!(function.definition.ends_with("RETURNS record AS 'MODULE_PATHNAME', 'f' LANGUAGE C;"));
        assert!(catalog.get("FUNCTION f(t)").is_none());
    }
}
