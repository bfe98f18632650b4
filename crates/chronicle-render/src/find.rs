//! What was found in sessions, as text.

use std::fmt::Write;

use chronicle::find::Found;
use chronicle_core::counted;
use chronicle_memory::{
    find::{
        About, Differing, Elsewhere, Finding, Fix, FixOutcome, Fixed, FoundTurn, How, Invocation, Procedure,
        Snippet, Step,
    },
    listing::Listing,
    sessions::short_session,
};

use super::{
    View,
    markdown::{found_lessons, gap},
    words,
};

/// The longest id of a turn that is shown: longer ones tell people nothing.
const LONGEST_NAME: usize = 12;

/// Lessons, then what sessions say.
pub(super) fn found(found: &Found, view: &View, is_marked: bool) -> String {
    let mut out = String::new();
    found_lessons(&mut out, &found.lessons, view);
    let said = finding(&found.finding, view, is_marked);
    if !said.is_empty() {
        gap(&mut out);
        out.push_str(&said);
    }
    out
}

/// Hits, session by session: that with the best hit first.
pub(super) fn finding(finding: &Finding, view: &View, is_marked: bool) -> String {
    let mut out = String::new();
    if let Some(differing) = &finding.differing {
        said_differently(&mut out, differing, view);
    }
    let mut sessions: Vec<&str> = Vec::new();
    for hit in &finding.hits {
        if !sessions.contains(&hit.session.as_str()) {
            sessions.push(&hit.session);
        }
    }
    for session in sessions {
        gap(&mut out);
        let hits: Vec<&FoundTurn> = finding.hits.iter().filter(|hit| hit.session == session).collect();
        let first = hits[0];
        let project = (finding.project.is_none()).then_some(first.project.as_str());
        heading(&mut out, session, &first.title, [first.branch.as_deref(), project], None, view);
        if let Some(result) = &first.result {
            let _ = writeln!(out, "{}", words::one_line(result));
        }
        for hit in &hits {
            turn(&mut out, hit, view, is_marked);
        }
        if let Some(since) = &first.changed_since {
            let _ = writeln!(out, "- {}", words::changed_since(since));
        }
        if let Some(later) = &first.decided_later {
            let facts = [words::one_line(short_session(&later.session))]
                .into_iter()
                .chain(words::ago(later.at.as_deref(), view.now));
            let decision = words::one_line(&later.decision);
            let _ = writeln!(out, "- decided later ({}): {decision}", facts.collect::<Vec<_>>().join(", "));
        }
    }
    elsewhere(&mut out, finding.elsewhere);
    out
}

/// Statements that differ, the newest first.
fn said_differently(out: &mut String, differing: &Differing, view: &View) {
    let _ = writeln!(out, "## Said differently ({}), the newest first", words::one_line(&differing.about));
    for statement in &differing.statements {
        let mut facts = vec![words::one_line(short_session(&statement.session))];
        facts.push(format!("line {}", statement.line));
        facts.extend(words::ago(statement.at.as_deref(), view.now));
        let value = statement.value.as_deref().map(|value| format!("{}: ", words::one_line(value)));
        let text = words::one_line(&statement.text);
        let _ = writeln!(out, "- {}{text} ({})", value.unwrap_or_default(), facts.join(", "));
    }
}

/// `## 5e551011 What it was about (2 days ago, main)`
fn heading(
    out: &mut String,
    session: &str,
    title: &str,
    facts: [Option<&str>; 2],
    ended: Option<&str>,
    view: &View,
) {
    let mut told: Vec<String> = words::ago(ended, view.now).into_iter().collect();
    told.extend(facts.into_iter().flatten().map(words::one_line));
    let told = if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) };
    let _ = writeln!(out, "## {} {}{told}", words::one_line(short_session(session)), words::one_line(title));
}

fn turn(out: &mut String, hit: &FoundTurn, view: &View, is_marked: bool) {
    let mut about = vec![hit.kind.to_owned()];
    about.extend(hit.speaker.as_deref().map(words::one_line));
    if hit.ok == Some(false) {
        about.push("failed".to_owned());
    }
    let mut facts = vec![format!("line {}", hit.line)];
    if (1..=LONGEST_NAME).contains(&hit.turn.len()) {
        facts.insert(0, words::one_line(&hit.turn));
    }
    facts.extend(words::when(hit.at.as_deref(), view.now));
    facts.extend(hit.commit.as_deref().map(|commit| format!("commit {}", words::short(commit))));
    let text = if is_marked { marked(&hit.snippet) } else { hit.snippet.text.clone() };
    let _ = writeln!(out, "- {} ({}): {text}", about.join(" "), facts.join(", "));
}

/// A snippet with the words of the question in bold, for terminals.
pub(super) fn marked(snippet: &Snippet) -> String {
    let mut text = snippet.text.clone();
    for mark in snippet.marks.iter().rev() {
        text.insert_str(mark.end, "\u{1b}[22m");
        text.insert_str(mark.start, "\u{1b}[1m");
    }
    text
}

/// A list: how many there are, then the rows with their sessions.
pub(super) fn listing(listing: &Listing, view: &View) -> String {
    if listing.total == 0 && listing.rows.is_empty() {
        return String::new();
    }
    let mut out = listing.sentence();
    if !listing.topic.is_empty() {
        let _ = write!(out, " about {}", words::one_line(&listing.topic));
    }
    if let Some(period) = &listing.period {
        let _ = write!(out, " ({period})");
    }
    let totals = [(listing.prompts, "prompt"), (listing.tokens, "token")];
    let totals = totals.into_iter().filter_map(|(n, what)| Some(counted(n.filter(|n| 0 < *n)?, what)));
    let totals: Vec<String> = totals.collect();
    if !totals.is_empty() {
        let _ = write!(out, ": {} in replies", totals.join(", "));
    }
    out.push('\n');
    for row in &listing.rows {
        let mut facts = vec![words::one_line(short_session(&row.session))];
        facts.extend(words::when(row.ended.as_deref(), view.now));
        if matches!(listing.listed, "file" | "project") {
            facts.push(format!("{}×", row.times));
        }
        facts.extend(row.minutes.map(took));
        facts.extend(row.prompts.map(|n_prompts| counted(n_prompts, "prompt")));
        facts.extend(row.tokens.filter(|n| 0 < *n).map(|n_tokens| counted(n_tokens, "token")));
        facts.extend(row.model.as_deref().map(words::one_line));
        let title = match listing.listed {
            "session" => String::new(),
            _ => format!(": {}", words::one_line(&row.title)),
        };
        let _ = writeln!(out, "- {} ({}){title}", words::one_line(&row.text), facts.join(", "));
    }
    let n_more = listing.total - listing.rows.len().min(listing.total);
    if 0 < n_more {
        let _ = writeln!(out, "- and {n_more} more");
    }
    out
}

/// How long a session took, breaks included.
pub(super) fn took(minutes: u64) -> String {
    match minutes {
        0..60 => format!("{minutes} min"),
        60..2_880 => format!("{} h {} min", minutes / 60, minutes % 60),
        _ => counted(minutes / 1_440, "day"),
    }
}

fn elsewhere(out: &mut String, elsewhere: Elsewhere) {
    if 0 < elsewhere.hits {
        let more = if elsewhere.hits < 100 { "" } else { " or more" };
        let _ = writeln!(
            out,
            "nothing here; {}{more} in {} (--all)",
            counted(elsewhere.hits, "hit"),
            counted(elsewhere.projects, "other project")
        );
    }
}

/// What is known about a topic; what was decided comes first if that was asked.
pub(super) fn about(about: &About, view: &View, is_marked: bool, is_for_decisions: bool) -> String {
    let mut out = String::new();
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            gap(&mut out);
            let _ = writeln!(out, "## {title}");
            for line in lines {
                let _ = writeln!(out, "- {line}");
            }
        }
    };
    let sessions = about.sessions.iter().map(|session| {
        let mut facts: Vec<String> = words::when(session.ended.as_deref(), view.now).into_iter().collect();
        facts.extend(session.branch.as_deref().map(words::one_line));
        facts.extend(about.project.is_none().then(|| words::one_line(&session.project)));
        let summary = words::one_line(&session.summary);
        let summary = if summary.is_empty() { summary } else { format!(": {summary}") };
        let (name, title) =
            (words::one_line(short_session(&session.session)), words::one_line(&session.title));
        format!("{name} {title} ({}){summary}", facts.join(", "))
    });
    let sessions: Vec<String> = sessions.collect();
    let decided = about.decided.iter().map(|decided| {
        let facts = [words::one_line(short_session(&decided.session))]
            .into_iter()
            .chain(words::ago(decided.ended.as_deref(), view.now));
        format!("{} ({})", words::one_line(&decided.decision), facts.collect::<Vec<_>>().join(", "))
    });
    let decisions = about.decisions.iter().map(|turn| {
        let text = if is_marked { marked(&turn.snippet) } else { turn.snippet.text.clone() };
        format!(
            "{} ({}, line {}): {text}",
            turn.kind,
            words::one_line(short_session(&turn.session)),
            turn.line
        )
    });
    let (decided, decisions): (Vec<String>, Vec<String>) = (decided.collect(), decisions.collect());
    // Words that read like a decision are none until a digest says so.
    if is_for_decisions {
        section("Decisions", decided);
        section("Said about it", decisions);
        section("Sessions", sessions);
    } else {
        section("Sessions", sessions);
        section("Decisions", decided);
        section("Said about it", decisions);
    }
    let files = about.files.iter().map(|file| {
        let sessions = counted(file.sessions, "session");
        format!("{} ({sessions}, {}×)", words::path(&file.path), file.changes)
    });
    section("Files", files.collect());
    let commits = about.commits.iter().map(|commit| {
        let session = words::one_line(short_session(&commit.session));
        format!("{} {} ({session})", words::short(&commit.commit), words::one_line(&commit.subject))
    });
    section("Commits", commits.collect());
    let threads = about.threads.iter().map(|thread| {
        format!(
            "{} [{}] {}",
            words::one_line(&thread.thread),
            thread.status,
            words::one_line(&thread.summary)
        )
    });
    section("Threads", threads.collect());
    elsewhere(&mut out, about.elsewhere);
    out
}

pub(super) fn how(how: &How, view: &View) -> String {
    let mut out = String::new();
    if !how.invocations.is_empty() {
        let _ = writeln!(out, "## Calls");
    }
    for invocation in &how.invocations {
        called(&mut out, invocation, view);
    }
    for procedure in &how.procedures {
        gap(&mut out);
        steps(&mut out, procedure, how.project.is_none(), view);
    }
    elsewhere(&mut out, how.elsewhere);
    out
}

/// ``- `cargo test -p pool` (3×, failed 1× with 101: no such test; 2 days ago, session 5e551011, line 40)``
fn called(out: &mut String, way: &Invocation, view: &View) {
    let mut ended = vec![format!("{}×", way.times)];
    if 0 < way.failed {
        let code = way.exit_code.map(|code| format!(" with {code}")).unwrap_or_default();
        let message = way.message.as_deref().map(|message| format!(": {}", words::one_line(message)));
        ended.push(format!("failed {}×{code}{}", way.failed, message.unwrap_or_default()));
    }
    if 0 < way.unclear {
        ended.push(format!("part of a command that failed {}×", way.unclear));
    }
    let n_known = way.worked + way.failed + way.unclear;
    if n_known < way.times {
        ended.push(format!("outcome unknown {}×", way.times - n_known));
    }
    let mut place: Vec<String> = words::ago(way.at.as_deref(), view.now).into_iter().collect();
    place.push(format!("session {}", words::one_line(short_session(&way.session))));
    if 0 < way.line {
        place.push(format!("line {}", way.line));
    }
    let command = words::one_line(&way.command).replace('`', "'");
    let _ = writeln!(out, "- `{command}` ({}; {})", ended.join(", "), place.join(", "));
}

fn steps(out: &mut String, procedure: &Procedure, is_of_many: bool, view: &View) {
    let project = is_of_many.then_some(procedure.project.as_str());
    let facts = [procedure.branch.as_deref(), project];
    heading(out, &procedure.session, &procedure.title, facts, procedure.ended.as_deref(), view);
    for (number, step) in procedure.steps.iter().enumerate() {
        let _ = writeln!(out, "{}. {}{}", number + 1, doing(step), went(step));
    }
    if 0 < procedure.left_out {
        let session = words::one_line(short_session(&procedure.session));
        let _ = writeln!(
            out,
            "{}: `git chronicle session show {session} --turns`",
            counted(procedure.left_out, "more step")
        );
    }
    if !procedure.outcome.is_empty() {
        let _ = writeln!(out, "Outcome: {}", words::one_line(&procedure.outcome));
    }
}

pub(super) fn fix(fix: &Fix, view: &View) -> String {
    let mut out = String::new();
    for fixed in &fix.fixes {
        gap(&mut out);
        mended(&mut out, fixed, fix.project.is_none(), view);
    }
    elsewhere(&mut out, fix.elsewhere);
    out
}

fn mended(out: &mut String, fixed: &Fixed, is_of_many: bool, view: &View) {
    let project = is_of_many.then_some(fixed.project.as_str());
    let facts = [fixed.branch.as_deref(), project];
    heading(out, &fixed.session, &fixed.title, facts, fixed.ended.as_deref(), view);
    let alike = if fixed.is_same { "" } else { ", alike" };
    let times = if 1 < fixed.times { format!(", {} times", fixed.times) } else { String::new() };
    let call = words::one_line(&fixed.call).replace('`', "'");
    let _ = writeln!(
        out,
        "Error: {} (`{call}`, line {}{times}{alike})",
        words::one_line(&fixed.message),
        fixed.line
    );
    if let Some(said) = fixed.said.as_deref().filter(|said| !said.is_empty()) {
        let _ = writeln!(out, "Said: {}", words::one_line(said));
    }
    for (number, step) in fixed.done.iter().enumerate() {
        let _ = writeln!(out, "{}. {}{}, line {}", number + 1, doing(step), went(step), step.line);
    }
    if 0 < fixed.left_out {
        let session = words::one_line(short_session(&fixed.session));
        let more = counted(fixed.left_out, "more step");
        let _ = writeln!(out, "{more}: `git chronicle session show {session} --turns`");
    }
    let _ = writeln!(out, "Outcome: {}", outcome(fixed));
}

/// ``solved: `cargo test` worked at line 57; commit 233f55c``
fn outcome(fixed: &Fixed) -> String {
    let mut told = Vec::new();
    let worked = fixed.worked.as_ref().map(|worked| {
        format!("`{}` worked at line {}", words::one_line(&worked.call).replace('`', "'"), worked.line)
    });
    told.push(match (fixed.outcome, worked) {
        (FixOutcome::Unsolved, _) | (_, None) => "not solved there".to_owned(),
        (FixOutcome::Held, Some(worked)) => format!("solved: {worked}, and it did not come up again"),
        (FixOutcome::CameBack, Some(worked)) => worked,
    });
    if let Some(session) = &fixed.came_back_in {
        told.push(format!("it came up again in session {}", words::one_line(short_session(session))));
    }
    told.extend(fixed.commit.as_deref().map(|commit| format!("commit {}", words::short(commit))));
    told.join("; ")
}

fn doing(step: &Step) -> String {
    let text = words::one_line(&step.text);
    match step.kind {
        "prompt" => format!("asked: {text}"),
        "command" => format!("ran `{text}`"),
        "edit" => format!("changed {text}"),
        "commit" => format!("committed {text}"),
        "pull-request" => format!("opened {text}"),
        _ => text,
    }
}

/// How often, and how it went; nothing for what was done once and worked.
fn went(step: &Step) -> String {
    match (step.times, step.failed) {
        (1, 0) => String::new(),
        (1, _) => " (failed)".to_owned(),
        (times, 0) => format!(" ({times}×)"),
        (times, failed) if times == failed => format!(" ({times}×, failed each time)"),
        (times, failed) => format!(" ({times}×, failed {failed}×)"),
    }
}
