//! The tools: a table, and how a call becomes an answer.

mod history;
mod lessons;
mod memory;
mod writing;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use chronicle::{
    AnnotateReply, Check, CorrectReply, Deps, KnowledgeReply, Reading, Summary, Timeline, Why, ask::Asked,
    find::Found,
};
use chronicle_memory::{
    brief::Brief,
    learning::Preferences,
    threads::{Pending, ThreadReply},
};
pub(super) use lessons::{DepsArgs, ReadArgs};
pub(super) use memory::{BriefArgs, PendingArgs};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;

use crate::mcp::{
    choice::Choice,
    host::Host,
    refusal::Refusal,
    reply::{Ask, Reply},
    schema::{self, DIRECTORY},
};

/// What a tool does to what is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Adds,
    /// The same again adds nothing.
    AddsOnce,
    Changes,
}

/// A tool.
struct Definition {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    call: fn(&Host, JsonObject) -> Result<Reply, Refusal>,
}

const fn tool<A: Ask, O: JsonSchema>(
    name: &'static str,
    title: &'static str,
    effect: Effect,
    description: &'static str,
) -> Definition {
    let (input, output) = (schema::input::<A>, schema::output::<O>);
    Definition { name, title, description, effect, input, output, call: asked::<A> }
}

/// All tools, in the order in which they are needed.
static TOOLS: [Definition; 16] = [
    tool::<BriefArgs, Brief>(
        "chronicle_brief",
        "Briefing",
        Effect::Reads,
        "Call when a task starts: where the last sessions stopped, what failed, what is open, what was decided.",
    ),
    tool::<ReadArgs, Reading>(
        "chronicle_read",
        "Lessons about code",
        Effect::Reads,
        "Call before editing code: its traps, dead ends, reasons and unfinished work, on the lines where they are now.",
    ),
    tool::<DepsArgs, Deps>(
        "chronicle_deps",
        "Who relies on code",
        Effect::Reads,
        "Call before changing what code does, or removing it: who declares to rely on it, and for what.",
    ),
    tool::<history::WhyArgs, Why>(
        "chronicle_why",
        "Why lines are as they are",
        Effect::Reads,
        "Call when a line looks odd or wrong: the commit that wrote it, its message and its lessons.",
    ),
    tool::<history::SummaryArgs, Summary>(
        "chronicle_summary",
        "Overview of a file",
        Effect::Reads,
        "For orientation in a file or directory: the newest word on each of its items. chronicle_read says more.",
    ),
    tool::<history::HistoryArgs, Timeline>(
        "chronicle_history",
        "How the thinking went",
        Effect::Reads,
        "How the thinking about a file changed, oldest first. Only when its past matters.",
    ),
    tool::<memory::FindArgs, Found>(
        "chronicle_find",
        "Search lessons, sessions",
        Effect::Reads,
        "Search lessons and earlier sessions: was this asked, tried, decided or solved before?",
    ),
    tool::<memory::AskArgs, Asked>(
        "chronicle_ask",
        "Ask session memory",
        Effect::Reads,
        "Answers with evidence what was decided about X, how Y is usually done, which projects use Z, or what was done last week.",
    ),
    tool::<memory::PreferencesArgs, Preferences>(
        "chronicle_preferences",
        "What the human prefers",
        Effect::Reads,
        "Call before choosing tools, libraries or a style: what the human said or did again and again.",
    ),
    tool::<PendingArgs, Pending>(
        "chronicle_pending",
        "Unfinished work",
        Effect::Reads,
        "List unfinished work with the ids that chronicle_resolve takes.",
    ),
    tool::<lessons::CheckArgs, Check>(
        "chronicle_check",
        "Lessons that a change touches",
        Effect::Reads,
        "Call before committing: which lessons the uncommitted change touches.",
    ),
    tool::<writing::NoteArgs, writing::Staged>(
        "chronicle_note",
        "Keep a remark",
        Effect::Changes,
        "While working, keep a trap, dead end or insight at once; the commit's annotation takes it in.",
    ),
    tool::<writing::AnnotateArgs, AnnotateReply>(
        "chronicle_annotate",
        "Record why",
        Effect::AddsOnce,
        "Call after every commit that is not trivial: record why it is so and what the code does not show. Only adds.",
    ),
    tool::<writing::FlagArgs, CorrectReply>(
        "chronicle_flag",
        "Doubt a lesson",
        Effect::Adds,
        "When a lesson proves wrong or outdated: readers see the reason next to it.",
    ),
    tool::<writing::KnowledgeArgs, KnowledgeReply>(
        "chronicle_knowledge",
        "Rules of the repository",
        Effect::Changes,
        "List, add or remove rules that hold beyond one commit: conventions, boundaries of modules, patterns to avoid.",
    ),
    tool::<memory::ResolveArgs, ThreadReply>(
        "chronicle_resolve",
        "Close unfinished work",
        Effect::Adds,
        "Close threads when their work is done or dropped.",
    ),
];

/// What every agent needs; the others are a command away.
const CORE: [&str; 8] = [
    "chronicle_brief",
    "chronicle_read",
    "chronicle_why",
    "chronicle_find",
    "chronicle_pending",
    "chronicle_check",
    "chronicle_annotate",
    "chronicle_resolve",
];

impl Choice {
    /// Those of `core`, of `all`, or the named ones, with or without `chronicle_` before their names.
    ///
    /// # Errors
    /// With the name that no tool has.
    pub fn of(names: &[String]) -> Result<Self, String> {
        let mut chosen = Vec::new();
        for name in names {
            match name.as_str() {
                "core" => chosen.extend(CORE),
                "all" => chosen.extend(TOOLS.iter().map(|tool| tool.name)),
                name => {
                    let is_it = |tool: &&Definition| {
                        tool.name == name || tool.name.strip_prefix("chronicle_") == Some(name)
                    };
                    let tool = TOOLS.iter().find(is_it).ok_or_else(|| name.to_owned())?;
                    chosen.push(tool.name);
                }
            }
        }
        Ok(Self(chosen))
    }

    /// The names that [`Choice::of`] knows beside `core` and `all`, without `chronicle_`.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        TOOLS.iter().filter_map(|tool| tool.name.strip_prefix("chronicle_")).collect()
    }
}

/// The tools as a client sees them.
pub(super) fn list(choice: &Choice) -> Vec<Tool> {
    TOOLS.iter().filter(|tool| choice.has(tool.name)).map(described).collect()
}

/// The tool of that name as a client sees it.
pub(super) fn find(choice: &Choice, name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name == name && choice.has(name)).map(described)
}

fn described(tool: &Definition) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        .destructive(tool.effect == Effect::Changes)
        .idempotent(matches!(tool.effect, Effect::Reads | Effect::AddsOnce))
        .open_world(false);
    Tool::new(tool.name, tool.description, (tool.input)())
        .with_title(tool.title)
        .with_raw_output_schema((tool.output)().into())
        .with_annotations(annotations)
}

/// Calls the tool of that name.
pub(super) fn call(host: &Host, name: &str, arguments: JsonObject) -> Result<CallToolResult, Refusal> {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return Err(Refusal::Arguments(format!("there is no tool `{name}`")));
    };
    if !host.tools.has(name) {
        let command = name.strip_prefix("chronicle_").unwrap_or(name);
        let reason = format!(
            "`{name}` is not served (`git chronicle mcp --tools`); `git chronicle {command}` does the same"
        );
        return Err(Refusal::Arguments(reason));
    }
    let in_tool = |refusal| match refusal {
        Refusal::Arguments(reason) => Refusal::Arguments(format!("{name}: {reason}")),
        other => other,
    };
    let reply = (tool.call)(host, arguments).map_err(in_tool)?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(chronicle::plain(&reply.text))]);
    let mut json = reply.json;
    show(&mut json);
    result.structured_content = Some(json);
    result.is_error = Some(reply.is_refused);
    Ok(result)
}

/// Takes out of every text what no reader sees, and apart what a model could take for a mark of its agent's: a client
/// may give the model these in place of the text.
fn show(value: &mut Value) {
    match value {
        Value::String(text) => {
            let shown = chronicle::plain(text);
            if matches!(shown, Cow::Owned(_)) || shown.contains('<') {
                *text = chronicle::without_fences(&shown);
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(show),
        Value::Object(map) => map.values_mut().for_each(show),
        _ => {}
    }
}

/// Puts one question, in the directory that the arguments name.
pub(super) fn asked<A: Ask>(host: &Host, mut arguments: JsonObject) -> Result<Reply, Refusal> {
    let directory = match arguments.shift_remove(DIRECTORY) {
        None | Some(Value::Null) => place(&arguments).unwrap_or_else(|| host.directory.clone()),
        Some(Value::String(directory)) => host.directory.join(directory),
        Some(_) => return Err(Refusal::Arguments(format!("`{DIRECTORY}` is not text"))),
    };
    if !directory.is_dir() {
        let reason = format!("`{DIRECTORY}` names no folder: {}", directory.display());
        return Err(Refusal::Arguments(reason));
    }
    // A question must not be told from another by what it was asked as: `"limit": null` asks for nothing.
    arguments.retain(|_, value| !value.is_null());
    let question: A = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal::Arguments(error.to_string()))?;
    question.ask(&host.chronicle(&directory), &host.view(false))
}

/// Where an absolute path is: it finds its repository by itself, be it another worktree's.
fn place(arguments: &JsonObject) -> Option<PathBuf> {
    let given = ["path", "file", "paths"].iter().find_map(|key| match arguments.get(*key)? {
        Value::String(path) => Some(path.as_str()),
        Value::Array(paths) => paths.first()?.as_str(),
        _ => None,
    })?;
    let path = Path::new(given);
    path.is_absolute().then(|| path.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned)).flatten()
}
