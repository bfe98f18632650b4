//! What was purged, as text.

use std::fmt::Write;

use super::words;
use chronicle::PurgeReply;

pub(super) fn markdown(reply: &PurgeReply) -> String {
    let mut out = String::new();
    out.push_str(match (reply.done, reply.left.is_empty()) {
        (true, true) if reply.refs.is_empty() && reply.n_remarks == 0 => "**Was purged before:**\n",
        (true, true) => "**Purged:**\n",
        (true, false) => "**Purged in part:**\n",
        (false, _) => "**Would be purged:**\n",
    });
    if reply.done {
        for id in &reply.ids {
            let _ = writeln!(out, "- {}", words::id(id));
        }
    }
    for going in &reply.would_remove {
        let name = going.id.as_ref().map_or_else(|| "a staged remark".into(), words::id);
        let _ = writeln!(out, "- {name}");
        if !going.words.is_empty() {
            let _ = writeln!(out, "  > {}", words::one_line(&going.words));
        }
    }
    if reply.ids.is_empty() {
        out.push_str("- notes that cannot be read\n");
    }
    for rewritten in &reply.refs {
        let (old, new) = (words::short(&rewritten.old), words::short(&rewritten.new));
        let _ = writeln!(out, "- rewritten: {} ({old} to {new})", words::path(&rewritten.name));
    }
    if reply.done && 0 < reply.n_remarks {
        let _ = writeln!(out, "- staged remarks dropped: {}", reply.n_remarks);
    }
    if !reply.push.is_empty() {
        out.push_str("\n**To take it out of the remotes:**\n");
        for command in &reply.push {
            let _ = writeln!(out, "    {}", words::path(command));
        }
    }
    if !reply.still_held.is_empty() {
        out.push_str("\n**May still be held by:**\n");
        for place in &reply.still_held {
            let _ = writeln!(out, "- {}", words::path(place));
        }
    }
    out
}
