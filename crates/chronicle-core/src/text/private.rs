//! Takes out what a human marked as private, before anything of it is stored.
//!
//! A span reaches from `<private>` to the `</private>` that closes it, or to the end of the text:
//! who forgot to close it wanted too much hidden rather than too little. Spans nest, and the marks
//! count in any case, with attributes, and escaped as JSON or HTML write them. Only words that
//! talk about the mark, such as `<private>` alone in a code span or `<private key>`, need a
//! closing mark behind them to open a span.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2_iter;

/// What stands in the place of a span.
pub const MARK: &str = "[private]";

/// A longer mark is none; this is what keeps a text full of half marks cheap.
const LONGEST_MARK: usize = 1024;

const NAME: &[u8] = b"private";

/// Replaces every private span of `text` by `[private]`, and tells how many there were.
///
/// Call it on whole texts: where a text was cut, a span may have lost its beginning.
#[must_use]
pub fn remove(text: &str) -> (Cow<'_, str>, usize) {
    remove_with(text, &|_| MARK.to_owned())
}

/// [`remove`] for texts whose lines are counted: a span of several lines leaves as many of them behind.
#[must_use]
pub fn remove_in_lines(text: &str) -> (Cow<'_, str>, usize) {
    remove_with(text, &|span| {
        let n_lines = span.bytes().filter(|byte| *byte == b'\n').count();
        format!("{MARK}{}", "\n".repeat(n_lines))
    })
}

fn remove_with<'t>(text: &'t str, left: &dyn Fn(&str) -> String) -> (Cow<'t, str>, usize) {
    let (mut kept, mut n_spans) = remove_once(text, left);
    // Words around a span may make a mark of their own once it is gone.
    while 0 < n_spans {
        let (again, n_more) = remove_once(&kept, left);
        if n_more == 0 {
            break;
        }
        n_spans += n_more;
        kept = Cow::Owned(again.into_owned());
    }
    (kept, n_spans)
}

fn remove_once<'t>(text: &'t str, left: &dyn Fn(&str) -> String) -> (Cow<'t, str>, usize) {
    let spans = spans(text.as_bytes());
    if spans.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let mut kept = String::with_capacity(text.len());
    let mut copied = 0;
    for span in &spans {
        kept.push_str(&text[copied..span.start]);
        kept.push_str(&left(&text[span.clone()]));
        copied = span.end;
    }
    kept.push_str(&text[copied..]);
    (Cow::Owned(kept), spans.len())
}

/// The texts of one message, where a span begins in one of them and ends in another, or nowhere: such a span reaches
/// over all texts between. `None` when no span does.
///
/// Where the span begins, its mark is left open, so that [`remove`] finds it; of the texts after it, what it covers is
/// gone.
#[must_use]
pub fn across<'t>(texts: &'t [Cow<'t, str>]) -> Option<Vec<Cow<'t, str>>> {
    const BETWEEN: &str = "\n";
    let joined = texts.join(BETWEEN);
    let mut cleaned = texts.to_vec();
    let mut start = 0;
    let mut is_changed = false;
    let spans = spans(joined.as_bytes());
    let mut first = 0;
    for (text, cleaned) in texts.iter().zip(&mut cleaned) {
        let end = start + text.len();
        first += spans[first..].iter().take_while(|span| span.end <= start).count();
        let n = spans[first..].iter().take_while(|span| span.start < end).count();
        // From the last span to the first, so that places before it still count.
        for span in spans[first..first + n].iter().rev() {
            let is_whole = start <= span.start && (span.end <= end && span.end < joined.len());
            let is_last = end == joined.len();
            if is_whole || (is_last && start <= span.start) {
                continue;
            }
            let (from, to) = (span.start.max(start) - start, span.end.min(end) - start);
            let mark = if start <= span.start { OPEN } else { "" };
            cleaned.to_mut().replace_range(from..to, mark);
            is_changed = true;
        }
        start = end + BETWEEN.len();
    }
    is_changed.then_some(cleaned)
}

/// A mark that nothing has to close.
const OPEN: &str = "<private>";

/// The outermost spans, from left to right.
fn spans(text: &[u8]) -> Vec<Range<usize>> {
    let marks = marks(text);
    let last_close = marks.iter().rposition(|mark| mark.kind == MarkKind::Close);
    let mut spans = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, mark) in marks.iter().enumerate() {
        match mark.kind {
            MarkKind::Close if depth == 1 => {
                spans.push(start..mark.range.end);
                depth = 0;
            }
            MarkKind::Close => depth = depth.saturating_sub(1),
            MarkKind::Mention if last_close.is_none_or(|last| last < at) => {}
            MarkKind::Open | MarkKind::Mention => {
                start = if depth == 0 { mark.range.start } else { start };
                depth += 1;
            }
        }
    }
    if 0 < depth {
        spans.push(start..text.len());
    }
    spans
}

struct Mark {
    range: Range<usize>,
    kind: MarkKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    Open,
    /// It opens a span only if something closes it.
    Mention,
    Close,
}

fn marks(text: &[u8]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    // The rarest letter of the name is looked for, so that most of a text is never looked at.
    for at in memchr2_iter(b'v', b'V', text) {
        let floor = marks.last().map_or(0, |mark| mark.range.end);
        let Some(name) = at.checked_sub(3).filter(|&name| floor <= name) else { continue };
        if text.get(name..name + NAME.len()).is_some_and(|word| word.eq_ignore_ascii_case(NAME)) {
            marks.extend(mark_around(text, floor, name));
        }
    }
    marks
}

/// The mark whose name stands at `name`.
fn mark_around(text: &[u8], floor: usize, name: usize) -> Option<Mark> {
    let before = &text[floor..name];
    let closes = before.ends_with(b"/");
    let before = without_backslashes(if closes { &before[..before.len() - 1] } else { before });
    let start = floor + opened_at(before)?;
    let limit = text.len().min(start + LONGEST_MARK);
    let words = words(&text[..limit], name + NAME.len())?;
    let kind = match (closes, words.has_value) {
        (true, _) => MarkKind::Close,
        (false, true) => MarkKind::Open,
        (false, false) if words.is_any || is_alone_in_code(text, start, words.end) => MarkKind::Mention,
        (false, false) => MarkKind::Open,
    };
    Some(Mark { range: start..words.end, kind })
}

/// Where the `<` at the end of `before` begins, in any of its writings.
fn opened_at(before: &[u8]) -> Option<usize> {
    let letters = ["<", "u003c", "&lt;", "x3c"];
    let writing = letters.iter().find(|writing| ends_with(before, writing))?;
    let rest = &before[..before.len() - writing.len()];
    match writing.as_bytes()[0] {
        b'u' | b'x' if !rest.ends_with(b"\\") => None,
        b'u' | b'x' => Some(without_backslashes(rest).len()),
        _ => Some(rest.len()),
    }
}

/// The attributes of a mark.
struct Words {
    /// The byte after the `>`.
    end: usize,
    is_any: bool,
    has_value: bool,
}

/// Reads what stands between the name of a mark, which ends at `at`, and its `>`.
fn words(text: &[u8], mut at: usize) -> Option<Words> {
    let (mut is_any, mut has_value) = (false, false);
    loop {
        let blank = blank_len(&text[at..]);
        at += blank;
        if let Some(length) = closing_len(&text[at..]) {
            return Some(Words { end: at + length, is_any, has_value });
        }
        let word = run(text, at, |byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte));
        if word == 0 || blank == 0 && !is_any {
            return None;
        }
        is_any = true;
        at += word;
        if text.get(at) == Some(&b'=') {
            has_value = true;
            at = value_end(text, at + 1)?;
        }
    }
}

/// Where the value of an attribute ends that begins at `at`.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let quote_at = at + run(text, at, |byte| byte == b'\\');
    match text.get(quote_at) {
        Some(&quote @ (b'"' | b'\'')) => {
            let length = text[quote_at + 1..].iter().position(|&byte| byte == quote)?;
            Some(quote_at + 1 + length + 1)
        }
        _ => Some((at..text.len()).find(|&end| ends_bare(&text[end..])).unwrap_or(text.len())),
    }
}

fn ends_bare(rest: &[u8]) -> bool {
    rest[0] == b'<' || 0 < blank_len(rest) || closing_len(rest).is_some()
}

/// How long the `>` at the start of `text` is, in any of its writings.
fn closing_len(text: &[u8]) -> Option<usize> {
    let n_slashes = run(text, 0, |byte| byte == b'\\');
    let rest = &text[n_slashes..];
    let writing = [">", "u003e", "&gt;", "x3e"].iter().find(|writing| starts_with(rest, writing))?;
    let is_escape = matches!(writing.as_bytes()[0], b'u' | b'x');
    (is_escape == (0 < n_slashes)).then_some(n_slashes + writing.len())
}

/// How many bytes at the start of `text` are blanks or line breaks, which JSON writes as `\n`.
fn blank_len(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match &text[at..] {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => at += 1,
            [b'\\', b'n' | b'r' | b't', ..] => at += 2,
            _ => return at,
        }
    }
}

fn is_alone_in_code(text: &[u8], start: usize, end: usize) -> bool {
    text[..start].ends_with(b"`") && text[end..].starts_with(b"`")
}

fn without_backslashes(text: &[u8]) -> &[u8] {
    let n_slashes = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
    &text[..text.len() - n_slashes]
}

fn run(text: &[u8], from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    text[from..].iter().take_while(|&&byte| wanted(byte)).count()
}

fn starts_with(text: &[u8], start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start.as_bytes()))
}

fn ends_with(text: &[u8], end: &str) -> bool {
    text.len().checked_sub(end.len()).is_some_and(|at| starts_with(&text[at..], end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str, n_spans: usize) {
        let (kept, n_found) = remove(text);
        assert_eq!((kept.as_ref(), n_found), (expected, n_spans), "of {text:?}");
        assert_eq!(remove(&kept).1, 0, "twice of {text:?}");
    }

    #[test]
    fn a_span_goes_with_its_marks() {
        check("a <private>b</private> c", "a [private] c", 1);
        check("<private></private>", "[private]", 1);
        check("a<private>b\nc</private>d<private>e</private>", "a[private]d[private]", 2);
        check("<PRIVATE>b</Private >c", "[private]c", 1);
        check("é<private>ü</private>ß", "é[private]ß", 1);
    }

    #[test]
    fn spans_nest() {
        check("a<private>b<private>c</private>d</private>e", "a[private]e", 1);
        check("<private><private>a</private>", "[private]", 1);
        check("<private>a</private>b</private>c", "[private]b</private>c", 1);
    }

    #[test]
    fn what_is_not_closed_goes_to_the_end() {
        check("a <private>b", "a [private]", 1);
        check("a <private>b <private>c</private> d", "a [private]", 1);
        check("a <private>", "a [private]", 1);
        check("a <private reason=x>b", "a [private]", 1);
    }

    #[test]
    fn attributes_belong_to_the_mark() {
        check("<private reason=\"a > b\">c</private>d", "[private]d", 1);
        check("<private\n  id='1' why=don't>c</private\n>d", "[private]d", 1);
        check("<private hidden>c</private>d", "[private]d", 1);
        check("<private data-x=1 hidden>c", "[private]", 1);
        check("<private url=a&b\\c>c", "[private]", 1);
        check("<private a=\"1\"b=\"2\">c", "[private]", 1);
    }

    #[test]
    fn code_spans_hide_nothing() {
        check("`<private>a</private>` b", "`[private]` b", 1);
        check("```\n<private>\na\n</private>\n```", "```\n[private]\n```", 1);
        check("`<private>` a `</private>` b", "`[private]` b", 1);
    }

    #[test]
    fn escapes_are_understood() {
        check(r"a\u003cprivate\u003eb\u003c/private\u003ec", "a[private]c", 1);
        check(r"a\\u003CPRIVATE\\u003Eb\\u003C/private\\u003Ec", "a[private]c", 1);
        check(r"<private>b<\/private>c", "[private]c", 1);
        check(r#"{"text": "<private id=\"1\">b<\/private>c"}"#, r#"{"text": "[private]c"}"#, 1);
        check(r"<private\n>b</private\n>c", "[private]c", 1);
        check("a&lt;private&gt;b&lt;/private&gt;c", "a[private]c", 1);
        check(r"\x3cprivate\x3eb\x3c/private\x3ec", "[private]c", 1);
    }

    #[test]
    fn words_about_the_mark_stay() {
        for text in [
            "",
            "private",
            "a `<private>` span is never stored",
            "ssh -i <private key> host",
            "<private_key>, <private-data> and <privateer>",
            "<private/> holds nothing",
            "a </private> that closes nothing",
            "if a <private && b > c",
            "u003cprivateu003e",
            "<private reason=\"never ends",
        ] {
            assert!(matches!(remove(text), (Cow::Borrowed(_), 0)), "{text:?}");
        }
    }

    #[test]
    fn a_span_reaches_over_the_texts_of_a_message() {
        let check = |texts: &[&str], expected: Option<&[&str]>| {
            let texts: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(*text)).collect();
            let found = across(&texts);
            let found: Option<Vec<&str>> =
                found.as_ref().map(|texts| texts.iter().map(|text| &**text).collect());
            assert_eq!(found.as_deref(), expected, "{texts:?}");
        };
        check(
            &["see <private>our name", "", "is X", "and Y</private> thanks", "end"],
            Some(&["see <private>", "", "", " thanks", "end"]),
        );
        check(&["a <private>b", "c"], Some(&["a <private>", ""]));
        check(
            &["<private>a", "b</private> <private>c", "d</private>"],
            Some(&["<private>", " <private>", ""]),
        );
        check(&["see `<private>` a", "b</private>c"], Some(&["see `<private>", "c"]));
        check(&["é<private>ü", "ß</private>é"], Some(&["é<private>", "é"]));
        for texts in [
            &["<private>a</private>", "b"][..],
            &["a", "b <private>c"],
            &["`<private>` is a mark", "b"],
            &["a"],
            &[],
        ] {
            check(texts, None);
        }
    }

    #[test]
    fn many_half_marks_are_cheap() {
        let text = "<private a=\"".repeat(100_000);
        assert_eq!(remove(&text).1, 0);
        let text = "<private>".repeat(100_000);
        assert_eq!(remove(&text), (Cow::Borrowed(MARK), 1));
    }

    #[test]
    fn many_spans_in_many_texts_are_cheap() {
        let text = Cow::Borrowed("a <private>b</private> c");
        let mut texts = vec![text.clone(); 50_000];
        assert_eq!(across(&texts), None);
        (texts[0], texts[49_999]) = (Cow::Borrowed("<private>"), Cow::Borrowed("d</private>e"));
        let cleaned = across(&texts).unwrap();
        assert_eq!((&*cleaned[0], &*cleaned[1], &*cleaned[49_999]), ("<private>", "", "e"));
    }

    fn tangle() -> impl Strategy<Value = String> {
        const PIECES: &[&str] = &[
            "<",
            ">",
            "</",
            "private",
            "PRIVATE",
            "<private",
            "<private>",
            "</private>",
            " ",
            "a=",
            "\"",
            "'",
            "`",
            "\\",
            "\\n",
            "\\u003c",
            "\\u003e",
            "&lt;",
            "&gt;",
            "x",
            "é",
            "/",
            "[private]",
            "<private a=\"",
        ];
        let piece =
            prop_oneof![19 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn once_is_enough(text in tangle()) {
            let (kept, n_spans) = remove(&text);
            prop_assert_eq!(n_spans == 0, kept == text);
            prop_assert_eq!(remove(&kept).1, 0, "{:?}", kept);
        }

        #[test]
        fn nothing_of_a_span_stays_and_nothing_else_goes(
            before in "[a-z `\"\\\\é]{0,20}",
            secret in "[A-Z0-9 \n<>`\"'\\\\/é]{0,40}",
            after in "[a-z `\"é]{0,20}",
            attributes in "( [a-z]{1,4}=(\"[a-z >]{0,5}\"|[0-9]{1,3})){0,3}",
        ) {
            let text = format!("{before}<private{attributes}>{secret}</private>{after}");
            let (kept, n_spans) = remove(&text);
            prop_assert_eq!(n_spans, 1);
            prop_assert_eq!(kept, format!("{before}{MARK}{after}"));
        }
    }
}
