//! Corrections as text: beside the claims they are of, and when they are made.

use std::fmt::Write;

use chronicle::{ClaimLine, CorrectReply};
use chronicle_core::{
    Age,
    correction::{CorrectionItem, CorrectionKind, Tier},
    reading,
};

use super::{View, words};

/// `flagged by Ada, 2 days ago: wrong since the pool waits`.
pub(super) fn words(item: &CorrectionItem, view: &View) -> String {
    let field = item.field.as_deref().map_or_else(|| "claim".to_owned(), words::path);
    let mut text = match item.kind {
        CorrectionKind::Flag => "flagged".to_owned(),
        CorrectionKind::Remove => format!("{field}: a value was removed"),
        CorrectionKind::Amend => format!("{field}: a value was amended"),
    };
    let stranger = (item.trust == Tier::Unknown && item.origin.is_some())
        .then(|| reading::said_by(item.author.as_deref(), item.trust, item.origin.as_deref()));
    match (stranger.flatten(), &item.author) {
        (Some(stranger), _) => drop(write!(text, " ({stranger})")),
        (None, Some(author)) => drop(write!(text, " by {}", words::path(author))),
        (None, None) => {}
    }
    if let Some(at) = chronicle_core::parse_time(&item.timestamp) {
        let _ = write!(text, ", {} ago", Age::between(at, view.now));
    }
    match item.meant {
        Some(CorrectionKind::Remove) => text.push_str(", who is trusted too little to remove"),
        Some(CorrectionKind::Amend) => text.push_str(", who is trusted too little to amend"),
        Some(CorrectionKind::Flag) | None => {}
    }
    // It stands below words of the user's, so a stranger's may have no line of their own.
    let said = |text: &str| match item.trust {
        Tier::Unknown => words::one_line(text),
        _ => words::indented(text, "    "),
    };
    if let (Some(value), true) = (&item.target_value, view.verbose) {
        let _ = write!(text, " (was: {}", said(value));
        if let Some(replacement) = &item.replacement {
            let _ = write!(text, "; now: {}", said(replacement));
        }
        text.push(')');
    }
    if !item.reason.trim().is_empty() {
        let _ = write!(text, ": {}", said(&item.reason));
    }
    text
}

/// The corrections of one claim, each behind `lead`.
pub(super) fn list(out: &mut String, items: &[CorrectionItem], lead: &str, view: &View) {
    for item in items {
        let _ = writeln!(out, "{}{lead}{}", quote(item), words(item, view));
    }
}

/// What stands before the line of a correction, which may be a stranger's below words of the user's.
pub(super) fn quote(item: &CorrectionItem) -> &'static str {
    if item.trust == Tier::Unknown { "> " } else { "" }
}

/// What stands before a correction of a code unit.
pub(super) const LABEL: &str = "**Correction:** ";

pub(super) fn markdown(reply: &CorrectReply, view: &View) -> String {
    let mut out = String::new();
    for (number, claim) in reply.claims.iter().enumerate() {
        words::said_as(&mut out, claim.tier, |out| {
            let _ = writeln!(out, "- {}", claim_words(claim));
            let _ = writeln!(out, "  - id: {}", words::id(&claim.id));
        });
        if let Some(correction) = reply.corrections.get(number) {
            let tier = Tier::Own;
            let item = correction.clone().by(tier, None, tier);
            list(&mut out, &[item], "  - ", &View { verbose: true, ..*view });
        }
    }
    out
}

/// `gotcha (src/pool.rs, Pool::acquire, 5083cd1): never block`.
fn claim_words(claim: &ClaimLine) -> String {
    let mut about: Vec<String> = Vec::new();
    about.extend(claim.file.as_deref().map(words::path));
    about.extend(claim.anchor.as_deref().map(words::anchor));
    about.push(words::short(&claim.commit));
    about.extend(claim.said_by.clone());
    format!("{} ({}): {}", claim.kind, about.join(", "), words::indented(&claim.text, "  "))
}
