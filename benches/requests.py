#!/usr/bin/env python3
"""How large the requests of the writing agent are over a real history, and whether they show every changed line once.

    requests.py CLONE [--binary FILE] [--commits N] [--context TOKENS] [--check N]

No model is asked: `annotate --agent --dry-run` plans every commit, and says of each request how many tokens it has at
most, and which changed lines it shows.

Whether each changed line is shown exactly once is not taken from our own diff. Of N commits, drawn at random, git gives
the old and the new version of every file that is shown; what the requests show is applied to the old one, in the order
of its lines, and must give the new one, line by line. A run that is left out, shown twice or shown in part gives
something else. Which files are shown at all is held against `git diff --name-only`: what is neither shown nor named
with a reason is missing. Commits with several parents show only what the merge itself made, and are left out of this.
"""

import argparse
import json
import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("clone", type=Path)
    arguments.add_argument("--binary", default="target/release/git-chronicle")
    arguments.add_argument("--commits", type=int, default=5_000)
    arguments.add_argument("--context", type=int, default=200_000)
    arguments.add_argument("--check", type=int, default=500)
    given = arguments.parse_args()
    env = {**os.environ, "CHRONICLE_HOME": "/nonexistent", "CHRONICLE_LLM_PROVIDER": "anthropic",
           "CHRONICLE_LLM_BASE_URL": "http://127.0.0.1:9/v1", "CHRONICLE_LLM_MODEL": "none",
           "CHRONICLE_LLM_CONTEXT_TOKENS": str(given.context)}

    def git(*args):
        return subprocess.run(["git", "-C", given.clone, *args], check=True, capture_output=True).stdout

    ids = git("rev-list", f"--max-count={given.commits + 1}", "HEAD").decode().split()
    between = f"{ids[-1]}..{ids[0]}" if given.commits < len(ids) else ids[0]
    began = time.monotonic()
    planned = subprocess.run(
        [Path(given.binary).resolve(), "annotate", "--agent", "--dry-run", "--format=json", "--", between],
        cwd=given.clone, env=env, capture_output=True, check=False)
    assert planned.stdout, planned.stderr.decode()
    took = time.monotonic() - began
    commits = json.loads(planned.stdout)["commits"]
    print(f"{len(commits)} commits planned in {took:.1f} s, {1000 * took / len(commits):.1f} ms each (all processors)")
    report(commits)
    check(git, [commit for commit in commits if commit["outcome"] == "planned"], given.check)


def report(commits):
    for outcome, count in Counter(commit["outcome"] for commit in commits).most_common():
        print(f"  {outcome:10} {count:6}  {100 * count / len(commits):5.1f} %")
    reasons = Counter(commit["reason"].split(" (")[0] for commit in commits if commit["outcome"] == "trivial")
    for reason, count in reasons.most_common(8):
        print(f"    {count:6} {reason}")
    for commit in commits:
        if commit["outcome"] == "failed":
            print(f"    failed: {commit['commit']} {commit['reason']}")
    requests = [request for commit in commits for request in commit.get("requests", [])]
    sizes = sorted(request["tokens"] for request in requests)
    print(f"{len(sizes)} requests, tokens counted from above:")
    for share in (0, 10, 50, 90, 95, 99, 99.9, 100):
        print(f"  {share:5} %  {sizes[min(len(sizes) - 1, int(share / 100 * len(sizes)))]:8}")
    over = [request for request in requests if request["limit"] < request["tokens"]]
    print(f"  beyond their limit of {requests[0]['limit']}: {len(over)}")
    chunks = Counter(commit["chunks"] for commit in commits if commit["outcome"] == "planned")
    print("conversations of a commit: " + ", ".join(f"{n}: {count}" for n, count in sorted(chunks.items())))


def lines(content):
    content = content.removesuffix(b"\n")
    return [line.removesuffix(b"\r") for line in content.split(b"\n")] if content else []


def check(git, commits, n_checked):
    random.Random(7).shuffle(commits)
    n_files = n_lines = n_bad = n_commits = n_missing = 0
    for commit in commits:
        if n_commits == n_checked:
            break
        name = commit["commit"]
        parents = git("rev-list", "--parents", "-n1", name).decode().split()[1:]
        if 1 < len(parents):
            continue
        n_commits += 1
        raw = git("diff-tree", "--root", "-r", "-z", "-M50%", "--no-commit-id", name).split(b"\0")
        changed, at = {}, 0
        while at + 1 < len(raw):
            old_mode, new_mode, old, new, status = raw[at].decode().lstrip(":").split(" ")
            is_renamed = status[0] in "RC"
            path = raw[at + (2 if is_renamed else 1)].decode("utf-8", "replace")
            at += 3 if is_renamed else 2
            if "160000" not in (old_mode, new_mode):
                changed[path] = (old, new)
        shown = {}
        for request in commit["requests"]:
            for piece in request["shows"]:
                shown.setdefault(piece["file"], []).append((*piece["old"], *piece["new"]))
        aside = {path for path, _reason in commit.get("aside", [])}
        missing = changed.keys() - shown.keys() - aside
        n_missing += len(missing)
        for path in missing:
            print(f"  {name[:12]} {path}: neither shown nor named")
        for path, pieces in shown.items():
            if path not in changed:
                print(f"  {name[:12]} {path}: git says it is not changed so")
                n_bad += 1
                continue
            old, new = (lines(git("cat-file", "blob", blob)) if set(blob) != {"0"} else [] for blob in changed[path])
            n_files += 1
            n_lines += sum(piece[1] + piece[3] for piece in pieces)
            if patched(old, new, sorted(pieces, key=lambda piece: (piece[0], piece[2]))) != new:
                print(f"  {name[:12]} {path}: what is shown does not make the new version")
                n_bad += 1
    print(f"checked against git: {n_commits} commits, {n_files} files, {n_lines} changed lines: "
          f"{n_bad} files wrong, {n_missing} missing")


def patched(old, new, pieces):
    out, at = [], 0
    for old_start, old_len, new_start, new_len in pieces:
        if old_start - 1 < at:
            return None
        out += old[at:old_start - 1] + new[new_start - 1:new_start - 1 + new_len]
        at = old_start - 1 + old_len
    return out + old[at:]


if __name__ == "__main__":
    main()
