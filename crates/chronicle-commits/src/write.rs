//! Stores annotations: checks them against the commit, finds out where they belong, folds them in.

pub(crate) mod anchoring;
mod check;
pub(crate) mod context;
pub(crate) mod derive;
mod document;
pub mod form;
pub mod input;
pub mod mend;
pub(crate) mod said;
mod staged;
pub(crate) mod staging;
mod store;

use std::path::PathBuf;

use chronicle_core::{Annotation, CrossCutting, EntryId, Region, Source, quality};
use chronicle_git::{NOTES_REF, NotesEdit, ObjectId, Repository};
use jiff::Timestamp;

pub use self::{
    check::is_annotated,
    document::subject_said,
    staged::{Bound, bind, bind_overdue},
};
use self::{
    document::{change_of, document, short, supersede},
    staged::{Waiting, clear, staged},
    store::{Outcome, store},
};
use crate::{
    error::Result,
    note::knowledge,
    share::dropped::bring_back,
    write::{derive::Facts, input::AnnotateInput, staging::Staging},
};

/// What to store, and on which commit.
pub struct AnnotateRequest {
    /// The commit.
    pub commit: ObjectId,
    /// What its author says; the summary must be there.
    pub summary: String,
    /// The lessons and everything else.
    pub input: AnnotateInput,
    /// The regions of the input, in the form in which they are stored.
    pub regions: Vec<Region>,
    /// The cross-cutting concerns of the input, in the form in which they are stored.
    pub cross_cutting: Vec<CrossCutting>,
    /// Whether the summary was only taken from the commit's message.
    pub is_automatic: bool,
    /// Claims that the one lesson of the input replaces.
    pub replace: Vec<EntryId>,
    /// Whether the summary takes the place of one's own earlier one.
    pub replace_summary: bool,
    /// The model that wrote all this, if one did.
    pub model: Option<ByModel>,
}

/// A model that looked at a commit for somebody. What it says is stored only where nobody annotated the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByModel {
    /// Its name.
    pub name: String,
    /// Whether it looked at one commit or goes through history.
    pub source: Source,
    /// The session that made the commit, if it is known.
    pub session: Option<String>,
    /// What is to be known of how this came to be.
    pub notes: Option<String>,
}

/// Who writes, and when.
pub struct Stamp<'a> {
    /// The time.
    pub now: Timestamp,
    /// The author's name.
    pub author: Option<String>,
    /// Makes ids that no one else makes.
    pub new_id: &'a mut dyn FnMut() -> EntryId,
}

/// What was stored.
#[derive(Debug, Clone)]
pub struct Annotated {
    /// The commit.
    pub commit: ObjectId,
    /// Its subject.
    pub subject: String,
    /// The whole annotation of the commit, as it is stored now; `None` when nothing was stored.
    pub stored: Option<Annotation>,
    /// Entries that are new.
    pub added: Vec<EntryId>,
    /// Entries that were there before.
    pub n_known: usize,
    /// Staged remarks that were used up, with the commits they went to.
    pub consumed: Vec<(EntryId, ObjectId)>,
    /// Ids of what the repository now knows as a whole.
    pub knowledge: Vec<String>,
    /// What the author should be told.
    pub warnings: Vec<String>,
    /// Why nothing was stored.
    pub unchanged: Option<String>,
    /// Left-over files of dead processes that were removed.
    pub recovered: Vec<PathBuf>,
}

/// Stores an annotation, and the staged remarks that belong to it.
///
/// # Errors
/// When the commit or the notes cannot be read or written. Nothing is stored then.
pub fn annotate(
    repository: &Repository,
    request: &AnnotateRequest,
    stamp: &mut Stamp<'_>,
) -> Result<Annotated> {
    let mut facts = Facts::of(repository, request.commit)?;
    let mut warnings = Vec::new();
    if !request.is_automatic && request.model.is_none() {
        warnings.extend(quality::summary_advice(&request.summary, &facts.commit.subject()));
    }
    let mut document = document(&mut facts, request, stamp, &mut warnings)?;
    document.change = Some(change_of(repository, &facts)?);
    supersede(repository, &mut document, &request.replace)?;

    // The staged remarks stay locked until they are either stored and gone, or untouched.
    let is_head = repository.head()? == Some(request.commit);
    let mut staging = is_head.then(|| Staging::open(repository)).transpose()?;
    warnings.extend(staging.as_ref().and_then(Staging::strange));
    let waiting = Waiting { staging: staging.as_ref(), is_only_overdue: false };
    let (staged, said) = staged(repository, waiting, &mut facts, stamp, &mut warnings)?;
    let knowledge = knowledge::named(&request.input.knowledge, stamp.new_id);

    let author = stamp.author.clone();
    let subject = facts.commit.subject();
    let ((outcome, knowledge), recovered) = repository.edit_notes(
        NOTES_REF,
        &format!("chronicle: annotate {}", short(request.commit)),
        |notes: &mut NotesEdit<'_>| -> Result<(Outcome, Vec<String>)> {
            let (document, author) = (document.clone(), author.as_deref());
            let outcome = store(repository, notes, request, document, &staged, &subject, author)?;
            Ok((outcome, knowledge::add_new(notes, repository, &knowledge)?))
        },
    )?;
    if !request.is_automatic && request.model.is_none() {
        // Lessons that were stored before, or staged, are the commit's as well.
        let stored = outcome.annotation.as_ref();
        let n_lessons = stored.map_or(0, |stored| stored.wisdom.len() + stored.regions.len());
        warnings.extend(quality::wisdom_advice(facts.changes.len(), n_lessons));
    }
    if recovered.is_unchecked {
        // What is to be stored is stored; what was dropped before can be brought back later, too.
        match bring_back(repository) {
            Ok(0) => {}
            Ok(n_back) => warnings.push(format!("another program had dropped notes; brought back: {n_back}")),
            Err(error) => {
                warnings.push(format!("notes that another program dropped are not back: {}", whole(&error)));
            }
        }
    }
    let consumed: Vec<(EntryId, ObjectId)> = staged
        .iter()
        .map(|(commit, document)| (document.consumed.clone(), *commit))
        .flat_map(|(ids, commit)| ids.into_iter().map(move |id| (id, commit)))
        .collect();
    if let Some(staging) = &mut staging
        && let Err(error) = clear(staging, &consumed, &said)
    {
        // All of it is stored, and the note remembers which remarks it has taken in.
        warnings.push(format!("the remarks are stored, but they are still staged: {}", whole(&error)));
    }
    Ok(Annotated {
        commit: request.commit,
        subject,
        stored: outcome.annotation,
        added: outcome.added,
        n_known: outcome.n_known,
        consumed,
        unchanged: outcome.unchanged.filter(|_| knowledge.is_empty()),
        knowledge,
        warnings,
        recovered: recovered.files,
    })
}

/// An error with what caused it, on one line.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
