//! Turns what candidates say into items that know where they stand.

use std::collections::HashMap;

use chronicle_core::{
    Age, Annotation, Category, Entry, EntryId, LineRange, Origin, Region,
    reading::{RegionItem, Standing, State, WisdomItem},
    score,
};
use chronicle_git::{ByteSlice, ObjectId, Repository};
use jiff::Timestamp;
use serde_json::Map;

use crate::{
    error::Result,
    introduced,
    matching::Candidate,
    placing::{Located, Placement, place},
    present::Present,
};

/// An item with what is needed to finish it once it is known to be shown.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) body: Body,
    pub(crate) standing: Standing,
    /// Number of the file, when it belongs to one.
    pub(crate) file: Option<usize>,
    pub(crate) place: Option<u32>,
    pub(crate) recorded_in: Option<(ObjectId, LineRange)>,
    /// Pointers to other annotations, not followed yet.
    pub(crate) related: Vec<chronicle_core::Related>,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Region(Box<Region>),
    /// The summary of a commit that wrote lines in scope.
    Summary(String),
    Wisdom(Box<Entry>),
}

/// What every item is judged by.
pub(crate) struct Bench<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) presents: &'a [Present<'a>],
    pub(crate) lines: Option<LineRange>,
    /// When HEAD was committed.
    pub(crate) head_time: Timestamp,
    pub(crate) now: Timestamp,
    pub(crate) half_life_days: f64,
    /// Claims that a visible claim supersedes, by that claim.
    pub(crate) superseded: HashMap<EntryId, EntryId>,
}

impl Bench<'_> {
    /// Everything `candidate` says about the code in scope.
    pub(crate) fn items(&self, candidate: &Candidate) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let note = &candidate.stored.note;
        let mut summaries: Vec<&str> = Vec::new();
        let commit_wide = self.commit_wide(candidate)?;
        for document in note.documents() {
            for region in &document.regions {
                items.extend(self.region_items(candidate, document, region)?);
            }
            let is_news =
                !summaries.contains(&document.summary.as_str()) && !note.summary_is_replaced(document);
            if let (true, Some((file, name, placement))) = (is_news, &commit_wide) {
                summaries.push(&document.summary);
                let id = EntryId(format!("s-{}", &document.fingerprint()[..26]));
                let body = Body::Summary(document.summary.clone());
                items.push(self.item(candidate, document, id, body, *file, Some(name), placement.clone()));
            }
        }
        for (document, entry) in note.entries() {
            match &entry.file {
                Some(file) => items.extend(self.entry_items(candidate, document, entry, file)?),
                None => items.extend(commit_wide.as_ref().map(|(file, name, placement)| {
                    let body = Body::Wisdom(Box::new(entry.clone()));
                    self.item(
                        candidate,
                        document,
                        entry.id.clone(),
                        body,
                        *file,
                        Some(name),
                        placement.clone(),
                    )
                })),
            }
        }
        Ok(items)
    }

    fn region_items(
        &self,
        candidate: &Candidate,
        document: &Annotation,
        region: &Region,
    ) -> Result<Vec<Item>> {
        let located = Located {
            file: &region.file,
            lines: region.lines,
            places: None,
            sketch: region.sketch.as_ref(),
            foreign_commit: foreign(document, candidate),
        };
        let body = || Body::Region(Box::new(region.clone()));
        self.placed(candidate, document, &region.id, &located, body)
    }

    fn entry_items(
        &self,
        candidate: &Candidate,
        document: &Annotation,
        entry: &Entry,
        file: &str,
    ) -> Result<Vec<Item>> {
        let located = Located {
            file,
            lines: entry.lines,
            places: entry.places.as_deref(),
            sketch: entry.sketch.as_ref(),
            foreign_commit: foreign(document, candidate),
        };
        let body = || Body::Wisdom(Box::new(entry.clone()));
        self.placed(candidate, document, &entry.id, &located, body)
    }

    /// One item for each file in scope that `located` means and concerns.
    fn placed(
        &self,
        candidate: &Candidate,
        document: &Annotation,
        id: &EntryId,
        located: &Located<'_>,
        body: impl Fn() -> Body,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for number in candidate.files_named(self.repository, self.presents, located.file) {
            let placement = place(self.repository, &self.presents[number], located, candidate.tree)?;
            if placement.concerns(self.lines) {
                items.push(self.item(
                    candidate,
                    document,
                    id.clone(),
                    body(),
                    Some(number),
                    Some(located.file),
                    placement,
                ));
            }
        }
        Ok(items)
    }

    /// Where the lines are that the commit wrote in the files in scope; `None` when it concerns none of them.
    fn commit_wide(&self, candidate: &Candidate) -> Result<Option<(Option<usize>, String, Placement)>> {
        let mut concerned = Vec::new();
        for (number, touch) in &candidate.touches {
            let present = &self.presents[*number];
            let placement = match touch.new {
                _ if present.locator.is_none() => Placement::commit_wide(Vec::new(), State::Gone),
                None => Placement::commit_wide(Vec::new(), State::Gone),
                Some(_) if present.is_opaque => Placement::commit_wide(Vec::new(), State::Changed),
                Some(new) => {
                    let written = match (&candidate.parents[..], &touch.renamed_from) {
                        // The walk has seen the one version before already.
                        ([_], None) => introduced::between(self.repository, &[touch.old], new)?,
                        (parents, previous) => {
                            let previous = previous.as_ref().map(|name| name.as_bstr());
                            introduced::by(self.repository, parents, touch.name.as_bstr(), previous, new)?
                        }
                    };
                    match written {
                        Some(written) => {
                            let (left, state) = present.locate_all(self.repository, new, &written.hunks)?;
                            Placement::commit_wide(left, state)
                        }
                        None => Placement::commit_wide(Vec::new(), State::Changed),
                    }
                }
            };
            if placement.concerns(self.lines) {
                concerned.push((*number, touch.name.to_str_lossy().into_owned(), placement));
            }
        }
        let n_files = concerned.len();
        Ok(concerned.into_iter().next().map(|(number, name, placement)| match n_files {
            1 => (Some(number), name, placement),
            _ => (None, name, Placement { lines: None, near: Vec::new(), ..placement }),
        }))
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one item, put together in one place")]
    fn item(
        &self,
        candidate: &Candidate,
        document: &Annotation,
        id: EntryId,
        body: Body,
        file: Option<usize>,
        name: Option<&str>,
        placement: Placement,
    ) -> Item {
        let (origin, lines_recorded, tags, expires, extra, related) = match &body {
            Body::Region(region) => (
                None,
                region.lines,
                region.tags.clone(),
                None,
                region.extra.clone(),
                region.related_annotations.clone(),
            ),
            Body::Summary(_) => (None, None, Vec::new(), None, Map::new(), Vec::new()),
            Body::Wisdom(entry) => (
                entry.origin,
                entry.lines,
                entry.tags.clone(),
                entry.expires.as_deref(),
                entry.extra.clone(),
                entry.related.clone(),
            ),
        };
        let at = candidate.written(document);
        let tie = placement.tie;
        let factors =
            score::factors(document, origin, Age::between(at, self.head_time), self.half_life_days, tie);
        let present_name = file.map(|number| self.presents[number].name());
        let standing = Standing {
            superseded_by: self.superseded.get(&id).cloned(),
            expired: expires.and_then(chronicle_core::parse_time).is_some_and(|end| end <= self.now),
            id,
            commit: candidate.key.to_string(),
            timestamp: document.timestamp.clone(),
            at,
            author: document.provenance.author.clone(),
            source: document.provenance.source,
            context_level: score::context_level(document),
            confidence: score::confidence(&factors),
            confidence_factors: factors,
            commits_since: None,
            file_recorded: name
                .filter(|name| present_name.as_deref().is_some_and(|present| present != *name))
                .map(str::to_owned),
            file: present_name,
            lines: placement.lines,
            lines_recorded,
            near: placement.near,
            state: placement.state,
            gone_since: None,
            matched: placement.matched,
            elsewhere: candidate.elsewhere.clone(),
            tags,
            task: document.task.clone(),
            related: Vec::new(),
            extra,
        };
        Item { body, standing, file, place: candidate.place, recorded_in: placement.recorded_in, related }
    }
}

/// The commit that `document` names, when that is another one than the one that carries it.
fn foreign<'a>(document: &'a Annotation, candidate: &Candidate) -> Option<&'a str> {
    let named = document.commit.as_str();
    let is_full =
        named.len() == candidate.key.to_string().len() && named.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_full && !named.eq_ignore_ascii_case(&candidate.key.to_string())).then_some(named)
}

/// How sure a place is, surest first: the better copy of two claims with one id is shown.
pub(crate) fn clarity(left: &Item, right: &Item) -> std::cmp::Ordering {
    let key = |item: &Item| (item.standing.elsewhere.is_some(), item.standing.state);
    key(left).cmp(&key(right)).then(right.standing.confidence.total_cmp(&left.standing.confidence))
}

impl Item {
    pub(crate) fn category(&self) -> Option<Category> {
        match &self.body {
            Body::Wisdom(entry) => Some(entry.category),
            _ => None,
        }
    }

    pub(crate) fn origin(&self) -> Option<Origin> {
        match &self.body {
            Body::Wisdom(entry) => entry.origin,
            _ => None,
        }
    }

    /// The shape in which the item is answered.
    pub(crate) fn finish(self) -> Finished {
        let standing = self.standing;
        match self.body {
            Body::Summary(intent) => Finished::Region(RegionItem {
                standing,
                ast_anchor: None,
                intent,
                reasoning: None,
                constraints: Vec::new(),
                risk_notes: None,
                semantic_dependencies: Vec::new(),
                corrections: Vec::new(),
            }),
            Body::Region(region) => Finished::Region(RegionItem {
                standing,
                ast_anchor: region.ast_anchor,
                intent: region.intent.unwrap_or_default(),
                reasoning: region.reasoning,
                constraints: region.constraints,
                risk_notes: region.risk_notes,
                semantic_dependencies: region.semantic_dependencies,
                corrections: region.corrections,
            }),
            Body::Wisdom(entry) => Finished::Wisdom(WisdomItem {
                standing,
                category: entry.category,
                content: entry.content,
                anchor: entry.anchor,
                depends_on: entry.depends_on,
            }),
        }
    }
}

/// An item in the shape of the answer.
pub(crate) enum Finished {
    Region(RegionItem),
    Wisdom(WisdomItem),
}
