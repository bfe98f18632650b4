//! What an agent is told after it made a commit.

use std::path::{Path, PathBuf};

use chronicle_commits::{
    input::{LESSON_PLACEHOLDER, SUMMARY_PLACEHOLDER},
    stored_on,
};
use chronicle_core::correction::Tier;
use chronicle_git::ObjectId;
use chronicle_memory::injected::{AgentSession, ShownItem, Telling};
use chronicle_workplace::Error;
use jiff::SignedDuration;

use crate::Annotator;

const EVENT: &str = "post-tool-use";

/// A commit that is older was made by somebody else.
const JUST_NOW: SignedDuration = SignedDuration::from_mins(5);

impl Annotator<'_> {
    /// What to tell an agent that ran `command`, if that made a commit that carries no annotation and changed something
    /// of which there may be a lesson: how to write one. Remarks that were staged for the commit are bound to it first, where no git hook did that.
    ///
    /// # Errors
    /// When the repository or the log of the session cannot be read, or the notes cannot be written.
    pub fn remind_of_commit(&self, session: &AgentSession, command: &str) -> Result<Option<String>, Error> {
        let Some(folder) = commits_in(command) else { return Ok(None) };
        let there = folder.map(|folder| self.chronicle.at(&self.workplace().directory().join(folder)));
        let there = Annotator { chronicle: there.as_ref().unwrap_or(self.chronicle) };
        let place = there.chronicle.workplace();
        if place.is_distrusted() {
            return Ok(None);
        }
        there.chronicle.git_hooks().after_commit()?;
        let repository = place.repository()?;
        let Some(head) = repository.head()? else { return Ok(None) };
        let commit = repository.commit(head)?;
        if JUST_NOW < place.now().duration_since(commit.time).abs()
            || there.is_annotated("HEAD")?
            || there.takes_along(head)?
            || !place.read_settings()?.reminds
        {
            return Ok(None);
        }
        let id = head.to_string();
        let mut log = self.chronicle.memory().session_log(session)?;
        if log.has(EVENT, Some(&id)) {
            return Ok(None);
        }
        let Some(worth) = there.worth_a_lesson(&commit, is_plain)? else { return Ok(None) };
        let text = reminder(&id[..12], worth.file.filter(|file| is_plain(file)).as_deref(), worth.line);
        let items = vec![ShownItem {
            id: id.clone(),
            commit: Some(id.clone()),
            file: None,
            words: String::new(),
            tier: Tier::Own,
        }];
        let why = format!("commit {} has no annotation", &id[..12]);
        self.chronicle
            .memory()
            .tell(&mut log, Telling { event: EVENT, key: Some(&id), why, items, text })
            .map(Some)
    }

    /// Takes along what is known of the commit that HEAD was amended from, where no git hook did; whether there was
    /// anything.
    fn takes_along(&self, head: ObjectId) -> Result<bool, Error> {
        let before = self
            .workplace()
            .repository()?
            .head_before_commit(head)
            .filter(|_| self.chronicle.git_hooks().is_amended());
        let Some(before) = before.map(|before| before.to_string()) else { return Ok(false) };
        let is_annotated = self.is_annotated(&before)?;
        if is_annotated {
            self.chronicle.git_hooks().after_rewrite(&format!("{before} {head}\n"))?;
        }
        Ok(is_annotated)
    }

    /// Whether a commit carries an annotation.
    ///
    /// # Errors
    /// When the revision is unknown, or its notes cannot be read.
    pub fn is_annotated(&self, revision: &str) -> Result<bool, Error> {
        let repository = self.workplace().repository()?;
        let stored = stored_on(repository, repository.resolve(revision)?, &mut Vec::new())?;
        Ok(!stored.note.is_empty())
    }
}

/// The command with which the commit is annotated, ready to be filled in, in words that the guards of agents' shells let
/// pass: no here-document, no braces. The subject, which may be somebody else's words, is not needed: who made the commit
/// knows it.
fn reminder(id: &str, file: Option<&str>, line: Option<u32>) -> String {
    let line = line.map(|line| line.to_string()).unwrap_or_default();
    let place = file.map(|file| format!("{file}:{line} ")).unwrap_or_default();
    format!(
        "Commit {id} carries no annotation. If there is something that the diff does not say, keep it now with the tool \
         `chronicle_annotate` or this command: why this way, what was tried and failed (`--dead-end`), traps (`--gotcha`), \
         what matters (`--insight`), what is left (`--unfinished`). Words with quotes: as JSON in a file, for `--file PATH`.\n\n\
         git chronicle annotate --commit {id} --summary '{SUMMARY_PLACEHOLDER}' --gotcha '{place}{LESSON_PLACEHOLDER}'"
    )
}

/// Whether a path may be part of a shell's word and name a place as it is, and can hold no sentence.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@'))
}

/// Whether a command line makes a commit, and in which folder, if not in the one it runs in.
pub(super) fn commits_in(command: &str) -> Option<Option<PathBuf>> {
    let mut folder: Option<PathBuf> = None;
    for part in command.split(['\n', ';', '&', '|', '(', ')']) {
        let mut words =
            part.split_whitespace().skip_while(|word| is_assignment(word)).map(unquoted).peekable();
        match words.next() {
            Some("cd") => folder = words.next().map(|to| folder.unwrap_or_default().join(to)),
            Some(git) if Path::new(git).file_name().is_some_and(|name| name == "git") => {
                let mut there = folder.clone();
                while let Some(option) = words.next_if(|word| word.starts_with('-')) {
                    match option {
                        "-C" => there = words.next().map(|to| there.unwrap_or_default().join(to)),
                        "-c" => drop(words.next()),
                        _ => {}
                    }
                }
                let mut verb = words.next();
                if verb == Some("chronicle") {
                    verb = words.next();
                }
                if verb == Some("commit") && words.all(|word| word != "--dry-run") {
                    return Some(there);
                }
            }
            _ => {}
        }
    }
    None
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_commit_are_known() {
        let here = Some(None);
        let there = |path: &str| Some(Some(PathBuf::from(path)));
        assert_eq!(commits_in("git commit -qam 'x'"), here);
        assert_eq!(commits_in("git add . && git -c a.b=c commit -m \"x; y\" | tail -1"), here);
        assert_eq!(commits_in("GIT_EDITOR=true /usr/bin/git commit --amend"), here);
        assert_eq!(commits_in("cd sub/dir && git commit -m x"), there("sub/dir"));
        assert_eq!(commits_in("git -C ../other commit -m x"), there("../other"));
        assert_eq!(commits_in("git chronicle commit -m x --reasoning y"), here);
        assert_eq!(commits_in("git commit --dry-run"), None);
        assert_eq!(commits_in("git log --grep commit; echo git"), None);
        assert_eq!(commits_in("git commit-tree HEAD^{tree}"), None);
    }
}
