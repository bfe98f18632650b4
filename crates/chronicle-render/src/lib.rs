//! Answers as text: markdown for models, JSON for programs, pretty for people.
//!
//! Whatever comes from a repository is hostile here: every text passes through
//! [`chronicle_core::plain`] on its way out, in every format.

mod blocks;
mod brief;
mod check;
mod config;
mod context;
mod correct;
mod deps;
mod editor;
mod find;
mod handoff;
mod health;
mod imports;
mod injected;
mod json;
mod learning;
mod machines;
mod markdown;
mod memory;
mod models;
mod outcome;
mod outline;
mod pretty;
mod proposals;
mod purge;
mod reconcile;
mod schema;
mod sessions;
mod setup;
mod share;
mod summary;
mod sync;
mod threads;
mod why;
mod words;

use std::str::FromStr;

use chronicle_core::{counted, reading::Reading};
use jiff::Timestamp;

use chronicle::{
    AnnotateReply, AuthorContext, Check, CorrectReply, Deps, Diagnosis, GcReply, ImportReply, KnowledgeReply,
    OutlineAnswer, PurgeReply, ReconcileReply, Setup, Shown, StagedRemark, Status, Summary, Synced, Timeline,
    Why,
    agent::{AgentTexts, Injected, InjectedSummary},
    find::Found,
};
use chronicle_annotator::{Candidates, WrittenReply};
use chronicle_memory::{
    blocks::{BlockHistory, BlockList, FoundLines, ShownBlock},
    brief::Brief,
    catch_up::CatchUp,
    digest::Digest,
    find::{About, Fix, How},
    handoff::Handoff,
    imports::ImportedMemory,
    sessions::{
        ExcludeReply, ForgetReply, IngestReply, MemoryTransfer, Resumption, SessionList, ShownSession,
        WordedReply,
    },
    share::{SharePulled, SharePushed, ShareStatus, SharedFinding},
    sleep::Consolidated,
    sync::{PairReply, SyncReply},
    threads::{Pending, ShownThread, ThreadReply},
    tiers::{MemoryItem, MemoryStatus},
};
use chronicle_workplace::{Allowance, AllowedRepositories, CostReport, LlmCheck, Settings};

pub use check::{Host, MAX_DEPENDENTS, annotations};
pub use editor::{lesson_head, lesson_in_place, unit_head, written_by};
pub use json::{Answer, error as json_error};
pub use learning::{asked, feedback, patterns, preferences, problems, profile, projects, skills};
pub use pretty::Code;
pub use schema::{SCHEMA_NAMES, schema};

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Structured text for models.
    #[default]
    Markdown,
    /// For programs; the shapes are promises.
    Json,
    /// For people at a terminal.
    Pretty,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "markdown" | "md" => Ok(Self::Markdown),
            "json" => Ok(Self::Json),
            "pretty" => Ok(Self::Pretty),
            other => Err(format!("unknown format `{other}`; use markdown, json or pretty")),
        }
    }
}

/// What a rendering depends on beside the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The time, for ages.
    pub now: Timestamp,
    /// Whether to use colour.
    pub colour: bool,
    /// Columns that text is wrapped to.
    pub width: usize,
    /// Whether to write empty fields and lesser details too.
    pub verbose: bool,
}

impl View {
    /// A plain view at a moment, without colour.
    #[must_use]
    pub fn plain(now: Timestamp) -> Self {
        Self { now, colour: false, width: DEFAULT_WIDTH, verbose: false }
    }
}

/// How agents are told.
pub const AGENT_TEXTS: AgentTexts = AgentTexts {
    brief: |answer, now| brief(answer, Format::Markdown, &View::plain(now)),
    handoff: |answer, now| handoff::body(answer, &View::plain(now)),
    reading: |answer, now| reading(answer, Format::Markdown, &View::plain(now)),
    trap: |item, now| markdown::trap(item, &View::plain(now)),
    lessons_of_read: |file, lessons, n_more, now| {
        markdown::lessons_of_read(file, lessons, n_more, &View::plain(now))
    },
};

/// How many characters a briefing has as it will be written.
pub fn characters_of_brief(format: Format, now: Timestamp) -> impl Fn(&Brief) -> usize {
    move |answer| brief(answer, format, &View::plain(now)).chars().count()
}

/// How many characters the text of a handoff has.
pub fn characters_of_handoff(now: Timestamp) -> impl Fn(&Handoff) -> usize {
    move |answer| handoff::body(answer, &View::plain(now)).chars().count()
}

/// Columns where no terminal says otherwise.
pub const DEFAULT_WIDTH: usize = 100;

/// A reading as text. An answer without items is empty text, but for JSON.
#[must_use]
pub fn reading(reading: &Reading, format: Format, view: &View) -> String {
    match format {
        Format::Json => reading.json_line(view.verbose),
        Format::Markdown => markdown::reading(reading, view),
        Format::Pretty => pretty::reading(reading, view, &|_, _| None),
    }
}

/// A reading for people, with lines of the code that it is about.
#[must_use]
pub fn reading_with_code(reading: &Reading, view: &View, code: Code<'_>) -> String {
    pretty::reading(reading, view, code)
}

/// One commit's annotation as text.
#[must_use]
pub fn shown(shown: &Shown, format: Format, view: &View) -> String {
    match format {
        Format::Json => shown.json_line(view.verbose),
        Format::Markdown => markdown::shown(shown, view),
        Format::Pretty => pretty::painted(&markdown::shown(shown, view), view),
    }
}

/// A timeline as text.
#[must_use]
pub fn timeline(timeline: &Timeline, format: Format, view: &View) -> String {
    match format {
        Format::Json => timeline.json_line(view.verbose),
        Format::Markdown => markdown::timeline(timeline, view),
        Format::Pretty => pretty::painted(&markdown::timeline(timeline, view), view),
    }
}

/// What was stored, as text.
#[must_use]
pub fn stored(reply: &AnnotateReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => markdown::stored(reply),
        Format::Pretty => pretty::painted(&markdown::stored(reply), view),
    }
}

/// What a model wrote, or would be asked, as text.
#[must_use]
pub fn written(reply: &WrittenReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => outcome::markdown(reply),
        Format::Pretty => pretty::painted(&outcome::markdown(reply), view),
    }
}

/// What a session may teach about a commit, as text.
#[must_use]
pub fn candidates(candidates: &Candidates, format: Format, view: &View) -> String {
    match format {
        Format::Json => candidates.json_line(view.verbose),
        Format::Markdown => proposals::markdown(candidates, view),
        Format::Pretty => pretty::painted(&proposals::markdown(candidates, view), view),
    }
}

/// What became of transcripts, as text.
#[must_use]
pub fn ingested(reply: &IngestReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => sessions::ingested(reply),
        Format::Pretty => pretty::painted(&sessions::ingested(reply), view),
    }
}

/// What a model made of sessions, as text.
#[must_use]
pub fn worded(reply: &WordedReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => sessions::worded(reply),
        Format::Pretty => pretty::painted(&sessions::worded(reply), view),
    }
}

/// Sessions as text.
#[must_use]
pub fn session_list(list: &SessionList, format: Format, view: &View) -> String {
    match format {
        Format::Json => list.json_line(view.verbose),
        Format::Markdown => sessions::list(list, view),
        Format::Pretty => pretty::painted(&sessions::list(list, view), view),
    }
}

/// One session as text.
#[must_use]
pub fn session(shown: &ShownSession, format: Format, view: &View) -> String {
    match format {
        Format::Json => shown.json_line(view.verbose),
        Format::Markdown => sessions::shown(shown, view),
        Format::Pretty => pretty::painted(&sessions::shown(shown, view), view),
    }
}

/// What was forgotten, as text.
#[must_use]
pub fn sessions_forgotten(reply: &ForgetReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => sessions::forgotten(reply),
        Format::Pretty => pretty::painted(&sessions::forgotten(reply), view),
    }
}

/// What was exported or imported of session memory, as text.
#[must_use]
pub fn memory_transfer(done: &MemoryTransfer, verb: &str, format: Format) -> String {
    match format {
        Format::Json => done.json_line(true),
        Format::Markdown | Format::Pretty => sessions::transfer(done, verb),
    }
}

/// What was done in a period, as text.
#[must_use]
pub fn digest(digest: &Digest, format: Format, view: &View) -> String {
    match format {
        Format::Json => digest.json_line(view.verbose),
        Format::Markdown => digest.text(),
        Format::Pretty => pretty::painted(&digest.text(), view),
    }
}

/// What was consolidated, as text.
#[must_use]
pub fn consolidated(done: &Consolidated, format: Format, view: &View) -> String {
    match format {
        Format::Json => done.json_line(view.verbose),
        Format::Markdown => memory::consolidated(done),
        Format::Pretty => pretty::painted(&memory::consolidated(done), view),
    }
}

/// One item of memory, as text.
#[must_use]
pub fn memory_item(item: &MemoryItem, format: Format, view: &View) -> String {
    match format {
        Format::Json => item.json_line(view.verbose),
        Format::Markdown => memory::item(item, view),
        Format::Pretty => pretty::painted(&memory::item(item, view), view),
    }
}

/// The tiers of memory, as text.
#[must_use]
pub fn memory_status(status: &MemoryStatus, format: Format, view: &View) -> String {
    match format {
        Format::Json => status.json_line(view.verbose),
        Format::Markdown => memory::status(status, view),
        Format::Pretty => pretty::painted(&memory::status(status, view), view),
    }
}

/// What is shared, as text.
#[must_use]
pub fn share_status(status: &ShareStatus, format: Format, view: &View) -> String {
    match format {
        Format::Json => status.json_line(view.verbose),
        Format::Markdown => share::status(status, view),
        Format::Pretty => pretty::painted(&share::status(status, view), view),
    }
}

/// What went out, as text.
#[must_use]
pub fn share_pushed(pushed: &SharePushed, format: Format, view: &View) -> String {
    match format {
        Format::Json => pushed.json_line(view.verbose),
        Format::Markdown | Format::Pretty => share::pushed(pushed),
    }
}

/// What came in, as text.
#[must_use]
pub fn share_pulled(pulled: &SharePulled, format: Format, view: &View) -> String {
    match format {
        Format::Json => pulled.json_line(view.verbose),
        Format::Markdown | Format::Pretty => share::pulled(pulled),
    }
}

/// What was found of what machines share, as text.
#[must_use]
pub fn found_shared(finding: &SharedFinding, format: Format, view: &View) -> String {
    match format {
        Format::Json => finding.json_line(view.verbose),
        Format::Markdown => share::found(finding, view, false),
        Format::Pretty => pretty::painted(&share::found(finding, view, view.colour), view),
    }
}

/// All blocks, as text.
#[must_use]
pub fn block_list(list: &BlockList, format: Format, view: &View) -> String {
    match format {
        Format::Json => list.json_line(view.verbose),
        Format::Markdown => blocks::list(list, view),
        Format::Pretty => pretty::painted(&blocks::list(list, view), view),
    }
}

/// One block, as text.
#[must_use]
pub fn block(block: &ShownBlock, format: Format, view: &View) -> String {
    match format {
        Format::Json => block.json_line(view.verbose),
        Format::Markdown => blocks::shown(block, view),
        Format::Pretty => pretty::painted(&blocks::shown(block, view), view),
    }
}

/// The versions of a block, as text.
#[must_use]
pub fn block_history(history: &BlockHistory, format: Format, view: &View) -> String {
    match format {
        Format::Json => history.json_line(view.verbose),
        Format::Markdown => blocks::history(history),
        Format::Pretty => pretty::painted(&blocks::history(history), view),
    }
}

/// Lines of blocks that were found, as text.
#[must_use]
pub fn block_lines(found: &FoundLines, format: Format, view: &View) -> String {
    match format {
        Format::Json => found.json_line(view.verbose),
        Format::Markdown => blocks::found(found),
        Format::Pretty => pretty::painted(&blocks::found(found), view),
    }
}

/// What agents were told, as text.
#[must_use]
pub fn injected(injected: &Injected, format: Format, view: &View) -> String {
    match format {
        Format::Json => injected.json_line(view.verbose),
        Format::Markdown => injected::markdown(injected, view),
        Format::Pretty => pretty::painted(&injected::markdown(injected, view), view),
    }
}

/// What goes on with a session, as text.
#[must_use]
pub fn resumption(answer: &Resumption, format: Format, view: &View) -> String {
    match format {
        Format::Json => answer.json_line(view.verbose),
        Format::Markdown | Format::Pretty => sessions::resumption(answer),
    }
}

/// Work that is handed over, as text to give to another agent.
#[must_use]
pub fn handoff(answer: &Handoff, format: Format, view: &View) -> String {
    match format {
        Format::Json => answer.json_line(view.verbose),
        Format::Markdown | Format::Pretty => handoff::to_paste(answer, view),
    }
}

/// Memory of another program that was taken in, as text.
#[must_use]
pub fn memory_imported(reply: &ImportedMemory, format: Format) -> String {
    match format {
        Format::Json => reply.json_line(true),
        Format::Markdown | Format::Pretty => imports::imported(reply),
    }
}

/// How a machine is paired, as text.
#[must_use]
pub fn paired(reply: &PairReply, format: Format) -> String {
    match format {
        Format::Json => reply.json_line(true),
        Format::Markdown | Format::Pretty => machines::paired(reply),
    }
}

/// What machines of one user exchanged, as text.
#[must_use]
pub fn machines_synced(reply: &SyncReply, format: Format) -> String {
    match format {
        Format::Json => reply.json_line(true),
        Format::Markdown | Format::Pretty => machines::synced(reply),
    }
}

/// The folders whose sessions are left out, as text.
#[must_use]
pub fn sessions_excluded(reply: &ExcludeReply, format: Format) -> String {
    match format {
        Format::Json => reply.json_line(true),
        Format::Markdown | Format::Pretty => sessions::excluded(reply),
    }
}

/// What was corrected, or what may have been meant, as text.
#[must_use]
pub fn corrected(reply: &CorrectReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => correct::markdown(reply, view),
        Format::Pretty => pretty::painted(&correct::markdown(reply, view), view),
    }
}

/// What the repository knows as a whole, as text.
#[must_use]
pub fn knowledge(reply: &KnowledgeReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => markdown::known(reply),
        Format::Pretty => pretty::painted(&markdown::known(reply), view),
    }
}

/// What was purged, as text.
#[must_use]
pub fn purged(reply: &PurgeReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => purge::markdown(reply),
        Format::Pretty => pretty::painted(&purge::markdown(reply), view),
    }
}

/// Staged remarks as text.
#[must_use]
pub fn staged(remarks: &[StagedRemark], format: Format, view: &View) -> String {
    match format {
        Format::Json => remarks.json_line(view.verbose),
        Format::Markdown => markdown::staged(remarks, view),
        Format::Pretty => pretty::painted(&markdown::staged(remarks, view), view),
    }
}

/// An outline as text.
#[must_use]
pub fn outline(answer: &OutlineAnswer, format: Format, view: &View) -> String {
    match format {
        Format::Json => answer.json_line(view.verbose),
        Format::Markdown => outline::markdown(answer),
        Format::Pretty => pretty::painted(&outline::markdown(answer), view),
    }
}

/// Who relies on some code, as text.
#[must_use]
pub fn deps(deps: &Deps, format: Format, view: &View) -> String {
    match format {
        Format::Json => deps.json_line(view.verbose),
        Format::Markdown => deps::markdown(deps, view),
        Format::Pretty => pretty::painted(&deps::markdown(deps, view), view),
    }
}

/// What was found in sessions, as text.
#[must_use]
pub fn found(found: &Found, format: Format, view: &View) -> String {
    match format {
        Format::Json => found.json_line(view.verbose),
        Format::Markdown => find::found(found, view, false),
        Format::Pretty => pretty::painted(&find::found(found, view, view.colour), view),
    }
}

/// What is known about a topic, as text.
#[must_use]
pub fn about(about: &About, format: Format, view: &View) -> String {
    match format {
        Format::Json => about.json_line(view.verbose),
        Format::Markdown => find::about(about, view, false, false),
        Format::Pretty => pretty::painted(&find::about(about, view, view.colour, false), view),
    }
}

/// How a task was done before, as text.
#[must_use]
pub fn how(how: &How, format: Format, view: &View) -> String {
    match format {
        Format::Json => how.json_line(view.verbose),
        Format::Markdown => find::how(how, view),
        Format::Pretty => pretty::painted(&find::how(how, view), view),
    }
}

/// What was done about an error before, as text.
#[must_use]
pub fn fix(fix: &Fix, format: Format, view: &View) -> String {
    match format {
        Format::Json => fix.json_line(view.verbose),
        Format::Markdown => find::fix(fix, view),
        Format::Pretty => pretty::painted(&find::fix(fix, view), view),
    }
}

/// The newest word on each code unit, as text.
#[must_use]
pub fn summary(summary: &Summary, format: Format, view: &View) -> String {
    match format {
        Format::Json => summary.json_line(view.verbose),
        Format::Markdown => summary::markdown(summary, view),
        Format::Pretty => pretty::painted(&summary::markdown(summary, view), view),
    }
}

/// Which models would be asked, as text.
#[must_use]
pub fn models(check: &LlmCheck, format: Format, view: &View) -> String {
    match format {
        Format::Json => check.json_line(view.verbose),
        Format::Markdown => models::check(check),
        Format::Pretty => pretty::painted(&models::check(check), view),
    }
}

/// What models cost, as text.
#[must_use]
pub fn cost(report: &CostReport, format: Format, view: &View) -> String {
    match format {
        Format::Json => report.json_line(view.verbose),
        Format::Markdown => models::cost(report),
        Format::Pretty => pretty::painted(&models::cost(report), view),
    }
}

/// What was exchanged with remotes, as text.
#[must_use]
pub fn sync(synced: &Synced, format: Format, view: &View) -> String {
    match format {
        Format::Json => synced.json_line(view.verbose),
        Format::Markdown => sync::markdown(synced),
        Format::Pretty => pretty::painted(&sync::markdown(synced), view),
    }
}

/// How much is annotated, as text.
#[must_use]
pub fn status(status: &Status, format: Format, view: &View) -> String {
    match format {
        Format::Json => status.json_line(view.verbose),
        Format::Markdown => health::status(status),
        Format::Pretty => pretty::painted(&health::status(status), view),
    }
}

/// What agents were told in numbers, as text.
#[must_use]
pub fn injected_summary(summary: &InjectedSummary, format: Format, view: &View) -> String {
    match format {
        Format::Json => summary.json_line(view.verbose),
        Format::Markdown => injected::summary(summary),
        Format::Pretty => pretty::painted(&injected::summary(summary), view),
    }
}

/// What is wrong, as text.
#[must_use]
pub fn diagnosis(diagnosis: &Diagnosis, format: Format, view: &View) -> String {
    match format {
        Format::Json => diagnosis.json_line(view.verbose),
        Format::Markdown => health::diagnosis(diagnosis),
        Format::Pretty => pretty::painted(&health::diagnosis(diagnosis), view),
    }
}

/// What was tidied away, as text.
#[must_use]
pub fn gc(reply: &GcReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => health::gc(reply),
        Format::Pretty => pretty::painted(&health::gc(reply), view),
    }
}

/// What was imported, as text.
#[must_use]
pub fn imported(reply: &ImportReply, format: Format) -> String {
    let ImportReply { lines, changed, elsewhere, .. } = reply;
    match format {
        Format::Json => reply.json_line(true),
        _ if 0 < *elsewhere => {
            format!(
                "{} read, {changed} stored or enriched, {elsewhere} on commits that are not here\n",
                counted(*lines, "note")
            )
        }
        _ => format!("{} read, {changed} stored or enriched\n", counted(*lines, "note")),
    }
}

/// Why lines are as they are, as text.
#[must_use]
pub fn why(why: &Why, format: Format, view: &View) -> String {
    match format {
        Format::Json => why.json_line(view.verbose),
        Format::Markdown => why::markdown(why, view),
        Format::Pretty => why::pretty(why, view, &|_, _| None),
    }
}

/// Why lines are as they are, for people: with lines of the code.
#[must_use]
pub fn why_with_code(why: &Why, view: &View, code: Code<'_>) -> String {
    why::pretty(why, view, code)
}

/// What a diff touches, as text.
#[must_use]
pub fn check(check: &Check, format: Format, view: &View) -> String {
    match format {
        Format::Json => check.json_line(view.verbose),
        Format::Markdown => check::markdown(check, view),
        Format::Pretty => check::pretty(check, view, &|_, _| None),
    }
}

/// What a diff touches, for people: with lines of the code as the diff leaves it.
#[must_use]
pub fn check_with_code(check: &Check, view: &View, code: Code<'_>) -> String {
    check::pretty(check, view, code)
}

/// What to know before going on, as text.
#[must_use]
pub fn brief(brief: &Brief, format: Format, view: &View) -> String {
    match format {
        Format::Json => brief.json_line(view.verbose),
        Format::Markdown => brief::markdown(brief, view),
        Format::Pretty => pretty::painted(&brief::markdown(brief, view), view),
    }
}

/// The last sessions, as text.
#[must_use]
pub fn catch_up(answer: &CatchUp, format: Format, view: &View) -> String {
    match format {
        Format::Json => answer.json_line(view.verbose),
        Format::Markdown => brief::catch_up(answer, view),
        Format::Pretty => pretty::painted(&brief::catch_up(answer, view), view),
    }
}

/// What is open, as text.
#[must_use]
pub fn pending(pending: &Pending, format: Format, view: &View) -> String {
    match format {
        Format::Json => pending.json_line(view.verbose),
        Format::Markdown => threads::pending(pending, view),
        Format::Pretty => pretty::painted(&threads::pending(pending, view), view),
    }
}

/// What was done to threads, as text.
#[must_use]
pub fn threads(reply: &ThreadReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => threads::reply(reply, view),
        Format::Pretty => pretty::painted(&threads::reply(reply, view), view),
    }
}

/// One thread with its history, as text.
#[must_use]
pub fn shown_thread(shown: &ShownThread, format: Format, view: &View) -> String {
    match format {
        Format::Json => shown.json_line(view.verbose),
        Format::Markdown => threads::shown(shown, view),
        Format::Pretty => pretty::painted(&threads::shown(shown, view), view),
    }
}

/// Settings as text.
#[must_use]
pub fn settings(settings: &Settings, format: Format, view: &View) -> String {
    match format {
        Format::Json => settings.json_line(view.verbose),
        Format::Markdown => config::markdown(settings),
        Format::Pretty => pretty::painted(&config::markdown(settings), view),
    }
}

/// What a repository wants to decide, as text.
#[must_use]
pub fn allowance(wanted: &Allowance, format: Format, view: &View) -> String {
    match format {
        Format::Json => wanted.json_line(view.verbose),
        Format::Markdown => config::allowance(wanted),
        Format::Pretty => pretty::painted(&config::allowance(wanted), view),
    }
}

/// What was allowed on this machine, as text.
#[must_use]
pub fn allowed(allowed: &AllowedRepositories, format: Format, view: &View) -> String {
    match format {
        Format::Json => allowed.json_line(view.verbose),
        Format::Markdown => config::allowed(allowed),
        Format::Pretty => pretty::painted(&config::allowed(allowed), view),
    }
}

/// What waits for commits that are still to be made, as text.
#[must_use]
pub fn contexts(contexts: &[AuthorContext], format: Format, view: &View) -> String {
    match format {
        Format::Json => contexts.json_line(view.verbose),
        Format::Markdown => context::markdown(contexts, view),
        Format::Pretty => pretty::painted(&context::markdown(contexts, view), view),
    }
}

/// What took the place of annotated commits, as text.
#[must_use]
pub fn reconciled(reply: &ReconcileReply, format: Format, view: &View) -> String {
    match format {
        Format::Json => reply.json_line(view.verbose),
        Format::Markdown => reconcile::markdown(reply),
        Format::Pretty => pretty::painted(&reconcile::markdown(reply), view),
    }
}

/// What was done to a repository, or would be, as text.
#[must_use]
pub fn setup(setup: &Setup, format: Format, view: &View) -> String {
    match format {
        Format::Json => setup.json_line(view.verbose),
        Format::Markdown => setup::markdown(setup),
        Format::Pretty => pretty::painted(&setup::markdown(setup), view),
    }
}
