//! The index against the turns themselves: whatever is stored, changed and forgotten, an answer is the one that
//! looking at every turn gives.

use chronicle_search::{
    NamedSession, Project, Question, Scope, SessionId, SessionRecord, Store, StoredTurn, TurnKind,
    TurnRecord, Unembedded, Vector, Written, search,
};
use rust_stemmers::{Algorithm, Stemmer};

/// Words of rising rarity.
const WORDS: [&str; 24] = [
    "pool",
    "failure",
    "error",
    "wait",
    "connection",
    "build",
    "file",
    "commit",
    "mistake",
    "service",
    "index",
    "token",
    "branch",
    "merge",
    "cache",
    "timeout",
    "unicode",
    "parser",
    "lock",
    "journal",
    "migration",
    "socket",
    "digest",
    "server",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).expect("it is below a small number")
    }

    fn text(&mut self) -> String {
        let n_words = 1 + self.below(12);
        let word = |dice: &mut Self| {
            let ends = [dice.index(24), dice.index(24), dice.index(24)];
            WORDS[ends.into_iter().min().unwrap_or_default()]
        };
        let text = (0..n_words).map(|_| word(self)).collect::<Vec<_>>().join(" ");
        if self.below(3) == 0 { format!("{text}?") } else { text }
    }
}

struct Memory {
    folder: tempfile::TempDir,
    store: Store,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::create(&folder.path().join("memory.db")).expect("a store");
        Self { folder, store }
    }

    /// Stores turns, given by their positions and texts, in one transaction.
    fn put(&mut self, project: &str, session: &str, turns: &[(i64, String)]) {
        self.store
            .write(|tx| {
                let project = Project::obtain(tx, project, project, "")?.id;
                let id = record(project, session).put(tx)?;
                let mut written = Written::default();
                for (position, text) in turns {
                    turn(id, *position, text).put(tx, id, &mut written)?;
                }
                Ok(())
            })
            .expect("it is stored");
    }

    fn forget(&mut self, session: &str) {
        self.store
            .write(|tx| match NamedSession::by_name(tx, "generic", session)? {
                Some(session) => session.forget(tx).map(drop),
                None => Ok(()),
            })
            .expect("it is forgotten");
    }

    fn project(&self, key: &str) -> Project {
        self.store
            .read(|connection| Project::by_key(connection, key))
            .expect("it can be read")
            .expect("known")
    }

    fn find(&self, question: &str, project: Option<&str>, limit: usize) -> Vec<(String, f64)> {
        let scope = Scope { project: project.map(|key| self.project(key).id), ..Scope::default() };
        let found = self
            .store
            .read(|connection| search(connection, &Question::new(question), &scope, limit))
            .expect("an answer");
        found.into_iter().map(|hit| (hit.turn.text, hit.score)).collect()
    }

    /// The scores of the best turns, found by looking at each.
    fn by_looking(&self, question: &str, project: Option<&str>, limit: usize) -> Vec<f64> {
        let project = project.map(|key| self.project(key).id);
        let sessions: Vec<Vec<Said>> = self
            .store
            .read(|connection| {
                let sessions = NamedSession::latest(connection, project, None, usize::MAX)?;
                let turns = |session: NamedSession| StoredTurn::of_session(connection, session.id);
                sessions.into_iter().map(|of| Ok(turns(of)?.iter().map(Said::of).collect())).collect()
            })
            .expect("it can be read");
        scores(question, &sessions, limit)
    }
}

fn record(project: chronicle_search::ProjectId, name: &str) -> SessionRecord {
    SessionRecord {
        agent: "generic".to_owned(),
        name: name.to_owned(),
        parent: None,
        is_sub_agent: false,
        project,
        folder: "/work".to_owned(),
        branch: None,
        model: None,
        first: None,
        last: None,
        title: String::new(),
        importance: 1,
        n_prompts: 1,
        digest: String::new(),
    }
}

fn turn(session: SessionId, position: i64, text: &str) -> TurnRecord<'_> {
    let (kind, speaker) = said_by(text);
    TurnRecord {
        key: session.0 * 1_000_000 + position,
        position,
        line: 1,
        name: "",
        kind,
        at: None,
        sub_agent: None,
        speaker,
        is_ok: None,
        text,
        answer: None,
    }
}

/// Who says a text here: that follows from how many words it has.
fn said_by(text: &str) -> (TurnKind, Option<&'static str>) {
    match text.split(' ').count() % 5 {
        0 => (TurnKind::Said, Some("Ada")),
        1 | 2 => (TurnKind::Prompt, None),
        3 => (TurnKind::Said, Some("assistant")),
        _ => (TurnKind::Tool, None),
    }
}

/// A turn, as the recipe sees it.
struct Said {
    stems: Vec<String>,
    asks: bool,
    voice: Voice,
}

/// Who speaks, with what the words count, what is lent of them, and how much length counts against it.
#[derive(Clone, Copy, PartialEq)]
enum Voice {
    Human,
    Agent,
    Person,
    Tool,
}

impl Said {
    fn of(turn: &StoredTurn) -> Self {
        let spoken = turn.text.trim_end_matches('?').split(' ').map(stem_of);
        let voice = match (turn.kind, turn.speaker.as_deref()) {
            (TurnKind::Prompt, _) => Voice::Human,
            (TurnKind::Said, Some("Ada")) => Voice::Person,
            (TurnKind::Said, _) => Voice::Agent,
            _ => Voice::Tool,
        };
        let is_speech = voice != Voice::Tool;
        let stems = turn.speaker.iter().map(|speaker| stem_of(speaker)).chain(spoken).collect();
        Self { stems, asks: is_speech && turn.text.ends_with('?'), voice }
    }

    fn count(&self, stem: &str) -> f64 {
        self.stems.iter().filter(|known| *known == stem).count() as f64
    }

    fn answers(&self) -> bool {
        matches!(self.voice, Voice::Human | Voice::Person)
    }
}

impl Voice {
    /// What its words count, what is lent of them, and how much length counts against it.
    fn worth(self) -> [f64; 3] {
        match self {
            Self::Human => [1.0, 0.25, 0.4],
            Self::Agent => [1.0, 0.5, 0.2],
            Self::Person => [1.0, 1.0, 0.25],
            Self::Tool => [0.3, 0.0, 0.2],
        }
    }
}

fn stem_of(word: &str) -> String {
    Stemmer::create(Algorithm::English).stem(&word.to_lowercase()).into_owned()
}

/// How many times more the words of a human count in a session than an agent's, for their brevity.
fn brevity(turns: &[Said]) -> f64 {
    let usual = |voice: Voice| {
        let lengths: Vec<f64> =
            turns.iter().filter(|turn| turn.voice == voice).map(|turn| turn.stems.len() as f64).collect();
        (!lengths.is_empty()).then(|| (lengths.iter().sum::<f64>() / lengths.len() as f64).max(1.0))
    };
    match (usual(Voice::Human), usual(Voice::Agent)) {
        (Some(human), Some(agent)) => (agent / human).powf(0.1).clamp(1.0 / 1.6, 1.6),
        _ => 1.0,
    }
}

/// The recipe of `docs/search.md`, the plain way.
fn scores(question: &str, sessions: &[Vec<Said>], limit: usize) -> Vec<f64> {
    let rarity = |all: f64, having: f64| f64::ln(1.0 + (all - having + 0.5) / (having + 0.5));
    let n_turns = sessions.iter().map(Vec::len).sum::<usize>() as f64;
    let n_sessions = sessions.len() as f64;
    let n_words = sessions.iter().flatten().map(|turn| turn.stems.len()).sum::<usize>() as f64;
    let weight = |stem: &str| {
        rarity(n_turns, sessions.iter().flatten().filter(|turn| 0.0 < turn.count(stem)).count() as f64)
    };
    let is_first_person = question.split(' ').any(|word| word == "my");
    let mut near: Vec<Vec<f64>> = sessions.iter().map(|turns| vec![0.0; turns.len()]).collect();
    let mut covered = near.clone();
    let mut per_session = vec![0.0; sessions.len()];
    let mut all_weights = 0.0;
    for word in question.split(' ').filter(|word| *word != "my") {
        let stem = stem_of(word);
        let rarity_of_word = weight(&stem);
        let own_weight = if word == "mention" { 0.15 } else { 1.0 } * rarity_of_word;
        all_weights += own_weight;
        let mut likes = vec![(stem.clone(), 1.0)];
        for other in chronicle_embedding::near(&stem).filter(|other| 0.4 <= other.cosine) {
            let by_cosine = (1.3 * (f64::from(other.cosine) - 0.3) / 0.7).clamp(0.0, 1.0);
            likes.push((other.stem.to_owned(), by_cosine * (weight(other.stem) / rarity_of_word).min(1.0)));
        }
        let in_session = |turns: &[Said]| turns.iter().map(|turn| turn.count(&stem)).sum::<f64>();
        let sessions_having = sessions.iter().filter(|turns| 0.0 < in_session(turns)).count() as f64;
        for (number, turns) in sessions.iter().enumerate() {
            let brevity = brevity(turns);
            let share = |turn: &Said, stem: &str| {
                let (times, length) = (turn.count(stem), turn.stems.len() as f64);
                let [_, _, by_length] = turn.voice.worth();
                let longer = 0.2 * (length / 30.0 - 1.0).max(0.0);
                times * 2.0 / (times + 1.0 - by_length + by_length * length / (n_words / n_turns) + longer)
            };
            let own =
                |turn: &Said| likes.iter().map(|(stem, like)| like * share(turn, stem)).fold(0.0, f64::max);
            let own: Vec<f64> = turns.iter().map(own).collect();
            let lent = |turn: Option<usize>| {
                let turn = turn.filter(|turn| *turn < turns.len());
                turn.map_or(0.0, |turn| turns[turn].voice.worth()[1] * own[turn])
            };
            for (turn, said) in turns.iter().enumerate() {
                let for_voice = match said.voice {
                    Voice::Human => brevity * if is_first_person { 1.4 } else { 1.0 },
                    Voice::Agent => 1.0 / brevity,
                    _ => 1.0,
                };
                let before = turn.checked_sub(1);
                let shares = [
                    said.voice.worth()[0] * for_voice * own[turn],
                    0.4 * lent(before),
                    0.4 * lent(turn.checked_sub(2)),
                    0.5 * lent(Some(turn + 1)),
                ];
                let asked = before.filter(|before| turns[*before].asks && said.answers());
                let answers = 0.4 * asked.map_or(0.0, |before| own[before]);
                let blended =
                    0.25 * shares.iter().sum::<f64>() + 0.75 * shares.into_iter().fold(0.0, f64::max);
                near[number][turn] += own_weight * (blended + answers);
                covered[number][turn] += if 0.0 < own[turn] { own_weight } else { 0.0 };
            }
            let length = turns.iter().map(|turn| turn.stems.len()).sum::<usize>() as f64;
            let length = length / (n_words / n_sessions);
            let times = in_session(turns);
            per_session[number] += rarity(n_sessions, sessions_having) * times * 2.2
                / (times + 1.2 * (1.0 - 0.4 + 0.4 * length));
        }
    }
    let mut all = Vec::new();
    for (number, turns) in sessions.iter().enumerate() {
        for (turn, said) in turns.iter().enumerate().filter(|(turn, _)| 0.0 < near[number][*turn]) {
            let is_answered = turns.get(turn + 1).is_some_and(Said::answers) || said.voice == Voice::Agent;
            let asking = if said.asks && is_answered { 0.03 * all_weights } else { 0.0 };
            let coverage = 0.1 * covered[number][turn].powi(2) / all_weights;
            all.push(near[number][turn] + 0.8 * per_session[number] + coverage - asking);
        }
    }
    all.sort_by(|left, right| right.total_cmp(left));
    all.truncate(limit);
    all
}

fn is_near(ours: &[(String, f64)], theirs: &[f64]) -> bool {
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|((_, ours), theirs)| (ours - theirs).abs() < 1e-3 * theirs.max(1.0))
}

#[test]
fn an_answer_is_the_one_that_looking_at_every_turn_gives() {
    let mut memory = Memory::new();
    let mut dice = Dice(7);
    let projects = ["one", "two", "three"];
    let mut ends = [0_i64; 90];
    for round in 0..600_u64 {
        let session = dice.index(90);
        let name = format!("s{session}");
        let project = projects[session % 3];
        match dice.below(12) {
            0 => {
                memory.forget(&name);
                // What was forgotten may come back under another name only.
                ends[session] = 0;
            }
            1 => {
                // A turn that is there becomes another, or one comes in between.
                let position = 1 + i64::try_from(dice.below(50)).expect("small");
                memory.put(project, &name, &[(position, dice.text())]);
                ends[session] = ends[session].max(position);
            }
            _ => {
                let turns: Vec<_> = (1..=3 + i64::try_from(dice.below(4)).expect("small"))
                    .map(|n| (ends[session] + n * 7, dice.text()))
                    .collect();
                ends[session] = turns.last().map_or(0, |(position, _)| *position);
                memory.put(project, &name, &turns);
            }
        }
        if round % 20 == 19 {
            let first = dice.index(23);
            let about = ["", "my ", "mention "][dice.index(3)];
            let question = format!("{about}{} {}", WORDS[first], WORDS[first + 1 + dice.index(23 - first)]);
            for project in [None, Some("one"), Some("two")] {
                for limit in [3, 50] {
                    let (ours, theirs) = (
                        memory.find(&question, project, limit),
                        memory.by_looking(&question, project, limit),
                    );
                    assert!(
                        is_near(&ours, &theirs),
                        "round {round}, {question}, {project:?}: {ours:?} {theirs:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn nothing_is_left_of_what_was_forgotten() {
    let mut memory = Memory::new();
    let mut dice = Dice(11);
    for session in 0..60 {
        let turns: Vec<_> = (1..20).map(|position| (position, dice.text())).collect();
        memory.put("one", &format!("s{session}"), &turns);
    }
    let project = memory.project("one").id;
    let rows = |memory: &Memory, table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        memory.store.read(|connection| connection.query_row(&sql, [], |row| row.get(0))).expect("a number")
    };
    memory
        .store
        .write(|tx| {
            for turn in Unembedded::latest(tx, (project, "model"), None, 10_000)? {
                Vector::of(&[1.0, 2.0]).expect("it has a direction").put(tx, "model", &turn)?;
            }
            Ok(())
        })
        .expect("it is stored");
    assert!(0 < rows(&memory, "posting"));
    // Calls of tools have none.
    assert_eq!(rows(&memory, "vector"), rows(&memory, "turn WHERE kind <> 5"));
    for session in 0..60 {
        memory.forget(&format!("s{session}"));
    }
    for table in ["turn", "segment", "posting", "indexed", "unindexed", "vector"] {
        assert_eq!(rows(&memory, table), 0, "{table}");
    }
}

#[test]
fn a_question_may_be_anything() {
    let mut memory = Memory::new();
    memory.put("one", "s", &[(1, "the pool must wait".to_owned())]);
    for question in ["", "the of", "\" OR *", "\0", "NEAR(a b", "col:x", &"x".repeat(200)] {
        assert_eq!(memory.find(question, None, 10), []);
    }
    let long = "pool waits ".repeat(10_000);
    assert_eq!(memory.find(&long, None, 10).len(), 1);
    assert_eq!(memory.find("(pool* OR \"waiting\")", None, 10).len(), 1);
}

#[test]
fn a_store_from_before_learns_who_speaks_and_which_turns_ask() {
    let mut memory = Memory::new();
    let turns = ["pool wait?", "lock", "pool", "pool lock wait file error"].map(str::to_owned);
    memory.put("one", "s", &(1..).zip(turns).collect::<Vec<_>>());
    let indexed = |memory: &Memory| -> String {
        let sql = "SELECT hex(turns) FROM indexed";
        memory.store.read(|connection| connection.query_row(sql, [], |row| row.get(0))).expect("indexed")
    };
    assert_eq!(indexed(&memory), "8102010101014206");
    let found = memory.find("pool wait", None, 10);
    memory
        .store
        .write(|tx| {
            tx.execute_batch(
                "DROP TABLE root; DROP TABLE checkpoint; DROP INDEX session_by_first; DROP INDEX project_by_name; DROP TABLE synced; DROP TABLE sync_known; DROP TABLE sync_gone; DROP TABLE handoff; DROP TABLE vector; DROP TABLE embedder; DROP TABLE forgotten_turn; DROP INDEX session_by_title; PRAGMA user_version = 5; \
                 UPDATE indexed SET turns = x'0102010101010206'",
            )
        })
        .expect("it is as it was before");
    assert_ne!(memory.find("pool wait", None, 10), found);
    memory.store = Store::create(&memory.folder.path().join("memory.db")).expect("a store");
    assert_eq!(indexed(&memory), "8102010101014206");
    assert_eq!(memory.find("pool wait", None, 10), found);
}

#[test]
fn projects_of_one_name_are_told_apart_when_they_are_made_and_in_stores_from_before() {
    let mut memory = Memory::new();
    let names = |memory: &Memory| -> Vec<String> {
        let all = memory.store.read(Project::all).expect("projects");
        all.into_iter().map(|project| project.name).collect()
    };
    memory
        .store
        .write(|tx| {
            for (key, apart) in
                [("id:1", "one"), ("id:2", "two"), ("id:3", "two"), ("id:4", ""), ("id:1", "five")]
            {
                Project::obtain(tx, key, "api", apart)?;
            }
            Ok(())
        })
        .expect("they are made");
    assert_eq!(names(&memory), ["api", "api@2", "api@3", "api@two"]);
    memory
        .store
        .write(|tx| {
            tx.execute_batch(
                "DROP TABLE root; DROP INDEX project_by_name; UPDATE project SET name = 'api'; PRAGMA user_version = 14",
            )
        })
        .expect("it is as it was before");
    memory.store = Store::create(&memory.folder.path().join("memory.db")).expect("a store");
    assert_eq!(names(&memory), ["api", "api@2", "api@3", "api@4"]);
}
