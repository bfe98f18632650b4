#!/usr/bin/env python3
"""How often a lesson is shown on code that it is not about, or said to be gone while its code is there.

    placing.py place CLONES CASES [--binary FILE] [--lessons N] [--seed N]
    placing.py count CASES JUDGED

CLONES is a directory that holds a clone of each repository in REPOSITORIES under its name. A clone is never written to.

`place` notes lessons on random hunks of random commits, N for each repository, and asks for all of them in all files of
HEAD at once. `git blame --reverse C..HEAD` says where the lines were last. Wherever the two differ, somebody has to look:
blame itself takes any two equal lines for one. So each place that only one of them names becomes a case, with the code as
it was recorded and as it is there, in random order and without a word of who names it. A case is a place of ours where
blame knows no line of the lesson, or a place of blame's where we say that the lesson is gone.

`count` reads what was judged: a JSON object with `same`, `other` or `unsure` for the number of each case, which say
whether the code at the place is the recorded code, edited or not. A place of ours that holds other code is a wrong place;
a lesson is wrongly gone where blame's place holds its code.
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

REPOSITORIES = {
    "jj": "9d905d5432869c7aa9539e6e5c7fece5842bed37",
    "ripgrep": "3fce3b5bb0236da2df6d99672afb8a719642eca7",
    "requests": "1f6589ec3a1ee910f9a65cc3ceac60b26677bc0e",
    "express": "a3714473feb3d2908add734d340e7755fd85e0a3",
    "gin": "dcaa4296d111981ffb31ac3eba90bb63e1eb5ab9",
    "gson": "9835b6f90192f79cdf5300c528fc6212455fb6c1",
    "sinatra": "cb22afd7902b566b6eaba6c4ea89739494a65d12",
    "hiredis": "29ea2791c102fdffff350f1ea6e04d1f71903d0d",
}
SEED = 11
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
LINES = range(1, 31)
AROUND = 6
TEXTS = (".rs", ".py", ".js", ".go", ".java", ".rb", ".c", ".h", ".md", ".toml", ".yml", ".sh")


class Repository:
    """A throw-away clone."""

    def __init__(self, origin, commit, directory, binary):
        self.directory, self.binary = directory, binary
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "CHRONICLE_HOME": os.path.join(os.path.dirname(directory), "memory"),
            "CHRONICLE_FOREGROUND": "1",
            "LC_ALL": "C",
        }
        clone = ["git", "clone", "--quiet", "--local", "--shared", "--no-checkout", origin, directory]
        subprocess.run(clone, env=self.environment, check=True)
        for name, value in (("user.name", "a"), ("user.email", "a@example.com")):
            self.git("config", name, value)
        self.head = self.git("rev-parse", commit).strip()
        self.git("checkout", "--quiet", "--detach", self.head)

    def run(self, command, stdin=None):
        return subprocess.run(
            command, cwd=self.directory, env=self.environment, input=stdin, capture_output=True, check=False
        )

    def git(self, *args):
        done = self.run(["git", "-c", "core.quotePath=false", *args])
        if done.returncode != 0:
            raise RuntimeError(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace")

    def chronicle(self, *args):
        return self.run([self.binary, *args])

    def text(self, revision, path):
        done = self.run(["git", "cat-file", "blob", f"{revision}:{path}"])
        return done.stdout.decode(errors="replace").split("\n") if done.returncode == 0 else []

    def hunks(self, commit):
        """The places that a commit wrote: path, first and last line."""
        path, found = None, []
        for line in self.git("show", "--format=", "--unified=0", "--no-renames", commit).split("\n"):
            if line.startswith("+++ "):
                path = line[6:].rstrip("\t") if line.startswith("+++ b/") else None
            elif (hunk := HUNK.match(line)) and path and path.endswith(TEXTS):
                start, count = int(hunk[1]), int(hunk[2] or 1)
                if count in LINES:
                    found.append((path, start, start + count - 1))
        return found

    def last_seen(self, commit, path, start, end):
        """The lines of HEAD, by path, that blame takes for those of the lesson."""
        args = ["blame", "--reverse", "--porcelain", "-L", f"{start},{end}", f"{commit}..{self.head}", "--", path]
        done = self.run(["git", "-c", "core.quotePath=false", *args])
        alive, names, at = collections.defaultdict(list), {}, None
        for line in done.stdout.decode(errors="replace").split("\n"):
            if match := re.match(r"^([0-9a-f]{40}) (\d+) (\d+)", line):
                at = (match[1], int(match[2]))
            elif line.startswith("filename ") and at:
                names[at[0]] = line[9:]
            elif line.startswith("\t") and at and at[0] == self.head:
                alive[names.get(at[0], path)].append(at[1])
        return dict(alive)


def lessons(repository, generator, wanted):
    commits = repository.git("rev-list", "--no-merges", repository.head).split()
    generator.shuffle(commits)
    noted = []
    for commit in commits:
        if wanted <= len(noted):
            break
        hunks = repository.hunks(commit)
        if not hunks:
            continue
        path, start, end = generator.choice(hunks)
        content = f"Lesson {len(noted)} about this place, which nobody should forget."
        note = {
            "summary": f"Reasons for the change number {len(noted)} of this history",
            "wisdom": [
                {"category": "gotcha", "content": content, "file": path, "lines": {"start": start, "end": end}}
            ],
        }
        done = repository.chronicle("annotate", "--commit", commit, "--json", json.dumps(note))
        if done.returncode == 0:
            noted.append((content, commit, path, start, end))
    return noted


def shown(repository):
    """Where each lesson is shown: by its words, a list of items."""
    files = [name for name in repository.git("ls-files", "-z").split("\0") if name]
    found = collections.defaultdict(list)
    for first in range(0, len(files), 400):
        done = repository.chronicle(
            "read", *files[first : first + 400], "--format=json", "--max-regions=1000000", "--max-tokens=100000000"
        )
        reading = json.loads(done.stdout or "{}")
        for item in reading.get("wisdom", []):
            found[item["content"]].append(item)
    return found


def excerpt(lines, start, end):
    first, last = max(1, start - AROUND), min(len(lines), end + AROUND)
    mark = lambda number: ">" if start <= number <= end else " "
    return "\n".join(f"{mark(number)} {number:5} {lines[number - 1]}" for number in range(first, last + 1))


def place(args):
    generator = random.Random(args.seed)
    cases, totals = [], collections.Counter()
    for name, commit in REPOSITORIES.items():
        origin = os.path.join(args.clones, name)
        if not os.path.exists(origin):
            print(f"{name}: no clone, left out", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as directory:
            repository = Repository(origin, commit, os.path.join(directory, "clone"), args.binary)
            noted = lessons(repository, generator, args.lessons)
            found = shown(repository)
            for content, commit, path, start, end in noted:
                totals["lessons"] += 1
                alive = repository.last_seen(commit, path, start, end)
                recorded = excerpt(repository.text(commit, path), start, end)
                case = lambda kind, file, at: {
                    "kind": kind,
                    "repository": name,
                    "commit": commit,
                    "recorded_in": path,
                    "recorded": recorded,
                    "place_in": file,
                    "place": excerpt(repository.text(repository.head, file), *at),
                }
                items = found.get(content, [])
                totals["blame: alive"] += bool(alive)
                placed = [item for item in items if item["lines"] and item["state"] != "gone"]
                totals["placed"] += bool(placed)
                totals["several places"] += 1 < len(placed)
                for item in placed:
                    at = (item["lines"]["start"], item["lines"]["end"])
                    lines = alive.get(item["file"], [])
                    if not any(at[0] <= line <= at[1] for line in lines):
                        cases.append(case("ours", item["file"], at))
                if not placed:
                    totals["gone"] += 1
                    for file, lines in alive.items():
                        cases.append(case("blame", file, (min(lines), max(lines))))
            print(f"{name}: {len(noted)} lessons, {len(cases)} cases so far", file=sys.stderr)
    generator.shuffle(cases)
    with open(args.cases, "w") as file:
        json.dump({"totals": totals, "cases": cases}, file, indent=1)
    print(json.dumps(totals, indent=1))


def count(args):
    with open(args.cases) as file:
        found = json.load(file)
    with open(args.judged) as file:
        judged = json.load(file)
    total = found["totals"]["lessons"]
    counted = collections.Counter()
    for number, case in enumerate(found["cases"]):
        counted[case["kind"], judged.get(str(number), "unsure")] += 1
    for (kind, verdict), number in sorted(counted.items()):
        print(f"{kind:6} {verdict:7} {number:4}  {100 * number / total:.2f} %")
    wrong, gone = counted["ours", "other"], counted["blame", "same"]
    print(f"wrong places {100 * wrong / total:.2f} %, wrongly gone {100 * gone / total:.2f} %, of {total} lessons")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True)
    of_place = commands.add_parser("place")
    of_place.add_argument("clones")
    of_place.add_argument("cases")
    of_place.add_argument("--binary", default="git-chronicle")
    of_place.add_argument("--lessons", type=int, default=150)
    of_place.add_argument("--seed", type=int, default=SEED)
    of_place.set_defaults(run=place)
    of_count = commands.add_parser("count")
    of_count.add_argument("cases")
    of_count.add_argument("judged")
    of_count.set_defaults(run=count)
    args = parser.parse_args()
    args.run(args)


main()
