//! What a text looks like that may not be an ID of the wanted type.

use scru_ids::{SortableId, Stored, registry};

/// The bytes of a uuid in its usual form.
const UUID_LEN: usize = 36;

/// The 16 bytes of a uuid in its usual form: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub fn uuid_bytes(text: &[u8]) -> Option<[u8; 16]> {
    // A long text of hyphens would be as many groups.
    let text = str::from_utf8(text).ok().filter(|text| text.len() == UUID_LEN)?;
    let groups: Vec<_> = text.split('-').collect();
    let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
    is_uuid.then(|| hexadecimal(&groups.concat()))?
}

/// The 16 bytes of 32 hexadecimal digits.
fn hexadecimal(digits: &str) -> Option<[u8; 16]> {
    let is_hexadecimal = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hexadecimal.then(|| u128::from_str_radix(digits, 16).ok())?.map(u128::to_be_bytes)
}

/// What to write where a text is malformed for a type and looks like something that leads to an ID of it, as a full sentence.
pub fn hint<T: SortableId>(text: &[u8]) -> Option<String> {
    let name = T::NAME;
    if is_uuid(text) {
        return Some(match is_wide::<T>() {
            true => format!("To read a uuid as a {name}, write '...'::uuid::{name}."),
            false => "This is the text of a uuid, which can be cast to scru128 and ulid.".into(),
        });
    }
    if let Some((other, is_wide)) = other_type::<T>(text) {
        return Some(match is_wide && self::is_wide::<T>() {
            true => format!("This is the text of a {other}: write '...'::{other}::{name}."),
            false => format!("This is the text of a {other}."),
        });
    }
    if let Some(number) = number_type::<T>()
        && !text.is_empty()
        && text.iter().all(u8::is_ascii_digit)
    {
        return Some(format!("To read a number as a {name}, write '...'::{number}::{name}."));
    }
    is_time(text).then(|| "To compare an ID with a time, write timestamptz '...'.".into())
}

/// The text of a uuid in any of the usual forms: with hyphens or without, in braces or not.
fn is_uuid(text: &[u8]) -> bool {
    let text = str::from_utf8(text).unwrap_or_default();
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    uuid_bytes(text.as_bytes()).is_some() || hexadecimal(text).is_some()
}

/// The type of 16 bytes, which have casts to uuid and to each other.
fn is_wide<T: SortableId>() -> bool {
    <T::Stored as Stored>::LEN == 16
}

/// The server's type of numbers that can be cast to a type.
fn number_type<T: SortableId>() -> Option<&'static str> {
    match <T::Stored as Stored>::LEN {
        8 => Some("bigint"),
        _ => T::WIDE_INTEGER.then_some("numeric"),
    }
}

/// The name of the other type whose text this is, and whether that has 16 bytes.
fn other_type<T: SortableId>(text: &[u8]) -> Option<(&'static str, bool)> {
    let mut found = None;
    macro_rules! read {
        ($name:ident, $id:ident, $sql:literal) => {
            if scru_ids::$id::NAME != T::NAME && scru_ids::$id::parse(text).is_ok() {
                found = Some((scru_ids::$id::NAME, is_wide::<scru_ids::$id>()));
            }
        };
    }
    registry!(read);
    found
}

/// Whether a text begins as a date does, or is one of the server's words for a time.
fn is_time(text: &[u8]) -> bool {
    let is_date = text.iter().zip(b"0000-00").filter(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    let words = ["now", "today", "yesterday", "tomorrow", "epoch", "infinity", "-infinity"];
    is_date.count() == 7 || words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}
