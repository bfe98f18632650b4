//! Who relies on some code.

use std::path::Path;

use chronicle_commits::{DepsRequest, Target};
use chronicle_core::dependent::Dependent;
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, anchors::Anchored};

/// Who relies on some code, plainest and most trusted first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Deps {
    /// Always `chronicle-deps/v1`.
    pub schema: &'static str,
    /// The file, as it is called now.
    pub file: String,
    /// The item as it was given, when one was asked for.
    pub anchor: Option<String>,
    /// Who relies on it.
    pub dependents: Vec<Dependent>,
    /// How many annotations were looked at: all there are.
    pub annotations_examined: usize,
    /// Remarks about the answer.
    pub warnings: Vec<String>,
}

impl Chronicle {
    /// Who relies on the file at `path`, or on one item of it.
    ///
    /// # Errors
    /// When the path was never there, or nothing of that name is in it and nobody relies on it either.
    pub fn deps(&self, path: &Path, anchor: Option<&str>, all: bool) -> Result<Deps, Error> {
        let one = self.one_file(path)?;
        let mut warnings = one.remarks;
        let name = one.file.path.to_string();
        let content = one.content.as_deref();
        let mut anchored =
            anchor.map_or_else(Anchored::default, |anchor| self.anchored(&name, content, anchor));
        let (anchors, lines) = (std::mem::take(&mut anchored.names), std::mem::take(&mut anchored.lines));
        let target = Target { file: one.file, anchors, lines, content: one.content.into() };
        let request = DepsRequest {
            targets: vec![target],
            at: one.head,
            with_mentions: true,
            most_of_file: usize::MAX,
            all,
            now: self.workplace.now(),
            half_life_days: self.workplace.read_settings()?.half_life_days,
        };
        let found = chronicle_commits::dependents(self.workplace.lazy(), self.workplace.caches(), &request)?;
        // What is no longer there may still be relied upon, and that is worth knowing.
        let is_known = found.dependents.iter().any(|dependent| dependent.on_anchor.is_some());
        warnings.extend(anchored.into_remarks(is_known)?);
        warnings.extend(found.warnings);
        Ok(Deps {
            schema: "chronicle-deps/v1",
            file: name,
            anchor: anchor.map(str::to_owned),
            dependents: found.dependents,
            annotations_examined: found.n_annotations,
            warnings,
        })
    }
}
