//! Tells agents of us: their hooks, our server, skills; and takes all of it out again.
//!
//! Every file is read, planned and replaced as a whole under a lock of ours. What is put in is noted
//! first, so that taking it out gives the file of before, to the byte, also when a process died in
//! between. A file that somebody else changed since loses our entries only, which are known by what
//! they run. A file that cannot be read is left alone, and the others are done all the same.

mod agent;
mod content;
mod edits;
mod files;
mod first_program;
mod health;
mod json;
mod ours;
pub(crate) mod permissions;
mod plugin;
mod record;
mod skills;
mod toml;
mod wanted;

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
};

pub use agent::Scope;
use chronicle::{Chronicle, FileLock, Setup, SetupChange};
use chronicle_workplace::Error;
use files::Read;
pub use plugin::write_plugin;
use record::{Record, State};
use wanted::{Part, Piece};

use crate::hooks::Host;

/// Two set-ups of one place wait for each other.
const LOCK: &str = "setup.lock";
/// How often a file is looked at anew that somebody else writes meanwhile.
const MAX_ATTEMPTS: u32 = 4;

/// The machine that agents are set up on.
pub struct Ground {
    environment: fn(&str) -> Option<OsString>,
    /// The folder of the user.
    home: PathBuf,
    /// The folder of session memory.
    memory: PathBuf,
    /// The current repository: its working tree, and the folder for what is ours.
    repository: Option<(PathBuf, PathBuf)>,
    /// How this binary is called on this machine.
    program: String,
}

/// What is to be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Only our server.
    pub only_server: bool,
    /// Lines in `AGENTS.md`.
    pub agents_md: bool,
    /// Rules that let the agent run what reads and writes lessons unasked, where its settings have such rules.
    pub permissions: bool,
}

/// What was done.
#[derive(Debug)]
pub struct Outcome {
    /// The changes, and what could not be changed.
    pub setup: Setup,
    /// How many files were left alone.
    pub n_refused: usize,
    /// What each agent has now, in the order in which they were named.
    pub given: Vec<Given>,
}

/// What an agent has, once it is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The agent.
    pub agent: Host,
    /// What it has, in the words of users: `hooks`, `tools (MCP)`, `4 skills`.
    pub parts: Vec<String>,
}

/// What is to become of a file.
#[derive(Clone, Copy)]
enum Aim {
    Set { only_server: bool },
    Take,
}

/// How files are read: those of a project stay below its top, those of a user may be links to elsewhere.
#[derive(Clone, Copy)]
struct Reads<'g> {
    top: Option<&'g Path>,
}

impl Reads<'_> {
    fn of(self, path: &Path) -> Result<Read, String> {
        self.top.map_or_else(|| Read::of(path), |top| Read::below(top, path))
    }
}

impl Ground {
    /// The machine, as the environment tells; `program` is this binary.
    ///
    /// # Errors
    /// When nothing says where the user's folder is.
    pub fn new(
        chronicle: &Chronicle,
        environment: fn(&str) -> Option<OsString>,
        program: &Path,
    ) -> Result<Self, Error> {
        let home = environment("HOME").filter(|home| !home.is_empty()).ok_or(Error::NoHome)?;
        Ok(Self {
            environment,
            home: home.into(),
            memory: chronicle.workplace().memory_home()?,
            repository: chronicle.work_dir().ok().flatten().zip(chronicle.state_dir()),
            program: lasting(program, &environment("PATH").unwrap_or_default()),
        })
    }

    /// The folder that a variable names, if it does.
    fn folder_of(&self, variable: &str) -> Option<PathBuf> {
        let named = (self.environment)(variable).filter(|value| !value.is_empty());
        named.map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The agents that are on this machine.
    #[must_use]
    pub fn detected(&self) -> Vec<Host> {
        Host::ALL.into_iter().filter(|agent| agent.is_here(self)).collect()
    }

    /// Whether there is a repository to set up for.
    #[must_use]
    pub fn has_repository(&self) -> bool {
        self.repository.is_some()
    }

    /// The folder for the record of a scope, and the top of what it is about.
    fn place(&self, scope: Scope) -> Option<(&Path, &Path)> {
        match (scope, &self.repository) {
            (Scope::User, _) => Some((&self.memory, &self.home)),
            (Scope::Project, Some((root, state))) => Some((state, root)),
            (Scope::Project, None) => None,
        }
    }

    /// How the files of a scope are read.
    fn reads(&self, scope: Scope) -> Reads<'_> {
        match (scope, &self.repository) {
            (Scope::Project, Some((root, _))) => Reads { top: Some(root) },
            _ => Reads { top: None },
        }
    }

    fn pieces(&self, agent: Host, scope: Scope) -> Vec<Piece> {
        let Some((_, root)) = self.place(scope) else { return Vec::new() };
        wanted::pieces(agent, self, scope, root, false)
    }

    /// The programs of that name that the `PATH` leads to, by that way and in truth.
    fn programs(&self, name: &str) -> Vec<String> {
        let path = (self.environment)("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let Some(found) = folders.map(|folder| folder.join(name)).find(|program| program.is_file()) else {
            return Vec::new();
        };
        let mut all = vec![found.to_string_lossy().into_owned()];
        all.extend(found.canonicalize().map(|real| real.to_string_lossy().into_owned()));
        all.dedup();
        all
    }

    /// Whether any of an agent's own files holds something of ours.
    #[must_use]
    pub fn is_set_up(&self, agent: Host, scope: Scope) -> bool {
        let own = self.pieces(agent, scope).into_iter().filter(|piece| piece.part != Part::Shared);
        own.into_iter().any(|piece| {
            let text = self.reads(scope).of(&piece.path).ok().and_then(|read| read.text);
            text.is_some_and(|text| piece.content.is_in(&text))
        })
    }

    /// The names of those of `agents` whose settings take rules for what may run unasked, and have none of ours.
    #[must_use]
    pub fn may_permit(&self, agents: &[Host], scope: Scope) -> Vec<&'static str> {
        let lacks_them =
            |agent: &&Host| self.takes_permissions(**agent, scope) && !self.has_permissions(**agent, scope);
        agents.iter().filter(lacks_them).map(|agent| agent.title()).collect()
    }

    /// Whether there are rules for what the agent may run unasked; those of a project are its host's alone, but for Claude
    /// Code.
    fn takes_permissions(&self, agent: Host, scope: Scope) -> bool {
        match agent {
            Host::Claude => true,
            Host::Codex | Host::Gemini | Host::Copilot | Host::OpenCode => scope == Scope::User,
            Host::Cursor => false,
        }
    }

    /// Whether one of `agents` is not set up yet.
    #[must_use]
    pub fn is_new(&self, agents: &[Host], scope: Scope) -> bool {
        !agents.iter().all(|agent| self.is_set_up(*agent, scope))
    }

    fn has_permissions(&self, agent: Host, scope: Scope) -> bool {
        let own = wanted::permissions_piece(agent, self, scope);
        let pieces = own.into_iter().chain(self.pieces(agent, scope));
        pieces.filter(|piece| matches!(piece.part, Part::Hooks | Part::Permissions)).any(|piece| {
            let text = self.reads(scope).of(&piece.path).ok().and_then(|read| read.text).unwrap_or_default();
            match agent {
                Host::Claude => {
                    json::value(&text).ok().flatten().is_some_and(|settings| permissions::are_in(&settings))
                }
                Host::Codex | Host::Gemini => piece.part == Part::Permissions && piece.content.is_in(&text),
                Host::Copilot => text.contains(" permission-request"),
                Host::OpenCode => piece.content.is_in(&text) && text.contains("const permitted = [\""),
                Host::Cursor => false,
            }
        })
    }

    /// The agents that are set up.
    #[must_use]
    pub fn set_up_agents(&self, scope: Scope) -> Vec<Host> {
        Host::ALL.into_iter().filter(|agent| self.is_set_up(*agent, scope)).collect()
    }

    /// Sets `agents` up; what is there already stays as it is.
    ///
    /// # Errors
    /// When another process does the same for a minute, or the folder for what is ours cannot be written.
    pub fn set_up(
        &self,
        agents: &[Host],
        scope: Scope,
        wanted: Wanted,
        dry_run: bool,
    ) -> Result<Outcome, Error> {
        let Some((_, root)) = self.place(scope) else {
            return self.carry_out(&[], Aim::Set { only_server: wanted.only_server }, scope, dry_run);
        };
        let pieces = agents.iter().flat_map(|agent| {
            let permits = self.takes_permissions(*agent, scope)
                && (wanted.permissions || self.has_permissions(*agent, scope));
            wanted::pieces(*agent, self, scope, root, permits)
        });
        let pieces = pieces.filter(|piece| !wanted.only_server || piece.part == Part::Server);
        let mut pieces = once_each(pieces.collect());
        if wanted.agents_md {
            pieces.push(wanted::agents_md(root));
        }
        let mut outcome =
            self.carry_out(&pieces, Aim::Set { only_server: wanted.only_server }, scope, dry_run)?;
        outcome.setup.warnings.extend(agents.iter().flat_map(|agent| self.skipped(*agent, scope)));
        outcome.given = agents.iter().map(|agent| self.given(*agent, scope)).collect();
        Ok(outcome)
    }

    /// Why the agent does not read a file of its settings, whatever else is in it.
    fn skipped(&self, agent: Host, scope: Scope) -> Vec<String> {
        if !agent.is_strict() {
            return Vec::new();
        }
        let pieces = self.pieces(agent, scope).into_iter();
        let json = pieces.filter(|piece| matches!(piece.content, wanted::Content::Json(_)));
        let fault = |piece: Piece| {
            let text = self.reads(scope).of(&piece.path).ok()?.text?;
            let fault = json::strict_fault(&text)?;
            let path = chronicle::plain(&piece.path.to_string_lossy()).into_owned();
            Some(format!("PROBLEM: {} skips all of `{path}`: {fault}", agent.title()))
        };
        json.filter_map(fault).collect()
    }

    /// What of ours the files of an agent hold.
    fn given(&self, agent: Host, scope: Scope) -> Given {
        let mut parts: Vec<String> = Vec::new();
        let mut n_skills = 0;
        for piece in self.pieces(agent, scope) {
            let text = self.reads(scope).of(&piece.path).ok().and_then(|read| read.text).unwrap_or_default();
            if !piece.content.is_in(&text) {
                continue;
            }
            match piece.part {
                Part::Hooks => parts.push("hooks".to_owned()),
                Part::Server => {
                    let has_hooks = json::value(&text).ok().flatten();
                    let has_hooks = has_hooks.is_some_and(|value| !json::our_hooks(&value).is_empty());
                    parts.extend(has_hooks.then(|| "hooks".to_owned()));
                    parts.push("tools (MCP)".to_owned());
                }
                Part::Shared => n_skills += 1,
                Part::Permissions => {}
            }
        }
        parts.extend((0 < n_skills).then(|| format!("{n_skills} skills")));
        parts.extend(self.has_permissions(agent, scope).then(|| "permissions".to_owned()));
        Given { agent, parts }
    }

    /// Takes out what was set up for `agents`; what others of them need stays.
    ///
    /// # Errors
    /// As [`Ground::set_up`].
    pub fn take_out(&self, agents: &[Host], scope: Scope, dry_run: bool) -> Result<Outcome, Error> {
        let others = self.set_up_agents(scope).into_iter().filter(|agent| !agents.contains(agent));
        let kept: Vec<PathBuf> =
            others.flat_map(|agent| self.pieces(agent, scope)).map(|piece| piece.path).collect();
        let own = agents.iter().filter_map(|agent| wanted::permissions_piece(*agent, self, scope));
        let pieces = agents.iter().flat_map(|agent| self.pieces(*agent, scope)).chain(own);
        let trusted = match agents.contains(&Host::Codex) && scope == Scope::User {
            true => self.trusted_hooks(scope),
            false => Vec::new(),
        };
        let pieces = pieces.map(|mut piece| {
            if let wanted::Content::Toml(server) = &mut piece.content {
                server.trusted.clone_from(&trusted);
            }
            piece
        });
        let mut pieces = once_each(pieces.filter(|piece| !kept.contains(&piece.path)).collect());
        if let Some((_, root)) = self.place(scope).filter(|_| kept.is_empty()) {
            pieces.push(wanted::agents_md(root));
        }
        self.carry_out(&pieces, Aim::Take, scope, dry_run)
    }

    fn carry_out(&self, pieces: &[Piece], aim: Aim, scope: Scope, dry_run: bool) -> Result<Outcome, Error> {
        let mut outcome = Outcome { setup: Setup::begun(dry_run), n_refused: 0, given: Vec::new() };
        let Some((folder, _)) = self.place(scope) else { return Ok(outcome) };
        if scope == Scope::Project {
            record::ensure_unlinked(folder)?;
        }
        let mut record = Record::load(folder);
        let reads = self.reads(scope);
        let plans: Vec<_> =
            pieces.iter().map(|piece| plan(piece, aim, reads, record.states(&piece.path))).collect();
        let is_needed = plans.iter().any(|plan| matches!(plan, Ok(Some(_)))) || record.has(pieces);
        // Who changes nothing leaves nothing behind, not even a lock.
        if dry_run || !is_needed {
            for (piece, plan) in pieces.iter().zip(plans) {
                outcome.note(piece, plan.map(|plan| plan.map(|plan| plan.describe(piece))));
            }
            if !dry_run && matches!(aim, Aim::Take) && record.is_empty() {
                leave(folder, &[]);
            }
            return Ok(outcome);
        }
        record.announce_folders(&folder.join(LOCK));
        let made_for_record = record.folders().to_vec();
        private_folder(folder)?;
        let lock = FileLock::acquire(&folder.join(LOCK))?;
        record = Record::load(folder);
        record.add_folders(made_for_record);
        for piece in pieces {
            let done = change(piece, aim, reads, &mut record);
            outcome.note(piece, done);
        }
        if matches!(aim, Aim::Take) {
            if let Some(top) = reads.top {
                record.keep_folders_below(&[top, folder]);
            }
            record.remove_folders();
        }
        let written = |source| Error::WriteOutput { path: folder.to_owned(), source };
        if !record.is_empty() {
            record.store().map_err(written)?;
            return Ok(outcome);
        }
        let own_folders = record.take_folders();
        record.store().map_err(written)?;
        leave(folder, &own_folders);
        drop(lock);
        Ok(outcome)
    }
}

impl Outcome {
    fn note(&mut self, piece: &Piece, done: Result<Option<SetupChange>, String>) {
        match done {
            Ok(change) => self.setup.changes.extend(change),
            Err(reason) => {
                self.n_refused += 1;
                let path = chronicle::plain(&piece.path.to_string_lossy()).into_owned();
                self.setup.warnings.push(format!("`{path}` was left alone: {reason}"));
            }
        }
    }
}

/// Removes the lock, and as many folders as are empty: the last of us puts out the light.
fn leave(folder: &Path, made: &[PathBuf]) {
    let _removed = fs::remove_file(folder.join(LOCK));
    let _removed = fs::remove_dir(folder);
    for made in made.iter().rev() {
        let _removed = fs::remove_dir(made);
    }
}

/// Makes the folder for what is ours, for its owner only.
fn private_folder(folder: &Path) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|source| Error::WriteOutput { path: folder.to_owned(), source })
}

/// How `program` is called best: by a name on the `PATH` that leads to it, as that outlives an update.
fn lasting(program: &Path, path: &OsStr) -> String {
    let is_it = |candidate: &PathBuf| {
        candidate.is_absolute() && candidate.canonicalize().is_ok_and(|real| real == program)
    };
    let named = std::env::split_paths(path).map(|folder| folder.join(ours::PROGRAM)).find(is_it);
    named.as_deref().unwrap_or(program).to_string_lossy().into_owned()
}

/// Several agents may want the same of one file.
fn once_each(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut once: Vec<Piece> = Vec::new();
    for piece in pieces {
        if !once.iter().any(|other| other.path == piece.path) {
            once.push(piece);
        }
    }
    once
}

/// A change of one file.
struct Plan {
    read: Read,
    /// What it is to hold; without anything it goes.
    after: Option<String>,
    /// What will be ours in it.
    state: Option<State>,
}

impl Plan {
    fn describe(&self, piece: &Piece) -> SetupChange {
        let action = match (&self.read.text, &self.after) {
            (None, _) => "create",
            (Some(_), None) => "remove",
            (Some(_), Some(_)) => "edit",
        };
        let before = self.read.bytes(self.read.text.as_deref());
        SetupChange::new(action, &piece.path, &before, &self.read.bytes(self.after.as_deref()))
    }
}

/// What is to be done with a file; nothing where it is as it should be.
fn plan(piece: &Piece, aim: Aim, reads: Reads<'_>, states: &[State]) -> Result<Option<Plan>, String> {
    let read = match reads.of(&piece.path) {
        Err(_) if matches!(aim, Aim::Take) && states.is_empty() => return Ok(None),
        read => read?,
    };
    let Some(text) = &read.text else {
        let Aim::Set { only_server } = aim else { return Ok(None) };
        let edited = match only_server {
            true => piece.content.without_hooks().put_into("")?,
            false => piece.content.put_into("")?,
        };
        let state = State { made: true, edits: edited.edits };
        return Ok(Some(Plan { read, after: Some(edited.text), state: Some(state) }));
    };
    let is_none_of_ours = states.is_empty() && !text.contains(ours::PROGRAM) && !piece.content.is_in(text);
    if matches!(aim, Aim::Take) && is_none_of_ours {
        // However broken it is.
        return Ok(None);
    }
    let clean = piece.content.taken_out_of(text, states)?;
    let is_made = |text: &str| piece.content.is_whole() && piece.content.is_in(text);
    let made =
        states.last().map_or_else(|| is_made(text), |state| state.made) && piece.content.is_nothing(&clean);
    let only_server = match aim {
        Aim::Set { only_server } => only_server,
        Aim::Take if clean == *text => return Ok(None),
        Aim::Take => {
            let after = (!made).then_some(clean);
            return Ok(Some(Plan { read, after, state: None }));
        }
    };
    // Whoever asks for the server alone keeps the hooks that are in the same file.
    let has_hooks = json::value(text).ok().flatten().is_some_and(|value| !json::our_hooks(&value).is_empty());
    let clean = if made { String::new() } else { clean };
    let edited = match only_server && !has_hooks {
        true => piece.content.without_hooks().put_into(&clean)?,
        false => piece.content.put_into(&clean)?,
    };
    if edited.text == *text || piece.content.is_same(text, &edited.text) {
        return Ok(None);
    }
    let state = State { made, edits: edited.edits };
    Ok(Some(Plan { read, after: Some(edited.text), state: Some(state) }))
}

/// Changes one file.
fn change(
    piece: &Piece,
    aim: Aim,
    reads: Reads<'_>,
    record: &mut Record,
) -> Result<Option<SetupChange>, String> {
    for _ in 0..MAX_ATTEMPTS {
        let planned = plan(piece, aim, reads, record.states(&piece.path))?;
        let Some(plan) = planned else {
            if let (Aim::Take, Ok(read)) = (aim, reads.of(&piece.path)) {
                read.sweep();
                record.forget(&piece.path);
            }
            return Ok(None);
        };
        let said = |error: std::io::Error| error.to_string();
        if let Some(state) = &plan.state {
            record.announce(&piece.path, state.clone());
            record.announce_folders(&plan.read.target);
            record.store().map_err(said)?;
        }
        // Settings may hold keys; what goes into a project is for everyone.
        let is_private = reads.top.is_none();
        let done = plan.read.replace(plan.after.as_deref(), is_private);
        if !matches!(done, Ok(true)) && plan.state.is_some() {
            record.withdraw(&piece.path);
        }
        if done.map_err(said)? {
            match plan.state {
                Some(_) => record.settle(&piece.path),
                None => record.forget(&piece.path),
            }
            return Ok(Some(plan.describe(piece)));
        }
    }
    Err("another program changes it all the time".to_owned())
}
