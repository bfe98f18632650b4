//! What is done in git's hooks.

use std::{
    fs,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
};

use chronicle_commits::{Staging, reconcile::Effort, write::Bound};
use chronicle_git::{Glance, ObjectId, files, read_state, replace_file, state_path};
use chronicle_workplace::{Error, Workplace, error::WriteHookSnafu};
use snafu::ResultExt;

use crate::{Chronicle, Sources, rewritten_pairs};

/// A line of a log of HEAD that is longer has a subject that matters to nobody here.
const LONGEST_LOG_LINE: u64 = 16 << 10;

/// The commits that the next one squashes, and before them the HEAD that it is made on.
const SQUASHED: &str = "squashed";

/// What is done in git's hooks.
#[derive(Clone, Copy)]
pub struct GitHooks<'c> {
    pub(crate) chronicle: &'c Chronicle,
}

impl<'c> GitHooks<'c> {
    fn workplace(&self) -> &'c Workplace {
        self.chronicle.workplace()
    }
}

impl GitHooks<'_> {
    /// Does what is to be done when a commit was made: stores what was kept for it and what the environment
    /// says of it, and takes along what is known about the commits that it squashes.
    ///
    /// With nothing to do, no repository is opened. Returns what was left out.
    ///
    /// # Errors
    /// When the notes cannot be written; what was kept is kept then.
    pub fn after_commit(&self) -> Result<Vec<String>, Error> {
        let left_out: Vec<String> = self.chronicle.left_out().into_iter().collect();
        let said = self.chronicle.said_in_environment(&mut Vec::new());
        let has_any = |git_dir: PathBuf| {
            Staging::has_any(&git_dir) || state_path(&git_dir, SQUASHED).is_ok_and(|path| path.exists())
        };
        if said.is_none() && self.hook_git_dir().is_some_and(|git_dir| !has_any(git_dir)) {
            return Ok(left_out);
        }
        let Bound { squash_sources, .. } = self.chronicle.bind(said.as_ref())?;
        let head = self.workplace().repository()?.born_head()?;
        let mut sources = squash_sources;
        sources.extend(self.take_squashed(head));
        if !sources.is_empty() {
            self.chronicle.annotate_from(&Sources::Squashed(sources), &head.to_string())?;
        }
        Ok(left_out)
    }

    /// Takes along what is known about rewritten commits, which git names on standard input; returns what
    /// could not be done.
    ///
    /// # Errors
    /// When the notes cannot be read or written.
    pub fn after_rewrite(&self, input: &str) -> Result<Vec<String>, Error> {
        let pairs = rewritten_pairs(input);
        let glance =
            self.workplace().keeps_facts().then(|| Glance::at(self.workplace().directory())).flatten();
        // Where nothing was ever noted there is nothing to carry over.
        let warnings = match glance {
            Some(glance) if glance.notes.is_empty() => Vec::new(),
            _ => self.chronicle.carry(&pairs)?.warnings,
        };
        let left_out = self.after_commit()?;
        Ok([warnings, left_out].concat())
    }

    /// Remembers which commits the one that is being made squashes, if git says so.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn before_commit(&self) -> Result<(), Error> {
        let repository = self.workplace().repository()?;
        let path = repository.worktree_state(SQUASHED)?;
        let message = files::read(&repository.git_dir().join("SQUASH_MSG"), files::MAX_BYTES);
        let message = String::from_utf8_lossy(message.as_deref().unwrap_or_default());
        let named = message.lines().filter_map(|line| line.strip_prefix("commit "));
        let ids: Vec<&str> = named.filter(|id| ObjectId::from_hex(id.as_bytes()).is_ok()).collect();
        let (false, Some(head)) = (ids.is_empty(), repository.head()?) else {
            // An earlier squash that came to nothing is no business of this commit.
            let _removed = fs::remove_file(&path);
            return Ok(());
        };
        let content = format!("{head}\n{}\n", ids.join("\n"));
        repository
            .make_state_dir(path.parent().expect("it is in our own directory"))
            .and_then(|()| replace_file(&path, content.as_bytes()))
            .context(WriteHookSnafu { path })
    }

    /// The commits that `head` squashes, if it was made on the HEAD that they were remembered for.
    fn take_squashed(&self, head: ObjectId) -> Vec<String> {
        let Ok(repository) = self.workplace().repository() else { return Vec::new() };
        let Ok(content) = read_state(repository.git_dir(), SQUASHED) else { return Vec::new() };
        let _removed = repository.worktree_state(SQUASHED).map(fs::remove_file);
        let content = String::from_utf8_lossy(&content);
        let mut lines = content.lines().map(str::to_owned);
        let made_on = lines.next();
        let parent = repository.commit(head).ok().and_then(|commit| commit.parents.first().copied());
        if parent.map(|id| id.to_string()) == made_on { lines.collect() } else { Vec::new() }
    }

    /// Whether HEAD was amended last, as its log says.
    #[must_use]
    pub fn is_amended(&self) -> bool {
        let last_line = |git_dir: PathBuf| -> std::io::Result<Vec<u8>> {
            let mut log = files::open(&git_dir.join("logs/HEAD"))?;
            let len = log.metadata()?.len();
            log.seek(SeekFrom::Start(len.saturating_sub(LONGEST_LOG_LINE)))?;
            let mut end = Vec::new();
            log.read_to_end(&mut end)?;
            Ok(end.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default().to_vec())
        };
        let line = self.hook_git_dir().and_then(|git_dir| last_line(git_dir).ok()).unwrap_or_default();
        line.split(|byte| *byte == b'\t').nth(1).is_some_and(|message| message.starts_with(b"commit (amend)"))
    }

    /// Whether anything may be noted in the repository at hand: else nothing can be known of its code, and there is
    /// nothing to carry over.
    #[must_use]
    pub fn has_notes(&self) -> bool {
        Glance::at(self.workplace().directory()).is_none_or(|glance| !glance.notes.is_empty())
    }

    /// Looks for commits that were rewritten unseen, as far as that is quick.
    ///
    /// # Errors
    /// When the repository cannot be read, or the notes cannot be written.
    pub fn reconcile_lazily(&self) -> Result<(), Error> {
        self.chronicle.reconcile(Effort::Bounded, false).map(drop)
    }

    /// Does what a commit is an occasion for, when nobody waits: looks for commits that were rewritten unseen, and makes
    /// what the next briefing tells of commits, which takes a look at every note.
    ///
    /// # Errors
    /// When the repository cannot be read, or the notes cannot be written.
    pub fn behind_commit(&self) -> Result<(), Error> {
        self.reconcile_lazily()?;
        let _kept = self.chronicle.memory().threads().recap();
        Ok(())
    }

    /// The git directory that a hook works in.
    fn hook_git_dir(&self) -> Option<PathBuf> {
        let named = self.workplace().variable("GIT_DIR").map(|path| self.workplace().directory().join(path));
        named.or_else(|| {
            chronicle_git::Checkout::of(self.workplace().directory()).map(|checkout| checkout.git_dir)
        })
    }
}
