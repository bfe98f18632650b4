//! What agents were told, as text.

use std::fmt::Write;

use chronicle::agent::{Injected, InjectedSummary, InjectedText, InjectedWeek};
use chronicle_core::counted;
use chronicle_memory::sessions::short_session;

use super::{View, words, words::one_line};

pub(super) fn markdown(injected: &Injected, view: &View) -> String {
    let mut out = String::new();
    for told in &injected.told {
        if !out.is_empty() {
            out.push('\n');
        }
        one(&mut out, told, view);
    }
    if 0 < injected.n_more {
        let _ = writeln!(out, "\n> {} more; --session lists those of one session", injected.n_more);
    }
    out
}

/// `- 2026-W11: 41 shown, 17 used (41 %), 9,800 tokens, 12 sessions`, for each week and for all.
pub(super) fn summary(summary: &InjectedSummary) -> String {
    let mut out = String::new();
    for week in &summary.weeks {
        let _ = writeln!(out, "- {}: {}", week.week, numbers(week));
    }
    if 1 < summary.weeks.len() {
        let _ = writeln!(out, "- all: {}", numbers(&summary.total));
    }
    out
}

fn numbers(week: &InjectedWeek) -> String {
    let used = match week.known {
        0 if week.shown == 0 => String::new(),
        0 => ", not known whether used".to_owned(),
        known => {
            let share = (100 * week.used + known / 2) / known;
            let of = if known == week.shown { String::new() } else { format!(" of the {known} known") };
            format!(", {} used ({share} %{of})", week.used)
        }
    };
    format!(
        "{} shown{used}, {}, {}",
        week.shown,
        counted(week.tokens, "token"),
        counted(week.sessions, "session")
    )
}

fn one(out: &mut String, told: &InjectedText, view: &View) {
    let ago = words::ago(Some(&told.at), view.now).unwrap_or_default();
    let session = one_line(short_session(&told.session));
    let _ = writeln!(out, "## {} ({ago}, {} session {session})", one_line(&told.event), one_line(&told.host));
    let _ =
        writeln!(out, "why: {}; {}", one_line(&told.why), counted(told.text.chars().count(), "character"));
    for item in &told.items {
        let used = match item.used {
            Some(true) => "used",
            Some(false) => "not used",
            None => "unknown whether used",
        };
        let file = item.file.as_deref().map(|file| format!(" {}", words::path(file))).unwrap_or_default();
        let commit = item.commit.as_deref().map(|id| format!(" {}", words::short(id))).unwrap_or_default();
        words::said_as(out, item.tier, |out| {
            let _ = writeln!(out, "- [{used}]{file}{commit}: {}", one_line(&item.words));
        });
    }
    if view.verbose {
        for line in told.text.lines() {
            let _ = writeln!(out, "> {}", chronicle_core::plain(line));
        }
    }
}
