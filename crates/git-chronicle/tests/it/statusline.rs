//! `statusline`: one line for the screen of an agent, and never an error.

use serde_json::json;

use crate::{
    desk::Desk,
    outcome::{Outcome, run_with_input},
};

fn line(desk: &Desk, input: &[u8]) -> Outcome {
    let outcome = run_with_input(&mut desk.command_in(&desk.home, &["statusline"]), input).success();
    assert_eq!(outcome.stderr, "", "{outcome:#?}");
    outcome
}

fn said(desk: &Desk) -> String {
    let folder = desk.repo.path();
    let payload = json!({"cwd": "/", "workspace": {"current_dir": folder, "project_dir": "/"}});
    line(desk, payload.to_string().as_bytes()).stdout
}

#[test]
fn what_is_open_and_not_annotated_stands_there() {
    let desk = Desk::new();
    assert_eq!(said(&desk), "", "nobody annotates here");
    desk.run(&["annotate", "--summary", "Waiting threads starve when connections are shared"]).success();
    assert_eq!(said(&desk), "");
    desk.repo.write("src/pool.rs", "fn acquire() { todo!() }\n");
    desk.repo.commit("pool: go on");
    assert_eq!(said(&desk), "chronicle: HEAD not annotated\n");
    for (summary, priority) in [("Test it", "high"), ("Measure it", "low"), ("Write it down", "high")] {
        desk.run(&["thread", "add", summary, "--priority", priority]).success();
    }
    assert_eq!(said(&desk), "chronicle: 3 open (2 high, 1 low) · HEAD not annotated\n");
}

#[test]
fn trouble_is_no_news() {
    let desk = Desk::new();
    let megabytes = vec![b'['; 3 << 20];
    let inputs: [&[u8]; 6] = [b"", b"{", b"\xff\xfe", b"[]", b"{\"cwd\": \"/nonexistent\"}", &megabytes];
    for input in inputs {
        assert_eq!(line(&desk, input).stdout, "");
    }
    std::fs::create_dir_all(desk.memory()).expect("it can be made");
    std::fs::write(desk.memory().join("chronicle.db"), "no database").expect("it can be written");
    assert_eq!(said(&desk), "");
}
