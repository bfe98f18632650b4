#!/usr/bin/env python3
"""What is left when writers are killed, and how long whoever comes next has to wait.

    python3 benches/kill.py --binary target/release/git-chronicle

Annotates and syncs in two clones of one remote while other processes keep the machine busy, and kills with
SIGKILL at random moments: the process alone, so that a git that it started lives on; that git alone; or all
of them. Then it prints the locks that are left, with their contents, and times the next annotation and the
next sync, which must work. Exits with 1 when one of them failed, or when something was lost.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import signal
import statistics
import subprocess
import tempfile
import time

NAMES = ("ada", "bob")


def environment(binary: pathlib.Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CHRONICLE_"))}
    return kept | {
        "PATH": f"{binary.parent}{os.pathsep}{kept['PATH']}",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
    }


def burn() -> None:
    while True:
        sum(range(10_000))


class Team:
    """A bare remote and two clones of it."""

    def __init__(self, root: pathlib.Path, binary: pathlib.Path, n_commits: int):
        self.root, self.binary, self.env = root, binary, environment(binary)
        self.git(root, "init", "--quiet", "--initial-branch=main", "seed")
        seed = root / "seed"
        for number in range(n_commits):
            (seed / "pool.rs").write_text(f"fn acquire() {{ wait({number}) }}\n")
            self.git(seed, "add", "--all")
            self.git(seed, "commit", "--quiet", "-m", f"pool: wait {number}")
        self.git(root, "clone", "--quiet", "--bare", "seed", "remote.git")
        for name in NAMES:
            self.git(root, "clone", "--quiet", "remote.git", name)
            self.ours(name, "sync", "enable")
        self.commits = self.git(seed, "rev-list", "HEAD").split()

    def git(self, directory: pathlib.Path, *args: str) -> str:
        ran = subprocess.run(("git", *args), cwd=directory, env=self.env, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def start(self, name: str, *args: str) -> subprocess.Popen:
        return subprocess.Popen(
            (self.binary, *args), cwd=self.root / name, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def ours(self, name: str, *args: str) -> subprocess.CompletedProcess:
        child = self.start(name, *args)
        stdout, stderr = child.communicate()
        return subprocess.CompletedProcess(args, child.returncode, stdout, stderr)

    def annotate_args(self, number: int) -> tuple[str, ...]:
        lesson = {"category": "gotcha", "content": f"Lesson number {number:05} was learnt the hard way.", "file": "pool.rs"}
        document = {"summary": f"Summary {number} says why it is so", "wisdom": [lesson]}
        commit = self.commits[number % len(self.commits)]
        return ("annotate", "--json", json.dumps(document), "--commit", commit)

    def locks(self) -> list[str]:
        """Locks in all repositories, with what they hold; our own lock files stay where they are."""
        found = []
        for path in self.root.glob("**/*.lock"):
            if "chronicle" in path.parts[:-1] and path.parent.name != "notes" and "remotes" not in path.parts:
                continue
            try:
                found.append(f"{path.relative_to(self.root)}: {path.read_text()[:60]!r}")
            except OSError:
                pass
        return sorted(found)


def children_of(pid: int) -> list[int]:
    """All processes below `pid`."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            below = [int(child) for child in task.read_text().split()]
        except OSError:
            continue
        found += below + [deeper for child in below for deeper in children_of(child)]
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--busy", type=int, default=2 * (os.cpu_count() or 1), help="processes that keep the machine busy")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(options.busy)]
    for process in busy:
        process.start()

    left, failed, waits = collections.Counter(), [], {"annotate": [], "sync": []}
    with tempfile.TemporaryDirectory() as directory:
        team = Team(pathlib.Path(directory), options.binary.resolve(), 4)
        stored, number = [], 0
        usual = {}
        for kind, args in (("annotate", team.annotate_args(0)), ("sync", ("sync", "push"))):
            started = time.perf_counter()
            team.ours("ada", *args)
            usual[kind] = time.perf_counter() - started
        for n in range(options.kills):
            name, kind, victim = NAMES[n % 2], chance.choice(("annotate", "sync", "sync")), chance.choice(("us", "git", "all"))
            number += 1
            args = team.annotate_args(number) if kind == "annotate" else ("sync", "push")
            if kind == "sync":
                team.ours(name, *team.annotate_args(number))
            child = team.start(name, *args)
            time.sleep(chance.random() * 1.2 * usual[kind])
            below = children_of(child.pid)
            if victim in ("us", "all"):
                kill(child.pid)
            if victim in ("git", "all"):
                for pid in reversed(below):
                    kill(pid)
            child.communicate()
            if kind == "annotate" and child.returncode == 0:
                stored.append(number)
            for lock in team.locks():
                left[f"{kind}, killed {victim}: {lock.split(': ')[0].split('/', 1)[1]}"] += 1
                print(f"{n}: {kind}, killed {victim}: {lock}")
            for kind, args in (("annotate", None), ("sync", ("sync", "push"))):
                number += 1
                started = time.perf_counter()
                ran = team.ours(name, *(args or team.annotate_args(number)))
                waits[kind].append(time.perf_counter() - started)
                if ran.returncode != 0:
                    failed.append(f"{n}: {kind} after killing {victim}: {ran.stderr.strip()}")
                    print(failed[-1])
                elif kind == "annotate":
                    stored.append(number)
            remaining = team.locks()
            if remaining:
                print(f"{n}: still there: {remaining}")
        for name in (*NAMES, *NAMES):
            team.ours(name, "sync", "push")
        for name in NAMES:
            notes = team.git(team.root / name, "grep", "-h", "-e", "", "refs/notes/chronicle")
            lost = [number for number in stored if f"Lesson number {number:05} " not in notes]
            if lost:
                failed.append(f"{name} lacks lessons {lost}")
    for process in busy:
        process.terminate()

    print(f"\n{options.kills} kills; locks that were left:")
    for what, count in sorted(left.items()):
        print(f"  {count:4} {what}")
    for kind, taken in waits.items():
        print(f"the next {kind}: median {statistics.median(taken):.3f} s, longest {max(taken):.3f} s (undisturbed {usual[kind]:.3f} s)")
    print(*failed, f"{len(failed)} failures", sep="\n")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
