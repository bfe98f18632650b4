//! Which model is asked, with which key, on whose account.

use std::{fs, net::TcpListener, path::Path, process::Command};

use serde_json::{Value, json};
use testkit::{Answer, ScriptedService};

use crate::{
    desk::Desk,
    outcome::{Outcome, run},
};

const KEY: &str = "sk-ant-api03-T3stT3stT3stT3stT3st";

/// `git chronicle llm check`, with more arguments and variables.
fn check(desk: &Desk, args: &[&str], variables: &[(&str, &str)]) -> Outcome {
    run(command(desk, &[&["llm", "check"], args].concat()).envs(variables.iter().copied()))
}

fn command(desk: &Desk, args: &[&str]) -> Command {
    desk.command_in(desk.repo.path(), args)
}

fn set(desk: &Desk, name: &str, value: &str) {
    desk.run(&["config", "set", name, value]).success();
}

/// The model for `purpose`.
fn model(desk: &Desk, purpose: &str, variables: &[(&str, &str)]) -> Value {
    let answer = check(desk, &["--format=json"], variables).success().json();
    let models = answer["models"].as_array().expect("a list").clone();
    models.into_iter().find(|model| model["purpose"] == purpose).expect("one for each purpose")
}

/// A desk that asks `service`, in the words of Anthropic.
fn asking(service: &ScriptedService) -> Desk {
    let desk = Desk::new();
    for (name, value) in [
        ("llm.provider", "anthropic"),
        ("llm.baseUrl", service.url().as_str()),
        ("llm.keyVariable", "MY_KEY"),
        ("llm.model", "claude-sonnet-4-5"),
        ("llm.price.input", "3"),
        ("llm.price.output", "15"),
    ] {
        set(&desk, name, value);
    }
    desk
}

#[test]
fn without_a_key_it_is_said_what_to_set() {
    let desk = Desk::new();
    let words =
        ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "chronicle.llm.provider claude", "chronicle.llm.baseUrl"];
    check(&desk, &[], &[]).refused(1, &words);
    check(&desk, &[], &[("ANTHROPIC_API_KEY", " ")]).refused(1, &words);
    assert_eq!(check(&desk, &["--format=json"], &[]).json_error(), "no_model");
    set(&desk, "llm.provider", "gemini");
    check(&desk, &[], &[("ANTHROPIC_API_KEY", KEY)]).refused(1, &["GEMINI_API_KEY or GOOGLE_API_KEY"]);
    check(&desk, &[], &[("CHRONICLE_LLM_PROVIDER", "nobody")]).refused(1, &["nobody", "GEMINI_API_KEY"]);
    set(&desk, "llm.provider", "none");
    check(&desk, &[], &[("ANTHROPIC_API_KEY", KEY)]).refused(1, &["turned off"]);
    // Everything else works.
    desk.run(&["read", "src/pool.rs"]).success();
    desk.run(&["brief"]).success();
}

#[test]
fn keys_are_found_in_the_environment() {
    let desk = Desk::new();
    let of = |variables: &[(&str, &str)], purpose: &str| {
        let model = model(&desk, purpose, variables);
        ["provider", "model", "key_variable"].map(|key| model[key].as_str().unwrap_or("none").to_owned())
    };
    let anthropic = [("ANTHROPIC_API_KEY", KEY), ("OPENAI_API_KEY", KEY)];
    assert_eq!(of(&anthropic, "annotate"), ["anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"]);
    assert_eq!(of(&anthropic, "digest"), ["anthropic", "claude-haiku-4-5", "ANTHROPIC_API_KEY"]);
    assert_eq!(of(&anthropic, "embed"), ["none", "none", "none"]);
    let openai = [("OPENAI_API_KEY", KEY)];
    assert_eq!(of(&openai, "annotate"), ["openai", "gpt-5", "OPENAI_API_KEY"]);
    assert_eq!(of(&openai, "embed"), ["openai", "text-embedding-3-small", "OPENAI_API_KEY"]);
    let gemini = [("GOOGLE_API_KEY", KEY)];
    assert_eq!(of(&gemini, "ask"), ["gemini", "gemini-2.5-flash", "GOOGLE_API_KEY"]);
    set(&desk, "llm.model", "anthropic/claude-sonnet-4.5");
    set(&desk, "llm.model.ask", "small/model");
    let openrouter = [("OPENROUTER_API_KEY", KEY)];
    assert_eq!(of(&openrouter, "annotate"), ["openai", "anthropic/claude-sonnet-4.5", "OPENROUTER_API_KEY"]);
    assert_eq!(of(&openrouter, "ask")[1], "small/model");
    assert_eq!(model(&desk, "ask", &openrouter)["base_url"], "https://openrouter.ai/api/v1");
    assert_eq!(model(&desk, "ask", &openrouter)["price_input"], Value::Null);
    for args in [&["--format=json"][..], &["--format=pretty"], &[]] {
        let outcome = check(&desk, args, &anthropic).success();
        assert!(!outcome.stdout.contains(KEY) && !outcome.stderr.contains(KEY), "{outcome:#?}");
    }
}

#[test]
fn no_tracked_file_says_where_code_and_keys_go() {
    let desk = Desk::new();
    let team = "[chronicle.llm]\nprovider = 'openai'\nbase_url = 'https://thief.example'\nkey_variable = 'HOME'\n\
                baseUrl = 'https://thief.example'\nmodel = 'dear'\n";
    desk.repo.write(".chronicle.toml", team);
    let model = model(&desk, "annotate", &[("ANTHROPIC_API_KEY", KEY)]);
    assert_eq!(model["provider"], "anthropic");
    assert_eq!(model["base_url"], "https://api.anthropic.com/v1/");
    assert_eq!(model["model"], "claude-sonnet-4-5");
    check(&desk, &[], &[("ANTHROPIC_API_KEY", KEY)])
        .success()
        .warns("unknown setting `chronicle.llm.provider`");
}

#[test]
fn a_providers_key_goes_nowhere_else_unless_a_setting_says_so() {
    let desk = Desk::new();
    let service = ScriptedService::answering(|_, _| Answer::text("ok"));
    set(&desk, "llm.baseUrl", &format!("{}/v1", service.url()));
    check(&desk, &["--call"], &[("OPENAI_API_KEY", KEY)]).refused(1, &["which model", "chronicle.llm.model"]);
    set(&desk, "llm.model", "local");
    let outcome = check(&desk, &["--call"], &[("OPENAI_API_KEY", KEY)]).success();
    assert!(
        outcome.stdout.contains("local of openai") && outcome.stdout.contains("without a key"),
        "{outcome:#?}"
    );
    assert!(outcome.stdout.contains("free"), "{outcome:#?}");
    set(&desk, "llm.keyVariable", "OPENAI_API_KEY");
    check(&desk, &["--call"], &[("OPENAI_API_KEY", KEY)]).success();
    check(&desk, &["--call"], &[]).refused(1, &["there is no key in OPENAI_API_KEY"]);
    let keys: Vec<String> = service
        .asked()
        .iter()
        .map(|asked| asked.header("authorization").expect("always one").to_owned())
        .collect();
    assert_eq!(keys, ["Bearer none".to_owned(), format!("Bearer {KEY}")]);
}

#[test]
fn a_call_proves_that_the_model_answers_and_is_paid_for() {
    let service =
        ScriptedService::playing([Answer::text("ok").costing(1_000, 20), Answer::status(503, "busy")]);
    let desk = asking(&service);
    let variables = [("MY_KEY", KEY)];
    let answer = check(&desk, &["--call", "--format=json"], &variables).success().json();
    assert_eq!(answer["call"]["answer"], "ok");
    assert_eq!(answer["call"]["cost"], json!(0.0033));
    assert_eq!(service.asked()[0].header("x-api-key"), Some(KEY));
    let cost = desk.ask(&["cost"]);
    let row = json!({
        "day": "2026-03-10", "model": "claude-sonnet-4-5", "purpose": "annotate", "calls": 1, "unsettled": 0,
        "input_tokens": 1000, "output_tokens": 20, "cache_read_tokens": 0, "cache_written_tokens": 0, "cost": 0.0033,
    });
    assert_eq!(cost["rows"], json!([row]));
    assert_eq!(cost["since"], "2026-02-09");
    let shown = desk.run(&["cost", "--days", "1"]).success().stdout;
    assert!(
        shown.contains("| 2026-03-10 | claude-sonnet-4-5 | annotate | 1 | 1000 | 20 | 0 | 0 | $0.0033 |"),
        "{shown}"
    );
    assert!(shown.contains("Together since 2026-03-10: $0.0033"), "{shown}");
    // No key is written down anywhere.
    let ledger = fs::read_to_string(desk.memory().join("spending.jsonl")).unwrap();
    assert!(!ledger.contains(KEY), "{ledger}");
}

#[test]
fn a_limit_stops_the_call_before_it_is_made() {
    let service = ScriptedService::playing([]);
    let desk = asking(&service);
    set(&desk, "llm.maxCostPerDay", "0.001");
    let variables = [("MY_KEY", KEY)];
    check(&desk, &["--call"], &variables).refused(1, &["not asked", "$0.0010 for a day"]);
    assert_eq!(check(&desk, &["--call", "--format=json"], &variables).json_error(), "too_dear");
    assert!(service.asked().is_empty());
    desk.run(&["config", "set", "llm.maxCostPerDay", "-1"]).refused(2, &["not below 0"]);
    desk.run(&["config", "set", "llm.provider", "acme"]).refused(2, &["`anthropic`, `openai`"]);
    desk.run(&["config", "set", "llm.model", "two words"]).refused(2, &["one word"]);
}

#[test]
fn what_goes_wrong_is_told_without_the_key() {
    let words = format!("invalid x-api-key: {KEY}\u{1b}[31m");
    let service =
        ScriptedService::playing([Answer::status(401, &words), Answer::status(404, "no such model")]);
    let desk = asking(&service);
    let variables = [("MY_KEY", KEY)];
    let outcome = check(&desk, &["--call"], &variables).refused(1, &["(401)", "invalid x-api-key"]);
    assert!(!outcome.stderr.contains(KEY) && !outcome.stderr.contains('\u{1b}'), "{outcome:#?}");
    assert_eq!(check(&desk, &["--call", "--format=json"], &variables).json_error(), "model_refused");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    set(&desk, "llm.baseUrl", &format!("http://{gone}"));
    assert_eq!(check(&desk, &["--call", "--format=json"], &variables).json_error(), "model_unreachable");
    set(&desk, "llm.baseUrl", "ftp://example.com");
    check(&desk, &["--call"], &variables).refused(1, &["neither http nor https"]);
    // Refused calls cost nothing.
    assert_eq!(desk.ask(&["cost"])["cost"], json!(0.0));
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let proxy = ScriptedService::playing([Answer::text("ok"), Answer::status(407, "who are you?")]);
    let desk = asking(&proxy);
    set(&desk, "llm.baseUrl", "http://model.example");
    let variables = [("MY_KEY", KEY)];
    check(&desk, &["--call"], &variables)
        .refused(1, &["http://model.example is not encrypted", "chronicle.llm.allowHttp"]);
    set(&desk, "llm.allowHttp", "true");
    let url = proxy.url();
    let variables = [("MY_KEY", KEY), ("http_proxy", url.as_str())];
    check(&desk, &["--call"], &variables).success();
    assert_eq!(proxy.asked()[0].path, "http://model.example/v1/messages");
    check(&desk, &["--call"], &variables).refused(1, &["(407)"]);
}

#[test]
fn the_installed_claude_is_a_model() {
    let desk = Desk::new();
    set(&desk, "llm.provider", "claude");
    let bin = desk.repo.beside("bin");
    let path = |folder: &Path| format!("{}:/usr/bin:/bin", folder.display());
    let outcome = check(&desk, &[], &[("PATH", &path(&bin))]).success();
    assert!(outcome.stdout.contains("`claude` is not on the PATH"), "{outcome:#?}");
    check(&desk, &["--call"], &[("PATH", &path(&bin))]).refused(1, &["`claude` is not on the PATH"]);
    let answer = json!({ "result": "ok", "usage": { "input_tokens": 10, "output_tokens": 2 } });
    let mut write = testkit::command("sh", desk.repo.path());
    write.args(["-c", "mkdir \"$1\" && printf '%s' \"$2\" >\"$1/claude\" && chmod 755 \"$1/claude\"", "sh"]);
    write.arg(&bin).arg(format!("#!/bin/sh\ncat >/dev/null\necho '{answer}'\n"));
    assert!(write.status().unwrap().success());
    let outcome = check(&desk, &["--call"], &[("PATH", &path(&bin)), ("ANTHROPIC_API_KEY", KEY)]).success();
    assert!(outcome.stdout.contains("sonnet of claude, with its own login, price unknown"), "{outcome:#?}");
    assert!(
        outcome.stdout.contains("answered `ok`; 10 tokens read, 2 written, at an unknown price"),
        "{outcome:#?}"
    );
}

#[test]
fn variables_of_an_agent_do_not_steer_the_installed_claude() {
    let desk = Desk::new();
    set(&desk, "llm.provider", "claude");
    let bin = desk.repo.beside("bin");
    let seen = desk.repo.beside("seen");
    fs::create_dir(&bin).unwrap();
    let answer = json!({ "result": "ok", "usage": { "input_tokens": 10, "output_tokens": 2 } });
    let script = format!("#!/bin/sh\nenv > '{}'\ncat >/dev/null\necho '{answer}'\n", seen.display());
    let mut write = testkit::command("sh", desk.repo.path());
    write.args(["-c", "printf '%s' \"$2\" >\"$1/claude\" && chmod 755 \"$1/claude\"", "sh"]);
    assert!(write.arg(&bin).arg(script).status().unwrap().success());
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let steering = ["ANTHROPIC_BASE_URL", "HTTPS_PROXY", "NODE_OPTIONS", "CLAUDE_CONFIG_DIR"];
    let mut variables: Vec<(&str, &str)> = steering.iter().map(|name| (*name, "x")).collect();
    variables.push(("PATH", &path));
    let given = |variables: &[(&str, &str)]| {
        check(&desk, &["--call"], variables).success();
        let seen = fs::read_to_string(&seen).unwrap();
        steering.iter().filter(|name| seen.contains(&format!("{name}="))).count()
    };
    assert_eq!(given(&variables), 4, "a person's variables count");
    variables.push(("CLAUDECODE", "1"));
    assert_eq!(given(&variables), 0);
    // Programs run what these name, or are led to other machines by them.
    let leading = [
        ("SHELL", "./tools/bash"),
        ("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=./tools/x"),
        ("DISPLAY", "example.org:0"),
        ("TMPDIR", "tools"),
        ("SSH_AUTH_SOCK", "./tools/agent"),
    ];
    let seen_of = |extra: &[(&str, &str)]| {
        check(&desk, &["--call"], &[&variables, extra].concat()).success();
        let seen = fs::read_to_string(&seen).unwrap();
        leading
            .iter()
            .filter(|(name, _)| seen.lines().any(|line| line.starts_with(&format!("{name}="))))
            .count()
    };
    assert_eq!(seen_of(&leading), 0);
    let harmless = [
        ("SHELL", "/bin/sh"),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
        ("DISPLAY", ":0"),
        ("TMPDIR", "/tmp"),
        ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
    ];
    assert_eq!(seen_of(&harmless), 4, "the shell is the account's own");
}

#[test]
fn nothing_spent_is_an_answer_also_without_a_repository() {
    let desk = Desk::new();
    let elsewhere = desk.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let outcome = desk.run_in(&elsewhere, &["cost"]).success();
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.contains("no model was asked since")), ("", true));
    let mut command = desk.command_in(&elsewhere, &["llm", "check"]);
    let outcome = run(command.env("GEMINI_API_KEY", KEY).env("CHRONICLE_LLM_MODEL", "gemini-2.5-flash-lite"));
    assert!(outcome.success().stdout.contains("gemini-2.5-flash-lite of gemini"));
    desk.run(&["cost", "--days", "0"]).refused(2, &["--days"]);
    fs::create_dir_all(desk.memory()).unwrap();
    fs::write(desk.memory().join("spending.jsonl"), "no JSON\n{}\n").unwrap();
    desk.run(&["cost"]).success().warns("damaged lines in the ledger of spending, which do not count: 2");
}
