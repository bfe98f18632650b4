//! The forms of agents that became known later, and the table of what is read of each agent.

use std::{fs, path::Path};

use chronicle_sessions::{Agent, Reading};

use crate::{
    support::{Told, all_words, told},
    zed,
};

fn rows(rows: &[&str]) -> Vec<u8> {
    rows.iter().flat_map(|row| [row.as_bytes(), b"\n"].concat()).collect()
}

/// A whole session of each agent that has one: asked, edited, ran two commands, and said what came of it.
fn sessions() -> [(Agent, Vec<u8>); 9] {
    [
        (Agent::Cursor, cursor_rows()),
        (Agent::Cursor, cursor_database()),
        (Agent::Qwen, qwen()),
        (Agent::Kimi, kimi_code()),
        (Agent::Droid, droid()),
        (Agent::Goose, goose()),
        (Agent::Cline, cline()),
        (Agent::Amp, amp()),
        (Agent::Zed, zed::session()),
    ]
}

fn cursor_rows() -> Vec<u8> {
    rows(&[
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_info>\nOS: linux\n</user_info>"}]}}"#,
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<attached_files>\nI want y\n</attached_files>\n<user_query>\nbound the pool\n</user_query>"}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"text","text":"On it."},{"type":"tool_use","name":"StrReplace","input":{"path":"/w/pool.rs","old_string":"a","new_string":"b"}},{"type":"tool_use","name":"Shell","input":{"command":"cargo test"}}]}}"#,
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Write","input":{"path":"/w/new.rs","contents":"x"}},{"type":"text","text":"Bounded."}]}}"#,
        r#"{"type":"turn_ended","status":"completed"}"#,
    ])
}

fn cursor_database() -> Vec<u8> {
    br#"{"cursor":{"composerId":"98251e54","name":"Bound the pool","createdAt":1772366400000,"lastUpdatedAt":1772366500000,"createdOnBranch":"main","modelConfig":{"modelName":"m"},"folder":"file:///w%20x"},"messages":[
{"_v":3,"type":1,"bubbleId":"b1","text":"bound the pool","createdAt":"2026-03-01T12:00:00Z"},
{"_v":3,"type":2,"bubbleId":"b2","text":"","createdAt":"2026-03-01T12:00:01Z","toolFormerData":{"name":"search_replace","rawArgs":"{\"file_path\":\"/w/pool.rs\",\"old_string\":\"a\",\"new_string\":\"b\"}","status":"completed","result":"{}"}},
{"_v":3,"type":2,"bubbleId":"b3","text":"","toolFormerData":{"name":"run_terminal_cmd","rawArgs":"{\"command\":\"cargo test\"}","status":"completed","result":"{\"output\":\"1 failed\",\"exitCode\":101}"}},
{"_v":3,"type":2,"bubbleId":"b4","text":"Bounded.","tokenCount":{"inputTokens":9,"outputTokens":2}}
]}"#
    .to_vec()
}

fn qwen() -> Vec<u8> {
    rows(&[
        r#"{"uuid":"u1","parentUuid":null,"sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:00.000Z","type":"user","cwd":"/w","version":"0.20","gitBranch":"main","message":{"role":"user","parts":[{"text":"bound the pool\n<hook>x</hook>"}]},"systemPayload":{"displayText":"bound the pool","hookContext":"x"}}"#,
        r#"{"uuid":"u2","parentUuid":"u1","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:05.000Z","type":"assistant","cwd":"/w","version":"0.20","model":"qwen3","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"On it."},{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"/w/pool.rs","old_string":"a","new_string":"b"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"cargo test"}}}]},"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"cachedContentTokenCount":4}}"#,
        r#"{"uuid":"u3","parentUuid":"u2","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:06.000Z","type":"tool_result","cwd":"/w","version":"0.20","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"edit","response":{"output":"done"}}}]},"toolCallResult":{"status":"success"}}"#,
        r#"{"uuid":"u4","parentUuid":"u3","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:07.000Z","type":"tool_result","cwd":"/w","version":"0.20","message":{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"run_shell_command","response":{"error":"1 failed"}}}]},"toolCallResult":{"status":"error"}}"#,
        r#"{"uuid":"u5","parentUuid":"u4","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:08.000Z","type":"system","subtype":"custom_title","cwd":"/w","version":"0.20","systemPayload":{"customTitle":"Bound the pool"}}"#,
        r#"{"uuid":"u6","parentUuid":"u5","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:09.000Z","type":"system","subtype":"ui_telemetry","cwd":"/w","version":"0.20","systemPayload":{}}"#,
        r#"{"uuid":"u7","parentUuid":"u6","sessionId":"22222222-0000","timestamp":"2026-03-01T12:00:10.000Z","type":"assistant","cwd":"/w","version":"0.20","model":"qwen3","message":{"role":"model","parts":[{"text":"Bounded."}]},"usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":1}}"#,
    ])
}

fn kimi_code() -> Vec<u8> {
    rows(&[
        r#"{"type":"metadata","protocol_version":"1.5","created_at":1772366400000}"#,
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"bound the pool"}],"origin":{"kind":"user"},"time":1772366400000}"#,
        r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"bound the pool"}],"toolCalls":[],"origin":{"kind":"user"},"id":"msg_1"},"time":1772366400000}"#,
        r#"{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"Skill body"}],"origin":{"kind":"skill_activation"},"id":"msg_2"},"time":1772366400100}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"step.begin","uuid":"s1","turnId":"0","step":1},"time":1772366400200}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"p1","part":{"type":"think","think":"hm"}},"time":1772366400300}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"t1","toolCallId":"tool_a","name":"Edit","args":{"path":"/w/pool.rs","old_string":"a","new_string":"b"}},"time":1772366400400}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"t1","toolCallId":"tool_a","result":{"output":"ok"}},"time":1772366400500}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.call","uuid":"t2","toolCallId":"tool_b","name":"Bash","args":{"command":"cargo test"}},"time":1772366400600}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"tool.result","parentUuid":"t2","toolCallId":"tool_b","result":{"output":"1 failed","isError":true}},"time":1772366400700}"#,
        r#"{"type":"context.append_loop_event","event":{"type":"content.part","uuid":"p2","part":{"type":"text","text":"Bounded."}},"time":1772366400800}"#,
        r#"{"type":"usage.record","model":"kimi-k3","usage":{"inputOther":9,"output":2,"inputCacheRead":5,"inputCacheCreation":1},"time":1772366400900}"#,
    ])
}

fn droid() -> Vec<u8> {
    rows(&[
        r#"{"type":"session_start","id":"33333333-0000","title":"Bound the pool","owner":"a","version":2,"cwd":"/w"}"#,
        r#"{"type":"message","id":"m1","timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>\nI want y\n</system-reminder>"},{"type":"text","text":"bound the pool"}]}}"#,
        r#"{"type":"message","id":"m2","timestamp":"2026-03-01T12:00:01.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"c1","name":"Edit","input":{"file_path":"/w/pool.rs","old_str":"a","new_str":"b"}},{"type":"tool_use","id":"c2","name":"Execute","input":{"command":"cargo test"}}]}}"#,
        r#"{"type":"message","id":"m3","timestamp":"2026-03-01T12:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok","is_error":false},{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"1 failed"}],"is_error":true}]}}"#,
        r#"{"type":"todo_state","id":"t","todos":{}}"#,
        r#"{"type":"message","id":"m4","timestamp":"2026-03-01T12:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Bounded."}]}}"#,
    ])
}

fn goose() -> Vec<u8> {
    br#"{"goose":{"session_id":"20260301_1","working_dir":"/w","name":"Bound the pool","session_type":"user","tokens":{"input":10,"output":3}},"messages":[
{"id":"20260301_1-1","role":"user","created":1772366400,"content":[{"type":"text","text":"bound the pool"}],"metadata":{"userVisible":true,"agentVisible":true}},
{"id":"20260301_1-2","role":"assistant","created":1772366401,"content":[{"type":"thinking","thinking":"hm","signature":""},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__text_editor","arguments":{"command":"str_replace","path":"/w/pool.rs","old_str":"a","new_str":"b"}}}},{"type":"toolRequest","id":"c2","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"cargo test"}}}}]},
{"id":"20260301_1-3","role":"user","created":1772366402,"content":[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"ok"}],"isError":false}}},{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"1 failed"}}]},
{"id":"20260301_1-4","role":"user","created":1772366402,"content":[{"type":"text","text":"a summary"}],"metadata":{"userVisible":false}},
{"id":"20260301_1-5","role":"assistant","created":1772366403,"content":[{"type":"text","text":"Bounded."}]}
]}"#
    .to_vec()
}

fn cline() -> Vec<u8> {
    br#"[
{"ts":1772366400000,"type":"say","say":"task","text":"bound the pool"},
{"ts":1772366400100,"type":"say","say":"api_req_started","text":"{\"request\":\"<environment_details>\\n# Current Working Directory (/w) Files\\n\",\"tokensIn\":10,\"tokensOut\":2,\"cacheReads\":4}"},
{"ts":1772366400200,"type":"say","say":"text","text":"On it."},
{"ts":1772366400300,"type":"say","say":"tool","text":"{\"tool\":\"editedExistingFile\",\"path\":\"pool.rs\",\"diff\":\"------- SEARCH\\na\\n=======\\nb\\n+++++++ REPLACE\\n\"}"},
{"ts":1772366400400,"type":"ask","ask":"command","text":"cargo test"},
{"ts":1772366400500,"type":"ask","ask":"command_output","text":"1 failed"},
{"ts":1772366400600,"type":"say","say":"command_output","text":"Exit code: 101"},
{"ts":1772366400700,"type":"say","say":"completion_result","text":"Bounded.HAS_CHANGES"},
{"ts":1772366400800,"type":"say","say":"user_feedback","text":"now test it"},
{"ts":1772366400900,"type":"say","say":"text","text":"half a","partial":true}
]"#
    .to_vec()
}

fn amp() -> Vec<u8> {
    br#"{"v":42,"id":"T-0199aaaa","created":1772366400000,"title":"Bound the pool","env":{"initial":{"trees":[{"uri":"file:///w","repository":{"ref":"refs/heads/main","type":"git"}}],"platform":{"clientVersion":"0.1"}}},"messages":[
{"role":"user","messageId":0,"meta":{"sentAt":1772366400000},"content":[{"type":"text","text":"bound the pool"}]},
{"role":"assistant","messageId":1,"content":[{"type":"tool_use","complete":true,"id":"c1","name":"edit_file","input":{"path":"/w/pool.rs","old_str":"a","new_str":"b"}},{"type":"tool_use","complete":true,"id":"c2","name":"Bash","input":{"cmd":"cargo test","cwd":"/w"}}],"usage":{"model":"m","inputTokens":12,"outputTokens":8,"cacheReadInputTokens":3,"cacheCreationInputTokens":1}},
{"role":"user","messageId":2,"content":[{"type":"tool_result","toolUseID":"c1","run":{"status":"done","result":"ok"}},{"type":"tool_result","toolUseID":"c2","run":{"status":"done","result":{"output":"1 failed","exitCode":101}}}]},
{"role":"assistant","messageId":3,"content":[{"type":"text","text":"Bounded."}],"state":{"type":"complete","stopReason":"end_turn"}}
]}"#
    .to_vec()
}

pub(crate) fn check(file: &[u8], agent: Agent, expected: &[&str]) -> Reading {
    let (reading, turns) = told(file);
    assert_eq!(reading.agent, agent);
    assert_eq!(all_words(&turns), expected);
    let tally = &reading.tally;
    assert_eq!(tally.n_rows, tally.n_kept + tally.n_skipped() + tally.n_unreadable, "{tally:?}");
    assert_eq!(tally.n_unreadable, 0, "{tally:?}");
    assert!(!tally.skipped.keys().any(|kind| kind.starts_with("unknown")), "{tally:?}");
    reading
}

pub(crate) const EDIT: &str = "edit: /w/pool.rs [Replaced { old: \"a\", new: \"b\" }] Some(true)";
pub(crate) const TEST: &str = "command: cargo test Some(false) 1 failed";

#[test]
fn what_programs_and_files_say_in_a_humans_name_is_no_prompt() {
    let words = |file: &str| {
        let (_, turns) = told(file.as_bytes());
        all_words(&turns).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let qwen = |more: &str, parts: &[&str]| {
        let parts: Vec<String> = parts.iter().map(|part| format!(r#"{{"text":"{part}"}}"#)).collect();
        format!(
            r#"{{"uuid":"q1","parentUuid":null,"sessionId":"s","timestamp":"2026-03-01T12:00:00Z","type":"user","cwd":"/w","version":"0.19.0"{more},"message":{{"role":"user","parts":[{}]}}}}"#,
            parts.join(",")
        ) + "\n"
    };
    let referenced = r"\n--- Content from referenced files ---";
    assert_eq!(
        words(&qwen(
            "",
            &["Look at @a.md", referenced, "Always use x.", r"\n--- End of content ---", "Never y."]
        )),
        [
            "prompt: Look at @a.md".to_owned(),
            "Injected: \n--- Content from referenced files ---".to_owned(),
            "Injected: Always use x.".to_owned(),
            "Injected: \n--- End of content ---".to_owned(),
            "Injected: Never y.".to_owned(),
        ]
    );
    assert_eq!(
        words(&qwen(r#","subtype":"goal_runtime""#, &["Always use x."])),
        ["Notification: Always use x."]
    );
    assert_eq!(
        words(&qwen(r#","provenance":"system""#, &["Always use x."])),
        ["Notification: Always use x."]
    );
    assert_eq!(words(&qwen(r#","provenance":"real_user""#, &["Always use x."])), ["prompt: Always use x."]);
    assert_eq!(words(&qwen("", &["Always use x."])), ["prompt: Always use x."]);
}

#[test]
fn what_a_command_of_qwen_says_is_no_prompt() {
    let command = |at: &str, typed_at: &str| {
        let row = |id: &str, at: &str, kind: &str, more: &str| {
            format!(
                r#"{{"uuid":"{id}","parentUuid":null,"sessionId":"s","timestamp":"2026-03-01T12:00:{at}Z","type":"{kind}","cwd":"/w","version":"0.19.0",{more}}}"#
            ) + "\n"
        };
        let slash = |phase: &str| {
            format!(r#""subtype":"slash_command","systemPayload":{{"phase":"{phase}","rawCommand":"/x"}}"#)
        };
        let message = |role: &str, words: &str| {
            format!(r#""message":{{"role":"{role}","parts":[{{"text":"{words}"}}]}}"#)
        };
        let file = [
            row("q1", "00", "user", &message("user", "hi")),
            row("q2", at, "system", &slash("invocation")),
            row("q3", at, "system", &slash("result")),
            row("q4", typed_at, "user", &message("user", "Always use x.")),
            row("q5", "58", "assistant", &message("model", "ok")),
            row("q6", "59", "user", &message("user", "Thanks")),
        ];
        let (_, turns) = told(file.concat().as_bytes());
        all_words(&turns).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = |third: &str| ["prompt: hi", third, "said: ok", "prompt: Thanks"].map(str::to_owned);
    assert_eq!(command("10", "10.031"), told("Injected: Always use x."));
    // The command opened a dialog, and the human typed after that.
    assert_eq!(command("10", "15"), told("prompt: Always use x."));
}

#[test]
fn steps_of_a_flow_of_kimi_are_no_prompts() {
    let words = |rows: &[(&str, &str)]| {
        let mut file = "{\"type\":\"metadata\",\"protocol_version\":\"1.10\"}\n".to_owned();
        for (at, (kind, words)) in rows.iter().enumerate() {
            let payload =
                if words.is_empty() { "{}".to_owned() } else { format!(r#"{{"user_input":"{words}"}}"#) };
            file += &format!(
                "{{\"timestamp\":177236640{at}.5,\"message\":{{\"type\":\"{kind}\",\"payload\":{payload}}}}}\n"
            );
        }
        let (_, turns) = told(file.as_bytes());
        all_words(&turns).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (begin, end) = ("TurnBegin", ("TurnEnd", ""));
    let flow = [(begin, "/flow:review"), (begin, "Always use x."), end, (begin, "Never y."), end, end];
    assert_eq!(
        words(&[&flow[..], &[(begin, "Thanks"), end]].concat()),
        ["prompt: /flow:review", "Injected: Always use x.", "Injected: Never y.", "prompt: Thanks"]
    );
    // Interrupted in a step, or killed in it, the flow is over.
    let stopped = [(begin, "/flow:review"), (begin, "Always use x."), ("StepInterrupted", ""), end];
    assert_eq!(
        words(&[&stopped[..], &[(begin, "Thanks"), end]].concat()),
        ["prompt: /flow:review", "Injected: Always use x.", "interruption: ", "prompt: Thanks"]
    );
    let killed =
        [(begin, "/flow:review"), (begin, "Always use x."), (begin, "Go on"), end, (begin, "Thanks")];
    assert_eq!(
        words(&killed),
        ["prompt: /flow:review", "Injected: Always use x.", "prompt: Go on", "prompt: Thanks"]
    );
    // Loops of a prompt are within no command.
    assert_eq!(
        words(&[(begin, "Fix it"), (begin, "Fix it"), end, end]),
        ["prompt: Fix it", "prompt: Fix it"]
    );
}

#[test]
fn what_a_recipe_of_goose_begins_with_is_no_prompt() {
    let words = |recipe: &str| {
        let message = |id: u8, role: &str, words: &str| {
            format!(
                r#"{{"id":"{id}","role":"{role}","created":177236640{id},"content":[{{"type":"text","text":"{words}"}}]}}"#
            )
        };
        let document = format!(
            r#"{{"goose":{{"session_id":"20260301_1","working_dir":"/w","name":"Job","session_type":"user","recipe":{recipe}}},"messages":[{},{},{}]}}"#,
            message(1, "user", "Always use x."),
            message(2, "assistant", "ok"),
            message(3, "user", "Thanks")
        );
        let (_, turns) = told(document.as_bytes());
        all_words(&turns).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let told = |first: &str| [first, "said: ok", "prompt: Thanks"].map(str::to_owned);
    assert_eq!(words(r#"{"version":"1.0.0","prompt":"Always use {{x}}."}"#), told("Injected: Always use x."));
    // Only its instructions are the recipe's: the human types.
    assert_eq!(words(r#"{"version":"1.0.0","instructions":"Be brief."}"#), told("prompt: Always use x."));
    assert_eq!(words("null"), told("prompt: Always use x."));
}

#[test]
fn cursor_tells_no_outcomes_and_marks_what_was_typed() {
    let reading = check(
        &cursor_rows(),
        Agent::Cursor,
        &[
            "Injected: ",
            "prompt: bound the pool",
            "said: On it.",
            "edit: /w/pool.rs [Replaced { old: \"a\", new: \"b\" }] None",
            "command: cargo test None ",
            "edit: /w/new.rs [Replaced { old: \"\", new: \"x\" }] None",
            "said: Bounded.",
        ],
    );
    assert_eq!(reading.tally.skipped["turn_ended"], 1);
}

#[test]
fn a_conversation_of_cursors_editor() {
    let reading =
        check(&cursor_database(), Agent::Cursor, &["prompt: bound the pool", EDIT, TEST, "said: Bounded."]);
    let session = reading.session;
    assert_eq!((session.id.as_deref(), session.title.as_deref()), (Some("98251e54"), Some("Bound the pool")));
    assert_eq!((session.folder.as_deref(), session.branch.as_deref()), (Some("/w x"), Some("main")));
    assert_eq!((session.usage.input, session.usage.output), (9, 2));
}

#[test]
fn qwen_codes_rows() {
    let reading = check(
        &qwen(),
        Agent::Qwen,
        &["prompt: bound the pool", "said: On it.", EDIT, TEST, "said: Bounded."],
    );
    let session = reading.session;
    assert_eq!(
        (session.id.as_deref(), session.title.as_deref()),
        (Some("22222222-0000"), Some("Bound the pool"))
    );
    assert_eq!((session.folder.as_deref(), session.branch.as_deref()), (Some("/w"), Some("main")));
    assert_eq!((session.usage.input, session.usage.output, session.usage.cache_read), (12, 4, 4));
    assert_eq!(reading.tally.skipped["ui_telemetry"], 1);
}

#[test]
fn kimi_codes_wire_and_the_one_of_the_older_protocol() {
    let reading = check(
        &kimi_code(),
        Agent::Kimi,
        &["prompt: bound the pool", "Injected: Skill body", EDIT, TEST, "said: Bounded."],
    );
    let usage = reading.session.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (9, 2, 5, 1));
    let older = rows(&[
        r#"{"type":"metadata","protocol_version":"1.1"}"#,
        r#"{"timestamp":1772366400.5,"message":{"type":"TurnBegin","payload":{"user_input":[{"type":"text","text":"bound the pool"}]}}}"#,
        r#"{"timestamp":1772366401.0,"message":{"type":"ContentPart","payload":{"type":"think","think":"hm"}}}"#,
        r#"{"timestamp":1772366402.0,"message":{"type":"ToolCall","payload":{"type":"function","id":"c1","function":{"name":"StrReplaceFile","arguments":"{\"path\":\"/w/pool.rs\",\"edit\":{\"old\":\"a\",\"new\":\"b\"}}"}}}}"#,
        r#"{"timestamp":1772366403.0,"message":{"type":"ToolResult","payload":{"tool_call_id":"c1","return_value":{"is_error":false,"output":"ok","message":"","display":[]}}}}"#,
        r#"{"timestamp":1772366404.0,"message":{"type":"ToolCall","payload":{"type":"function","id":"c2","function":{"name":"Shell","arguments":"{\"command\":\"cargo test\"}"}}}}"#,
        r#"{"timestamp":1772366405.0,"message":{"type":"ToolResult","payload":{"tool_call_id":"c2","return_value":{"is_error":true,"output":"1 failed","message":"","display":[]}}}}"#,
        r#"{"timestamp":1772366406.0,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":9,"output":2,"input_cache_read":0,"input_cache_creation":0},"message_id":"r1"}}}"#,
        r#"{"timestamp":1772366407.0,"message":{"type":"ContentPart","payload":{"type":"text","text":"Bounded."}}}"#,
    ]);
    let reading = check(&older, Agent::Kimi, &["prompt: bound the pool", EDIT, TEST, "said: Bounded."]);
    assert_eq!((reading.session.usage.input, reading.session.usage.replies), (9, 1));
    assert_eq!(reading.session.first.map(|at| at.to_string()).as_deref(), Some("2026-03-01T12:00:00.5Z"));
}

#[test]
fn droids_rows() {
    let reading = check(
        &droid(),
        Agent::Droid,
        &["Injected: ", "prompt: bound the pool", EDIT, TEST, "said: Bounded."],
    );
    let session = reading.session;
    assert_eq!(
        (session.id.as_deref(), session.title.as_deref()),
        (Some("33333333-0000"), Some("Bound the pool"))
    );
    assert_eq!(session.folder.as_deref(), Some("/w"));
}

#[test]
fn a_session_of_goose_and_its_older_rows() {
    let reading = check(&goose(), Agent::Goose, &["prompt: bound the pool", EDIT, TEST, "said: Bounded."]);
    let session = reading.session;
    assert_eq!(
        (session.id.as_deref(), session.title.as_deref()),
        (Some("20260301_1"), Some("Bound the pool"))
    );
    assert_eq!((session.folder.as_deref(), session.usage.input), (Some("/w"), 10));
    assert_eq!(reading.tally.skipped["hidden"], 1);
    let older = rows(&[
        r#"{"working_dir":"/w","description":"Bound the pool","message_count":2,"total_tokens":null}"#,
        r#"{"id":null,"role":"user","created":1772366400,"content":[{"type":"text","text":"bound the pool"}]}"#,
        r#"{"role":"assistant","created":1772366401,"content":[{"type":"text","text":"Bounded."}]}"#,
    ]);
    let reading = check(&older, Agent::Goose, &["prompt: bound the pool", "said: Bounded."]);
    assert_eq!(reading.session.title.as_deref(), Some("Bound the pool"));
}

#[test]
fn the_messages_of_a_task_of_cline() {
    let reading = check(
        &cline(),
        Agent::Cline,
        &[
            "prompt: bound the pool",
            "said: On it.",
            "edit: pool.rs [Replaced { old: \"a\\n\", new: \"b\\n\" }] None",
            "command: cargo test Some(false) 1 failed\nExit code: 101\n",
            "said: Bounded.",
            "prompt: now test it",
        ],
    );
    let session = reading.session;
    assert_eq!(
        (session.folder.as_deref(), session.usage.input, session.usage.cache_read),
        (Some("/w"), 10, 4)
    );
    assert_eq!(reading.tally.skipped["partial"], 1);
}

#[test]
fn a_thread_of_amp() {
    let reading = check(&amp(), Agent::Amp, &["prompt: bound the pool", EDIT, TEST, "said: Bounded."]);
    let session = reading.session;
    assert_eq!(
        (session.id.as_deref(), session.title.as_deref()),
        (Some("T-0199aaaa"), Some("Bound the pool"))
    );
    assert_eq!((session.folder.as_deref(), session.branch.as_deref()), (Some("/w"), Some("main")));
    let usage = session.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (12, 8, 3, 1));
}

/// What a session shows of what is read, in the order of the table.
fn what_is_read(reading: &Reading, turns: &[Told]) -> [bool; 8] {
    let has = |start: &str| turns.iter().any(|turn| turn.words.starts_with(start));
    let knows_outcome =
        |start: &str| turns.iter().any(|turn| turn.words.starts_with(start) && turn.words.contains(" Some("));
    let session = &reading.session;
    [
        session.title.is_some(),
        has("prompt: "),
        has("edit: "),
        has("command: "),
        knows_outcome("command: "),
        0 < session.usage.input,
        session.folder.is_some(),
        session.first.is_some(),
    ]
}

#[test]
fn the_table_of_agents_in_the_documentation_is_what_the_readers_do() {
    let names = [
        "Cursor, command line",
        "Cursor, editor",
        "Qwen Code",
        "Kimi",
        "Droid",
        "Goose",
        "Cline",
        "Amp",
        "Zed",
    ];
    let mut table = "| agent | title | prompts | edits | commands | outcomes | tokens | folder | times |\n\
        |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for name in ["Claude Code", "Codex", "Gemini CLI", "Copilot CLI", "OpenCode"] {
        table.push_str(&format!("| {name} |{}\n", " yes |".repeat(8)));
    }
    for (name, (_, file)) in names.into_iter().zip(sessions()) {
        let (reading, turns) = told(&file);
        let cells = what_is_read(&reading, &turns).map(|is_read| if is_read { " yes |" } else { " no |" });
        table.push_str(&format!("| {name} |{}\n", cells.concat()));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/transcripts.md");
    let page = fs::read_to_string(&path).expect("it is there");
    let (start, end) = ("<!-- table of agents -->\n", "<!-- end of the table -->");
    let from = page.find(start).expect("it has a table") + start.len();
    let to = page[from..].find(end).expect("the table ends") + from;
    #[expect(clippy::disallowed_methods, reason = "who writes the page says so in the environment")]
    let is_written = std::env::var_os("CHRONICLE_WRITE_DOCS").is_some();
    if is_written {
        fs::write(&path, format!("{}{table}{}", &page[..from], &page[to..])).expect("it can be written");
    } else {
        assert_eq!(&page[from..to], table, "`CHRONICLE_WRITE_DOCS=1 cargo test` writes it");
    }
}
