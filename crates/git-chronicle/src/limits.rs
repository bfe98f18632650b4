//! What this process may take of the machine, and what it may leave behind on it.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Component, Path},
    process::Command,
    time::Duration,
};

use chronicle::parsing;
use rustix::{
    process::{Resource, Rlimit, getrlimit, setrlimit},
    time::{ClockId, clock_gettime},
};

use crate::{background, surroundings::environment};

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

/// Starts this program again without what variables name that a repository may have brought: folders in `PATH` or `TMPDIR`,
/// which would bring their own `git` and have programs run in its midst, and files of settings and time zones that have no
/// end. A person's own absolute folders stay.
#[expect(clippy::disallowed_methods, reason = "the binary is where the environment is looked up")]
pub(crate) fn leave_out_what_repositories_bring() {
    let is_of_server =
        || std::env::args_os().skip(1).any(|arg| arg == "hook" || arg == "lsp" || arg == "mcp");
    let is_unattended = background::is_of_agent() || is_of_server();
    let grounds = is_unattended.then(|| chronicle_workplace::grounds_of_agent(&environment)).flatten();
    let is_own = |folder: &Path| {
        is_fixed(folder)
            && grounds.as_ref().is_none_or(|grounds| !chronicle_workplace::is_within(folder, grounds))
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (own, others): (Vec<_>, Vec<_>) = std::env::split_paths(&path).partition(|folder| is_own(folder));
    let left_out = if is_unattended { variables_to_leave_out(&is_own) } else { Vec::new() };
    if others.is_empty() && left_out.is_empty() {
        return;
    }
    let mut command = this_program();
    let mut args = std::env::args_os();
    command.arg0(args.next().unwrap_or_default()).args(args);
    if !others.is_empty() {
        match std::env::join_paths(&own) {
            Ok(path) if !own.is_empty() => command.env("PATH", path),
            _ => command.env_remove("PATH"),
        };
    }
    for name in left_out {
        command.env_remove(name);
    }
    // Where that fails, it goes on as it is.
    let _failed = command.exec();
}

/// The variables that name what only a repository would have them name.
fn variables_to_leave_out(is_own: &dyn Fn(&Path) -> bool) -> Vec<&'static str> {
    // Those of certificates say whom a model's client trusts.
    let paths = ["TMPDIR", "TZDIR", "SSL_CERT_FILE", "SSL_CERT_DIR"];
    let is_endless = |path: &Path| path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir());
    let is_harmless = |path: &Path| path.as_os_str().is_empty() || is_own(path) && !is_endless(path);
    let paths =
        paths.into_iter().filter(|name| environment(name).is_some_and(|path| !is_harmless(Path::new(&path))));
    let mut names: Vec<_> = paths.collect();
    // The system asks other servers for an address because of these.
    names.extend(["LOCALDOMAIN", "RES_OPTIONS", "HOSTALIASES"]);
    // A zone is a name below that folder, or a rule; the library opens what else is there.
    let is_file = |zone: OsString| {
        let zone = zone.to_string_lossy();
        let zone = Path::new(zone.trim_start_matches(':'));
        zone.exists() && !is_own(zone) && !zone.as_os_str().is_empty()
    };
    if environment("TZ").is_some_and(is_file) {
        names.push("TZ");
    }
    if !chronicle_workplace::has_sound_configuration(environment) {
        names.extend(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "XDG_CONFIG_HOME"]);
    }
    names.retain(|name| environment(name).is_some());
    names
}

/// Whether a folder is the same one wherever this program is started: what is named by way of a process, such as
/// `/proc/self/cwd`, depends on it as a relative one does.
pub(crate) fn is_fixed(folder: &Path) -> bool {
    let goes_back = || folder.components().any(|part| part == Component::ParentDir);
    folder.is_absolute() && !["/proc", "/dev"].iter().any(|root| folder.starts_with(root)) && !goes_back()
}

/// The running program itself, even where another version has taken its place.
#[expect(clippy::disallowed_methods, reason = "the binary starts itself again")]
fn this_program() -> Command {
    #[cfg(target_os = "linux")]
    let program = std::path::PathBuf::from("/proc/self/exe");
    #[cfg(not(target_os = "linux"))]
    let program = std::env::current_exe().unwrap_or_default();
    Command::new(program)
}

fn parser() -> Command {
    let mut command = this_program();
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
