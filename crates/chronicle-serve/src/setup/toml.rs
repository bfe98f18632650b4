//! Our server in a TOML file: a table at the end of it.

use toml_edit::{DocumentMut, Item, Table, value};

use super::{
    edits::Edited,
    ours::{SERVER_NAME, runs_us},
};

/// The table that holds servers by their names.
const SERVERS: &str = "mcp_servers";

/// A command and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
    /// The names under which Codex keeps its trust in our hooks: they go when the server goes.
    pub(super) trusted: Vec<String>,
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    // The parser's own words go over several lines and quote the file.
    text.parse::<DocumentMut>().map_err(|error| error.message().to_owned())
}

/// `text` with the server; why not, where something else stands in its place.
pub(super) fn with(text: &str, server: &Server) -> Result<Edited, String> {
    if parse(text)?.get(SERVERS).and_then(|servers| servers.get(SERVER_NAME)).is_some() {
        return Err(format!("`{SERVERS}.{SERVER_NAME}` belongs to another program"));
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut table = Table::new();
    table["command"] = value(&server.command);
    table["args"] = value(server.arguments.iter().collect::<toml_edit::Array>());
    let lines = table.to_string();
    let mut added = format!("[{SERVERS}.{SERVER_NAME}]\n{lines}");
    if !text.is_empty() {
        added.insert_str(0, if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    let mut edited = Edited::new(text);
    edited.insert(text.len(), added.replace('\n', newline));
    // A table that is written on one line cannot be gone on with.
    parse(&edited.text).map_err(|_| format!("`{SERVERS}` isn't a table that can hold another"))?;
    Ok(edited)
}

/// Whether our server is in `text`.
pub(super) fn has_ours(text: &str) -> bool {
    without(text).is_ok_and(|rest| rest.is_some())
}

/// Whether both say the same.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let said = |text: &str| parse(text).ok().and_then(|document| ours(&document));
    said(one).is_some() && said(one) == said(other)
}

fn ours(document: &DocumentMut) -> Option<Server> {
    let server = document.get(SERVERS)?.get(SERVER_NAME)?;
    let arguments = server.get("args").and_then(Item::as_array).into_iter().flatten();
    let arguments: Vec<String> = arguments.filter_map(|word| word.as_str().map(str::to_owned)).collect();
    let command = server.get("command")?.as_str()?.to_owned();
    let line = format!("{command} {}", arguments.join(" "));
    runs_us(&line, "mcp").then_some(Server { command, arguments, trusted: Vec::new() })
}

/// `text` without our server; `None` if it is not there.
pub(super) fn without(text: &str) -> Result<Option<String>, String> {
    let mut document = parse(text)?;
    if ours(&document).is_none() {
        return Ok(None);
    }
    let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) else { return Ok(None) };
    servers.remove(SERVER_NAME);
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    Ok(Some(document.to_string()))
}

/// `text` without what Codex keeps of hooks of these names.
pub(super) fn without_trust(text: &str, names: &[String]) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(hooks) = document.get_mut("hooks").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let n_removed = names.iter().filter(|name| state.remove(name).is_some()).count();
    let is_empty = state.is_empty();
    if n_removed == 0 {
        return Ok(text.to_owned());
    }
    if is_empty {
        hooks.remove("state");
    }
    if hooks.is_empty() {
        document.remove("hooks");
    }
    Ok(document.to_string())
}

/// The hooks that Codex was told to trust, as it names them.
pub(super) fn trusted_hooks(text: &str) -> Option<Vec<String>> {
    let document = parse(text).ok()?;
    let state = document.get("hooks")?.get("state")?.as_table_like()?;
    let is_trusted = |item: &Item| item.get("trusted_hash").is_some();
    Some(state.iter().filter(|(_, item)| is_trusted(item)).map(|(name, _)| name.to_owned()).collect())
}
