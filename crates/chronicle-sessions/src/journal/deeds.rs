//! What a human asked for that shows in a command: a push, a pull request, a merge, a release, a deployment.
//!
//! Such a wish is open when the agent was cut short on the way to it, by the human, by a failure or by the end of the
//! transcript, and no command did it later. A stop takes nothing back. An agent that had the last word has said
//! what became of it, and a human who comes back to it in other words took it back or did it alone: both end it.

use serde::{Deserialize, Serialize};

use crate::journal::noted::Noted;
use crate::turn::{Event, Outcome, Synthetic};
use crate::words::{sentences, wish};

/// A prompt beyond this is something pasted.
const LONGEST_TYPED: usize = 1_200;

/// How many requests are remembered.
const MOST: usize = 32;

/// Something that leaves the working tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Deed {
    Push,
    PullRequest,
    Merge,
    Release,
    Deployment,
}

/// Words of one part of a command that show a deed.
///
/// They are wide: a deed that is taken for done wrongly only leaves a thread unsaid.
const DONE_BY: [(Deed, &[&str]); 20] = [
    (Deed::Push, &["git", "push"]),
    (Deed::Push, &["jj", "push"]),
    (Deed::Push, &["hg", "push"]),
    (Deed::Push, &["gh", "pr", "create"]),
    (Deed::Push, &["gt", "submit"]),
    (Deed::Push, &["arc", "diff"]),
    (Deed::Push, &["git", "send-email"]),
    (Deed::PullRequest, &["gh", "pr"]),
    (Deed::PullRequest, &["glab", "mr"]),
    (Deed::PullRequest, &["az", "pr"]),
    (Deed::PullRequest, &["hub", "pull-request"]),
    (Deed::PullRequest, &["gt", "submit"]),
    (Deed::PullRequest, &["arc", "diff"]),
    (Deed::Merge, &["merge"]),
    (Deed::Merge, &["rebase"]),
    (Deed::Merge, &["pull"]),
    (Deed::Merge, &["cherry-pick"]),
    (Deed::Release, &["tag"]),
    (Deed::Release, &["twine", "upload"]),
    (Deed::Deployment, &["push"]),
];

/// Programs that bring something to where it runs.
const DEPLOYING: [&str; 14] = [
    "kubectl",
    "helm",
    "terraform",
    "tofu",
    "pulumi",
    "ansible-playbook",
    "fly",
    "flyctl",
    "vercel",
    "netlify",
    "wrangler",
    "rsync",
    "scp",
    "ssh",
];

/// What may stand behind `push` and its like: more would be about something else, as in `push notifications`.
const OBJECTS: [&str; 62] = [
    "it",
    "this",
    "that",
    "them",
    "these",
    "those",
    "everything",
    "all",
    "my",
    "our",
    "your",
    "the",
    "a",
    "an",
    "new",
    "change",
    "changes",
    "commit",
    "commits",
    "branch",
    "branches",
    "code",
    "work",
    "fix",
    "fixes",
    "up",
    "out",
    "upstream",
    "remote",
    "origin",
    "github",
    "gitlab",
    "main",
    "master",
    "trunk",
    "develop",
    "dev",
    "prod",
    "production",
    "staging",
    "live",
    "server",
    "now",
    "again",
    "please",
    "first",
    "too",
    "also",
    "directly",
    "straight",
    "to",
    "into",
    "onto",
    "on",
    "in",
    "as",
    "pr",
    "mr",
    "pull",
    "merge",
    "request",
    "thanks",
];

/// What may be released or deployed besides.
const PRODUCTS: [&str; 13] = [
    "release",
    "version",
    "patch",
    "minor",
    "major",
    "crate",
    "package",
    "app",
    "site",
    "website",
    "service",
    "npm",
    "crates.io",
];

/// What is merged; a merge of other things is one of code.
const MERGED: [&str; 20] = [
    "it", "this", "that", "my", "our", "the", "branch", "pr", "mr", "pull", "request", "to", "into", "main",
    "master", "trunk", "develop", "now", "please", "in",
];

/// Requests for deeds, while their session goes by.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    open: Vec<Request>,
    /// Whether the agent spoke last.
    is_answered: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Request {
    noted: Noted,
    left: Vec<Deed>,
    /// Whether no prompt came after it.
    is_last: bool,
    /// Whether anything came after it.
    is_begun: bool,
}

impl Requests {
    /// The last request that was cut short and not made good. Its words are those of the sentence that asks.
    pub(crate) fn unfinished(&self) -> Option<&Noted> {
        let is_unfinished = |request: &&Request| !request.is_last || request.is_begun && !self.is_answered;
        self.open.iter().rev().find(is_unfinished).map(|request| &request.noted)
    }

    /// Notes what an event does to what was asked.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Said(_) => self.is_answered = true,
            Event::Command(command, outcome) => self.call(outcome, |deed| is_done_by(deed, command)),
            Event::Tool(tool, outcome) => self.call(outcome, |deed| {
                is_named(deed, &tool.name.replace('_', " ")) || is_named(deed, &tool.about)
            }),
            Event::Synthetic(Synthetic::Shell | Synthetic::Command, words) => {
                self.end(|deed| is_done_by(deed, words) || is_named(deed, words));
            }
            Event::PullRequest(_) => self.end(|deed| matches!(deed, Deed::PullRequest | Deed::Push)),
            Event::Edit(..) | Event::Plan(..) | Event::Error(_) | Event::Interruption(_) => {
                self.is_answered = false;
            }
            Event::Prompt(_) | Event::Synthetic(..) | Event::Commit(_) | Event::Todo(..) => return,
        }
        self.open.iter_mut().filter(|request| request.is_last).for_each(|request| request.is_begun = true);
    }

    /// Notes what a human said.
    pub(crate) fn hear(&mut self, prompt: &Noted) {
        let is_answered = std::mem::take(&mut self.is_answered);
        self.open.retain(|request| !(request.is_last && is_answered));
        self.open.iter_mut().for_each(|request| request.is_last = false);
        if LONGEST_TYPED < prompt.words.len() {
            return;
        }
        if !self.open.is_empty() && is_taken_back(&prompt.words) {
            self.open.clear();
        }
        self.end(|deed| is_named(deed, &prompt.words));
        for sentence in prompt.words.lines().flat_map(sentences).filter(|sentence| may_ask(sentence)) {
            let left = asked(sentence);
            if left.is_empty() {
                continue;
            }
            if MOST <= self.open.len() {
                self.open.remove(0);
            }
            let noted = Noted { words: sentence.to_owned(), ..prompt.clone() };
            self.open.push(Request { noted, left, is_last: true, is_begun: false });
        }
    }

    /// Notes what a sub-agent did: it speaks to nobody.
    pub(crate) fn see_beside(&mut self, event: &Event<'_>) {
        if let Event::Command(command, outcome) = event
            && outcome.is_ok != Some(false)
        {
            self.end(|deed| is_done_by(deed, command));
        }
    }

    fn call(&mut self, outcome: &Outcome, is_done: impl Fn(Deed) -> bool) {
        self.is_answered = false;
        if outcome.is_ok != Some(false) {
            self.end(is_done);
        }
    }

    fn end(&mut self, is_done: impl Fn(Deed) -> bool) {
        if self.open.is_empty() {
            return;
        }
        for request in &mut self.open {
            request.left.retain(|deed| !is_done(*deed));
        }
        self.open.retain(|request| !request.left.is_empty());
    }
}

/// Whether a command pushes.
pub(crate) fn shows_push(command: &str) -> bool {
    (command.contains("push") || command.contains("submit")) && is_done_by(Deed::Push, command)
}

/// Whether a command is about a pull request that it may have opened.
pub(crate) fn shows_pull_request(command: &str) -> bool {
    ["create", "submit", "pull-request"].iter().any(|word| command.contains(word))
        && is_done_by(Deed::PullRequest, command)
}

/// Whether a command does it, or something that comes close.
fn is_done_by(deed: Deed, command: &str) -> bool {
    command.split(['\n', ';', '|', '&']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        let has = |wanted: &&str| words.contains(wanted);
        let names = |wanted: &[&str]| {
            let is_one =
                |word: &&str| !word.starts_with('-') && wanted.iter().any(|name| word.contains(name));
            words.iter().any(is_one)
        };
        let by_program = || DONE_BY.iter().any(|(done, marks)| *done == deed && marks.iter().all(has));
        by_program()
            || match deed {
                Deed::Push | Deed::Merge => false,
                Deed::PullRequest => names(&["pull-request", "pull_request", "/pulls"]),
                Deed::Release => names(&["release", "publish"]),
                Deed::Deployment => names(&["deploy", "publish"]) || DEPLOYING.iter().any(has),
            }
    })
}

/// Whether words name it, in whatever form.
fn is_named(deed: Deed, words: &str) -> bool {
    let words = words.to_lowercase();
    let mut all = words.split(|c: char| !c.is_alphanumeric());
    match deed {
        Deed::Push => all.any(|word| word.starts_with("push")),
        Deed::PullRequest => {
            words.contains("pull request") || all.any(|word| matches!(word, "pr" | "prs" | "mr"))
        }
        Deed::Merge => all.any(|word| word.starts_with("merg")),
        Deed::Release => {
            all.any(|word| word.starts_with("releas") || word.starts_with("publish") || word == "tag")
        }
        Deed::Deployment => all.any(|word| word.contains("deploy")),
    }
}

/// Whether a human no longer wants what was asked for.
fn is_taken_back(words: &str) -> bool {
    const MARKS: [&str; 9] = [
        "never mind",
        "nevermind",
        "forget ",
        "scratch that",
        "cancel",
        "leave it",
        "not yet",
        "hold off",
        "no longer",
    ];
    let words = words.to_lowercase();
    MARKS.iter().any(|mark| words.contains(mark))
}

/// Whether a sentence has a word for a deed at all: hardly any has.
fn may_ask(sentence: &str) -> bool {
    const WORDS: [&str; 10] =
        ["push", "pr", "mr", "request", "merge", "release", "publish", "tag", "deploy", "redeploy"];
    let mut words = sentence.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// What a sentence asks for. Every part of it that asks has to begin with it and go on with little else.
fn asked(sentence: &str) -> Vec<Deed> {
    let lower = sentence.to_lowercase().replace('’', "'");
    if is_no_request(&lower) {
        return Vec::new();
    }
    let parts = lower
        .split([',', ';', '+', '&'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" then "));
    let mut found = Vec::new();
    for part in parts {
        let words: Vec<&str> = wish(part)
            .split_whitespace()
            .map(|word| word.trim_matches(['.', '!', '?', ':', '"', '\'', '`', '(', ')']))
            .filter(|word| !word.is_empty())
            .collect();
        found.extend(deed(&words).filter(|deed| !found.contains(deed)));
    }
    found
}

/// Whether a sentence only asks about it, forbids it, or says when it is done.
fn is_no_request(lower: &str) -> bool {
    const ASKS: [&str; 4] = ["can you", "could you", "would you", "please"];
    const ELSEWISE: [&str; 16] = [
        "don't", "dont", "not", "never", "without", "no", "if", "unless", "whenever", "always", "every",
        "before", "until", "instead", "how", "why",
    ];
    let is_question = lower.ends_with('?') && !ASKS.iter().any(|asks| lower.contains(asks));
    is_question
        || lower.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| ELSEWISE.contains(&word))
}

fn deed(words: &[&str]) -> Option<Deed> {
    let (first, rest) = words.split_first()?;
    let are = |known: &[&[&str]]| {
        let is_known = |word: &&str| {
            known.iter().any(|known| known.contains(word)) || is_version(word) || is_place(word)
        };
        rest.iter().all(is_known)
    };
    let deed = match *first {
        "push" | "force-push" if are(&[&OBJECTS]) => Deed::Push,
        "pr" if are(&[&OBJECTS]) => Deed::PullRequest,
        "merge" if are(&[&MERGED]) => Deed::Merge,
        "release" | "publish" if are(&[&OBJECTS, &PRODUCTS]) => Deed::Release,
        "cut" | "make" | "create" | "do" | "tag"
            if rest.contains(&"release") && are(&[&OBJECTS, &PRODUCTS]) =>
        {
            Deed::Release
        }
        "deploy" | "redeploy" if are(&[&OBJECTS, &PRODUCTS]) => Deed::Deployment,
        "open" | "create" | "make" | "raise" | "submit" | "file" | "send" | "draft" | "do" => {
            return is_pull_request(rest).then_some(Deed::PullRequest);
        }
        "put" if rest.first() == Some(&"up") => {
            return is_pull_request(&rest[1..]).then_some(Deed::PullRequest);
        }
        _ => return None,
    };
    Some(deed)
}

/// `a draft PR`, and whatever it is for.
fn is_pull_request(words: &[&str]) -> bool {
    let mut rest = words;
    while let Some((&("a" | "an" | "the" | "another" | "new" | "draft" | "my" | "our"), after)) =
        rest.split_first()
    {
        rest = after;
    }
    let (["pr" | "mr" | "pull-request", after @ ..] | ["pull" | "merge", "request", after @ ..]) = rest
    else {
        return false;
    };
    let goes_on =
        ["for", "with", "against", "to", "into", "from", "titled", "called", "now", "please", "again", "too"];
    after.first().is_none_or(|word| goes_on.contains(word))
}

/// `v1.2`, `0.3.0`.
fn is_version(word: &str) -> bool {
    word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}

/// `origin/main`, `feature/wait`.
fn is_place(word: &str) -> bool {
    word.contains('/') && !word.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_asked_for_at_the_beginning_of_a_part() {
        let check = |sentence: &str, deeds: &[Deed]| assert_eq!(asked(sentence), deeds, "{sentence}");
        check("push", &[Deed::Push]);
        check("Looks good, commit it and then push to origin/pool-waits please", &[Deed::Push]);
        check("commit, push and raise a merge request against main", &[Deed::Push, Deed::PullRequest]);
        check("can you open a draft PR for the waiting pool?", &[Deed::PullRequest]);
        check("Now put up a pull request.", &[Deed::PullRequest]);
        check("branch and PR", &[Deed::PullRequest]);
        check("ok merge it into main & tag the release", &[Deed::Merge, Deed::Release]);
        check("once it is green, publish v0.3.1 to crates.io", &[Deed::Release]);
        check("then deploy it to staging", &[Deed::Deployment]);
    }

    #[test]
    fn words_about_a_deed_ask_for_none() {
        for sentence in [
            "don't push and open a PR",
            "push notifications do not reach the phone",
            "push the new node onto the stack",
            "should we push this?",
            "did you open a PR?",
            "if the tests pass, push it",
            "never push to main",
            "merge the two loops",
            "merge conflicts in pool.rs",
            "the release notes are out of date",
            "release the lock before the wait",
            "open the PR template and add a line",
            "make a PR description out of these points",
            "deploy scripts belong into tools",
            "I pushed it",
            "let me push it down into the pool and see",
            "see how others release and publish",
        ] {
            assert_eq!(asked(sentence), [], "{sentence}");
        }
    }

    #[test]
    fn commands_show_deeds() {
        let check = |deed: Deed, command: &str| assert!(is_done_by(deed, command), "{command}");
        check(Deed::Push, "git add -A && git commit -m x && git push -u origin HEAD 2>&1");
        check(Deed::Push, "cd /w; git -C sub push");
        check(Deed::PullRequest, "gh pr create --draft --title x");
        check(Deed::Merge, "gh pr merge 12 --squash");
        check(Deed::Merge, "git checkout main && git merge pool");
        check(Deed::Release, "./tools/release.sh 0.3.1");
        check(Deed::Release, "git tag v1 -m x");
        check(Deed::Deployment, "npm run deploy:staging");
        check(Deed::Deployment, "kubectl apply -f pool.yaml");
        assert!(!is_done_by(Deed::Push, "git stash && cargo test"));
        assert!(!is_done_by(Deed::Release, "cargo build --release"));
        assert!(!is_done_by(Deed::PullRequest, "git push"));
    }
}
