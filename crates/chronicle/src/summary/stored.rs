//! The form in which the summary of a directory is kept.

use chronicle_core::{LineRange, correction::Tier};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{FileSummary, SCHEMA, Summary, UnitSummary};

/// Nanoseconds since the epoch.
type Moment = i128;

/// A summary without an anchor, and the time in which it holds: claims end.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredSummary {
    /// The last end of a claim that was over.
    from: Option<Moment>,
    /// The first end of a claim that was not.
    until: Option<Moment>,
    path: String,
    files: Vec<(String, Vec<StoredUnit>, usize)>,
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct StoredUnit {
    anchor: Option<String>,
    lines: Option<(u32, u32)>,
    commit: String,
    timestamp: String,
    at: Moment,
    confidence: f64,
    tier: Tier,
    n_trusted: [usize; 2],
    said_by: Option<String>,
    intent: Option<String>,
    constraints: Vec<String>,
    risks: Vec<String>,
    n_more: usize,
}

impl StoredSummary {
    /// What is kept of a `summary` made at `now` of claims that end at `ends`.
    pub(super) fn of(summary: &Summary, ends: &[Timestamp], now: Timestamp) -> Self {
        let (over, to_come): (Vec<Timestamp>, Vec<Timestamp>) = ends.iter().partition(|end| **end <= now);
        let stored =
            |file: &FileSummary| (file.file.clone(), file.units.iter().map(stored).collect(), file.n_gone);
        Self {
            from: over.into_iter().max().map(Timestamp::as_nanosecond),
            until: to_come.into_iter().min().map(Timestamp::as_nanosecond),
            path: summary.path.clone(),
            files: summary.files.iter().map(stored).collect(),
            warnings: summary.warnings.clone(),
        }
    }

    /// The summary, if it is the same at `now`.
    pub(super) fn at(self, now: Timestamp) -> Option<Summary> {
        let now = now.as_nanosecond();
        if self.from.is_some_and(|from| now < from) || self.until.is_some_and(|until| until <= now) {
            return None;
        }
        let mut files = Vec::with_capacity(self.files.len());
        for (file, units, n_gone) in self.files {
            let units = units.into_iter().map(unit).collect::<Option<_>>()?;
            files.push(FileSummary { file, units, n_gone });
        }
        Some(Summary { schema: SCHEMA, path: self.path, anchor: None, files, warnings: self.warnings })
    }
}

fn stored(unit: &UnitSummary) -> StoredUnit {
    StoredUnit {
        anchor: unit.anchor.clone(),
        lines: unit.lines.map(|lines| (lines.start, lines.end)),
        commit: unit.commit.clone(),
        timestamp: unit.timestamp.clone(),
        at: unit.at.as_nanosecond(),
        confidence: unit.confidence,
        tier: unit.tier,
        n_trusted: unit.n_trusted,
        said_by: unit.said_by.clone(),
        intent: unit.intent.clone(),
        constraints: unit.constraints.clone(),
        risks: unit.risks.clone(),
        n_more: unit.n_more,
    }
}

/// `None` when what was stored is no unit.
fn unit(stored: StoredUnit) -> Option<UnitSummary> {
    let lines = stored.lines.map(|(start, end)| LineRange::new(start, end));
    Some(UnitSummary {
        anchor: stored.anchor,
        lines: lines.transpose().ok()?,
        commit: stored.commit,
        timestamp: stored.timestamp,
        at: Timestamp::from_nanosecond(stored.at).ok()?,
        confidence: stored.confidence,
        tier: stored.tier,
        n_trusted: stored.n_trusted,
        said_by: stored.said_by,
        intent: stored.intent,
        constraints: stored.constraints,
        risks: stored.risks,
        n_more: stored.n_more,
    })
}
