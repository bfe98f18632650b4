#!/usr/bin/env python3
"""What the writing agent itself costs: time beside the model's, and memory for a very large commit.

    writing.py [--binary FILE] [--runs N]

Commits of 300, of 3,000 scattered and of 100 MB of changed lines are annotated by `annotate --agent`. A service on this
machine answers at once, with one lesson for the first conversations and a summary; no model is asked. Printed are the
median time of the runs, of which the time between the service's receiving a request and its answer is taken off, the
processor time, the requests, and the largest memory. The commit of 100 MB is asked about in so many conversations that
it is run once.
"""

import argparse
import http.server
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

LESSON = "The connection pooler in front drops whoever is silent for half an hour."
SUMMARY = "SUMMARY: Callers that wait for ever froze the program when the pooler went away."


class Service(http.server.ThreadingHTTPServer):
    """Speaks the Messages interface, and says the same to everyone."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.guard = threading.Lock()
        self.begin()

    def begin(self):
        self.n_requests, self.busy, self.n_lessons = 0, 0.0, 0

    def answer(self, request):
        if "tool_result" in json.dumps(request["messages"][-1]):
            return {"type": "text", "text": SUMMARY}
        with self.guard:
            self.n_lessons += 1
            has_said = self.n_lessons > 3
        if has_said:
            return {"type": "text", "text": SUMMARY}
        lesson = {"category": "gotcha", "content": f"{LESSON} ({self.n_lessons})"}
        return {"type": "tool_use", "id": "toolu_1", "name": "emit_wisdom", "input": lesson}


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else the body waits until the head is acknowledged.
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        began = time.perf_counter()
        part = self.server.answer(json.loads(body))
        reply = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events(part)).encode()
        with self.server.guard:
            self.server.n_requests += 1
            self.server.busy += time.perf_counter() - began
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


def events(part):
    """A streamed reply of one part."""
    is_call = part["type"] == "tool_use"
    start = {**part, "input": {}} if is_call else {"type": "text", "text": ""}
    delta = ({"type": "input_json_delta", "partial_json": json.dumps(part["input"])} if is_call
             else {"type": "text_delta", "text": part["text"]})
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "none", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "tool_use" if is_call else "end_turn", "stop_sequence": None},
           "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def words(source, n):
    return " ".join(source.choice(WORDS) for _ in range(n))


WORDS = "pool lease owner wait token queue index shard cursor batch frame retry limit clock window span".split()


def make(folder):
    """A repository, and the three commits."""
    source = random.Random(7)
    git = lambda *args: subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True, text=True).stdout
    git("init", "-q", "-b", "main")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.org")
    code = {f"src/part{n}.rs": [f"let {words(source, 1)}_{line} = {words(source, 5)};" for line in range(1000)]
            for n in range(30)}
    (folder / "src").mkdir()

    def commit(message):
        for path, lines in code.items():
            (folder / path).write_text("\n".join(lines) + "\n")
        git("add", "-A")
        git("commit", "-qm", message)
        return git("rev-parse", "HEAD").strip()

    commit("part: begin")
    for path in list(code)[:3]:
        code[path][200:300] = [f"wait({words(source, 5)}, {line});" for line in range(100)]
    few = commit("part: wait for whoever holds it")
    for path in code:
        for line in range(0, 1000, 10):
            code[path][line] = f"retry({words(source, 5)}, {line});"
    many = commit("part: try again where nobody answers")
    for n in range(40):
        (folder / f"src/large{n}.rs").write_text(
            "".join(f"let lease_{n}_{line} = {words(source, 6)};\n" for line in range(45_000)))
    git("add", "-A")
    git("commit", "-qm", "part: take the tables in")
    size = sum(path.stat().st_size for path in (folder / "src").glob("large*"))
    return few, many, git("rev-parse", "HEAD").strip(), size


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", default="target/release/git-chronicle")
    arguments.add_argument("--runs", type=int, default=11)
    given = arguments.parse_args()
    binary = str(Path(given.binary).resolve())
    service = Service()
    threading.Thread(target=service.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp(prefix="writing-"))
    try:
        repository = folder / "repository"
        repository.mkdir()
        few, many, huge, size = make(repository)
        env = {**os.environ, "CHRONICLE_HOME": str(folder / "home"), "CHRONICLE_LLM_PROVIDER": "anthropic",
               "CHRONICLE_LLM_BASE_URL": f"http://127.0.0.1:{service.server_port}/v1", "CHRONICLE_LLM_MODEL": "none",
               "ANTHROPIC_API_KEY": "none", "CHRONICLE_LLM_CONTEXT_TOKENS": "100000"}
        print(f"{'commit':24} {'ours ms':>8} {'cpu ms':>8} {'requests':>9} {'MB':>6}   bar")
        for name, commit, runs, bar in [("300 lines", few, given.runs, "150 ms"), ("3,000 lines", many, given.runs, "1,000 ms"),
                                        (f"{size / 1e6:.0f} MB in 40 files", huge, 1, "150 MB")]:
            ours, cpu, memory = [], [], 0
            for _ in range(runs):
                subprocess.run(["git", "-C", repository, "update-ref", "-d", "refs/notes/chronicle"], check=True)
                service.begin()
                began = time.perf_counter()
                child = subprocess.Popen([binary, "-C", repository, "annotate", "--agent", "--commit", commit], env=env,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                said = child.stdout.read()
                _, status, usage = os.wait4(child.pid, 0)
                taken = time.perf_counter() - began
                assert status == 0, said
                ours.append(1000 * (taken - service.busy))
                cpu.append(1000 * (usage.ru_utime + usage.ru_stime))
                memory = max(memory, usage.ru_maxrss / 1024)
            print(f"{name:24} {statistics.median(ours):8.0f} {statistics.median(cpu):8.0f} {service.n_requests:9} {memory:6.0f}   {bar}",
                  flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
