//! An annotation that a person writes in an editor: the form that opens, and what is made of it.

use std::fmt::Write;

use chronicle_commits::{
    Said,
    form::{changes_of, read_form},
    summary_id,
};
use chronicle_core::{Annotation, plain};
use chronicle_workplace::Error;

use crate::{AnnotateCommand, AnnotateReply, Chronicle, Given, LESSON_OPTIONS, Shown};

/// A form for the annotation of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationForm {
    /// The commit.
    pub commit: String,
    /// What the editor opens.
    pub text: String,
}

/// What stands below the reason.
const HELP: &str = "
# Above: the reason for the change (why this way, not what changed), then a line for each lesson:
#     gotcha|dead-end|insight|unfinished [FILE:][LINES|ITEM]: TEXT
#     gotcha FILE:55: max_backoff is in seconds, sleep() takes milliseconds
#     dead-end: A fixed delay: all clients came back at once
# Lines that begin with # are left out. An empty text stores nothing.
#
";

/// What stands below the changes. Editors take settings from the last lines of a file, so none of those is a stranger's.
const END: &str = "#\n#\n#\n#\n#\n#\n#\n#\n";

impl Chronicle {
    /// The form for an annotation of the commit `revision`, with what is stored already and what the commit changed.
    ///
    /// # Errors
    /// When the commit is unknown.
    pub fn annotation_form(&self, revision: &str) -> Result<AnnotationForm, Error> {
        let repository = self.workplace.repository()?;
        let commit = repository.resolve(revision)?;
        let shown = self.show(&commit.to_string(), false)?;
        let mut text = format!("{}\n{HELP}", own_reason(&shown).unwrap_or_default());
        let subject = shown.subject.as_deref().unwrap_or_default();
        let _written = writeln!(text, "# {} {}", commit.to_hex_with_len(8), plain(subject));
        if let Some(annotation) = &shown.annotation {
            stored(&mut text, annotation);
        }
        text.push_str(&changes_of(repository, commit)?.quoted);
        text.push_str(END);
        Ok(AnnotationForm { commit: commit.to_string(), text })
    }

    /// Stores what an editor left of the form for `commit`; `None` where nothing is said.
    ///
    /// # Errors
    /// When it cannot be read as a form; the error names the line. When it cannot be stored.
    pub fn annotate_by_form(&self, commit: &str, text: &str) -> Result<Option<AnnotateReply>, Error> {
        let repository = self.workplace.repository()?;
        let changes = changes_of(repository, repository.resolve(commit)?)?;
        let Some(said) = read_form(text, changes.only_file.as_deref())? else { return Ok(None) };
        let before = own_reason(&self.show(commit, false)?);
        let command = AnnotateCommand {
            replace_summary: before.is_some() && before != said.summary,
            given: Given::Said(said),
            commit: Some(commit.to_owned()),
            replace: Vec::new(),
        };
        Ok(Some(self.annotate(command)?))
    }
}

/// The reason that the user gave before, if a form can say it.
fn own_reason(shown: &Shown) -> Option<String> {
    let annotation = shown.annotation.as_ref()?;
    let id = summary_id(annotation);
    let summary = plain(annotation.summary.trim()).into_owned();
    let is_own = !shown.others.iter().any(|said| said.id == id);
    let alone = Said { summary: Some(summary.clone()), ..Said::default() };
    Some(summary).filter(|summary| is_own && read_form(summary, None).ok().flatten() == Some(alone))
}

/// Quotes what is stored, as comments.
fn stored(text: &mut String, annotation: &Annotation) {
    if annotation.wisdom.is_empty() {
        return;
    }
    text.push_str("#\n# Stored already:\n");
    for entry in &annotation.wisdom {
        let name = LESSON_OPTIONS.iter().find(|(_, category)| *category == entry.category);
        let name = name.map_or(entry.category.name(), |(name, _)| name);
        let file = entry.file.as_deref().map(|file| format!(" {}", plain(file))).unwrap_or_default();
        let lines = match entry.lines {
            Some(lines) if lines.start == lines.end => format!(":{}", lines.start),
            Some(lines) => format!(":{}-{}", lines.start, lines.end),
            None => String::new(),
        };
        let words = plain(&entry.content).split_whitespace().collect::<Vec<_>>().join(" ");
        let _written = writeln!(text, "#     {name}{file}{lines}: {words}");
    }
}
