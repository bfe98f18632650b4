//! Which lines identify code, and which could be anywhere.
//!
//! `} finally {`, `.unwrap();` or a decorator is in many functions; where such a line is proves nothing. A line is
//! distinctive when it has enough letters, two names of its own, and stands once in either version.

/// A distinctive line has at least so many letters and digits.
const LEAST_LETTERS: usize = 12;
/// And so many different names.
const LEAST_NAMES: usize = 2;

/// Keywords, primitive types and other words of every program in common languages, in order: the language of a line need
/// not be known.
const KEYWORDS: &[&str] = &[
    "abstract",
    "alignas",
    "alignof",
    "and",
    "any",
    "append",
    "args",
    "argv",
    "array",
    "as",
    "asm",
    "assert",
    "assert_eq",
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
    "console",
    "const",
    "constexpr",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "delete",
    "describe",
    "dict",
    "do",
    "done",
    "double",
    "dyn",
    "echo",
    "elif",
    "else",
    "elsif",
    "end",
    "ensure",
    "enum",
    "err",
    "error",
    "esac",
    "event",
    "except",
    "exception",
    "exit",
    "expect",
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
    "fixme",
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
    "integer",
    "interface",
    "internal",
    "is",
    "isize",
    "it",
    "lambda",
    "len",
    "let",
    "list",
    "local",
    "lock",
    "long",
    "loop",
    "macro",
    "main",
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
    "number",
    "object",
    "ok",
    "operator",
    "option",
    "or",
    "out",
    "override",
    "package",
    "params",
    "pass",
    "print",
    "printf",
    "println",
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
    "result",
    "return",
    "sealed",
    "select",
    "self",
    "set",
    "short",
    "signed",
    "sizeof",
    "some",
    "static",
    "std",
    "str",
    "string",
    "struct",
    "sub",
    "super",
    "switch",
    "synchronized",
    "template",
    "test",
    "then",
    "this",
    "throw",
    "throws",
    "todo",
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
    "unwrap",
    "use",
    "using",
    "usize",
    "val",
    "var",
    "vec",
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

/// Whether `word` can name something: it begins as a name does, has more than one letter, and is no keyword.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().filter(|letter| letter.is_alphanumeric()).nth(1).is_some()
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

/// Words with which a line begins that takes another file or module in.
const IMPORTS: &[&str] = &["import", "from", "include", "require", "require_relative", "use", "using"];

/// Whether a line takes another file or module in, by a name: in another version of its file it needs no more to be
/// recognised.
pub(crate) fn is_import(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let mut words = words(line.trim().trim_start_matches('#'));
    words.next().is_some_and(|first| IMPORTS.contains(&first)) && words.any(is_name)
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
    fn imports_do_by_one_name() {
        let check = |line: &str, expected: bool| assert_eq!(is_import(line.as_bytes()), expected, "{line}");
        for line in
            ["import re", "#include \"net.h\"", "require 'rack'", "  use std::sync;", "from . import utils"]
        {
            check(line, true);
        }
        for line in ["import (", "use super::*;", "re = import_module()", "#endif", ""] {
            check(line, false);
        }
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
