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

# Work that may be done for one file, with room for the start of the process.
MOST_SECONDS = 3.0
# The ceiling of the process that parses.
MOST_MEGABYTES = 768

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


def outlined(binary, path, text):
    """Seconds of work and megabytes of memory of the process that parses, and how it ended."""
    command = [binary, "hook", "parser"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    frames = b"".join(len(part).to_bytes(4, "little") + part for part in (path.encode(), text.encode()))
    try:
        process.stdin.write(frames)
        process.stdin.close()
    except BrokenPipeError:
        pass
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
    for language in arguments.languages or EXTENSIONS:
        rows = []
        for piece in PIECES[: arguments.pieces]:
            text = piece * max(1, arguments.bytes // len(piece))
            opening = "<?php " if language == "php" else ""
            seconds, megabytes, code = outlined(binary, f"a.{EXTENSIONS[language]}", opening + text)
            rows.append((seconds, megabytes, code, piece))
        slowest, largest = max(rows), max(rows, key=lambda row: row[1])
        n_refused = sum(code != 0 for _, _, code, _ in rows)
        print(f"{language:<11} {len(rows)} pieces, {n_refused} refused; slowest {slowest[3]!r} {slowest[0]:.2f} s; "
              f"largest {largest[3]!r} {largest[1]:.0f} MB", flush=True)
        for seconds, megabytes, code, piece in rows:
            if MOST_SECONDS < seconds or MOST_MEGABYTES < megabytes:
                n_over += 1
                print(f"  over its bound: {piece!r} {seconds:.2f} s, {megabytes:.0f} MB, ended with {code}", flush=True)
    return 1 if n_over else 0


if __name__ == "__main__":
    sys.exit(main())
