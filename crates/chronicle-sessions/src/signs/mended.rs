//! What followed an error in a session, and whether the same call worked then.

use std::collections::BTreeSet;

use chronicle_search::{StoredTurn, TurnKind};

use super::failures::{failure, is_telling, signature, telling_lines, trail};
use crate::journal::uncommitted::Uncommitted;
use crate::words::shortened;

/// How many lines of an error are looked for.
const MOST_LINES: usize = 6;

/// How long a line is at most, as it is shown.
const LONGEST: usize = 200;

/// Letters from which a line that another one holds is the same.
const LEAST_LETTERS: usize = 12;

/// The words of an error that somebody came with.
#[derive(Debug, Clone)]
pub struct ErrorText {
    lines: Vec<Line>,
}

/// One line of an error, in the forms that it is compared in.
#[derive(Debug, Clone)]
struct Line {
    /// In small letters, with single spaces.
    plain: String,
    signature: String,
    words: BTreeSet<String>,
    /// Whether it is nothing but a place, such as one that was cut.
    is_place: bool,
}

/// How near an error that came up is to the one that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// It is of the same kind, and names something else.
    Alike,
    /// It says the same.
    Same,
}

/// What followed an error in one session.
#[derive(Debug)]
pub struct Mended<'t> {
    /// The line that says what went wrong, as it was printed the last time.
    pub message: String,
    /// How near that is to what was asked.
    pub nearness: Nearness,
    /// How often it came.
    pub times: usize,
    /// The call that failed with it last.
    pub failed: &'t StoredTurn,
    /// What the agent said after that, before it changed something.
    pub said: Option<&'t StoredTurn>,
    /// What was changed and run after that.
    pub done: Vec<&'t StoredTurn>,
    /// The call that worked then; none where none did.
    pub worked: Option<&'t StoredTurn>,
}

impl ErrorText {
    /// The telling lines of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let lines = telling_lines(text, MOST_LINES);
        let is_one = text.trim().lines().nth(1).is_none();
        // Of many lines, those with few words are in any output: `2 issues:`, `package pool`.
        let least = |line: &str| match line {
            _ if is_one => 1,
            line if is_telling(line) => 2,
            _ => 3,
        };
        let says = |line: &&&str| least(line) <= Line::of(line).words.len();
        Self { lines: lines.iter().filter(says).map(|line| Line::of(line)).collect() }
    }

    /// The words to look for; none where there is nothing to compare.
    #[must_use]
    pub fn words(&self) -> String {
        self.lines.iter().map(|line| line.plain.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// How near what came back from a call is, with the line that is nearest.
    fn nearest(&self, answer: &str) -> Option<(Nearness, String)> {
        let mut nearest: Option<(Nearness, &str)> = None;
        for text in answer.lines().map(str::trim).filter(|text| !text.is_empty()) {
            let line = Line::of(text);
            let near = self.lines.iter().filter_map(|sought| sought.nearness(&line)).max();
            // Of lines that are as near, the first.
            if near.is_some() && nearest.is_none_or(|(known, _)| Some(known) < near) {
                nearest = near.map(|near| (near, text));
            }
        }
        nearest.map(|(near, text)| (near, shortened(text, LONGEST)))
    }
}

impl Line {
    fn of(text: &str) -> Self {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        // Where it was found comes first or last, or is left out.
        let signature = signature(text).trim_matches(['…', ' ']).to_owned();
        let telling = words(&plain, false);
        let is_place = telling.is_empty();
        // An error may be nothing but a place.
        Self { words: if is_place { words(&plain, true) } else { telling }, is_place, signature, plain }
    }

    /// How near `other` is to what is sought.
    fn nearness(&self, other: &Self) -> Option<Nearness> {
        if other.is_place && !self.is_place {
            return None;
        }
        let holds = |long: &str, short: &str| LEAST_LETTERS <= short.len() && long.contains(short);
        let is_whole = self.plain == other.plain
            || holds(&other.plain, &self.plain)
            || 3 <= other.words.len() && holds(&self.plain, &other.plain);
        if is_whole || self.words.is_subset(&other.words) {
            return Some(Nearness::Same);
        }
        let n_telling = self.signature.split(' ').filter(|word| 1 < word.chars().count()).count();
        (2 <= n_telling && self.signature == other.signature).then_some(Nearness::Alike)
    }
}

/// The words of a line that say what is wrong, without numbers; with the places where it was found, if those are wanted.
fn words(plain: &str, with_places: bool) -> BTreeSet<String> {
    let is_place = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_numbered = bare.split(':').skip(1).any(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        word.contains(['/', '\\']) || bare.contains('.') && is_numbered
    };
    let kept = plain.split(' ').filter(|word| with_places || !is_place(word));
    let parts = kept.flat_map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let says = |part: &&str| 2 <= part.chars().count() && part.chars().any(char::is_alphabetic);
    parts.filter(says).map(str::to_owned).collect()
}

/// What followed `error` in a session with these turns; none where it did not come up.
///
/// What was done before it came up the last time did not mend it.
#[must_use]
pub fn mended<'t>(turns: &'t [StoredTurn], error: &ErrorText) -> Option<Mended<'t>> {
    let near = |turn: &'t StoredTurn| Some((turn, error.nearest(failure(turn)?)?));
    let mut came: Vec<(&StoredTurn, (Nearness, String))> = turns.iter().filter_map(near).collect();
    let nearness = came.iter().map(|(_, (nearness, _))| *nearness).max()?;
    came.retain(|(_, (near, _))| *near == nearness);
    let times = came.len();
    let (failed, (_, message)) = came.pop()?;
    // Sub-agents work at the same time on something else.
    let own: Vec<&StoredTurn> = turns.iter().filter(|turn| turn.sub_agent == failed.sub_agent).collect();
    let at = own.iter().position(|turn| turn.id == failed.id)?;
    let trail = trail(&own, at);
    let first = trail.done.first().copied().or(trail.worked).unwrap_or(at);
    Some(Mended {
        message,
        nearness,
        times,
        failed,
        said: own[at..first].iter().rfind(|turn| turn.kind == TurnKind::Said).copied(),
        done: trail.done.into_iter().map(|turn| own[turn]).collect(),
        worked: trail.worked.map(|turn| own[turn]),
    })
}

/// The first commit after `mended` worked that holds what was changed: of a commit that left it out, nothing is said.
#[must_use]
pub fn holding_commit<'t>(turns: &'t [StoredTurn], mended: &Mended<'_>) -> Option<&'t str> {
    let worked = mended.worked?;
    let changed: Vec<&str> = mended
        .done
        .iter()
        .filter(|turn| turn.kind == TurnKind::Edit)
        .map(|turn| turn.text.as_str())
        .collect();
    let mut uncommitted = Uncommitted::default();
    let mut before: Vec<String> = Vec::new();
    for turn in turns {
        match turn.kind {
            TurnKind::Edit if turn.is_ok != Some(false) => drop(uncommitted.edit(&turn.text, 0, &[])),
            TurnKind::Command => {
                before = uncommitted.paths().map(str::to_owned).collect();
                uncommitted.run(&turn.text, turn.is_ok, None);
            }
            TurnKind::Commit => {
                uncommitted.commit();
                let is_held = |path: &&str| {
                    before.iter().any(|one| one == path) && uncommitted.paths().all(|one| one != *path)
                };
                if worked.position <= turn.position && (changed.is_empty() || changed.iter().any(is_held)) {
                    return turn.text.split(' ').next();
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::made;
    use super::*;

    #[test]
    fn errors_are_told_apart_by_what_they_name() {
        let check = |asked: &str, printed: &str, expected: Option<Nearness>| {
            let nearest = ErrorText::of(asked).nearest(printed);
            assert_eq!(nearest.map(|(nearness, _)| nearness), expected, "{asked} {printed}");
        };
        let (same, alike) = (Some(Nearness::Same), Some(Nearness::Alike));
        check("undefined: Waiter", "pool.go:7:2: undefined: Waiter", same);
        check("other/pool.go:99:2: undefined: Waiter", "net/pool.go:7:2: undefined: Waiter", same);
        check("undefined: Waiter", "undefined: Queue", None);
        check("cannot find crate `serde`", "error[E0463]: cannot find crate `serde`", same);
        check("cannot find crate `serde`", "cannot find crate `tokio`", alike);
        check(
            "value of `a.Close` is not checked",
            "net/pool.go:7:2: value of `b.Tree` is not checked",
            alike,
        );
        check("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:5432", same);
        check("connection refused 127.0.0.1", "Error: connection refused (port 5432)", same);
        check("the pool is closed", "the queue is closed", None);
        // A log that was pasted: what tells of it counts, and not what many logs have.
        let log = "   Compiling pool v1.0\nerror[E0308]: mismatched types\nerror: could not compile `pool`";
        check(log, "error[E0308]: mismatched types", same);
        check(log, "error: could not compile `pool`", None);
        let lint = "2 issues:\nnet/pool.go:7:2: string `first` has 3 occurrences (goconst)";
        check(lint, "net/pool.go:9:2: string `other` has 4 occurrences (goconst)", alike);
        check(lint, "1 issues:", None);
        check("net/pool.go:7:2: undefined: Waiter", "net/pool", None);
        check("# net/pool\npackage pool\nFAIL", "package pool", None);
        check("", "error: anything", None);
    }

    #[test]
    fn a_commit_counts_if_it_holds_what_was_changed() {
        let fails =
            made(1, TurnKind::Command, "go test ./...", Some(false), Some("pool.go:7:2: undefined: Waiter"));
        let passes = made(3, TurnKind::Command, "go test ./...", Some(true), None);
        let edit = |id, path: &str| made(id, TurnKind::Edit, path, Some(true), None);
        let commit = |id, command: &str, hash: &str| {
            let run = made(id, TurnKind::Command, command, Some(true), None);
            [run, made(id + 1, TurnKind::Commit, &format!("{hash} pool: wait"), Some(true), None)]
        };
        let check = |first: &str, second: &str, expected: Option<&str>| {
            let mut turns = vec![fails.clone(), edit(2, "net/pool.go"), passes.clone(), edit(4, "docs.md")];
            turns.extend(commit(5, first, "1111111"));
            turns.extend(commit(7, second, "2222222"));
            let mended = mended(&turns, &ErrorText::of("undefined: Waiter")).expect("it came up");
            assert_eq!(holding_commit(&turns, &mended), expected, "{first} {second}");
        };
        check("git commit -am x", "git commit --allow-empty -m y", Some("1111111"));
        check("git add docs.md && git commit -m x", "git commit -am y", Some("2222222"));
        check("git add docs.md && git commit -m x", "git commit --allow-empty -m y", None);
    }

    #[test]
    fn what_was_done_after_the_error_came_last_mended_it() {
        let fails = |id| {
            let answer = "Exit code 2\npool.go:7:2: undefined: Waiter";
            made(id, TurnKind::Command, "go test ./...", Some(false), Some(answer))
        };
        let edit = |id, path| made(id, TurnKind::Edit, path, Some(true), None);
        let said = |id, words| made(id, TurnKind::Said, words, None, None);
        let passes = |id| made(id, TurnKind::Command, "go test ./...", Some(true), None);
        let told = |turns: &[StoredTurn]| {
            let mended = mended(turns, &ErrorText::of("undefined: Waiter"))?;
            let done = mended.done.iter().map(|turn| turn.text.clone()).collect::<Vec<_>>();
            let said = mended.said.map(|turn| turn.text.clone());
            Some((mended.times, done, said, mended.worked.map(|turn| turn.id)))
        };
        let one = |path: &str| vec![path.to_owned()];
        let twice = [
            fails(1),
            edit(2, "pool.go"),
            fails(3),
            said(4, "The type is missing."),
            edit(5, "waiter.go"),
            passes(6),
        ];
        let cause = Some("The type is missing.".to_owned());
        assert_eq!(told(&twice), Some((2, one("waiter.go"), cause, Some(6))));
        assert_eq!(told(&twice[..3]), Some((2, Vec::new(), None, None)));
        let others = StoredTurn { sub_agent: Some("a".to_owned()), ..edit(2, "other.go") };
        assert_eq!(told(&[fails(1), others, edit(3, "a.go")]), Some((1, one("a.go"), None, None)));
        assert_eq!(told(&[passes(1), edit(2, "a.go")]), None);
    }
}
