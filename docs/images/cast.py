#!/usr/bin/env python3
"""Draws cast.svg, the picture of the README: what the real program answers, in three scenes.

    docs/images/cast.py BINARY > docs/images/cast.svg

Everything shown but the titles of the scenes is printed by BINARY, in a repository that is made for it.
"""

import html
import json
import os
import re
import subprocess
import sys
import tempfile

COLUMNS = 92
SECONDS = 6
LETTER, LINE, MARGIN = 8.4, 19, 18

POOL = """\
/// Connections to the server.
pub struct Pool {
    idle: Vec<Connection>,
}

impl Pool {
    /// A connection that works.
    pub fn take(&mut self) -> Connection {
        while let Some(one) = self.idle.pop() {
            if one.is_alive() {
                return one;
            }
        }
        Connection::open()
    }
}
"""
RETRY = POOL.replace("Connection::open()", "Connection::open_within(LIMIT)")
PROMPT = "Let take() give up when the server is slow"


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as home:
        desk = Desk(binary, home)
        scenes = [desk.told(), desk.written(), desk.asked()]
    print(picture(scenes))


class Desk:
    """A repository with one lesson, an agent's session, and a clock."""

    def __init__(self, binary, home):
        self.binary, self.home = binary, home
        self.repo = os.path.join(home, "pool")
        self.now = "2026-03-09T10:00:00Z"
        os.makedirs(os.path.join(self.repo, "src"))
        self.git("init", "--quiet", "--initial-branch=main")
        self.change("src/pool.rs", POOL, "pool: check a connection when it is taken")
        self.run(
            "annotate", "-m", "Check a connection when it is taken: it dies while it waits",
            "--gotcha", "src/pool.rs:10 is_alive() only looks at our end; the server may have hung up",
            "--dead-end", "src/pool.rs: A thread that pings idle connections kept laptops awake",
        )  # fmt: skip

    def environment(self):
        known = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return known | {
            "HOME": self.home,
            "CHRONICLE_HOME": os.path.join(self.home, "memory"),
            "CHRONICLE_NOW": self.now,
            "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
            "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com",
            "GIT_AUTHOR_DATE": self.now, "GIT_COMMITTER_DATE": self.now,
            "GIT_CONFIG_NOSYSTEM": "1", "COLUMNS": str(COLUMNS), "TZ": "UTC",
        }  # fmt: skip

    def git(self, *args):
        subprocess.run(["git", *args], cwd=self.repo, env=self.environment(), check=True, capture_output=True)

    def run(self, *args, given=None):
        done = subprocess.run(
            [self.binary, *args], cwd=self.repo, env=self.environment(), check=True, capture_output=True,
            text=True, input=given,
        )  # fmt: skip
        return done.stdout.rstrip("\n").split("\n")

    def pretty(self, *args):
        return self.run(*args, "--format", "pretty", "--color", "always", "--no-pager")

    def change(self, path, text, message):
        with open(os.path.join(self.repo, path), "w") as file:
            file.write(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def told(self):
        self.now = "2026-03-10T09:00:00Z"
        payload = {
            "session_id": "5e551011-0000-4000-8000-000000000001", "hook_event_name": "PostToolUse",
            "cwd": self.repo, "tool_name": "Read",
            "tool_input": {"file_path": os.path.join(self.repo, "src/pool.rs")}, "tool_response": {},
        }  # fmt: skip
        answer = json.loads("\n".join(self.run("hook", "claude", "post-tool-use", given=json.dumps(payload))))
        lines = answer["hookSpecificOutput"]["additionalContext"].split("\n")
        return ["\033[1m1. An agent reads a file. Chronicle adds, before it edits:\033[0m", "", *wrapped(lines)]

    def written(self):
        self.change("src/pool.rs", RETRY, "pool: give up when the server is slow")
        command = [
            "annotate", "-m", "take() is called while the lock is held: it must not wait for a slow server",
            "--gotcha", "src/pool.rs:14 LIMIT must stay below the 2 s of the watchdog",
        ]  # fmt: skip
        title = "\033[1m2. It commits, and says why:\033[0m"
        typed = "\033[2m$ git chronicle annotate -m 'take() is called while the lock is held …' --gotcha …\033[0m"
        return [title, "", typed, "", *self.pretty(*command)]

    def asked(self):
        self.now = "2026-03-11T09:00:00Z"
        title = "\033[1m3. Next day, someone else asks why:\033[0m"
        typed = "\033[2m$ git chronicle why src/pool.rs:14\033[0m"
        return [title, "", typed, "", *self.pretty("why", "src/pool.rs:14")]


def wrapped(lines):
    """Lines of at most so many columns, for a text that its reader wraps."""
    for line in lines:
        while len(line) > COLUMNS:
            end = line.rfind(" ", 0, COLUMNS)
            end = end if end > 0 else COLUMNS
            yield line[:end]
            line = "  " + line[end:].lstrip()
        yield line


COLOURS = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "34": "l", "35": "m", "36": "c"}


def drawn(line):
    """One line as spans of SVG, with its colours as classes."""
    spans, classes = [], set()
    for part in re.split(r"(\033\[[0-9;]*m)", line):
        code = re.fullmatch(r"\033\[([0-9;]*)m", part)
        if code:
            for one in code[1].split(";"):
                classes = classes | {COLOURS[one]} if one in COLOURS else set() if one in ("", "0") else classes
        elif part:
            named = f' class="{" ".join(sorted(classes))}"' if classes else ""
            spans.append(f"<tspan{named}>{html.escape(part)}</tspan>")
    return "".join(spans)


def picture(scenes):
    n_lines = max(len(scene) for scene in scenes)
    width, height = round(COLUMNS * LETTER + 2 * MARGIN), round(n_lines * LINE + 2 * MARGIN)
    total, n = SECONDS * len(scenes), len(scenes)
    share = 100 / n
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>An agent reads a file and is shown a trap; it commits and says why; the next day, why names the reason</title>",
        "<style>",
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}",
        ".box{fill:#f6f8fa;stroke:#d1d9e0}.b{font-weight:600}.d{fill:#59636e}.r{fill:#b3261e}.g{fill:#1a6e2e}",
        ".y{fill:#8a5a00}.l{fill:#0550ae}.m{fill:#7d3bb5}.c{fill:#1b6f7c}",
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.box{fill:#0d1117;stroke:#3d444d}.d{fill:#9198a1}",
        ".r{fill:#ff7b72}.g{fill:#56d364}.y{fill:#e3b341}.l{fill:#79c0ff}.m{fill:#d2a8ff}.c{fill:#76e3ea}}",
        f"@keyframes turn{{0%,{share - 2:.1f}%{{opacity:1}}{share:.1f}%,98%{{opacity:0}}100%{{opacity:1}}}}",
        f".s{{opacity:0;animation:turn {total}s infinite}}",
        *(f".s{at}{{animation-delay:{SECONDS * at - total if at else 0}s}}" for at in range(n)),
        f"@media(prefers-reduced-motion){{.s{{animation:none}}.s{n - 1}{{opacity:1}}}}",
        "</style>",
        f'<rect class="box" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>',
    ]
    for at, scene in enumerate(scenes):
        out.append(f'<g class="s s{at}">')
        for line, text in enumerate(scene):
            if text:
                y = MARGIN + 14 + line * LINE
                out.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{drawn(text)}</text>')
        out.append("</g>")
    return "\n".join([*out, "</svg>"])


main()
