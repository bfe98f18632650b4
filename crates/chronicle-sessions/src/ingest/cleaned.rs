//! Turns without secrets and private spans.

use std::borrow::Cow;

use chronicle_core::redaction::{Removed, for_storage};

use crate::turn::{Commit, Event, Outcome, Todo, TodoItem, Tool, Turn};

/// Takes what must not be kept out of whatever a memory may keep of a turn.
///
/// The text of edits is left as it is: nothing of it is kept. The same goes for what came back from a call,
/// unless it failed. None comes back when there was nothing to take out.
pub(crate) fn cleaned<'t>(turn: &'t Turn<'_>, removed: &mut Removed) -> Option<Turn<'t>> {
    let event = event(&turn.event, removed)?;
    Some(Turn {
        place: turn.place.clone(),
        at: turn.at,
        id: Cow::Borrowed(&turn.id),
        sub_agent: turn.sub_agent.as_deref().map(Cow::Borrowed),
        session: Cow::Borrowed(&turn.session),
        speaker: Cow::Borrowed(&turn.speaker),
        event,
    })
}

fn event<'t>(event: &'t Event<'_>, removed: &mut Removed) -> Option<Event<'t>> {
    Some(match event {
        Event::Prompt(words) => Event::Prompt(changed(words, removed)?),
        Event::Synthetic(kind, words) => Event::Synthetic(*kind, changed(words, removed)?),
        Event::Said(words) => Event::Said(changed(words, removed)?),
        Event::Error(words) => Event::Error(changed(words, removed)?),
        Event::Interruption(words) => Event::Interruption(changed(words, removed)?),
        Event::PullRequest(words) => Event::PullRequest(changed(words, removed)?),
        Event::Command(command, answer) => {
            let (command, answer) = both(command, answer, removed)?;
            Event::Command(command, answer)
        }
        Event::Plan(plan, answer) => {
            let (plan, answer) = both(plan, answer, removed)?;
            Event::Plan(plan, answer)
        }
        Event::Tool(tool, answer) => {
            let name = changed(&tool.name, removed);
            let cleaned = both(&tool.about, answer, removed);
            if name.is_none() && cleaned.is_none() {
                return None;
            }
            let (about, answer) = cleaned.unwrap_or_else(|| (tool.about.clone(), answer.clone()));
            Event::Tool(Tool { name: name.map_or_else(|| tool.name.clone(), Cow::into_owned), about }, answer)
        }
        Event::Edit(edit, answer) => {
            let path = changed(&edit.path, removed)?.into_owned();
            Event::Edit(crate::turn::Edit { path, replaced: Vec::new(), kind: edit.kind }, answer.clone())
        }
        Event::Commit(commit) => {
            let (subject, branch) = (changed(&commit.subject, removed), changed(&commit.branch, removed));
            if subject.is_none() && branch.is_none() {
                return None;
            }
            let subject = subject.map_or_else(|| commit.subject.clone(), Cow::into_owned);
            let branch = branch.map_or_else(|| commit.branch.clone(), Cow::into_owned);
            Event::Commit(Commit { subject, branch, ..commit.clone() })
        }
        Event::Todo(todo, answer) => Event::Todo(todo_of(todo, removed)?, answer.clone()),
    })
}

/// The part of `text` that may be kept, if that is not all of it.
fn changed<'t>(text: &'t str, removed: &mut Removed) -> Option<Cow<'t, str>> {
    match for_storage(text, removed) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(Cow::Owned(text)),
    }
}

fn both(text: &str, answer: &Outcome, removed: &mut Removed) -> Option<(String, Outcome)> {
    let cleaned = changed(text, removed);
    // What worked is not kept, but for a link that it may end in.
    let cleaned_answer = if answer.is_ok == Some(true) { None } else { changed(&answer.text, removed) };
    if cleaned.is_none() && cleaned_answer.is_none() {
        return None;
    }
    let text = cleaned.map_or_else(|| text.to_owned(), Cow::into_owned);
    let answer_text = cleaned_answer.map_or_else(|| answer.text.clone(), Cow::into_owned);
    Some((text, Outcome { text: answer_text, ..*answer }))
}

fn todo_of(todo: &Todo, removed: &mut Removed) -> Option<Todo> {
    let mut item = |item: &TodoItem| {
        let (text, detail) = (changed(&item.text, removed), changed(&item.detail, removed));
        let is_changed = text.is_some() || detail.is_some();
        let text = text.map_or_else(|| item.text.clone(), Cow::into_owned);
        let detail = detail.map_or_else(|| item.detail.clone(), Cow::into_owned);
        (is_changed, TodoItem { text, detail, ..item.clone() })
    };
    match todo {
        Todo::List(items) => {
            let items: Vec<_> = items.iter().map(item).collect();
            let is_changed = items.iter().any(|(is_changed, _)| *is_changed);
            is_changed.then(|| Todo::List(items.into_iter().map(|(_, item)| item).collect()))
        }
        Todo::Added(added) => {
            let (is_changed, added) = item(added);
            is_changed.then_some(Todo::Added(added))
        }
        Todo::Changed { id, state, text: Some(text) } => {
            let text = changed(text, removed)?.into_owned();
            Some(Todo::Changed { id: id.clone(), state: *state, text: Some(text) })
        }
        Todo::Changed { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::read;

    /// What the tool of each turn of a transcript is called once it is clean.
    fn tools(names: &[&str]) -> Vec<String> {
        let call = |name: &&str| {
            let block = serde_json::json!({ "type": "tool_use", "id": format!("t-{}", name.len()), "name": name, "input": {} });
            let row =
                serde_json::json!({ "type": "assistant", "uuid": name, "message": { "content": [block] } });
            format!("{row}\n")
        };
        let file: String = names.iter().map(call).collect();
        let mut found = Vec::new();
        let reading = read(file.as_bytes(), Some(crate::agents::Format::Claude), &mut |turn, _| {
            let cleaned = cleaned(turn, &mut Removed::default());
            if let Event::Tool(tool, _) = &cleaned.as_ref().unwrap_or(turn).event {
                found.push(tool.name.clone());
            }
        });
        assert!(reading.expect("bytes can be read").is_some());
        found
    }

    #[test]
    fn a_tool_may_not_be_called_by_a_secret() {
        let token = ["gh", "p_4fKq9ZtLw2XvB7nRj8MdYc3HsPgA6eTu1oNi"].concat();
        assert_eq!(
            tools(&["mcp__claude_ai_Google_Drive__search_files", &token]),
            ["mcp__claude_ai_Google_Drive__search_files", "[redacted:github-token]"]
        );
    }
}
