//! The document that is to be stored: what was handed in, checked against the commit.

use chronicle_core::{
    Annotation, Change, ContextLevel, Entry, EntryId, LineRange, Provenance, Source, quality,
    trivial::is_message_of_git,
};
use chronicle_git::{Commit, ObjectId, Repository};

use super::{AnnotateRequest, Stamp};
use crate::{
    error::{NothingToReplaceWithSnafu, Result},
    note::{change, notebook::Notebook},
    write::{
        anchoring,
        derive::Facts,
        input::{EntryInput, wash},
    },
};

pub(super) fn short(id: ObjectId) -> String {
    id.to_hex_with_len(8).to_string()
}

/// The document that the request asks to store.
pub(super) fn document(
    facts: &mut Facts<'_>,
    request: &AnnotateRequest,
    stamp: &mut Stamp<'_>,
    warnings: &mut Vec<String>,
) -> Result<Annotation> {
    let source = if request.is_automatic { Source::Batch } else { Source::Live };
    let mut provenance = Provenance::new(request.model.as_ref().map_or(source, |model| model.source));
    provenance.author.clone_from(&stamp.author);
    if let Some(model) = &request.model {
        provenance.author = Some(model.name.clone());
        provenance.notes.clone_from(&model.notes);
    }
    let mut document =
        Annotation::new(&request.commit.to_string(), &stamp.now.to_string(), &request.summary, provenance);
    document.task.clone_from(&request.input.task);
    document.session = request.model.as_ref().and_then(|model| model.session.clone());
    document.context_level = match request.is_automatic {
        true => Some(ContextLevel::Inferred),
        false => request.input.context_level,
    };
    for lesson in &request.input.wisdom {
        document.wisdom.push(entry(facts, lesson, (stamp.new_id)(), warnings)?);
    }
    document.regions = request.regions.clone();
    for region in &mut document.regions {
        region.id = (stamp.new_id)();
        let (file, lines) = checked(facts, &region.file, region.lines, warnings)?;
        if lines.is_some() || region.ast_anchor.is_some() {
            let located = anchoring::locate(facts, &file, lines, region.ast_anchor.as_ref(), warnings)?;
            (region.lines, region.ast_anchor) = (located.lines, located.anchor);
        }
        region.sketch = anchoring::sketch(facts, &file, region.lines)?;
        region.file = file;
        anchoring::sketch_each(facts, &mut region.semantic_dependencies)?;
    }
    document.cross_cutting = request.cross_cutting.clone();
    Ok(document)
}

pub(super) fn entry(
    facts: &mut Facts<'_>,
    lesson: &EntryInput,
    id: EntryId,
    warnings: &mut Vec<String>,
) -> Result<Entry> {
    warnings.extend(quality::content_advice(&lesson.content));
    let mut depends_on = lesson.depends_on.clone();
    anchoring::sketch_each(facts, &mut depends_on)?;
    let mut entry = Entry {
        anchor: lesson.anchor.clone(),
        depends_on,
        related: lesson.related.clone(),
        tags: lesson.tags.clone(),
        origin: lesson.origin,
        supersedes: lesson.supersedes.clone(),
        extra: lesson.kept(),
        ..Entry::new(id, lesson.category, lesson.content.trim())
    };
    if let Some(expires) = &lesson.expires {
        match chronicle_core::parse_time(expires) {
            Some(_) => entry.expires = Some(expires.clone()),
            None => warnings.push(format!("`expires` isn't an RFC 3339 time, so it was left out: {expires}")),
        }
    }
    if let Some(file) = &lesson.file {
        let (file, lines) = checked(facts, file, lesson.lines, warnings)?;
        locate(facts, &mut entry, file, lines, warnings)?;
    } else if lesson.lines.is_some() {
        warnings.push("`lines` without a `file` were left out".to_owned());
    }
    Ok(entry)
}

/// Gives `entry` its file, lines and item; what is not given is found in the outline of the file and in
/// the commit's changes.
pub(super) fn locate(
    facts: &mut Facts<'_>,
    entry: &mut Entry,
    file: String,
    lines: Option<LineRange>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let located = anchoring::locate(facts, &file, lines, entry.anchor.as_ref(), warnings)?;
    entry.lines = located.lines;
    entry.places = located.places;
    entry.anchor = located.anchor;
    entry.sketch = anchoring::sketch(facts, &file, entry.lines)?;
    entry.around = anchoring::around(facts, &file, entry.lines, entry.sketch.as_ref())?;
    entry.file = Some(file);
    Ok(())
}

/// A file as git spells it and lines that exist; what does not exist is warned about.
pub(super) fn checked(
    facts: &mut Facts<'_>,
    file: &str,
    lines: Option<LineRange>,
    warnings: &mut Vec<String>,
) -> Result<(String, Option<LineRange>)> {
    let mut file = file.trim_start_matches("./").to_owned();
    let commit = short(facts.commit.id);
    let (shown, secrets) = wash(&file);
    let was_removed = facts.changes.iter().any(|change| change.new.is_none() && change.path == file.as_str());
    let Some(content) = facts.content(&file)? else {
        if facts.has(&file)? {
            // A partial clone cannot check the lines; its author can.
            return Ok((file, lines));
        }
        // A name of no file is a text like any other.
        if !was_removed {
            file.clone_from(&shown);
            warnings.push(format!(
                "`{file}` does not exist at {commit}; the lesson is stored for the file as named"
            ));
        }
        if lines.is_some() {
            warnings.push(format!("lines of `{file}` were left out: the file is not there at {commit}"));
        }
        return Ok((file, None));
    };
    let n_lines = chronicle_core::count_lines(content);
    if !secrets.is_empty() {
        warnings
            .push(format!("the path `{shown}` holds what looks like a secret; paths are stored as they are"));
    }
    match lines {
        Some(lines) if n_lines < lines.end => {
            warnings
                .push(format!("`{file}` has {n_lines} lines at {commit}, so lines {lines} were left out"));
            Ok((file, None))
        }
        lines => Ok((file, lines)),
    }
}

/// Makes the one lesson of `document` replace the claims `ids`, which must exist somewhere.
pub(super) fn supersede(repository: &Repository, document: &mut Annotation, ids: &[EntryId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let notebook = Notebook::open(repository, &mut Vec::new())?;
    for id in ids {
        let mut is_known = false;
        for key in notebook.keys() {
            is_known |= notebook.read(key)?.note.entry(id).is_some();
            if is_known {
                break;
            }
        }
        snafu::ensure!(is_known, crate::error::UnknownEntrySnafu { id: id.clone() });
    }
    match &mut document.wisdom[..] {
        [lesson] => {
            lesson
                .supersedes
                .extend(ids.iter().filter(|id| !lesson.supersedes.contains(id)).cloned().collect::<Vec<_>>());
            Ok(())
        }
        lessons => NothingToReplaceWithSnafu { n_entries: lessons.len() }.fail(),
    }
}

/// A document for what was staged alone: its commit's subject says what it is about.
pub(super) fn remarks_document(
    repository: &Repository,
    commit: ObjectId,
    stamp: &Stamp<'_>,
) -> Result<Annotation> {
    let facts = Facts::of(repository, commit)?;
    let summary = subject_said(repository, &facts.commit);
    let mut provenance = Provenance::new(Source::Live);
    provenance.author.clone_from(&stamp.author);
    let mut document = Annotation::new(&commit.to_string(), &stamp.now.to_string(), &summary, provenance);
    document.context_level = Some(ContextLevel::Enhanced);
    document.change = Some(change_of(repository, &facts)?);
    Ok(document)
}

pub(super) fn change_of(repository: &Repository, facts: &Facts<'_>) -> Result<Change> {
    let changes = repository.plain_changes(facts.first_parent(), facts.commit.tree)?;
    change::of(repository, &facts.commit, &changes)
}

/// The subject of a commit as the summary of what is said of it, as far as it is the user's: neither somebody else's nor
/// what git makes of one.
#[must_use]
pub fn subject_said(repository: &Repository, commit: &Commit) -> String {
    let subject = commit.subject();
    // Anybody can write the user's name into a commit: what counts is that `git commit` made it here.
    let is_own = repository.is_by_user(commit)
        && repository.is_committed_here(commit.id)
        && !is_message_of_git(&subject);
    let subject = if is_own { wash(&subject).0 } else { String::new() };
    if subject.is_empty() { WITHOUT_SUBJECT.to_owned() } else { subject }
}

/// The summary of what was said of a commit without a subject of the user's.
pub(super) const WITHOUT_SUBJECT: &str = "Remarks made while working";
