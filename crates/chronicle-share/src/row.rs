//! What is shared.

/// One thing that a machine shares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedRow {
    /// Names it for good. Only the machine that shares it writes under this name.
    pub id: String,
    /// A fingerprint of all the rest.
    pub hash: String,
    /// `digest` or `lesson`.
    pub kind: String,
    /// The session of a digest, the id of a lesson.
    pub name: String,
    /// How the project is called there.
    pub project: String,
    /// The branch of a session, the category of a lesson.
    pub about: String,
    /// What it says, in one line.
    pub title: String,
    /// All that it says.
    pub text: String,
    /// The files it is about, a line each.
    pub files: String,
    /// The commit it belongs to; empty for none.
    pub commit: String,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
    /// Who shares it.
    pub author: String,
    /// How that machine is called.
    pub machine: String,
    /// What tells that machine from all others.
    pub machine_id: String,
    /// The terms by which a copy is searched, with spaces between them. Not shared.
    pub terms: String,
}

/// That something is stored, and what it says, by its fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Names it.
    pub id: String,
    /// A fingerprint of all the rest.
    pub hash: String,
}
