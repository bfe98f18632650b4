#!/usr/bin/env python3
"""What the hooks cost: beside `git rev-parse HEAD`, and beside hooks that do nothing.

    python3 benches/hooks.py --binary target/release/git-chronicle

Whole processes are timed, output thrown away. What is compared takes turns, each in a repository of its
own made alike, so that a busy moment of the machine hits all of it. An empty hook is `#!/bin/sh` and no
more; there is one for each hook that `git chronicle init` sets up. Missed bars are printed, not failed.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

DATE = "2026-03-01T12:00:00Z"
N_REBASED = 50


def environment(binary: pathlib.Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CHRONICLE_"))}
    return kept | {
        "PATH": f"{binary.parent}{os.pathsep}{kept['PATH']}",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.com",
        "GIT_AUTHOR_DATE": DATE,
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.com",
        "GIT_EDITOR": "true",
    }


class Repository:
    """A throw-away repository."""

    def __init__(self, root: pathlib.Path, env: dict[str, str]):
        self.root = root
        self.env = env
        root.mkdir()
        self.run("git", "init", "--quiet", "--initial-branch=main")
        shutil.rmtree(root / ".git/hooks", ignore_errors=True)
        (root / "a.txt").write_text("a\n")
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "-m", "a: add it")

    def run(self, *args: str, **variables: str) -> None:
        subprocess.run(args, cwd=self.root, env=self.env | variables, check=True, capture_output=True)

    def time(self, *args: str, **variables: str) -> float:
        env = self.env | variables
        start = time.perf_counter()
        subprocess.run(
            args, cwd=self.root, env=env, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        return (time.perf_counter() - start) * 1000

    def hooks(self) -> list[str]:
        directory = self.root / ".git/hooks"
        return sorted(path.name for path in directory.iterdir()) if directory.exists() else []

    def set_empty_hooks(self, names: list[str]) -> None:
        directory = self.root / ".git/hooks"
        directory.mkdir()
        for name in names:
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)

    def grow(self) -> None:
        """Main goes on, and a branch has commits that are to be rebased on it."""
        self.run("git", "checkout", "--quiet", "-b", "topic")
        for number in range(N_REBASED):
            (self.root / f"t{number}.txt").write_text("t\n")
            self.run("git", "add", "--all")
            self.run("git", "commit", "--quiet", "-m", f"t: add {number}")
        self.run("git", "checkout", "--quiet", "main")
        (self.root / "b.txt").write_text("b\n")
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "-m", "b: add it")
        self.run("git", "checkout", "--quiet", "topic")
        self.run("git", "tag", "start")


def median(times: list[float]) -> float:
    return statistics.median(times)


def verdict(what: str, value: float, bar: float, unit: str) -> None:
    print(f"{what}: {value:.2f}{unit}, bar {bar:.2f}{unit}: {'met' if value <= bar else 'MISSED'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--samples", type=int, default=40)
    options = parser.parse_args()
    env = environment(options.binary.resolve())

    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        plain, empty, ours = (Repository(root / name, env) for name in ("plain", "empty", "ours"))
        ours.run("git-chronicle", "init")
        ours.run("git-chronicle", "annotate", "--summary", "Because this is what the bench needs")
        in_files = ours.hooks()
        empty.set_empty_hooks(in_files)
        where = "files: " + ", ".join(in_files) if in_files else "git's configuration"
        print(f"hooks in {where}\n")

        hook = str(ours.root / ".git/hooks/post-commit")
        times: dict[str, list[float]] = {name: [] for name in ("rev-parse", "binary", "script", "empty")}
        for _ in range(options.samples):
            times["rev-parse"].append(ours.time("git", "rev-parse", "HEAD"))
            times["binary"].append(ours.time("git-chronicle", "hook", "post-commit"))
            if in_files:
                times["script"].append(ours.time(hook))
                times["empty"].append(ours.time(str(empty.root / ".git/hooks/post-commit")))
        rev_parse = median(times["rev-parse"])
        for name, taken in times.items():
            if taken:
                print(f"{name:>10}: {median(taken):6.2f} ms  ({median(taken) / rev_parse:.2f} x rev-parse)")
        verdict("post-commit with nothing to do", median(times["binary"]) / rev_parse, 3, " x rev-parse")
        if in_files:
            verdict("  its whole script", median(times["script"]) / rev_parse, 3, " x rev-parse")

        amend = ("git", "commit", "--quiet", "--amend", "--allow-empty", "-m")
        taken = {repository: [] for repository in (plain, empty, ours)}
        for number in range(options.samples):
            for repository, all_taken in taken.items():
                # Each amend makes another commit, so that there is something to rewrite.
                all_taken.append(repository.time(*amend, f"a: {number}"))
        added = median(taken[ours]) - median(taken[plain])
        n_run = len([name for name in in_files if name in ("post-commit", "post-rewrite", "prepare-commit-msg")]) or 2
        one_empty = median(times["empty"]) if in_files else 1.0
        print(f"\namend: plain {median(taken[plain]):.2f} ms, empty hooks {median(taken[empty]):.2f}, ours {median(taken[ours]):.2f}")
        verdict("amend, added time", added, n_run * (one_empty + 1.5 * rev_parse), " ms")

        for repository in (empty, ours):
            repository.grow()
        rebased = {repository: [] for repository in (empty, ours)}
        for _ in range(max(5, options.samples // 4)):
            for repository, all_taken in rebased.items():
                repository.run("git", "reset", "--quiet", "--hard", "start")
                all_taken.append(repository.time("git", "rebase", "--quiet", "main"))
        print(f"\nrebase of {N_REBASED}: empty hooks {median(rebased[empty]):.0f} ms, ours {median(rebased[ours]):.0f}")
        verdict("rebase", median(rebased[ours]) / median(rebased[empty]), 1.25, " x with empty hooks")


if __name__ == "__main__":
    main()
