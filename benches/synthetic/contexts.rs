//! Where secrets stand.

use super::random::Random;

/// A place for a value.
pub(crate) struct Context {
    pub(crate) kind: &'static str,
    /// Whether it says what the value is called.
    pub(crate) names: bool,
    /// Writes the value of a variable.
    pub(crate) write: fn(&str, &str, &mut Random) -> String,
}

const fn context(kind: &'static str, write: fn(&str, &str, &mut Random) -> String) -> Context {
    Context { kind, names: true, write }
}

pub(crate) const CONTEXTS: &[Context] = &[
    context("env file", |name, value, random| {
        format!("# production\nPORT={}\n{name}={value}\nDEBUG=false\n", random.below(9000))
    }),
    context("env file, quoted", |name, value, _| format!("export {name}=\"{value}\"\nexport EDITOR=vim\n")),
    context("JSON", |name, value, random| {
        format!(
            "{{\n  \"retries\": {},\n  \"{}\": \"{value}\",\n  \"debug\": true\n}}\n",
            random.below(9),
            camel(name)
        )
    }),
    context("JSON in a string", |name, value, _| {
        format!(r#"{{"stdout":"{{\"{}\":\"{value}\",\"n\":1}}\n"}}"#, camel(name))
    }),
    context("YAML", |name, value, _| {
        format!("service:\n  port: 8080\n  {}: {value}\n  debug: no\n", snake(name))
    }),
    context("TOML", |name, value, _| format!("[service]\n{} = \"{value}\"\nport = 8080\n", snake(name))),
    context("shell, variable", |name, value, _| format!("$ {name}='{value}' ./deploy.sh --region eu-west-1")),
    context("shell, option", |name, value, _| {
        format!("$ deploy --region eu-west-1 --{} {value} --dry-run", kebab(name))
    }),
    context("URL", |name, value, _| {
        format!("GET https://api.example.com/v1/items?page=2&{}={}&limit=50", snake(name), percent(value))
    }),
    context("code", |name, value, random| {
        format!(
            "    let port = {};\n    let {} = \"{value}\";\n    connect(port)\n",
            random.below(9000),
            snake(name)
        )
    }),
    context("code, call", |name, value, _| {
        format!("client.set_header(\"X-{}\", \"{value}\");\n", train(name))
    }),
    context("prose, colon", |name, value, _| {
        format!("Please use this from now on. {}: {value}\nThanks!", words(name))
    }),
    context("prose, is", |name, value, _| {
        format!("The {} is {value}, please rotate it after the demo.", words(name))
    }),
    context("diff", |name, value, _| {
        format!("@@ -1,3 +1,3 @@\n services:\n-    {name}: changeme\n+    {name}: {value}\n     PORT: 80\n")
    }),
    context("log", |name, value, random| {
        format!(
            "2026-03-01T12:00:{:02}Z INFO worker connecting {}={value} attempt=1",
            random.below(60),
            snake(name)
        )
    }),
    context("header", |name, value, _| {
        format!("> GET /v1/items HTTP/1.1\n> Host: example.com\n> X-{}: {value}\n>\n", train(name))
    }),
    context("authorization", |_, value, _| {
        format!("curl -s -H 'Authorization: Bearer {value}' https://example.com/v1")
    }),
    context("numbered lines", |name, value, random| {
        let n = random.below(90);
        format!("    {n}\u{2192}PORT=80\n    {}\u{2192}{name}={value}\n", n + 1)
    }),
    context("Dockerfile", |name, value, _| format!("FROM debian:13\nENV {name} {value}\nRUN make\n")),
    context("XML", |name, value, _| format!("<settings>\n  <{0}>{value}</{0}>\n</settings>\n", camel(name))),
    Context {
        kind: "alone in a line",
        names: false,
        write: |_, value, _| format!("done, it printed\n\n{value}\n\nand ended"),
    },
    Context {
        kind: "in brackets",
        names: false,
        write: |_, value, _| format!("I found something (`{value}`) in the history"),
    },
];

/// A text of several lines, and where it stands.
pub(crate) type MultiLine = (&'static str, fn(&str, &mut Random) -> String);

pub(crate) const MULTI_LINE: &[MultiLine] = &[
    ("file", |key, _| format!("$ cat key.pem\n{key}$ ")),
    ("JSON", |key, _| format!("{{\"type\":\"account\",\"body\":\"{}\"}}", key.replace('\n', "\\n"))),
    ("JSON in a string", |key, _| format!("{{\\\"body\\\":\\\"{}\\\"}}", key.replace('\n', "\\\\n"))),
    ("YAML", |key, _| {
        format!("tls:\n  body: |\n    {}\n  port: 1\n", key.trim_end().replace('\n', "\n    "))
    }),
    ("env file", |key, _| format!("TLS_BODY=\"{}\"\nPORT=1\n", key.replace('\n', "\\n"))),
    ("diff, added", |key, _| format!("@@ -0,0 +1 @@\n+{}\n", key.trim_end().replace('\n', "\n+"))),
    ("diff, removed", |key, _| format!("@@ -1 +0,0 @@\n-{}\n", key.trim_end().replace('\n', "\n-"))),
    ("code", |key, _| format!("BODY = (\n    \"{}\"\n)\n", key.trim_end().replace('\n', "\\n\"\n    \""))),
    ("numbered lines", |key, _| {
        let lines = key.lines().enumerate().map(|(at, line)| format!("{:6}\u{2192}{line}\n", at + 1));
        lines.collect()
    }),
    ("search", |key, _| key.lines().map(|line| format!("deploy/key.pem:{line}\n")).collect()),
    ("CRLF", |key, _| key.replace('\n', "\r\n")),
    ("one line", |key, _| format!("got {} from the vault", key.trim_end().replace('\n', " "))),
    ("cut off", |key, _| key[..key.len() * 2 / 3].to_owned()),
];

fn snake(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn kebab(name: &str) -> String {
    snake(name).replace('_', "-")
}

fn words(name: &str) -> String {
    snake(name).replace('_', " ")
}

fn train(name: &str) -> String {
    parts(name).join("-")
}

fn camel(name: &str) -> String {
    let mut parts = parts(name);
    parts[0] = parts[0].to_ascii_lowercase();
    parts.concat()
}

/// The words of a name, each with a capital.
fn parts(name: &str) -> Vec<String> {
    name.split('_').map(|word| format!("{}{}", &word[..1], word[1..].to_ascii_lowercase())).collect()
}

/// `value` as a query may hold it.
fn percent(value: &str) -> String {
    let escape = |letter: char| match letter {
        '+' | '/' | '=' | '#' | '%' | '&' | '?' | ':' | '@' | ';' => format!("%{:02X}", u32::from(letter)),
        _ => letter.to_string(),
    };
    value.chars().map(escape).collect()
}

/// `text` with what a query escapes as it was before.
pub(crate) fn without_percents(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    while let [first, rest @ ..] = bytes {
        let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped =
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%');
        plain.push(escaped.unwrap_or(*first));
        bytes = if escaped.is_some() { &rest[2..] } else { rest };
    }
    plain
}
