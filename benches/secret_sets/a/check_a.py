import json, collections as C
rows = [json.loads(l) for l in open("a.jsonl", encoding="utf-8")]; cl = [json.loads(l) for l in open("a-clean.jsonl", encoding="utf-8")]
for o in rows:
    assert o["secret"] in o["text"], o
    assert all(p in o["text"] for p in o.get("pieces", [])), o
    assert o["form"] or o["named"], o
    assert set(o) - {"pieces"} == {"kind", "issuer", "form", "named", "context", "text", "secret"}
assert all(set(o) == {"context", "text"} for o in cl)
print(len(rows), "lines;", len({o["kind"] for o in rows}), "kinds;", len({o["text"] for o in rows}), "texts;", len({o["secret"] for o in rows}), "values")
print("contexts", dict(C.Counter(o["context"] for o in rows)))
print("form/named", dict(C.Counter((o["form"], o["named"]) for o in rows)), "pieces", sum("pieces" in o for o in rows))
print("form=false kinds", len({o["kind"] for o in rows if not o["form"]}))
print("clean", len(cl), dict(C.Counter(o["context"] for o in cl)))
print("short secrets", sorted((len(o["secret"]), o["kind"]) for o in rows)[:5])
