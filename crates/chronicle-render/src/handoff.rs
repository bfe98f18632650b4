//! Work that is handed over to another agent, as text: short, one line for each thing.

use std::fmt::Write;

use chronicle_memory::{
    handoff::{Handoff, HandoffState, ListedHandoff},
    injected::{LONGEST_TEXT, fenced},
    sessions::short_session,
};

use super::{View, brief::CAUTION, threads, words, words::one_line};

/// The text for an agent, as hooks put it between their own fences.
pub(super) fn body(handoff: &Handoff, view: &View) -> String {
    let mut out = String::new();
    let ListedHandoff { id, title, .. } = &handoff.listed;
    let _ = writeln!(out, "# Handed over: {} ({})\n{CAUTION}", one_line(title), one_line(id));
    let mut facts =
        vec![format!("{} session {}", one_line(&handoff.from.agent), one_line(handoff.from.short()))];
    facts.extend(words::ago(handoff.from.ended.as_deref(), view.now));
    facts.extend(handoff.from.branch.as_deref().map(|branch| format!("branch {}", words::path(branch))));
    facts.extend((!handoff.folder.is_empty()).then(|| format!("folder {}", words::path(&handoff.folder))));
    let _ = writeln!(out, "From: {}", facts.join(", "));
    list(&mut out, "Asked", handoff.asked.iter().map(|asked| one_line(asked)));
    let commits = handoff
        .commits
        .iter()
        .map(|commit| format!("commit {}: {}", words::short(&commit.commit), one_line(&commit.subject)));
    list(&mut out, "Done", handoff.done.iter().map(|done| one_line(done)).chain(commits));
    list(&mut out, "Open", handoff.open.iter().map(|item| threads::line(item, false, view)));
    list(&mut out, "Decided", handoff.decided.iter().map(|decided| one_line(decided)));
    let failed = handoff.failed.iter().map(|attempt| {
        let because = attempt.because.as_deref().map(|because| format!(": {}", one_line(because)));
        format!("{}{}", code(&attempt.what), because.unwrap_or_default())
    });
    list(&mut out, "Tried and failed", failed);
    list(&mut out, "Files changed", handoff.files.iter().map(|path| words::path(path)));
    list(&mut out, "Commands that work", handoff.commands.iter().map(|command| code(command)));
    if 0 < handoff.n_left_out {
        let session = one_line(handoff.from.short());
        let n_more = handoff.n_left_out;
        let _ = writeln!(out, "\n> {n_more} more: `git chronicle session show {session}`");
    }
    out
}

/// The text to paste: what to do, and what is quoted.
pub(super) fn to_paste(handoff: &Handoff, view: &View) -> String {
    let id = one_line(&handoff.listed.id);
    let quoted = fenced(&format!("handoff=\"{id}\""), &body(handoff, view), LONGEST_TEXT);
    format!("Go on with the work of {id}, which is quoted here.\n\n{quoted}\n")
}

/// A line of a list: `handoff-… to codex, open (2 hours ago, session 5e551011): Let the pool wait`.
pub(super) fn line(handoff: &ListedHandoff, view: &View) -> String {
    let to = handoff.to.as_deref().map(|agent| format!(" to {}", one_line(agent))).unwrap_or_default();
    let state = match (handoff.state, &handoff.accepted_by) {
        (HandoffState::Open, _) => "open".to_owned(),
        (HandoffState::Expired, _) => "expired".to_owned(),
        (HandoffState::Accepted, Some(by)) if !by.is_empty() => {
            let (agent, session) = by.split_once(' ').unwrap_or((by, ""));
            format!("accepted by {} session {}", one_line(agent), one_line(short_session(session)))
        }
        (HandoffState::Accepted, _) => "accepted".to_owned(),
    };
    let mut facts: Vec<String> = words::ago(Some(&handoff.at), view.now).into_iter().collect();
    facts.push(format!("session {}", one_line(short_session(&handoff.session))));
    format!("{}{to}, {state} ({}): {}", one_line(&handoff.id), facts.join(", "), one_line(&handoff.title))
}

fn list(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(out, "\n## {title}");
    }
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}

fn code(command: &str) -> String {
    format!("`{}`", one_line(command).replace('`', "'"))
}
