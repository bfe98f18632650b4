//! One note's documents, folded into one meaning.
//!
//! A note may hold several documents: released tools append, merges concatenate,
//! two people annotate one commit. Folding is a union (documents by fingerprint,
//! entries by id, unreadable parts by content), so it is commutative, associative
//! and idempotent: whoever folds first, in whatever order, everyone ends with the
//! same note. DESIGN section 3.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write},
};

use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    Annotation, Change, Entry, EntryId, Region, SCHEMA, Sketch, Source,
    answer::score::context_level,
    format::{document::v3::read as read_v3, secrets::shown},
};

/// The folded meaning of one note.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Note {
    /// Documents without their entries, by fingerprint. A map has room for eleven of them, however few there are: so they
    /// are boxed.
    documents: BTreeMap<String, Box<Annotation>>,
    /// Entries by id.
    entries: BTreeMap<EntryId, Box<Entry>>,
    /// Parts that could not be read.
    unread: BTreeSet<Vec<u8>>,
}

/// One document of a note.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'n> {
    /// What names it: [`Annotation::fingerprint`].
    pub fingerprint: &'n str,
    /// The document, without its entries.
    pub document: &'n Annotation,
    /// Whether its author replaced its summary.
    pub is_replaced: bool,
}

impl Note {
    /// A note of one document, which may itself be a folded one.
    #[must_use]
    pub fn of(document: Annotation) -> Self {
        let mut note = Self::default();
        note.add(document);
        note
    }

    /// A note of one part that could not be read.
    #[must_use]
    pub fn of_unread(part: &[u8]) -> Self {
        Self { unread: BTreeSet::from([part.to_vec()]), ..Self::default() }
    }

    fn add(&mut self, mut document: Annotation) {
        for part in std::mem::take(&mut document.unread) {
            self.unread.insert(BASE64.decode(part.as_bytes()).unwrap_or_else(|_| part.into_bytes()));
        }
        let others = std::mem::take(&mut document.also);
        let entries = std::mem::take(&mut document.wisdom);
        document.entry_ids = authorship(&document.entry_ids, &entries, &others);
        for entry in entries {
            self.add_entry(Box::new(entry));
        }
        for other in others {
            self.add(other);
        }
        self.add_document(fingerprint(&document), Box::new(document));
    }

    /// Adds a document that holds nothing but what it says itself.
    fn add_document(&mut self, fingerprint: String, document: Box<Annotation>) {
        match self.documents.get_mut(&fingerprint) {
            Some(present) => unite(present, *document),
            None => drop(self.documents.insert(fingerprint, document)),
        }
    }

    /// Of two entries with one id, one whose fingerprints are whole stays, then the one that was carried here, then the one that knows its lines
    /// and says more.
    ///
    /// One that names no other place where it was first written, beside one that does, is a copy made
    /// word for word: its lines are those of another commit.
    fn add_entry(&mut self, entry: Box<Entry>) {
        let rank = |entry: &Entry| {
            let value = serde_json::to_value(entry).expect("an entry is plain data");
            let text = canonical(&value);
            let is_as_written = entry.recorded.is_none();
            let is_damaged = entry.around.as_ref().is_some_and(Sketch::is_damaged);
            (
                is_damaged,
                is_as_written,
                entry.lines.is_none(),
                std::cmp::Reverse(text.len()),
                text,
                value.to_string(),
            )
        };
        match self.entries.get_mut(&entry.id) {
            Some(present) => {
                if rank(&entry) < rank(present) {
                    *present = entry;
                }
            }
            None => drop(self.entries.insert(entry.id.clone(), entry)),
        }
    }

    /// The note, in which `entry` takes the place of the one with its id if it says more.
    #[must_use]
    pub fn with_entry(mut self, entry: Entry) -> Self {
        self.add_entry(Box::new(entry));
        self
    }

    /// The note in which these versions of claims take the place of those with the same ids.
    #[must_use]
    pub fn with_versions(mut self, entries: Vec<Entry>, regions: &[Region]) -> Self {
        for entry in entries {
            if let Some(known) = self.entries.get_mut(&entry.id) {
                **known = entry;
            }
        }
        if regions.is_empty() {
            return self;
        }
        for (_, mut document) in std::mem::take(&mut self.documents) {
            for region in &mut document.regions {
                if let Some(version) = regions.iter().find(|version| version.id == region.id) {
                    region.clone_from(version);
                }
            }
            self.add_document(fingerprint(&document), document);
        }
        self
    }

    /// The note in which no document speaks over one that ranks higher: it neither replaces its summary, nor
    /// counts as the author of an entry that the other one holds, too.
    #[must_use]
    pub fn ranked<R: Ord + Copy>(
        mut self,
        of_document: impl Fn(&Annotation) -> R,
        of_entry: impl Fn(&EntryId) -> R,
    ) -> Self {
        let ranks: BTreeMap<String, R> = self
            .documents
            .iter()
            .map(|(fingerprint, document)| (fingerprint.clone(), of_document(document)))
            .collect();
        let mut claimed: BTreeMap<EntryId, R> = BTreeMap::new();
        for (fingerprint, document) in &self.documents {
            let rank = ranks[fingerprint];
            for id in &document.entry_ids {
                let known = claimed.entry(id.clone()).or_insert(rank);
                *known = rank.max(*known);
            }
        }
        for (fingerprint, document) in &mut self.documents {
            let rank = ranks[fingerprint];
            document.replaces.retain(|replaced| ranks.get(replaced).is_none_or(|above| *above <= rank));
            document.entry_ids.retain(|id| claimed[id] <= rank || of_entry(id) <= rank);
        }
        self
    }

    /// The note without the claims that `is_gone` names. With its summary, of which `mark` is left, a
    /// document loses all words of its own.
    #[must_use]
    pub fn without(self, is_gone: &dyn Fn(&EntryId) -> bool, mark: &str) -> Self {
        let mut left = Self { unread: self.unread, ..Self::default() };
        left.entries = self.entries.into_iter().filter(|(id, _)| !is_gone(id)).collect();
        for (named, mut document) in self.documents {
            document.entry_ids.retain(|id| !is_gone(id));
            document.consumed.retain(|id| !is_gone(id));
            let is_gone_summary = |fingerprint: &str| is_gone(&EntryId(format!("s-{}", &fingerprint[..26])));
            let mut loses_summary = is_gone_summary(&named);
            document.regions.retain(|region| !is_gone(&region.id));
            if let Some(Value::Array(copies)) = document.legacy.get_mut("copies") {
                copies.retain(|copy| !copy["id"].as_str().is_some_and(|id| is_gone(&EntryId(id.to_owned()))));
            }
            // Who removed a region first knows the document by another name.
            loses_summary |= is_gone_summary(&fingerprint(&document));
            if loses_summary {
                mark.clone_into(&mut document.summary);
                document.task = None;
                document.provenance.notes = None;
                document.provenance.extra.clear();
                document.cross_cutting.clear();
                document.replaces.clear();
                document.legacy.clear();
                document.extra.clear();
                // A document of which nothing is left needs no mark.
                if document.regions.is_empty() && document.entry_ids.is_empty() {
                    continue;
                }
            }
            left.add(*document);
        }
        left
    }

    /// The note without the entries and regions that are turned down.
    #[must_use]
    pub fn retain(mut self, entry: impl Fn(&Entry) -> bool, region: impl Fn(&Region) -> bool) -> Self {
        self.entries.retain(|_, known| entry(known));
        for document in self.documents.values_mut() {
            document.entry_ids.retain(|id| self.entries.contains_key(id));
            document.regions.retain(&region);
        }
        self
    }

    /// Whether an earlier version damaged fingerprints in it.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let of_change = |document: &Annotation| document.change.as_ref().is_some_and(Change::is_damaged);
        let of_entry = |entry: &Entry| entry.around.as_ref().is_some_and(Sketch::is_damaged);
        self.documents.values().any(|document| of_change(document))
            || self.entries.values().any(|entry| of_entry(entry))
    }

    /// The note with damaged fingerprints made anew, as far as `change` and `around` know them.
    #[must_use]
    pub fn mended(
        mut self,
        change: impl Fn(&Change) -> Option<Sketch>,
        mut around: impl FnMut(&Entry) -> Option<Option<Sketch>>,
    ) -> Self {
        for known in self.documents.values_mut().filter_map(|document| document.change.as_mut()) {
            if known.is_damaged()
                && let Some(wrote) = change(known)
            {
                known.wrote = Some(wrote);
            }
        }
        for entry in self.entries.values_mut() {
            if entry.around.as_ref().is_some_and(Sketch::is_damaged)
                && let Some(anew) = around(entry)
            {
                entry.around = anew;
            }
        }
        self
    }

    /// The note as it may be shown: its texts without secrets, private spans and what no reader sees. `changed` hears of
    /// each document that has other words then, and of those words.
    #[must_use]
    pub fn shown(mut self, mut changed: impl FnMut(&Annotation, &Annotation)) -> Self {
        for document in self.documents.values_mut() {
            if let Some(Value::Object(map)) = shown(document) {
                let cleaned = read_v3(map);
                changed(document, &cleaned);
                **document = cleaned;
            }
        }
        for entry in self.entries.values_mut() {
            if let Some(cleaned) = shown(entry).and_then(|value| Entry::read(SCHEMA, value).ok()) {
                **entry = cleaned;
            }
        }
        self
    }

    /// The note without the unreadable parts that `is_gone` names.
    #[must_use]
    pub fn without_unread(mut self, is_gone: impl Fn(&[u8]) -> bool) -> Self {
        self.unread.retain(|part| !is_gone(part));
        self
    }

    /// The note in which the documents of `other` take the place of those that say the same: how these came here, and
    /// where their code is, is as `other` has it.
    #[must_use]
    pub fn with_documents(mut self, other: &Self) -> Self {
        for (fingerprint, document) in &mut self.documents {
            if let Some(known) = other.documents.get(fingerprint) {
                let entry_ids = std::mem::take(&mut document.entry_ids);
                **document = Annotation { entry_ids, ..(**known).clone() };
            }
        }
        self
    }

    /// The union of two notes.
    #[must_use]
    pub fn fold(mut self, other: Self) -> Self {
        for (fingerprint, document) in other.documents {
            self.add_document(fingerprint, document);
        }
        for entry in other.entries.into_values() {
            self.add_entry(entry);
        }
        self.unread.extend(other.unread);
        self
    }

    /// Whether nothing at all is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.unread.is_empty()
    }

    /// The documents in the order of [`Note::documents`], with what names them.
    #[must_use]
    pub fn statements(&self) -> Vec<Statement<'_>> {
        let replaced = self.replaced();
        let mut statements: Vec<Statement<'_>> = self
            .documents
            .iter()
            .map(|(fingerprint, document)| {
                let is_replaced = replaced.contains(fingerprint.as_str());
                Statement { fingerprint, document, is_replaced }
            })
            .collect();
        statements.sort_by_cached_key(|statement| {
            (statement.is_replaced, statement.document.written(), statement.fingerprint)
        });
        statements
    }

    /// The documents, primary first: the earliest whose summary no other replaces, then by time.
    #[must_use]
    pub fn documents(&self) -> Vec<&Annotation> {
        self.statements().into_iter().map(|statement| statement.document).collect()
    }

    /// The fingerprint of a document of this note, which is not made anew: the larger the document, the longer that takes, and
    /// each of its lessons may ask. `None` for a document that only equals one of it.
    #[must_use]
    pub fn fingerprint_of(&self, document: &Annotation) -> Option<&str> {
        let found = self.documents.iter().find(|(_, own)| std::ptr::eq(&raw const ***own, document));
        found.map(|(fingerprint, _)| fingerprint.as_str())
    }

    /// The documents whose summary another of the note replaces; two that replace each other count for nothing.
    fn replaced(&self) -> BTreeSet<&str> {
        let named = self
            .documents
            .iter()
            .flat_map(|(by, document)| document.replaces.iter().map(move |replaced| (by, replaced.as_str())));
        let is_mutual = |by: &String, target: &Annotation| target.replaces.contains(by);
        named
            .filter(|(by, replaced)| {
                self.documents.get(*replaced).is_some_and(|target| !is_mutual(by, target))
            })
            .map(|(_, replaced)| replaced)
            .collect()
    }

    /// Whether the summary of `document`, one of this note's, was replaced by its author.
    #[must_use]
    pub fn summary_is_replaced(&self, document: &Annotation) -> bool {
        self.replaced().contains(fingerprint(document).as_str())
    }

    /// The entries of `document`, in the order in which it holds them.
    pub fn entries_of<'a>(&'a self, document: &'a Annotation) -> impl Iterator<Item = &'a Entry> {
        document.entry_ids.iter().filter_map(|id| self.entries.get(id).map(|entry| &**entry))
    }

    /// Every entry with the document that speaks for it: the earliest that claims it.
    #[must_use]
    pub fn entries(&self) -> Vec<(&Annotation, &Entry)> {
        let mut seen = BTreeSet::new();
        let mut entries = Vec::with_capacity(self.entries.len());
        let documents = self.documents();
        for document in &documents {
            entries.extend(
                self.entries_of(document)
                    .filter(|entry| seen.insert(&entry.id))
                    .map(|entry| (*document, entry)),
            );
        }
        if let Some(primary) = documents.first() {
            entries.extend(
                self.entries
                    .values()
                    .filter(|entry| seen.insert(&entry.id))
                    .map(|entry| (*primary, &**entry)),
            );
        }
        entries
    }

    /// The entry with this id.
    #[must_use]
    pub fn entry(&self, id: &EntryId) -> Option<&Entry> {
        self.entries.get(id).map(|entry| &**entry)
    }

    /// Parts of the note that could not be read.
    pub fn unread(&self) -> impl Iterator<Item = &[u8]> {
        self.unread.iter().map(Vec::as_slice)
    }

    /// The one document that we write for this note on `commit`, or `None` when nothing in it could be read.
    #[must_use]
    pub fn to_annotation(&self, commit: &str) -> Option<Annotation> {
        let documents = self.documents();
        let (primary, others) = documents.split_first()?;
        let on_commit = |document: &Annotation| {
            let (schema, commit) = (SCHEMA.to_owned(), commit.to_owned());
            Annotation { schema, commit, ..document.clone() }
        };
        let mut written = on_commit(primary);
        written.wisdom = self.entries().into_iter().map(|(_, entry)| entry.clone()).collect();
        if others.is_empty() && written.wisdom.iter().map(|entry| &entry.id).eq(&written.entry_ids) {
            written.entry_ids.clear();
        }
        written.also = others.iter().map(|document| on_commit(document)).collect();
        written.unread = self.unread.iter().map(|part| BASE64.encode(part)).collect();
        Some(written)
    }

    /// The note as it is stored: one JSON object on one line, which released readers accept.
    ///
    /// `None` when nothing in it could be read: such a note is never rewritten.
    #[must_use]
    pub fn to_line(&self, commit: &str) -> Option<String> {
        let annotation = self.to_annotation(commit)?;
        let mut line = serde_json::to_string(&annotation).expect("an annotation is plain data");
        line.push('\n');
        Some(line)
    }
}

/// The ids of the entries that a document wrote: those it says, once each, and those of its note
/// that neither it nor another document of the note claims.
fn authorship(said: &[EntryId], entries: &[Entry], others: &[Annotation]) -> Vec<EntryId> {
    let claimed_elsewhere: BTreeSet<&EntryId> = others.iter().flat_map(|other| &other.entry_ids).collect();
    let unclaimed = entries.iter().map(|entry| &entry.id).filter(|id| !claimed_elsewhere.contains(id));
    let mut seen = BTreeSet::new();
    said.iter().chain(unclaimed).filter(|id| seen.insert(*id)).cloned().collect()
}

/// Makes one document of two that say the same.
///
/// What is no part of the fingerprint may differ; any rule will do if it is the same everywhere. Of a
/// document and its copy, the copy knows where its code units are here.
fn unite(present: &mut Annotation, other: Annotation) {
    let entry_ids = joined(&present.entry_ids, &other.entry_ids);
    let commit = std::cmp::min(&present.commit, &other.commit).clone();
    let source = present.provenance.source.united(other.provenance.source);
    let derived_from = joined(&present.provenance.derived_from, &other.provenance.derived_from);
    // Whether it is said or follows from the source, the level of both is one.
    let level = context_level(present);
    let is_level_said = present.context_level.is_some() || other.context_level.is_some();
    let rank = |document: &Annotation| {
        let is_damaged = document.change.as_ref().is_some_and(Change::is_damaged);
        (is_damaged, document.provenance.derived_from.is_empty(), plain_text(document))
    };
    if rank(&other) < rank(present) {
        *present = other;
    }
    (present.commit, present.entry_ids) = (commit, entry_ids);
    (present.provenance.source, present.provenance.derived_from) = (source, derived_from);
    present.context_level = is_level_said.then_some(level);
}

/// What is written of a document by itself, but for the commit, the entries and how it came here.
fn plain_text(document: &Annotation) -> String {
    let mut document = Annotation { commit: String::new(), entry_ids: Vec::new(), ..document.clone() };
    document.context_level = Some(context_level(&document));
    (document.provenance.source, document.provenance.derived_from) = (Source::Live, Vec::new());
    serde_json::to_string(&document).expect("an annotation is plain data")
}

/// Names a document by what it says: not by its entries, which may grow, nor by the commit that it is on
/// and where its code units are there, which a rewrite changes.
#[must_use]
fn fingerprint(document: &Annotation) -> String {
    let mut document = document.clone();
    document.context_level = Some(context_level(&document));
    (document.provenance.source, document.provenance.derived_from) = (Source::Live, Vec::new());
    document.change = document.change.filter(|change| !change.extra.is_empty());
    if let Some(change) = &mut document.change {
        *change = Change { tree: None, patch: None, parent: None, wrote: None, extra: change.extra.clone() };
    }
    for region in &mut document.regions {
        (region.lines, region.sketch) = (None, None);
        region.file.clear();
    }
    let mut value = serde_json::to_value(document).expect("an annotation is plain data");
    if let Some(map) = value.as_object_mut() {
        for key in ["schema", "commit", "wisdom", "also", "unread", "entry_ids"] {
            map.shift_remove(key);
        }
    }
    let digest = Sha256::digest(canonical(&value).as_bytes());
    HEXLOWER.encode(&digest[..16])
}

impl Annotation {
    /// The fingerprint by which another document's `replaces` can name this one.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(self)
    }
}

/// JSON with sorted keys.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut json = String::new();
    write_sorted(value, &mut json).expect("a string can be written to");
    json
}

fn write_sorted(value: &Value, json: &mut String) -> fmt::Result {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            json.push('{');
            for (number, (key, value)) in members.into_iter().enumerate() {
                let comma = if number == 0 { "" } else { "," };
                write!(json, "{comma}{}:", Value::from(key.as_str()))?;
                write_sorted(value, json)?;
            }
            json.push('}');
        }
        Value::Array(elements) => {
            json.push('[');
            for (number, element) in elements.iter().enumerate() {
                json.push_str(if number == 0 { "" } else { "," });
                write_sorted(element, json)?;
            }
            json.push(']');
        }
        other => write!(json, "{other}")?,
    }
    Ok(())
}

/// Equal lists keep their order; different ones are united in order, which makes the union associative.
fn joined<T: Ord + Clone>(left: &[T], right: &[T]) -> Vec<T> {
    if left == right {
        return left.to_vec();
    }
    left.iter().chain(right).collect::<BTreeSet<_>>().into_iter().cloned().collect()
}
