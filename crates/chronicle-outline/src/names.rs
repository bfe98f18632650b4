//! Names and signatures, from the text of a node to what people say.

use crate::{MAX_NAME_BYTES, MAX_SIGNATURE_BYTES, rules::Rules};

/// A name as it is written, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// What stands before the last part; empty for most.
    pub(crate) owner: String,
    /// The last part.
    pub(crate) own: String,
}

/// Reads the name in `text`; nothing when there is none.
pub(crate) fn name(text: &[u8], rules: &Rules) -> Option<Name> {
    let text = collapsed(text, MAX_NAME_BYTES);
    let text = unquoted(&text);
    let Some(split) = rules.split else {
        let trimmed = |text: &str| {
            rules.dropped.iter().fold(text.to_owned(), |text, end| text.trim_end_matches(end).to_owned())
        };
        let own = trimmed(text).trim().to_owned();
        return (!own.is_empty()).then(|| Name { owner: String::new(), own });
    };
    let bare = without_type_arguments(text);
    let mut parts: Vec<&str> = bare.split(split).map(str::trim).filter(|part| !part.is_empty()).collect();
    let last = parts.pop()?;
    parts.retain(|part| !rules.dropped.contains(part));
    Some(Name { owner: parts.join(split), own: unquoted(last).to_owned() })
}

/// `name` with `prefix` before it, and a space between two words.
pub(crate) fn prefixed(prefix: &str, name: &str) -> String {
    let runs_on = prefix.ends_with(char::is_alphanumeric) && name.starts_with(char::is_alphanumeric);
    let space = if runs_on { " " } else { "" };
    format!("{prefix}{space}{name}")
}

/// The type in `text` without references, pointers, lifetimes and type arguments.
pub(crate) fn type_name(text: &[u8]) -> String {
    let text = collapsed(text, MAX_NAME_BYTES);
    let bare = without_type_arguments(&text);
    let bare = bare.trim_matches(|c: char| c.is_whitespace() || "&*()?".contains(c));
    let last = bare.rsplit([' ', '*', '&']).find(|word| !word.is_empty());
    last.unwrap_or(bare).to_owned()
}

/// The declaration in `text` on one line, cut before what opens its body or gives its value.
///
/// Where the grammar told where the body is, `text` ends there already.
pub(crate) fn signature(text: &[u8], has_body: bool, has_value: bool) -> String {
    let mut line = collapsed(text, MAX_SIGNATURE_BYTES);
    let ends = [(!has_body, " {"), (!has_body && has_value, " = ")];
    if let Some(end) = ends.iter().filter_map(|(is_wanted, end)| line.find(end).filter(|_| *is_wanted)).min()
    {
        line.truncate(end);
    }
    let kept = line.trim_end_matches(|c: char| c.is_whitespace() || "{:=;,\\".contains(c));
    let kept = kept.strip_suffix("=>").unwrap_or(kept).trim_end();
    kept.to_owned()
}

/// `text` with white space collapsed, cut at `limit` bytes.
fn collapsed(text: &[u8], limit: usize) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * limit)]);
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if limit < line.len() {
        let ellipsis = '…';
        line.truncate(line.floor_char_boundary(limit - ellipsis.len_utf8()));
        line.push(ellipsis);
    }
    line
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    ['"', '\'', '`'].into_iter().find_map(inside).filter(|inside| !inside.is_empty()).unwrap_or(text)
}

/// `Pool<T>::acquire` is `Pool::acquire`; the brackets of operators stay.
fn without_type_arguments(text: &str) -> String {
    let operator = text
        .find("operator")
        .filter(|at| !text[at + "operator".len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    let (generic, operator) = text.split_at(operator.unwrap_or(text.len()));
    let mut depth = 0_usize;
    let mut bare = String::with_capacity(text.len());
    for c in generic.chars() {
        match c {
            '<' | '[' if 0 < depth || bare.ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c)) => {
                depth += 1;
            }
            '>' | ']' if 0 < depth => depth -= 1,
            c if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    let until_arguments = operator
        .strip_prefix("operator()")
        .map_or_else(|| operator.split('(').next().unwrap_or_default(), |_| "operator()");
    bare.push_str(until_arguments.trim_end());
    bare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_names_are_taken_apart() {
        let check = |text: &str, owner: &str, own: &str| {
            let mut rules = Rules::default();
            rules.split = Some("::");
            let expected = Name { owner: owner.to_owned(), own: own.to_owned() };
            assert_eq!(name(text.as_bytes(), &rules), Some(expected), "{text}");
        };
        check("acquire", "", "acquire");
        check("db::Pool<T, U<V>>::acquire", "db::Pool", "acquire");
        check("Pool::operator<", "Pool", "operator<");
        check("Pool<int>::operator()() const", "Pool", "operator()");
        check("operator bool() const", "", "operator bool");
        check("operators", "", "operators");
        check("<=>", "", "<=>");
        check("[]", "", "[]");
        check("\"quoted\"", "", "quoted");
        assert_eq!(name(b" \n ", &Rules::default()), None);
    }

    #[test]
    fn a_prefix_does_not_run_into_a_word() {
        assert_eq!(prefixed("operator", "+"), "operator+");
        assert_eq!(prefixed("operator", "int"), "operator int");
        assert_eq!(prefixed("~", "Pool"), "~Pool");
        assert_eq!(prefixed("", "Pool"), "Pool");
    }

    #[test]
    fn types_lose_what_is_around_their_name() {
        let check = |text: &str, expected: &str| assert_eq!(type_name(text.as_bytes()), expected, "{text}");
        check("&'a mut db::Pool<T>", "db::Pool");
        check("*Pool[T]", "Pool");
        check("(*Pool)", "Pool");
        check("dyn Source", "Source");
        check("Pool?", "Pool");
    }

    #[test]
    fn signatures_are_one_short_line() {
        let check = |text: &str, has_body, expected: &str| {
            assert_eq!(signature(text.as_bytes(), has_body, !has_body), expected, "{text}");
        };
        check("fn a(\n    x: u8,\n) -> u8 ", true, "fn a( x: u8, ) -> u8");
        check("struct A { b: u8 }", false, "struct A");
        check("val a = 1", false, "val a");
        check("const f = (x) =>", true, "const f = (x)");
        let long = signature("é".repeat(9999).as_bytes(), true, false);
        assert!(long.len() <= MAX_SIGNATURE_BYTES && long.ends_with('…'), "{long}");
    }
}
