//! Memory of other programs that was taken in, as text.

use std::fmt::Write;

use chronicle_core::counted;
use chronicle_memory::imports::{ImportState, ImportedMemory};

use super::words::{one_line, path};

/// Items that are named at most.
const MOST_NAMED: usize = 40;

pub(super) fn imported(reply: &ImportedMemory) -> String {
    let mut out = String::new();
    let n = |state| reply.items.iter().filter(|item| item.state == state).count();
    let would = if reply.dry_run { "would be " } else { "" };
    let _ = writeln!(
        out,
        "from {}: {} found, {would}imported: {} new, {} changed; {} as before, {} left out",
        reply.from,
        counted(reply.items.len(), "item"),
        n(ImportState::New),
        n(ImportState::Changed),
        n(ImportState::Unchanged),
        n(ImportState::LeftOut),
    );
    let told = reply.items.iter().filter(|item| item.state != ImportState::Unchanged);
    for item in told.take(MOST_NAMED) {
        let state = match item.state {
            ImportState::New => "new",
            ImportState::Changed => "changed",
            ImportState::Unchanged => "as before",
            ImportState::LeftOut => "left out, forgotten or rejected here",
        };
        let _ = writeln!(out, "- {state}: {} ({})", one_line(&item.title), path(&item.file));
    }
    for unread in &reply.unread {
        let _ = writeln!(out, "- not read: {}: {}", path(&unread.path), one_line(&unread.reason));
    }
    out
}
