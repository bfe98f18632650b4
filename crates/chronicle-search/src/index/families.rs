//! Words of one family in code: short forms and what they stand for.
//!
//! A stemmer knows the forms of a word, not that people write `auth` for `authentication`.

/// Families; each row begins with the short form.
const FAMILIES: [&str; 66] = [
    "auth authentication authorization authenticate authorize",
    "config configuration configure",
    "repo repository",
    "db database",
    "dir directory",
    "env environment",
    "dep dependency",
    "arg argument",
    "param parameter",
    "msg message",
    "err error",
    "func function",
    "impl implementation implement",
    "init initialize initialization",
    "async asynchronous",
    "sync synchronize synchronization",
    "perf performance",
    "doc documentation",
    "spec specification",
    "app application",
    "admin administrator",
    "lib library",
    "pkg package",
    "cmd command",
    "ctx context",
    "conn connection",
    "str string",
    "int integer",
    "bool boolean",
    "var variable",
    "attr attribute",
    "tmp temporary temp",
    "prod production",
    "dev development",
    "id identifier",
    "infra infrastructure",
    "js javascript",
    "ts typescript",
    "py python",
    "postgres postgresql",
    "perm permission",
    "cert certificate",
    "cred credential",
    "stat statistics",
    "sig signature",
    "ref reference",
    "prop property",
    "util utility",
    "img image",
    "btn button",
    "num number",
    "info information",
    "exec execute execution",
    "eval evaluate evaluation",
    "mem memory",
    "proc process",
    "req request",
    "res response",
    "resp response",
    "sess session",
    "tx transaction",
    "usr user",
    "pwd password",
    "k8s kubernetes",
    "i18n internationalization",
    "a11y accessibility",
];

/// The stems of the other words in the families of `stem`.
pub(super) fn relatives(stem: &str, stemmed: impl Fn(&str) -> String) -> Vec<String> {
    let mut found = Vec::new();
    for family in FAMILIES {
        let stems: Vec<String> = family.split(' ').map(&stemmed).collect();
        // Long forms share the short one; they need not stand for each other.
        let (short, long) = (&stems[0], &stems[1..]);
        if short == stem {
            found.extend_from_slice(long);
        } else if long.iter().any(|known| known == stem) {
            found.push(short.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_form_stands_for_its_long_ones_and_they_for_it() {
        let check =
            |stem: &str, expected: &[&str]| assert_eq!(relatives(stem, str::to_owned), expected, "{stem}");
        check("auth", &["authentication", "authorization", "authenticate", "authorize"]);
        check("authorization", &["auth"]);
        check("response", &["res", "resp"]);
        check("pool", &[]);
    }
}
