#!/usr/bin/env python3
"""Holds who wrote a line, as `why` tells it from the index, against `git blame`.

    python3 benches/blamed.py CLONE --binary target/release/git-chronicle [--files N] [--seed N]

Asks of random files of CLONE, which has notes on most of its commits, for all lines at once, and prints how many are
told otherwise than by git. A file of which the index does not know is answered by git itself; how often that was is
told by the files that are kept for it.
"""

import argparse
import json
import pathlib
import random
import subprocess


def output(directory, *args):
    return subprocess.run(args, cwd=directory, check=True, capture_output=True).stdout


def told(directory, binary, path, n_lines):
    """The commit of each line, as `why` says it."""
    why = json.loads(output(directory, binary, "why", f"{path}:1-{n_lines}", "--format", "json"))
    return {
        line: wrote["commit"]
        for wrote in why["commits"]
        for lines in wrote["lines"]
        for line in range(lines["start"], lines["end"] + 1)
    }


def blamed(directory, path):
    """The same, as git says it."""
    lines, is_header = {}, True
    for line in output(directory, "git", "blame", "--porcelain", "HEAD", "--", path).split(b"\n"):
        if is_header and line:
            commit, _, number = line.split(b" ")[:3]
            lines[int(number)], is_header = commit.decode(), False
        elif line.startswith(b"\t"):
            is_header = True
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone", type=pathlib.Path)
    parser.add_argument("--binary", type=lambda path: str(pathlib.Path(path).resolve()), required=True)
    parser.add_argument("--files", type=int, default=250)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()

    paths = output(options.clone, "git", "ls-files", "-z").decode().split("\0")[:-1]
    random.Random(options.seed).shuffle(paths)
    kept = options.clone / ".git/chronicle/blames"
    n_files = n_lines = n_otherwise = 0
    for path in paths:
        full = options.clone / path
        content = full.read_bytes() if full.is_file() and not full.is_symlink() else b""
        if not content or b"\0" in content:
            continue
        ours = told(options.clone, options.binary, path, len(content.splitlines()))
        theirs = blamed(options.clone, path)
        otherwise = [line for line, commit in theirs.items() if ours.get(line) != commit]
        if otherwise:
            print(f"{path}: {len(otherwise)} of {len(theirs)} lines, such as line {otherwise[0]}")
        n_files, n_lines, n_otherwise = n_files + 1, n_lines + len(theirs), n_otherwise + len(otherwise)
        if n_files == options.files:
            break
    n_by_git = len(list(kept.glob("*.idx"))) if kept.is_dir() else 0
    print(f"{n_otherwise} of {n_lines} lines in {n_files} files are told otherwise; {n_by_git} files were left to git")


if __name__ == "__main__":
    main()
