#!/usr/bin/env python3
"""How fast the language server answers, and how much memory it takes.

    lsp.py CLONE FILE [--binary FILE] [--hovers N] [--files N]

CLONE has lessons on FILE. The server is started once. Hovers over random lines on which lessons begin, in a text with an
edit that is not saved, are asked in turns with processes of `git rev-parse HEAD`. Then the N largest texts of the clone
are opened: what the server's own memory (without mapped files) grows by is compared with the bytes of these texts, the
first few apart.
"""

import argparse
import json
import random
import statistics
import subprocess
import time
from pathlib import Path


class Server:
    def __init__(self, binary, clone):
        self.process = subprocess.Popen(
            [binary, "lsp"], cwd=clone, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.id = 0
        self.ask("initialize", {"processId": None, "rootUri": clone.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params):
        self.id += 1
        self.send({"id": self.id, "method": method, "params": params})
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.id and "method" not in message:
                return message.get("result")
            if "id" in message and "method" in message:
                self.send({"id": message["id"], "result": None})

    def open(self, path, text):
        item = {"uri": path.as_uri(), "languageId": "text", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def memory(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        return 0


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


# The first texts make room for the work of any answer, which stays.
WARMING_UP = 5


def open_all(server, files):
    n_bytes = 0
    for file in files:
        try:
            text = file.read_text()
        except UnicodeDecodeError:
            continue
        server.open(file, text)
        document = {"textDocument": {"uri": file.as_uri()}}
        server.ask("textDocument/hover", {**document, "position": {"line": 0, "character": 0}})
        n_bytes += len(text.encode())
    return n_bytes


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("clone", type=Path)
    arguments.add_argument("file")
    arguments.add_argument("--binary", default="target/release/git-chronicle")
    arguments.add_argument("--hovers", type=int, default=200)
    arguments.add_argument("--files", type=int, default=60)
    given = arguments.parse_args()
    clone = given.clone.resolve()
    path = clone / given.file
    text = "// an edit that is not saved\n" + path.read_text()
    n_lines = text.count("\n")
    server = Server(str(Path(given.binary).resolve()), clone)
    server.open(path, text)
    hints = server.ask("textDocument/inlayHint", {
        "textDocument": {"uri": path.as_uri()},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": n_lines, "character": 0}},
    })
    random.seed(5)
    lines = sorted({hint["position"]["line"] for hint in hints or []})
    if not lines:
        raise SystemExit("no line of the file has a lesson")
    hovers, gits, n_shown = [], [], 0
    for _ in range(given.hovers):
        position = {"line": random.choice(lines), "character": 0}
        begun = time.perf_counter()
        shown = server.ask("textDocument/hover", {"textDocument": {"uri": path.as_uri()}, "position": position})
        hovers.append(time.perf_counter() - begun)
        n_shown += shown is not None
        begun = time.perf_counter()
        subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, stdout=subprocess.DEVNULL, check=True)
        gits.append(time.perf_counter() - begun)
    git = statistics.median(gits)
    p95 = percentile(hovers, 0.95)
    print(f"git rev-parse HEAD: {git * 1e3:.2f} ms; hovers with something: {n_shown} of {given.hovers}")
    print(f"hover: median {statistics.median(hovers) * 1e3:.2f} ms, p95 {p95 * 1e3:.2f} ms ({p95 / git:.2f} x)")

    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=clone, stdout=subprocess.PIPE, check=True).stdout
    files = [clone / name.decode() for name in tracked.split(b"\0") if name]
    files = [file for file in files if file.is_file() and file != path and file.stat().st_size < 4 << 20]
    files.sort(key=lambda file: -file.stat().st_size)
    before = server.memory()
    n_warm = open_all(server, files[:WARMING_UP])
    warm = server.memory()
    n_bytes = open_all(server, files[WARMING_UP : given.files])
    grown = server.memory() - warm
    print(f"the first {WARMING_UP} texts: {n_warm / 1e6:.1f} MB; memory grew by {(warm - before) / 1e6:.1f} MB")
    print(f"the others: {n_bytes / 1e6:.1f} MB; memory grew by {grown / 1e6:.1f} MB ({grown / max(n_bytes, 1):.1f} x)")
    server.ask("shutdown", None)
    server.tell("exit", None)
    server.process.wait(timeout=10)


if __name__ == "__main__":
    main()
