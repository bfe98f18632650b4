//! What is known of one version of a text: looked up once, and asked from then on.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use chronicle::{
    Category, Glance, LineRange, Match, OutlineItem, ReadCommand, Reading, RegionItem, Standing, State, Tier,
    WisdomItem,
};
use chronicle_workplace::Error;

use crate::{documents::Document, host::Host};

/// What is known of one version of a text.
pub(crate) struct Known {
    text: Arc<String>,
    /// What the repository was like; without it, nobody can tell whether it is still like that.
    seen: Option<Glance>,
    reading: Option<Reading>,
    items: Vec<OutlineItem>,
}

/// Where in the text something is shown.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Lines(Vec<LineRange>),
    File,
    Nowhere,
}

/// How much is known about an item.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) gotchas: usize,
    pub(crate) dead_ends: usize,
    pub(crate) insights: usize,
    pub(crate) unfinished: usize,
    /// How many declare to rely on it.
    pub(crate) dependents: usize,
}

impl Known {
    /// Looks up what is known of a text; nothing is of one in a repository that git would not work in, and of one that
    /// is in none.
    pub(crate) fn of(host: &Host, document: &Document) -> Self {
        let nothing = Self { text: document.text.clone(), seen: None, reading: None, items: Vec::new() };
        let chronicle = host.of(document);
        if document.is_opaque || chronicle.workplace().is_distrusted() {
            return nothing;
        }
        let seen = chronicle.workplace().glance();
        let command = ReadCommand {
            paths: vec![document.path.clone()],
            max_regions: Some(usize::MAX),
            depth: 0,
            is_brief: true,
            ..ReadCommand::default()
        };
        let read = || -> Result<_, Error> {
            let mut reading = chronicle.read(&command)?;
            let is_over = |standing: &Standing| standing.is_over() || standing.elsewhere.is_some();
            reading.wisdom.retain(|item| !is_over(&item.standing));
            reading.regions.retain(|item| !is_over(&item.standing));
            let is_empty = reading.n_items() == 0 && reading.dependencies_on_this.is_empty();
            // Parsing takes longest.
            let items = if is_empty { Vec::new() } else { chronicle.outline(&document.path, None)?.items };
            Ok((reading, items))
        };
        match read() {
            Ok((reading, items)) => Self { seen, reading: Some(reading), items, ..nothing },
            Err(_) => Self { seen, ..nothing },
        }
    }

    /// Whether it is known of this version of a text, and of the repository as it is now.
    pub(crate) fn is_of(&self, host: &Host, document: &Document) -> bool {
        let is_same_text = Arc::ptr_eq(&self.text, &document.text);
        is_same_text && self.seen.is_some() && host.of(document).workplace().glance() == self.seen
    }

    pub(crate) fn lessons(&self) -> &[WisdomItem] {
        self.reading.as_ref().map_or(&[], |reading| &reading.wisdom)
    }

    fn regions(&self) -> &[RegionItem] {
        self.reading.as_ref().map_or(&[], |reading| &reading.regions)
    }

    /// Everything that concerns some lines or the item that holds the first of them.
    pub(crate) fn around(&self, lines: LineRange) -> Option<Reading> {
        let mut reading = self.reading.clone()?;
        let lines = self.item_at(lines.start).map_or(lines, |item| item.lines.hull(lines));
        let concerns = |standing: &Standing, anchor: Option<&str>| match self.place(standing, anchor) {
            Place::Lines(ranges) => ranges.iter().any(|range| range.overlaps(lines)),
            Place::File => true,
            Place::Nowhere => lines.end == u32::MAX,
        };
        reading.wisdom.retain(|item| concerns(&item.standing, anchor_of(item)));
        reading.regions.retain(|item| concerns(&item.standing, unit_anchor(item)));
        Some(reading)
    }

    /// The innermost item that holds a line.
    fn item_at(&self, line: u32) -> Option<&OutlineItem> {
        let line = LineRange { start: line, end: line };
        self.items.iter().filter(|item| item.lines.holds(line)).min_by_key(|item| item.lines.len())
    }

    /// Where something is shown.
    fn place(&self, standing: &Standing, anchor: Option<&str>) -> Place {
        let named = || self.items.iter().find(|item| Some(item.name.as_str()) == anchor);
        let ranges = match (standing.lines, standing.item_lines) {
            (Some(lines), _) | (None, Some(lines)) => vec![lines],
            (None, None) if !standing.near.is_empty() => standing.near.clone(),
            (None, None) => named().map(|item| item.lines).into_iter().collect(),
        };
        match (ranges.is_empty(), standing.matched) {
            (false, _) => Place::Lines(ranges),
            (true, Match::File) if standing.state != State::Gone => Place::File,
            (true, _) => Place::Nowhere,
        }
    }

    /// How closely something concerns a line; less is closer, and of two places that hold it the smaller one.
    fn closeness(&self, standing: &Standing, anchor: Option<&str>, line: u32) -> Option<(u8, u32)> {
        let at = LineRange { start: line, end: line };
        let is_gone = standing.state == State::Gone;
        match self.place(standing, anchor) {
            Place::Lines(ranges) => {
                let holding = ranges.iter().filter(|range| range.holds(at) && !is_gone);
                if let Some(smallest) = holding.map(|range| range.len()).min() {
                    return Some((0, smallest));
                }
                let item = self.item_at(line)?;
                let is_inside = ranges.iter().any(|range| item.lines.overlaps(*range));
                is_inside.then_some((1 + u8::from(is_gone), 0))
            }
            // What is true of the file as a whole would be in the way everywhere.
            Place::File => (line == 1).then_some((3, 0)),
            Place::Nowhere => None,
        }
    }

    /// The lessons that concern a line or the item that holds it, the closest first, then traps; those of strangers last.
    pub(crate) fn lessons_at(&self, line: u32) -> Vec<&WisdomItem> {
        let mut found: Vec<_> = self
            .lessons()
            .iter()
            .filter_map(|item| Some((self.closeness(&item.standing, anchor_of(item), line)?, item)))
            .collect();
        found.sort_by_key(|(closeness, item)| {
            let tier = item.standing.tier;
            (tier == Tier::Unknown, *closeness, !is_trap(item.category), Reverse(tier))
        });
        found.into_iter().map(|(_, item)| item).collect()
    }

    /// What is known of the code units that hold a line.
    pub(crate) fn units_at(&self, line: u32) -> Vec<&RegionItem> {
        self.regions_at(line, false)
    }

    /// What commits that wrote a line say of themselves.
    pub(crate) fn summaries_at(&self, line: u32) -> Vec<&RegionItem> {
        self.regions_at(line, true)
    }

    fn regions_at(&self, line: u32, of_commits: bool) -> Vec<&RegionItem> {
        let is_here = |item: &&RegionItem| {
            let is_of_commit = item.standing.matched == Match::Commit;
            let closeness = self.closeness(&item.standing, unit_anchor(item), line);
            is_of_commit == of_commits && closeness.is_some_and(|(closeness, _)| closeness == 0)
        };
        let mut found: Vec<&RegionItem> = self.regions().iter().filter(is_here).collect();
        found.sort_by_key(|item| Reverse(item.standing.tier));
        found
    }

    /// The lessons by the line that they are marked on.
    pub(crate) fn marks(&self) -> BTreeMap<u32, Vec<&WisdomItem>> {
        let mut marks: BTreeMap<u32, Vec<&WisdomItem>> = BTreeMap::new();
        for item in self.lessons().iter().filter(|item| item.standing.state != State::Gone) {
            let line = match self.place(&item.standing, anchor_of(item)) {
                Place::Lines(ranges) => ranges.first().map(|range| range.start),
                Place::File => Some(1),
                Place::Nowhere => None,
            };
            if let Some(line) = line {
                marks.entry(line).or_default().push(item);
            }
        }
        marks.values_mut().for_each(|lessons| lessons.sort_by_key(|item| Reverse(item.standing.tier)));
        marks
    }

    /// How much is known of each item that anything is known of, by its first line.
    pub(crate) fn counts(&self) -> BTreeMap<u32, Counts> {
        let mut counts: BTreeMap<u32, Counts> = BTreeMap::new();
        for (line, lessons) in self.marks() {
            let at = self.item_at(line).map_or(1, |item| item.lines.start);
            lessons.iter().for_each(|lesson| counts.entry(at).or_default().add(lesson.category));
        }
        let dependents = self.reading.iter().flat_map(|reading| &reading.dependencies_on_this);
        for dependent in dependents {
            let item = dependent.on_anchor.as_deref().map(|anchor| self.item_called(anchor));
            let at = match item {
                Some(Some(item)) => item.lines.start,
                // What nobody finds here is not here.
                Some(None) => continue,
                None => 1,
            };
            counts.entry(at).or_default().dependents += 1;
        }
        counts
    }

    fn item_called(&self, anchor: &str) -> Option<&OutlineItem> {
        let is_called = |name: &str| {
            name.strip_suffix(anchor)
                .is_some_and(|owner| owner.is_empty() || owner.ends_with([':', '.', '#']))
        };
        self.items.iter().find(|item| is_called(&item.name))
    }
}

impl Counts {
    fn add(&mut self, category: Category) {
        *match category {
            Category::Gotcha => &mut self.gotchas,
            Category::DeadEnd => &mut self.dead_ends,
            Category::Insight => &mut self.insights,
            Category::UnfinishedThread => &mut self.unfinished,
        } += 1;
    }
}

/// Whether it warns of something.
pub(crate) fn is_trap(category: Category) -> bool {
    matches!(category, Category::Gotcha | Category::DeadEnd)
}

fn anchor_of(item: &WisdomItem) -> Option<&str> {
    item.anchor.as_ref().map(|anchor| anchor.name.as_str())
}

fn unit_anchor(item: &RegionItem) -> Option<&str> {
    item.ast_anchor.as_ref().map(|anchor| anchor.name.as_str())
}
