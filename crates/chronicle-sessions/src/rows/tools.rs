//! What a call of a tool does, whatever its agent names it.

use std::borrow::Cow;

use crate::rows::json::{self, Raw};
use crate::rows::patch;
use crate::rows::reads::{FileRead, read_by_tool};
use crate::turn::{Edit, EditKind, Replaced, Todo, TodoItem, TodoState, Tool};

/// The longest text of an edit, a plan or a command that is kept; its place leads to the rest.
const LONGEST_TEXT: usize = 256 << 10;

/// The longest word on what a tool was asked.
const LONGEST_ABOUT: usize = 2_000;

/// What a call of a tool is about to do, as far as a hook can act on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolCall {
    /// It runs this command.
    Command(String),
    /// It changes these files.
    Edits(Vec<Edit>),
    /// It reads these files.
    Reads(Vec<FileRead>),
    /// Anything else.
    Other,
}

/// What the call of the tool `name` with the JSON `input` does, whichever agent calls it.
///
/// Texts longer than 256 KiB are cut.
#[must_use]
pub fn tool_call(name: &str, input: &str) -> ToolCall {
    json::whole(input).map_or(ToolCall::Other, |input| called_with(name, input))
}

fn called_with(name: &str, input: Raw<'_>) -> ToolCall {
    // Some agents hand the arguments over as a text that holds JSON, or the patch itself.
    if let Some(text) = json::text(input) {
        return match json::whole(&text) {
            Some(inner) if inner.get().starts_with('{') => called_with(name, inner),
            _ => called_with_text(name, &text).into(),
        };
    }
    match read_by_tool(name, input) {
        Some(reads) => ToolCall::Reads(reads),
        None => called(name, Some(input)).into(),
    }
}

impl From<Called> for ToolCall {
    fn from(called: Called) -> Self {
        match called {
            Called::Command(command) => Self::Command(command),
            Called::Edits(edits) => Self::Edits(edits),
            Called::Todo(_) | Called::Plan(_) | Called::Tool(_) => Self::Other,
        }
    }
}

/// What a call does.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Called {
    Command(String),
    Edits(Vec<Edit>),
    Todo(Todo),
    Plan(String),
    Tool(Tool),
}

impl Called {
    /// How much memory it holds, roughly.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Command(text) | Self::Plan(text) => text.len(),
            Self::Edits(edits) => {
                edits.iter().flat_map(|edit| &edit.replaced).map(|r| r.old.len() + r.new.len()).sum()
            }
            Self::Todo(Todo::List(items)) => {
                items.iter().map(|item| item.text.len() + item.detail.len()).sum()
            }
            Self::Todo(_) => 0,
            Self::Tool(tool) => tool.about.len(),
        }
    }
}

/// What the call of the tool `name` with `input` does.
pub(crate) fn called(name: &str, input: Option<Raw<'_>>) -> Called {
    let Some(input) = input else { return tool(name, None) };
    let done = match name {
        "Bash"
        | "bash"
        | "shell"
        | "run_shell_command"
        | "exec_command"
        | "local_shell"
        | "container.exec"
        | "powershell"
        | "shell_command"
        | "unified_exec"
        | "Shell"
        | "Execute"
        | "run_terminal_cmd"
        | "run_terminal_command"
        | "run_terminal_command_v2"
        | "execute_command"
        | "terminal"
        | "developer__shell" => command(input).map(command_or_patch),
        "Edit"
        | "MultiEdit"
        | "NotebookEdit"
        | "edit"
        | "multiedit"
        | "replace"
        | "str_replace"
        | "str_replace_editor"
        | "edit_file"
        | "edit_file_v2"
        | "search_replace"
        | "StrReplace"
        | "StrReplaceFile"
        | "text_editor"
        | "developer__text_editor" => edit(input).map(|edit| Called::Edits(vec![edit])),
        "Write" | "write" | "write_file" | "create" | "Create" | "create_file" | "WriteFile"
        | "write_to_file" => written(input).map(|edit| Called::Edits(vec![edit])),
        "Delete" | "delete_file" | "delete_path" => deleted(input).map(|edit| Called::Edits(vec![edit])),
        "apply_patch" | "patch" | "ApplyPatch" => patched(input).map(Called::Edits),
        "TodoWrite" | "todowrite" | "write_todos" | "update_plan" | "todo_write" | "SetTodoList"
        | "TodoList" => list(input).map(Called::Todo),
        "TaskCreate" => added(input).map(Called::Todo),
        "TaskUpdate" => changed(input).map(Called::Todo),
        "ExitPlanMode" | "exit_plan_mode" => {
            json::member_text(input, "plan").map(|plan| Called::Plan(cut(&plan, LONGEST_TEXT)))
        }
        "update_todo" => json::member_text(input, "todos").map(|todos| Called::Todo(checklist(&todos))),
        _ => None,
    };
    done.unwrap_or_else(|| tool(name, Some(input)))
}

/// The call of `apply_patch` whose input is the patch itself.
pub(crate) fn called_with_text(name: &str, input: &str) -> Called {
    match name {
        "apply_patch" => Called::Edits(patch::edits(&cut(input, LONGEST_TEXT))),
        _ => Called::Tool(Tool { name: name.to_owned(), about: cut(input, LONGEST_ABOUT) }),
    }
}

/// A patch that is applied through the shell is an edit all the same.
fn command_or_patch(command: String) -> Called {
    if command.contains("apply_patch") && command.contains("*** Begin Patch") {
        let edits = patch::edits(&command);
        if !edits.is_empty() {
            return Called::Edits(edits);
        }
    }
    Called::Command(command)
}

/// A list written as `- [ ] item` and `- [x] item`.
fn checklist(text: &str) -> Todo {
    let item = |line: &str| {
        let line = line.trim_start().trim_start_matches(['-', '*']).trim_start();
        let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
        let state = match mark.trim() {
            "x" | "X" => TodoState::Completed,
            "~" | "-" => TodoState::InProgress,
            _ => TodoState::Pending,
        };
        Some(TodoItem { id: None, text: cut(text.trim(), LONGEST_ABOUT), detail: String::new(), state })
    };
    Todo::List(text.lines().filter_map(item).collect())
}

fn command(input: Raw<'_>) -> Option<String> {
    let raw = json::member(input, "command").or_else(|| json::member(input, "cmd"))?;
    if let Some(text) = json::text(raw) {
        return Some(cut(&text, LONGEST_TEXT));
    }
    let mut words = Vec::new();
    json::items(raw, |word| words.extend(json::text(word)));
    // `bash -lc SCRIPT` says no more than the script.
    let script = match words.as_slice() {
        [shell, flags, script] if flags.starts_with('-') && shell.ends_with("sh") => script.to_string(),
        _ => words.join(" "),
    };
    Some(cut(&script, LONGEST_TEXT)).filter(|script| !script.is_empty())
}

fn edit(input: Raw<'_>) -> Option<Edit> {
    // The older editor tool has several commands in one.
    if let Some("view" | "undo_edit") = json::member_text(input, "command").as_deref() {
        return None;
    }
    let mut edit = Edit::default();
    let mut one = Replaced::default();
    json::members(input, |key, value| match key {
        "file_path" | "filePath" | "path" | "notebook_path" | "file" | "target_file" => {
            edit.path = json::text_or_empty(value).into();
        }
        // One piece, or a list of them.
        "edit" if value.get().starts_with('[') => {
            json::items(value, |item| edit.replaced.extend(replaced(item)));
        }
        "edit" => edit.replaced.extend(replaced(value)),
        "old_string" | "oldString" | "old_str" | "old_source" => one.old = long_text(value),
        "new_string" | "newString" | "new_str" | "new_source" | "insert_text" => one.new = long_text(value),
        "file_text" => {
            edit.kind = EditKind::Written;
            one.new = long_text(value);
        }
        "edits" => json::items(value, |item| edit.replaced.extend(replaced(item))),
        _ => {}
    });
    if !one.old.is_empty() || !one.new.is_empty() {
        edit.replaced.push(one);
    }
    (!edit.path.is_empty()).then_some(edit)
}

fn replaced(item: Raw<'_>) -> Option<Replaced> {
    let mut one = Replaced::default();
    json::members(item, |key, value| match key {
        "old_string" | "oldString" | "old_str" | "old_text" | "old" => one.old = long_text(value),
        "new_string" | "newString" | "new_str" | "new_text" | "new" => one.new = long_text(value),
        _ => {}
    });
    (one != Replaced::default()).then_some(one)
}

fn written(input: Raw<'_>) -> Option<Edit> {
    let mut edit = Edit { kind: EditKind::Written, ..Edit::default() };
    json::members(input, |key, value| match key {
        "file_path" | "filePath" | "path" => edit.path = json::text_or_empty(value).into(),
        "content" | "contents" | "file_text" => {
            edit.replaced = vec![Replaced { old: String::new(), new: long_text(value) }];
        }
        _ => {}
    });
    (!edit.path.is_empty()).then_some(edit)
}

fn deleted(input: Raw<'_>) -> Option<Edit> {
    let path =
        ["path", "file_path", "target_file"].into_iter().find_map(|name| json::member_text(input, name))?;
    Some(Edit { path: path.into_owned(), kind: EditKind::Deleted, replaced: Vec::new() })
}

fn patched(input: Raw<'_>) -> Option<Vec<Edit>> {
    let patch = ["input", "patchText", "patch", "command"]
        .into_iter()
        .find_map(|name| json::member_text(input, name))?;
    Some(patch::edits(&cut(&patch, LONGEST_TEXT))).filter(|edits| !edits.is_empty())
}

fn list(input: Raw<'_>) -> Option<Todo> {
    let raw = ["todos", "plan", "items", "steps"].into_iter().find_map(|name| json::member(input, name))?;
    if !raw.get().starts_with('[') {
        return None;
    }
    let mut items = Vec::new();
    json::items(raw, |raw| items.extend(item(raw)));
    Some(Todo::List(items))
}

fn item(raw: Raw<'_>) -> Option<TodoItem> {
    let mut item =
        TodoItem { id: None, text: String::new(), detail: String::new(), state: TodoState::Pending };
    json::members(raw, |key, value| match key {
        "content" | "step" | "subject" | "title" => item.text = short_text(value),
        "description" if item.text.is_empty() => item.text = short_text(value),
        "description" => item.detail = short_text(value),
        "status" => item.state = TodoState::of(&json::text_or_empty(value)),
        _ => {}
    });
    (!item.text.trim().is_empty()).then_some(item)
}

fn added(input: Raw<'_>) -> Option<Todo> {
    item(input).map(Todo::Added)
}

fn changed(input: Raw<'_>) -> Option<Todo> {
    let (mut id, mut state, mut text) = (None, None, None);
    json::members(input, |key, value| match key {
        "taskId" => id = Some(id_of(value)),
        "status" => state = json::text(value).map(|word| TodoState::of(&word)),
        "subject" => text = json::text(value).map(|text| cut(&text, LONGEST_ABOUT)),
        _ => {}
    });
    Some(Todo::Changed { id: id?, state, text })
}

/// An id, which some agents write as a number.
fn id_of(raw: Raw<'_>) -> String {
    json::text(raw).map_or_else(|| raw.get().to_owned(), Cow::into_owned)
}

/// A call of a tool with no event of its own, told by its most telling argument.
fn tool(name: &str, input: Option<Raw<'_>>) -> Called {
    const TELLING: [&str; 16] = [
        "title",
        "description",
        "question",
        "query",
        "pattern",
        "file_path",
        "filePath",
        "absolute_path",
        "path",
        "url",
        "skill",
        "prompt",
        "name",
        "command",
        "issueId",
        "id",
    ];
    let mut about: Option<(usize, Cow<'_, str>)> = None;
    let mut state: Option<Cow<'_, str>> = None;
    if let Some(input) = input {
        json::members(input, |key, value| {
            if matches!(key, "state" | "status" | "stateName") && name.to_ascii_lowercase().contains("issue")
            {
                state = json::text(value);
            }
            let Some(rank) = TELLING.iter().position(|name| *name == key) else { return };
            if about.as_ref().is_none_or(|(best, _)| rank < *best)
                && let Some(text) = json::text(value)
            {
                about = Some((rank, text));
            }
        });
    }
    let mut about = about.map(|(_, text)| cut(&text, LONGEST_ABOUT)).unwrap_or_default();
    if let Some(state) = state {
        about = format!("{about} {}", cut(&state, 40)).trim_start().to_owned();
    }
    Called::Tool(Tool { name: cut(name, 200), about })
}

fn long_text(raw: Raw<'_>) -> String {
    cut(&json::text_or_empty(raw), LONGEST_TEXT)
}

fn short_text(raw: Raw<'_>) -> String {
    cut(&json::text_or_empty(raw), LONGEST_ABOUT)
}

/// Whether a tool of that name lists the agent's tasks.
pub(crate) fn is_task_list(name: &str) -> bool {
    name == "TaskList"
}

/// The states of tasks in the answer of that tool: `#6 [pending] Write the docs`.
pub(crate) fn listed_tasks(answer: &str) -> Vec<Todo> {
    let task = |line: &str| {
        let (id, rest) = line.trim().strip_prefix('#')?.split_once(" [")?;
        let (state, _) = rest.split_once(']')?;
        let is_known = ["pending", "in_progress", "completed", "deleted"].contains(&state);
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        (is_id && is_known).then(|| Todo::Changed {
            id: id.to_owned(),
            state: Some(TodoState::of(state)),
            text: None,
        })
    };
    answer.lines().filter_map(task).collect()
}

/// The beginning of `text`, at most `n_bytes` of it.
pub(crate) fn cut(text: &str, n_bytes: usize) -> String {
    text[..text.floor_char_boundary(n_bytes)].to_owned()
}
/// Whether a tool of that name asks the human something.
pub(crate) fn is_asking(name: &str) -> bool {
    matches!(name, "AskUserQuestion" | "ask_user" | "request_user_input")
}
