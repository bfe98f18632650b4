//! Walks a syntax tree once and collects the items.
//!
//! The walk keeps a stack of its own, because the depth of a tree is chosen by whoever
//! wrote the file.

use std::time::Instant;

use chronicle_core::{
    LineRange,
    outline::{Item, ItemKind},
};
use tree_sitter::{Node, Tree, TreeCursor};

use crate::{
    MAX_DEPTH, MAX_ITEMS, MAX_NAME_BYTES, names,
    rules::{Class, Found, Rule, Rules},
};

/// A qualified name that is this long gets no longer.
const MAX_QUALIFIED_BYTES: usize = 4 * MAX_NAME_BYTES;
/// No declaration that can be read goes on for longer.
const MAX_DECLARATION_BYTES: usize = 4096;

/// After so many nodes the time is looked at.
const LOOK: usize = 1024;

/// What a walk found.
pub(crate) struct Walked {
    pub(crate) items: Vec<Item>,
    /// Whether a limit cut it short.
    pub(crate) is_cut: bool,
}

/// Collects the items of `tree`; none when time runs out.
pub(crate) fn walk(tree: &Tree, text: &[u8], rules: &Rules, deadline: Instant) -> Option<Walked> {
    let mut walk =
        Walk { text, rules, items: Vec::new(), levels: Vec::new(), owners: Vec::new(), is_cut: false };
    let mut cursor = tree.walk();
    let mut parents = vec![Parent::root(tree.root_node())];
    if !cursor.goto_first_child() {
        return Some(Walked { items: Vec::new(), is_cut: false });
    }
    let mut n_seen = 0_usize;
    while let Some(parent) = parents.last_mut() {
        n_seen += 1;
        if n_seen.is_multiple_of(LOOK) && deadline <= Instant::now() {
            return None;
        }
        let node = cursor.node();
        let class = rules.class(node.kind_id());
        let seen = walk.visit(node, class, parent);
        if MAX_ITEMS < walk.items.len() {
            walk.is_cut = true;
            break;
        }
        let is_open = !class.is_skipped && !class.attaches;
        if is_open && MAX_DEPTH <= parents.len() {
            walk.is_cut |= 0 < node.named_child_count();
        } else if is_open && cursor.goto_first_child() {
            parents.push(seen);
            continue;
        }
        leave(&mut cursor, &mut parents);
    }
    Some(walk.finish())
}

/// Goes on to the next node that was not seen yet; no parents are left at the end.
fn leave(cursor: &mut TreeCursor<'_>, parents: &mut Vec<Parent<'_>>) {
    while !cursor.goto_next_sibling() {
        parents.pop();
        if parents.is_empty() || !cursor.goto_parent() {
            parents.clear();
            return;
        }
    }
}

/// A node whose children are being walked.
struct Parent<'tree> {
    node: Node<'tree>,
    /// Its kind, or that of what it is in, where it is seen through.
    kind: u16,
    /// The first row that belongs to it, comments included.
    first_row: usize,
    /// The outermost of the wrappers around it, which its declaration begins with.
    outer: Node<'tree>,
    wraps: bool,
    wraps_line: bool,
    n_items: usize,
    /// Rows of the comments and attributes seen last, which may belong to what comes next.
    attached: Option<(usize, usize)>,
    /// The row on which the last child ended: a comment there belongs to that child.
    last_row: Option<usize>,
}

impl<'tree> Parent<'tree> {
    fn root(node: Node<'tree>) -> Self {
        Self {
            node,
            kind: node.kind_id(),
            // Comments at the top of the file belong to the file.
            first_row: usize::MAX,
            outer: node,
            wraps: false,
            wraps_line: false,
            n_items: 0,
            attached: None,
            last_row: None,
        }
    }
}

/// An item that later nodes may be inside of.
struct Owner {
    end: usize,
    qualified: String,
    kind: ItemKind,
    holds_rest: bool,
}

struct Walk<'a> {
    text: &'a [u8],
    rules: &'a Rules,
    items: Vec<Item>,
    /// The level of each item; 0 for all but headings.
    levels: Vec<u8>,
    owners: Vec<Owner>,
    is_cut: bool,
}

impl Walk<'_> {
    /// Takes the items that `node` makes, and gives what its children need to know.
    fn visit<'tree>(
        &mut self,
        node: Node<'tree>,
        class: &Class,
        parent: &mut Parent<'tree>,
    ) -> Parent<'tree> {
        let row = node.start_position().row;
        let last_row = last_row(node, self.text);
        let mut seen =
            Parent { first_row: row, wraps: class.wraps, wraps_line: class.wraps_line, ..Parent::root(node) };
        if class.is_seen_through {
            seen.kind = parent.kind;
        }
        if class.attaches {
            let continues = parent.attached.filter(|(_, end)| row <= end + 1);
            let trails = parent.last_row == Some(row) || row == 0 && self.text.starts_with(b"#!");
            parent.attached = match continues {
                Some((first, _)) => Some((first, last_row)),
                None => (!trails).then_some((row, last_row)),
            };
            return seen;
        }
        if !node.is_named() {
            parent.last_row = Some(last_row);
            return seen;
        }
        if let Some((first, _)) = parent.attached.take().filter(|(_, end)| row <= end + 1) {
            seen.first_row = first;
        }
        if node.start_byte() == parent.node.start_byte() {
            seen.first_row = seen.first_row.min(parent.first_row);
        }
        let on_its_line = parent.wraps_line && parent.node.start_position().row == row;
        if parent.n_items == 0 && parent.wraps || on_its_line {
            seen.first_row = seen.first_row.min(parent.first_row);
            seen.outer = parent.outer;
        }
        parent.last_row = Some(last_row);
        while self.owners.last().is_some_and(|owner| owner.end <= node.start_byte()) {
            self.owners.pop();
        }
        if let Some(rule) = class.rules.iter().find(|rule| self.applies(rule, node, parent.kind)) {
            let n_before = self.items.len();
            self.take(rule, node, parent.node, &seen);
            parent.n_items += self.items.len() - n_before;
        }
        seen
    }

    fn applies(&self, rule: &Rule, node: Node<'_>, parent: u16) -> bool {
        let is_inside = || self.owners.iter().any(|owner| owner.kind.is_callable());
        rule.applies(node, parent) && !(rule.is_top && is_inside())
    }

    /// Adds the items that `rule` makes of `node`; the last of them owns what is inside.
    fn take(&mut self, rule: &Rule, node: Node<'_>, parent: Node<'_>, seen: &Parent<'_>) {
        let mut owned = None;
        for found in rule.name.find_all(node, rule.is_each) {
            let declared = declaration_start(seen.outer, self.rules);
            let (written, name_row) = match found {
                Found::Node(at) => (&self.text[at.byte_range()], at.start_position().row),
                Found::Text(text) => (text.as_bytes(), declared.1),
            };
            // What stands for a receiver is no name: `impl Trait for [T]` keeps its brackets.
            let Some(mut name) = names::name(written, self.rules) else { continue };
            if matches!(rule.kind, ItemKind::Impl | ItemKind::Extension) {
                let full = names::type_name(written);
                name = names::name(full.as_bytes(), self.rules).unwrap_or(name);
            }
            name.own = names::prefixed(rule.prefix, &name.own);
            if let Some(Found::Node(owner)) = rule.owner.as_ref().and_then(|path| path.find(node)) {
                name.owner = names::type_name(&self.text[owner.byte_range()]);
            }
            let kind = self.kind_of(rule, &name);
            let qualified = self.qualified(rule, &name);
            let first = seen.first_row.min(name_row);
            let lines =
                LineRange::from_zero_based(first, last_row(node, self.text).max(name_row) + 1 - first);
            self.items.push(Item {
                kind,
                signature: self.signature(rule, node, declared.0),
                name: name.own,
                lines,
                name_line: LineRange::from_zero_based(name_row, 1).start,
                qualified: qualified.clone(),
            });
            self.levels.push(rule.level);
            owned = Some((qualified, kind));
        }
        if let Some((qualified, kind)) = owned.filter(|_| !rule.is_alone) {
            self.own(rule, node, parent, qualified, kind);
        }
    }

    /// A function that a type owns is a method.
    fn kind_of(&self, rule: &Rule, name: &names::Name) -> ItemKind {
        let is_owned = !name.owner.is_empty() || self.owners.last().is_some_and(|owner| owner.kind.is_type());
        if rule.kind == ItemKind::Function && is_owned { ItemKind::Method } else { rule.kind }
    }

    fn qualified(&self, rule: &Rule, name: &names::Name) -> String {
        let separator = rule.separator.unwrap_or(self.rules.separator);
        let outer = self.owners.last().map(|owner| owner.qualified.as_str());
        let mut qualified = String::new();
        let fits = |outer: &&str| outer.len() + name.owner.len() < MAX_QUALIFIED_BYTES;
        if let Some(outer) = outer.filter(|outer| fits(outer) && rule.level == 0) {
            qualified.push_str(outer);
        }
        if !name.owner.is_empty() {
            if !qualified.is_empty() {
                qualified.push_str(self.rules.separator);
            }
            qualified.push_str(&name.owner);
        }
        if !qualified.is_empty() {
            qualified.push_str(separator);
        }
        qualified.push_str(&name.own);
        qualified
    }

    /// From the declaration's first word to its body.
    fn signature(&self, rule: &Rule, node: Node<'_>, declared: usize) -> String {
        let by_field = || node.child_by_field_name("body");
        let body = match rule.body.as_ref().map(|path| path.find(node)) {
            Some(Some(Found::Node(body))) => Some(body),
            _ => by_field(),
        };
        let end = body.map_or(node.end_byte(), |body| body.start_byte()).max(declared);
        let end = end.min(declared + MAX_DECLARATION_BYTES);
        let has_value = matches!(
            rule.kind,
            ItemKind::Const | ItemKind::Variable | ItemKind::Property | ItemKind::Field | ItemKind::Type
        );
        names::signature(&self.text[declared..end], body.is_some(), has_value)
    }

    fn own(&mut self, rule: &Rule, node: Node<'_>, parent: Node<'_>, qualified: String, kind: ItemKind) {
        if rule.holds_rest {
            self.owners.retain(|owner| !owner.holds_rest);
        }
        let end = if rule.holds_rest { parent.end_byte() } else { node.end_byte() };
        self.owners.push(Owner { end, qualified, kind, holds_rest: rule.holds_rest });
    }

    /// Headings reach as far as the next of their level, and own what is below them.
    fn finish(mut self) -> Walked {
        let n_lines =
            memchr::memchr_iter(b'\n', self.text).count() + usize::from(!self.text.ends_with(b"\n"));
        let n_lines = LineRange::from_zero_based(n_lines.saturating_sub(1), 1).end;
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.items.len() {
            if self.levels[at] == 0 {
                continue;
            }
            while open.last().is_some_and(|above| self.levels[at] <= self.levels[*above]) {
                let closed = open.pop().expect("there is a last");
                self.close(closed, self.items[at].lines.start - 1);
            }
            if let Some(above) =
                open.last().filter(|above| self.items[**above].qualified.len() < MAX_QUALIFIED_BYTES)
            {
                let owner = &self.items[*above].qualified;
                self.items[at].qualified =
                    format!("{owner} {} {}", self.rules.separator, self.items[at].name);
            }
            open.push(at);
        }
        for at in open {
            self.close(at, n_lines);
        }
        self.items.truncate(MAX_ITEMS);
        Walked { items: self.items, is_cut: self.is_cut }
    }

    fn close(&mut self, at: usize, line: u32) {
        let lines = &mut self.items[at].lines;
        lines.end = lines.end.max(line).max(lines.start);
    }
}

/// The last row with something of `node` on it: some nodes end with line breaks.
fn last_row(node: Node<'_>, text: &[u8]) -> usize {
    let end = node.end_position();
    if end.column != 0 {
        return end.row;
    }
    let start = node.start_position();
    let from = node.start_byte().max(node.end_byte().saturating_sub(MAX_DECLARATION_BYTES));
    let last = &text[from..node.end_byte()];
    let n_breaks = memchr::memchr_iter(b'\n', &last[last.trim_ascii_end().len()..]).count();
    end.row.saturating_sub(n_breaks).max(start.row)
}

/// Where the declaration begins after its attributes: byte and row.
fn declaration_start(outer: Node<'_>, rules: &Rules) -> (usize, usize) {
    let mut cursor = outer.walk();
    if !cursor.goto_first_child() {
        return (outer.start_byte(), outer.start_position().row);
    }
    loop {
        let child = cursor.node();
        // Modifiers hold annotations in some grammars: look for the first that is none.
        let is_list = child.kind().ends_with("modifiers");
        let holds_attribute =
            is_list && child.child(0).is_some_and(|first| rules.class(first.kind_id()).attaches);
        if holds_attribute {
            let mut inner = child.walk();
            let is_kept = |node: &Node<'_>| !rules.class(node.kind_id()).attaches;
            if let Some(kept) = child.children(&mut inner).find(is_kept) {
                return (kept.start_byte(), kept.start_position().row);
            }
        }
        if !holds_attribute && !rules.class(child.kind_id()).attaches || !cursor.goto_next_sibling() {
            return (child.start_byte(), child.start_position().row);
        }
    }
}
