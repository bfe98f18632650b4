//! Files as clients name them: `file` URIs.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// What stands for itself in a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// No system has longer paths.
const LONGEST: usize = 4 * 4096;

/// The file that a URI names; `None` for what is no file of this machine.
pub(crate) fn path_of(uri: &str) -> Option<PathBuf> {
    if LONGEST < uri.len() {
        return None;
    }
    let (scheme, rest) = uri.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = path.split(['?', '#']).next().filter(|path| path.starts_with('/'))?;
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let path = PathBuf::from(OsStr::from_bytes(&bytes));
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    (!bytes.contains(&0) && path.components().all(is_plain)).then_some(path)
}

/// A path without links: of a file that is not there, without links on the way to it.
pub(crate) fn real(path: PathBuf) -> PathBuf {
    let real = path.canonicalize().ok();
    let beside = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    real.or_else(beside).unwrap_or(path)
}

/// The URI of a file.
pub(crate) fn uri_of(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_files_of_this_machine() {
        let check =
            |uri: &str, path: Option<&str>| assert_eq!(path_of(uri), path.map(PathBuf::from), "{uri}");
        check("file:///a/b.rs", Some("/a/b.rs"));
        check("FILE://localhost/a", Some("/a"));
        check("file:///a%20b/%C3%A9%23.rs", Some("/a b/\u{e9}#.rs"));
        check("file:///a#L3", Some("/a"));
        check("file://host/a", None);
        check("file:///a/../b", None);
        check("file:///a%00", None);
        check("file:a", None);
        check("command:run", None);
        check("https://example.com/a", None);
        check(&format!("file:///{}", "a".repeat(LONGEST)), None);
    }

    #[test]
    fn any_path_can_be_named() {
        for path in ["/a b/\u{e9}#?%.rs", "/x"] {
            assert_eq!(path_of(&uri_of(Path::new(path))), Some(PathBuf::from(path)));
        }
        let strange = Path::new(OsStr::from_bytes(b"/\xff"));
        assert_eq!(path_of(&uri_of(strange)).as_deref(), Some(strange));
    }
}
