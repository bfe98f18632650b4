//! Puts our hooks where git, or the tool that manages its hooks, will run them, and takes them out again.
//!
//! Everything is planned first, and the plan is what `--dry-run` shows. Files are replaced as a
//! whole or not at all. A hook that our block cannot stand in, because it is written in another
//! language or must not run, is kept beside a script that runs the block and then the original.

mod script;

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use chronicle_core::{plain, redaction::cleaned};
use chronicle_git::{FileLock, Repository, files, hooks, sweep, sweep_below, temporary_in};
use chronicle_workplace::{Error, error::WriteHookSnafu};
use schemars::JsonSchema;
use script::{HOOKS, Hook, ORIGINAL, PRE_PUSH};
use serde::Serialize;
use snafu::ResultExt;

use crate::Chronicle;

/// What was done to set a repository up or to leave it, or what would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setup {
    /// Always `chronicle-setup/v1`.
    pub schema: &'static str,
    /// Whether nothing was touched.
    pub dry_run: bool,
    /// The changes, in order.
    pub changes: Vec<SetupChange>,
    /// What could not be done, and what may surprise.
    pub warnings: Vec<String>,
}

/// One file that is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetupChange {
    /// The file.
    pub path: String,
    /// `create`, `edit`, `remove`, `set_aside` or `put_back`.
    pub action: &'static str,
    /// The change, as a unified diff.
    pub diff: String,
}

/// One step of a plan.
enum Step {
    /// Writes a file; `before` is what it holds now.
    Write { path: PathBuf, before: Option<Vec<u8>>, after: Vec<u8>, mode: u32 },
    /// Removes a file of ours.
    Remove { path: PathBuf, before: Vec<u8> },
    /// Keeps the file at `path` beside it, and writes a script in its place.
    SetAside { path: PathBuf, original: PathBuf, after: Vec<u8> },
    /// The other way round.
    PutBack { path: PathBuf, original: PathBuf, before: Vec<u8> },
    /// Changes git's configuration.
    Configure { path: PathBuf, before: Vec<u8>, after: Vec<u8> },
}

#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    warnings: Vec<String>,
}

/// What hooks of ours are called in git's configuration.
const CONFIG_PREFIX: &str = "chronicle-";
/// Names that other tools give to hooks that they found.
const SET_ASIDE_BY_OTHERS: [&str; 2] = [".old", ".legacy"];

impl Chronicle {
    /// Sets the repository up: its hooks, and the directory for what is ours. The hook that pushes notes
    /// along is set up where it is asked for, and kept up to date where it is there.
    ///
    /// # Errors
    /// When there is no repository, or a file cannot be written.
    pub fn init(&self, pre_push: bool, dry_run: bool) -> Result<Setup, Error> {
        let repository = self.workplace.repository()?;
        let _lock = self.setup_lock(repository, dry_run)?;
        sweep_hooks(repository, dry_run);
        let mut plan = Plan::default();
        if repository.work_dir().is_none() {
            plan.warnings.push("a bare repository runs none of the hooks, so none was set up".to_owned());
        } else if repository.has_config_hooks() {
            let pre_push = pre_push || !repository.settings(&event_of(PRE_PUSH)).is_empty();
            plan.configure(repository, &wanted(pre_push))?;
            plan.take_out_of_files(repository)?;
        } else {
            plan.put_into_files(repository, pre_push)?;
        }
        self.carry_out(plan, dry_run)
    }

    /// Takes out what [`Chronicle::init`] put in. Notes and what is staged stay.
    ///
    /// # Errors
    /// When there is no repository, or a file cannot be written.
    pub fn uninstall(&self, dry_run: bool) -> Result<Setup, Error> {
        let repository = self.workplace.repository()?;
        let lock = self.setup_lock(repository, dry_run)?;
        sweep_hooks(repository, dry_run);
        let mut plan = Plan::default();
        plan.configure(repository, &[])?;
        plan.take_out_of_files(repository)?;
        let shared = crate::sync::configured_remotes(repository);
        if dry_run && !shared.is_empty() {
            plan.warnings.push(format!("notes would no longer be exchanged with {}", shared.join(", ")));
        }
        let setup = self.carry_out(plan, dry_run)?;
        drop(lock);
        if !dry_run {
            // Settings of the user's own stay; so does the address of a remote, of course.
            self.remotes().disable(None)?;
            tidy(&repository.shared_state("")?);
        }
        Ok(setup)
    }

    /// Removes the temporary files that died with their processes, in the folders of the repository and of session
    /// memory.
    pub(crate) fn sweep(&self, repository: &Repository) -> Vec<PathBuf> {
        let mut removed: Vec<PathBuf> =
            repository.hooks_dir().iter().flat_map(|hooks| sweep(hooks)).collect();
        let homes =
            self.workplace.memory_home().into_iter().chain(repository.state_dirs().into_iter().flatten());
        removed.extend(homes.flat_map(|home| sweep_below(&home, 3)));
        removed
    }

    /// The top of the working tree; a bare repository has none.
    ///
    /// # Errors
    /// When there is no repository.
    pub fn work_dir(&self) -> Result<Option<PathBuf>, Error> {
        Ok(self.workplace.repository()?.work_dir().map(Path::to_owned))
    }

    /// The folder for what is ours in the repository, where there is one.
    #[must_use]
    pub fn state_dir(&self) -> Option<PathBuf> {
        Some(self.workplace.repository().ok()?.shared_state_dir())
    }

    /// Keeps two set-ups of one repository apart; the directory for what is ours is made on the way.
    fn setup_lock(&self, repository: &Repository, dry_run: bool) -> Result<Option<FileLock>, Error> {
        let lock = || repository.lock(&repository.shared_state_dir().join(SETUP_LOCK));
        Ok((!dry_run).then(lock).transpose()?)
    }

    fn carry_out(&self, plan: Plan, dry_run: bool) -> Result<Setup, Error> {
        let mut changes = Vec::new();
        for step in &plan.steps {
            if !dry_run {
                step.carry_out(self.workplace.repository()?).context(WriteHookSnafu { path: step.path() })?;
            }
            changes.push(step.describe());
        }
        Ok(Setup { changes, warnings: plan.warnings, ..Setup::begun(dry_run) })
    }
}

const SETUP_LOCK: &str = "setup.lock";

/// The hooks that are to be set up.
fn wanted(pre_push: bool) -> Vec<Hook> {
    HOOKS.into_iter().chain(pre_push.then_some(PRE_PUSH)).collect()
}

/// Every hook that may be set up.
fn all_hooks() -> Vec<Hook> {
    wanted(true)
}

/// The setting that names the event of a hook of ours.
fn event_of(hook: Hook) -> String {
    format!("hook.{CONFIG_PREFIX}{}.event", hook.name)
}

/// Removes what is derived or empty of the directory that is ours.
fn tidy(directory: &Path) {
    // What cannot be removed does no harm where it is.
    for derived in chronicle_commits::DERIVED {
        let _removed = fs::remove_dir_all(directory.join(derived));
    }
    for lock in [SETUP_LOCK, "staging.lock", "sync.lock", "write.lock"] {
        let _removed = fs::remove_file(directory.join(lock));
    }
    let _removed = fs::remove_dir(directory);
}

/// Where hooks of a repository are put.
struct Place {
    directory: PathBuf,
    /// Whether files there are only given to a shell, with no need of an interpreter or a run bit.
    is_for_shell: bool,
}

impl Place {
    fn of(repository: &Repository) -> Result<Self, Error> {
        let directory = repository.hooks_dir()?;
        // husky points git at scripts of its own, which run those one directory up.
        let parent = directory.parent().filter(|_| directory.ends_with("_") && directory.join("h").is_file());
        Ok(match parent {
            Some(parent) => Self { directory: parent.to_owned(), is_for_shell: true },
            None => Self { directory, is_for_shell: false },
        })
    }

    /// Whether the hooks are this repository's alone.
    fn is_inside(&self, repository: &Repository) -> bool {
        // What is not there yet is where its nearest folder is: a link on the way may lead out.
        let real = |path: &Path| {
            let from = |there: &Path| Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?));
            path.ancestors().find_map(from).unwrap_or_else(|| path.to_owned())
        };
        let directory = real(&self.directory);
        let roots = repository.work_dir().into_iter().chain([repository.common_dir()]);
        roots.map(real).any(|root| directory.starts_with(root))
    }
}

impl Plan {
    fn put_into_files(&mut self, repository: &Repository, pre_push: bool) -> Result<(), Error> {
        let place = Place::of(repository)?;
        let has_block = |path: PathBuf| {
            files::read(&path, files::MAX_BYTES).is_ok_and(|script| script::has_block(&script))
        };
        let hooks = wanted(pre_push || has_block(place.directory.join(PRE_PUSH.name)));
        let shown = place.directory.display();
        if !place.is_inside(repository) {
            let line = |hook: &Hook| format!("`git-chronicle hook {} \"$@\" || :`", hook.name);
            let lines = hooks.iter().map(line).collect::<Vec<_>>().join(", ");
            self.warnings.push(format!(
                "core.hooksPath is {shown}, which other repositories may share, so nothing was changed there; \
                 let its hooks run {lines}"
            ));
            return Ok(());
        }
        for hook in hooks {
            self.put_into_file(&place, hook)?;
        }
        if repository.work_dir().is_some_and(|root| place.directory.starts_with(root))
            && !place.directory.starts_with(repository.common_dir())
            && self.steps.iter().any(|step| matches!(step, Step::Write { .. } | Step::SetAside { .. }))
        {
            self.warnings
                .push(format!("the hooks in {shown} are files of the working tree: git will show them"));
        }
        Ok(())
    }

    fn put_into_file(&mut self, place: &Place, hook: Hook) -> Result<(), Error> {
        let path = place.directory.join(hook.name);
        let original = set_aside_path(&path);
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            let mode = if place.is_for_shell { 0o644 } else { 0o755 };
            self.steps.push(Step::Write { path, before: None, after: hook.whole(!place.is_for_shell), mode });
            return Ok(());
        };
        let shown = path.display().to_string();
        if metadata.is_dir() {
            self.warnings.push(format!("{shown} is a directory, so the hook was not set up"));
            return Ok(());
        }
        let mode = metadata.permissions().mode();
        let script = match metadata.is_symlink() {
            true => None,
            false => Some(files::read(&path, files::MAX_BYTES).context(WriteHookSnafu { path: &path })?),
        };
        if let Some(script) = script.filter(|script| {
            let runs = place.is_for_shell || mode & 0o111 != 0;
            script::has_block(script) || (runs && script::is_for_a_shell(script))
        }) {
            let after = match (script::is_whole(&script), original.exists()) {
                (true, true) => hook.before_original(),
                (true, false) => hook.whole(!place.is_for_shell),
                (false, _) => hook.inserted(&script::removed(&script)),
            };
            for (tool, mark) in GENERATED {
                if contains(&script, mark) {
                    self.warnings.push(format!(
                        "{shown} is generated by {tool}, which may write it again; run `git chronicle init` again then"
                    ));
                }
            }
            if after != script {
                self.steps.push(Step::Write { path, before: Some(script), after, mode: mode & 0o7777 });
            }
            return Ok(());
        }
        // A set-up that was killed gave the hook its second name and came no further.
        let is_taken = fs::symlink_metadata(&original).is_ok() && !is_one_file(&path, &original);
        if place.is_for_shell || is_taken {
            self.warnings
                .push(format!("{shown} isn't a script that can hold our lines, so the hook was not set up"));
            return Ok(());
        }
        self.steps.push(Step::SetAside { path, original, after: hook.before_original() });
        Ok(())
    }

    fn take_out_of_files(&mut self, repository: &Repository) -> Result<(), Error> {
        let place = Place::of(repository)?;
        let mut directories = vec![repository.common_dir().join("hooks")];
        if place.is_inside(repository) {
            let inner = place.is_for_shell.then(|| place.directory.join("_"));
            directories.extend(inner.into_iter().chain([place.directory]));
        }
        directories.sort_unstable();
        directories.dedup();
        for directory in directories {
            for hook in all_hooks() {
                let names = [""].into_iter().chain(SET_ASIDE_BY_OTHERS);
                for path in names.map(|suffix| directory.join(format!("{}{suffix}", hook.name))) {
                    self.take_out_of_file(path, hook);
                }
            }
        }
        Ok(())
    }

    fn take_out_of_file(&mut self, path: PathBuf, hook: Hook) {
        let is_file = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        let Some(before) = is_file.then(|| fs::read(&path).ok()).flatten() else { return };
        let original = set_aside_path(&path);
        if !script::has_block(&before) {
            if is_one_file(&path, &original) {
                self.steps.push(Step::Remove { path: original, before });
            }
            return;
        }
        let has_original = fs::symlink_metadata(&original).is_ok();
        let rest = script::removed(&before);
        let is_ours = [hook.before_original(), hook.whole(true), hook.whole(false)]
            .iter()
            .any(|whole| script::removed(whole) == rest);
        self.steps.push(match script::is_whole(&before) && is_ours {
            true if has_original => Step::PutBack { path, original, before },
            true => Step::Remove { path, before },
            false => {
                let mode =
                    fs::metadata(&path).map_or(0o755, |metadata| metadata.permissions().mode() & 0o7777);
                Step::Write { path, before: Some(before), after: rest, mode }
            }
        });
    }

    /// Puts our hooks into git's configuration, or takes them out.
    fn configure(&mut self, repository: &Repository, wanted: &[Hook]) -> Result<(), Error> {
        let path = repository.config_file();
        let before = fs::read(&path).context(WriteHookSnafu { path: &path })?;
        let mut after = before.clone();
        for hook in all_hooks() {
            let name = format!("{CONFIG_PREFIX}{}", hook.name);
            after = match wanted.contains(&hook) {
                true => hooks::with_config_hook(&after, &name, hook.name, &hook.command())?,
                false => hooks::without_config_hook(&after, &name)?,
            };
        }
        if before != after {
            self.steps.push(Step::Configure { path, before, after });
        }
        Ok(())
    }
}

/// Tools that generate hooks, and what gives their files away.
const GENERATED: [(&str, &str); 2] =
    [("lefthook", "call_lefthook"), ("pre-commit", "File generated by pre-commit")];

fn contains(text: &[u8], words: &str) -> bool {
    text.windows(words.len()).any(|window| window == words.as_bytes())
}

/// Whether two paths are names of one file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let file = |path| fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    file(one).is_some_and(|one| file(other) == Some(one))
}

/// Where the original of a hook is kept.
fn set_aside_path(path: &Path) -> PathBuf {
    let mut original = path.as_os_str().to_owned();
    original.push(ORIGINAL);
    original.into()
}

impl Step {
    fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. }
            | Self::Remove { path, .. }
            | Self::SetAside { path, .. }
            | Self::PutBack { path, .. }
            | Self::Configure { path, .. } => path,
        }
    }

    fn carry_out(&self, repository: &Repository) -> io::Result<()> {
        match self {
            Self::Write { path, after, mode, .. } => write(path, after, *mode),
            Self::Remove { path, .. } => fs::remove_file(path),
            Self::SetAside { path, original, after } => {
                // A second name first: at no moment is there no hook.
                if !is_one_file(path, original) {
                    fs::hard_link(path, original)?;
                }
                write(path, after, 0o755)
            }
            Self::PutBack { path, original, .. } => fs::rename(original, path),
            Self::Configure { before, after, .. } => {
                let changed = || io::Error::other("it was changed meanwhile; try again");
                let mut is_same = true;
                repository
                    .rewrite_config(|now| {
                        is_same = now == before;
                        Ok(if is_same { after } else { now }.to_vec())
                    })
                    .map_err(io::Error::other)?;
                if is_same { Ok(()) } else { Err(changed()) }
            }
        }
    }

    fn describe(&self) -> SetupChange {
        let nothing: &[u8] = b"";
        let (action, before, after) = match self {
            Self::Write { before: None, after, .. } => ("create", nothing, &after[..]),
            Self::Write { before: Some(before), after, .. } | Self::Configure { before, after, .. } => {
                ("edit", &before[..], &after[..])
            }
            Self::Remove { before, .. } => ("remove", &before[..], nothing),
            Self::SetAside { after, .. } => ("set_aside", nothing, &after[..]),
            Self::PutBack { before, .. } => ("put_back", &before[..], nothing),
        };
        let mut change = SetupChange::new(action, self.path(), before, after);
        let path = &change.path;
        let moved = match self {
            Self::SetAside { original, .. } => format!("rename {path} => {}\n", original.display()),
            Self::PutBack { original, .. } => format!("rename {} => {path}\n", original.display()),
            _ => String::new(),
        };
        change.diff.insert_str(0, &plain(&moved));
        change
    }
}

impl SetupChange {
    /// The change of a file that held `before` to one that holds `after`; nothing stands for no file.
    ///
    /// Keys that stand beside what is changed are not shown.
    #[must_use]
    pub fn new(action: &'static str, path: &Path, before: &[u8], after: &[u8]) -> Self {
        let path = plain(&path.to_string_lossy()).into_owned();
        let name = |content: &[u8]| if content.is_empty() { "/dev/null".to_owned() } else { path.clone() };
        let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
        let patch = diffy::DiffOptions::new()
            .set_original_filename(name(before))
            .set_modified_filename(name(after))
            .create_patch(&old, &new)
            .to_string();
        Self { action, diff: cleaned(&patch).0.into_owned(), path }
    }
}

impl Setup {
    /// Nothing was done yet.
    #[must_use]
    pub fn begun(dry_run: bool) -> Self {
        Self { schema: "chronicle-setup/v1", dry_run, changes: Vec::new(), warnings: Vec::new() }
    }

    /// What was done here and, behind it, there.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.changes.extend(other.changes);
        self.warnings.extend(other.warnings);
        self
    }
}

/// Removes what a set-up that was killed left next to the hooks.
fn sweep_hooks(repository: &Repository, dry_run: bool) {
    if !dry_run && let Ok(directory) = repository.hooks_dir() {
        let _removed = sweep(&directory);
    }
}

/// Writes beside the file, then renames: git runs the old hook or the new one, never a half.
fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = temporary_in(directory)?;
    file.write_all(content)?;
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
