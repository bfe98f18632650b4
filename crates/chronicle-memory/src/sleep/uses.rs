//! What agents were shown and then used: it matters more from then on.

use chronicle_search::Used;
use chronicle_workplace::Error;

use crate::{Memory, memory::OpenMemory};

impl Memory<'_> {
    /// Takes down what turned out to be used since; how much of it is news comes back.
    ///
    /// That something was shown is no use of it. A session uses what it speaks of afterwards: by its id, its commit, or
    /// four of its words in a row ([`Memory::injected`]).
    pub(super) fn note_uses(&self, memory: &mut OpenMemory, is_dry_run: bool) -> Result<usize, Error> {
        let mut used = Vec::new();
        for text in self.told_and_used(memory)? {
            let Ok(at) = text.at.parse() else { continue };
            for item in text.items.into_iter().filter(|item| item.used == Some(true)) {
                used.push(Used { what: item.id, by: text.session.clone(), at });
            }
        }
        let noted = memory.store.write_unless(|tx| {
            let mut n_new = 0;
            for used in &used {
                n_new += usize::from(used.add(tx)?);
            }
            Ok(if is_dry_run { Err(n_new) } else { Ok(n_new) })
        })?;
        let (Ok(n_new) | Err(n_new)) = noted;
        Ok(n_new)
    }
}
