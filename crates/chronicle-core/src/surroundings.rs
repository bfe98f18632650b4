//! What a program that we start is given of an environment that is not the user's.
//!
//! Where an agent or one of git's hooks runs us, files of a repository may have set the variables. A program that talks
//! to others then gets only those that say who and where the user is: no proxy, no other address, key or configuration,
//! and nothing that names a program to run.

/// The variables that do no harm.
pub const PLAIN_VARIABLES: [&str; 20] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TERM",
    "TZ",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "SYSTEMROOT",
];
