//! What is remembered of a session while its turns go by.
//!
//! Turns are seen once and not kept: a journal holds the few of them that a
//! digest or a thread may need. What sub-agents do belongs to the call that
//! started them.

pub(crate) mod decisions;
pub(crate) mod deeds;
pub(crate) mod libraries;
pub(crate) mod noted;
pub(crate) mod todos;
pub(crate) mod uncommitted;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::decisions::{Awaited, Reply, answers, decided, planned, turned_down};
use self::deeds::{Requests, shows_pull_request, shows_push};
use self::libraries::libraries;
use self::noted::Noted;
use self::todos::Todos;
use self::uncommitted::Uncommitted;
use crate::commands::checks::{Called, CheckKind, Ran};
use crate::rows::tools::{cut, is_asking};
use crate::turn::{Commit, EditKind, Event, Outcome, Synthetic, Turn};
use crate::words::{any_case, bare_name, first_sentence, imperative, is_farewell, is_substantive, shortened};

/// How many of anything are kept.
const MOST: usize = 2_000;

/// How much of a request is kept to tell what an account of it is about.
const LONGEST_REQUEST: usize = 400;

/// How many created files, and files that are as they were, are kept.
const MOST_CREATED: usize = 40;

/// How long an action is told at most.
const LONGEST_ACTION: usize = 60;

/// How many closing words of the agent are kept, the last ones.
const MOST_ANSWERED: usize = 64;

/// How many requests behind slash commands are kept.
const MOST_ASKED: usize = 8;

/// How many calls that succeeded are remembered.
const MOST_SUCCESSES: usize = 100_000;

/// How many libraries are kept.
const MOST_LIBRARIES: usize = 200;

/// How much of something that was said is kept.
const LONGEST_WORDS: usize = 8_000;

/// Words with which an agent says where a problem comes from.
static DIAGNOSES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    any_case([
        "root cause",
        "the issue is",
        "the problem is",
        "the cause ",
        "causing ",
        "the fix is",
        "the bug is",
    ])
});

/// A check that ran, as it went the last time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The command.
    pub command: String,
    /// What it checks.
    pub kind: CheckKind,
    /// Whether it found nothing wrong the last time, if that is known.
    pub is_passed: Option<bool>,
    /// How often it ran.
    pub n_runs: usize,
    /// Whether code was changed after it ran: what it showed may no longer be so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_outdated: bool,
    #[serde(skip)]
    pub(crate) noted: Noted,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// Its path from the top of the working tree, or as the agent named it where it lies in none.
    pub path: String,
    /// How it was changed last.
    pub kind: EditKind,
    /// How often.
    pub n_changes: usize,
}

/// Something that was filed elsewhere for later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Issue {
    pub(crate) title: String,
    /// What its tracker calls it, as far as its answer says: `SHOP-12`, `12`.
    id: Option<String>,
    pub(crate) noted: Noted,
}

/// How it stood when a human said thanks or goodbye.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Left {
    /// The turn with which something was asked for last.
    asked: usize,
    /// The agent's last word.
    said: Option<Noted>,
}

/// What the agent said last before a human spoke again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Closing {
    pub(crate) said: Noted,
    /// What had been asked for.
    pub(crate) request: String,
    /// How many edits came between the human's words and it.
    pub(crate) n_edits: usize,
    /// Whether a commit did.
    pub(crate) has_commit: bool,
}

/// Changes that were put aside with `git stash`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Stashes {
    n_kept: usize,
    /// What was dropped though it never came back.
    pub(crate) lost: Vec<Noted>,
}

impl Stashes {
    fn see(&mut self, command: &str, outcome: &Outcome, noted: &Noted) {
        if !command.contains("git stash") {
            return;
        }
        if outcome.text.contains("Saved working directory") {
            self.n_kept += 1;
        }
        let is_dropped = outcome.text.contains("Dropped refs/stash");
        // `pop` says so, too, once the changes are back.
        let is_back = command.contains("stash pop") || command.contains("stash apply");
        if is_dropped && is_back && outcome.is_ok == Some(true) {
            self.n_kept = self.n_kept.saturating_sub(1);
        } else if is_dropped && 0 < self.n_kept && self.lost.len() < 4 {
            self.n_kept -= 1;
            let line =
                outcome.text.lines().find(|line| line.contains("Dropped refs/stash")).unwrap_or_default();
            self.lost.push(Noted { words: cut(line, LONGEST_REQUEST), ..noted.clone() });
        }
    }
}

/// What was asked for and done since the agent's last account.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct AtHand {
    /// What a human said last.
    request: String,
    /// The same and what was said before it, since that account.
    all_requests: String,
    n_edits: usize,
    has_commit: bool,
}

/// The memory of a session that is being read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Journal {
    n_turns: usize,
    /// The folder in which it began; empty where that is not known.
    folder: String,
    /// The time of the newest turn that has one: some rows of some agents have none.
    now: Option<Timestamp>,
    pub(crate) session: Option<String>,
    pub(crate) n_prompts: usize,
    pub(crate) n_interruptions: usize,
    pub(crate) n_errors: usize,
    pub(crate) first_wish: Option<Noted>,
    pub(crate) plan_title: Option<String>,
    /// The heading of the first plan that a human agreed to.
    pub(crate) agreed_plan: Option<String>,
    pub(crate) wishes: Vec<Noted>,
    /// What was written behind slash commands: requests for titles, not words to a human's account.
    pub(crate) commanded: Vec<Noted>,
    pub(crate) last_prompt: Option<Noted>,
    /// How it stood when a human said thanks or goodbye, if nothing was done or asked for since.
    pub(crate) left: Option<Left>,
    pub(crate) last_said: Option<Noted>,
    /// The last words of the agent on where a problem comes from.
    pub(crate) last_diagnosis: Option<Noted>,
    pub(crate) last_work: Option<Noted>,
    pub(crate) last_edit: Option<Noted>,
    pub(crate) last_commit: Option<Noted>,
    pub(crate) last_interruption: Option<Noted>,
    pub(crate) last_summary: Option<Noted>,
    pub(crate) last_plan: Option<(Noted, Option<bool>)>,
    pub(crate) prompts: Vec<Noted>,
    /// What the agent said last before each prompt, if it had the last word.
    answered: Vec<Closing>,
    at_hand: AtHand,
    pub(crate) was_pushed: bool,
    opened_pull_request: bool,
    /// The title of the pull request that a command opened.
    pub(crate) pull_request_title: Option<String>,
    pub(crate) decisions: Vec<Noted>,
    /// The last words of a human that may decide something, until the agent says what it makes of them.
    awaited: Option<(Awaited, Noted)>,
    pub(crate) files: Vec<ChangedFile>,
    /// Files that were not there before, as their first edits say.
    pub(crate) created: Vec<String>,
    #[serde(with = "noted_checks")]
    pub(crate) checks: Vec<Check>,
    pub(crate) commands: BTreeMap<String, usize>,
    pub(crate) commits: Vec<(Commit, Noted)>,
    /// Whether the last command only makes commits again that were there.
    is_rewriting: bool,
    /// The turns of commits that are older ones, made again by a rebase.
    rewritten: Vec<usize>,
    pub(crate) pull_requests: Vec<String>,
    pub(crate) issues: Vec<Issue>,
    /// Libraries that edits imported or wrote into manifests, and how often.
    pub(crate) libraries: BTreeMap<String, usize>,
    successes: Vec<usize>,
    /// The last call that a human turned down, and whether it was an edit; none once work went on.
    pub(crate) rejected: Option<(Noted, bool)>,
    /// The last edit that a human turned down, and what the human said to it; none once an edit was accepted.
    pub(crate) refused_edit: Option<(Noted, String)>,
    pub(crate) uncommitted: Uncommitted,
    /// The names of files whose edits were taken back, and when.
    pub(crate) undone: Vec<(String, usize)>,
    /// The last turn that changed code of the project, rather than prose, plans and scratch files.
    last_code_edit: usize,
    /// Whether a command failed.
    pub(crate) has_failures: bool,
    /// Whether a command ran that may have changed files.
    may_have_written: bool,
    /// What the last work was, where it says something.
    last_action: Option<Noted>,
    pub(crate) stashes: Stashes,
    pub(crate) todos: Todos,
    pub(crate) requests: Requests,
}

impl Journal {
    /// The turn with which a human asked for something last: thanks and goodbyes ask for nothing.
    pub(crate) fn asked_last(&self) -> usize {
        self.left.as_ref().map_or(Self::number(self.last_prompt.as_ref()), |left| left.asked)
    }

    /// What the agent said last, if nothing was asked or done after it. `You're welcome` takes the place of no account.
    pub(crate) fn last_word(&self) -> Option<&Noted> {
        match &self.left {
            Some(left) => left.said.as_ref(),
            None => self.last_said.as_ref().filter(|said| self.is_last_word(said)),
        }
    }

    /// Whether nothing was asked or done after `said`.
    pub(crate) fn is_last_word(&self, said: &Noted) -> bool {
        let later = [&self.last_prompt, &self.last_interruption, &self.last_work];
        later.iter().all(|noted| Self::number(noted.as_ref()) < said.number)
    }

    /// An empty journal of the session that the caller names.
    #[must_use]
    pub fn new(session: Option<&str>) -> Self {
        Self { session: session.map(str::to_owned), ..Self::default() }
    }

    /// The agent's list of what is to do.
    #[must_use]
    pub fn todos(&self) -> &Todos {
        &self.todos
    }

    /// Notes what a turn says.
    pub fn take(&mut self, turn: &Turn<'_>) {
        self.take_called(turn, Called::in_turn(turn));
    }

    /// Notes what a turn says, which `called` that.
    pub(crate) fn take_called(&mut self, turn: &Turn<'_>, called: Called) {
        self.note_state(&turn.event);
        self.has_failures |= called.has_failed()
            || matches!(&turn.event, Event::Command(_, outcome) if outcome.is_ok == Some(false));
        if turn.sub_agent.is_some() {
            if let Event::Commit(commit) = &turn.event {
                self.committed(commit, turn, turn.at.or(self.now));
            }
            return self.requests.see_beside(&turn.event);
        }
        self.requests.see(&turn.event);
        if matches!(&turn.event, Event::Edit(..) | Event::Command(..) | Event::Tool(..)) {
            self.left = None;
        }
        self.n_turns += 1;
        self.now = turn.at.or(self.now);
        let at = self.now;
        if let Event::Edit(_, outcome) | Event::Command(_, outcome) | Event::Tool(_, outcome) = &turn.event
            && outcome.is_ok == Some(true)
            && self.successes.len() < MOST_SUCCESSES
        {
            self.successes.push(self.n_turns);
        }
        let turned_down_call = self.rejected.clone();
        self.note_rejection(turn, at);
        let source = source(turn);
        let noted = |words: &str| Noted {
            source: source.clone(),
            at,
            words: cut(words, LONGEST_WORDS),
            number: self.n_turns,
        };
        match &turn.event {
            Event::Prompt(words) => {
                let noted = noted(words);
                self.prompt(noted);
            }
            Event::Synthetic(Synthetic::Plan, words) => {
                let noted = noted(words);
                self.close_task(words);
                let title =
                    words.lines().find_map(|line| line.strip_prefix("# ")).map(|title| shortened(title, 200));
                if self.plan_title.is_none() {
                    self.plan_title = title;
                }
                for words in planned(words) {
                    self.decide(Noted { words, ..noted.clone() });
                }
                self.last_prompt = Some(noted);
            }
            Event::Synthetic(Synthetic::Summary, words) => self.last_summary = Some(noted(words)),
            Event::Synthetic(Synthetic::Command, words) => {
                let arguments = arguments(words);
                if is_substantive(arguments) && self.commanded.len() < MOST_ASKED {
                    let noted = noted(arguments);
                    self.commanded.push(noted);
                }
            }
            Event::Synthetic(..) => {}
            Event::Said(words) => {
                let noted = noted(words);
                self.restate(words);
                if DIAGNOSES.is_match(words.as_ref()) {
                    self.last_diagnosis = Some(noted.clone());
                }
                self.last_said = Some(noted);
            }
            Event::Edit(edit, outcome) if outcome.is_ok != Some(false) => {
                let noted = noted(&edit.path);
                self.last_action = Some(Noted { words: call_of(&edit.path, true), ..noted.clone() });
                self.last_edit = Some(noted.clone());
                // Plans are notes of the agent.
                self.at_hand.n_edits += usize::from(!edit.path.contains("/.claude/plans/"));
                self.last_work = Some(noted);
                let is_new = edit.kind == EditKind::Written
                    && (outcome.text.contains("created successfully")
                        || outcome.text.contains("Successfully created"))
                    && !self.files.iter().any(|file| file.path == edit.path);
                if is_new && self.is_of_the_work(&edit.path) && self.created.len() < MOST_CREATED {
                    self.created.push(edit.path.clone());
                }
                if edit.kind == EditKind::Deleted {
                    self.created.retain(|path| *path != edit.path);
                }
                self.changed(&edit.path, edit.kind);
                for replaced in &edit.replaced {
                    for library in libraries(&edit.path, &replaced.new) {
                        if self.libraries.contains_key(&library) || self.libraries.len() < MOST_LIBRARIES {
                            *self.libraries.entry(library).or_default() += 1;
                        }
                    }
                }
            }
            Event::Edit(edit, _) => {
                self.last_action = Some(noted(&call_of(&edit.path, true)));
                self.last_work = Some(noted(&edit.path));
            }
            Event::Command(command, outcome) if outcome.is_refused => {
                self.last_action = Some(noted(&call_of(first_line(command), false)));
                self.last_work = Some(noted(command));
            }
            Event::Command(command, outcome) => {
                let noted = noted(command);
                self.command((command, outcome), called, &noted);
                self.may_have_written |= outcome.is_ok != Some(false) && may_write(command);
                let what = format!("`{}`", shortened(first_line(command), LONGEST_ACTION));
                self.last_action = Some(Noted { words: what, ..noted.clone() });
                self.last_work = Some(noted);
            }
            Event::Commit(commit) => {
                self.last_commit = Some(noted(&commit.subject));
                self.at_hand.has_commit = true;
                if self.is_rewriting && self.rewritten.len() < MOST {
                    self.rewritten.push(self.n_turns);
                }
                self.committed(commit, turn, at);
            }
            Event::Todo(todo, outcome) => {
                if outcome.is_ok != Some(false) {
                    let by = noted("");
                    let prompted = Self::number(self.last_prompt.as_ref());
                    self.todos.apply(todo, &by, self.session.as_deref(), prompted);
                }
            }
            Event::Plan(plan, outcome) if outcome.is_ok == Some(true) => {
                self.last_plan = Some((noted(plan), outcome.is_ok));
                let title = plan.lines().find_map(|line| line.strip_prefix("# "));
                if self.agreed_plan.is_none() {
                    self.agreed_plan = title.map(|title| shortened(title, 200));
                }
                let title = shortened(title.unwrap_or(first_sentence(plan)), 140);
                let mut choices = planned(plan);
                if choices.is_empty() {
                    choices.push(format!("Agreed to the plan: {title}"));
                }
                let choices: Vec<Noted> = choices.iter().map(|words| noted(words)).collect();
                choices.into_iter().for_each(|choice| self.decide(choice));
            }
            Event::Plan(plan, outcome) => self.last_plan = Some((noted(plan), outcome.is_ok)),
            Event::Tool(tool, outcome) => {
                let noted = noted(&tool.about);
                if is_asking(&tool.name) && outcome.is_ok == Some(true) {
                    answers(&outcome.text, &tool.about)
                        .into_iter()
                        .for_each(|words| self.decide(Noted { words, ..noted.clone() }));
                }
                self.opened_pull_request |=
                    outcome.is_ok == Some(true) && tool.name.ends_with("create_pull_request");
                if is_sending(&tool.name) && !tool.about.is_empty() {
                    let about = shortened(&tool.about, LONGEST_ACTION);
                    self.last_action = Some(Noted { words: format!("“{about}”"), ..noted.clone() });
                }
                if outcome.is_ok == Some(true) && is_filing(&tool.name) && !tool.about.is_empty() {
                    self.file(&tool.about, &outcome.text, &noted);
                }
                if outcome.is_ok == Some(true) && is_updating(&tool.name) {
                    self.close_issue(&tool.about);
                }
                self.last_work = Some(noted);
            }
            Event::Error(_) => self.n_errors += 1,
            Event::Interruption(words) => {
                self.n_interruptions += 1;
                let noted = noted(words);
                if words.is_empty() {
                    self.last_interruption = Some(noted);
                } else {
                    // The human said what to do instead.
                    let call = turned_down_call.map(|(call, is_edit)| call_of(&call.words, is_edit));
                    for words in turned_down(&noted.words, call.as_deref()) {
                        self.decide(Noted { words, ..noted.clone() });
                    }
                    self.awaited = Awaited::of(&noted.words).map(|awaited| (awaited, noted.clone()));
                    self.heard(noted);
                }
            }
            Event::PullRequest(url) => self.pull_request(url),
        }
    }

    /// Notes what an event does to the state of files, whoever did it.
    fn note_state(&mut self, event: &Event<'_>) {
        // A sub-agent's turns are not counted: what it does comes after the turn before.
        let number = self.n_turns + 1;
        match event {
            Event::Edit(edit, outcome) if outcome.is_ok != Some(false) && self.is_of_the_work(&edit.path) => {
                if let Some(undone) = self.uncommitted.edit(&edit.path, number, &edit.replaced)
                    && self.undone.len() < MOST_CREATED
                {
                    self.undone.push((bare_name(undone).to_owned(), number));
                }
                if !is_prose(&edit.path) {
                    self.last_code_edit = number;
                }
                self.refused_edit = None;
            }
            Event::Command(command, outcome) if !outcome.is_refused => {
                self.uncommitted.run(command, outcome.is_ok, Some(&outcome.text));
            }
            Event::Synthetic(Synthetic::Shell, command) => self.uncommitted.run(command, None, None),
            Event::Commit(_) => {
                self.uncommitted.commit();
                self.refused_edit = None;
            }
            _ => {}
        }
    }

    /// Keeps the last call that was turned down, until work goes on.
    fn note_rejection(&mut self, turn: &Turn<'_>, at: Option<Timestamp>) {
        let (words, outcome, is_edit) = match &turn.event {
            Event::Edit(edit, outcome) => (&edit.path, outcome, true),
            Event::Command(command, outcome) => (command, outcome, false),
            Event::Tool(tool, outcome) => (&tool.about, outcome, false),
            Event::Interruption(words) => {
                // The human said what to do instead.
                if !words.is_empty() && !self.is_still_wanted(words) {
                    self.rejected = None;
                }
                if let Some((edit, said)) = &mut self.refused_edit
                    && edit.number + 1 == self.n_turns
                {
                    *said = cut(words, LONGEST_REQUEST);
                }
                return;
            }
            _ => return,
        };
        let is_of_human = !outcome.text.starts_with("Permission to use");
        if outcome.is_refused && is_of_human && !matches!(turn.event, Event::Tool(..)) {
            let noted =
                Noted { source: source(turn), at, words: cut(words, LONGEST_WORDS), number: self.n_turns };
            if is_edit && self.is_of_the_work(words) {
                self.refused_edit = Some((noted.clone(), String::new()));
            }
            self.rejected = Some((noted, is_edit));
        } else if outcome.is_ok == Some(true) && !self.is_still_wanted(words) {
            self.rejected = None;
        }
    }

    /// The check that says most of how the work is: what failed before what passed, tests before lints and builds.
    ///
    /// One that passed before the code was changed again shows nothing, and where nothing was changed it is no result.
    pub(crate) fn last_check(&self) -> Option<&Check> {
        let last_of = |kind: CheckKind| {
            self.checks.iter().rev().find(|check| check.kind == kind && check.is_passed.is_some())
        };
        let last: Vec<&Check> =
            [CheckKind::Test, CheckKind::Lint, CheckKind::Build].into_iter().filter_map(last_of).collect();
        let is = |is_passed, is_outdated| {
            move |check: &&&Check| {
                check.is_passed == Some(is_passed) && self.is_outdated(check) == is_outdated
            }
        };
        let failed = last.iter().find(is(false, false));
        let passed = || last.iter().find(is(true, false)).filter(|_| self.has_work());
        failed.or_else(passed).or_else(|| last.iter().find(is(false, true))).copied()
    }

    /// The checks, in the order in which they ran last.
    pub(crate) fn told_checks(&self) -> Vec<Check> {
        let told = |check: &Check| Check { is_outdated: self.is_outdated(check), ..check.clone() };
        self.checks.iter().map(told).collect()
    }

    /// Whether code was changed after a check ran.
    pub(crate) fn is_outdated(&self, check: &Check) -> bool {
        check.noted.number <= self.last_code_edit
    }

    /// Notes the folder in which the session began.
    pub(crate) fn begin_in(&mut self, folder: &str) {
        folder.clone_into(&mut self.folder);
    }

    /// Whether a file belongs to the work. A project may be in a folder for scratch files itself.
    fn is_of_the_work(&self, path: &str) -> bool {
        let is_inside = !self.folder.is_empty() && path.starts_with(&self.folder);
        is_of_the_work(path) || is_inside && !is_note(path)
    }

    /// Whether anything was changed, as far as calls show it.
    pub(crate) fn has_work(&self) -> bool {
        self.files.iter().any(|file| self.is_of_the_work(&file.path))
            || self.last_commit.is_some()
            || !self.commits.is_empty()
            || self.may_have_written
    }

    /// Whether a commit or a push was turned down and `command` is none: it is still to be done.
    pub(crate) fn is_still_wanted(&self, command: &str) -> bool {
        let is_delivery = |command: &str| command.contains("git commit") || command.contains("git push");
        self.rejected.as_ref().is_some_and(|(noted, is_edit)| !is_edit && is_delivery(&noted.words))
            && !is_delivery(command)
    }

    /// The commits that are the session's own work, with what was made again only where nothing else was.
    pub(crate) fn told_commits(&self) -> Vec<&Commit> {
        let is_new = |noted: &Noted| self.rewritten.binary_search(&noted.number).is_err();
        let new: Vec<&Commit> =
            self.commits.iter().filter(|(_, noted)| is_new(noted)).map(|(commit, _)| commit).collect();
        if new.is_empty() { self.commits.iter().map(|(commit, _)| commit).collect() } else { new }
    }

    fn committed(&mut self, commit: &Commit, turn: &Turn<'_>, at: Option<Timestamp>) {
        if self.commits.len() < MOST {
            let words = cut(&commit.subject, LONGEST_WORDS);
            let noted = Noted { source: source(turn), at, words, number: self.n_turns };
            self.commits.push((commit.clone(), noted));
        }
    }

    fn prompt(&mut self, noted: Noted) {
        let said =
            self.last_said.as_ref().filter(|said| self.is_last_word(said)).map(|said| said.words.as_str());
        for words in decided(&noted.words, said, &self.at_hand.request) {
            self.decide(Noted { words, ..noted.clone() });
        }
        self.awaited = Awaited::of(&noted.words).map(|awaited| (awaited, noted.clone()));
        self.heard(noted);
    }

    /// Notes what a human asks for.
    fn heard(&mut self, noted: Noted) {
        self.n_prompts += 1;
        let is_farewell = is_farewell(&noted.words);
        self.left = match self.left.take() {
            _ if !is_farewell => None,
            Some(left) => Some(left),
            None => Some(Left {
                asked: Self::number(self.last_prompt.as_ref()),
                said: self.last_said.clone().filter(|said| self.is_last_word(said)),
            }),
        };
        self.close_task(&noted.words);
        self.requests.hear(&noted);
        if !is_farewell && is_substantive(&noted.words) {
            if self.first_wish.is_none() {
                self.first_wish = Some(noted.clone());
            }
            if self.wishes.len() < MOST {
                self.wishes.push(noted.clone());
            }
        }
        if self.prompts.len() < MOST {
            self.prompts.push(noted.clone());
        }
        self.last_prompt = Some(noted);
    }

    /// Keeps what the agent said last, before a human speaks again and asks for more.
    fn close_task(&mut self, request: &str) {
        let mut before = String::new();
        match self.closing() {
            Some(closing) => {
                if MOST_ANSWERED <= self.answered.len() {
                    self.answered.remove(0);
                }
                self.answered.push(closing);
                self.at_hand = AtHand::default();
            }
            // The agent goes on with what it was at.
            None => before = std::mem::take(&mut self.at_hand.all_requests),
        }
        self.at_hand.request = cut(request, LONGEST_REQUEST);
        self.at_hand.all_requests = cut(&format!("{request}\n{before}"), 2 * LONGEST_REQUEST);
    }

    /// What the agent said last, if nothing came after it.
    fn closing(&self) -> Option<Closing> {
        let said = self.last_said.as_ref().filter(|said| self.is_last_word(said))?;
        let AtHand { all_requests: request, n_edits, has_commit, .. } = self.at_hand.clone();
        Some(Closing { said: said.clone(), request, n_edits, has_commit })
    }

    /// What the agent said last before each prompt and at the end, where it had the last word.
    pub(crate) fn closings(&self) -> Vec<Closing> {
        self.answered.iter().cloned().chain(self.closing()).collect()
    }

    /// What was asked for after the agent's last account.
    pub(crate) fn request_at_hand(&self) -> &str {
        if self.closing().is_some() { "" } else { &self.at_hand.all_requests }
    }

    /// Whether a pull request was opened, or belongs to the session.
    pub(crate) fn has_pull_request(&self) -> bool {
        self.opened_pull_request || !self.pull_requests.is_empty()
    }

    /// What a human asked for last, where the agent did not come to an end with it.
    pub(crate) fn broken_off(&self) -> Option<&Noted> {
        let last = self
            .wishes
            .last()
            .filter(|wish| Self::number(Some(wish)) <= Self::number(self.last_prompt.as_ref()))?;
        let number = |noted: &Option<Noted>| Self::number(noted.as_ref());
        let is_committed = number(&self.last_edit).max(last.number) < number(&self.last_commit);
        let is_begun = last.number < number(&self.last_work).max(number(&self.last_interruption));
        (is_begun && !is_committed && self.closing().is_none()).then_some(last)
    }

    /// What was done or asked for last, where the agent did not come to an end with a request.
    pub(crate) fn broken_off_at(&self) -> Option<String> {
        let wish = self.broken_off()?;
        let last_prompt = Self::number(self.last_prompt.as_ref());
        let action = self.last_action.as_ref().filter(|action| last_prompt < action.number);
        Some(match (action, &self.last_prompt) {
            (Some(action), _) => action.words.clone(),
            (None, Some(prompt)) if wish.number < prompt.number && is_substantive(&prompt.words) => {
                quoted(&prompt.words)
            }
            (None, _) => quoted(&wish.words),
        })
    }

    /// Gives the files their `place` in the project; those without one are outside it.
    pub(crate) fn place_files(&mut self, place: impl Fn(&str) -> Option<String>) {
        for file in &mut self.files {
            if let Some(path) = place(&file.path) {
                file.path = path;
            }
        }
        self.created.retain_mut(|path| match place(path) {
            Some(placed) => {
                *path = placed;
                true
            }
            None => false,
        });
        self.uncommitted.place(place);
    }

    /// Whether the last plan was turned down, and no work came after it.
    pub(crate) fn has_rejected_plan(&self) -> bool {
        let is_last = |plan: &Noted| Self::number(self.last_edit.as_ref()) < plan.number;
        self.last_plan.as_ref().is_some_and(|(plan, is_agreed)| *is_agreed != Some(true) && is_last(plan))
    }

    fn decide(&mut self, decision: Noted) {
        if self.decisions.len() < MOST {
            self.decisions.push(decision);
        }
    }

    /// Puts what the agent makes of a human's words in the place of these words.
    fn restate(&mut self, said: &str) {
        let Some((awaited, noted)) = self.awaited.take() else { return };
        let is_raw = |decision: &Noted| decision.number == noted.number && awaited.is_quoted(&decision.words);
        let raw = self.decisions.iter().rposition(is_raw);
        match (awaited.answered(said, raw.is_some()), raw) {
            (Reply::Restated(words), Some(raw)) => self.decisions[raw].words = words,
            (Reply::Restated(words), None) => self.decide(Noted { words, ..noted }),
            (Reply::NotTaken, Some(raw)) => drop(self.decisions.remove(raw)),
            (Reply::NotTaken, None) => {}
            (Reply::Silent, _) => self.awaited = awaited.after_silence().map(|awaited| (awaited, noted)),
        }
    }

    fn changed(&mut self, path: &str, kind: EditKind) {
        if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
            file.n_changes += 1;
            file.kind = kind;
        } else if self.files.len() < MOST {
            self.files.push(ChangedFile { path: path.to_owned(), kind, n_changes: 1 });
        }
    }

    fn command(&mut self, (command, outcome): (&str, &Outcome), called: Called, noted: &Noted) {
        self.is_rewriting = command.contains("git rebase") || command.contains("pull --rebase");
        let program = called.program;
        if !program.is_empty() && (self.commands.contains_key(&program) || self.commands.len() < MOST) {
            *self.commands.entry(cut(&program, 40)).or_default() += 1;
        }
        if outcome.is_ok.is_none() && command.contains("git commit") {
            // Transcripts are often kept at the very moment of a commit.
            self.last_commit = Some(noted.clone());
        }
        for ran in called.checks {
            self.check(&ran, noted);
        }
        self.stashes.see(command, outcome, noted);
        if outcome.is_ok == Some(true) {
            self.was_pushed |= shows_push(command);
            self.opened_pull_request |= shows_pull_request(command);
            if let Some(title) = issue_title(command) {
                self.file(&title, &outcome.text, noted);
            }
            if let Some(closed) = command.split_once("issue close ").map(|(_, rest)| rest) {
                self.close_issue(&format!("{} closed", closed.split_whitespace().next().unwrap_or_default()));
            }
            if command.contains("gh pr create") {
                let url = outcome.text.split_whitespace().rfind(|word| word.contains("/pull/"));
                if let Some(url) = url {
                    self.pull_request(url);
                }
                self.pull_request_title = titled(command, "pr create").or(self.pull_request_title.take());
            }
        }
    }

    fn check(&mut self, ran: &Ran, noted: &Noted) {
        let Ran { kind, is_passed, .. } = *ran;
        let command = ran.name();
        if let Some(index) = self.checks.iter().position(|check| check.command == command) {
            let mut check = self.checks.remove(index);
            check.n_runs += 1;
            check.is_passed = is_passed;
            check.noted = noted.clone();
            self.checks.push(check);
        } else if self.checks.len() < MOST {
            let noted = noted.clone();
            self.checks.push(Check { command, kind, is_passed, n_runs: 1, is_outdated: false, noted });
        }
    }

    fn file(&mut self, title: &str, answer: &str, noted: &Noted) {
        let title = shortened(title, 200);
        if self.issues.len() < MOST && !self.issues.iter().any(|issue| issue.title == title) {
            self.issues.push(Issue { title, id: issue_id(answer), noted: noted.clone() });
        }
    }

    /// Forgets an issue that is closed, cancelled or done in its tracker again.
    fn close_issue(&mut self, change: &str) {
        const CLOSED: [&str; 9] = [
            "closed",
            "close",
            "cancelled",
            "canceled",
            "done",
            "completed",
            "duplicate",
            "resolved",
            "wontfix",
        ];
        let lower = change.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
        if words.clone().any(|word| CLOSED.contains(&word)) {
            self.issues.retain(|issue| {
                issue.id.as_deref().is_none_or(|id| !words.any(|word| word == id.to_lowercase()))
            });
        }
    }

    fn pull_request(&mut self, url: &str) {
        if self.pull_requests.len() < MOST && !self.pull_requests.iter().any(|known| known == url) {
            self.pull_requests.push(cut(url, 300));
        }
    }

    /// Whether a call succeeded after `start` and before `end`, in turns gone by.
    pub(crate) fn worked(&self, start: usize, end: usize) -> bool {
        let first = self.successes.partition_point(|success| *success <= start);
        self.successes.get(first).is_some_and(|success| *success < end)
    }

    /// Whether checks ran after `start` and all that did passed.
    pub(crate) fn passed_after(&self, start: usize) -> bool {
        let mut later = self.checks.iter().filter(|check| start < check.noted.number).peekable();
        later.peek().is_some() && later.all(|check| check.is_passed == Some(true))
    }

    /// How many turns had gone by when `noted` came; 0 for nothing.
    pub(crate) fn number(noted: Option<&Noted>) -> usize {
        noted.map_or(0, |noted| noted.number)
    }
}

/// What was written behind a slash command, where the command is one for work.
fn arguments(command: &str) -> &str {
    const OF_AGENT: [&str; 8] =
        ["/compact", "/clear", "/model", "/config", "/resume", "/exit", "/mcp", "/remote-env"];
    match command.split_once(char::is_whitespace) {
        Some((name, rest)) if name.starts_with('/') && !OF_AGENT.contains(&name) => rest.trim(),
        _ => "",
    }
}

/// A call that was turned down, in few words.
fn call_of(words: &str, is_edit: bool) -> String {
    match is_edit {
        true if words.contains("/plans/") && !is_of_the_work(words) => "its plan".to_owned(),
        true => format!("the edit of {}", words.rsplit(['/', '\\']).next().unwrap_or(words)),
        false => format!("`{}`", shortened(words, 50)),
    }
}

fn quoted(words: &str) -> String {
    format!("“{}”", imperative(first_sentence(words), LONGEST_ACTION))
}

/// The first line of a command that is no comment.
fn first_line(command: &str) -> &str {
    let is_telling = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    command.lines().find(is_telling).unwrap_or(command)
}

/// Whether a file may belong to the work of any project: scratch files and the agent's own notes don't.
fn is_of_the_work(path: &str) -> bool {
    const SCRATCH: [&str; 5] = ["/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/dev/"];
    !SCRATCH.iter().any(|folder| path.starts_with(folder)) && !is_note(path)
}

/// Whether a file is one of the agent's own notes.
fn is_note(path: &str) -> bool {
    const NOTES: [&str; 4] = ["/.claude/plans/", "/.claude/projects/", "/.gemini/tmp/", "/.codex/"];
    NOTES.iter().any(|notes| path.contains(notes))
}

/// Whether a file is text for readers, which no check is about.
fn is_prose(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ["md", "mdx", "txt", "rst", "adoc"].contains(&ending.as_str()))
}

/// Whether a command may change files of the project, as far as its words tell.
fn may_write(command: &str) -> bool {
    const MARKS: [&str; 14] = [
        "sed -i",
        "perl -",
        "tee ",
        "git apply",
        "git merge",
        "git rebase",
        "git pull",
        "git checkout",
        "patch ",
        "mv ",
        "cp ",
        "rm ",
        " fmt",
        "generate",
    ];
    let command = crate::commands::shell::without_texts(command);
    MARKS.iter().any(|mark| command.contains(mark))
        || command.replace("2>", "").replace(">/dev/null", "").replace("> /dev/null", "").contains('>')
        || ["python", "node", "ruby", "<<"].iter().any(|program| command.contains(program))
}

/// What names a turn in the evidence of what it shows.
fn source(turn: &Turn<'_>) -> String {
    if turn.id.is_empty() { format!("line {}", turn.place.line) } else { turn.id.to_string() }
}

/// Whether a tool of that name sends a sub-agent.
fn is_sending(name: &str) -> bool {
    matches!(name, "Task" | "Agent")
}

/// Whether a tool of that name puts work into a tracker.
fn is_filing(name: &str) -> bool {
    name.ends_with("create_issue") || name.ends_with("issue_create") || name.ends_with("createIssue")
}

/// Whether a tool of that name changes what is in a tracker.
fn is_updating(name: &str) -> bool {
    ["update_issue", "issue_update", "updateIssue", "save_issue", "close_issue"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// What the tracker calls an issue: `"id":"SHOP-12"`, `…/issues/12`.
fn issue_id(answer: &str) -> Option<String> {
    let number = answer.split_once("/issues/").map(|(_, rest)| rest);
    let number = number.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    number.filter(|number| !number.is_empty()).or_else(|| {
        let mut words = answer.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let is_id = |word: &&str| {
            word.split_once('-').is_some_and(|(project, number)| {
                !project.is_empty()
                    && project.bytes().all(|byte| byte.is_ascii_uppercase())
                    && !number.is_empty()
                    && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        };
        words.find(is_id).map(str::to_owned)
    })
}

/// The title of the issue that `gh issue create` or its like files.
fn issue_title(command: &str) -> Option<String> {
    titled(command, "issue create")
}

/// The title that a command gives to what it creates.
fn titled(command: &str, creating: &str) -> Option<String> {
    let at = command.find(creating)?;
    let rest = &command[at..];
    let title = &rest[rest.find("--title ").map(|at| at + 8).or_else(|| Some(rest.find("-t ")? + 3))?..];
    let quote = title.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let title = &title[1..];
    let mut is_escaped = false;
    let end = title.find(|letter| {
        let is_end = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped && quote == '"';
        is_end
    })?;
    Some(title[..end].replace("\\\"", "\""))
}

/// Checks with the turns they are from: a digest tells only how they went.
mod noted_checks {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Check;
    use super::noted::Noted;

    pub(super) fn serialize<S: Serializer>(checks: &[Check], to: S) -> Result<S::Ok, S::Error> {
        checks.iter().map(|check| (check, &check.noted)).collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Check>, D::Error> {
        let checks = Vec::<(Check, Noted)>::deserialize(from)?;
        Ok(checks.into_iter().map(|(check, noted)| Check { noted, ..check }).collect())
    }
}
