//! A shared session as a page.

use chronicle_memory::sessions::{ShownSession, ShownTurn};
use jiff::Timestamp;
use maud::{Markup, html};

use super::is_speech;
use crate::{page::document, words};

const LONGEST: usize = 8_000;

pub(super) fn page(session: &ShownSession, now: Timestamp) -> String {
    let title = words::line(&session.listed.title, 200);
    document(&title, None, &body(session, &title, now))
}

fn body(session: &ShownSession, title: &str, now: Timestamp) -> Markup {
    let listed = &session.listed;
    let mut about = vec![words::line(&listed.agent, 40), words::line(&listed.project, 80)];
    about.extend(listed.branch.as_deref().map(|branch| words::line(branch, 80)));
    about.extend(words::moment(listed.began.as_deref()).map(|at| format!("{} UTC", words::minute(at))));
    html! {
        a class="skip" href="#content" { "Skip to the content" }
        header { h1 { (title) } p class="dim" { (about.join(" · ")) } }
        main id="content" {
            @if let Some(digest) = &session.digest {
                section aria-labelledby="result" {
                    h2 id="result" { "Result" }
                    p { (words::shown(&digest.summary, LONGEST)) }
                    (list("Done", &digest.key_actions))
                    (list("Decided", &digest.decisions))
                    @if !digest.commits.is_empty() {
                        h3 { "Commits" }
                        ul { @for commit in &digest.commits { li { code { (words::commit(&commit.id)) } " " (words::line(&commit.subject, 300)) } } }
                    }
                    (list("Open questions", &digest.open_questions))
                }
            }
            @if !session.turns.is_empty() {
                section aria-labelledby="turns" {
                    h2 id="turns" { "Turns" }
                    @for turn in &session.turns { (turn_of(turn)) }
                }
            }
        }
        footer { p class="dim" { "Written by git chronicle on " (words::day(now)) ". Secrets and local folders are replaced. The page loads nothing and sends nothing." } }
    }
}

fn turn_of(turn: &ShownTurn) -> Markup {
    let at = words::moment(turn.at.as_deref()).map(words::minute).unwrap_or_default();
    let who = match turn.kind {
        "prompt" => "Human".to_owned(),
        "said" => "Agent".to_owned(),
        other => words::line(&other.replace('_', " "), 40),
    };
    html! {
        article class=(if turn.kind == "prompt" { "item prompt" } else { "item" }) {
            p {
                strong { (who) }
                @match turn.ok { Some(true) => { " " span class="passed" { "✓" } }, Some(false) => { " " span class="failed" { "✗ failed" } }, None => {} }
                " " span class="dim about" { (at) }
            }
            @if is_speech(turn) { p class="words" { (words::shown(&turn.text, LONGEST)) } }
            @else { pre { code { (words::shown(&turn.text, LONGEST)) } } }
            @if let Some(answer) = &turn.answer { pre { code { (words::shown(answer, LONGEST)) } } }
        }
    }
}

fn list(title: &str, texts: &[String]) -> Markup {
    html! {
        @if !texts.is_empty() {
            h3 { (title) }
            ul { @for text in texts { li { (words::shown(text, LONGEST)) } } }
        }
    }
}
