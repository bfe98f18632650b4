//! Stores why a change is the way it is.

use std::path::Path;

use chronicle_commits::{
    Said, SaidBy,
    input::{AnnotateInput, ReadInput, read_input, wash},
    resolve_pointers, stored_on,
    write::{self, AnnotateRequest, Annotated, Stamp},
};
use chronicle_core::{
    Annotation, EntryId,
    redaction::{self, gated},
    trivial::is_message_of_git,
};
use chronicle_git::{ObjectId, Repository};
use chronicle_workplace::{
    Error,
    error::{NoSummarySnafu, NotYourCommitSnafu, NotYourWordsSnafu},
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, Sources};

/// What an author hands in.
#[derive(Debug, Clone)]
pub enum Given {
    /// The JSON of an annotation.
    Json(Vec<u8>),
    /// What options say.
    Said(Said),
    /// Nothing: the commit's message speaks.
    Message,
    /// What is known about commits whose place this one took.
    From(Sources),
}

/// The request to store an annotation.
#[derive(Debug, Clone)]
pub struct AnnotateCommand {
    /// What to store.
    pub given: Given,
    /// The commit, as a revision; wins over the one in the JSON, and HEAD is the default.
    pub commit: Option<String>,
    /// Claims that the one lesson replaces.
    pub replace: Vec<String>,
    /// Whether the summary takes the place of one's own earlier one.
    pub replace_summary: bool,
}

/// What was stored, as it is echoed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AnnotateReply {
    /// Always `chronicle-annotate/v1`.
    pub schema: &'static str,
    /// Whether the annotation is stored now, by this call or an earlier one.
    pub success: bool,
    /// The commit.
    pub commit: String,
    /// Its subject.
    #[serde(skip)]
    pub subject: String,
    /// How many lessons are new.
    pub wisdom_written: usize,
    /// Ids of the new lessons.
    pub added: Vec<EntryId>,
    /// How many lessons were there before.
    pub already_known: usize,
    /// Staged remarks that were used up.
    pub consumed: Vec<EntryId>,
    /// Ids of what the repository now knows as a whole.
    pub knowledge: Vec<String>,
    /// Why nothing was stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<String>,
    /// Advice and remarks.
    pub warnings: Vec<String>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<String>,
    /// Who its claims are from that the user did not write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<SaidBy>,
    /// The whole annotation of the commit, as it is stored now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<Annotation>,
}

/// Who said what is stored on a commit, where it was not the user. It is stored, even if a note that a partial clone lacks
/// cannot be read now.
pub(crate) fn others_on(repository: &Repository, commit: ObjectId) -> Vec<SaidBy> {
    let stored = stored_on(repository, commit, &mut Vec::new());
    stored.map(|stored| stored.said_by_others()).unwrap_or_default()
}

impl Chronicle {
    /// Stores an annotation, and the staged remarks that belong to the commit.
    ///
    /// # Errors
    /// When the input is not of the right form, the commit is unknown, or the notes cannot be written.
    pub fn annotate(&self, command: AnnotateCommand) -> Result<AnnotateReply, Error> {
        let is_automatic = matches!(command.given, Given::Message);
        let (mut input, mut warnings, redacted) = match command.given {
            Given::From(sources) => {
                return self.annotate_from(&sources, command.commit.as_deref().unwrap_or("HEAD"));
            }
            Given::Json(bytes) => {
                let read = read_input(&bytes)?;
                (read.input, read.warnings, read.redacted)
            }
            Given::Said(said) => {
                let read = self.read_said(&said, command.commit.as_deref().unwrap_or("HEAD"))?;
                (read.input, read.warnings, read.redacted)
            }
            Given::Message => (AnnotateInput::default(), Vec::new(), Vec::new()),
        };
        let revision = command.commit.as_deref().or(input.commit.as_deref()).unwrap_or("HEAD");
        let commit = self.workplace.repository()?.resolve(revision)?;
        let (summary, from_message) = match is_automatic {
            true => self.message_summary(commit)?,
            false => (input.summary.clone().unwrap_or_default().trim().to_owned(), Vec::new()),
        };
        snafu::ensure!(!summary.is_empty(), NoSummarySnafu);
        let mut regions = input.read_regions()?;
        let pointers = input.wisdom.iter_mut().flat_map(|entry| &mut entry.related);
        let pointers = pointers.chain(regions.iter_mut().flat_map(|region| &mut region.related_annotations));
        resolve_pointers(self.workplace.repository()?, pointers, &mut warnings);
        self.agents().relate_to_shown(&mut input, &commit.to_string());
        let cross_cutting = input.read_cross_cutting()?;
        let request = AnnotateRequest {
            commit,
            summary,
            input,
            regions,
            cross_cutting,
            is_automatic,
            replace: command.replace.into_iter().map(EntryId).collect(),
            replace_summary: command.replace_summary,
            model: None,
        };
        let author = self.workplace.repository()?.author_name();
        let mut stamp = Stamp { now: self.workplace.now(), author, new_id: &mut chronicle_workplace::new_id };
        let Annotated {
            commit,
            subject,
            stored,
            added,
            n_known,
            consumed,
            knowledge,
            warnings: advice,
            unchanged,
            recovered,
        } = write::annotate(self.workplace.repository()?, &request, &mut stamp)?;
        warnings.extend(advice);
        warnings.extend(
            recovered.iter().map(|file| format!("removed `{}`, left by a dead process", file.display())),
        );
        Ok(AnnotateReply {
            schema: "chronicle-annotate/v1",
            success: true,
            commit: commit.to_string(),
            subject: gated(&subject),
            wisdom_written: added.len(),
            added,
            already_known: n_known,
            consumed: consumed.into_iter().map(|(id, _)| id).collect(),
            knowledge,
            unchanged,
            warnings,
            redacted: redacted
                .into_iter()
                .chain(from_message)
                .map(|kind: redaction::Kind| kind.name().to_owned())
                .collect(),
            others: others_on(self.workplace.repository()?, commit),
            stored,
        })
    }

    /// What options say of a commit, read as JSON is.
    fn read_said(&self, said: &Said, revision: &str) -> Result<ReadInput, Error> {
        said.check()?;
        let repository = self.workplace.repository()?;
        let spelled = |file: &str| {
            let named =
                repository.root_relative(self.workplace.directory(), Path::new(file)).unwrap_or_default();
            named.iter().map(ToString::to_string).collect()
        };
        let (input, remarks) = said.as_input(repository, repository.resolve(revision)?, &spelled)?;
        Ok(ReadInput::of_said(input, remarks)?)
    }

    /// The words of a commit's message: its subject, and its body where there is one.
    fn message_summary(&self, commit: ObjectId) -> Result<(String, Vec<redaction::Kind>), Error> {
        let commit = self.workplace.repository()?.commit(commit)?;
        snafu::ensure!(
            self.workplace.repository()?.is_by_user(&commit),
            NotYourCommitSnafu { commit: commit.id.to_string(), author: commit.author }
        );
        snafu::ensure!(
            !is_message_of_git(&commit.subject()),
            NotYourWordsSnafu { commit: commit.id.to_string() }
        );
        let is_trailer = |line: &str| {
            line.split_once(": ").is_some_and(|(key, _)| key.ends_with("-by") && !key.contains(' '))
        };
        let body: Vec<&str> = commit.body().lines().filter(|line| !is_trailer(line)).collect();
        let body = body.join("\n");
        let text = match body.trim() {
            "" => commit.subject(),
            body => format!("{}\n\n{body}", commit.subject()),
        };
        let (summary, redacted) = wash(&text);
        Ok((summary.trim().to_owned(), redacted))
    }
}
