//! Blocks of memory: short texts with a limit, each change of which is a version.
//!
//! `pending_threads` and `recent_sessions` are renderings of what is remembered anyway: they are made when they are
//! asked for, and have no versions. The other built-in blocks are brought up to date by rules while nobody works
//! ([`Memory::consolidate`]); what the user wrote in them stays.

mod drafts;
mod filed;
mod renewed;
mod views;

use chronicle_core::{
    block::{Author, BlockLine, BlockText},
    distance,
    redaction::{Removed, for_storage},
};
use chronicle_search::{BlockVersion, OwnBlock, SqlResult, Transaction};
use chronicle_workplace::{
    Error, Workplace,
    error::{BlockChangedSnafu, BlockTooLongSnafu, EmptyQuestionSnafu, NoBlockSnafu, RefusedBlockSnafu},
};
pub(crate) use drafts::Past;
pub(crate) use filed::{BLOCK, BlockFile};
pub(crate) use renewed::{Renewal, line_of_run};
use schemars::JsonSchema;
use serde::Serialize;
use snafu::ensure;

use crate::{
    Memory,
    memory::{OpenMemory, Scope},
};

/// The longest limit of a block that the user makes: more is no block.
const LONGEST_LIMIT: usize = 20_000;

/// The limit of a block that the user makes, if nobody says otherwise.
pub const DEFAULT_LIMIT: usize = 2_000;

/// A block that is built in.
pub(crate) struct CoreBlock {
    pub(crate) label: &'static str,
    description: &'static str,
    pub(crate) limit: usize,
    kind: CoreKind,
}

/// What a built-in block is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoreKind {
    /// Lines of the user and of rules, in versions.
    Kept,
    /// What else is remembered, rendered anew each time.
    Rendered,
}

pub(crate) const CORE: [CoreBlock; 6] = [
    CoreBlock {
        label: "developer_profile",
        description: "What the developer works with, and knows",
        limit: 2_000,
        kind: CoreKind::Kept,
    },
    CoreBlock {
        label: "preferences",
        description: "How the developer likes things to be done",
        limit: 1_500,
        kind: CoreKind::Kept,
    },
    CoreBlock {
        label: "recent_sessions",
        description: "The last sessions, and what came of them",
        limit: 3_000,
        kind: CoreKind::Rendered,
    },
    CoreBlock {
        label: "active_projects",
        description: "Current projects and their state",
        limit: 2_000,
        kind: CoreKind::Kept,
    },
    CoreBlock {
        label: "work_patterns",
        description: "How and when the developer works",
        limit: 2_000,
        kind: CoreKind::Kept,
    },
    CoreBlock {
        label: "pending_threads",
        description: "Unfinished work, the most urgent first",
        limit: 1_500,
        kind: CoreKind::Rendered,
    },
];

/// All blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockList {
    /// Always `chronicle-blocks/v1`.
    pub schema: &'static str,
    /// The blocks: those that are built in first.
    pub blocks: Vec<ListedBlock>,
}

/// A block in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedBlock {
    /// How it is called.
    pub label: String,
    /// What it is about.
    pub description: String,
    /// How many characters it may have.
    pub limit: usize,
    /// How many it has.
    pub characters: usize,
    /// Its version; null for one without, and for a rendering.
    pub version: Option<u64>,
    /// When it was changed last.
    pub updated: Option<String>,
    /// Who changed it last.
    pub author: Option<String>,
    /// Whether it is made of what else is remembered, each time that it is shown.
    pub is_rendering: bool,
    /// Whether the user made it.
    pub is_own: bool,
}

/// One block, or one version of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownBlock {
    /// Always `chronicle-block/v1`.
    pub schema: &'static str,
    /// What lists say of it.
    #[serde(flatten)]
    pub listed: ListedBlock,
    /// Why it was changed last.
    pub reason: Option<String>,
    /// The text.
    pub value: String,
    /// Its lines, with who wrote them and what shows them.
    pub lines: Vec<BlockLine>,
    /// Subjects that the user took out, and that rules leave out since.
    pub dismissed: Vec<String>,
    /// Secrets that were replaced before this was stored.
    pub redacted: Vec<String>,
}

/// Every version of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlockHistory {
    /// Always `chronicle-block-history/v1`.
    pub schema: &'static str,
    /// How it is called.
    pub label: String,
    /// The versions, the first one first.
    pub versions: Vec<OldBlock>,
}

/// A version of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OldBlock {
    /// Counted from 1.
    pub version: u64,
    /// When it was made.
    pub at: String,
    /// Who made it.
    pub author: String,
    /// Why.
    pub reason: String,
    /// How many characters it has.
    pub characters: usize,
    /// The lines that the version before did not have.
    pub added: Vec<String>,
    /// The lines of the version before that are gone.
    pub removed: Vec<String>,
}

/// Lines of blocks that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundLines {
    /// Always `chronicle-block-lines/v1`.
    pub schema: &'static str,
    /// The lines.
    pub lines: Vec<FoundLine>,
}

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FoundLine {
    /// The block.
    pub label: String,
    /// What it says.
    pub text: String,
    /// The first version that has it.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// Whether it is in the block still.
    pub is_there: bool,
    /// The sessions that show it.
    pub evidence: Vec<String>,
}

/// A line of a block, of which no name from outside makes several: branches may hold any white space but that of ASCII.
fn on_one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_whitespace() { ' ' } else { letter }).collect()
}

/// The blocks of session memory.
#[derive(Clone, Copy)]
pub struct Blocks<'w> {
    pub(crate) workplace: &'w Workplace,
}

impl<'w> Blocks<'w> {
    fn memory(self) -> Memory<'w> {
        Memory::new(self.workplace)
    }
}

/// The limit of the block with this label, where it is one that has versions; one of the user's own is made.
pub(crate) fn block_limit(tx: &Transaction<'_>, label: &str) -> SqlResult<Option<usize>> {
    if !is_label(label) {
        return Ok(None);
    }
    if let Some(core) = CORE.iter().find(|block| block.label == label) {
        return Ok((core.kind == CoreKind::Kept).then_some(core.limit));
    }
    OwnBlock { label: label.to_owned(), description: String::new(), limit: DEFAULT_LIMIT }.add(tx)?;
    Ok(OwnBlock::all(tx)?.into_iter().find(|known| known.label == label).map(|known| known.limit))
}

/// Whether `text` may name a block: it is also the name of a file.
pub(crate) fn is_label(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    (1..=60).contains(&text.chars().count()) && text.chars().all(is_plain) && !text.starts_with('-')
}

/// Why `text` may not.
pub(crate) fn no_label(text: &str) -> String {
    format!("`{}` isn't a block name: use at most 60 letters, digits, `_` and `-`", text.escape_debug())
}

impl Blocks<'_> {
    /// All blocks.
    ///
    /// # Errors
    /// When session memory cannot be read.
    pub fn list(&self) -> Result<BlockList, Error> {
        let memory = self.memory().open()?;
        let mut labels: Vec<String> = CORE.iter().map(|block| block.label.to_owned()).collect();
        if let Some(memory) = &memory {
            labels.extend(memory.store.read(OwnBlock::all)?.into_iter().map(|block| block.label));
        }
        let scope = self.block_scope(memory.as_ref(), None, false)?;
        let blocks = labels.iter().map(|label| Ok(self.found(memory.as_ref(), label, None, &scope)?.listed));
        Ok(BlockList { schema: "chronicle-blocks/v1", blocks: blocks.collect::<Result<_, Error>>()? })
    }

    /// One block as it is, or as it was in `version`. Renderings are of `project`, of all of them, or of the current one.
    ///
    /// # Errors
    /// When there is no such block or version, or session memory cannot be read.
    pub fn show(
        &self,
        label: &str,
        version: Option<u64>,
        project: Option<&str>,
        is_all: bool,
    ) -> Result<ShownBlock, Error> {
        let memory = self.memory().open()?;
        let scope = self.block_scope(memory.as_ref(), project, is_all)?;
        self.found(memory.as_ref(), label, version, &scope)
    }

    /// Every version of a block.
    ///
    /// # Errors
    /// When there is no such block, and for a rendering.
    pub fn history(&self, label: &str) -> Result<BlockHistory, Error> {
        let memory = self.memory().open()?;
        let shown = self.found(memory.as_ref(), label, None, &Scope::Unknown)?;
        ensure_kept(&shown.listed)?;
        let stored = match &memory {
            Some(memory) => memory.store.read(|connection| BlockVersion::all(connection, label))?,
            None => Vec::new(),
        };
        let mut before = BlockText::default();
        let mut versions = Vec::new();
        for version in stored {
            let only = |these: &BlockText, those: &BlockText| -> Vec<String> {
                let is_new = |line: &&BlockLine| those.lines.iter().all(|known| known.text != line.text);
                these.lines.iter().filter(is_new).map(|line| line.text.clone()).collect()
            };
            versions.push(OldBlock {
                version: version.number,
                at: version.at.to_string(),
                characters: version.text.n_characters(),
                added: only(&version.text, &before),
                removed: only(&before, &version.text),
                author: version.author,
                reason: version.reason,
            });
            before = version.text;
        }
        Ok(BlockHistory { schema: "chronicle-block-history/v1", label: label.to_owned(), versions })
    }

    /// The lines of blocks that have all of these words, those that are gone from their block included.
    ///
    /// # Errors
    /// When there are no words, or session memory cannot be read.
    pub fn find(&self, words: &str) -> Result<FoundLines, Error> {
        let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        ensure!(!wanted.is_empty(), EmptyQuestionSnafu { reason: "the question is empty" });
        let mut found = FoundLines { schema: "chronicle-block-lines/v1", lines: Vec::new() };
        let Some(memory) = self.memory().open()? else { return Ok(found) };
        for label in memory.store.read(BlockVersion::labels)? {
            let versions = memory.store.read(|connection| BlockVersion::all(connection, &label))?;
            let n_versions = versions.last().map_or(0, |latest| latest.number);
            let mut lines: Vec<FoundLine> = Vec::new();
            for version in versions {
                for line in version.text.lines {
                    let text = line.text.to_lowercase();
                    if !wanted.iter().all(|word| text.contains(word.as_str())) {
                        continue;
                    }
                    match lines.iter_mut().find(|known| known.text == line.text) {
                        Some(known) => known.last = version.number,
                        None => lines.push(FoundLine {
                            label: label.clone(),
                            text: line.text,
                            first: version.number,
                            last: version.number,
                            is_there: false,
                            evidence: line.evidence,
                        }),
                    }
                }
            }
            lines.iter_mut().for_each(|line| line.is_there = line.last == n_versions);
            lines.sort_by_key(|line| (!line.is_there, std::cmp::Reverse(line.last)));
            found.lines.append(&mut lines);
        }
        Ok(found)
    }

    /// Gives a block the text that the user wants it to have; `base` is the version that the user saw, 0 for none;
    /// without it, the latest one.
    ///
    /// # Errors
    /// When the text is too long, or the user changed the block elsewhere since; then nothing is stored.
    pub fn set(&self, label: &str, text: &str, base: Option<u64>) -> Result<ShownBlock, Error> {
        let shown = self.found(self.memory().open()?.as_ref(), label, None, &Scope::Unknown)?;
        ensure_kept(&shown.listed)?;
        let mut removed = Removed::default();
        let text = for_storage(text, &mut removed);
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        let limit = shown.listed.limit;
        let mut memory = self.memory().open_to_write()?;
        memory
            .store
            .write_unless(|tx| {
                let versions = BlockVersion::all(tx, label)?;
                let by_user = |version: &&BlockVersion| base.is_some_and(|base| base < version.number);
                if versions.iter().filter(by_user).any(|version| version.author == name(Author::User)) {
                    return Ok(Err(BlockChangedSnafu { label }.build()));
                }
                let latest = versions.last().map(|version| version.text.clone()).unwrap_or_default();
                let seen = match base {
                    Some(base) => versions.iter().find(|version| version.number == base),
                    None => versions.last(),
                };
                let seen = seen.map(|version| version.text.clone()).unwrap_or_default();
                let edited = united(seen.edited(&text), &seen, &latest, limit);
                let n_characters = edited.n_characters();
                if limit < n_characters {
                    return Ok(Err(BlockTooLongSnafu { label, limit, n_characters }.build()));
                }
                BlockVersion::add(
                    tx,
                    label,
                    self.workplace.now(),
                    (name(Author::User), "edited by hand"),
                    &edited,
                )?;
                Ok(Ok(()))
            })?
            .map_or_else(Err, Ok)?;
        let mut shown = self.found(Some(&memory), label, None, &Scope::Unknown)?;
        shown.redacted = removed.secrets.keys().map(ToString::to_string).collect();
        Ok(shown)
    }

    /// Gives a block the text of an earlier version.
    ///
    /// # Errors
    /// When there is no such block or version.
    pub fn revert(&self, label: &str, version: u64) -> Result<ShownBlock, Error> {
        let old = self.found(self.memory().open()?.as_ref(), label, Some(version), &Scope::Unknown)?;
        ensure_kept(&old.listed)?;
        let mut memory = self.memory().open_to_write()?;
        memory.store.write(|tx| {
            let versions = BlockVersion::all(tx, label)?;
            let Some(old) = versions.iter().find(|known| known.number == version) else { return Ok(false) };
            let latest = versions.last().map(|latest| latest.text.clone()).unwrap_or_default();
            let reason = format!("taken back to version {version}");
            BlockVersion::add(
                tx,
                label,
                self.workplace.now(),
                (name(Author::User), &reason),
                &latest.reverted(&old.text),
            )
        })?;
        self.found(Some(&memory), label, None, &Scope::Unknown)
    }

    /// Makes a block of the user's own.
    ///
    /// # Errors
    /// When there is one of that name, or the name or limit makes no sense.
    pub fn create(&self, label: &str, limit: usize, description: &str) -> Result<ShownBlock, Error> {
        ensure!(is_label(label), RefusedBlockSnafu { reason: no_label(label) });
        ensure!(
            (1..=LONGEST_LIMIT).contains(&limit),
            RefusedBlockSnafu { reason: format!("the limit of a block is between 1 and {LONGEST_LIMIT}") }
        );
        let description = for_storage(description, &mut Removed::default()).into_owned();
        let own = OwnBlock { label: label.to_owned(), description, limit };
        let taken = || RefusedBlockSnafu { reason: format!("there is a block `{label}` already") }.fail();
        if CORE.iter().any(|block| block.label == label) {
            return taken();
        }
        let mut memory = self.memory().open_to_write()?;
        if !memory.store.write(|tx| own.add(tx))? {
            return taken();
        }
        self.found(Some(&memory), label, None, &Scope::Unknown)
    }

    /// Removes a block of the user's own, with all its versions.
    ///
    /// # Errors
    /// When there is none of that name, or it is built in.
    pub fn remove(&self, label: &str) -> Result<ShownBlock, Error> {
        let shown = self.found(self.memory().open()?.as_ref(), label, None, &Scope::Unknown)?;
        ensure!(
            shown.listed.is_own,
            RefusedBlockSnafu {
                reason: format!("`{label}` is built in; `git chronicle blocks set` changes it")
            }
        );
        let mut memory = self.memory().open_to_write()?;
        memory.store.write(|tx| {
            OwnBlock::remove(tx, label)?;
            BlockVersion::remove_all(tx, label)
        })?;
        memory.store.settle()?;
        Ok(shown)
    }

    fn block_scope(
        &self,
        memory: Option<&OpenMemory>,
        project: Option<&str>,
        is_all: bool,
    ) -> Result<Scope, Error> {
        let Some(memory) = memory else { return Ok(Scope::Unknown) };
        let scope = self.memory().memory_scope(memory, project, is_all)?;
        // Outside of any project, all of them are meant.
        Ok(if scope == Scope::Unknown { Scope::All } else { scope })
    }

    fn found(
        &self,
        memory: Option<&OpenMemory>,
        label: &str,
        version: Option<u64>,
        scope: &Scope,
    ) -> Result<ShownBlock, Error> {
        let own = match memory {
            Some(memory) => memory.store.read(OwnBlock::all)?,
            None => Vec::new(),
        };
        let core = CORE.iter().find(|block| block.label == label);
        let (description, limit, is_rendering) = match (core, own.iter().find(|block| block.label == label)) {
            (Some(core), _) => (core.description.to_owned(), core.limit, core.kind == CoreKind::Rendered),
            (None, Some(own)) => (own.description.clone(), own.limit, false),
            (None, None) => {
                let labels =
                    CORE.iter().map(|block| block.label).chain(own.iter().map(|block| &*block.label));
                let closest = distance::within(label, labels, 3).into_iter().next().map(str::to_owned);
                return NoBlockSnafu { label, closest }.fail();
            }
        };
        let stored = match (memory, version) {
            (Some(memory), None) => {
                memory.store.read(|connection| BlockVersion::latest(connection, label))?
            }
            (Some(memory), Some(number)) => {
                let all = memory.store.read(|connection| BlockVersion::all(connection, label))?;
                all.into_iter().find(|known| known.number == number)
            }
            (None, _) => None,
        };
        ensure!(
            version.is_none() || stored.is_some(),
            RefusedBlockSnafu {
                reason: format!("`{label}` has no such version; `blocks history {label}` lists them")
            }
        );
        let text = match (&stored, memory) {
            (_, Some(memory)) if is_rendering => self.rendering(memory, label, limit, scope)?,
            (Some(stored), _) => stored.text.clone(),
            _ => BlockText::default(),
        };
        Ok(ShownBlock {
            schema: "chronicle-block/v1",
            listed: ListedBlock {
                label: label.to_owned(),
                description,
                limit,
                characters: text.n_characters(),
                version: stored.as_ref().map(|stored| stored.number),
                updated: stored.as_ref().map(|stored| stored.at.to_string()),
                author: stored.as_ref().map(|stored| stored.author.clone()),
                is_rendering,
                is_own: core.is_none(),
            },
            reason: stored.map(|stored| stored.reason),
            value: text.value(),
            lines: text.lines,
            dismissed: text.dismissed,
            redacted: Vec::new(),
        })
    }
}

/// What the user made of `seen`, with what rules wrote into `latest` meanwhile, as far as there is room.
fn united(mut edited: BlockText, seen: &BlockText, latest: &BlockText, limit: usize) -> BlockText {
    let is_known = |line: &BlockLine| seen.lines.iter().any(|known| known.keys == line.keys);
    for line in latest.lines.iter().filter(|line| line.by != Author::User && !is_known(line)) {
        edited.lines.push(line.clone());
        if limit < edited.n_characters() {
            edited.lines.pop();
        }
    }
    edited
}

fn ensure_kept(listed: &ListedBlock) -> Result<(), Error> {
    let of = if listed.label == "pending_threads" {
        "the threads, which `git chronicle thread` and `resolve` change"
    } else {
        "the sessions, which are as they were"
    };
    let reason = format!("`{}` is a rendering of {of}", listed.label);
    ensure!(!listed.is_rendering, RefusedBlockSnafu { reason });
    Ok(())
}

/// The name that an author has in the store.
pub(crate) fn name(author: Author) -> &'static str {
    match author {
        Author::User => "user",
        Author::Rule => "rule",
        Author::Model => "model",
    }
}
