#!/usr/bin/env python3
"""What agents' hooks cost as cold processes, beside `git rev-parse HEAD` and an empty program.

    benches/agent_hooks.py BINARY REPOSITORY [SESSIONS]

REPOSITORY is one with many commits and annotations; it is copied, and a file of 2,000 lines is added to the copy.
SESSIONS (10,000, unless another number is given) are made up and taken in as sessions of that repository.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

from briefing import transcript

ROUNDS = 100


def main():
    binary = str(Path(sys.argv[1]).resolve())
    n_sessions = int(sys.argv[3]) if 3 < len(sys.argv) else 10_000
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        repo, home = top / "repo", top / "home"
        env = {**os.environ, "HOME": str(home), "CHRONICLE_HOME": str(home / "memory"), "GIT_CONFIG_GLOBAL": "/dev/null",
               "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com",
               "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.com"}
        env.pop("XDG_DATA_HOME", None)
        run = lambda *args, **more: subprocess.run(args, cwd=repo, env=env, check=True, capture_output=True, **more)
        subprocess.run(["cp", "-a", sys.argv[2], repo], check=True)
        run("git", "checkout", "-q", "-f", "HEAD")
        lines = [f"let value_{n} = compute({n});" for n in range(2000)]
        long = repo / "long.rs"
        long.write_text("\n".join(lines) + "\n")
        run("git", "add", "long.rs")
        run("git", "commit", "-q", "--no-verify", "-m", "a long file")
        wisdom = [{"category": "gotcha", "content": f"Value {n} must stay below the limit.", "file": "long.rs",
                   "lines": {"start": n, "end": n + 3}} for n in range(100, 2000, 100)]
        run(binary, "annotate", "--json", json.dumps({"summary": "values", "wisdom": wisdom}))
        folder = home / ".claude/projects/-repo"
        folder.mkdir(parents=True)
        now = datetime.now(timezone.utc)
        for number in range(n_sessions):
            session, text, at = transcript(rng, number, str(repo), now - timedelta(hours=2.4 * (n_sessions - number)))
            path = folder / f"{session}.jsonl"
            path.write_text(text)
            os.utime(path, (at.timestamp(), at.timestamp()))
        run(binary, "session", "ingest", "--sweep")
        run(binary, "read", "long.rs", "--lines", "100:103")
        run(binary, "brief")
        counted = run(binary, "status", "--format", "json").stdout
        print(f"{n_sessions} sessions; {json.loads(counted).get('annotated')} annotated commits")
        empty = top / "empty"
        subprocess.run(["cc", "-O2", "-o", empty, "-x", "c", "-"], input=b"int main(void){return 0;}", check=True)
        payload = top / "payload.json"
        null = os.open(os.devnull, os.O_WRONLY)
        os.chdir(repo)

        def timed(command, given):
            payload.write_text(json.dumps(given))
            stdin = os.open(payload, os.O_RDONLY)
            actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
            before = time.perf_counter()
            child = os.posix_spawnp(command[0], command, env, file_actions=actions)
            os.waitpid(child, 0)
            taken = (time.perf_counter() - before) * 1e3
            os.close(stdin)
            return taken

        known = str(uuid.uuid4())
        transcripts = sorted(folder.iterdir())

        def start():
            return {"session_id": str(uuid.uuid4()), "cwd": str(repo), "source": "startup"}

        def edit(session):
            at = rng.randrange(1, 1990)
            lines[at] = f"let value_{at} = compute({rng.random()});"
            long.write_text("\n".join(lines) + "\n")
            old = "\n".join(lines[at : at + 3])
            return {"session_id": session, "cwd": str(repo), "tool_name": "Edit", "tool_use_id": str(uuid.uuid4()),
                    "tool_input": {"file_path": str(long), "old_string": old, "new_string": old + "\n// more"}}

        def end():
            return {"session_id": known, "cwd": str(repo), "transcript_path": str(rng.choice(transcripts))}

        hook = lambda event: [binary, "hook", "claude", event]
        commands = {
            "an empty program": ([str(empty)], dict),
            "git rev-parse HEAD": (["git", "rev-parse", "HEAD"], dict),
            "SessionStart": (hook("session-start"), start),
            "PreToolUse, new session": (hook("pre-tool-use"), lambda: edit(str(uuid.uuid4()))),
            "PreToolUse, same session": (hook("pre-tool-use"), lambda: edit(known)),
            "Stop": (hook("stop"), end),
            "SessionEnd": (hook("session-end"), end),
        }
        taken = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, (command, given) in commands.items():
                taken[name].append(timed(command, given()))
                time.sleep(0.01)  # What goes on behind a hook shall not disturb the next one.
        base, least = (statistics.median(taken[name]) for name in ("git rev-parse HEAD", "an empty program"))
        bars = {"SessionStart": 6, "PreToolUse, new session": 3, "PreToolUse, same session": 3, "Stop": 3, "SessionEnd": 3}
        for name, times in taken.items():
            times.sort()
            median, late = statistics.median(times), times[int(len(times) * 0.95)]
            bar = f" (bar {bars[name]})" if name in bars else ""
            print(f"{name:25} {median:6.2f} ms median, {late:6.2f} ms p95 = {late / median:.1f} x median; "
                  f"{median / base:.2f} x git{bar}, {median / least:.1f} x empty")


main()
