//! Pieces of answers without any markup: an editor puts them together, and sees to it that none of them acts as markup.

use chronicle::{Certainty, Origin, RegionItem, Standing, Why, WisdomItem, Wrote};
use chronicle_core::{Age, LineRange};
use chronicle_memory::sessions::short_session;

use super::{View, words};

/// What precedes the words of a lesson: `gotcha (lines 10-20, intact, 0.92, 5083cd1, 2 days)`.
#[must_use]
pub fn lesson_head(item: &WisdomItem, view: &View) -> String {
    head(&label(item), &item.standing, item.anchor.as_ref().map(|anchor| &*anchor.name), view)
}

/// A lesson where it is shown on its own lines: `gotcha: Never block here. (5083cd1, 2 days)`.
#[must_use]
pub fn lesson_in_place(item: &WisdomItem, view: &View) -> String {
    let mut about = vec![words::short(&item.standing.commit), words::age(&item.standing, view.now)];
    about.extend(words::doubts(&item.standing));
    let words = chronicle::plain(&item.content);
    format!("{}: {} ({})", label(item), words.trim(), about.join(", "))
}

/// `dead end`: for people, not for programs.
fn label(item: &WisdomItem) -> String {
    item.category.name().replace('_', " ")
}

/// What precedes the words about a code unit, or those of a commit that wrote lines here.
#[must_use]
pub fn unit_head(item: &RegionItem, view: &View) -> String {
    let label = if item.standing.matched == chronicle::Match::Commit { "commit" } else { "code unit" };
    head(label, &item.standing, item.ast_anchor.as_ref().map(|anchor| &*anchor.name), view)
}

fn head(label: &str, standing: &Standing, anchor: Option<&str>, view: &View) -> String {
    let lines = standing.lines.map(LineRange::in_words).or_else(|| words::lines(standing));
    let mut about = vec![words::placed(standing, lines)];
    about.extend(anchor.map(words::anchor));
    about.push(format!("{:.2}", standing.confidence));
    about.push(words::short(&standing.commit));
    about.push(words::age(standing, view.now));
    about.extend(words::doubts(standing));
    format!("{label} ({})", about.join(", "))
}

/// Which commit wrote lines, and which session, with what the human had asked for: one line each.
#[must_use]
pub fn written_by(why: &Why, view: &View) -> Vec<String> {
    let mut lines: Vec<String> = why.commits.iter().map(|wrote| commit(wrote, view)).collect();
    if !why.uncommitted.is_empty() {
        lines.push("Not committed yet".to_owned());
    }
    for origin in &why.sessions {
        lines.push(session(origin, view));
        lines.extend(origin.request.as_deref().map(|asked| format!("Asked: {}", words::one_line(asked))));
        lines.extend(origin.reasoning.iter().map(|said| format!("Said: {}", words::one_line(said))));
    }
    lines
}

fn commit(wrote: &Wrote, view: &View) -> String {
    let at = chronicle_core::parse_time(&wrote.date);
    let age = at.map(|at| format!(", {} ago", Age::between(at, view.now))).unwrap_or_default();
    let or_before =
        if wrote.or_before { ", or before: the history of this shallow clone ends there" } else { "" };
    let (id, subject) = (words::short(&wrote.commit), words::path(&wrote.subject));
    format!("Written by {id} {subject} ({}{age}){or_before}", words::path(&wrote.author))
}

fn session(origin: &Origin, view: &View) -> String {
    let label = match origin.certainty {
        Certainty::Certain => "In session",
        Certainty::Likely => "Probably in session",
    };
    let mut about = vec![words::one_line(&origin.agent)];
    about.extend(words::ago(origin.at.as_deref(), view.now));
    let short = words::one_line(short_session(&origin.session));
    format!("{label} {short} \u{201c}{}\u{201d} ({})", words::one_line(&origin.title), about.join(", "))
}
