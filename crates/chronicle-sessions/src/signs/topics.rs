//! What a human can have a way of: topics with a few known ways each.

/// A topic, the name it has in answers, and its ways with their spellings.
struct Topic {
    name: &'static str,
    label: &'static str,
    ways: &'static [(&'static str, &'static [&'static str])],
}

/// Topics of which a human may say which way to go.
const TOPICS: [Topic; 11] = [
    Topic {
        name: "js-packages",
        label: "package manager for JavaScript",
        ways: &[("npm", &["npm"]), ("pnpm", &["pnpm"]), ("Yarn", &["yarn"]), ("Bun", &["bun"])],
    },
    Topic {
        name: "js-runtime",
        label: "JavaScript runtime",
        ways: &[("Node.js", &["node", "nodejs", "node.js"]), ("Deno", &["deno"]), ("Bun", &["bun"])],
    },
    Topic {
        name: "js-tests",
        label: "test runner for JavaScript",
        ways: &[("Jest", &["jest"]), ("Vitest", &["vitest"]), ("Mocha", &["mocha"])],
    },
    Topic {
        name: "python-packages",
        label: "package manager for Python",
        ways: &[
            ("pip", &["pip", "pip3"]),
            ("uv", &["uv"]),
            ("Poetry", &["poetry"]),
            ("Conda", &["conda"]),
            ("Pipenv", &["pipenv"]),
        ],
    },
    Topic {
        name: "python-tests",
        label: "test runner for Python",
        ways: &[("pytest", &["pytest"]), ("unittest", &["unittest"]), ("nose", &["nose"])],
    },
    Topic {
        name: "rust-tests",
        label: "test runner for Rust",
        ways: &[("cargo test", &["cargo test"]), ("nextest", &["nextest", "cargo nextest"])],
    },
    Topic {
        name: "python-lints",
        label: "linter for Python",
        ways: &[("Ruff", &["ruff"]), ("Flake8", &["flake8"]), ("Pylint", &["pylint"])],
    },
    Topic {
        name: "js-lints",
        label: "linter for JavaScript",
        ways: &[("ESLint", &["eslint"]), ("Biome", &["biome"])],
    },
    Topic {
        name: "indentation",
        label: "indentation",
        ways: &[("tabs", &["tabs"]), ("spaces", &["spaces"])],
    },
    Topic {
        name: "integration",
        label: "bringing branches together",
        ways: &[
            ("rebase", &["rebase", "rebasing", "rebases"]),
            ("merge", &["merge", "merging", "merges", "merge commits"]),
        ],
    },
    Topic {
        name: "quotes",
        label: "quotes in code",
        ways: &[("single quotes", &["single quotes"]), ("double quotes", &["double quotes"])],
    },
];

/// How topics are called that are only counted.
const COUNTED: [(&str, &str); 8] = [
    ("commits", "commit messages"),
    ("language", "language"),
    ("tests-before-commit", "tests before a commit"),
    ("lint-before-commit", "lints before a commit"),
    ("branches", "where commits go"),
    ("pull-requests", "how work is handed in"),
    ("plans", "plans before changes"),
    ("reviews", "reviews"),
];

/// How a topic is called in answers; none for one of a human's own words.
#[must_use]
pub fn label(name: &str) -> Option<&'static str> {
    let said = TOPICS.iter().map(|topic| (topic.name, topic.label));
    said.chain(COUNTED).find(|(known, _)| *known == name).map(|(_, label)| label)
}

/// The topic and the way that `words` name, both ways of it if `other` is one of the same.
pub(super) fn way(words: &str, other: Option<&str>) -> Option<(&'static str, &'static str)> {
    let named = |topic: &'static Topic, words: &str| {
        let words = words.trim().to_lowercase();
        topic.ways.iter().find(|(_, spellings)| spellings.contains(&words.as_str())).map(|(way, _)| *way)
    };
    let mut found = TOPICS.iter().filter_map(|topic| Some((topic, named(topic, words)?)));
    match other {
        None => found.next().map(|(topic, way)| (topic.name, way)),
        Some(other) => {
            found.find(|(topic, _)| named(topic, other).is_some()).map(|(topic, way)| (topic.name, way))
        }
    }
}

/// The words with which `text` begins that name a known way, and what follows them.
pub(super) fn leading(text: &str) -> Option<(&str, &str)> {
    let end_of_word =
        |n: usize| text.match_indices([' ', ',', '.', ';', '!']).nth(n).map_or(text.len(), |(at, _)| at);
    [end_of_word(1), end_of_word(0)].into_iter().find_map(|end| {
        let head = text[..end].trim_end_matches(['.', ',', ';', '!']);
        way(head, None).map(|_| (head, &text[end..]))
    })
}
