//! The languages: how files of each are recognised, and where its grammar and rules are.

use std::sync::OnceLock;

use tree_sitter_language::LanguageFn;

use crate::rules::Rules;

/// A language that files can be outlined in.
#[derive(Clone, Copy)]
pub struct Language(&'static Row);

/// One line of the table.
pub(crate) struct Row {
    name: &'static str,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
    interpreters: &'static [&'static str],
    grammar: LanguageFn,
    rules_text: &'static str,
    /// Read when the language is first asked for: start-up pays for none of them.
    rules: OnceLock<Rules>,
}

macro_rules! languages {
    ($($name:literal [$($extension:literal)*] [$($file:literal)*] [$($interpreter:literal)*]
        $grammar:expr, $rules:literal;)+) => {
        static TABLE: [Row; 20] = [$(Row {
            name: $name,
            extensions: &[$($extension),*],
            file_names: &[$($file),*],
            interpreters: &[$($interpreter),*],
            grammar: $grammar,
            rules_text: include_str!(concat!("../queries/", $rules)),
            rules: OnceLock::new(),
        }),+];
    };
}

languages! {
    "Bash" ["sh" "bash" "bats" "zsh" "ksh" "ebuild"] [".bashrc" ".bash_profile" ".profile" "PKGBUILD"]
        ["sh" "bash" "dash" "zsh" "ksh" "bats"] tree_sitter_bash::LANGUAGE, "bash.rules";
    "C" ["c"] [] [] tree_sitter_c::LANGUAGE, "c.rules";
    "C++" ["cpp" "cc" "cxx" "c++" "hpp" "hh" "hxx" "h++" "h" "ipp" "inl" "tpp" "cu" "cuh"] [] []
        tree_sitter_cpp::LANGUAGE, "cpp.rules";
    "C#" ["cs" "csx"] [] [] tree_sitter_c_sharp::LANGUAGE, "c_sharp.rules";
    "Go" ["go"] [] [] tree_sitter_go::LANGUAGE, "go.rules";
    "Java" ["java"] [] [] tree_sitter_java::LANGUAGE, "java.rules";
    "JavaScript" ["js" "mjs" "cjs" "jsx"] ["Jakefile"] ["node" "nodejs" "bun"]
        tree_sitter_javascript::LANGUAGE, "javascript.rules";
    "JSON" ["json" "jsonc" "json5" "webmanifest"] [".eslintrc" ".babelrc" ".prettierrc"] []
        tree_sitter_json::LANGUAGE, "json.rules";
    "Kotlin" ["kt" "kts"] [] ["kotlin"] tree_sitter_kotlin_ng::LANGUAGE, "kotlin.rules";
    "Markdown" ["md" "markdown" "mdx" "mkd"] ["README"] [] tree_sitter_md::LANGUAGE, "markdown.rules";
    "PHP" ["php" "phtml" "php5" "php7" "phps"] [] ["php"] tree_sitter_php::LANGUAGE_PHP, "php.rules";
    "Python" ["py" "pyi" "pyw"] ["SConstruct" "SConscript" "wscript"] ["python" "python2" "python3" "pypy3"]
        tree_sitter_python::LANGUAGE, "python.rules";
    "Ruby" ["rb" "rake" "gemspec" "ru" "podspec"] ["Rakefile" "Gemfile" "Guardfile" "Podfile" "Vagrantfile"]
        ["ruby"] tree_sitter_ruby::LANGUAGE, "ruby.rules";
    "Rust" ["rs"] [] ["rust-script"] tree_sitter_rust::LANGUAGE, "rust.rules";
    "Scala" ["scala" "sc" "sbt"] [] ["scala"] tree_sitter_scala::LANGUAGE, "scala.rules";
    "Swift" ["swift"] [] ["swift"] tree_sitter_swift::LANGUAGE, "swift.rules";
    "TOML" ["toml"] ["Cargo.lock" "Pipfile" "poetry.lock" "uv.lock"] []
        tree_sitter_toml_ng::LANGUAGE, "toml.rules";
    "TSX" ["tsx"] [] [] tree_sitter_typescript::LANGUAGE_TSX, "typescript.rules";
    "TypeScript" ["ts" "mts" "cts"] [] ["deno" "ts-node" "tsx"]
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT, "typescript.rules";
    "YAML" ["yaml" "yml"] [".clang-format" ".clang-tidy"] [] tree_sitter_yaml::LANGUAGE, "yaml.rules";
}

impl Language {
    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Every language there is, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    /// Reads the rules, which the first outline does otherwise; how many there are.
    pub fn load(self) -> usize {
        self.rules().len()
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        self.0.grammar.into()
    }

    pub(crate) fn rules(self) -> &'static Rules {
        self.0.rules.get_or_init(|| Rules::read(self.0.rules_text, &self.grammar()))
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Language {}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// The language of a file, by its name, else by the interpreter that its first line names.
///
/// `.h` counts as C++: its grammar reads C as well.
#[must_use]
pub fn language_of(path: &str, first_line: &[u8]) -> Option<Language> {
    let file_name = file_name(path);
    let by_name = || TABLE.iter().find(|row| row.file_names.contains(&file_name));
    let by_extension = || {
        let extension = extension(path)?.to_ascii_lowercase();
        TABLE.iter().find(|row| row.extensions.contains(&extension.as_str()))
    };
    let by_interpreter = || {
        let interpreter = interpreter(first_line)?;
        TABLE.iter().find(|row| row.interpreters.contains(&interpreter))
    };
    by_name().or_else(by_extension).or_else(by_interpreter).map(Language)
}

/// A word for the language of a file that we have no grammar for.
pub(crate) fn guessed_name(path: &str) -> String {
    let extension = extension(path).unwrap_or_else(|| file_name(path)).to_ascii_lowercase();
    let known = GUESSES.iter().find(|(known, _)| *known == extension).map(|(_, name)| (*name).to_owned());
    known.unwrap_or(extension)
}

/// Languages that people will ask for, by extension.
const GUESSES: [(&str, &str); 26] = [
    ("clj", "Clojure"),
    ("css", "CSS"),
    ("dart", "Dart"),
    ("erl", "Erlang"),
    ("ex", "Elixir"),
    ("exs", "Elixir"),
    ("fs", "F#"),
    ("groovy", "Groovy"),
    ("hs", "Haskell"),
    ("html", "HTML"),
    ("jl", "Julia"),
    ("lua", "Lua"),
    ("m", "Objective-C"),
    ("ml", "OCaml"),
    ("nix", "Nix"),
    ("pl", "Perl"),
    ("proto", "Protocol Buffers"),
    ("ps1", "PowerShell"),
    ("r", "R"),
    ("scss", "SCSS"),
    ("sql", "SQL"),
    ("svelte", "Svelte"),
    ("tf", "Terraform"),
    ("vue", "Vue"),
    ("xml", "XML"),
    ("zig", "Zig"),
];

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What follows the last dot, unless the dot begins the name.
fn extension(path: &str) -> Option<&str> {
    file_name(path).rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

/// `python3` of `#!/usr/bin/env -S python3.12 -u`; a version after a dot goes.
fn interpreter(first_line: &[u8]) -> Option<&str> {
    let line = first_line.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line.strip_prefix(b"#!")?).ok()?;
    let mut words = line.split_whitespace().map(file_name);
    let program = words.next()?;
    let is_argument = |word: &&str| word.starts_with('-') || word.contains('=');
    let program = if program == "env" { words.find(|word| !is_argument(word))? } else { program };
    program.split('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_name_then_by_interpreter() {
        let check = |path, first_line: &str, expected| {
            let language = language_of(path, first_line.as_bytes()).map(Language::name);
            assert_eq!(language, expected, "{path} {first_line}");
        };
        check("src/pool.rs", "", Some("Rust"));
        check("SRC/POOL.PY", "", Some("Python"));
        check("pool.h", "", Some("C++"));
        check("a.d.ts", "", Some("TypeScript"));
        check("Rakefile", "", Some("Ruby"));
        check("Cargo.lock", "", Some("TOML"));
        check("bin/run", "#!/usr/bin/env -S python3.12 -u\nimport x", Some("Python"));
        check("bin/run", "#!/bin/sh -e", Some("Bash"));
        check("bin/run", "#!/usr/bin/env X=1 node", Some("JavaScript"));
        check("bin/run", "no", None);
        check(".rs", "", None);
        check("", "#!", None);
        check("bin/run", "#!/usr/bin/env", None);
        check("pool.xyz", "", None);
    }

    #[test]
    fn unknown_languages_have_a_word() {
        assert_eq!(guessed_name("a/pool.hs"), "Haskell");
        assert_eq!(guessed_name("pool.XYZ"), "xyz");
        assert_eq!(guessed_name("a/Makefile"), "makefile");
    }

    /// Whoever changes a rule or a grammar must count `OUTLINE_VERSION` up, and this with it.
    #[test]
    fn the_version_stands_for_rules_and_grammars() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for language in Language::all() {
            let grammar = language.grammar();
            add(language.0.rules_text.as_bytes());
            add(&grammar.parse_state_count().to_le_bytes());
            add(&grammar.node_kind_count().to_le_bytes());
        }
        assert_eq!((crate::OUTLINE_VERSION, hash), (2, 5_673_085_435_050_227_247));
    }
}
