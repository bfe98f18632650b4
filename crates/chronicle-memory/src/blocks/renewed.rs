//! Brings the blocks that rules write up to date.

use std::collections::{BTreeMap, BTreeSet};

use chronicle_core::block::{Author, Draft, Wording};
use chronicle_search::{BlockVersion, ProjectId};
use chronicle_workplace::Error;

use super::{CORE, Past, name};
use crate::{
    Blocks,
    learning::{Pattern, PatternsCommand, Preference, PreferencesCommand},
    memory::OpenMemory,
    wordings::Wordings,
};

/// Which blocks are brought up to date, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renewal {
    /// Projects and preferences; what is new in the profile.
    Daily,
    /// Patterns.
    Weekly,
    /// The profile, word for word.
    Monthly,
}

impl Renewal {
    /// The blocks that it is about, with what becomes of the words that they have.
    fn labels(self) -> &'static [(&'static str, Wording)] {
        match self {
            Self::Daily => &[
                ("active_projects", Wording::Renewed),
                ("preferences", Wording::Renewed),
                ("developer_profile", Wording::Kept),
            ],
            Self::Weekly => &[("work_patterns", Wording::Renewed)],
            Self::Monthly => &[("developer_profile", Wording::Renewed)],
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::Daily => "daily consolidation",
            Self::Weekly => "weekly mining",
            Self::Monthly => "monthly profile",
        }
    }
}

impl Blocks<'_> {
    /// Lets rules write what they know now; the blocks that changed, or would, come back.
    pub(crate) fn renew_blocks(
        &self,
        memory: &mut OpenMemory,
        past: &Past,
        renewal: Renewal,
        is_dry_run: bool,
    ) -> Result<Vec<String>, Error> {
        let mut changed = Vec::new();
        let wordings = Wordings::kept(&self.workplace.memory_home()?);
        for (label, wording) in renewal.labels() {
            let drafts = self.drafts(memory, past, label)?;
            let limit = CORE.iter().find(|block| block.label == *label).map_or(0, |block| block.limit);
            let by = (name(Author::Rule), renewal.reason());
            let is_changed = memory.store.write_unless(|tx| {
                let latest = BlockVersion::latest(tx, label)?.map(|latest| latest.text).unwrap_or_default();
                let mut renewed = latest.renewed(&drafts, limit, *wording);
                wordings.apply(&mut renewed, limit);
                let is_changed = BlockVersion::add(tx, label, self.workplace.now(), by, &renewed)?;
                Ok(if is_dry_run { Err(is_changed) } else { Ok(is_changed) })
            })?;
            if let Ok(true) | Err(true) = is_changed {
                changed.push((*label).to_owned());
            }
        }
        Ok(changed)
    }

    /// Of `preferences`: what was said or done often enough to be told unasked.
    fn preferred(&self) -> Result<Vec<Draft>, Error> {
        let preferences = self.memory().learning().preferences(&PreferencesCommand::default())?.preferences;
        let draft = |one: Preference| {
            let evidence = one.evidence.into_iter().map(|shown| shown.place.session);
            let projects = if one.everywhere { Vec::new() } else { one.projects };
            Draft { projects, ..learned(one.id, &one.preference, one.confidence, evidence) }
        };
        Ok(preferences.into_iter().map(draft).collect())
    }

    /// Of `work_patterns`: runs of steps and tools that come back. When work is done is told by the sessions themselves.
    fn recurring(&self) -> Result<Vec<Draft>, Error> {
        let patterns = self.memory().learning().patterns(&PatternsCommand::default())?.patterns.into_iter();
        let steps = patterns.filter(|one| ["debugging", "workflow", "tool"].contains(&one.kind));
        let draft = |one: Pattern| {
            let words = if one.is_run() { line_of_run(&one.pattern) } else { one.pattern };
            let evidence = one.evidence.into_iter().map(|place| place.session);
            learned(one.id, &words, one.confidence, evidence)
        };
        Ok(steps.map(draft).collect())
    }

    /// What rules would say in a block.
    fn drafts(&self, memory: &OpenMemory, past: &Past, label: &str) -> Result<Vec<Draft>, Error> {
        Ok(match label {
            "active_projects" => {
                let projects: BTreeSet<ProjectId> =
                    past.talks.iter().map(|talk| talk.session.record.project).collect();
                let mut n_open: BTreeMap<ProjectId, usize> = BTreeMap::new();
                for project in projects {
                    n_open.insert(
                        project,
                        memory.store.n_open_threads(Some(project), self.workplace.now())?.n_listed,
                    );
                }
                past.projects(|project| n_open.get(&project).copied().unwrap_or_default())
            }
            "developer_profile" => past.profile(),
            "preferences" => self.preferred()?,
            "work_patterns" => [past.habits(), self.recurring()?].concat(),
            _ => Vec::new(),
        })
    }
}

/// What is sure weighs as much as a session of the highest importance.
const SURE: f64 = 5.0;
/// Sessions that are named behind a line.
const MOST_EVIDENCE: usize = 8;

/// A line about something that was learned.
fn learned(key: String, words: &str, confidence: f64, sessions: impl Iterator<Item = String>) -> Draft {
    let mut evidence: Vec<String> = Vec::new();
    for session in sessions {
        if evidence.len() < MOST_EVIDENCE && !evidence.contains(&session) {
            evidence.push(session);
        }
    }
    let weight = SURE * confidence;
    Draft { key, text: sentence(words), weight, united: None, evidence, projects: Vec::new() }
}

/// The line of `work_patterns` about a run of steps.
pub(crate) fn line_of_run(run: &str) -> String {
    sentence(&format!("often: {run}"))
}

fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches('.');
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
