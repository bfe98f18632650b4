//! Who answers questions about refs: gix cannot read every format.

/// Who answers questions about refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefBackend {
    /// gix, in process.
    Gix,
    /// One `git` process for each question.
    Git,
}

impl RefBackend {
    pub(crate) fn of(repo: &gix::Repository) -> Self {
        let storage = repo.config_snapshot().string("extensions.refStorage");
        match storage.as_deref().map(|name| name.to_ascii_lowercase()) {
            Some(name) if name != b"files" => Self::Git,
            _ => Self::Gix,
        }
    }
}
