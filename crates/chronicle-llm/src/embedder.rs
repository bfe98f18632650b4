//! The trait of everything that turns texts into vectors.

use crate::{Cancel, ModelError, Usage};

/// Somebody who turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The vectors of `texts`, in their order and all of one length.
    ///
    /// # Errors
    /// See [`ModelError`].
    fn embed(&self, texts: &[String], cancel: &Cancel) -> Result<Embedding, ModelError>;

    /// The model's name: vectors of different models do not compare.
    fn name(&self) -> &str;
}

/// The model that embeds unless somebody says otherwise.
pub const EMBEDDING_MODEL: &str = "text-embedding-3-small";

/// Vectors, and what they cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// A vector for each text.
    pub vectors: Vec<Vec<f32>>,
    /// What it cost.
    pub usage: Usage,
}
