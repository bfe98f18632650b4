//! Folds documents into notes.

use chronicle_core::{Annotation, Entry, EntryId, Note};
use chronicle_git::{NotesEdit, ObjectId, Repository};

use super::{
    AnnotateRequest,
    check::{adds_nothing, claims_the_same, is_annotated, is_in, replaced_summaries, stand_ins, trusted},
};
use crate::{
    error::{NoteTooLargeSnafu, Result},
    note::{
        stored::parse,
        trust::{marks, record_own},
    },
    share::merging::MAX_NOTE_BYTES,
    write::mend,
};

/// Folds in what was staged, unless the note has taken all of it in before; whether there was anything new.
pub(super) fn fold_in_once(
    repository: &Repository,
    notes: &mut NotesEdit<'_>,
    commit: ObjectId,
    mut document: Annotation,
) -> Result<bool> {
    let before = parse(notes.get(commit)?.as_slice()).note;
    document.consumed.retain(|id| !before.documents().iter().any(|known| known.consumed.contains(id)));
    if document.consumed.is_empty() {
        return Ok(false);
    }
    document.wisdom.retain(|entry| before.entry(&entry.id).is_none());
    fold_in(repository, notes, commit, document)?;
    Ok(true)
}

/// What a store came to.
pub(super) struct Outcome {
    pub(super) annotation: Option<Annotation>,
    pub(super) added: Vec<EntryId>,
    pub(super) n_known: usize,
    pub(super) unchanged: Option<String>,
}

pub(super) fn store(
    repository: &Repository,
    notes: &mut NotesEdit<'_>,
    request: &AnnotateRequest,
    mut document: Annotation,
    staged: &[(ObjectId, Annotation)],
    subject: &str,
    author: Option<&str>,
) -> Result<Outcome> {
    for (commit, remarks) in staged.iter().filter(|(commit, _)| *commit != request.commit) {
        fold_in_once(repository, notes, *commit, remarks.clone())?;
    }
    let before = parse(notes.get(request.commit)?.as_slice()).note;
    let remarks = staged.iter().find(|(commit, _)| *commit == request.commit).map(|(_, document)| document);
    if request.is_automatic && !before.documents().is_empty() {
        // The commit has words of its own already; remarks still belong to it.
        if let Some(remarks) = remarks {
            fold_in_once(repository, notes, request.commit, remarks.clone())?;
        }
        let kept = if remarks.is_some() { "; the staged remarks were stored" } else { "" };
        let reason =
            format!("the commit is annotated already, so --auto takes nothing from its message{kept}");
        return Ok(Outcome {
            annotation: None,
            added: Vec::new(),
            n_known: before.entries().len(),
            unchanged: Some(reason),
        });
    }
    if request.model.is_some() && is_annotated(&before, subject) {
        return Ok(Outcome {
            annotation: None,
            added: Vec::new(),
            n_known: before.entries().len(),
            unchanged: Some("the commit was annotated meanwhile".to_owned()),
        });
    }
    if request.replace_summary {
        document.replaces = replaced_summaries(&before, author)?;
    } else if !request.is_automatic {
        // The commit's subject stood in for a summary until there was one.
        document.replaces = stand_ins(&before, subject, author);
    }
    if let Some(remarks) = remarks {
        document.wisdom.extend(remarks.wisdom.iter().cloned());
        document.consumed.clone_from(&remarks.consumed);
        document.task = document.task.or_else(|| remarks.task.clone());
        document.context_level = document.context_level.or(remarks.context_level);
    }
    let n_given = document.wisdom.len();
    // That a stranger said it is no reason to leave out what the user says.
    let heard = trusted(repository, before.clone());
    let known = heard.entries();
    let mut news: Vec<Entry> = Vec::with_capacity(n_given);
    for mut entry in std::mem::take(&mut document.wisdom) {
        let same =
            known.iter().map(|(_, known)| *known).chain(&news).find(|known| claims_the_same(known, &entry));
        match same {
            Some(known) if known.id == entry.id || adds_nothing(known, &entry) => {}
            Some(known) => {
                // The same claim with more to it takes the place of the one that says less.
                entry.supersedes.push(known.id.clone());
                news.push(entry);
            }
            None if known.iter().any(|(_, known)| known.id == entry.id) => {}
            None => news.push(entry),
        }
    }
    document.wisdom = news;
    let n_known = n_given - document.wisdom.len();
    let added: Vec<EntryId> = document.wisdom.iter().map(|entry| entry.id.clone()).collect();
    if added.is_empty() && is_in(&heard, &document) {
        let reason = "all of this is stored on the commit already".to_owned();
        return Ok(Outcome {
            annotation: before.to_annotation(&request.commit.to_string()),
            added,
            n_known,
            unchanged: Some(reason),
        });
    }
    let annotation = fold_in(repository, notes, request.commit, document)?;
    Ok(Outcome { annotation, added, n_known, unchanged: None })
}

/// Folds what is written here and now into the note of `commit`.
pub(super) fn fold_in(
    repository: &Repository,
    notes: &mut NotesEdit<'_>,
    commit: ObjectId,
    document: Annotation,
) -> Result<Option<Annotation>> {
    let written = Note::of(document);
    let marks: Vec<_> = marks(&written).into_iter().map(|(_, mark)| mark).collect();
    record_own(repository, &marks)?;
    let before = notes.get(commit)?;
    let stored = parse(before.as_slice());
    let folded = mend::mended(repository, commit, stored.note.fold(written))?;
    let line = folded.to_line(&commit.to_string()).expect("a document was just folded in");
    snafu::ensure!(line.len() as u64 <= MAX_NOTE_BYTES, NoteTooLargeSnafu { commit, n_bytes: line.len() });
    if before.as_deref() != Some(line.as_bytes()) {
        notes.set(commit, line.into_bytes());
    }
    Ok(folded.to_annotation(&commit.to_string()))
}
