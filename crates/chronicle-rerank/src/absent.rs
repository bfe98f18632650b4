//! What stands in for the model in a build without it.

use std::path::Path;

use crate::{Part, RerankError, error::NotBuiltSnafu};

/// A model; there is none in this build.
#[derive(Debug)]
pub enum Reranker {}

impl Reranker {
    /// Opens the model in a folder.
    ///
    /// # Errors
    /// Always.
    pub fn open(_folder: &Path) -> Result<Self, RerankError> {
        NotBuiltSnafu.fail()
    }

    /// How near texts are to a question.
    ///
    /// # Errors
    /// Never.
    pub fn nearness(
        &self,
        _question: &[Part<'_>],
        _texts: &[String],
        _is_late: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<f32>>, RerankError> {
        match *self {}
    }
}
