//! What elsewhere relies on the code in scope, and what spans it.

use chronicle_core::{
    Age, Annotation, DependsOn,
    reading::{CrossCuttingItem, Dependency, State},
    score::{self, Tie},
};

use crate::{items::Bench, matching::Candidate};

impl Bench<'_> {
    /// The assumptions that `candidate` declares about the files in scope.
    pub(crate) fn dependencies(&self, candidate: &Candidate) -> Vec<Dependency> {
        let mut found = Vec::new();
        for document in candidate.stored.note.documents() {
            for region in &document.regions {
                let from = (Some(&region.file), region.ast_anchor.as_ref().map(|anchor| &anchor.name));
                found.extend(self.on_scope(candidate, document, &region.semantic_dependencies, from));
            }
        }
        for (document, entry) in candidate.stored.note.entries() {
            let from = (entry.file.as_ref(), entry.anchor.as_ref().map(|anchor| &anchor.name));
            found.extend(self.on_scope(candidate, document, &entry.depends_on, from));
        }
        found
    }

    fn on_scope<'a>(
        &'a self,
        candidate: &'a Candidate,
        document: &'a Annotation,
        declared: &'a [DependsOn],
        (from_file, from_anchor): (Option<&'a String>, Option<&'a String>),
    ) -> impl Iterator<Item = Dependency> + 'a {
        let concerns = |dependency: &&DependsOn| {
            !candidate.files_named(self.repository, self.presents, &dependency.file).is_empty()
        };
        let at = candidate.written(document);
        // Whether the dependent code is still as it was is not looked up: it lies in another file.
        let tie = Tie::Lines(State::Changed, 0.0);
        let factors =
            score::factors(document, None, Age::between(at, self.head_time), self.half_life_days, tie);
        declared.iter().filter(concerns).map(move |dependency| Dependency {
            from_file: from_file.cloned(),
            from_anchor: from_anchor.cloned(),
            on_anchor: dependency.anchor.clone(),
            nature: dependency.nature.clone(),
            commit: candidate.key.to_string(),
            at,
            confidence: score::confidence(&factors),
        })
    }

    /// The concerns of `candidate` that span a file in scope.
    pub(crate) fn cross_cutting(&self, candidate: &Candidate) -> Vec<CrossCuttingItem> {
        let mut found = Vec::new();
        for document in candidate.stored.note.documents() {
            for concern in &document.cross_cutting {
                let concerns =
                    |file: &str| !candidate.files_named(self.repository, self.presents, file).is_empty();
                if concern.regions.iter().any(|member| concerns(&member.file)) {
                    found.push(CrossCuttingItem {
                        description: concern.description.clone(),
                        regions: concern.regions.iter().map(ToString::to_string).collect(),
                        tags: concern.tags.clone(),
                        commit: candidate.key.to_string(),
                        at: candidate.written(document),
                        extra: concern.extra.clone(),
                    });
                }
            }
        }
        found
    }
}
