//! A small language model on this machine that ranks again what words found: floor 2.
//!
//! It is an encoder such as all-MiniLM-L6-v2, in a folder that the user names: nothing is downloaded, and nothing is
//! compiled in. Texts are compared by their tokens ("late interaction"): each token of the question counts as the token
//! of the text that is nearest to it. Without the feature `rerank` there are the types, and every reranker is
//! [`RerankError::NotBuilt`].

mod error;

#[cfg(not(feature = "rerank"))]
mod absent;
#[cfg(feature = "rerank")]
mod encoder;
#[cfg(feature = "rerank")]
mod late;
#[cfg(feature = "rerank")]
mod reranker;
#[cfg(feature = "rerank")]
mod wordpiece;

pub use error::RerankError;

#[cfg(not(feature = "rerank"))]
pub use absent::Reranker;
#[cfg(feature = "rerank")]
pub use reranker::Reranker;

/// A part of a question, and how rare it is among what is searched: 0 for what says nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part<'t> {
    /// Its text.
    pub text: &'t str,
    /// What it tells, in the measure of the other parts.
    pub rarity: f32,
}
