//! Sessions as text.

use std::{borrow::Cow, fmt::Write};

use chronicle_core::{counted, counted_are, plain};
use chronicle_memory::sessions::{
    ExcludeReply, ForgetReply, IngestReply, ListedSession, MemoryTransfer, Resumption, SessionList,
    ShownSession, ShownTurn, WordedOutcome, WordedReply, WordedSession, short_session,
};
use chronicle_sessions::HardFailure;

use super::{View, words};

/// Files and checks that are listed of one session.
const MAX_LISTED: usize = 12;

/// How much of a turn is shown in a list of turns.
const LONGEST_TURN: usize = 400;

pub(super) fn ingested(reply: &IngestReply) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} of {} read, {} as they were: {}, {}, {} changed, {}",
        reply.files - reply.unchanged - reply.unread.len(),
        counted(reply.files, "file"),
        reply.unchanged,
        counted(reply.sessions, "session"),
        counted(reply.new_turns, "new turn"),
        reply.changed_turns,
        counted(reply.thread_events, "event of threads")
    );
    let mut told = |count: u64, noun: &str, what: &str| {
        if 0 < count {
            let _ = writeln!(out, "- {} {what}", counted(count, noun));
        }
    };
    told(reply.left_out as u64, "session", "left out: excluded, forgotten, or with the id of another");
    told(reply.not_transcripts as u64, "file", "without a transcript");
    told(reply.unreadable_rows, "row", "that could not be read");
    told(reply.secrets, "secret", "taken out");
    told(reply.private_spans, "private span", "taken out");
    for path in &reply.unknown {
        let _ = writeln!(out, "- form not known: {}", words::path(path));
    }
    for unread in &reply.unread {
        let _ =
            writeln!(out, "- not read: {}: {}", words::path(&unread.path), words::one_line(&unread.reason));
    }
    out
}

pub(super) fn worded(reply: &WordedReply) -> String {
    let mut out = String::new();
    for done in &reply.sessions {
        let about =
            format!("{} {}", words::one_line(short_session(&done.session)), words::one_line(&done.title));
        let reason = done.reason.as_deref().map(words::one_line).unwrap_or_default();
        let _ = match done.outcome {
            WordedOutcome::Worded => {
                let WordedSession { threads, reworded, proposed, .. } = done;
                let threads = counted(*threads, "thread");
                writeln!(
                    out,
                    "- {about}: {threads}, {reworded} reworded, closed by the look of it: {proposed}"
                )
            }
            WordedOutcome::Planned => writeln!(out, "- would ask about {about}"),
            WordedOutcome::WentOn => writeln!(out, "- {about}: it went on meanwhile"),
            WordedOutcome::Failed => writeln!(out, "- failed on {about}: {reason}"),
        };
        for dropped in &done.dropped {
            let _ = writeln!(out, "  - not taken: {}", words::one_line(dropped));
        }
        for line in done.text.iter().flat_map(|text| text.lines()) {
            let _ = writeln!(out, "    {}", words::one_line(line));
        }
    }
    if reply.sessions.is_empty() {
        out.push_str("nothing to do\n");
    }
    out
}

pub(super) fn list(list: &SessionList, view: &View) -> String {
    let mut out = String::new();
    match &list.project {
        Some(project) => {
            let _ = writeln!(out, "# Sessions of {}\n", words::one_line(project));
        }
        None if !list.sessions.is_empty() => out.push_str("# Sessions\n\n"),
        None => {}
    }
    for session in &list.sessions {
        // Which project it is says something only where there are several.
        let project = list.project.is_none().then(|| format!("{}, ", words::one_line(&session.project)));
        let _ = writeln!(
            out,
            "- {} {} ({}{})",
            session.short(),
            words::one_line(&session.title),
            project.unwrap_or_default(),
            facts(session, view)
        );
    }
    if list.sessions.is_empty() {
        match list.elsewhere {
            0 => {
                out.push_str("no sessions; `git chronicle session ingest` reads those of the last 30 days\n");
            }
            n => {
                let _ = writeln!(out, "no sessions here; {n} in other projects (--all)");
            }
        }
    }
    out
}

/// The session that a question is closest to: what came of it, and what is left.
pub(super) fn closest(session: &ShownSession, view: &View) -> String {
    const MOST: usize = 5;
    let listed = &session.listed;
    let mut facts: Vec<String> = words::when(listed.ended.as_deref(), view.now).into_iter().collect();
    facts.extend(listed.branch.as_deref().map(words::one_line));
    facts.extend(session.minutes().map(super::find::took));
    facts.push(counted(listed.prompts, "prompt"));
    let mut out = format!(
        "## Closest session: {} {} ({})\n",
        words::one_line(listed.short()),
        words::one_line(&listed.title),
        facts.join(", ")
    );
    let Some(digest) = &session.digest else { return out };
    if !digest.summary.is_empty() {
        let _ = writeln!(out, "{}", words::one_line(&digest.summary));
    }
    let mut item = |what: &str, all: &mut dyn Iterator<Item = String>| {
        let all: Vec<String> = all.collect();
        for one in all.iter().take(MOST) {
            let _ = writeln!(out, "- {what}: {}", words::one_line(one));
        }
        if MOST < all.len() {
            let _ = writeln!(out, "- {what}: {} more", all.len() - MOST);
        }
    };
    let commits = digest.commits.iter().map(|commit| format!("{} {}", commit.id, commit.subject));
    item("committed", &mut commits.into_iter());
    let left: Vec<&str> = match digest.commits.is_empty() && digest.uncommitted.is_empty() {
        true => digest.files.iter().map(|file| file.path.as_str()).collect(),
        false => digest.uncommitted.iter().map(String::as_str).collect(),
    };
    if !left.is_empty() {
        let more = left.len().saturating_sub(MOST);
        let more = if 0 < more { format!(" and {more} more") } else { String::new() };
        item(
            "not committed",
            &mut [format!("{}{more}", left[..left.len().min(MOST)].join(", "))].into_iter(),
        );
    }
    item("fails", &mut digest.still_failing().map(|check| format!("`{}`", check.command)));
    item("pull request", &mut digest.pull_requests.iter().cloned());
    item("decided", &mut digest.decisions.iter().cloned());
    let open =
        session.threads.iter().filter(|thread| ["pending", "in_progress"].contains(&thread.status.as_str()));
    item("open", &mut open.map(|thread| format!("{} {}", short_thread(&thread.thread), thread.summary)));
    out
}

/// The beginning of a thread's id, as lists show it.
fn short_thread(id: &str) -> &str {
    id.get(..6).unwrap_or(id)
}

/// When, where and how much.
fn facts(session: &ListedSession, view: &View) -> String {
    let mut facts = Vec::new();
    facts.extend(words::ago(session.ended.as_deref(), view.now));
    facts.extend(session.branch.as_deref().map(words::one_line));
    facts.push(counted(session.prompts, "prompt"));
    facts.join(", ")
}

/// A line for a shell that goes on with a session.
pub(super) fn resumption(answer: &Resumption) -> String {
    let words: Vec<Cow<'_, str>> = answer.command.iter().map(|word| shell_word(word)).collect();
    let command = words.join(" ");
    // A folder with characters that act on a terminal cannot be pasted.
    if plain(&answer.folder) == answer.folder {
        format!("cd {} && {command}\n", shell_word(&answer.folder))
    } else {
        format!("{command}\n")
    }
}

/// `text` as one word of a shell's line.
fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}

pub(super) fn shown(shown: &ShownSession, view: &View) -> String {
    let mut out = String::new();
    let listed = &shown.listed;
    let _ = writeln!(out, "# {}\n", words::one_line(&listed.title));
    let _ = writeln!(
        out,
        "- session: {} ({}, importance {})",
        words::one_line(&listed.session),
        words::one_line(&listed.agent),
        listed.importance
    );
    let place = match shown.folder.as_str() {
        "" => String::new(),
        folder => format!(" in {}", words::path(folder)),
    };
    let _ = writeln!(out, "- project: {}{place}", words::one_line(&listed.project));
    let _ = writeln!(out, "- {}", facts(listed, view));
    if let Some(parent) = &shown.parent {
        let _ = writeln!(out, "- comes from: {}", words::one_line(short_session(parent)));
    }
    if let Some(digest) = &shown.digest {
        digested(&mut out, digest);
    }
    if !shown.files.is_empty() {
        out.push_str("\n## Files\n");
        for (path, n_changes) in shown.files.iter().take(MAX_LISTED) {
            let _ = writeln!(out, "- {} ({n_changes}×)", words::path(path));
        }
        more(&mut out, shown.files.len());
    }
    if !shown.threads.is_empty() {
        out.push_str("\n## Threads\n");
        for thread in &shown.threads {
            let _ =
                writeln!(out, "- {} [{}] {}", thread.thread, thread.status, words::one_line(&thread.summary));
        }
    }
    if !shown.sub_agents.is_empty() {
        let _ = writeln!(
            out,
            "\n{}; `session show {}/…` shows one",
            counted(shown.sub_agents.len(), "sub-agent"),
            listed.short()
        );
    }
    let _ = writeln!(out, "\n{}", counted(shown.turns_stored, "turn"));
    for (path, is_there) in &shown.transcripts {
        let gone = if *is_there { "" } else { " (gone; what is stored stays)" };
        let _ = writeln!(out, "transcript: {}{gone}", words::path(path));
    }
    if !shown.turns.is_empty() {
        out.push_str("\n## Turns\n");
        for turn in &shown.turns {
            turn_line(&mut out, turn);
        }
    }
    out
}

fn digested(out: &mut String, digest: &chronicle_sessions::DigestOfSession) {
    let usage = &digest.usage;
    if 0 < usage.replies {
        let _ = writeln!(
            out,
            "- tokens: {} read, {} from the cache, {} written to it; {} or more in replies ({})",
            usage.input, usage.cache_read, usage.cache_write, usage.output, usage.replies
        );
    }
    if !digest.technologies.is_empty() {
        let _ = writeln!(out, "- uses: {}", words::one_line(&digest.technologies.join(", ")));
    }
    if let Some(model) = &digest.worded_by {
        let _ = writeln!(out, "- worded by: {}", words::one_line(model));
    }
    if !digest.summary.is_empty() {
        let _ = writeln!(out, "\n{}", words::one_line(&digest.summary));
    }
    let mut listed = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n## {title}");
            for line in lines.iter().take(MAX_LISTED) {
                let _ = writeln!(out, "- {}", words::one_line(line));
            }
            more(out, lines.len());
        }
    };
    listed("What was done", &digest.key_actions);
    listed("Decided", &digest.decisions);
    let failures: Vec<String> = digest.failures.iter().map(HardFailure::told).collect();
    listed("What failed", &failures);
    let commits: Vec<String> = digest.commits.iter().map(chronicle_sessions::Commit::told).collect();
    listed("Commits", &commits);
    let checks: Vec<String> = digest
        .checks
        .iter()
        .map(|check| {
            let outcome = match check.is_passed {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "outcome not known",
            };
            let since = if check.is_outdated { ", before the last edit" } else { "" };
            format!("`{}`: {outcome} the last time of {}{since}", check.command, check.n_runs)
        })
        .collect();
    listed("Checks", &checks);
    listed("Not committed", if digest.commits.is_empty() { &[] } else { &digest.uncommitted });
    listed("Open questions", &digest.open_questions);
}

fn more(out: &mut String, n: usize) {
    if MAX_LISTED < n {
        let _ = writeln!(out, "- and {} more", n - MAX_LISTED);
    }
}

fn turn_line(out: &mut String, turn: &ShownTurn) {
    let outcome = if turn.ok == Some(false) { " failed" } else { "" };
    let who = turn.speaker.as_deref().or(turn.sub_agent.as_deref());
    let who = who.map(|who| format!(" {}", words::one_line(who))).unwrap_or_default();
    let text = words::one_line(&turn.text);
    let cut = text.floor_char_boundary(LONGEST_TURN);
    let dots = if cut < text.len() { "…" } else { "" };
    let _ = writeln!(out, "- {}: {}{who}{outcome}: {}{dots}", turn.line, turn.kind, &text[..cut]);
}

pub(super) fn forgotten(reply: &ForgetReply) -> String {
    let mut out = String::new();
    let verb = if reply.dry_run { "would be forgotten" } else { "forgotten" };
    let _ = writeln!(out, "{} {verb}", counted(reply.forgotten.len(), "session"));
    for session in &reply.forgotten {
        let _ = writeln!(
            out,
            "- {} {}",
            words::one_line(short_session(&session.session)),
            words::one_line(&session.title)
        );
    }
    if !reply.transcripts.is_empty() && !reply.dry_run {
        out.push_str("\nThe agent still keeps these transcripts; they are not imported again:\n");
        for path in &reply.transcripts {
            let _ = writeln!(out, "- {}", words::path(path));
        }
    }
    out
}

pub(super) fn excluded(reply: &ExcludeReply) -> String {
    let mut out = String::new();
    if reply.excluded.is_empty() {
        out.push_str("sessions of every folder are remembered\n");
    }
    for folder in &reply.excluded {
        let _ = writeln!(out, "- not remembered: {}", words::path(folder));
    }
    if 0 < reply.n_remembered {
        let _ = writeln!(
            out,
            "\n{} of it remembered still; `git chronicle session forget` removes what is",
            counted_are(reply.n_remembered, "session")
        );
    }
    out
}

pub(super) fn transfer(done: &MemoryTransfer, verb: &str) -> String {
    let mut out = String::new();
    let MemoryTransfer { sessions, turns, threads, block_versions, unread, .. } = done;
    let what = if verb == "imported" { "new event of threads" } else { "thread" };
    let _ = writeln!(
        out,
        "{verb}: {} with {}, {}",
        counted(*sessions, "session"),
        counted(*turns, "turn"),
        counted(*threads, what)
    );
    if 0 < *block_versions {
        let _ = writeln!(out, "- {}", counted(*block_versions, "version of blocks"));
    }
    for file in unread {
        let _ = writeln!(out, "- not read: {}: {}", words::path(&file.path), words::one_line(&file.reason));
    }
    out
}
