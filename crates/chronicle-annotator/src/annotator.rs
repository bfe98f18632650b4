//! The writing agent: a model looks at a commit and at the session that made it, and writes down what the diff cannot say.
//!
//! What it may see is gathered and bounded here, what it says is checked here; nothing that it says names a command, a
//! path to be written, or a commit. `docs/writing-agent.md` tells the rules.

mod backfill;
mod batch;
mod chunks;
mod collect;
mod conversation;
mod cross_chunk;
mod gather;
mod judge;
mod outcome;
mod plan;
mod prompt;
mod session;
mod shown_hunks;
mod structured;
mod texts;
mod toolbox;
mod tools;

#[cfg(test)]
mod tests;

pub use backfill::{Backfill, Estimate};
pub use batch::{Which, WriteCommand};
use chronicle::{Chronicle, WrittenOutcome, agent::AgentSession};
use chronicle_commits::{
    input::read_input,
    write::{self, AnnotateRequest, ByModel, Stamp},
};
use chronicle_core::{
    Source,
    restating::{Words, restates},
};
use chronicle_git::ObjectId;
use chronicle_llm::{Cancel, Limited, Model, ModelError};
use chronicle_workplace::{Bounds, Error, Workplace, WrittenTokens};
use collect::Collector;
use conversation::{Course, request_tokens};
use gather::Gathered;
pub use outcome::{PlannedRequest, ShownChange, WrittenCommit, WrittenReply};
use plan::Plan;
use serde_json::json;
use toolbox::Toolbox;

/// The summary of an annotation on a commit without a subject.
const WITHOUT_SUBJECT: &str = "Lessons of the commit";

/// For whom a model is asked.
pub(crate) struct Asking<'a> {
    /// Called off, it ends soon.
    pub(crate) cancel: &'a Cancel,
    /// Whether one commit is looked at, or history.
    pub(crate) source: Source,
    /// The session that made the commit, where its transcript does not say so yet.
    pub(crate) maker: Option<&'a AgentSession>,
}

/// Lets a model write annotations, of the commits of one repository.
#[derive(Clone, Copy)]
pub struct Annotator<'c> {
    pub(crate) chronicle: &'c Chronicle,
}

impl<'c> Annotator<'c> {
    /// The annotator for the repository of `chronicle`.
    #[must_use]
    pub fn new(chronicle: &'c Chronicle) -> Self {
        Self { chronicle }
    }

    pub(crate) fn workplace(&self) -> &'c Workplace {
        self.chronicle.workplace()
    }
}

impl Annotator<'_> {
    /// `model`, for what it may be asked about one commit.
    fn limited<'m>(&self, model: &'m dyn Model) -> Result<Limited<'m>, Error> {
        let settings = self.workplace().model_settings()?;
        let limit = |name: &str| settings.value(name).parse().unwrap_or(u64::MAX);
        Ok(Limited::new(model, limit("llm.maxRequestsPerCommit"), limit("llm.maxTokensPerCommit")))
    }

    /// Whether a model judges what it wrote.
    fn judges(&self) -> Result<bool, Error> {
        Ok(self.workplace().model_settings()?.value("judgeEntries") == "true")
    }

    /// What would be asked about a commit; no model is.
    pub(crate) fn plan_write(&self, id: ObjectId, bounds: Bounds) -> Result<WrittenCommit, Error> {
        let gathered = self.gather(id, None)?;
        let mut written = begun(&gathered, WrittenOutcome::Planned);
        if written.outcome != WrittenOutcome::Planned {
            return Ok(written);
        }
        let plan = Plan::of(&gathered, bounds)?;
        written.chunks = plan.chunks.len();
        for (at, chunk) in plan.chunks.iter().enumerate() {
            let request = if bounds.calls_tools {
                conversation::opening(&gathered, &plan, at)?
            } else {
                structured::request(&gathered, &plan, at)?
            };
            let pieces = chunk.parts.iter().flat_map(|part| {
                let planned = &plan.files[part.file];
                let file = &gathered.files[planned.file].path;
                planned.pieces[part.pieces.clone()].iter().map(move |piece| ShownChange {
                    file: file.clone(),
                    old: (piece.old.start, piece.old.len),
                    new: (piece.new.start, piece.new.len),
                })
            });
            written.requests.push(PlannedRequest {
                tokens: request_tokens(&request),
                limit: bounds.request_tokens(),
                shows: pieces.collect(),
            });
        }
        Ok(written)
    }

    /// Lets `model` look at a commit, and stores what it finds.
    pub(crate) fn write_up(
        &self,
        id: ObjectId,
        model: &dyn Model,
        asking: &Asking<'_>,
    ) -> Result<WrittenCommit, Error> {
        let gathered = self.gather(id, asking.maker)?;
        let mut written = begun(&gathered, WrittenOutcome::Stored);
        if written.outcome != WrittenOutcome::Stored {
            return Ok(written);
        }
        let model = &self.limited(model)?;
        let plan = Plan::of(&gathered, self.workplace().bounds(Some(model))?)?;
        let mut collector = Collector::new(&gathered);
        let mut course = self.ask(model, asking.cancel, &gathered, &plan, &mut collector)?;
        let n_emitted = collector.n_entries();
        if self.judges()? && !asking.cancel.is_cancelled() {
            course.add(judge::judge(model, asking.cancel, &gathered, &plan, &mut collector)?);
        }
        written.chunks = plan.chunks.len();
        written.turns = course.turns;
        let usage = course.usage;
        written.tokens = WrittenTokens {
            input: usage.input + usage.cache_read + usage.cache_written,
            output: usage.output,
        };
        written.partial.clone_from(&course.cut);
        written.redacted = course.redacted.iter().cloned().collect();
        written.dropped = collector.n_dropped;
        written.warnings = std::mem::take(&mut collector.warnings);
        if collector.is_empty() {
            (written.outcome, written.reason) = match &course.cut {
                _ if 0 < n_emitted => {
                    let reason = "the model judged that its own lessons only restate the change";
                    (WrittenOutcome::Nothing, Some(reason.to_owned()))
                }
                Some(cut) => (WrittenOutcome::Failed, Some(cut.clone())),
                None => (WrittenOutcome::Nothing, Some("the model found nothing worth keeping".to_owned())),
            };
            return Ok(written);
        }
        // Storing takes a look at the whole change by itself.
        drop(plan);
        gathered.texts.forget();
        self.store_written(&gathered, &collector, &course, model.name(), asking.source, &mut written)?;
        Ok(written)
    }

    /// Holds all conversations about a commit.
    fn ask(
        &self,
        model: &dyn Model,
        cancel: &Cancel,
        gathered: &Gathered<'_>,
        plan: &Plan,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Course, Error> {
        let mut course = Course::default();
        for chunk in 0..plan.chunks.len() {
            let asked = match plan.bounds.calls_tools {
                false => structured::ask(model, cancel, gathered, plan, chunk, collector),
                true => {
                    let toolbox = Toolbox { chronicle: self.chronicle, gathered, plan, chunk };
                    conversation::hold(model, cancel, &toolbox, collector).and_then(|mut held| {
                        // A model that only talks may answer when it is asked for a form.
                        if !held.has_called && held.cut.is_none() && held.summary.is_none() {
                            held.add(structured::ask(model, cancel, gathered, plan, chunk, collector)?);
                        }
                        Ok(held)
                    })
                }
            };
            match asked {
                Ok(one) => course.add(one),
                // What was emitted before is kept; a limit, or nobody to ask, ends it.
                Err(Error::Model { source }) if !collector.is_empty() || 0 < chunk => {
                    course.cut = Some(source.to_string());
                    let is_over = matches!(
                        source,
                        ModelError::TooDear { .. } | ModelError::Exhausted { .. } | ModelError::Cancelled
                    );
                    if is_over || collector.is_empty() {
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if 1 < plan.chunks.len() && !collector.is_empty() && !cancel.is_cancelled() {
            course.add(cross_chunk::look(model, cancel, gathered, plan, collector)?);
        }
        Ok(course)
    }

    /// Stores what was taken in, on the way of every annotation.
    fn store_written(
        &self,
        gathered: &Gathered<'_>,
        collector: &Collector<'_, '_>,
        course: &Course,
        model: &str,
        source: Source,
        written: &mut WrittenCommit,
    ) -> Result<(), Error> {
        let is_enhanced = !gathered.said.is_empty() || gathered.session.is_some();
        let input = json!({
            "summary": summary(gathered, collector, course),
            "wisdom": collector.wisdom,
            "regions": collector.regions,
            "cross_cutting": collector.cross_cutting,
            "task": gathered.said.task,
            "context_level": if is_enhanced { "enhanced" } else { "inferred" },
        });
        let read = read_input(input.to_string().as_bytes())?;
        let (regions, cross_cutting) = (read.input.read_regions()?, read.input.read_cross_cutting()?);
        (written.wisdom, written.regions) = (read.input.wisdom.len(), regions.len());
        written.cross_cutting = cross_cutting.len();
        written.warnings.extend(read.warnings);
        written.redacted.extend(read.redacted.iter().map(|kind| kind.name().to_owned()));
        written.redacted.sort_unstable();
        written.redacted.dedup();
        let request = AnnotateRequest {
            commit: gathered.commit.id,
            summary: read.input.summary.clone().unwrap_or_default(),
            input: read.input,
            regions,
            cross_cutting,
            is_automatic: false,
            replace: Vec::new(),
            replace_summary: false,
            model: Some(ByModel {
                name: model.to_owned(),
                source,
                session: gathered.session.as_ref().map(|session| session.name.clone()),
                notes: course.cut.as_ref().map(|cut| format!("partial: {cut}")),
            }),
        };
        let author = gathered.repository.author_name();
        let mut stamp =
            Stamp { now: self.workplace().now(), author, new_id: &mut chronicle_workplace::new_id };
        let annotated = write::annotate(gathered.repository, &request, &mut stamp)?;
        written.warnings.extend(annotated.warnings);
        written.stored = annotated.stored;
        if let Some(reason) = annotated.unchanged {
            (written.outcome, written.reason) = (WrittenOutcome::Annotated, Some(reason));
        }
        Ok(())
    }
}

/// What is known of a commit before anybody is asked.
fn begun(gathered: &Gathered<'_>, outcome: WrittenOutcome) -> WrittenCommit {
    let subject = chronicle_commits::input::wash(&gathered.commit.subject()).0;
    let mut written = WrittenCommit::new(gathered.commit.id.to_string(), subject, outcome);
    written.session = gathered.session.as_ref().map(|session| session.name.clone());
    written.files = gathered.files.len();
    written.changed_lines = gathered.n_changed();
    written.aside.clone_from(&gathered.aside);
    if gathered.is_annotated {
        written.outcome = WrittenOutcome::Annotated;
        written.reason = Some("the commit is annotated already".to_owned());
    } else if let Some(reason) = &gathered.trivial {
        written.outcome = WrittenOutcome::Trivial;
        written.reason = Some(reason.clone());
    }
    written
}

/// The summary: the model's own, the first thing that it says of the code, or the commit's subject.
fn summary(gathered: &Gathered<'_>, collector: &Collector<'_, '_>, course: &Course) -> String {
    let message = Words::of(&gathered.commit.message);
    let says_more = |text: &&str| !text.trim().is_empty() && !restates(text, &message);
    let intents = collector.regions.iter().filter_map(|region| region["intent"].as_str());
    let lessons = collector.wisdom.iter().filter_map(|lesson| lesson["content"].as_str());
    let concerns = collector.cross_cutting.iter().filter_map(|concern| concern["description"].as_str());
    let own = course.summary.as_deref().into_iter();
    let found = own.chain(intents).chain(lessons).chain(concerns).find(says_more);
    let subject = gathered.commit.subject();
    let text = found.unwrap_or(if subject.is_empty() { WITHOUT_SUBJECT } else { &subject });
    text.trim().to_owned()
}
