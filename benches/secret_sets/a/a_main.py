CTX = ["env", "header", "json", "url", "prose", "multiline"]
WSAFE = re.compile(r"^[A-Za-z0-9_./:=+@%,~-]+$"); YSAFE = re.compile(r"^[A-Za-z0-9_./=+~-][A-Za-z0-9_./:=+~@$-]*$")
NAMEWORD = re.compile(r"pass(?!ed)|pwd|\bpw\b|token|secret|key|auth|credential|bearer|\bpat\b|\bjwt\b|cookie|session|mnemonic|seed|phrase|signature|\bsig=|encryp|privat|salt|xprv|\bwif\b|kenn?wort|geheim|schlüssel|mot de passe|clé|jeton|contraseña|clave|senha|chave|hasło|wachtwoord|парол|ключ|токен|секрет|密码|密钥|令牌|パスワード|キー|トークン|シークレット|token=|://[^/\s]*:$", re.I)
def esc(mode, s):
    """escaped form, or None when the value does not fit"""
    q = lambda bad: None if any(c in s for c in bad) else s
    if mode == "raw": return s
    if mode == "w": return s if WSAFE.match(s) else None
    if mode == "y": return s if YSAFE.match(s) and not s.startswith(("-", "~", "@", "=")) else None
    if mode == "dq": return re.sub(r'(["\\$`])', r"\\\1", s)
    if mode == "dqp": return q('"$`')
    if mode == "dq0": return q('"\\')
    if mode == "sq": return q("'\\")
    if mode == "xml": return q("<>&\"'")
    if mode == "raw1": return q(' &|<>^%"\n')
    if mode == "md": return q("`|")
    if mode == "pt": return q("| ")
    if mode == "p": return s if (s[-1].isalnum() or s[-1] in "=_-") else None
    if mode == "j": return json.dumps(s, ensure_ascii=False)[1:-1]
    if mode == "jj": return json.dumps(json.dumps(s, ensure_ascii=False)[1:-1])[1:-1]
    if mode == "u": return s
    raise ValueError(mode)
def uesc(k, s):
    if "webhook" in k.kind and "/" in s: return s
    return s if re.match(r"^[A-Za-z0-9._~%!*:\-]+=*$", s) else quote(s, safe="")
def cls(n):
    n = n.lower()
    return "password" if "passw" in n else "key" if "key" in n else "secret" if "secret" in n or "phrase" in n or "hash" in n else "token"
def fill(k, t):
    e = R.choice(k.env or ["X"]); jn = R.choice(k.js or ["x"]); n = R.choice(k.noun); u = R.choice(NAMES)
    m = {"E": e, "J": jn, "JU": re.sub(r"(?<=[a-z])(?=[A-Z])", "_", jn).upper(), "N": n, "I": k.issuer, "I1": k.issuer.split()[0].lower(), "H": k.host, "U": u,
         "u": pick(u.lower(), u.lower() + pick("@", ".w@") + pick(*ORGS) + ".io", "svc-" + pick("deploy", "backup", "ci"), "admin"), "O": R.choice(ORGS), "D": date(), "T": tm(), "ip": ip(), "n": str(R.randint(1000, 99999999)), "x32": hexs(32), "x40": hexs(40)}
    m.update(LANG[cls(n)])
    for _ in range(3): t = re.sub(r"~([A-Za-z]\w*)~", lambda x: m.get(x.group(1), x.group(0)), t)
    return t.replace(f"{k.issuer} {k.issuer}", k.issuer)
def headers(k, t):
    if "~HD" not in t and "~HV~" not in t: return t
    h = R.choice(k.hdr); n, v = h.split(": ", 1)
    return t.replace("~HDl~", n.lower() + ": " + v).replace("~HD~", h).replace("~HN~", n).replace("~HV~", v)
def named(text, pieces):
    i = text.index(pieces[0]); e = text.index(pieces[-1], i) + len(pieces[-1])
    return bool(NAMEWORD.search(text[max(0, i - 70):i]) or NAMEWORD.search(text[e:e + 30]))
def body(lines):
    if lines[0].startswith("PuTTY"):
        a = next(i for i, l in enumerate(lines) if l.startswith("Private-Lines")); return [l for l in lines[a + 1:] if not l.startswith("Private-MAC")]
    if lines[0].startswith(("$ANSIBLE", "untrusted")): return lines[1:]
    return [l for l in lines if l and not l.startswith("-") and not re.match(r"[A-Z][\w-]*: ", l) and not l.startswith("=")]
def block_sample(k, ctx, mode, t):
    lines = k.gen(); bd = body(lines); t = fill(k, t)
    if mode in ("bl", "bl2", "blq"):
        text = t.replace("~S~", {"bl": "\\n", "bl2": "\\\\n", "blq": "\n"}[mode].join(l.replace('"', {"bl": '\\"', "bl2": '\\\\\\"'}.get(mode, '"')) if ctx == "json" else l for l in lines))
    else:
        out = []; num = R.choice([1, 1, 14, 203])
        for tl in t.split("\n"):
            if "~B~" not in tl: out.append(tl); continue
            a, b = tl.split("~B~")
            for l in lines:
                out.append(a.replace("~#~", (str(num) if ":" in a else "%5d" % num)) + l + b); num += 1
        text = "\n".join(out)
    return text, bd
def sample(k, ctx, mode, t):
    if k.block: return block_sample(k, ctx, mode, t)
    s = k.gen()
    t = headers(k, t)
    if ctx == "url":
        url = R.choice(k.url)
        if re.search(r"git clone|\(fetch\)|fatal:", t) and not re.search(r"\.git\b|github\.com/~O~|huggingface", url): return None
        if re.search(r"curl|requests\.|page\.goto|GET |\]\(|open ", t) and not url.startswith("http"): return None
        t = t.replace("~URL~", url); s = uesc(k, s)
    t = fill(k, t)
    if mode == "split":
        n = 3 if "~P3~" in t else 2
        if len(s) < 20 * n or not WSAFE.match(s): return None
        w = -(-len(s) // n) - R.randint(0, 3) if len(s) < 170 else len(s) // n + 1
        ps = [s[:w], s[w:2 * w], s[2 * w:]] if n == 3 else [s[:w], s[w:]]
        for i, p in enumerate(ps): t = t.replace(f"~P{i+1}~", p)
        return t, ps
    v = esc(mode, s)
    if v is None: return None
    return t.replace("~S~", v), [v]
def contexts(k):
    for c in CTX:
        if c in k.skip: continue
        if c == "header" and not k.hdr: continue
        if c == "url" and not k.url: continue
        if c in ("env", "multiline") and not k.env and c not in k.custom: continue
        if c == "json" and not k.js and c not in k.custom: continue
        yield c
def longest(ps):  # of equally long pieces a middle one: first lines of key files are often constant
    c = [p for p in ps if len(p) == max(map(len, ps))]; return c[len(c) // 2]
def build():
    rows = []; use = {}; seen = set()
    for k in KINDS:
        for c in contexts(k):
            if k.block: pool = [(m, t) for m, t in TB[c]]
            elif c in k.custom and len(k.custom[c]) >= 3: pool = [({"env": "w", "json": "j"}.get(c, "raw"), t) for t in k.custom[c]]
            else: pool = list(T[c]) + [({"env": "w", "json": "j"}.get(c, "raw"), t) for t in k.custom.get(c, ())]
            own = {t for t in k.custom.get(c, ())}
            # least used first, so that every wording is drawn; a kind's own wordings before the general ones
            R.shuffle(pool); pool.sort(key=lambda p: (p[1] not in own, use.get((c, p[1]), 0)))
            got = 0
            for m, t in pool:
                for _ in range(6):
                    x = sample(k, c, m, t)
                    if x is None: continue
                    text, ps = x; key = (k.kind, c, tuple(ps))
                    left = re.search(r"~(?:S|B|URL|HD|HDl|HN|HV|P\d|E|J|N|U|O|H|#)~", text)
                    if left: sys.exit(f"unfilled {left.group(0)} in {t!r} for {k.kind}")
                    nd = named(text, ps)
                    if (not k.form and not nd) or key in seen: continue
                    seen.add(key); use[(c, t)] = use.get((c, t), 0) + 1; got += 1
                    o = {"kind": k.kind, "issuer": k.issuer, "form": k.form, "named": nd, "context": c, "text": text, "secret": longest(ps)}
                    if len(ps) > 1: o["pieces"] = ps
                    rows.append(o); break
                if got == 3: break
            if got < 3: print("short", k.kind, c, got, file=sys.stderr)
    un = [(c, t) for c in CTX for _, t in T[c] if not use.get((c, t))] + [(c, t) for c in TB for _, t in TB[c] if not use.get((c, t))]
    print("unused wordings:", un, file=sys.stderr)
    return rows
def main():
    rows = build()
    with open(os.path.join(HERE, "a.jsonl"), "w", encoding="utf-8") as f:
        for o in rows: f.write(json.dumps(o, ensure_ascii=False) + "\n")
    cl = clean()
    with open(os.path.join(HERE, "a-clean.jsonl"), "w", encoding="utf-8") as f:
        for o in cl: f.write(json.dumps(o, ensure_ascii=False) + "\n")
