#!/usr/bin/env python3
"""How well `find` finds, measured with the real command on conversations whose answers are known.

Every conversation becomes a project of its own: its sessions are written in
the form for any agent (`docs/transcripts.md`) and taken in by `session
ingest`; every question is asked by `find QUESTION --limit 50`. A turn is one
memory, `speaker` and `text [shares caption]`; what annotators wrote about
the conversation (queries, observations, summaries, events) is never shown to us.

Recall is the share of a question's evidence among the first k turns, averaged
over all questions, of all five categories. Ids of evidence are normalised
(split at `;` and spaces, leading zeros and stray colons taken off, unknown ones
dropped); questions that have none left are left out, and counted. A session is
found where its best turn is. Random is the expected recall of a random order.
Intervals are those of 2,000 bootstrap samples of whole conversations:
questions of one conversation are not independent.

With `--bound` the exit code is 1 when a bar of the design is missed.
"""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

CUTS = (5, 10, 20)
LIMIT = 50
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
BARS = {"recall@10": 0.79, "recall@20": 0.82, "MRR": 0.60, "sessions@10": 0.93}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = pathlib.Path(__file__).resolve().parent.parent.parent / "shared/data/locomo-dev"
    parser.add_argument("--data", type=pathlib.Path, default=beside, help="folder with N.turns.jsonl and N.queries.jsonl")
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path("target/release/git-chronicle"))
    parser.add_argument("--pooled", action="store_true", help="ask in all conversations at once (--all) instead")
    parser.add_argument("--misses", type=int, default=0, metavar="N", help="print N questions without evidence in the first ten")
    parser.add_argument("--rows", type=pathlib.Path, help="write one JSON line for each question to this file")
    parser.add_argument("--bound", action="store_true", help="fail when a bar is missed")
    args = parser.parse_args()
    names = sorted(path.name.split(".")[0] for path in args.data.glob("*.turns.jsonl"))
    if not names:
        print(f"skipped: no conversations in {args.data}")
        return
    with tempfile.TemporaryDirectory() as home:
        memory = Memory(args.binary.resolve(), pathlib.Path(home))
        conversations = [Conversation(args.data, name) for name in names]
        for conversation in conversations:
            memory.take_in(conversation)
        rows = ask_all(memory, conversations, args.pooled)
    left_out = sum(conversation.n_left_out for conversation in conversations)
    report(rows, conversations, left_out, args.pooled)
    if args.rows:
        args.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for row in [row for row in rows if not row["recall@10"]][: args.misses]:
        print(f"  missed: {row['conversation']} {CATEGORIES[row['category']]}: {row['question']}")
    missed = [name for name, bar in BARS.items() if mean(rows, name) < bar]
    print("bars: " + ", ".join(f"{name} {'missed' if name in missed else 'met'} ({bar})" for name, bar in BARS.items()))
    if args.bound and missed:
        sys.exit(1)


class Conversation:
    """The turns and the questions of one conversation."""

    def __init__(self, folder, name):
        self.name = name
        self.turns = read_lines(folder / f"{name}.turns.jsonl")
        self.session_of = {turn["id"]: f"{name}-{turn['session']}" for turn in self.turns}
        self.questions = []
        self.n_left_out = 0
        for query in read_lines(folder / f"{name}.queries.jsonl"):
            evidence = self.normalised(query["evidence"])
            if evidence:
                self.questions.append((query["question"], query["category"], evidence))
            else:
                self.n_left_out += 1

    def normalised(self, ids):
        parts = (part for written in ids for part in re.split(r"[;\s]+", written))
        found = (re.fullmatch(r"D:?(\d+):(\d+)", part) for part in parts)
        known = (f"D{int(match[1])}:{int(match[2])}" for match in found if match)
        return {turn for turn in known if turn in self.session_of}

    def transcript(self, folder):
        """The turns in the form for any agent; each session begins at its own time."""
        minute = {}
        for number, turn in enumerate(self.turns):
            session = self.session_of[turn["id"]]
            began = datetime.strptime(turn["date"], "%I:%M %p on %d %B, %Y").timestamp()
            second = minute[session] = minute.get(session, -1) + 1
            shares = f" [shares {turn['caption']}]" if turn.get("caption") else ""
            yield {
                "session": session,
                "id": turn["id"],
                "time": int(began) + second,
                "role": ("user", "assistant")[number % 2],
                "speaker": turn["speaker"],
                "text": turn["text"] + shares,
                "folder": str(folder),
            }


class Memory:
    """Session memory in a folder of its own, asked through the command."""

    def __init__(self, binary, home):
        self.binary = binary
        self.home = home
        self.environment = {**os.environ, "HOME": str(home), "CHRONICLE_HOME": str(home / "memory")}

    def run(self, folder, *args):
        command = [str(self.binary), "-C", str(folder), *args]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def folder(self, name):
        return self.home / "projects" / f"conversation-{name}"

    def take_in(self, conversation):
        folder = self.folder(conversation.name)
        folder.mkdir(parents=True)
        path = self.home / f"{conversation.name}.jsonl"
        rows = conversation.transcript(folder)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        reply = json.loads(self.run(folder, "session", "ingest", str(path), "--format", "json"))
        if reply["new_turns"] != len(conversation.turns):
            sys.exit(f"{reply['new_turns']} of {len(conversation.turns)} turns were taken in")

    def find(self, name, question, is_pooled):
        start = time.perf_counter()
        everywhere = ["--all"] if is_pooled else []
        answer = self.run(self.folder(name), "find", f"--limit={LIMIT}", "--format=json", *everywhere, "--", question)
        seconds = time.perf_counter() - start
        answer = json.loads(answer)
        if "warnings" in answer:
            sys.exit(f"{question} is answered with warnings: {answer['warnings']}")
        return answer["hits"], seconds


def ask_all(memory, conversations, is_pooled):
    questions = [(conversation, *question) for conversation in conversations for question in conversation.questions]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda question: row_of(memory, is_pooled, *question), questions))


def row_of(memory, is_pooled, conversation, question, category, evidence):
    hits, seconds = memory.find(conversation.name, question, is_pooled)
    wanted = {(conversation.session_of[turn], turn) for turn in evidence}
    wanted_sessions = {session for session, _ in wanted}
    ranked = [(hit["session"], hit["turn"]) for hit in hits]
    sessions = list(dict.fromkeys(session for session, _ in ranked))
    first = next((rank for rank, turn in enumerate(ranked, 1) if turn in wanted), None)
    row = {
        "conversation": conversation.name,
        "category": category,
        "question": question,
        "MRR": 1 / first if first else 0.0,
        "seconds": seconds,
        "n_evidence": len(wanted),
    }
    for cut in (*CUTS, LIMIT):
        found = len(wanted & set(ranked[:cut]))
        row[f"recall@{cut}"] = found / len(wanted)
        row[f"hit@{cut}"] = float(0 < found)
        row[f"all@{cut}"] = float(found == len(wanted))
    for cut in (5, 10):
        row[f"sessions@{cut}"] = len(wanted_sessions & set(sessions[:cut])) / len(wanted_sessions)
    return row


def mean(rows, name):
    return sum(row[name] for row in rows) / max(len(rows), 1)


def interval(rows, name):
    """What 95 of 100 samples of conversations lie between."""
    by_conversation = {}
    for row in rows:
        by_conversation.setdefault(row["conversation"], []).append(row[name])
    pools = list(by_conversation.values())
    dice = random.Random(20260101)
    means = []
    for _ in range(2000):
        values = [value for _ in pools for value in dice.choice(pools)]
        means.append(sum(values) / len(values))
    means.sort()
    return means[50], means[1949]


def report(rows, conversations, n_left_out, is_pooled):
    where = "all conversations at once" if is_pooled else "each conversation a project"
    n_turns = sum(len(conversation.turns) for conversation in conversations)
    n_sessions = len({session for conversation in conversations for session in conversation.session_of.values()})
    print(f"{len(conversations)} conversations, {n_sessions} sessions, {n_turns} turns, {len(rows)} questions "
          f"({n_left_out} without evidence left out), {where}, find --limit {LIMIT}\n")
    names = ["recall@5", "recall@10", "recall@20", "recall@50", "MRR", "hit@5", "hit@10", "hit@20", "all@10",
             "sessions@5", "sessions@10"]
    print(f"{'':<24}" + "".join(f"{name:>12}" for name in names))

    def line(label, value):
        print(f"{label:<24}" + "".join(f"{value(name):>12}" for name in names))

    line("all categories", lambda name: f"{mean(rows, name):.4f}")
    line("95 % from", lambda name: f"{interval(rows, name)[0]:.4f}")
    line("95 % to", lambda name: f"{interval(rows, name)[1]:.4f}")
    line("without adversarial", lambda name: f"{mean([row for row in rows if row['category'] != 5], name):.4f}")
    for category, called in CATEGORIES.items():
        some = [row for row in rows if row["category"] == category]
        line(f"{called} ({len(some)})", lambda name: f"{mean(some, name):.4f}")
    for conversation in conversations:
        some = [row for row in rows if row["conversation"] == conversation.name]
        line(f"conversation {conversation.name}", lambda name: f"{mean(some, name):.4f}")
    by_chance = chance(rows, conversations, is_pooled)
    line("random order", lambda name: f"{by_chance[name]:.4f}")
    seconds = sorted(row["seconds"] for row in rows)
    print(f"\na question takes {seconds[len(seconds) // 2] * 1e3:.1f} ms, 99 of 100 no more than "
          f"{seconds[len(seconds) * 99 // 100] * 1e3:.1f} ms (process included, {os.cpu_count()} at a time)")


def chance(rows, conversations, is_pooled):
    """The same figures for turns in a random order, as the mean of 20 of them."""
    dice = random.Random(20260102)
    sums = {}
    for conversation in conversations:
        pool = conversations if is_pooled else [conversation]
        turns = [(of.session_of[turn["id"]], turn["id"]) for of in pool for turn in of.turns]
        for _, _, evidence in conversation.questions:
            wanted = {(conversation.session_of[turn], turn) for turn in evidence}
            wanted_sessions = {session for session, _ in wanted}
            for _ in range(20):
                order = dice.sample(turns, LIMIT)
                first = next((rank for rank, turn in enumerate(order, 1) if turn in wanted), None)
                add(sums, "MRR", 1 / first if first else 0.0)
                for cut in (*CUTS, LIMIT):
                    found = len(wanted & set(order[:cut]))
                    add(sums, f"recall@{cut}", found / len(wanted))
                    add(sums, f"hit@{cut}", float(0 < found))
                    add(sums, f"all@{cut}", float(found == len(wanted)))
                sessions = list(dict.fromkeys(session for session, _ in order))
                for cut in (5, 10):
                    found = len(wanted_sessions & set(sessions[:cut]))
                    add(sums, f"sessions@{cut}", found / len(wanted_sessions))
    return {name: value / (20 * len(rows)) for name, value in sums.items()}


def add(sums, name, value):
    sums[name] = sums.get(name, 0.0) + value


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


if __name__ == "__main__":
    main()
