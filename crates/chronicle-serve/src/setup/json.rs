//! Our entries in JSON files, with comments or without: put in beside what is there, and taken out.

use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    common::Ranged,
    cst::{CstArray, CstObject, CstRootNode},
    parse_to_ast,
};
use serde::Serialize as _;
use serde_json::{Map, Value};

use super::{
    edits::Edited,
    ours::{SERVER_NAME, is_our_hook, is_our_server, is_our_status_line},
    permissions,
};

/// What is to stand somewhere in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    /// The names of the members that lead there.
    pub(super) at: Vec<&'static str>,
    pub(super) value: Value,
    pub(super) kind: EntryKind,
}

/// How an entry stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// As one more element of the list.
    Element,
    /// The same, unless the list has it.
    ElementIfNone,
    /// As the member of that name, which nobody else may have taken.
    Member,
    /// As the member of that name, unless there is one.
    MemberIfNone,
}

/// Files may hold comments and commas too many; everything else is broken.
const LENIENT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
};

/// What a file says; nothing for one without a value.
pub(super) fn value(text: &str) -> Result<Option<Value>, String> {
    let root = CstRootNode::parse(text, &LENIENT).map_err(|error| error.to_string())?;
    Ok(root.to_serde_value())
}

/// What keeps a reader from taking `text` who knows neither comments nor commas too many; nothing where it is plain JSON.
pub(super) fn strict_fault(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return None;
    }
    let error = serde_json::from_str::<serde::de::IgnoredAny>(text).err()?;
    let line = error.line();
    Some(format!("line {line} holds a comment or a comma too many, which it does not take"))
}

/// `text` with `entries`; why not, where something else stands in their place.
pub(super) fn with(text: &str, entries: &[Entry]) -> Result<Edited, String> {
    let mut edited = Edited::new(text);
    for entry in entries {
        insert(&mut edited, entry)?;
    }
    Ok(edited)
}

fn insert(edited: &mut Edited, entry: &Entry) -> Result<(), String> {
    let text = edited.text.clone();
    let parsed =
        parse_to_ast(&text, &CollectOptions::default(), &LENIENT).map_err(|error| error.to_string())?;
    let style = Style::of(&text);
    let Some(root) = parsed.value else {
        let at = text.len() - text.trim_start().len();
        let whole = nested(&entry.at, entry);
        let newline = if text[at..].starts_with(['\n', '\r']) { "" } else { style.newline };
        edited.insert(at, format!("{}{newline}", style.written(&whole, "")));
        return Ok(());
    };
    let mut here = &root;
    let mut inner = "";
    for (depth, name) in entry.at.iter().enumerate() {
        let rest = &entry.at[depth + 1..];
        let ast::Value::Object(object) = here else {
            return Err(match depth {
                0 => "it holds no JSON object".to_owned(),
                _ => format!("`{}` isn't an object", entry.at[..depth].join(".")),
            });
        };
        let member = object.properties.iter().rev().find(|member| member.name.as_str() == *name);
        let is_last = rest.is_empty();
        let Some(member) = member else {
            let value = if is_last { leaf(entry) } else { nested(rest, entry) };
            let last = object.properties.last().map(span);
            let written = |base: &str| format!("{}: {}", quoted(name), style.written(&value, base));
            let short = format!("{}: {}", quoted(name), compact(&value));
            append(edited, &style, (object.range.start, object.range.end), last, written, &short);
            return Ok(());
        };
        if is_last {
            match entry.kind {
                EntryKind::MemberIfNone => return Ok(()),
                EntryKind::Member => {
                    return Err(format!("`{}` belongs to another program", entry.at.join(".")));
                }
                EntryKind::Element | EntryKind::ElementIfNone => {}
            }
        }
        (here, inner) = (&member.value, *name);
    }
    let ast::Value::Array(array) = here else {
        return Err(format!("`{inner}` isn't a list"));
    };
    let is_it = |element: &ast::Value<'_>| match (element, entry.value.as_str()) {
        (ast::Value::StringLit(there), Some(wanted)) => there.value == wanted,
        _ => false,
    };
    if entry.kind == EntryKind::ElementIfNone && array.elements.iter().any(is_it) {
        return Ok(());
    }
    let last = array.elements.last().map(span);
    let written = |base: &str| style.written(&entry.value, base);
    let short = compact(&entry.value);
    append(edited, &style, (array.range.start, array.range.end), last, written, &short);
    Ok(())
}

/// Where something begins and ends.
fn span(of: &impl Ranged) -> (usize, usize) {
    (of.range().start, of.range().end)
}

/// What stands where the last name leads.
fn leaf(entry: &Entry) -> Value {
    match entry.kind {
        EntryKind::Element | EntryKind::ElementIfNone => Value::Array(vec![entry.value.clone()]),
        EntryKind::Member | EntryKind::MemberIfNone => entry.value.clone(),
    }
}

fn nested(names: &[&'static str], entry: &Entry) -> Value {
    names
        .iter()
        .rev()
        .fold(leaf(entry), |inner, name| Value::Object(Map::from_iter([((*name).to_owned(), inner)])))
}

/// Puts something behind the last element of the object or list at `range`.
fn append(
    edited: &mut Edited,
    style: &Style,
    (start, end): (usize, usize),
    last: Option<(usize, usize)>,
    written: impl Fn(&str) -> String,
    short: &str,
) {
    let text = edited.text.clone();
    let outer = indentation_at(&text, start);
    let Some((last_start, last_end)) = last else {
        // A list or object without anything stands open from here on.
        let base = format!("{outer}{}", style.unit);
        let closing =
            if text[start..end].contains('\n') { String::new() } else { format!("{}{outer}", style.newline) };
        edited.insert(start + 1, format!("{}{base}{}{closing}", style.newline, written(&base)));
        return;
    };
    let is_on_one_line = !text[start..end].contains('\n');
    if is_on_one_line {
        edited.insert(last_end, format!(", {short}"));
        return;
    }
    let own = indentation_at(&text, last_start);
    let starts_its_line = text[..last_start].ends_with(own) && own.len() > outer.len();
    let base = if starts_its_line { own.to_owned() } else { format!("{outer}{}", style.unit) };
    let (comma, behind_comma) = match behind(&text, last_end) {
        Behind::Comma(at) => (true, at + 1),
        Behind::Nothing => (false, last_end),
    };
    let at = end_of_remarks(&text, behind_comma);
    let entry = format!("{}{base}{}", style.newline, written(&base));
    if comma {
        edited.insert(at, format!("{entry},"));
    } else if at == last_end {
        edited.insert(at, format!(",{entry}"));
    } else {
        edited.insert(at, entry);
        edited.insert(last_end, ",");
    }
}

/// What follows an element.
enum Behind {
    Comma(usize),
    Nothing,
}

fn behind(text: &str, from: usize) -> Behind {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with(',') {
            return Behind::Comma(at);
        } else if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
        } else {
            return Behind::Nothing;
        }
    }
}

/// Where remarks end that stand on the same line as what ends at `from`.
fn end_of_remarks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let blank = rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            let line = trimmed.lines().next().unwrap_or_default();
            return at + blank + line.len();
        } else if trimmed.starts_with("/*") {
            match trimmed.find("*/") {
                Some(end) if !trimmed[..end].contains('\n') => at += blank + end + 2,
                _ => return at,
            }
        } else {
            return at;
        }
    }
}

/// How a file is laid out.
struct Style {
    unit: String,
    newline: &'static str,
}

impl Style {
    fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let unit = indented.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
        Self { unit: unit.to_owned(), newline }
    }

    fn written(&self, value: &Value, base: &str) -> String {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        value.serialize(&mut serializer).expect("a value can be written into memory");
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        text.replace('\n', &format!("{}{base}", self.newline))
    }
}

fn compact(value: &Value) -> String {
    value.to_string()
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

/// The blanks at the beginning of the line that `at` is in.
fn indentation_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Members of settings that hold servers by their names.
const SERVERS: [&str; 2] = ["mcpServers", "mcp"];

/// Whether any of our entries is in `text`, which may be broken.
pub(super) fn has_ours(text: &str) -> bool {
    without(text).is_ok_and(|rest| rest.is_some())
}

/// `text` without our entries, as they are known by what they run; `None` if there are none.
pub(super) fn without(text: &str) -> Result<Option<String>, String> {
    let root = CstRootNode::parse(text, &LENIENT).map_err(|error| error.to_string())?;
    let Some(object) = root.object_value() else { return Ok(None) };
    let mut n_removed = 0;
    if let Some(hooks) = object.object_value("hooks") {
        n_removed += remove_hooks(&hooks);
        if 0 < n_removed && hooks.properties().is_empty() {
            hooks.remove_member(&object, "hooks");
        }
    }
    // A single rule may be the user's own.
    let has_rules = object.to_serde_value().is_some_and(|settings| permissions::are_in(&settings));
    if let Some(rules) = object.object_value(permissions::MEMBER).filter(|_| has_rules) {
        let n_rules = remove_rules(&rules);
        n_removed += n_rules;
        if 0 < n_rules && rules.properties().is_empty() {
            rules.remove_member(&object, permissions::MEMBER);
        }
    }
    for name in SERVERS {
        let Some(servers) = object.object_value(name) else { continue };
        let says_ours = |value: Option<Value>| value.is_some_and(|value| is_our_server(&value));
        let ours = servers
            .get(SERVER_NAME)
            .filter(|server| says_ours(server.value().and_then(|value| value.to_serde_value())));
        if let Some(ours) = ours {
            ours.remove();
            n_removed += 1;
            if servers.properties().is_empty() {
                servers.remove_member(&object, name);
            }
        }
    }
    if let Some(line) = object.get("statusLine")
        && line
            .value()
            .and_then(|value| value.to_serde_value())
            .is_some_and(|value| is_our_status_line(&value))
    {
        line.remove();
        n_removed += 1;
    }
    Ok((0 < n_removed).then(|| root.to_string()))
}

trait RemoveMember {
    /// Removes the member that it is the value of.
    fn remove_member(self, of: &CstObject, name: &str);
}

impl RemoveMember for CstObject {
    fn remove_member(self, of: &CstObject, name: &str) {
        if let Some(member) = of.get(name) {
            member.remove();
        }
    }
}

fn remove_hooks(hooks: &CstObject) -> usize {
    let mut n_removed = 0;
    for event in hooks.properties() {
        let Some(list) = event.array_value() else { continue };
        let n_before = n_removed;
        for element in list.elements() {
            let Some(value) = element.to_serde_value() else { continue };
            if is_our_hook(&value) {
                element.remove();
                n_removed += 1;
                continue;
            }
            let Some(group) = element.as_object() else { continue };
            let Some(inner) = group.array_value("hooks") else { continue };
            let n_inner = remove_elements(&inner);
            n_removed += n_inner;
            if 0 < n_inner && inner.elements().is_empty() {
                group.remove();
            }
        }
        if n_before < n_removed && list.elements().is_empty() {
            event.remove();
        }
    }
    n_removed
}

/// Removes what an agent may run unasked.
fn remove_rules(rules: &CstObject) -> usize {
    let mut n_removed = 0;
    for list in rules.properties() {
        let (Some(name), Some(elements)) = (list.name(), list.array_value()) else { continue };
        let Ok(name) = name.decoded_value() else { continue };
        let is_ours = |value: Option<Value>| value.is_some_and(|value| permissions::is_ours(&name, &value));
        let ours: Vec<_> =
            elements.elements().into_iter().filter(|element| is_ours(element.to_serde_value())).collect();
        let n_ours = ours.len();
        ours.into_iter().for_each(jsonc_parser::cst::CstNode::remove);
        n_removed += n_ours;
        if 0 < n_ours && elements.elements().is_empty() {
            list.remove();
        }
    }
    n_removed
}

fn remove_elements(list: &CstArray) -> usize {
    let is_ours = |value: Option<Value>| value.is_some_and(|value| is_our_hook(&value));
    let ours: Vec<_> =
        list.elements().into_iter().filter(|element| is_ours(element.to_serde_value())).collect();
    let n_ours = ours.len();
    ours.into_iter().for_each(jsonc_parser::cst::CstNode::remove);
    n_ours
}

/// All hooks of ours that a file holds, with the event that each is for.
pub(super) fn our_hooks(value: &Value) -> Vec<(String, Value)> {
    let events = value.get("hooks").and_then(Value::as_object).into_iter().flatten();
    let mut found = Vec::new();
    for (event, list) in events {
        for element in list.as_array().into_iter().flatten() {
            let inner = element.get("hooks").and_then(Value::as_array).into_iter().flatten();
            let all = inner.chain([element]);
            found.extend(all.filter(|hook| is_our_hook(hook)).map(|hook| (event.clone(), hook.clone())));
        }
    }
    found
}
