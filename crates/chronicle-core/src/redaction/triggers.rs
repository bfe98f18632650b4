//! Where a rule may find something: two bytes decide nearly everywhere that none does.
//!
//! The table holds a rule for each pair of bytes. Looking up every pair of a text is what makes a
//! text without secrets cheap, so a pair that is common in prose or code costs speed.

use super::bytes::starts_with_ignoring_case;
use super::languages::WORDS;
use super::shapes::SHAPES;
use super::tokens::INFIXES;
use super::{Secret, commands, context, languages, pem, sql, tokens, told, typed, url};

const NOTHING: u8 = 0;
/// The last letter of a name, or what may stand behind one, and `:` or `=`.
const ASSIGNMENT: u8 = 1;
/// `--`, of an option or a key in PEM.
const DASHES: u8 = 2;
/// `-u`, the option that takes a name and a password.
const USER: u8 = 3;
/// `:/`, in a URL.
const URL: u8 = 4;
/// `:A`, in a token of Telegram.
const TELEGRAM: u8 = 5;
/// `sw` or `pw`, of `password`, `passwd` and `pwd`.
const PASSWORD: u8 = 6;
/// `yJ`, of `eyJ`.
const JWT: u8 = 7;
/// `Be`, `be` and `Ba`, of `Bearer` and `Basic`.
const SCHEME: u8 = 8;
const INFIX: u8 = 9;
/// `%3`, of `%3D` and `%3A`: `=` and `:` in a query.
const ESCAPED: u8 = 10;
/// `%4`, of `%40`: `@` in a query.
const ESCAPED_AT: u8 = 11;
/// `-p` and its like: options of one letter that take a password, or a dash inside a token.
const OPTION: u8 = 12;
/// `/u`, of `/user:`.
const SHARE: u8 = 13;
/// Two bytes of a word that is not written in ASCII.
const WORD: u8 = 14;
/// `',`, behind the name of an argument.
const ARGUMENT: u8 = 15;
/// `hr` and `mn`, of `phrase` and `mnemonic`.
const PHRASE: u8 = 16;
/// `BY` and `by`, of `IDENTIFIED BY`.
const IDENTIFIED: u8 = 17;
/// A letter or a digit and a sign, of a password as people type them.
const TYPED: u8 = 18;
const FIRST_SHAPE: u8 = 19;

/// What names end in, and what closes or follows them.
const BEFORE_SEPARATOR: &[u8] = b"desntylhawkcoDESNTYLHAWKCO0123456789\"'`\\]*?| \t";

/// The rule for each pair of bytes.
static TRIGGERS: [u8; 1 << 16] = TABLES.0;

/// For `OPTION` and each rule from `FIRST_SHAPE` on, the first of the shapes that it stands for.
static HEADS: [usize; 256] = TABLES.1;

/// The rules that are no shapes.
static RULES: [u8; 1 << 16] = {
    let mut table = [NOTHING; 1 << 16];
    let mut n = 0;
    while n < BEFORE_SEPARATOR.len() {
        table[pair(BEFORE_SEPARATOR[n], b':')] = ASSIGNMENT;
        table[pair(BEFORE_SEPARATOR[n], b'=')] = ASSIGNMENT;
        n += 1;
    }
    table[pair(b'g', b'=')] = ASSIGNMENT;
    table[pair(b'\'', b',')] = ARGUMENT;
    table[pair(b'-', b'-')] = DASHES;
    table[pair(b'-', b'u')] = USER;
    table[pair(b'B', b'Y')] = IDENTIFIED;
    table[pair(b'b', b'y')] = IDENTIFIED;
    table[pair(b'-', b'p')] = OPTION;
    table[pair(b'-', b'P')] = OPTION;
    table[pair(b'-', b'a')] = OPTION;
    table[pair(b'/', b'u')] = SHARE;
    table[pair(b'/', b'U')] = SHARE;
    table[pair(b':', b'/')] = URL;
    table[pair(b':', b'A')] = TELEGRAM;
    table[pair(b's', b'w')] = PASSWORD;
    table[pair(b's', b'W')] = PASSWORD;
    table[pair(b'S', b'W')] = PASSWORD;
    table[pair(b'p', b'w')] = PASSWORD;
    table[pair(b'P', b'w')] = PASSWORD;
    table[pair(b'P', b'W')] = PASSWORD;
    // `passphrase`, `seed phrase`, `mnemonic`
    table[pair(b'h', b'r')] = PHRASE;
    table[pair(b'H', b'R')] = PHRASE;
    table[pair(b'm', b'n')] = PHRASE;
    table[pair(b'M', b'N')] = PHRASE;
    // `ConvertTo-SecureString`
    table[pair(b'e', b'S')] = PASSWORD;
    table[pair(b'%', b'3')] = ESCAPED;
    table[pair(b'%', b'4')] = ESCAPED_AT;
    table[pair(b'y', b'J')] = JWT;
    table[pair(b'B', b'e')] = SCHEME;
    table[pair(b'b', b'e')] = SCHEME;
    table[pair(b'B', b'a')] = SCHEME;
    let mut n = 0;
    while n < typed::SIGNS.len() {
        let mut before = 0_u8;
        while before < 128 {
            if before.is_ascii_alphanumeric() {
                table[pair(before, typed::SIGNS[n])] = TYPED;
            }
            before += 1;
        }
        n += 1;
    }
    let mut n = 0;
    while n < INFIXES.len() {
        let infix = INFIXES[n].infix.as_bytes();
        let rarest = rarest_pair(infix);
        table[pair(infix[rarest], infix[rarest + 1])] = INFIX;
        n += 1;
    }
    let mut n = 0;
    while n < WORDS.len() {
        let word = WORDS[n].word.as_bytes();
        table[pair(word[WORDS[n].near], word[WORDS[n].near + 1])] = WORD;
        n += 1;
    }
    table
};

const TABLES: ([u8; 1 << 16], [usize; 256]) = {
    let mut table = RULES;
    let (mut heads, mut rule, mut n) = ([0; 256], FIRST_SHAPE, 0);
    while n < SHAPES.len() {
        let pair = pair_of_shape(n);
        if table[pair] == NOTHING {
            assert!(rule < u8::MAX, "the shapes have outgrown the rules");
            table[pair] = rule;
            heads[rule as usize] = n;
            rule += 1;
        } else if table[pair] == OPTION {
            heads[OPTION as usize] = n;
        }
        assert!(FIRST_SHAPE <= table[pair] || table[pair] == OPTION, "two bytes have two meanings");
        n += 1;
    }
    (table, heads)
};

/// For each shape, the next one that is looked for by the same two bytes.
static NEXT: [Option<usize>; SHAPES.len()] = {
    let mut next = [None; SHAPES.len()];
    let mut n = 0;
    while n < SHAPES.len() {
        let pair = pair_of_shape(n);
        let mut other = n + 1;
        while other < SHAPES.len() && pair_of_shape(other) != pair {
            other += 1;
        }
        if other < SHAPES.len() {
            next[n] = Some(other);
        }
        n += 1;
    }
    next
};

/// The most common pairs in transcripts, the most common first.
const COMMON: &[u8] = b"\
    ntinesreteerenstonattiseitorhetrletailaniorrngthriomedcossraecetalirsitolipogeroch/cdemmnsmit.utmecl\
    ckif//exarisasagnioindctaiouadfimaptkpunncuri/e/oola/eacharnmpveearsnetu-4peshdatss.mdhopausfodiprgo\
    01gi02crulcms/oleettnaemegepipfasarkokllloxtcacepu20e.d/scotamausunoplodopsoe-ef-cow-0elgyrygsogum.g\
    /s6-fuwoid26ost-ab11xpiewig.--kst:do-brurt10baew_0ddimichie:25ty/asptpgrldbelu1--a122-nvmoud-2ltevrf\
    bl5-nuyp-skeublsbu-11..1ue23hu2.t_x/13fmmt4-o/br14nflyktd-sko-ph159-0017vafewa44-9av_t.cxivi43upt/-8\
    513-16b.4919l_rmuaig340-42txbo-e21h/248-78lf090630/ws:2941n-45224618d.wh3332ap37iajsg-n.cu7-48frsgov\
    405058b-rcffuc47272852/g_cocu_-5/.39ib04m/eis-4ebyiv5964kirdms/d05jeeqf-..313656-dpp67733835a-c-8980\
    y.-t/tnp95869453td60bbk/0763n_55y/ob-fbchsaf61fl664fv/08035476uin:o:816991.i8865708497o.bd7587968582\
    72ixofg_57:5/mgg83cc99yt92.wb56274oad:90-pr.we77:1-69368-geb9bnlwr-v:2sly--omb98bi4a71h.cd-3-ra0e4tc\
    dle2b7a.3ddsbjpid7ay.39e6:r/f379a14dc1nnfy4b4cqu8dug-m8enkb1l-d9ze5:dcgt:0:33ec8tf_p2bq_:4b2f5ize_r:\
    b3cidb7b7dmu/ie3d5d3c3b6a2rzb03:bsf8-7e5d1/p6f.es_d42c1a.0z-b86eaae9c60.ak3bsb9c2:.jd_d64:a9f0a78b_r\
    3aa5df1cc4du9fa8gnf4fd5af19ays8ftlv.6a3.5c1ff6.2e1a32e5da6aeb4d01ec95b_i1bbfcfcbd86db92a0c3fe8c00e2d\
    f97f0d_uyof7a49d0brg6c1:.t0a2fx.pd1dy:8c/rc7fb0f5f3ce0tm5e7cc26beyc5e68a7ekah_.7lp./d27a/fe7cp-h_a7:\
    g:fc0osnojwkgurbf2ft/v-ighsykg_snyxeh-r-p.dy0:ps9:4./1/h/nwnl.nmoegauf.mlr5.-n.4c..5l:x-lcgmo6o_8:rv\
    htrli-hd.sh:.6-wn/-l.8g/lw6.sry_9.k_awyfikgl8.drc/lbv5eh/lp/sw.9wd/2.l_hxauurwknwsye7.0shrdxv1m-yzcs\
    _f:gzzaz_mkdw./blnrp-kp:fs_o5/a/twkul/cw.rhyzyeuf.myo7pycy\
    ";

/// How common each pair is: the pairs of `COMMON` by their rank, others by their bytes.
static COSTS: [usize; 1 << 16] = {
    let mut table = [0; 1 << 16];
    let (mut first, mut second) = (0_u8, 0_u8);
    while first < 128 {
        while second < 128 {
            table[pair(first, second)] = frequency(first) * frequency(second);
            second += 1;
        }
        (first, second) = (first + 1, 0);
    }
    let mut n = 0;
    while n < COMMON.len() {
        table[pair(COMMON[n], COMMON[n + 1])] = 10_000 + COMMON.len() - n;
        n += 2;
    }
    table
};

/// For each shape, where in its prefix the two bytes stand by which it is looked for: the rarest that no
/// other rule is looked for by.
static RAREST: [usize; SHAPES.len()] = RAREST_PAIRS;

const RAREST_PAIRS: [usize; SHAPES.len()] = {
    let mut rarest = [0; SHAPES.len()];
    let mut n = 0;
    while n < SHAPES.len() {
        let prefix = SHAPES[n].prefix.as_bytes();
        let (mut best, mut least, mut at) = (0, usize::MAX, 0);
        while at + 1 < prefix.len() {
            let is_free = RULES[pair(prefix[at], prefix[at + 1])] == NOTHING || prefix.len() == 2;
            let cost = COSTS[pair(prefix[at], prefix[at + 1])];
            if is_free && cost < least {
                (best, least) = (at, cost);
            }
            at += 1;
        }
        rarest[n] = best;
        n += 1;
    }
    rarest
};

const fn pair(first: u8, second: u8) -> usize {
    first as usize | (second as usize) << 8
}

const fn pair_of_shape(n: usize) -> usize {
    let prefix = SHAPES[n].prefix.as_bytes();
    let rarest = RAREST_PAIRS[n];
    pair(prefix[rarest], prefix[rarest + 1])
}

/// Where in `text` the two bytes begin that are least common elsewhere.
pub(super) const fn rarest_pair(text: &[u8]) -> usize {
    let (mut rarest, mut at) = (0, 1);
    while at + 1 < text.len() {
        if COSTS[pair(text[at], text[at + 1])] < COSTS[pair(text[rarest], text[rarest + 1])] {
            rarest = at;
        }
        at += 1;
    }
    rarest
}

/// How often a byte occurs in prose and code, of a thousand.
const fn frequency(byte: u8) -> usize {
    match byte {
        b'e' => 60,
        b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 45,
        b'l' | b'c' | b'd' => 28,
        b'h' | b'u' | b'm' | b'p' => 20,
        b'f' | b'g' | b'y' | b'w' | b'b' | b'_' | b'-' | b'.' | b'/' => 12,
        b'v' | b'k' | b'0'..=b'9' => 8,
        b'A'..=b'Z' => 4,
        _ => 2,
    }
}

/// Finds the first secret after `floor` that its form or its name gives away.
pub(super) fn find(text: &[u8], floor: usize) -> Option<Secret> {
    let mut at = floor;
    loop {
        at = next(text, at)?;
        if let Some(secret) = apply(text, floor, at) {
            return Some(secret);
        }
        at += 1;
    }
}

/// The next place from `at` on where a rule may find something.
fn next(text: &[u8], mut at: usize) -> Option<usize> {
    // Eight pairs at a time: a branch for each would take longer than looking it up.
    while let Some(bytes) = text.get(at..at + 9) {
        let any = (0..8).fold(NOTHING, |any, n| any | TRIGGERS[pair(bytes[n], bytes[n + 1])]);
        if any != NOTHING {
            break;
        }
        at += 8;
    }
    let near = text[at..].windows(2).position(|bytes| TRIGGERS[pair(bytes[0], bytes[1])] != NOTHING)?;
    Some(at + near)
}

/// Asks the rule for the two bytes at `at`.
fn apply(text: &[u8], floor: usize, at: usize) -> Option<Secret> {
    match TRIGGERS[pair(text[at], text[at + 1])] {
        ASSIGNMENT => url::find_telegram_token(text, floor, at + 1)
            .or_else(|| url::find_signature(text, floor, at + 1))
            .or_else(|| context::find_assigned(text, floor, at + 1))
            .or_else(|| url::find_in_line(text, floor, at + 1)),
        DASHES => pem::find_at(text, at)
            .or_else(|| context::find_option(text, floor, at))
            .or_else(|| commands::find_piped(text, floor, at)),
        USER => context::find_user(text, floor, at).or_else(|| commands::find_short(text, floor, at)),
        OPTION => commands::find_short(text, floor, at).or_else(|| find_shape(text, floor, at, OPTION)),
        IDENTIFIED => sql::find_identified(text, floor, at),
        SHARE => commands::find_share(text, floor, at),
        ARGUMENT => context::find_argument(text, floor, at + 1),
        WORD => languages::find(text, floor, at),
        URL => url::find_password(text, at).or_else(|| tokens::find_wrapped_webhook(text, at)),
        TELEGRAM => url::find_telegram_token(text, floor, at),
        PASSWORD if text[at] == b'e' && !text[at + 1..].starts_with(b"String") => None,
        PASSWORD => told::find(text, floor, at),
        PHRASE if begins_phrase(&text[at..]) => told::find(text, floor, at),
        PHRASE => None,
        JWT => tokens::find_jwt(text, floor, at.checked_sub(1).filter(|&start| floor <= start)?),
        SCHEME => tokens::find_credential(text, floor, at),
        ESCAPED => context::find_escaped(text, floor, at),
        ESCAPED_AT => url::find_escaped_password(text, floor, at),
        TYPED => typed::find(text, floor, at),
        INFIX => tokens::find_around(text, floor, at),
        rule => find_shape(text, floor, at, rule),
    }
}

/// Whether `rest` begins with the end of `phrase` or `mnemonic`.
fn begins_phrase(rest: &[u8]) -> bool {
    ["hrase", "mnemonic"].iter().any(|word| starts_with_ignoring_case(rest, word))
}

/// Finds a token of one of the shapes that `rule` stands for, whose telling two bytes stand at `at`.
fn find_shape(text: &[u8], floor: usize, at: usize, rule: u8) -> Option<Secret> {
    let numbers = std::iter::successors(Some(HEADS[usize::from(rule)]), |&n| NEXT[n]);
    numbers.map(|n| (&SHAPES[n], RAREST[n])).find_map(|(shape, rarest)| {
        let start = at.checked_sub(rarest).filter(|&start| floor <= start)?;
        tokens::find_at(text, floor, start, shape)
    })
}

/// Whether a token begins at `at` whose form says more than a name would.
pub(super) fn begins_token(text: &[u8], at: usize) -> bool {
    tokens::find_jwt(text, at, at).is_some()
        || SHAPES.iter().any(|shape| tokens::find_at(text, at, at, shape).is_some())
}
