//! Which lines identify code, and which could be anywhere.
//!
//! `} finally {`, `.unwrap();` or a decorator is in many functions; where such a line is proves nothing. A line is
//! distinctive when it has enough letters, two names of its own, and stands once in either version.

/// A distinctive line has at least so many letters and digits.
const LEAST_LETTERS: usize = 12;
/// And so many different names.
const LEAST_NAMES: usize = 2;

/// Keywords and primitive types of common languages, in order: the language of a line need not be known.
const KEYWORDS: &[&str] = &[
    "abstract",
    "alignas",
    "alignof",
    "and",
    "any",
    "as",
    "asm",
    "assert",
    "async",
    "auto",
    "await",
    "base",
    "begin",
    "bool",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "chan",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "delete",
    "do",
    "done",
    "double",
    "dyn",
    "elif",
    "else",
    "elsif",
    "end",
    "ensure",
    "enum",
    "esac",
    "event",
    "except",
    "export",
    "extends",
    "extension",
    "extern",
    "f32",
    "f64",
    "fallthrough",
    "false",
    "fi",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "foreach",
    "from",
    "fun",
    "func",
    "function",
    "global",
    "go",
    "goto",
    "guard",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "include",
    "init",
    "inline",
    "inout",
    "instanceof",
    "int",
    "interface",
    "internal",
    "is",
    "isize",
    "lambda",
    "let",
    "local",
    "lock",
    "long",
    "loop",
    "macro",
    "map",
    "match",
    "mod",
    "module",
    "mut",
    "namespace",
    "native",
    "new",
    "next",
    "nil",
    "noexcept",
    "none",
    "nonlocal",
    "not",
    "null",
    "nullptr",
    "object",
    "operator",
    "or",
    "out",
    "override",
    "package",
    "params",
    "pass",
    "priv",
    "private",
    "protected",
    "protocol",
    "pub",
    "public",
    "raise",
    "range",
    "readonly",
    "ref",
    "register",
    "require",
    "rescue",
    "return",
    "sealed",
    "select",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "str",
    "string",
    "struct",
    "sub",
    "super",
    "switch",
    "synchronized",
    "template",
    "then",
    "this",
    "throw",
    "throws",
    "trait",
    "transient",
    "true",
    "try",
    "type",
    "typedef",
    "typename",
    "typeof",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "uint",
    "undefined",
    "union",
    "unless",
    "unsafe",
    "unsigned",
    "until",
    "use",
    "usize",
    "using",
    "val",
    "var",
    "virtual",
    "void",
    "volatile",
    "when",
    "where",
    "while",
    "with",
    "yield",
];

/// Whether `word` is a keyword of some language, in whatever case that is written.
pub(crate) fn is_keyword(word: &str) -> bool {
    let is_known = |word: &str| KEYWORDS.binary_search(&word).is_ok();
    is_known(word) || is_known(&word.to_ascii_lowercase())
}

/// Whether `word` can name something: it begins as a name does, and is no keyword.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().any(char::is_alphanumeric)
        && !is_keyword(word)
}

/// The words of a line: names, keywords and numbers.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty())
}

/// Whether the text of a line identifies code, provided that it stands once in its file.
///
/// Decorators and attributes never do: they say what kind of thing follows them, not which.
#[must_use]
pub fn is_telling(line: &[u8]) -> bool {
    is_telling_block(&[line])
}

/// The same of several lines taken together.
pub(crate) fn is_telling_block(lines: &[&[u8]]) -> bool {
    let is_attribute = |line: &[u8]| [&b"@"[..], b"#[", b"#!["].iter().any(|mark| line.starts_with(mark));
    let lines: Vec<&[u8]> =
        lines.iter().map(|line| line.trim_ascii()).filter(|line| !is_attribute(line)).collect();
    let joined = lines.join(&b' ');
    let line = String::from_utf8_lossy(&joined);
    let n_letters = line.chars().filter(|letter| letter.is_alphanumeric()).count();
    if n_letters < LEAST_LETTERS {
        return false;
    }
    let mut names: Vec<&str> = words(&line).filter(|word| is_name(word)).collect();
    names.sort_unstable();
    names.dedup();
    LEAST_NAMES <= names.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_in_order() {
        assert!(KEYWORDS.is_sorted());
    }

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        for line in lines {
            assert_eq!(is_telling(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn lines_that_could_be_anywhere_identify_nothing() {
        check(
            &[
                "} finally {",
                "        .unwrap();",
                "@pytest.mark.parametrize(",
                "@pytest.mark.skipif(os.name == \"nt\", reason=\"no links here\")",
                "#[derive(Debug, Clone, PartialEq, Eq)]",
                "return Err(error);",
                "public static final void",
                "} catch (Exception e) {",
                "    if (x == y) {",
                "assert_eq!(1, 1);",
                "",
                "------------------------",
                "000000000000000000000",
            ],
            false,
        );
    }

    #[test]
    fn lines_with_names_of_their_own_do() {
        check(
            &[
                "    sock.settimeout(TIMEOUT * 2)",
                "os.symlink(link, root)",
                "fn release_all(pool: &Pool) {",
                "let größe = länge_der_liste;",
                "Retries are spaced evenly.",
            ],
            true,
        );
    }
}
