#!/usr/bin/env python3
"""How well `find` finds in dialogs with agents, next to a plain BM25 over the same texts.

    dialogs.py beam MIRROR [--chats 1-10]     dialogs of a human and an assistant, turn by turn
    dialogs.py coding MIRROR [--repos A,B]    recorded coding sessions, session by session

MIRROR is a git directory of mohammadtavakoli78/BEAM or jiayuanz3/SWEContextBench; nothing of them is kept here. The
product is asked through its command: `session ingest`, then `find --limit 50` for each question.

beam: a question's evidence are the turns that it names; abstention questions are left out. Two plain rankings are
printed: over all turns, and over the human's alone.
coding: a question is the beginning of a problem statement; its evidence are the sessions of the same repository that
changed a file of the reference patch.

Needs PyStemmer (`pip install PyStemmer`) for the plain ranking: without stems it would be too easy to beat.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import subprocess
import tempfile

import Stemmer

STEMMER = Stemmer.Stemmer("english")
STOP_WORDS = set("a an and are as at be but by for if in into is it no not of on or such that the their then there these "
                 "they this to was will with".split())
LIMIT = 50
REPOSITORIES = "django__django,astropy__astropy,matplotlib__matplotlib,psf__requests,pallets__flask"


def stems(text):
    words = (word.lower() for word in re.findall(r"\b\w\w+\b", text))
    return STEMMER.stemWords([word for word in words if word not in STOP_WORDS])


class Plain:
    """BM25 with the usual k1 = 1.2 and b = 0.75."""

    def __init__(self, texts):
        self.counts = [collections.Counter(stems(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        self.usual = sum(self.lengths) / max(len(texts), 1) or 1
        self.having = collections.Counter(stem for count in self.counts for stem in count)

    def rank(self, question):
        n_texts = len(self.counts)
        scores = [0.0] * n_texts
        for stem in stems(question):
            having = self.having.get(stem, 0)
            rarity = math.log(1 + (n_texts - having + 0.5) / (having + 0.5))
            for number, count in enumerate(self.counts):
                times = count.get(stem, 0)
                if times:
                    length = 1.2 * (0.25 + 0.75 * self.lengths[number] / self.usual)
                    scores[number] += rarity * times * 2.2 / (times + length)
        order = sorted(range(n_texts), key=lambda number: -scores[number])
        return [number for number in order if scores[number] > 0][:LIMIT]


class Memory:
    def __init__(self, binary, home):
        self.binary, self.home = str(binary.resolve()), home
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "CHRONICLE_HOME": str(home / "memory"), "TZ": "UTC"}

    def run(self, folder, *args):
        done = subprocess.run([self.binary, *args], cwd=folder, env=self.environment, capture_output=True, text=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"{args} failed: {done.stdout}{done.stderr}")

    def find(self, folder, question):
        return self.run(folder, "find", f"--limit={LIMIT}", "--format=json", "--", question)["hits"]


def figures(ranked, wanted):
    first = next((rank for rank, name in enumerate(ranked, 1) if name in wanted), None)
    row = {"MRR": 1 / first if first else 0.0}
    row.update({f"recall@{cut}": len(wanted & set(ranked[:cut])) / len(wanted) for cut in (5, 10, 20)})
    return row


def report(label, rows):
    dice = random.Random(20260101)
    mean = lambda name: sum(row[name] for row in rows) / max(len(rows), 1)
    samples = sorted(sum(dice.choice(rows)["MRR"] for _ in rows) / len(rows) for _ in range(1000)) if rows else [0] * 1000
    told = "  ".join(f"{name} {mean(name):.3f}" for name in rows[0]) if rows else "nothing"
    print(f"{label:<34} {len(rows):>4}  {told}  (MRR 95 % {samples[25]:.3f}-{samples[974]:.3f})")
    return mean


def shown(mirror, path):
    return subprocess.run(["git", "-C", str(mirror), "show", f"HEAD:{path}"], capture_output=True, text=True).stdout


def listed(mirror, folder, ending):
    out = subprocess.run(["git", "-C", str(mirror), "ls-tree", "-r", "--name-only", "-z", "HEAD", folder + "/"],
                         capture_output=True, text=True).stdout
    return [path for path in out.split("\0") if path.endswith(ending)]


def numbers(value):
    """Every number in a value, however deep."""
    if isinstance(value, int):
        return {value}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set().union(*map(numbers, parts)) if parts else set()


def beam(memory, args):
    first, last = map(int, args.chats.split("-"))
    ours, plain, plain_human, of_agents, plain_of_agents = [], [], [], [], []
    for chat in range(first, last + 1):
        batches = json.loads(shown(args.mirror, f"chats/100K/{chat}/chat.json"))
        questions = json.loads(shown(args.mirror, f"chats/100K/{chat}/probing_questions/probing_questions.json"))
        turns = [(batch["batch_number"], str(turn["id"]), turn["role"], re.sub(r"\s*->->.*$", "", turn["content"]))
                 for batch in batches for group in batch["turns"] for turn in group]
        folder = memory.home / f"chat-{chat}"
        folder.mkdir()
        rows = [{"session": f"{chat}-{batch}", "id": name, "time": 1709294400 + 86400 * batch + number, "role": role,
                 "speaker": role, "text": text, "folder": str(folder)}
                for number, (batch, name, role, text) in enumerate(turns)]
        (memory.home / f"{chat}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        memory.run(folder, "session", "ingest", str(memory.home / f"{chat}.jsonl"), "--format", "json")
        names = [name for _, name, _, _ in turns]
        human = [number for number, turn in enumerate(turns) if turn[2] == "user"]
        agents = {name for _, name, role, _ in turns if role != "user"}
        over_all, over_human = Plain([turn[3] for turn in turns]), Plain([turns[number][3] for number in human])
        for kind, asked in questions.items():
            for question in asked:
                wanted = {str(number) for number in numbers(question.get("source_chat_ids"))} & set(names)
                if kind == "abstention" or not wanted:
                    continue
                text = question["question"]
                ours.append(figures([hit["turn"] for hit in memory.find(folder, text)], wanted))
                plain.append(figures([names[number] for number in over_all.rank(text)], wanted))
                plain_human.append(figures([names[human[number]] for number in over_human.rank(text)], wanted))
                if wanted & agents:
                    of_agents.append(ours[-1])
                    plain_of_agents.append(plain[-1])
    report("find", ours)
    report("BM25, all turns", plain)
    report("BM25, the human's turns", plain_human)
    report("find, evidence of an assistant", of_agents)
    report("the same, BM25, all turns", plain_of_agents)


def coding(memory, args):
    past, kept = collections.defaultdict(list), set(args.repos.split(","))
    for path in listed(args.mirror, "cases/SWEContextBench Lite Past Experience", ".jsonl"):
        raw = shown(args.mirror, path)
        named = re.search(r"instance_id: ([\w.-]+__[\w.-]+)-\d+", raw)
        if not named or named[1] not in kept:
            continue
        folder = memory.home / "repositories" / named[1]
        if not folder.exists():
            folder.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        rows, session, edited, words = [], None, set(), []
        for line in raw.split("\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            session = session or row.get("sessionId")
            if row.get("cwd"):
                row["cwd"] = str(folder)
            rows.append(json.dumps(row))
            content = (row.get("message") or {}).get("content")
            parts = content if isinstance(content, list) else [{"type": "text", "text": content}] if isinstance(content, str) else []
            for part in parts:
                if part.get("type") == "text":
                    words.append(part["text"])
                elif part.get("type") == "tool_use":
                    words.append(json.dumps(part.get("input"))[:2000])
                    if part["name"] in ("Edit", "Write", "MultiEdit"):
                        changed = part["input"].get("file_path", "")
                        edited.add(re.sub(r"^.*?/(testbed|swebench_\w+)/(testbed/)?", "", changed))
        file = memory.home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder)) / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(rows) + "\n")
        past[named[1]].append((session, edited, "\n".join(words)))
    memory.run(memory.home, "session", "ingest", "--days", "3650", "--format", "json")
    ranked = {name: Plain([words for _, _, words in sessions]) for name, sessions in past.items()}
    ours, plain = [], []
    for path in listed(args.mirror, "cases/SWEContextBench Lite", ".json"):
        task = json.loads(shown(args.mirror, path))
        name = task["repo"].replace("/", "__")
        question = (task.get("problem_statement") or "")[:1000]
        files = set(re.findall(r"^\+\+\+ b/(\S+)", task["patch"], re.M))
        wanted = {session for session, edited, _ in past.get(name, []) if edited & files}
        if not wanted or not question.strip():
            continue
        hits = memory.find(memory.home / "repositories" / name, question)
        ours.append(figures(list(dict.fromkeys(hit["session"] for hit in hits)), wanted))
        plain.append(figures([past[name][number][0] for number in ranked[name].rank(question)], wanted))
    report("find", ours)
    report("BM25 over whole sessions", plain)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("beam", "coding"))
    parser.add_argument("mirror", type=pathlib.Path)
    parser.add_argument("--binary", type=pathlib.Path, default=pathlib.Path("target/release/git-chronicle"))
    parser.add_argument("--chats", default="1-10")
    parser.add_argument("--repos", default=REPOSITORIES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        memory = Memory(args.binary, pathlib.Path(home))
        {"beam": beam, "coding": coding}[args.what](memory, args)


if __name__ == "__main__":
    main()
