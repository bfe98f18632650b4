//! Who relies on some code is the same with the index and without it, whatever happens in between.

use serde_json::json;
use testkit::TestRepo;

use crate::{
    asking::POOL,
    outcome::{binary, run},
};

/// Asks with the index and without it: both must say the same.
#[track_caller]
fn assert_index_agrees(repo: &TestRepo, question: &[&str], when: &str) {
    let asked = |no_index: bool| {
        let mut command = binary(repo.path(), question);
        command.args(["--format", "json"]).env("CHRONICLE_NOW", "2026-03-03T18:00:00Z");
        if no_index {
            command.env("CHRONICLE_NO_CACHE", "1");
        }
        let outcome = run(&mut command);
        (outcome.code, outcome.stdout, outcome.stderr)
    };
    let directly = asked(true);
    // The second answer comes from what the first one left.
    for turn in ["first", "second"] {
        assert_eq!(asked(false), directly, "{when}: {question:?}, {turn} answer");
    }
}

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % n
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A repository that changes in random ways, and the names its files go by.
struct Changing {
    repo: TestRepo,
    dice: Dice,
    files: Vec<String>,
    /// Names that files had before.
    former: Vec<String>,
    n_steps: usize,
}

const ITEMS: [&str; 4] = ["Pool::acquire", "Pool::release", "Pool::take", "draw"];

impl Changing {
    fn new(seed: u64) -> Self {
        let files =
            ["a/pool.rs", "b/pool.rs", "src/ui.rs", "src/ids.rs", "mod.rs"].map(str::to_owned).to_vec();
        let changing =
            Self { repo: TestRepo::new(), dice: Dice(seed), files, former: Vec::new(), n_steps: 0 };
        for file in &changing.files {
            changing.repo.write(file, format!("{POOL}\nfn draw() {{\n    let file = \"{file}\";\n}}\n"));
        }
        changing.repo.commit("start");
        changing
    }

    fn step(&mut self) {
        self.n_steps += 1;
        let at = self.dice.below(self.files.len());
        let file = self.files[at].clone();
        let path = self.repo.path().join(&file);
        let content = std::fs::read_to_string(&path).expect("it is there");
        match self.dice.below(8) {
            0 => {
                let new = format!("{}/new{}.rs", self.dice.of(&["a", "b", "src"]), self.n_steps);
                self.repo.git(&["mv", &file, &new]);
                self.former.push(std::mem::replace(&mut self.files[at], new));
            }
            1 => {
                let new = format!("{}{}/pool.rs", self.dice.of(&["c", "d"]), self.n_steps);
                self.repo.write(&new, format!("fn draw() {{}} // {}\n", self.n_steps));
                self.files.push(new);
            }
            2 => self.repo.write(&file, content.replace("fn acquire", "fn take")),
            3 => self.repo.write(&file, content.replace("fn take", "fn acquire") + "// more\n"),
            4 if 4 < self.files.len() => {
                std::fs::remove_file(path).expect("it is there");
                self.files.remove(at);
            }
            _ => self.repo.write(&file, format!("// {}\n{content}", self.n_steps)),
        }
        self.repo.git(&["add", "-A"]);
        self.repo.git(&["commit", "--allow-empty", "-m", &format!("step {}", self.n_steps)]);
    }

    /// Annotates some commit, often HEAD.
    fn annotate(&mut self) {
        self.n_steps += 1;
        let back = if self.dice.below(3) == 0 { self.dice.below(self.n_steps) } else { 0 };
        let commits = self.repo.git(&["rev-list", "HEAD"]);
        let commits: Vec<&str> = commits.lines().collect();
        let commit = commits[back.min(commits.len() - 1)];
        let dice = &mut self.dice;
        let (from, on, third) = (dice.of(&self.files), dice.of(&self.files), dice.of(&self.files));
        // What is written from memory may call a file by an older name.
        let on = if dice.below(4) == 0 && !self.former.is_empty() { dice.of(&self.former) } else { on };
        let (item, other) = (dice.of(&ITEMS), dice.of(&ITEMS));
        let said = on.rsplit('/').next().expect("a name").to_owned();
        let said = if dice.below(2) == 0 { &said } else { on };
        let n = self.n_steps;
        let mut wisdom = vec![
            json!({ "id": format!("E{n}A"), "category": "gotcha", "content": format!("Keep {n} in step with {said}."), "file": from }),
            json!({ "id": format!("E{n}B"), "category": "insight", "content": format!("`{item}` is slow, see {n}."), "file": third }),
            json!({ "id": format!("E{n}C"), "category": "insight", "content": format!("Commit-wide: {third} and {other}() are one ({n})") }),
        ];
        if dice.below(2) == 0 {
            wisdom.push(json!({ "id": format!("E{n}D"), "category": "gotcha", "content": format!("Waits {n} for {on}"), "file": from,
                "depends_on": [{ "file": on, "anchor": item, "nature": format!("is quick ({n})") }] }));
        }
        let document = json!({ "schema": "chronicle/v3", "commit": commit, "timestamp": testkit::DATE,
            "summary": format!("About {said} and {item}, number {n}"), "wisdom": wisdom,
            "cross_cutting": [{ "description": format!("Group {n}"), "regions": [format!("{from}:{item}"), format!("{on}:{other}"), third] }],
            "provenance": { "source": "live" } });
        self.repo.put_note("chronicle", commit, document.to_string().as_bytes());
    }

    fn assert_agrees(&mut self, when: &str) {
        for _ in 0..2 {
            let file = self.dice.of(&self.files).clone();
            assert_index_agrees(&self.repo, &["deps", &file], when);
            let item = self.dice.of(&ITEMS);
            assert_index_agrees(&self.repo, &["deps", &file, item], when);
        }
    }
}

#[test]
fn the_index_changes_no_answer() {
    for seed in 1..=3 {
        let mut changing = Changing::new(seed);
        for _ in 0..4 {
            changing.step();
            changing.annotate();
        }
        changing.assert_agrees(&format!("seed {seed}, whole table"));
        for round in 0..6 {
            changing.annotate();
            changing.assert_agrees(&format!("seed {seed}, round {round}, a new note"));
            changing.step();
            changing.assert_agrees(&format!("seed {seed}, round {round}, a new commit"));
        }
        let main = changing.files.clone();
        changing.repo.git(&["checkout", "-b", "side", "HEAD~3"]);
        let listed = changing.repo.git(&["ls-files"]);
        changing.files = listed.lines().map(str::to_owned).collect();
        changing.assert_agrees(&format!("seed {seed}, older commit"));
        changing.step();
        changing.annotate();
        changing.assert_agrees(&format!("seed {seed}, side branch"));
        changing.repo.git(&["checkout", "-"]);
        changing.files = main;
        changing.assert_agrees(&format!("seed {seed}, back again"));
    }
}
