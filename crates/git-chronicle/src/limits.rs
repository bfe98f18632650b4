//! What this process may take of the machine, and what it may leave behind on it.

use std::{process::Command, time::Duration};

use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

use chronicle::parsing;

/// The hidden command, below `hook`, that parses files for another process of this program.
pub(crate) const PARSER: &str = "parser";

/// Lets no core dump be written, which would hold text of the user, and files be parsed by a process with a ceiling.
pub(crate) fn set() {
    lower(Resource::Core, 0);
    #[cfg(target_os = "linux")]
    {
        // Where a program takes dumps in, the limit alone does not count.
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _is_set = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
    parsing::outline_apart(parser);
}

/// Parses what the other process asks for on standard input, until it closes that.
pub(crate) fn serve_parser() {
    #[cfg(target_os = "linux")]
    lower(Resource::As, parsing::MAX_MEMORY);
    let cpu_time = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
    };
    let give_up = || std::process::exit(i32::from(parsing::TIMED_OUT));
    // The other side sees that it got no answer.
    let _served = parsing::serve(std::io::stdin().lock(), std::io::stdout().lock(), cpu_time, give_up);
}

#[expect(clippy::disallowed_methods, reason = "the binary starts itself again, to parse")]
fn parser() -> Command {
    // The running program itself, even where another version has taken its place.
    #[cfg(target_os = "linux")]
    let program = std::path::PathBuf::from("/proc/self/exe");
    #[cfg(not(target_os = "linux"))]
    let program = std::env::current_exe().unwrap_or_default();
    let mut command = Command::new(program);
    // A server may outlive the folder it was started in.
    command.args(["hook", PARSER]).current_dir("/");
    command
}

/// Lowers what may be taken of `resource`; programs that this one starts may raise it again as far as it was allowed.
fn lower(resource: Resource, most: u64) {
    let allowed = getrlimit(resource);
    let most = allowed.maximum.map_or(most, |maximum| maximum.min(most));
    let _is_set = setrlimit(resource, Rlimit { current: Some(most), ..allowed });
}
