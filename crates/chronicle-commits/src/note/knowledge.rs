//! What the repository knows as a whole: added, removed, read from every ref that may hold it.

use chronicle_core::{
    EntryId, Knowledge, MAX_NOTE_BYTES, Note, correction::Tier, note_bytes, reading::KnowledgeItem,
};
use chronicle_git::{NOTES_REF, NotesEdit, Recovered, Repository};

use crate::{
    error::{Result, UnreadableKnowledgeSnafu},
    note::{
        notebook::Notebook,
        stored::parse,
        trust::{Trust, Voice, mark_of_item, mark_of_removal, record_own},
    },
    write::input::KnowledgeInput,
};

/// What became of an item that was to be added.
#[derive(Debug, Clone)]
pub struct Added {
    /// Its id; of what was known already, the id under which it is known.
    pub id: String,
    /// Whether it is new.
    pub is_new: bool,
    /// Left-over files of dead processes that were removed.
    pub recovered: Recovered,
}

/// All that the repository knows as a whole, whichever ref it lies in, with remarks on what cannot be read.
///
/// # Errors
/// When the notes cannot be read.
pub fn all_knowledge(repository: &Repository, warnings: &mut Vec<String>) -> Result<Knowledge> {
    let stored = Notebook::open(repository, warnings)?.knowledge()?;
    warnings.extend(stored.remarks.iter().map(|remark| format!("the repository's knowledge: {remark}")));
    Ok(stored.knowledge.unwrap_or_default())
}

/// Items of an input, with ids that were never used before.
pub(crate) fn named(given: &[KnowledgeInput], new_id: &mut dyn FnMut() -> EntryId) -> Vec<KnowledgeItem> {
    let mut items: Vec<KnowledgeItem> = given.iter().cloned().map(KnowledgeItem::from).collect();
    items.iter_mut().for_each(|item| item.name(&new_id().0));
    items
}

/// Adds an item to what is known, unless the same is known already.
///
/// # Errors
/// When what is stored cannot be read, or the notes cannot be written.
pub fn add_knowledge(
    repository: &Repository,
    given: &KnowledgeInput,
    new_id: &mut dyn FnMut() -> EntryId,
) -> Result<Added> {
    let items = named(std::slice::from_ref(given), new_id);
    // What a stranger says is no reason for the user not to say it.
    let known = all_knowledge(repository, &mut Vec::new())?.trusted();
    if let Some(id) = items.first().and_then(|item| known.knows(item)) {
        return Ok(Added { id, is_new: false, recovered: Recovered::default() });
    }
    let (ids, recovered) = repository.edit_notes(
        NOTES_REF,
        "chronicle: add knowledge",
        |notes: &mut NotesEdit<'_>| -> Result<Vec<(String, bool)>> {
            let before = trusted(repository, KnowledgeNote::read(notes, repository)?.known);
            let ids = items.iter().map(|item| match before.knows(item) {
                Some(id) => (id, false),
                None => (item.id().to_owned(), true),
            });
            let ids = ids.collect();
            add_new(notes, repository, &items)?;
            Ok(ids)
        },
    )?;
    let (id, is_new) = ids.into_iter().next().expect("one item was given");
    Ok(Added { id, is_new, recovered })
}

/// Adds those of `items` that are not known yet; returns their ids.
pub(crate) fn add_new(
    notes: &mut NotesEdit<'_>,
    repository: &Repository,
    items: &[KnowledgeItem],
) -> Result<Vec<String>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let mut stored = KnowledgeNote::read(notes, repository)?;
    let mut said = trusted(repository, stored.known.clone());
    let mut ids = Vec::new();
    for item in items {
        if said.knows(item).is_none() {
            record_own(repository, &[mark_of_item(item)])?;
            ids.push(item.id().to_owned());
            stored.known.add(item.clone());
            said.add(item.clone());
        }
    }
    if !ids.is_empty() {
        stored.store(notes, repository);
    }
    Ok(ids)
}

/// Removes the items with the id `id`, for good and wherever they lie; returns them. Of several that have one id, which
/// anyone can read and use again, those that are trusted most are meant.
///
/// # Errors
/// When what is stored cannot be read, or the notes cannot be written.
pub fn remove_knowledge(repository: &Repository, id: &str) -> Result<(Vec<KnowledgeItem>, Recovered)> {
    let mut items = all_knowledge(repository, &mut Vec::new())?.called(id);
    let Some(most) = items.iter().map(KnowledgeItem::tier).max() else {
        return Ok((items, Recovered::default()));
    };
    items.retain(|item| item.tier() == most);
    let ((), recovered) = repository.edit_notes(
        NOTES_REF,
        "chronicle: remove knowledge",
        |notes: &mut NotesEdit<'_>| -> Result<()> {
            let mut stored = KnowledgeNote::read(notes, repository)?;
            let trust = Trust::of(repository);
            let mut gone = stored.known.called(id);
            gone.retain(|item| trust.voice(&mark_of_item(item), [NOTES_REF]).tier == most);
            gone.extend(items.iter().cloned().map(|mut item| {
                // As it is stored, not as it is told.
                item.set_said(Tier::Own, None);
                item
            }));
            let marks: Vec<_> = gone.iter().map(|item| mark_of_removal(&item.tombstone())).collect();
            record_own(repository, &marks)?;
            gone.iter().for_each(|item| stored.known.remove(item));
            stored.store(notes, repository);
            Ok(())
        },
    )?;
    Ok((items, recovered))
}

/// What of `knowledge`, which is in our own ref, the user or the team says.
fn trusted(repository: &Repository, knowledge: Knowledge) -> Knowledge {
    let trust = Trust::of(repository);
    let said = knowledge.attributed(|item| {
        let Voice { tier, origin } = trust.voice(&mark_of_item(item), [NOTES_REF]);
        (tier, origin)
    });
    said.trusted()
}

/// What our own ref holds of knowledge at this moment. What of it cannot be read is stored again as it is.
struct KnowledgeNote {
    known: Knowledge,
    rest: Note,
}

impl KnowledgeNote {
    fn read(notes: &mut NotesEdit<'_>, repository: &Repository) -> Result<Self> {
        let bytes = notes.get(repository.empty_tree())?;
        if bytes.as_ref().is_some_and(|bytes| MAX_NOTE_BYTES < bytes.len()) {
            let reason = format!("it has more than {} MB", MAX_NOTE_BYTES >> 20);
            return UnreadableKnowledgeSnafu { reason }.fail();
        }
        let stored = parse(bytes.as_slice());
        Ok(Self { known: stored.knowledge.unwrap_or_default(), rest: stored.note })
    }

    fn store(self, notes: &mut NotesEdit<'_>, repository: &Repository) {
        let key = repository.empty_tree();
        notes.set(key, note_bytes(&key.to_string(), &self.rest, Some(self.known)));
    }
}
