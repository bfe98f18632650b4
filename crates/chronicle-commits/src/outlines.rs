//! Outlines of files as they are now, kept because parsing costs more than the rest of an answer.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use chronicle_core::{
    LineRange,
    outline::{Item, ItemKind},
};
use chronicle_git::LazyRepository;
use chronicle_outline::{Language, NoOutline};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use crate::{
    Content,
    disk_cache::{CachePlace, Kept},
    note::packed_list::{Rows, RowsWriter},
};

/// The items of a file, or why they are not known.
pub type Items = Rc<Result<Vec<Item>, NoOutline>>;

/// Outlines by the path and the bytes they were made of.
#[derive(Debug)]
pub struct Outlines {
    kept: Kept,
    /// Whether the outlines of files as they are now are kept: not where a text is not saved.
    keeps_present: bool,
    known: RefCell<HashMap<u128, Items>>,
}

/// The items of a file, as they are stored, or why there are none.
type Stored<'a> = Result<StoredItems<'a>, StoredRefusal<'a>>;

/// Why a file has no outline, where that is the same each time it is looked at.
#[derive(Serialize, Deserialize)]
enum StoredRefusal<'a> {
    NoGrammar(&'a str),
    TooDeep(&'a str),
    TimedOut(&'a str),
    TooCostly(&'a str),
}

#[derive(Serialize, Deserialize)]
struct StoredItems<'a> {
    /// The first and the last line of each, four bytes each: mostly that is enough to know which are wanted.
    lines: &'a [u8],
    /// [`StoredItem`]s.
    #[serde(borrow)]
    items: Rows<'a>,
}

/// An item, as it is stored.
#[derive(Serialize, Deserialize)]
struct StoredItem<'a> {
    /// Its number among all kinds.
    kind: u32,
    name: &'a str,
    qualified: &'a str,
    signature: &'a str,
    name_line: u32,
}

impl Outlines {
    /// Outlines that are kept in the shared state directory of a repository, or in memory only.
    #[must_use]
    pub fn new(place: Option<&CachePlace>) -> Self {
        Self { kept: Kept::new(place, "outlines"), keeps_present: true, known: RefCell::default() }
    }

    /// The same, where texts that are not saved are outlined: nothing is kept of them.
    #[must_use]
    pub fn of_unsaved(self, is_unsaved: bool) -> Self {
        Self { keeps_present: !is_unsaved, ..self }
    }

    /// The items of the file at `path`, whose bytes are `content`.
    pub fn items(&self, path: &str, content: &[u8]) -> Items {
        self.items_hashed(path, XxHash3_128::oneshot(content), content)
    }

    fn items_hashed(&self, path: &str, content_hash: u128, content: &[u8]) -> Items {
        let hash = key(path, content_hash);
        if let Some(known) = self.known.borrow().get(&hash) {
            return Rc::clone(known);
        }
        let items = Rc::new(self.load(hash, |_| true).unwrap_or_else(|| self.parse(hash, path, content)));
        self.known.borrow_mut().insert(hash, Rc::clone(&items));
        items
    }

    /// The items of the file at `path` with `content`; `None` when it is not there.
    pub fn items_of(&self, repository: &LazyRepository, path: &str, content: &Content) -> Option<Items> {
        if content.blob().is_none() {
            return Some(self.items_hashed(path, content.hash()?, content.bytes(repository)?));
        }
        // A blob is known by its id: to read it would take longer than all the rest.
        let hash = key(path, content.hash()?);
        if let Some(known) = self.known.borrow().get(&hash) {
            return Some(Rc::clone(known));
        }
        let items = match self.load(hash, |_| true) {
            Some(items) => Rc::new(items),
            None => {
                let items = self.items(path, content.bytes(repository)?);
                self.keep_outline(hash, &items);
                items
            }
        };
        self.known.borrow_mut().insert(hash, Rc::clone(&items));
        Some(items)
    }

    /// Those of the items of a file that have `wanted` lines; `None` when it is not there or has no outline.
    pub fn items_within(
        &self,
        repository: &LazyRepository,
        path: &str,
        content: &Content,
        wanted: impl Fn(LineRange) -> bool,
    ) -> Option<Vec<Item>> {
        // Of thousands that are stored only these need room of their own.
        let hash = content.blob().and_then(|_| content.hash());
        let stored = hash.and_then(|hash| self.load(key(path, hash), &wanted));
        match stored {
            Some(items) => items.ok(),
            None => {
                let items = self.items_of(repository, path, content)?;
                let items = items.as_ref().as_ref().ok()?.iter().filter(|item| wanted(item.lines));
                Some(items.cloned().collect())
            }
        }
    }

    /// Those of the stored items that have `wanted` lines.
    fn load(&self, hash: u128, wanted: impl Fn(LineRange) -> bool) -> Option<Result<Vec<Item>, NoOutline>> {
        self.kept.with(hash, |bytes| parsed(bytes, &wanted))
    }

    fn parse(&self, hash: u128, path: &str, content: &[u8]) -> Result<Vec<Item>, NoOutline> {
        let items = chronicle_outline::outline(path, content).map(|outline| outline.items);
        // What has no grammar is known by its name alone.
        if self.keeps_present && !matches!(items, Err(NoOutline::NoGrammar { .. })) {
            self.keep_outline(hash, &items);
        }
        items
    }

    /// A file that took all the time or memory there is would take it again.
    fn keep_outline(&self, hash: u128, outline: &Result<Vec<Item>, NoOutline>) {
        let refusal = match outline {
            Ok(items) => return self.keep_items(hash, items),
            Err(NoOutline::NoGrammar { language }) => StoredRefusal::NoGrammar(language),
            Err(NoOutline::TooDeep { language }) => StoredRefusal::TooDeep(language),
            Err(NoOutline::TimedOut { language }) => StoredRefusal::TimedOut(language),
            Err(NoOutline::TooCostly { language }) => StoredRefusal::TooCostly(language),
            Err(NoOutline::TooLarge { .. } | NoOutline::NotStarted { .. }) => return,
        };
        self.keep(hash, &Err(refusal));
    }

    fn keep_items(&self, hash: u128, items: &[Item]) {
        let lines = items.iter().flat_map(|item| [item.lines.start, item.lines.end]);
        let lines: Vec<u8> = lines.flat_map(u32::to_le_bytes).collect();
        let mut rows = RowsWriter::default();
        if items.iter().try_for_each(|item| rows.add(&stored(item))).is_ok() {
            self.keep(hash, &Ok(StoredItems { lines: &lines, items: rows.rows() }));
        }
    }

    fn keep(&self, hash: u128, outline: &Stored<'_>) {
        if let Ok(bytes) = postcard::to_allocvec(outline) {
            self.kept.put(hash, &bytes);
        }
    }
}

impl StoredRefusal<'_> {
    fn reason(self) -> Option<NoOutline> {
        Some(match self {
            Self::NoGrammar(language) => NoOutline::NoGrammar { language: language.to_owned() },
            Self::TooDeep(name) => NoOutline::TooDeep { language: language(name)? },
            Self::TimedOut(name) => NoOutline::TimedOut { language: language(name)? },
            Self::TooCostly(name) => NoOutline::TooCostly { language: language(name)? },
        })
    }
}

/// The language that we call so.
fn language(name: &str) -> Option<&'static str> {
    Language::all().map(Language::name).find(|known| *known == name)
}

/// Those of the items in `bytes` that have `wanted` lines.
fn parsed(bytes: &[u8], wanted: impl Fn(LineRange) -> bool) -> Option<Result<Vec<Item>, NoOutline>> {
    let items = match postcard::from_bytes::<Stored<'_>>(bytes).ok()? {
        Ok(items) => items,
        Err(refusal) => return refusal.reason().map(Err),
    };
    let numbers = items.lines.as_chunks::<4>().0.as_chunks::<2>().0.iter();
    let lines = numbers.map(|pair| {
        let [start, end] = pair.map(u32::from_le_bytes);
        LineRange::new(start, end).ok()
    });
    let wanted = lines.enumerate().filter(|(_, lines)| lines.is_none_or(&wanted));
    let parsed = wanted.map(|(number, lines)| item(&items.items.parsed(number)?, lines?));
    parsed.collect::<Option<_>>().map(Ok)
}

/// Changes with [`Stored`].
const FORM: &[u8] = b"\0\x05";

/// What the outline of the file at `path` is kept under: the name decides which language it is, the rules decide what
/// an item is.
fn key(path: &str, content_hash: u128) -> u128 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let rules = chronicle_outline::OUTLINE_VERSION.to_le_bytes();
    let n_kinds = ItemKind::ALL.len().to_le_bytes();
    let content_hash = content_hash.to_le_bytes();
    XxHash3_128::oneshot(&[name.as_bytes(), FORM, &n_kinds, &rules, &content_hash].concat())
}

fn stored(item: &Item) -> StoredItem<'_> {
    StoredItem {
        kind: item.kind as u32,
        name: &item.name,
        qualified: &item.qualified,
        signature: &item.signature,
        name_line: item.name_line,
    }
}

fn item(stored: &StoredItem<'_>, lines: LineRange) -> Option<Item> {
    Some(Item {
        kind: *ItemKind::ALL.get(stored.kind as usize)?,
        name: stored.name.to_owned(),
        qualified: stored.qualified.to_owned(),
        signature: stored.signature.to_owned(),
        lines,
        name_line: stored.name_line,
    })
}
