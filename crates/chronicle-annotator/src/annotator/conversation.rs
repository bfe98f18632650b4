//! The conversation with a model that calls tools, about one chunk of a commit.

use chronicle_core::tokens;
use chronicle_llm::{Block, Cancel, Model, Reply, Request, Stop, ToolResult, Turn, Usage};
use chronicle_workplace::Error;

use super::{
    collect::Collector,
    gather::Gathered,
    plan::Plan,
    prompt,
    toolbox::{Answer, Toolbox},
    tools::tools,
};

/// Calls of one reply that are carried out.
const MOST_CALLS: usize = 40;
/// What an answer needs at least to say anything.
const LEAST_ANSWER: u64 = 60;
/// Tokens around the text of a turn or a tool.
const PER_TURN: u64 = 20;

/// How a conversation went.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Calls of the model.
    pub(crate) turns: u32,
    pub(crate) usage: Usage,
    /// The tokens of the largest request, as they are counted here.
    pub(crate) largest: u64,
    /// Why it ended before the model was done.
    pub(crate) cut: Option<String>,
    /// The last words of the model.
    pub(crate) summary: Option<String>,
    /// Whether it called a tool at all.
    pub(crate) has_called: bool,
    /// The kinds of secrets that were left out of what it was told.
    pub(crate) redacted: std::collections::BTreeSet<String>,
}

impl Course {
    /// Notes a request of so many tokens that is about to be made.
    pub(crate) fn ask(&mut self, request: &Request, n_tokens: u64) {
        self.turns += 1;
        self.largest = self.largest.max(n_tokens);
        // What stood before was noted before.
        for text in request.turns.last().into_iter().flat_map(texts) {
            self.redacted.extend(marks(text));
        }
    }

    /// Notes what it cost.
    pub(crate) fn hear(&mut self, reply: &Reply) {
        self.usage.input += reply.usage.input;
        self.usage.output += reply.usage.output;
        self.usage.cache_read += reply.usage.cache_read;
        self.usage.cache_written += reply.usage.cache_written;
    }

    /// Adds what another conversation about the commit came to.
    pub(crate) fn add(&mut self, other: Self) {
        self.turns += other.turns;
        self.usage.input += other.usage.input;
        self.usage.output += other.usage.output;
        self.usage.cache_read += other.usage.cache_read;
        self.usage.cache_written += other.usage.cache_written;
        self.largest = self.largest.max(other.largest);
        self.cut = self.cut.take().or(other.cut);
        self.summary = other.summary.or(self.summary.take());
        self.has_called |= other.has_called;
        self.redacted.extend(other.redacted);
    }
}

fn texts(turn: &Turn) -> Vec<&str> {
    match turn {
        Turn::User(text) => vec![text],
        Turn::Model(_) => Vec::new(),
        Turn::Results(results) => results.iter().map(|result| result.text.as_str()).collect(),
    }
}

/// The kinds of secrets that were replaced in a text.
fn marks(text: &str) -> impl Iterator<Item = String> + '_ {
    let found = text.split("[redacted:").skip(1).filter_map(|rest| rest.split_once(']'));
    let is_kind =
        |kind: &&str| kind.len() < 40 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    found.map(|(kind, _)| kind).filter(is_kind).map(str::to_owned)
}

/// The most tokens that a request has.
pub(crate) fn request_tokens(request: &Request) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        PER_TURN
            + tokens::at_most(&tool.name)
            + tokens::at_most(&tool.description)
            + tokens::at_most(&tool.input.to_string())
    });
    let form = request.form.as_ref().map_or(0, |form| tokens::at_most(&form.schema.to_string()) + PER_TURN);
    let turns = request.turns.iter().map(turn_tokens);
    tokens::at_most(&request.system) + form + tools.sum::<u64>() + turns.sum::<u64>()
}

/// The most tokens that a turn has.
pub(crate) fn turn_tokens(turn: &Turn) -> u64 {
    PER_TURN
        + match turn {
            Turn::User(text) => tokens::at_most(text),
            Turn::Model(blocks) => blocks.iter().map(block_tokens).sum(),
            Turn::Results(results) => {
                results.iter().map(|result| PER_TURN + tokens::at_most(&result.text)).sum()
            }
        }
}

fn block_tokens(block: &Block) -> u64 {
    PER_TURN
        + match block {
            Block::Text(text) => tokens::at_most(text),
            Block::Call(call) => {
                let signature = call.signature.as_deref().map_or(0, tokens::at_most);
                tokens::at_most(&call.tool) + tokens::at_most(&call.input.to_string()) + signature
            }
        }
}

/// What every request costs before it is about anything.
pub(crate) fn fixed_tokens(gathered: &Gathered<'_>, calls_tools: bool) -> u64 {
    let tools = if calls_tools { tools(gathered.session.is_some()) } else { Vec::new() };
    let form = if calls_tools { 0 } else { 300 };
    request_tokens(&Request { system: prompt::system(gathered, calls_tools), tools, ..Request::default() })
        + form
}

/// The request that begins the conversation about chunk `at`.
pub(crate) fn opening(gathered: &Gathered<'_>, plan: &Plan, at: usize) -> Result<Request, Error> {
    Ok(Request {
        system: prompt::system(gathered, true),
        turns: vec![Turn::User(prompt::opening(gathered, plan, at)?)],
        tools: tools(gathered.session.is_some()),
        max_tokens: plan.bounds.reply_tokens(),
        ..Request::default()
    })
}

/// Lets `model` look at the chunk of `toolbox`, and takes in what it emits. A model that fails on the way ends the
/// conversation; what was emitted stays in `collector`.
///
/// # Errors
/// When the repository cannot be read, or the model gives no reply to the first request.
pub(crate) fn hold(
    model: &dyn Model,
    cancel: &Cancel,
    toolbox: &Toolbox<'_, '_>,
    collector: &mut Collector<'_, '_>,
) -> Result<Course, Error> {
    let gathered = toolbox.gathered;
    let bounds = toolbox.plan.bounds;
    let mut request = opening(gathered, toolbox.plan, toolbox.chunk)?;
    let most = bounds.request_tokens();
    let mut used = request_tokens(&request);
    let mut course = Course::default();
    if most < used {
        course.cut = Some("the request does not fit into the model's context".to_owned());
        return Ok(course);
    }
    loop {
        if bounds.max_turns <= course.turns {
            course.cut = Some(format!("stopped after {} turns", course.turns));
            break;
        }
        course.ask(&request, used);
        let reply = match model.complete(&request, cancel) {
            Ok(reply) => reply,
            Err(source) if collector.is_empty() => return Err(Error::Model { source }),
            Err(source) => {
                course.cut = Some(source.to_string());
                break;
            }
        };
        course.hear(&reply);
        let is_whole = !matches!(reply.stop, Stop::MaxTokens);
        let calls: Vec<_> = reply.calls().cloned().collect();
        course.has_called |= !calls.is_empty();
        let text = reply.text();
        if let Some(summary) = summary_in(&text) {
            course.summary = Some(summary);
        }
        match &reply.stop {
            Stop::Refusal if calls.is_empty() => {
                course.cut = Some("the model refused to answer".to_owned());
                break;
            }
            Stop::Other(reason) if calls.is_empty() => {
                course.cut = Some(format!("the model ended with `{}`", shortened(reason)));
                break;
            }
            _ if calls.is_empty() => {
                if !is_whole {
                    course.cut = Some("a reply was cut at its longest".to_owned());
                }
                break;
            }
            _ => {}
        }
        let turn = Turn::Model(reply.blocks);
        used += turn_tokens(&turn);
        request.turns.push(turn);
        let mut room = most.saturating_sub(used + PER_TURN);
        let mut results = Vec::with_capacity(calls.len());
        for (at, call) in calls.iter().enumerate() {
            let n_left = (calls.len() - at) as u64;
            let share = (room / n_left).saturating_sub(PER_TURN);
            let Answer { text, is_error } = match () {
                () if MOST_CALLS <= at => {
                    Answer { text: "too many calls at once; call it again".to_owned(), is_error: true }
                }
                () if share < LEAST_ANSWER && !call.tool.starts_with("emit_") => {
                    Answer { text: "no room left; emit what you have".to_owned(), is_error: true }
                }
                () => toolbox.answer(call, share.max(LEAST_ANSWER), collector)?,
            };
            room = room.saturating_sub(tokens::at_most(&text) + PER_TURN);
            results.push(ToolResult { id: call.id.clone(), tool: call.tool.clone(), text, is_error });
        }
        if !is_whole {
            course.cut = Some("a reply was cut at its longest".to_owned());
            break;
        }
        let turn = Turn::Results(results);
        used += turn_tokens(&turn);
        request.turns.push(turn);
        if most < used {
            course.cut = Some("the conversation filled the model's context".to_owned());
            break;
        }
    }
    collector.give_up();
    Ok(course)
}

/// The summary that a model gives at the end.
pub(crate) fn summary_in(text: &str) -> Option<String> {
    let marked = text.lines().rev().find_map(|line| {
        line.trim()
            .trim_start_matches(['*', '#', ' '])
            .strip_prefix("SUMMARY:")
            .map(|rest| rest.trim_matches([' ', '*']))
    });
    marked.filter(|summary| !summary.is_empty()).map(|summary| summary.chars().take(1_000).collect())
}

fn shortened(text: &str) -> String {
    chronicle_sessions::shortened(&chronicle_core::plain(text), 60)
}
