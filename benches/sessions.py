#!/usr/bin/env python3
"""How long questions to session memory take when there is much to remember.

Makes transcripts of `--sessions` sessions in `--projects` projects, `--turns`
turns each (40 to 60), in the form for any agent (`docs/transcripts.md`), takes them in with
`session ingest`, and asks. Words follow Zipf's law over a vocabulary of 60,000,
so that some stand in most turns; a question has three to six words of one
turn, as people ask, frequent ones among them. Every second word, as far as they
go, is one that has near words. Every fourth turn asks.

Every question is a process of its own, and so is `git rev-parse HEAD` beside
it, in turns. The size of the store is that after all was taken in, its log
included, beside the bytes of the text that it keeps.
"""

import argparse
import bisect
import itertools
import json
import os
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

VOCABULARY = 60_000
SYLLABLES = [start + end for start in "b c d f g h k l m n p r s t v w pr st tr".split() for end in
             "a e i o u an er in or al".split()]
SESSIONS_IN_A_FILE = 100
BARS = {"find": 15, "find --all": 15, "brief": 5}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path("target/release/git-chronicle"))
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--projects", type=int, default=5)
    parser.add_argument("--turns", default="40-60", help="turns of a session, such as 4-6")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--keep", type=pathlib.Path, help="leave everything in this directory, or ask what is there")
    args = parser.parse_args()
    home = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="chronicle-sessions-"))
    try:
        desk = Desk(args.binary.resolve(), home.absolute(), args.projects)
        desk.turns = tuple(map(int, args.turns.split("-")))
        if not (home / "memory").exists():
            desk.fill(args.sessions)
        desk.sizes()
        desk.ask(args.questions)
    finally:
        if not args.keep:
            shutil.rmtree(home)


class Desk:
    """A home directory with projects and session memory."""

    def __init__(self, binary, home, n_projects):
        self.binary = binary
        self.home = home
        self.environment = {**os.environ, "HOME": str(home), "CHRONICLE_HOME": str(home / "memory"),
                            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
                            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com"}
        self.projects = [home / "projects" / f"project-{number}" for number in range(n_projects)]
        self.words = Words()
        for project in self.projects:
            if not project.exists():
                project.mkdir(parents=True)
                self.run("git", "init", "-q", cwd=project)
                self.run("git", "commit", "-q", "--allow-empty", "-m", "begin", cwd=project)

    def run(self, *command, cwd):
        done = subprocess.run([str(part) for part in command], cwd=cwd, env=self.environment, capture_output=True)
        if done.returncode:
            sys.exit(f"{command} failed: {done.stdout.decode()}{done.stderr.decode()}")
        return done.stdout

    def fill(self, n_sessions):
        folder = self.home / "transcripts"
        folder.mkdir()
        n_files = 0
        for number in range(n_sessions):
            if number % SESSIONS_IN_A_FILE == 0:
                file = (folder / f"{n_files:05}.jsonl").open("w")
                n_files += 1
            project = self.projects[number % len(self.projects)]
            self.write_session(file, f"session-{number:06}", project, 1_700_000_000 + number * 3600)
            if number % SESSIONS_IN_A_FILE == SESSIONS_IN_A_FILE - 1:
                file.close()
        file.close()
        start = time.perf_counter()
        self.run(self.binary, "session", "ingest", folder, "--format", "json", cwd=self.home)
        seconds = time.perf_counter() - start
        n_bytes = sum(path.stat().st_size for path in folder.iterdir())
        print(f"taken in: {n_sessions} sessions, {n_bytes / 1e6:.0f} MB in {seconds:.1f} s")
        shutil.rmtree(folder)

    def write_session(self, file, session, project, began):
        dice = self.words.dice
        topic = self.words.some(12)
        for number in range(dice.randint(*self.turns)):
            n_words = dice.randint(8, 40) if number % 2 == 0 else dice.randint(15, 110)
            words = self.words.some(n_words)
            for place in range(n_words // 8):
                words[dice.randrange(n_words)] = dice.choice(topic)
            if number % 4 == 0:
                words[-1] += "?"
            row = {"session": session, "id": str(number), "time": began + number * 30,
                   "role": ("user", "assistant")[number % 2], "text": " ".join(words), "folder": str(project)}
            file.write(json.dumps(row) + "\n")

    def sizes(self):
        store = self.home / "memory" / "chronicle.db"
        files = [store, *(store.with_name(store.name + end) for end in ("-wal",))]
        n_bytes = sum(path.stat().st_size for path in files if path.exists())
        database = sqlite3.connect(store)
        bytes_of = lambda column, table: database.execute(
            f"SELECT coalesce(sum(length(CAST({column} AS BLOB))), 0) FROM {table}").fetchone()[0]
        n_text = bytes_of("text", "turn") + bytes_of("answer", "turn")
        n_index = bytes_of("terms", "posting") + bytes_of("turns", "indexed")
        n_turns = database.execute("SELECT count(*) FROM turn").fetchone()[0]
        n_sessions = database.execute("SELECT count(*) FROM session").fetchone()[0]
        n_segments = database.execute("SELECT count(*) FROM segment").fetchone()[0]
        rows = database.execute("SELECT text FROM turn WHERE id % ? = 0", (max(n_turns // 5000, 1),)).fetchall()
        self.samples = [text.rstrip("?").split() for (text,) in rows]
        database.close()
        print(f"store: {n_sessions} sessions, {n_turns} turns; text {n_text / 1e6:.1f} MB, file {n_bytes / 1e6:.1f} MB "
              f"({n_bytes / n_text:.2f} × the text, bar 3), index {n_index / 1e6:.1f} MB in {n_segments} segments")

    def ask(self, n_questions):
        dice = random.Random(5)
        texts = dice.choices([words for words in self.samples if 8 <= len(words)], k=n_questions)
        questions = [" ".join(dice.sample(words, dice.randint(3, 6))) for words in texts]
        asked = {
            "git rev-parse HEAD": lambda question: ["git", "rev-parse", "HEAD"],
            "find": lambda question: [self.binary, "find", question],
            "find --limit 50": lambda question: [self.binary, "find", "--limit=50", question],
            "find --all": lambda question: [self.binary, "find", "--all", question],
            "find (nothing)": lambda question: [self.binary, "find", "zzyzx"],
            "about": lambda question: [self.binary, "about", question],
            "how": lambda question: [self.binary, "how", question],
            "brief": lambda question: [self.binary, "brief"],
        }
        if subprocess.run([self.binary, "brief", "--help"], capture_output=True).returncode:
            del asked["brief"]
        times = {name: [] for name in asked}
        for question in questions[:3] + questions:
            for name, command in asked.items():
                start = time.perf_counter()
                self.run(*command(question), cwd=self.projects[0])
                times[name].append(time.perf_counter() - start)
        git = percentile(times["git rev-parse HEAD"][3:], 50)
        print(f"{n_questions} questions, each a process, in turns")
        for name, seconds in times.items():
            seconds = seconds[3:]
            half, most = percentile(seconds, 50), percentile(seconds, 95)
            bar = f", bar {BARS[name]}" if name in BARS else ""
            print(f"{name:<20} p50 {half * 1e3:7.2f} ms  p95 {most * 1e3:7.2f} ms  {half / git:5.1f} × git (p95 {most / git:.1f}){bar}")


def percentile(values, share):
    return sorted(values)[min(len(values) * share // 100, len(values) - 1)]


def stems_with_near_words(dice):
    """The words that search knows near ones of, in any order; the file is described beside it."""
    bench = pathlib.Path(__file__).resolve()
    table = (bench.parent.parent / "crates/chronicle-embedding/words/near.bin").read_bytes()
    n_stems, _ = struct.unpack_from("<II", table, 8)
    places = struct.unpack_from(f"<{n_stems + 1}I", table, 16)
    near = 16 + 4 * (n_stems + 1)
    stems = table[near + 12 * n_stems :].decode()
    known = [stems[places[i] : places[i + 1]] for i in range(n_stems) if table[near + 12 * i + 2]]
    dice.shuffle(known)
    return known


class Words:
    """Words by Zipf's law: the second half as frequent as the first, and so on."""

    def __init__(self):
        self.dice = random.Random(20260101)
        made = {}
        while len(made) < VOCABULARY:
            made["".join(self.dice.choices(SYLLABLES, k=self.dice.choice((1, 2, 2, 3, 3, 4))))] = None
        self.vocabulary = sorted(made, key=len)
        for place, stem in enumerate(stems_with_near_words(self.dice)):
            self.vocabulary[2 * place] = stem
        self.ends = list(itertools.accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def some(self, n_words):
        total = self.ends[-1]
        return [self.vocabulary[bisect.bisect(self.ends, self.dice.random() * total)] for _ in range(n_words)]


if __name__ == "__main__":
    main()
