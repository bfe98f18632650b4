use std::{
    io::{Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use chronicle::Chronicle;
use chronicle_memory::sync::SyncReply;
use chronicle_render as render;
use chronicle_workplace::error::{MachineUnreachableSnafu, RefusedPairSnafu};
use snafu::{OptionExt, ResultExt, ensure};

use crate::{
    background,
    error::{CommandError, ProgramSnafu, StdinSnafu, StdoutSnafu, UsageSnafu},
    ui::Ui,
};

/// How the name of a machine begins that is reached through ssh.
const SSH: &str = "ssh:";

/// What runs on the other machine.
const EXCHANGE: &str = "git-chronicle memory sync --exchange";

/// Larger files are nobody's.
const LARGEST_FILE: u64 = 512 << 20;

/// Exchange digests, threads, lines of blocks and judgements with your other machines
///
/// Through a folder that your machines see (a network drive, a stick, Syncthing), or through ssh, with
/// Chronicle on the other machine too. The other machines forget the sessions that you forget here with
/// their next sync. Run `memory pair` first. `memory share` is for teams.
#[derive(Debug, clap::Args)]
pub(super) struct SyncArgs {
    /// A folder, or `ssh:HOST` with a host as ssh knows it
    #[arg(value_name = "DIR|ssh:HOST", required_unless_present = "exchange")]
    place: Option<String>,

    /// Read the file of another machine from standard input, and write that of this one
    #[arg(long, hide = true, conflicts_with = "place")]
    exchange: bool,
}

/// Pair this machine with your others: show the code, or take it
///
/// Show the code on one machine, and type it on each other one with `--join`. Files of machines
/// without the code are ignored.
#[derive(Debug, clap::Args)]
pub(super) struct PairArgs {
    /// Take the code of another machine from standard input
    #[arg(long)]
    join: bool,
}

/// The key of the user's machines, and where their memory goes, are nothing for an agent to decide.
pub(super) fn pair(args: &PairArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    background::ensure_person()?;
    let code = if args.join {
        if ui.can_ask() {
            ui.tell("type the code that `git chronicle memory pair` shows on the other machine:");
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).context(StdinSnafu)?;
        Some(line)
    } else {
        None
    };
    let reply = chronicle.memory().machines().pair(code.as_deref())?;
    ui.answer(&render::paired(&reply, ui.format()))?;
    if reply.code.is_some() {
        ui.tell("type this code on your other machines: `git chronicle memory pair --join`");
    }
    Ok(())
}

pub(super) fn sync(args: &SyncArgs, chronicle: &Chronicle, ui: &mut Ui) -> Result<(), CommandError> {
    if args.exchange {
        return exchange(chronicle);
    }
    background::ensure_person()?;
    let place = args.place.as_deref().unwrap_or_default();
    let reply = match place.strip_prefix(SSH) {
        Some(host) => through_ssh(host, chronicle)?,
        None => chronicle.memory().machines().sync_folder(Path::new(place))?,
    };
    ui.answer(&render::machines_synced(&reply, ui.format()))?;
    for warning in &reply.warnings {
        ui.warn(warning);
    }
    Ok(())
}

/// The other side of an exchange through ssh.
fn exchange(chronicle: &Chronicle) -> Result<(), CommandError> {
    let mut theirs = Vec::new();
    std::io::stdin().lock().take(LARGEST_FILE).read_to_end(&mut theirs).context(StdinSnafu)?;
    let (own, _) = chronicle.memory().machines().exchange(&theirs)?;
    let mut out = std::io::stdout().lock();
    out.write_all(&own).and_then(|()| out.flush()).context(StdoutSnafu)
}

/// Gives the other machine our file, takes its own, and is up to date then on both sides.
#[expect(clippy::disallowed_methods, reason = "the user's own ssh reaches the user's own machines")]
fn through_ssh(host: &str, chronicle: &Chronicle) -> Result<SyncReply, CommandError> {
    ensure!(!host.is_empty(), UsageSnafu { reason: "`ssh:` needs the name of a host" });
    if host.starts_with('-') {
        return Err(RefusedPairSnafu { reason: "a host's name can't begin with `-`" }.build().into());
    }
    let own = chronicle.memory().machines().outgoing()?;
    let mut ssh = Command::new("ssh")
        .args(["-T", "--", host, EXCHANGE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context(ProgramSnafu { program: "ssh" })?;
    let mut into = ssh.stdin.take().expect("it is piped");
    // The other side reads all before it writes, and a connection that breaks shows in how ssh ends.
    let _written = into.write_all(&own);
    drop(into);
    let mut theirs = Vec::new();
    let from = ssh.stdout.take().expect("it is piped");
    from.take(LARGEST_FILE).read_to_end(&mut theirs).context(StdinSnafu)?;
    let is_reached = ssh.wait().is_ok_and(|status| status.success());
    let theirs = Some(theirs).filter(|theirs| is_reached && !theirs.is_empty());
    let theirs = theirs.context(MachineUnreachableSnafu { host }).map_err(CommandError::from)?;
    Ok(chronicle.memory().machines().exchange(&theirs)?.1)
}
