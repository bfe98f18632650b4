#!/usr/bin/env python3
"""How far the places that Chronicle finds agree with `git blame`.

    agreement.py CLONES [--binary FILE] [--ranges N] [--direct N]
                         [--only NAME] [--examples N]

CLONES is a directory that holds a clone of each repository in REPOSITORIES under
its name. A clone is never written to: the work happens in a temporary clone of
it, checked out at the commit named below, so that figures compare.

What is asked. From random commits come random hunks, up to three a commit and
2 to 30 lines long, as `git show -U0` prints them. Each hunk is noted twice, in
one note on its commit: as a range, and line by line. `git chronicle read`
says where these are at HEAD; `git blame C..HEAD` says where the lines that
come from commit C are.

Why this is sound:

* The lines are ones that C wrote, so blame's trail of a living line ends at C
  and nowhere before, and the number that blame gives is the line's number in C.
  With arbitrary lines of C it may end at an older boundary commit that came in
  by another parent, whose numbers are not C's.
* `read` answers with one range for a range, from which the fate of a single
  line follows only if all of it is intact. A line noted alone is `intact`
  exactly if the diff that maps the range maps this line, since there is one
  diff for a file; so these entries tell the fate of every line. A line noted
  alone that comes back as `changed` was looked for in another layout or
  elsewhere in the file. This may succeed where it would not for the whole
  range, so it does not count as mapped.
* Blame needs to be told a path. It is asked about the recorded one, about each
  that this one was renamed to according to git, and about the one that `read`
  names, so a wrong path on our side does not hide a line from blame. A hunk is
  left out, and counted, when none of these is a file at HEAD.
* Shares are of all lines. Half of them may be gone for both, so the shares of the
  lines that live for one of the two stand beside.
* Ranges are compared by their hulls, as a second table: blame's hull reaches
  from the first to the last living line of C's, ours leaves strays and the
  space between them out, so these may differ where every line agrees.

Lines that only we map are sorted by asking who wrote them according to blame:

  trivial      no letter and no digit in it
  copied       in that commit the file is new: the trail ends at a copy
  merged       nobody since C: it came by a parent that does not descend from C
  moved        the line stood in the file before that commit: it was moved, or
               the diffs on the way paired equal lines otherwise, also such as
               make our place that of another line of C
  re-added     it did not: it was taken out and came back as it was
  other        none of this, for example because the text differs
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

# Each has more than 5,000 commits.
REPOSITORIES = {
    "jj": ("https://github.com/jj-vcs/jj", "9d905d5432869c7aa9539e6e5c7fece5842bed37"),
    "gitoxide": ("https://github.com/GitoxideLabs/gitoxide", "b8914ffda5bc8f6ea851aaf1f720140acfe96dbb"),
    "nushell": ("https://github.com/nushell/nushell", "3e1172d43cabb34afb798dfc9d8724839e18fe85"),
    "uv": ("https://github.com/astral-sh/uv", "26a9dd4b2125bc271b47855e1fa0c49af3365db5"),
}
SEED = 7
# Partial clones lack large archives, and git gives up where it cannot read one.
PATHS = ["--", ".", ":(exclude)*.tar", ":(exclude)*.tar.*", ":(exclude)*.zip"]
HUNKS_OF_A_COMMIT = 3
HUNK_LINES = range(2, 31)
CLASSES = ["trivial", "copied", "merged", "moved", "re-added", "other"]
# Shares of all lines, in percent.
BARS = {"blame only": 1.0, "elsewhere": 3.0, "we only": 12.0}

Place = collections.namedtuple("Place", "path line")
Hunk = collections.namedtuple("Hunk", "commit path start end")


class Repository:
    """A throw-away clone at a fixed commit."""

    def __init__(self, origin, commit, directory):
        self.directory = directory
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LC_ALL": "C",
        }
        subprocess.run(
            ["git", "clone", "--quiet", "--local", "--shared", "--no-checkout", origin, directory],
            env=self.environment,
            check=True,
        )
        self.git("update-ref", "--no-deref", "HEAD", commit)
        self.git("read-tree", commit)
        # Not checked: a partial clone may lack a blob, and one file fewer is no harm.
        self.run(["git", "checkout-index", "--all", "--force", "--quiet"])
        self.git("commit-graph", "write", "--reachable", "--changed-paths", "--no-progress")
        self.renames = self.find_renames()
        self.texts = {}

    def run(self, command, stdin=None, **environment):
        return subprocess.run(
            command,
            cwd=self.directory,
            env={**self.environment, **environment},
            input=stdin,
            capture_output=True,
            check=False,
        )

    def git(self, *args, stdin=None):
        done = self.run(["git", "-c", "core.quotePath=false", *args], stdin)
        if done.returncode != 0:
            sys.exit(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="surrogateescape")

    def find_renames(self):
        """For each path, the paths that a commit in HEAD renamed it to."""
        log = self.git("log", "--format=", "-M", "--diff-filter=R", "--name-status", "-z", *PATHS)
        fields = log.strip("\0").split("\0")
        renames = collections.defaultdict(set)
        for old, new in zip(fields[1::3], fields[2::3]):
            renames[old.lstrip("\n")].add(new)
        return renames

    def living_names(self, path):
        """`path` and what it was renamed to, as far as these are files at HEAD."""
        names, pending = [], [path]
        while pending:
            name = pending.pop()
            if name not in names:
                names.append(name)
                pending += sorted(self.renames.get(name, ()))
        return [name for name in names if self.lives(name)]

    def lives(self, path):
        full = os.path.join(self.directory, path)
        return os.path.isfile(full) and not os.path.islink(full)

    def text(self, revision, path):
        """The lines of a file version; None if there is none."""
        key = (revision, path)
        if key not in self.texts:
            done = self.run(["git", "cat-file", "blob", f"{revision}:{path}"])
            self.texts[key] = done.stdout.split(b"\n") if done.returncode == 0 else None
        return self.texts[key]


def draw_hunks(repo, n_ranges):
    """Random hunks of random commits; the second value counts those of dead files, left out."""
    chance = random.Random(SEED)
    commits = repo.git("rev-list", "--no-merges", "HEAD").split()
    chance.shuffle(commits)
    hunks, n_dead = [], 0
    for commit in commits:
        if n_ranges <= len(hunks):
            break
        found = hunks_of(repo, commit)
        for hunk in chance.sample(found, min(HUNKS_OF_A_COMMIT, len(found))):
            if repo.living_names(hunk.path):
                hunks.append(hunk)
            else:
                n_dead += 1
    return hunks, n_dead


def hunks_of(repo, commit):
    options = ["--format=", "-U0", "--no-renames", "--diff-filter=M", "--no-ext-diff"]
    patch = repo.git("show", *options, commit, *PATHS)
    path, hunks = None, []
    for line in patch.split("\n"):
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            start, n_lines = int(match[1]), int(match[2] or 1)
            if path and n_lines in HUNK_LINES:
                hunks.append(Hunk(commit, path.rstrip("\t"), start, start + n_lines - 1))
    return hunks


def write_notes(repo, hunks):
    """Notes each hunk as a range and line by line; `content` tells which it was."""
    wisdom = collections.defaultdict(list)
    for number, hunk in enumerate(hunks):
        ranges = [(f"range {number}.", hunk.start, hunk.end)]
        ranges += [(f"line {number} {line}.", line, line) for line in range(hunk.start, hunk.end + 1)]
        for content, start, end in ranges:
            lines = {"start": start, "end": end}
            entry = {"category": "insight", "content": content, "file": hunk.path, "lines": lines}
            wisdom[hunk.commit].append(entry)
    stream = b"commit refs/notes/chronicle\ncommitter a <a@example.invalid> 1700000000 +0000\ndata 0\n"
    for commit, entries in wisdom.items():
        note = {
            "schema": "chronicle/v3",
            "commit": commit,
            "timestamp": "2026-01-01T00:00:00Z",
            "summary": "agreement",
            "wisdom": entries,
            "provenance": {"source": "live"},
        }
        blob = json.dumps(note).encode()
        stream += b"N inline %s\ndata %d\n%s\n" % (commit.encode(), len(blob), blob)
    repo.run(["git", "update-ref", "-d", "refs/notes/chronicle"])
    done = repo.run(["git", "fast-import", "--quiet", "--force"], stream)
    if done.returncode != 0:
        sys.exit(done.stderr.decode(errors="replace"))


def asked_paths(repo, hunks):
    """Files at HEAD only: a name of old is looked up in history, which is slow and not the question."""
    return sorted({name for hunk in hunks for name in repo.living_names(hunk.path)})


def read_all(repo, binary, paths, **environment):
    """Our answers by `content`; of two about one entry the one that still places it."""
    answers = {}
    for path in paths:
        command = [binary, "read", path, "--format", "json", "--max-regions", "1000000"]
        done = repo.run(command, **environment)
        if done.returncode != 0:
            print(f"  {path}: {done.stderr.decode(errors='replace').strip()}")
            continue
        for item in json.loads(done.stdout)["wisdom"]:
            known = answers.get(item["content"])
            if known is None or known["lines"] is None:
                answers[item["content"]] = item
    return answers


def blame(repo, commit, path, cache):
    """Who wrote each line of `path` at HEAD since `commit`: (commit, path there, line there, is boundary)."""
    if (commit, path) not in cache:
        report = repo.run(["git", "blame", "--porcelain", f"{commit}..HEAD", "--", path]).stdout
        lines, names, boundaries, author, number = [], {}, set(), None, 0
        for line in report.decode(errors="surrogateescape").split("\n"):
            if match := re.match(r"([0-9a-f]{40,64}) (\d+) \d+", line):
                author, number = match[1], int(match[2])
            elif line == "boundary":
                boundaries.add(author)
            elif line.startswith("filename "):
                names[author, number] = names[author] = unquote(line[9:])
            elif line.startswith("\t"):
                name = names.get((author, number)) or names[author]
                names[author, number] = name
                lines.append((author, name, number))
        cache[commit, path] = [(*line, line[0] in boundaries) for line in lines]
    return cache[commit, path]


def unquote(name):
    if not name.startswith('"'):
        return name
    return name[1:-1].encode("latin-1", "replace").decode("unicode_escape").encode("latin-1").decode(errors="replace")


def blamed_places(repo, hunk, paths, cache):
    """For each line of the hunk, where blame sees it at HEAD."""
    places = collections.defaultdict(list)
    for path in paths:
        for at, (author, name, number, _) in enumerate(blame(repo, hunk.commit, path, cache), 1):
            if author == hunk.commit and name == hunk.path and hunk.start <= number <= hunk.end:
                places[number].append(Place(path, at))
    return places


def is_generic(repo, hunk, line):
    """Whether a line says so little, or stands so often in its file, that it proves nothing where it is."""
    lines = repo.text(hunk.commit, hunk.path) or []
    text = lines[line - 1].strip() if line <= len(lines) else b""
    names = {word for word in re.findall(rb"[A-Za-z_]\w+", text)}
    letters = sum(chr(byte).isalnum() for byte in text)
    return letters < 12 or len(names) < 2 or 1 < sum(other.strip() == text for other in lines)


def classify(repo, hunk, line, place, cache):
    """Why blame does not trace our place of a line back to the hunk; also the commit it names."""
    lines = blame(repo, hunk.commit, place.path, cache)
    if len(lines) < place.line:
        return "other", None
    author, name, _, is_boundary = lines[place.line - 1]
    text = (repo.text(hunk.commit, hunk.path) or [])[line - 1 : line]
    present = (repo.text("HEAD", place.path) or [])[place.line - 1 : place.line]
    if [part.rstrip(b"\r") for part in text] != [part.rstrip(b"\r") for part in present]:
        return "other", author
    if not any(chr(byte).isalnum() or 127 < byte for byte in text[0]):
        return "trivial", author
    if author == hunk.commit:
        return "moved", author
    if is_boundary:
        return "merged", author
    before = repo.text(f"{author}^", name)
    if before is None:
        return "copied", author
    return ("moved" if text[0] in before else "re-added"), author


class Tally:
    """The counts of one repository, and examples of each kind of difference."""

    def __init__(self):
        self.lines = collections.Counter()
        self.ranges = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add_line(self, kind, example=None):
        self.lines[kind] += 1
        if example:
            self.examples[kind].append(example)

    def share(self, *kinds, of_living=False):
        """How many lines in a hundred are of these kinds; `of_living` leaves out those gone for both."""
        total = sum(self.lines.values()) - of_living * self.lines["gone for both"]
        return 100 * sum(self.lines[kind] for kind in kinds) / max(1, total)


def compare(repo, hunks, answers):
    tally, cache = Tally(), {}
    for number, hunk in enumerate(hunks):
        whole = answers.get(f"range {number}.")
        if whole is None:
            tally.ranges["unanswered"] += 1
            continue
        paths = repo.living_names(hunk.path)
        if whole["file"] not in paths and repo.lives(whole["file"]):
            paths.append(whole["file"])
        theirs = blamed_places(repo, hunk, paths, cache)
        for line in range(hunk.start, hunk.end + 1):
            # A line that is shown in no file that was asked counts as gone.
            ours = answers.get(f"line {number} {line}.", {"file": whole["file"], "state": "gone", "lines": None})
            compare_line(repo, hunk, line, ours, theirs[line], tally, cache)
        tally.ranges[compare_hulls(whole, theirs)] += 1
    return tally


def compare_line(repo, hunk, line, answer, theirs, tally, cache):
    is_mapped = answer["state"] == "intact"
    ours = Place(answer["file"], answer["lines"]["start"]) if is_mapped else None
    where = f"{hunk.commit[:10]} {hunk.path}:{line}"
    if ours is None and not theirs:
        tally.add_line("gone for both")
    elif ours is None:
        kind = "generic" if is_generic(repo, hunk, line) else "blame only"
        tally.add_line(kind, f"{where} is at {show(theirs[0])}, says blame; we: {answer['state']}")
    elif ours in theirs:
        tally.add_line("agree")
    elif theirs:
        tally.add_line("elsewhere", f"{where} is at {show(theirs[0])}, says blame; we: {show(ours)}")
    else:
        kind, author = classify(repo, hunk, line, ours, cache)
        tally.add_line(kind, f"{where} is at {show(ours)}, say we; blame: {(author or 'nobody')[:10]}")


def compare_hulls(answer, theirs):
    lines = answer["lines"]
    places = [place for at in theirs.values() for place in at if lines is None or place.path == answer["file"]]
    if not places:
        return "both gone" if lines is None else "we only"
    if lines is None:
        return "blame only"
    first, last = min(place.line for place in places), max(place.line for place in places)
    if (lines["start"], lines["end"]) == (first, last):
        return "same"
    return "overlap" if lines["start"] <= last and first <= lines["end"] else "apart"


def show(place):
    return f"{place.path}:{place.line}"


def count_equal(answers, direct):
    """How many entries have the same extent with and without the index."""
    def extent(item):
        return item and (item["file"], item["lines"], item["state"])
    return sum(extent(answers.get(key)) == extent(direct.get(key)) for key in answers.keys() | direct.keys())


def print_bars(tally):
    rows = [
        ("blame maps, we do not", "blame only", ["blame only"]),
        ("both map, to other places", "elsewhere", ["elsewhere"]),
        ("only we map", "we only", CLASSES),
    ]
    for title, bar, kinds in rows:
        share = tally.share(*kinds)
        met = "met" if share <= BARS[bar] else "MISSED"
        of_living = tally.share(*kinds, of_living=True)
        print(f"  {title:26} {share:5.2f} % (bar {BARS[bar]:g} %: {met}), {of_living:.2f} % of lines that live")


def report(name, commit, hunks, n_dead, tally, n_equal, n_entries, n_examples):
    n_lines = sum(tally.lines.values())
    print(f"\n{name} at {commit[:12]}: {len(hunks)} ranges, {n_lines} lines; {n_dead} ranges of dead files left out")
    print(f"  agree: {tally.share('agree'):.2f} %   gone for both: {tally.share('gone for both'):.2f} %")
    print_bars(tally)
    print(f"  blame maps generic lines that we do not: {tally.share('generic'):.2f} %")
    print("    " + ", ".join(f"{kind} {tally.lines[kind]} ({tally.share(kind):.2f} %)" for kind in CLASSES))
    kinds = ["same", "overlap", "apart", "we only", "blame only", "both gone", "unanswered"]
    print("  ranges by hull: " + ", ".join(f"{kind} {tally.ranges[kind]}" for kind in kinds))
    share = 100 * n_equal / max(1, n_entries)
    met = "met" if 99 <= share else "MISSED"
    print(f"  extents equal with and without the index: {n_equal} of {n_entries}, {share:.2f} % (bar 99 %: {met})")
    for kind in ["blame only", "generic", "elsewhere", *CLASSES]:
        examples = tally.examples[kind]
        for example in examples[:: max(1, len(examples) // max(1, n_examples))][:n_examples]:
            print(f"    {kind}: {example}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("clones", help="directory with a clone of each repository")
    parser.add_argument("--binary", default="git-chronicle", help="the binary to ask")
    parser.add_argument("--ranges", type=int, default=500, help="how many ranges of each repository")
    parser.add_argument("--direct", type=int, default=40, help="how many files to read without the index too")
    parser.add_argument("--only", help="only this repository")
    parser.add_argument("--examples", type=int, default=0, help="how many examples of each difference to print")
    args = parser.parse_args()
    binary = os.path.abspath(args.binary) if os.path.dirname(args.binary) else args.binary

    pooled = Tally()
    for name, (url, commit) in REPOSITORIES.items():
        if args.only not in (None, name):
            continue
        origin = os.path.abspath(os.path.join(args.clones, name))
        if not os.path.isdir(origin):
            print(f"{name}: left out, since {origin} is missing; clone {url} there")
            continue
        with tempfile.TemporaryDirectory() as directory:
            repo = Repository(origin, commit, os.path.join(directory, name))
            hunks, n_dead = draw_hunks(repo, args.ranges)
            write_notes(repo, hunks)
            # The first read makes the index.
            repo.run([binary, "read", hunks[0].path])
            paths = asked_paths(repo, hunks)
            answers = read_all(repo, binary, paths)
            tally = compare(repo, hunks, answers)
            # Without the index a read walks history, so only some are made.
            some = random.Random(SEED).sample(paths, min(args.direct, len(paths)))
            indexed = read_all(repo, binary, some)
            direct = read_all(repo, binary, some, CHRONICLE_NO_CACHE="1")
        n_entries = len(indexed.keys() | direct.keys())
        report(name, commit, hunks, n_dead, tally, count_equal(indexed, direct), n_entries, args.examples)
        pooled.lines += tally.lines
    print("\nall lines pooled")
    print_bars(pooled)


if __name__ == "__main__":
    main()
