#!/usr/bin/env python3
"""Measures whether `why` finds the session that wrote a line.

Makes a repository from the edits of real transcripts: what each session edited is applied in the order of time and
committed at the session's end, so that the session that wrote each line is known. Where several sessions edited
between two commits, one of them commits for all. Then asks `why` for a sample of lines. With --split each transcript
becomes two sessions that take turns with its edits: always two at work on the same files at the same time.

    benches/join.py --binary target/release/git-chronicle --transcripts DIR [--lines 600] [--seed 7] [--split]
"""

import argparse
import difflib
import gzip
import json
import os
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path


def text_of(path):
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return content.decode(errors="replace")


def rows(text):
    decoder = json.JSONDecoder()
    for line in text.split("\n"):
        at = 0
        while at < len(line):
            try:
                value, at = decoder.raw_decode(line, at)
            except ValueError:
                break
            if isinstance(value, dict):
                yield value
            while at < len(line) and line[at] in " \t":
                at += 1


def edits_of(text):
    """(time, cwd, tool, input, original) of each edit that worked."""
    calls, found, cwd = {}, [], ""
    for row in rows(text):
        cwd = row.get("cwd") or cwd
        message = row.get("message") or {}
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, list):
            continue
        for block in content:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use" and block.get("name") in ("Edit", "Write", "MultiEdit"):
                calls[block["id"]] = (row.get("timestamp") or "", cwd, block["name"], block["input"])
            if block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                if not block.get("is_error"):
                    result = row.get("toolUseResult")
                    original = result.get("originalFile") if isinstance(result, dict) else None
                    found.append((*calls.pop(block["tool_use_id"]), original))
    return found


def halves(text, session):
    """A transcript as two sessions that take turns with its edits."""
    other = session[:-4] + ("0000" if session[-4:] != "0000" else "0001")
    ids = [found for found in re.findall(r'"id":\s*"(toolu_\w+)"', text)]
    edits = [call for call in dict.fromkeys(ids) if re.search(rf'"{call}","name":"(Edit|Write|MultiEdit)"', text)]
    first, second = text, text
    for number, call in enumerate(edits):
        hide = lambda whole: re.sub(rf'("{call}","name":")(Edit|Write|MultiEdit)"', r'\1Other"', whole)
        if number % 2:
            first = hide(first)
        else:
            second = hide(second)
    second = second.replace(session, other).replace("toolu_", "toolu_b").replace("msg_", "msg_b")
    second = re.sub(r'"(uuid|parentUuid)":\s*"', r'"\1":"b', second)
    return [(session, first), (other, second)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--transcripts", required=True)
    parser.add_argument("--lines", type=int, default=600)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--split", action="store_true")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "repo"
        home = Path(folder) / "home"
        work.mkdir()
        env = {
            **os.environ,
            "HOME": str(home),
            "CHRONICLE_HOME": str(home / "memory"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.invalid",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.invalid",
        }

        def git(*words, date=None):
            dated = {**env, **({"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {})}
            return subprocess.run(["git", "-C", work, *words], env=dated, check=True, capture_output=True, text=True).stdout

        git("init", "-q", "-b", "main")
        git("commit", "-q", "--allow-empty", "-m", "begin", date="2020-01-01T00:00:00Z")
        events, copies = [], home / ".claude/projects/-work"
        copies.mkdir(parents=True)
        found = sorted(path for path in Path(args.transcripts).rglob("*.jsonl*"))
        texts = sorted(((path, text_of(path)) for path in found), key=lambda one: -len(one[1]))
        for path, text in texts:
            edits = edits_of(text)
            if not edits:
                continue
            cwd = edits[0][1]
            side = "/subagents/" in str(path)
            ids = re.findall(r'"sessionId":\s*"([^"]+)"', text)
            session = Counter(ids).most_common(1)[0][0] if ids else path.stem
            parts = halves(text, session) if args.split and not side else [(session, text)]
            for session, text in parts:
                if side:
                    target = copies / session / "subagents" / path.name
                else:
                    target = copies / f"{session}.jsonl"
                if target.exists():
                    continue  # An earlier copy of the same session.
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text.replace(cwd, str(work)))
                for time, _, tool, given, original in edits_of(text):
                    name = str(given.get("file_path") or "").replace(cwd, str(work))
                    if name.startswith(str(work) + "/") and time:
                        events.append((time, session, tool, Path(name), given, original))
        events.sort(key=lambda event: event[0])
        last = {session: time for time, session, *_ in events}
        authors, n_applied, n_failed = {}, 0, 0

        def merged(old, old_authors, new, session):
            """Who wrote each of the new lines: those that stay keep their author."""
            matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
            kept = []
            for tag, start, end, new_start, new_end in matcher.get_opcodes():
                kept += old_authors[start:end] if tag == "equal" else [session] * (new_end - new_start)
            return kept

        def put(path, new, session, span=None):
            """The lines of a file, each with who wrote it; `span` are the old lines that were replaced."""
            old, old_authors = authors.get(path, ([], []))
            start, end = span or (0, len(old))
            new_end = len(new) - (len(old) - end)
            kept = old_authors[:start]
            kept += merged(old[start:end], old_authors[start:end], new[start:new_end], session)
            kept += old_authors[end:]
            authors[path] = (new, kept)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(new))

        def commit(time, message):
            git("add", "-A")
            if git("status", "--porcelain"):
                git("commit", "-q", "-m", message, date=time)

        pending = set()
        for time, session, tool, path, given, original in events:
            if path not in authors and tool != "Write" and original is not None:
                commit(time, "before")
                put(path, original.split("\n"), None)
                commit(time, "import")
            if tool == "Write":
                if original is not None and path not in authors:
                    put(path, original.split("\n"), None)
                    commit(time, "import")
                put(path, given.get("content", "").split("\n"), session)
            else:
                is_done = path in authors
                for piece in given.get("edits") or [given]:
                    old, to = piece.get("old_string", ""), piece.get("new_string", "")
                    text = "\n".join(authors[path][0]) if path in authors else ""
                    at = text.find(old) if old else -1
                    is_done = is_done and 0 <= at
                    while is_done and 0 <= at:
                        span = (text.count("\n", 0, at), text.count("\n", 0, at + len(old)) + 1)
                        text = text[:at] + to + text[at + len(old) :]
                        put(path, text.split("\n"), session, span)
                        at = text.find(old, at + len(to)) if piece.get("replace_all") else -1
                if not is_done:
                    n_failed += 1
                    continue
            n_applied += 1
            pending.add(session)
            if last[session] == time or n_applied % 7 == 0:
                commit(time, f"work of {len(pending)}")
                pending.clear()
        commit(events[-1][0], "rest")
        print(f"{n_applied} edits applied, {n_failed} left out, {len(last)} sessions, {len(authors)} files")

        def ask(*words):
            run = subprocess.run([binary, *words], cwd=work, env=env, capture_output=True, text=True)
            return json.loads(run.stdout) if run.returncode == 0 and run.stdout else None

        done = ask("session", "ingest", "--sweep", "--format", "json")
        print(f"{done['sessions']} sessions taken in")
        rng = random.Random(args.seed)
        places = []
        for path, (lines, who) in authors.items():
            for number, (line, session) in enumerate(zip(lines, who), 1):
                if session and re.search(r"\w", line):
                    places.append((path, number, session))
        counts = Counter()
        wrong = []
        for path, number, session in rng.sample(places, min(args.lines, len(places))):
            why = ask("why", f"{path}:{number}", "--format", "json") or {}
            told = (why.get("sessions") or [{}])[0]
            is_right = told.get("session") == session
            sure = told.get("certainty", "none")
            counts[("right" if is_right else "none" if sure == "none" else "wrong", sure)] += 1
            if not is_right and sure == "certain":
                wrong.append(f"{path.relative_to(work)}:{number} {session} told {told.get('session')}")
        total = sum(counts.values())
        right = sum(n for (what, _), n in counts.items() if what == "right")
        for (what, sure), n in sorted(counts.items()):
            print(f"{what:6} {sure:8} {n:5} {100 * n / total:5.1f} %")
        print(f"right: {100 * right / total:.1f} % of {total} lines (bar 95); wrong and certain: {len(wrong)} (bar 0)")
        print("\n".join(wrong[:10]))


main()
