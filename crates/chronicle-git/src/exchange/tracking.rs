//! Where the notes refs of remotes are kept.

/// The ref in which the ref `name` of a remote is kept.
#[must_use]
pub fn tracking_ref(remote: &str, name: &str) -> String {
    format!("{}{}", tracking_prefix(remote), name.strip_prefix("refs/notes/").unwrap_or(name))
}

/// Where the refs of a remote are kept once they are fetched.
#[must_use]
pub fn tracking_prefix(remote: &str) -> String {
    format!("refs/notes/remotes/{remote}/")
}

/// The setting that makes git itself fetch our refs. A pattern, because git fails on a single ref that the
/// remote lacks.
#[must_use]
pub fn notes_refspec(remote: &str) -> String {
    format!("+refs/notes/chronicle*:{}chronicle*", tracking_prefix(remote))
}
