//! What git says that it fetched last, in `FETCH_HEAD`.

use std::path::Path;

use gix::ObjectId;

/// More than this is no list of what was fetched.
pub(crate) const MAX_FETCH_HEAD: u64 = 1 << 24;

/// The address `url` as git writes it where it says what it fetched (`store_updated_refs` and `transport_anonymize_url`
/// in its sources): without who logs in, and without slashes and `.git` at the end.
pub(crate) fn fetched_place(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let is_host = |login: &str| !login.contains('/');
    let rest = match rest.split_once('@') {
        Some((login, host)) if is_host(login) && (!scheme.is_empty() || host.contains(':')) => host,
        _ => rest,
    };
    let rest = rest.trim_end_matches('/');
    // So git counts: `.git` alone stays.
    let rest = rest.strip_suffix(".git").filter(|rest| 1 < rest.len()).unwrap_or(rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// Whether an address names a path in the home of who logs in, whom git leaves out where it says what it fetched. `git` is the
/// user of hosts where all have one.
pub(crate) fn is_home_of_user(url: &str) -> bool {
    let is_other = |login: &str| !login.contains('/') && login.split(':').next() != Some("git");
    match url.split_once("://") {
        Some(("http" | "https" | "file", _)) => false,
        Some((_, rest)) => {
            let path = rest.split_once('/').map_or("", |(_, path)| path);
            path.starts_with('~') && rest.split_once('@').is_none_or(|(login, _)| is_other(login))
        }
        None => {
            let Some((host, path)) = url.split_once(':').filter(|(host, _)| !host.contains('/')) else {
                return false;
            };
            !path.starts_with('/') && host.split_once('@').is_none_or(|(login, _)| is_other(login))
        }
    }
}

/// Whether there are two folders that differ in `.git` at the end, which git leaves out where it says what it fetched.
pub(crate) fn has_twin(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let bare = text.trim_end_matches('/');
    let bare = bare.strip_suffix(".git").unwrap_or(bare);
    Path::new(bare).is_dir() && Path::new(&format!("{bare}.git")).is_dir()
}

/// What a line of `FETCH_HEAD` says was fetched from `place`: `ID TAB not-for-merge TAB 'REF' of PLACE`.
pub(crate) fn fetched_line(line: &str, place: &str) -> Option<(ObjectId, String)> {
    let (id, rest) = line.split_once('\t')?;
    let (_, what) = rest.split_once('\t')?;
    let (name, from) = what.strip_prefix('\'')?.split_once("' of ")?;
    let id = ObjectId::from_hex(id.as_bytes()).ok()?;
    (from == place).then(|| (id, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_address_that_means_a_home_is_not_known_by_what_git_says() {
        for url in ["team@srv:proj.git", "srv:proj", "ssh://team@srv/~/proj", "ssh://srv/~eve/proj"] {
            assert!(is_home_of_user(url), "{url}");
        }
        for url in [
            "git@host.example:team/proj.git",
            "team@srv:/srv/proj.git",
            "https://team@host.example/proj.git",
            "ssh://team@srv/srv/proj",
            "ssh://git@srv/~/proj",
            "/srv/proj.git",
            "../proj",
        ] {
            assert!(!is_home_of_user(url), "{url}");
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("proj.git")).unwrap();
        assert!(!has_twin(&at("proj.git")));
        fs::create_dir(at("proj")).unwrap();
        assert!(has_twin(&at("proj.git")) && has_twin(&at("proj")));
    }

    #[test]
    fn addresses_are_compared_as_git_writes_them() {
        for (url, place) in [
            ("https://example.org/r.git", "https://example.org/r"),
            ("https://example.org/r/", "https://example.org/r"),
            ("https://me@example.org/r", "https://example.org/r"),
            ("ssh://git@example.org:22/r.git/", "ssh://example.org:22/r"),
            ("git@example.org:a/r.git", "example.org:a/r"),
            ("/srv/r@1/team.git", "/srv/r@1/team"),
            ("../team.git", "../team"),
            ("file:///srv/r", "file:///srv/r"),
        ] {
            assert_eq!(fetched_place(url), place, "{url}");
        }
    }

    #[test]
    fn what_was_fetched_is_told_by_ref_and_address() {
        let (id, hex) = (ObjectId::from_hex("ab".repeat(20).as_bytes()).unwrap(), "ab".repeat(20));
        let read = |line: &str| fetched_line(&line.replace("ID", &hex), "https://example.org/r");
        let notes = "refs/notes/chronicle";
        let plain = "ID\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/r";
        assert_eq!(read(plain), Some((id, notes.to_owned())));
        assert_eq!(
            read("ID\t\t'refs/notes/chronicle' of https://example.org/r"),
            Some((id, notes.to_owned()))
        );
        for other in [
            "ID\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/fork",
            "ID\tnot-for-merge\tbranch 'refs/notes/chronicle' of https://example.org/r",
            "ID\tnot-for-merge\t'refs/notes/chronicle' of https://x of https://example.org/r",
            "ID not-for-merge 'refs/notes/chronicle' of https://example.org/r",
            "zz\tnot-for-merge\t'refs/notes/chronicle' of https://example.org/r",
            "",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
