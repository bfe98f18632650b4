//! What an author says ahead of a commit, or around it.

use std::ffi::OsString;

use chronicle_commits::{
    AuthorContext, Said, Staging,
    input::wash,
    split_words,
    write::{self, Bound, Stamp},
};
use chronicle_core::quality;
use chronicle_git::git_for_user;
use chronicle_workplace::{Error, error::EmptyContextSnafu};
use snafu::ensure;

use crate::{AnnotateCommand, AnnotateReply, Chronicle, Given};

/// What to say of the next commit.
#[derive(Debug, Clone, Default)]
pub struct ContextCommand {
    /// The task that the change is made for.
    pub task: Option<String>,
    /// Why this approach.
    pub reasoning: Option<String>,
    /// What the change assumes of code elsewhere.
    pub dependencies: Vec<String>,
    /// Labels, separated by commas.
    pub tags: Vec<String>,
}

/// What became of a commit that was made through us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The exit code of `git commit`.
    pub code: i32,
    /// What was said still waits for a commit.
    pub waits: bool,
    /// The commit that it went to.
    pub stored_on: Option<String>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<String>,
    /// Whether the reason and the lessons were left out, since there is no commit to store them on.
    pub is_unsaid: bool,
    /// Advice and remarks on the reason and the lessons.
    pub warnings: Vec<String>,
}

/// The parts of a context, as variables name them.
const PARTS: [&str; 5] = ["TASK", "REASONING", "DEPENDENCIES", "TAGS", "SQUASH_SOURCES"];
/// What such variables start with, the older name last.
const PREFIXES: [&str; 2] = ["CHRONICLE_", "ULTRAGIT_"];

impl Chronicle {
    /// Keeps what is said for the next commit; returns all that is kept for it, and the kinds of secrets
    /// that were taken out.
    ///
    /// # Errors
    /// When nothing is said, or it cannot be written.
    pub fn set_context(&self, command: &ContextCommand) -> Result<(AuthorContext, Vec<String>), Error> {
        let mut redacted = Vec::new();
        let context = washed(command, &mut redacted);
        ensure!(!context.is_empty(), EmptyContextSnafu);
        Ok((self.stage_context(context)?, redacted))
    }

    fn stage_context(&self, context: AuthorContext) -> Result<AuthorContext, Error> {
        let head = self.workplace.repository()?.head()?.map(|id| id.to_string());
        let staged = AuthorContext {
            timestamp: self.workplace.now().to_string(),
            id: Some(chronicle_workplace::new_id()),
            head,
            ..context
        };
        Ok(Staging::open(self.workplace.repository()?)?.add_context(staged)?)
    }

    /// What is kept for commits that are still to be made, oldest first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn contexts(&self) -> Result<Vec<AuthorContext>, Error> {
        Ok(Staging::peek_contexts(self.workplace.repository()?)?)
    }

    /// Drops what is kept for commits; returns for how many.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn clear_contexts(&self) -> Result<usize, Error> {
        let mut staging = Staging::open(self.workplace.repository()?)?;
        let n_contexts = staging.contexts().len();
        staging.retain_contexts(|_| false)?;
        Ok(n_contexts + staging.retain_strange_contexts(|_| false)?)
    }

    /// Runs `git commit ARGS` and stores what is said of the commit, here or in the environment.
    ///
    /// When git makes no commit, the context stays for the next one. The reason and the lessons of `said`, which name
    /// lines of this commit, do not; its task and tags are those of the context.
    ///
    /// # Errors
    /// When what is said is not of the right form, which keeps git from being started; when the context cannot be kept,
    /// git cannot be started, or the notes cannot be written.
    pub fn commit(
        &self,
        command: ContextCommand,
        mut said: Said,
        args: &[OsString],
    ) -> Result<Committed, Error> {
        said.check()?;
        said.summary = said.summary.filter(|summary| !wash(summary).0.trim().is_empty());
        let mut redacted = Vec::new();
        let (context, annotation) = told_apart(command, said);
        let mut staged = self.said_in_environment(&mut redacted).unwrap_or_default();
        staged.update(washed(&context, &mut redacted));
        let is_staged = !staged.is_empty();
        let before = self.workplace.repository()?.head()?;
        if is_staged {
            self.stage_context(staged)?;
        }
        let hidden: Vec<String> = variables().collect();
        let args = [&["commit".into()], args].concat();
        let code = git_for_user(self.workplace.directory(), &args, &hidden)?;
        // What was opened before may remember how refs were.
        // It says nothing of the environment again, but knows its user.
        let here = self.workplace.anew(self.workplace.directory(), false);
        let here = here.with_environment(|_| None).with_trust(self.workplace.trust_records());
        let mut after = Self::new(here);
        let head = after.workplace.repository()?.head()?;
        let is_made = code == 0 && head != before;
        let mut warnings: Vec<String> = self.left_out().into_iter().collect();
        if is_made {
            after.git_hooks().after_commit()?;
            // A session that was shown lessons is known by its environment.
            after.workplace = after.workplace.with_environment(self.workplace.environment());
            if let Some(said) = annotation.clone() {
                let reply = after.annotate_commit(said)?;
                warnings.extend(reply.warnings);
                redacted.extend(reply.redacted);
            }
        }
        let stored_on = head.filter(|_| (is_staged || annotation.is_some()) && is_made);
        Ok(Committed {
            code,
            waits: is_staged && !is_made,
            stored_on: stored_on.map(|id| id.to_string()),
            redacted,
            is_unsaid: annotation.is_some() && !is_made,
            warnings,
        })
    }

    /// Annotates HEAD, which was just made; without a reason its subject is the summary.
    fn annotate_commit(&self, mut said: Said) -> Result<AnnotateReply, Error> {
        let repository = self.workplace.repository()?;
        let head = repository.born_head()?;
        let subject = write::subject_said(repository, &repository.commit(head)?);
        let is_subject = said.summary.is_none();
        let summary = said.summary.get_or_insert_with(|| subject.clone()).clone();
        let mut reply = self.annotate(AnnotateCommand {
            given: Given::Said(said),
            commit: Some(head.to_string()),
            replace: Vec::new(),
            replace_summary: false,
        })?;
        if is_subject {
            let advice = quality::summary_advice(&summary, &repository.commit(head)?.subject());
            reply.warnings.retain(|warning| Some(warning) != advice.as_ref());
        }
        Ok(reply)
    }

    pub(crate) fn bind(&self, said: Option<&AuthorContext>) -> Result<Bound, Error> {
        let author = self.workplace.repository()?.author_name();
        let stamp = Stamp { now: self.workplace.now(), author, new_id: &mut chronicle_workplace::new_id };
        Ok(write::bind(self.workplace.repository()?, said, &stamp)?)
    }

    /// That a variable was left out, as an agent runs git.
    pub(crate) fn left_out(&self) -> Option<String> {
        let name = variables().find(|name| self.workplace.variable(name).is_some())?;
        self.workplace.is_of_agent().then(|| {
            format!("{name} is not read where an agent runs git: `git chronicle context set` records it")
        })
    }

    /// What the environment says of the commit that is being made. Where an agent runs git, tracked settings may have set it:
    /// then it says nothing.
    pub(crate) fn said_in_environment(&self, redacted: &mut Vec<String>) -> Option<AuthorContext> {
        if self.workplace.is_of_agent() {
            return None;
        }
        let part = |part: &str| {
            let named =
                PREFIXES.iter().find_map(|prefix| self.workplace.variable(&format!("{prefix}{part}")));
            named.filter(|value| !value.trim().is_empty())
        };
        let [task, reasoning, dependencies, tags, squash_sources] = PARTS.map(part);
        let command = ContextCommand {
            task,
            reasoning,
            dependencies: dependencies.into_iter().collect(),
            tags: tags.into_iter().collect(),
        };
        let mut context = washed(&command, redacted);
        context.squash_sources = squash_sources.as_deref().map(split_words).unwrap_or_default();
        (!context.is_empty()).then_some(context)
    }
}

/// The variables that say something of a commit.
fn variables() -> impl Iterator<Item = String> {
    PREFIXES.iter().flat_map(|prefix| PARTS.iter().map(move |part| format!("{prefix}{part}")))
}

/// What is staged for the commit, and what it is annotated with once it is made. A task and tags that come with reasons
/// and lessons belong to those.
fn told_apart(mut context: ContextCommand, said: Said) -> (ContextCommand, Option<Said>) {
    if said.is_empty() {
        return (context, None);
    }
    let said = Said { task: context.task.clone(), tags: context.tags.clone(), ..said };
    if context.reasoning.is_none() && context.dependencies.is_empty() {
        context = ContextCommand::default();
    }
    (context, Some(said))
}

/// What is said, without secrets and control characters.
fn washed(command: &ContextCommand, redacted: &mut Vec<String>) -> AuthorContext {
    let mut clean = |text: &str| {
        let (text, found) = wash(text);
        redacted.extend(found.into_iter().map(|kind| kind.name().to_owned()));
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    AuthorContext {
        task: command.task.as_deref().and_then(&mut clean),
        reasoning: command.reasoning.as_deref().and_then(&mut clean),
        dependencies: clean(&command.dependencies.join("\n")),
        tags: clean(&command.tags.join(",")).as_deref().map(split_words).unwrap_or_default(),
        ..AuthorContext::default()
    }
}
