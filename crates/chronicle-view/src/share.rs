//! One session as a file to hand on: without secrets, without the folders of this machine, and with nothing to load.

mod html;
mod markdown;

use chronicle_core::{counted, redaction::cleaned};
use chronicle_memory::sessions::{ShownSession, ShownTurn, short_session};
use jiff::Timestamp;

use crate::words;

/// The form of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShareForm {
    /// A page for a browser.
    Html,
    /// Markdown.
    Markdown,
}

impl ShareForm {
    /// The end of the file's name.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
        }
    }
}

/// A session that is to be handed on.
pub struct SharedSession {
    session: ShownSession,
    now: Timestamp,
    /// Secrets that were replaced.
    n_secrets: usize,
    /// Turns whose text was cut.
    n_cut: usize,
}

/// What is in a file before it is written, for the one who hands it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// What the session was about.
    pub title: String,
    /// What is in it, in words: one line each.
    pub lines: Vec<String>,
}

/// The longest text of one turn, in bytes: what a reader skips anyway is cut.
const LONGEST_TURN: usize = 6_000;
/// The longest text of a turn that is no speech.
const LONGEST_CALL: usize = 1_500;

impl SharedSession {
    /// The session, with its turns, as it may leave the machine. `home` is the user's folder, which is not named.
    #[must_use]
    pub fn new(mut session: ShownSession, home: Option<&str>, now: Timestamp) -> Self {
        // The agent's own insertions are neither's words.
        session.turns.retain(|turn| turn.kind != "synthetic");
        let folder = session.folder.clone();
        let mut washing = Washing { folder: &folder, home, n_secrets: 0, n_cut: 0 };
        let listed = &mut session.listed;
        listed.title = washing.washed(&listed.title, LONGEST_TURN);
        listed.project = washing.washed(&listed.project, LONGEST_TURN);
        if let Some(branch) = &mut listed.branch {
            *branch = washing.washed(branch, LONGEST_TURN);
        }
        for turn in &mut session.turns {
            let longest = if is_speech(turn) { LONGEST_TURN } else { LONGEST_CALL };
            turn.text = washing.washed(&turn.text, longest);
            turn.answer = turn.answer.as_deref().map(|text| washing.washed(text, LONGEST_CALL));
            turn.speaker = turn.speaker.as_deref().map(|text| washing.washed(text, 80));
        }
        for (file, _) in &mut session.files {
            *file = washing.washed(file, 400);
        }
        for thread in &mut session.threads {
            thread.summary = washing.washed(&thread.summary, LONGEST_CALL);
        }
        if let Some(digest) = &mut session.digest {
            digest.summary = washing.washed(&digest.summary, LONGEST_TURN);
            for texts in [&mut digest.key_actions, &mut digest.decisions, &mut digest.open_questions] {
                for text in texts {
                    *text = washing.washed(text, LONGEST_CALL);
                }
            }
            for commit in &mut digest.commits {
                commit.subject = washing.washed(&commit.subject, 300);
            }
            for check in &mut digest.checks {
                check.command = washing.washed(&check.command, 300);
            }
        }
        let (n_secrets, n_cut) = (washing.n_secrets, washing.n_cut);
        session.folder = String::new();
        session.transcripts.clear();
        Self { session, now, n_secrets, n_cut }
    }

    /// The file.
    #[must_use]
    pub fn file(&self, form: ShareForm) -> String {
        match form {
            ShareForm::Html => html::page(&self.session, self.now),
            ShareForm::Markdown => markdown::text(&self.session, self.now),
        }
    }

    /// A name for the file.
    #[must_use]
    pub fn file_name(&self, form: ShareForm) -> String {
        let id: String =
            short_session(&self.session.listed.session).chars().filter(char::is_ascii_alphanumeric).collect();
        format!("session-{id}.{}", form.extension())
    }

    /// What is in the file.
    #[must_use]
    pub fn contents(&self, form: ShareForm) -> Contents {
        let listed = &self.session.listed;
        let mut about = vec![words::line(&listed.agent, 40), words::line(&listed.project, 80)];
        about.extend(listed.branch.as_deref().map(|branch| words::line(branch, 80)));
        let time = |text: &Option<String>| words::moment(text.as_deref()).map(words::minute);
        about.extend(
            time(&listed.began).zip(time(&listed.ended)).map(|(from, to)| format!("{from} to {to} UTC")),
        );
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for turn in &self.session.turns {
            match kinds.iter_mut().find(|(kind, _)| *kind == turn.kind) {
                Some((_, n)) => *n += 1,
                None => kinds.push((turn.kind, 1)),
            }
        }
        let turns: Vec<String> =
            kinds.iter().map(|(kind, n)| format!("{n} {}", kind.replace('_', " "))).collect();
        let mut lines = vec![about.join(", ")];
        lines.push(match turns.is_empty() {
            true => "no turns".to_owned(),
            false => format!("turns: {}", turns.join(", ")),
        });
        if let Some(digest) = &self.session.digest {
            let parts = [
                (digest.decisions.len(), "decision"),
                (digest.commits.len(), "commit"),
                (digest.checks.len(), "check"),
                (self.session.files.len(), "file name"),
            ];
            let parts: Vec<String> =
                parts.into_iter().filter(|(n, _)| 0 < *n).map(|(n, noun)| counted(n, noun)).collect();
            if !parts.is_empty() {
                lines.push(format!("summary, with {}", parts.join(", ")));
            }
        }
        let prompts = self.session.turns.iter().filter(|turn| turn.kind == "prompt");
        lines.extend(prompts.take(3).map(|turn| format!("prompt: {}", words::line(&turn.text, 100))));
        lines.push(match self.n_secrets {
            0 => "secrets replaced in it now: none (stored text has none already)".to_owned(),
            n => format!("secrets replaced in it now: {n}"),
        });
        if 0 < self.n_cut {
            lines.push(format!("{} cut", counted(self.n_cut, "long text")));
        }
        lines.push(format!("{} bytes", self.file(form).len()));
        Contents { title: words::line(&listed.title, 200), lines }
    }
}

/// Whether a human or an agent speaks.
fn is_speech(turn: &ShownTurn) -> bool {
    matches!(turn.kind, "prompt" | "said")
}

/// Takes out what must not leave the machine.
struct Washing<'w> {
    folder: &'w str,
    home: Option<&'w str>,
    n_secrets: usize,
    n_cut: usize,
}

impl Washing<'_> {
    fn washed(&mut self, text: &str, longest: usize) -> String {
        let (kept, removed) = cleaned(text);
        self.n_secrets += removed.len();
        let local = without_folders(&kept, self.folder, self.home);
        self.n_cut += usize::from(longest < local.len());
        words::shown(&local, longest)
    }
}

/// `text` with the session's folder as `.` and the user's as `~`: their names say who wrote it, and where.
fn without_folders(text: &str, folder: &str, home: Option<&str>) -> String {
    let mut text = text.to_owned();
    for (name, short) in [(Some(folder), "."), (home, "~")] {
        if let Some(name) = name.map(|name| name.trim_end_matches('/')).filter(|name| 1 < name.len()) {
            text = text.replace(name, short);
        }
    }
    text
}

#[cfg(test)]
mod tests;
