//! The libraries that a text names: by its imports, or as the manifest that it is.
//!
//! A text may be a piece of a file only, so lines are judged one by one.

/// The names of files that say what a project is built with.
pub const MANIFESTS: [&str; 6] =
    ["package.json", "Cargo.toml", "go.mod", "pyproject.toml", "requirements.txt", "Gemfile"];

/// How many bytes of a text are looked at.
const LONGEST: usize = 64 << 10;

/// The longest name of a library.
const LONGEST_NAME: usize = 80;

/// The libraries that `text`, of a file at `path`, names; each once.
#[must_use]
pub fn libraries(path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let found: fn(&str) -> Option<&str> = match (name, ending) {
        ("package.json", _) => in_package_json,
        ("Cargo.toml", _) => in_cargo_toml,
        ("go.mod", _) => in_go_mod,
        ("pyproject.toml" | "requirements.txt", _) => in_requirements,
        ("Gemfile", _) => in_gemfile,
        (_, "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "vue" | "svelte") => in_javascript,
        (_, "py") => in_python,
        (_, "rs") => in_rust,
        (_, "go") => in_go,
        (_, "rb") => in_ruby,
        _ => return Vec::new(),
    };
    let mut all: Vec<String> = Vec::new();
    for line in text[..text.floor_char_boundary(LONGEST)].lines() {
        if let Some(library) = found(line.trim()).filter(|name| is_name(name))
            && !(ending == "go" && lies_there(path, line))
            && !all.iter().any(|known| known == library)
        {
            all.push(library.to_owned());
        }
    }
    all
}

/// Names only: what else stands there is no library, and is not kept.
fn is_name(name: &str) -> bool {
    (2..=LONGEST_NAME).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "@/_.-".contains(c))
}

/// The text in the first pair of quotes.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\''])?;
    let mark = &text[start..=start];
    let rest = &text[start + 1..];
    Some(&rest[..rest.find(mark)?])
}

fn in_package_json(line: &str) -> Option<&str> {
    let (key, value) = line.strip_prefix('"')?.split_once("\":")?;
    let value = quoted(value)?;
    let is_version = value.starts_with(|c: char| c.is_ascii_digit() || "^~<>=*".contains(c))
        || ["workspace:", "latest", "catalog:"].iter().any(|start| value.starts_with(start));
    (is_version && key != "version" && key != "node" && key != "npm").then_some(key)
}

fn in_cargo_toml(line: &str) -> Option<&str> {
    const KEYS: [&str; 12] = [
        "version",
        "edition",
        "rust-version",
        "name",
        "resolver",
        "description",
        "license",
        "path",
        "opt-level",
        "lto",
        "default",
        "codegen-units",
    ];
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let key = key.strip_suffix(".workspace").unwrap_or(key);
    let is_dependency = value.starts_with('"')
        && quoted(value)?.starts_with(|c: char| c.is_ascii_digit() || "^~<>=*".contains(c))
        || value.starts_with('{')
            && ["version", "path", "git", "workspace"].iter().any(|word| value.contains(word))
        || value == "true" && line.contains(".workspace");
    (is_dependency && !KEYS.contains(&key)).then_some(key)
}

fn in_go_mod(line: &str) -> Option<&str> {
    let line = line.strip_prefix("require ").unwrap_or(line);
    let (path, version) = line.split_once(' ')?;
    let is_direct = !line.ends_with("// indirect");
    (version.starts_with('v') && path.contains('.') && is_direct).then_some(path)
}

fn in_requirements(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(['"', '\'']);
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)))?;
    let rest = line[end..].trim_start();
    let rest = if rest.starts_with('[') { rest.split_once(']')?.1 } else { rest };
    ["==", ">=", "~=", "<=", "!="].iter().any(|mark| rest.starts_with(mark)).then(|| &line[..end])
}

fn in_gemfile(line: &str) -> Option<&str> {
    quoted(line.strip_prefix("gem ")?)
}

fn in_javascript(line: &str) -> Option<&str> {
    let after = |mark: &str| line.find(mark).map(|at| &line[at + mark.len()..]);
    let is_import = line.starts_with("import ") || line.starts_with("export ") || line.starts_with('}');
    let from = if is_import {
        after(" from ").or_else(|| line.strip_prefix("import ").filter(|rest| rest.starts_with(['"', '\''])))
    } else {
        after("require(")
    };
    let module = quoted(from?)?;
    if module.starts_with('.')
        || module.starts_with('/')
        || module.starts_with("@/")
        || module.starts_with("~")
    {
        return None;
    }
    let module = module.strip_prefix("node:").map_or(Some(module), |_| None)?;
    let n_parts = if module.starts_with('@') { 2 } else { 1 };
    let end = module.match_indices('/').nth(n_parts - 1).map_or(module.len(), |(at, _)| at);
    let module = &module[..end];
    (![
        "fs",
        "path",
        "os",
        "url",
        "util",
        "http",
        "https",
        "crypto",
        "child_process",
        "events",
        "stream",
        "assert",
        "process",
    ]
    .contains(&module))
    .then_some(module)
}

fn in_python(line: &str) -> Option<&str> {
    const STANDARD: [&str; 44] = [
        "os",
        "sys",
        "re",
        "json",
        "typing",
        "pathlib",
        "time",
        "datetime",
        "collections",
        "itertools",
        "functools",
        "math",
        "random",
        "subprocess",
        "logging",
        "argparse",
        "unittest",
        "dataclasses",
        "enum",
        "abc",
        "io",
        "shutil",
        "tempfile",
        "threading",
        "asyncio",
        "hashlib",
        "uuid",
        "copy",
        "contextlib",
        "string",
        "textwrap",
        "csv",
        "sqlite3",
        "socket",
        "signal",
        "traceback",
        "warnings",
        "inspect",
        "importlib",
        "urllib",
        "http",
        "glob",
        "gzip",
        "__future__",
    ];
    let rest = line
        .strip_prefix("import ")
        .or_else(|| line.strip_prefix("from ").filter(|rest| rest.contains(" import ")))?;
    let module = rest.split([' ', '.', ',']).next()?;
    (!module.is_empty() && !STANDARD.contains(&module)).then_some(module)
}

fn in_rust(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ").unwrap_or(line).strip_prefix("use ")?;
    let end = rest.find("::")?;
    let name = &rest[..end];
    let is_own = ["std", "core", "alloc", "crate", "self", "super"].contains(&name)
        || name.starts_with(char::is_uppercase);
    (!is_own).then_some(name)
}

fn in_go(line: &str) -> Option<&str> {
    let quoted = line.strip_suffix('"')?;
    let path = &quoted[quoted.rfind('"')? + 1..];
    let before = line[..line.len() - path.len() - 2].trim();
    let is_import = before.is_empty()
        || before.starts_with("import")
        || before.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    let mut parts = path.match_indices('/');
    let host = path.split('/').next()?;
    if !is_import || !host.contains('.') || !path.contains('/') {
        return None;
    }
    let end = parts.nth(2).map_or(path.len(), |(at, _)| at);
    Some(&path[..end])
}

/// Whether an import of Go names a folder of the very repository that the file at `path` lies in: two of its folders
/// follow each other in both.
fn lies_there(path: &str, line: &str) -> bool {
    let import = line.trim().trim_end_matches('"').rsplit('"').next().unwrap_or_default();
    let import: Vec<&str> = import.split('/').skip(1).collect();
    let folders: Vec<&str> = path.split(['/', '\\']).collect();
    let folders = &folders[..folders.len().saturating_sub(1)];
    import.windows(2).any(|two| folders.windows(2).any(|those| those == two))
}

fn in_ruby(line: &str) -> Option<&str> {
    let name = quoted(line.strip_prefix("require ")?)?;
    name.split('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        assert_eq!(libraries(path, text), expected, "{path}");
    }

    #[test]
    fn manifests_name_what_they_depend_on() {
        check(
            "web/package.json",
            "\"version\": \"1.0.0\",\n\"test\": \"vitest run\",\n\"hono\": \"^4.1\",\n\"@hono/zod-validator\": \"~0.2\"",
            &["hono", "@hono/zod-validator"],
        );
        check(
            "Cargo.toml",
            "[package]\nversion = \"0.1\"\n[dependencies]\ntokio = { version = \"1\" }\nserde.workspace = true\naxum = \"0.7\"\nlto = \"fat\"",
            &["tokio", "serde", "axum"],
        );
        check(
            "go.mod",
            "go 1.22\nrequire (\n\tgithub.com/labstack/echo/v4 v4.1.0\n\tgolang.org/x/sys v0.1.0 // indirect\n)",
            &["github.com/labstack/echo/v4"],
        );
        check("requirements.txt", "flask==2.0\nuvicorn[standard]>=0.2\n# a comment", &["flask", "uvicorn"]);
        check("pyproject.toml", "dependencies = [\n  \"httpx>=0.27\",\n]", &["httpx"]);
    }

    #[test]
    fn code_names_what_it_imports() {
        check(
            "a.ts",
            "import { Hono } from 'hono'\nimport x from './x'\nimport fs from 'node:fs'\nconst a = require(\"@scope/pkg/deep\")\nsay('from elsewhere')",
            &["hono", "@scope/pkg"],
        );
        check(
            "a.py",
            "import os, sys\nfrom flask import Flask\nimport numpy as np\nfrom . import x",
            &["flask", "numpy"],
        );
        check("a.rs", "use std::io;\nuse tokio::sync::Mutex;\npub use crate::pool;", &["tokio"]);
        check(
            "a.go",
            "import (\n\t\"fmt\"\n\techo \"github.com/labstack/echo/v4\"\n\t_ \"modernc.org/sqlite\"\n)\nx := \"a.b/c\"",
            &["github.com/labstack/echo", "modernc.org/sqlite"],
        );
        check("a.md", "import x from 'y'", &[]);
    }

    #[test]
    fn what_lies_in_the_same_repository_is_no_library() {
        let text = "import (\n\t\"github.com/acme/shop/cmd/shop/store\"\n\t\"github.com/spf13/cobra\"\n)";
        check("/home/dev/3/cmd/shop/main.go", text, &["github.com/spf13/cobra"]);
        check("main.go", text, &["github.com/acme/shop", "github.com/spf13/cobra"]);
    }
}
