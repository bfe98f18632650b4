#!/usr/bin/env python3
"""What a briefing costs with many sessions stored, beside `git rev-parse HEAD`.

    benches/briefing.py BINARY [SESSIONS]

Writes transcripts of made-up sessions (10,000, unless another number is given) as Claude Code does, lets BINARY
take them in, and runs each question and git in turns, as processes of their own.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROUNDS = 60
VERBS = "Add Fix Bound Test Document Rename Split Cache Log Measure Check Move".split()
NOUNS = "pool queue parser index cache writer reader lock timer socket schema digest ranking budget".split()
PLACES = "client server hook worker store search render cli config sync merge note thread outline".split()


def sentence(rng):
    return f"{rng.choice(VERBS)} the {rng.choice(NOUNS)} of the {rng.choice(PLACES)} in part {rng.randrange(4000)}"


def transcript(rng, number, folder, start):
    session = f"{rng.getrandbits(32):08x}-0000-4000-8000-{number:012}"
    at = start
    rows = []

    def row(kind, content, **more):
        nonlocal at
        at += timedelta(seconds=40)
        rows.append({
            "type": kind, "uuid": f"{number:08}-0000-4000-8000-{len(rows):012}", "sessionId": session,
            "cwd": folder, "gitBranch": f"topic/{number % 40}" if number % 3 else "main", "version": "2.1.40",
            "isSidechain": False, "userType": "external", "timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "message": {"role": kind, "content": content, "id": f"msg_{number}_{len(rows)}", "model": "m"}, **more,
        })

    def tool(name, call, answer, is_error=False):
        use = f"toolu_{number:012}_{len(rows):06}"
        row("assistant", [{"type": "tool_use", "id": use, "name": name, "input": call}])
        row("user", [{"type": "tool_result", "tool_use_id": use, "content": answer, "is_error": is_error}])

    wish = sentence(rng)
    row("user", wish + ". " + " ".join(sentence(rng) for _ in range(6)))
    items = [sentence(rng) for _ in range(3)]
    left = rng.random() < 0.3
    tool("TodoWrite", {"todos": [{"content": i, "status": "pending", "activeForm": i} for i in items]}, "ok")
    for _ in range(3):
        row("assistant", [{"type": "text", "text": " ".join(sentence(rng) for _ in range(12))}])
        path = f"{folder}/src/{rng.choice(PLACES)}.rs"
        tool("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "The file has been updated.")
    failed = rng.random() < 0.1
    tool("Bash", {"command": f"cargo test -p {rng.choice(PLACES)}"}, "test result: FAILED. 1 failed; " if failed else "test result: ok.", failed)
    tool("Bash", {"command": f"git commit -qam '{wish}'"}, f"[main {rng.getrandbits(28):07x}] {wish}\n 1 file changed")
    done = items[: 2 if left else 3]
    tool("TodoWrite", {"todos": [{"content": i, "status": "completed" if i in done else "pending", "activeForm": i} for i in items]}, "ok")
    row("assistant", [{"type": "text", "text": "Done. " + sentence(rng)}])
    return session, "".join(json.dumps(one) + "\n" for one in rows), at


def main():
    binary = str(Path(sys.argv[1]).resolve())
    n_sessions = int(sys.argv[2]) if 2 < len(sys.argv) else 10_000
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        repo, home = top / "repo", top / "home"
        env = {**os.environ, "HOME": str(home), "CHRONICLE_HOME": str(home / "memory"), "GIT_CONFIG_GLOBAL": "/dev/null",
               "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
               "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com"}
        env.pop("XDG_DATA_HOME", None)
        run = lambda *args, **more: subprocess.run(args, cwd=repo, env=env, check=True, capture_output=True, **more)
        repo.mkdir()
        run("git", "init", "-q", "-b", "main")
        (repo / "a.txt").write_text("a\n")
        run("git", "add", "a.txt")
        run("git", "commit", "-qm", "begin")
        folder = home / ".claude/projects" / str(repo).replace("/", "-")
        folder.mkdir(parents=True)
        now = datetime.now(timezone.utc)
        n_bytes = 0
        for number in range(n_sessions):
            # Ten a day: most threads are archived, as after years of work.
            start = now - timedelta(hours=2.4 * (n_sessions - number))
            session, text, at = transcript(rng, number, str(repo), start)
            path = folder / f"{session}.jsonl"
            path.write_text(text)
            os.utime(path, (at.timestamp(), at.timestamp()))
            n_bytes += len(text)
        before = time.perf_counter()
        run(binary, "session", "ingest", "--sweep")
        seconds = time.perf_counter() - before
        store = (home / "memory/chronicle.db").stat().st_size
        print(f"{n_sessions} sessions, {n_bytes / 1e6:.0f} MB: taken in within {seconds:.1f} s, store {store / 1e6:.0f} MB")
        commands = {
            "git rev-parse HEAD": ["git", "rev-parse", "HEAD"],
            "brief": [binary, "brief"],
            "brief --all": [binary, "brief", "--all"],
            "pending": [binary, "pending"],
            "pending --all": [binary, "pending", "--all"],
            "catch-up": [binary, "catch-up"],
        }
        taken = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                before = time.perf_counter()
                run(*command)
                taken[name].append((time.perf_counter() - before) * 1e3)
        base = statistics.median(taken["git rev-parse HEAD"])
        for name, times in taken.items():
            times.sort()
            median = statistics.median(times)
            print(f"{name:20} {median:6.2f} ms median, {times[int(len(times) * 0.95)]:6.2f} ms p95, {median / base:.1f} × git")
        print(run(binary, "brief").stdout.decode()[:1500])


if __name__ == "__main__":
    main()
