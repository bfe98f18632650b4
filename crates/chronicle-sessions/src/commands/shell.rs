//! The single commands of what was typed into a shell, and what joins them.

use std::borrow::Cow;

/// What stands before a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Nothing, `;`, `&` or the end of a line: it runs whatever happened before.
    Then,
    /// `&&`: it runs if what is before it succeeded.
    And,
    /// `||`: it runs if what is before it failed.
    Or,
    /// `|`: it reads what the one before it prints.
    Pipe,
}

/// One command, or a group of them in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'c> {
    pub(crate) join: Join,
    pub(crate) text: &'c str,
}

impl<'c> Part<'c> {
    /// What a group holds; none for a single command.
    pub(crate) fn group(&self) -> Option<&'c str> {
        let inner = |open, close| self.text.strip_prefix(open)?.strip_suffix(close);
        inner("(", ")").or_else(|| inner("{ ", "}"))
    }
}

/// A command without the texts that are handed in below it: they are no commands.
pub(crate) fn without_texts(command: &str) -> Cow<'_, str> {
    if !command.contains("<<") {
        return command.into();
    }
    let mut kept = String::with_capacity(command.len());
    let mut lines = command.lines();
    while let Some(line) = lines.next() {
        kept.push_str(line);
        kept.push('\n');
        if let Some(end) = end_of_text(line) {
            lines.by_ref().find(|line| line.trim() == end);
        }
    }
    kept.into()
}

/// The word that ends the text below `line`: `EOF` after `<<'EOF'`.
fn end_of_text(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start().trim_start_matches(['\'', '"', '\\']);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    (0 < end).then(|| &rest[..end])
}

/// The parts of `command` in order, as far as quotes and brackets let them be told apart.
///
/// A command that goes on in the background ends with an empty part: what the shell tells at the
/// end is not how that one went.
pub(crate) fn parts(command: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut join = Join::Then;
    let mut start = 0;
    let mut scan = Scan { text: command, at: 0, depth: 0 };
    let mut is_beside = false;
    while let Some((at, next)) = scan.separator() {
        let text = command[start..at].trim();
        let end = at + next.len();
        start = end;
        if !text.is_empty() {
            found.push(Part { join, text });
        } else if next.starts_with(['\n', '#']) {
            // A line may end behind `&&`.
            continue;
        }
        is_beside = next == "&" || is_beside && next == "\n";
        join = match next {
            "&&" => Join::And,
            "||" => Join::Or,
            "|" | "|&" => Join::Pipe,
            _ => Join::Then,
        };
    }
    let text = command[start..].trim();
    if !text.is_empty() || is_beside {
        found.push(Part { join, text });
    }
    found
}

/// The words of one command without its quotes and the variables before it.
pub(crate) fn words(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut word, mut is_word, mut quote) = (String::new(), false, None);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(mark), _) if letter == mark => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (None, _) if letter.is_whitespace() => {
                if std::mem::take(&mut is_word) {
                    found.push(std::mem::take(&mut word));
                }
                continue;
            }
            _ => word.push(letter),
        }
        is_word = true;
    }
    found.extend(is_word.then_some(word));
    let n_settings = found.iter().take_while(|word| is_setting(word)).count();
    found.drain(..n_settings);
    found
}

/// `NAME=value`, which sets a variable for the command behind it.
pub(crate) fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Looks for what separates commands.
struct Scan<'c> {
    text: &'c str,
    at: usize,
    depth: usize,
}

impl<'c> Scan<'c> {
    /// Where the next separator stands; a comment belongs to the end of its line.
    fn separator(&mut self) -> Option<(usize, &'c str)> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).copied() {
            let at = self.at;
            let before = at.checked_sub(1).map(|before| bytes[before]);
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\'' => self.at = self.after(at + 1, b'\''),
                b'`' => self.at = self.after(at + 1, b'`'),
                b'"' => self.quoted(),
                b'(' => self.depth += 1,
                b'{' if bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace) => self.depth += 1,
                b')' => self.depth = self.depth.saturating_sub(1),
                b'}' if before.is_some_and(|byte| byte == b';' || byte.is_ascii_whitespace()) => {
                    self.depth = self.depth.saturating_sub(1);
                }
                b'#' if before.is_none_or(|byte| byte.is_ascii_whitespace()) => {
                    self.at = self.after(at, b'\n');
                    if self.depth == 0 {
                        return Some((at, &self.text[at..self.at]));
                    }
                }
                _ if 0 < self.depth => {}
                b';' | b'\n' => return Some((at, &self.text[at..self.at])),
                // `2>&1` and `&>` send output elsewhere.
                b'&' if before == Some(b'>') || bytes.get(at + 1) == Some(&b'>') => {}
                b'|' if before == Some(b'>') => {}
                b'&' | b'|' => {
                    let is_double =
                        bytes.get(at + 1).is_some_and(|next| *next == byte || byte == b'|' && *next == b'&');
                    self.at += usize::from(is_double);
                    return Some((at, &self.text[at..self.at]));
                }
                _ => {}
            }
        }
        None
    }

    /// Goes on behind the text in double quotes, which may hold commands with quotes of their own.
    fn quoted(&mut self) {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(byte) = bytes.get(self.at).copied() {
            let at = self.at;
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'(' if at.checked_sub(1).is_some_and(|before| bytes[before] == b'$') || 0 < depth => {
                    depth += 1;
                }
                b')' => depth = depth.saturating_sub(1),
                b'"' if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// Behind the next `end`, or behind everything.
    fn after(&self, start: usize, end: u8) -> usize {
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        rest.iter().position(|byte| *byte == end).map_or(self.text.len(), |at| start + at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str) -> String {
        let command = without_texts(command);
        let sign = |join| match join {
            Join::Then => ";",
            Join::And => "&&",
            Join::Or => "||",
            Join::Pipe => "|",
        };
        let told = |part: &Part<'_>| format!("{}[{}]", sign(part.join), part.text);
        parts(&command).iter().map(told).collect()
    }

    #[test]
    fn words_are_told_without_their_quotes() {
        let check = |command: &str, expected: &[&str]| assert_eq!(words(command), expected, "{command}");
        check("A=1 git add 'a b.rs' c\\ d", &["git", "add", "a b.rs", "c d"]);
        check("git commit -m \"it's \\\"here\\\"\" ''", &["git", "commit", "-m", "it's \"here\"", ""]);
        check("  ", &[]);
    }

    #[test]
    fn commands_are_told_apart() {
        let check = |command: &str, parts: &str| assert_eq!(told(command), parts, "{command}");
        check("a", ";[a]");
        check("a b && c || d; e | f\ng", ";[a b]&&[c]||[d];[e]|[f];[g]");
        check("a 2>&1 | tail -5", ";[a 2>&1]|[tail -5]");
        check("a &> f; b >| f; c |& d", ";[a &> f];[b >| f];[c]|[d]");
        check("a &&\n  b |\n c", ";[a]&&[b]|[c]");
        check("a \\\n  -x; b", ";[a \\\n  -x];[b]");
        check("# why && how\na # b; c\nd", ";[a];[d]");
        check("a 'b; c' \"d && $(e; \"f\") g\" h\\;i", ";[a 'b; c' \"d && $(e; \"f\") g\" h\\;i]");
        check("cd $(a; b) && c", ";[cd $(a; b)]&&[c]");
        check("(a; b) && { c; d; }", ";[(a; b)]&&[{ c; d; }]");
        check("a & b", ";[a];[b]");
        check("a; b &", ";[a];[b];[]");
        check("a 'never ends; b", ";[a 'never ends; b]");
        check("\"ends in \\", ";[\"ends in \\]");
        check("", "");
        check("a <<'EOF' && b\nc; d\nEOF\ne", ";[a <<'EOF']&&[b];[e]");
        check("a -m \"$(cat <<'EOF'\nit's; b\nEOF\n)\" && c", ";[a -m \"$(cat <<'EOF'\n)\"]&&[c]");
    }
}
