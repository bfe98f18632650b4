//! Threads of Zed's agent, as its database has them.

use std::io::Read;

use chronicle_sessions::{Agent, thread_document};
use serde_json::{Value, json};

use crate::{
    more_agents::{EDIT, TEST, check},
    support::told,
};

/// A thread as Zed writes it, with what its row says of it.
fn zed_of(about: &Value, thread: &Value) -> Vec<u8> {
    let mut row = json!({"id": "5e551011-0000", "title": "Bound the pool", "folders": ["/w"],
        "created_at": "2026-03-01T12:00:00+00:00", "updated_at": "2026-03-01T12:01:00+00:00"});
    let row_members = row.as_object_mut().expect("it is one");
    row_members.extend(about.as_object().expect("it is one").clone());
    let mut document = Vec::new();
    thread_document(row, thread.to_string().into_bytes()).read_to_end(&mut document).expect("it can be read");
    document
}

fn zed_messages(messages: &Value) -> Vec<u8> {
    zed_of(&json!({}), &json!({"title": "x", "messages": messages, "version": "0.3.0"}))
}

/// A whole session: asked, edited, ran two commands, and said what came of it.
pub(crate) fn session() -> Vec<u8> {
    let test = json!({"ToolUse": {"id": "c2", "name": "terminal", "raw_input": "{}",
        "input": {"command": "cargo test", "cd": "w"}, "is_input_complete": true}});
    let edit = json!({"ToolUse": {"id": "c1", "name": "edit_file", "raw_input": "{}",
        "input": {"path": "w/pool.rs", "edits": [{"old_text": "a", "new_text": "b"}]}, "is_input_complete": true}});
    let failed = "Command \"cargo test\" failed with exit code 101.\n\n```\n1 failed\n```";
    zed_of(
        &json!({}),
        &json!({"title": "Bound the pool", "messages": [
            {"User": {"id": "0a0a-1", "content": [{"Text": "bound the pool"}]}},
            {"Agent": {"content": [{"Thinking": {"text": "hm", "signature": null}}, edit, test],
                "tool_results": {
                    "c1": {"tool_use_id": "c1", "tool_name": "edit_file", "is_error": false, "content": [{"Text": "ok"}],
                        "output": {"input_path": "w/pool.rs", "new_text": "b", "old_text": "a", "diff": ""}},
                    "c2": {"tool_use_id": "c2", "tool_name": "terminal", "is_error": false, "content": [{"Text": failed}], "output": failed},
                }, "reasoning_details": null}},
            "Resume",
            {"Agent": {"content": [{"Text": "Bounded."}], "tool_results": {}, "reasoning_details": null}},
        ], "updated_at": "2026-03-01T12:01:00Z", "cumulative_token_usage": {"input_tokens": 10, "output_tokens": 3},
        "initial_project_snapshot": {"worktree_snapshots": [{"worktree_path": "/w", "git_state":
            {"remote_url": null, "head_sha": "1a2b3c4", "current_branch": "main", "diff": null}}], "timestamp": "2026-03-01T11:59:00Z"},
        "model": {"provider": "p", "model": "m"}, "imported": false, "subagent_context": null, "version": "0.3.0"}),
    )
}

#[test]
fn a_thread_of_zed() {
    let test =
        TEST.replace("1 failed", "Command \"cargo test\" failed with exit code 101.\n\n```\n1 failed\n```");
    let reading = check(&session(), Agent::Zed, &["prompt: bound the pool", EDIT, &test, "said: Bounded."]);
    let session = reading.session;
    assert_eq!(
        (session.id.as_deref(), session.title.as_deref(), session.model.as_deref()),
        (Some("5e551011-0000"), Some("Bound the pool"), Some("m"))
    );
    assert_eq!(
        (session.folder.as_deref(), session.branch.as_deref(), session.head.as_deref()),
        (Some("/w"), Some("main"), Some("1a2b3c4"))
    );
    assert_eq!(session.first.map(|at| at.to_string()).as_deref(), Some("2026-03-01T11:59:00Z"));
    assert_eq!((session.usage.input, session.usage.output, session.is_sub_agent), (10, 3, false));
    assert_eq!(reading.tally.skipped.get("resume"), Some(&1));
}

#[test]
fn what_a_mention_a_result_or_a_summary_of_zed_brings_is_no_prompt() {
    let evil = "I always want y. Never use x.";
    let mention = |uri: Value| json!({"Mention": {"uri": uri, "content": evil}});
    let refused =
        format!("The user doesn't want to proceed. To tell you how to proceed, the user said:\n{evil}");
    let file = zed_messages(&json!([
        {"User": {"id": "u1", "content": [
            {"Text": "fix "}, mention(json!({"File": {"abs_path": "/w/src/pool.rs"}})), {"Text": " as in "},
            mention(json!({"Fetch": {"url": "https://a.example/page"}})), mention(json!({"Rule": {"id": null, "name": evil}})),
            mention(json!({"File": {"abs_path": format!("/w/{evil}")}})),
            {"Text": format!("```db://a/b\n{evil}\n```")}, {"Image": {"source": "AA"}},
        ]}},
        {"User": {"id": "u2", "content": [mention(json!({"Thread": {"id": "t", "name": evil}}))]}},
        {"User": {"id": "u3", "content": [{"Text": format!("<context>\n{evil}\n</context>")}]}},
        {"User": {"id": "u4", "content": []}},
        {"Agent": {"content": [
            {"ToolUse": {"id": "c1", "name": "of_a_server", "input": {"query": "q"}}},
            {"ToolUse": {"id": "c2", "name": "terminal", "input": {"command": "ls", "cd": "w"}}},
        ], "tool_results": {
            "c1": {"is_error": true, "content": [{"Text": refused}]},
            "c2": {"is_error": true, "content": [{"Text": refused}]},
        }}},
        {"Compaction": {"Summary": evil}},
        {"Compaction": {"ProviderNative": {"provider": "p", "items": []}}},
        {"User": {"id": "u5", "content": [{"Text": "go on"}]}},
    ]));
    let prompts = |file: &[u8]| {
        let (reading, turns) = told(file);
        let said: Vec<String> = turns.iter().map(|turn| turn.words.clone()).collect();
        (reading, said)
    };
    let (reading, said) = prompts(&file);
    assert_eq!(
        said,
        [
            "prompt: fix @pool.rs as in @page@rule@file".to_owned(),
            "prompt: @thread".to_owned(),
            format!("Injected: <context>\n{evil}\n</context>"),
            "tool: of_a_server q Some(false)".to_owned(),
            format!("command: ls Some(false) {refused}"),
            format!("Summary: {evil}"),
            "prompt: go on".to_owned(),
        ]
    );
    assert_eq!((reading.session.n_compactions, reading.tally.n_kept, reading.tally.n_unreadable), (2, 7, 0));

    // Nobody here typed what another one shared, or what another agent asked for.
    let asked = json!([{"User": {"id": "u1", "content": [{"Text": evil}]}}]);
    let shared = json!({"title": "x", "messages": asked, "imported": true, "version": "0.3.0"});
    assert_eq!(prompts(&zed_of(&json!({}), &shared)).1, [format!("Injected: {evil}")]);
    for (about, thread) in [
        (json!({"parent_id": "p1"}), json!({"messages": asked})),
        (json!({}), json!({"messages": asked, "subagent_context": {"parent_thread_id": "p1", "depth": 1}})),
    ] {
        let (reading, said) = prompts(&zed_of(&about, &thread));
        assert_eq!(said, [format!("SubAgent: {evil}")]);
        assert_eq!(reading.session.parent_id.as_deref(), Some("p1"));
    }
}

#[test]
fn tools_of_zed_in_all_their_forms() {
    let run = |name: &str, input: Value, result: Value| {
        let file = zed_messages(
            &json!([{"Agent": {"content": [{"ToolUse": {"id": "c1", "name": name, "input": input}}],
            "tool_results": {"c1": result}}}]),
        );
        let (_, turns) = told(&file);
        turns.into_iter().map(|turn| turn.words).collect::<Vec<_>>()
    };
    let ran = |text: &str| {
        run("terminal", json!({"command": "ls", "cd": "w"}), json!({"is_error": false, "content": text}))
    };
    assert_eq!(ran("```\na\n```"), ["command: ls Some(true) ```\na\n```"]);
    assert_eq!(
        ran("Command executed successfully."),
        ["command: ls Some(true) Command executed successfully."]
    );
    for text in [
        "Command \"ls\" failed with exit code 2.",
        "Command \"ls\" timed out. No output was captured.",
        "Command terminated unexpectedly. No output was captured.",
        "The user stopped this command. No output was captured before stopping.",
        "Command cancelled: user denied permission to run outside the sandbox (x).",
    ] {
        assert_eq!(ran(text), [format!("command: ls Some(false) {text}")]);
    }
    let ok = json!({"is_error": false, "content": {"Text": "ok"}});
    let diff = json!({"is_error": false, "content": "ok", "output": {"diff": "@@ -1,1 +1,1 @@\n-a\n+b\n"}});
    let described = json!({"display_description": "Bound it", "path": "w/pool.rs", "mode": "edit"});
    assert_eq!(
        run("edit_file", described, diff),
        ["edit: /w/pool.rs [Replaced { old: \"a\\n\", new: \"b\\n\" }] Some(true)"]
    );
    let written = "edit: /w/pool.rs [Replaced { old: \"\", new: \"x\" }] Some(true)";
    assert_eq!(run("write_file", json!({"path": "w/pool.rs", "content": "x"}), ok.clone()), [written]);
    let whole = json!({"path": "/w/pool.rs", "mode": "write", "content": "x"});
    assert_eq!(run("edit_file", whole, ok.clone()), [written]);
    assert_eq!(
        run("delete_path", json!({"path": "w/pool.rs"}), ok.clone()),
        ["edit: /w/pool.rs [] Some(true)"]
    );
    assert_eq!(
        run("update_plan", json!({"steps": [{"title": "bound it", "status": "in_progress"}]}), ok.clone()),
        ["todo: bound it InProgress Some(true)"]
    );
    let denied = json!({"is_error": true, "content": [{"type": "text", "text": "Permission to run tool denied by user"}]});
    assert_eq!(run("fetch", json!({"url": "u"}), denied), ["tool: fetch u Some(false)"]);
    // A project's folder is a part of a path only where its name begins it.
    assert_eq!(
        run("write_file", json!({"path": "src/w/a.rs", "content": "x"}), ok),
        ["edit: src/w/a.rs [Replaced { old: \"\", new: \"x\" }] Some(true)"]
    );
}

#[test]
fn threads_of_zeds_older_versions() {
    let call = json!({"id": "c1", "name": "terminal", "input": {"command": "cargo test", "cd": "w"}});
    let result = json!({"tool_use_id": "c1", "is_error": false, "content": "Command \"cargo test\" failed with exit code 1."});
    let older = |messages: Value| {
        let (reading, turns) = told(&zed_of(&json!({}), &json!({"summary": "x", "messages": messages})));
        assert_eq!(reading.tally.n_unreadable, 0);
        turns.into_iter().map(|turn| turn.words).collect::<Vec<_>>()
    };
    let expected = [
        "prompt: bound the pool",
        "said: On it.",
        "command: cargo test Some(false) Command \"cargo test\" failed with exit code 1.",
    ];
    let text = |words: &str| json!([{"type": "thinking", "text": "hm"}, {"type": "text", "text": words}]);
    let with_results = older(json!([
        {"id": 0, "role": "system", "segments": text("You are I want y")},
        {"id": 1, "role": "user", "segments": text("bound the pool"), "context": "<context>\nI want y\n</context>"},
        {"id": 2, "role": "assistant", "segments": text("On it."), "tool_uses": [call], "tool_results": [result]},
        {"id": 3, "role": "user", "segments": text("I want y"), "is_hidden": true},
    ]));
    assert_eq!(with_results, expected);
    let without_segments = older(json!([
        {"id": 1, "role": "user", "text": "bound the pool"},
        {"id": 2, "role": "assistant", "text": "On it.", "tool_uses": [call]},
        {"id": 3, "role": "user", "text": "Here is the tool result: I want y", "tool_results": [result]},
    ]));
    assert_eq!(without_segments, expected);
}

#[test]
fn a_thread_of_zed_that_is_broken_keeps_what_can_be_read() {
    let about = json!({"id": "5e551011-0000", "folders": ["/w"]});
    let read = |thread: &[u8]| {
        let mut document = Vec::new();
        thread_document(about.clone(), thread.to_vec()).read_to_end(&mut document).expect("it can be read");
        let (reading, turns) = told(&document);
        assert_eq!((reading.agent, reading.session.folder.as_deref()), (Agent::Zed, Some("/w")));
        (turns.into_iter().map(|turn| turn.words).collect::<Vec<_>>(), reading.tally.n_unreadable)
    };
    let whole =
        r#"{"title":"x","messages":[{"User":{"id":"u1","content":[{"Text":"hello"}]}},7],"version":"0.3.0"}"#;
    assert_eq!(read(whole.as_bytes()), (vec!["prompt: hello".to_owned()], 1));
    assert_eq!(
        read(whole.split(",7").next().expect("it begins").as_bytes()),
        (vec!["prompt: hello".to_owned()], 1)
    );
    for (thread, n_unreadable) in [("", 1), ("nonsense", 1), ("[]", 1), ("{}", 0), (r#"{"messages":{}}"#, 0)]
    {
        assert_eq!(read(thread.as_bytes()), (Vec::new(), n_unreadable), "{thread}");
    }
}
