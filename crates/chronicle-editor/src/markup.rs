//! Words of a repository as a client shows them. They are hostile: nothing in them may become a link, a heading, an image
//! or any other markup.

use chronicle::Tier;

/// Text that is put together of our own marks and the words of others.
#[derive(Debug)]
pub(crate) struct Markup {
    is_markdown: bool,
    text: String,
}

impl Markup {
    pub(crate) fn new(is_markdown: bool) -> Self {
        Self { is_markdown, text: String::new() }
    }

    /// A heading of our own around words of others.
    pub(crate) fn head(&mut self, words: &str) {
        self.gap();
        // Without bold letters, a blank line sets it apart.
        if !self.is_markdown && !self.text.is_empty() {
            self.text.push('\n');
        }
        let words = self.safe(words);
        self.text.push_str(&if self.is_markdown { format!("**{words}**") } else { words });
    }

    /// Words of others, one paragraph for each of their lines.
    pub(crate) fn words(&mut self, words: &str) {
        self.lines("", words);
    }

    /// The same of someone who is trusted as `tier`: each line of a stranger's words is quoted.
    pub(crate) fn words_of(&mut self, tier: Tier, words: &str) {
        self.lines(if tier == Tier::Unknown { "> " } else { "" }, words);
    }

    fn lines(&mut self, mark: &str, words: &str) {
        for line in words.lines().map(str::trim).filter(|line| !line.is_empty()) {
            self.gap();
            let line = self.safe(line);
            self.text.push_str(mark);
            self.text.push_str(&line);
        }
    }

    /// A line between two parts.
    pub(crate) fn rule(&mut self) {
        if !self.text.is_empty() {
            self.gap();
            self.text.push_str("---");
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str(if self.is_markdown { "\n\n" } else { "\n" });
        }
    }

    fn safe(&self, words: &str) -> String {
        let words = chronicle::plain(words).replace(['\n', '\t'], " ");
        if self.is_markdown { escaped(&words) } else { words }
    }
}

/// What may begin or end markup anywhere.
const MARKS: [char; 16] = ['\\', '`', '*', '_', '[', ']', '{', '}', '<', '>', '&', '~', '|', '@', '#', '^'];

/// Text as Markdown that shows just this text: a backslash before each mark takes its meaning away. Fewer backslashes are
/// better, because some editors show them.
fn escaped(text: &str) -> String {
    let text = text.trim();
    let mut escaped = String::with_capacity(text.len() + 16);
    for (at, character) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + character.len_utf8()..]);
        let is_mark = match character {
            // A list, at the start of a line only.
            '-' | '+' | '=' => before.is_empty(),
            ')' => is_number(before),
            // An address is a link by itself.
            '.' => {
                is_number(before)
                    || before.len() >= 3
                        && before.is_char_boundary(at - 3)
                        && before[at - 3..].eq_ignore_ascii_case("www")
            }
            ':' => after.starts_with("//"),
            mark => MARKS.contains(&mark),
        };
        if is_mark {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(is_markdown: bool, words: &str) -> String {
        let mut markup = Markup::new(is_markdown);
        markup.words(words);
        markup.into_text()
    }

    #[test]
    fn hostile_words_stay_words() {
        let check = |given: &str, expected: &str| assert_eq!(words(true, given), expected);
        check("[run](command:evil)", r"\[run\](command:evil)");
        check(r"[run\](command:evil)", r"\[run\\\](command:evil)");
        check("<img src=x onerror=alert(1)>", r"\<img src=x onerror=alert(1)\>");
        check("https://a.b and WWW.a.b, a@b.c", r"https\://a.b and WWW\.a.b, a\@b.c");
        check(
            "max_backoff is in seconds (not ms): see f(1, 2.5)",
            r"max\_backoff is in seconds (not ms): see f(1, 2.5)",
        );
        check("# not a heading\n    code\n- item", "\\# not a heading\n\ncode\n\n\\- item");
        check("&lt;b&gt; `x` ~~y~~", r"\&lt;b\&gt; \`x\` \~\~y\~\~");
        check("a\u{1b}[31mred\u{202e}x", "a\\[31mredx");
        check("1. one\n2) two\n+ three", "1\\. one\n\n2\\) two\n\n\\+ three");
        assert_eq!(words(false, "[run](command:evil)\nnext"), "[run](command:evil)\nnext");
    }

    #[test]
    fn parts_are_set_apart() {
        let mut markup = Markup::new(true);
        markup.rule();
        markup.head("gotcha (line_1)");
        markup.words("Never block.");
        markup.words_of(Tier::Own, "Mine.");
        markup.words_of(Tier::Unknown, "Theirs.\n- more");
        markup.rule();
        assert!(!markup.is_empty());
        assert_eq!(
            markup.into_text(),
            "**gotcha (line\\_1)**\n\nNever block.\n\nMine.\n\n> Theirs.\n\n> \\- more\n\n---"
        );
    }
}
