//! What took the place of annotated commits, as text.

use std::fmt::Write;

use super::words;
use chronicle::ReconcileReply;

pub(super) fn markdown(reply: &ReconcileReply) -> String {
    let mut out = String::new();
    for one in &reply.matches {
        let part = one.part.map(|n| format!(", {n} of its lessons")).unwrap_or_default();
        let _ = writeln!(
            out,
            "- {} -> {} ({}): {}{part}",
            words::short(&one.from),
            words::short(&one.to),
            words::indented(&one.subject, "  "),
            one.because,
        );
    }
    for left in &reply.left {
        let _ = writeln!(out, "- {}: no known commit replaced it", words::short(left));
    }
    out
}
