//! What is recorded while code is changed, and after.

use std::{borrow::Cow, path::PathBuf};

use chronicle::{
    AddKnowledge, AnnotateCommand, Category, Chronicle, FlagCommand, Given, NewKnowledge, NoteCommand,
    Sources, StagedRemark,
};
use chronicle_render::{self as render, Format, View};
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use crate::mcp::{
    budget::{DEFAULT_TOKENS, fit},
    refusal::Refusal,
    reply::{Ask, Reply, lines},
};

/// What to say of secrets that were taken out.
pub(super) fn replaced(kinds: &[String]) -> Vec<String> {
    let said = || format!("secrets were replaced before storing: {}", kinds.join(", "));
    if kinds.is_empty() { Vec::new() } else { vec![said()] }
}

/// The annotation, as `git chronicle annotate --live` takes it, and the command's options beside it.
#[derive(Deserialize)]
pub(crate) struct AnnotateArgs {
    commit: Option<String>,
    #[serde(default)]
    auto: bool,
    amend_source: Option<String>,
    #[serde(default)]
    squash_sources: Vec<String>,
    #[serde(default)]
    replace: Vec<String>,
    #[serde(default)]
    replace_summary: bool,
    /// The rest is the annotation; what it may hold is known where it is read.
    #[serde(flatten)]
    annotation: JsonObject,
}

/// [`AnnotateArgs`], as far as a model needs to know them.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct AnnotateForm {
    /// Why this approach, not what changed
    summary: Option<String>,
    /// The lessons
    #[serde(default)]
    wisdom: Vec<LessonForm>,
    /// What it was made for
    task: Option<String>,
    /// HEAD by default
    commit: Option<String>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct LessonForm {
    /// dead_end: tried and failed; gotcha: a trap
    category: Category,
    content: String,
    /// From the root of the repository
    file: Option<String>,
    /// Found in the commit's changes if left out
    lines: Option<LinesForm>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct LinesForm {
    start: u32,
    end: u32,
}

impl JsonSchema for AnnotateArgs {
    fn schema_name() -> Cow<'static, str> {
        AnnotateForm::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        AnnotateForm::json_schema(generator)
    }
}

impl Ask for AnnotateArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let has_words = !self.annotation.is_empty();
        let sources = !self.squash_sources.is_empty();
        let given = match (self.auto, self.amend_source, sources, has_words) {
            (false, None, false, true) => {
                Given::Json(Value::Object(self.annotation).to_string().into_bytes())
            }
            (true, None, false, false) => Given::Message,
            (false, Some(old), false, false) => Given::From(Sources::Amended(old)),
            (false, None, true, false) => Given::From(Sources::Squashed(self.squash_sources)),
            (false, None, false, false) => return Err(Refusal::Arguments("`summary` is missing".to_owned())),
            _ => {
                let reason = "`auto`, `amend_source` and `squash_sources` go with no summary or lessons, and not together";
                return Err(Refusal::Arguments(reason.to_owned()));
            }
        };
        let reply = chronicle.annotate(AnnotateCommand {
            given,
            commit: self.commit,
            replace: self.replace,
            replace_summary: self.replace_summary,
        })?;
        let mut warnings = reply.warnings.clone();
        warnings.extend(replaced(&reply.redacted));
        let markdown = render::stored(&reply, Format::Markdown, view);
        Ok(Reply::new(&reply, &markdown, view, "nothing was stored", &warnings))
    }
}

/// The remarks that wait for their commit.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
pub(crate) struct Staged {
    schema: String,
    staged: Vec<JsonObject>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoteArgs {
    text: Option<String>,
    category: Option<Category>,
    file: Option<PathBuf>,
    /// START:END, as the file is now
    lines: Option<String>,
    /// List the remarks that wait
    #[serde(default)]
    list: bool,
    /// Drop them
    #[serde(default)]
    clear: bool,
}

impl Ask for NoteArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let refuse = |reason: &str| Err(Refusal::Arguments(reason.to_owned()));
        let show = |remarks: &[StagedRemark], nothing: &str, redacted: &[String]| {
            let markdown = render::staged(remarks, Format::Markdown, view);
            Reply::new(remarks, &markdown, view, nothing, &replaced(redacted))
        };
        let lines = lines(self.lines.as_deref())?;
        let Self { text, category, file, list, clear, .. } = self;
        match (text, list, clear) {
            (Some(text), false, false) => {
                let (remark, redacted) = chronicle.note(&NoteCommand { text, category, file, lines })?;
                Ok(show(&[remark], "", &redacted))
            }
            _ if category.is_some() || file.is_some() || lines.is_some() => {
                refuse("`category`, `file` and `lines` go with `text`")
            }
            (None, true, false) => Ok(show(&chronicle.staged()?, "no remarks are staged", &[])),
            (None, false, true) => {
                let said = format!("{} staged remarks were dropped", chronicle.clear_staged()?);
                Ok(show(&[], &said, &[]))
            }
            (None, false, false) => refuse("`text` is missing"),
            _ => refuse("only one of `text`, `list` and `clear`"),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlagArgs {
    /// File, or id of one lesson
    path: PathBuf,
    /// Item of the file
    anchor: Option<String>,
    reason: String,
    /// All lessons that match
    #[serde(default)]
    all: bool,
}

impl Ask for FlagArgs {
    fn ask(self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let Self { path, anchor, reason, all } = self;
        let reply = chronicle.flag(&FlagCommand { path, anchor, reason, all })?;
        let mut warnings = reply.warnings.clone();
        warnings.extend(replaced(&reply.redacted));
        if !reply.changed {
            warnings.push(
                "several lessons match, so nothing was changed: set `path` to the id of one".to_owned(),
            );
        }
        let markdown = render::corrected(&reply, Format::Markdown, view);
        let shown = Reply::new(&reply, &markdown, view, "nothing was changed", &warnings);
        Ok(shown.refused(!reply.changed))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Add,
    Remove,
    Show,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnowledgeArgs {
    action: Option<Action>,
    /// list: what applies to it
    path: Option<PathBuf>,
    /// show, remove
    id: Option<String>,
    /// add: a rule
    rule: Option<String>,
    /// Where the rule holds
    scope: Option<String>,
    /// add: a directory
    module: Option<String>,
    /// What the module owns
    owns: Option<String>,
    /// Where it ends
    boundary: Option<String>,
    /// add: what not to do
    pattern: Option<String>,
    instead: Option<String>,
    /// Commit
    decided_in: Option<String>,
    #[schemars(extend("enum" = ["permanent", "provisional", "experimental"]))]
    stability: Option<String>,
    learned_from: Option<String>,
    max_tokens: Option<usize>,
}

impl Ask for KnowledgeArgs {
    fn ask(mut self, chronicle: &Chronicle, view: &View) -> Result<Reply, Refusal> {
        let max_tokens = self.max_tokens.unwrap_or(DEFAULT_TOKENS);
        let (path, id) = (self.path.take(), self.id.take());
        let reply = match (self.action.take().unwrap_or(Action::List), path, id) {
            (Action::List, path, None) => chronicle.knowledge(path.as_deref())?,
            (Action::Add, None, None) => chronicle.add_knowledge(&self.command()?)?,
            (Action::Show, None, Some(id)) => chronicle.show_knowledge(&id)?,
            (Action::Remove, None, Some(id)) => chronicle.remove_knowledge(&id)?,
            _ => {
                let reason = "`list` takes `path`; `show` and `remove` take `id`; `add` takes neither";
                return Err(Refusal::Arguments(reason.to_owned()));
            }
        };
        let reply = fit(reply, max_tokens, view);
        let mut warnings = reply.warnings.clone();
        warnings.extend(replaced(&reply.redacted));
        let markdown = render::knowledge(&reply, Format::Markdown, view);
        Ok(Reply::new(&reply, &markdown, view, "the repository has no knowledge yet", &warnings))
    }
}

impl KnowledgeArgs {
    fn command(self) -> Result<AddKnowledge, Refusal> {
        let Self { rule, scope, module, owns, boundary, pattern, instead, .. } = self;
        let is_known = |name: &str| ["permanent", "provisional", "experimental"].contains(&name);
        if self.stability.as_deref().is_some_and(|name| !is_known(name)) {
            let reason = "`stability` is permanent, provisional or experimental";
            return Err(Refusal::Arguments(reason.to_owned()));
        }
        let what = match (rule, module, pattern) {
            (Some(rule), None, None) if owns.is_none() && boundary.is_none() && instead.is_none() => {
                NewKnowledge::Convention { scope: scope.unwrap_or_else(|| "*".to_owned()), rule }
            }
            (None, Some(module), None) if scope.is_none() && instead.is_none() => {
                let (owns, boundary) = (owns.unwrap_or_default(), boundary.unwrap_or_default());
                NewKnowledge::Boundary { module, owns, boundary }
            }
            (None, None, Some(pattern)) if scope.is_none() && owns.is_none() && boundary.is_none() => {
                NewKnowledge::AntiPattern { pattern, instead: instead.unwrap_or_default() }
            }
            _ => {
                let reason = "add one of `rule` (with `scope`), `module` (with `owns`, `boundary`), `pattern` (with `instead`)";
                return Err(Refusal::Arguments(reason.to_owned()));
            }
        };
        let Self { decided_in, stability, learned_from, .. } = self;
        Ok(AddKnowledge { what, decided_in, stability, learned_from })
    }
}
