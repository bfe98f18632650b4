//! Lines that an edit changed in place, such as one with another number in it.

use std::{
    cell::LazyCell,
    collections::{HashMap, HashSet},
    ops::Range,
};

use crate::{
    Lines,
    code::{
        evidence::{is_import, is_name, is_telling, words},
        lines::is_substantive,
    },
};

/// A line is the same one, edited, when it is alike at least so far.
const LEAST_ALIKE: f64 = 0.6;
/// The same of the only line of a hunk, letter by letter: too few words may be in it to compare them.
const LEAST_SPELLED_ALIKE: f64 = 0.8;
/// Larger hunks are rewritten, not edited line by line, and cost too much to compare.
const MAX_PAIRS: usize = 1 << 14;
/// In a hunk with so few lines, and as many before as after, each line took the place of one.
const MAX_EVEN: usize = 3;

/// A line that was edited in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edited {
    /// Its zero-based number in the old version.
    pub(crate) old: usize,
    /// Its zero-based number in the new version.
    pub(crate) new: usize,
    /// How far the two are alike, 0 to 1.
    pub(crate) likeness: f64,
    /// Whether that proves by itself that the code is there.
    pub(crate) is_proof: bool,
}

/// The lines of one hunk that were edited in place, in order: `removed` lines of `old`, `added` lines of `new`.
pub(crate) fn edited(
    (old, removed): (&Lines<'_>, Range<usize>),
    (new, added): (&Lines<'_>, Range<usize>),
) -> Vec<Edited> {
    let lines = |lines: &Lines<'_>, range: Range<usize>| -> Vec<(usize, Line)> {
        let is_meant = |number: &usize| lines.all().get(*number).is_some_and(|line| is_substantive(line));
        range.filter(is_meant).map(|number| (number, Line::of(lines.all()[number]))).collect()
    };
    if MAX_PAIRS < removed.len().saturating_mul(added.len()) {
        return Vec::new();
    }
    let (before, after) = (lines(old, removed), lines(new, added));
    let is_even = before.len() == after.len() && before.len() <= MAX_EVEN;
    let is_only = is_even && before.len() == 1;
    // Lines of one form begin with one keyword and differ by their rarest name: an edit keeps it. Counting takes a look at
    // the whole file.
    let named = LazyCell::new(|| lines_by_name(old, &before));
    // The pairs in the same order in both versions that are most alike in sum: each cell is the best of what is before it.
    let width = after.len() + 1;
    let mut alike = vec![0.0; before.len() * after.len()];
    let mut best = vec![0.0_f64; (before.len() + 1) * width];
    for (row, (_, left)) in before.iter().enumerate() {
        for (column, (_, right)) in after.iter().enumerate() {
            let mut likeness = left.likeness(right);
            let letters = || strsim::normalized_levenshtein(&left.text, &right.text);
            if is_only && LEAST_SPELLED_ALIKE <= letters() {
                likeness = likeness.max(letters());
            }
            let keeps_its_own = || {
                let n_lines = |name: &String| {
                    let key = (left.form().to_owned(), name.clone());
                    named.get(&key).copied().unwrap_or_default()
                };
                let fewest = left.names.iter().map(n_lines).min();
                let is_own = |name: &&String| Some(n_lines(name)) == fewest;
                left.names.iter().filter(is_own).any(|name| right.names.contains(name))
            };
            let shares_name = || !left.names.is_disjoint(&right.names);
            let is_spelled =
                || left.names.is_empty() || right.names.is_empty() || LEAST_SPELLED_ALIKE <= letters();
            // An import is about what it names, whatever replaced it.
            let is_free = || is_only && !is_import(left.text.as_bytes()) && (shares_name() || is_spelled());
            let counts = LEAST_ALIKE <= likeness && (is_free() || shares_name() && keeps_its_own());
            let likeness = if counts { likeness } else { 0.0 };
            alike[row * after.len() + column] = likeness;
            let together = best[row * width + column] + likeness;
            let either = best[row * width + column + 1].max(best[(row + 1) * width + column]);
            best[(row + 1) * width + column + 1] = together.max(either);
        }
    }
    let mut found = Vec::new();
    let (mut row, mut column) = (before.len(), after.len());
    while 0 < row && 0 < column {
        let likeness = alike[(row - 1) * after.len() + column - 1];
        let here = best[row * width + column];
        if here <= best[(row - 1) * width + column] {
            row -= 1;
        } else if here <= best[row * width + column - 1] {
            column -= 1;
        } else {
            (row, column) = (row - 1, column - 1);
            let is_proof = is_even || is_telling(before[row].1.text.as_bytes());
            found.push(Edited { old: before[row].0, new: after[column].0, likeness, is_proof });
        }
    }
    found.reverse();
    found
}

/// How many of `lines` that have the same form as one of `wanted` have each name that is in it.
fn lines_by_name(lines: &Lines<'_>, wanted: &[(usize, Line)]) -> HashMap<(String, String), usize> {
    let forms: HashSet<&str> = wanted.iter().map(|(_, line)| line.form()).collect();
    let mut n_lines: HashMap<(String, String), usize> = HashMap::new();
    for line in lines.all() {
        let text = String::from_utf8_lossy(line.trim_ascii());
        let names: HashSet<String> = words(&text).map(str::to_lowercase).collect();
        let own = Some(form_of(&text)).filter(|form| *form != ANY_FORM);
        for form in own.into_iter().chain([ANY_FORM]).filter(|form| forms.contains(form)) {
            for name in &names {
                *n_lines.entry((form.to_owned(), name.clone())).or_default() += 1;
            }
        }
    }
    n_lines
}

/// The form of a line that begins with a name of its own: every line may be like it.
const ANY_FORM: &str = "";

/// The keyword that a line begins with.
fn form_of(text: &str) -> &str {
    words(text).next().filter(|first| !is_name(first)).unwrap_or(ANY_FORM)
}

/// A line as it is compared.
struct Line {
    text: String,
    tokens: Vec<String>,
    names: HashSet<String>,
}

impl Line {
    fn of(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        let names = words(&text).filter(|word| is_name(word)).map(str::to_lowercase).collect();
        Self { tokens: tokens(&text), names, text }
    }

    /// What lines are like it.
    fn form(&self) -> &str {
        form_of(&self.text)
    }

    /// How far the tokens of the two are the same, 0 to 1.
    fn likeness(&self, other: &Self) -> f64 {
        let (shorter, longer) =
            (self.tokens.len().min(other.tokens.len()), self.tokens.len().max(other.tokens.len()));
        // Most pairs are too different to be compared.
        if longer == 0 || shorter * 10 < longer * 6 {
            return 0.0;
        }
        let distance = strsim::generic_levenshtein(&self.tokens, &other.tokens);
        #[expect(clippy::cast_precision_loss, reason = "no line has so many tokens")]
        let share = distance as f64 / longer as f64;
        1.0 - share
    }
}

/// The words and operators of a line; brackets, quotes and separators are the same in lines that have nothing in common.
fn tokens(line: &str) -> Vec<String> {
    const OPERATORS: &str = "+-*/%=<>!&|^~?:$@#";
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for letter in line.chars() {
        let is_word = letter.is_alphanumeric() || letter == '_';
        match tokens.last_mut() {
            Some(word) if is_word && in_word => word.push(letter),
            _ if is_word || OPERATORS.contains(letter) => tokens.push(letter.to_string()),
            _ => {}
        }
        in_word = is_word;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of edited lines between two texts that have no line in common.
    #[track_caller]
    fn check(old: &str, new: &str, expected: &[(usize, usize)]) {
        let (old, new) = (Lines::new(old.as_bytes()), Lines::new(new.as_bytes()));
        let found = edited((&old, 0..old.all().len()), (&new, 0..new.all().len()));
        let pairs: Vec<(usize, usize)> = found.iter().map(|edited| (edited.old, edited.new)).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn a_line_with_another_number_operator_or_name_is_the_same_line() {
        check("sock.settimeout(TIMEOUT * 2)", "sock.settimeout(TIMEOUT * 3)", &[(0, 0)]);
        check("TIMEOUT = 30", "TIMEOUT = 60", &[(0, 0)]);
        check("return x + 1", "return x - 1", &[(0, 0)]);
        check("EXPOSE 8080", "EXPOSE 9090", &[(0, 0)]);
        check("    return 0;", "  return 1;", &[(0, 0)]);
        check("let retries = count(free);", "let retries = count(free) + 1;", &[(0, 0)]);
    }

    #[test]
    fn a_line_of_other_words_is_another_line() {
        check("let x = foo(a);", "while queue.wait() {", &[]);
        check("let a2 = x + 2;\nlet b2 = a2 * 9;\na2 + b2\n", "match x {\n0 => 1,\nn => n << 1,\n}\n", &[]);
        check("", "let x = 1;", &[]);
        check("/****** READING FILES ******/", "/****** WRITING LOGS ******/", &[]);
        check("/****** READING FILES ******/", "/****** READING FILE ******/", &[(0, 0)]);
    }

    #[test]
    fn among_several_the_likest_are_taken_in_their_order() {
        let old = "let host = open(name, port);\nlet wait = limit(host, 30);\n";
        let new =
            "log(name);\nlet host = open(name, port, family);\ncheck(port);\nlet wait = limit(host, 60);\n";
        check(old, new, &[(0, 1), (1, 3)]);
        // Of lines of one form, the edited one is that which keeps its rarest name.
        let methods = |names: &[&str]| -> String {
            names.iter().map(|name| format!("def {name}(template, options={{}}, locals={{}})\n")).collect()
        };
        let old = methods(&["haml", "radius", "liquid", "textile", "markaby"]);
        check(&old, &methods(&["asciidoc", "yajl"]), &[]);
        let new = methods(&["radius", "asciidoc"]).replace("locals={}", "locals = {}");
        check(&old, &new, &[(1, 0)]);
        let uses = "check(Preconditions.of(it));\n".repeat(9);
        // A line that begins with a name of its own has no form: it is compared with all lines.
        let pages = |names: &[&str]| -> String {
            names.iter().map(|name| format!("  - '{name}': \"{}.md\"\n", name.to_lowercase())).collect()
        };
        let old = format!("nav:\n{}- Guides:\n", pages(&["Roadmap", "Glossary"]));
        check(&old, &pages(&["Releasing", "Governance"]), &[]);
        check(&old, &pages(&["Releasing", "Glossary"]).replace('"', "'"), &[(2, 1)]);
        // However often that is used elsewhere in the file.
        let old = format!("import com.example.Preconditions;\nimport com.example.Types;\n{uses}");
        let new = "import com.example.CommonTypes;\nimport com.example.Guide;\nimport com.example.Preconditions2;\n";
        check(&old, new, &[]);
        check(&old, &new.replace("Guide", "Preconditions"), &[(0, 1)]);
        // Lines that have only their form in common are others.
        check("let x = foo(a);\nlet y = bar(b);\nlog();\n", "let p = one(c);\nlet q = two(d);\n", &[]);
    }
}
