#!/usr/bin/env python3
"""Outlines files of one repeated piece, in every language: what takes more time or memory than a file may.

Error recovery of tree-sitter takes both by the square of how much is open, and which pieces do that differs from grammar
to grammar. Prints the worst of each language; exits with 1 when one is over its bound.

    benches/outline_bounds.py --binary target/debug/git-chronicle [--bytes 24000] [--pieces N] [LANGUAGE ...]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

# Work that may be done for one file, with room for the start of two processes on a busy machine.
MOST_SECONDS = 4.0
# The ceiling of the process that parses, and of the one that asks it.
MOST_MEGABYTES = 900

EXTENSIONS = {
    "bash": "sh", "c": "c", "cpp": "cpp", "csharp": "cs", "go": "go", "java": "java", "javascript": "js", "json": "json",
    "kotlin": "kt", "markdown": "md", "php": "php", "python": "py", "ruby": "rb", "rust": "rs", "scala": "scala",
    "swift": "swift", "toml": "toml", "tsx": "tsx", "typescript": "ts", "yaml": "yaml",
}

PIECES = [
    "x=>", "A<", "<x", "->", "/*", "((", "[[", "{{", "<<", '"', "`", "'", "x(", "x[", "x{", "x.", "x?.", "x?", "x?x:", "!", "-",
    "x,", "x:", "x=", "x=>{", "<x>", "if(x)", "if ", "fn ", "case ", "a b ", "&", "*", "@x ", "@a(", "#", "//", "\\", "x->",
    "x<y,", "${", '"${', "|x|", "x|", "x&", "=>", "x::", "x;", "\n- ", "\n  ", "- ", "? ", ": ", "&a ", "*a ", "# ", "```", "> ",
    "1. ", "[x](", "![", "_", "**", "$((", "<<A", "[x]=", "function ", "class A{", "A<B<", "new ", "throw ", "await ", "yield ",
    "lambda x:", "not ", "x if x else ", "for x in ", "(x", "{x", "x y", "#[", "#![", "x!(", "<?php ", "$x", "begin ", "do ",
    "x = ", "x == ", ">= ", "!= ", "1+", "1..", "..", "x..", "</", "A<(", "(A<", "{x:", '{"x":', "[1,",
]


def outlined(binary, folder, path):
    """Seconds of work and megabytes of memory, of both processes, and how it ended."""
    process = subprocess.Popen([binary, "outline", path], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bytes", type=int, default=24_000)
    parser.add_argument("--pieces", type=int, default=len(PIECES))
    parser.add_argument("languages", nargs="*", choices=[[], *EXTENSIONS])
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    n_over = 0
    with tempfile.TemporaryDirectory() as folder:
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run([*git, "init", "-q"], cwd=folder, check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], cwd=folder, check=True)
        for language in arguments.languages or EXTENSIONS:
            path = f"a.{EXTENSIONS[language]}"
            rows = []
            began = time.monotonic()
            for piece in PIECES[: arguments.pieces]:
                text = piece * max(1, arguments.bytes // len(piece))
                with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                    file.write(("<?php " if language == "php" else "") + text)
                seconds, megabytes, code = outlined(binary, folder, path)
                is_over = code != 0 or MOST_SECONDS < seconds or MOST_MEGABYTES < megabytes
                n_over += is_over
                rows.append((is_over, seconds, megabytes, code, piece))
            slowest = max(rows, key=lambda row: row[1])
            largest = max(rows, key=lambda row: row[2])
            print(f"{language:<11} {len(rows)} pieces in {time.monotonic() - began:.0f} s; "
                  f"slowest {slowest[4]!r} {slowest[1]:.2f} s; largest {largest[4]!r} {largest[2]:.0f} MB", flush=True)
            for _, seconds, megabytes, code, piece in filter(lambda row: row[0], rows):
                print(f"  over its bound: {piece!r} {seconds:.2f} s, {megabytes:.0f} MB, exit {code}", flush=True)
    return 1 if n_over else 0


if __name__ == "__main__":
    sys.exit(main())
