//! One request with everything in it, for models that call no tools.

use chronicle_core::restating::{Words, restates};
use chronicle_llm::{Cancel, Form, Model, Request, Stop, Turn};
use chronicle_workplace::{Error, answer_in, whole_part_of};
use serde_json::{Value, json};

use super::{
    collect::Collector,
    conversation::{Course, request_tokens, summary_in},
    gather::Gathered,
    plan::Plan,
    prompt,
};

/// Lessons of one answer.
const MOST_LESSONS: usize = 8;

/// Asks `model` once about chunk `at`.
///
/// # Errors
/// When the repository cannot be read, or the model gives no reply.
pub(crate) fn ask(
    model: &dyn Model,
    cancel: &Cancel,
    gathered: &Gathered<'_>,
    plan: &Plan,
    at: usize,
    collector: &mut Collector<'_, '_>,
) -> Result<Course, Error> {
    let request = request(gathered, plan, at)?;
    let mut course = Course::default();
    let n_tokens = request_tokens(&request);
    if plan.bounds.request_tokens() < n_tokens {
        course.cut = Some("the request does not fit into the model's context".to_owned());
        return Ok(course);
    }
    course.ask(&request, n_tokens);
    let reply = model.complete(&request, cancel).map_err(|source| Error::Model { source })?;
    course.hear(&reply);
    course.cut = match &reply.stop {
        Stop::MaxTokens => Some("a reply was cut at its longest".to_owned()),
        Stop::Refusal => Some("the model refused to answer".to_owned()),
        _ => None,
    };
    let text = reply.text();
    let answer = match reply.stop {
        Stop::MaxTokens => answer_in(&text).or_else(|| whole_part_of(&text)),
        _ => answer_in(&text),
    };
    match answer {
        Some(answer) => course.summary = take(&answer, gathered, collector)?,
        None => {
            course.summary = summary_in(&text);
            if course.cut.is_none() {
                collector.warnings.push("the model gave no JSON".to_owned());
            }
        }
    }
    Ok(course)
}

/// The request about chunk `at`, with everything in it.
pub(crate) fn request(gathered: &Gathered<'_>, plan: &Plan, at: usize) -> Result<Request, Error> {
    Ok(Request {
        system: prompt::system(gathered, false),
        turns: vec![Turn::User(prompt::opening(gathered, plan, at)?)],
        form: Some(Form { name: "annotation".to_owned(), schema: schema(gathered, plan, at) }),
        max_tokens: plan.bounds.reply_tokens(),
        ..Request::default()
    })
}

/// The form of an answer about chunk `at`: tight, so that what is not said cannot be wrong.
fn schema(gathered: &Gathered<'_>, plan: &Plan, at: usize) -> Value {
    let files: Vec<&str> = plan.chunks[at]
        .parts
        .iter()
        .map(|part| &gathered.files[plan.files[part.file].file])
        .filter(|file| file.new.is_some())
        .map(|file| file.path.as_str())
        .collect();
    let mut files: Vec<Value> = files.into_iter().map(Value::from).collect();
    files.push(Value::Null);
    let line = json!({"type": ["integer", "null"]});
    let lesson = json!({
        "type": "object",
        "properties": {
            "category": {"type": "string", "enum": ["dead_end", "gotcha", "insight", "unfinished_thread"]},
            "content": {"type": "string"},
            "file": {"enum": files},
            "start": line,
            "end": line,
        },
        "required": ["category", "content", "file", "start", "end"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "wisdom": {"type": "array", "maxItems": MOST_LESSONS, "items": lesson},
        },
        "required": ["summary", "wisdom"],
        "additionalProperties": false,
    })
}

fn take(
    answer: &Value,
    gathered: &Gathered<'_>,
    collector: &mut Collector<'_, '_>,
) -> Result<Option<String>, Error> {
    for lesson in answer["wisdom"].as_array().into_iter().flatten().take(MOST_LESSONS) {
        let mut input = lesson.clone();
        if let Some(map) = input.as_object_mut() {
            let (start, end) = (map.shift_remove("start"), map.shift_remove("end"));
            if let (Some(start @ Value::Number(_)), Some(end)) = (start, end)
                && map.get("file").is_some_and(Value::is_string)
            {
                let end = if end.is_number() { end } else { start.clone() };
                map.insert("lines".to_owned(), json!({"start": start, "end": end}));
            }
        }
        collector.take_once("emit_wisdom", &input)?;
    }
    let summary = answer["summary"].as_str().unwrap_or_default().trim();
    let is_new = !restates(summary, &Words::of(&gathered.commit.message));
    Ok((!summary.is_empty() && is_new).then(|| summary.chars().take(1_000).collect()))
}
