//! The named items of one file.

use std::path::Path;

use chronicle_commits::ScopeFile;
use chronicle_core::LineRange;
use chronicle_git::ByteSlice;
use chronicle_workplace::{
    Error,
    error::{FileNotFoundSnafu, NotOneFileSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Chronicle;

/// The named items of one file, in its order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutlineAnswer {
    /// Always `chronicle-outline/v1`.
    pub schema: &'static str,
    /// The file, as it is called in that version.
    pub file: String,
    /// The commit, when one was asked for; null for the file as it is now.
    pub commit: Option<String>,
    /// The items: an owner before what is in it.
    pub items: Vec<OutlineItem>,
    /// Remarks, such as that the language is not known.
    pub warnings: Vec<String>,
}

/// One named item.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OutlineItem {
    /// `function`, `method`, `struct` and so on.
    pub kind: &'static str,
    /// Its name among the others, such as `Pool::acquire`.
    pub name: String,
    /// All its lines, with the comment and attributes that belong to it.
    pub lines: LineRange,
    /// How it is declared.
    pub signature: String,
}

impl Chronicle {
    /// The named items of the file at `path`, as it is now or in the version `at`.
    ///
    /// # Errors
    /// When there is no such file.
    pub fn outline(&self, path: &Path, at: Option<&str>) -> Result<OutlineAnswer, Error> {
        let mut warnings = Vec::new();
        let (file, content, commit) = match at {
            Some(revision) => {
                let repository = self.workplace.repository()?;
                let commit = repository.resolve(revision)?;
                let tree = repository.commit_tree(commit)?;
                let mut found = None;
                for candidate in repository.root_relative(self.workplace.directory(), path)? {
                    if let (None, Some(blob)) = (&found, repository.blob_at(tree, candidate.as_bstr())?) {
                        found = Some((candidate.to_string(), repository.blob(blob)?));
                    }
                }
                let shown = path.to_string_lossy().escape_debug().to_string();
                let Some((file, content)) = found else { return FileNotFoundSnafu { path: shown }.fail() };
                (file, content, Some(commit.to_string()))
            }
            None => {
                let one = self.one_file(path)?;
                warnings.extend(one.remarks);
                (one.file.path.to_string(), one.content.unwrap_or_default(), None)
            }
        };
        let items = self.items(&file, &content, &mut warnings).into_iter().map(|item| OutlineItem {
            kind: item.kind.as_str(),
            name: item.qualified,
            lines: item.lines,
            signature: item.signature,
        });
        Ok(OutlineAnswer { schema: "chronicle-outline/v1", file, commit, items: items.collect(), warnings })
    }

    /// The one file that `path` names, which may be gone.
    pub(crate) fn one_file(&self, path: &Path) -> Result<OneFile, Error> {
        let repository = self.workplace.repository()?;
        let head = repository.born_head()?;
        let scope = self.scope(path, head)?;
        let ([file], false) = (&scope.files[..], scope.is_directory) else {
            let path = if scope.name.is_empty() { ".".to_owned() } else { scope.name };
            return NotOneFileSnafu { path }.fail();
        };
        repository.fetch_present(Some(head), [file.path.as_bstr()])?;
        let content = repository.present_file(Some(head), file.path.as_bstr())?.map(|file| file.content);
        Ok(OneFile { file: file.clone(), content, head, remarks: scope.remark.into_iter().collect() })
    }
}

/// One file as it is now.
pub(crate) struct OneFile {
    pub(crate) file: ScopeFile,
    /// Its bytes; `None` when it was deleted.
    pub(crate) content: Option<Vec<u8>>,
    pub(crate) head: chronicle_git::ObjectId,
    /// What to tell about it: that it was renamed or deleted.
    pub(crate) remarks: Vec<String>,
}
