#!/usr/bin/env python3
"""What the MCP server costs.

- How long after its start it has answered `tools/list`: the median of cold processes, from spawn to the last byte of
  the answer, beside a process that only says its version.
- What `chronicle_read` costs over MCP, from the request to its answer, beside the work of the command line for the
  same answer in both of its forms: `git-chronicle read --format json`, less a process that only says its version.
  The server answers markdown and JSON; the command line one of the two. Both run in turns, so that a busy machine
  slows both.
- The tools as a model sees them: name, description and input schema, in bytes and, where a tokenizer is at hand, in
  tokens.

    python3 benches/mcp.py --binary target/release/git-chronicle
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

LIST_MS, READ_RATIO, TOKENS = 30, 1.2, 2500


class Client:
    def __init__(self, binary, repo, env):
        self.process = subprocess.Popen([binary, "mcp"], cwd=repo, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.n_asked = 0

    def ask(self, method, **params):
        self.n_asked += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params})
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def begin(self):
        about = {"name": "bench", "version": "1"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def leave(self):
        self.process.stdin.close()
        self.process.wait()


def timed(work):
    started = time.perf_counter()
    result = work()
    return (time.perf_counter() - started) * 1000, result


def repository(folder, binary, env):
    """A file of 2,000 lines with 40 lessons, in 41 commits."""
    repo = folder / "repo"
    repo.mkdir()
    run = lambda *command: subprocess.run(command, cwd=repo, env=env, check=True, capture_output=True)
    run("git", "init", "--quiet")
    lines = [f"let line_{number} = {number};" for number in range(2000)]
    path = repo / "pool.rs"
    for number in range(41):
        lines[number * 45] = f"let changed_{number} = {number};"
        path.write_text("\n".join(lines) + "\n")
        run("git", "add", "pool.rs")
        run("git", "commit", "--quiet", "-m", f"pool: change {number}")
        if 0 < number:
            at = number * 45 + 1
            lesson = {"category": "gotcha", "content": f"Line {at} must not be {number + 1}: the caller counts from zero.",
                      "file": "pool.rs", "lines": {"start": at, "end": at}}
            note = {"summary": f"Change {number}, because the one before it was wrong", "wisdom": [lesson]}
            run(binary, "annotate", "--json", json.dumps(note))
    run(binary, "read", "pool.rs")
    return repo


def tokens(seen):
    try:
        import tiktoken

        return len(tiktoken.get_encoding("o200k_base").encode(seen))
    except Exception:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    binary = str(pathlib.Path(args.binary).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch).resolve()
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "CHRONICLE_", "CLAUDE_"))}
        env = {**kept, **who, "GIT_CONFIG_GLOBAL": os.devnull, "CHRONICLE_HOME": str(scratch / "memory")}
        repo = repository(scratch, binary, env)
        call = lambda *command: subprocess.run([binary, *command], cwd=repo, env=env, check=True, capture_output=True)

        listing, version = [], []
        for _ in range(args.rounds):
            version.append(timed(lambda: call("--version"))[0])

            def first():
                client = Client(binary, repo, env)
                client.begin()
                return client, client.ask("tools/list")

            spent, (client, answer) = timed(first)
            listing.append(spent)
            client.leave()
        tools = json.loads(answer)["result"]["tools"]
        seen = "".join(json.dumps({key: tool[key] for key in ("name", "description", "inputSchema")}, separators=(",", ":"))
                       for tool in tools)
        median = statistics.median(listing)
        print(f"tools/list, from spawn: {median:.1f} ms (p95 {sorted(listing)[int(len(listing) * .95)]:.1f}; "
              f"--version {statistics.median(version):.1f}); bar {LIST_MS} ms: {'met' if median <= LIST_MS else 'MISSED'}")

        client = Client(binary, repo, env)
        client.begin()
        for what, arguments, options in [
            ("a file", {"path": "pool.rs", "max_regions": 40}, ["--max-regions", "40"]),
            ("a line", {"path": "pool.rs", "lines": "46"}, ["--lines", "46"]),
        ]:
            over, work, base = [], [], []
            for _ in range(args.rounds * 3):
                over.append(timed(lambda: client.ask("tools/call", name="chronicle_read", arguments=arguments))[0])
                read = lambda form: call("read", "pool.rs", *options, "--max-tokens", "5000", "--format", form)
                base.append(timed(lambda: call("--version"))[0])
                work.append([timed(lambda: read("json"))[0], timed(lambda: read("markdown"))[0]])
            start = statistics.median(base)
            as_json = statistics.median(row[0] for row in work) - start
            as_text = statistics.median(row[1] for row in work) - start
            over = statistics.median(over)
            ratio = over / as_json
            print(f"read {what}: {over:.2f} ms over MCP; the command line's work {as_json:.2f} ms (JSON), {as_text:.2f} ms "
                  f"(markdown), start {start:.2f} ms; ratio {ratio:.2f}, bar {READ_RATIO}: {'met' if ratio <= READ_RATIO else 'MISSED'}")
        client.leave()

        n_tokens = tokens(seen)
        said = f"{n_tokens} tokens" if n_tokens else f"some {len(seen) // 4} tokens of four bytes (no tokenizer here)"
        print(f"{len(tools)} tools: {len(seen)} bytes, {said}; bar {TOKENS}; whole answer {len(answer)} bytes")


if __name__ == "__main__":
    main()
