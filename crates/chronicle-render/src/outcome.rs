//! What a model wrote, or would be asked, as text.

use std::fmt::Write;

use chronicle::WrittenOutcome;
use chronicle_annotator::{WrittenCommit, WrittenReply};
use chronicle_core::counted;

use super::{words, words::one_line};

/// Lessons of one commit are shown whole where so few commits were looked at.
const SHOWN_WHOLE: usize = 3;

pub(super) fn markdown(reply: &WrittenReply) -> String {
    let mut out = String::new();
    for commit in &reply.commits {
        line(&mut out, commit);
        if reply.commits.len() <= SHOWN_WHOLE {
            details(&mut out, commit);
        }
    }
    if 1 < reply.commits.len() {
        let _ = writeln!(out, "\n{}", totals(reply));
    }
    out
}

fn line(out: &mut String, commit: &WrittenCommit) {
    let about = words::short(&commit.commit);
    let subject = one_line(&commit.subject);
    let _ = match commit.outcome {
        WrittenOutcome::Stored => writeln!(
            out,
            "Stored on {about} {subject}: {}{}",
            counts(commit),
            commit.partial.as_ref().map(|cut| format!(" (partial: {})", one_line(cut))).unwrap_or_default()
        ),
        WrittenOutcome::Planned => {
            let tokens: u64 = commit.requests.iter().map(|request| request.tokens).sum();
            writeln!(
                out,
                "Would ask about {about} {subject}: {}, {}, {}, at most {tokens} tokens to begin with",
                counted(commit.files, "file"),
                counted(commit.changed_lines, "changed line"),
                counted(commit.chunks, "conversation")
            )
        }
        outcome => {
            let reason = commit.reason.as_deref().map(one_line).unwrap_or_default();
            writeln!(out, "{} {about} {subject}: {reason}", title(outcome))
        }
    };
}

fn title(outcome: WrittenOutcome) -> &'static str {
    match outcome {
        WrittenOutcome::Failed => "Failed on",
        WrittenOutcome::Nothing => "Nothing on",
        _ => "Skipped",
    }
}

fn counts(commit: &WrittenCommit) -> String {
    let mut counts = Vec::new();
    for (number, one, several) in [
        (commit.wisdom, "lesson", "lessons"),
        (commit.regions, "code unit", "code units"),
        (commit.cross_cutting, "concern", "concerns"),
    ] {
        match number {
            0 => {}
            1 => counts.push(format!("1 {one}")),
            number => counts.push(format!("{number} {several}")),
        }
    }
    counts.join(", ")
}

fn details(out: &mut String, commit: &WrittenCommit) {
    if let Some(session) = &commit.session {
        let _ = writeln!(out, "Session: {}", one_line(session));
    }
    if commit.outcome == WrittenOutcome::Planned {
        for (path, reason) in &commit.aside {
            let _ = writeln!(out, "- not shown: {} ({})", words::path(path), one_line(reason));
        }
    }
    let Some(stored) = &commit.stored else { return };
    let document = std::iter::once(stored)
        .chain(&stored.also)
        .max_by_key(|document| document.written())
        .unwrap_or(stored);
    let _ = writeln!(out, "Summary: {}", one_line(&document.summary));
    for entry in &stored.wisdom {
        let file = entry.file.as_deref().map(|file| format!(" {}", words::path(file))).unwrap_or_default();
        let lines = entry.lines.map(|lines| format!(":{}-{}", lines.start, lines.end)).unwrap_or_default();
        let _ = writeln!(out, "- {}{file}{lines}: {}", entry.category, one_line(&entry.content));
    }
    for region in &document.regions {
        let anchor = region.ast_anchor.as_ref().map(|anchor| words::path(&anchor.name)).unwrap_or_default();
        let intent = region.intent.as_deref().map(one_line).unwrap_or_default();
        let _ = writeln!(out, "- {} — {anchor}: {intent}", words::path(&region.file));
    }
    for concern in &document.cross_cutting {
        let _ = writeln!(out, "- together: {}", one_line(&concern.description));
    }
}

fn totals(reply: &WrittenReply) -> String {
    let outcomes = [
        WrittenOutcome::Stored,
        WrittenOutcome::Planned,
        WrittenOutcome::Nothing,
        WrittenOutcome::Trivial,
        WrittenOutcome::Annotated,
        WrittenOutcome::Failed,
    ];
    let counts = outcomes.into_iter().map(|outcome| (reply.count(outcome), outcome.name()));
    let counts: Vec<String> =
        counts.filter(|(count, _)| 0 < *count).map(|(count, name)| format!("{count} {name}")).collect();
    let tokens = reply.tokens;
    let spent = match tokens.input + tokens.output {
        0 => String::new(),
        _ => format!("; {} tokens read, {} written", tokens.input, tokens.output),
    };
    format!("{}: {}{spent}", counted(reply.commits.len(), "commit"), counts.join(", "))
}
