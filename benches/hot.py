#!/usr/bin/env python3
"""How much of what the next session touches stands in the hot tier.

    python3 benches/hot.py --binary target/release/git-chronicle [--transcripts ../shared/data/transcripts]

For each session of real transcripts that continues a branch, or else a project, everything that ended before it is taken in, the clock
is set to its beginning, and the briefing of its project and branch is made. Then it is looked which of the files that
the session changed, and which of the threads that it told of, stand in it. Only what was known before counts: a file
that some earlier session of the project changed, a thread that was there. Names and words are printed of nothing.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path


def placed(path):
    """Name, session, folder, rows of one transcript of Claude Code, and its first and last time."""
    rows = []
    session = folder = branch = None
    times = []
    with gzip.open(path, "rt", errors="replace") as lines:
        for line in lines:
            rows.append(line)
            try:
                row = json.loads(line)
            except ValueError:
                continue
            session = session or row.get("sessionId")
            folder = folder or row.get("cwd")
            branch = row.get("gitBranch") or branch
            if row.get("timestamp"):
                times.append(row["timestamp"])
    return session, folder, branch, rows, min(times, default=None), max(times, default=None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--transcripts", default=str(Path(__file__).parent / "../../shared/data/transcripts"))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).resolve())
    talks = []
    for path in sorted(Path(arguments.transcripts).glob("*.jsonl.gz")):
        session, folder, branch, rows, first, last = placed(path)
        if session and folder and first:
            talks.append((first, last, session, folder, branch, rows))
    talks.sort(key=lambda talk: talk[:3])
    # Of snapshots of one session, the last one.
    talks = list({talk[2]: talk for talk in talks}.values())
    talks.sort(key=lambda talk: talk[:3])
    shares = {which: {"files": [0, 0], "threads": [0, 0]} for which in ("branch", "project")}
    n_sessions = {"branch": 0, "project": 0}
    n_longest = 0
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        env = {**os.environ, "HOME": str(top), "CHRONICLE_HOME": str(top / "memory"), "TZ": "UTC",
               "GIT_CONFIG_GLOBAL": "/dev/null"}
        env.pop("XDG_DATA_HOME", None)
        ask = lambda args, **more: json.loads(
            subprocess.run([binary, *args, "--format=json"], cwd=top, env={**env, **more}, check=True, capture_output=True).stdout)
        seen = {}
        for number, (first, last, session, folder, branch, rows) in enumerate(talks):
            earlier = [talk for talk in talks[:number] if talk[1] < first and talk[3] == folder]
            same_branch = any(talk[4] == branch for talk in earlier)
            before = None
            if earlier:
                # The repositories of the transcripts are not there: their folders are projects of their own.
                subprocess.run([binary, "consolidate"], cwd=top, env={**env, "CHRONICLE_NOW": first}, check=True, capture_output=True)
                brief = subprocess.run([binary, "brief", "--project", folder], cwd=top, env={**env, "CHRONICLE_NOW": first}, check=True, capture_output=True)
                before = brief.stdout.decode()
                n_longest = max(n_longest, len(before))
                opened = {item["id"] for item in ask(["pending", "--project", folder, "--limit", "10000", "--archived"], CHRONICLE_NOW=first)["items"]}
            slug = re.sub(r"[^A-Za-z0-9]", "-", folder)
            target = top / ".claude/projects" / slug / f"{session}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(rows))
            subprocess.run([binary, "session", "ingest", str(target)], cwd=top, env={**env, "CHRONICLE_NOW": last}, check=True, capture_output=True)
            try:
                shown = ask(["session", "show", session])
            except (subprocess.CalledProcessError, ValueError):
                continue
            files = {path for path, _ in shown["files"]}
            if before is not None:
                known = seen.get(folder, set())
                counted = files & known
                threads = {thread["thread"] for thread in shown["threads"]} & opened
                found = {path for path in counted if path in before}
                told = {thread for thread in threads if thread[:6] in before}
                for which in ("branch", "project") if same_branch else ("project",):
                    shares[which]["files"][0] += len(found)
                    shares[which]["files"][1] += len(counted)
                    shares[which]["threads"][0] += len(told)
                    shares[which]["threads"][1] += len(threads)
                    n_sessions[which] += 1
                if arguments.verbose:
                    print(f"{session[:8]}: {len(found)} of {len(counted)} known files ({len(files)} in all), "
                          f"{len(told)} of {len(threads)} known threads, {len(before)} characters")
            seen.setdefault(folder, set()).update(files)
    print(f"{len(talks)} sessions; the longest briefing has {n_longest} characters")
    for which, kinds in shares.items():
        n_found = sum(found for found, _ in kinds.values())
        n_all = sum(n for _, n in kinds.values())
        told = ", ".join(f"{found} of {n} {kind}" for kind, (found, n) in kinds.items())
        print(f"{n_sessions[which]} sessions that continue a {which}: {told}; both {n_found / max(n_all, 1):.0%} (the bar is 60 %)")


if __name__ == "__main__":
    main()
