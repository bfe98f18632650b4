//! Says how to go on when the user stops a command that takes long.

use std::{io::Write, thread};

use signal_hook::{consts::SIGINT, iterator::Signals, low_level::emulate_default_handler};

/// From now on, Ctrl-C says `advice` before it ends the command, as it would without.
///
/// Commands that store as they go can be stopped at any moment; the user need not know that by heart.
pub(crate) fn advise(advice: &'static str) {
    // Where it cannot be listened for, Ctrl-C just ends the command.
    let Ok(mut signals) = Signals::new([SIGINT]) else { return };
    let waiting = move || {
        if signals.forever().next().is_some() {
            // The line of the progress goes away.
            let _written = writeln!(std::io::stderr(), "\r\u{1b}[K{advice}");
            let _ended = emulate_default_handler(SIGINT);
        }
    };
    let _started = thread::Builder::new().spawn(waiting);
}
