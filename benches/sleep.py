#!/usr/bin/env python3
"""What a daily consolidation costs.

    python3 benches/sleep.py --binary target/release/git-chronicle [--sessions 100]

Writes transcripts of made-up sessions of one day, takes them in, and times the daily job of the next day, which is the
first one, and then again, when there is nothing left to do.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from briefing import transcript


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--sessions", type=int, default=100)
    arguments = parser.parse_args()
    binary = str(Path(arguments.binary).resolve())
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        now = datetime(2026, 3, 10, 6, tzinfo=timezone.utc)
        env = {**os.environ, "HOME": str(top), "CHRONICLE_HOME": str(top / "memory"), "TZ": "UTC",
               "CHRONICLE_NOW": now.isoformat().replace("+00:00", "Z")}
        env.pop("XDG_DATA_HOME", None)
        folder = top / ".claude/projects/x"
        folder.mkdir(parents=True)
        for number in range(arguments.sessions):
            start = datetime(2026, 3, 9, 1, tzinfo=timezone.utc) + timedelta(minutes=12 * number % 1200)
            session, text, _ = transcript(rng, number, str(top / f"repo{number % 7}"), start)
            (folder / f"{session}.jsonl").write_text(text)
        run = lambda *args: subprocess.run([binary, *args], cwd=top, env=env, check=True, capture_output=True)
        run("session", "ingest", "--sweep")
        for name in ("first", "again"):
            times = []
            before = time.perf_counter()
            run("consolidate", "--daily")
            times.append(time.perf_counter() - before)
            print(f"daily consolidation of {arguments.sessions} sessions, {name}: {times[0]:.3f} s (the bar is 2 s)")
        before = time.perf_counter()
        run("consolidate")
        print(f"all jobs after it: {time.perf_counter() - before:.3f} s")


if __name__ == "__main__":
    main()
