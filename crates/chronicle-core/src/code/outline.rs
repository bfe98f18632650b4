//! The named items of one file version, and which of them an anchor names.
//!
//! Anchors are written by people and by models, in the habit of any language and
//! sometimes of none, so `Pool::acquire`, `Pool.acquire`, `Pool#acquire` and
//! `(*Pool).Acquire` are read alike. What matches is decided here, without a parser:
//! an outline may as well come from a cache.

use std::{fmt, str::FromStr};

use snafu::Snafu;

use crate::{LineRange, text::distance};

/// How many names are offered when an anchor names nothing.
const MAX_CLOSEST: usize = 5;
/// Longer than this is no name; anchors come from notes, and notes from anyone.
const MAX_NAME: usize = 512;
/// Farther apart than this, two names are two things.
const MAX_TYPOS: usize = 3;

/// One named item of a file: a function, a type, a heading, a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its own name, such as `acquire`.
    pub name: String,
    /// Its name among the others, in the language's habit, such as `Pool::acquire`.
    pub qualified: String,
    /// How it is declared: one line, up to the body, cut when long.
    pub signature: String,
    /// All its lines, with the comment, attributes and decorators that belong to it.
    pub lines: LineRange,
    /// The line that holds its name.
    pub name_line: u32,
}

macro_rules! item_kinds {
    ($($(#[$doc:meta])* $variant:ident => $word:literal,)+) => {
        /// What an item is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ItemKind { $($(#[$doc])* $variant,)+ }

        impl ItemKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word for it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

item_kinds! {
    /// A function that belongs to no type.
    Function => "function",
    /// A function of a type or object.
    Method => "method",
    /// What makes a value of a type.
    Constructor => "constructor",
    /// A function that is declared here and defined elsewhere.
    Prototype => "prototype",
    /// A class.
    Class => "class",
    /// A struct or record.
    Struct => "struct",
    /// A union.
    Union => "union",
    /// An enumeration.
    Enum => "enum",
    /// A trait.
    Trait => "trait",
    /// An interface or protocol.
    Interface => "interface",
    /// Methods given to a type beside its definition.
    Impl => "impl",
    /// Methods added to somebody else's type.
    Extension => "extension",
    /// A single object, or the companion of a class.
    Object => "object",
    /// A module or namespace.
    Module => "module",
    /// A constant.
    Const => "const",
    /// A variable that lives as long as the program.
    Variable => "variable",
    /// A member that is read like a variable.
    Property => "property",
    /// Another name for a type.
    Type => "type",
    /// A macro.
    Macro => "macro",
    /// The type of an annotation.
    Annotation => "annotation",
    /// A stanza of a configuration file.
    Table => "table",
    /// A key of a configuration file.
    Field => "field",
    /// A heading with its text.
    Heading => "heading",
}

/// A word that is no kind of item.
#[derive(Debug, Clone, PartialEq, Eq, Snafu)]
#[snafu(display("`{word}` isn't a kind of item"))]
pub struct UnknownItemKind {
    /// What was given.
    pub word: String,
}

impl ItemKind {
    /// Whether functions inside belong to it, and are methods.
    #[must_use]
    pub fn is_type(self) -> bool {
        use ItemKind::{Annotation, Class, Enum, Extension, Impl, Interface, Object, Struct, Trait, Union};
        matches!(
            self,
            Class | Struct | Union | Enum | Trait | Interface | Impl | Extension | Object | Annotation
        )
    }

    /// Whether what is inside runs when it is called, and is nobody else's business.
    #[must_use]
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Constructor)
    }

    /// Whether it says more about something that is defined in another place.
    #[must_use]
    pub fn is_secondary(self) -> bool {
        matches!(self, Self::Prototype | Self::Impl | Self::Extension)
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ItemKind {
    type Err = UnknownItemKind;

    fn from_str(word: &str) -> Result<Self, UnknownItemKind> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == word);
        known.copied().ok_or_else(|| UnknownItemKind { word: word.to_owned() })
    }
}

/// What an anchor names in an outline. Items keep the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution<'a> {
    /// Items whose qualified name, or the end of it, is the anchor.
    Qualified(Vec<&'a Item>),
    /// Items with that name under some owner.
    Unqualified(Vec<&'a Item>),
    /// Items with nearly that name; the reader should be told which were taken.
    Fuzzy(Vec<&'a Item>),
    /// Nothing; these names come closest.
    Unknown(Vec<&'a str>),
}

impl<'a> Resolution<'a> {
    /// The items found, in file order.
    #[must_use]
    pub fn items(&self) -> &[&'a Item] {
        match self {
            Self::Qualified(items) | Self::Unqualified(items) | Self::Fuzzy(items) => items,
            Self::Unknown(_) => &[],
        }
    }

    /// Whether the anchor could mean several items; all of them are returned.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        1 < self.items().len()
    }

    /// The qualified names of the items found, each once.
    #[must_use]
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.items().iter().map(|item| item.qualified.as_str()).collect();
        names.dedup();
        names
    }
}

/// Finds the items of `items` that `anchor` names.
///
/// A qualified name matches itself and, failing that, as the end of a longer one; a bare
/// name matches under any owner. Where a definition is found, prototypes and `impl` blocks
/// of the same name are left out. Nothing coming back is no error: code gets renamed after
/// notes are written.
#[must_use]
pub fn resolve<'a>(items: &'a [Item], anchor: &str) -> Resolution<'a> {
    let anchor = anchor.trim();
    if anchor.is_empty() {
        return Resolution::Unknown(Vec::new());
    }
    let wanted = Path::of(anchor);
    match bearers(items, anchor, &wanted) {
        Bearers { qualified, .. } if !qualified.is_empty() => Resolution::Qualified(qualified),
        Bearers { unqualified, .. } if !unqualified.is_empty() => Resolution::Unqualified(unqualified),
        _ => fuzzy(items, &wanted),
    }
}

/// The items that `anchor` names for sure, as [`resolve`] finds them: none where that would have to guess.
#[must_use]
pub fn called<'a>(items: &'a [Item], anchor: &str) -> Vec<&'a Item> {
    let anchor = anchor.trim();
    if anchor.is_empty() {
        return Vec::new();
    }
    let Bearers { qualified, unqualified } = bearers(items, anchor, &Path::of(anchor));
    if qualified.is_empty() { unqualified } else { qualified }
}

/// The items that bear a name: wholly, or only at its end.
#[derive(Default)]
struct Bearers<'a> {
    qualified: Vec<&'a Item>,
    unqualified: Vec<&'a Item>,
}

fn bearers<'a>(items: &'a [Item], anchor: &str, wanted: &Path) -> Bearers<'a> {
    let exact = prefer_definitions(items.iter().filter(|item| item.qualified == anchor).collect());
    if !exact.is_empty() {
        return Bearers { qualified: exact, ..Bearers::default() };
    }
    // A name has to be looked at closely only where it may end as the anchor does.
    let end = memchr::memmem::Finder::new(wanted.last());
    let may_match = |item: &&Item| {
        end.find(item.qualified.as_bytes()).is_some() || item.name == anchor || item.signature == anchor
    };
    let near: Vec<(&Item, Path)> =
        items.iter().filter(may_match).map(|item| (item, Path::of(&item.qualified))).collect();
    let select = |is_match: &dyn Fn(&Item, &Path) -> bool| {
        let found = near.iter().filter(|(item, path)| is_match(item, path));
        prefer_definitions(found.map(|(item, _)| *item).collect())
    };
    for is_match in [
        &(|item: &Item, _: &Path| anchor.contains(' ') && item.signature == anchor)
            as &dyn Fn(&Item, &Path) -> bool,
        &|_, path| path == wanted,
        &|_, path| 1 < wanted.len() && path.ends_with(wanted),
        &|_, path| 1 < path.len() && wanted.ends_with(path),
    ] {
        let qualified = select(is_match);
        if !qualified.is_empty() {
            return Bearers { qualified, ..Bearers::default() };
        }
    }
    let is_match =
        |item: &Item, path: &Path| item.name == anchor || wanted.len() == 1 && path.ends_with(wanted);
    Bearers { unqualified: select(&is_match), ..Bearers::default() }
}

/// What belongs to the types among `found`, wherever the file has it: their methods and other members, and the blocks
/// that hold some of these. Many languages write methods outside of the type.
#[must_use]
pub fn members<'a>(items: &'a [Item], found: &[&Item]) -> Vec<&'a Item> {
    let owners: Vec<(Path, ItemKind)> =
        found.iter().map(|item| (Path::of(&item.qualified), item.kind)).collect();
    let belongs = |item: &&Item| {
        let path = Path::of(&item.qualified);
        owners.iter().any(|(owner, kind)| {
            let is_block = kind.is_type() && item.kind.is_type() && path == *owner;
            let is_below = owner.len() < path.len() && path.0.starts_with(&owner.0);
            // JavaScript's constructors are functions, which have methods all the same.
            let is_method_of_function = *kind == ItemKind::Function && item.kind == ItemKind::Method;
            is_block || is_below && (kind.is_type() || is_method_of_function)
        })
    };
    items.iter().filter(belongs).filter(|item| !found.contains(item)).collect()
}

/// Whether `anchor` may mean the code in `ranges` of the file with `items`.
///
/// What bears the name in the file is meant, and nothing that merely has a name with the same end. Where
/// nothing bears it, the code may be called otherwise by now, and nobody can tell.
#[must_use]
pub fn may_mean(items: &[Item], anchor: &str, ranges: &[LineRange]) -> bool {
    let bearers = called(items, anchor);
    if bearers.is_empty() {
        return true;
    }
    let members = members(items, &bearers);
    let mut all = bearers.iter().copied().chain(members);
    all.any(|item| ranges.iter().any(|range| range.overlaps(item.lines)))
}

/// The nearest items, when they are near enough to be the anchor with a slip in it.
fn fuzzy<'a>(items: &'a [Item], wanted: &Path) -> Resolution<'a> {
    let paths: Vec<Path> = items.iter().map(|item| Path::of(&item.qualified)).collect();
    let compared = |path: &Path| if wanted.len() == 1 { path.last().to_owned() } else { path.0.join(".") };
    let word = wanted.0.join(".");
    let limit = MAX_TYPOS.min(word.chars().count().saturating_sub(1) / 2);
    if MAX_NAME < word.len() {
        return Resolution::Unknown(Vec::new());
    }
    let distances: Vec<usize> = paths.iter().map(|path| distance::typos(&word, &compared(path))).collect();
    if let Some(least) = distances.iter().min().copied().filter(|least| *least <= limit) {
        let near = items.iter().zip(&distances).filter(|(_, distance)| **distance == least);
        return Resolution::Fuzzy(prefer_definitions(near.map(|(item, _)| item).collect()));
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_cached_key(|at| (paths[*at].last() != wanted.last(), distances[*at]));
    let mut closest: Vec<&str> = Vec::new();
    for at in order {
        let name = items[at].qualified.as_str();
        if closest.len() < MAX_CLOSEST && !closest.contains(&name) {
            closest.push(name);
        }
    }
    Resolution::Unknown(closest)
}

/// Drops prototypes and blocks beside the definition, where the definition itself is there.
fn prefer_definitions(mut found: Vec<&Item>) -> Vec<&Item> {
    if found.iter().any(|item| !item.kind.is_secondary()) {
        found.retain(|item| !item.kind.is_secondary());
    }
    found
}

/// A qualified name taken apart, whatever it was written with between its parts.
#[derive(PartialEq, Eq)]
struct Path(Vec<String>);

impl Path {
    /// Reads a qualified name, or what somebody wrote for one.
    ///
    /// Arguments, type arguments, receivers and the words before a name go:
    /// `pub fn (*Pool[T]).Acquire(wait)` is `Pool`, `Acquire`.
    fn of(text: &str) -> Self {
        if MAX_NAME < text.len() {
            return Self(vec![text.to_owned()]);
        }
        let bare = without_arguments(text);
        let words = bare.trim_matches(|c: char| c.is_whitespace() || "&*".contains(c));
        let is_declaration = words.split_whitespace().next().is_some_and(|word| KEYWORDS.contains(&word));
        let name = if is_declaration { words.rsplit(' ').next().unwrap_or(words) } else { words };
        let unified = name.replace("::", "\0").replace(" > ", "\0").replace(['#', '\\'], "\0");
        let parts = unified.split(['\0', '.']).map(str::trim).filter(|part| !part.is_empty());
        let parts = parts.skip_while(|part| ["crate", "self", "super"].contains(part));
        let parts: Vec<String> = parts.map(str::to_owned).collect();
        if parts.is_empty() { Self(vec![text.to_owned()]) } else { Self(parts) }
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    fn ends_with(&self, end: &Self) -> bool {
        self.0.ends_with(&end.0)
    }
}

/// Words that stand before a name where it is declared.
const KEYWORDS: [&str; 22] = [
    "pub",
    "fn",
    "async",
    "def",
    "func",
    "fun",
    "function",
    "class",
    "struct",
    "trait",
    "interface",
    "enum",
    "type",
    "const",
    "static",
    "mod",
    "module",
    "export",
    "public",
    "private",
    "method",
    "macro_rules!",
];

/// `text` without what stands in brackets, except a receiver, of which the brackets go.
///
/// A bracket that is not closed belongs to the name: `operator<`, `[]`.
fn without_arguments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let closer = match c {
            '<' => Some('>'),
            '[' => Some(']'),
            '(' => Some(')'),
            _ => None,
        };
        let inside =
            closer.filter(|_| !kept.is_empty() || c == '(').and_then(|closer| balanced(rest, c, closer));
        match inside {
            Some(inside) => {
                let is_receiver = c == '(' && kept.trim().is_empty();
                if is_receiver {
                    let receiver = without_arguments(inside);
                    kept.push_str(receiver.rsplit([' ', '*', '&']).next().unwrap_or_default());
                }
                rest = &rest[inside.len() + 2..];
            }
            None => {
                kept.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    kept
}

/// What stands between the bracket that `text` begins with and the one that closes it.
fn balanced(text: &str, opener: char, closer: char) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == opener {
            depth += 1;
        } else if c == closer {
            depth -= 1;
            if depth == 0 {
                return Some(&text[1..at]).filter(|inside| !inside.is_empty() || opener == '(');
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: ItemKind, qualified: &str, line: u32) -> Item {
        let name = qualified.rsplit(['.', ':', '#']).next().unwrap_or(qualified);
        Item {
            kind,
            name: name.to_owned(),
            qualified: qualified.to_owned(),
            signature: format!("fn {name}()"),
            lines: LineRange { start: line, end: line },
            name_line: line,
        }
    }

    fn outline() -> Vec<Item> {
        use ItemKind::{Class, Const, Enum, Function, Heading, Impl, Method, Prototype, Struct};
        let names = [
            (Struct, "Pool"),
            (Impl, "Pool"),
            (Method, "Pool::acquire"),
            (Method, "db::Source::next"),
            (Method, "Reader.next"),
            (Function, "open"),
            (Method, "Cache::open"),
            (Prototype, "drain"),
            (Function, "drain"),
            (Class, "Queue"),
            (Method, "Queue#push"),
            (Method, "Queue#push"),
            (Heading, "Pool > Error handling"),
            (Method, "Pool::operator<"),
            (Const, "MAX"),
            (Enum, "reconnect_policy"),
        ];
        (1..).zip(names).map(|(line, (kind, name))| item(kind, name, line)).collect()
    }

    /// The answer as `how: lines`, or the names that come closest.
    fn check(anchor: &str, expected: &str) {
        let items = outline();
        let resolution = resolve(&items, anchor);
        let how = match &resolution {
            Resolution::Qualified(_) => "qualified",
            Resolution::Unqualified(_) => "unqualified",
            Resolution::Fuzzy(_) => "fuzzy",
            Resolution::Unknown(closest) => {
                assert!(closest.len() <= MAX_CLOSEST, "{anchor}");
                return assert_eq!(
                    format!("closest {}", closest.first().unwrap_or(&"-")),
                    expected,
                    "{anchor}"
                );
            }
        };
        let lines: Vec<String> = resolution.items().iter().map(|item| item.name_line.to_string()).collect();
        assert_eq!(format!("{how} {}", lines.join(" ")), expected, "{anchor}");
        assert_eq!(resolution.is_ambiguous(), 1 < lines.len(), "{anchor}");
    }

    #[test]
    fn a_qualified_name_is_read_in_every_habit() {
        for anchor in [
            "Pool::acquire",
            "Pool.acquire",
            "Pool#acquire",
            "(*Pool).acquire",
            "(p *Pool[T]).acquire",
            "Pool<T>::acquire",
            "Pool::acquire()",
            "Pool::acquire(&self, wait: bool)",
            "fn Pool::acquire",
            " Pool::acquire ",
            "crate::Pool::acquire",
            "Pool::acquire::<u8>",
        ] {
            check(anchor, "qualified 3");
        }
        check("Pool::operator<", "qualified 14");
        check("fn acquire()", "qualified 3");
    }

    #[test]
    fn the_end_of_a_qualified_name_is_enough() {
        check("Source::next", "qualified 4");
        check("other::db::Source::next", "qualified 4");
        check("Error handling", "unqualified 13");
        check("Pool > Error handling", "qualified 13");
    }

    #[test]
    fn a_bare_name_matches_under_any_owner() {
        check("next", "unqualified 4 5");
        check("acquire", "unqualified 3");
        check("push", "unqualified 11 12");
        check("open", "qualified 6");
        check("Queue.push", "qualified 11 12");
    }

    #[test]
    fn definitions_are_preferred() {
        check("Pool", "qualified 1");
        check("drain", "qualified 9");
    }

    #[test]
    fn members_of_a_type_may_be_anywhere() {
        use ItemKind::{Class, Extension, Function, Impl, Method, Module, Struct};
        let check = |anchor: &str, expected: &[u32]| {
            let names = [
                (Struct, "Pool"),
                (Impl, "Pool"),
                (Method, "Pool::acquire"),
                (Module, "inner"),
                (Struct, "inner::Pool"),
                (Method, "inner::Pool::acquire"),
                (Struct, "Pooled"),
                (Method, "Pooled::acquire"),
                (Class, "Queue"),
                (Extension, "Queue"),
                (Method, "Queue#push"),
                (Method, "Queue.pop"),
                (Function, "Old"),
                (Method, "Old.prototype"),
                (Function, "open"),
            ];
            let items: Vec<Item> =
                (1..).zip(names).map(|(line, (kind, name))| item(kind, name, line)).collect();
            let found = resolve(&items, anchor);
            let lines: Vec<u32> = members(&items, found.items()).iter().map(|item| item.name_line).collect();
            assert_eq!(lines, expected, "{anchor}");
        };
        check("Pool", &[2, 3]);
        check("inner::Pool", &[6]);
        check("Queue", &[10, 11, 12]);
        check("Old", &[14]);
        check("open", &[]);
        check("inner", &[]);
        check("Pool::acquire", &[]);
    }

    #[test]
    fn a_slip_is_forgiven_but_not_another_name() {
        check("aquire", "fuzzy 3");
        check("Pool::aquire", "fuzzy 3");
        check("reconect_polcy", "fuzzy 16");
        check("nexd", "fuzzy 4 5");
        check("MIN", "closest MAX");
        check("Stack::push", "closest Queue#push");
        check("", "closest -");
    }

    #[test]
    fn odd_anchors_name_nothing() {
        for anchor in ["::", "((((", "<>", "é<é", "()", "\u{0}", "> > >", "[[]]", "a(b"] {
            let items = outline();
            assert!(resolve(&items, anchor).items().is_empty(), "{anchor}");
        }
    }

    #[test]
    fn kinds_are_words() {
        for kind in ItemKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        assert!("thing".parse::<ItemKind>().is_err());
    }
}
