#!/usr/bin/env python3
"""Test set A: random look-alike secrets in realistic texts. Seeded, stdlib only.
Every value is made by a random generator; none was ever issued."""
import base64, binascii, hashlib, hmac, json, os, random, re, string, struct, sys, zlib
from urllib.parse import quote

R = random.Random(20250711)
HERE = os.path.dirname(os.path.abspath(__file__))
D = string.digits; L = string.ascii_lowercase; U = string.ascii_uppercase
AN = L + U + D; HEX = "0123456789abcdef"; HEXU = HEX.upper(); B64 = AN + "+/"; B64U = AN + "-_"
B32 = U + "234567"; LN = L + D; UN = U + D; W = AN + "_"
B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

def r(a, n): return "".join(R.choice(a) for _ in range(n))
def rn(a, lo, hi): return r(a, R.randint(lo, hi))
def rb(n): return R.getrandbits(8 * n).to_bytes(n, "big")
def b64(b): return base64.b64encode(b).decode()
def b64u(b): return base64.urlsafe_b64encode(b).decode().rstrip("=")
def hexs(n): return r(HEX, n)
def uuid():
    h = hexs(32); return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{R.choice('89ab')}{h[17:20]}-{h[20:]}"
def pick(*a): return R.choice(a)
B62 = D + U + L
def base62(n, w):
    s = ""
    while n: n, m = divmod(n, 62); s = B62[m] + s
    return s.rjust(w, "0")
def crc62(prefix):          # github.blog 2021-04-05: 30 random base62 + CRC32 in base62 (6)
    e = r(AN, 30); return prefix + e + base62(zlib.crc32(e.encode()), 6)
def b58(b):
    n = int.from_bytes(b, "big"); s = ""
    while n: n, m = divmod(n, 58); s = B58[m] + s
    return "1" * (len(b) - len(b.lstrip(b"\0"))) + s
def b58c(b): return b58(b + hashlib.sha256(hashlib.sha256(b).digest()).digest()[:4])
CH = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
def bech32(hrp, data):
    bits = "".join(f"{x:08b}" for x in data); bits += "0" * (-len(bits) % 5)
    v = [int(bits[i:i+5], 2) for i in range(0, len(bits), 5)]
    def pm(vs):
        g = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]; c = 1
        for x in vs:
            t = c >> 25; c = (c & 0x1ffffff) << 5 ^ x
            for i in range(5): c ^= g[i] if (t >> i) & 1 else 0
        return c
    e = [ord(c) >> 5 for c in hrp] + [0] + [ord(c) & 31 for c in hrp]
    p = pm(e + v + [0] * 6) ^ 1
    return hrp + "1" + "".join(CH[x] for x in v + [(p >> 5 * (5 - i)) & 31 for i in range(6)])
def crc16x(b):
    c = 0
    for x in b:
        c ^= x << 8
        for _ in range(8): c = ((c << 1) ^ 0x1021) & 0xffff if c & 0x8000 else (c << 1) & 0xffff
    return c

# ---------- words, passwords
WORDS = """anchor basil cobalt drift ember falcon garnet harbor indigo juniper kettle lantern marble nectar orbit
pepper quartz ribbon saddle thunder umbrella velvet walnut yonder zephyr bramble copper dolphin engine feather glacier
hollow island jacket kernel ladder magnet noodle oyster pebble quiver rocket silver timber uncle vessel whisper yellow
acorn blanket candle domino elbow fabric goblin hammer igloo jungle koala lemon mustard napkin olive parcel raven
sketch tulip urchin violin wagon yogurt zipper badger cactus dagger falafel gravel hazel staple battery correct""".split()
BIP = """abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid
acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult advance advice
aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album alcohol alert alien all alley
zebra zero zone zoo youth young you yellow year yard wrong write wrist wreck wrap world work word wool woman wolf
wisdom wise wish witness winter wine wink winner window wild wide whisper wheel whale wheat weekend weird weather
velvet vendor venture venue verb verify version vessel veteran viable vibrant tiger tilt timber tiny tired tissue
sunset supreme sure surface surge surprise sustain swallow swamp spoon sport spray spread spring spy square squeeze
rabbit raccoon race rack radar radio rail rain raise rally ramp ranch orchard orient oxygen oyster ozone pact paddle
mammal mango mansion manual maple marble march margin kitchen kite kitten kiwi knee knife knock jungle junior junk
gravity great green grid grief grit grocery fabric face faculty fade faint faith fall dolphin donate donkey cradle
cactus cage cake bubble buddy budget buffalo""".split()
HUM = ["Summer", "Winter", "Autumn", "Spring", "Welcome", "Liverpool", "Marlboro", "Charlie", "Monkey", "Dragon", "Berlin",
       "Barcelona", "Sunshine", "Princess", "Ferrari", "Arsenal", "Chelsea", "Merlin", "Shadow", "Phoenix", "Natasha",
       "Hannover", "Toulouse", "Kartoffel", "Football", "Qwerty", "Juventus", "Pikachu", "Thomas", "Michelle"]
def pw_human():
    w = R.choice(HUM); y = R.choice(["2021", "2022", "2023", "2024", "2025", "1987", "99", "123", "007", "77", "42"])
    f = R.randint(0, 6)
    if f == 0: return w + y + R.choice("!?#*.")
    if f == 1: return w.lower() + R.choice("_-.@") + y
    if f == 2: return w.replace("e", "3").replace("o", "0").replace("a", "@") + y
    if f == 3: return R.choice("!#$") + w + y
    if f == 4: return w + R.choice("@#") + y + R.choice(HUM).lower()
    if f == 5: return w[0].lower() + w[1:] + R.choice(HUM) + y
    return "P@" + w.lower() + R.choice("$!") + y
def pw_rand(lo=12, hi=24, pun="!#$%^&*()-_=+[]{};:,.?/~|<>@"):
    n = R.randint(lo, hi)
    while 1:
        s = "".join(R.choice(pun) if R.random() < .25 else R.choice(AN) for _ in range(n))
        if s[0] in AN and s[-1] in AN + "!*_" and any(c in pun for c in s) and "~" not in s: return s
def pw_quoty():
    s = pw_rand(14, 20, "!#%^*-_+.?"); i = R.randint(3, len(s) - 3)
    return s[:i] + R.choice(['"', "\\", '"', "&", "<"]) + s[i:]
def pw_phrase():
    n = R.randint(4, 6); ws = R.sample(WORDS, n); sep = R.choice(["-", "-", ".", "_", ""])
    if sep == "": ws = [w.capitalize() for w in ws]
    s = sep.join(ws); return s + R.choice(["", "", "7", "42", "!", "-91"])
def pw_manager(): return "-".join(r(AN, 6) for _ in range(3)) if R.random() < .5 else rn(AN, 16, 32)
def pw_any(): return R.choice([pw_human, pw_rand, pw_phrase, pw_manager])()
def pw_url():  # password usable raw inside a URL
    return R.choice([lambda: rn(AN, 10, 28), lambda: rn(AN + "-_.", 12, 24).strip(".-_") + "x", pw_human_url, pw_phrase_url])()
def pw_human_url(): return re.sub(r"[@#?]", "!", pw_human())
def pw_phrase_url(): return pw_phrase()

# ---------- DER, key blocks
def dl(n): return bytes([n]) if n < 128 else (lambda b: bytes([0x80 | len(b)]) + b)(n.to_bytes((n.bit_length() + 7) // 8, "big"))
def tlv(t, b): return bytes([t]) + dl(len(b)) + b
def di(n, odd=True):
    b = bytearray(rb(n)); b[0] |= 0x80; b[-1] |= 1; return tlv(2, b"\0" + bytes(b))
def rsa_der(bits=2048):
    n = bits // 8; h = n // 2
    return tlv(0x30, b"\2\1\0" + di(n) + b"\2\3\1\0\1" + di(n) + b"".join(di(h) for _ in range(5)))
def ec_der(): return tlv(0x30, b"\2\1\1" + tlv(4, rb(32)) + tlv(0xa0, bytes.fromhex("06082a8648ce3d030107")) + tlv(0xa1, tlv(3, b"\0\4" + rb(64))))
def pk8_rsa(): return tlv(0x30, b"\2\1\0" + tlv(0x30, bytes.fromhex("06092a864886f70d0101010500")) + tlv(4, rsa_der()))
def pk8_ec(): return tlv(0x30, b"\2\1\0" + tlv(0x30, bytes.fromhex("06072a8648ce3d020106082a8648ce3d030107")) + tlv(4, tlv(0x30, b"\2\1\1" + tlv(4, rb(32)) + tlv(0xa1, tlv(3, b"\0\4" + rb(64))))))
def pk8_ed(): return bytes.fromhex("302e020100300506032b657004220420") + rb(32)
def wrap(s, n): return [s[i:i+n] for i in range(0, len(s), n)]
def pem(label, der, hdr=()):
    return [f"-----BEGIN {label}-----", *hdr, *wrap(b64(der), 64), f"-----END {label}-----"]
def ss(b): return struct.pack(">I", len(b)) + b
def ossh(kind="ed"):
    chk = rb(4); com = R.choice([b"deploy@ci", b"anna@thinkpad", b"root@build-03", b"ops@bastion"])
    if kind == "ed":
        pub = rb(32); p = ss(b"ssh-ed25519") + ss(pub); priv = chk + chk + ss(b"ssh-ed25519") + ss(pub) + ss(rb(32) + pub) + ss(com)
    else:
        n = b"\0" + bytes([0xc0 | R.getrandbits(5)]) + rb(383); p = ss(b"ssh-rsa") + ss(b"\1\0\1") + ss(n)
        priv = chk + chk + ss(b"ssh-rsa") + ss(n) + ss(b"\1\0\1") + ss(rb(384)) + ss(rb(192)) + ss(rb(193)) + ss(rb(193)) + ss(com)
    priv += bytes(range(1, 1 + (-len(priv) % 8)))
    return ["-----BEGIN OPENSSH PRIVATE KEY-----", *wrap(b64(b"openssh-key-v1\0" + ss(b"none") + ss(b"none") + ss(b"") + struct.pack(">I", 1) + ss(p) + ss(priv)), 70), "-----END OPENSSH PRIVATE KEY-----"]
def ossh_enc():
    p = ss(b"ssh-ed25519") + ss(rb(32))
    return ["-----BEGIN OPENSSH PRIVATE KEY-----", *wrap(b64(b"openssh-key-v1\0" + ss(b"aes256-ctr") + ss(b"bcrypt") + ss(ss(rb(16)) + struct.pack(">I", 16)) + struct.pack(">I", 1) + ss(p) + ss(rb(144))), 70), "-----END OPENSSH PRIVATE KEY-----"]
def enc_pem():
    return pem("RSA PRIVATE KEY", rb(1200), ("Proc-Type: 4,ENCRYPTED", f"DEK-Info: AES-128-CBC,{r(HEXU,32)}", ""))
def pk8_enc():
    return pem("ENCRYPTED PRIVATE KEY", tlv(0x30, tlv(0x30, bytes.fromhex("06092a864886f70d01050d") + tlv(0x30, tlv(0x30, bytes.fromhex("06092a864886f70d01050c") + tlv(0x30, tlv(4, rb(8)) + b"\2\2\x08\0")) + tlv(0x30, bytes.fromhex("060960864801650304012a") + tlv(4, rb(16))))) + tlv(4, rb(1232))))
def crc24(b):
    c = 0xb704ce
    for x in b:
        c ^= x << 16
        for _ in range(8):
            c <<= 1
            if c & 0x1000000: c ^= 0x1864cfb
    return (c & 0xffffff).to_bytes(3, "big")
def pgp():
    body = b"\x95\x01\xd8\x04" + struct.pack(">I", 1700000000 + R.randint(0, 10**7)) + b"\x01\x04\x00" + rb(620)
    hdr = R.choice([[], ["Version: GnuPG v2"], ["Comment: GPGTools - https://gpgtools.org"]])
    return ["-----BEGIN PGP PRIVATE KEY BLOCK-----", *hdr, "", *wrap(b64(body), 64), "=" + b64(crc24(body)), "-----END PGP PRIVATE KEY BLOCK-----"]
def ppk():
    v = R.choice([2, 3]); pub = wrap(b64(ss(b"ssh-ed25519") + ss(rb(32))), 64); pr = wrap(b64(ss(rb(32))), 64)
    return [f"PuTTY-User-Key-File-{v}: ssh-ed25519", "Encryption: none", "Comment: eddsa-key-20240611", f"Public-Lines: {len(pub)}", *pub, f"Private-Lines: {len(pr)}", *pr, f"Private-MAC: {hexs(64 if v == 3 else 40)}"]
def ppk_rsa():
    pub = wrap(b64(ss(b"ssh-rsa") + ss(b"\1\0\1") + ss(b"\0" + rb(256))), 64); pr = wrap(b64(ss(rb(256)) + ss(rb(128)) + ss(rb(128)) + ss(rb(128))), 64)
    return ["PuTTY-User-Key-File-2: ssh-rsa", "Encryption: none", "Comment: rsa-key-20230214", f"Public-Lines: {len(pub)}", *pub, f"Private-Lines: {len(pr)}", *pr, f"Private-MAC: {hexs(40)}"]
def ovpn():
    return ["-----BEGIN OpenVPN Static key V1-----", *[hexs(32) for _ in range(16)], "-----END OpenVPN Static key V1-----"]
def cosign():
    j = {"kdf": {"name": "scrypt", "params": {"N": 65536, "r": 8, "p": 1}, "salt": b64(rb(32))}, "cipher": {"name": "nacl/secretbox", "nonce": b64(rb(24))}, "ciphertext": b64(rb(160))}
    return pem(pick("ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY"), json.dumps(j, separators=(",", ":")).encode())
def ansible():
    inner = (hexs(64) + "\n" + hexs(64) + "\n" + hexs(256)).encode().hex()
    return ["$ANSIBLE_VAULT;1.1;AES256", *wrap(inner, 80)]
def ssh2enc():
    return ["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", 'Comment: "2048-bit rsa"', *wrap(b64(b"\x3f\x6f\xf9\xeb" + rb(560)), 70), "---- END SSH2 ENCRYPTED PRIVATE KEY ----"]
def minisign():
    return ["untrusted comment: " + pick("minisign encrypted secret key", "signify secret key"), b64(b"EdScB2" + rb(152))]
def dsa(): return pem("DSA PRIVATE KEY", tlv(0x30, b"\2\1\0" + di(128) + di(20) + di(128) + di(128) + di(20)))
def pgpmsg_no(): pass

# ---------- tokens with structure
def now(): return 1715000000 + R.randint(0, 4 * 10**7)
def j(o): return json.dumps(o, separators=(",", ":")).encode()
def jwt(alg=None, pl=None, hd=None):
    alg = alg or "HS256"; h = {"alg": alg, "typ": "JWT"}; h.update(hd or {})
    t = now(); p = pl or R.choice([lambda: {"sub": str(R.randint(1000, 99999999)), "name": R.choice(NAMES).title(), "iat": t, "exp": t + 3600},
        lambda: {"iss": "https://login.kranich.io/", "sub": "auth0|" + hexs(24), "aud": "https://api.kranich.io", "iat": t, "exp": t + 86400, "scope": "openid profile email"},
        lambda: {"user_id": R.randint(1, 90000), "role": "admin", "jti": uuid(), "exp": t + 7200}])()
    m = b64u(j(h)) + "." + b64u(j(p))
    sig = {"HS256": 32, "HS512": 64, "RS256": 256, "ES256": 64, "EdDSA": 64}[alg]
    return m + "." + b64u(rb(sig))
def aws_session(): return "IQoJb3JpZ2luX2Vj" + r(B64, R.randint(320, 520)) + pick("", "=", "==")
def b64d(prefix, n, pad=""): return prefix + r(B64, n) + pad
def discord_bot(): return b64u(str(R.randint(10**17, 12 * 10**17)).encode()) + "." + "G" + r(B64U, 5) + "." + r(B64U, 38)
def slackids(): return "%d-%d" % (R.randint(10**10, 10**13 - 1), R.randint(10**11, 10**13 - 1))
def bcrypt(p="$2y$"): return p + pick("10", "12", "05", "11") + "$" + r("./" + AN, 53)
def crypt6(): return "$6$" + pick("", "rounds=656000$") + r("./" + AN, 16) + "$" + r("./" + AN, 86)
def crypt5(): return "$5$" + r("./" + AN, 16) + "$" + r("./" + AN, 43)
def yesc(): return "$y$j9T$" + r("./" + AN, 22) + "$" + r("./" + AN, 43)
def apr1(): return "$apr1$" + r("./" + AN, 8) + "$" + r("./" + AN, 22)
def md5c(): return "$1$" + r("./" + AN, 8) + "$" + r("./" + AN, 22)
def argon(): return "$argon2id$v=19$m=65536,t=3,p=4$" + r(B64, 22) + "$" + r(B64, 43)
def pbkdf2dj(): return "pbkdf2_sha256$" + pick("260000", "600000", "720000") + "$" + r(AN, 22) + "$" + b64(rb(32))
def scram(): return "SCRAM-SHA-256$4096:" + b64(rb(16)) + "$" + b64(rb(32)) + ":" + b64(rb(32))
def ssha(): return "{SSHA}" + b64(rb(28))
def gcsig(): return hexs(512)
def basic(): 
    u = pick("admin", "svc-deploy", "ci", "anna.weber", "jenkins", "monitoring", "apiuser", "root"); return b64(f"{u}:{pw_any()}".encode())
def tfc(): return r(AN, 14) + ".atlasv1." + rn(B64U, 60, 67)
def pypi(): return "pypi-AgEIcHlwaS5vcmc" + "CJ" + b64u(rb(R.randint(95, 130)))
def pypi_test(): return "pypi-AgENdGVzdC5weXBpLm9yZw" + "Ik" + b64u(rb(R.randint(95, 120)))
def macaroon(): return "MDAx" + b64u(("%dlocation kranich\n0030identifier %s\n002fsignature " % (R.randint(1, 9), uuid())).encode() + rb(32) + b"\n")
def sentry_org():
    return "sntrys_" + b64(j({"iat": now() + .5, "url": "https://sentry.io", "region_url": "https://us.sentry.io", "org": "kranich"})) + "_" + b64(rb(32)).rstrip("=")
def op_sa():
    return "ops_" + b64u(j({"signInAddress": "kranich.1password.com", "userAuth": {"method": "SRPg-4096", "alg": "PBES2g-HS256", "iterations": 650000, "salt": b64u(rb(16))}, "email": r(L + D, 13) + "@1passwordserviceaccounts.com", "srpX": hexs(64), "muk": {"alg": "A256GCM", "ext": True, "k": b64u(rb(32)), "key_ops": ["decrypt", "encrypt"], "kty": "oct", "kid": "mp"}, "secretKey": "A3-" + r(UN, 6) + "-" + r(UN, 6), "deviceUuid": r(LN, 26)}))
def flyv1(): return "FlyV1 fm2_" + r(B64, R.randint(180, 260)) + "==" + ",fm2_" + r(B64, R.randint(120, 180)) + "="
def azure_sp(): return r(AN, 3) + pick("7Q~", "8Q~") + r(AN + "-_.~".replace("~", ""), 34)
def stellar():
    b = b"\x90" + rb(32); return base64.b32encode(b + struct.pack("<H", crc16x(b))).decode()
def xprv(): return b58c(bytes.fromhex("0488ade4") + b"\3" + rb(4) + struct.pack(">I", 0x80000000) + rb(32) + b"\0" + rb(32))
def wif(): return b58c(b"\x80" + rb(32) + b"\1")
def gitlab_routable():
    p = b64u(f"o:1\nu:{R.randint(10,99999):x}\n".encode() + rb(18))[:R.randint(38, 44)]
    m = "%s.%02x.%02x" % (p, len(p), 1); 
    def b36(n, w):
        s = ""
        while n: n, k = divmod(n, 36); s = LN36[k] + s
        return s.rjust(w, "0")
    m = p + ".01." + b36(len(p), 2); full = "glpat-" + m
    return full + b36(zlib.crc32(full.encode()), 7)
LN36 = D + L
def az_sig(sig, total, pre):   # Microsoft common annotated keys: <random><sig><random><checksum> at fixed offsets
    return r(AN, pre) + sig + r(AN, total - pre - len(sig))
def grafana_sa():
    s = r(AN, 32); return "glsa_" + s + "_%08x" % zlib.crc32(("glsa_" + s).encode())
def k8s_sa():
    return jwt("RS256", {"iss": "kubernetes/serviceaccount", "kubernetes.io/serviceaccount/namespace": "prod", "kubernetes.io/serviceaccount/secret.name": "deployer-token-" + r(LN, 5), "kubernetes.io/serviceaccount/service-account.name": "deployer", "sub": "system:serviceaccount:prod:deployer"}, {"kid": b64u(rb(32))})
def django(): return pick("", "django-insecure-") + r("abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", 50)
def flask_cookie(): return "." + "eJ" + b64u(rb(60)) + "." + r(B64U, 6) + "." + r(B64U, 27)
def rails_cookie(): return quote(b64(rb(150))) + "--" + quote(b64(rb(12))) + "--" + quote(b64(rb(16)))
def laravel_cookie(): return quote(b64(j({"iv": b64(rb(16)), "value": b64(rb(96)), "mac": hexs(64), "tag": ""})))
def wp_cookie(): return pick("admin", "editor1", "marta") + "%7C" + str(now()) + "%7C" + r(AN, 43) + "%7C" + hexs(64)
def express_sid(): return "s%3A" + r(B64U, 32) + "." + quote(b64(rb(32)).rstrip("="), safe="")
def nm(*a): return list(a)
NAMES = ["anna", "Jonas", "Priya", "miguel", "Chen", "Olga", "Tomasz", "sara", "Dave", "Kofi", "Lena", "Yuki"]
ORGS = ["kranich", "northbay", "lumenworks", "tidewater", "fernlabs", "oakpay", "halcyon", "brightloom"]
def macs(): return ":".join(hexs(2) for _ in range(6))
def ip(): return f"{pick('10','172','192')}.{R.randint(16,168)}.{R.randint(0,255)}.{R.randint(2,254)}"
def date(): return f"202{R.randint(3,5)}-{R.randint(1,12):02d}-{R.randint(1,28):02d}"
def tm(): return f"{R.randint(0,23):02d}:{R.randint(0,59):02d}:{R.randint(0,59):02d}"

KINDS = []
class Kd: pass
def K(kind, issuer, form, gen, env, js, noun, hdr=None, url=None, host=None, src="", skip="", custom=None, block=False):
    k = Kd(); k.kind, k.issuer, k.form, k.gen = kind, issuer, bool(form), gen
    k.env = env.split(); k.js = js.split(); k.noun = noun.split("|")
    k.hdr = hdr.split("|") if hdr else None
    k.url = url.split("|") if url else None
    k.host = host or "api.%s.com" % re.sub(r"[^a-z0-9]", "", issuer.lower())
    k.src = src; k.skip = skip.split(); k.custom = custom or {}; k.block = block
    KINDS.append(k)
    return k
BE = "Authorization: Bearer ~S~"
for _m in ("a_kinds1", "a_kinds2", "a_kinds3", "a_kinds4", "a_templates1", "a_templates2", "a_clean", "a_main"):
    exec(compile(open(os.path.join(HERE, _m + ".py"), encoding="utf-8").read(), _m + ".py", "exec"))
if __name__ == "__main__": main()
