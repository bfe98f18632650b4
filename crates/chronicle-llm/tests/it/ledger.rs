use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use chronicle_llm::{
    Account, Cancel, Caps, Embedder, Ledger, Meter, Metered, Model, ModelError, Money, Prices, Purpose,
    Reply, Request, Service, Stop, Usage, Wire,
};
use serde_json::Value;
use testkit::{Answer, ScriptedService};

use crate::support::{model, request};

fn meter(path: &Path, caps: Caps) -> Meter {
    let account = Account {
        day: "2026-03-01".to_owned(),
        run: "run-1".to_owned(),
        model: "scripted".to_owned(),
        purpose: Purpose::Annotate,
    };
    let prices = Some(Prices { input: 1.0, output: 10.0, cache_read: Some(0.1), cache_written: Some(1.25) });
    Meter { ledger: Arc::new(Ledger::new(path.to_owned())), account, prices, caps }
}

fn a_day(dollars: f64) -> Caps {
    Caps { cost_of_day: Some(Money::dollars(dollars)), ..Caps::default() }
}

fn file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("llm/spending.jsonl")
}

fn metered(service: &ScriptedService, path: &Path, caps: Caps) -> Metered<Service> {
    Metered::new(model(Wire::Anthropic, service), meter(path, caps))
}

fn ask(model: &dyn Model) -> Result<Reply, ModelError> {
    model.complete(&request(), &Cancel::default())
}

#[test]
fn a_call_costs_what_it_used() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::playing([Answer::text("ok").costing(1_000, 200).cached(10_000, 4_000)]);
    let model = metered(&service, &file(&dir), Caps::default());
    ask(&model).unwrap();
    let spending = Ledger::new(file(&dir)).read().unwrap();
    let entry = &spending.entries[0];
    assert_eq!(entry.usage, Usage { input: 1_000, output: 200, cache_read: 10_000, cache_written: 4_000 });
    assert_eq!(entry.cost, Some(Money::dollars(0.009)));
    assert!(entry.is_settled && spending.n_damaged == 0);
    assert_eq!(entry.account, model.meter().account);
}

#[test]
fn the_call_that_may_go_beyond_a_cap_is_not_made() {
    // The request reserves 500 tokens of output at $10 a million: half a cent, and a little for what is read.
    let cost_of_run = Caps { cost_of_run: Some(Money::dollars(0.02)), ..Caps::default() };
    let tokens_of_run = Caps { tokens_of_run: Some(5_000), ..Caps::default() };
    for caps in [a_day(0.02), cost_of_run, tokens_of_run] {
        let dir = tempfile::tempdir().unwrap();
        let service = ScriptedService::answering(|_, _| Answer::text("ok").costing(1_000, 400));
        let model = metered(&service, &file(&dir), caps.clone());
        let error = loop {
            if let Err(error) = ask(&model) {
                break error;
            }
        };
        assert!(matches!(error, ModelError::TooDear { .. }), "{error}");
        assert_eq!(service.asked().len(), 3, "{caps:?}: {error}");
        // Another process knows it too.
        ask(&metered(&service, &file(&dir), caps)).unwrap_err();
        assert_eq!(service.asked().len(), 3);
    }
}

#[test]
fn another_day_and_another_run_have_their_own_caps() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::answering(|_, _| Answer::text("ok").costing(1_000, 400));
    let mut meter = meter(&file(&dir), a_day(0.008));
    let ask_as = |meter: &Meter| ask(&Metered::new(model(Wire::Anthropic, &service), meter.clone()));
    ask_as(&meter).unwrap();
    ask_as(&meter).unwrap_err();
    meter.account.day = "2026-03-02".to_owned();
    ask_as(&meter).unwrap();
    meter.caps = Caps { cost_of_run: Some(Money::dollars(0.012)), ..Caps::default() };
    ask_as(&meter).unwrap_err();
    meter.account.run = "run-2".to_owned();
    ask_as(&meter).unwrap();
}

#[test]
fn without_a_price_no_cap_can_be_kept() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::answering(|_, _| Answer::text("ok"));
    let unpriced = |caps| Meter { prices: None, ..meter(&file(&dir), caps) };
    let error = ask(&Metered::new(model(Wire::Anthropic, &service), unpriced(a_day(100.0)))).unwrap_err();
    assert!(error.to_string().contains("the price of scripted is unknown"), "{error}");
    ask(&Metered::new(model(Wire::Anthropic, &service), unpriced(Caps::default()))).unwrap();
    let spending = Ledger::new(file(&dir)).read().unwrap();
    assert_eq!((spending.entries.len(), spending.entries[0].cost), (1, None));
    assert_eq!(spending.entries[0].usage.input, 100);
}

#[test]
fn a_refused_call_costs_nothing_and_one_that_may_have_cost_counts_whole() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::playing([
        Answer::status(400, "no"),
        Answer::text("the first half").cut_after(2),
        Answer::text("whole").costing(10, 10),
        Answer::text("whole, without usage").costing(0, 0),
    ]);
    let model = metered(&service, &file(&dir), Caps::default());
    ask(&model).unwrap_err();
    // The one that broke off is asked for again.
    assert_eq!(ask(&model).unwrap().text(), "whole");
    ask(&model).unwrap();
    let spending = Ledger::new(file(&dir)).read().unwrap();
    let settled: Vec<bool> = spending.entries.iter().map(|entry| entry.is_settled).collect();
    assert_eq!(settled, [true, false, true, false]);
    assert_eq!(spending.entries[0].cost, Some(Money::default()));
    assert!(Some(Money::dollars(0.005)) < spending.entries[1].cost);
}

#[test]
fn vectors_are_charged_too() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::playing([Answer::text("").costing(7, 0)]);
    let metered = Metered::new(model(Wire::OpenAi, &service), meter(&file(&dir), a_day(1.0)));
    metered.embed(&["one".to_owned()], &Cancel::default()).unwrap();
    assert_eq!(Ledger::new(file(&dir)).read().unwrap().entries[0].usage.input, 7);
    let dear = Metered::new(model(Wire::OpenAi, &service), meter(&file(&dir), a_day(0.001)));
    let error = dear.embed(&["word ".repeat(1_000)], &Cancel::default()).unwrap_err();
    assert!(matches!(error, ModelError::TooDear { .. }), "{error}");
}

#[test]
fn a_damaged_line_is_passed_over_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let service = ScriptedService::answering(|_, _| Answer::text("ok").costing(1_000, 0));
    ask(&metered(&service, &file(&dir), Caps::default())).unwrap();
    let damage = |bytes: &[u8]| {
        let mut ledger = OpenOptions::new().append(true).open(file(&dir)).unwrap();
        ledger.write_all(bytes).unwrap();
    };
    damage(b"\xff\x00 no line\n{\"settles\":\"unknown\",\"nano_usd\":1,\"usage\":{}}\n");
    // Whoever died within a line left no end of it.
    damage(b"{\"id\":\"0123\",\"day\":\"2026-03-01\",\"run\":\"ru");
    ask(&metered(&service, &file(&dir), Caps::default())).unwrap();
    let spending = Ledger::new(file(&dir)).read().unwrap();
    assert_eq!((spending.entries.len(), spending.n_damaged), (2, 3));
    assert_eq!(spending.cost(|_| true), Money::dollars(0.002));
}

#[test]
fn without_a_ledger_nothing_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("llm"), "no folder").unwrap();
    let service = ScriptedService::playing([Answer::text("ok")]);
    let error = ask(&metered(&service, &file(&dir), Caps::default())).unwrap_err();
    assert!(matches!(error, ModelError::NoAccount { .. }), "{error}");
    assert!(service.asked().is_empty());
    assert!(Ledger::new(dir.path().join("nowhere")).read().unwrap().entries.is_empty());
}

/// Answers at once, and says that it used what it was asked to at most.
struct Spender(AtomicUsize);

impl Model for Spender {
    fn complete(&self, request: &Request, _: &Cancel) -> Result<Reply, ModelError> {
        let n_calls = self.0.fetch_add(1, Ordering::Relaxed);
        let output = if n_calls.is_multiple_of(3) { u64::from(request.max_tokens) } else { 7 };
        let usage = Usage { input: 100, output, ..Usage::default() };
        Ok(Reply { blocks: Vec::new(), stop: Stop::End, usage })
    }

    fn calls_tools(&self) -> bool {
        true
    }

    fn context_tokens(&self) -> u64 {
        1
    }

    fn name(&self) -> &'static str {
        "spender"
    }
}

const CAP: f64 = 1.0;
/// Tells a process of this test where it is to spend.
const SPEND_INTO: &str = "LEDGER_TO_SPEND_INTO";

/// The other processes of the test below; of itself it does nothing.
#[test]
fn a_process_that_spends() {
    #[expect(clippy::disallowed_methods, reason = "the parent tells its child")]
    let Some(path) = std::env::var_os(SPEND_INTO) else { return };
    let spender = Metered::new(Spender(AtomicUsize::new(0)), meter(Path::new(&path), a_day(CAP)));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| while ask(&spender).is_ok() {});
        }
    });
}

#[test]
fn no_number_of_threads_and_processes_and_no_sudden_death_goes_beyond_a_cap() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir);
    let start = || -> Child {
        let this = std::env::current_exe().unwrap();
        let mut command = testkit::command(this, dir.path());
        command.args(["--exact", "ledger::a_process_that_spends"]).env(SPEND_INTO, &path);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<Child> = (0..3).map(|_| start()).collect();
    let n_bytes = || fs::metadata(&path).map_or(0, |ledger| ledger.len());
    for round in 1..=6 {
        // Each dies with some calls under way, and another takes its place.
        let wanted = round * 3_000;
        while n_bytes() < wanted && children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
            thread::sleep(Duration::from_millis(1));
        }
        let mut victim = children.remove(0);
        victim.kill().unwrap();
        victim.wait().unwrap();
        children.push(start());
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    // The sum as it was after each line.
    let mut costs = std::collections::HashMap::new();
    let text = fs::read_to_string(&path).unwrap();
    let cap = Money::dollars(CAP).as_dollars();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let id = line["id"].as_str().or(line["settles"].as_str()).unwrap().to_owned();
        costs.insert(id, line["nano_usd"].as_u64().unwrap());
        let sum = costs.values().sum::<u64>();
        assert!(sum <= 1_000_000_000, "{sum} is beyond {cap}");
    }
    let spending = Ledger::new(path).read().unwrap();
    let spent = spending.cost(|_| true);
    assert!(Money::dollars(CAP - 0.01) < spent && spent <= Money::dollars(CAP), "{spent}");
    let n_open = spending.entries.iter().filter(|entry| !entry.is_settled).count();
    assert!(n_open <= 6 * 8, "{n_open}");
}
