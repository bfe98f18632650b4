//! What was done to a repository, as text.

use std::fmt::Write;

use super::words;
use chronicle::Setup;

pub(super) fn markdown(setup: &Setup) -> String {
    let mut out = String::new();
    for change in &setup.changes {
        if setup.dry_run {
            out.push_str(&change.diff);
            continue;
        }
        let (did, more) = match change.action {
            "create" => ("created", ""),
            "remove" => ("removed", ""),
            "set_aside" => ("replaced", ", which runs the original next to it"),
            "put_back" => ("put back", ""),
            _ => ("changed", ""),
        };
        let _ = writeln!(out, "- {did} {}{more}", words::path(&change.path));
    }
    out
}
