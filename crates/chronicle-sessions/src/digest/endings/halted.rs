//! What a session stopped at: calls that were turned down, work that a command threw away, items that went missing.

use chronicle_core::thread::{Evidence, Origin, ThreadKind};

use super::{Ending, LONGEST_SUMMARY};
use crate::journal::Journal;
use crate::journal::noted::Noted;
use crate::words::{first_sentence, imperative, n_words, sentences, shortened};

/// How many words the step at hand may have.
const MOST_WORDS: usize = 14;

/// The last edit that a human turned down, where none was accepted since, with what the human said to it.
pub(super) fn refused_edit(journal: &Journal) -> Option<Ending> {
    let (noted, said) = journal.refused_edit.as_ref()?;
    let file = noted.words.rsplit(['/', '\\']).next().unwrap_or(&noted.words);
    let words = first_sentence(said);
    let said = if words.is_empty() { String::new() } else { format!(": “{}”", shortened(words, 80)) };
    let summary = format!("Decide on the edit of {file} that was turned down{said}");
    Some(Ending::new(ThreadKind::Blocked, Origin::Request, shortened(&summary, LONGEST_SUMMARY), noted))
}

/// Files that were edited before a commit, and that it left out.
pub(super) fn left_out(journal: &Journal) -> Option<Ending> {
    const MOST: usize = 3;
    let last = journal.last_commit.as_ref()?;
    let names: Vec<&str> =
        journal.uncommitted.left_out().map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)).collect();
    let more = names.len().checked_sub(MOST + 1).map(|more| format!(" and {} more", more + 1));
    let named = names.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
    let summary =
        format!("Commit the edits of {named}{}: the last commit left them out", more.unwrap_or_default());
    let ending = || Ending::new(ThreadKind::Incomplete, Origin::Request, summary.clone(), last);
    (!names.is_empty()).then(ending)
}

/// A call that a human turned down, where nothing was done since.
pub(super) fn rejected_call(journal: &Journal) -> Option<Ending> {
    let (noted, is_edit) = journal.rejected.as_ref()?;
    if *is_edit && journal.refused_edit.is_some() {
        return None;
    }
    // The agent went on without it and came to an end; only a commit or a push is still to be done.
    let has_last_word = journal.last_said.as_ref().is_some_and(|said| journal.is_last_word(said));
    if has_last_word && !journal.is_still_wanted("") {
        return None;
    }
    if let Some(subject) = subject_of_commit(&noted.words).filter(|_| !is_edit) {
        let summary = format!("Decide whether to commit “{subject}”: the commit was turned down");
        return Some(Ending::new(
            ThreadKind::Blocked,
            Origin::Request,
            shortened(&summary, LONGEST_SUMMARY),
            noted,
        ));
    }
    let what = match is_edit {
        true => format!("the edit of {}", noted.words.rsplit(['/', '\\']).next().unwrap_or(&noted.words)),
        false => format!("`{}`", shortened(first_line(&noted.words), 80)),
    };
    let summary = format!("Decide on the call that was turned down: {what}");
    Some(Ending::new(ThreadKind::Blocked, Origin::Request, shortened(&summary, LONGEST_SUMMARY), noted))
}

/// The subject that a command gives to a commit, also in a here-document.
fn subject_of_commit(command: &str) -> Option<&str> {
    let rest = &command[command.find("git commit")?..];
    let rest = rest[rest.find("-m").or_else(|| rest.find("--message"))?..].split_once(['"', '\''])?.1;
    // `"$(cat <<'EOF'` stands in front of the words.
    let rest = if rest.starts_with("$(") { rest.split_once('\n')?.1 } else { rest };
    let subject = rest.split(['\n', '"']).next()?.trim();
    (3 <= subject.chars().count()).then_some(subject)
}

fn first_line(command: &str) -> &str {
    let is_telling = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    command.lines().find(is_telling).unwrap_or(command)
}

/// Stashes that were dropped though their changes never came back.
pub(super) fn dropped_stashes(journal: &Journal) -> Vec<Ending> {
    let ending = |noted: &Noted| {
        let id = noted
            .words
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'))
            .map(|(id, _)| &id[..id.len().min(10)]);
        let of = id.map(|id| format!(" {id}")).unwrap_or_default();
        let summary = format!("Recover the changes of the dropped stash{of}");
        let mut ending = Ending::new(ThreadKind::Incomplete, Origin::Statement, summary, noted);
        ending.is_broken = true;
        ending
    };
    journal.stashes.lost.iter().map(ending).collect()
}

/// Items that left the agent's list unfinished while the rest of it went on, without a word of the human.
pub(super) fn vanished(journal: &Journal) -> Vec<Ending> {
    let of_item = |(text, by): &(String, Evidence)| {
        let noted = Noted {
            source: by.source.clone(),
            words: text.clone(),
            ..journal.last_prompt.clone().unwrap_or_default()
        };
        let summary = format!("{} (left the agent's list undone)", imperative(text, LONGEST_SUMMARY - 32));
        Ending::new(ThreadKind::Todo, Origin::Statement, summary, &noted)
    };
    // To run the tests was done, whatever became of the item.
    let has_passed = journal.passed_after(Journal::number(journal.last_edit.as_ref()));
    let is_check = |text: &str| {
        let lower = text.to_lowercase();
        ["run ", "verify ", "re-run ", "check that "].iter().any(|verb| lower.starts_with(verb))
    };
    let is_open = |(text, _): &&(String, Evidence)| !(has_passed && is_check(text));
    journal.todos().vanished().iter().filter(is_open).map(of_item).collect()
}

/// The step that the agent announced last and was cut off at: `Now the review.`
pub(super) fn step_at_hand(journal: &Journal) -> Option<Ending> {
    let said = journal.last_said.as_ref()?;
    let is_latest = Journal::number(journal.last_prompt.as_ref()) < said.number;
    let sentence = sentences(said.words.lines().rfind(|line| !line.trim().is_empty())?).last()?;
    let lower = sentence.to_lowercase();
    let start = ["now let me ", "let me now ", "now i'll ", "now the ", "now ", "next, ", "next: "]
        .iter()
        .find(|start| lower.starts_with(**start))?;
    let what = sentence[start.len()..].trim_end_matches(['.', ':', '…', ' ']);
    let is_step = (2..=MOST_WORDS).contains(&n_words(what)) && !sentence.ends_with('?');
    let summary = format!("Finish: {}", imperative(what, LONGEST_SUMMARY));
    let ending =
        || Ending::new(ThreadKind::Incomplete, Origin::Request, shortened(&summary, LONGEST_SUMMARY), said);
    (is_latest && is_step).then(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_named_by_its_subject() {
        let check = |command: &str, subject: Option<&str>| assert_eq!(subject_of_commit(command), subject);
        check("git add a && git commit -m \"Let the pool wait\"", Some("Let the pool wait"));
        check(
            "git commit -m \"$(cat <<'EOF'\nLet the pool wait\n\nIt hung.\nEOF\n)\"",
            Some("Let the pool wait"),
        );
        check("git commit --amend --no-edit", None);
        check("git push", None);
    }
}
