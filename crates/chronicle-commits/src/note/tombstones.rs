//! What was purged, and who says so.

use std::collections::{BTreeMap, HashMap, HashSet};

use chronicle_core::{
    EntryId,
    correction::Tier,
    counted,
    purge::{Purged, read_tombstones},
    reading::KnowledgeItem,
};
use chronicle_git::{ObjectId, PURGED_REF, Repository, origin_of};

use crate::{
    error::{Result, if_notes},
    note::{
        claim_id::is_readable,
        stored::Stored,
        trust::{Trust, Voice, mark_of_tombstone, marks},
    },
};

/// Everything that the user or the team ever purged: it comes in nowhere again. What strangers purged of strangers is only
/// hidden from readers, since their marks may name what nobody here knows to be the user's.
///
/// # Errors
/// When the tombstones cannot be read.
pub(crate) fn purged(repository: &Repository) -> Result<Purged> {
    let tombstones = Tombstones::read(repository, &Trust::of(repository))?;
    let mut purged = Purged::default();
    let Tombstones { ids, blobs } = tombstones;
    purged.add_ids(ids.into_iter().filter(|(_, grave)| grave.hides).map(|(id, _)| id));
    purged.add_blobs(blobs.into_iter().filter(|(_, grave)| grave.hides).map(|(blob, _)| blob));
    Ok(purged)
}

/// Everything that was purged, here or by others, and who purged it: what readers go by.
///
/// A purge counts by the tier of who made it. It takes away what is trusted no more than its maker; of what
/// is trusted more it only hides, and the answer mentions it. One that neither the user nor the team made
/// hides nothing of theirs, whatever ref it is in.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    pub(crate) ids: HashMap<EntryId, Grave>,
    pub(crate) blobs: HashMap<String, Grave>,
}

/// Who says that something is purged.
#[derive(Debug, Clone)]
pub(crate) struct Grave {
    pub(crate) tier: Tier,
    /// The remote, or the ref.
    origin: String,
    /// Whether it hides what is trusted more: the user or the team says it.
    pub(crate) hides: bool,
    /// Whether it is in our own ref, or the team's.
    is_here: bool,
}

impl Tombstones {
    /// Reads our own tombstones and the fetched ones.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(crate) fn read(repository: &Repository, trust: &Trust<'_>) -> Result<Self> {
        let mut tombstones = Self::default();
        for name in repository.purge_refs()? {
            for note in if_notes(repository.notes(&name), &mut Vec::new())?.into_iter().flatten() {
                for tombstone in read_tombstones(&repository.note_blob(note.blob)?) {
                    let Voice { tier, origin } = trust.voice(&mark_of_tombstone(&tombstone), [name.as_str()]);
                    let is_here = name == PURGED_REF || trust.is_shared(&name);
                    // Where nothing is recorded, nobody is known, and our own ref is all there is.
                    let hides = Tier::Unknown < tier || is_here && repository.trust_records().is_none();
                    let origin = origin.unwrap_or_else(|| origin_of(&name).to_owned());
                    let grave = Grave { tier, origin, hides, is_here };
                    for id in tombstone.purged {
                        keep_strongest(&mut tombstones.ids, id, &grave);
                    }
                    for blob in tombstone.blobs {
                        keep_strongest(&mut tombstones.blobs, blob, &grave);
                    }
                }
            }
        }
        Ok(tombstones)
    }

    /// What those in our own ref name of whom nobody knows who made them.
    pub(crate) fn strange(&self) -> HashSet<EntryId> {
        let strange = self.ids.iter().filter(|(_, grave)| grave.is_here && !grave.hides);
        strange.map(|(id, _)| id.clone()).collect()
    }

    /// Whether the note with this object id is gone as a whole. Only the user says that of a note that can
    /// be read.
    pub(crate) fn has_blob(&self, repository: &Repository, blob: ObjectId) -> bool {
        // Mostly there is none.
        !self.blobs.is_empty()
            && self.blobs.get(&blob.to_string()).is_some_and(|grave| {
                grave.tier == Tier::Own
                    || !repository.note_blob(blob).is_ok_and(|content| is_readable(&content))
            })
    }

    /// Whether what has this id, and comes from such a tier, is gone.
    pub(crate) fn has(&self, id: &EntryId, tier: Tier) -> bool {
        self.ids.get(id).is_some_and(|grave| tier <= grave.tier || grave.hides)
    }

    /// What is left to read, and a remark where a purge hides what is trusted more than its maker.
    pub(crate) fn cleanse(&self, mut stored: Stored) -> Stored {
        if self.ids.is_empty() {
            return stored;
        }
        let mut purged = Purged::default();
        let (mut hidden, mut ignored): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
        let mut gone = Vec::new();
        for (id, _) in marks(&stored.note) {
            let Some(grave) = self.ids.get(&id) else { continue };
            let counts = stored.voices.of_claim(&id).tier <= grave.tier;
            if !counts {
                let counted = if grave.hides { &mut hidden } else { &mut ignored };
                *counted.entry(&grave.origin).or_default() += 1;
            }
            if counts || grave.hides {
                gone.push(id);
            }
        }
        purged.add_ids(gone);
        stored.hidden.extend(hidden.into_iter().map(|(origin, n)| {
            format!(
                "{} hidden: a purge mark from {origin}; `git chronicle sync pull --accept-purge` removes what it names",
                counted(n, "lesson")
            )
        }));
        stored.hidden.extend(ignored.into_iter().map(|(origin, n)| {
            format!(
                "a purge mark from {origin} names {}; neither you nor your team made it, so it does not count",
                counted(n, "lesson")
            )
        }));
        stored.note = purged.cleanse(stored.note);
        let is_kept = |item: &KnowledgeItem| !self.has(&EntryId(item.id().to_owned()), item.tier());
        stored.knowledge = stored.knowledge.map(|knowledge| knowledge.retain(is_kept));
        stored
    }
}

fn keep_strongest<K: std::hash::Hash + Eq>(graves: &mut HashMap<K, Grave>, of: K, grave: &Grave) {
    let known = graves.entry(of).or_insert_with(|| grave.clone());
    if (known.tier, known.hides, known.is_here) < (grave.tier, grave.hides, grave.is_here) {
        *known = grave.clone();
    }
}
