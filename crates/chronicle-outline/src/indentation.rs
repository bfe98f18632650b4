//! Which files the scanners of languages laid out by indentation can hold.
//!
//! Such a scanner keeps the columns that are open in a buffer of 1,024 bytes, and ends the
//! process when there are more of them than fit: in tree-sitter-yaml 253, in
//! tree-sitter-python 510. Nothing but not asking it keeps the process alive.

use crate::language::Language;

/// More columns than this are not opened by what people write; Python itself allows 100 levels.
const MAX_OPEN: usize = 200;

/// Whether `text` opens more columns at once than the language's scanner may have room for.
/// Never too few are counted.
pub(crate) fn is_too_deep(language: Language, text: &[u8]) -> bool {
    match language.name() {
        "Python" => max_open(text, b"") == MAX_OPEN,
        // Where the text is broken, each of these may open one, wherever it stands.
        "YAML" => max_open(text, b"-?:") == MAX_OPEN,
        _ => false,
    }
}

/// How many columns are open at once at most, and not more than [`MAX_OPEN`]: two where a line
/// begins (in YAML a sequence may stand in the column of the mapping around it), and one at each of
/// `indicators` that white space follows.
fn max_open(text: &[u8], indicators: &[u8]) -> usize {
    let mut open: Vec<usize> = Vec::new();
    let mut deepest = 0;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let Some(start) = line.iter().position(|byte| !byte.is_ascii_whitespace()) else { continue };
        while open.last().is_some_and(|column| start <= *column) {
            open.pop();
        }
        open.extend([start, start]);
        if !indicators.is_empty() {
            let is_one = |column: &usize| {
                indicators.contains(&line[*column])
                    && line.get(column + 1).is_none_or(u8::is_ascii_whitespace)
            };
            open.extend((start..line.len()).filter(is_one).take(MAX_OPEN));
        }
        deepest = deepest.max(open.len());
        if MAX_OPEN <= deepest {
            return MAX_OPEN;
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_open_until_a_line_begins_before_them() {
        assert_eq!(max_open(b"", b"-"), 0);
        assert_eq!(max_open(b"a\n\n  b\n c\n", b""), 4);
        assert_eq!(max_open(b"- - a\n    b\nc\n", b"-"), 6);
        let stairs: String = (0..99).map(|depth| format!("{}a\n", " ".repeat(depth))).collect();
        assert_eq!(max_open(stairs.repeat(9).as_bytes(), b""), 198);
    }
}
