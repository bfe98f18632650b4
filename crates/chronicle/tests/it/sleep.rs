//! What consolidation makes of sessions: digests, titles, and blocks within their limits.

use std::{fs, path::PathBuf};

use chronicle::Chronicle;
use chronicle_memory::{
    digest::DigestCommand,
    sessions::{IngestCommand, What},
    sleep::ConsolidateCommand,
};
use testkit::{Talk, TestRepo};

use crate::asking::{at, repository};

/// The day after the conversations.
const NOW: &str = "2026-03-10T12:00:00Z";

/// A repository, and the transcripts of an agent next to it.
struct Desk {
    repo: TestRepo,
}

impl Desk {
    fn new() -> Self {
        let repo = repository(&[]);
        repo.write("src/pool.rs", "fn acquire() {}\n");
        repo.commit("pool: begin");
        Self { repo }
    }

    fn talk(&self, session: &str) -> Talk {
        Talk::new(session, &self.repo.path().to_string_lossy())
    }

    fn work<T>(&self, work: impl FnOnce(&Chronicle) -> T) -> T {
        at(&self.repo, NOW, true, work)
    }

    /// Leaves these transcripts, and reads all that were left.
    fn read(&self, talks: &[Talk]) {
        let folder = self.repo.beside("transcripts");
        fs::create_dir_all(&folder).expect("it can be made");
        for talk in talks {
            fs::write(folder.join(format!("{}.jsonl", talk.session)), talk.text())
                .expect("it can be written");
        }
        let command = IngestCommand { what: What::Files(vec![folder]) };
        self.work(|chronicle| chronicle.memory().ingest(&command, &mut |_, _| {})).expect("they can be read");
    }

    fn consolidate(&self) {
        let command = ConsolidateCommand { spans: Vec::new(), due_only: false, is_dry_run: false };
        self.work(|chronicle| chronicle.memory().consolidate(&command)).expect("it can be done");
    }

    /// The title and the summary of a session.
    fn title(&self, session: &str) -> String {
        let shown = self.work(|chronicle| chronicle.memory().session(session, false)).expect("it is known");
        let shown = serde_json::to_value(&shown).expect("it is plain data");
        let summary = shown["digest"]["summary"].as_str().unwrap_or_default();
        format!("{}: {summary}", shown["title"].as_str().unwrap_or_default())
    }

    /// The digest of the day of the conversations, of all projects.
    fn digest(&self) -> String {
        let command = DigestCommand { period: "yesterday".to_owned(), project: None, all: true };
        self.work(|chronicle| chronicle.memory().digest(&command)).expect("there is one").text()
    }
}

#[test]
fn words_of_other_languages_are_kept_as_they_are() {
    let desk = Desk::new();
    let wishes = [
        ("5e5510c1-aaaa-4aaa-8aaa-0000000000c1", "Éviter l’attente infinie dans la file d’attente", "Fait."),
        // A sentence ends where its mark is, without a space after it, too.
        ("5e5510c2-aaaa-4aaa-8aaa-0000000000c2", "把连接池的上限改成八个连接。然后写一个测试。", "完成。"),
    ];
    desk.read(&wishes.map(|(session, wish, answer)| desk.talk(session).prompt(wish).said(answer)));
    insta::assert_snapshot!(wishes.map(|(session, ..)| desk.title(session)).join("\n"), @"
    Éviter l’attente infinie dans la file d’attente: Asked for “Éviter l’attente infinie dans la file d’attente”.
    把连接池的上限改成八个连接: Asked for “把连接池的上限改成八个连接”.
    ");
    insta::assert_snapshot!(desk.digest(), @"
    # Digest of 2026-03-09

    2 sessions on 1 day, 2 prompts, 0 commits, 0 changed files

    ## repo

    - Éviter l’attente infinie dans la file d’attente (2026-03-09, main, session 5e5510c1)
      - Asked for “Éviter l’attente infinie dans la file d’attente”.
    - 把连接池的上限改成八个连接 (2026-03-09, main, session 5e5510c2)
      - Asked for “把连接池的上限改成八个连接”.
    ");
}

#[test]
fn a_request_without_spaces_gives_the_title_whatever_comes_after_it() {
    let desk = Desk::new();
    let wishes = [
        ("5e5510c3-aaaa-4aaa-8aaa-0000000000c3", "把连接池的上限改成八个连接。"),
        ("5e5510c4-aaaa-4aaa-8aaa-0000000000c4", "接続プールの上限を八にしてください。"),
    ];
    desk.read(&wishes.map(|(session, wish)| {
        desk.talk(session)
            .prompt(wish)
            .edit("src/pool.rs", "fn acquire() {}", "fn acquire() { wait() }")
            .command("git commit -qam 'pool: wait'", "[main 1a2b3c4] pool: wait\n 1 file changed")
            .prompt("And now look at the timeout of the tests")
            .said("Done.")
    }));
    insta::assert_snapshot!(wishes.map(|(session, _)| desk.title(session)).join("\n"), @"
    把连接池的上限改成八个连接: Asked for “把连接池的上限改成八个连接” and in the end “Look at the timeout of the tests”. Committed 1a2b3c4 “pool: wait”, changed 1 file.
    接続プールの上限を八にしてください: Asked for “接続プールの上限を八にしてください” and in the end “Look at the timeout of the tests”. Committed 1a2b3c4 “pool: wait”, changed 1 file.
    ");
}

#[test]
fn a_digest_of_many_projects_names_those_that_it_has_no_room_for() {
    let desk = Desk::new();
    let folders: Vec<PathBuf> = (0..14).map(|n| desk.repo.beside(&format!("project-{n:02}"))).collect();
    let talks = folders.iter().enumerate().map(|(n, folder)| {
        fs::create_dir(folder).expect("there is none yet");
        let session = format!("5e5510{n:02}-aaaa-4aaa-8aaa-0000000000d1");
        Talk::new(&session, &folder.to_string_lossy()).prompt("Make the pool wait").said("Done.")
    });
    desk.read(&talks.collect::<Vec<_>>());
    insta::assert_snapshot!(desk.digest(), @"
    # Digest of 2026-03-09

    14 sessions on 1 day, 14 prompts, 0 commits, 0 changed files

    ## project-00

    - Make the pool wait (2026-03-09, main, session 5e551000)
      - Asked for “Make the pool wait”.

    ## project-01

    - Make the pool wait (2026-03-09, main, session 5e551001)
      - Asked for “Make the pool wait”.

    ## project-02

    - Make the pool wait (2026-03-09, main, session 5e551002)
      - Asked for “Make the pool wait”.

    ## project-03

    - Make the pool wait (2026-03-09, main, session 5e551003)
      - Asked for “Make the pool wait”.

    ## project-04

    - Make the pool wait (2026-03-09, main, session 5e551004)
      - Asked for “Make the pool wait”.

    ## project-05

    - Make the pool wait (2026-03-09, main, session 5e551005)
      - Asked for “Make the pool wait”.

    ## project-06

    - Make the pool wait (2026-03-09, main, session 5e551006)
      - Asked for “Make the pool wait”.

    ## project-07

    - Make the pool wait (2026-03-09, main, session 5e551007)
      - Asked for “Make the pool wait”.

    ## project-08

    - Make the pool wait (2026-03-09, main, session 5e551008)
      - Asked for “Make the pool wait”.

    ## project-09

    - Make the pool wait (2026-03-09, main, session 5e551009)
      - Asked for “Make the pool wait”.

    ## project-10

    - Make the pool wait (2026-03-09, main, session 5e551010)
      - Asked for “Make the pool wait”.

    ## project-11

    - Make the pool wait (2026-03-09, main, session 5e551011)
      - Asked for “Make the pool wait”.

    ## Other projects

    - project-12: 1 session
    - project-13: 1 session
    ");
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

/// A random conversation on a day of March.
fn random_talk(desk: &Desk, dice: &mut Dice, session: &str) -> Talk {
    const ENDINGS: [&str; 12] = ["rs", "go", "py", "ts", "rb", "java", "kt", "c", "cpp", "cs", "sql", "zig"];
    const CHECKS: [&str; 6] =
        ["cargo test", "go test ./...", "pytest -x", "npm run lint", "cargo clippy", "make check"];
    const WORDS: [&str; 8] =
        ["pool", "queue", "file d’attente", "连接池", "lock", "cache", "parser", "index"];
    let mut talk = desk.talk(session);
    talk.day = u8::try_from(1 + dice.below(9)).expect("a day");
    talk.branch = dice.of(&["main", "topic/a", "topic/ü"]).to_owned();
    let wish = format!(
        "Bound the {} of part {} at {} entries. {}",
        dice.of(&WORDS),
        dice.below(9),
        dice.below(99),
        "Not more. ".repeat(dice.below(60))
    );
    talk = talk.prompt(&wish);
    for _ in 0..dice.below(6) {
        let path = format!("src/{}.{}", dice.of(&["a", "b", "c"]), dice.of(&ENDINGS));
        talk = talk.edit(&path, "a", "b").command(dice.of(&CHECKS), "ok");
    }
    talk.todos(&[(&wish[..wish.floor_char_boundary(20)], "pending")])
}

/// What blocks and digests hold. No block is over its limit.
fn state(desk: &Desk) -> Vec<(String, String)> {
    let blocks = desk.work(|chronicle| {
        let blocks = chronicle.memory().blocks();
        let listed = blocks.list().expect("they can be listed").blocks;
        let show = |label: &str| blocks.show(label, None, None, false).expect("it is there").value;
        listed.into_iter().map(|listed| (show(&listed.label), listed)).collect::<Vec<_>>()
    });
    for (value, listed) in &blocks {
        let n_characters = value.chars().count();
        assert!(n_characters <= listed.limit, "{}: {n_characters} of {}", listed.label, listed.limit);
        assert_eq!(n_characters, listed.characters, "{}", listed.label);
    }
    let digests = testkit::user_data(desk.repo.path()).join("digests");
    let folders = fs::read_dir(digests).into_iter().flatten().flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let mut files: Vec<(String, String)> = files
        .map(|file| {
            let text = fs::read_to_string(file.path()).expect("it is text");
            (file.path().to_string_lossy().into_owned(), text)
        })
        .collect();
    files.sort();
    files.extend(blocks.into_iter().map(|(value, listed)| (listed.label, value)));
    files
}

#[test]
fn blocks_keep_their_limits_whatever_the_history() {
    for seed in 1..=20 {
        let mut dice = Dice(seed);
        let desk = Desk::new();
        for step in 0..3_u8 {
            let sessions =
                (0..=dice.below(8)).map(|n| format!("5e55{seed:02}{step:02}-aaaa-4aaa-8aaa-{n:012}"));
            let sessions: Vec<String> = sessions.collect();
            let talks: Vec<Talk> =
                sessions.iter().map(|session| random_talk(&desk, &mut dice, session)).collect();
            desk.read(&talks);
            if dice.below(2) == 0 {
                let text = format!("My word {step}.\n{}", "Keep it short. ".repeat(dice.below(120)));
                let label = dice.of(&["developer_profile", "active_projects", "work_patterns"]);
                // A text that is too long is refused, which is right as well.
                let _set = desk.work(|chronicle| chronicle.memory().blocks().set(label, &text, None));
            }
            desk.consolidate();
            let before = state(&desk);
            desk.consolidate();
            assert_eq!(state(&desk), before, "seed {seed}, step {step}");
        }
    }
}
