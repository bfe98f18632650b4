//! What is known about some code.

use std::{collections::HashSet, path::PathBuf};

use chronicle_commits::{Limits, ReadRequest, Recent, Scope, ScopeFile};
use chronicle_core::{
    Category, ContextLevel, LineRange, count_lines,
    reading::{Query, Reading},
    trim,
};
use chronicle_git::{ByteSlice, GitError};
use chronicle_workplace::{
    Error,
    error::{
        AnchorNeedsOneFileSnafu, InvalidSinceSnafu, LinesNeedOneFileSnafu, LinesPastEndSnafu,
        LinesWithAnchorSnafu,
    },
};
use jiff::Timestamp;

use crate::{Chronicle, anchors::Anchored};

/// The largest answer wanted, in tokens, and how it will be written.
#[derive(Clone, Copy)]
pub enum Budget<'m> {
    /// As JSON, which lists every commit of which something is left out.
    Json(usize),
    /// As a text.
    Text {
        /// The tokens.
        max_tokens: usize,
        /// How many bytes the text of an answer has.
        measure: &'m dyn Fn(&Reading) -> usize,
    },
}

/// The question of a read.
#[derive(Clone)]
pub struct ReadCommand<'m> {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// An item of the one file. Without it, the last of several paths may be one, if it names no path.
    pub anchor: Option<String>,
    /// Lines of the one file.
    pub lines: Option<LineRange>,
    /// An ISO 8601 date or a revision.
    pub since: Option<String>,
    /// With one of these labels; empty for any.
    pub tags: Vec<String>,
    /// Lessons of this category only.
    pub category: Option<Category>,
    /// Testimony or inference only.
    pub context_level: Option<ContextLevel>,
    /// Trusted at least so far.
    pub min_confidence: f64,
    /// At most so many items; the settings say, if nobody else.
    pub max_regions: Option<usize>,
    /// Hops of related annotations to follow.
    pub depth: u32,
    /// The largest answer wanted.
    pub budget: Option<Budget<'m>>,
    /// Whether commits of other branches count too.
    pub all: bool,
    /// Whether nobody asks which commit took code away.
    pub is_brief: bool,
    /// Whether corrections show the values that they replaced: people look at what became of a lesson.
    pub with_replaced: bool,
    /// Whether empty fields are written too; they count against the budget.
    pub verbose: bool,
}

impl Default for ReadCommand<'_> {
    fn default() -> Self {
        Self {
            paths: Vec::new(),
            anchor: None,
            lines: None,
            since: None,
            tags: Vec::new(),
            category: None,
            context_level: None,
            min_confidence: 0.0,
            max_regions: None,
            depth: 1,
            budget: None,
            all: false,
            is_brief: false,
            with_replaced: false,
            verbose: false,
        }
    }
}

impl Chronicle {
    /// What is known about the code at some paths.
    ///
    /// # Errors
    /// When a path was never there, lines do not exist, or the repository cannot be read.
    pub fn read(&self, command: &ReadCommand) -> Result<Reading, Error> {
        let reading = self.read_whole(command)?;
        self.fit(reading, command)
    }

    /// The part of the one file that is asked about, and what is left to tell about its name.
    ///
    /// `content` are the bytes of the file; `None` when it is gone, or when there are several files.
    fn scope_of(
        &self,
        command: &ReadCommand,
        anchor: Option<&str>,
        files: &[ScopeFile],
        content: Option<&[u8]>,
    ) -> Result<(Scope, Anchored), Error> {
        match (anchor, command.lines) {
            (None, None) => Ok((Scope::default(), Anchored::default())),
            (Some(_), Some(_)) => LinesWithAnchorSnafu.fail(),
            (None, Some(lines)) => {
                let Some(content) = content else { return LinesNeedOneFileSnafu.fail() };
                let n_lines = count_lines(content);
                snafu::ensure!(lines.end <= n_lines, LinesPastEndSnafu { lines, n_lines });
                Ok((Scope { lines: Some(vec![lines]), names: Vec::new() }, Anchored::default()))
            }
            (Some(anchor), None) => {
                let [file] = files else { return AnchorNeedsOneFileSnafu { anchor }.fail() };
                let mut anchored = self.anchored(&file.path.to_string(), content, anchor);
                let lines = Some(std::mem::take(&mut anchored.lines));
                Ok((Scope { lines, names: std::mem::take(&mut anchored.names) }, anchored))
            }
        }
    }

    /// The question of `command` about `files`, which `names` stand for.
    fn request(
        &self,
        command: &ReadCommand,
        files: Vec<ScopeFile>,
        mut names: Vec<String>,
        (anchor, scope): (Option<String>, Scope),
    ) -> Result<ReadRequest, Error> {
        // Of an item, where it is now.
        let item = scope.lines.as_ref().and_then(|lines| lines.first().copied());
        let (file, names) = match &mut names[..] {
            [only] => (Some(std::mem::take(only)), Vec::new()),
            _ => (None, names),
        };
        let query = Query {
            file,
            files: names,
            anchor,
            lines: command.lines.or(item).map(|lines| [lines.start, lines.end]),
            depth: command.depth,
        };
        let mut limits = self.limits(command)?;
        limits.lessons_only = command.category.is_some();
        Ok(ReadRequest {
            query,
            files,
            scopes: vec![scope],
            limits,
            all: command.all,
            at: None,
            half_life_days: self.workplace.read_settings()?.half_life_days,
            now: self.workplace.now(),
        })
    }

    /// Answers without regard to how long the answer is.
    fn read_whole(&self, command: &ReadCommand) -> Result<Reading, Error> {
        let head = self.workplace.repository()?.head()?.ok_or(GitError::NoCommits)?;
        let mut files = Vec::new();
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        let mut remarks = Vec::new();
        let mut is_directory = false;
        let mut anchor = command.anchor.clone();
        for (number, path) in command.paths.iter().enumerate() {
            let scope = match self.scope(path, head) {
                // What names no path, now or ever, may be meant as a name of code.
                Err(Error::FileNotFound { .. }) if may_be_anchor(command, number) => {
                    anchor = Some(path.to_string_lossy().into_owned());
                    continue;
                }
                found => found?,
            };
            files.extend(scope.files.into_iter().filter(|file| seen.insert(file.clone())));
            names.push(scope.name);
            remarks.extend(scope.remark);
            is_directory |= scope.is_directory;
        }
        let content = match (&files[..], is_directory) {
            ([file], false) if command.lines.is_some() || anchor.is_some() => {
                self.workplace.repository()?.fetch_present(Some(head), [file.path.as_bstr()])?;
                self.workplace
                    .repository()?
                    .present_file(Some(head), file.path.as_bstr())?
                    .map(|file| file.content)
            }
            _ => None,
        };
        let content = content.as_deref().or_else(|| match (&files[..], is_directory) {
            // Lines of a file that is gone are past its end.
            ([_], false) if command.lines.is_some() => Some(b""),
            _ => None,
        });
        let (scope, anchored) = self.scope_of(command, anchor.as_deref(), &files, content)?;
        let request = self.request(command, files, names, (anchor, scope))?;
        let reading = chronicle_commits::read(self.workplace.lazy(), self.workplace.caches(), &request)?;
        with_remarks(reading, remarks, anchored)
    }

    /// The newest lessons of the whole repository.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn read_recent(&self, command: &ReadCommand) -> Result<Reading, Error> {
        let limits = Limits { lessons_only: true, ..self.limits(command)? };
        self.fit(self.recent(limits)?, command)
    }

    /// All that is known of the repository: its lessons, the newest first, and why its commits are as they are.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn read_all(&self) -> Result<Reading, Error> {
        let command = ReadCommand {
            max_regions: Some(usize::MAX),
            depth: 0,
            is_brief: true,
            with_replaced: true,
            ..ReadCommand::default()
        };
        self.fit(self.recent(self.limits(&command)?)?, &command)
    }

    fn recent(&self, limits: Limits) -> Result<Reading, Error> {
        let half_life_days = self.workplace.read_settings()?.half_life_days;
        let recent = Recent { limits, half_life_days, now: self.workplace.now() };
        Ok(chronicle_commits::read_recent(self.workplace.lazy(), self.workplace.caches(), &recent)?)
    }

    /// The files with lessons that are known without a look at history, in order: at most so many whose path from the
    /// root begins with `start`.
    ///
    /// # Errors
    /// When there is no repository, or facts cannot be read.
    pub fn files_with_lessons(&self, start: &str, most: usize) -> Result<Vec<String>, Error> {
        let root = self.workplace.repository()?.work_dir().map(std::path::Path::to_owned);
        let caches = self.workplace.caches();
        let files = chronicle_commits::files_with_lessons(caches, start.as_bytes(), most)?;
        let files = files.into_iter().filter_map(|file| String::from_utf8(file.into()).ok());
        Ok(files.filter(|file| root.as_ref().is_some_and(|root| root.join(file).exists())).collect())
    }

    pub(crate) fn limits(&self, command: &ReadCommand) -> Result<Limits, Error> {
        Ok(Limits {
            since: command.since.as_deref().map(|text| self.moment(text)).transpose()?,
            tags: command.tags.clone(),
            lessons_only: false,
            per_file: false,
            category: command.category,
            context_level: command.context_level,
            min_confidence: command.min_confidence,
            max_regions: self.max_regions(command)?,
            depth: command.depth,
            as_written: command.verbose,
            without_gone: false,
            is_brief: command.is_brief,
            with_replaced: command.with_replaced,
            without_stats: false,
        })
    }

    pub(crate) fn max_regions(&self, command: &ReadCommand) -> Result<usize, Error> {
        Ok(command.max_regions.unwrap_or(self.workplace.read_settings()?.max_regions))
    }

    /// The moment that a date or a revision stands for.
    pub fn moment(&self, text: &str) -> Result<Timestamp, Error> {
        if let Some(time) = chronicle_core::parse_time(text) {
            return Ok(time);
        }
        match self.workplace.repository()?.resolve(text) {
            Ok(id) => Ok(self.workplace.repository()?.commit(id)?.time),
            Err(GitError::UnknownRevision { .. }) => InvalidSinceSnafu { text }.fail(),
            Err(other) => Err(other.into()),
        }
    }

    pub(crate) fn fit(&self, mut reading: Reading, command: &ReadCommand) -> Result<Reading, Error> {
        for warning in self.workplace.read_settings()?.warnings.iter().rev() {
            if !reading.warnings.contains(warning) {
                reading.warnings.insert(0, warning.clone());
            }
        }
        let bytes_of_json = |reading: &Reading| reading.json_line(command.verbose).len();
        match command.budget {
            None if reading.beyond_limit.is_empty() => Ok(reading),
            None => {
                let tokens = bytes_of_json(&reading).div_ceil(trim::BYTES_PER_TOKEN);
                Ok(trim::with_all_dropped(reading.clone(), &reading, tokens))
            }
            Some(Budget::Json(max_tokens)) => fit_whole_list(&reading, max_tokens, &bytes_of_json),
            Some(Budget::Text { max_tokens, measure }) => fit_items(&reading, max_tokens, measure),
        }
    }
}

/// Cuts `reading` to a budget; one that is too small for any item still shows what the most trusted one is for.
fn fit_items(
    reading: &Reading,
    max_tokens: usize,
    bytes: impl Fn(&Reading) -> usize,
) -> Result<Reading, Error> {
    let n_items = reading.n_items();
    match trim::fit(reading.clone(), max_tokens, bytes) {
        Ok(cut) if 0 < cut.n_items() || n_items == 0 => Ok(cut),
        Err(error) if n_items == 0 => Err(error.into()),
        _ => Ok(trim::skeleton(reading, max_tokens)),
    }
}

/// [`fit_items`], with all commits of which something is left out. Where that list leaves no room for any item, the items
/// have the budget, and the list comes on top.
fn fit_whole_list(
    reading: &Reading,
    max_tokens: usize,
    bytes: &impl Fn(&Reading) -> usize,
) -> Result<Reading, Error> {
    let whole = |cut: &Reading| trim::with_all_dropped(cut.clone(), reading, max_tokens);
    if let Ok(cut) = trim::fit(reading.clone(), max_tokens, |cut| bytes(&whole(cut)))
        && (0 < cut.n_items() || reading.n_items() == 0)
    {
        return Ok(whole(&cut));
    }
    Ok(whole(&fit_items(reading, max_tokens, bytes)?))
}

/// The answer with what is to be told about the paths and the name that were given.
fn with_remarks(
    mut reading: Reading,
    mut remarks: Vec<String>,
    anchored: Anchored,
) -> Result<Reading, Error> {
    reading.ambiguous_anchor = anchored.is_ambiguous;
    remarks.extend(anchored.into_remarks(reading.knows_anchor)?);
    reading.warnings.splice(0..0, remarks);
    Ok(reading)
}

/// Whether the path of this number may be an anchor instead: the last of several, when none is given otherwise.
fn may_be_anchor(command: &ReadCommand, number: usize) -> bool {
    let Some(name) = command.paths.get(number).and_then(|path| path.to_str()) else { return false };
    // What can only be a path is one that is missing.
    let is_path = name.contains('/') || chronicle_outline::language_of(name, b"").is_some();
    command.anchor.is_none() && 0 < number && number + 1 == command.paths.len() && !is_path
}
