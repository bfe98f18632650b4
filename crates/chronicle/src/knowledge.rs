//! What the repository knows as a whole: listed, added, removed.

use std::path::Path;

use chronicle_commits::{
    add_knowledge, all_knowledge,
    input::{KnowledgeInput, wash},
    remove_knowledge,
};
use chronicle_core::{AntiPattern, Boundary, Convention, correction::Tier, reading::KnowledgeItem};
use chronicle_git::Recovered;
use chronicle_workplace::{
    Error,
    error::{NoKnowledgeSnafu, OutsideRepositorySnafu},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Map;

use crate::Chronicle;

/// Something for the repository to know.
#[derive(Debug, Clone)]
pub struct AddKnowledge {
    /// What is known.
    pub what: NewKnowledge,
    /// Where it was decided, as a revision.
    pub decided_in: Option<String>,
    /// `permanent`, `provisional` or `experimental`.
    pub stability: Option<String>,
    /// Where it was learned.
    pub learned_from: Option<String>,
}

/// What is to be known.
#[derive(Debug, Clone)]
pub enum NewKnowledge {
    /// A rule that holds in a scope.
    Convention {
        /// `*`, a directory or a path.
        scope: String,
        /// The rule.
        rule: String,
    },
    /// What a module owns, and where it ends.
    Boundary {
        /// The directory or path.
        module: String,
        /// What it owns.
        owns: String,
        /// Where it ends.
        boundary: String,
    },
    /// What not to do, and what to do instead.
    AntiPattern {
        /// What not to do.
        pattern: String,
        /// What to do instead.
        instead: String,
    },
}

/// What the repository knows as a whole, or what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KnowledgeReply {
    /// Always `chronicle-knowledge/v1`.
    pub schema: &'static str,
    /// What is known, was added or was removed.
    pub items: Vec<KnowledgeItem>,
    /// Whether anything was stored.
    pub changed: bool,
    /// Remarks.
    pub warnings: Vec<String>,
    /// The kinds of secrets that were taken out.
    pub redacted: Vec<String>,
}

impl KnowledgeReply {
    fn of(items: Vec<KnowledgeItem>, changed: bool, recovered: &Recovered) -> Self {
        let removed = recovered.files.iter();
        Self {
            schema: "chronicle-knowledge/v1",
            items,
            changed,
            warnings: removed
                .map(|file| format!("removed `{}`, left by a dead process", file.display()))
                .collect(),
            redacted: Vec::new(),
        }
    }
}

impl Chronicle {
    /// What the repository knows as a whole, or what of it concerns a path.
    ///
    /// # Errors
    /// When the path leads out of the repository, or the notes cannot be read.
    pub fn knowledge(&self, path: Option<&Path>) -> Result<KnowledgeReply, Error> {
        let mut warnings = Vec::new();
        let all = all_knowledge(self.workplace.repository()?, &mut warnings)?;
        let items = match path {
            None => all.items(),
            Some(path) => {
                let shown = || path.to_string_lossy().escape_debug().to_string();
                let names = self.workplace.repository()?.root_relative(self.workplace.directory(), path)?;
                let Some(name) = names.first() else {
                    return OutsideRepositorySnafu { path: shown() }.fail();
                };
                all.concerning(&name.to_string()).items()
            }
        };
        let mut reply =
            KnowledgeReply { warnings, ..KnowledgeReply::of(items, false, &Recovered::default()) };
        reply.items.sort_by_key(|item| item.tier() == Tier::Unknown);
        Ok(reply)
    }

    /// The item of the repository's knowledge with this id.
    ///
    /// # Errors
    /// When there is none.
    pub fn show_knowledge(&self, id: &str) -> Result<KnowledgeReply, Error> {
        let mut warnings = Vec::new();
        let items = all_knowledge(self.workplace.repository()?, &mut warnings)?.called(id);
        snafu::ensure!(!items.is_empty(), NoKnowledgeSnafu { id });
        Ok(KnowledgeReply { warnings, ..KnowledgeReply::of(items, false, &Recovered::default()) })
    }

    /// Adds to what the repository knows as a whole; what is known already stays as it is.
    ///
    /// # Errors
    /// When something is empty or unknown, or the notes cannot be written.
    pub fn add_knowledge(&self, command: &AddKnowledge) -> Result<KnowledgeReply, Error> {
        let mut redacted = Vec::new();
        let mut clean = |text: &str| {
            let (text, kinds) = wash(text);
            redacted.extend(kinds.into_iter().map(|kind| kind.name().to_owned()));
            text.trim().to_owned()
        };
        let mut extra = Map::new();
        if let Some(revision) = &command.decided_in {
            let commit = self.workplace.repository()?.resolve(revision)?;
            extra.insert("decided_in".to_owned(), commit.to_string().into());
        }
        for (key, text) in [("stability", &command.stability), ("learned_from", &command.learned_from)] {
            if let Some(text) = text {
                extra.insert(key.to_owned(), clean(text).into());
            }
        }
        let id = String::new();
        let (given, said) = match &command.what {
            NewKnowledge::Convention { scope, rule } => {
                let (scope, rule) = (clean(scope), clean(rule));
                let said = !rule.is_empty() && !scope.is_empty();
                (KnowledgeInput::Convention(Convention { id, scope, rule, extra }), said)
            }
            NewKnowledge::Boundary { module, owns, boundary } => {
                let (module, owns, boundary) = (clean(module), clean(owns), clean(boundary));
                let said = !module.is_empty() && (!owns.is_empty() || !boundary.is_empty());
                (KnowledgeInput::Boundary(Boundary { id, module, owns, boundary, extra }), said)
            }
            NewKnowledge::AntiPattern { pattern, instead } => {
                let (pattern, instead) = (clean(pattern), clean(instead));
                let said = !pattern.is_empty();
                (KnowledgeInput::AntiPattern(AntiPattern { id, pattern, instead, extra }), said)
            }
        };
        snafu::ensure!(said, chronicle_workplace::error::EmptyValueSnafu);
        let added = add_knowledge(self.workplace.repository()?, &given, &mut chronicle_workplace::new_id)?;
        let items = all_knowledge(self.workplace.repository()?, &mut Vec::new())?.called(&added.id);
        Ok(KnowledgeReply { redacted, ..KnowledgeReply::of(items, added.is_new, &added.recovered) })
    }

    /// Removes an item of the repository's knowledge, for good.
    ///
    /// # Errors
    /// When there is none with this id, or the notes cannot be written.
    pub fn remove_knowledge(&self, id: &str) -> Result<KnowledgeReply, Error> {
        let (items, recovered) = remove_knowledge(self.workplace.repository()?, id)?;
        snafu::ensure!(!items.is_empty(), NoKnowledgeSnafu { id });
        let mut reply = KnowledgeReply::of(items, true, &recovered);
        if !all_knowledge(self.workplace.repository()?, &mut Vec::new())?.called(id).is_empty() {
            reply.warnings.push(format!(
                "someone you trust less uses the id {id} for something else; theirs is still there"
            ));
        }
        Ok(reply)
    }
}
