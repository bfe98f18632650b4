//! Passwords on command lines, where an option of one letter takes them and any word may be one.
//!
//! `-p` is a port, a path or a pager nearly everywhere, so the program has to stand before it in
//! the same command. Behind its option no value has to look like a secret: people type weak ones.

use super::bytes::{is_base64url, is_blank, run, run_back, starts_with_ignoring_case};
use super::clause;
use super::context::{Quote, open_quote, quote_end};
use super::secret::{Kind, Secret};
use super::surroundings::bare_end;
use super::value::{self, Writing};

/// How far before an option its program may stand, and behind a command its words.
const COMMAND_LIMIT: usize = 256;

/// How a program takes a password.
struct Taker {
    programs: &'static [&'static str],
    /// The subcommand that takes it, where not all do.
    subcommand: Option<&'static str>,
    option: u8,
    form: Form,
}

/// Where the password stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `-pPASSWORD` only: behind a blank stands something else.
    Attached,
    /// `-a PASSWORD` only: other letters may follow the option.
    Apart,
    Either,
    /// `-u NAME:PASSWORD`.
    Pair,
}

const TAKERS: &[Taker] = &[
    Taker {
        programs: &[
            "mysql",
            "mysqladmin",
            "mysqlbinlog",
            "mysqlcheck",
            "mysqldump",
            "mysqlimport",
            "mysqlpump",
            "mysqlshow",
            "mysqlslap",
            "mariadb",
            "mariadb-admin",
            "mariadb-check",
            "mariadb-dump",
            "mariadb-import",
            "7z",
            "7za",
            "7zr",
            "7zz",
            "rar",
            "unrar",
        ],
        subcommand: None,
        option: b'p',
        form: Form::Attached,
    },
    Taker {
        programs: &["sshpass", "mongo", "mongosh", "mongodump", "mongoexport", "mongoimport", "mongorestore"],
        subcommand: None,
        option: b'p',
        form: Form::Either,
    },
    Taker {
        programs: &["az", "buildah", "crane", "docker", "helm", "nerdctl", "oc", "oras", "podman", "skopeo"],
        subcommand: Some("login"),
        option: b'p',
        form: Form::Either,
    },
    Taker { programs: &["sqlcmd", "bcp"], subcommand: None, option: b'P', form: Form::Either },
    Taker { programs: &["unzip", "zip", "zipcloak"], subcommand: None, option: b'P', form: Form::Either },
    Taker { programs: &["redis-cli", "valkey-cli"], subcommand: None, option: b'a', form: Form::Apart },
    Taker { programs: &["ssh-keygen"], subcommand: None, option: b'N', form: Form::Apart },
    Taker {
        programs: &["ldapadd", "ldapmodify", "ldapsearch", "ldapwhoami"],
        subcommand: None,
        option: b'w',
        form: Form::Either,
    },
    Taker { programs: &["rpcclient", "smbclient"], subcommand: None, option: b'U', form: Form::Apart },
    Taker { programs: &["openssl"], subcommand: None, option: b'k', form: Form::Apart },
    Taker { programs: &["curl"], subcommand: None, option: b'u', form: Form::Pair },
];

/// Finds the password behind an option of one letter whose dash stands at `at`.
pub(super) fn find_short(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if !text[floor..at].last().is_none_or(u8::is_ascii_whitespace) {
        return None;
    }
    let option = *text.get(at + 1)?;
    let taker = taker(command_before(text, floor, at), |taker| taker.option == option)?;
    let n_blanks = run(text, at + 2, 4, is_blank);
    match (taker.form, n_blanks) {
        (Form::Attached, 1..) | (Form::Apart, 0) => None,
        (Form::Pair, _) => given(text, after_user(text, at + 2 + n_blanks)?),
        _ => given(text, at + 2 + n_blanks),
    }
}

/// Finds the password of `--password x` or `--user name:x`, whose name ends at `end`, in a command of
/// a program that takes passwords.
///
/// What the program is told first has to be an option, or sentences about one lose a word.
pub(super) fn find_long(text: &[u8], floor: usize, at: usize, end: usize) -> Option<Secret> {
    let is_pair = match &text[at..end] {
        b"--password" | b"--pass" | b"--passwd" => false,
        b"--user" | b"--proxy-user" => true,
        _ => return None,
    };
    let command = command_before(text, floor, at);
    let taker = taker(command, |_| true)?;
    let told = words(command).skip_while(|word| !is_one_of(word, taker.programs)).nth(1);
    if told.is_some_and(|word| word[0] != b'-' && Some(word) != taker.subcommand.map(str::as_bytes)) {
        return None;
    }
    let start = end + run(text, end, 4, is_blank);
    match is_pair {
        true if taker.form == Form::Pair => given(text, after_user(text, start)?),
        true => None,
        false => given(text, start),
    }
}

/// Options by which a command reads a secret from the one before it.
const READERS: &[&str] = &["stdin", "-file"];

/// Commands that print their argument.
const PRINTERS: &[&str] = &["echo", "printf", "print"];

/// Finds what a command prints into the one that stores it: `printf %s 'x' | gh secret set NAME --body-file -`. The
/// dash of the option that reads it is at `at`.
pub(super) fn find_piped(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let option = &text[at..at + run(text, at, 32, is_base64url)];
    READERS.iter().find(|reader| option.ends_with(reader.as_bytes()))?;
    // What is in a file is in no command.
    (option.ends_with(b"stdin") || matches!(text[at + option.len()..], [b'=' | b' ', b'-', ..]))
        .then_some(())?;
    let near = floor.max(at.saturating_sub(COMMAND_LIMIT));
    let line = at - run_back(text, near, at, COMMAND_LIMIT, |byte| *byte != b'\n');
    let bar = line + memchr::memrchr(b'|', &text[line..at])?;
    let is_printed = words(&text[line..bar]).any(|word| is_one_of(word, PRINTERS));
    let stores = option.starts_with(b"--password")
        || clause::noun_of(&text[bar..at]).is_some()
        || text[bar..at].windows(6).any(|word| word.eq_ignore_ascii_case(b"secret"));
    (is_printed && stores).then_some(())?;
    let printed = text[line..bar].trim_ascii_end();
    let start = match printed.last()? {
        quote @ (b'"' | b'\'') => memchr::memrchr(*quote, &printed[..printed.len() - 1])?,
        _ => printed.iter().rposition(is_blank)? + 1,
    };
    given(text, line + start)
}

/// Commands that read a password from the one before them. Those that end in `passwd` do, too, and `sudo -S`.
const ASKERS: &[&str] = &["su", "kinit", "cryptsetup", "gpg", "openssl", "pass"];

fn asks(command: &[u8]) -> bool {
    let is_stdin =
        |word: &[u8]| matches!(word, [b'-', b'a'..=b'z' | b'A'..=b'Z', ..]) && word.contains(&b'S');
    words(command).any(|word| word.ends_with(b"passwd") || is_one_of(word, ASKERS))
        || words(command).skip_while(|word| !is_one_of(word, &["sudo"])).nth(1).is_some_and(is_stdin)
}

/// Whether a command takes what is from `start` to `end` as a password: after its option (`ssh-keygen -N x`), among
/// its arguments (`htpasswd -b file name x`), or from the command that prints it (`echo x | sudo -S`).
pub(super) fn take(text: &[u8], floor: usize, start: usize, end: usize) -> bool {
    let command = command_before(text, floor, start);
    let mut before = words(command).rev().skip_while(|word| word.iter().all(|byte| b"\"'".contains(byte)));
    let by_option = match before.next() {
        Some([b'-', option]) => {
            taker(command, |taker| taker.option == *option && taker.form != Form::Pair).is_some()
        }
        Some(b"<<<") => asks(command),
        _ => words(command).any(|word| word.ends_with(b"passwd")),
    };
    let rest = &text[end..end + run(text, end, COMMAND_LIMIT, |byte| *byte != b'\n')];
    let is_printed = || words(command).any(|word| is_one_of(word, PRINTERS));
    by_option || memchr::memchr(b'|', rest).is_some_and(|bar| is_printed() && asks(&rest[bar + 1..]))
}

/// Finds the password of `net use X: \\host PASSWORD /user:name`, whose second `/` stands at `at`.
pub(super) fn find_share(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    if !starts_with_ignoring_case(&text[at..], "/user:") {
        return None;
    }
    let command = command_before(text, floor, at);
    let mut told = words(command).skip_while(|word| !is_one_of(word, &["net"]));
    (told.next().is_some() && told.next()?.eq_ignore_ascii_case(b"use")).then_some(())?;
    let is_password = |word: &&[u8]| {
        !matches!(word, [b'/', ..] | [b'\\', b'\\', ..] | [b'"', b'\\', ..] | [_, b':'] | [b'*'])
    };
    let start = match told.find(is_password) {
        Some(word) => word.as_ptr().addr() - text.as_ptr().addr(),
        None => {
            let behind = at + run(text, at, COMMAND_LIMIT, |byte| !byte.is_ascii_whitespace());
            // Half of a longer word is no password.
            text.get(behind).filter(|next| is_blank(next))?;
            behind + run(text, behind, 4, is_blank)
        }
    };
    given(text, start)
}

/// Where the password begins in the `name:password` at `start`.
fn after_user(text: &[u8], start: usize) -> Option<usize> {
    let (_, start) = open_quote(text, start);
    let n_name = run(text, start, COMMAND_LIMIT, |byte| !byte.is_ascii_whitespace() && *byte != b':');
    (0 < n_name && text.get(start + n_name) == Some(&b':')).then_some(start + n_name + 1)
}

/// The password at `start`, whatever it looks like, unless it only stands for one.
pub(super) fn given(text: &[u8], start: usize) -> Option<Secret> {
    let (quote, start) = open_quote(text, start);
    let end = end_of(text, start, quote)?;
    let password = &text[start..end];
    let is_left_out = password.is_empty()
        || matches!(password[0], b'$' | b'-' | b'/' | b'&' | b'*' | b'\\')
        || text.get(end).is_some_and(|next| matches!(next, b'(' | b'[' | b'{' | b'<' | b'>'))
        || value::is_placeholder(password)
        || value::is_stand_in(password)
        || password.contains(&b':') && !password.iter().any(u8::is_ascii_alphabetic);
    (!is_left_out).then_some(Secret { range: start..end, kind: Kind::Password })
}

fn end_of(text: &[u8], start: usize, quote: Option<Quote>) -> Option<usize> {
    match quote {
        Some(quote) => quote_end(text, start, COMMAND_LIMIT, quote),
        None => Some(bare_end(text, start, usize::MAX, Writing::Tight)),
    }
}

fn taker(command: &[u8], fits: impl Fn(&Taker) -> bool) -> Option<&'static Taker> {
    TAKERS.iter().filter(|taker| fits(taker)).find(|taker| {
        let mut rest = words(command);
        rest.any(|word| is_one_of(word, taker.programs))
            && taker.subcommand.is_none_or(|subcommand| rest.any(|word| word == subcommand.as_bytes()))
    })
}

/// The part of the command that stands before `at`.
fn command_before(text: &[u8], floor: usize, at: usize) -> &[u8] {
    let before = &text[floor.max(at.saturating_sub(COMMAND_LIMIT))..at];
    let ends = |at: &usize| match before[*at] {
        b';' | b'|' | b'(' | b'`' => true,
        b'\n' => !before[..*at].ends_with(b"\\"),
        b'&' => before[*at + 1..].first().is_none_or(|next| matches!(next, b'&' | b' ')),
        _ => false,
    };
    &before[(0..before.len()).rev().find(ends).map_or(0, |at| at + 1)..]
}

fn words(command: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    command.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The program that `word` calls: `mysql` of `/usr/bin/mysql` and `"mysql.exe`.
fn program(word: &[u8]) -> &[u8] {
    let start =
        word.iter().rposition(|byte| matches!(byte, b'/' | b'\\' | b'"' | b'\'')).map_or(0, |at| at + 1);
    let word = &word[start..];
    word.strip_suffix(b".exe").unwrap_or(word)
}

/// Whether `word` calls one of the programs `names`.
fn is_one_of(word: &[u8], names: &[&str]) -> bool {
    let program = program(word);
    names.iter().any(|name| program.eq_ignore_ascii_case(name.as_bytes()))
}
