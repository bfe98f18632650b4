//! How the thinking about a file went, step by step.

use std::{collections::BTreeMap, path::PathBuf};

use chronicle_core::{
    LineRange,
    correction::Tier,
    outline::{Item, may_mean},
    reading::{Reading, RegionItem, Standing, WisdomItem},
    redaction::gated,
    room,
};
use chronicle_workplace::Error;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Chronicle, ReadCommand, anchors::Anchored};

/// The annotated commits of a file, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Timeline {
    /// Always `chronicle-history/v1`.
    pub schema: &'static str,
    /// The file, as it is called now.
    pub file: Option<String>,
    /// The item, when one was asked for.
    pub anchor: Option<String>,
    /// The annotated commits, oldest first.
    pub moments: Vec<Moment>,
    /// How many older ones were left out.
    pub n_left_out: usize,
    /// Remarks about the answer.
    pub warnings: Vec<String>,
}

/// What one commit says about the file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Moment {
    /// The commit.
    pub commit: String,
    /// Its subject, when the commit is at hand.
    pub subject: Option<String>,
    /// When it was annotated.
    pub timestamp: String,
    /// Code units, and the commit's summary where it wrote lines of the file.
    pub regions: Vec<RegionItem>,
    /// Lessons.
    pub wisdom: Vec<WisdomItem>,
}

impl Moment {
    /// How far those are trusted, at the most, who say any of it.
    fn whose(&self) -> Tier {
        let standings = self.regions.iter().map(|item| &item.standing);
        let standings = standings.chain(self.wisdom.iter().map(|item| &item.standing));
        standings.map(|standing| standing.tier).max().unwrap_or(Tier::Unknown)
    }
}

impl Chronicle {
    /// The annotated commits of the file at `path`, or of one item of it: the newest `limit` of them,
    /// oldest first.
    ///
    /// # Errors
    /// When the path was never there, neither the file nor any note has the name, or the repository cannot be read.
    pub fn history(
        &self,
        path: PathBuf,
        anchor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<Timeline, Error> {
        let anchored = anchor.map(|anchor| self.anchored_at(&path, anchor)).transpose()?;
        let command =
            ReadCommand { paths: vec![path], max_regions: Some(usize::MAX), ..ReadCommand::default() };
        let mut reading = self.read(&command)?;
        if let Some((anchored, items)) = anchored {
            keep_only(&mut reading, &anchored, &items);
            let is_known = 0 < reading.n_items();
            reading.warnings.extend(anchored.into_remarks(is_known)?);
        }
        let mut by_commit: BTreeMap<String, Moment> = BTreeMap::new();
        let mut moment_of = |standing: &Standing| -> String {
            let commit = standing.commit.clone();
            by_commit.entry(commit.clone()).or_insert_with(|| Moment {
                commit: commit.clone(),
                subject: None,
                timestamp: standing.timestamp.clone(),
                regions: Vec::new(),
                wisdom: Vec::new(),
            });
            commit
        };
        let regions: Vec<_> =
            reading.regions.into_iter().map(|item| (moment_of(&item.standing), item)).collect();
        let wisdom: Vec<_> =
            reading.wisdom.into_iter().map(|item| (moment_of(&item.standing), item)).collect();
        for (commit, item) in regions {
            by_commit.entry(commit).and_modify(|moment| moment.regions.push(item));
        }
        for (commit, item) in wisdom {
            by_commit.entry(commit).and_modify(|moment| moment.wisdom.push(item));
        }
        let mut moments = self.in_order(by_commit)?;
        let n_left_out = limit.map_or(0, |limit| moments.len().saturating_sub(limit));
        // The newest stay, and of strangers' those that leave room.
        moments.reverse();
        room::cut(&mut moments, limit.unwrap_or(usize::MAX), Moment::whose);
        moments.reverse();
        Ok(Timeline {
            schema: "chronicle-history/v1",
            file: reading.query.file,
            anchor: anchor.map(str::to_owned),
            moments,
            n_left_out,
            warnings: reading.warnings,
        })
    }

    /// Oldest first, by the order of history; commits off it go by the time of their annotation.
    fn in_order(&self, by_commit: BTreeMap<String, Moment>) -> Result<Vec<Moment>, Error> {
        let repository = self.workplace.repository()?;
        let history = repository.history(&[repository.born_head()?])?;
        let mut placed = Vec::new();
        for (commit, mut moment) in by_commit {
            let id = repository.resolve(&commit).ok();
            let found = id.and_then(|id| repository.commit(id).ok());
            moment.subject = found.as_ref().map(|commit| gated(&commit.subject()));
            let place = id.and_then(|id| history.place(id));
            let time =
                found.map(|commit| commit.time).or_else(|| chronicle_core::parse_time(&moment.timestamp));
            placed.push((time, std::cmp::Reverse(place), moment));
        }
        placed.sort_by_key(|left| (left.0, left.1));
        Ok(placed.into_iter().map(|(_, _, moment)| moment).collect())
    }
}

/// Leaves what is on the lines of an item or names it; what concerns the whole file is no step of its way.
fn keep_only(reading: &mut Reading, anchored: &Anchored, items: &[Item]) {
    let is_here = |range: &LineRange| anchored.lines.iter().any(|lines| lines.overlaps(*range));
    let concerns = |standing: &Standing, name: Option<&str>| {
        let is_named = |name: &str| anchored.may_mean(name) && may_mean(items, name, &anchored.lines);
        standing.lines.iter().chain(&standing.near).any(is_here) || name.is_some_and(is_named)
    };
    reading
        .regions
        .retain(|item| concerns(&item.standing, item.ast_anchor.as_ref().map(|anchor| anchor.name.as_str())));
    reading
        .wisdom
        .retain(|item| concerns(&item.standing, item.anchor.as_ref().map(|anchor| anchor.name.as_str())));
}
