#!/usr/bin/env python3
"""What is left of three lessons after each way in which people rewrite history.

    survival.py [--binary FILE] [--filter-repo FILE] [--only TEXT] [--hooks] [--jobs N] [--verbose] [--strict]

Each row makes a repository, annotates a feature branch, rewrites it with the real git
and looks what `git chronicle read` says about the files then. Three lessons per row:

  still   on lines that the rewrite leaves where they are
  moved   on lines that the rewrite, or what it was put on, moves
  wide    on a file as a whole

A lesson counts when it is read exactly once, on a commit in the history of HEAD, with the
right lines (those on which its code stands now). It must be so after the rewrite, still
after the reflogs are expired and `git gc --prune=now` ran, and in a fresh clone to which the
notes were fetched. A lesson of an abandoned branch that turns up on a commit in reach, and
any lesson on a commit that has nothing to do with it, takes the row's points away.

Columns:

  hooks     the hooks that `git chronicle init` sets up; nothing else (with --hooks)
  recon.    no hooks: `git chronicle reconcile` after the rewrite
  after gc  no hooks: `reconcile` only after everything that was rewritten is gone
  clone     no hooks: `reconcile` in a fresh clone that has nothing but the notes
  notes     plain `git notes` with notes.rewriteRef and rewriteMode=concatenate: a note with
            the three texts and their lines, on each commit
  trailers  the same texts as trailers of the commit messages

Plain notes and trailers cannot know where lines went, so they keep a moved lesson only where
nothing moved. They are asked once, in a fresh clone to which the notes were fetched.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile

DATE = "2026-03-01T12:00:00Z"


class Repo:
    """A repository that sees none of the user's settings."""

    def __init__(self, path, binary):
        self.path, self.binary = path, binary
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CHRONICLE_"))}
        self.env.update(
            GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null", GIT_EDITOR="true",
            GIT_AUTHOR_NAME="Ada", GIT_AUTHOR_EMAIL="ada@example.com", GIT_COMMITTER_NAME="Ada",
            GIT_COMMITTER_EMAIL="ada@example.com", FILTER_BRANCH_SQUELCH_WARNING="1",
            PATH=os.path.dirname(binary) + os.pathsep + os.environ["PATH"])
        self.clock = 0

    def run(self, *args, stdin=None, check=True, **env):
        # Every commit has a time of its own, as in life.
        self.clock += 60
        stamp = f"{1772366400 + self.clock} +0000"
        full = {**self.env, "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, **env}
        done = subprocess.run(args, cwd=self.path, env=full, input=stdin, capture_output=True, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(args)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def git(self, *args, **more):
        return self.run("git", *args, **more)

    def chronicle(self, *args, **more):
        return self.run(self.binary, *args, **more)

    def write(self, name, lines):
        with open(os.path.join(self.path, name), "w") as file:
            file.write("\n".join(lines) + "\n")

    def read(self, name):
        with open(os.path.join(self.path, name)) as file:
            return file.read().splitlines()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)
        return self.git("rev-parse", "HEAD")


def block(name, n=6):
    return [f"fn {name}() {{"] + [f"    {name}_step_{i}(state, {i});" for i in range(n)] + ["}", ""]


BASE = ["//! Things."] + [""] + block("first") + block("second") + block("third")
STILL, MOVED, WIDE = "still: keep the order of steps", "moved: never call this twice", "wide: made by hand"
LESSONS = {STILL: "still.rs", MOVED: "moved.rs", WIDE: "wide.rs"}
FOREIGN = "foreign: an experiment that was given up"
HEADER = ["// Licensed as the rest.", "// Second line of the header.", "// Third line of the header.", ""]


def changed(lines, name):
    """A new function after the first one."""
    at = lines.index("}") + 2
    return lines[:at] + block(name) + lines[at:]


def lines_of(lines, name):
    start = lines.index(f"fn {name}() {{")
    return start + 1, start + len(block(name)) - 1


def say(repo, commit, content, file, lines=None):
    """Annotates, in all three ways."""
    entry = {"category": "gotcha", "content": content, "file": file}
    place = file
    if lines:
        entry["lines"] = {"start": lines[0], "end": lines[1]}
        place = f"{file}:{lines[0]}-{lines[1]}"
    document = {"commit": commit, "summary": f"Why {file} was changed in that way", "wisdom": [entry]}
    repo.chronicle("annotate", "--live", stdin=json.dumps(document))
    repo.git("notes", "--ref=plain", "append", "-m", f"{place} {content}", commit)


class Case:
    """A feature branch with lessons, beside a main branch that went on."""

    def __init__(self, directory, binary, hooks):
        path = os.path.join(directory, "repo")
        os.mkdir(path)
        self.directory, self.repo = directory, Repo(path, binary)
        # Where the rewrite put the files.
        self.prefix = ""
        repo = self.repo
        repo.git("init", "--quiet", "--initial-branch=main")
        repo.git("config", "notes.rewriteRef", "refs/notes/plain")
        repo.git("config", "gc.auto", "0")
        for name in ("still.rs", "moved.rs"):
            repo.write(name, BASE)
        repo.commit("Begin")
        if hooks:
            install_hooks(repo)
        self.abandoned()
        repo.git("checkout", "--quiet", "-b", "topic")

    def abandoned(self):
        """A lesson on a change that never went anywhere, in a file that the others change too."""
        repo = self.repo
        repo.git("checkout", "--quiet", "-b", "experiment")
        repo.write("moved.rs", changed(repo.read("moved.rs"), "experiment"))
        commit = repo.commit("Try something")
        say(repo, commit, FOREIGN, "moved.rs", lines_of(repo.read("moved.rs"), "experiment"))
        repo.git("checkout", "--quiet", "main")
        repo.git("branch", "-D", "experiment")

    def change(self, name, message):
        """Changes one of the three files and commits it, with the lesson as a trailer; returns its place."""
        repo, content = self.repo, {"still": STILL, "moved": MOVED, "wide": WIDE}[name]
        file = f"{name}.rs"
        if name == "wide":
            repo.write(file, block("wide"))
            return file, content, None
        repo.write(file, changed(repo.read(file), name))
        return file, content, lines_of(repo.read(file), name)

    def one(self):
        """All lessons on one commit."""
        said = [self.change(name, "") for name in ("still", "moved", "wide")]
        message = "Add all\n\n" + "\n".join(self.trailer(*one) for one in said)
        commit = self.repo.commit(message)
        for file, content, lines in said:
            say(self.repo, commit, content, file, lines)
        return commit

    def three(self):
        """A lesson on each of three commits."""
        commits = []
        for name in ("still", "moved", "wide"):
            file, content, lines = self.change(name, "")
            commit = self.repo.commit(f"Add {name}\n\n{self.trailer(file, content, lines)}")
            say(self.repo, commit, content, file, lines)
            commits.append(commit)
        return commits

    @staticmethod
    def trailer(file, content, lines):
        place = f"{file}:{lines[0]}-{lines[1]}" if lines else file
        return f"Lesson: {place} {content}"

    def advance(self):
        """Main goes on, above the lines of `moved`."""
        repo = self.repo
        repo.git("checkout", "--quiet", "main")
        repo.write("moved.rs", HEADER + repo.read("moved.rs"))
        repo.commit("Add a header")
        repo.git("checkout", "--quiet", "topic")

    def land(self, drop=True):
        """Main is where topic went, and topic is no more."""
        repo = self.repo
        repo.git("checkout", "--quiet", "main")
        if drop:
            repo.git("branch", "-D", "topic")


def install_hooks(repo):
    """Our hooks, which do all their work before git goes on, so that its outcome can be looked at."""
    repo.env["CHRONICLE_FOREGROUND"] = "1"
    repo.chronicle("init")


# The rows.

def amend(case):
    case.one()
    repo = case.repo
    repo.write("moved.rs", HEADER + repo.read("moved.rs"))
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--amend", "--no-edit")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()


def rebase(*options):
    def row(case):
        case.three()
        case.advance()
        case.repo.git("rebase", "--quiet", *options, "main")
        case.repo.git("checkout", "--quiet", "-B", "main")
        case.land()
    return row


def interactive(word):
    def row(case):
        case.three()
        case.advance()
        edit = f"sed -i -e '2,$s/^pick/{word}/'"
        case.repo.git("rebase", "--quiet", "-i", "main", GIT_SEQUENCE_EDITOR=edit)
        case.repo.git("checkout", "--quiet", "-B", "main")
        case.land()
    return row


def cherry_pick(drop):
    def row(case):
        commits = case.three()
        case.advance()
        case.repo.git("checkout", "--quiet", "main")
        case.repo.git("cherry-pick", *commits)
        case.land(drop)
    return row


def merge_squash(*message):
    def row(case):
        case.three()
        case.advance()
        repo = case.repo
        repo.git("checkout", "--quiet", "main")
        repo.git("merge", "--quiet", "--squash", "topic")
        repo.git("commit", "--quiet", *(message or ("--no-edit",)))
        case.land()
    return row


def reset_soft(case):
    case.three()
    repo = case.repo
    repo.write("moved.rs", HEADER + repo.read("moved.rs"))
    repo.git("reset", "--quiet", "--soft", "main")
    repo.commit("All of it at once")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()


def filter_branch(case):
    case.three()
    case.advance()
    repo = case.repo
    repo.git("rebase", "--quiet", "main")
    repo.git("filter-branch", "-f", "--tree-filter",
             "test ! -f moved.rs || { echo '// Mine.' | cat - moved.rs > new && mv new moved.rs; }", "--", "topic")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()


def filter_branch_messages(case):
    case.three()
    case.advance()
    repo = case.repo
    repo.git("rebase", "--quiet", "main")
    repo.git("filter-branch", "-f", "--msg-filter", "sed -e '1s/^/topic: /'", "--", "topic")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()


def filter_repo(case):
    repo = case.repo
    tool = case.filter_repo
    if not tool:
        raise LookupError("git-filter-repo is not there")
    case.three()
    repo.write("secret.txt", ["secret"])
    repo.commit("Add a secret")
    case.advance()
    repo.git("rebase", "--quiet", "main")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()
    repo.run(sys.executable, tool, "--force", "--invert-paths", "--path", "secret.txt", "--message-callback",
             "return b'filtered: ' + message")
    # No hook sees it; whoever goes on working runs one.
    repo.git("checkout", "--quiet", "main")


def replay(case):
    case.three()
    case.advance()
    repo = case.repo
    updates = repo.git("replay", "--onto", "main", "main..topic", check=False)
    if updates.startswith("update"):
        repo.git("update-ref", "--stdin", stdin=updates + "\n")
    elif repo.git("merge-base", "main", "topic") != repo.git("rev-parse", "main"):
        raise LookupError("this git has no `git replay`")
    repo.git("checkout", "--quiet", "--force", "topic")
    repo.git("reset", "--quiet", "--hard")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()


def server_squash(case):
    """Squashed with plain plumbing on the server, pulled; the branch is deleted there and here."""
    case.three()
    case.advance()
    repo = case.repo
    server = Repo(os.path.join(case.directory, "server.git"), repo.binary)
    repo.git("clone", "--quiet", "--bare", repo.path, server.path)
    server.clock = repo.clock
    tree = server.git("merge-tree", "--write-tree", "main", "topic")
    message = "Topic (#7)\n\n" + server.git("log", "--reverse", "--format=* %B", "main..topic")
    squashed = server.git("commit-tree", "-p", "main", "-m", message, tree)
    server.git("update-ref", "refs/heads/main", squashed)
    server.git("update-ref", "-d", "refs/heads/topic")
    repo.git("remote", "add", "origin", server.path)
    repo.git("checkout", "--quiet", "main")
    repo.git("pull", "--quiet", "--ff-only", "origin", "main")
    case.land()


def server_squash_kept(case):
    """The same, and the branch is still there."""
    case.three()
    case.advance()
    repo = case.repo
    tree = repo.git("merge-tree", "--write-tree", "main", "topic")
    squashed = repo.git("commit-tree", "-p", "main", "-m", "Topic (#7)", tree)
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--ff-only", squashed)


def mail(case):
    case.three()
    case.advance()
    repo = case.repo
    patches = repo.git("format-patch", "--stdout", "main..topic")
    repo.git("checkout", "--quiet", "main")
    repo.git("am", "--quiet", stdin=patches + "\n")
    case.land()


def force_push(case):
    case.three()
    case.advance()
    repo = case.repo
    server = os.path.join(case.directory, "server.git")
    repo.git("init", "--quiet", "--bare", server)
    repo.git("remote", "add", "origin", server)
    repo.git("push", "--quiet", "origin", "topic")
    repo.git("rebase", "--quiet", "main")
    repo.git("push", "--quiet", "--force", "origin", "topic")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()
    repo.git("push", "--quiet", "--delete", "origin", "topic")


def stash(case):
    case.one()
    repo = case.repo
    repo.git("reset", "--quiet", "HEAD~1")
    repo.git("stash", "push", "--quiet", "--include-untracked")
    repo.git("checkout", "--quiet", "main")
    repo.write("moved.rs", HEADER + repo.read("moved.rs"))
    repo.commit("Add a header")
    repo.git("stash", "pop", "--quiet")
    repo.commit("All of it, later")
    case.land()


def split(case):
    case.one()
    repo = case.repo
    repo.git("reset", "--quiet", "HEAD~1")
    repo.write("moved.rs", HEADER + repo.read("moved.rs"))
    for name in ("moved", "still", "wide"):
        repo.git("add", f"{name}.rs")
        repo.git("commit", "--quiet", "-m", f"Only {name}")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()
    case.parts = {"still": "HEAD~1", "moved": "HEAD~2", "wide": "HEAD"}


def update_branch(land):
    """Topic takes in main, once while it is worked on and once at its end, as by a button on the server; then it is
    squashed."""
    def row(case):
        repo = case.repo
        for name in ("still", "moved", "wide"):
            file, content, lines = case.change(name, "")
            commit = repo.commit(f"Add {name}\n\n{case.trailer(file, content, lines)}")
            say(repo, commit, content, file, lines)
            if name == "still":
                case.advance()
                repo.git("merge", "--quiet", "-m", "Merge main into topic", "main")
        repo.git("checkout", "--quiet", "main")
        repo.write("other.rs", block("other"))
        repo.commit("Add other")
        repo.git("checkout", "--quiet", "topic")
        repo.git("merge", "--quiet", "-m", "Merge main into topic again", "main")
        tree = repo.git("rev-parse", "topic^{tree}")
        squashed = repo.git("commit-tree", "-p", "main", "-m", "Topic (#7)", tree)
        repo.git("checkout", "--quiet", "main")
        repo.git("merge", "--quiet", "--ff-only", squashed)
        land(case)
    return row


def fetched_branch(case):
    """The branch was deleted here; where it was pushed to, nobody pruned it."""
    repo = case.repo
    server = os.path.join(case.directory, "server.git")
    repo.git("init", "--quiet", "--bare", server)
    repo.git("remote", "add", "origin", server)
    repo.git("push", "--quiet", "origin", "topic")
    case.land()


def kept_by(*refs):
    """Every commit was edited; refs of another tool still point at the old ones."""
    def row(case):
        commits = case.three()
        case.advance()
        repo = case.repo
        repo.git("remote", "add", "origin", os.path.join(case.directory, "nowhere.git"))
        for ref in refs:
            for commit in commits:
                repo.git("update-ref", ref.format(commit=commit), commit)
        repo.git("rebase", "--quiet", "--merge", "main")
        repo.write("moved.rs", ["// And this."] + repo.read("moved.rs"))
        repo.git("add", "--all")
        repo.git("commit", "--quiet", "--amend", "--no-edit")
        repo.git("checkout", "--quiet", "-B", "main")
        case.land()
    return row


def stgit(case):
    """Three patches; the first one is edited below the others, and they are put on main."""
    repo = case.repo
    if not shutil.which("stg"):
        raise LookupError("StGit is not there")
    repo.env["HOME"] = case.directory
    repo.run("stg", "init")
    for name in ("still", "moved", "wide"):
        file, content, lines = case.change(name, "")
        repo.git("add", "--all")
        repo.run("stg", "new", name, "-m", f"Add {name}\n\n{case.trailer(file, content, lines)}")
        repo.run("stg", "refresh", "--index")
        say(repo, repo.git("rev-parse", "HEAD"), content, file, lines)
    case.advance()
    repo.run("stg", "rebase", "main")
    repo.run("stg", "pop", "--all")
    repo.run("stg", "push", "still")
    repo.write("still.rs", repo.read("still.rs") + ["// The end."])
    repo.run("stg", "refresh")
    repo.run("stg", "push", "--all")
    # What the branch keeps of its old patches stays; main goes where its commits are.
    repo.git("checkout", "--quiet", "-B", "main")


def subdirectory(case):
    """All files go to a directory, in every commit."""
    case.three()
    case.advance()
    repo = case.repo
    repo.git("rebase", "--quiet", "--merge", "main")
    moved = ("git ls-files -s | sed 's-\\t-&pkg/-' | GIT_INDEX_FILE=$GIT_INDEX_FILE.new git update-index --index-info"
             " && mv $GIT_INDEX_FILE.new $GIT_INDEX_FILE")
    repo.git("filter-branch", "-f", "--index-filter", moved, "--", "topic")
    repo.git("checkout", "--quiet", "-B", "main")
    case.land()
    case.prefix = "pkg/"


ROWS = {
    "commit --amend": amend,
    "rebase (merge)": rebase("--merge"),
    "rebase (apply)": rebase("--apply"),
    "rebase -i, squash": interactive("squash"),
    "rebase -i, fixup": interactive("fixup"),
    "cherry-pick, branch deleted": cherry_pick(True),
    "cherry-pick, branch kept": cherry_pick(False),
    "merge --squash": merge_squash(),
    "merge --squash, own message": merge_squash("-m", "My own words"),
    "reset --soft, commit": reset_soft,
    "filter-branch, files": filter_branch,
    "filter-branch, messages": filter_branch_messages,
    "filter-repo": filter_repo,
    "git replay": replay,
    "squash on the server": server_squash,
    "the same, branch kept": server_squash_kept,
    "Update branch, squash, branch kept": update_branch(lambda case: None),
    "Update branch, squash, fetched branch kept": update_branch(fetched_branch),
    "Update branch, squash, branch deleted": update_branch(lambda case: case.land()),
    "StGit, edited below": stgit,
    "git-branchless, amend": kept_by("refs/branchless/{commit}"),
    "Gerrit, next patch set": kept_by("refs/changes/34/1234/{commit}"),
    "pull request fetched": kept_by("refs/remotes/origin/pr/{commit}/head", "refs/pull/{commit}/head"),
    "Jujutsu, amend": kept_by("refs/jj/keep/{commit}"),
    "all files moved": subdirectory,
    "format-patch, am": mail,
    "force-push, fresh clone": force_push,
    "stash, pop, commit": stash,
    "a commit is split": split,
}


# What is left.

def expected(repo, case, file):
    if file == "wide.rs":
        return None
    start, end = lines_of(repo.read(case.prefix + file), file.removesuffix(".rs"))
    return {"start": start, "end": end}


def points(repo, case, verbose):
    """How many of the three lessons are read as they should be; 0 where a foreign one turned up."""
    n = 0
    for content, file in LESSONS.items():
        for env in ({}, {"CHRONICLE_NO_CACHE": "1"}):
            answer = json.loads(repo.chronicle("read", case.prefix + file, "--format=json", **env))
            found = [item for item in answer["wisdom"] if item["content"] == content]
            lines = expected(repo, case, file)
            right = len(found) == 1 and not found[0].get("elsewhere") and found[0].get("lines") == lines
            if right and getattr(case, "parts", None):
                part = repo.git("rev-parse", case.parts[file.removesuffix(".rs")])
                right = found[0]["commit"] == part
            if not right:
                if verbose:
                    print(f"    {file}: wanted {lines}, got {found}", file=sys.stderr)
                break
        else:
            n += 1
    commits = repo.git("rev-list", "HEAD").split()
    notes = {line.split()[1] for line in repo.git("notes", "--ref=chronicle", "list").splitlines()}
    for commit in notes.intersection(commits):
        note = repo.git("notes", "--ref=chronicle", "show", commit)
        files = repo.git("show", "--format=", "--name-only", "-m", "--first-parent", commit).split()
        for entry in json.loads(note)["wisdom"]:
            if entry["content"] == FOREIGN or entry["file"] not in files:
                if verbose:
                    print(f"    foreign on {commit[:8]}: {entry}", file=sys.stderr)
                return 0
    return n


def clean(repo):
    """Nothing that was rewritten is left."""
    for ref in repo.git("for-each-ref", "--format=%(refname)", "refs/original/").split():
        repo.git("update-ref", "-d", ref)
    git_dir = os.path.join(repo.path, ".git")
    for name in ("ORIG_HEAD", "FETCH_HEAD"):
        if os.path.exists(os.path.join(git_dir, name)):
            os.remove(os.path.join(git_dir, name))
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    shutil.rmtree(os.path.join(git_dir, "chronicle", "index"), ignore_errors=True)


def clone(case, name):
    """A clone that has the main branch and the notes."""
    path = os.path.join(case.directory, name)
    case.repo.git("clone", "--quiet", "--no-local", "--single-branch", "--branch", "main",
                  "file://" + case.repo.path, path)
    repo = Repo(path, case.repo.binary)
    repo.git("fetch", "--quiet", "origin", "+refs/notes/*:refs/notes/*")
    return repo


def plain(repo, case):
    """What plain notes and trailers still say rightly: (notes, trailers)."""
    kept = [0, 0]
    log = repo.git("log", "--format=%B")
    notes = repo.git("log", "--notes=plain", "--format=%N")
    for content, file in LESSONS.items():
        lines = expected(repo, case, file)
        place = f"{file}:{lines['start']}-{lines['end']} " if lines else f"{file} "
        for way, text in ((0, notes), (1, log)):
            kept[way] += place + content in text
    return kept


def prepare(row, options, hooks):
    directory = tempfile.mkdtemp(prefix="survival-")
    case = Case(directory, options.binary, hooks)
    case.filter_repo = options.filter_repo
    row(case)
    return case


def measure(name, row, options):
    cells = {}
    found = []
    for column in ("hooks", "recon.", "after gc", "clone"):
        if column == "hooks" and not options.hooks:
            cells[column] = None
            continue
        case = prepare(row, options, column == "hooks")
        try:
            repo = case.repo
            if options.verbose:
                print(f"{name}, {column}", file=sys.stderr)
            scores = []
            if column == "recon.":
                repo.chronicle("reconcile")
            if column in ("hooks", "recon."):
                scores.append(points(repo, case, options.verbose))
            clean(repo)
            if column == "after gc":
                repo.chronicle("reconcile")
            if column != "clone":
                scores.append(points(repo, case, options.verbose))
            if column == "recon.":
                found = plain(clone(case, "plain"), case)
            fresh = clone(case, "fresh")
            if column == "clone":
                fresh.chronicle("reconcile")
            scores.append(points(fresh, case, options.verbose))
            if column in ("recon.", "after gc"):
                # Whoever reconciles once more, also there, changes nothing.
                before = fresh.git("rev-parse", "refs/notes/chronicle")
                fresh.chronicle("reconcile")
                if fresh.git("rev-parse", "refs/notes/chronicle") != before:
                    print(f"{name}: reconciling again in the clone changes notes", file=sys.stderr)
                    scores.append(0)
            if column == "clone":
                twin = clone(case, "twin")
                twin.chronicle("reconcile")
                trees = {one.git("rev-parse", "refs/notes/chronicle^{tree}") for one in (fresh, twin)}
                repo.chronicle("reconcile")
                trees.add(repo.git("rev-parse", "refs/notes/chronicle^{tree}"))
                if len(trees) != 1:
                    print(f"{name}: clones that reconcile alone differ", file=sys.stderr)
                    scores.append(0)
            cells[column] = min(scores)
        finally:
            if options.keep:
                print(f"    kept: {case.directory}", file=sys.stderr)
            else:
                shutil.rmtree(case.directory, ignore_errors=True)
    cells["notes"], cells["trailers"] = found
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/git-chronicle")
    parser.add_argument("--filter-repo", default=shutil.which("git-filter-repo"))
    parser.add_argument("--only", default="", help="rows whose name holds one of these, separated by |")
    parser.add_argument("--hooks", action="store_true", help="measure the hooks, too")
    parser.add_argument("--jobs", type=int, default=1, help="rows at once")
    parser.add_argument("--keep", action="store_true", help="leave the repositories where they are")
    parser.add_argument("--verbose", action="store_true", help="say what is wrong")
    parser.add_argument("--strict", action="store_true", help="fail unless all of ours is 3")
    options = parser.parse_args()
    options.binary = os.path.abspath(options.binary)
    columns = ["hooks", "recon.", "after gc", "clone", "notes", "trailers"]
    print("| rewrite | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    is_whole = True

    def measured(row):
        try:
            return measure(*row, options)
        except LookupError as why:
            return why

    rows = [row for row in ROWS.items() if any(text in row[0] for text in options.only.split("|"))]
    for (name, _), cells in zip(rows, concurrent.futures.ThreadPoolExecutor(options.jobs).map(measured, rows)):
        if isinstance(cells, LookupError):
            print(f"{name}: left out, {cells}", file=sys.stderr)
            continue
        is_whole &= all(cells[column] in (3, None) for column in columns[:4])
        shown = ["-" if cells[column] is None else f"{cells[column]}/3" for column in columns]
        print(f"| {name} | " + " | ".join(shown) + " |", flush=True)
    sys.exit(1 if options.strict and not is_whole else 0)


if __name__ == "__main__":
    main()
