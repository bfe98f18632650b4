//! What a repository knows as a whole: `chronicle/knowledge-v1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::fields::Fields;

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
        Self {
            schema: crate::KNOWLEDGE_SCHEMA.to_owned(),
            conventions: fields.take_list("conventions"),
            boundaries,
            anti_patterns: fields.take_list("anti_patterns"),
            extra: fields.rest(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conventions.is_empty()
            && self.boundaries.is_empty()
            && self.anti_patterns.is_empty()
            && self.extra.is_empty()
    }

    /// Both together; of items with one id, the one that says more stays, on whichever side it is.
    #[must_use]
    pub fn fold(mut self, other: Self) -> Self {
        fn unite<T: PartialEq + Serialize>(ours: &mut Vec<T>, theirs: Vec<T>, id: impl Fn(&T) -> &str) {
            for item in theirs {
                let is_same = |own: &&mut T| **own == item || (!id(own).is_empty() && id(own) == id(&item));
                match ours.iter_mut().find(is_same) {
                    Some(own) if rank(&item) < rank(own) => *own = item,
                    Some(_) => {}
                    None => ours.push(item),
                }
            }
        }
        unite(&mut self.conventions, other.conventions, |item| &item.id);
        unite(&mut self.boundaries, other.boundaries, |item| &item.id);
        unite(&mut self.anti_patterns, other.anti_patterns, |item| &item.id);
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
        self
    }

    /// The same with its items in order of id and its unknown keys in order of name.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.conventions.sort_by_cached_key(|item| (item.id.clone(), rank(item)));
        self.boundaries.sort_by_cached_key(|item| (item.id.clone(), rank(item)));
        self.anti_patterns.sort_by_cached_key(|item| (item.id.clone(), rank(item)));
        self.extra.sort_keys();
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

/// Whether `scope` (`*`, `dir/`, a directory or a path) covers `file`.
fn covers(scope: &str, file: &str) -> bool {
    let scope = scope.trim_start_matches("./").trim_end_matches('/');
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
}
