//! What an author says of a commit ahead of it, or while it is made: the task, the reasons, what it relies on.

use chronicle_core::{
    Annotation, Category, ContextLevel, DependsOn, Entry, EntryId, Origin,
    mentions::{Mention, mentions, segments},
};
use chronicle_git::{BString, ByteSlice, Repository};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{error::Result, read::named::named, write::derive::Facts};

/// What an author says of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorContext {
    /// When it was said, RFC 3339.
    #[serde(default)]
    pub timestamp: String,
    /// Its id, which becomes that of the reasons; other tools stage without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EntryId>,
    /// HEAD when it was said; none on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The task that the change is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Why this approach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the change assumes of code elsewhere, one assumption on each line.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub dependencies: Option<String>,
    /// Labels.
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub tags: Vec<String>,
    /// Commits that the next one unites, as revisions.
    #[serde(default, deserialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub squash_sources: Vec<String>,
}

impl AuthorContext {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { timestamp: _, id: _, head: _, task, reasoning, dependencies, tags, squash_sources } = self;
        let texts = [task, reasoning, dependencies];
        texts.into_iter().all(Option::is_none) && tags.is_empty() && squash_sources.is_empty()
    }

    /// Whether anything is said in words; squashed commits alone are no words.
    pub(crate) fn has_words(&self) -> bool {
        !Self { squash_sources: Vec::new(), ..self.clone() }.is_empty()
    }

    /// Lets what `newer` says count; what it leaves open stays.
    pub fn update(&mut self, newer: Self) {
        self.timestamp = newer.timestamp;
        for (mine, theirs) in [
            (&mut self.task, newer.task),
            (&mut self.reasoning, newer.reasoning),
            (&mut self.dependencies, newer.dependencies),
        ] {
            *mine = theirs.or_else(|| mine.take());
        }
        for (mine, theirs) in [(&mut self.tags, newer.tags), (&mut self.squash_sources, newer.squash_sources)]
        {
            if !theirs.is_empty() {
                *mine = theirs;
            }
        }
    }

    /// The assumptions, one by one.
    fn assumptions(&self) -> impl Iterator<Item = &str> {
        let lines = self.dependencies.iter().flat_map(|text| text.lines());
        lines.map(|line| line.trim().trim_start_matches(['-', '*']).trim()).filter(|line| !line.is_empty())
    }

    /// Adds what is said to the document of a commit. `key` names this saying and no other, so that
    /// saying it again adds nothing.
    pub(crate) fn add_to(
        &self,
        document: &mut Annotation,
        key: &EntryId,
        facts: &mut Facts<'_>,
        repository: &Repository,
    ) -> Result<()> {
        document.context_level = Some(ContextLevel::Enhanced);
        if document.task.is_none() {
            document.task.clone_from(&self.task);
        }
        document.wisdom.extend(self.reasoning.iter().map(|reasoning| self.insight(key.clone(), reasoning)));
        for assumption in self.assumptions() {
            let id = EntryId::derived(&key.0, Category::Insight.name(), assumption, None, None);
            let depends_on = resolve(assumption, facts, repository)?;
            document.wisdom.push(Entry { depends_on, ..self.insight(id, assumption) });
        }
        document.consumed.push(key.clone());
        Ok(())
    }

    fn insight(&self, id: EntryId, content: &str) -> Entry {
        let mut entry = Entry::new(id, Category::Insight, content.trim());
        entry.origin = Some(Origin::Author);
        entry.tags.clone_from(&self.tags);
        entry
    }
}

/// More than so many places in one assumption are no assumption about code.
const MAX_DEPENDENCIES: usize = 8;

/// The files and items of the commit that an assumption names.
pub(crate) fn resolve(
    assumption: &str,
    facts: &mut Facts<'_>,
    repository: &Repository,
) -> Result<Vec<DependsOn>> {
    let mentioned = mentions(assumption);
    let mut files: Vec<String> = Vec::new();
    for mention in mentioned.iter().filter(|mention| matches!(mention, Mention::Path(_))) {
        files.extend(file_meant(mention, facts, repository)?.filter(|file| !files.contains(file)));
    }
    let changed =
        facts.changes.iter().filter(|change| change.new.is_some()).map(|change| change.path.to_string());
    let searched: Vec<String> = if files.is_empty() { changed.collect() } else { files.clone() };
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    for file in &searched {
        let Some(outline) = facts.items(file)? else { continue };
        let Ok(items) = &*outline else { continue };
        let named = items.iter().filter(|item| {
            let name = segments(&item.qualified);
            mentioned.iter().any(|mention| mention.names(&name))
        });
        found.extend(named.map(|item| (file.clone(), Some(item.qualified.clone()))));
    }
    files.retain(|file| !found.iter().any(|(known, _)| known == file));
    found.extend(files.into_iter().map(|file| (file, None)));
    if found.is_empty() {
        let named = named(assumption, facts, repository)?;
        found.extend(named.into_iter().map(|(file, anchor)| (file, Some(anchor))));
    }
    let relied_on = found.into_iter().take(MAX_DEPENDENCIES).map(|(file, anchor)| DependsOn {
        file,
        anchor,
        nature: assumption.to_owned(),
        sketch: None,
        extra: serde_json::Map::new(),
    });
    Ok(relied_on.collect())
}

/// The one file of the commit that a mention may mean.
fn file_meant(mention: &Mention<'_>, facts: &Facts<'_>, repository: &Repository) -> Result<Option<String>> {
    let Mention::Path(said) = mention else { return Ok(None) };
    if facts.has(said)? {
        return Ok(Some((*said).to_owned()));
    }
    let files = repository.files_under(facts.commit.tree, BString::default().as_bstr())?;
    let mut meant = files.iter().map(ToString::to_string).filter(|file| mention.may_mean_file(file));
    let first = meant.next();
    Ok(first.filter(|_| meant.next().is_none()))
}

/// A text, or several that stand on a line each.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let lines = strings(deserializer)?;
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// A list of words, or one text in which they are separated by commas.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(strings(deserializer)?.iter().flat_map(|text| split_words(text)).collect())
}

/// The words of a text in which they are separated by commas or white space.
#[must_use]
pub fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| character == ',' || character.is_whitespace());
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Strings {
        One(String),
        More(Vec<String>),
    }
    Ok(match Option::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Strings::One(text)) => vec![text],
        Some(Strings::More(texts)) => texts,
    })
}
