//! From paths as people give them to files of the repository.

use std::{borrow::Cow, path::Path};

use chronicle_commits::{ScopeFile, Whereabouts};
use chronicle_git::{BString, ByteSlice, Detour, ObjectId};
use chronicle_workplace::{
    Error,
    error::{FileNotFoundSnafu, InSubmoduleSnafu, OutsideRepositorySnafu},
};

use crate::Chronicle;

/// The files that one given path stands for.
pub(crate) struct Scope {
    /// The files.
    pub(crate) files: Vec<ScopeFile>,
    /// How the path is echoed.
    pub(crate) name: String,
    /// What to tell about it: that it was renamed or deleted.
    pub(crate) remark: Option<String>,
    /// Whether the path is a directory.
    pub(crate) is_directory: bool,
}

impl Chronicle {
    /// The files that `path` stands for; literal, never a pattern.
    pub(crate) fn scope(&self, path: &Path, head: ObjectId) -> Result<Scope, Error> {
        let shown = || path.to_string_lossy().escape_debug().to_string();
        let repository = self.workplace.repository()?;
        let candidates = repository.root_relative(self.workplace.directory(), path)?;
        if candidates.is_empty() {
            return OutsideRepositorySnafu { path: shown() }.fail();
        }
        let tree = repository.commit_tree(head)?;
        let mut remark = None;
        for candidate in &candidates {
            let mut candidate = Cow::Borrowed(candidate);
            match repository.detour(tree, candidate.as_bstr())? {
                Some(Detour::Submodule(at)) if at == **candidate => {
                    let remark =
                        format!("`{at}` is a separate repository: lessons about its files are stored there");
                    return Ok(Scope { remark: Some(remark), ..Self::present(&at, None) });
                }
                Some(Detour::Submodule(at)) => {
                    return InSubmoduleSnafu { path: candidate.to_string(), submodule: at.to_string() }
                        .fail();
                }
                Some(Detour::Link { at, to: Some(to) }) if at == **candidate => {
                    remark = Some(format!(
                        "`{at}` is a symbolic link to `{to}`; these are lessons about the link itself"
                    ));
                }
                Some(Detour::Link { at, to: Some(to) }) => {
                    remark = Some(format!("`{at}` is a symbolic link: `{candidate}` is `{to}`"));
                    candidate = Cow::Owned(to);
                }
                Some(Detour::Link { .. }) | None => {}
            }
            let candidate = &*candidate;
            let file = candidate.as_bstr();
            if !file.is_empty() && repository.has_present_file(Some(head), file)? {
                let scope = Self::present(candidate, repository.uncommitted_rename(head, file)?);
                return Ok(Scope { remark: remark.or(scope.remark), ..scope });
            }
            if repository.is_directory_at(tree, file)? || repository.is_worktree_directory(file) {
                let files = repository.files_under(tree, file)?.into_iter().map(ScopeFile::from).collect();
                return Ok(Scope { files, name: candidate.to_string(), remark, is_directory: true });
            }
            if repository.blob_at(tree, file)?.is_some() {
                let remark = remark.unwrap_or_else(|| format!("`{candidate}` is not in the working tree"));
                return Ok(Scope { remark: Some(remark), ..Self::present(candidate, None) });
            }
        }
        let whereabouts = chronicle_commits::whereabouts(
            self.workplace.lazy(),
            self.workplace.caches(),
            head,
            &candidates,
        )?;
        for (candidate, whereabouts) in candidates.into_iter().zip(whereabouts) {
            let (file, remark) = match whereabouts {
                Whereabouts::Never => continue,
                Whereabouts::Renamed { to, by } => {
                    let remark = format!("`{candidate}` was renamed to `{to}` by {}", by.to_hex_with_len(7));
                    (to, remark)
                }
                Whereabouts::Deleted { by } => {
                    let remark = format!("`{candidate}` was deleted by {}", by.to_hex_with_len(7));
                    (candidate, remark)
                }
            };
            return Ok(Scope { remark: Some(remark), ..Self::present(&file, None) });
        }
        FileNotFoundSnafu { path: shown() }.fail()
    }

    /// One file, renamed from `at_head` if that was not committed yet.
    fn present(path: &BString, at_head: Option<BString>) -> Scope {
        let remark =
            at_head.as_ref().map(|old| format!("`{old}` was renamed to `{path}`, not committed yet"));
        let file = ScopeFile { at_head: at_head.unwrap_or_else(|| path.clone()), path: path.clone() };
        Scope { files: vec![file], name: path.to_string(), remark, is_directory: false }
    }
}
