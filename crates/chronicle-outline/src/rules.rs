//! Reads what an item is in a language from the language's file under `queries/`.
//!
//! A line names a kind of node, the kind of item it makes, and options:
//!
//! ```text
//! function_item  function  name=name
//! impl_item      impl      name=type
//! ```
//!
//! | option | meaning |
//! |---|---|
//! | `name=PATH` | where the name is; required |
//! | `each` | all nodes that the last step of the name leads to name an item each |
//! | `owner=PATH` | the type that it belongs to is written there |
//! | `body=PATH` | the signature ends there; field `body` without it |
//! | `if=PATH`, `unless=PATH` | only where the path leads somewhere, or nowhere |
//! | `in=KIND,…` | only as a child of such nodes |
//! | `top` | not inside functions |
//! | `alone` | what is inside does not belong to it |
//! | `whole` | not where the parser had to make up its end |
//! | `rest` | what follows it, up to the end of its parent, is inside it |
//! | `level=N` | a heading: reaches to the next of this level or above |
//! | `sep=TEXT` | stands between its owner's name and its own |
//! | `prefix=TEXT` | put before its name, with a space between words |
//!
//! A path is steps with dots between them, and `|` between alternatives. A step is a field,
//! `:kind` for the first child of that kind, `field:kind` for both, `<kind` for a child of
//! that kind before the field `name` or `declarator`, `field*` to follow a field as long as
//! there is one, or `"text"` for a name that is written nowhere. A kind after a single quote
//! is a keyword: `:'val` is the word `val`; the kind `ERROR` is what the parser skipped.
//!
//! Lines that begin with a lower-case word and a colon say something of the language:
//! `separator:`, `split:` (what joins the parts of a written name), `drop:` (parts that mean
//! nothing), `attach:` (comments and attributes, which belong to what follows them), `wrap:`
//! (nodes that belong to the item in them), `wrap_line:` (the same if they begin on its
//! line), `through:` (nodes whose children count as those of the node that they are in), and
//! `skip:` (nodes that hold no items).

use std::num::NonZeroU16;

use chronicle_core::outline::ItemKind;
use tree_sitter::{Language, Node};

/// No chain of declarators is longer than this in code that people write.
const MAX_CHAIN: usize = 64;

/// What the file of one language says.
#[derive(Default)]
pub(crate) struct Rules {
    /// Stands between the parts of a qualified name.
    pub(crate) separator: &'static str,
    /// Stands between the parts of a name as it is written, where names have parts.
    pub(crate) split: Option<&'static str>,
    /// Parts of written names that mean nothing.
    pub(crate) dropped: Vec<&'static str>,
    classes: Vec<Class>,
    /// Names that the grammar does not know; a test keeps this empty.
    pub(crate) unknown: Vec<String>,
}

/// What is known of one kind of node.
#[derive(Default)]
pub(crate) struct Class {
    pub(crate) attaches: bool,
    pub(crate) wraps: bool,
    pub(crate) wraps_line: bool,
    pub(crate) is_seen_through: bool,
    pub(crate) is_skipped: bool,
    pub(crate) rules: Vec<Rule>,
}

/// One line of a language's file.
pub(crate) struct Rule {
    pub(crate) kind: ItemKind,
    pub(crate) name: Path,
    pub(crate) owner: Option<Path>,
    pub(crate) body: Option<Path>,
    pub(crate) separator: Option<&'static str>,
    pub(crate) prefix: &'static str,
    pub(crate) level: u8,
    pub(crate) is_each: bool,
    pub(crate) is_top: bool,
    pub(crate) holds_rest: bool,
    pub(crate) is_alone: bool,
    is_whole: bool,
    conditions: Vec<(Path, bool)>,
    parents: Vec<u16>,
}

/// A way from a node to another; the first alternative that leads somewhere counts.
pub(crate) struct Path(Vec<Vec<Step>>);

enum Step {
    Text(&'static str),
    To { field: Option<NonZeroU16>, kind: Option<u16> },
    BeforeName(u16),
    Along(NonZeroU16),
}

/// Where a path leads.
pub(crate) enum Found<'tree> {
    Node(Node<'tree>),
    Text(&'static str),
}

impl Rules {
    /// Reads `text`; what the grammar does not know is left out and listed.
    pub(crate) fn read(text: &'static str, grammar: &Language) -> Self {
        let mut rules = Self { separator: ".", ..Self::default() };
        rules.classes.resize_with(grammar.node_kind_count() + 1, Class::default);
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines {
            let mut reader = Reader { grammar, unknown: Vec::new() };
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            match first.strip_suffix(':') {
                Some(setting) => rules.set(setting, words, &mut reader),
                None => rules.add(first, words, &mut reader),
            }
            rules.unknown.append(&mut reader.unknown);
        }
        rules
    }

    pub(crate) fn class(&self, kind: u16) -> &Class {
        // The last class is empty; it stands for error nodes, whose number is beyond the grammar's.
        self.classes.get(usize::from(kind)).unwrap_or(&self.classes[self.classes.len() - 1])
    }

    /// How many lines make items.
    pub(crate) fn len(&self) -> usize {
        self.classes.iter().map(|class| class.rules.len()).sum()
    }

    fn set(&mut self, setting: &str, words: impl Iterator<Item = &'static str>, reader: &mut Reader<'_>) {
        let mark: fn(&mut Class) = match setting {
            "attach" => |class| class.attaches = true,
            "wrap" => |class| class.wraps = true,
            "wrap_line" => |class| class.wraps_line = true,
            "through" => |class| class.is_seen_through = true,
            "skip" => |class| class.is_skipped = true,
            _ => return self.set_words(setting, words, reader),
        };
        for id in words.filter_map(|word| reader.kind(word)) {
            mark(&mut self.classes[usize::from(id)]);
        }
    }

    fn set_words(
        &mut self,
        setting: &str,
        mut words: impl Iterator<Item = &'static str>,
        reader: &mut Reader<'_>,
    ) {
        match setting {
            "separator" => self.separator = words.next().unwrap_or("."),
            "split" => self.split = words.next(),
            "drop" => self.dropped = words.collect(),
            other => reader.unknown.push(format!("{other}:")),
        }
    }

    fn add(&mut self, node: &str, words: impl Iterator<Item = &'static str>, reader: &mut Reader<'_>) {
        let rule = Rule::read(words, reader);
        if let (Some(id), Some(rule)) = (reader.kind(node), rule) {
            self.classes[usize::from(id)].rules.push(rule);
        }
    }
}

impl Rule {
    fn read(mut words: impl Iterator<Item = &'static str>, reader: &mut Reader<'_>) -> Option<Self> {
        let kind = words.next()?;
        let Ok(kind) = kind.parse() else {
            reader.unknown.push(kind.to_owned());
            return None;
        };
        let mut rule = Self {
            kind,
            name: Path(Vec::new()),
            owner: None,
            body: None,
            separator: None,
            prefix: "",
            level: 0,
            is_each: false,
            is_top: false,
            holds_rest: false,
            is_alone: false,
            is_whole: false,
            conditions: Vec::new(),
            parents: Vec::new(),
        };
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("name", path) => rule.name = reader.path(path),
                ("owner", path) => rule.owner = Some(reader.path(path)),
                ("body", path) => rule.body = Some(reader.path(path)),
                ("if", path) => rule.conditions.push((reader.path(path), true)),
                ("unless", path) => rule.conditions.push((reader.path(path), false)),
                ("in", kinds) => {
                    rule.parents.extend(kinds.split(',').filter_map(|kind| reader.kind(kind)));
                }
                ("sep", text) => rule.separator = Some(text),
                ("prefix", text) => rule.prefix = text,
                ("level", number) => rule.level = number.parse().unwrap_or(0),
                ("each", _) => rule.is_each = true,
                ("top", _) => rule.is_top = true,
                ("alone", _) => rule.is_alone = true,
                ("whole", _) => rule.is_whole = true,
                ("rest", _) => rule.holds_rest = true,
                _ => reader.unknown.push(word.to_owned()),
            }
        }
        Some(rule)
    }

    /// Whether `node`, a child of a node of kind `parent`, is such an item.
    pub(crate) fn applies(&self, node: Node<'_>, parent: u16) -> bool {
        (self.parents.is_empty() || self.parents.contains(&parent))
            && !(self.is_whole && ends_made_up(node))
            && self.conditions.iter().all(|(path, wanted)| path.find(node).is_some() == *wanted)
    }
}

/// Whether the last token of `node` is not there.
fn ends_made_up(node: Node<'_>) -> bool {
    let last = node.child_count().checked_sub(1).and_then(|last| node.child(last));
    last.is_some_and(|last| last.is_missing())
}

/// The kind of nodes that hold what the parser skipped.
const ERROR: u16 = u16::MAX;

/// Looks names up in a grammar, and remembers those that are not there.
struct Reader<'a> {
    grammar: &'a Language,
    unknown: Vec<String>,
}

impl Reader<'_> {
    fn kind(&mut self, name: &str) -> Option<u16> {
        // An anonymous node is written in quotes: it is a keyword.
        let id = match name.strip_prefix('\'') {
            Some(word) => self.grammar.id_for_node_kind(word.trim_end_matches('\''), false),
            None => self.grammar.id_for_node_kind(name, true),
        };
        let is_known = id != 0 && usize::from(id) < self.grammar.node_kind_count();
        if !is_known {
            self.unknown.push(name.to_owned());
        }
        is_known.then_some(id)
    }

    /// The kind that a step leads to, which may be what the parser skipped.
    fn kind_on_path(&mut self, name: &str) -> Option<u16> {
        if name == "ERROR" { Some(ERROR) } else { self.kind(name) }
    }

    fn field(&mut self, name: &str) -> Option<NonZeroU16> {
        let id = self.grammar.field_id_for_name(name);
        if id.is_none() {
            self.unknown.push(name.to_owned());
        }
        id
    }

    /// An alternative with an unknown step in it leads nowhere, so it is left out.
    fn path(&mut self, text: &'static str) -> Path {
        let alternatives = text.split('|');
        Path(
            alternatives
                .filter_map(|steps| match steps.strip_prefix('"') {
                    Some(literal) => Some(vec![Step::Text(literal.trim_end_matches('"'))]),
                    None => steps.split('.').map(|step| self.step(step)).collect(),
                })
                .collect(),
        )
    }

    fn step(&mut self, text: &'static str) -> Option<Step> {
        if let Some(field) = text.strip_suffix('*') {
            return self.field(field).map(Step::Along);
        }
        if let Some(kind) = text.strip_prefix('<') {
            return self.kind_on_path(kind).map(Step::BeforeName);
        }
        let (field, kind) = text.split_once(':').map_or((text, None), |(field, kind)| (field, Some(kind)));
        let field = if field.is_empty() { None } else { Some(self.field(field)?) };
        let kind = match kind {
            Some(kind) => Some(self.kind_on_path(kind)?),
            None => None,
        };
        Some(Step::To { field, kind })
    }
}

impl Path {
    /// Where the path leads from `node`, if anywhere.
    pub(crate) fn find<'tree>(&self, node: Node<'tree>) -> Option<Found<'tree>> {
        self.find_all(node, false).into_iter().next()
    }

    /// Every end that the path leads to; only one unless `is_each`.
    pub(crate) fn find_all<'tree>(&self, node: Node<'tree>, is_each: bool) -> Vec<Found<'tree>> {
        let found = |steps: &Vec<Step>| {
            let (last, before) = steps.split_last()?;
            let from = before.iter().try_fold(node, |at, step| match step.find(at)? {
                Found::Node(next) => Some(next),
                Found::Text(_) => None,
            })?;
            let ends = match last {
                Step::To { field: Some(field), kind: None } if is_each => {
                    let mut cursor = from.walk();
                    let ends = from.children_by_field_id(*field, &mut cursor);
                    ends.filter(Node::is_named).map(Found::Node).collect()
                }
                step => vec![step.find(from)?],
            };
            Some(ends).filter(|ends: &Vec<_>| !ends.is_empty())
        };
        self.0.iter().find_map(found).unwrap_or_default()
    }
}

impl Step {
    fn find<'tree>(&self, node: Node<'tree>) -> Option<Found<'tree>> {
        match self {
            Self::Text(text) => Some(Found::Text(text)),
            Self::To { field: Some(field), kind: None } => {
                node.child_by_field_id(field.get()).map(Found::Node)
            }
            Self::To { field, kind } => {
                let mut cursor = node.walk();
                let mut more = cursor.goto_first_child();
                while more {
                    let is_field = field.is_none_or(|field| cursor.field_id() == Some(field));
                    if is_field && kind.is_none_or(|kind| cursor.node().kind_id() == kind) {
                        return Some(Found::Node(cursor.node()));
                    }
                    more = cursor.goto_next_sibling();
                }
                None
            }
            Self::BeforeName(kind) => {
                let name =
                    ["name", "declarator"].into_iter().find_map(|field| node.child_by_field_name(field));
                let name = name?.start_byte();
                let mut cursor = node.walk();
                let mut before = node.children(&mut cursor).take_while(|child| child.start_byte() < name);
                before.find(|child| child.kind_id() == *kind).map(Found::Node)
            }
            Self::Along(field) => {
                let next = |at: &Node<'tree>| {
                    let by_field = at.child_by_field_id(field.get());
                    let inside = || {
                        let last = u32::try_from(at.named_child_count()).unwrap_or(0).checked_sub(1)?;
                        at.kind().ends_with("_declarator").then(|| at.named_child(last)).flatten()
                    };
                    by_field.or_else(inside).filter(|next| !next.kind().starts_with("abstract_"))
                };
                let first = next(&node)?;
                std::iter::successors(Some(first), next).take(MAX_CHAIN).last().map(Found::Node)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Language;

    #[test]
    fn every_word_of_every_file_is_known() {
        for language in Language::all() {
            assert_eq!(language.rules().unknown, Vec::<String>::new(), "{language:?}");
        }
    }
}
