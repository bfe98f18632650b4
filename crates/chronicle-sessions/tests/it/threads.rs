//! Unfinished work in real transcripts: exact where agents keep lists, mostly right where words are judged.

#![expect(clippy::print_stdout, reason = "the figures are for whoever measures")]

use std::collections::{BTreeSet, HashMap};

use chronicle_core::thread::{Change, Origin, Status, Thread, ThreadEvent, is_alike, key};
use chronicle_sessions::{
    Event, Found, Journal, Session, Todo, TodoItem, TodoState, digest, implied, read, thread_events, threads,
};
use serde_json::Value;

use crate::support::{corpus, data, labels};

fn journal(file: &[u8]) -> (Journal, Session) {
    let mut journal = Journal::new(Some("this"));
    let reading = read(file, None, &mut |turn, _| journal.take(turn)).expect("bytes can be read");
    (journal, reading.map(|reading| reading.session).unwrap_or_default())
}

/// The agents' lists, worked out from JSON alone.
#[derive(Default)]
struct Gold {
    /// Id of the call, id of the item, its text, its state.
    items: Vec<(String, Option<String>, String, String)>,
}

impl Gold {
    fn of(rows: &[Value]) -> Self {
        let mut failed = BTreeSet::new();
        let mut ids = HashMap::new();
        let mut answers: HashMap<String, String> = HashMap::new();
        for row in rows {
            for block in row["message"]["content"].as_array().unwrap_or(&Vec::new()) {
                if let Some(call) = block["tool_use_id"].as_str() {
                    if block["is_error"] == true {
                        failed.insert(call.to_owned());
                    }
                    if let Some(text) = block["content"].as_str() {
                        answers.insert(call.to_owned(), text.to_owned());
                    }
                    if let Some(id) = row["toolUseResult"]["task"]["id"].as_str() {
                        ids.insert(call.to_owned(), id.to_owned());
                    }
                }
            }
        }
        let mut gold = Self::default();
        for row in rows.iter().filter(|row| row["type"] == "assistant") {
            for block in row["message"]["content"].as_array().unwrap_or(&Vec::new()) {
                let call = block["id"].as_str().unwrap_or_default();
                if block["name"] == "TaskList" && !failed.contains(call) {
                    gold.listed(answers.get(call).map(String::as_str).unwrap_or_default());
                }
                if block["type"] == "tool_use" && !failed.contains(call) {
                    gold.call(call, block["name"].as_str().unwrap_or_default(), &block["input"], &ids);
                }
            }
        }
        gold
    }

    fn call(&mut self, call: &str, name: &str, input: &Value, ids: &HashMap<String, String>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match name {
            "TodoWrite" => {
                let empty = Vec::new();
                let todos = input["todos"].as_array().unwrap_or(&empty);
                let has = |words: &str| todos.iter().any(|todo| todo["content"] == words);
                let is_known =
                    |words: &str| self.items.iter().any(|item| item.1.is_none() && item.2 == words);
                let new: Vec<String> = todos
                    .iter()
                    .map(|todo| text(&todo["content"]))
                    .filter(|words| !is_known(words))
                    .collect();
                let is_left_out = |item: &&mut (String, Option<String>, String, String)| {
                    item.1.is_none() && item.3 != "completed" && !has(&item.2)
                };
                for item in self.items.iter_mut().filter(is_left_out) {
                    match new.iter().find(|words| is_alike(words, &item.2)).filter(|_| item.3 != "deleted") {
                        Some(words) => item.2.clone_from(words),
                        None => item.3 = "deleted".to_owned(),
                    }
                }
                for todo in todos {
                    let (words, state) = (text(&todo["content"]), text(&todo["status"]));
                    match self.items.iter_mut().find(|(_, id, known, _)| id.is_none() && *known == words) {
                        Some(item) => item.3 = state,
                        None => self.items.push((call.to_owned(), None, words, state)),
                    }
                }
            }
            "TaskCreate" => {
                let id = ids.get(call).cloned().or(Some(String::new()));
                self.items.push((call.to_owned(), id, text(&input["subject"]), "pending".to_owned()));
            }
            "TaskUpdate" => {
                let id = text(&input["taskId"]);
                let found = self.items.iter_mut().rev().find(|item| item.1.as_deref() == Some(&id));
                if let (Some(item), Some(state)) = (found, input["status"].as_str()) {
                    item.3 = state.to_owned();
                }
            }
            _ => {}
        }
    }

    /// What the tool prints of the list: `#1 [completed] Let acquire wait`.
    fn listed(&mut self, answer: &str) {
        for line in answer.lines().filter_map(|line| line.strip_prefix('#')) {
            let Some((id, (state, _))) =
                line.split_once(" [").and_then(|(id, rest)| Some((id, rest.split_once(']')?)))
            else {
                continue;
            };
            if let Some(item) = self.items.iter_mut().rev().find(|item| item.1.as_deref() == Some(id)) {
                item.3 = state.to_owned();
            }
        }
    }

    fn texts(&self, states: &[&str]) -> Vec<&str> {
        let mut texts: Vec<_> = self
            .items
            .iter()
            .filter(|item| states.contains(&item.3.as_str()))
            .map(|item| item.2.as_str())
            .collect();
        texts.sort_unstable();
        texts
    }
}

#[test]
fn lists_are_exact_after_every_event() {
    let Some(corpus) = corpus() else { return };
    let (mut n_cuts, mut n_open, mut n_closed) = (0, 0, 0);
    for (name, file) in corpus.iter().filter(|(name, _)| name.ends_with(".jsonl")) {
        let mut rows: Vec<Value> = Vec::new();
        let mut end = 0;
        for line in file.split_inclusive(|byte| *byte == b'\n') {
            end += line.len();
            let before = rows.len();
            rows.extend(serde_json::Deserializer::from_slice(line).into_iter().map(|row| row.expect("JSON")));
            let text = String::from_utf8_lossy(line);
            let is_about_lists =
                ["TodoWrite", "TaskCreate", "TaskUpdate", "newTodos", "statusChange", "\"task\":{"]
                    .iter()
                    .any(|word| text.contains(word));
            if !is_about_lists || rows.len() == before {
                continue;
            }
            let gold = Gold::of(&rows);
            let (journal, session) = journal(&file[..end]);
            let found = threads(&journal, &session, "p");
            let items = journal.todos().items();
            let mut found: Vec<_> =
                found.iter().filter(|found| found.opening.origin == Origin::Todo).zip(items).collect();
            assert_eq!(found.len(), items.len());
            found.sort_by_key(|(_, item)| &item.text);
            let texts = |statuses: &[Status]| -> Vec<&str> {
                let is_so = |found: &Found| statuses.contains(&found.status);
                found.iter().filter(|(found, _)| is_so(found)).map(|(_, item)| item.text.as_str()).collect()
            };
            let open = gold.texts(&["pending", "in_progress"]);
            let closed = gold.texts(&["completed"]);
            assert_eq!(texts(&[Status::Pending, Status::InProgress]), open, "{name} up to {end}");
            assert_eq!(texts(&[Status::Resolved]), closed, "{name} up to {end}");
            n_cuts += 1;
            n_open += open.len();
            n_closed += closed.len();
        }
    }
    println!("{n_cuts} cuts: {n_open} open and {n_closed} closed items, all exact");
    assert!(100 < n_cuts);
}

#[test]
fn what_rules_find_in_words_is_mostly_right() {
    let Some(corpus) = corpus() else { return };
    let known: HashMap<(String, String), String> = labels("proposals.tsv")
        .into_iter()
        .map(|row| ((row[0].clone(), row[1].clone()), row[2].clone()))
        .collect();
    let (mut right, mut wrong, mut unknown) = (0, Vec::new(), Vec::new());
    for (name, file) in &corpus {
        let (journal, session) = journal(file);
        for found in threads(&journal, &session, "p") {
            if found.opening.origin == Origin::Todo {
                continue;
            }
            let reference = format!("{:?} {}", found.opening.origin, found.opening.evidence[0].source);
            match known.get(&(name.clone(), reference.clone())).map(String::as_str) {
                Some("right") => right += 1,
                Some(_) => wrong.push(format!("{name} {reference}")),
                None => {
                    println!(
                        "{name}\t{reference}\t{}\t{}",
                        found.opening.summary, found.opening.evidence[0].words
                    );
                    unknown.push(format!("{name} {reference}"));
                }
            }
        }
    }
    let n_sessions = corpus.len();
    println!("{right} right, {} wrong of {n_sessions} sessions: {wrong:?}", wrong.len());
    assert!(unknown.is_empty(), "nobody has judged {unknown:?}");
    assert!(
        0.8 <= f64::from(right) / f64::from(right + u32::try_from(wrong.len()).expect("few")),
        "{wrong:?}"
    );
    assert!(n_sessions <= 3 * (usize::try_from(right).expect("few") + wrong.len()), "too few are found");
}

#[test]
fn open_items_that_a_model_named_are_mostly_found() {
    let Some(corpus) = corpus() else { return };
    let (mut n_items, mut n_found) = (0, 0);
    for (name, file) in &corpus {
        let path = data("silver").join(name.replace(".jsonl", ".json"));
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let silver: Value = serde_json::from_str(&text).expect("it is JSON");
        let (journal, session) = journal(file);
        let is_open = |found: &Found| matches!(found.status, Status::Pending | Status::InProgress);
        let found: Vec<Found> = threads(&journal, &session, "p").into_iter().filter(is_open).collect();
        for item in silver["summary"]["open_items"].as_array().unwrap_or(&Vec::new()) {
            let item = key(item.as_str().expect("it is text"));
            let words: BTreeSet<&str> = item.split(' ').collect();
            let best =
                found.iter().map(|found| shared(&words, &found.opening.summary)).max().unwrap_or_default();
            n_items += 1;
            n_found += usize::from(3 <= best);
        }
        println!("{name}: {} open", found.len());
    }
    println!("{n_found} of {n_items} items share three words or more with a thread");
    assert!(n_items <= 2 * n_found);
}

fn shared(words: &BTreeSet<&str>, summary: &str) -> usize {
    key(summary).split(' ').filter(|word| words.contains(word)).count()
}

/// What a store would keep: each event once.
fn store(log: &mut Vec<ThreadEvent>, events: Vec<ThreadEvent>) -> Vec<Thread> {
    for event in events {
        if !log.contains(&event) {
            log.push(event);
        }
    }
    let mut ids: Vec<_> = log.iter().map(|event| event.thread.clone()).collect();
    ids.sort();
    ids.dedup();
    ids.iter().filter_map(|id| Thread::replay(log.iter().filter(|event| event.thread == *id))).collect()
}

#[test]
fn reading_again_brings_nothing_new() {
    let Some(corpus) = corpus() else { return };
    for (name, file) in &corpus {
        let (journal, session) = journal(file);
        let mut log = Vec::new();
        let once = store(&mut log, thread_events(&journal, &session, "p", &[]));
        for _ in 0..4 {
            let known = store(&mut log, Vec::new());
            let again = store(&mut log, thread_events(&journal, &session, "p", &known));
            assert_eq!(again, once, "{name}");
        }
    }
}

#[test]
fn digests_hold_their_limits() {
    let Some(corpus) = corpus() else { return };
    for (name, file) in &corpus {
        let (journal, session) = journal(file);
        let digest = digest(&journal, &session);
        println!(
            "{name}\t{}\t{}\t{}\t{:?}\t{:?}",
            digest.importance, digest.title, digest.summary, digest.technologies, digest.open_questions
        );
        assert!(digest.title.chars().count() <= 60, "{name}: {}", digest.title);
        assert!((1..=5).contains(&digest.importance), "{name}");
        assert!(!digest.title.is_empty() || digest.n_prompts == 0, "{name}");
        for commit in &digest.commits {
            let is_there = memchr::memmem::find(file, commit.id.as_bytes()).is_some();
            assert!(is_there, "{name}: {commit:?}");
        }
    }
}

/// A made session of Claude Code: who said what.
fn session(rows: &[(&str, &str)]) -> Vec<u8> {
    let mut file = Vec::new();
    for (index, (who, words)) in rows.iter().enumerate() {
        let row = match *who {
            "user" => {
                serde_json::json!({"type": "user", "uuid": format!("u{index}"), "timestamp": format!("2026-03-01T12:{index:02}:00Z"), "message": {"content": words}})
            }
            "said" => {
                serde_json::json!({"type": "assistant", "uuid": format!("a{index}"), "timestamp": format!("2026-03-01T12:{index:02}:00Z"), "message": {"id": format!("m{index}"), "model": "opus", "content": [{"type": "text", "text": words}]}})
            }
            tool => {
                let (call, answer) = words.split_once(" -> ").unwrap_or((words, "ok"));
                let is_error = answer.starts_with("Exit code");
                let call = serde_json::json!({"type": "assistant", "uuid": format!("a{index}"), "timestamp": format!("2026-03-01T12:{index:02}:00Z"), "message": {"id": format!("m{index}"), "model": "opus", "content": [{"type": "tool_use", "id": format!("t{index}"), "name": tool, "input": {"command": call, "file_path": call, "old_string": "a", "new_string": "b"}}]}});
                file.extend(format!("{call}\n").bytes());
                serde_json::json!({"type": "user", "uuid": format!("r{index}"), "message": {"content": [{"type": "tool_result", "tool_use_id": format!("t{index}"), "is_error": is_error, "content": answer}]}})
            }
        };
        file.extend(format!("{row}\n").bytes());
    }
    file
}

fn summaries(rows: &[(&str, &str)]) -> Vec<String> {
    let (journal, session) = journal(&session(rows));
    threads(&journal, &session, "p").into_iter().map(|found| found.opening.summary).collect()
}

#[test]
fn a_session_that_ends_well_leaves_nothing() {
    let rows = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("Bash", "cargo test"),
        ("said", "Done. All tests pass."),
    ];
    assert_eq!(summaries(&rows), Vec::<String>::new());
    assert_eq!(summaries(&[]), Vec::<String>::new());
}

#[test]
fn a_failing_check_at_the_end_is_urgent_until_it_passes() {
    let failing = [
        ("user", "make the pool wait"),
        ("Bash", "cargo test -p pool 2>&1 | tail -> Exit code 101\nfailed"),
        ("said", "The tests fail."),
    ];
    assert_eq!(summaries(&failing), ["Get `cargo test -p pool` to pass"]);
    let passing = [&failing[..2], &[("Bash", "cargo test"), ("said", "Now they pass.")]].concat();
    assert_eq!(summaries(&passing), Vec::<String>::new());
    for goodbye in ["Thanks.", "I have to stop here, we go on tomorrow."] {
        let left = [&failing[..], &[("user", goodbye)]].concat();
        assert_eq!(summaries(&left), ["Get `cargo test -p pool` to pass"]);
        let answered = [&left[..], &[("said", "You're welcome!")]].concat();
        assert_eq!(summaries(&answered), ["Get `cargo test -p pool` to pass"]);
    }
    let refused = [&failing[..], &[("user", "Leave it, that test is known to be broken.")]].concat();
    assert_eq!(summaries(&refused), Vec::<String>::new());
}

#[test]
fn what_is_left_stays_open_when_somebody_says_goodbye() {
    let rows = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        (
            "said",
            "The pool waits now. Next: replace the server with a fake ssh script, then update CHANGELOG.md.",
        ),
        ("user", "I have to go, we go on tomorrow. The changelog is still missing, too."),
    ];
    assert_eq!(
        summaries(&rows),
        ["Add the changelog", "Replace the server with a fake ssh script, then update CHANGELOG.md"]
    );
    let question = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("said", "The pool waits now. Want me to add a test?"),
    ];
    assert_eq!(summaries(&question), ["Decide whether to add a test"]);
    assert_eq!(summaries(&[&question[..], &[("user", "Thanks.")]].concat()), Vec::<String>::new());
}

#[test]
fn a_check_failed_only_if_none_of_its_kind_passed_later() {
    let failing = [
        ("user", "make the pool wait"),
        ("Bash", "cargo test waits -> Exit code 101\nfailed"),
        ("Edit", "/w/pool.rs"),
    ];
    let actions = |rows: &[(&str, &str)]| {
        let (journal, session) = journal(&session(rows));
        digest(&journal, &session).key_actions
    };
    assert_eq!(actions(&failing), ["Changed pool.rs", "`cargo test waits` failed before the last edit"]);
    let linted = [&failing[..], &[("Bash", "cargo clippy")]].concat();
    assert_eq!(actions(&linted), actions(&failing));
    let passing = [&failing[..], &[("Bash", "cargo test")]].concat();
    assert_eq!(actions(&passing), ["Changed pool.rs"]);
}

#[test]
fn questions_that_nobody_answered_and_what_was_put_off() {
    let asked = [
        ("user", "make the pool wait"),
        ("said", "I would add a lock.\n\nShall I add it to `Pool::acquire`?"),
    ];
    assert_eq!(summaries(&asked), ["Decide whether to add it to `Pool::acquire`"]);
    let answered = [&asked[..], &[("user", "yes"), ("Edit", "/w/pool.rs"), ("said", "Added.")]].concat();
    assert_eq!(summaries(&answered), Vec::<String>::new());
    let put_off = [
        ("user", "the tests take four minutes now"),
        ("said", "They do."),
        ("user", "never mind, we'll look at it later."),
        ("said", "Fine."),
    ];
    assert_eq!(summaries(&put_off), ["Come back to this: the tests take four minutes now"]);
}

#[test]
fn work_that_was_cut_short_is_to_be_finished() {
    let cut = [("user", "can you make the pool wait?"), ("said", "On it."), ("Edit", "/w/pool.rs")];
    assert_eq!(summaries(&cut), ["Finish: Make the pool wait"]);
    let committed = [&cut[..], &[("Bash", "git commit -m x -> [main 1a2b3c4] pool: wait")]].concat();
    assert_eq!(summaries(&committed), Vec::<String>::new());
}

#[test]
fn a_push_that_was_asked_for_and_cut_short_is_to_be_finished() {
    let asked = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("said", "It waits now."),
        ("user", "great, commit that, push it and open a draft PR"),
        ("Bash", "git commit -am x -> [main 1a2b3c4] pool: wait"),
    ];
    let finish = ["Finish: Commit that, push it and open a draft PR"];
    // The end of the transcript cut it short, though a commit came last.
    assert_eq!(summaries(&asked), finish);
    let pushed = [&asked[..], &[("Bash", "git push -u origin HEAD")]].concat();
    assert_eq!(summaries(&pushed), finish);
    let done = [&pushed[..], &[("Bash", "gh pr create --draft -> https://example.invalid/pull/7")]].concat();
    assert_eq!(summaries(&done), Vec::<String>::new());

    // A human stopped the agent to have something else mended first.
    let stopped = [
        &asked[..],
        &[
            ("Bash", "git push -> Exit code 1\nrejected"),
            ("user", "[Request interrupted by user]"),
            ("user", "the pool still hangs when it is empty"),
            ("Edit", "/w/pool.rs"),
            ("Bash", "git commit -am y -> [main 2b3c4d5] pool: wake up"),
        ],
    ]
    .concat();
    assert_eq!(summaries(&stopped), finish);
    let mended = [&stopped[..], &[("said", "It wakes up.")]].concat();
    assert_eq!(summaries(&mended), finish);
    let again_cut =
        [&stopped[..], &[("user", "now let it log how long it waited"), ("Edit", "/w/pool.rs")]].concat();
    assert_eq!(summaries(&again_cut), [finish[0], "Finish: Let it log how long it waited"]);
    let made_good =
        [&stopped[..], &[("Bash", "git push && gh pr create --fill"), ("said", "Done.")]].concat();
    assert_eq!(summaries(&made_good), Vec::<String>::new());
}

#[test]
fn a_push_that_was_taken_back_or_answered_is_not() {
    let asked = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("user", "commit it and push"),
        ("Bash", "git commit -am x -> [main 1a2b3c4] pool: wait"),
    ];
    assert_eq!(summaries(&asked), ["Finish: Commit it and push"]);
    let check = |more: &[(&str, &str)]| {
        assert_eq!(summaries(&[&asked[..], more].concat()), Vec::<String>::new(), "{more:?}");
    };
    let commit = ("Bash", "git commit -am y -> [main 2b3c4d5] pool: wake up");
    check(&[("said", "There is no remote to push to.")]);
    check(&[
        ("said", "There is no remote."),
        ("user", "then add a test for it"),
        ("Edit", "/w/test.rs"),
        commit,
    ]);
    check(&[("user", "oh, I already pushed that myself"), commit]);
    check(&[("user", "wait, don't push"), commit]);
    check(&[("user", "never mind, add a test for it first"), ("Edit", "/w/test.rs"), commit]);
    // Typed, and nothing happened yet.
    assert_eq!(summaries(&asked[..3]), Vec::<String>::new());
    // What was asked for first is said by the rule for requests.
    let begun = [("user", "let the pool wait for a free one. Then push."), ("Edit", "/w/pool.rs")];
    assert_eq!(summaries(&begun), ["Finish: Let the pool wait for a free one"]);
}

#[test]
fn a_session_that_goes_on_closes_its_earlier_end() {
    let cut = [("user", "can you make the pool wait?"), ("said", "On it."), ("Edit", "/w/pool.rs")];
    let mut log = Vec::new();
    let (first, facts) = journal(&session(&cut));
    let known = store(&mut log, thread_events(&first, &facts, "p", &[]));
    assert!(known[0].is_open());
    let (second, facts) = journal(&session(&[&cut[..], &[("said", "Done.")]].concat()));
    let known = store(&mut log, thread_events(&second, &facts, "p", &known));
    assert_eq!(known[0].status, Status::Resolved);
    assert_eq!(known.len(), 1);
}

#[test]
fn a_check_closes_what_failed_on_its_own_branch_only() {
    let failing = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("Bash", "cargo test -p pool -> Exit code 101\nfailed"),
    ];
    let (first, mut facts) = journal(&session(&failing));
    facts.branch = Some("topic".to_owned());
    let known = store(&mut Vec::new(), thread_events(&first, &facts, "p", &[]));
    let rows =
        [&[("user", "hm"); 3][..], &[("user", "is it fine now?"), ("Bash", "cargo test -p pool")]].concat();
    let mut passing = Journal::new(Some("that"));
    let mut facts =
        read(session(&rows).as_slice(), None, &mut |turn, _| passing.take(turn)).unwrap().unwrap().session;
    let mut change_on = |branch: &str| {
        facts.branch = Some(branch.to_owned());
        let events = thread_events(&passing, &facts, "p", &known);
        events.into_iter().map(|event| event.change).find(|change| !matches!(change, Change::Opened(_)))
    };
    assert!(matches!(change_on("topic"), Some(Change::Resolved(_))));
    assert!(matches!(change_on("main"), Some(Change::Proposed(_))));
}

#[test]
fn what_was_changed_and_passed_is_proposed_as_done() {
    let open = [
        ("user", "make the pool wait"),
        ("Edit", "/w/pool.rs"),
        ("said", "It waits.\n\nRemaining:\n- Add a timeout test for the pool"),
    ];
    let (first, facts) = journal(&session(&open));
    let known = store(&mut Vec::new(), thread_events(&first, &facts, "p", &[]));
    assert_eq!(known.len(), 1);
    let mut rows = vec![("user", "hm"); 5];
    rows.extend([
        ("user", "go on with the pool"),
        ("Edit", "/w/pool_test.rs"),
        ("Bash", "cargo test"),
        ("said", "Added a timeout test for the pool."),
    ]);
    let of = |rows: &[(&str, &str)]| {
        let mut journal = Journal::new(Some("that"));
        let read = read(session(rows).as_slice(), None, &mut |turn, _| journal.take(turn)).unwrap();
        let facts = read.unwrap().session;
        thread_events(&journal, &facts, "p", &known).into_iter().map(|event| event.change).collect::<Vec<_>>()
    };
    assert!(matches!(of(&rows).as_slice(), [Change::Proposed(_)]), "{:?}", of(&rows));
    rows.remove(7);
    assert_eq!(of(&rows), []);
}

#[test]
fn commits_that_a_rebase_makes_again_are_not_told() {
    let rows = [
        ("user", "mend the reset test"),
        ("Edit", "/w/reset.rs"),
        ("Bash", "git commit -am 'mend reset' -> [topic 1a2b3c4] mend reset\n 1 file changed"),
        ("Bash", "git rebase --continue -> [detached HEAD 5e81a62] mend reset\n 1 file changed"),
        ("said", "Rebased."),
    ];
    let (journal, facts) = journal(&session(&rows));
    let digest = digest(&journal, &facts);
    assert_eq!(digest.key_actions, ["Committed 1a2b3c4: mend reset"]);
    // Both lead to the session.
    assert_eq!(digest.commits.iter().map(|commit| &*commit.id).collect::<Vec<_>>(), ["1a2b3c4", "5e81a62"]);
}

#[test]
fn a_session_is_headless_until_somebody_types_in_it() {
    let row = |entry: &str, source: &str| {
        format!(
            "{}\n",
            serde_json::json!({"type": "user", "uuid": format!("{entry}{source}"), "timestamp": "2026-03-01T12:00:00Z", "entrypoint": entry, "promptSource": source, "message": {"content": "make the pool wait"}})
        )
    };
    let is_headless = |rows: &[String]| {
        let (journal, facts) = journal(rows.concat().as_bytes());
        digest(&journal, &facts).is_headless
    };
    assert!(is_headless(&[row("sdk-cli", "sdk")]));
    assert!(is_headless(&[row("sdk-py", "")]));
    assert!(!is_headless(&[row("cli", "typed")]));
    assert!(!is_headless(&[row("", "")]));
    assert!(!is_headless(&[row("cli", "typed"), row("sdk-cli", "sdk")]));
    assert!(!is_headless(&[row("sdk-cli", "sdk"), row("cli", "typed")]));
}

#[test]
fn a_command_that_an_agent_scheduled_names_no_session() {
    let title = |source: &str| {
        let words = "<command-name>/loop</command-name>\n<command-args>replace the parser of dates with a table</command-args>";
        let rows = [("system", "go on"), (source, words)].map(|(source, words)| {
            let row = serde_json::json!({"type": "user", "uuid": words, "timestamp": "2026-03-01T12:00:00Z", "promptSource": source, "message": {"content": words}});
            format!("{row}\n")
        });
        let (journal, facts) = journal(rows.concat().as_bytes());
        digest(&journal, &facts).title
    };
    assert_eq!(title("typed"), "Replace the parser of dates with a table");
    assert_eq!(title("system"), "");
}

#[test]
fn what_left_the_agents_list_undone_is_open() {
    let list = |items: &[(&str, &str)]| {
        let todos: Vec<Value> =
            items.iter().map(|(text, state)| serde_json::json!({"content": text, "status": state})).collect();
        let call = serde_json::json!({"type": "assistant", "uuid": format!("l{}", items.len()), "timestamp": "2026-03-01T12:30:00Z", "message": {"id": format!("n{}", items.len()), "content": [{"type": "tool_use", "id": format!("l{}", items.len()), "name": "TodoWrite", "input": {"todos": todos}}]}});
        let answer = serde_json::json!({"type": "user", "uuid": format!("x{}", items.len()), "message": {"content": [{"type": "tool_result", "tool_use_id": format!("l{}", items.len()), "content": "ok"}]}});
        format!("{call}\n{answer}\n").into_bytes()
    };
    let mut file = session(&[("user", "make the pool wait")]);
    file.extend(list(&[("Let acquire wait", "pending"), ("Write tests for the timeout", "pending")]));
    file.extend(list(&[("Let acquire wait", "completed")]));
    let (journal, facts) = journal(&file);
    let open: Vec<String> = threads(&journal, &facts, "p")
        .into_iter()
        .filter(|found| found.status == Status::Pending)
        .map(|found| found.opening.summary)
        .collect();
    assert_eq!(open, ["Write tests for the timeout (left the agent's list undone)"]);
}

#[test]
fn one_thing_told_twice_is_one_thread() {
    let said = "The retries come later.\n\nRemaining:\n- Add state checks for the login\n- Come back to the state checks for the login";
    let rows = [("user", "make the login safe"), ("Edit", "/w/login.rs"), ("said", said)];
    assert_eq!(summaries(&rows), ["Add state checks for the login"]);
}

#[test]
fn work_that_passed_its_checks_lacks_only_its_last_word() {
    let rows = [("user", "mend the reset test"), ("Edit", "/w/reset.rs"), ("Bash", "cargo test")];
    assert_eq!(summaries(&rows), Vec::<String>::new());
    assert_eq!(summaries(&rows[..2]), ["Finish: Mend the reset test"]);
}

#[test]
fn a_human_who_says_that_it_is_done_closes_a_thread_and_a_commit_proposes_to() {
    let mut log = Vec::new();
    let (first, facts) = journal(&session(&[
        ("user", "go"),
        ("Bash", "gh issue create --title \"Add state validation tests\" -> ok"),
        ("said", "Filed."),
    ]));
    let known = store(&mut log, thread_events(&first, &facts, "p", &[]));
    assert_eq!(known[0].summary, "Add state validation tests");
    let said = |words: &str| {
        let (mut other, facts) =
            journal(&session(&[("said", "…"), ("user", "hello"), ("user", words), ("said", "Fine.")]));
        other.take(&chronicle_sessions::Turn::new(
            chronicle_sessions::Place::default(),
            None,
            Event::Said("".into()),
        ));
        thread_events(&other, &facts, "p", &known).into_iter().map(|event| event.change).collect::<Vec<_>>()
    };
    assert!(matches!(said("done with the tests").as_slice(), [Change::Resolved(_)]));
    assert!(said("are we done with the tests?").is_empty());
    assert!(said("done with the docs").is_empty());
    let commit = [
        ("said", "…"),
        ("said", "…"),
        ("user", "go on"),
        ("Bash", "cargo test"),
        (
            "Bash",
            "git commit -m 'oauth: add state validation tests' -> [main 1a2b3c4] oauth: add state validation tests",
        ),
        ("said", "Done."),
    ];
    let (second, facts) = journal(&session(&commit));
    let changes = thread_events(&second, &facts, "p", &known);
    assert!(matches!(changes.as_slice(), [ThreadEvent { change: Change::Proposed(_), .. }]), "{changes:?}");
}

/// Feeds the turns of a session without the ticks, and gives what the items were and what they look like.
fn masked(file: &[u8]) -> (Journal, Journal) {
    let (mut whole, mut masked) = (Journal::new(None), Journal::new(None));
    let mut states: HashMap<String, Known> = HashMap::new();
    read(file, None, &mut |turn, _| {
        whole.take(turn);
        let mut turn = turn.clone();
        if let Event::Todo(todo, _) = &mut turn.event {
            mask(todo, &mut states);
        }
        masked.take(&turn);
    })
    .expect("bytes can be read");
    (whole, masked)
}

/// The last state of an item before its tick, and the item itself once it was ticked.
#[derive(Default)]
struct Known {
    state: Option<TodoState>,
    ticked: Option<TodoItem>,
}

/// Puts the last state before the tick in the place of the tick.
///
/// Agents leave out of later lists what they ticked: without its tick it would still be there.
fn mask(todo: &mut Todo, states: &mut HashMap<String, Known>) {
    match todo {
        Todo::List(items) => {
            for item in items.iter_mut() {
                let known = states.entry(item.text.clone()).or_default();
                if item.state == TodoState::Completed {
                    item.state = known.state.unwrap_or(TodoState::Pending);
                    known.ticked = Some(item.clone());
                } else {
                    *known = Known { state: Some(item.state), ticked: None };
                }
            }
            let is_there = |ticked: &&TodoItem| items.iter().any(|item| item.text == ticked.text);
            let left_out: Vec<TodoItem> = states
                .values()
                .filter_map(|known| known.ticked.as_ref())
                .filter(|item| !is_there(item))
                .cloned()
                .collect();
            items.extend(left_out);
        }
        Todo::Changed { state, .. } if *state == Some(TodoState::Completed) => *state = None,
        _ => {}
    }
}

#[test]
fn work_that_nobody_ticked_off_is_told_by_what_came_after() {
    let Some(corpus) = corpus() else { return };
    let (mut right, mut wrong, mut missed) = (0_u32, Vec::new(), Vec::new());
    for (name, file) in &corpus {
        let (whole, masked) = masked(file);
        let told: BTreeSet<usize> = implied(&masked)
            .iter()
            .map(|implied| {
                masked.todos().items().iter().position(|item| item == implied.item).expect("it is one")
            })
            .collect();
        for (index, item) in whole.todos().items().iter().enumerate() {
            match (item.state == TodoState::Completed, told.contains(&index)) {
                (true, true) => right += 1,
                (false, true) => wrong.push(format!("{name} {index}")),
                (true, false) => missed.push(format!("{name} {index}")),
                (false, false) => {}
            }
        }
    }
    println!("{right} right, wrong {wrong:?}, missed {missed:?}");
    let right = f64::from(right);
    assert!(wrong.len() as f64 <= 0.02 * (right + wrong.len() as f64), "{wrong:?}");
    assert!(0.8 <= right / (right + missed.len() as f64), "{missed:?}");
}

#[test]
fn a_session_is_called_by_what_was_asked_first_and_told_by_what_was_said_last() {
    let told = |script: &[(&str, &str)]| {
        let (journal, facts) = journal(&session(script));
        let digest = digest(&journal, &facts);
        (digest.title, digest.summary)
    };
    let (title, summary) = told(&[
        ("user", "could you add a retry to the connection pool?"),
        ("said", "On it."),
        ("user", "now log how long it waited"),
        ("said", "Done."),
        ("user", "why does the pool wait at all?"),
        ("said", "Its connections are all taken."),
    ]);
    assert_eq!(title, "Add a retry to the connection pool");
    assert_eq!(summary, "Its connections are all taken.");
    let (title, _) = told(&[
        ("user", "why does the connection pool wait for a closed socket?"),
        ("said", "It does not look."),
        ("user", "then let it look at the socket first"),
    ]);
    assert_eq!(title, "Why does the connection pool wait for a closed socket");
    let (title, _) = told(&[
        ("user", "I merged main - why did it stop halfway?"),
        ("Bash", "git commit --no-edit -> [topic 1a2b3c4] Merge branch 'main' into topic"),
        ("said", "There was a conflict."),
    ]);
    assert_eq!(title, "I merged main - why did it stop halfway");
    let (title, _) = told(&[
        ("user", "can you see the board?"),
        ("said", "Yes."),
        ("user", "move the finished cards to the archive"),
    ]);
    assert_eq!(title, "Move the finished cards to the archive");
}
