//! The page: one file with all that is known of a repository, for a browser.

mod known;
mod numbers;
mod worked;

use data_encoding::BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::{Material, words};

const STYLE: &str = include_str!("../assets/page.css");
/// Filters what is shown. The page says all without it.
const FILTER: &str = include_str!("../assets/filter.js");
/// Gets the page from the server, with the token.
const LIVE: &str = include_str!("../assets/live.js");

/// The first words of each file that this crate writes: by them it knows its own.
pub(crate) const MARK: &str = "<!-- written by git chronicle -->";

/// A page with more lessons is large.
const MANY: usize = 1_000;

/// The page as one file that needs nothing else.
#[must_use]
pub fn page(material: &Material) -> String {
    let title = format!("{}: what is known", material.project);
    document(&title, Some(FILTER), &body(material))
}

/// What a browser loads first from a server: it holds nothing but the means to ask for the page with the token.
#[must_use]
pub fn served_shell() -> String {
    let script = live_script();
    let body = html! {
        main { h1 { "Chronicle" } p id="state" role="status" { "Loading…" } noscript { p { "The served page needs its script, which sends the token. `git chronicle view --out FILE` writes a page that needs none." } } }
    };
    document_under(&served_policy_of(&script), "Chronicle", Some(&script), &body)
}

/// The policy that a browser holds a served page to.
pub(crate) fn served_policy() -> String {
    format!("{}; frame-ancestors 'none'", served_policy_of(&live_script()))
}

/// The served page asks its own server, and no other.
fn served_policy_of(script: &str) -> String {
    format!("{}; connect-src 'self'", policy(Some(script)))
}

fn live_script() -> String {
    format!("{FILTER}\n{LIVE}")
}

/// A whole document around `body`, which may load nothing.
pub(crate) fn document(title: &str, script: Option<&str>, body: &Markup) -> String {
    document_under(&policy(script), title, script, body)
}

fn document_under(policy: &str, title: &str, script: Option<&str>, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        (PreEscaped(MARK))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if let Some(script) = script {
                    script { (PreEscaped(script)) }
                }
            }
        }
    };
    page.into_string()
}

/// Nothing may be loaded or run but the style and the script that are in the page, known by their hashes.
fn policy(script: Option<&str>) -> String {
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text.as_bytes()));
    let script = script.map_or_else(|| "'none'".to_owned(), |script| format!("'sha256-{}'", hash(script)));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

fn body(material: &Material) -> Markup {
    let memory = material.memory.as_ref();
    html! {
        a class="skip" href="#content" { "Skip to the content" }
        header {
            h1 { (material.project) }
            p class="dim" { (known::in_numbers(material)) " · as of " (words::minute(material.now)) " UTC" }
            nav aria-label="Sections" {
                a href="#lessons" { "Lessons" }
                @if !material.reasons.is_empty() { a href="#reasons" { "Reasons" } }
                @if let Some(memory) = memory {
                    @if !memory.sessions.is_empty() { a href="#sessions" { "Sessions" } }
                    @if !memory.open.is_empty() { a href="#open" { "Open" } }
                    @if !memory.injected.told.is_empty() { a href="#shown" { "Shown to agents" } }
                }
                a href="#numbers" { "Numbers" }
            }
        }
        // Much of a large page is drawn only where it is looked at.
        main id="content" class=[(MANY < material.lessons.len()).then_some("many")] {
            (filter())
            (known::lessons(material))
            (known::reasons(material))
            @if let Some(memory) = memory {
                (worked::sessions(memory, material))
                (worked::open(memory, material))
                (worked::shown(memory, material))
            }
            (numbers::section(material))
        }
        footer {
            @for warning in material.warnings.iter().take(20) { p class="dim" { "Warning: " (words::line(warning, 300)) } }
            @if 0 < material.n_foreign {
                p class="dim" { "Left out: " (material.n_foreign) " that came from someone who isn't trusted here." }
            }
            p class="dim" { "Written by git chronicle. The page loads nothing and sends nothing." }
        }
    }
}

/// What the script shows when it runs: without it, there is nothing that it could do.
fn filter() -> Markup {
    html! {
        form id="filter" role="search" hidden {
            label for="filter-words" { "Filter" }
            input id="filter-words" name="words" type="search" autocomplete="off" spellcheck="false";
            label for="filter-kind" { "Kind" }
            select id="filter-kind" name="kind" {
                option value="" { "everything" }
                option value="gotcha" { "gotchas" }
                option value="dead end" { "dead ends" }
                option value="insight" { "insights" }
                option value="unfinished" { "unfinished" }
                option value="reason" { "reasons" }
                option value="session" { "sessions" }
                option value="thread" { "open work" }
                option value="shown" { "shown to agents" }
            }
            output id="filter-count" for="filter-words filter-kind" {}
        }
    }
}

#[cfg(test)]
mod tests;
