//! Vectors of what was said, of a model that somebody chose for it: a second signal for `find`.
//!
//! Turns of the current project get theirs behind hooks and in `consolidate`, the latest first, some at a time. Each
//! lot is one call and one transaction: who dies in between goes on where it was. Turns without a vector are found by
//! their words as ever. A question is compared only where vectors of the chosen model are there.

use std::time::Duration;

use chronicle_core::redaction::{Removed, for_storage};
use chronicle_git::FileLock;
use chronicle_llm::{Cancel, Embedder, Embedding};
use chronicle_search::{Unembedded, Vector};
use chronicle_workplace::{Error, RunLimits};

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
};

/// Texts in one call.
const LOT: usize = 64;
/// Lots behind one hook.
const MOST_LOTS: usize = 32;
/// How much of a text is sent, in bytes.
const LONGEST: usize = 2_000;
/// How long a question waits for its vector.
const PATIENCE: Duration = Duration::from_secs(8);

impl Memory<'_> {
    /// Lets the model that somebody chose for it give vectors to what was said in the current project.
    ///
    /// # Errors
    /// When session memory cannot be read or written. A model that fails is no error: it is asked again later.
    pub fn embed_behind(&self) -> Result<(), Error> {
        if !self.searches_by_vectors() {
            return Ok(());
        }
        let Some(mut memory) = self.open()? else { return Ok(()) };
        let Scope::One(project) = self.memory_scope(&memory, None, false)? else { return Ok(()) };
        let lock = FileLock::try_acquire(&self.workplace.memory_home()?.join("vectors.lock"))?;
        let (Some(_lock), Ok(embedder)) = (lock, self.workplace.embedder(&RunLimits::default())) else {
            return Ok(());
        };
        let mut before = None;
        for _ in 0..MOST_LOTS {
            let of = (project.id, embedder.name());
            let lot = memory.store.read(|connection| Unembedded::latest(connection, of, before, LOT))?;
            let Some(last) = lot.last() else { break };
            before = Some(last.turn);
            let texts: Vec<String> = lot.iter().map(|turn| beginning(&turn.text)).collect();
            let Ok(embedding) = embedder.embed(&texts, &Cancel::default()) else { break };
            keep(&mut memory, embedder.name(), &lot, &embedding)?;
        }
        Ok(())
    }

    /// The vector of a question and the model that gave it; none where there is nothing to compare it with.
    pub(crate) fn question_vector(
        &self,
        memory: &OpenMemory,
        question: &str,
    ) -> Result<Option<(String, Vector)>, Error> {
        // Settings take longer to read than this.
        let are_there = |embedder: Option<&str>| {
            memory.store.read(|connection| Vector::are_there(connection, embedder)).unwrap_or_default()
        };
        if !are_there(None) || !self.searches_by_vectors() {
            return Ok(None);
        }
        let embedder = self.workplace.embedder_within(PATIENCE, &RunLimits::default())?;
        if !are_there(Some(embedder.name())) {
            return Ok(None);
        }
        let redacted = for_storage(question, &mut Removed::default()).into_owned();
        let embedding = embedder.embed(&[beginning(&redacted)], &Cancel::default())?;
        let vector = embedding.vectors.first().and_then(|numbers| Vector::of(numbers));
        Ok(vector.map(|vector| (embedder.name().to_owned(), vector)))
    }

    fn searches_by_vectors(&self) -> bool {
        self.workplace.model_settings().is_ok_and(|settings| settings.value("searchVectors") == "true")
    }
}

/// Stores the vectors of a lot together. A text that the model gives no direction is asked about again later.
fn keep(memory: &mut OpenMemory, name: &str, lot: &[Unembedded], embedding: &Embedding) -> Result<(), Error> {
    memory.store.write(|tx| {
        for (turn, numbers) in lot.iter().zip(&embedding.vectors) {
            if let Some(vector) = Vector::of(numbers) {
                vector.put(tx, name, turn)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn beginning(text: &str) -> String {
    text[..text.floor_char_boundary(LONGEST)].to_owned()
}
