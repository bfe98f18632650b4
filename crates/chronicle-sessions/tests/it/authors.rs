//! Words in a human's place that no human wrote, in the forms of all agents.

use serde_json::{Value, json};

use crate::support::{all_words, told};

/// The turns of a file of rows, or of a document.
fn words(rows: &[Value]) -> Vec<String> {
    let file: String = rows.iter().map(|row| format!("{row}\n")).collect();
    all_words(&told(file.as_bytes()).1).iter().map(ToString::to_string).collect()
}

/// The prompts of a file of rows.
fn prompts(rows: &[Value]) -> Vec<String> {
    let prompts = words(rows);
    prompts.iter().filter_map(|words| words.strip_prefix("prompt: ")).map(str::to_owned).collect()
}

fn with(mut row: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().expect("it is one") {
        row[key] = value.clone();
    }
    row
}

/// A row of Claude Code.
fn claude(id: &str, kind: &str, content: &Value, more: &Value) -> Value {
    let message = json!({"role": kind, "id": id, "model": "opus", "content": content});
    let row = json!({"type": kind, "uuid": id, "sessionId": "s", "cwd": "/w", "version": "2.1.90",
        "timestamp": "2026-03-01T12:00:00Z", "message": message});
    with(row, more)
}

const REFUSAL: &str =
    "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n";

#[test]
fn a_refusal_of_claude_has_words_of_the_user_only_where_the_user_refused() {
    let refused = |hook: Option<Value>, more: Value| {
        let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}]);
        let text = format!("{REFUSAL}Use just.");
        let answer = json!([{"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": text}]);
        let answer = with(claude("u2", "user", &answer, &json!({"toolUseResult": "Error: …"})), &more);
        let hook = hook.map(|hook| {
            let hook = with(json!({"toolUseID": "t1", "hookEvent": "PreToolUse"}), &hook);
            json!({"type": "attachment", "uuid": "h1", "attachment": hook})
        });
        let rows = [
            Some(claude("u1", "user", &json!("Test it"), &json!({}))),
            Some(claude("a1", "assistant", &call, &json!({}))),
            hook,
            Some(answer),
        ];
        let rows: Vec<Value> = rows.into_iter().flatten().collect();
        words(&rows).contains(&"interruption: Use just.".to_owned())
    };
    for (expected, more) in [
        (true, json!({})),
        (true, json!({"version": "2.0.76"})),
        (false, json!({"version": "2.0.30"})),
        (false, json!({"version": "1.0.128"})),
        (false, json!({"version": "nightly"})),
        (
            true,
            json!({"version": "2.1.340", "toolDenialKind": "user-rejected", "holdsPersonsWords": true,
            "permissionDecision": {"decision": "reject", "source": "user_reject"}}),
        ),
        (false, json!({"toolDenialKind": "permission-rule"})),
        (false, json!({"toolDenialKind": "of-tomorrow"})),
        (false, json!({"permissionDecision": {"decision": "reject", "source": "hook"}})),
        (false, json!({"permissionDecision": {"decision": "reject"}})),
        (false, json!({"toolDenialKind": "user-rejected", "toolDenialFromHost": true})),
        (false, json!({"toolDenialKind": "user-rejected", "holdsPersonsWords": false})),
    ] {
        assert_eq!(refused(None, more.clone()), expected, "{more}");
    }
    let printed = |value: Value| json!({"type": "hook_success", "stdout": format!("{value}\n")});
    for (expected, hook) in [
        (true, json!({"type": "hook_success", "stdout": "checked\n"})),
        (true, printed(json!({"hookSpecificOutput": {"permissionDecision": "ask"}}))),
        (true, printed(json!({"systemMessage": "x"}))),
        (true, json!({"type": "hook_permission_decision", "decision": "allow"})),
        (true, json!({"type": "hook_blocking_error", "hookEvent": "PostToolUse"})),
        (true, json!({"type": "hook_blocking_error", "toolUseID": "t0"})),
        (true, json!({"type": "todo_reminder"})),
        (false, printed(json!({"hookSpecificOutput": {"permissionDecision": "deny"}}))),
        (false, printed(json!({"hookSpecificOutput": {"permissionDecision": "refuse"}}))),
        (false, printed(json!({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "x"}}}))),
        (false, printed(json!({"decision": "block", "reason": "x"}))),
        (false, printed(json!({"continue": false}))),
        (false, json!({"type": "hook_success", "stdout": "{\"decision\":"})),
        (false, json!({"type": "hook_permission_decision", "decision": "deny"})),
        (false, json!({"type": "hook_blocking_error"})),
        (false, json!({"type": "hook_of_tomorrow"})),
    ] {
        assert_eq!(refused(Some(hook.clone()), json!({})), expected, "{hook}");
    }
}

#[test]
fn a_refusal_of_another_agent_has_no_words_of_the_user() {
    let text = format!("{REFUSAL}Use just.");
    let call = json!({"type": "tool_use", "id": "c1", "name": "Execute", "input": {"command": "make"}});
    let answer = json!({"type": "tool_result", "tool_use_id": "c1", "is_error": true, "content": text});
    let message = |id: &str, role: &str, part: &Value| json!({"type": "message", "id": id, "message": {"role": role, "content": [part]}});
    let found = words(&[
        json!({"type": "session_start", "id": "s", "cwd": "/w"}),
        message("m1", "assistant", &call),
        message("m2", "user", &answer),
    ]);
    assert_eq!(found, [format!("command: make Some(false) {text}")]);
}

#[test]
fn rows_of_claude_that_nobody_typed_are_no_prompts() {
    let typed = |more: &Value| prompts(&[claude("u1", "user", &json!("Use just."), more)]) == ["Use just."];
    for (expected, more) in [
        (true, json!({})),
        (true, json!({"promptSource": "typed", "origin": {"kind": "human"}, "turnOrigin": "human"})),
        (true, json!({"promptSource": "typed", "isOfTomorrow": true})),
        (true, json!({"textNotTyped": false, "wakeupSource": null, "origin": null})),
        (true, json!({"interruptedMessageId": "x", "permissionMode": "plan", "promptId": "x"})),
        (false, json!({"wakeupSource": "cron"})),
        (false, json!({"scheduledTaskId": "t1"})),
        (false, json!({"promptSource": "typed", "textNotTyped": true})),
        (false, json!({"handedOff": true})),
        (false, json!({"handedOff": "s2"})),
        (false, json!({"isVirtual": true, "origin": {"kind": "human"}})),
        (false, json!({"queueTranscriptOnly": true})),
        (false, json!({"queueSkipAttachments": true})),
        (false, json!({"isOfTomorrow": true})),
        (false, json!({"turnOrigin": "peer"})),
        (false, json!({"turnOrigin": {"kind": "scheduled"}})),
        (false, json!({"origin": {"server": "x"}})),
        (false, json!({"promptSource": "of-tomorrow"})),
        (false, json!({"messageSource": "host"})),
        (false, json!({"carriesOnTurnOf": "u0"})),
    ] {
        assert_eq!(typed(&more), expected, "{more}");
    }
    // What waited in the queue.
    let queued = |enqueued: &Value, handed: &Value| {
        let handed = with(json!({"type": "queued_command", "prompt": "Use just."}), handed);
        let queue = json!({"type": "queue-operation", "operation": "enqueue", "content": "Use just.", "sessionId": "s"});
        prompts(&[
            claude("u1", "user", &json!("Test it"), &json!({})),
            with(queue, enqueued),
            json!({"type": "queue-operation", "operation": "remove", "sessionId": "s"}),
            json!({"type": "attachment", "uuid": "h1", "attachment": handed}),
        ])
    };
    assert_eq!(queued(&json!({}), &json!({"commandMode": "prompt"})), ["Test it", "Use just."]);
    assert_eq!(queued(&json!({"wakeupSource": "cron"}), &json!({})), ["Test it"]);
    assert_eq!(queued(&json!({}), &json!({"commandMode": "task-notification"})), ["Test it"]);
    assert_eq!(queued(&json!({}), &json!({"textNotTyped": true})), ["Test it"]);
}

#[test]
fn threads_of_amp_that_a_model_began_or_went_on_with() {
    let thread = |more: &Value, messages: &[Value]| {
        let messages: Vec<Value> = messages
            .iter()
            .enumerate()
            .map(|(id, more)| with(json!({"role": "user", "messageId": id}), more))
            .collect();
        // What is known of the thread comes last.
        let mut file = format!(r#"{{"v":9,"created":1772366400000,"messages":{}"#, json!(messages));
        for (key, value) in more.as_object().expect("it is one") {
            file += &format!(",\"{key}\":{value}");
        }
        let (reading, turns) = told((file + "}").as_bytes());
        let words: Vec<String> = all_words(&turns).iter().map(ToString::to_string).collect();
        (words, reading.session.is_sub_agent)
    };
    let text = |words: &str| json!({"content": [{"type": "text", "text": words}]});
    let two = [text("Use just."), text("Thanks")];
    assert_eq!(
        thread(&json!({"mainThreadID": "T-1"}), &two),
        (vec!["SubAgent: Use just.".to_owned(), "SubAgent: Thanks".to_owned()], true)
    );
    assert_eq!(thread(&json!({"mainThreadID": null}), &two).0[0], "prompt: Use just.");
    let related =
        |kind: &str, role: &str| json!({"relationships": [{"threadID": "T-1", "type": kind, "role": role}]});
    let first = |kind: &str, role: &str| thread(&related(kind, role), &two).0;
    assert_eq!(first("handoff", "child"), ["Summary: Use just.", "prompt: Thanks"]);
    assert_eq!(first("of-tomorrow", "child"), ["Summary: Use just.", "prompt: Thanks"]);
    for (kind, role) in [("handoff", "parent"), ("fork", "child"), ("mention", "child")] {
        assert_eq!(first(kind, role), ["prompt: Use just.", "prompt: Thanks"], "{kind} {role}");
    }
    let handed =
        "Continuing work from thread T-1. When you lack specific information you can use it.\n\nUse just.";
    let handed_over = |more: &Value| thread(more, &[text(handed), text("Thanks")]).0;
    for more in [json!({}), related("handoff", "child")] {
        assert_eq!(handed_over(&more), [format!("Summary: {handed}"), "prompt: Thanks".to_owned()], "{more}");
    }
    for (expected, more) in [
        (true, json!({})),
        (true, json!({"source": {"type": "user"}})),
        (false, json!({"source": {"type": "hook", "hook": "h"}})),
        (false, json!({"source": {"type": "course-correction"}})),
        (false, json!({"source": {"hook": "h"}})),
        (false, json!({"meta": {"fromOfTomorrow": true}})),
    ] {
        let (found, _) = thread(&json!({}), &[with(text("Use just."), &more)]);
        assert_eq!(found == ["prompt: Use just."], expected, "{more}");
    }
}

fn qwen(texts: &[&str]) -> Vec<Value> {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
    vec![json!({"uuid": "q1", "parentUuid": null, "sessionId": "s", "timestamp": "2026-03-01T12:00:00Z",
        "type": "user", "cwd": "/w", "version": "0.20.0", "message": {"role": "user", "parts": parts}})]
}

fn gemini(texts: &[&str]) -> Vec<Value> {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
    vec![
        json!({"sessionId": "g", "projectHash": "h", "startTime": "2026-03-01T12:00:00Z"}),
        json!({"id": "1", "timestamp": "2026-03-01T12:00:01Z", "type": "user", "content": parts}),
    ]
}

fn goose(texts: &[&str]) -> Vec<Value> {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    vec![
        json!({"working_dir": "/w", "description": "Pool", "message_count": 1}),
        json!({"id": "1", "role": "user", "created": 1_772_366_400, "content": parts}),
    ]
}

fn codex(texts: &[&str]) -> Vec<Value> {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"type": "input_text", "text": text})).collect();
    let item = json!({"type": "message", "role": "user", "content": parts});
    vec![
        json!({"timestamp": "2026-03-01T12:00:00Z", "type": "session_meta", "payload": {"id": "x", "cwd": "/w"}}),
        json!({"timestamp": "2026-03-01T12:00:01Z", "type": "response_item", "payload": item}),
    ]
}

fn kimi(texts: &[&str]) -> Vec<Value> {
    let parts: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    let begin = json!({"type": "TurnBegin", "payload": {"user_input": parts}});
    vec![
        json!({"type": "metadata", "protocol_version": "1.3"}),
        json!({"timestamp": 1_772_366_400.5, "message": begin}),
    ]
}

#[test]
fn what_editors_send_along_with_a_prompt_is_no_prompt() {
    type Form = fn(&[&str]) -> Vec<Value>;
    let check = |agents: &[Form], texts: &[&str], expected: &[&str]| {
        for (index, agent) in agents.iter().enumerate() {
            let found = prompts(&agent(texts));
            assert_eq!(found, expected, "{index}: {texts:?}");
        }
    };
    let all: [Form; 5] = [qwen, gemini, goose, codex, kimi];
    check(&all, &["look at it"], &["look at it"]);
    // Elements, with or without attributes, and what is between the ones that begin and end.
    check(&all, &["look at ", "<resource uri='file:///w/a.md'>\nUse just.\n</resource>"], &["look at "]);
    check(
        &all,
        &["<context ref=\"a.md\">\n</context>\nUse just.\n</context>", "look at it"],
        &["look at it"],
    );
    check(&all, &["<link uri='a' name='Use just.' />", "look at it"], &["look at it"]);
    check(&all, &["<a>x</a>\n<b>Use just.</b>", "look at it"], &["look at it"]);
    check(
        &all,
        &[
            "<files>\n1. a.md\n</files>\n\n",
            "<document path=\"a.md\">",
            "Use just.",
            "</document>",
            "Never.",
            "</document>\n\n",
            "sum it up",
        ],
        &["sum it up"],
    );
    check(&all, &["look at it", "<document path=\"a.md\">", "Use just."], &["look at it"]);
    // Words around an element are the user's.
    check(&all, &["why is <b>it</b> bold?"], &["why is <b>it</b> bold?"]);
    // An editor's own marks.
    check(
        &[codex, kimi],
        &[
            "look at ",
            "[@a.md](file:///w/a.md)\n<context ref=\"file:///w/a.md\">\nUse just.\n</context>",
            " and test it",
        ],
        &["look at ", " and test it"],
    );
    check(
        &[codex],
        &["[@Use just](b) and more.md](file:///w/a.md)\n<context ref=\"a\">\nx\n</context>", "look"],
        &["look"],
    );
    check(&[codex], &["[@a](app://a) draw it (now)"], &["[@a](app://a) draw it (now)"]);
    // Programs whose own texts are as plain as the prompt, which comes first.
    let plain: [Form; 3] = [qwen, gemini, goose];
    for more in [
        &["--- Extension: x (untrusted third-party content) ---\nUse just."][..],
        &["\n--- Content from MCP resource x [1a] ---\n", "Use just.", "\n--- End of MCP resource x ---"],
        &["\n--- Content from referenced context ---", "\nContent from @a:\n", "Use just."],
        &["--- Resource: file:///w/a.md ---\nUse just.\n---\n"],
        &["\n\n# /w/a.md\n```\nmake\n```\n\nUse just.\n\n```\nx\n```"],
        &["[Untrusted machine transcription of 1 image(s) by x.]\nUse just."],
        &["Anything else"],
    ] {
        check(&plain, &[&["look at it"], more].concat(), &["look at it"]);
    }
    // They are known by how they begin where they come before it.
    check(&plain, &["--- Resource: file:///w/a.md ---\nUse just.\n---\n", "look at it"], &["look at it"]);
    check(&plain, &["\n\n# /w/a.md\n```\nUse just.\n```", "look at it"], &["look at it"]);
    check(&plain, &["[Untrusted machine transcription of 1 image(s) by x.]\nUse just.", "look"], &["look"]);
}

#[test]
fn only_known_kinds_of_sessions_are_a_humans() {
    let is_sub_agent = |rows: &[Value]| {
        let file: String = rows.iter().map(|row| format!("{row}\n")).collect();
        told(file.as_bytes()).0.session.is_sub_agent
    };
    for (expected, kind) in [(false, "main"), (true, "subagent"), (true, "of-tomorrow")] {
        let head = json!({"sessionId": "g", "projectHash": "h", "kind": kind});
        assert_eq!(is_sub_agent(&[head, gemini(&["hi"])[1].clone()]), expected, "{kind}");
    }
    for (expected, kind) in [(false, "user"), (false, "acp"), (true, "sub_agent"), (true, "of-tomorrow")] {
        let head = json!({"working_dir": "/w", "description": "x", "session_type": kind});
        assert_eq!(is_sub_agent(&[head, goose(&["hi"])[1].clone()]), expected, "{kind}");
    }
    for (expected, kind) in [(false, "orchestrator"), (true, "worker"), (true, "of-tomorrow")] {
        let head = json!({"type": "session_start", "id": "s", "cwd": "/w", "decompSessionType": kind});
        assert_eq!(is_sub_agent(&[head]), expected, "{kind}");
    }
    for (expected, source) in [
        (false, json!("cli")),
        (false, json!("vscode")),
        (true, json!("mcp")),
        (true, json!("of-tomorrow")),
        (true, json!({"subagent": "review"})),
    ] {
        let head = with(codex(&[])[0].clone(), &json!({"payload": {"id": "x", "source": source.clone()}}));
        assert_eq!(is_sub_agent(&[head, codex(&["hi"])[1].clone()]), expected, "{source}");
    }
    for (expected, origin) in [
        (1, json!(null)),
        (1, json!({"kind": "user"})),
        (0, json!({"kind": "cron"})),
        (0, json!({"name": "x"})),
        (0, json!("of-tomorrow")),
    ] {
        let mut rows = kimi(&["Use just."]);
        rows[1]["message"]["payload"]["origin"] = origin.clone();
        assert_eq!(prompts(&rows).len(), expected, "{origin}");
    }
    // A text of Goose for the model alone.
    let part = |audience: &str| json!({"type": "text", "text": "Use just.", "annotations": {"audience": [audience]}});
    let told = |audience: &str| {
        let head = json!({"working_dir": "/w", "description": "x", "message_count": 1});
        prompts(&[head, json!({"id": "1", "role": "user", "created": 1, "content": [part(audience)]})])
    };
    assert_eq!((told("user").len(), told("assistant").len()), (1, 0));
}

#[test]
fn a_plan_that_codex_made_is_no_prompt() {
    let plan = "PLEASE IMPLEMENT THIS PLAN:\n# Pool\n\nUse just.";
    assert_eq!(words(&codex(&[plan])), [format!("Plan: {plan}")]);
    assert_eq!(prompts(&codex(&["Please implement this plan of mine: use just."])).len(), 1);
}
