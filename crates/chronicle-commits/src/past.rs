//! What history says about the files in scope: which commits changed them, and what they were called.

pub(crate) mod fill;
pub(crate) mod known;

use chronicle_git::{BString, FileHistory, Followed, History, ObjectId, Reached, Repository, Whereabouts};

use crate::{error::Result, matching::Elsewhere};

/// A commit of the history that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastCommit {
    pub(crate) id: ObjectId,
    pub(crate) tree: ObjectId,
    /// When it was committed, in seconds since 1970.
    pub(crate) time: i64,
    /// The trees of its parents, as far as these are here.
    pub(crate) parents: Vec<ObjectId>,
}

/// What history says about the files in scope. Commits have places: what is newer has a lower one.
pub(crate) trait Past {
    /// The commit whose history counts.
    fn head(&self) -> &PastCommit;

    /// The place of an annotated commit, or of one that changed a file in scope; `None` outside of the history.
    fn place(&self, commit: ObjectId) -> Option<u32>;

    /// The commit at a place.
    fn commit(&self, place: u32) -> Result<PastCommit>;

    /// The commit at a place, and how many parents it has.
    fn id(&self, place: u32) -> (ObjectId, usize);

    /// The changes of each file in scope.
    fn files(&self) -> &[FileHistory];

    /// The files in scope that went by `name` in the commit at a place.
    fn files_called(&self, place: u32, name: &str) -> Result<Vec<usize>>;

    /// How many commits changed the file since the one at a place: those that it does not reach.
    fn touches_since(&self, file: usize, place: u32) -> Result<u32>;

    /// What became of paths that the newest commit lacks.
    fn whereabouts(&self, paths: &[BString]) -> Result<Vec<Whereabouts>>;

    /// The branch that reaches a commit outside of the history, if one does.
    fn branch_of(&self, commit: ObjectId) -> Result<Option<String>>;
}

/// A history that was walked for this one question.
pub(crate) struct Walked<'a> {
    repository: &'a Repository,
    pub(crate) history: &'a History,
    followed: &'a Followed,
    head: PastCommit,
    reached: std::cell::RefCell<std::collections::HashMap<usize, Reached>>,
    elsewhere: std::cell::OnceCell<Elsewhere>,
}

impl<'a> Walked<'a> {
    pub(crate) fn new(repository: &'a Repository, history: &'a History, followed: &'a Followed) -> Self {
        let head = history.nodes().first().map(|node| commit_of(history, node));
        let head = head.unwrap_or_else(|| {
            let (id, tree) = (ObjectId::null(repository.empty_tree().kind()), repository.empty_tree());
            PastCommit { id, tree, time: 0, parents: Vec::new() }
        });
        Self {
            repository,
            history,
            followed,
            head,
            reached: std::cell::RefCell::default(),
            elsewhere: std::cell::OnceCell::new(),
        }
    }
}

fn commit_of(history: &History, node: &chronicle_git::Node) -> PastCommit {
    let parents = node.parents.iter().map(|parent| history.node(*parent).tree).collect();
    PastCommit { id: node.id, tree: node.tree, time: node.time, parents }
}

impl Past for Walked<'_> {
    fn head(&self) -> &PastCommit {
        &self.head
    }

    fn place(&self, commit: ObjectId) -> Option<u32> {
        self.history.place(commit)
    }

    fn commit(&self, place: u32) -> Result<PastCommit> {
        Ok(commit_of(self.history, self.history.node(place)))
    }

    fn id(&self, place: u32) -> (ObjectId, usize) {
        let node = self.history.node(place);
        (node.id, node.parents.len())
    }

    fn files(&self) -> &[FileHistory] {
        &self.followed.files
    }

    fn files_called(&self, place: u32, name: &str) -> Result<Vec<usize>> {
        Ok(self.followed.files_called(place, name))
    }

    fn touches_since(&self, file: usize, place: u32) -> Result<u32> {
        let mut reached = self.reached.borrow_mut();
        let reached = reached.entry(file).or_insert_with(|| self.followed.files[file].reached(self.history));
        Ok(reached.touches_since(place))
    }

    fn whereabouts(&self, paths: &[BString]) -> Result<Vec<Whereabouts>> {
        Ok(self.repository.whereabouts(self.history, paths)?)
    }

    fn branch_of(&self, commit: ObjectId) -> Result<Option<String>> {
        if self.elsewhere.get().is_none() {
            let _first = self.elsewhere.set(Elsewhere::find(self.repository, self.history)?);
        }
        Ok(self.elsewhere.get().and_then(|elsewhere| elsewhere.label(commit)))
    }
}
