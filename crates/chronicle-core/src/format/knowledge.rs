//! What a repository knows as a whole: `chronicle/knowledge-v1`.

use std::collections::BTreeSet;

use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::{
    answer::reading::KnowledgeItem,
    format::{correction::Tier, fields::Fields, note::canonical, secrets::shown},
    redaction::cleaned,
};

/// Conventions, boundaries and anti-patterns of a repository, kept on the empty tree.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "chronicle/knowledge-v1")]
pub struct Knowledge {
    /// Always `chronicle/knowledge-v1`.
    pub schema: String,
    /// Rules that hold in a part of the tree.
    pub conventions: Vec<Convention>,
    /// What a module owns, and where it ends.
    pub boundaries: Vec<Boundary>,
    /// What not to do, and what to do instead.
    pub anti_patterns: Vec<AntiPattern>,
    /// What was removed, by id and a hash of what it said: older copies elsewhere do not bring it back.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub removed: BTreeSet<String>,
    /// Keys that we do not know, kept as they are.
    #[serde(flatten)]
    #[schemars(skip)]
    pub extra: Map<String, Value>,
}

/// A rule that holds in a part of the tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Convention {
    /// Never used again for another rule.
    #[serde(default)]
    pub id: String,
    /// `*`, a directory or a path.
    #[serde(default = "everywhere")]
    pub scope: String,
    /// The rule.
    pub rule: String,
    /// Keys such as `decided_in` and `stability`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a module owns, and where it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// Never used again for another boundary.
    #[serde(default)]
    pub id: String,
    /// The directory or path.
    pub module: String,
    /// What it owns.
    #[serde(default)]
    pub owns: String,
    /// Where it ends.
    #[serde(default)]
    pub boundary: String,
    /// Keys such as `decided_in`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What not to do, and what to do instead.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AntiPattern {
    /// Never used again for another pattern.
    #[serde(default)]
    pub id: String,
    /// What not to do.
    pub pattern: String,
    /// What to do instead.
    #[serde(default)]
    pub instead: String,
    /// Keys such as `learned_from`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What says more comes first; any rule will do among equals if it is the same everywhere.
fn rank(item: &impl Serialize) -> (std::cmp::Reverse<usize>, String) {
    let text = serde_json::to_string(item).expect("knowledge is plain data");
    (std::cmp::Reverse(text.len()), text)
}

fn everywhere() -> String {
    "*".to_owned()
}

impl Default for Knowledge {
    fn default() -> Self {
        Self {
            schema: crate::KNOWLEDGE_SCHEMA.to_owned(),
            conventions: Vec::new(),
            boundaries: Vec::new(),
            anti_patterns: Vec::new(),
            removed: BTreeSet::new(),
            extra: Map::new(),
        }
    }
}

impl Knowledge {
    /// Reads a knowledge document; what does not fit is kept, not refused.
    #[must_use]
    pub fn read(map: Map<String, Value>) -> Self {
        let mut fields = Fields::new(map);
        fields.take_schema();
        let mut boundaries: Vec<Boundary> = fields.take_list("boundaries");
        boundaries.extend(fields.take_list::<Boundary>("module_boundaries"));
        let mut read = Self {
            schema: crate::KNOWLEDGE_SCHEMA.to_owned(),
            conventions: fields.take_list("conventions"),
            boundaries,
            anti_patterns: fields.take_list("anti_patterns"),
            removed: fields.take("removed").unwrap_or_default(),
            extra: fields.rest(),
        };
        // Whether who removed an item may do so is known later.
        read.order(&BTreeSet::new());
        read
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conventions.is_empty()
            && self.boundaries.is_empty()
            && self.anti_patterns.is_empty()
            && self.removed.is_empty()
            && self.extra.is_empty()
    }

    /// Both together, without what either removed; commutative, associative and idempotent.
    ///
    /// Two items with one id that say different things both stay: released tools count their ids, and
    /// two people who count alike must not lose a rule.
    #[must_use]
    pub fn fold(mut self, other: Self) -> Self {
        self.conventions.extend(other.conventions);
        self.boundaries.extend(other.boundaries);
        self.anti_patterns.extend(other.anti_patterns);
        self.removed.extend(other.removed);
        for (key, value) in other.extra {
            match self.extra.get_mut(&key) {
                Some(Value::Array(own)) if value.is_array() => {
                    own.extend(value.as_array().cloned().unwrap_or_default());
                    own.sort_by_cached_key(ToString::to_string);
                    own.dedup();
                }
                Some(own) if rank(&value) < rank(own) => *own = value,
                Some(_) => {}
                None => drop(self.extra.insert(key, value)),
            }
        }
        self.settle();
        self
    }

    /// The same with its unknown keys in order of name; its items are always in order of id.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.extra.sort_keys();
        self
    }

    /// Gives every item an id and its place, and drops what stands twice or was removed.
    fn settle(&mut self) {
        let removed = self.removed.clone();
        self.order(&removed);
    }

    /// The same for what is `removed`.
    fn order(&mut self, removed: &BTreeSet<String>) {
        fn order<T: Item>(items: &mut Vec<T>, removed: &BTreeSet<String>) {
            for item in items.iter_mut().filter(|item| item.id().is_empty()) {
                *item.id_mut() = format!("{}-h{}", T::PREFIX, &hash(item)[..12]);
            }
            items.retain(|item| !removed.contains(&tombstone(item)));
            items.sort_by_cached_key(|item| (item.id().to_owned(), hash(item), rank(item)));
            items.dedup_by(|left, right| left.id() == right.id() && hash(left) == hash(right));
        }
        order(&mut self.conventions, removed);
        order(&mut self.boundaries, removed);
        order(&mut self.anti_patterns, removed);
    }

    /// Everything in it, each as an answer shows it.
    #[must_use]
    pub fn items(&self) -> Vec<KnowledgeItem> {
        self.clone().into()
    }

    /// The items with this id; mostly one.
    #[must_use]
    pub fn called(&self, id: &str) -> Vec<KnowledgeItem> {
        self.items().into_iter().filter(|item| item.id() == id).collect()
    }

    /// The id under which the same is known already, in whatever spelling.
    #[must_use]
    pub fn knows(&self, item: &KnowledgeItem) -> Option<String> {
        let essence = item.essence();
        self.items().iter().find(|known| known.essence() == essence).map(|known| known.id().to_owned())
    }

    /// Adds an item.
    pub fn add(&mut self, item: KnowledgeItem) {
        self.push(item);
        self.settle();
    }

    fn push(&mut self, item: KnowledgeItem) {
        match item {
            KnowledgeItem::Convention(item) => self.conventions.push(item),
            KnowledgeItem::Boundary(item) => self.boundaries.push(item),
            KnowledgeItem::AntiPattern(item) => self.anti_patterns.push(item),
        }
    }

    /// Removes an item for good; its id is never given to another.
    pub fn remove(&mut self, item: &KnowledgeItem) {
        self.removed.insert(item.tombstone());
        self.settle();
    }

    /// The same for an answer: each item says how far it is trusted. What it says of that itself does not count.
    #[must_use]
    pub fn attributed(self, voice: impl Fn(&KnowledgeItem) -> (Tier, Option<String>)) -> Self {
        let items = self.items().into_iter().map(|mut item| {
            let (tier, origin) = voice(&item);
            item.set_said(tier, origin);
            item
        });
        let items: Vec<KnowledgeItem> = items.collect();
        let mut said =
            Self { conventions: Vec::new(), boundaries: Vec::new(), anti_patterns: Vec::new(), ..self };
        items.into_iter().for_each(|item| said.push(item));
        said.settle();
        said
    }

    /// Puts what strangers say in an answer behind the rest of each list, and leaves out what is beyond `most` there.
    /// Returns how much that was.
    pub fn cap_strangers(&mut self, most: usize) -> usize {
        fn cap<T: Item>(items: &mut Vec<T>, most: usize) -> usize {
            let is_strange = |item: &T| {
                let tier = item.extra().get(SAID[0]).and_then(Value::as_str);
                tier.is_some_and(|tier| tier == Tier::Unknown.to_string())
            };
            items.sort_by_key(is_strange);
            let n_before = items.len();
            let n_known = items.partition_point(|item| !is_strange(item));
            items.truncate(n_known + most);
            n_before - items.len()
        }
        cap(&mut self.conventions, most)
            + cap(&mut self.boundaries, most)
            + cap(&mut self.anti_patterns, most)
    }

    /// What of an answer the user or the team says.
    #[must_use]
    pub fn trusted(&self) -> Self {
        Self::default().with(self.items().into_iter().filter(|item| Tier::Unknown < item.tier()))
    }

    /// The items that are kept; two of one id may differ in who says them.
    #[must_use]
    pub fn retain(self, is_kept: impl Fn(&KnowledgeItem) -> bool) -> Self {
        let items = self.items();
        let without =
            Self { conventions: Vec::new(), boundaries: Vec::new(), anti_patterns: Vec::new(), ..self };
        without.with(items.into_iter().filter(is_kept))
    }

    fn with(mut self, items: impl Iterator<Item = KnowledgeItem>) -> Self {
        items.for_each(|item| self.push(item));
        self
    }

    /// The part that concerns `file`: scoped items whose scope covers it, and every anti-pattern.
    #[must_use]
    pub fn concerning(&self, file: &str) -> Self {
        Self {
            conventions: self.conventions.iter().filter(|item| covers(&item.scope, file)).cloned().collect(),
            boundaries: self.boundaries.iter().filter(|item| covers(&item.module, file)).cloned().collect(),
            anti_patterns: self.anti_patterns.clone(),
            ..Self::default()
        }
    }
}

/// One kind of item.
trait Item: Serialize {
    /// What its ids begin with.
    const PREFIX: &str;

    fn id(&self) -> &str;
    fn id_mut(&mut self) -> &mut String;
    fn extra(&self) -> &Map<String, Value>;
}

impl Item for Convention {
    const PREFIX: &str = "conv";

    fn id(&self) -> &str {
        &self.id
    }

    fn id_mut(&mut self) -> &mut String {
        &mut self.id
    }

    fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }
}

impl Item for Boundary {
    const PREFIX: &str = "bound";

    fn id(&self) -> &str {
        &self.id
    }

    fn id_mut(&mut self) -> &mut String {
        &mut self.id
    }

    fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }
}

impl Item for AntiPattern {
    const PREFIX: &str = "ap";

    fn id(&self) -> &str {
        &self.id
    }

    fn id_mut(&mut self) -> &mut String {
        &mut self.id
    }

    fn extra(&self) -> &Map<String, Value> {
        &self.extra
    }
}

/// The keys by which an answer says of an item how far it is trusted, and where it came from.
const SAID: [&str; 2] = ["tier", "origin"];

/// A hash of everything that an item says.
fn hash(item: &impl Serialize) -> String {
    let value = serde_json::to_value(item).expect("knowledge is plain data");
    HEXLOWER.encode(&Sha256::digest(canonical(&value).as_bytes())[..16])
}

/// What remembers that an item was removed.
fn tombstone(item: &impl Item) -> String {
    format!("{}:{}", item.id(), &hash(item)[..16])
}

impl KnowledgeItem {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Convention(item) => &item.id,
            Self::Boundary(item) => &item.id,
            Self::AntiPattern(item) => &item.id,
        }
    }

    /// Gives it an id that no other has: `unique` behind the beginning of its kind.
    pub fn name(&mut self, unique: &str) {
        let (id, prefix) = match self {
            Self::Convention(item) => (&mut item.id, Convention::PREFIX),
            Self::Boundary(item) => (&mut item.id, Boundary::PREFIX),
            Self::AntiPattern(item) => (&mut item.id, AntiPattern::PREFIX),
        };
        *id = format!("{prefix}-{}", unique.to_lowercase());
    }

    /// What remembers that it was removed.
    #[must_use]
    pub fn tombstone(&self) -> String {
        match self {
            Self::Convention(item) => tombstone(item),
            Self::Boundary(item) => tombstone(item),
            Self::AntiPattern(item) => tombstone(item),
        }
    }

    /// Says in it who says it, where that is not the user.
    pub fn set_said(&mut self, tier: Tier, origin: Option<String>) {
        if tier != Tier::Own {
            self.show();
        }
        let extra = self.extra_mut();
        SAID.iter().for_each(|key| drop(extra.shift_remove(*key)));
        if tier != Tier::Own {
            extra.insert(SAID[0].to_owned(), tier.to_string().into());
            extra.extend(origin.map(|origin| (SAID[1].to_owned(), origin.into())));
        }
    }

    /// Passes its texts through the gate. Scopes are paths, and stay.
    fn show(&mut self) {
        let texts: Vec<&mut String> = match self {
            Self::Convention(item) => vec![&mut item.rule],
            Self::Boundary(item) => vec![&mut item.owns, &mut item.boundary],
            Self::AntiPattern(item) => vec![&mut item.pattern, &mut item.instead],
        };
        for text in texts {
            *text = cleaned(text).0.into_owned();
        }
        if let Some(Value::Object(extra)) = shown(self.extra_mut()) {
            *self.extra_mut() = extra;
        }
    }

    /// How far those are trusted who say it, in an answer.
    #[must_use]
    pub fn tier(&self) -> Tier {
        match self.extra().get(SAID[0]).and_then(Value::as_str) {
            None => Tier::Own,
            Some("team") => Tier::Team,
            Some(_) => Tier::Unknown,
        }
    }

    /// Where it came from, in an answer, if the user does not say it.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.extra().get(SAID[1]).and_then(Value::as_str)
    }

    /// Whether an answer says by this key how far an item is trusted.
    #[must_use]
    pub fn is_judged(key: &str) -> bool {
        SAID.contains(&key)
    }

    /// Keys beside those of its kind, such as `decided_in`.
    #[must_use]
    pub fn extra(&self) -> &Map<String, Value> {
        match self {
            Self::Convention(item) => &item.extra,
            Self::Boundary(item) => &item.extra,
            Self::AntiPattern(item) => &item.extra,
        }
    }

    /// The same, to be changed.
    pub fn extra_mut(&mut self) -> &mut Map<String, Value> {
        match self {
            Self::Convention(item) => &mut item.extra,
            Self::Boundary(item) => &mut item.extra,
            Self::AntiPattern(item) => &mut item.extra,
        }
    }

    /// What it comes down to, however it is spelt: two items with one essence are one.
    fn essence(&self) -> (u8, String, String) {
        let place = |scope: &str| match normal_scope(scope) {
            "" | "." => "*".to_owned(),
            scope => scope.to_owned(),
        };
        match self {
            Self::Convention(item) => (0, place(&item.scope), normal(&item.rule)),
            Self::Boundary(item) => {
                (1, place(&item.module), format!("{}\n{}", normal(&item.owns), normal(&item.boundary)))
            }
            Self::AntiPattern(item) => (2, String::new(), normal(&item.pattern)),
        }
    }
}

/// Words without regard to case, spacing and the full stop.
fn normal(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

fn normal_scope(scope: &str) -> &str {
    scope.trim().trim_start_matches("./").trim_end_matches('/')
}

/// Whether `scope` (`*`, `dir/`, a directory or a path) covers `file`.
fn covers(scope: &str, file: &str) -> bool {
    let scope = normal_scope(scope);
    matches!(scope, "*" | "" | ".")
        || file.strip_prefix(scope).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_what_lies_under_it() {
        for (scope, file, expected) in [
            ("*", "src/a.rs", true),
            ("src/", "src/a.rs", true),
            ("src", "src/a.rs", true),
            ("src/a.rs", "src/a.rs", true),
            ("src/web", "src/website.rs", false),
            ("src/web/", "src/git/a.rs", false),
        ] {
            assert_eq!(covers(scope, file), expected, "{scope} {file}");
        }
    }

    fn document(json: Value) -> Knowledge {
        let Value::Object(map) = json else { panic!("an object") };
        Knowledge::read(map)
    }

    fn rule(id: &str, rule: &str) -> Knowledge {
        document(serde_json::json!({ "conventions": [{ "id": id, "scope": "src/", "rule": rule }] }))
    }

    #[test]
    fn folding_loses_nothing_and_knows_no_order() {
        let (a, b, c) = (rule("conv-1", "one"), rule("conv-1", "two"), rule("", "three"));
        let folded = a.clone().fold(b.clone()).fold(c.clone());
        assert_eq!(folded, c.clone().fold(b.clone()).fold(a.clone()));
        assert_eq!(folded, a.clone().fold(b.clone().fold(c.clone())));
        assert_eq!(folded.clone().fold(folded.clone()), folded);
        assert_eq!(folded.conventions.len(), 3);
        assert!(folded.conventions.iter().all(|item| !item.id.is_empty()));
    }

    #[test]
    fn what_was_removed_stays_removed_and_a_new_item_may_bear_its_id() {
        let old = rule("conv-1", "one");
        let mut without = old.clone();
        without.remove(&old.items()[0]);
        assert!(without.conventions.is_empty());
        assert!(without.clone().fold(old.clone()).conventions.is_empty());
        assert!(old.fold(without.clone()).conventions.is_empty());
        assert_eq!(without.fold(rule("conv-1", "another")).conventions.len(), 1);
    }

    #[test]
    fn the_same_is_recognised_in_another_spelling() {
        let known = rule("conv-1", "Never block the UI thread.");
        let knows = |scope: &str, text: &str| {
            let json = serde_json::json!({ "conventions": [{ "scope": scope, "rule": text }] });
            known.knows(&document(json).items()[0])
        };
        assert_eq!(knows("./src", " never block  the UI thread"), Some("conv-1".to_owned()));
        assert_eq!(knows("*", "never block the UI thread"), None);
        assert_eq!(knows("src/", "never block"), None);
    }
}
