//! Stores annotations: checks them against the commit, finds out where they belong, folds them in.

use std::{collections::HashSet, path::PathBuf};

use chronicle_core::{
    Annotation, Category, Change, ContextLevel, CrossCutting, Entry, EntryId, LineRange, Lines, Note, Origin,
    Provenance, Region, Source, correction::Tier, quality, trivial::is_message_of_git,
};
use chronicle_git::{Commit, NOTES_REF, NotesEdit, ObjectId, Repository};
use jiff::Timestamp;

use crate::{
    anchoring, change,
    context::AuthorContext,
    derive::Facts,
    dropped::bring_back,
    error::{CommitsError, NoteTooLargeSnafu, NothingToReplaceWithSnafu, Result},
    input::{AnnotateInput, EntryInput, wash},
    knowledge, mend,
    merging::MAX_NOTE_BYTES,
    notebook::Notebook,
    staging::{Staged, StagedRemark, Staging},
    stored::parse,
    trust::{Trust, marks, record_own},
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
        warnings.extend(quality::wisdom_advice(
            facts.changes.len(),
            request.input.wisdom.len() + request.regions.len(),
        ));
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

fn short(id: ObjectId) -> String {
    id.to_hex_with_len(8).to_string()
}

/// The document that the request asks to store.
fn document(
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

fn entry(
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
            None => warnings.push(format!("`expires` is no RFC 3339 time, so it was left out: {expires}")),
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
fn locate(
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
fn checked(
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
fn supersede(repository: &Repository, document: &mut Annotation, ids: &[EntryId]) -> Result<()> {
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

/// What is to be stored, by commit.
type Documents = Vec<(ObjectId, Annotation)>;

/// An error with what caused it, on one line.
fn whole(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Takes what was used up out of the staging.
fn clear(staging: &mut Staging, consumed: &[(EntryId, ObjectId)], said: &[AuthorContext]) -> Result<()> {
    staging.retain(|remark| !consumed.iter().any(|(id, _)| *id == id_of(remark)))?;
    staging.retain_contexts(|context| !said.contains(context))
}

/// What is staged, and whether only that counts whose commit was made already.
#[derive(Clone, Copy)]
struct Waiting<'a> {
    staging: Option<&'a Staging>,
    is_only_overdue: bool,
}

/// What waits for a commit on the way to HEAD, as one document for each such commit; and what authors
/// said ahead of it.
fn staged(
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
fn with_facts<T>(
    repository: &Repository,
    facts: &mut Facts<'_>,
    commit: ObjectId,
    mut act: impl FnMut(&mut Facts<'_>) -> Result<T>,
) -> Result<T> {
    if commit == facts.commit.id { act(facts) } else { act(&mut Facts::of(repository, commit)?) }
}

fn document_of<'d>(
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
fn key_of(context: &AuthorContext, commit: ObjectId) -> EntryId {
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

fn bind_some(
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
        &format!("chronicle: what was said of {}", short(head)),
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

/// Folds in what was staged, unless the note has taken all of it in before; whether there was anything new.
fn fold_in_once(
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

/// A document for what was staged alone: its commit's subject says what it is about.
fn remarks_document(repository: &Repository, commit: ObjectId, stamp: &Stamp<'_>) -> Result<Annotation> {
    let facts = Facts::of(repository, commit)?;
    let summary = subject_said(repository, &facts.commit);
    let mut provenance = Provenance::new(Source::Live);
    provenance.author.clone_from(&stamp.author);
    let mut document = Annotation::new(&commit.to_string(), &stamp.now.to_string(), &summary, provenance);
    document.context_level = Some(ContextLevel::Enhanced);
    document.change = Some(change_of(repository, &facts)?);
    Ok(document)
}

fn change_of(repository: &Repository, facts: &Facts<'_>) -> Result<Change> {
    let changes = repository.plain_changes(facts.first_parent(), facts.commit.tree)?;
    change::of(repository, &facts.commit, &changes)
}

/// The subject of a commit as the summary of what is said of it, as far as it is the user's: neither somebody else's nor
/// what git makes of one.
#[must_use]
pub fn subject_said(repository: &Repository, commit: &Commit) -> String {
    let subject = commit.subject();
    let is_own = repository.is_by_user(commit) && !is_message_of_git(&subject);
    let subject = if is_own { wash(&subject).0 } else { String::new() };
    if subject.is_empty() { WITHOUT_SUBJECT.to_owned() } else { subject }
}

/// The summary of what was said of a commit without a subject of the user's.
const WITHOUT_SUBJECT: &str = "Remarks made while working";

fn remark_entry(facts: &mut Facts<'_>, remark: &StagedRemark, warnings: &mut Vec<String>) -> Result<Entry> {
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
fn id_of(remark: &StagedRemark) -> EntryId {
    let category = remark.category.unwrap_or(Category::Insight);
    remark.id.clone().unwrap_or_else(|| EntryId::derived("staged", category.name(), &remark.text, None, None))
}

/// What a store came to.
struct Outcome {
    annotation: Option<Annotation>,
    added: Vec<EntryId>,
    n_known: usize,
    unchanged: Option<String>,
}

fn store(
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

/// What of `note`, which is in our own ref, the user or the team says; all of it where nothing is recorded.
fn trusted(repository: &Repository, note: Note) -> Note {
    if repository.trust_records().is_none() {
        return note;
    }
    let trust = Trust::of(repository);
    let strange: HashSet<EntryId> = marks(&note)
        .into_iter()
        .filter(|(_, mark)| trust.voice(mark, [NOTES_REF]).tier == Tier::Unknown)
        .map(|(id, _)| id)
        .collect();
    if strange.is_empty() { note } else { note.without(&|id| strange.contains(id), "") }
}

/// Whether two entries are one claim about one place.
fn claims_the_same(left: &Entry, right: &Entry) -> bool {
    left.category == right.category
        && left.content == right.content
        && left.file == right.file
        && left.lines == right.lines
}

/// Whether `entry`, the same claim as `known`, says nothing around it that `known` does not say.
fn adds_nothing(known: &Entry, entry: &Entry) -> bool {
    entry.depends_on.iter().all(|item| known.depends_on.contains(item))
        && entry.related.iter().all(|item| known.related.contains(item))
        && entry.tags.iter().all(|item| known.tags.contains(item))
        && entry.supersedes.iter().all(|item| known.supersedes.contains(item))
        && (entry.anchor.is_none() || entry.anchor == known.anchor || is_found(known, entry))
        && (entry.origin.is_none() || entry.origin == known.origin)
        && (entry.expires.is_none() || entry.expires == known.expires)
}

/// Whether the anchor of `entry` is only the name of the lines that `known` has, too.
fn is_found(known: &Entry, entry: &Entry) -> bool {
    known.anchor.is_none() && known.lines.is_some() && known.lines == entry.lines
}

/// Whether a document without new entries says nothing that the note does not say already.
fn is_in(note: &Note, document: &Annotation) -> bool {
    let documents = note.documents();
    documents.iter().any(|known| known.summary == document.summary && !note.summary_is_replaced(known))
        && document.regions.iter().all(|region| {
            let mut regions = documents.iter().flat_map(|document| &document.regions);
            regions.any(|known| Region { id: region.id.clone(), ..known.clone() } == *region)
        })
        && document
            .cross_cutting
            .iter()
            .all(|concern| documents.iter().any(|known| known.cross_cutting.contains(concern)))
        && (document.task.is_none() || documents.iter().any(|known| known.task == document.task))
}

/// Folds what is written here and now into the note of `commit`.
fn fold_in(
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

/// The summaries that the author may replace: those shown for the commit, all of which must be one's own.
fn replaced_summaries(note: &Note, author: Option<&str>) -> Result<Vec<String>> {
    let documents = note.documents();
    let current: Vec<_> = documents.iter().filter(|document| !note.summary_is_replaced(document)).collect();
    let own: Vec<String> = current
        .iter()
        .filter(|document| document.provenance.author.as_deref() == author)
        .map(|document| document.fingerprint())
        .collect();
    match (own.is_empty(), current.first()) {
        (false, _) => Ok(own),
        (true, Some(other)) => {
            let author = other.provenance.author.clone().unwrap_or_else(|| "someone unnamed".to_owned());
            Err(CommitsError::NotYourSummary { author })
        }
        (true, None) => Err(CommitsError::NoSummary),
    }
}

/// Whether somebody annotated the commit: what was said ahead of it, and is kept under its subject, is no annotation yet.
#[must_use]
pub fn is_annotated(note: &Note, subject: &str) -> bool {
    let (subject, _secrets) = wash(subject);
    note.documents().into_iter().any(|document| !stands_in(document, &subject))
}

/// Whether a document has the commit's subject for a summary, because nothing else was said.
fn stands_in(document: &Annotation, subject: &str) -> bool {
    [subject, WITHOUT_SUBJECT].contains(&document.summary.as_str()) && !document.consumed.is_empty()
}

/// One's own documents that have the commit's subject for a summary, because nothing else was said.
fn stand_ins(note: &Note, subject: &str, author: Option<&str>) -> Vec<String> {
    let (subject, _secrets) = wash(subject);
    let own = note.documents().into_iter().filter(|document| {
        stands_in(document, &subject)
            && document.provenance.author.as_deref() == author
            && !note.summary_is_replaced(document)
    });
    own.map(Annotation::fingerprint).collect()
}
