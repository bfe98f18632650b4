#!/usr/bin/env python3
"""Whether lessons are in front of an agent before it edits the lines that they are about.

    python3 benches/relevance.py CLONES --lessons benches/relevance/lessons.jsonl --sessions benches/relevance/sessions.jsonl \\
        --transcripts ../shared/data/transcripts --binary target/release/git-chronicle

Lessons that were written from real history are stored in clones of real repositories, and recorded sessions
of Claude Code in these repositories are replayed against the hooks: each tool call as it was made, with the
answer that it got, and each edit applied between its two hooks. What a hook prints is in the request after
the call that it was run for, so a lesson is in time for an edit if a hook printed it in the same context for
a call of an earlier message; what is printed for the edit itself comes with the edit's result, too late.

CLONES holds the clones, which are left as they are (a throw-away clone of each shares their objects), with all
refs of their origins: `entire-cli` (github.com/entireio/cli), `oh-my-posh` (JanDeDobbeleer/oh-my-posh) and
`cipher-box` (FSM1/cipher-box). The last two publish their sessions on `entire/checkpoints/v1`.
`--lessons`: `{"repo", "commit", "flags"}` a line, flags as `annotate` takes them. `--sessions`: `{"repo",
"session", "file" or "blob", "base"}` a line: the transcript is a file of `--transcripts`, or a blob of the
clone (projects that publish their sessions on a branch); `base` is the commit that was checked out. Nothing of a transcript is written outside the temporary
directory, except for paths and commands with `--log`.

Time passes as it did, up to ten seconds between calls, while hooks have something running in the background.
Lessons of commits that a session did not have yet are left out of it. `--placed N` measures with many more:
N a file, on lines that the session edits, at the commits that wrote these.

Where a lesson is now is told by `git diff` of the lesson's commit against the file as it is, not by us; what
`git chronicle read` says is printed beside it. An edit is near a lesson if a changed line is at most three
lines from it (`lines`), or else in the same item (`item`, as `git chronicle outline` tells them). Whether the
lines were read before is told from what the calls returned: one of the changed lines, or of the lesson's, was
among it.
"""

import argparse
import collections
import csv
import datetime
import difflib
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NEAR = 3
EDITS = ("Edit", "MultiEdit", "Write")
KINDS = ("--gotcha", "--dead-end", "--insight", "--unfinished")
# What the bar is about; whatever else shows lines (python, awk, git show, ...) is told apart.
READERS = ("cat", "sed", "head", "tail", "rg", "grep", "egrep", "fgrep", "ugrep")
WIDE = "search-in-directory"
SEEN_LENGTH = 10
KEY_LENGTH = 36
LONGEST_WAIT = 10.0
SESSION_STARTS_APART = 12.0


def environment(binary: pathlib.Path, home: pathlib.Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CHRONICLE_", "CLAUDE"))}
    return kept | {
        "PATH": f"{binary.parent}{os.pathsep}{kept['PATH']}",
        "RELEVANCE_BINARY": str(binary),
        "HOME": str(home),
        "CHRONICLE_HOME": str(home / "chronicle"),
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def flat(text: str) -> str:
    return " ".join(text.split())


def is_running(binary: str) -> bool:
    for process in pathlib.Path("/proc").glob("[0-9]*/exe"):
        try:
            if os.readlink(process) == binary:
                return True
        except OSError:
            pass
    return False


class Lesson:
    def __init__(self, number: int, repo: str, commit: str, kind: str, text: str):
        place, self.text = text.split(" ", 1)
        self.number, self.repo, self.commit, self.kind = number, repo, commit, kind
        self.path, _, where = place.partition(":")
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", where)
        self.lines = (int(found[1]), int(found[2] or found[1])) if found else None
        self.anchor = None if found else where
        self.key = flat(self.text)[:KEY_LENGTH]


class Git:
    """A throw-away clone."""

    def __init__(self, source: pathlib.Path, root: pathlib.Path, env: dict[str, str]):
        self.root, self.env = root, env
        subprocess.run(
            ["git", "clone", "--quiet", "--shared", "--no-checkout", str(source), str(root)], env=env, check=True
        )
        self.texts: dict[tuple[str, str], str] = {}

    def tell(self, notes: list[dict]) -> None:
        """Leaves NOTES and no others."""
        self.git("update-ref", "-d", "refs/notes/chronicle", check=False)
        for note in notes:
            self.ours("annotate", note["commit"], *note["flags"])

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(["git", *args], cwd=self.root, env=self.env, check=check, capture_output=True)
        return done.stdout.decode("utf-8", "replace")

    def ours(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git-chronicle", *args], cwd=self.root, env=self.env, check=check, capture_output=True
        )
        return done.stdout.decode("utf-8", "replace")

    def is_ancestor(self, commit: str, of: str) -> bool:
        done = subprocess.run(
            ["git", "merge-base", "--is-ancestor", commit, of], cwd=self.root, env=self.env, capture_output=True
        )
        return done.returncode == 0

    def text(self, commit: str, path: str) -> str:
        if (commit, path) not in self.texts:
            self.texts[commit, path] = self.git("show", f"{commit}:{path}", check=False)
        return self.texts[commit, path]

    def is_text(self, path: str) -> bool:
        return (self.root / path).is_file()

    def renamed(self, commit: str, path: str) -> str:
        """The path now, of a file that is no longer at the path of COMMIT."""
        for line in self.git("diff", "--name-status", "-M", "--diff-filter=R", commit, "HEAD").splitlines():
            fields = line.split("\t")
            if len(fields) == 3 and fields[1] == path:
                return fields[2]
        return path

    def mapped(self, old: str, new: str) -> dict[int, int]:
        """Where the lines of OLD are in NEW, those that are still there."""
        with tempfile.TemporaryDirectory() as directory:
            left, right = pathlib.Path(directory) / "a", pathlib.Path(directory) / "b"
            left.write_text(old)
            right.write_text(new)
            out = subprocess.run(
                ["git", "diff", "--no-index", "--histogram", "-U0", str(left), str(right)],
                env=self.env, capture_output=True,
            ).stdout.decode("utf-8", "replace")
        places, line, shift = {}, 1, 0
        count = old.count("\n") + 1
        for match in re.finditer(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", out, re.M):
            start, gone = int(match[1]), int(match[2] if match[2] is not None else 1)
            added = int(match[4] if match[4] is not None else 1)
            first = start if gone else start + 1
            for number in range(line, first):
                places[number] = number + shift
            line, shift = first + gone, shift + added - gone
        for number in range(line, count + 1):
            places[number] = number + shift
        return places


class Session:
    """What happened in a recorded session, in order, as the repository of the replay would have seen it."""

    def __init__(self, spec: dict, data: bytes, root: pathlib.Path, files: set[str], with_agents: bool):
        self.spec, self.root, self.unmarked, self.no_wait = spec, root, False, False
        self.rows = []
        for line in data.split(b"\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                self.rows.append(row)
        self.with_agents = with_agents
        recorded = self.recorded_root(files)
        self.is_windows = bool(re.match(r"[A-Za-z]:", recorded))
        names = [re.escape(recorded).replace("/", r"[\\/]+")]
        if self.is_windows:
            names.append(f"/{recorded[0].lower()}{re.escape(recorded[2:])}")
        self.pattern = re.compile(rf"(?:{'|'.join(names)})(?=[\\/\s\"'`;:,)&|]|$)((?:[\\/]+[\w.@+~()\[\]-]+)*)", re.I if self.is_windows else 0)
        self.results = {}
        for row in self.rows:
            for message, result in self.messages(row):
                for part in self.parts(message):
                    if part.get("type") == "tool_result":
                        self.results[part.get("tool_use_id")] = (part, result)

    def recorded_root(self, files: set[str]) -> str:
        """Where the repository lay: the directory, of the first one and those above it, below which most used files are known."""
        first = next((str(row["cwd"]).replace("\\", "/") for row in self.rows if row.get("cwd")), "/nowhere")
        used = [
            str((part.get("input") or {}).get("file_path", "")).replace("\\", "/")
            for row in self.rows for part in self.parts(row.get("message")) if part.get("type") == "tool_use"
        ]
        best, most, directory = first, 0, first
        while "/" in directory.strip("/"):
            count = sum(path.startswith(f"{directory}/") and path[len(directory) + 1:] in files for path in used)
            if count > most:
                best, most = directory, count
            directory = directory.rsplit("/", 1)[0]
        return best

    def messages(self, row: dict):
        if row.get("type") in ("user", "assistant"):
            yield row.get("message"), row.get("toolUseResult")
        elif row.get("type") == "progress" and self.with_agents:
            data = row.get("data")
            if isinstance(data, dict) and data.get("type") == "agent_progress" and isinstance(data.get("message"), dict):
                yield data["message"].get("message"), data["message"].get("toolUseResult")

    @staticmethod
    def parts(message) -> list[dict]:
        content = message.get("content") if isinstance(message, dict) else None
        return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []

    def local(self, value):
        """The same with the paths of the replay."""
        if isinstance(value, str):
            return self.pattern.sub(lambda match: str(self.root) + match[1].replace("\\", "/"), value)
        if isinstance(value, list):
            return [self.local(each) for each in value]
        if isinstance(value, dict):
            return {name: self.local(each) for name, each in value.items()}
        return value

    def local_result(self, tool: str, result):
        result = self.local(result)
        if self.is_windows and tool in ("Grep", "Glob") and isinstance(result, dict):
            # Relative paths of Windows, which the hooks there would know for what they are.
            if isinstance(result.get("filenames"), list):
                result["filenames"] = [str(name).replace("\\", "/") for name in result["filenames"]]
            if isinstance(result.get("content"), str):
                result["content"] = re.sub(
                    r"^([^:\n]*\\[^:\n]*)(?=[:\n-]|$)", lambda match: match[1].replace("\\", "/"), result["content"], flags=re.M
                )
        return result

    def events(self):
        """`(kind, context, request, …)`, a request being the number of the model's message."""
        request, ids, context, started = 0, {}, "main 0", False
        compactions = 0
        for index, row in enumerate(self.rows):
            if row.get("type") == "system" and row.get("subtype") == "compact_boundary":
                compactions += 1
                context = f"main {compactions}"
                yield "compact", context, request, index, None
                continue
            is_agent = row.get("type") == "progress" or row.get("isSidechain")
            where = context
            if row.get("type") == "progress":
                where = f"agent {(row.get('data') or {}).get('agentId')}" if isinstance(row.get("data"), dict) else context
            elif row.get("isSidechain"):
                where = f"agent {row.get('agentId')}"
            if is_agent and not self.with_agents:
                continue
            for message, _ in self.messages(row):
                if not isinstance(message, dict):
                    continue
                parts = self.parts(message)
                if message.get("role") == "user" and not any(part.get("type") == "tool_result" for part in parts):
                    if is_agent or row.get("isMeta") or row.get("isCompactSummary"):
                        continue
                    content = message.get("content")
                    prompt = content if isinstance(content, str) else "\n".join(p.get("text", "") for p in parts)
                    if prompt.strip() and not prompt.startswith(("<local-command", "<command-", "[Request interrupted")):
                        yield "prompt", where, request, index, prompt
                elif message.get("role") == "assistant":
                    name = message.get("id") or row.get("uuid")
                    for part in parts:
                        if part.get("type") == "tool_use":
                            if name not in ids:
                                request += 1
                                ids[name] = request
                            yield "use", where, ids[name], index, part
                else:
                    for part in parts:
                        if part.get("type") == "tool_result":
                            yield "result", where, request, index, part


def changed_ranges(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The lines of BEFORE that are changed; for an insertion the two beside it."""
    head = 0
    while head < len(before) and head < len(after) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < len(before) - head and tail < len(after) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle = difflib.SequenceMatcher(None, before[head:len(before) - tail], after[head:len(after) - tail], autojunk=False)
    ranges = []
    for tag, start, end, _, _ in middle.get_opcodes():
        if tag != "equal":
            ranges.append((head + start + 1, head + end) if end > start else (head + start, head + start + 1))
    return ranges


def lines_shown(result) -> set[str]:
    """The lines that a call returned, without the numbers in front of them."""
    texts = []

    def collect(value):
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list):
            for each in value:
                collect(each)
        elif isinstance(value, dict):
            for name, each in value.items():
                if name not in ("originalFile", "oldString", "newString", "structuredPatch", "prompt", "edits"):
                    collect(each)

    collect(result)
    found = set()
    for text in texts:
        for line in text.split("\n"):
            for piece in (line, re.sub(r"^\s*\d+(?:→|\t)", "", line), re.sub(r"^(?:[^\s:]+[:-])?\d+[:-]", "", line), line[1:]):
                piece = piece.strip()
                if len(piece) >= SEEN_LENGTH:
                    found.add(piece)
    return found


def reader_of(tool: str, tool_input: dict, root: str, path: str) -> str | None:
    """What a call that returned lines of PATH read them with, or None if it cannot have."""
    name = path.rsplit("/", 1)[-1]
    if tool == "Read":
        return "Read" if tool_input.get("file_path") == f"{root}/{path}" else None
    if tool == "Grep":
        return "Grep" if str(tool_input.get("path", "")).endswith(name) else WIDE
    command = tool_input.get("command")
    if not isinstance(command, str):
        return None
    for piece in re.split(r"&&|\|\||;|\n", command):
        stages = piece.split("|")
        words = stages[0].split()
        while words and (re.fullmatch(r"\w+=\S*", words[0]) or words[0] in ("command", "time")):
            words.pop(0)
        if not words or not (name in stages[0] or words[0] in ("rg", "grep", "git")):
            continue
        first = words[0].rsplit("/", 1)[-1]
        if first == "git":
            return "git " + next((word for word in words[1:] if not word.startswith("-")), "")
        if first in ("rg", "grep", "egrep", "fgrep", "ugrep") and name not in stages[0]:
            return WIDE
        if first in READERS:
            return first
        if name in stages[0]:
            return first
    return None


def placed(git: Git, session: Session, per_file: int, rng: random.Random) -> list[Lesson]:
    """Lessons on lines that the session is going to edit, at the commits that wrote them."""
    spec = session.spec
    dry = Replay(git, session, [], git.root.parent / "dry", None)
    places: dict[str, list[int]] = collections.defaultdict(list)
    for kind, _, _, _, part in session.events():
        if kind != "use":
            continue
        tool, given = part["name"], session.local(part.get("input") or {})
        if session.is_windows and isinstance(given.get("file_path"), str):
            given["file_path"] = given["file_path"].replace("\\", "/")
        found, result = session.results.get(part["id"], (None, None))
        if found is None or found.get("is_error"):
            continue
        path = dry.relative(given.get("file_path"))
        dry.known(tool, path, session.local_result(tool, result), False)
        if tool not in EDITS or path is None or not git.is_text(path):
            continue
        before, base = (git.root / path).read_text(errors="replace"), git.text(spec["base"], path)
        after = dry.after(tool, given, before)
        if after is not None and base:
            back = {now: then for then, now in git.mapped(base, before).items()}
            lines = base.split("\n")
            for start, end in changed_ranges(before.split("\n"), after.split("\n")):
                for number in range(start, end + 1):
                    then = back.get(number)
                    if then and then <= len(lines) and len(lines[then - 1].strip()) >= 16:
                        places[path].append(then)
                        break
        dry.apply(tool, given, path)
    lessons, flags = [], collections.defaultdict(list)
    for path, lines in sorted(places.items()):
        lines = sorted(set(lines))
        for line in rng.sample(lines, min(per_file, len(lines))):
            blame = git.git("blame", "--porcelain", "-L", f"{line},{line}", spec["base"], "--", path, check=False).split("\n")
            if not blame[0]:
                continue
            commit, then = blame[0].split()[:2]
            name = next((row[9:] for row in blame if row.startswith("filename ")), path)
            lesson = Lesson(
                len(lessons), spec["repo"], commit, "--gotcha",
                f"{name}:{then} Placed lesson {len(lessons):03} of {spec['session'][:8]}: whoever changes this line has to know it beforehand, or the change breaks what relies on it",
            )
            lessons.append(lesson)
            flags[commit].append(lesson)
    git.tell([
        {"commit": commit, "flags": ["--summary", "Placed lessons", *(
            each for lesson in some for each in ("--gotcha", f"{lesson.path}:{lesson.lines[0]} {lesson.text}")
        )]}
        for commit, some in flags.items()
    ])
    return lessons


class Replay:
    def __init__(self, git: Git, session: Session, lessons: list[Lesson], home: pathlib.Path, log):
        self.git, self.session, self.log = git, session, log
        spec = session.spec
        git.git("checkout", "--quiet", "--force", "--detach", spec["base"])
        git.git("clean", "-qfdx")
        self.lessons = [lesson for lesson in lessons if git.is_ancestor(lesson.commit, spec["base"])]
        self.others = [lesson for lesson in lessons if lesson not in self.lessons]
        self.paths = {
            lesson.number: lesson.path if git.is_text(lesson.path) else git.renamed(lesson.commit, lesson.path)
            for lesson in self.lessons
        }
        self.id = spec["session"]
        directory = home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(git.root))
        directory.mkdir(parents=True, exist_ok=True)
        self.transcript = directory / f"{self.id}.jsonl"
        self.written = 0
        self.transcript.write_text("")
        self.shown: list[dict] = []
        self.reads: list[dict] = []
        self.pairs: list[dict] = []
        self.met: list[dict] = []
        self.counts: collections.Counter = collections.Counter()
        self.tokens = 0.0
        self.times: list[float] = []
        self.near: set[int] = set()
        self.edited: set[str] = set()
        self.maps: dict[tuple[int, int], dict[int, int]] = {}
        self.clock, self.waited, self.started = None, 0.0, 0.0
        self.spent: collections.Counter = collections.Counter()
        self.errors: collections.Counter = collections.Counter()
        self.spent_in: collections.Counter = collections.Counter()

    def hook(self, event: str, name: str, context: str, request: int, at_once: bool, **fields) -> None:
        payload = {
            "session_id": self.id, "transcript_path": str(self.transcript), "cwd": fields.pop("cwd", str(self.git.root)),
            "permission_mode": "default", "hook_event_name": name, **fields,
        }
        if context.startswith("agent") and not self.session.unmarked:
            payload |= {"agent_id": context.split(" ", 1)[1], "agent_type": "general-purpose"}
        start = time.perf_counter()
        done = subprocess.run(
            ["git-chronicle", "hook", "claude", event], cwd=self.git.root, env=self.git.env,
            input=json.dumps(payload).encode(), capture_output=True,
        )
        self.times.append((time.perf_counter() - start) * 1000)
        if done.returncode or done.stderr.strip():
            self.counts["hook errors"] += 1
            self.errors[re.sub(r"\d+", "N", done.stderr.decode("utf-8", "replace").strip().split("\n")[0])[:60]] += 1
        out = done.stdout.decode("utf-8", "replace").strip()
        if not out:
            self.note(context, request, event, fields, "")
            return
        try:
            answer = json.loads(out)
            text = (answer.get("hookSpecificOutput") or {}).get("additionalContext", "")
            if (answer.get("hookSpecificOutput") or {}).get("permissionDecision") not in (None, "allow"):
                self.counts["refused edits"] += 1
        except ValueError:
            text = out
        self.counts[f"spoke: {event}"] += 1
        self.tokens += len(text) / 4
        self.spent[event] += len(text) / 4
        if event == "post-tool-use":
            self.spent_in[context] += len(text) / 4
        self.note(context, request, event, fields, text)
        lines = [flat(line) for line in text.split("\n")]
        for lesson in self.lessons + self.others:
            for line in lines:
                if lesson.key in line:
                    self.shown.append({
                        "lesson": lesson, "context": context, "request": request + (0 if at_once else 1),
                        "event": event, "tool": fields.get("tool_name"), "tokens": (len(line) + 1) / 4,
                    })

    def wait(self, index: int) -> None:
        """What hooks left running goes on for as long as the model, or the user, took in that session."""
        stamp = self.session.rows[index].get("timestamp")
        try:
            now = datetime.datetime.fromisoformat(str(stamp).replace("Z", "+00:00")).timestamp()
        except ValueError:
            return
        gap, self.clock = now - (self.clock or now), max(now, self.clock or now)
        end = time.monotonic() + (0 if self.session.no_wait else min(gap, LONGEST_WAIT))
        while time.monotonic() < end and is_running(self.git.env["RELEVANCE_BINARY"]):
            time.sleep(0.02)
            self.waited += 0.02

    def note(self, context: str, request: int, event: str, fields: dict, text: str) -> None:
        if not self.log:
            return
        what = fields.get("tool_input") or {}
        names = ("file_path", "offset", "limit", "command", "pattern", "path", "output_mode", "glob")
        self.log.write(json.dumps({
            "repo": self.session.spec["repo"], "session": self.id[:8], "context": context, "request": request,
            "event": event, "tool": fields.get("tool_name"), "milliseconds": round(self.times[-1]),
            "input": {name: what[name] for name in names if name in what}, "out": text,
        }) + "\n")

    def grow(self, index: int) -> None:
        """The transcript as far as it goes when a hook runs."""
        if index >= self.written:
            with self.transcript.open("a") as out:
                for row in self.session.rows[self.written:index + 1]:
                    out.write(json.dumps(self.session.local(row)) + "\n")
            self.written = index + 1

    def run(self) -> None:
        session, root = self.session, str(self.git.root)
        self.hook("session-start", "SessionStart", "main 0", 0, True, source="startup")
        self.started = time.monotonic()
        uses: dict[str, tuple] = {}
        for kind, context, request, index, part in session.events():
            self.grow(index)
            self.wait(index)
            cwd = session.local(str(session.rows[index].get("cwd") or "").replace("\\", "/"))
            cwd = cwd if cwd.startswith(root) and os.path.isdir(cwd) else root
            if kind == "compact":
                # The same event twice within seconds is taken for one; real compactions are minutes apart.
                time.sleep(max(0.0, SESSION_STARTS_APART - (time.monotonic() - self.started)))
                self.started = time.monotonic()
                self.hook("session-start", "SessionStart", context, request, True, source="compact")
            elif kind == "prompt":
                self.hook("user-prompt-submit", "UserPromptSubmit", context, request, True, prompt=session.local(part), cwd=cwd)
            elif kind == "use":
                tool, given = part["name"], session.local(part.get("input") or {})
                for field in ("file_path", "path", "notebook_path"):
                    if session.is_windows and isinstance(given.get(field), str):
                        given[field] = given[field].replace("\\", "/")
                found, result = session.results.get(part["id"], (None, None))
                failed = found is None or bool(found.get("is_error"))
                result = session.local_result(tool, result)
                path = self.relative(given.get("file_path"))
                self.known(tool, path, result, failed)
                if tool in EDITS:
                    self.edit_soon(tool, given, path, context, request, index, failed, part["id"])
                    self.hook("pre-tool-use", "PreToolUse", context, request, False, tool_name=tool, tool_input=given,
                              tool_use_id=part["id"], cwd=cwd)
                    if path and not failed:
                        self.apply(tool, given, path)
                uses[part["id"]] = (tool, given, failed, request, result, path)
                self.counts["calls"] += 1
            elif kind == "result" and part.get("tool_use_id") in uses:
                tool, given, failed, asked, result, path = uses.pop(part["tool_use_id"])
                if failed:
                    self.counts["failed calls"] += 1
                    continue
                response = result if result is not None else session.local(part.get("content"))
                self.hook("post-tool-use", "PostToolUse", context, asked, False, tool_name=tool, tool_input=given,
                          tool_response=response, tool_use_id=part["tool_use_id"], cwd=cwd)
                if tool not in EDITS:
                    read = {
                        "context": context, "request": asked + 1, "tool": tool, "input": given,
                        "lines": lines_shown([response, part.get("content")]),
                    }
                    self.reads.append(read)
                    self.meet(read, json.dumps([response, part.get("content")]))

    def meet(self, read: dict, out: str) -> None:
        """Notes which lessons' own lines a call returned."""
        for lesson in self.lessons:
            path = self.paths[lesson.number]
            if read["tool"] in ("Grep", "Bash", "PowerShell") and path.rsplit("/", 1)[-1] not in json.dumps(read["input"]) + out:
                continue
            reader = reader_of(read["tool"], read["input"], str(self.git.root), path)
            target = self.git.root / path
            if reader is None or not target.is_file():
                continue
            text = target.read_text(errors="replace")
            lines = [line.strip() for line in text.split("\n")]
            often = collections.Counter(lines)
            own = {lines[number - 1] for number in self.places(lesson, text) if number <= len(lines)}
            own = {line for line in own if len(line) >= 16 and often[line] == 1}
            if own & read["lines"]:
                self.met.append({
                    "lesson": lesson, "context": read["context"], "request": read["request"], "reader": reader,
                    "what": str(read["input"].get("command") or read["input"].get("file_path") or read["input"].get("pattern")),
                    "share": len(own & read["lines"]) / len(own),
                })

    def relative(self, path) -> str | None:
        root = f"{self.git.root}/"
        return path[len(root):] if isinstance(path, str) and path.startswith(root) else None

    def known(self, tool: str, path: str | None, result, failed: bool) -> None:
        """What commands that are not replayed made of a file is laid out as soon as a call tells it."""
        if not path or failed or not isinstance(result, dict):
            return
        text = None
        if tool in EDITS:
            text = result.get("originalFile")
        elif tool == "Read":
            file = result.get("file")
            if isinstance(file, dict) and file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines"):
                text = file.get("content")
        if not isinstance(text, str):
            return
        target = self.git.root / path
        try:
            now = target.read_text() if target.is_file() else None
        except UnicodeDecodeError:
            return
        # Sessions are published with secrets, and what looks like one, taken out.
        if now is not None and text.count("REDACTED") > now.count("REDACTED"):
            return
        if now is None or now.rstrip("\n") != text.rstrip("\n"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text if text.endswith("\n") or not text else text + "\n")
            self.counts["laid out"] += 1

    def after(self, tool: str, given: dict, before: str) -> str | None:
        if tool == "Write":
            return given.get("content", "")
        text = before
        for edit in given.get("edits") or [given]:
            old, new = edit.get("old_string", ""), edit.get("new_string", "")
            if not old:
                if text:
                    return None
                text = new
            elif old not in text:
                return None
            else:
                text = text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)
        return text

    def apply(self, tool: str, given: dict, path: str) -> None:
        target = self.git.root / path
        try:
            before = target.read_text() if target.is_file() else ""
        except UnicodeDecodeError:
            return
        after = self.after(tool, given, before)
        if after is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(after)

    def places(self, lesson: Lesson, text: str) -> list[int]:
        """The lines of a lesson as the file is now."""
        old = self.git.text(lesson.commit, lesson.path)
        key = (lesson.number, hash(text))
        if key not in self.maps:
            self.maps[key] = self.git.mapped(old, text)
        lines = lesson.lines
        if lines is None:
            # An anchor: the item by its name, in the file of its commit.
            starts = [number for number, line in enumerate(old.split("\n"), 1) if re.search(rf"\b{re.escape(lesson.anchor.split('.')[-1].split('::')[-1])}\b.*[{{(]", line)]
            if not starts:
                return []
            start = next((number for number in starts if re.match(r"\s*(func|fn|pub|export|async|function|class|type)\b", old.split("\n")[number - 1])), starts[0])
            end = next((number for number in range(start, old.count("\n") + 1) if old.split("\n")[number - 1].startswith("}")), start)
            lines = (start, end)
        return [self.maps[key][number] for number in range(lines[0], lines[1] + 1) if number in self.maps[key]]

    def edit_soon(self, tool, given, path, context, request, index, failed, use_id) -> None:
        if path is None:
            self.counts["edits outside"] += 1
            return
        if failed:
            self.counts["edits that failed then"] += 1
            return
        target = self.git.root / path
        try:
            before = target.read_text() if target.is_file() else ""
        except UnicodeDecodeError:
            return
        after = self.after(tool, given, before)
        if after is None:
            self.counts["edits that do not apply"] += 1
            return
        self.counts["edits"] += 1
        self.edited.add(path)
        here = [lesson for lesson in self.lessons if self.paths[lesson.number] == path]
        if not here or not before:
            return
        lines = before.split("\n")
        ranges = changed_ranges(lines, after.split("\n"))
        told = {}
        try:
            answer = json.loads(self.git.ours("read", path, "--format", "json", check=False) or "{}")
            for region in answer.get("wisdom") or []:
                told[flat(region.get("content") or "")] = region
            items = json.loads(self.git.ours("outline", path, "--format", "json", check=False) or "{}").get("items") or []
        except ValueError:
            items = []
        for lesson in here:
            now = self.places(lesson, before)
            region = next((value for text, value in told.items() if lesson.key in text), None)
            theirs = (region or {}).get("lines")
            if not now:
                self.counts["lessons whose lines are gone at an edit of their file"] += 1
                if not theirs:
                    continue
                now = list(range(theirs["start"], theirs["end"] + 1))
                by = "read"
            else:
                by = "diff"
            how = None
            for start, end in ranges:
                if any(start - NEAR <= line <= end + NEAR for line in now):
                    how = "lines"
            if how is None:
                for start, end in ranges:
                    holding = [
                        item for item in items
                        if item["lines"]["start"] <= start and end <= item["lines"]["end"]
                    ]
                    if holding:
                        item = min(holding, key=lambda item: item["lines"]["end"] - item["lines"]["start"])
                        if any(item["lines"]["start"] <= line <= item["lines"]["end"] for line in now):
                            how = "item"
            if how is None:
                continue
            self.near.add(lesson.number)
            wanted = {lines[number - 1].strip() for start, end in ranges for number in range(start, end + 1) if 0 < number <= len(lines)}
            own = {lines[number - 1].strip() for number in now if 0 < number <= len(lines)}
            wanted = {line for line in wanted | own if len(line) >= SEEN_LENGTH}
            own = {line for line in own if len(line) >= SEEN_LENGTH}
            by_reader: dict[str, bool] = {}
            for read in self.reads:
                if read["context"] != context or read["request"] > request or not read["lines"] & wanted:
                    continue
                reader = reader_of(read["tool"], read["input"], str(self.git.root), path)
                if reader:
                    by_reader[reader] = by_reader.get(reader, False) or bool(read["lines"] & own)
            supported = [name for name in by_reader if name in ("Read", "Grep") or name in READERS]
            self.pairs.append({
                "lesson": lesson, "context": context, "request": request, "index": index, "path": path, "how": how, "by": by,
                "use": use_id, "read": "supported" if supported else "search" if WIDE in by_reader else "other" if by_reader else "none",
                "readers": " ".join(sorted(by_reader)), "spent": round(self.spent_in[context]), "own lines read": any(by_reader[name] for name in by_reader),
                "state": (region or {}).get("state", "not told"), "now": f"{min(now)}-{max(now)}",
                "theirs": f"{theirs['start']}-{theirs['end']}" if theirs else "", "change": ranges[0],
            })

    def judged(self) -> list[dict]:
        for pair in self.pairs:
            before = [
                shown for shown in self.shown
                if shown["lesson"] is pair["lesson"] and shown["context"] == pair["context"] and shown["request"] <= pair["request"]
            ]
            later = [
                shown for shown in self.shown if shown["lesson"] is pair["lesson"] and shown["context"] == pair["context"]
                and shown["request"] > pair["request"]
            ]
            elsewhere = [shown for shown in self.shown if shown["lesson"] is pair["lesson"] and shown["context"] != pair["context"]]
            pair["in time"] = bool(before)
            if before:
                pair["shown"] = f"{before[0]['event']} {before[0]['tool'] or ''}".strip()
            elif later:
                pair["shown"] = f"late: {later[0]['event']} {later[0]['tool'] or ''}".strip()
            elif elsewhere:
                pair["shown"] = f"other context: {elsewhere[0]['context']}"
            else:
                pair["shown"] = "never"
        for met in self.met:
            met["in context"] = any(
                shown["lesson"] is met["lesson"] and shown["context"] == met["context"] and shown["request"] <= met["request"]
                for shown in self.shown
            )
        return self.pairs


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--lessons", type=pathlib.Path, required=True)
    parser.add_argument("--sessions", type=pathlib.Path, required=True)
    parser.add_argument("--transcripts", type=pathlib.Path)
    parser.add_argument("--only", help="repository, or first letters of a session")
    parser.add_argument("--placed", type=int, metavar="N", help="instead of the lessons: N a file on lines that are edited")
    parser.add_argument("--no-agents", action="store_true", help="leave out the calls of sub-agents")
    parser.add_argument("--unmarked-agents", action="store_true", help="do not say which calls are of sub-agents, as older versions")
    parser.add_argument("--no-wait", action="store_true", help="do not let what hooks left running end before the next call")
    parser.add_argument("--csv", type=pathlib.Path, help="a row for each edit near a lesson")
    parser.add_argument("--log", type=pathlib.Path, help="JSON Lines: what each hook printed, with paths and commands")
    options = parser.parse_args()
    if options.transcripts is None or not options.transcripts.is_dir():
        print("skipped the sessions that are files: no --transcripts")
    notes = [json.loads(line) for line in options.lessons.read_text().splitlines()]
    lessons = [
        Lesson(0, note["repo"], note["commit"], flag, text)
        for note in notes for flag, text in zip(note["flags"], note["flags"][1:]) if flag in KINDS
    ]
    for number, lesson in enumerate(lessons):
        lesson.number = number
    assert len({lesson.key for lesson in lessons}) == len(lessons), "lessons begin alike"
    sessions = [json.loads(line) for line in options.sessions.read_text().splitlines()]
    if options.only:
        sessions = [each for each in sessions if each["repo"] == options.only or each["session"].startswith(options.only)]
    log = options.log.open("w") if options.log else None

    replays: list[Replay] = []
    n_placed = 0
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        home = root / "home"
        home.mkdir()
        (home / "gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n")
        # A copy of its own tells what this run left running from what others run.
        binary = root / "bin/git-chronicle"
        binary.parent.mkdir()
        shutil.copy2(options.binary, binary)
        env = environment(binary.resolve(), home)
        clones: dict[str, Git] = {}
        for spec in sessions:
            repo = spec["repo"]
            if not (options.clones / repo).is_dir():
                print(f"skipped {spec['session'][:8]}: no clone of {repo}")
                continue
            if "file" in spec:
                if options.transcripts is None or not (options.transcripts / spec["file"]).is_file():
                    continue
                data = gzip.decompress((options.transcripts / spec["file"]).read_bytes())
            if repo not in clones:
                clones[repo] = Git((options.clones / repo).resolve(), root / repo, env)
            if "blob" in spec:
                data = subprocess.run(
                    ["git", "cat-file", "blob", spec["blob"]], cwd=clones[repo].root, env=env, capture_output=True
                ).stdout
            session = Session(spec, data, clones[repo].root, set(clones[repo].git("ls-tree", "-r", "-z", "--name-only", spec["base"]).split("\0")), not options.no_agents)
            own = [each for each in lessons if each.repo == repo]
            if options.placed:
                own = placed(clones[repo], session, options.placed, random.Random(41))
                n_placed += len(own)
            else:
                # What is learned of commits that are not there yet is not known yet either.
                clones[repo].tell([
                    note for note in notes
                    if note["repo"] == repo and clones[repo].is_ancestor(note["commit"], spec["base"])
                ])
            session.unmarked, session.no_wait = options.unmarked_agents, options.no_wait
            replay = Replay(clones[repo], session, own, home, log)
            replay.run()
            replay.judged()
            replays.append(replay)
            # What the report needs is kept, the transcript is not.
            session.rows, session.results, replay.reads = [], {}, []
            print(
                f"{repo:12} {replay.id[:8]} {replay.counts['calls']:4} calls {replay.counts['edits']:3} edits "
                f"{len(replay.pairs):3} near a lesson, {sum(pair['in time'] for pair in replay.pairs):3} in time, "
                f"{len({shown['lesson'].number for shown in replay.shown}):2} lessons shown, {replay.tokens:5.0f} tokens",
                flush=True,
            )
        shutil.rmtree(home, ignore_errors=True)
    report(replays, n_placed or len(lessons), options)


def report(replays: list[Replay], n_lessons: int, options) -> None:
    counts = collections.Counter()
    for replay in replays:
        counts.update(replay.counts)
    pairs = [dict(pair, repo=replay.session.spec["repo"], session=replay.id[:8]) for replay in replays for pair in replay.pairs]
    print(f"\n{len(replays)} sessions, {n_lessons} lessons")
    for name, value in sorted(counts.items()):
        print(f"  {name}: {value}")

    for replay in replays:
        for text, value in replay.errors.items():
            counts[text] += value
    for text in {text for replay in replays for text in replay.errors}:
        print(f"    {counts[text]} x {text}")

    def row(name: str, some: list[dict]) -> None:
        edits: dict[tuple[str, str], bool] = {}
        for pair in some:
            key = (pair["session"], pair["use"])
            edits[key] = edits.get(key, True) and pair["in time"]
        print(f"| {name:42} | {share(sum(edits.values()), len(edits)):20} | {share(sum(p['in time'] for p in some), len(some)):20} |")

    print(f"\n| {'edits near a lesson that was shown in time':42} | {'edits':20} | {'edit and lesson':20} |")
    print(f"|{'-' * 44}|{'-' * 22}|{'-' * 22}|")
    for how, label in (("lines", f"within {NEAR} lines"), ("item", "in its item only")):
        some = [pair for pair in pairs if pair["how"] == how]
        row(label, some)
        for read, name in (("supported", "read by a tool before"), ("search", "met in a search of a directory only"), ("other", "read in another way only"), ("none", "not read in this context")):
            row(f"  {name}", [pair for pair in some if pair["read"] == read])
    for repo in sorted({pair["repo"] for pair in pairs}):
        row(f"{repo}, lines, read by a tool", [p for p in pairs if p["repo"] == repo and p["how"] == "lines" and p["read"] == "supported"])
    row("lines, the lesson's own lines read by a tool", [p for p in pairs if p["how"] == "lines" and p["read"] == "supported" and p["own lines read"]])
    asked = [pair for pair in pairs if pair["how"] == "lines" and pair["read"] == "supported"]
    edits = {}
    for pair in asked:
        edits[pair["session"], pair["use"]] = edits.get((pair["session"], pair["use"]), True) and pair["in time"]
    value = 100 * sum(edits.values()) / max(1, len(edits))
    print(f"shown in time after a read by a tool: {value:.1f} %, bar 95 %: {'met' if value >= 95 else 'MISSED'}")

    print("\ncalls that returned lines of a lesson, and whether it was in the context then, by what they read with")
    by_reader = collections.defaultdict(list)
    for replay in replays:
        for met in replay.met:
            by_reader[met["reader"]].append(met["in context"])
    for reader, some in sorted(by_reader.items(), key=lambda item: -len(item[1])):
        print(f"  {reader:12} {share(sum(some), len(some))}")

    n_shown = n_never = n_file = n_future = n_again = 0
    never_tokens = shown_tokens = again_tokens = 0.0
    for replay in replays:
        seen: set[tuple[int, str]] = set()
        for shown in replay.shown:
            key = (shown["lesson"].number, shown["context"])
            if key in seen:
                n_again += 1
                again_tokens += shown["tokens"]
            seen.add(key)
            shown_tokens += shown["tokens"]
        for lesson in {shown["lesson"].number: shown["lesson"] for shown in replay.shown}.values():
            n_shown += 1
            if lesson in replay.others:
                n_future += 1
            if lesson.number not in replay.near:
                n_never += 1
                n_file += replay.paths.get(lesson.number) in replay.edited
                never_tokens += sum(shown["tokens"] for shown in replay.shown if shown["lesson"] is lesson)
    total = sum(replay.tokens for replay in replays)
    print(f"\nlessons shown, counted once a session: {n_shown}, of them never near an edit: {share(n_never, n_shown)}")
    print(f"  never near an edit, but in an edited file: {n_file}; of commits that are not in the history: {n_future}")
    print(f"  tokens of lessons never near an edit: {never_tokens:.0f} ({never_tokens / max(1, n_never):.0f} each)")
    print(f"shown again in the same context: {n_again} times, {again_tokens:.0f} tokens")
    print(f"tokens of all that hooks printed: {total:.0f}, of them lines of lessons {shown_tokens:.0f}; "
          f"per lesson shown {total / max(1, n_shown):.0f}")
    events = collections.Counter()
    for replay in replays:
        events.update(replay.spent)
    print("  by event: " + ", ".join(f"{name} {value:.0f}" for name, value in events.most_common()))
    most = max((value for replay in replays for value in replay.spent_in.values()), default=0)
    print(f"  most that post-tool-use printed in one context: {most:.0f}")
    per = sorted(replay.tokens for replay in replays)
    if per:
        print(f"tokens a session: median {statistics.median(per):.0f}, mean {statistics.mean(per):.0f}, most {per[-1]:.0f}")
        times = sorted(each for replay in replays for each in replay.times)
        print(f"a hook took: median {statistics.median(times):.0f} ms, 99th percentile {times[int(len(times) * .99)]:.0f} ms, {len(times)} ran")

    if options.csv:
        with options.csv.with_suffix(".reads.csv").open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(("repo", "session", "lesson", "reader", "in context", "share", "context", "request", "what"))
            for replay in replays:
                for met in replay.met:
                    writer.writerow((replay.session.spec["repo"], replay.id[:8], met["lesson"].number, met["reader"], met["in context"],
                                     f"{met['share']:.2f}", met["context"], met["request"], met["what"]))
        with options.csv.open("w", newline="") as out:
            writer = csv.writer(out)
            names = ("repo", "session", "path", "how", "by", "read", "readers", "own lines read", "in time", "shown", "spent", "state", "now", "theirs", "change", "context", "request")
            writer.writerow(("lesson", "kind", "commit", *names))
            for pair in pairs:
                writer.writerow((pair["lesson"].number, pair["lesson"].kind, pair["lesson"].commit, *(pair[name] for name in names)))


if __name__ == "__main__":
    sys.exit(main())
