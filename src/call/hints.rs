//! The HINTs for malformed IDs: whether a text looks like a uuid, an ID of another type, a number or a time.

use scru_ids::{SortableId, SqlId, Stored, Uuidv7, registry};

/// The 16 bytes of a uuid of any version in its standard form.
pub fn uuid_bytes(text: &[u8]) -> Option<[u8; 16]> {
    Uuidv7::parse(text).ok().map(Uuidv7::to_be_bytes)
}

/// A HINT for a text that is malformed for the type, as a full sentence; `None` if no HINT applies.
pub fn hint<T: SqlId>(text: &[u8]) -> Option<String> {
    let name = T::NAME;
    if is_uuid(text) {
        return Some(match is_wide::<T>() {
            true => format!("To read a uuid as a {name}, write '...'::uuid::{name}."),
            false => "This is the text of a uuid, which can be cast to scru128 and ulid.".into(),
        });
    }
    registry!(|Id| if Id::NAME != name && Id::parse(text).is_ok() {
        let other = Id::NAME;
        return Some(match is_wide::<Id>() && is_wide::<T>() {
            true => format!("This is the text of a {other}: write '...'::{other}::{name}."),
            false => format!("This is the text of a {other}."),
        });
    });
    // The server's number type that has a cast to the ID type.
    let number = match <T::Stored as Stored>::LEN {
        8 => Some("bigint"),
        _ => T::WIDE_INTEGER.then_some("numeric"),
    };
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if let Some(number) = number.filter(|_| is_number) {
        return Some(format!("To read a number as a {name}, write '...'::{number}::{name}."));
    }
    is_time(text).then(|| {
        format!(
            "To compare an ID with a time, write timestamptz '...' or $1::timestamptz. For a bound of a partition, write \
             {name}_lower('...')."
        )
    })
}

/// Whether a text is a uuid in one of its usual forms: with or without hyphens, with or without braces.
fn is_uuid(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"{").and_then(|text| text.strip_suffix(b"}")).unwrap_or(text);
    uuid_bytes(text).is_some() || text.len() == 32 && text.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the type has 16 bytes. Such types have casts to uuid and to each other.
fn is_wide<T: SqlId>() -> bool {
    <T::Stored as Stored>::LEN == 16
}

/// Whether a text begins with a year and a month, or is one of the server's special date/time inputs.
fn is_time(text: &[u8]) -> bool {
    let is_date = text.iter().zip(b"0000-00").filter(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    let words = ["now", "today", "yesterday", "tomorrow", "epoch", "infinity", "-infinity"];
    is_date.count() == 7 || words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}
