#!/usr/bin/env python3
"""Kills every command that writes, at random moments, and looks at what is left.

    python3 benches/kill_matrix.py --binary target/release/git-chronicle --kills 200

Each command runs again and again on growing data and is killed with SIGKILL, with all processes that it
started. The next run has to succeed and must not wait for a lock. In the end `git fsck --strict` and `PRAGMA
integrity_check` have nothing to say, everything that was acknowledged is there, and no lock or temporary file
is left. Then the same commands run on a full disk (a small tmpfs, which takes root) and on a read-only file
system: one clear error, exit code 1, and afterwards everything works. Exits with 1 when a promise is broken.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from kill import children_of, environment, kill

LONGEST_WAIT = 5.0


class World:
    """A repository with a remote, a home, and a session store, all under one folder."""

    def __init__(self, root: pathlib.Path, binary: pathlib.Path):
        self.root, self.binary, self.number, self.failures = root, binary, 0, []
        self.home, self.repo, self.other = root / "home", root / "repo", root / "other"
        self.home.mkdir(parents=True)
        self.env = environment(binary) | {
            "HOME": str(self.home), "CHRONICLE_HOME": str(root / "store"), "CHRONICLE_FOREGROUND": "1",
        }
        self.git(root, "init", "--quiet", "--bare", "--initial-branch=main", "remote.git")
        self.git(root, "init", "--quiet", "--initial-branch=main", "repo")
        (self.repo / "pool.rs").write_text("fn acquire() { wait(0) }\n")
        self.git(self.repo, "add", "--all")
        self.git(self.repo, "commit", "--quiet", "-m", "pool: wait")
        self.git(self.repo, "remote", "add", "origin", str(root / "remote.git"))
        self.git(self.repo, "push", "--quiet", "origin", "main")
        self.git(root, "clone", "--quiet", "remote.git", "other")
        (self.home / ".claude").mkdir()
        (self.home / ".claude/settings.json").write_text('{"theme": "dark"}\n')
        for where in (self.repo, self.other):
            self.ours(where, "sync", "enable")
        self.words: list[str] = []

    def git(self, directory: pathlib.Path, *args: str) -> str:
        ran = subprocess.run(("git", *args), cwd=directory, env=self.env, capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {ran.stderr}")
        return ran.stdout.strip()

    def start(self, directory: pathlib.Path, *args: str) -> subprocess.Popen:
        return subprocess.Popen(
            (self.binary, *args), cwd=directory, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )

    def ours(self, directory: pathlib.Path, *args: str) -> subprocess.CompletedProcess:
        child = self.start(directory, *args)
        stdout, stderr = child.communicate()
        return subprocess.CompletedProcess(args, child.returncode, stdout, stderr)

    def word(self) -> str:
        self.number += 1
        return f"lesson{self.number:05}word"

    def fail(self, what: str) -> None:
        self.failures.append(what)
        print(f"  FAILED {what}", flush=True)

    def annotate(self, word: str) -> tuple[str, ...]:
        lesson = {"category": "gotcha", "content": f"The {word} was learnt the hard way.", "file": "pool.rs"}
        return ("annotate", "--json", json.dumps({"summary": f"Why {word} is as it is", "wisdom": [lesson]}))

    def transcript(self, word: str) -> str:
        """A transcript of a session of Claude Code that says `word`."""
        session = f"{self.number:08d}-0000-4000-8000-000000000000"
        path = self.home / ".claude/projects/work" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        base = {"sessionId": session, "cwd": str(self.repo), "gitBranch": "main", "version": "2.1.0"}
        rows = []
        for turn in range(20):
            at = f"2026-11-20T10:{turn:02}:00.000Z"
            rows.append(base | {"type": "user", "uuid": f"u{turn}", "timestamp": at,
                                "message": {"role": "user", "content": f"Please look at {word} once more, turn {turn}"}})
            rows.append(base | {"type": "assistant", "uuid": f"a{turn}", "timestamp": at, "message": {
                "id": f"m{turn}", "role": "assistant", "model": "c", "content": [{"type": "text", "text": f"{word} is done, {turn}."}]}})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    # What holds whatever happened.

    def whole(self, name: str) -> None:
        for where in (self.repo, self.other):
            complaints = subprocess.run(("git", "fsck", "--strict", "--no-dangling", "--no-progress"), cwd=where,
                                        env=self.env, capture_output=True, text=True)
            if complaints.returncode or complaints.stdout.strip():
                self.fail(f"{name}: git fsck in {where.name}: {complaints.stdout}{complaints.stderr}")
            locks = [str(path) for path in (where / ".git").rglob("*.lock") if not {"chronicle", "index"} & {path.parent.name, path.parent.parent.name}]
            if locks:
                self.fail(f"{name}: locks are left: {locks}")
        for path in (self.root / "store").glob("*.db"):
            with contextlib.closing(sqlite3.connect(path)) as database:
                answer = database.execute("PRAGMA integrity_check").fetchone()[0]
            if answer != "ok":
                self.fail(f"{name}: {path.name}: {answer}")
        exported = self.ours(self.repo, "export").stdout
        lost = [word for word in self.words if word not in exported]
        if lost:
            self.fail(f"{name}: acknowledged and lost: {lost}")

    def temporary(self) -> list[str]:
        folders = (self.root / "store", self.repo / ".git", self.other / ".git", self.home)
        beginnings = (".chronicle-tmp-", ".tmp", "tmp_obj_chronicle", "tmp_swap_", ".settings.json.chronicle")
        return [str(path.relative_to(self.root)) for folder in folders for path in folder.rglob("*")
                if path.name.startswith(beginnings) or path.name.endswith(".chronicle-new")]


class Command:
    """A command that is killed: what to do before, what to run, and what has to hold once it succeeded."""

    def __init__(self, name, run, before=None, after=None):
        self.name, self.run, self.before, self.after = name, run, before or (lambda world: None), after or (lambda world, given: None)


def stored(world: World, word: str) -> None:
    world.words.append(word)


def annotated(world: World) -> str:
    word = world.word()
    if world.ours(world.repo, *world.annotate(word)).returncode == 0:
        world.words.append(word)
    return word


def pushed(world: World, word: str) -> None:
    notes = world.git(world.root / "remote.git", "grep", "-h", "-e", "", "refs/notes/chronicle")
    if word not in notes:
        world.fail(f"sync push: {word} is not at the remote")


def annotated_elsewhere(world: World) -> str:
    word = world.word()
    for args in (world.annotate(word), ("sync", "push")):
        ran = world.ours(world.other, *args)
        if ran.returncode:
            raise RuntimeError(f"{args[0]} in the other clone: {ran.stderr}")
    return word


def pulled(world: World, word: str) -> None:
    if word not in world.ours(world.repo, "export").stdout:
        world.fail(f"sync pull: {word} is not here")
    world.words.append(word)


def to_purge(world: World) -> tuple[str, str]:
    word = world.word()
    world.ours(world.repo, *world.annotate(word))
    for line in world.ours(world.repo, "export").stdout.splitlines():
        for entry in json.loads(json.loads(line).get("note", "{}") if isinstance(json.loads(line).get("note"), str) else line).get("wisdom", []):
            if word in entry.get("content", ""):
                return word, entry["id"]
    note = json.loads(world.git(world.repo, "notes", "--ref=chronicle", "show"))
    return word, next(entry["id"] for entry in note["wisdom"] if word in entry["content"])


def purged(world: World, given: tuple[str, str]) -> None:
    history = world.git(world.repo, "log", "-p", "--format=", "refs/notes/chronicle")
    if f"The {given[0]} was" in history:
        world.fail(f"purge: {given[0]} is still in the history")


def ingested(world: World, path: str) -> None:
    word = pathlib.Path(path).read_text().split("look at ")[1].split()[0]
    if word not in world.ours(world.repo, "find", word, "--format", "json").stdout:
        world.fail(f"session ingest: {word} is not found")


def without_index(world: World) -> None:
    shutil.rmtree(world.repo / ".git/chronicle/facts", ignore_errors=True)


def is_set_up(world: World, _: None) -> None:
    if "git-chronicle" not in (world.home / ".claude/settings.json").read_text():
        world.fail("setup: the settings do not name git-chronicle")


def is_taken_out(world: World, _: None) -> None:
    if (world.home / ".claude/settings.json").read_text() != '{"theme": "dark"}\n':
        world.fail("uninstall: the settings are not as they were")


def is_init(world: World, _: None) -> None:
    hook = world.repo / ".git/hooks/post-commit"
    if not hook.exists() or "git-chronicle hook" not in hook.read_text():
        world.fail("init: the hook is not there")


COMMANDS = [
    Command("annotate", lambda world, word: world.annotate(word), World.word, stored),
    Command("sync push", lambda world, word: ("sync", "push"), annotated, pushed),
    Command("sync pull", lambda world, word: ("sync", "pull"), annotated_elsewhere, pulled),
    Command("session ingest", lambda world, path: ("session", "ingest", path),
            lambda world: world.transcript(world.word()), ingested),
    Command("consolidate", lambda world, _: ("consolidate",)),
    Command("first read", lambda world, _: ("read", "pool.rs"), without_index),
    Command("purge", lambda world, given: ("purge", given[1]), to_purge, purged),
    Command("init", lambda world, _: ("init",), lambda world: world.ours(world.repo, "uninstall", "--scope", "project") and None, is_init),
    Command("setup", lambda world, _: ("setup", "claude"), lambda world: world.ours(world.repo, "uninstall", "claude") and None, is_set_up),
    Command("uninstall", lambda world, _: ("uninstall", "claude"), lambda world: world.ours(world.repo, "setup", "claude") and None, is_taken_out),
]


def is_of_remote(pid: int) -> bool:
    """What serves a remote runs on another machine, mostly, and isn't killed along."""
    try:
        called = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return any(name in called for name in (b"receive-pack", b"upload-pack", b"unpack-objects"))


def killed(world: World, command: Command, n_kills: int, chance: random.Random) -> None:
    usual, n_killed, longest = 0.05, 0, 0.0
    for number in range(n_kills + 1):
        given = command.before(world)
        args = command.run(world, given)
        started = time.perf_counter()
        child = world.start(world.repo, *args)
        if number:
            time.sleep(chance.random() * 1.2 * usual)
            below = children_of(child.pid)
            for pid in (child.pid, *(pid for pid in reversed(below) if not is_of_remote(pid))):
                kill(pid)
        _, stderr = child.communicate()
        usual = time.perf_counter() - started if not number else usual
        if child.returncode == -signal.SIGKILL:
            n_killed += 1
            started = time.perf_counter()
            again = world.ours(world.repo, *args)
            longest = max(longest, time.perf_counter() - started)
            if again.returncode:
                # What was purged already is unknown now.
                if not (command.name == "purge" and "no entry" in again.stderr):
                    world.fail(f"{command.name}: the run after a kill: {again.stderr.strip()[:300]}")
                    continue
        elif child.returncode:
            world.fail(f"{command.name}: {stderr.strip()[:300]}")
            continue
        command.after(world, given)
    if usual + LONGEST_WAIT < longest:
        world.fail(f"{command.name}: the run after a kill took {longest:.1f} s")
    world.whole(command.name)
    print(f"{command.name}: {n_killed} kills of {n_kills} runs, undisturbed {usual:.2f} s, longest run after a kill {longest:.2f} s", flush=True)


def swept(world: World) -> None:
    """After a minute, the next writers and `gc` have removed what killed ones left."""
    before = world.temporary()
    for name in before:
        path = world.root / name
        os.utime(path, (time.time() - 70, path.stat().st_mtime - 70))
    for where in (world.repo, world.other):
        world.ours(where, *world.annotate(world.word()))
        world.ours(where, "gc")
    world.ours(world.repo, "setup", "claude")
    left = world.temporary()
    print(f"temporary files: {len(before)} left by kills, {len(left)} after the next writers and gc")
    if left:
        world.fail(f"temporary files are left: {left[:5]}")


def refused(world: World, name: str, command: Command, given) -> None:
    """A command that cannot write says so in one line, and does not panic."""
    ran = world.ours(world.repo, *command.run(world, given))
    if ran.returncode == 0:
        command.after(world, given)
        return
    errors = [line for line in ran.stderr.splitlines() if line.startswith("error:")]
    if ran.returncode != 1 or len(errors) != 1 or "panicked" in ran.stderr:
        world.fail(f"{name}: {command.name}: exit code {ran.returncode}: {ran.stderr.strip()[:300]}")


def full_disk(place: pathlib.Path, binary: pathlib.Path, chance: random.Random) -> list[str]:
    world = World(place / "world", binary)
    world.words.append(annotated(world))
    for command in COMMANDS:
        for free in (0, 4, 16, 64):
            given = command.before(world)
            filler = place / "filler"
            with filler.open("wb", buffering=0) as file:
                try:
                    while True:
                        file.write(b"\0" * 4096)
                except OSError:
                    file.truncate(max(0, file.tell() - free * 1024))
            refused(world, f"full disk ({free} KB)", command, given)
            filler.unlink()
            again = world.ours(world.repo, *command.run(world, given))
            if again.returncode and not (command.name == "purge" and "no entry" in again.stderr):
                world.fail(f"full disk: {command.name} with room again: {again.stderr.strip()[:300]}")
        world.whole(f"full disk: {command.name}")
    print(f"full disk: {len(world.failures)} failures")
    return world.failures


def remount(place: pathlib.Path, how: str) -> None:
    """A process that goes on in the background may still write for a moment."""
    for _ in range(100):
        if subprocess.run(("mount", "-o", f"remount,{how}", str(place)), capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError(f"{place} cannot be remounted")


def read_only(place: pathlib.Path, binary: pathlib.Path) -> list[str]:
    world = World(place / "world", binary)
    for command in COMMANDS:
        given = command.before(world)
        remount(place, "ro")
        refused(world, "read-only", command, given)
        remount(place, "rw")
        again = world.ours(world.repo, *command.run(world, given))
        if again.returncode:
            world.fail(f"read-only: {command.name} afterwards: {again.stderr.strip()[:300]}")
        world.whole(f"read-only: {command.name}")
    print(f"read-only: {len(world.failures)} failures")
    return world.failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=200, help="kills of each command")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binary, chance, failures = options.binary.resolve(), random.Random(options.seed), []
    with tempfile.TemporaryDirectory() as directory:
        world = World(pathlib.Path(directory) / "world", binary)
        for command in COMMANDS:
            killed(world, command, options.kills, chance)
        swept(world)
        failures += world.failures
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        mounted = subprocess.run(("mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(place)), capture_output=True)
        if mounted.returncode:
            print("no tmpfs can be mounted here (it takes root): full disk and read-only are left out")
        else:
            try:
                failures += full_disk(place, binary, chance)
                shutil.rmtree(place / "world")
                failures += read_only(place, binary)
            finally:
                subprocess.run(("umount", "--lazy", str(place)), check=False)
    print(f"{len(failures)} failures")
    raise SystemExit(1 if failures else 0)


if __name__ == "__main__":
    main()
