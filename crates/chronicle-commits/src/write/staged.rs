//! What was staged for commits, and goes to those it belongs to.

use chronicle_core::{Annotation, Category, Entry, EntryId, Lines, Origin};
use chronicle_git::{NOTES_REF, NotesEdit, ObjectId, Repository};

use super::{
    Stamp,
    document::{locate, remarks_document, short},
    store::fold_in_once,
};
use crate::{
    error::Result,
    write::{
        context::AuthorContext,
        derive::Facts,
        input::wash,
        staging::{Staged, StagedRemark, Staging},
    },
};

/// What is to be stored, by commit.
pub(super) type Documents = Vec<(ObjectId, Annotation)>;

/// Takes what was used up out of the staging.
pub(super) fn clear(
    staging: &mut Staging,
    consumed: &[(EntryId, ObjectId)],
    said: &[AuthorContext],
) -> Result<()> {
    staging.retain(|remark| !consumed.iter().any(|(id, _)| *id == id_of(remark)))?;
    staging.retain_contexts(|context| !said.contains(context))
}

/// What is staged, and whether only that counts whose commit was made already.
#[derive(Clone, Copy)]
pub(super) struct Waiting<'a> {
    pub(super) staging: Option<&'a Staging>,
    pub(super) is_only_overdue: bool,
}

/// What waits for a commit on the way to HEAD, as one document for each such commit; and what authors
/// said ahead of it.
pub(super) fn staged(
    repository: &Repository,
    waiting: Waiting<'_>,
    facts: &mut Facts<'_>,
    stamp: &Stamp<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Documents, Vec<AuthorContext>)> {
    let mut documents = Documents::new();
    let mut n_elsewhere = 0;
    let Waiting { staging, is_only_overdue } = waiting;
    for remark in staging.into_iter().flat_map(Staging::remarks) {
        if is_only_overdue && remark.waits(repository, facts.commit.id)? {
            continue;
        }
        let Staged::To(commit) = remark.belongs_to(repository, facts.commit.id)? else {
            n_elsewhere += 1;
            continue;
        };
        let entry = with_facts(repository, facts, commit, |facts| remark_entry(facts, remark, warnings))?;
        let document = document_of(repository, &mut documents, commit, stamp)?;
        document.consumed.push(entry.id.clone());
        document.wisdom.push(entry);
    }
    if 0 < n_elsewhere {
        warnings.push(format!("{n_elsewhere} staged remarks were made on another branch and stay staged"));
    }
    let mut said = Vec::new();
    for context in staging.into_iter().flat_map(Staging::contexts) {
        // Who unites commits has to be there when the commits are named.
        if is_only_overdue && !context.squash_sources.is_empty() {
            continue;
        }
        if let Staged::To(commit) = context.belongs_to(repository, facts.commit.id)? {
            said.push(context.clone());
            if !context.has_words() {
                continue;
            }
            let document = document_of(repository, &mut documents, commit, stamp)?;
            with_facts(repository, facts, commit, |facts| {
                context.add_to(document, &key_of(context, commit), facts, repository)
            })?;
        }
    }
    Ok((documents, said))
}

/// Does something with the facts of `commit`, which `facts` may be about already.
pub(super) fn with_facts<T>(
    repository: &Repository,
    facts: &mut Facts<'_>,
    commit: ObjectId,
    mut act: impl FnMut(&mut Facts<'_>) -> Result<T>,
) -> Result<T> {
    if commit == facts.commit.id { act(facts) } else { act(&mut Facts::of(repository, commit)?) }
}

pub(super) fn document_of<'d>(
    repository: &Repository,
    documents: &'d mut Documents,
    commit: ObjectId,
    stamp: &Stamp<'_>,
) -> Result<&'d mut Annotation> {
    if !documents.iter().any(|(bound, _)| *bound == commit) {
        documents.push((commit, remarks_document(repository, commit, stamp)?));
    }
    let found = documents.iter_mut().find(|(bound, _)| *bound == commit);
    Ok(&mut found.expect("pushed above").1)
}

/// What names the saying; one without an id is known by its words and its commit.
pub(super) fn key_of(context: &AuthorContext, commit: ObjectId) -> EntryId {
    context.id.clone().unwrap_or_else(|| {
        let words = serde_json::to_string(context).expect("a context is plain data");
        EntryId::derived("context", &commit.to_string(), &words, None, None)
    })
}

/// What was bound to commits without being asked for an annotation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bound {
    /// The commits that have something new to say.
    pub commits: Vec<ObjectId>,
    /// Commits that HEAD unites, as their author names them.
    pub squash_sources: Vec<String>,
}

/// Gives staged remarks and contexts to the commits that they belong to, and `said` to HEAD.
///
/// Whatever was given once is not given again.
///
/// # Errors
/// When the commit or the notes cannot be read or written. What is staged stays staged then.
pub fn bind(repository: &Repository, said: Option<&AuthorContext>, stamp: &Stamp<'_>) -> Result<Bound> {
    bind_some(repository, said, stamp, false)
}

/// Gives staged remarks and contexts to the commits that they belong to where that was not done when the commit
/// was made. What waits for the next commit goes on waiting.
///
/// # Errors
/// When the commit or the notes cannot be read or written. What is staged stays staged then.
pub fn bind_overdue(repository: &Repository, stamp: &Stamp<'_>) -> Result<Bound> {
    if !Staging::has_any(repository.git_dir()) || repository.head()?.is_none() {
        return Ok(Bound::default());
    }
    bind_some(repository, None, stamp, true)
}

pub(super) fn bind_some(
    repository: &Repository,
    said: Option<&AuthorContext>,
    stamp: &Stamp<'_>,
    is_only_overdue: bool,
) -> Result<Bound> {
    let head = repository.born_head()?;
    let mut staging = Staging::open(repository)?;
    let mut facts = Facts::of(repository, head)?;
    let mut unheard = Vec::new();
    let waiting = Waiting { staging: Some(&staging), is_only_overdue };
    let (mut documents, mut contexts) = staged(repository, waiting, &mut facts, stamp, &mut unheard)?;
    if let Some(said) = said {
        if said.has_words() {
            let document = document_of(repository, &mut documents, head, stamp)?;
            said.add_to(document, &key_of(said, head), &mut facts, repository)?;
        }
        contexts.push(said.clone());
    }
    let mut bound = Bound::default();
    bound.squash_sources.extend(contexts.iter().flat_map(|context| context.squash_sources.clone()));
    if documents.is_empty() {
        clear(&mut staging, &[], &contexts)?;
        return Ok(bound);
    }
    (bound.commits, _) = repository.edit_notes(
        NOTES_REF,
        &format!("chronicle: what was staged for {}", short(head)),
        |notes: &mut NotesEdit<'_>| -> Result<Vec<ObjectId>> {
            let mut commits = Vec::new();
            for (commit, document) in &documents {
                if fold_in_once(repository, notes, *commit, document.clone())? {
                    commits.push(*commit);
                }
            }
            Ok(commits)
        },
    )?;
    let consumed = documents
        .iter()
        .flat_map(|(commit, document)| document.consumed.iter().map(|id| (id.clone(), *commit)));
    clear(&mut staging, &consumed.collect::<Vec<_>>(), &contexts)?;
    Ok(bound)
}

pub(super) fn remark_entry(
    facts: &mut Facts<'_>,
    remark: &StagedRemark,
    warnings: &mut Vec<String>,
) -> Result<Entry> {
    // Other tools stage remarks too, and do not look for secrets.
    let (text, _secrets) = wash(&remark.text);
    let mut entry = Entry::new(id_of(remark), remark.category.unwrap_or(Category::Insight), text.trim());
    entry.origin = Some(Origin::Author);
    if let Some(file) = &remark.file {
        // The lines are those of the working tree when the remark was made; the commit may have moved them.
        let found = match (&remark.sketch, facts.content(file)?) {
            (Some(sketch), Some(content)) => sketch.likeliest(&Lines::new(content)),
            _ => None,
        };
        locate(facts, &mut entry, file.clone(), found, warnings)?;
    }
    Ok(entry)
}

/// A remark's id; one that a released tool staged gets the id of its words.
pub(super) fn id_of(remark: &StagedRemark) -> EntryId {
    let category = remark.category.unwrap_or(Category::Insight);
    remark.id.clone().unwrap_or_else(|| EntryId::derived("staged", category.name(), &remark.text, None, None))
}
