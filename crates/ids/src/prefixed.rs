//! IDs with a prefix that names the kind of object, such as `order_01h455vb4pex5vsknk084sn02q`. The rules for prefixes are those of
//! the [TypeID specification](https://github.com/jetify-com/typeid/tree/main/spec), version 0.3.0.

/// The length of the longest prefix, in characters.
const MAX_LEN: usize = 63;

const SEPARATOR: u8 = b'_';

/// Returns whether a text is a valid prefix: at most 63 lower-case ASCII letters and underscores, with no underscore at the
/// beginning or the end. The empty prefix is valid.
pub fn is_prefix(text: &[u8]) -> bool {
    let at_ends = [text.first(), text.last()];
    text.len() <= MAX_LEN
        && text.iter().all(|byte| matches!(byte, b'a'..=b'z' | &SEPARATOR))
        && !at_ends.contains(&Some(&SEPARATOR))
}

/// Returns the prefix, the separator and the text of an ID. The empty prefix has no separator.
pub fn join(prefix: &[u8], id: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if prefix.is_empty() { b"" } else { &[SEPARATOR] };
    [prefix, separator, id].concat()
}

/// Splits a text at its last separator, and returns the prefix and the text of the ID. A separator without a prefix belongs to the
/// text of the ID, and makes it malformed.
pub fn split(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().rposition(|byte| *byte == SEPARATOR) {
        Some(0) | None => (b"", text),
        Some(position) => (&text[..position], &text[position + 1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digits::CROCKFORD_LOWER;

    fn type_id(prefix: &str, uuid: u128) -> String {
        assert!(is_prefix(prefix.as_bytes()));
        let text = join(prefix.as_bytes(), CROCKFORD_LOWER.encode::<26>(uuid, &mut [0; 26]));
        String::from_utf8(text).unwrap()
    }

    fn parsed(text: &str) -> Option<(&str, u128)> {
        let (prefix, suffix) = split(text.as_bytes());
        let uuid = CROCKFORD_LOWER.decode_26(suffix).ok()?;
        is_prefix(prefix).then(|| (str::from_utf8(prefix).unwrap(), uuid))
    }

    /// The values of `spec/valid.json` of TypeID 0.3.0.
    #[test]
    fn valid_values_of_type_id() {
        for (text, prefix, uuid) in [
            ("00000000000000000000000000", "", 0),
            ("00000000000000000000000001", "", 1),
            ("0000000000000000000000000a", "", 0xa),
            ("0000000000000000000000000g", "", 0x10),
            ("00000000000000000000000010", "", 0x20),
            ("7zzzzzzzzzzzzzzzzzzzzzzzzz", "", u128::MAX),
            ("prefix_0123456789abcdefghjkmnpqrs", "prefix", 0x0110c853_1d09_52d8_d73e_1194e95b5f19),
            ("prefix_01h455vb4pex5vsknk084sn02q", "prefix", 0x01890a5d_ac96_774b_bcce_b302099a8057),
            ("pre_fix_00000000000000000000000000", "pre_fix", 0),
        ] {
            assert_eq!(parsed(text), Some((prefix, uuid)));
            assert_eq!(type_id(prefix, uuid), text);
        }
    }

    /// The values of `spec/invalid.json` of TypeID 0.3.0.
    #[test]
    fn invalid_values_of_type_id() {
        for text in [
            "PREFIX_00000000000000000000000000",
            "12345_00000000000000000000000000",
            "pre.fix_00000000000000000000000000",
            "préfix_00000000000000000000000000",
            "  prefix_00000000000000000000000000",
            "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_00000000000000000000000000",
            "_00000000000000000000000000",
            "_",
            "prefix_1234567890123456789012345",
            "prefix_123456789012345678901234567",
            "prefix_1234567890123456789012345 ",
            "prefix_0123456789ABCDEFGHJKMNPQRS",
            "prefix_123456789-123456789-123456",
            "prefix_ooooooiiiiiiuuuuuuulllllll",
            "prefix_i23456789ol23456789oi23456",
            "prefix_123456789-0123456789-0123456",
            "prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz",
            "_prefix_00000000000000000000000000",
            "prefix__00000000000000000000000000",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn prefixes_have_at_most_63_characters() {
        assert!(is_prefix(&[b'z'; 63]));
        assert!(!is_prefix(&[b'z'; 64]));
        for prefix in ["", "a", "a__b"] {
            assert!(is_prefix(prefix.as_bytes()), "{prefix}");
        }
        for no_prefix in ["_", "__", "a_", "_a", "A", "a1", "a-b", "a\0", "ä"] {
            assert!(!is_prefix(no_prefix.as_bytes()), "{no_prefix}");
        }
    }
}
