//! What machines of one user exchanged, as text.

use std::fmt::Write;

use chronicle_core::counted;
use chronicle_memory::sync::{PairReply, SyncReply};

use super::words::one_line;

pub(super) fn paired(reply: &PairReply) -> String {
    match &reply.code {
        Some(code) => format!("{code}\n"),
        None => format!("{} is paired\n", one_line(&reply.machine)),
    }
}

pub(super) fn synced(reply: &SyncReply) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {} of its own", one_line(&reply.machine), counted(reply.own, "item"));
    for machine in &reply.machines {
        let items = counted(machine.items, "item");
        let namesakes = reply.machines.iter().filter(|other| other.machine == machine.machine).count();
        // A machine that was copied has the name of the first one.
        let id = if 1 < namesakes || machine.machine == reply.machine {
            format!(" ({})", one_line(&machine.id))
        } else {
            String::new()
        };
        let _ = writeln!(out, "- from {}{id}: {items}, {} new", one_line(&machine.machine), machine.new);
    }
    if 0 < reply.removed {
        let _ = writeln!(out, "- removed here: {}", counted(reply.removed, "item"));
    }
    for ignored in &reply.ignored {
        let _ = writeln!(out, "- ignored: {}: {}", one_line(&ignored.file), one_line(&ignored.reason));
    }
    out
}
