//! From the bytes of a file to UTF-8 that a parser takes, line for line.

use std::borrow::Cow;

/// The text without its byte order mark, in UTF-8 if it was UTF-16.
///
/// Bytes that are no UTF-8 are read as Latin-1, one by one: a file may have some of either.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, [u8]> {
    let utf16 = |body: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = body.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: String =
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        Cow::Owned(text.into_bytes())
    };
    let text = match bytes {
        [0xEF, 0xBB, 0xBF, body @ ..] => Cow::Borrowed(body),
        [0xFF, 0xFE, body @ ..] => utf16(body, u16::from_le_bytes),
        [0xFE, 0xFF, body @ ..] => utf16(body, u16::from_be_bytes),
        _ => Cow::Borrowed(bytes),
    };
    match text {
        Cow::Borrowed(text) => latin1_as_utf8(text),
        owned @ Cow::Owned(_) => owned,
    }
}

fn latin1_as_utf8(text: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(text).is_ok() {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len() + text.len() / 8);
    for chunk in text.utf8_chunks() {
        decoded.push_str(chunk.valid());
        decoded.extend(chunk.invalid().iter().map(|byte| char::from(*byte)));
    }
    Cow::Owned(decoded.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_marks_say_what_follows() {
        let check = |bytes: &[u8], expected: &str| assert_eq!(decode(bytes), expected.as_bytes());
        check(b"a\n", "a\n");
        check(b"\xEF\xBB\xBFa", "a");
        check(b"\xFF\xFEa\0\n\0", "a\n");
        check(b"\xFE\xFF\0a\0\n", "a\n");
        check(b"\xFF\xFEa\0b", "a");
        check(b"\xFF\xFE\x00\xD8", "\u{FFFD}");
    }

    #[test]
    fn what_is_no_utf8_is_latin1() {
        let check = |bytes: &[u8], expected: &str| assert_eq!(decode(bytes), expected.as_bytes());
        check(b"fn gr\xF6\xDFe() {}\n", "fn größe() {}\n");
        check("größe".as_bytes(), "größe");
        check(&["größe ".as_bytes(), b"na\xEFve"].concat(), "größe naïve");
        check(b"\xEF\xBB\xBFcaf\xE9", "café");
        check(b"\xE9", "é");
    }
}
