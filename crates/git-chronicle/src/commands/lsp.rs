use std::io::{BufReader, stdin, stdout};

use chronicle_editor::{Ended, Host, Pace, serve};

use crate::{
    background,
    error::{CommandError, LeftEarlySnafu, explain},
    surroundings::{environment, may_keep_facts, now},
};

/// Serve lessons to an editor, over the Language Server Protocol
///
/// Speaks the protocol on standard input and output, and ends when the editor does. Shows lessons on
/// the text as it is in the editor, also before it is saved. docs/editors.md shows how to set it up.
#[derive(Debug, clap::Args)]
pub(crate) struct LspArgs {
    /// Accepted because some editors add it; there is no other way to connect
    #[arg(long, hide = true)]
    stdio: bool,
}

pub(crate) fn run(args: &LspArgs) -> Result<(), CommandError> {
    let LspArgs { stdio: _ } = args;
    let explain = |error| {
        let explained = explain(error);
        explained.hint.map_or(explained.message.clone(), |hint| format!("{}. {hint}", explained.message))
    };
    let host = Host {
        now,
        keeps_facts: may_keep_facts,
        environment,
        behind: background::start_in,
        explain,
        pace: Pace::default(),
    };
    match serve(host, BufReader::new(stdin()), stdout().lock()) {
        Ended::Abruptly => LeftEarlySnafu.fail(),
        Ended::Properly | Ended::Alone => Ok(()),
    }
}
