//! Paths that agents on Windows write, as the Linux next to it (WSL) names the same files.
//!
//! A folder has one name then, whichever side an agent ran on, and its last part names the project.

use std::borrow::Cow;

/// Where WSL shows the files of a distribution to Windows.
const SHARES: [&str; 2] = ["wsl.localhost", "wsl$"];

/// `path` as Linux names it: `C:\src\shop` is `/mnt/c/src/shop` (the default of WSL, and a name without meaning where
/// there is none), and `\\wsl.localhost\Ubuntu\home\ann` is `/home/ann`. Any other path stays as it is.
///
/// Source: <https://learn.microsoft.com/windows/wsl/filesystems>.
#[must_use]
pub fn unix_path(path: &str) -> Cow<'_, str> {
    let is_separator = |byte: &u8| matches!(byte, b'\\' | b'/');
    // Editors write `/c:/src` in addresses of files.
    let without_slash = path.strip_prefix('/').unwrap_or(path);
    if let [drive, b':', after @ ..] = without_slash.as_bytes()
        && drive.is_ascii_alphabetic()
        && after.first().is_none_or(is_separator)
        && (without_slash.len() == path.len() || after.first() == Some(&b'/'))
    {
        let rest = without_slash[2..].replace('\\', "/");
        return format!("/mnt/{}{}", char::from(drive.to_ascii_lowercase()), rest.trim_end_matches('/'))
            .into();
    }
    // Long paths are `\\?\C:\src`, shares `\\server\share` or `\\?\UNC\server\share`.
    if let Some(long) = path.strip_prefix(r"\\?\") {
        return match long.strip_prefix(r"UNC\") {
            Some(share) => unix_path(&format!(r"\\{share}")).into_owned().into(),
            None => unix_path(long),
        };
    }
    let Some(share) = path.strip_prefix(r"\\").or_else(|| path.strip_prefix("//")) else {
        return path.into();
    };
    let share = share.replace('\\', "/");
    let in_linux = share
        .split_once('/')
        .filter(|(server, _)| SHARES.iter().any(|known| server.eq_ignore_ascii_case(known)));
    match in_linux.and_then(|(_, rest)| rest.split_once('/')) {
        Some((_, rest)) => format!("/{rest}").into(),
        None if path.starts_with('/') => path.into(),
        None => format!("//{share}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_windows_has_the_name_that_linux_gives_it() {
        for (path, expected) in [
            (r"C:\Users\Ann\src\shop", "/mnt/c/Users/Ann/src/shop"),
            ("c:/Users/Ann/shop", "/mnt/c/Users/Ann/shop"),
            ("/c:/Users/Ann/shop", "/mnt/c/Users/Ann/shop"),
            (r"D:\", "/mnt/d"),
            ("D:", "/mnt/d"),
            (r"\\?\C:\src\shop", "/mnt/c/src/shop"),
            (r"\\wsl$\Ubuntu\home\ann\shop", "/home/ann/shop"),
            (r"\\WSL.localhost\Ubuntu-24.04\home\ann", "/home/ann"),
            (r"\\?\UNC\wsl.localhost\Ubuntu\home\ann", "/home/ann"),
            ("//wsl.localhost/Ubuntu/home/ann", "/home/ann"),
            (r"\\server\share\shop", "//server/share/shop"),
            ("/home/ann/shop", "/home/ann/shop"),
            ("src/pool.rs", "src/pool.rs"),
            (r"/home/ann/a\b", r"/home/ann/a\b"),
            ("c:pool.rs", "c:pool.rs"),
            ("/c:pool", "/c:pool"),
            ("//server/share", "//server/share"),
            ("é:/x", "é:/x"),
            ("", ""),
        ] {
            assert_eq!(unix_path(path), expected, "{path}");
            assert_eq!(unix_path(&unix_path(path)), expected, "{path} twice");
        }
    }
}
