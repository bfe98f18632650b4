//! Gathers everything that notes say about some files, each claim placed in the files as they are now.

use chronicle_core::{
    Annotation, DependsOn, Entry, EntryId, Region,
    reading::{CrossCuttingItem, State},
    score,
};
use chronicle_git::{ByteSlice, Touch};

use crate::{
    error::Result,
    introduced,
    matching::{Candidate, Ground, malformed},
    placing::{Located, Placement, place},
    record::{Body, Claim, FileRecord, Heading, Reliance, Step},
};

/// One record for each file that `ground` follows.
pub(crate) fn records(ground: &Ground<'_>, candidates: &[Candidate]) -> Result<Vec<FileRecord>> {
    let step = |touch: &Touch| Step { commit: ground.history.node(touch.place).id, blob: touch.new };
    let mut records: Vec<FileRecord> = ground
        .followed
        .files
        .iter()
        .map(|file| FileRecord { steps: file.touches.iter().map(step).collect(), ..FileRecord::default() })
        .collect();
    for candidate in candidates {
        Gatherer { ground, candidate, records: &mut records }.gather()?;
    }
    for (record, file) in records.iter_mut().zip(&ground.followed.files) {
        for claim in &mut record.claims {
            let commit = record.headings[claim.heading].commit;
            let Some(place) = ground.history.place(commit) else { continue };
            claim.commits_since = Some(file.touches_since(ground.history, place));
            let newer = file.touches.partition_point(|touch| touch.place < place);
            claim.n_newer = u32::try_from(newer).ok();
        }
    }
    Ok(records)
}

/// Takes what one annotated commit says apart, file by file.
struct Gatherer<'a> {
    ground: &'a Ground<'a>,
    candidate: &'a Candidate,
    records: &'a mut [FileRecord],
}

impl Gatherer<'_> {
    fn gather(mut self) -> Result<()> {
        let candidate = self.candidate;
        let note = &candidate.stored.note;
        let commit_wide = self.commit_wide()?;
        let mut summaries: Vec<&str> = Vec::new();
        for document in note.documents() {
            let heading = self.heading(document);
            for region in &document.regions {
                self.region(document, region, &heading)?;
                let from = (Some(&region.file), region.ast_anchor.as_ref().map(|anchor| &anchor.name));
                self.reliances(&region.semantic_dependencies, from, &heading);
            }
            let is_news =
                !summaries.contains(&document.summary.as_str()) && !note.summary_is_replaced(document);
            if is_news {
                summaries.push(&document.summary);
                let id = EntryId(format!("s-{}", &document.fingerprint()[..26]));
                self.everywhere(&commit_wide, &id, &Body::Summary(document.summary.clone()), &heading);
            }
            self.concerns(document);
        }
        for (document, entry) in note.entries() {
            let heading = self.heading(document);
            match &entry.file {
                Some(file) => self.entry(document, entry, file, &heading)?,
                None => {
                    self.everywhere(
                        &commit_wide,
                        &entry.id,
                        &Body::Wisdom(Box::new(entry.clone())),
                        &heading,
                    );
                }
            }
            let from = (entry.file.as_ref(), entry.anchor.as_ref().map(|anchor| &anchor.name));
            self.reliances(&entry.depends_on, from, &heading);
        }
        self.annotated();
        Ok(())
    }

    /// Notes which files the commit has anything to do with.
    fn annotated(&mut self) {
        let candidate = self.candidate;
        let remarks = malformed(candidate.key, &candidate.stored);
        for (number, record) in self.records.iter_mut().enumerate() {
            let has_touched = candidate.touches.iter().any(|(touched, _)| *touched == number);
            let says_something = record.headings.last().is_some_and(|last| last.commit == candidate.key);
            let is_meant = has_touched || says_something || self.ground.is_mentioned(number, candidate);
            if is_meant {
                record.annotated.push(candidate.key);
                record.warnings.extend(remarks.iter().cloned());
            }
        }
    }

    fn heading(&self, document: &Annotation) -> Heading {
        Heading {
            commit: self.candidate.key,
            elsewhere: self.candidate.elsewhere.clone(),
            timestamp: document.timestamp.clone(),
            at: self.candidate.written(document),
            author: document.provenance.author.clone(),
            source: document.provenance.source,
            level: score::context_level(document),
            task: document.task.clone(),
        }
    }

    fn region(&mut self, document: &Annotation, region: &Region, heading: &Heading) -> Result<()> {
        let located = Located {
            file: &region.file,
            lines: region.lines,
            places: None,
            sketch: region.sketch.as_ref(),
            foreign_commit: foreign(document, self.candidate),
        };
        self.placed(&region.id, &located, || Body::Region(Box::new(region.clone())), heading)
    }

    fn entry(&mut self, document: &Annotation, entry: &Entry, file: &str, heading: &Heading) -> Result<()> {
        let located = Located {
            file,
            lines: entry.lines,
            places: entry.places.as_deref(),
            sketch: entry.sketch.as_ref(),
            foreign_commit: foreign(document, self.candidate),
        };
        self.placed(&entry.id, &located, || Body::Wisdom(Box::new(entry.clone())), heading)
    }

    /// One claim for each file that `located` means.
    fn placed(
        &mut self,
        id: &EntryId,
        located: &Located<'_>,
        body: impl Fn() -> Body,
        heading: &Heading,
    ) -> Result<()> {
        for number in self.ground.files_named(self.candidate, located.file) {
            let present = &self.ground.presents[number];
            let placement = place(self.ground.repository, present, located, self.candidate.tree)?;
            self.claim(number, id, body(), located.file.to_owned(), placement, heading);
        }
        Ok(())
    }

    /// A claim about the commit as a whole, for each file that it changed.
    fn everywhere(
        &mut self,
        commit_wide: &[(usize, String, Placement)],
        id: &EntryId,
        body: &Body,
        heading: &Heading,
    ) {
        for (number, name, placement) in commit_wide {
            self.claim(*number, id, body.clone(), name.clone(), placement.clone(), heading);
        }
    }

    fn claim(
        &mut self,
        number: usize,
        id: &EntryId,
        body: Body,
        name: String,
        placement: Placement,
        heading: &Heading,
    ) {
        let record = &mut self.records[number];
        let heading = record.heading(heading);
        record.claims.push(Claim {
            heading,
            id: id.clone(),
            body,
            name,
            placement,
            commits_since: None,
            n_newer: None,
            gone_since: None,
        });
    }

    /// Where the lines are that the commit wrote, in each file that it changed.
    fn commit_wide(&self) -> Result<Vec<(usize, String, Placement)>> {
        let place = |(number, touch): &(usize, Touch)| {
            let placement = self.commit_wide_in(*number, touch)?;
            Ok((*number, touch.name.to_str_lossy().into_owned(), placement))
        };
        self.candidate.touches.iter().map(place).collect()
    }

    fn commit_wide_in(&self, number: usize, touch: &Touch) -> Result<Placement> {
        let (present, repository) = (&self.ground.presents[number], self.ground.repository);
        let Some(new) = touch.new.filter(|_| present.locator.is_some()) else {
            return Ok(Placement::commit_wide(Vec::new(), State::Gone));
        };
        if present.is_opaque {
            return Ok(Placement::commit_wide(Vec::new(), State::Changed));
        }
        let written = match (&self.candidate.parents[..], &touch.renamed_from) {
            // The walk has seen the one version before already.
            ([_], None) => introduced::between(repository, &[touch.old], new)?,
            (parents, previous) => {
                let previous = previous.as_ref().map(|name| name.as_bstr());
                introduced::by(repository, parents, touch.name.as_bstr(), previous, new)?
            }
        };
        let Some(written) = written else { return Ok(Placement::commit_wide(Vec::new(), State::Changed)) };
        let (left, state) = present.locate_all(repository, new, &written.hunks)?;
        Ok(Placement::commit_wide(left, state))
    }

    /// The assumptions that are declared about files in scope.
    fn reliances(
        &mut self,
        declared: &[DependsOn],
        (from_file, from_anchor): (Option<&String>, Option<&String>),
        heading: &Heading,
    ) {
        for dependency in declared {
            for number in self.ground.files_named(self.candidate, &dependency.file) {
                let record = &mut self.records[number];
                let heading = record.heading(heading);
                record.reliances.push(Reliance {
                    heading,
                    from_file: from_file.cloned(),
                    from_anchor: from_anchor.cloned(),
                    on_anchor: dependency.anchor.clone(),
                    nature: dependency.nature.clone(),
                });
            }
        }
    }

    /// The concerns that span a file in scope.
    fn concerns(&mut self, document: &Annotation) {
        for concern in &document.cross_cutting {
            let members = concern.regions.iter();
            let mut numbers: Vec<usize> =
                members.flat_map(|member| self.ground.files_named(self.candidate, &member.file)).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let item = CrossCuttingItem {
                description: concern.description.clone(),
                regions: concern.regions.iter().map(ToString::to_string).collect(),
                tags: concern.tags.clone(),
                commit: self.candidate.key.to_string(),
                at: self.candidate.written(document),
                extra: concern.extra.clone(),
            };
            for number in numbers {
                self.records[number].concerns.push(item.clone());
            }
        }
    }
}

/// The commit that `document` names, when that is another one than the one that carries it.
fn foreign<'a>(document: &'a Annotation, candidate: &Candidate) -> Option<&'a str> {
    let named = document.commit.as_str();
    let key = candidate.key.to_string();
    let is_full = named.len() == key.len() && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_full && !named.eq_ignore_ascii_case(&key)).then_some(named)
}
