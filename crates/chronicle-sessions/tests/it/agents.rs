//! The forms of all agents give one stream of turns.

use chronicle_sessions::Agent;

use crate::support::{all_words, told};

fn rows(rows: &[&str]) -> Vec<u8> {
    rows.iter().flat_map(|row| [row.as_bytes(), b"\n"].concat()).collect()
}

#[test]
fn claude_sub_agents_compactions_and_queues() {
    let file = rows(&[
        r#"{"type":"summary","summary":"An older session","leafUuid":"elsewhere"}"#,
        r#"{"type":"summary","summary":"Wait in the pool","leafUuid":"u1"}"#,
        r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/w","gitBranch":"main","version":"2","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"make the pool wait"}}"#,
        r#"{"type":"assistant","uuid":"a1","sessionId":"s","message":{"id":"m1","model":"opus","content":[{"type":"thinking","thinking":"…"}],"usage":{"input_tokens":10,"output_tokens":1}}}"#,
        r#"{"type":"assistant","uuid":"a2","sessionId":"s","message":{"id":"m1","model":"opus","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"look","prompt":"look around"}}],"usage":{"input_tokens":10,"output_tokens":7}}}"#,
        r#"{"type":"progress","uuid":"p1","sessionId":"s","data":{"message":{"type":"user","uuid":"pu","message":{"role":"user","content":[{"type":"text","text":"look around"}]}},"type":"agent_progress","agentId":"x"}}"#,
        r#"{"type":"progress","uuid":"p2","sessionId":"s","data":{"message":{"type":"assistant","uuid":"pa","message":{"id":"m2","model":"haiku","content":[{"type":"text","text":"found it"}],"usage":{"input_tokens":5,"output_tokens":2}}},"type":"agent_progress","agentId":"x"}}"#,
        r#"{"type":"progress","data":{"type":"bash_progress","output":"…"},"uuid":"p3"}"#,
        r#"{"type":"user","uuid":"u2","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"done"}]}]}}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"and test it","sessionId":"s"}"#,
        r#"{"type":"queue-operation","operation":"remove","sessionId":"s"}"#,
        r#"{"type":"queue-operation","operation":"enqueue","content":"this comes as a row","sessionId":"s"}"#,
        r#"{"type":"queue-operation","operation":"dequeue","sessionId":"s"}"#,
        r#"{"type":"user","uuid":"u3","sessionId":"s","message":{"role":"user","content":"this comes as a row"}}"#,
        r#"{"type":"system","subtype":"compact_boundary","uuid":"c1","sessionId":"s"}"#,
        r#"{"type":"user","uuid":"u4","isCompactSummary":true,"sessionId":"s","message":{"role":"user","content":"We did much."}}"#,
        r#"{"type":"user","uuid":"u5","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"none","is_error":true,"content":"lost"}]}}{"type":"user","uuid":"u6","sessionId":"s","message":{"role":"user","content":"run together"}}"#,
        r#"{"type":"user","uuid":"u6","sessionId":"s","message":{"role":"user","content":"run together"}}"#,
        r#"{"type":"attachment","uuid":"h1","attachment":{"type":"hook_additional_context","content":["remembered: the pool waits"]}}"#,
    ]);
    let (reading, turns) = told(&file);
    assert_eq!(
        all_words(&turns),
        [
            "prompt: make the pool wait",
            "SubAgent: look around",
            "said: found it",
            "tool: Task look Some(true)",
            "prompt: and test it",
            "prompt: this comes as a row",
            "Summary: We did much.",
            "prompt: run together",
        ]
    );
    assert_eq!(turns[2].sub_agent.as_deref(), Some("x"));
    let session = reading.session;
    assert_eq!(session.title.as_deref(), Some("Wait in the pool"));
    assert_eq!((session.usage.input, session.usage.output, session.usage.replies), (15, 9, 2));
    assert_eq!((session.n_compactions, session.branch.as_deref()), (1, Some("main")));
    assert_eq!((reading.tally.skipped["repeated"], reading.tally.skipped["attachment"]), (1, 1));
    assert_eq!(reading.tally.n_rows, reading.tally.n_lines + 1);
}

#[test]
fn claude_sub_agents_of_older_versions_have_rows_in_the_session_that_sent_them() {
    let row = |id: &str, is_side: bool, kind: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{id}","sessionId":"s","isSidechain":{is_side},"message":{{"id":"m-{id}","model":"opus","content":{content}}}}}"#
        )
    };
    let call = r#"[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"look","prompt":"look around"}}]"#;
    let answer = r#"[{"type":"tool_result","tool_use_id":"t1","content":"It is fine."}]"#;
    let file = [
        row("u1", false, "user", r#""make the pool wait""#),
        row("a1", false, "assistant", call),
        row("s1", true, "user", r#""look around""#),
        row("s2", true, "assistant", r#"[{"type":"text","text":"It is fine."}]"#),
        row("u2", false, "user", answer),
        row("u3", false, "user", r#""then test it""#),
    ];
    let (reading, turns) = told(file.join("\n").as_bytes());
    let expected = [
        ("prompt: make the pool wait", false),
        ("SubAgent: look around", true),
        ("said: It is fine.", true),
        ("tool: Task look Some(true)", false),
        ("prompt: then test it", false),
    ];
    let sides = turns.iter().map(|turn| turn.sub_agent.is_some());
    assert_eq!(all_words(&turns).into_iter().zip(sides).collect::<Vec<_>>(), expected);
    assert_eq!((reading.session.id.as_deref(), reading.session.parent_id), (Some("s"), None));
    // A file of nothing else is that of a sub-agent.
    let (reading, _) = told(file[2..4].join("\n").as_bytes());
    assert_eq!(reading.session.parent_id.as_deref(), Some("s"));
}

#[test]
fn claude_queues_hold_words_of_machines_too() {
    let of = |attachment: &str| {
        let attachment = format!(
            r#"{{"type":"attachment","uuid":"h1","attachment":{{"type":"queued_command","prompt":"look at the build",{attachment}}}}}"#
        );
        let file = rows(&[
            r#"{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"make the pool wait"}}"#,
            r#"{"type":"queue-operation","operation":"enqueue","content":"look at the build","sessionId":"s"}"#,
            r#"{"type":"queue-operation","operation":"remove","sessionId":"s"}"#,
            &attachment,
            r#"{"type":"assistant","uuid":"a1","sessionId":"s","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"It is red."}]}}"#,
        ]);
        let (_, turns) = told(&file);
        all_words(&turns).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let typed = ["prompt: make the pool wait", "prompt: look at the build", "said: It is red."];
    assert_eq!(of(r#""commandMode":"prompt""#), typed);
    assert_eq!(of(r#""origin":{"kind":"human"}"#), typed);
    for machine in [r#""isMeta":true"#, r#""origin":{"kind":"channel","server":"x"}"#] {
        assert_eq!(of(machine), [typed[0], typed[2]], "{machine}");
    }
}

#[test]
fn what_gemini_puts_after_a_prompt_is_no_word_of_the_human() {
    let file = rows(&[
        r#"{"sessionId":"g","projectHash":"h","startTime":"2026-03-01T12:00:00Z"}"#,
        r#"{"id":"1","timestamp":"2026-03-01T12:00:01Z","type":"user","content":[{"text":"look at @srv:issues/7"},{"text":"\nContent from @issues/7:\n"},{"text":"Always use x."}]}"#,
    ]);
    assert_eq!(all_words(&told(&file).1), ["prompt: look at @srv:issues/7"]);
}

#[test]
fn claude_calls_come_with_their_outcome() {
    let call = |id: &str, name: &str, input: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"a-{id}","message":{{"id":"m-{id}","model":"opus","content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}]}}}}"#
        )
    };
    let answer = |id: &str, content: &str, is_error: bool| {
        format!(
            r#"{{"type":"user","uuid":"u-{id}","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{content}","is_error":{is_error}}}]}}}}"#
        )
    };
    let file = [
        call("1", "Bash", r#"{"command":"cargo test"}"#),
        answer("1", r"Exit code 101\ntest failed", true),
        call("2", "Edit", r#"{"file_path":"/w/pool.rs","old_string":"a","new_string":"b"}"#),
        answer("2", "ok", false),
        call("3", "TaskCreate", r#"{"subject":"Test the pool","description":"all of it"}"#),
        answer("3", "Task #4 created successfully: Test the pool", false),
        call("4", "TaskUpdate", r#"{"taskId":"4","status":"completed"}"#),
        answer("4", "Updated task #4 status", false),
        call("5", "Bash", r#"{"command":"git commit -m 'pool: wait'"}"#),
        answer("5", r"[main 1a2b3c4] pool: wait\n 1 file changed", false),
        call("6", "Write", r#"{"file_path":"/w/new.rs","content":"text"}"#),
        answer("6", r"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nput it elsewhere", true),
        call("7", "Bash", r#"{"command":"sleep 9"}"#),
    ]
    .join("\n");
    let (_, turns) = told(file.as_bytes());
    assert_eq!(
        all_words(&turns),
        [
            "command: cargo test Some(false) Exit code 101\ntest failed",
            "edit: /w/pool.rs [Replaced { old: \"a\", new: \"b\" }] Some(true)",
            "todo: 4Test the pool Pending Some(true)",
            "todo: 4 Some(Completed) Some(true)",
            "command: git commit -m 'pool: wait' Some(true) [main 1a2b3c4] pool: wait\n 1 file changed",
            "commit: 1a2b3c4 main pool: wait",
            "edit: /w/new.rs [Replaced { old: \"\", new: \"text\" }] Some(false)",
            "interruption: put it elsewhere",
            "command: sleep 9 None ",
        ]
    );
}

#[test]
fn gemini_rows_count_as_they_were_written_last() {
    let file = rows(&[
        r#"{"sessionId":"g","projectHash":"h","startTime":"2026-03-01T12:00:00Z"}"#,
        r#"{"id":"1","timestamp":"2026-03-01T12:00:01Z","type":"user","content":[{"text":"list them<hook_context>known</hook_context>"}]}"#,
        r#"{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"ls"},"status":"executing"}],"tokens":{"input":9,"output":1,"cached":4}}"#,
        r#"{"id":"2","type":"gemini","content":"There.","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"ls"},"status":"success","result":[{"functionResponse":{"response":{"output":"Output: a\nExit Code: 0"}}}]}],"tokens":{"input":9,"output":3,"cached":4}}"#,
        r#"{"$set":{"lastUpdated":"2026-03-01T12:05:00Z","summary":"Files listed"}}"#,
        r#"{"id":"3","type":"info","content":"Request cancelled."}"#,
    ]);
    let (reading, turns) = told(&file);
    assert_eq!(
        all_words(&turns),
        [
            "prompt: list them",
            "said: There.",
            "command: ls Some(true) Output: a\nExit Code: 0",
            "interruption: "
        ]
    );
    assert_eq!(reading.agent, Agent::Gemini);
    let usage = reading.session.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.replies), (5, 3, 4, 1));
    assert_eq!(reading.session.title.as_deref(), Some("Files listed"));
}

#[test]
fn gemini_rows_replace_messages_and_take_them_back() {
    let file = rows(&[
        r#"{"sessionId":"g","projectHash":"h","startTime":"2026-03-01T12:00:00Z"}"#,
        r#"{"id":"0","type":"user","content":"forget this"}"#,
        r#"{"$set":{"messages":[{"id":"a","type":"user","content":"why does it wait"},{"id":"b","type":"gemini","content":"It is full."}]}}"#,
        r#"{"id":"c","type":"user","content":"drop the database"}"#,
        r#"{"id":"d","type":"gemini","content":"The backups, too?"}"#,
        r#"{"$rewindTo":"c"}"#,
        r#"{"$rewindTo":"nobody"}"#,
        r#"{"id":"e","type":"user","content":"make it bigger"}"#,
    ]);
    let (_, turns) = told(&file);
    assert_eq!(
        all_words(&turns),
        ["prompt: why does it wait", "said: It is full.", "prompt: make it bigger"]
    );
    assert_eq!(turns.iter().map(|turn| turn.place.line).collect::<Vec<_>>(), [3, 3, 8]);
}

#[test]
fn a_gemini_document_is_read_message_by_message() {
    let file = "{\n  \"sessionId\": \"g\",\n  \"messages\": [\n    {\"id\": \"1\", \"type\": \"user\", \"content\": \"hi \\\"you\\\" ]}\"},\n    {\"id\": \"2\", \"type\": \"gemini\", \"content\": \"hello\"}\n  ],\n  \"projectHash\": \"h\"\n}\n";
    let (reading, turns) = told(file.as_bytes());
    assert_eq!(all_words(&turns), ["prompt: hi \"you\" ]}", "said: hello"]);
    assert_eq!((turns[1].place.line, reading.tally.n_rows), (5, 2));
}

#[test]
fn codex_rollouts() {
    let file = rows(&[
        r#"{"timestamp":"2026-03-01T12:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/w","cli_version":"1","git":{"branch":"main","commit_hash":"1a2b3c4"}}}"#,
        r##"{"timestamp":"2026-03-01T12:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w"}]}}"##,
        r#"{"timestamp":"2026-03-01T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"]}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"remembered"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["hooks.additional_context"]}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"fix it"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:02Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"c1"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:03Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":1}}"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:04Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs\n-x\n+y\n*** End Patch","call_id":"c2"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:05Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c2","output":"Exit code: 0\nDone"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:05Z","type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Test it\",\"status\":\"in_progress\"}]}","call_id":"c3"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:06Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:06Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}}}"#,
        r#"{"timestamp":"2026-03-01T12:00:07Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#,
        r#"{"timestamp":"2026-03-01T12:00:08Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fixed"}]}}"#,
    ]);
    let (reading, turns) = told(&file);
    assert_eq!(
        all_words(&turns),
        [
            "Injected: # AGENTS.md instructions for /w",
            "prompt: fix it",
            "Injected: remembered",
            "command: ls Some(false) a",
            "edit: a.rs [Replaced { old: \"x\\n\", new: \"y\\n\" }] None",
            "interruption: ",
            "said: fixed",
            "todo: Test it InProgress None",
        ]
    );
    let usage = reading.session.usage;
    assert_eq!((usage.input, usage.cache_read, usage.output, usage.replies), (6, 4, 2, 1));
    assert_eq!((reading.session.head.as_deref(), reading.agent), (Some("1a2b3c4"), Agent::Codex));
}

#[test]
fn copilot_events() {
    let file = rows(&[
        r#"{"type":"session.start","data":{"sessionId":"c","copilotVersion":"1","context":{"cwd":"/w","branch":"main","headCommit":"1a2b3c4"}},"id":"1","timestamp":"2026-03-01T12:00:00Z","parentId":null}"#,
        r#"{"type":"user.message","data":{"content":"fix it","transformedContent":"<current_datetime>now</current_datetime> fix it"},"id":"2","timestamp":"2026-03-01T12:00:01Z"}"#,
        r#"{"type":"assistant.message","data":{"messageId":"m","content":"on it","toolRequests":[]},"id":"3","timestamp":"2026-03-01T12:00:02Z"}"#,
        r#"{"type":"tool.execution_start","data":{"toolCallId":"t","toolName":"edit","arguments":{"path":"/w/a.rs","old_str":"x","new_str":"y"}},"id":"4"}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"no match"}},"id":"5"}"#,
        r#"{"type":"hook.start","data":{},"id":"6"}"#,
        r#"{"type":"user.message","data":{"content":"Always use x.","isAutopilotContinuation":true},"id":"6b"}"#,
        r#"{"type":"abort","data":{"reason":"user"},"id":"7"}"#,
        r#"{"type":"session.shutdown","data":{"modelMetrics":{"gpt":{"usage":{"inputTokens":9,"outputTokens":2}}}},"id":"8"}"#,
    ]);
    let (reading, turns) = told(&file);
    assert_eq!(
        all_words(&turns),
        [
            "prompt: fix it",
            "said: on it",
            "edit: /w/a.rs [Replaced { old: \"x\", new: \"y\" }] Some(false)",
            "Injected: Always use x.",
            "interruption: ",
        ]
    );
    assert_eq!((reading.session.usage.input, reading.tally.skipped["hook.start"]), (9, 1));
    assert_eq!(reading.session.branch.as_deref(), Some("main"));
}

#[test]
fn an_opencode_export() {
    let file = r#"{
  "info": {"id": "ses", "directory": "/w", "title": "Fix the pool", "version": "1"},
  "messages": [
    {"info": {"id": "1", "role": "user", "time": {"created": 1772366400000}}, "parts": [{"type": "text", "text": "fix it"}, {"type": "text", "text": "a file", "synthetic": true}]},
    {"info": {"id": "2", "role": "assistant", "modelID": "m", "tokens": {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 3, "write": 0}}, "error": {"name": "APIError", "data": {"message": "overloaded"}}},
     "parts": [{"type": "tool", "callID": "c", "tool": "bash", "state": {"status": "completed", "input": {"command": "ls"}, "output": "a", "metadata": {"exit": 0}}}, {"type": "text", "text": "done"}]}
  ]
}"#;
    let (reading, turns) = told(file.as_bytes());
    assert_eq!(
        all_words(&turns),
        ["prompt: fix it", "Injected: a file", "command: ls Some(true) a", "said: done", "error: overloaded"]
    );
    let session = reading.session;
    assert_eq!((session.title.as_deref(), session.folder.as_deref()), (Some("Fix the pool"), Some("/w")));
    assert_eq!((session.usage.output, session.usage.cache_read), (3, 3));
    assert_eq!(session.first.map(|at| at.to_string()).as_deref(), Some("2026-03-01T12:00:00Z"));
}

#[test]
fn the_form_for_everyone_else() {
    let file = rows(&[
        r#"{"session":"s1","id":1,"time":"2026-03-01","speaker":"Ann","text":"Did it rain?"}"#,
        r#"{"session":"s1","id":2,"time":1772366400,"role":"assistant","speaker":"Bo","text":"It did."}"#,
        r#"{"session":"s1","id":2,"role":"assistant","text":"It did."}"#,
        r#"{"session":"s2","id":2,"role":"assistant","text":"Another session."}"#,
        r#"{"session":"s2","role":"chorus","text":"la"}"#,
    ]);
    let (reading, turns) = told(&file);
    assert_eq!(all_words(&turns), ["prompt: Did it rain?", "said: It did.", "said: Another session."]);
    assert_eq!(reading.tally.skipped["repeated"], 1);
    assert_eq!(reading.tally.skipped["unknown chorus"], 1);
}
