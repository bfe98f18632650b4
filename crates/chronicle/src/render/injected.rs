//! What agents were told, as text.

use std::fmt::Write;

use chronicle_core::counted;

use super::{View, words, words::one_line};
use crate::{
    agent::{Injected, InjectedText},
    sessions::short_session,
};

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
