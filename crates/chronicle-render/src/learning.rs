//! What was learned, and answers to questions, as text.

use std::fmt::Write;

use chronicle::ask::{Asked, Citation, RoutedAnswer};
use chronicle_core::counted;
use chronicle_memory::{
    learning::{
        DeveloperProfile, FeedbackReply, Pattern, Patterns, Place, Preference, Preferences, Problems,
        Projects, Skill, Skills,
    },
    sessions::short_session,
};

use super::{
    Answer, Format, View,
    markdown::{found_lessons, gap},
    pretty, words,
};

/// How much evidence a list shows of one item.
const FEW: usize = 3;

/// How many projects are named where something came up.
const FEW_PROJECTS: usize = 6;

fn written(answer: &impl Answer, text: String, format: Format, view: &View) -> String {
    match format {
        Format::Json => answer.json_line(view.verbose),
        Format::Markdown => text,
        Format::Pretty => pretty::painted(&text, view),
    }
}

/// `5e551011 line 7`
fn place(place: &Place) -> String {
    format!("{} line {}", words::one_line(short_session(&place.session)), place.line)
}

fn places(all: &[Place], most: usize) -> String {
    let mut told: Vec<String> = all.iter().take(most).map(place).collect();
    if most < all.len() {
        told.push(format!("{} more", all.len() - most));
    }
    told.join(", ")
}

/// Preferences as text; with all their evidence if `is_why`.
#[must_use]
pub fn preferences(answer: &Preferences, is_why: bool, format: Format, view: &View) -> String {
    let mut out = String::new();
    for preference in &answer.preferences {
        preferred(&mut out, preference);
        if is_why {
            reasons(&mut out, preference, view);
        }
    }
    left_out(&mut out, answer.left_out, "--all");
    written(answer, out, format, view)
}

/// `- p-3f2a Prefers pnpm (explicit, in web, 0.85; 1 session)`
fn preferred(out: &mut String, preference: &Preference) {
    let state = if preference.status == "held" { String::new() } else { format!(", {}", preference.status) };
    let seen = match preference.of_sessions {
        Some(all) => format!("{} of {}", preference.sessions, sessions(all)),
        None => sessions(preference.sessions),
    };
    let projects: Vec<String> = preference.projects.iter().map(|name| words::one_line(name)).collect();
    let holds = match projects.as_slice() {
        _ if preference.everywhere => ", everywhere".to_owned(),
        [] => String::new(),
        projects => format!(", in {}", projects.join(", ")),
    };
    let _ = writeln!(
        out,
        "- {} {} ({}{holds}, {:.2}{state}; {seen})",
        preference.id,
        words::one_line(&preference.preference),
        preference.kind,
        preference.confidence
    );
}

/// The developer profile as text.
#[must_use]
pub fn profile(answer: &DeveloperProfile, format: Format, view: &View) -> String {
    let mut out = String::new();
    let skilled =
        [("Languages", &answer.identity.primary_languages), ("Tools", &answer.identity.primary_tools)];
    for (title, skills) in skilled.into_iter().filter(|(_, skills)| !skills.is_empty()) {
        gap(&mut out);
        let _ = writeln!(out, "## {title}");
        skills.iter().for_each(|one| skill(&mut out, one, view));
    }
    let preferences = [("Preferences", &answer.preferences), ("Style", &answer.style)];
    for (title, preferences) in preferences.into_iter().filter(|(_, all)| !all.is_empty()) {
        gap(&mut out);
        let _ = writeln!(out, "## {title}");
        preferences.iter().for_each(|one| preferred(&mut out, one));
    }
    written(answer, out, format, view)
}

fn reasons(out: &mut String, preference: &Preference, view: &View) {
    if let Some(other) = &preference.superseded_by {
        let _ = writeln!(out, "  in its place: {other}");
    }
    let ago = |at: &Option<String>| {
        words::ago(at.as_deref(), view.now).unwrap_or_else(|| "at an unknown time".to_owned())
    };
    let _ = writeln!(
        out,
        "  first observed {}, last confirmed {}",
        ago(&preference.first_observed),
        ago(&preference.last_confirmed)
    );
    for evidence in &preference.evidence {
        let said = match (&evidence.said, evidence.corrects) {
            (Some(said), true) => format!("corrected the agent: “{}”", words::one_line(said)),
            (Some(said), false) => format!("said “{}”", words::one_line(said)),
            (None, _) => format!("done {}", times(evidence.times)),
        };
        let _ = writeln!(out, "  - {} ({}): {said}", place(&evidence.place), ago(&evidence.place.at));
    }
}

fn sessions(count: usize) -> String {
    counted(count, "session")
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { counted(count, "time") }
}

fn left_out(out: &mut String, count: usize, option: &str) {
    if 0 < count {
        let _ = writeln!(out, "{count} more ({option})");
    }
}

/// Patterns as text; with all their evidence if `is_why`.
#[must_use]
pub fn patterns(answer: &Patterns, is_why: bool, format: Format, view: &View) -> String {
    let mut out = String::new();
    let mut kind = "";
    for pattern in &answer.patterns {
        if pattern.kind != kind {
            kind = pattern.kind;
            gap(&mut out);
            let _ = writeln!(out, "## {kind}");
        }
        one_pattern(&mut out, pattern, is_why);
    }
    left_out(&mut out, answer.left_out, "--all");
    written(answer, out, format, view)
}

fn one_pattern(out: &mut String, pattern: &Pattern, is_why: bool) {
    let mut facts = vec![
        format!("{:.2}", pattern.confidence),
        format!("{} of {}", pattern.sessions, sessions(pattern.of_sessions)),
    ];
    if pattern.sessions < pattern.times {
        facts.push(times(pattern.times));
    }
    facts.extend(pattern.lift.map(|lift| format!("lift {lift:.1}")));
    facts.extend(pattern.outcome.clone());
    if pattern.status != "held" {
        facts.push(pattern.status.to_owned());
    }
    let _ = writeln!(out, "- {} {} ({})", pattern.id, words::one_line(&pattern.pattern), facts.join(", "));
    if let Some(said) = &pattern.worded {
        let (text, model) = (words::one_line(&said.text), words::one_line(&said.model));
        let _ = writeln!(out, "  {text} (in the words of {model})");
    }
    if is_why {
        for at in &pattern.evidence {
            let _ = writeln!(out, "  - {}: {}", place(at), words::one_line(&at.title));
        }
    } else {
        let _ = writeln!(out, "  {}", places(&pattern.evidence, FEW));
    }
}

/// Technologies as text.
#[must_use]
pub fn skills(answer: &Skills, format: Format, view: &View) -> String {
    let mut out = String::new();
    answer.skills.iter().for_each(|one| skill(&mut out, one, view));
    left_out(&mut out, answer.left_out, "--limit");
    written(answer, out, format, view)
}

fn skill(out: &mut String, skill: &Skill, view: &View) {
    let signs = [(skill.edits, "edit"), (skill.commands, "command"), (skill.imports, "import")];
    let mut facts: Vec<String> =
        signs.iter().filter(|(count, _)| 0 < *count).map(|(count, what)| counted(*count, what)).collect();
    facts.push(sessions(skill.sessions));
    if 1 < skill.projects.len() {
        facts.push(counted(skill.projects.len(), "project"));
    }
    facts.extend(words::ago(skill.last_used.as_deref(), view.now));
    let technology = words::one_line(&skill.technology);
    let _ = writeln!(out, "- {technology} ({}): {}", facts.join(", "), places(&skill.evidence, FEW));
}

/// Projects as text.
#[must_use]
pub fn projects(answer: &Projects, format: Format, view: &View) -> String {
    let mut out = String::new();
    for project in &answer.projects {
        let mut facts: Vec<String> =
            project.similarity.map(|similar| format!("{:.0} % alike", similar * 100.0)).into_iter().collect();
        // Others may be called the same.
        if 1 < answer.projects.iter().filter(|other| other.project == project.project).count() {
            facts.extend(project.folders.first().map(|folder| words::path(folder)));
        }
        facts.push(sessions(project.sessions));
        facts.extend(words::ago(project.last_used.as_deref(), view.now));
        let used: Vec<String> = project
            .technologies
            .iter()
            .map(|used| match &answer.using {
                None => words::one_line(&used.technology),
                Some(_) => {
                    let seen = if used.evidence.is_empty() {
                        String::new()
                    } else {
                        format!("; {}", places(&used.evidence, 1))
                    };
                    format!(
                        "{} ({}{seen})",
                        words::one_line(&used.technology),
                        used.by.iter().map(|by| words::one_line(by)).collect::<Vec<_>>().join(", ")
                    )
                }
            })
            .collect();
        let used = if used.is_empty() { String::new() } else { format!(": {}", used.join(", ")) };
        let _ = writeln!(out, "- {} ({}){used}", words::one_line(&project.project), facts.join(", "));
    }
    written(answer, out, format, view)
}

/// Problems as text.
#[must_use]
pub fn problems(answer: &Problems, format: Format, view: &View) -> String {
    let mut out = String::new();
    for problem in &answer.problems {
        gap(&mut out);
        let mut facts = vec![sessions(problem.sessions)];
        let named = problem.projects.iter().take(FEW_PROJECTS).map(|name| words::one_line(name));
        let mut named: Vec<String> = named.collect();
        if FEW_PROJECTS < problem.projects.len() {
            named.push(format!("{} more", problem.projects.len() - FEW_PROJECTS));
        }
        facts.push(named.join(", "));
        facts.extend(words::ago(problem.last_seen.as_deref(), view.now));
        let _ = writeln!(out, "## {} ({})", words::one_line(&problem.problem), facts.join("; "));
        let _ = writeln!(
            out,
            "- last with `{}`: {}",
            words::one_line(&problem.call),
            places(&problem.evidence, FEW)
        );
        for solution in problem.solutions.iter().take(FEW) {
            let _ =
                writeln!(out, "- solved: {} ({})", words::one_line(&solution.done), place(&solution.place));
        }
        if 0 < problem.unsolved {
            let _ = writeln!(
                out,
                "- no solution seen: {} of {}",
                problem.unsolved,
                counted(problem.sessions, "time")
            );
        }
    }
    left_out(&mut out, answer.left_out, "--limit");
    written(answer, out, format, view)
}

/// What was said of what was shown, as text.
#[must_use]
pub fn feedback(reply: &FeedbackReply, format: Format, view: &View) -> String {
    let mut out = String::new();
    for said in &reply.feedback {
        let verdict = if said.is_right { "right" } else { "wrong" };
        let note = words::one_line(&said.note);
        let note = if note.is_empty() { note } else { format!(": {note}") };
        let ago = words::ago(Some(&said.at), view.now).unwrap_or_default();
        let _ = writeln!(out, "- {} {} is {verdict} ({ago}){note}", said.what, words::one_line(&said.id));
    }
    written(reply, out, format, view)
}

/// An answer to a question, as text.
#[must_use]
pub fn asked(asked: &Asked, format: Format, view: &View) -> String {
    let mut out = format!("route: {} (`{}`)\n", asked.route, words::one_line(&asked.command));
    if let Some(composed) = &asked.composed {
        let _ = writeln!(out, "\n{}", words::one_line(&composed.text));
        for citation in
            asked.citations.iter().filter(|citation| composed.citations.contains(&citation.number))
        {
            let _ = writeln!(out, "[{}] {}", citation.number, cited(citation));
        }
    }
    if !asked.lessons.is_empty() {
        out.push('\n');
        found_lessons(&mut out, &asked.lessons, view);
    }
    if let Some(closest) = &asked.closest {
        let _ = write!(out, "\n{}", super::sessions::closest(closest, view));
    }
    match routed(&asked.answer, view, asked.route == "decided").trim_end() {
        "" if asked.lessons.is_empty() && asked.closest.is_none() => {
            out.push_str("\nnothing is known about this\n");
        }
        "" => {}
        text => {
            let _ = writeln!(out, "\n{text}");
        }
    }
    written(asked, out, format, view)
}

/// What the command answered that the question was for.
fn routed(answer: &RoutedAnswer, view: &View, is_for_decisions: bool) -> String {
    let format = Format::Markdown;
    match answer {
        RoutedAnswer::Brief(answer) => super::brief(answer, format, view),
        RoutedAnswer::Digest(answer) => super::digest(answer, format, view),
        RoutedAnswer::CatchUp(answer) => super::catch_up(answer, format, view),
        RoutedAnswer::Pending(answer) => super::pending(answer, format, view),
        RoutedAnswer::About(answer) => super::find::about(answer, view, false, is_for_decisions),
        RoutedAnswer::How(answer) => super::how(answer, format, view),
        RoutedAnswer::Projects(answer) => projects(answer, format, view),
        RoutedAnswer::Why(answer) => super::why(answer, format, view),
        RoutedAnswer::Read(answer) => super::reading(answer, format, view),
        RoutedAnswer::Preferences(answer) => preferences(answer, false, format, view),
        RoutedAnswer::Patterns(answer) => patterns(answer, false, format, view),
        RoutedAnswer::Skills(answer) => skills(answer, format, view),
        RoutedAnswer::Problems(answer) => problems(answer, format, view),
        RoutedAnswer::Find(answer) => super::find::finding(answer, view, false),
        RoutedAnswer::List(answer) => super::find::listing(answer, view),
        RoutedAnswer::Fix(answer) => super::fix(answer, format, view),
    }
}

fn cited(citation: &Citation) -> String {
    let session = citation.session.as_deref().map(|session| words::one_line(short_session(session)));
    let line = citation.line.map(|line| format!("line {line}"));
    let commit = citation.commit.as_deref().map(|commit| format!("commit {}", words::short(commit)));
    [session, line, commit].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
