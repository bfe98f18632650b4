//! What sessions with agents left behind.

use chronicle::{Chronicle, How, ask::AskCommand, counted};
use chronicle_memory::{
    brief::{BriefCommand, DEFAULT_BUDGET},
    find::{FindCommand, TURN_KINDS},
    learning::PreferencesCommand,
    threads::{PendingCommand, ThreadAct},
};
use chronicle_render::{self as render, Format, View};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::mcp::{
    refusal::Refusal,
    reply::{Ask, Reply},
};

/// As many hits, and as many threads, as the command line lists.
const HITS: usize = 10;
const THREADS: usize = 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BriefArgs {
    /// Longest answer, in characters
    #[schemars(skip)]
    budget: Option<usize>,
    /// Another project: name or folder
    project: Option<String>,
    /// All projects
    #[serde(default)]
    #[schemars(skip)]
    all: bool,
}

impl Ask for BriefArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let Self { budget, project, all } = self;
        one_place(project.as_ref(), all)?;
        let budget = budget.unwrap_or(DEFAULT_BUDGET);
        let measure = render::characters_of_brief(Format::Json, chronicle.workplace().now());
        let brief = chronicle.memory().brief(&BriefCommand {
            project,
            all,
            budget,
            compacted: None,
            measure: &measure,
        })?;
        let nothing = match brief.n_elsewhere {
            0 => "nothing is remembered yet",
            _ => "nothing is remembered about this project; `all` shows others",
        };
        let markdown = render::brief(&brief, Format::Markdown, view);
        Ok(Reply::new(&brief, &markdown, view, nothing, &[]))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PendingArgs {
    /// Another project: name or folder
    #[schemars(skip)]
    project: Option<String>,
    /// All projects
    #[serde(default)]
    all: bool,
    /// What nobody mentioned for 30 days, too
    #[serde(default)]
    #[schemars(skip)]
    archived: bool,
    #[schemars(skip)]
    limit: Option<usize>,
}

impl Ask for PendingArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let Self { project, all, archived, limit } = self;
        one_place(project.as_ref(), all)?;
        let limit = limit.unwrap_or(THREADS);
        let pending =
            chronicle.memory().threads().pending(&PendingCommand { project, all, archived, limit })?;
        let nothing = match (pending.n_more, pending.n_archived, pending.n_elsewhere) {
            (0, 0, 0) => "nothing is open".to_owned(),
            (0, 0, n) => format!("nothing is open here; {} in other projects (`all`)", counted(n, "thread")),
            (0, n, _) => format!("nothing is open; {} (`archived`)", counted(n, "archived thread")),
            (n, ..) => format!("{n} open"),
        };
        let markdown = render::pending(&pending, Format::Markdown, view);
        Ok(Reply::new(&pending, &markdown, view, &nothing, &pending.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindArgs {
    /// The question, in plain words
    query: String,
    /// Another project: name or folder
    #[schemars(skip)]
    project: Option<String>,
    /// All projects
    #[serde(default)]
    all: bool,
    #[schemars(skip)]
    branch: Option<String>,
    /// Date, or such as 2 weeks
    since: Option<String>,
    /// Sessions that changed this file or folder
    file: Option<String>,
    #[serde(default)]
    #[schemars(skip)]
    kind: Vec<String>,
    #[schemars(skip)]
    limit: Option<usize>,
}

impl Ask for FindArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let Self { query, project, all, branch, since, file, kind, limit } = self;
        one_place(project.as_ref(), all)?;
        if let Some(unknown) = kind.iter().find(|kind| !TURN_KINDS.contains(&kind.as_str())) {
            let reason = format!("unknown kind `{unknown}`; there are {}", TURN_KINDS.join(", "));
            return Err(Refusal::Arguments(reason));
        }
        let limit = limit.unwrap_or(HITS);
        let found = chronicle.find(&FindCommand {
            query,
            project,
            is_all: all,
            branch,
            since,
            file,
            kinds: kind,
            limit,
        })?;
        let is_empty = found.is_empty();
        let nothing =
            if is_empty { "nothing was found" } else { "nothing was found here; `all` looks elsewhere" };
        let markdown = render::found(&found, Format::Markdown, view);
        Ok(Reply::new(&found, &markdown, view, nothing, &[]))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskArgs {
    question: String,
    /// Another project: name or folder
    project: Option<String>,
    /// All projects
    #[serde(default)]
    all: bool,
}

impl Ask for AskArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let Self { question, project, all } = self;
        one_place(project.as_ref(), all)?;
        // Who asks is a model, and words the answer itself.
        let command = AskCommand { question, project, is_all: all, is_plain: true };
        let measure = render::characters_of_brief(Format::Markdown, chronicle.workplace().now());
        let asked = chronicle.answer(&command, &measure)?;
        let markdown = render::asked(&asked, Format::Markdown, view);
        Ok(Reply::new(&asked, &markdown, view, "nothing was found", &asked.warnings))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreferencesArgs {
    /// Only what this project shows: name or folder
    project: Option<String>,
}

impl Ask for PreferencesArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let command = PreferencesCommand { project: self.project, ..PreferencesCommand::default() };
        let found = chronicle.memory().learning().preferences(&command)?;
        let markdown = render::preferences(&found, false, Format::Markdown, view);
        Ok(Reply::new(&found, &markdown, view, "no preferences of the human are known", &[]))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveArgs {
    /// As chronicle_pending shows them
    ids: Vec<String>,
    how: Option<How>,
    /// What came of it
    note: Option<String>,
}

impl Ask for ResolveArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        if self.ids.is_empty() {
            return Err(Refusal::Arguments("`ids` names no thread".to_owned()));
        }
        let act = ThreadAct::Close { how: self.how.unwrap_or(How::Completed), note: self.note };
        let reply = chronicle.memory().threads().change(&self.ids, &act)?;
        let warnings = super::writing::replaced(&reply.redacted);
        let markdown = render::threads(&reply, Format::Markdown, view);
        Ok(Reply::new(&reply, &markdown, view, "nothing was changed", &warnings))
    }
}

fn one_place(project: Option<&String>, all: bool) -> Result<(), Refusal> {
    match (project, all) {
        (Some(_), true) => Err(Refusal::Arguments("`project` and `all` do not go together".to_owned())),
        _ => Ok(()),
    }
}
