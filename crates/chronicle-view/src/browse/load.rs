//! Rows of the browser, from the use cases.

use std::path::Path;

use chronicle::{Chronicle, ReadCommand, Why, WhyScope, WisdomItem, counted};
use chronicle_core::LineRange;
use chronicle_memory::{
    injected::InjectedText,
    sessions::{ListedSession, ShownSession, short_session},
    threads::{OpenItem, PendingCommand},
};
use jiff::Timestamp;

use super::{
    Start,
    state::{Browser, Code, Detail, Row, Tab, Target, Written},
};
use crate::{ViewError, words};

/// Rows of a tab.
const MOST_ROWS: usize = 5_000;
/// The longest text that is shown.
const LONGEST: usize = 20_000;
const LONGEST_LINE: usize = 2_000;

/// A browser that shows what `start` says.
pub(super) fn browser(chronicle: &Chronicle, start: &Start) -> Result<Browser, ViewError> {
    let folder = chronicle.work_dir().ok().flatten();
    let folder = folder.as_deref().unwrap_or(chronicle.workplace().directory());
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let mut browser = Browser::new(words::line(&name, 60));
    match start {
        Start::All => browser.set_rows(Tab::Lessons, lessons(chronicle)?),
        Start::File(path, line) => browser.code = Some(code(chronicle, path, line.unwrap_or(1))?),
        Start::Session(id) => {
            browser.tab = Tab::Sessions;
            browser.set_rows(Tab::Sessions, rows(chronicle, Tab::Sessions)?);
            browser.detail = Some(session(chronicle, id)?);
        }
    }
    Ok(browser)
}

/// The rows of a tab.
pub(super) fn rows(chronicle: &Chronicle, tab: Tab) -> Result<Vec<Row>, ViewError> {
    let memory = chronicle.memory();
    let now = chronicle.workplace().now();
    Ok(match tab {
        Tab::Lessons => lessons(chronicle)?,
        Tab::Sessions => {
            let list = memory.sessions(None, false, None, MOST_ROWS)?;
            list.sessions.iter().map(|session| session_row(session, now)).collect()
        }
        Tab::Open => {
            let command = PendingCommand { project: None, all: false, archived: false, limit: MOST_ROWS };
            memory.threads().pending(&command)?.items.iter().map(|item| open_row(item, now)).collect()
        }
        Tab::Shown => memory.injected(None)?.told.iter().map(|told| shown_row(told, now)).collect(),
    })
}

fn lessons(chronicle: &Chronicle) -> Result<Vec<Row>, ViewError> {
    let command = ReadCommand {
        max_regions: Some(MOST_ROWS),
        is_brief: true,
        with_replaced: true,
        ..ReadCommand::default()
    };
    let reading = chronicle.read_recent(&command)?;
    Ok(lesson_rows(chronicle, &reading.wisdom))
}

/// The rows of lessons, with a mark on those that were rejected on this machine.
fn lesson_rows(chronicle: &Chronicle, lessons: &[WisdomItem]) -> Vec<Row> {
    let now = chronicle.workplace().now();
    let rejected = chronicle.memory().learning().rejected_lessons();
    let row = |lesson: &WisdomItem| match rejected.has(&lesson.standing.id.0, lesson.standing.tier) {
        true => lesson_row(lesson, now).rejected(),
        false => lesson_row(lesson, now),
    };
    lessons.iter().map(row).collect()
}

/// A file with its lessons.
pub(super) fn code(chronicle: &Chronicle, path: &Path, line: u32) -> Result<Code, ViewError> {
    let command = ReadCommand {
        paths: vec![path.to_owned()],
        max_regions: Some(usize::MAX),
        is_brief: true,
        with_replaced: true,
        ..ReadCommand::default()
    };
    let reading = chronicle.read(&command)?;
    let file = reading.query.file.clone().unwrap_or_default();
    let lines = chronicle.present_code().lines(&file).unwrap_or_default();
    let lines = lines.iter().map(|line| words::shown(&line.replace('\t', "    "), LONGEST_LINE)).collect();
    // A reason belongs to the lines that its commit wrote, or to the file.
    Ok(Code::new(file, lines, lesson_rows(chronicle, &reading.wisdom), line))
}

/// Who wrote each line of a file.
pub(super) fn blame(
    chronicle: &Chronicle,
    file: &str,
    n_lines: u32,
) -> Result<Vec<Option<Written>>, ViewError> {
    let Ok(all) = LineRange::new(1, n_lines) else { return Ok(Vec::new()) };
    let why = chronicle.why(from_top(chronicle, file), WhyScope::Lines(all))?;
    let now = chronicle.workplace().now();
    let mut written = vec![None; n_lines as usize];
    for commit in &why.commits {
        let age = words::moment(Some(&commit.date))
            .map(|at| words::ago(at, now).replace(" ago", ""))
            .unwrap_or_default();
        let who = Written { author: words::line(&commit.author, 40), age };
        for lines in &commit.lines {
            for line in lines.start..=lines.end.min(n_lines) {
                written[(line - 1) as usize] = Some(who.clone());
            }
        }
    }
    Ok(written)
}

/// Who wrote a line, in which session, and after which words.
pub(super) fn why(
    chronicle: &Chronicle,
    file: &str,
    line: u32,
) -> Result<(Detail, Option<String>), ViewError> {
    let Ok(lines) = LineRange::new(line, line) else { return Ok((Detail::default(), None)) };
    let why = chronicle.why(from_top(chronicle, file), WhyScope::Lines(lines))?;
    let session = why.sessions.first().map(|origin| origin.session.clone());
    Ok((why_detail(&why, chronicle.workplace().now()), session))
}

/// A path from the top of the repository, wherever the browser was started.
fn from_top(chronicle: &Chronicle, file: &str) -> std::path::PathBuf {
    match chronicle.work_dir() {
        Ok(Some(top)) => top.join(file),
        _ => file.into(),
    }
}

fn why_detail(why: &Why, now: Timestamp) -> Detail {
    let mut lines = Vec::new();
    for commit in &why.commits {
        let age = words::moment(Some(&commit.date))
            .map(|at| format!(", {}", words::ago(at, now)))
            .unwrap_or_default();
        lines.push(format!("{} {}", words::commit(&commit.commit), words::line(&commit.subject, 300)));
        lines.push(format!("by {}{age}", words::line(&commit.author, 80)));
        lines.extend(text_lines(&commit.body));
    }
    if !why.uncommitted.is_empty() {
        lines.push("not committed yet".to_owned());
    }
    for origin in &why.sessions {
        lines.push(String::new());
        let sure = words::word(&origin.certainty);
        lines.push(format!(
            "Session {} ({}, {sure}): {}",
            words::line(short_session(&origin.session), 40),
            words::line(&origin.agent, 40),
            words::line(&origin.title, 200)
        ));
        if let Some(request) = &origin.request {
            lines.push("Asked:".to_owned());
            lines.extend(text_lines(request));
        }
        for word in &origin.reasoning {
            lines.push("The agent:".to_owned());
            lines.extend(text_lines(word));
        }
    }
    if why.sessions.is_empty() {
        lines.push(String::new());
        lines.push("Session memory has no edit that wrote the line.".to_owned());
    }
    for reason in &why.regions {
        if !reason.intent.trim().is_empty() {
            lines.push(String::new());
            lines.push("Why:".to_owned());
            lines.extend(text_lines(&reason.intent));
        }
    }
    Detail { heading: format!("Who wrote line {}", why.lines.start), lines }
}

/// A session with its results and its turns.
pub(super) fn session(chronicle: &Chronicle, id: &str) -> Result<Detail, ViewError> {
    let session = chronicle.memory().session(id, true)?;
    Ok(session_detail(&session, chronicle.workplace().now()))
}

fn session_detail(session: &ShownSession, now: Timestamp) -> Detail {
    let row = session_row(&session.listed, now);
    let mut lines = vec![row.about, String::new()];
    if let Some(digest) = &session.digest {
        lines.extend(text_lines(&digest.summary));
        for (title, texts) in [
            ("Done:", &digest.key_actions),
            ("Decided:", &digest.decisions),
            ("Open questions:", &digest.open_questions),
        ] {
            add_list(&mut lines, title, texts.iter().map(|text| words::line(text, 600)));
        }
        let commits = digest.commits.iter();
        let commits = commits
            .map(|commit| format!("{} {}", words::commit(&commit.id), words::line(&commit.subject, 200)));
        add_list(&mut lines, "Commits:", commits);
        let checks = digest.checks.iter().map(|check| {
            let outcome = match check.is_passed {
                Some(true) => "passed",
                Some(false) => "FAILED",
                None => "unknown",
            };
            format!("{outcome}: {}", words::line(&check.command, 160))
        });
        add_list(&mut lines, "Checks:", checks);
    }
    if !session.turns.is_empty() {
        lines.push(String::new());
        lines.push(format!("{}:", counted(session.turns.len(), "turn")));
    }
    for turn in &session.turns {
        let who = match turn.kind {
            "prompt" => "Human",
            "said" => "Agent",
            other => other,
        };
        lines.push(format!("── {who}"));
        lines.extend(text_lines(&turn.text));
    }
    Detail { heading: words::line(&session.listed.title, 200), lines }
}

fn add_list(lines: &mut Vec<String>, title: &str, texts: impl Iterator<Item = String>) {
    let mut texts = texts.peekable();
    if texts.peek().is_some() {
        lines.push(String::new());
        lines.push(title.to_owned());
        lines.extend(texts.map(|text| format!("- {text}")));
    }
}

fn lesson_row(lesson: &WisdomItem, now: Timestamp) -> Row {
    let standing = &lesson.standing;
    let file = standing.file.as_deref();
    let place = words::place(standing);
    let mut about = Vec::new();
    about.extend(file.map(|file| words::path(file).into_owned()));
    about.push(place);
    let mut lines: Vec<String> = text_lines(&lesson.content);
    lines.push(String::new());
    lines.push(about.join(" · "));
    lines.extend(lesson.anchor.as_ref().map(|anchor| words::line(&anchor.name, 200)));
    lines.push(format!(
        "{} · {} · confidence {:.2}",
        words::ago(standing.at, now),
        words::commit(&standing.commit),
        standing.confidence
    ));
    let by = standing.said_by().map(|said| words::line(&said, 200));
    lines.extend(by.clone());
    for dependency in &lesson.depends_on {
        lines.push(format!(
            "relies on {}: {}",
            words::path(&dependency.file),
            words::line(&dependency.nature, 300)
        ));
    }
    lines.extend(standing.corrections.iter().map(|item| words::correction(item, now)));
    if standing.superseded_by.is_some() {
        lines.push("superseded".to_owned());
    }
    if standing.expired {
        lines.push("expired".to_owned());
    }
    lines.push(format!("id {}", words::path(&standing.id.0)));
    Row {
        id: standing.id.0.clone(),
        target: Target::Lesson,
        mark: words::mark(lesson.category),
        kind: words::kind(lesson.category),
        title: words::line(&lesson.content, 400),
        about: about.into_iter().chain(by.clone()).collect::<Vec<_>>().join(" "),
        by,
        file: standing.file.clone(),
        lines: standing.lines.map(|lines| (lines.start, lines.end)),
        session: None,
        detail: Detail { heading: words::kind(lesson.category).to_owned(), lines },
        words: words::shown(&lesson.content, LONGEST),
    }
}

fn session_row(session: &ListedSession, now: Timestamp) -> Row {
    let mut about = vec![words::line(&session.agent, 40)];
    about.extend(session.branch.as_deref().map(|branch| words::line(branch, 80)));
    about.extend(words::moment(session.ended.as_deref()).map(|at| words::ago(at, now)));
    about.push(counted(session.prompts, "prompt"));
    let about = about.join(" · ");
    let title = words::line(&session.title, 300);
    let lines =
        vec![about.clone(), String::new(), "Enter shows its results and turns; r continues it.".to_owned()];
    Row {
        id: session.session.clone(),
        target: Target::Session,
        mark: "◆",
        kind: "session",
        detail: Detail { heading: title.clone(), lines },
        words: title.clone(),
        title,
        about,
        by: None,
        file: None,
        lines: None,
        session: Some(session.session.clone()),
    }
}

fn open_row(item: &OpenItem, now: Timestamp) -> Row {
    let mut about = vec![format!("{} priority", words::word(&item.priority)), words::word(&item.status)];
    about.extend(words::moment(item.last_mentioned.as_deref()).map(|at| words::ago(at, now)));
    about.extend(item.branch.as_deref().map(|branch| words::line(branch, 80)));
    let by = item.said_by().map(|said| words::line(&said, 200));
    about.extend(by.clone());
    let about = about.join(" · ");
    let is_lesson = item.commit.is_some();
    let mut lines = text_lines(&item.summary);
    lines.push(String::new());
    lines.push(about.clone());
    lines.extend(text_lines(&item.context));
    for other in &item.waits_for {
        lines.push(format!("waits for: {}", words::line(&other.summary, 300)));
    }
    if let Some(proposal) = &item.proposal {
        lines.push(format!("perhaps {}: R confirms, x says no", words::word(&proposal.how)));
    }
    lines.push(format!("id {}", words::line(&item.short, 40)));
    Row {
        id: item.id.clone(),
        target: if is_lesson { Target::Lesson } else { Target::Thread },
        mark: "○",
        kind: if is_lesson { "unfinished" } else { "thread" },
        title: words::line(&item.summary, 300),
        about,
        by,
        file: item.file.clone(),
        lines: None,
        session: item.session.clone(),
        detail: Detail { heading: words::word(&item.kind), lines },
        words: words::shown(&item.summary, LONGEST),
    }
}

fn shown_row(told: &InjectedText, now: Timestamp) -> Row {
    let used = told.items.iter().filter(|item| item.used == Some(true)).count();
    let mut about = vec![words::line(&told.host, 40), words::line(&told.event, 60)];
    about.extend(words::moment(Some(&told.at)).map(|at| words::ago(at, now)));
    about.push(format!("{} of {} used", used, told.items.len()));
    let about = about.join(" · ");
    let first = told.items.first().map_or(&told.text, |item| &item.words);
    let title = words::line(if told.why.trim().is_empty() { first } else { &told.why }, 300);
    let mut lines = vec![about.clone(), String::new()];
    for item in &told.items {
        let used = match item.used {
            Some(true) => "✓ used",
            Some(false) => "– not used",
            None => "? unknown",
        };
        lines.push(format!("{used}: {}", words::line(&item.words, 300)));
    }
    lines.push(String::new());
    lines.push("The words it got:".to_owned());
    lines.extend(text_lines(&told.text));
    Row {
        id: format!("{} {}", told.session, told.at),
        target: Target::Occasion,
        mark: "→",
        kind: "shown",
        detail: Detail { heading: "Shown to an agent".to_owned(), lines },
        by: None,
        title,
        about,
        file: told.items.first().and_then(|item| item.file.clone()),
        lines: None,
        session: Some(told.session.clone()),
        words: words::shown(&told.text, LONGEST),
    }
}

/// A text as it may be shown, line by line.
fn text_lines(text: &str) -> Vec<String> {
    words::shown(text, LONGEST).lines().map(|line| line.replace('\t', "    ")).collect()
}
