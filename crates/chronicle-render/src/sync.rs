//! What was exchanged with remotes, as text.

use std::fmt::Write;

use super::{markdown::gap, words};
use chronicle::{SyncStanding, Synced, SyncedRef};

pub(super) fn markdown(synced: &Synced) -> String {
    let mut out = String::new();
    for remote in &synced.remotes {
        gap(&mut out);
        let name = words::path(&remote.remote);
        match (synced.action, remote.enabled, remote.fetched_by_git) {
            ("import", ..) => drop(writeln!(out, "## {name}")),
            (_, true, true) => drop(writeln!(out, "## {name} (enabled)")),
            (_, true, false) => drop(writeln!(out, "## {name} (enabled, not fetched by git)")),
            (_, false, _) => drop(writeln!(out, "## {name} (not enabled)")),
        }
        for of_ref in &remote.refs {
            let _ = writeln!(out, "- {}: {}", words::path(&of_ref.name), counts(of_ref));
        }
        if remote.refs.is_empty() && matches!(synced.action, "pull" | "push" | "status") {
            out.push_str("- nothing to exchange\n");
        }
    }
    out
}

fn counts(of_ref: &SyncedRef) -> String {
    let mut parts = Vec::new();
    let mut part = |n: usize, what: &str| {
        if 0 < n {
            parts.push(format!("{n} {what}"));
        }
    };
    part(of_ref.taken, "taken over");
    part(of_ref.united, "united");
    part(of_ref.settled, "tidied away");
    part(of_ref.unpushed, "not pushed");
    part(of_ref.unmerged, "not merged");
    match of_ref.standing {
        SyncStanding::Pushed => parts.push("pushed".to_owned()),
        SyncStanding::UpToDate if parts.is_empty() => parts.push("up to date".to_owned()),
        SyncStanding::Merged if parts.is_empty() => parts.push("merged".to_owned()),
        SyncStanding::Apart if parts.is_empty() => parts.push("same notes, another history".to_owned()),
        _ => {}
    }
    parts.join(", ")
}
