//! How a repository is doing, as text.

use std::fmt::Write;

use chronicle::{Covered, Diagnosis, GcReply, Status};
use chronicle_core::{counted, counted_are};
use chronicle_workplace::Health;

use super::words;

/// Directories and authors that are listed.
const MAX_LISTED: usize = 12;

pub(super) fn status(status: &Status) -> String {
    let mut out = String::new();
    if status.notes == 0 && status.coverage.annotated == 0 {
        let _ = writeln!(
            out,
            "no commit has an annotation yet (of {}): `git chronicle annotate` stores why one is as it is",
            counted(status.coverage.commits, "commit")
        );
        to_do(&mut out, status);
        return out;
    }
    let cut = if status.is_cut { " newest" } else { "" };
    let all = &status.coverage;
    let _ = writeln!(
        out,
        "{} of the{cut} {} annotated ({}); {} in all",
        all.annotated,
        counted_are(all.commits, "commit"),
        percent(all),
        counted(status.notes, "note")
    );
    if let Some(newest) = &status.newest_annotated {
        let _ = writeln!(out, "newest annotated commit: {}", words::short(newest));
    }
    listed(&mut out, "By directory", &status.by_directory);
    listed(&mut out, "By author", &status.by_author);
    to_do(&mut out, status);
    out
}

fn to_do(out: &mut String, status: &Status) {
    let _ = writeln!(out, "\n## To do");
    let before = out.len();
    if 0 < status.orphans {
        let _ = writeln!(
            out,
            "- {} on unreachable commits, {} of them carried to others",
            counted(status.orphans, "note"),
            status.orphans_carried
        );
    }
    if 0 < status.dropped {
        let _ = writeln!(
            out,
            "- {} dropped by another program: `git chronicle reconcile` brings {} back",
            counted(status.dropped, "note"),
            if status.dropped == 1 { "it" } else { "them" }
        );
    }
    if 0 < status.staged {
        let _ = writeln!(out, "- {} waiting for their commit", counted_are(status.staged, "remark"));
    }
    for remote in &status.remotes {
        let unpushed: usize = remote.refs.iter().map(|of_ref| of_ref.unpushed).sum();
        let unmerged: usize = remote.refs.iter().map(|of_ref| of_ref.unmerged).sum();
        if 0 < unpushed + unmerged && remote.enabled {
            let name = words::path(&remote.remote);
            let _ =
                writeln!(out, "- {name}: {} not pushed, {unmerged} not merged", counted(unpushed, "note"));
        }
    }
    if out.len() == before {
        out.push_str("- nothing\n");
    }
}

fn listed(out: &mut String, title: &str, all: &[Covered]) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}");
    for covered in all.iter().take(MAX_LISTED) {
        let Covered { name, commits, annotated } = covered;
        let _ = writeln!(out, "- {}: {annotated} of {commits} ({})", words::path(name), percent(covered));
    }
    if MAX_LISTED < all.len() {
        let _ = writeln!(out, "- and {} more", all.len() - MAX_LISTED);
    }
}

fn percent(covered: &Covered) -> String {
    format!("{} %", (100 * covered.annotated).checked_div(covered.commits).unwrap_or(0))
}

pub(super) fn diagnosis(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    for finding in &diagnosis.findings {
        let health = match finding.health {
            Health::Ok => "ok",
            Health::Note => "note",
            Health::Problem => "PROBLEM",
            Health::Mended => "fixed",
        };
        let _ = writeln!(out, "- {health}: {}: {}", finding.check, words::indented(&finding.seen, "  "));
        if let Some(mend) = &finding.mend {
            let _ = writeln!(out, "  - {}", words::indented(mend, "    "));
        }
    }
    out
}

pub(super) fn gc(reply: &GcReply) -> String {
    let mut out = String::new();
    let n_carried = reply.carried.len();
    match (reply.dry_run, &reply.backup) {
        (true, _) => drop(writeln!(out, "{} of rewritten commits would go", counted(n_carried, "note"))),
        (false, Some(backup)) => {
            let _ = writeln!(out, "{} of rewritten commits gone", counted_are(reply.removed, "note"));
            let _ = writeln!(out, "- all notes as they were: {}", words::path(&backup.display().to_string()));
        }
        (false, None) => out.push_str("nothing to remove\n"),
    }
    for commit in reply.carried.iter().take(if reply.dry_run { usize::MAX } else { 0 }) {
        let _ = writeln!(out, "- {}", words::short(commit));
    }
    if !reply.kept.is_empty() {
        let kept = reply.kept.len();
        let _ = writeln!(
            out,
            "- kept: {} on unreachable commits, as no other note has their lessons",
            counted(kept, "note")
        );
    }
    out
}
