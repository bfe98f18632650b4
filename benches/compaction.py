#!/usr/bin/env python3
"""How much of what was decided, and of what worked, an agent still has after a compaction.

    python3 benches/compaction.py --binary target/release/git-chronicle [--transcripts FOLDER] [--gold FOLDER]

Each transcript of Claude Code is cut where a compaction comes, and taken in. Then the hook for the new context runs, once
as it is when the agent has written its summary, and once before that. Counted are the decisions that careful readers
found before the cut, and the checks that passed last: how many the summary has, and how many the summary and the
briefing have together. Words are printed of nothing.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path


def says(text, groups):
    """Whether some three lines together have a word of each group."""
    lines = text.lower().splitlines()
    windows = ["\n".join(lines[at:at + 3]) for at in range(max(1, len(lines) - 2))]
    return any(all(any(word.lower() in window for word in group) for group in groups) for window in windows)


def content(row):
    words = row["message"]["content"]
    return words if isinstance(words, str) else "\n".join(part.get("text", "") for part in words)


def main():
    here = Path(__file__).parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--transcripts", default=str(here / "../../shared/data/transcripts"))
    parser.add_argument("--gold", default=str(here / "../../shared/data/gold"))
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).resolve())
    kinds = ("decisions", "commands")
    counts = {kind: {"all": 0, "summary": 0, "with briefing": 0, "before the summary": 0} for kind in kinds}
    n_compactions = 0
    longest = 0
    for path in sorted(Path(arguments.transcripts).glob("*.jsonl.gz")):
        rows = gzip.open(path, "rt", errors="replace").read().splitlines(keepends=True)
        at = [number for number, row in enumerate(rows) if '"isCompactSummary":true' in row]
        gold = Path(arguments.gold) / path.name.replace(".jsonl.gz", ".json")
        gold = json.loads(gold.read_text()) if gold.exists() else {"decisions": []}
        for number in at:
            n_compactions += 1
            with tempfile.TemporaryDirectory() as top:
                run = Compacted(binary, Path(top), rows[:number + 1])
                summary = content(json.loads(rows[number]))
                texts = {"summary": summary, "with briefing": summary + "\n" + run.briefing(True),
                         "before the summary": summary + "\n" + run.briefing(False)}
                longest = max(longest, run.longest)
                sought = {
                    "decisions": [one["words"] for one in gold["decisions"] if one["line"] <= number],
                    "commands": [[[command]] for command in run.commands()],
                }
            for kind in kinds:
                counts[kind]["all"] += len(sought[kind])
                for name, text in texts.items():
                    plain = re.sub(r"[ \t]+", " ", text)
                    counts[kind][name] += sum(says(plain, groups) for groups in sought[kind])
                if arguments.verbose:
                    had = [sum(says(text, groups) for groups in sought[kind]) for text in texts.values()]
                    print(f"{path.name[:13]} {number}: {kind} {len(sought[kind])}, {had}")
    print(f"{n_compactions} compactions; the longest text has {longest} characters")
    for kind, count in counts.items():
        print(f"{kind}: " + ", ".join(f"{name} {n}" for name, n in count.items()))


class Compacted:
    """A session whose transcript ends with the summary of a compaction."""

    def __init__(self, binary, top, rows):
        self.binary, self.top, self.rows, self.longest = binary, top, rows, 0
        parsed = [json.loads(row) for row in rows if row.strip()]
        self.session = next(row["sessionId"] for row in parsed if row.get("sessionId"))
        self.folder = next(row["cwd"] for row in parsed if row.get("cwd"))
        self.now = max(row["timestamp"] for row in parsed if row.get("timestamp"))
        self.place = top / "repo"
        self.place.mkdir()
        # What the transcript was written in is not here: another folder stands for it.
        self.rows = [row.replace(self.folder, str(self.place)) for row in rows]
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(self.place))
        self.transcript = top / ".claude/projects" / slug / f"{self.session}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        # The agent compacts what was taken in when its turn ended; the boundary and the summary come after that.
        self.transcript.write_text("".join(self.rows[:-2]))
        self.run(["session", "ingest", str(self.transcript)])

    def run(self, args, stdin=""):
        env = {**os.environ, "HOME": str(self.top), "CHRONICLE_HOME": str(self.top / "memory"), "TZ": "UTC",
               "GIT_CONFIG_GLOBAL": "/dev/null", "CHRONICLE_NOW": self.now}
        env.pop("XDG_DATA_HOME", None)
        done = subprocess.run([self.binary, *args], cwd=self.place, env=env, input=stdin.encode(), capture_output=True)
        return done.stdout.decode()

    def briefing(self, has_summary):
        self.transcript.write_text("".join(self.rows if has_summary else self.rows[:-2]))
        payload = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": str(self.place),
                   "hook_event_name": "SessionStart", "source": "compact"}
        # The same beginning is told once; so each has a log of its own.
        for log in (self.top / "memory/injected").glob("**/*"):
            if log.is_file():
                log.unlink()
        out = self.run(["hook", "claude", "session-start"], json.dumps(payload))
        text = json.loads(out)["hookSpecificOutput"]["additionalContext"] if out.strip() else ""
        self.longest = max(self.longest, len(text))
        return text

    def commands(self):
        shown = json.loads(self.run(["session", "show", self.session, "--format=json"]))
        checks = shown["digest"]["checks"] if shown.get("digest") else []
        return [" ".join(check["command"].split())[:160] for check in checks if check["is_passed"] is True]


if __name__ == "__main__":
    main()
