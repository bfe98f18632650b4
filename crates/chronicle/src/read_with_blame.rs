//! A read that asks git which commits wrote the lines, instead of mapping them.

use std::collections::BTreeMap;

use chronicle_core::{
    LineRange, count_lines,
    reading::{BeyondLimit, Match, Reading, Standing, State},
};
use chronicle_workplace::Error;

use crate::{Chronicle, ReadCommand, why::runs};

/// The lines that each commit wrote, by file.
type WrittenBy = BTreeMap<(String, String), Vec<LineRange>>;

impl Chronicle {
    /// [`Chronicle::read`], but which commits wrote the lines in scope is git's own answer.
    ///
    /// # Errors
    /// As [`Chronicle::read`]; also when a path is a directory or in no commit.
    pub fn read_blamed(&self, command: &ReadCommand) -> Result<Reading, Error> {
        let unlimited =
            |lines| ReadCommand { lines, max_regions: Some(usize::MAX), budget: None, ..command.clone() };
        let mut reading = self.read(&unlimited(command.lines))?;
        let mut by_commit = WrittenBy::new();
        for path in &command.paths {
            let one = self.one_file(path)?;
            let Some(content) = &one.content else { continue };
            let n_lines = count_lines(content);
            let Some(lines) = command.lines.or(LineRange::new(1, n_lines).ok()) else { continue };
            let mut lines_of: BTreeMap<String, Vec<u32>> = BTreeMap::new();
            for (line, blamed) in self.written(&one, lines)? {
                if let Some(blamed) = blamed {
                    lines_of.entry(blamed.commit).or_default().push(line);
                }
            }
            let file = one.file.path.to_string();
            by_commit
                .extend(lines_of.into_iter().map(|(commit, lines)| ((file.clone(), commit), runs(&lines))));
        }
        let whole = self.read(&unlimited(None))?;
        reading.regions.retain(|item| item.standing.matched != Match::Commit);
        reading.wisdom.retain(|item| item.standing.matched != Match::Commit);
        let mut regions = whole.regions;
        regions.retain_mut(|item| place(&mut item.standing, &by_commit));
        reading.regions.extend(regions);
        let mut wisdom = whole.wisdom;
        wisdom.retain_mut(|item| place(&mut item.standing, &by_commit));
        reading.wisdom.extend(wisdom);
        reading.regions.sort_by(|left, right| order(&left.standing, &right.standing));
        reading.wisdom.sort_by(|left, right| order(&left.standing, &right.standing));
        reading.stats.regions_matched = u32::try_from(reading.n_items()).unwrap_or(u32::MAX);
        let max_regions = self.max_regions(command)?;
        let wisdom = reading.wisdom.split_off(reading.wisdom.len().min(max_regions));
        let n_regions = max_regions - reading.wisdom.len();
        let regions = reading.regions.split_off(reading.regions.len().min(n_regions));
        let left_out = wisdom.into_iter().map(|item| item.standing);
        let left_out = left_out.chain(regions.into_iter().map(|item| item.standing));
        let left_out = left_out.map(|standing| BeyondLimit { commit: standing.commit, at: standing.at });
        reading.beyond_limit = left_out.collect();
        reading.stats.regions_returned = u32::try_from(reading.n_items()).unwrap_or(u32::MAX);
        reading.warnings.extend(self.ignored_revs_warning()?);
        self.fit(reading, command)
    }
}

/// Most trusted first, as every reading.
fn order(left: &Standing, right: &Standing) -> std::cmp::Ordering {
    left.is_over()
        .cmp(&right.is_over())
        .then(right.confidence.total_cmp(&left.confidence))
        .then(right.at.cmp(&left.at))
}

/// Puts what a commit says as a whole on the lines that it wrote; false when it wrote none.
fn place(standing: &mut Standing, by_commit: &WrittenBy) -> bool {
    if standing.matched != Match::Commit {
        return false;
    }
    let is_of = |(file, commit): &(String, String)| {
        *commit == standing.commit && standing.file.as_ref().is_none_or(|own| own == file)
    };
    let mut found = by_commit.iter().filter(|(key, _)| is_of(key));
    let (Some((_, lines)), more) = (found.next(), found.next()) else { return false };
    (standing.lines, standing.near) = match (&lines[..], more) {
        (_, Some(_)) => (None, Vec::new()),
        ([only], None) => (Some(*only), Vec::new()),
        (several, None) => (None, several.to_vec()),
    };
    if standing.state == State::Gone {
        standing.state = State::Changed;
    }
    true
}
