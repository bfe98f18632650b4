//! What a program that we start is given of an environment that is not the user's.
//!
//! Where an agent or one of git's hooks runs us, files of a repository may have set the variables. A program that talks
//! to others then gets only those that say who and where the user is: no proxy, no other address, key or configuration,
//! and nothing that names a program to run. Such a program may itself run `$SHELL`, a command in the address of a bus, or
//! connect to a display on another machine, so those are left out, too, and it uses the account's own.

/// What a variable may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// Anything.
    Anything,
    /// A name, but no path.
    Name,
    /// A path, which no repository may have brought.
    Path,
    /// A display or the socket of a bus on this machine; a path in it is one which no repository may have brought.
    Socket,
}

/// The variables that do no harm while they say no more than this.
pub const PLAIN_VARIABLES: [(&str, Says); 19] = [
    ("PATH", Says::Anything),
    ("HOME", Says::Path),
    ("USER", Says::Name),
    ("LOGNAME", Says::Name),
    ("LANG", Says::Name),
    ("LANGUAGE", Says::Name),
    ("LC_ALL", Says::Name),
    ("LC_CTYPE", Says::Name),
    ("LC_MESSAGES", Says::Name),
    ("TERM", Says::Name),
    ("TZ", Says::Anything),
    ("TMPDIR", Says::Path),
    ("SSH_AUTH_SOCK", Says::Path),
    ("SSH_AGENT_PID", Says::Name),
    ("DBUS_SESSION_BUS_ADDRESS", Says::Socket),
    ("XDG_RUNTIME_DIR", Says::Path),
    ("DISPLAY", Says::Socket),
    ("WAYLAND_DISPLAY", Says::Name),
    ("SYSTEMROOT", Says::Anything),
];

/// The path of the socket that `value` names, an empty one where it has none; `None` where it may lead to another machine
/// or run a command.
#[must_use]
pub fn socket(value: &str) -> Option<&str> {
    if let Some(display) = value.strip_prefix(':') {
        return display.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some("");
    }
    let path = match value.strip_prefix("unix:path=") {
        // Other forms of an address run commands or reach other machines, and several are tried one after the other.
        Some(address) => {
            let (path, rest) = address.split_once(',').unwrap_or((address, ""));
            (rest.is_empty() || rest.starts_with("guid=") && !rest.contains(',')).then_some(path)?
        }
        None => value,
    };
    (path.starts_with('/') && !path.contains([';', '%', ','])).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_on_this_machine_and_runs_nothing() {
        let check = |value: &str, expected: Option<&str>| assert_eq!(socket(value), expected, "{value}");
        check(":0", Some(""));
        check(":12.0", Some(""));
        check("/private/tmp/launch/org.xquartz:0", Some("/private/tmp/launch/org.xquartz:0"));
        check("unix:path=/run/user/1000/bus", Some("/run/user/1000/bus"));
        check("unix:path=/run/user/1000/bus,guid=0123", Some("/run/user/1000/bus"));
        for value in [
            "example.org:0",
            "localhost:10.0",
            ":0/../x",
            "",
            "./bus",
            "unix:path=./bus",
            "unixexec:path=/bin/sh",
            "tcp:host=example.org,port=1",
            "unix:path=/run/bus;unixexec:path=./x",
            "unix:path=/run/%2e/bus",
            "unix:path=/run/bus,guid=1,runtime=yes",
        ] {
            check(value, None);
        }
    }
}
