#!/usr/bin/env python3
"""How long `git chronicle reconcile` takes in a long history with many lost commits.

    reconcile.py [--binary FILE] [--commits N] [--lost N] [--keep DIRECTORY]

Makes a history of N commits, and beside it annotated commits whose branches are gone: seven of
ten were rebased, two were edited on the way, one was given up. Measures `reconcile --dry-run`,
`reconcile` and the one after it that finds nothing new, while the old commits are there and again
when they are gone, and counts the git processes that are started. The bar is 10 seconds for
10,000 commits and 1,000 lost ones, with a number of processes that does not grow with either.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

N_FILES = 400
START = 1700000000


class History:
    """Files as they are on main, and the stream that makes their history."""

    def __init__(self, seed=7):
        self.random = random.Random(seed)
        self.files = {f"src/part{n % 20}/file{n}.rs": self.lines(60) for n in range(N_FILES)}
        self.stream = []
        self.mark = 0
        self.time = START

    def lines(self, n):
        return [f"let value_{self.random.randrange(10**9)} = step_{self.random.randrange(10**6)}(state);"
                for _ in range(n)]

    def commit(self, ref, parent, files, message):
        self.mark += 1
        self.time += 60
        text = [f"commit {ref}", f"mark :{self.mark}", f"committer Ada <ada@example.com> {self.time} +0000",
                f"data {len(message)}", message]
        if parent:
            text.append(f"from :{parent}")
        for path, lines in files.items():
            data = "\n".join(lines) + "\n"
            text += [f"M 100644 inline {path}", f"data {len(data)}", data]
        self.stream.append("\n".join(text) + "\n")
        return self.mark

    def changed(self, n_lines):
        """A file with new lines in it, and what they are."""
        path = self.random.choice(list(self.files))
        lines = list(self.files[path])
        at = self.random.randrange(len(lines))
        new = self.lines(n_lines)
        return path, at, lines[:at] + new + lines[at + self.random.randrange(3):], new


def make(path, n_commits, n_lost):
    """Makes the repository; returns marks of the lost commits with file and lines."""
    history = History()
    at = history.commit("refs/heads/main", None, history.files, "Begin")
    every = max(1, n_commits // n_lost)
    lost = []
    for n in range(1, n_commits):
        if n % every == every - 1 and len(lost) < n_lost:
            file, start, lines, new = history.changed(8)
            base = history.files[file]
            mark = history.commit(f"refs/heads/lost{len(lost)}", at, {file: lines}, f"Lost {len(lost)}")
            lost.append((mark, file, start + 1, start + 8))
            kind = len(lost) % 10
            # Main goes on before the branch lands.
            moved = history.lines(3)
            at = history.commit("refs/heads/main", at, {file: moved + base}, f"Change {n}")
            landed = moved + lines
            if kind in (7, 8):
                landed = [line if line != new[0] else "let edited = on_the_way(state);" for line in landed]
            if kind == 9:
                landed = moved + base
                file = "src/given_up.rs"
            at = history.commit("refs/heads/main", at, {file: landed}, f"Land {n}")
            history.files[file] = landed
        else:
            file, _, lines, _ = history.changed(history.random.randrange(1, 12))
            history.files[file] = lines[:200]
            at = history.commit("refs/heads/main", at, {file: history.files[file]}, f"Change {n}")
    marks = os.path.join(path, "marks")
    subprocess.run(["git", "fast-import", "--quiet", f"--export-marks={marks}"], cwd=path,
                   input="".join(history.stream), text=True, check=True)
    ids = dict(line.split() for line in open(marks))
    os.remove(marks)
    return [(ids[f":{mark}"], *rest) for mark, *rest in lost]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/git-chronicle")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--lost", type=int, default=1_000)
    parser.add_argument("--keep", help="leave the repository here")
    options = parser.parse_args()
    binary = os.path.abspath(options.binary)
    directory = options.keep or tempfile.mkdtemp(prefix="reconcile-")
    path = os.path.join(directory, "repository")
    os.makedirs(path)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CHRONICLE_"))}
    env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1")
    git = shutil.which("git")
    counter = os.path.join(directory, "bin")
    os.makedirs(counter)
    log = os.path.join(directory, "processes")
    with open(os.path.join(counter, "git"), "w") as file:
        file.write(f'#!/bin/sh\necho "$@" >> {log}\nexec {git} "$@"\n')
    os.chmod(os.path.join(counter, "git"), 0o755)

    def run(*args, **more):
        return subprocess.run(args, cwd=path, env=env, check=True, capture_output=True, text=True, **more).stdout

    run("git", "init", "--quiet", "--initial-branch=main")
    run("git", "config", "gc.auto", "0")
    lost = make(path, options.commits, options.lost)
    for number, (commit, file, start, end) in enumerate(lost):
        entry = {"category": "gotcha", "content": f"Lesson {number}", "file": file,
                 "lines": {"start": start, "end": end}}
        document = {"commit": commit, "summary": f"Why number {number} was done so", "wisdom": [entry]}
        run(binary, "annotate", "--live", input=json.dumps(document))
    run("git", "update-ref", "--stdin", input="".join(f"delete refs/heads/lost{n}\n" for n in range(len(lost))))
    run("git", "gc", "--quiet")
    tip = run("git", "rev-parse", "refs/notes/chronicle").strip()
    assert len(lost) == options.lost
    n_given_up = sum(number % 10 == 9 for number in range(1, len(lost) + 1))
    print(f"{len(lost)} lost commits, of which {len(lost) - n_given_up} landed in another form\n")
    print("| old commits | call | seconds | matched | carried | git processes |")
    print("|---|---|---|---|---|---|")
    for state in ("here", "gone"):
        run("git", "update-ref", "refs/notes/chronicle", tip)
        if state == "gone":
            run("git", "reflog", "expire", "--expire=now", "--all")
            run("git", "gc", "--quiet", "--prune=now")
        for call in (["reconcile", "--dry-run"], ["reconcile"], ["reconcile"]):
            open(log, "w").close()
            began = time.monotonic()
            done = subprocess.run([binary, *call, "--format=json"], cwd=path, check=True, capture_output=True,
                                  env={**env, "PATH": counter + os.pathsep + env["PATH"]})
            seconds = time.monotonic() - began
            answer = json.loads(done.stdout)
            n_processes = len(open(log).read().splitlines())
            print(f"| {state} | {' '.join(call)} | {seconds:.2f} | {len(answer['matches'])} | "
                  f"{answer['carried']} | {n_processes} |", flush=True)
    if not options.keep:
        shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(main())
