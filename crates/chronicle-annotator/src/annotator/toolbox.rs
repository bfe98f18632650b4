//! What the tools answer. Nothing that a model says decides more than which text of the commit it is shown.

use std::fmt::Write;

use chronicle::Chronicle;
use chronicle_commits::Outlines;
use chronicle_core::{clipped, tokens};
use chronicle_git::{BString, ByteSlice, ObjectId};
use chronicle_llm::Call;
use chronicle_workplace::Error;
use serde_json::Value;

use super::{
    chunks::MOST_LINES,
    collect::Collector,
    gather::Gathered,
    plan::Plan,
    prompt::{about, author, diff, fenced, within},
    shown_hunks,
    texts::Text,
};

/// Rendered lines of a diff that are shown at once.
const MOST_DIFF_LINES: usize = 2_000;
const USUAL_RADIUS: u32 = 20;
const MOST_RADIUS: u32 = 200;

/// What a tool gives.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// The tools of one conversation.
pub(crate) struct Toolbox<'t, 'r> {
    pub(crate) chronicle: &'t Chronicle,
    pub(crate) gathered: &'t Gathered<'r>,
    pub(crate) plan: &'t Plan,
    /// The chunk that the conversation is about.
    pub(crate) chunk: usize,
}

impl Toolbox<'_, '_> {
    /// Carries out a call; `room` is what its answer may take.
    ///
    /// # Errors
    /// When the repository cannot be read. What a model asks wrongly is an answer.
    pub(crate) fn answer(
        &self,
        call: &Call,
        room: u64,
        collector: &mut Collector<'_, '_>,
    ) -> Result<Answer, Error> {
        let room = room.min(self.plan.budgets.result);
        let emits = ["emit_annotation", "emit_wisdom", "emit_cross_cutting"];
        if emits.contains(&call.tool.as_str()) {
            let (text, is_error) = collector.take(&call.tool, &call.input)?;
            return Ok(Answer { text: within(&text, room), is_error });
        }
        let found = match self.look(call, room)? {
            Ok((kind, text)) => {
                let text = within(&text, room.saturating_sub(60));
                Answer { text: fenced(self.gathered, kind, &text), is_error: false }
            }
            Err(reason) => Answer { text: within(&reason, room), is_error: true },
        };
        Ok(found)
    }

    fn look(&self, call: &Call, room: u64) -> Result<Result<(&'static str, String), String>, Error> {
        if !matches!(call.input, Value::Object(_) | Value::Null) {
            return Ok(Err("the arguments are not a JSON object".to_owned()));
        }
        let text = |key: &str| match &call.input[key] {
            Value::String(text) if !text.is_empty() => Ok(text.clone()),
            _ => Err(format!("`{key}` is missing or not text")),
        };
        let number = |key: &str, usual: u32| match &call.input[key] {
            Value::Null => Ok(usual),
            value => value
                .as_u64()
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| format!("`{key}` is not a whole number")),
        };
        Ok(match call.tool.as_str() {
            "get_diff" => Ok(("diff", self.diff()?)),
            "get_diff_for_file" => match (text("path"), number("from_line", 1)) {
                (Ok(path), Ok(from)) => self.diff_for_file(&path, from)?.map(|text| ("diff", text)),
                (Err(reason), _) | (_, Err(reason)) => Err(reason),
            },
            "get_file_content" => match text("path") {
                Ok(path) => self.lines(&path, 1, u32::MAX, room)?.map(|text| ("file", text)),
                Err(reason) => Err(reason),
            },
            "get_ast_outline" => match text("path") {
                Ok(path) => self.outline(&path)?.map(|text| ("outline", text)),
                Err(reason) => Err(reason),
            },
            "get_surrounding_context" => {
                match (text("path"), number("line", 0), number("radius", USUAL_RADIUS)) {
                    (Ok(_), Ok(0), Ok(_)) => Err("`line` is missing; lines count from 1".to_owned()),
                    (Ok(path), Ok(line), Ok(radius)) => {
                        let radius = radius.min(MOST_RADIUS);
                        let (first, last) = (line.saturating_sub(radius).max(1), line.saturating_add(radius));
                        self.lines(&path, first, last, room)?.map(|text| ("file", text))
                    }
                    (Err(reason), ..) | (_, Err(reason), _) | (_, _, Err(reason)) => Err(reason),
                }
            }
            "get_commit_info" => Ok(("commit", self.commit_info())),
            "get_recent_annotations" => match (text("file"), number("n", 0)) {
                (Ok(file), Ok(n)) => Ok(("annotations", self.recent(&file, n))),
                (Err(reason), _) | (_, Err(reason)) => Err(reason),
            },
            "get_session_excerpt" => match (&self.gathered.session, number("from_turn", 1)) {
                (None, _) => Err("no session is known for this commit".to_owned()),
                (_, Err(reason)) => Err(reason),
                (Some(session), Ok(from)) => {
                    let file = call.input["file"].as_str();
                    Ok(("session", session.excerpt(room.saturating_sub(80), file, from as usize)))
                }
            },
            other => {
                let other: String = chronicle_core::plain(other).chars().take(60).collect();
                Err(format!("there is no tool `{other}`; use those that were given"))
            }
        })
    }

    fn diff(&self) -> Result<String, Error> {
        let chunk = &self.plan.chunks[self.chunk];
        let lines = usize::try_from(chunk.n_lines).unwrap_or(usize::MAX);
        if lines <= MOST_DIFF_LINES.max(MOST_LINES as usize) {
            return diff(self.gathered, self.plan, chunk);
        }
        let files = &self.gathered.files;
        let mut out = format!(
            "This commit modifies {} files with {} lines changed.\nTop files by change size:\n",
            files.len(),
            self.gathered.n_changed()
        );
        let mut order: Vec<_> = files.iter().collect();
        order.sort_by_key(|file| std::cmp::Reverse(file.n_added() + file.n_removed()));
        for file in order.iter().take(50) {
            let _ = writeln!(out, "  {}: +{} -{}", file.path, file.n_added(), file.n_removed());
        }
        out.push_str(
            "\nUse get_file_content(path) to examine specific files,\n\
             or get_diff_for_file(path) to see the diff for a single file.\n",
        );
        Ok(out)
    }

    fn diff_for_file(&self, path: &str, from: u32) -> Result<Result<String, String>, Error> {
        let path = bare(path);
        let found = self.plan.files.iter().find(|planned| self.gathered.files[planned.file].path == path);
        let Some(planned) = found else {
            let aside = self.gathered.aside.iter().find(|(aside, _)| aside == path);
            return Ok(Err(match aside {
                Some((_, reason)) => format!("the changes of this file are not shown: {reason}"),
                None => "the commit does not change such a file".to_owned(),
            }));
        };
        let file = &self.gathered.files[planned.file];
        let (old, new) = (self.gathered.texts.version(file.old)?, self.gathered.texts.version(file.new)?);
        let first = planned.pieces.partition_point(|piece| piece.new.start + piece.new.len < from);
        let mut out = String::new();
        shown_hunks::show(&mut out, &planned.pieces[first..], &old, &new, self.plan.measure);
        Ok(Ok(if out.is_empty() { "no changes from that line on".to_owned() } else { out }))
    }

    /// A file at the commit.
    fn file(&self, path: &str) -> Result<Result<(String, ObjectId), String>, Error> {
        let path = bare(path);
        let is_odd = path.is_empty() || path.contains('\0');
        let tree = self.gathered.commit.tree;
        let found = match is_odd {
            true => None,
            false => self.gathered.repository.blob_at(tree, BString::from(path).as_bstr())?,
        };
        let missing = || {
            let was_removed = self.gathered.file(path).is_some();
            match was_removed {
                true => "the commit deletes this file; get_diff_for_file shows what it was".to_owned(),
                false => "there is no such file at this commit".to_owned(),
            }
        };
        Ok(found.map(|blob| (path.to_owned(), blob)).ok_or_else(missing))
    }

    fn lines(&self, path: &str, first: u32, last: u32, room: u64) -> Result<Result<String, String>, Error> {
        let blob = match self.file(path)? {
            Ok((_, blob)) => blob,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(text) = self.gathered.texts.of(blob)? else {
            return Ok(Err("the file is binary, too large to be shown, or not in this clone".to_owned()));
        };
        if text.count() < first {
            return Ok(Err(format!("the file has {} lines", text.count())));
        }
        Ok(Ok(self.numbered(&text, first, last.min(text.count()), room)))
    }

    fn numbered(&self, text: &Text, first: u32, last: u32, room: u64) -> String {
        let (mut out, mut left) = (String::new(), room.saturating_sub(120));
        for number in first..=last {
            let line = format!("{number} | {}\n", clipped(text.line(number), self.plan.measure.line));
            let cost = tokens::at_most(&line);
            if left < cost {
                let _ = writeln!(
                    out,
                    "… cut at line {number} of {}; get_surrounding_context shows the lines around one",
                    text.count()
                );
                break;
            }
            left -= cost;
            out.push_str(&line);
        }
        out
    }

    fn outline(&self, path: &str) -> Result<Result<String, String>, Error> {
        let (path, blob) = match self.file(path)? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        if self.gathered.texts.of(blob)?.is_none() {
            return Ok(Err("the file has no lines that could be shown".to_owned()));
        }
        let content = self.gathered.repository.blob(blob)?;
        let outline = Outlines::new(None).items(&path, &content);
        let items = match &*outline {
            Ok(items) => items,
            Err(reason) => return Ok(Ok(format!("{reason} Use line ranges instead.\n"))),
        };
        let mut out = String::new();
        for item in items {
            let lines = (item.lines.start, item.lines.end);
            let _ = writeln!(
                out,
                "{} {} (lines {}-{}): {}",
                item.kind.as_str(),
                item.qualified,
                lines.0,
                lines.1,
                item.signature
            );
        }
        Ok(Ok(if out.is_empty() { "the file has no named items; use line ranges\n".to_owned() } else { out }))
    }

    fn commit_info(&self) -> String {
        let budgets = &self.plan.budgets;
        let mut out = about(self.gathered, budgets.about);
        if let Some(said) = author(self.gathered, budgets.author) {
            let _ = writeln!(out, "context by the author:\n{said}");
        }
        out
    }

    /// What is known of a file from other commits; a file that is gone since has none.
    fn recent(&self, file: &str, n: u32) -> String {
        const NONE: &str = "[]\nNo earlier annotations.\n";
        let file = bare(file);
        let limit = self.plan.bounds.n_recent.max(1);
        let limit = if n == 0 { limit } else { limit.min(n as usize) };
        let path = match self.gathered.repository.work_dir() {
            Some(root) => root.join(file),
            None => file.into(),
        };
        let Ok(timeline) = self.chronicle.history(path, None, None) else { return NONE.to_owned() };
        let own = self.gathered.commit.id.to_string();
        let mut out = String::new();
        let moments = timeline.moments.iter().rev().filter(|moment| moment.commit != own);
        for moment in moments.take(limit) {
            let subject = moment.subject.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "commit {} {}",
                &moment.commit[..moment.commit.len().min(12)],
                clipped(subject, 120)
            );
            for region in &moment.regions {
                let anchor =
                    region.ast_anchor.as_ref().map(|anchor| anchor.name.as_str()).unwrap_or_default();
                let _ = writeln!(out, "  {anchor}: {}", clipped(&region.intent, 500));
            }
            for lesson in &moment.wisdom {
                let anchor = lesson.anchor.as_ref().map(|anchor| anchor.name.as_str()).unwrap_or_default();
                let _ = writeln!(out, "  {} {anchor}: {}", lesson.category, clipped(&lesson.content, 500));
            }
        }
        if out.is_empty() { NONE.to_owned() } else { within(&out, self.plan.budgets.recent) }
    }
}

fn bare(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}
