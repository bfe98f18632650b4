//! Blocks of memory: short texts with a limit, of which the user's part is never touched.
//!
//! A block is a list of lines. What the user wrote stands first and stays word for word. The rest is made of
//! drafts by rules: as many as fit, the weightiest first; of those that do not, the names are united in one line;
//! what does not even fit there is left out. A line is taken whole or not at all.

use std::collections::{BTreeSet, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many names one line unites, at first and where that is too long.
const NAMES: [usize; 3] = [12, 4, 0];

/// Who wrote something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The user.
    User,
    /// Rules, from what is remembered.
    Rule,
    /// A model, from what is remembered.
    Model,
}

/// One line of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockLine {
    /// What it says.
    pub text: String,
    /// Who says it.
    pub by: Author,
    /// What it is about; nothing of what the user wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The sessions that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The only projects it is about; none where it holds everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
}

/// What a block holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct BlockText {
    /// Its lines: those of the user first.
    pub lines: Vec<BlockLine>,
    /// What the user took out, so that rules do not put it in again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dismissed: Vec<String>,
}

/// What rules would say in a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What it is about.
    pub key: String,
    /// A whole sentence.
    pub text: String,
    /// How much it matters.
    pub weight: f64,
    /// The beginning of the line that unites what has no line of its own, and the name it has there.
    pub united: Option<(String, String)>,
    /// The sessions that show it.
    pub evidence: Vec<String>,
    /// The only projects it is about; none where it holds everywhere.
    pub projects: Vec<String>,
}

/// Which words lines have whose subject stood in the block before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Those that they had.
    Kept,
    /// Those of the draft.
    Renewed,
}

impl Draft {
    /// Whether `text` is the line that unites what has no line of its own, with the name of this alone.
    fn is_only_named_in(&self, text: &str) -> bool {
        self.united.as_ref().is_some_and(|(beginning, name)| text == format!("{beginning}{name}."))
    }
}

impl BlockText {
    /// The text.
    #[must_use]
    pub fn value(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// How many characters it has.
    #[must_use]
    pub fn n_characters(&self) -> usize {
        n_characters(self.lines.iter().map(|line| line.text.as_str()))
    }

    /// The lines that the user wrote.
    pub fn of_user(&self) -> impl Iterator<Item = &BlockLine> {
        self.lines.iter().filter(|line| line.by == Author::User)
    }

    /// The block after the user turned it into `text`: what is new is the user's, what is missing does not come back.
    #[must_use]
    pub fn edited(&self, text: &str) -> Self {
        let mut made: Vec<&BlockLine> = self.lines.iter().filter(|line| line.by != Author::User).collect();
        let (mut written, mut kept) = (Vec::new(), Vec::new());
        for line in text.trim_end().lines() {
            let line = line.trim_end();
            match made.iter().position(|known| known.text == line) {
                Some(at) => kept.push(made.remove(at).clone()),
                None => written.push(BlockLine::of_user(line)),
            }
        }
        if text.trim().is_empty() {
            written.clear();
        }
        let mut dismissed = self.dismissed.clone();
        dismissed.extend(made.into_iter().flat_map(|line| line.keys.clone()));
        dismissed.sort_unstable();
        dismissed.dedup();
        written.append(&mut kept);
        Self { lines: written, dismissed }
    }

    /// The block after the user took it back to what it was in `old`: what rules wrote since is out, and what they wrote
    /// anew is the user's word as it was.
    #[must_use]
    pub fn reverted(&self, old: &Self) -> Self {
        let made_anew = |line: &BlockLine| {
            let now = self.lines.iter().find(|known| known.by != Author::User && known.keys == line.keys);
            now.is_some_and(|now| now.text != line.text)
        };
        let (anew, lines): (Vec<&BlockLine>, Vec<&BlockLine>) =
            old.lines.iter().partition(|line| line.by != Author::User && made_anew(line));
        let keys = |lines: &[&BlockLine]| lines.iter().flat_map(|line| line.keys.clone()).collect::<Vec<_>>();
        let kept = keys(&lines);
        let mut dismissed = keys(&self.lines.iter().collect::<Vec<_>>());
        dismissed.extend(self.dismissed.iter().chain(&old.dismissed).cloned());
        dismissed.extend(keys(&anew));
        dismissed.retain(|key| !kept.contains(key));
        dismissed.sort_unstable();
        dismissed.dedup();
        let (written, made): (Vec<&BlockLine>, Vec<&BlockLine>) =
            lines.into_iter().partition(|line| line.by == Author::User);
        let mut lines: Vec<BlockLine> = written.into_iter().cloned().collect();
        lines.extend(anew.into_iter().map(|line| BlockLine::of_user(&line.text)));
        lines.extend(made.into_iter().cloned());
        Self { lines, dismissed }
    }

    /// The block as rules have it now, in at most `limit` characters.
    ///
    /// Who does it twice with the same drafts changes nothing the second time.
    #[must_use]
    pub fn renewed(&self, drafts: &[Draft], limit: usize, wording: Wording) -> Self {
        let mut lines: Vec<BlockLine> = self.of_user().cloned().collect();
        let n_taken = n_characters(lines.iter().map(|line| line.text.as_str()));
        let room = limit.saturating_sub(n_taken + usize::from(!lines.is_empty()));
        let mut drafts: Vec<Draft> = drafts
            .iter()
            .filter(|draft| !self.dismissed.contains(&draft.key))
            .filter(|draft| lines.iter().all(|line| !line.text.eq_ignore_ascii_case(&draft.text)))
            .cloned()
            .collect();
        drafts.sort_by(|left, right| {
            right
                .weight
                .total_cmp(&left.weight)
                .then_with(|| (&left.key, &left.text).cmp(&(&right.key, &right.text)))
        });
        let mut keys = HashSet::new();
        drafts.retain(|draft| keys.insert(draft.key.clone()));
        if wording == Wording::Kept {
            for draft in &mut drafts {
                let known = self.lines.iter().find(|line| line.keys == [draft.key.as_str()]);
                if let Some(line) = known.filter(|line| !draft.is_only_named_in(&line.text)) {
                    draft.text.clone_from(&line.text);
                }
            }
        }
        lines.extend(fitting(drafts, room));
        Self { lines, dismissed: self.dismissed.clone() }
    }
}

impl BlockLine {
    /// What the user wrote.
    #[must_use]
    pub fn of_user(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            by: Author::User,
            keys: Vec::new(),
            evidence: Vec::new(),
            projects: Vec::new(),
        }
    }

    fn of_draft(draft: &Draft) -> Self {
        Self {
            text: draft.text.clone(),
            by: Author::Rule,
            keys: vec![draft.key.clone()],
            evidence: draft.evidence.clone(),
            projects: draft.projects.clone(),
        }
    }
}

/// How many characters lines have together.
fn n_characters<'l>(lines: impl Iterator<Item = &'l str>) -> usize {
    let (n_lines, n_characters) =
        lines.fold((0, 0), |(n_lines, n), line| (n_lines + 1, n + line.chars().count()));
    n_characters + usize::saturating_sub(n_lines, 1)
}

/// The lines that drafts, the weightiest first, become in `room` characters.
fn fitting(mut drafts: Vec<Draft>, room: usize) -> Vec<BlockLine> {
    drafts.retain(|draft| draft.text.chars().count() <= room && draft.text.lines().count() == 1);
    for n_names in NAMES {
        // Something of its own comes before names of what has no line.
        for n_full in (usize::from(!drafts.is_empty())..=drafts.len()).rev() {
            let (full, rest) = drafts.split_at(n_full);
            let mut lines: Vec<BlockLine> = full.iter().map(BlockLine::of_draft).collect();
            lines.extend(united(rest, n_names));
            if n_characters(lines.iter().map(|line| line.text.as_str())) <= room {
                return lines;
            }
        }
    }
    Vec::new()
}

/// One line for each beginning, with the names of the weightiest.
fn united(drafts: &[Draft], n_names: usize) -> Vec<BlockLine> {
    let mut groups: Vec<(&str, Vec<(&str, &Draft)>)> = Vec::new();
    for draft in drafts {
        let Some((beginning, name)) = &draft.united else { continue };
        match groups.iter_mut().find(|(known, _)| known == beginning) {
            Some((_, named)) => named.push((name, draft)),
            None => groups.push((beginning, vec![(name, draft)])),
        }
    }
    let lines = groups.into_iter().filter_map(|(beginning, mut named)| {
        named.truncate(n_names);
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let evidence: BTreeSet<&String> =
            named.iter().filter_map(|(_, draft)| draft.evidence.first()).collect();
        (!names.is_empty()).then(|| BlockLine {
            text: format!("{beginning}{}.", names.join(", ")),
            by: Author::Rule,
            keys: named.iter().map(|(_, draft)| draft.key.clone()).collect(),
            evidence: evidence.into_iter().cloned().collect(),
            projects: Vec::new(),
        })
    });
    lines.collect()
}

/// The lines of a list that fit into `room` characters, in their order: the least weighty are left out first.
#[must_use]
pub fn weightiest(lines: Vec<(String, f64)>, room: usize) -> Vec<String> {
    let mut lines: Vec<(usize, String, f64)> =
        lines.into_iter().enumerate().map(|(at, (text, weight))| (at, text, weight)).collect();
    while room < n_characters(lines.iter().map(|(_, text, _)| text.as_str())) {
        // Of two that weigh the same, the later one goes.
        let least = lines
            .iter()
            .enumerate()
            .min_by(|(_, left), (_, right)| left.2.total_cmp(&right.2).then(right.0.cmp(&left.0)));
        let Some((index, _)) = least else { break };
        lines.remove(index);
    }
    lines.into_iter().map(|(_, text, _)| text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draft(key: &str, text: &str, weight: f64) -> Draft {
        let united = Some(("Also: ".to_owned(), key.to_owned()));
        Draft {
            key: key.to_owned(),
            text: text.to_owned(),
            weight,
            united,
            evidence: vec![format!("s-{key}")],
            projects: Vec::new(),
        }
    }

    fn languages() -> Vec<Draft> {
        vec![
            draft("Go", "Go: 2 sessions.", 2.0),
            draft("Rust", "Rust: 12 sessions in 3 projects.", 9.0),
            draft("SQL", "SQL: 1 session.", 1.0),
        ]
    }

    fn renewed(block: &BlockText, limit: usize) -> BlockText {
        block.renewed(&languages(), limit, Wording::Renewed)
    }

    #[test]
    fn what_does_not_fit_is_united_and_then_left_out() {
        let check = |limit: usize, expected: &str| {
            assert_eq!(renewed(&BlockText::default(), limit).value(), expected, "{limit}");
        };
        check(100, "Rust: 12 sessions in 3 projects.\nGo: 2 sessions.\nSQL: 1 session.");
        check(50, "Rust: 12 sessions in 3 projects.\nAlso: Go, SQL.");
        check(40, "Rust: 12 sessions in 3 projects.");
        check(20, "Go: 2 sessions.");
        check(3, "");
    }

    #[test]
    fn what_the_user_wrote_stays_and_what_was_taken_out_stays_out() {
        let block = renewed(&BlockText::default(), 100);
        let edited = block.edited("Go: 2 sessions.\nNever SQL again!\n");
        assert_eq!(edited.value(), "Never SQL again!\nGo: 2 sessions.");
        assert_eq!(edited.dismissed, ["Rust", "SQL"]);
        assert_eq!(renewed(&edited, 100).value(), "Never SQL again!\nGo: 2 sessions.");
        assert_eq!(renewed(&edited, 20).value(), "Never SQL again!");
        assert_eq!(block.edited("  \n").value(), "");
    }

    #[test]
    fn a_block_that_was_taken_back_stays_so() {
        let block = renewed(&BlockText::default(), 100);
        let emptied = block.edited("");
        assert_eq!(renewed(&emptied, 100).value(), "");
        assert_eq!(emptied.reverted(&block), block);
        let now = [draft("Rust", "Rust: 13 sessions.", 9.0), draft("Zig", "Zig: 1 session.", 1.0)];
        let later = block.renewed(&now, 100, Wording::Renewed);
        let back = later.reverted(&block);
        assert_eq!(back.value(), "Rust: 12 sessions in 3 projects.\nGo: 2 sessions.\nSQL: 1 session.");
        assert_eq!(back.renewed(&now, 100, Wording::Renewed).value(), "Rust: 12 sessions in 3 projects.");
    }

    #[test]
    fn kept_words_stay_until_they_are_renewed() {
        let block = renewed(&BlockText::default(), 100);
        let now = [draft("Rust", "Rust: 13 sessions in 3 projects.", 9.0)];
        assert_eq!(block.renewed(&now, 100, Wording::Kept).value(), "Rust: 12 sessions in 3 projects.");
        assert_eq!(block.renewed(&now, 100, Wording::Renewed).value(), "Rust: 13 sessions in 3 projects.");
    }

    #[test]
    fn a_name_among_others_is_not_taken_for_the_words_of_its_line() {
        let long = Draft {
            united: Some(("Also ".to_owned(), "Go".to_owned())),
            ..draft("Go", "Go: 2 sessions.", 1.0)
        };
        let now = [draft("Rust", "Rust: 12 sessions.", 9.0), long];
        let once = BlockText::default().renewed(&now, 30, Wording::Kept);
        assert_eq!(once.value(), "Rust: 12 sessions.\nAlso Go.");
        assert_eq!(once.renewed(&now, 40, Wording::Kept).value(), "Rust: 12 sessions.\nGo: 2 sessions.");
    }

    #[test]
    fn lists_lose_their_lightest_lines() {
        let lines = vec![("one".to_owned(), 1.0), ("two".to_owned(), 3.0), ("six".to_owned(), 1.0)];
        assert_eq!(weightiest(lines.clone(), 11), ["one", "two", "six"]);
        assert_eq!(weightiest(lines.clone(), 10), ["one", "two"]);
        assert_eq!(weightiest(lines.clone(), 3), ["two"]);
        assert_eq!(weightiest(lines, 2), [""; 0]);
    }

    proptest! {
        #[test]
        fn a_block_never_exceeds_its_limit_and_a_second_time_changes_nothing(
            texts in proptest::collection::vec(("[a-d]{1,2}", "\\PC{0,60}", -5.0..5.0f64, any::<bool>()), 0..30),
            written in proptest::collection::vec("\\PC{0,20}", 0..4),
            limit in 0usize..400,
            is_kept in any::<bool>(),
        ) {
            let drafts: Vec<Draft> = texts
                .into_iter()
                .map(|(key, text, weight, is_united)| Draft {
                    united: is_united.then(|| ("Also: ".to_owned(), key.clone())),
                    ..draft(&key, &text, weight)
                })
                .collect();
            let wording = if is_kept { Wording::Kept } else { Wording::Renewed };
            let block = BlockText::default().edited(&written.join("\n"));
            prop_assume!(block.n_characters() <= limit);
            let once = block.renewed(&drafts, limit, wording);
            prop_assert!(once.n_characters() <= limit);
            prop_assert_eq!(once.value().chars().count(), once.n_characters());
            let kept: Vec<_> = once.of_user().collect();
            let before: Vec<_> = block.of_user().collect();
            prop_assert_eq!(kept, before);
            // No line is a piece of one.
            for line in once.lines.iter().filter(|line| line.by == Author::Rule && line.keys.len() == 1) {
                let is_whole = drafts.iter().any(|draft| draft.text == line.text);
                prop_assert!(is_whole || line.text.starts_with("Also: "));
            }
            prop_assert_eq!(once.renewed(&drafts, limit, wording), once);
        }
    }
}
