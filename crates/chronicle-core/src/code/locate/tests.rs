use super::*;

fn place(old: &str, (start, end): (u32, u32), new: &str) -> Place {
    let (old, new) = (Lines::new(old.as_bytes()), Lines::new(new.as_bytes()));
    let map = LineMap::between(&old, &new);
    Locator::new(new).locate(&old, LineRange::new(start, end).unwrap(), &map)
}

/// Where the lines of `old` from `start` to `end` are in `new`, or why they are gone and where lines like them are.
#[track_caller]
fn check(old: &str, lines: (u32, u32), new: &str, expected: &str) {
    let place = place(old, lines, new);
    let shown = match (place.lines, place.state) {
        (Some(lines), State::Intact) => format!("{lines} intact"),
        (Some(lines), _) => format!("{lines} changed {:.2}", place.share),
        (None, _) => {
            let hint = place.hint.map(|hint| format!(", perhaps {}", hint.lines())).unwrap_or_default();
            format!("{:?}{hint}", place.because.unwrap())
        }
    };
    assert_eq!(shown, expected, "of\n{old}\nin\n{new}");
}

const POOL: &str = "use std;\n\nfn acquire() {\n    wait_for_turn();\n    take_next(free);\n}\n\nfn release() {\n    give_back(it);\n    wake_one();\n    count -= 1;\n    log(count);\n}\n";

#[test]
fn reformatted_code_is_found_and_called_changed() {
    let reformatted =
        POOL.replace("fn acquire() {\n    wait_for_turn();\n", "fn acquire()\n{\n\twait_for_turn( );\n");
    check(POOL, (3, 6), &reformatted, "3:7 changed 1.00");
}

#[test]
fn a_function_that_moved_is_found() {
    let (acquire, release) = (&POOL[10..71], &POOL[72..]);
    let moved = format!("use std;\n\n{release}\n{acquire}");
    check(POOL, (3, 6), &moved, "10:13 changed 1.00");
}

#[test]
fn rewritten_code_is_gone() {
    check(POOL, (4, 5), "use std;\n\nfn acquire() {\n    spin();\n}\n", "Rewritten");
    check(POOL, (4, 5), "use std;\n\nfn acquire() {\n}\n", "Deleted");
}

#[test]
fn what_a_text_holds_may_be_in_it() {
    let text = POOL.as_bytes();
    let grams = Grams::of(text);
    for len in SHORTEST_REFLOWED..40 {
        assert!(text.windows(len).all(|needle| grams.may_hold(needle)));
    }
    assert!(!grams.may_hold(b"nothing of this stands there"));
}

#[test]
fn a_sketch_finds_its_range_alone() {
    let sketch = Sketch::of(&Lines::new(POOL.as_bytes()), LineRange::new(8, 13).unwrap());
    let present = POOL
        .replace("    wake_one();\n", "    wake_one();\n    wake_two();\n")
        .replace("use std;\n", "//! Pool.\n\nuse std;\n");
    let place = sketch.locate(&Lines::new(present.as_bytes())).unwrap();
    assert_eq!(place.lines, LineRange::new(10, 15).ok());
    assert!(sketch.locate(&Lines::new(b"nothing\nof\nthis\n")).is_none());
}

/// A file of two functions, each with lines that are in many.
const PAIR: &str = "fn first(pool: &Pool) {
    try {
        pool.take_one(limit);
    } finally {
        pool.close();
    }
}

fn second(queue: &Queue) {
    queue.push(item, limit);
    queue.wake();
}
";

#[test]
fn a_generic_line_that_another_function_has_too_keeps_nothing_alive() {
    // The first function goes, and a third one comes that has its `finally`.
    let without_first = &PAIR[PAIR.find("fn second").unwrap()..];
    let third = "fn third(door: &Door) {\n    try {\n        door.open(key);\n    } finally {\n        door.shut();\n    }\n}\n";
    let new = format!("{third}\n{without_first}");
    check(PAIR, (4, 4), &new, "Rewritten, perhaps 4:4");
    check(PAIR, (1, 6), &new, "Rewritten, perhaps 2:4");
    // Between the lines that were next to it, it is itself.
    check(PAIR, (4, 4), &format!("use std;\n\n{PAIR}"), "6:6 intact");
    let edited = PAIR.replace("fn first(pool: &Pool) {", "fn one(pools: &mut Pools, limit: u8) {");
    check(PAIR, (4, 4), &edited, "4:4 intact");
    // So it is where blank lines came or went next to it.
    check(PAIR, (4, 4), &PAIR.replace("    } finally {\n", "\n    } finally {\n\n"), "5:5 intact");
    // With other neighbours only the item can tell.
    check(PAIR, (4, 4), &PAIR.replace("pool.take_one(limit);", "run();"), "Rewritten, perhaps 4:4");
}

#[test]
fn a_distinctive_line_proves_where_code_is() {
    let rewritten =
        PAIR.replace("    try {\n", "    log();\n").replace("    } finally {\n        pool.close();\n", "");
    check(PAIR, (2, 5), &rewritten, "3:3 changed 0.25");
    // Twice, it proves nothing.
    let twice = rewritten.replace("    queue.wake();\n", "    pool.take_one(limit);\n");
    check(PAIR, (2, 5), &twice, "Rewritten, perhaps 3:3");
}

#[test]
fn a_line_that_was_edited_in_place_is_changed() {
    check(PAIR, (10, 10), &PAIR.replace("push(item, limit)", "push(item, limit + 1)"), "10:10 changed 0.86");
    check(PAIR, (3, 3), &PAIR.replace("take_one(limit)", "take_one(limits)"), "3:3 changed 0.95");
    check(PAIR, (3, 3), &PAIR.replace("pool.take_one(limit);", "while idle { sleep(30); }"), "Rewritten");
    // It is the same line where lines came next to it.
    let around = "        log(pool);\n        pool.take_one(limit, 1);\n        log(limit);\n";
    check(PAIR, (3, 3), &PAIR.replace("        pool.take_one(limit);\n", around), "4:4 changed 0.75");
}

#[test]
fn an_edited_line_alone_proves_nothing_of_a_range_that_is_gone() {
    let old = "fn reply(name: &str) {
    write_event(name, message);
}

fn head(code: u16, headers: &Headers) {
    for (key, value) in headers {
        writer.set(key, value);
    }
    writer.send(code);
}

fn stream(step: Step) {
    let queue = open_queue(step);
";
    let new = "fn stream(step: Step) -> bool {
    let queue = open_queue(step);
";
    check(old, (1, 12), new, "Rewritten, perhaps 1:1");
    // Asked about alone, it is the same line, and so is a range of which it is half.
    check(old, (12, 12), new, "1:1 changed 0.62");
    check(old, (11, 13), new, "1:2 changed 0.81");
    // A line that is there as it was does prove the place.
    check(old, (1, 13), new, "1:2 changed 0.20");
}

#[test]
fn an_import_in_the_place_of_another_is_another() {
    let old =
        "import com.example.pool.Queue;\nimport com.example.pool.Timeout;\nimport com.example.net.Door;\n";
    let of = |name: &str| old.replace("pool.Timeout", name);
    check(old, (2, 2), &of("pool.Lease"), "Rewritten");
    check(old, (2, 2), &of("core.Timeout"), "2:2 changed 0.91");
}

#[test]
fn the_end_of_a_file_proves_nothing_next_to_a_common_line() {
    let file = |body: &str| format!("context 'files' do\n\n  it 'works' do\n{body}  end\n\nend\n");
    let old = file("    get_it '/first'\n");
    check(
        &old,
        (1, 7),
        &file("    assert served?\n").replace("context 'files'", "class Test").replace("works", "serves"),
        "Rewritten, perhaps 5:7",
    );
    // A line that identifies code does.
    check("run(queue, limit)\n}\n", (2, 2), "log()\nrun(queue, limit)\n}\n", "3:3 intact");
}

#[test]
fn a_sketch_of_common_lines_is_only_a_hint() {
    let of = |range: (u32, u32)| {
        Sketch::of(&Lines::new(PAIR.as_bytes()), LineRange::new(range.0, range.1).unwrap())
    };
    let other = Lines::new(b"fn other() {\n    try {\n        go();\n    } finally {\n");
    assert_eq!(of((4, 4)).locate(&other), None);
    assert_eq!(of((4, 4)).likeliest(&other), LineRange::new(4, 4).ok());
    assert_eq!(of((3, 3)).locate(&Lines::new(PAIR.as_bytes())).unwrap().lines, LineRange::new(3, 3).ok());
}

#[test]
fn a_body_that_was_rewritten_leaves_its_head() {
    let function = |n: u32| {
        format!(
            "fn f{n}(x: u32) -> u32 {{\n    let a{n} = x + {n};\n    let b{n} = a{n} * 9;\n    a{n} + b{n}\n}}\n\n"
        )
    };
    let old: String = (1..4).map(function).collect();
    let body = "    let a2 = x + 2;\n    let b2 = a2 * 9;\n    a2 + b2\n";
    let new = old.replace(body, "    match x {\n        0 => 1,\n        n => n << 1,\n    }\n");
    check(&old, (7, 10), &new, "Rewritten, perhaps 7:7");
}
