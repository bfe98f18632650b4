//! Which items lessons get when they are stored, and which lessons an item has when it is asked about.

use chronicle::{LineRange, Reading};
use serde_json::{Value, json};
use testkit::TestRepo;

use crate::asking::{annotate, ask, read, repository};

const POOL: &str = "//! Ids.

pub struct Pool {
    free: Vec<u32>,
}

impl Pool {
    /// Takes an id.
    pub fn acquire(&mut self) -> Option<u32> {
        let id = self.free.pop();
        trace(id);
        id
    }

    pub fn release(&mut self, id: u32) {
        self.free.push(id);
    }
}
";

/// Commits these versions of a file, and stores a lesson on the last: with which lines and anchor, as the note has it.
#[track_caller]
fn check_stored(versions: &[&str], place: &Value, expected: &Value) {
    let repo = repository(&[]);
    for version in versions {
        repo.write("a.rs", version);
        repo.commit("edit");
    }
    let mut lesson =
        json!({ "category": "gotcha", "content": "Never block in here, the UI waits.", "file": "a.rs" });
    lesson.as_object_mut().expect("an object").extend(place.as_object().expect("an object").clone());
    annotate(&repo, "HEAD", &json!({ "summary": "The pool is small on purpose", "wisdom": [lesson] }));
    let note: Value = serde_json::from_str(&repo.note("chronicle", "HEAD")).expect("it is JSON");
    let stored = &note["wisdom"][0];
    let places = stored["places"].as_array().map(|places| {
        let place = |place: &Value| json!({ "start": place["start"], "end": place["end"] });
        places.iter().map(place).collect::<Vec<_>>()
    });
    let found = json!({ "lines": stored["lines"], "places": places, "anchor": stored["anchor"]["name"] });
    let expected = |key: &str| expected.get(key).cloned().unwrap_or_default();
    let expected =
        json!({ "lines": expected("lines"), "places": expected("places"), "anchor": expected("anchor") });
    assert_eq!(found, expected, "{place}: {stored:#}");
}

fn lines(start: u32, end: u32) -> Value {
    json!({ "start": start, "end": end })
}

#[test]
fn a_lesson_gets_the_item_that_holds_its_lines_and_an_item_gives_its_lines() {
    let check = |place: Value, expected: Value| check_stored(&["// empty\n", POOL], &place, &expected);
    // Inside of one method, in two methods of one type, and of the type alone.
    check(json!({ "lines": lines(10, 11) }), json!({ "lines": lines(10, 11), "anchor": "Pool::acquire" }));
    check(json!({ "lines": lines(12, 16) }), json!({ "lines": lines(12, 16), "anchor": "Pool" }));
    check(json!({ "lines": lines(4, 4) }), json!({ "lines": lines(4, 4), "anchor": "Pool" }));
    // A bare name is enough where it is the only one; a slip is not guessed at.
    check(json!({ "anchor": "acquire" }), json!({ "lines": lines(8, 13), "anchor": "Pool::acquire" }));
    check(json!({ "anchor": "Pool.aquire" }), json!({ "anchor": "Pool.aquire" }));
}

#[test]
fn changes_inside_one_item_give_its_name() {
    let long = format!("{}\nfn long() {{\n{}}}\n", "// filler\n".repeat(40), "    step();\n".repeat(40));
    let marked =
        |marks: &[usize]| {
            let lines = long.lines().enumerate();
            let lines = lines.map(|(at, line)| {
                if marks.contains(&at) { format!("{line} // mark\n") } else { format!("{line}\n") }
            });
            lines.collect::<String>()
        };
    let inside = marked(&[45, 60]);
    check_stored(&[&long, &inside], &json!({}), &json!({ "lines": lines(46, 61), "anchor": "long" }));
    let apart = marked(&[1, 50]);
    check_stored(&[&long, &apart], &json!({}), &json!({ "places": [lines(2, 2), lines(51, 51)] }));
}

/// What lessons say, in the order in which they are shown.
fn contents(reading: &Reading) -> Vec<&str> {
    reading.wisdom.iter().map(|item| item.content.as_str()).collect()
}

#[test]
fn a_lesson_without_lines_is_about_the_items_that_its_anchor_names_alone() {
    let pool = |name: &str| {
        format!(
            "mod {name} {{\n    impl Pool {{\n        fn acquire() {{\n            {name}();\n        }}\n    }}\n}}\n\n"
        )
    };
    let others = "impl Other {\n    fn acquire() {\n        other();\n    }\n}\n\nfn acquire() {\n    free();\n}\n\nfn release() {}\n";
    let repo = repository(&[]);
    repo.write("pool.rs", [&pool("red"), &pool("blue"), others].concat());
    repo.commit("pools: two, and what is called alike");
    let lesson = |content: &str, anchor: &str| json!({ "category": "gotcha", "content": content, "file": "pool.rs", "anchor": anchor });
    annotate(
        &repo,
        "HEAD",
        &json!({ "summary": "Two pools, since each has a lock of its own", "wisdom": [
            lesson("Neither pool may block here.", "Pool::acquire"),
            lesson("No one knows this name.", "Pool::drain_everything"),
            lesson("Only the free one waits.", "crate::acquire"),
        ]}),
    );
    let [pools, unknown, free] =
        ["Neither pool may block here.", "No one knows this name.", "Only the free one waits."];
    // What is called otherwise by now may be any item, of which a history shows nothing.
    let check = |anchor: &str, of_item: &[&str]| {
        let reading = read(&repo, "pool.rs", Some(anchor), None);
        let mut found = contents(&reading);
        found.sort_unstable();
        let mut expected = [of_item, &[unknown]].concat();
        expected.sort_unstable();
        assert_eq!(found, expected, "read {anchor}");
        let history = ask(&repo, |chronicle| chronicle.history("pool.rs".into(), Some(anchor), None));
        let moments = history.moments.iter().flat_map(|moment| &moment.wisdom);
        assert_eq!(
            moments.map(|item| item.content.as_str()).collect::<Vec<_>>(),
            of_item,
            "history {anchor}"
        );
    };
    for anchor in ["Pool::acquire", "red::Pool::acquire", "blue::Pool::acquire"] {
        check(anchor, &[pools]);
    }
    check("acquire", &[free]);
    for anchor in ["Other::acquire", "release"] {
        check(anchor, &[]);
    }
    let of_line = |line: u32| {
        let reading = read(&repo, "pool.rs", None, Some(LineRange { start: line, end: line }));
        let mut found: Vec<String> = contents(&reading).into_iter().map(str::to_owned).collect();
        found.sort();
        found
    };
    assert_eq!(of_line(4), [pools, unknown]);
    assert_eq!(of_line(18), [unknown]);
}

#[test]
fn a_type_is_asked_about_with_its_methods_wherever_they_are() {
    let check = |file: &str, content: &str, line: u32, method: &str| {
        let repo = repository(&[]);
        repo.write(file, content);
        repo.write("user.rs", "fn use_pools() {}\n");
        repo.commit("pools");
        annotate(
            &repo,
            "HEAD",
            &json!({ "summary": "How it counts", "wisdom": [
                { "category": "gotcha", "file": file, "lines": lines(line, line), "content": "Seven is what it has." },
                { "category": "insight", "file": "user.rs", "content": "Takes from it.",
                  "depends_on": [{ "file": file, "anchor": method, "nature": "never waits" }] },
            ]}),
        );
        assert_eq!(contents(&read(&repo, file, Some("Pool"), None)), ["Seven is what it has."], "{file}");
        let deps = ask(&repo, |chronicle| chronicle.deps(file.as_ref(), Some("Pool"), false));
        let found: Vec<(Option<&str>, &str)> =
            deps.dependents.iter().map(|found| (found.on_anchor.as_deref(), found.nature.as_str())).collect();
        assert_eq!(found, [(Some(method), "never waits")], "{file}");
    };
    let rust = "struct Pool;\n\nimpl Pool {\n    fn take(&self) -> u8 {\n        7\n    }\n}\n";
    check("pool.rs", rust, 5, "Pool::take");
    let go = "package p\n\ntype Pool struct{}\n\nfunc (p *Pool) Take() int {\n\treturn 7\n}\n";
    check("pool.go", go, 6, "Pool.Take");
    let swift = "struct Pool {}\n\nextension Pool {\n    func take() -> Int {\n        7\n    }\n}\n";
    check("pool.swift", swift, 5, "Pool.take");
    check("pool.kt", "class Pool\n\nfun Pool.take(): Int {\n    return 7\n}\n", 4, "Pool.take");
    let cpp = "class Pool { int take(); };\n\nint Pool::take() {\n    return 7;\n}\n";
    check("pool.cpp", cpp, 4, "Pool::take");
}

/// Two functions, each with code that relies on it and a group.
fn first_and_second() -> TestRepo {
    let repo = repository(&[]);
    repo.write("a.rs", "use std::io;\n\nfn first() -> u8 {\n    7\n}\n\nfn second() -> u8 {\n    8\n}\n");
    repo.write("b.rs", "fn caller() {}\n");
    repo.commit("a and b");
    let names = ["first", "second"];
    let groups = names.map(|name| json!({ "description": format!("group of {name}"), "regions": [format!("a.rs:{name}"), "b.rs:caller"] }));
    let wisdom = names.map(|name| {
        json!({ "category": "insight", "file": "b.rs", "content": format!("calls {name}"),
            "depends_on": [{ "file": "a.rs", "anchor": name, "nature": format!("{name} never waits") }] })
    });
    annotate(&repo, "HEAD", &json!({ "summary": "Two numbers", "wisdom": wisdom, "cross_cutting": groups }));
    repo
}

#[test]
fn who_relies_on_lines_and_what_spans_them() {
    let repo = first_and_second();
    let check = |anchor: Option<&str>, range: Option<(u32, u32)>, expected: &[&str]| {
        let reading = read(&repo, "a.rs", anchor, range.map(|(start, end)| LineRange { start, end }));
        let relied = reading.dependencies_on_this.iter().map(|found| found.nature.as_str());
        let spans = reading.cross_cutting.iter().map(|found| found.description.as_str());
        assert_eq!(relied.chain(spans).collect::<Vec<_>>(), expected, "{anchor:?}, {range:?}");
    };
    check(None, Some((4, 4)), &["first never waits", "group of first"]);
    check(None, Some((7, 8)), &["second never waits", "group of second"]);
    check(Some("second"), None, &["second never waits", "group of second"]);
    check(None, Some((1, 1)), &[]);
    let all = ["first never waits", "second never waits", "group of first", "group of second"];
    check(None, None, &all);
}
