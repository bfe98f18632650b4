//! A digest as it is in its file: of one digest, always the same text.

use std::fmt::Write;

use chronicle_core::{counted, one_line, shown_path};

use super::{Digest, DigestedThread, ProjectDigest};
use crate::sessions::named::short_session;

pub(super) fn text(digest: &Digest) -> String {
    let mut out = format!("# Digest of {}\n", digest.period);
    if digest.first != digest.last {
        let _ = writeln!(out, "\n{} to {}", digest.first, digest.last);
    }
    if digest.sessions == 0 {
        out.push_str("\nno sessions\n");
        return out;
    }
    let _ = writeln!(
        out,
        "\n{} on {}, {}, {}, {}",
        counted(digest.sessions, "session"),
        counted(digest.days, "day"),
        counted(digest.prompts, "prompt"),
        counted(digest.commits, "commit"),
        counted(digest.files, "changed file"),
    );
    if let Some(words) = &digest.worded {
        let _ = writeln!(out, "\n{} (in the words of {})", one_line(&words.text), one_line(&words.model));
    }
    for project in &digest.projects {
        of_project(&mut out, project);
    }
    if !digest.others.is_empty() {
        out.push_str("\n## Other projects\n\n");
        for other in &digest.others {
            let _ = writeln!(out, "- {}: {}", one_line(&other.project), counted(other.n_sessions, "session"));
        }
    }
    out
}

fn of_project(out: &mut String, project: &ProjectDigest) {
    let _ = writeln!(out, "\n## {}\n", one_line(&project.project));
    for session in &project.sessions {
        let branch = session.branch.as_deref().map(|branch| format!(", {}", shown_path(branch)));
        let title = one_line(&session.title);
        let _ = writeln!(
            out,
            "- {} ({}{}, session {})",
            if title.is_empty() { "Untitled" } else { &title },
            session.day,
            branch.unwrap_or_default(),
            one_line(short_session(&session.session))
        );
        if !session.summary.is_empty() {
            let _ = writeln!(out, "  - {}", one_line(&session.summary));
        }
        for commit in &session.commits {
            if !session.summary.contains(&commit.commit) {
                let _ = writeln!(out, "  - commit {}: {}", short(&commit.commit), one_line(&commit.subject));
            }
        }
    }
    let mut listed = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(out, "\n### {title}\n");
            for line in lines {
                let _ = writeln!(out, "- {line}");
            }
        }
    };
    let thread = |thread: &DigestedThread| format!("{} {}", one_line(&thread.id), one_line(&thread.summary));
    listed("Decided", project.decisions.iter().map(|words| one_line(words)).collect());
    let command = |command: &String| format!("`{}`", one_line(command).replace('`', "'"));
    listed("Failing in the end", project.failing.iter().map(command).collect());
    listed("Closed", project.closed.iter().map(thread).collect());
    listed("Left open", project.opened.iter().map(thread).collect());
    listed("Files", project.files.iter().map(|path| shown_path(path).into_owned()).collect());
    if !project.technologies.is_empty() {
        let _ = writeln!(out, "\nUses {}.", one_line(&project.technologies.join(", ")));
    }
    if 0 < project.n_left_out {
        let _ = writeln!(out, "\n> {} more left out", project.n_left_out);
    }
}

/// A commit, short.
fn short(commit: &str) -> String {
    let known: String = commit.chars().take(7).collect();
    shown_path(&known).into_owned()
}
