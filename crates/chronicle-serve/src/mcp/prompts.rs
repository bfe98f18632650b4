//! What a person can start a model with.

use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value};

use crate::mcp::{
    host::Host,
    refusal::Refusal,
    tools::{BriefArgs, DepsArgs, ReadArgs, asked},
};

const RESUME: &str = "resume";
const BEFORE_CHANGE: &str = "before-change";
const ANNOTATE: &str = "annotate";

pub(super) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, is_required| {
        PromptArgument::new(name).with_description(description).with_required(is_required)
    };
    let place = vec![
        argument("path", "The file", true),
        argument("anchor", "Item of the file, such as Pool::acquire", false),
    ];
    let commit = vec![argument("commit", "Any revision; HEAD by default", false)];
    vec![
        Prompt::new(RESUME, Some("Go on where the last sessions stopped"), None).with_title("Resume"),
        Prompt::new(BEFORE_CHANGE, Some("Know the traps and the dependents first"), Some(place))
            .with_title("Before a change"),
        Prompt::new(ANNOTATE, Some("Record why a commit is as it is"), Some(commit)).with_title("Annotate"),
    ]
}

/// The prompt of that name, with what is known now.
pub(super) fn get(host: &Host, name: &str, mut arguments: JsonObject) -> Result<GetPromptResult, Refusal> {
    let mut take = |key: &str| match arguments.shift_remove(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    };
    let text = match name {
        RESUME => {
            let brief = asked::<BriefArgs>(host, Map::new())?.into_text();
            format!(
                "{brief}\n\nShow me in a few lines where we stopped and what is open, the most urgent first, and ask which of it to go on with. Change nothing yet."
            )
        }
        BEFORE_CHANGE => {
            let path = take("path").ok_or_else(|| Refusal::Arguments("`path` is missing".to_owned()))?;
            let place = [("path", Some(path)), ("anchor", take("anchor"))];
            let place = place.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into())));
            let place: JsonObject = place.collect();
            let lessons = asked::<ReadArgs>(host, place.clone())?.into_text();
            let dependents = asked::<DepsArgs>(host, place)?.into_text();
            format!(
                "What is known about the code:\n{lessons}\n\nWho relies on it:\n{dependents}\n\nI want to change this code. List the lessons that a change must respect, and the code to look at with it."
            )
        }
        ANNOTATE => {
            let commit = take("commit").unwrap_or_else(|| "HEAD".to_owned());
            let commit = chronicle::plain(&commit).replace(['\n', '\t', '`'], " ");
            format!(
                "Look at the commit `{commit}` and at what we did to get there. Then call chronicle_annotate once, with a summary that says why this approach (not what changed) and the lessons that the code does not show. Lessons are: what was tried and failed (dead_end), traps (gotcha), reasons (insight), what is left to do (unfinished_thread), each with its file and lines. Leave out what anyone can read in the diff."
            )
        }
        other => return Err(Refusal::Arguments(format!("there is no prompt `{other}`"))),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}
